//! Big-endian blocks: each is made from a little-endian one by a table of its own, and must give the same values.
//! That little-endian blocks give the right ones is what `tests/golden.rs` shows.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::{Block, Level, ONE_BY_ONE, block, blocks, dequantize, kernel, kernels, run};
use std::sync::{Mutex, PoisonError};

extern crate std;

use crate::{ByteOrder, DequantizeError, TensorType};

/// Each type with the numbers in its block, as (offset, bytes), except those that are `AMBIGUOUS`.
const NUMBERS: &[(TensorType, &[(usize, usize)])] = &[
    (TensorType::F32, &[(0, 4)]),
    (TensorType::F16, &[(0, 2)]),
    (TensorType::Q4_0, &[(0, 2)]),
    (TensorType::Q4_1, &[(0, 2), (2, 2)]),
    (TensorType::Q8_0, &[(0, 2)]),
    (TensorType::Q8_1, &[(0, 2), (2, 2)]),
    (TensorType::Q2_K, &[(80, 2), (82, 2)]),
    (TensorType::Q3_K, &[(108, 2)]),
    (TensorType::Q4_K, &[(0, 2), (2, 2)]),
    (TensorType::Q5_K, &[(0, 2), (2, 2)]),
    (TensorType::Q6_K, &[(208, 2)]),
    (TensorType::Q8_K, &[(0, 4), (260, 2), (290, 2)]), // two of the 16 sums, which no kernel reads
    (TensorType::I8, &[]),
    (TensorType::I16, &[(0, 2)]),
    (TensorType::I32, &[(0, 4)]),
    (TensorType::I64, &[(0, 8)]),
    (TensorType::F64, &[(0, 8)]),
    (TensorType::BF16, &[(0, 2)]),
    (
        TensorType::IQ2_XS,
        &[
            (0, 2),
            (2, 2),
            (4, 2),
            (6, 2),
            (8, 2),
            (10, 2),
            (12, 2),
            (14, 2),
            (16, 2),
            (18, 2),
            (20, 2),
            (22, 2),
            (24, 2),
            (26, 2),
            (28, 2),
            (30, 2),
            (32, 2),
            (34, 2),
            (36, 2),
            (38, 2),
            (40, 2),
            (42, 2),
            (44, 2),
            (46, 2),
            (48, 2),
            (50, 2),
            (52, 2),
            (54, 2),
            (56, 2),
            (58, 2),
            (60, 2),
            (62, 2),
            (64, 2),
        ],
    ),
    (TensorType::IQ1_S, &[(0, 2), (34, 2), (36, 2), (38, 2), (40, 2), (42, 2), (44, 2), (46, 2), (48, 2)]),
    (TensorType::IQ4_NL, &[(0, 2)]),
    (TensorType::IQ3_S, &[(0, 2)]),
    (TensorType::IQ2_S, &[(0, 2)]),
    (TensorType::IQ4_XS, &[(0, 2), (2, 2)]),
    (TensorType::TQ1_0, &[(52, 2)]),
    (TensorType::TQ2_0, &[(64, 2)]),
    (TensorType::MXFP4, &[]),
    (TensorType::NVFP4, &[]),
    (TensorType::Q1_0, &[(0, 2)]),
    (TensorType::Q2_0, &[(0, 2)]),
];

const AMBIGUOUS: &[TensorType] =
    &[TensorType::Q5_0, TensorType::Q5_1, TensorType::IQ2_XXS, TensorType::IQ3_XXS, TensorType::IQ1_M];

/// Whether the type's family is in this build.
fn on(tensor_type: TensorType) -> bool {
    !matches!(
        dequantize(tensor_type, ByteOrder::Little, &mut &[][..], &mut []),
        Err(DequantizeError::FamilyOff { .. })
    )
}

/// Bytes without a pattern: every scale, infinite and NaN ones too, comes up now and then.
pub(super) fn fill(bytes: &mut [u8]) {
    let mut state = 0x9e37_79b9_u32;
    for byte in bytes {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        *byte = (state >> 24) as u8;
    }
}

