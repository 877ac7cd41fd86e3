//! Blocks of big-endian files: their numbers are reversed before a kernel sees them.

use super::{Block, Kernel, LARGEST_BLOCK_BYTES, ONE_BY_ONE};
use crate::TensorType;
use crate::tensor_type::tensor_types;

/// The numbers of more than one byte in a block: up to two fields, packed, so that the table of all types is small.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Swap(u32);

const AMBIGUOUS: Swap = Swap(u32::MAX);

/// Numbers in a row inside a block.
struct Field {
    /// Bytes of each: 1, 2, 4 or 8.
    width: u16,
    /// The byte where the first begins: an even one.
    start: u16,
    /// [`ALL`](Self::ALL): up to the end.
    count: u16,
}

impl Field {
    const ALL: u16 = 63;
    const BITS: u32 = 16;
    const COUNT_SHIFT: u32 = 8;
    const WIDTH_SHIFT: u32 = 14;

    /// What cannot be packed is not compiled.
    const fn pack(&self) -> u32 {
        assert!(self.width.is_power_of_two() && self.start.is_multiple_of(2), "a field is of another kind");
        assert!(self.width <= 8 && self.start < 512 && self.count <= Self::ALL, "a field is too large");
        let half = self.start / 2;
        half as u32
            | (self.count as u32) << Self::COUNT_SHIFT
            | self.width.trailing_zeros() << Self::WIDTH_SHIFT
    }
}

impl Swap {
    const fn new(fields: &[Field]) -> Self {
        assert!(fields.len() <= 2, "a block has more fields");
        match fields {
            [first, second] => Self(first.pack() | second.pack() << Field::BITS),
            [field] => Self(field.pack()),
            _ => Self(0),
        }
    }

    /// Turns a big-endian block, or plain elements, into little-endian ones.
    fn block(self, block: &mut [u8]) {
        let Self(mut fields) = self;
        while fields != 0 {
            let [start, rest, ..] = fields.to_le_bytes();
            let numbers = block.get_mut(usize::from(start).wrapping_mul(2)..).unwrap_or_default();
            let count = match u16::from(rest & 0x3f) {
                Field::ALL => usize::MAX,
                count => usize::from(count),
            };
            match rest >> 6 {
                0 => {}
                1 => reverse::<2>(numbers, count),
                2 => reverse::<4>(numbers, count),
                _ => reverse::<8>(numbers, count),
            }
            fields >>= Field::BITS;
        }
    }
}

fn reverse<const WIDTH: usize>(bytes: &mut [u8], count: usize) {
    let (numbers, _) = bytes.as_chunks_mut::<WIDTH>();
    let count = count.min(numbers.len());
    numbers.get_mut(..count).unwrap_or_default().iter_mut().for_each(|number| number.reverse());
}

/// The big-endian column of the type table.
macro_rules! swap {
    ($bytes:literal ambiguous) => { AMBIGUOUS };
    ($bytes:literal whole) => {
        const { Swap::new(&[Field { width: $bytes, start: 0, count: Field::ALL }]) }
    };
    ($bytes:literal [$($width:literal @ $start:literal $(x $count:literal)?),*]) => {
        const { Swap::new(&[$(Field { width: $width, start: $start, count: swap!(times $($count)?) }),*]) }
    };
    (times) => { 1 };
    (times $count:literal) => { $count };
}

macro_rules! swaps {
    (
        $($id:literal $name:ident $elements:literal $bytes:literal $family:ident
            $big_endian:tt $($function:ident)::+;)*
        removed: $($removed:tt)*
    ) => {
        /// What is reversed in the blocks of a type.
        const fn swap(tensor_type: TensorType) -> Swap {
            match tensor_type {
                $(TensorType::$name => swap!($bytes $big_endian),)*
                #[cfg(feature = "safetensors")]
                _ => dtype_swap(tensor_type),
                #[cfg(not(feature = "safetensors"))]
                _ => AMBIGUOUS,
            }
        }
    };
}
tensor_types!(swaps);

#[cfg(feature = "safetensors")]
macro_rules! dtype_swaps {
    (
        $($(#[$doc:meta])* $id:literal $name:ident $elements:tt $bytes:literal $family:ident
            $big_endian:tt $($function:ident)::+;)*
        shared: $($shared:ident)*
    ) => {
        const fn dtype_swap(tensor_type: TensorType) -> Swap {
            match tensor_type {
                $(TensorType::$name => dtype_swaps!($family $bytes $big_endian),)*
                _ => AMBIGUOUS,
            }
        }
    };
    // It has no kernel.
    (Raw $bytes:literal whole) => { AMBIGUOUS };
    (Plain $bytes:literal whole) => { swap!($bytes whole) };
}
#[cfg(feature = "safetensors")]
crate::safetensors::dtype::dtypes!(dtype_swaps);

/// What is reversed in the blocks of a type; `None` if nobody has defined it.
pub(super) fn of(tensor_type: TensorType) -> Option<Swap> {
    Some(swap(tensor_type)).filter(|swap| *swap != AMBIGUOUS)
}

/// Has all blocks decoded, by copies of as many as the largest block has bytes.
#[inline(never)] // Its frame is larger than all others, and few files need it.
pub(super) fn run(swap: Swap, kernel: Kernel, block: Block, mut src: &[u8], mut out: &mut [f32]) {
    let mut buffer = [0; LARGEST_BLOCK_BYTES];
    let at_once = buffer.len().checked_div(block.bytes).unwrap_or(0);
    let buffer = buffer.get_mut(..at_once.wrapping_mul(block.bytes)).unwrap_or_default();
    while !src.is_empty() {
        let (blocks, rest) = src.split_at_checked(buffer.len().min(src.len())).unwrap_or_default();
        let copy = buffer.get_mut(..blocks.len()).unwrap_or_default();
        for (copy, byte) in copy.iter_mut().zip(blocks) {
            *copy = *byte;
        }
        // Plain elements all at once: they are many.
        let unit = if block.elements == 1 { copy.len() } else { block.bytes };
        copy.chunks_exact_mut(unit.max(1)).for_each(|block| swap.block(block));
        // A kernel is given as many elements as blocks.
        let elements = at_once.wrapping_mul(block.elements).min(out.len());
        let (values, behind) = out.split_at_mut_checked(elements).unwrap_or_default();
        super::run::<ONE_BY_ONE>(kernel, block, copy, values);
        (src, out) = (rest, behind);
    }
}
