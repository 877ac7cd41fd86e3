//! Blocks, and what ggml's reference makes of them, bit for bit.
//!
//! `data/golden/SET/TYPE.q` holds blocks and `TYPE.f32` their values: `gauss` quantized numbers, `random` bytes with
//! finite scales, `wild` bytes with any scale, `exhaustive` every code of a table. `data/vectors/TYPE.txt` holds ten
//! blocks a type as text.

use std::path::{Path, PathBuf};
use weightstream::{Family, TensorType, quant};

/// Types that cannot be dequantized yet; nothing else is skipped.
pub const NO_KERNEL: &[TensorType] = &[];

/// Types with a set that holds every one of their codes.
pub const EXHAUSTIVE: &[TensorType] = &[
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
pub type Kernel = fn(&[u8]) -> Vec<f32>;

/// Applies a function over one block to all of them.
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
pub fn in_bulk<const BYTES: usize>(
    kernel: fn(&[[u8; BYTES]], &mut [f32]) -> usize,
    bytes: &[u8],
) -> Vec<f32> {
    let (elements, []) = bytes.as_chunks() else { panic!("an element is cut") };
    let mut values = vec![f32::NAN; elements.len()];
    assert_eq!(kernel(elements, &mut values), elements.len());
    values
}

/// Every type of this build that can be dequantized.
pub fn kernels() -> Vec<(TensorType, Kernel)> {
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
pub fn feature_off(tensor_type: TensorType) -> Option<&'static str> {
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

pub fn sizes(tensor_type: TensorType) -> (usize, usize) {
    (tensor_type.block_bytes().unwrap() as usize, tensor_type.block_elements().unwrap() as usize)
}

pub fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path)
}

fn read(path: &str) -> Vec<u8> {
    std::fs::read(data(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Blocks and the bits of their values.
pub fn golden(set: &str, tensor_type: TensorType) -> (Vec<u8>, Vec<u32>) {
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
pub fn pairs(tensor_type: TensorType) -> Vec<(&'static str, Vec<u8>, Vec<u32>)> {
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
pub fn assert_bits(values: &[f32], bits: &[u32], what: &str) {
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
