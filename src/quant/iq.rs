//! Codebooks and tables of values, feature `iq`.
//!
//! In a block of 256 a code picks an entry of a codebook: the magnitudes of 4 or 8 elements. Their signs are stored
//! beside it, eight in a byte, bit 0 for the first element, a set bit for minus. Some types store seven of the
//! eight: the number of minus signs is always even, so the eighth follows from the others.

use super::unpack::{SCALAR, f16, look_up_scaled, split};
use super::{grids, signed};
use signed::entry;

/// `IQ2_XXS`: 2.06 bits an element, one block of 256 elements in 8 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | 8 bytes a part: 4 bytes, the entries of 8 elements each; a u32 with 4 × 7 signs and the scale on top |
///
/// An element is `d × (0.5 + scale) × 0.25 × ±entry`, as in ggml's `dequantize_row_iq2_xxs`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn iq2_xxs(block: &[u8; 66], out: &mut [f32; 256]) {
    let [d0, d1, parts @ ..] = block;
    let d = f16([*d0, *d1]);
    for (out, part) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts.as_chunks::<8>().0) {
        let [e0, e1, e2, e3, word @ ..] = *part;
        let (signs, scale) = signs_and_scale(word);
        let factor = d * (0.5 + scale) * 0.25;
        let entry = |number: u8| entry(&grids::IQ2XXS, u16::from(number));
        signed::eights([factor; 2], [e0, e1, e2, e3], entry, signs, out);
    }
}

/// `IQ2_XS`: 2.31 bits an element, one block of 256 elements in 16 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | 32 × u16, one for 8 elements: the entry in the low 9 bits, seven signs in the high ones |
/// | 66 | 8 bytes: scales of 4 bits, the low nibble first |
///
/// An element is `d × (0.5 + scale) × 0.25 × ±entry`, as in ggml's `dequantize_row_iq2_xs`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn iq2_xs(block: &[u8; 74], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let d = f16([*d0, *d1]);
    let (codes, scales) = split::<64, 8, 72>(rest);
    let parts = codes.as_chunks::<8>().0.iter().zip(scales);
    for (out, (codes, scales)) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let [a0, a1, b0, b1, c0, c1, d0, d1] = *codes;
        let codes = [[a0, a1], [b0, b1], [c0, c1], [d0, d1]];
        let entry = |code| entry(&grids::IQ2XS, u16::from_le_bytes(code) & 511);
        let signs = eighth_sign(u32::from_le_bytes([a1 >> 1, b1 >> 1, c1 >> 1, d1 >> 1]));
        signed::eights(two_factors(d, *scales), codes, entry, signs, out);
    }
}

/// `IQ3_XXS`: 3.06 bits an element, one block of 256 elements in 8 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | 64 bytes: the entries of 4 elements each |
/// | 66 | 8 × u32, one a part: 4 × 7 signs and the scale on top |
///
/// An element is `d × (0.5 + scale) × 0.5 × ±entry`, as in ggml's `dequantize_row_iq3_xxs`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn iq3_xxs(block: &[u8; 98], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let d = f16([*d0, *d1]);
    let (entries, words) = split::<64, 32, 96>(rest);
    let parts = entries.as_chunks::<8>().0.iter().zip(words.as_chunks::<4>().0);
    for (out, (entries, word)) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let (signs, scale) = signs_and_scale(*word);
        let factor = d * (0.5 + scale) * 0.5;
        let entry = |number: u8| entry(&grids::IQ3XXS, u16::from(number));
        signed::fours(factor, *entries, entry, evenly_but_62, signs, out);
    }
}

/// `IQ1_S`: 1.56 bits an element, one block of 256 elements in 8 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | 32 bytes: low eight bits of the entries of 8 elements each |
/// | 34 | 8 × u16, one a part: 4 × 3 high bits of the entries, the scale in bits 12 to 14, a sign in bit 15 |
///
/// An element is `d × (2 × scale + 1) × (entry ± 0.125)`, the entry being −1, 0 or 1 and a set sign bit meaning
/// minus, as in ggml's `dequantize_row_iq1_s`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn iq1_s(block: &[u8; 50], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let d = f16([*d0, *d1]);
    let (low, words) = split::<32, 16, 48>(rest);
    let parts = low.as_chunks::<4>().0.iter().zip(words.as_chunks::<2>().0);
    for (out, (low, word)) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let [_, top] = *word;
        let factor = d * f32::from((top >> 3 & 14) | 1);
        let mut high = u16::from_le_bytes(*word);
        for (out, low) in out.as_chunks_mut::<8>().0.iter_mut().zip(low) {
            shifted(factor, u16::from(*low) | (high & 7) << 8, top & 128 != 0, out);
            high >>= 3;
        }
    }
}

/// `IQ4_NL`: 4-bit codes for values of a table, one block of 32 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | 16 bytes: codes 0 to 15 in the low nibbles, 16 to 31 in the high ones |
///
/// An element is `d × value`, as in ggml's `dequantize_row_iq4_nl`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn iq4_nl(block: &[u8; 18], out: &mut [f32; 32]) {
    let [d0, d1, codes @ ..] = block;
    look_up_scaled(&NON_LINEAR, codes, f16([*d0, *d1]), out);
}

