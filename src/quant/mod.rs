//! Dequantizers: one function a block type, from the bytes of one block to its `f32` values.
//!
//! Each is infallible and stands alone, so firmware that knows its types links only those. For whole slices of
//! a type known at run time there is [`TensorType::dequantize`]. On a host take that one: it alone has kernels for AVX2 and AVX-512. The values of ggml's types are those of its
//! reference functions, bit for bit, except that a NaN may be another NaN.
//!
//! Blocks here are little-endian. In the descriptions an offset counts bytes from the start of the block, and an
//! element is counted in the order of the output. `f16` is IEEE binary16.
//!
//! For chips without floating-point hardware the functions named `unpack_` give the integers that a block is made
//! of, and touch no float: codes with their offset subtracted, the scale and minimum of each part, and the f16
//! numbers as bits. The description of each says what its integers stand for.

#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[cfg_attr(not(feature = "all-types"), allow(unused, reason = "what is used depends on the families on"))]
mod avx2;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[cfg_attr(not(feature = "all-types"), allow(unused, reason = "what is used depends on the families on"))]
mod avx512;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod large;
mod level;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod lines;
mod narrow;
mod plain;
mod range;
mod roundings;
mod swap;
mod unpack;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[cfg_attr(not(feature = "all-types"), allow(unused, reason = "what is used depends on the families on"))]
mod written;

#[cfg(feature = "safetensors")]
mod dtype;
#[cfg(feature = "fp4")]
mod fp4;
#[cfg(feature = "iq")]
mod grids;
#[cfg(feature = "iq")]
mod iq;
#[cfg(feature = "k")]
mod k;
#[cfg(feature = "k")]
mod k_scalar;
#[cfg(all(test, feature = "std", target_arch = "x86_64"))]
mod large_tests;
#[cfg(feature = "legacy")]
mod legacy;
#[cfg(all(test, any(feature = "k", feature = "ternary")))]
mod scalar_tests;
#[cfg(feature = "iq")]
mod signed;
#[cfg(feature = "ternary")]
mod ternary;
#[cfg(feature = "ternary")]
mod ternary_scalar;
#[cfg(test)]
mod tests;

#[cfg(feature = "safetensors")]
pub use dtype::{bool, f8_e4m3, f8_e4m3fnuz, f8_e5m2, f8_e5m2fnuz, f8_e8m0, u8, u16, u32, u64};
#[cfg(feature = "fp4")]
pub use fp4::{mxfp4, nvfp4};
#[cfg(feature = "iq")]
pub use iq::{iq1_m, iq1_s, iq2_s, iq2_xs, iq2_xxs, iq3_s, iq3_xxs, iq4_nl, iq4_xs};
#[cfg(feature = "k")]
pub use k::{PartScales, PartScalesAndMinimums, unpack_q4_k, unpack_q5_k, unpack_q6_k};
#[cfg(feature = "k")]
pub use k::{q2_k, q3_k, q4_k, q5_k, q6_k, q8_k};
#[cfg(feature = "legacy")]
pub use legacy::{ScaleAndMinimum, unpack_q4_0, unpack_q4_1, unpack_q5_0, unpack_q5_1, unpack_q8_0};
#[cfg(feature = "legacy")]
pub use legacy::{q4_0, q4_1, q5_0, q5_1, q8_0, q8_1};
#[doc(hidden)]
pub use level::Level;
pub(crate) use narrow::{dequantize_bf16, dequantize_f16};
pub use plain::{bf16, f16, f32, f64, i8, i16, i32, i64};
pub(crate) use range::dequantize_range;
#[cfg(feature = "ternary")]
pub use ternary::{q1_0, q2_0, tq1_0, tq2_0};

use self::narrow::{Format, Round};
use crate::tensor_type::tensor_types;
use crate::{ByteOrder, DequantizeError, TensorType};

/// Elements of the largest block there is.
const LARGEST_BLOCK: usize = 256;
/// Bytes of the largest block there is.
const LARGEST_BLOCK_BYTES: usize = 292;

/// Whether a kernel decodes one block a call, and the loop around it is there once for all types: a microcontroller
/// has less flash for it. On other machines each kernel has a loop of its own, as a call takes as long as a small block.
const ONE_BY_ONE: bool = unpack::SCALAR;

/// Decodes a run of plain elements, or of whole blocks: the first, or all of them, as [`ONE_BY_ONE`] says.
type Kernel = fn(&[u8], &mut [f32]);

/// The size of a block.
#[derive(Clone, Copy)]
struct Block {
    elements: usize,
    bytes: usize,
}

