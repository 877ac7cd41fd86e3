//! Every kernel against the values of ggml's reference, bit for bit.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod support;

use std::collections::BTreeSet;
use support::golden::{
    EXHAUSTIVE, NO_KERNEL, assert_bits, data, feature_off, golden, in_bulk, kernels, pairs, sizes,
};
use support::levels::at_each_level;
use weightstream::{DequantizeError, Family, TensorType, quant};

/// The names, without their extension, of the files of a folder.
fn names(folder: &str) -> BTreeSet<String> {
    let files = std::fs::read_dir(data(folder)).unwrap();
    files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn every_type_has_a_kernel_or_a_reason() {
    let kernels = kernels();
    for tensor_type in TensorType::ALL {
        let has_kernel = kernels.iter().any(|(listed, _)| listed == tensor_type);
        let reasons = [has_kernel, NO_KERNEL.contains(tensor_type), feature_off(*tensor_type).is_some()];
        assert_eq!(reasons.iter().filter(|reason| **reason).count(), 1, "{tensor_type}: {reasons:?}");
    }
}

#[test]
fn every_file_belongs_to_a_type() {
    let all: BTreeSet<_> = TensorType::ALL.iter().map(TensorType::to_string).collect();
    let without_q8_1: BTreeSet<_> = all.iter().filter(|name| *name != "Q8_1").cloned().collect();
    for set in ["gauss", "random", "wild"] {
        assert_eq!(names(&format!("golden/{set}")), without_q8_1, "{set}");
    }
    for name in names("golden/exhaustive") {
        let listed = |types: &[TensorType]| types.iter().any(|listed| listed.name() == Some(&name));
        assert!(listed(EXHAUSTIVE), "{name}");
    }
    let blocks = TensorType::ALL.iter().filter(|listed| listed.family() != Some(Family::Plain));
    let blocks: BTreeSet<_> =
        blocks.map(|listed| listed.to_string().to_lowercase().replace("_k", "_K")).collect();
    assert_eq!(names("vectors"), blocks);
}

#[test]
fn each_kernel_gives_the_reference_bits() {
    for (tensor_type, kernel) in kernels() {
        for (set, bytes, bits) in pairs(tensor_type) {
            assert_bits(&kernel(&bytes), &bits, &format!("{tensor_type} {set}"));
        }
    }
}

#[test]
fn slices_give_the_reference_bits_through_an_output_of_any_size() {
    at_each_level(|| {
        for (tensor_type, _) in kernels() {
            let (block_bytes, block_elements) = sizes(tensor_type);
            for (set, bytes, bits) in pairs(tensor_type) {
                for room in
                    [block_elements, 3 * block_elements + block_elements / 2, bits.len(), bits.len() + 1]
                {
                    let mut out = vec![f32::NAN; room];
                    let (mut src, mut values) = (&bytes[..], Vec::new());
                    while !src.is_empty() {
                        let left = src.len();
                        let written = tensor_type.dequantize(&mut src, &mut out).unwrap();
                        assert_eq!(written, (left / block_bytes).min(room / block_elements) * block_elements);
                        assert_eq!(src.len(), left - written / block_elements * block_bytes);
                        values.extend_from_slice(&out[..written]);
                    }
                    assert_eq!(tensor_type.dequantize(&mut src, &mut out), Ok(0));
                    assert_bits(&values, &bits, &format!("{tensor_type} {set}"));
                }
            }
        }
    });
}

#[test]
fn a_large_output_gets_the_reference_bits_wherever_it_begins() {
    at_each_level(|| {
        for (tensor_type, _) in kernels() {
            let (block_bytes, block_elements) = sizes(tensor_type);
            let (_, bytes, bits) = pairs(tensor_type).swap_remove(0);
            let times = 10_000 / bits.len() + 1;
            let (mut bytes, mut bits) = (bytes.repeat(times), bits.repeat(times));
            // A number of blocks that no larger one divides.
            bytes.truncate(bytes.len() - block_bytes);
            bits.truncate(bits.len() - block_elements);
            let mut all = vec![0.0; bits.len() + 16];
            for start in [0, 1, 4, 8, 15] {
                all.fill(f32::NAN);
                let (before, out) = all.split_at_mut(start);
                assert_eq!(tensor_type.dequantize(&mut &bytes[..], out), Ok(bits.len()));
                assert_bits(&out[..bits.len()], &bits, &format!("{tensor_type} from {start} on"));
                assert!(before.iter().chain(&out[bits.len()..]).all(|value| value.is_nan()));
            }
        }
    });
}

#[test]
fn f16_keeps_every_bit_of_a_nan_but_the_quiet_one() {
    let (bytes, bits) = golden("exhaustive", TensorType::F16);
    assert_eq!(bits.len(), 1 << 16);
    for ((element, value), bits) in bytes.as_chunks().0.iter().zip(in_bulk(quant::f16, &bytes)).zip(bits) {
        let half = u32::from(u16::from_le_bytes(*element));
        if value.is_nan() {
            let expected = (half & 0x8000) << 16 | 0x7fc0_0000 | (half & 0x3ff) << 13;
            assert_eq!(value.to_bits(), expected, "{half:#06x}");
        } else {
            assert_eq!(value.to_bits(), bits, "{half:#06x}");
        }
    }
}

#[test]
fn plain_kernels_stop_at_the_shorter_slice() {
    let mut out = [7.0; 3];
    assert_eq!(quant::i8(&[[1], [2]], &mut out), 2);
    assert_eq!(out, [1.0, 2.0, 7.0]);
    assert_eq!(quant::i8(&[[1], [2], [3], [255]], &mut out), 3);
    assert_eq!(out, [1.0, 2.0, 3.0]);
    assert_eq!(quant::i8(&[], &mut out), 0);
}

#[test]
fn an_output_without_room_for_a_block_is_an_error() {
    for (tensor_type, _) in kernels() {
        let (block_bytes, block_elements) = sizes(tensor_type);
        let bytes = vec![0; 2 * block_bytes];
        let mut src = &bytes[..];
        for got in [0, block_elements - 1] {
            let error = Err(DequantizeError::OutputTooSmall { needed: block_elements, got });
            assert_eq!(tensor_type.dequantize(&mut src, &mut vec![0.0; got]), error);
            assert_eq!(src.len(), bytes.len());
        }
    }
}

#[test]
fn a_cut_block_is_an_error_after_the_whole_ones() {
    at_each_level(|| {
        for (tensor_type, _) in kernels() {
            let (block_bytes, block_elements) = sizes(tensor_type);
            for got in 1..block_bytes {
                let bytes = vec![0; block_bytes + got];
                let mut src = &bytes[..];
                let mut out = vec![0.0; 3 * block_elements];
                assert_eq!(tensor_type.dequantize(&mut src, &mut out), Ok(block_elements));
                let error = Err(DequantizeError::PartialBlock { needed: block_bytes, got });
                assert_eq!(tensor_type.dequantize(&mut src, &mut out), error);
                assert_eq!(tensor_type.dequantize(&mut src, &mut []), error);
                assert_eq!(src.len(), got);
            }
        }
    });
}

#[test]
fn a_type_that_cannot_be_dequantized_says_why() {
    let mut out = [0.0; 256];
    for tensor_type in (0..100).map(TensorType::from_id) {
        for mut src in [&[][..], &[0; 300]] {
            let left = src.len();
            let error = if tensor_type.family().is_none() || NO_KERNEL.contains(&tensor_type) {
                DequantizeError::NoKernel { tensor_type }
            } else if let Some(feature) = feature_off(tensor_type) {
                DequantizeError::FamilyOff { tensor_type, feature }
            } else {
                continue;
            };
            assert_eq!(tensor_type.dequantize(&mut src, &mut out), Err(error));
            assert_eq!(src.len(), left);
        }
    }
}

#[test]
fn errors_read_well() {
    let tensor_type = TensorType::Q5_0;
    let cases = [
        (
            DequantizeError::OutputTooSmall { needed: 32, got: 31 },
            "output too small: 32 elements are needed, the output holds 31",
        ),
        (
            DequantizeError::PartialBlock { needed: 22, got: 3 },
            "input ends inside a block: one block has 22 bytes, 3 are left",
        ),
        (
            DequantizeError::NoKernel { tensor_type: TensorType::from_id(77) },
            "type 77 cannot be dequantized: it comes as raw blocks only",
        ),
        (
            DequantizeError::FamilyOff { tensor_type, feature: "legacy" },
            "Q5_0 needs the feature \"legacy\" of weightstream to be dequantized",
        ),
        (
            DequantizeError::AmbiguousByteOrder { tensor_type },
            "Q5_0 has no settled big-endian layout; only its raw blocks can be used",
        ),
    ];
    for (error, text) in cases {
        assert_eq!(error.to_string(), text);
        let _: &dyn core::error::Error = &error;
    }
}
