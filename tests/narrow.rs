//! Outputs of 16 bits are the `f32` values rounded once.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod support;

use support::golden::{feature_off, kernels, pairs, sizes};
use support::levels::at_each_level;
use support::rounding::{BF16, F16, Format};
use weightstream::{ByteOrder, DequantizeError, TensorSlot, TensorType};

type Narrow = fn(TensorType, &mut &[u8], &mut [u16]) -> Result<usize, DequantizeError>;

const OUTPUTS: [(Format, Narrow); 2] =
    [(F16, TensorType::dequantize_f16), (BF16, TensorType::dequantize_bf16)];

/// All numbers of an input, through an output of `room` elements.
fn narrow(narrow: Narrow, tensor_type: TensorType, mut src: &[u8], room: usize) -> Vec<u16> {
    let (block_bytes, block_elements) = sizes(tensor_type);
    let mut out = vec![0; room];
    let mut numbers = Vec::new();
    while !src.is_empty() {
        let left = src.len();
        let written = narrow(tensor_type, &mut src, &mut out).unwrap();
        assert_eq!(written, (left / block_bytes).min(room / block_elements) * block_elements);
        assert_eq!(src.len(), left - written / block_elements * block_bytes);
        numbers.extend_from_slice(&out[..written]);
    }
    assert_eq!(narrow(tensor_type, &mut src, &mut out), Ok(0));
    numbers
}

/// Every `f32` of `bits` is rounded as it should be.
fn check(bits: &[u32]) {
    let bytes: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let values: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
    for (format, output) in OUTPUTS {
        let rounded = narrow(output, TensorType::F32, &bytes, bits.len());
        format.assert_rounded(&rounded, &values, "F32");
    }
}

#[test]
fn the_model_knows_some_numbers() {
    let numbers = [
        (1.0, 0x3c00, 0x3f80),
        (-2.0, 0xc000, 0xc000),
        (-0.0, 0x8000, 0x8000),
        (65504.0, 0x7bff, 0x4780),
        (65519.996, 0x7bff, 0x4780),
        (65520.0, 0x7c00, 0x4780),
        (f32::MAX, 0x7c00, 0x7f80),
        (f32::NEG_INFINITY, 0xfc00, 0xff80),
        (2_f32.powi(-24), 0x0001, 0x3380),
        (2_f32.powi(-25), 0x0000, 0x3300), // half of the smallest: a tie, and 0 is even
        (2_f32.powi(-25) * 1.001, 0x0001, 0x3300),
        (1.0 + 2_f32.powi(-11), 0x3c00, 0x3f80),
        (1.0 + 3.0 * 2_f32.powi(-11), 0x3c02, 0x3f80),
        (f32::from_bits(0x0000_8000), 0x0000, 0x0000), // a tie of subnormal bfloat16
        (f32::from_bits(0x0001_8000), 0x0000, 0x0002),
    ];
    for (value, f16, bf16) in numbers {
        assert_eq!((F16.round(value), BF16.round(value)), (Some(f16), Some(bf16)), "{value:?}");
    }
    assert!(F16.is_quiet_nan(0x7e00) && !F16.is_quiet_nan(0x7d00) && !F16.is_quiet_nan(0x7c00));
    assert!(BF16.is_quiet_nan(0xffc0) && !BF16.is_quiet_nan(0x7f81) && !BF16.is_quiet_nan(0x7f80));
}

/// Ties of bfloat16 and their neighbours; NaN whose payload would be cut off.
#[test]
fn every_upper_half_of_an_f32_is_rounded() {
    at_each_level(|| {
        let lower = [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff];
        check(&(0..=0xffff_u32).flat_map(|upper| lower.map(|lower| upper << 16 | lower)).collect::<Vec<_>>());
    });
}