/// The kernel of one line of the type table, from its family, sizes and function; `None` if the family is turned off.
///
/// A function for blocks of another size is an error at compile time.
macro_rules! kernel {
    ($family:ident $elements:literal $bytes:literal none) => { None };
    (Plain 1 $bytes:literal $function:path) => {
        Some(|src, out| _ = $function(src.as_chunks::<$bytes>().0, out))
    };
    (Legacy $($line:tt)+) => { kernel!("legacy" $($line)+) };
    (K $($line:tt)+) => { kernel!("k" $($line)+) };
    (Iq $($line:tt)+) => { kernel!("iq" $($line)+) };
    (Ternary $($line:tt)+) => { kernel!("ternary" $($line)+) };
    (Fp4 $($line:tt)+) => { kernel!("fp4" $($line)+) };
    ($feature:literal $elements:literal $bytes:literal $function:path) => {{
        #[cfg(feature = $feature)]
        let kernel: Option<Kernel> = Some(|src, out| {
            // A closure of its own: unlike `$function` itself, it is compiled for the level of the code around it.
            blocks::<$bytes, $elements, ONE_BY_ONE>(src, out, |block, values| $function(block, values));
        });
        #[cfg(not(feature = $feature))]
        let kernel: Option<Kernel> = None;
        kernel
    }};
}

/// The kernel of a type that safetensors alone has, at a level; `None` if it has none.
#[cfg(feature = "safetensors")]
macro_rules! of_dtype {
    ($level:ident $tensor_type:ident) => {
        super::dtype_kernels::$level($tensor_type)
    };
}
#[cfg(not(feature = "safetensors"))]
macro_rules! of_dtype {
    ($level:ident $tensor_type:ident) => {
        None
    };
}
#[cfg(all(feature = "std", target_arch = "x86_64"))]
use of_dtype;

/// The kernels of types that gguf has, for what the target is compiled for. Those of other levels are in their modules.
mod kernels {
    use super::*;

    macro_rules! kernels {
        (
            $($id:literal $name:ident $elements:tt $bytes:literal $family:ident
                $big_endian:tt $($function:ident)::+;)*
            removed: $($removed:tt)*
        ) => {
            pub(super) fn target(tensor_type: TensorType) -> Option<Kernel> {
                match tensor_type {
                    $(TensorType::$name => kernel!($family $elements $bytes $($function)::+),)*
                    _ => of_dtype!(target tensor_type),
                }
            }
        };
    }
    tensor_types!(kernels);
}

/// The kernel of a type at each level of [`Level`]; `None` if it has none.
///
/// A closure is compiled for the level of the function that it stands in, so the list is repeated in each.
#[cfg(feature = "safetensors")]
macro_rules! at_each_level {
    ($($name:ident $kernel:expr;)*) => {
        pub(super) fn target(tensor_type: TensorType) -> Option<Kernel> {
            match tensor_type {
                $(TensorType::$name => $kernel,)*
                _ => None,
            }
        }

        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        #[target_feature(enable = "avx2,bmi1,bmi2,f16c,lzcnt,popcnt")]
        pub(super) fn avx2(tensor_type: TensorType) -> Option<Kernel> {
            match tensor_type {
                $(TensorType::$name => $kernel,)*
                _ => None,
            }
        }

        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        #[target_feature(enable = "avx2,bmi1,bmi2,f16c,lzcnt,popcnt")]
        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi")]
        pub(super) fn avx512(tensor_type: TensorType) -> Option<Kernel> {
            match tensor_type {
                $(TensorType::$name => $kernel,)*
                _ => None,
            }
        }
    };
}

/// The kernels of types that are of safetensors alone.
#[cfg(feature = "safetensors")]
mod dtype_kernels {
    use super::*;

    macro_rules! dtype_kernels {
        (
            $($(#[$doc:meta])* $id:literal $name:ident $elements:tt $bytes:literal $family:ident
                $big_endian:tt $($function:ident)::+;)*
            shared: $($shared:ident)*
        ) => {
            at_each_level! { $($name kernel!($family $elements $bytes $($function)::+);)* }
        };
    }
    crate::safetensors::dtype::dtypes!(dtype_kernels);
}

/// The kernel of a type at the level in use; `None` if it has none, or its family is turned off.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[allow(
    unsafe_code,
    reason = "calls code for instructions that not every processor has, where this one has them"
)]
fn kernel(tensor_type: TensorType) -> Option<Kernel> {
    match Level::in_use() {
        Level::Target => kernels::target(tensor_type),
        // SAFETY: a level other than the lowest is in use only where `Level::is_available` found all its instructions, which
        // are those that the function is compiled for, and the kernels it returns.
        Level::Avx2 => unsafe { avx2::kernel(tensor_type) },
        // SAFETY: as above.
        Level::Avx512 => unsafe { avx512::kernel(tensor_type) },
    }
}

