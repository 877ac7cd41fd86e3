//! Any range of elements has the values of the same part of the reference.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod support;

use support::golden::{assert_bits, feature_off, kernels, pairs, sizes};
use support::levels::at_each_level;
use support::random::Random;
use weightstream::{ByteOrder, DequantizeError, TensorSlot, TensorType};

/// Stands where nothing may be written.
const UNTOUCHED: u32 = 0x1234_5678;

#[track_caller]
fn check(tensor_type: TensorType, bytes: &[u8], bits: &[u32], start: usize, end: usize, spare: usize) {
    let mut out = vec![f32::from_bits(UNTOUCHED); end - start + spare];
    let result = tensor_type.dequantize_range(bytes, start as u64..end as u64, &mut out);
    assert_eq!(result, Ok(end - start), "{tensor_type} {start}..{end}");
    let (written, rest) = out.split_at(end - start);
    if written.iter().zip(&bits[start..end]).any(|(value, bits)| value.to_bits() != *bits) {
        assert_bits(written, &bits[start..end], &format!("{tensor_type} {start}..{end}"));
    }
    assert!(rest.iter().all(|value| value.to_bits() == UNTOUCHED), "{tensor_type} {start}..{end}");
}

/// Every start with the ends that matter, and every end with the starts that matter.
#[test]
fn ranges_start_and_end_anywhere() {
    at_each_level(|| {
        for (tensor_type, _) in kernels() {
            let (block_bytes, block) = sizes(tensor_type);
            let blocks = if block < 256 { 3 } else { 2 };
            let (_, bytes, bits) = pairs(tensor_type).remove(0);
            let (bytes, bits) = (&bytes[..blocks * block_bytes], &bits[..blocks * block]);
            let all = bits.len();
            let edges = [0, 1, block / 2, block - 1, block, block + 1, all - block, all - 1, all];
            for at in 0..=all {
                for edge in edges.into_iter().chain([at, (at + 1).min(all)]) {
                    check(tensor_type, bytes, bits, at.min(edge), at.max(edge), at % 3);
                }
            }
        }
    });
}

#[test]
fn ranges_of_all_golden_data() {
    at_each_level(|| {
        let mut random = Random::new(3);
        for (tensor_type, _) in kernels() {
            for (_, bytes, bits) in pairs(tensor_type) {
                check(tensor_type, &bytes, &bits, 0, bits.len(), 1);
                for _ in 0..20 {
                    let start = random.below(bits.len() + 1);
                    let end = start + random.below((bits.len() - start + 1).min(2000));
                    check(tensor_type, &bytes, &bits, start, end, 0);
                }
            }
        }
    });
}

#[test]
fn only_blocks_in_the_range_are_needed() {
    for (tensor_type, _) in kernels() {
        let (block_bytes, block) = sizes(tensor_type);
        let (_, bytes, bits) = pairs(tensor_type).remove(0);
        // What follows the last whole block is not looked at.
        let (bytes, held) = (&bytes[..3 * block_bytes - 1], 2 * block);
        check(tensor_type, bytes, &bits, block / 2, held, 0);
        let mut out = vec![0.0; 3 * block];
        let (start, end, elements) = (held as u64 - 1, held as u64 + 1, held as u64);
        let error = Err(DequantizeError::OutOfRange { start, end, elements });
        assert_eq!(tensor_type.dequantize_range(bytes, start..end, &mut out), error);
    }
}

#[test]
fn wrong_ranges_are_errors_that_write_nothing() {
    for (tensor_type, _) in kernels() {
        let (block_bytes, block) = sizes(tensor_type);
        let bytes = vec![0; 2 * block_bytes];
        let elements = 2 * block as u64;
        let mut out = vec![7.0; 2 * block];
        let ranges = [
            (0, elements + 1),
            (elements + 1, elements + 1),
            (elements, elements + 1),
            (1, 0),
            (elements, elements - 1),
            (0, u64::MAX),
            (u64::MAX, u64::MAX),
            (u64::MAX, 0),
            (u64::MAX - 1, u64::MAX),
        ];
        for (start, end) in ranges {
            let error = Err(DequantizeError::OutOfRange { start, end, elements });
            let result = tensor_type.dequantize_range(&bytes, start..end, &mut out);
            assert_eq!(result, error, "{tensor_type} {start}..{end}");
        }
        for (start, needed, room) in [(0, 2 * block, 2 * block - 1), (1, 1, 0), (elements - 1, 1, 0)] {
            let end = start + needed as u64;
            let error = Err(DequantizeError::OutputTooSmall { needed, got: room });
            let result = tensor_type.dequantize_range(&bytes, start..end, &mut out[..room]);
            assert_eq!(result, error, "{tensor_type} {start}..{end} to {room}");
        }
        assert!(out.iter().all(|value| *value == 7.0));

        for at in [0, 1, elements - 1, elements] {
            assert_eq!(tensor_type.dequantize_range(&bytes, at..at, &mut []), Ok(0));
        }
        assert_eq!(tensor_type.dequantize_range(&[], 0..0, &mut []), Ok(0));
    }
}

#[test]
fn a_type_that_cannot_be_dequantized_says_so_first() {
    let mut out = [0.0; 4];
    for tensor_type in (0..100).map(TensorType::from_id) {
        let error = Err(match (tensor_type.family(), feature_off(tensor_type)) {
            (None, _) => DequantizeError::NoKernel { tensor_type },
            (_, Some(feature)) => DequantizeError::FamilyOff { tensor_type, feature },
            _ => continue,
        });
        for (start, end) in [(0, 0), (0, 1), (0, 5), (0, u64::MAX), (1, 0)] {
            assert_eq!(tensor_type.dequantize_range(&[0; 400], start..end, &mut out), error);
        }
    }
}

#[test]
fn slots_know_the_byte_order() {
    let slot = |tensor_type| TensorSlot::new(0, 0, 0, 0, 0, tensor_type, ByteOrder::Big);
    let mut out = [0.0; 3];
    let bytes: Vec<u8> = (0..8_u16).flat_map(u16::to_be_bytes).collect();
    assert_eq!(slot(TensorType::I16).dequantize_range(&bytes, 5..8, &mut out), Ok(3));
    assert_eq!(out, [5.0, 6.0, 7.0]);

    if cfg!(feature = "legacy") {
        let mut blocks = [1; 2 * 34];
        blocks[..2].copy_from_slice(&[0x3c, 0]);
        blocks[34..36].copy_from_slice(&[0x40, 0]);
        assert_eq!(slot(TensorType::Q8_0).dequantize_range(&blocks, 31..33, &mut out), Ok(2));
        assert_eq!(out[..2], [1.0, 2.0]);
        let tensor_type = TensorType::Q5_0;
        let error = Err(DequantizeError::AmbiguousByteOrder { tensor_type });
        assert_eq!(slot(tensor_type).dequantize_range(&blocks, 0..0, &mut out), error);
        assert_eq!(slot(tensor_type).dequantize_range(&blocks, 0..500, &mut out), error);
    }
}
