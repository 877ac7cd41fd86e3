//! Unpacked integers, put together by the formula of each function's description, have the bits of the reference.
#![cfg(any(feature = "legacy", feature = "k"))]
#![allow(clippy::panic, clippy::indexing_slicing)]

mod support;

use support::golden::{assert_bits, pairs};
use weightstream::{TensorType, quant};

/// The value of an f16 from its bits.
fn value(bits: u16) -> f32 {
    let mut value = [0.0];
    quant::f16(&[bits.to_le_bytes()], &mut value);
    value[0]
}

/// `put_together` makes the values of one block.
fn check<const BYTES: usize, Values: IntoIterator<Item = f32>>(
    tensor_type: TensorType,
    put_together: impl Fn(&[u8; BYTES]) -> Values,
) {
    let pairs = pairs(tensor_type);
    assert!(pairs.len() >= 4, "{tensor_type}");
    for (set, bytes, bits) in pairs {
        let (blocks, []) = bytes.as_chunks() else { panic!("a block is cut") };
        let values: Vec<f32> = blocks.iter().flat_map(&put_together).collect();
        assert_bits(&values, &bits, &format!("{tensor_type} {set}"));
    }
}

/// The codes are in this range, and both its ends are among those of the golden blocks.
fn check_range<const BYTES: usize, T: Copy + Into<i16>, const ELEMENTS: usize>(
    tensor_type: TensorType,
    least: i16,
    most: i16,
    codes: impl Fn(&[u8; BYTES]) -> [T; ELEMENTS],
) {
    let blocks = pairs(tensor_type).into_iter().flat_map(|(_, bytes, _)| bytes.as_chunks().0.to_vec());
    let codes: Vec<i16> = blocks.flat_map(|block| codes(&block)).map(Into::into).collect();
    assert_eq!((codes.iter().min(), codes.iter().max()), (Some(&least), Some(&most)), "{tensor_type}");
}

/// Codes around zero with one scale: `d × code`.
#[cfg(feature = "legacy")]
fn check_scaled<const BYTES: usize>(
    tensor_type: TensorType,
    (least, most): (i16, i16),
    unpack: fn(&[u8; BYTES], &mut [i8; 32]) -> u16,
) {
    check(tensor_type, |block| {
        let mut codes = [0; 32];
        let d = unpack(block, &mut codes);
        codes.map(|code| value(d) * f32::from(code))
    });
    check_range(tensor_type, least, most, |block| {
        let mut codes = [0; 32];
        unpack(block, &mut codes);
        codes
    });
}

/// Codes above a minimum: `d × code + m`.
#[cfg(feature = "legacy")]
fn check_raised<const BYTES: usize>(
    tensor_type: TensorType,
    most: i16,
    unpack: fn(&[u8; BYTES], &mut [u8; 32]) -> quant::ScaleAndMinimum,
) {
    check(tensor_type, |block| {
        let mut codes = [0; 32];
        let quant::ScaleAndMinimum { d, m } = unpack(block, &mut codes);
        codes.map(|code| value(d) * f32::from(code) + value(m))
    });
    check_range(tensor_type, 0, most, |block| {
        let mut codes = [0; 32];
        unpack(block, &mut codes);
        codes
    });
}

/// Codes above the minimums of 8 parts: `(d × scale) × code − dmin × minimum`.
#[cfg(feature = "k")]
fn check_parts<const BYTES: usize>(
    tensor_type: TensorType,
    most: i16,
    unpack: fn(&[u8; BYTES], &mut [u8; 256]) -> quant::PartScalesAndMinimums,
) {
    check(tensor_type, |block| {
        let mut codes = [0; 256];
        let quant::PartScalesAndMinimums { d, dmin, scales, minimums } = unpack(block, &mut codes);
        let (d, dmin) = (value(d), value(dmin));
        assert!(scales.iter().chain(&minimums).all(|six_bits| *six_bits < 64));
        let value = |element: usize| {
            let (scale, minimum) = (scales[element / 32], minimums[element / 32]);
            let product = (d * f32::from(scale)) * f32::from(codes[element]);
            product - dmin * f32::from(minimum)
        };
        (0..256).map(value).collect::<Vec<_>>()
    });
    check_range(tensor_type, 0, most, |block| {
        let mut codes = [0; 256];
        unpack(block, &mut codes);
        codes
    });
}

#[cfg(feature = "legacy")]
#[test]
fn legacy_types() {
    check_scaled(TensorType::Q4_0, (-8, 7), quant::unpack_q4_0);
    check_raised(TensorType::Q4_1, 15, quant::unpack_q4_1);
    check_scaled(TensorType::Q5_0, (-16, 15), quant::unpack_q5_0);
    check_raised(TensorType::Q5_1, 31, quant::unpack_q5_1);
    check_scaled(TensorType::Q8_0, (-128, 127), quant::unpack_q8_0);
}

#[cfg(feature = "k")]
#[test]
fn k_types() {
    check_parts(TensorType::Q4_K, 15, quant::unpack_q4_k);
    check_parts(TensorType::Q5_K, 31, quant::unpack_q5_k);
    let unpack = |block: &[u8; 210]| {
        let mut codes = [0; 256];
        (quant::unpack_q6_k(block, &mut codes), codes)
    };
    check(TensorType::Q6_K, |block| {
        let (quant::PartScales { d, scales }, codes) = unpack(block);
        let value = |element: usize| (value(d) * f32::from(scales[element / 16])) * f32::from(codes[element]);
        (0..256).map(value).collect::<Vec<_>>()
    });
    check_range(TensorType::Q6_K, -32, 31, |block| unpack(block).1);
}