/// `IQ3_S`: 3.44 bits an element, one block of 256 elements in 8 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | 64 bytes: low eight bits of the entries of 4 elements each |
/// | 66 | 8 bytes: their ninth bits, the first one lowest |
/// | 74 | 32 bytes: signs |
/// | 106 | 4 bytes: scales of 4 bits, the low nibble first |
///
/// An element is `d × (1 + 2 × scale) × ±entry`, as in ggml's `dequantize_row_iq3_s`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn iq3_s(block: &[u8; 110], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let d = f16([*d0, *d1]);
    let (low, rest) = split::<64, 44, 108>(rest);
    let (ninths, rest) = split::<8, 36, 44>(rest);
    let (signs, scales) = split::<32, 4, 36>(rest);
    let scales = low_and_high(scales);
    let entries = low.as_chunks::<8>().0.iter().zip(ninths);
    let parts = entries.zip(signs.as_chunks::<4>().0.iter().zip(scales.as_flattened()));
    for (out, ((low, ninths), (signs, scale))) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let factor = d * f32::from(scale << 1 | 1);
        let mut ninths = u16::from(*ninths) << 8;
        let entry = |low: u8| {
            let entry = entry(&grids::IQ3S, ninths & 256 | u16::from(low));
            ninths >>= 1;
            entry
        };
        signed::fours(factor, *low, entry, odd, *signs, out);
    }
}

/// `IQ2_S`: 2.56 bits an element, one block of 256 elements in 16 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | 32 bytes: low eight bits of the entries of 8 elements each |
/// | 34 | 32 bytes: signs |
/// | 66 | 8 bytes: high two bits of the entries, the first ones lowest |
/// | 74 | 8 bytes: scales of 4 bits, the low nibble first |
///
/// An element is `d × (0.5 + scale) × 0.25 × ±entry`, as in ggml's `dequantize_row_iq2_s`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn iq2_s(block: &[u8; 82], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let d = f16([*d0, *d1]);
    let (low, rest) = split::<32, 48, 80>(rest);
    let (signs, rest) = split::<32, 16, 48>(rest);
    let (high, scales) = split::<8, 8, 16>(rest);
    let entries = low.as_chunks::<4>().0.iter().zip(high);
    let parts = entries.zip(signs.as_chunks::<4>().0.iter().zip(scales));
    for (out, ((low, high), (signs, scales))) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let mut high = u16::from(*high) << 8;
        let entry = |low: u8| {
            let entry = entry(&grids::IQ2S, high & 0x300 | u16::from(low));
            high >>= 2;
            entry
        };
        signed::eights(two_factors(d, *scales), *low, entry, *signs, out);
    }
}

/// `IQ4_XS`: 4-bit codes for values of a table, one block of 256 elements in 8 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | u16: high two bits of the scales, the first ones lowest |
/// | 4 | 4 bytes: low four bits of the scales, the low nibble first |
/// | 8 | 16 bytes a part: codes 0 to 15 in the low nibbles, 16 to 31 in the high ones |
///
/// An element is `(d × (scale − 32)) × value`, as in ggml's `dequantize_row_iq4_xs`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn iq4_xs(block: &[u8; 136], out: &mut [f32; 256]) {
    let ([d0, d1, h0, h1, scales @ ..], codes) = split::<8, 128, 136>(block);
    let d = f16([*d0, *d1]);
    // Turned so that the two bits of the next scale are bits 4 and 5.
    let mut high = u16::from_le_bytes([*h0, *h1]).rotate_left(4);
    let scales = low_and_high(scales);
    let parts = codes.as_chunks::<16>().0.iter().zip(scales.as_flattened());
    for (out, (codes, low)) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let [two_bits, _] = (high & 0x30).to_le_bytes();
        let scale = (two_bits | low).wrapping_sub(32).cast_signed();
        high = high.rotate_right(2);
        look_up_scaled(&NON_LINEAR, codes, d * f32::from(scale), out);
    }
}

/// `IQ1_M`: 1.75 bits an element, one block of 256 elements in 16 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | 32 bytes: low eight bits of the entries of 8 elements each |
/// | 32 | 16 bytes, a nibble for an entry, the low one first: its high three bits, and a sign in bit 3 |
/// | 48 | 4 × u16: 4 × 3 bits of scales, the first one lowest; on top 4 bits of `d`, an f16, the low ones first |
///
/// An element is `d × (2 × scale + 1) × (entry ± 0.125)`, the entry being −1, 0 or 1 and a set sign bit meaning
/// minus, as in ggml's `dequantize_row_iq1_m`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn iq1_m(block: &[u8; 56], out: &mut [f32; 256]) {
    let (low, rest) = split::<32, 24, 56>(block);
    let (high, scales) = split::<16, 8, 24>(rest);
    let [_, a, _, b, _, c, _, e] = scales;
    let d = f16([a >> 4 | b & 0xf0, c >> 4 | e & 0xf0]);
    let parts = low.as_chunks::<8>().0.iter().zip(high.as_chunks::<4>().0).zip(scales.as_chunks::<2>().0);
    for (out, ((low, high), scales)) in out.as_chunks_mut::<64>().0.iter_mut().zip(parts) {
        let mut scales = u16::from_le_bytes(*scales) << 1;
        let parts = low.as_chunks::<2>().0.iter().zip(high);
        for (out, (low, high)) in out.as_chunks_mut::<16>().0.iter_mut().zip(parts) {
            let factor = d * f32::from(scales & 14 | 1);
            scales >>= 3;
            let entries = low.iter().zip([high & 15, high >> 4]);
            for (out, (low, high)) in out.as_chunks_mut::<8>().0.iter_mut().zip(entries) {
                shifted(factor, u16::from_le_bytes([*low, high & 7]), high & 8 != 0, out);
            }
        }
    }
}