/// Every 16-bit number; one in 61 on other machines, which are emulated for tests: floats take a hundred times as long there.
pub(super) fn numbers() -> impl Iterator<Item = u16> {
    const STEP: usize = if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) { 1 } else { 61 };
    (0..=u16::MAX).step_by(STEP)
}

/// Same bits, but any NaN for a NaN.
pub(super) fn assert_same(one: &[f32], other: &[f32], what: &str) {
    assert_eq!(one.len(), other.len(), "{what}");
    for (number, (one, other)) in one.iter().zip(other).enumerate() {
        let same = one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan();
        assert!(same, "{what}: element {number} is {one} one way and {other} the other way");
    }
}

/// Does it at each level that this machine has. No two tests force one at once.
pub(super) fn at_each_level(check: impl Fn()) {
    static FORCED: Mutex<()> = Mutex::new(());
    let _forced = FORCED.lock().unwrap_or_else(PoisonError::into_inner);
    let before = Level::in_use();
    for level in Level::ALL.into_iter().filter(|level| level.force()) {
        std::println!("level {level:?}");
        check();
    }
    assert!(before.force());
}

/// Zeros, the least numbers and the largest, infinities and NaNs: binary16, and the upper half of a number of more bytes.
pub(super) const SPECIAL: [u16; 10] =
    [0x0000, 0x8000, 0x0001, 0x83ff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e01, 0xfd00];

/// Numbers of the blocks that are `AMBIGUOUS`, which have no order to be reversed in. The scale of `IQ1_M` is spread over others.
fn ambiguous_numbers(tensor_type: TensorType) -> &'static [(usize, usize)] {
    match tensor_type {
        TensorType::Q5_1 => &[(0, 2), (2, 2)],
        TensorType::IQ1_M => &[],
        _ => &[(0, 2)],
    }
}

#[test]
fn special_numbers_give_the_same_bits_at_each_level() {
    let types = NUMBERS.iter().map(|(tensor_type, numbers)| (*tensor_type, *numbers));
    let ambiguous = AMBIGUOUS.iter().map(|tensor_type| (*tensor_type, ambiguous_numbers(*tensor_type)));
    let types: std::vec::Vec<_> =
        types.chain(ambiguous).filter(|(tensor_type, _)| on(*tensor_type)).collect();
    at_each_level(|| {
        for (tensor_type, numbers) in &types {
            let portable = kernels::target(*tensor_type).unwrap();
            let Block { elements, bytes } = block(*tensor_type).unwrap();
            // Each special number is in each place of a number, beside each other one.
            const COUNT: usize = SPECIAL.len() * SPECIAL.len();
            let (mut src, mut values) =
                (std::vec![0; bytes * COUNT], [(); 2].map(|()| std::vec![1.5; elements * COUNT]));
            fill(&mut src);
            for (index, block) in src.chunks_exact_mut(bytes).enumerate() {
                for (place, (offset, width)) in numbers.iter().enumerate() {
                    let special = if place % 2 == 0 { index % SPECIAL.len() } else { index / SPECIAL.len() };
                    block[offset + width - 2..offset + width]
                        .copy_from_slice(&SPECIAL[special].to_le_bytes());
                }
            }
            let [actual, expected] = &mut values;
            run::<ONE_BY_ONE>(kernel(*tensor_type).unwrap(), Block { elements, bytes }, &src, actual);
            run::<ONE_BY_ONE>(portable, Block { elements, bytes }, &src, expected);
            assert_same(actual, expected, tensor_type.name().unwrap());
        }
    });
}

#[test]
fn every_type_is_listed_once() {
    for tensor_type in TensorType::ALL {
        let lists = [
            NUMBERS.iter().filter(|(listed, _)| listed == tensor_type).count(),
            AMBIGUOUS.iter().filter(|listed| *listed == tensor_type).count(),
        ];
        assert_eq!(lists.iter().sum::<usize>(), 1, "{tensor_type}");
    }
}