/// The kernel of a type; `None` if it has none, or its family is turned off.
#[cfg(not(all(feature = "std", target_arch = "x86_64")))]
fn kernel(tensor_type: TensorType) -> Option<Kernel> {
    kernels::target(tensor_type)
}

/// What rounds to 16 bits at the level in use.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[allow(
    unsafe_code,
    reason = "calls code for instructions that not every processor has, where this one has them"
)]
fn rounding(format: Format) -> Round {
    match Level::in_use() {
        Level::Target => roundings::target(format),
        // SAFETY: as in `kernel`.
        Level::Avx2 => unsafe { roundings::avx2(format) },
        // SAFETY: as in `kernel`.
        Level::Avx512 => unsafe { roundings::avx512(format) },
    }
}

/// What rounds to 16 bits.
#[cfg(not(all(feature = "std", target_arch = "x86_64")))]
fn rounding(format: Format) -> Round {
    roundings::target(format)
}

/// A kernel from the function for one block.
#[allow(dead_code, reason = "not used when every family is off")]
#[inline(always)]
fn blocks<const BYTES: usize, const ELEMENTS: usize, const ONE_BY_ONE: bool>(
    mut src: &[u8],
    mut out: &mut [f32],
    function: impl Fn(&[u8; BYTES], &mut [f32; ELEMENTS]),
) {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if !ONE_BY_ONE {
        return lines::blocks(src, out, function);
    }
    while let (Some((block, blocks)), Some((values, rest))) =
        (src.split_first_chunk(), out.split_first_chunk_mut())
    {
        function(block, values);
        if ONE_BY_ONE {
            return;
        }
        (src, out) = (blocks, rest);
    }
}

/// Has all blocks decoded, which are whole ones, with room for each.
fn run<const ONE_BY_ONE: bool>(kernel: Kernel, block: Block, mut src: &[u8], mut out: &mut [f32]) {
    if !ONE_BY_ONE || block.elements == 1 {
        return kernel(src, out);
    }
    while let (Some((first, blocks)), Some((values, rest))) =
        (src.split_at_checked(block.bytes), out.split_at_mut_checked(block.elements))
    {
        kernel(first, values);
        (src, out) = (blocks, rest);
    }
}

/// Writes as many whole blocks as `src` and `out` hold, moves `src` behind them, returns the elements written.
///
/// This is [`TensorType::dequantize`] for blocks of either byte order; a type without a settled big-endian
/// layout is an error if `order` says big.
pub(crate) fn dequantize(
    tensor_type: TensorType,
    order: ByteOrder,
    src: &mut &[u8],
    out: &mut [f32],
) -> Result<usize, DequantizeError> {
    let (Some(kernel), Some(block)) = (kernel(tensor_type), block(tensor_type)) else {
        return Err(without_kernel(tensor_type));
    };
    let swap = match order {
        ByteOrder::Little => None,
        ByteOrder::Big => {
            Some(swap::of(tensor_type).ok_or(DequantizeError::AmbiguousByteOrder { tensor_type })?)
        }
    };
    if src.is_empty() {
        return Ok(0);
    }
    if src.len() < block.bytes {
        return Err(DequantizeError::PartialBlock { needed: block.bytes, got: src.len() });
    }
    if out.len() < block.elements {
        return Err(DequantizeError::OutputTooSmall { needed: block.elements, got: out.len() });
    }
    // Every number of elements in a block is a power of two.
    let room = out.len() >> block.elements.trailing_zeros();
    let count = room.min(src.len().checked_div(block.bytes).unwrap_or(0));
    // No overflow: so many bytes are in `src`, and so many elements in `out`.
    let (blocks, rest) = src.split_at_checked(count.wrapping_mul(block.bytes)).unwrap_or_default();
    let written = count.wrapping_mul(block.elements);
    let out = out.get_mut(..written).unwrap_or_default();
    match swap {
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        None if out.len() >= large::LARGE => large::run(tensor_type, kernel, block, blocks, out),
        None => run::<ONE_BY_ONE>(kernel, block, blocks, out),
        Some(swap) => swap::run(swap, kernel, block, blocks, out),
    }
    *src = rest;
    Ok(written)
}

/// Why a type cannot be dequantized.
#[cold]
fn without_kernel(tensor_type: TensorType) -> DequantizeError {
    match tensor_type.family() {
        Some(family) if !family.is_on() => {
            DequantizeError::FamilyOff { tensor_type, feature: family.feature().unwrap_or_default() }
        }
        _ => DequantizeError::NoKernel { tensor_type },
    }
}

fn block(tensor_type: TensorType) -> Option<Block> {
    let (elements, bytes) = (tensor_type.block_elements()?, tensor_type.block_bytes()?);
    Some(Block { elements: usize::try_from(elements).ok()?, bytes: usize::try_from(bytes).ok()? })
}
