//! Every kernel against the values of ggml's reference, bit for bit.
//!
//! `data/golden/SET/TYPE.q` holds blocks and `TYPE.f32` what ggml makes of them: `gauss` quantized numbers,
//! `random` bytes with finite scales, `wild` bytes with any scale, `exhaustive` every code of a table.
//! `data/vectors/TYPE.txt` holds ten blocks a type as text.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use weightstream::{DequantizeError, Family, TensorType, quant};

/// Types that cannot be dequantized yet; nothing else is skipped.
const NO_KERNEL: &[TensorType] = &[];

/// Types with a set that holds every one of their codes.
const EXHAUSTIVE: &[TensorType] = &[
    TensorType::F16,
    TensorType::BF16,
    TensorType::IQ2_XXS,
    TensorType::IQ2_XS,
    TensorType::IQ2_S,
    TensorType::IQ3_XXS,
    TensorType::IQ3_S,
    TensorType::IQ1_S,
    TensorType::IQ1_M,
    TensorType::TQ1_0,
    TensorType::MXFP4,
    TensorType::NVFP4,
];

/// Blocks to values, by the type's own function.
type Kernel = fn(&[u8]) -> Vec<f32>;

/// Applies a function over one block to all of them.
#[allow(dead_code, reason = "not used when every family is off")]
fn by_block<const BYTES: usize, const ELEMENTS: usize>(
    kernel: fn(&[u8; BYTES], &mut [f32; ELEMENTS]),
    bytes: &[u8],
) -> Vec<f32> {
    let (blocks, []) = bytes.as_chunks() else { panic!("a block is cut") };
    let mut values = vec![[f32::NAN; ELEMENTS]; blocks.len()];
    blocks.iter().zip(&mut values).for_each(|(block, values)| kernel(block, values));
    values.into_flattened()
}

/// Applies a function over many elements.
fn in_bulk<const BYTES: usize>(kernel: fn(&[[u8; BYTES]], &mut [f32]) -> usize, bytes: &[u8]) -> Vec<f32> {
    let (elements, []) = bytes.as_chunks() else { panic!("an element is cut") };
    let mut values = vec![f32::NAN; elements.len()];
    assert_eq!(kernel(elements, &mut values), elements.len());
    values
}

/// Every type of this build that can be dequantized.
fn kernels() -> Vec<(TensorType, Kernel)> {
    [PLAIN, LEGACY, K, IQ, TERNARY, FP4].concat()
}

const PLAIN: &[(TensorType, Kernel)] = &[
    (TensorType::F32, |bytes| in_bulk(quant::f32, bytes)),
    (TensorType::F16, |bytes| in_bulk(quant::f16, bytes)),
    (TensorType::BF16, |bytes| in_bulk(quant::bf16, bytes)),
    (TensorType::F64, |bytes| in_bulk(quant::f64, bytes)),
    (TensorType::I8, |bytes| in_bulk(quant::i8, bytes)),
    (TensorType::I16, |bytes| in_bulk(quant::i16, bytes)),
    (TensorType::I32, |bytes| in_bulk(quant::i32, bytes)),
    (TensorType::I64, |bytes| in_bulk(quant::i64, bytes)),
];

/// The kernels of a family, none if its feature is off.
macro_rules! family {
    ($list:ident $feature:literal $($tensor_type:ident $kernel:ident)*) => {
        #[cfg(feature = $feature)]
        const $list: &[(TensorType, Kernel)] =
            &[$((TensorType::$tensor_type, |bytes| by_block(quant::$kernel, bytes))),*];
        #[cfg(not(feature = $feature))]
        const $list: &[(TensorType, Kernel)] = &[];
    };
}
family!(LEGACY "legacy" Q4_0 q4_0 Q4_1 q4_1 Q5_0 q5_0 Q5_1 q5_1 Q8_0 q8_0 Q8_1 q8_1);
family!(K "k" Q2_K q2_k Q3_K q3_k Q4_K q4_k Q5_K q5_k Q6_K q6_k Q8_K q8_k);
family!(IQ "iq" IQ2_XXS iq2_xxs IQ2_XS iq2_xs IQ2_S iq2_s IQ3_XXS iq3_xxs IQ3_S iq3_s
    IQ1_S iq1_s IQ1_M iq1_m IQ4_NL iq4_nl IQ4_XS iq4_xs);
family!(TERNARY "ternary" TQ1_0 tq1_0 TQ2_0 tq2_0 Q1_0 q1_0 Q2_0 q2_0);
family!(FP4 "fp4" MXFP4 mxfp4 NVFP4 nvfp4);

