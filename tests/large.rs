//! Outputs of many MiB, which some machines write another way, have the bits of small ones.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))] // Others are emulated for tests, which takes minutes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod support;

use support::golden::{assert_bits, kernels, pairs, sizes};
use weightstream::TensorType;

/// A type of each way of writing. That all types have the right bits is shown in outputs of fewer pieces, in the library.
const TYPES: &[TensorType] =
    &[TensorType::F32, TensorType::F16, TensorType::I64, TensorType::I8, TensorType::Q8_0, TensorType::Q6_K];

/// 33 MiB of values, and some.
const ELEMENTS: usize = (33 << 20) / 4 + 300;

#[test]
fn a_large_output_has_the_bits_of_small_ones() {
    // Whatever the memory begins with, one of the two is not at the start of a line of the cache.
    let mut memory = vec![0.0; ELEMENTS + 1];
    let on = kernels().into_iter().filter(|(tensor_type, _)| TYPES.contains(tensor_type));
    for (index, (tensor_type, _)) in on.enumerate() {
        let (set, blocks, bits) = pairs(tensor_type).into_iter().next().unwrap();
        let (block_bytes, block_elements) = sizes(tensor_type);
        let elements = ELEMENTS / block_elements * block_elements;
        let source = blocks.repeat(elements.div_ceil(bits.len()));
        let mut source = &source[..elements / block_elements * block_bytes];

        let out = &mut memory[index % 2..][..elements];
        assert_eq!(tensor_type.dequantize(&mut source, out), Ok(elements));
        assert!(source.is_empty());
        for (part, values) in out.chunks(bits.len()).enumerate() {
            assert_bits(values, &bits[..values.len()], &format!("{tensor_type} {set}, part {part}"));
        }
        out.fill(0.0);
    }
}

#[test]
fn a_large_range_has_the_values_of_its_elements() {
    let (_, blocks, bits) = pairs(TensorType::BF16).into_iter().next().unwrap();
    let source = blocks.repeat((ELEMENTS + 1000).div_ceil(bits.len()));
    let mut out = vec![0.0; ELEMENTS];
    let range = 777..777 + ELEMENTS as u64;
    assert_eq!(TensorType::BF16.dequantize_range(&source, range, &mut out), Ok(ELEMENTS));
    let expected = bits.iter().copied().cycle().skip(777);
    assert!(out.iter().map(|value| value.to_bits()).eq(expected.take(ELEMENTS)));
}