/// The middle of every two binary16 numbers, the largest and infinity too, and its neighbours on both sides.
#[test]
fn every_tie_of_f16_is_rounded() {
    at_each_level(|| {
        let mut bits = Vec::new();
        for number in 0..0x7c00_u16 {
            // With one mantissa bit more, the middle follows the number; 2^-25 is the middle of 0 and the smallest.
            let (exponent, mantissa) = (i32::from(number >> 10), u32::from(number & 0x3ff));
            let (exponent, mantissa) =
                if exponent == 0 { (1, mantissa) } else { (exponent, mantissa | 0x400) };
            let middle = (f64::from(2 * mantissa + 1) * 2_f64.powi(exponent - 26)) as f32;
            for tie in [middle.to_bits(), (-middle).to_bits()] {
                bits.extend([tie - 1, tie, tie + 1]);
            }
        }
        check(&bits);
    });
}

#[test]
fn golden_values_are_rounded_through_an_output_of_any_size() {
    at_each_level(|| {
        for (tensor_type, _) in kernels() {
            let (_, block_elements) = sizes(tensor_type);
            for (set, bytes, bits) in pairs(tensor_type) {
                let values: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
                for room in [3 * block_elements + block_elements / 2, bits.len() + 1] {
                    for (format, output) in OUTPUTS {
                        let rounded = narrow(output, tensor_type, &bytes, room);
                        format.assert_rounded(&rounded, &values, &format!("{tensor_type} {set}"));
                    }
                }
            }
        }
    });
}

#[test]
fn outputs_of_one_block_take_one_block() {
    for (tensor_type, _) in kernels() {
        let (block_bytes, block_elements) = sizes(tensor_type);
        let bytes = vec![0; 2 * block_bytes];
        for (_, output) in OUTPUTS {
            let mut out = vec![7; 2 * block_elements];
            let mut src = &bytes[..];
            assert_eq!(output(tensor_type, &mut src, &mut out[..block_elements]), Ok(block_elements));
            assert_eq!(src.len(), block_bytes);
            assert!(out[block_elements..].iter().all(|number| *number == 7));
        }
    }
}

#[test]
fn errors_are_those_of_f32_outputs() {
    for tensor_type in (0..100).map(TensorType::from_id) {
        let block_bytes = tensor_type.block_bytes().unwrap_or(1) as usize;
        let block_elements = tensor_type.block_elements().unwrap_or(1) as usize;
        let bytes = vec![0; 2 * block_bytes];
        let inputs = [0, 1, block_bytes - 1, block_bytes, block_bytes + 1, 2 * block_bytes - 1];
        for (input, room) in inputs.iter().flat_map(|input| {
            [0, 1, block_elements - 1, block_elements, 2 * block_elements].map(|room| (*input, room))
        }) {
            let mut src = &bytes[..input];
            let expected = tensor_type.dequantize(&mut src, &mut vec![0.0; room]);
            let left = src.len();
            for (format, output) in OUTPUTS {
                let mut src = &bytes[..input];
                let result = output(tensor_type, &mut src, &mut vec![0; room]);
                let what = format!("{tensor_type} as {}: {input} bytes, room for {room}", format.name);
                assert_eq!((result, src.len()), (expected, left), "{what}");
            }
        }
    }
}

#[test]
fn slots_know_the_byte_order() {
    let slot = |tensor_type, order| TensorSlot::new(0, 0, 0, 0, 0, tensor_type, order);
    for (order, bytes) in
        [(ByteOrder::Big, [0x3f, 0xc0, 0xc0, 0x00]), (ByteOrder::Little, [0xc0, 0x3f, 0x00, 0xc0])]
    {
        let slot = slot(TensorType::BF16, order);
        let mut out = [0; 2];
        assert_eq!(slot.dequantize_bf16(&mut &bytes[..], &mut out), Ok(2));
        assert_eq!(out, [0x3fc0, 0xc000]); // 1.5 and -2
        assert_eq!(slot.dequantize_f16(&mut &bytes[..], &mut out), Ok(2));
        assert_eq!(out, [0x3e00, 0xc000]);
    }

    let tensor_type = TensorType::Q5_0;
    let error = Err(match feature_off(tensor_type) {
        None => DequantizeError::AmbiguousByteOrder { tensor_type },
        Some(feature) => DequantizeError::FamilyOff { tensor_type, feature },
    });
    let slot = slot(tensor_type, ByteOrder::Big);
    assert_eq!(slot.dequantize_f16(&mut &[0; 22][..], &mut [0; 32]), error);
    assert_eq!(slot.dequantize_bf16(&mut &[][..], &mut []), error);
}