#[test]
fn big_endian_blocks_give_the_values_of_little_endian_ones() {
    const BLOCKS: usize = 40;
    for (tensor_type, numbers) in NUMBERS.iter().filter(|(tensor_type, _)| on(*tensor_type)) {
        let block_bytes = tensor_type.block_bytes().unwrap() as usize;
        let elements = tensor_type.block_elements().unwrap() as usize * BLOCKS;
        let mut little = [0; 292 * BLOCKS];
        fill(&mut little[..block_bytes * BLOCKS]);
        let mut big = little;
        for block in big[..block_bytes * BLOCKS].chunks_exact_mut(block_bytes) {
            for (offset, width) in *numbers {
                block[*offset..offset + width].reverse();
            }
        }

        let mut values = [[0.0_f32; 256 * BLOCKS]; 2];
        for ((order, bytes), values) in
            [(ByteOrder::Little, &little), (ByteOrder::Big, &big)].into_iter().zip(&mut values)
        {
            let mut src = &bytes[..block_bytes * BLOCKS];
            assert_eq!(dequantize(*tensor_type, order, &mut src, values), Ok(elements), "{tensor_type}");
            assert!(src.is_empty());
        }
        assert_same(&values[0], &values[1], tensor_type.name().unwrap());
    }
}

#[test]
fn blocks_one_by_one_give_the_values_of_all_at_once() {
    const BLOCKS: usize = 5;
    for tensor_type in TensorType::ALL {
        let Some(kernel) = kernel(*tensor_type) else { continue };
        let block = block(*tensor_type).unwrap();
        let mut src = [0; 292 * BLOCKS];
        fill(&mut src);
        let src = &src[..block.bytes * BLOCKS];
        let mut values = [[0.0_f32; 256 * BLOCKS]; 2];
        let [one_by_one, at_once] = &mut values;
        run::<true>(kernel, block, src, &mut one_by_one[..block.elements * BLOCKS]);
        dequantize(*tensor_type, ByteOrder::Little, &mut &*src, at_once).unwrap();
        assert_same(&values[0], &values[1], tensor_type.name().unwrap());
        let bits = values.map(|values| values.map(f32::to_bits));
        assert!(
            bits[0][block.elements * (BLOCKS - 1)..block.elements * BLOCKS].iter().any(|bits| *bits != 0)
        );
    }
}

#[test]
fn a_kernel_decodes_the_first_block_or_all() {
    let sum = |block: &[u8; 2], out: &mut [f32; 1]| out[0] = f32::from(block[0]) + f32::from(block[1]);
    let (src, mut out) = ([1, 2, 3, 4, 5, 6, 7], [0.0; 4]);
    blocks::<2, 1, true>(&src, &mut out, sum);
    assert_eq!(out, [3.0, 0.0, 0.0, 0.0]);
    blocks::<2, 1, false>(&src, &mut out, sum);
    assert_eq!(out, [3.0, 7.0, 11.0, 0.0]);
    blocks::<2, 1, false>(&src[2..], &mut out[..2], sum);
    assert_eq!(out, [7.0, 11.0, 11.0, 0.0]);
}

#[test]
fn ambiguous_types_are_refused_in_big_endian_only() {
    for tensor_type in AMBIGUOUS.iter().copied().filter(|tensor_type| on(*tensor_type)) {
        let mut out = [0.0; 256];
        let mut src = &[0; 128][..];
        let error = Err(DequantizeError::AmbiguousByteOrder { tensor_type });
        assert_eq!(dequantize(tensor_type, ByteOrder::Big, &mut src, &mut out), error);
        assert_eq!(src.len(), 128);
        assert!(dequantize(tensor_type, ByteOrder::Little, &mut src, &mut out).is_ok());
        assert!(src.len() < 128);
    }
}