/// What the codes of `IQ4_NL` and `IQ4_XS` stand for.
pub(super) static NON_LINEAR: [f32; 16] = [
    -127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0,
];

/// The magnitudes of `IQ3_XXS`, four in a word: 4 + 8 × code, but 62 instead of 60, which is 2 more where all three
/// bits are set.
#[inline(always)]
fn evenly_but_62(codes: u32) -> u32 {
    let seven = codes & codes >> 1 & codes >> 2 & 0x0101_0101;
    (codes << 3 | 0x0404_0404).wrapping_add(seven << 1)
}

/// The magnitudes of `IQ3_S`, four in a word: 1 + 2 × code.
#[inline(always)]
fn odd(codes: u32) -> u32 {
    codes << 1 | 0x0101_0101
}

/// The nibbles of each byte, the low one first.
#[inline(always)]
fn low_and_high<const N: usize>(bytes: &[u8; N]) -> [[u8; 2]; N] {
    bytes.map(|byte| [byte & 15, byte >> 4])
}

/// The factors of twice 16 elements: the low nibble of `scales` is for the first ones.
#[inline(always)]
fn two_factors(d: f32, scales: u8) -> [f32; 2] {
    [scales & 15, scales >> 4].map(|scale| d * (0.5 + f32::from(scale)) * 0.25)
}

/// Four times seven signs made eight, and the scale in the four bits above them.
#[inline(always)]
fn signs_and_scale(word: [u8; 4]) -> ([u8; 4], f32) {
    let [_, _, _, top] = word;
    let word = u32::from_le_bytes(word);
    let sevens = word & 0x7f | word << 1 & 0x7f00 | word << 2 & 0x7f_0000 | word << 3 & 0x7f00_0000;
    (eighth_sign(sevens), f32::from(top >> 4))
}

/// Sets bit 7 of each byte if an odd number of its other bits is set.
#[inline(always)]
fn eighth_sign(sevens: u32) -> [u8; 4] {
    // In bit 0 of each byte; what the shifts bring in from the next byte stays above it.
    let odd = sevens ^ sevens >> 4;
    let odd = odd ^ odd >> 2;
    let odd = (odd ^ odd >> 1) & 0x0101_0101;
    (sevens | odd << 7).to_le_bytes()
}

/// `factor × (code − 1 ± 0.125)` for the eight codes of an entry of `IQ1_S` and `IQ1_M`. All sums are exact.
#[inline(always)]
fn shifted(factor: f32, number: u16, minus: bool, out: &mut [f32; 8]) {
    let entry = entry(&grids::IQ1S, number);
    let shift = if minus { -1.125 } else { -0.875 };
    if SCALAR {
        shifted_by_table(factor, entry, shift, out)
    } else {
        shifted_by_codes(factor, entry, shift, out)
    }
}

#[inline(always)]
fn shifted_by_codes(factor: f32, entry: u16, shift: f32, out: &mut [f32; 8]) {
    for (out, code) in out.iter_mut().zip(signed::two_bits(entry).to_le_bytes()) {
        *out = factor * (f32::from(code) + shift);
    }
}

#[inline(always)]
fn shifted_by_table(factor: f32, entry: u16, shift: f32, out: &mut [f32; 8]) {
    let products = [0.0, 1.0, 2.0, 3.0].map(|code| factor * (code + shift));
    signed::look_up(&products, signed::two_bits_in_nibbles(entry), out);
}

#[cfg(test)]
mod tests {
    use super::{shifted_by_codes, shifted_by_table};
    use crate::quant::tests::{assert_same, numbers};

    #[test]
    fn shifted_codes_give_the_same_bits_both_ways() {
        for factor in [0.3, -0.7, 3e38, -1e-45, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            for entry in numbers() {
                let shift = if entry % 3 == 0 { -1.125 } else { -0.875 };
                let mut values = [[0.0; 8]; 2];
                let [by_codes, by_table] = &mut values;
                shifted_by_codes(factor, entry, shift, by_codes);
                shifted_by_table(factor, entry, shift, by_table);
                assert_same(by_codes, by_table, "eight codes");
            }
        }
    }
}