/// The feature that would turn the type on, if it is off.
fn feature_off(tensor_type: TensorType) -> Option<&'static str> {
    let off = [
        (Family::Legacy, "legacy", LEGACY),
        (Family::K, "k", K),
        (Family::Iq, "iq", IQ),
        (Family::Ternary, "ternary", TERNARY),
        (Family::Fp4, "fp4", FP4),
    ];
    let off = off.iter().find(|(family, _, list)| tensor_type.family() == Some(*family) && list.is_empty());
    off.map(|(_, feature, _)| *feature)
}

fn sizes(tensor_type: TensorType) -> (usize, usize) {
    (tensor_type.block_bytes().unwrap() as usize, tensor_type.block_elements().unwrap() as usize)
}

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path)
}

fn read(path: &str) -> Vec<u8> {
    std::fs::read(data(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names, without their extension, of the files of a folder.
fn names(folder: &str) -> BTreeSet<String> {
    let files = std::fs::read_dir(data(folder)).unwrap();
    files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

/// Blocks and the bits of their values.
fn golden(set: &str, tensor_type: TensorType) -> (Vec<u8>, Vec<u32>) {
    let values = read(&format!("golden/{set}/{tensor_type}.f32"));
    let bits = values.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    (read(&format!("golden/{set}/{tensor_type}.q")), bits)
}

/// The same, from the text files. Their names are like `q4_K`.
fn vectors(tensor_type: TensorType) -> (Vec<u8>, Vec<u32>) {
    let name = tensor_type.to_string().to_lowercase().replace("_k", "_K");
    let text = String::from_utf8(read(&format!("vectors/{name}.txt"))).unwrap();
    let hex = |digits: &[u8]| u32::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap();
    let (mut bytes, mut bits) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (block, values) = line.split_once(' ').unwrap();
        bytes.extend(block.as_bytes().chunks(2).map(|digits| u8::try_from(hex(digits)).unwrap()));
        bits.extend(values.as_bytes().chunks(8).map(hex));
    }
    (bytes, bits)
}

/// Every golden pair of a type, with the name of where it comes from.
fn pairs(tensor_type: TensorType) -> Vec<(&'static str, Vec<u8>, Vec<u32>)> {
    let mut pairs = Vec::new();
    if tensor_type != TensorType::Q8_1 {
        for set in ["gauss", "random", "wild"] {
            let (bytes, bits) = golden(set, tensor_type);
            pairs.push((set, bytes, bits));
        }
    }
    if EXHAUSTIVE.contains(&tensor_type) {
        let (bytes, bits) = golden("exhaustive", tensor_type);
        pairs.push(("exhaustive", bytes, bits));
    }
    if tensor_type.family() != Some(Family::Plain) {
        let (bytes, bits) = vectors(tensor_type);
        pairs.push(("vectors", bytes, bits));
    }
    for (set, bytes, bits) in &pairs {
        let (block_bytes, block_elements) = sizes(tensor_type);
        assert!(!bytes.is_empty(), "{tensor_type} {set}");
        assert_eq!(bytes.len() / block_bytes * block_elements, bits.len(), "{tensor_type} {set}");
    }
    pairs
}

/// The values have these bits; a NaN may be any NaN.
#[track_caller]
fn assert_bits(values: &[f32], bits: &[u32], what: &str) {
    assert_eq!(values.len(), bits.len(), "{what}");
    for (element, (value, bits)) in values.iter().zip(bits).enumerate() {
        let expected = f32::from_bits(*bits);
        assert!(
            value.to_bits() == *bits || value.is_nan() && expected.is_nan(),
            "{what}: element {element} is {value:?} ({:#010x}), expected {expected:?} ({bits:#010x})",
            value.to_bits(),
        );
    }
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
    for (tensor_type, _) in kernels() {
        let (block_bytes, block_elements) = sizes(tensor_type);
        for (set, bytes, bits) in pairs(tensor_type) {
            for room in [block_elements, 3 * block_elements + block_elements / 2, bits.len(), bits.len() + 1]
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
            "output too small: one block has 32 elements, the output holds 31",
        ),
        (
            DequantizeError::PartialBlock { needed: 22, got: 3 },
            "input ends inside a block: one block has 22 bytes, 3 are left",
        ),
        (
            DequantizeError::NoKernel { tensor_type: TensorType::from_id(77) },
            "type 77 cannot be dequantized by this version of weightstream",
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
