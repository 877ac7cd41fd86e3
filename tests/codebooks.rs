//! Every entry of every table, read back through the kernels and held against the tables in full.
#![cfg(any(feature = "iq", feature = "fp4"))]
#![allow(dead_code, reason = "one of the families may be off")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod support;

use support::golden::sizes;
use support::levels::at_each_level;
use weightstream::TensorType;

/// The values of a block of zeros but for these bytes. They are the same wherever it stands in a run of blocks.
fn values(tensor_type: TensorType, bytes: &[(usize, u8)]) -> Vec<f32> {
    let (block_bytes, block_elements) = sizes(tensor_type);
    let mut block = vec![0; block_bytes];
    bytes.iter().for_each(|(offset, byte)| block[*offset] = *byte);
    let mut values = vec![f32::NAN; 9 * block_elements];
    assert_eq!(tensor_type.dequantize(&mut &block.repeat(9)[..], &mut values), Ok(values.len()));
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let first = values[..block_elements].to_vec();
    assert!(values.chunks(block_elements).all(|values| bits(values) == bits(&first)), "{tensor_type}");
    first
}

/// The numbers of a file of `data/tables`, one hexadecimal number a line.
fn table(name: &str) -> Vec<u64> {
    let path = format!("{}/tests/data/tables/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(|line| u64::from_str_radix(line.trim_start_matches("0x"), 16).unwrap()).collect()
}

/// The elements of a codebook, in order: the lowest `width` bytes of each entry.
fn elements(name: &str, width: usize) -> Vec<i8> {
    table(name)
        .iter()
        .flat_map(|entry| entry.to_le_bytes().map(u8::cast_signed).into_iter().take(width))
        .collect()
}

/// A binary16 power of two.
fn half(exponent: i16) -> [u8; 2] {
    ((exponent + 15).cast_unsigned() << 10).to_le_bytes()
}

/// The values as the small integers they are.
#[allow(clippy::cast_possible_truncation)]
fn integers(values: &[f32]) -> Vec<i8> {
    let numbers: Vec<i8> = values.iter().map(|value| *value as i8).collect();
    assert!(numbers.iter().zip(values).all(|(number, value)| f32::from(*number) == *value), "{values:?}");
    numbers
}

#[cfg(feature = "iq")]
mod iq {
    use super::*;

    /// The first elements of `entries` blocks, each made by `block` for one entry of a codebook.
    fn read(name: &str, width: usize, tensor_type: TensorType, bytes: impl Fn(u16) -> Vec<(usize, u8)>) {
        let expected = elements(name, width);
        let mut found = Vec::new();
        for entry in 0..u16::try_from(expected.len() / width).unwrap() {
            let values = values(tensor_type, &bytes(entry));
            found.extend(integers(&values[..width]));
        }
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn every_entry_of_the_packed_codebooks_is_that_of_the_full_ones() {
        at_each_level(|| {
            // The scale of 0 gives an eighth of `d` to the 2-bit types, a quarter to IQ3_XXS, all of it to IQ3_S.
            let [_, eight] = half(3);
            let [_, four] = half(2);
            let [_, one] = half(0);
            read("iq2xxs_grid", 8, TensorType::IQ2_XXS, |entry| {
                let [low, _] = entry.to_le_bytes();
                vec![(1, eight), (2, low)]
            });
            read("iq2xs_grid", 8, TensorType::IQ2_XS, |entry| {
                let [low, high] = entry.to_le_bytes();
                vec![(1, eight), (2, low), (3, high)]
            });
            read("iq2s_grid", 8, TensorType::IQ2_S, |entry| {
                let [low, high] = entry.to_le_bytes();
                vec![(1, eight), (2, low), (66, high)]
            });
            read("iq3xxs_grid", 4, TensorType::IQ3_XXS, |entry| {
                let [low, _] = entry.to_le_bytes();
                vec![(1, four), (2, low)]
            });
            read("iq3s_grid", 4, TensorType::IQ3_S, |entry| {
                let [low, high] = entry.to_le_bytes();
                vec![(1, one), (2, low), (66, high)]
            });
        });
    }

    #[test]
    fn the_shifted_codebook_is_too() {
        at_each_level(|| {
            let entries = table("iq1s_grid");
            assert_eq!(entries.len(), 2048);
            for (entry, expected) in (0..2048_u16).zip(entries) {
                let [low, high] = entry.to_le_bytes();
                let expected = expected.to_le_bytes().map(u8::cast_signed);
                for (sign, shift) in [(0, 0.125), (0x80, -0.125)] {
                    let values =
                        values(TensorType::IQ1_S, &[(1, half(0)[1]), (2, low), (35, sign), (34, high)]);
                    assert_eq!(values[..8], expected.map(|value| f32::from(value) + shift), "{entry}");
                }
            }
        });
    }

    #[test]
    fn seven_signs_give_the_eighth() {
        at_each_level(|| {
            for (code, signs) in table("ksigns_iq2xs").iter().enumerate() {
                // In each of the four places of the word, and in the word of IQ2_XS.
                for place in 0..4 {
                    let [w0, w1, w2, w3] = (u32::try_from(code).unwrap() << (7 * place)).to_le_bytes();
                    let values =
                        values(TensorType::IQ2_XXS, &[(1, half(3)[1]), (6, w0), (7, w1), (8, w2), (9, w3)]);
                    for (bit, value) in values[8 * place..8 * place + 8].iter().enumerate() {
                        assert_eq!(value.is_sign_negative(), signs >> bit & 1 == 1, "{code} {place} {bit}");
                    }
                }
                let values =
                    values(TensorType::IQ2_XS, &[(1, half(3)[1]), (3, u8::try_from(code << 1).unwrap())]);
                for (bit, value) in values[..8].iter().enumerate() {
                    assert_eq!(value.is_sign_negative(), signs >> bit & 1 == 1, "{code} {bit}");
                }
            }
        });
    }

    #[test]
    fn the_non_linear_values_are_those_of_the_table() {
        at_each_level(|| {
            let codes = (0..16).map(|code| (2 + usize::from(code), code));
            let bytes: Vec<(usize, u8)> = codes.chain([(1, half(0)[1])]).collect();
            let values = values(TensorType::IQ4_NL, &bytes);
            assert_eq!(integers(&values[..16]), elements("kvalues_iq4nl", 1));
        });
    }
}

#[cfg(feature = "fp4")]
#[test]
fn fp4_values_and_scales_are_those_of_the_tables() {
    at_each_level(|| {
        let codes = elements("kvalues_fp4", 1);
        for (scale, bits) in table("e8m0_half_f32bits").iter().enumerate() {
            let mut bytes = vec![(0, u8::try_from(scale).unwrap())];
            bytes.extend((0..16).map(|code| (1 + usize::from(code), code)));
            let values = values(TensorType::MXFP4, &bytes);
            let scale = f32::from_bits(u32::try_from(*bits).unwrap());
            assert!(
                values
                    .iter()
                    .zip(&codes)
                    .all(|(value, code)| value.to_bits() == (scale * f32::from(*code)).to_bits())
            );
        }
        for (scale, bits) in table("ue4m3_half_f32bits").iter().enumerate() {
            let mut bytes = vec![(0, u8::try_from(scale).unwrap())];
            bytes.extend((0..8).map(|code| (4 + usize::from(code), code | (code + 8) << 4)));
            let values = values(TensorType::NVFP4, &bytes);
            let scale = f32::from_bits(u32::try_from(*bits).unwrap());
            assert!(
                values
                    .iter()
                    .zip(&codes)
                    .all(|(value, code)| value.to_bits() == (scale * f32::from(*code)).to_bits())
            );
        }
    });
}
