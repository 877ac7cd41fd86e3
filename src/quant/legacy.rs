//! Blocks of 32 elements with one scale, feature `legacy`.

use super::unpack::{
    SCALAR, as_signed, copy, each, f16, look_up_32, look_up_nibbles, multiples_around_zero,
    multiples_of_a_nibble, multiples_plus, nibbles, scale, scale_add, split, turn,
};

/// The bits of two f16 numbers: what a block of codes above a minimum holds beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScaleAndMinimum {
    /// The scale, as the bits of an f16.
    pub d: u16,
    /// The minimum, as the bits of an f16.
    pub m: u16,
}

/// `Q4_0`: 4-bit codes around zero, one block of 32 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | 16 bytes: codes 0 to 15 in the low nibbles, 16 to 31 in the high ones |
///
/// An element is `d × (code − 8)`, as in ggml's `dequantize_row_q4_0`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q4_0(block: &[u8; 18], out: &mut [f32; 32]) {
    if SCALAR { q4_0_by_table(block, out) } else { q4_0_by_codes(block, out) }
}

#[inline(always)]
fn q4_0_by_codes(block: &[u8; 18], out: &mut [f32; 32]) {
    let (d, codes) = q4_0_codes(block);
    scale(codes.as_flattened(), f16(d), out);
}

#[inline(always)]
fn q4_0_by_table(block: &[u8; 18], out: &mut [f32; 32]) {
    let [d0, d1, codes @ ..] = block;
    let mut table = [0.0; 16];
    multiples_of_a_nibble(f16([*d0, *d1]), &mut table);
    look_up_nibbles(codes, [&table; 2], out);
}

/// The integers of a [`q4_0`] block, without floating point: writes the codes less 8, which are −8 to 7, and returns
/// the bits of `d`, an f16.
///
/// An element is `d × code`; as `f32` that has the bits of [`q4_0`]. Never panics.
pub fn unpack_q4_0(block: &[u8; 18], codes: &mut [i8; 32]) -> u16 {
    let (d, packed) = q4_0_codes(block);
    as_signed(packed.as_flattened(), codes);
    u16::from_le_bytes(d)
}

/// `d`, and the codes less 8.
#[inline(always)]
fn q4_0_codes(block: &[u8; 18]) -> ([u8; 2], [[u8; 16]; 2]) {
    let [d0, d1, codes @ ..] = block;
    ([*d0, *d1], nibbles(codes).map(|half| each(&half, |code| code.wrapping_sub(8))))
}

/// `Q4_1`: 4-bit codes above a minimum, one block of 32 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | `m`, f16 |
/// | 4 | 16 bytes: codes 0 to 15 in the low nibbles, 16 to 31 in the high ones |
///
/// An element is `d × code + m`, as in ggml's `dequantize_row_q4_1`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q4_1(block: &[u8; 20], out: &mut [f32; 32]) {
    if SCALAR { q4_1_by_table(block, out) } else { q4_1_by_codes(block, out) }
}

#[inline(always)]
fn q4_1_by_codes(block: &[u8; 20], out: &mut [f32; 32]) {
    let [d0, d1, m0, m1, codes @ ..] = block;
    scale_add(nibbles(codes).as_flattened(), f16([*d0, *d1]), f16([*m0, *m1]), out);
}

#[inline(always)]
fn q4_1_by_table(block: &[u8; 20], out: &mut [f32; 32]) {
    let [d0, d1, m0, m1, codes @ ..] = block;
    let mut table = [0.0; 16];
    multiples_plus(f16([*d0, *d1]), f16([*m0, *m1]), &mut table);
    look_up_nibbles(codes, [&table; 2], out);
}

/// The integers of a [`q4_1`] block, without floating point: writes the codes, which are 0 to 15, and returns the
/// bits of `d` and `m`.
///
/// An element is `d × code + m`; as `f32`, the product and the sum each rounded, that has the bits of [`q4_1`].
/// Never panics.
pub fn unpack_q4_1(block: &[u8; 20], codes: &mut [u8; 32]) -> ScaleAndMinimum {
    let [d0, d1, m0, m1, packed @ ..] = block;
    copy(nibbles(packed).as_flattened(), codes);
    ScaleAndMinimum { d: u16::from_le_bytes([*d0, *d1]), m: u16::from_le_bytes([*m0, *m1]) }
}

/// `Q5_0`: 5-bit codes around zero, one block of 32 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | 32 bits: the fifth bit of each code, the first one lowest |
/// | 6 | 16 bytes: low four bits of codes 0 to 15 in the low nibbles, of 16 to 31 in the high ones |
///
/// An element is `d × (code − 16)`, as in ggml's `dequantize_row_q5_0`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q5_0(block: &[u8; 22], out: &mut [f32; 32]) {
    if SCALAR { q5_0_by_table(block, out) } else { q5_0_by_codes(block, out) }
}

#[inline(always)]
fn q5_0_by_codes(block: &[u8; 22], out: &mut [f32; 32]) {
    let (d, codes) = q5_0_codes(block);
    scale(codes.as_flattened(), f16(d), out);
}

#[inline(always)]
fn q5_0_by_table(block: &[u8; 22], out: &mut [f32; 32]) {
    let [d0, d1, rest @ ..] = block;
    let (high, low) = split(rest);
    let mut table = [0.0; 32];
    multiples_around_zero(f16([*d0, *d1]), &mut table);
    look_up_32(&table, five_bits_in_words(low, high).as_flattened(), out);
}

/// The integers of a [`q5_0`] block, without floating point: writes the codes less 16, which are −16 to 15, and
/// returns the bits of `d`, an f16.
///
/// An element is `d × code`; as `f32` that has the bits of [`q5_0`]. Never panics.
pub fn unpack_q5_0(block: &[u8; 22], codes: &mut [i8; 32]) -> u16 {
    let (d, packed) = q5_0_codes(block);
    as_signed(packed.as_flattened(), codes);
    u16::from_le_bytes(d)
}

/// `d`, and the codes less 16.
#[inline(always)]
fn q5_0_codes(block: &[u8; 22]) -> ([u8; 2], [[u8; 16]; 2]) {
    let [d0, d1, rest @ ..] = block;
    let (high, low) = split(rest);
    ([*d0, *d1], five_bits(low, high).map(|half| each(&half, |code| code.wrapping_sub(16))))
}

/// `Q5_1`: 5-bit codes above a minimum, one block of 32 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | `m`, f16 |
/// | 4 | 32 bits: the fifth bit of each code, the first one lowest |
/// | 8 | 16 bytes: low four bits of codes 0 to 15 in the low nibbles, of 16 to 31 in the high ones |
///
/// An element is `d × code + m`, as in ggml's `dequantize_row_q5_1`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q5_1(block: &[u8; 24], out: &mut [f32; 32]) {
    if SCALAR { q5_1_by_table(block, out) } else { q5_1_by_codes(block, out) }
}

#[inline(always)]
fn q5_1_by_codes(block: &[u8; 24], out: &mut [f32; 32]) {
    let [d0, d1, m0, m1, rest @ ..] = block;
    let (high, low) = split(rest);
    scale_add(five_bits(low, high).as_flattened(), f16([*d0, *d1]), f16([*m0, *m1]), out);
}

#[inline(always)]
fn q5_1_by_table(block: &[u8; 24], out: &mut [f32; 32]) {
    let [d0, d1, m0, m1, rest @ ..] = block;
    let (high, low) = split(rest);
    let mut table = [0.0; 32];
    multiples_plus(f16([*d0, *d1]), f16([*m0, *m1]), &mut table);
    look_up_32(&table, five_bits_in_words(low, high).as_flattened(), out);
}

/// The integers of a [`q5_1`] block, without floating point: writes the codes, which are 0 to 31, and returns the
/// bits of `d` and `m`.
///
/// An element is `d × code + m`; as `f32`, the product and the sum each rounded, that has the bits of [`q5_1`].
/// Never panics.
pub fn unpack_q5_1(block: &[u8; 24], codes: &mut [u8; 32]) -> ScaleAndMinimum {
    let [d0, d1, m0, m1, rest @ ..] = block;
    let (high, low) = split(rest);
    copy(five_bits(low, high).as_flattened(), codes);
    ScaleAndMinimum { d: u16::from_le_bytes([*d0, *d1]), m: u16::from_le_bytes([*m0, *m1]) }
}

/// `Q8_0`: 8-bit codes, one block of 32 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | 32 signed bytes: the codes |
///
/// An element is `d × code`, as in ggml's `dequantize_row_q8_0`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q8_0(block: &[u8; 34], out: &mut [f32; 32]) {
    let [d0, d1, codes @ ..] = block;
    scale(codes, f16([*d0, *d1]), out);
}

/// The integers of a [`q8_0`] block, without floating point: writes the codes, which are −128 to 127, and returns
/// the bits of `d`, an f16.
///
/// An element is `d × code`; as `f32` that has the bits of [`q8_0`]. Never panics.
pub fn unpack_q8_0(block: &[u8; 34], codes: &mut [i8; 32]) -> u16 {
    let [d0, d1, packed @ ..] = block;
    as_signed(packed, codes);
    u16::from_le_bytes([*d0, *d1])
}

/// `Q8_1`: 8-bit codes and their sum, one block of 32 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | `d` times the sum of the codes, f16: not needed here |
/// | 4 | 32 signed bytes: the codes |
///
/// An element is `d × code`. ggml makes these blocks for its dot products and has no function that
/// dequantizes them. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q8_1(block: &[u8; 36], out: &mut [f32; 32]) {
    let [d0, d1, _, _, codes @ ..] = block;
    scale(codes, f16([*d0, *d1]), out);
}

/// Codes from their low four bits and their fifth bit.
#[inline(always)]
fn five_bits(low: &[u8; 16], high: &[u8; 4]) -> [[u8; 16]; 2] {
    if SCALAR { five_bits_in_words(low, high) } else { five_bits_in_vectors(low, high) }
}

/// Four codes at once.
#[inline(always)]
fn five_bits_in_words(low: &[u8; 16], high: &[u8; 4]) -> [[u8; 16]; 2] {
    let mut fifth = u32::from_le_bytes(*high);
    let [mut first, mut second] = [[0; 16]; 2];
    let out = first.as_chunks_mut::<4>().0.iter_mut().zip(second.as_chunks_mut::<4>().0);
    for (low, (first, second)) in low.as_chunks::<4>().0.iter().zip(out) {
        let low = u32::from_le_bytes(*low);
        *first = (low & 0x0f0f_0f0f | bit_4_of_each(fifth)).to_le_bytes();
        *second = (low >> 4 & 0x0f0f_0f0f | bit_4_of_each(fifth >> 16)).to_le_bytes();
        fifth >>= 4;
    }
    [first, second]
}

/// The four lowest bits, as bits 4 of four bytes.
#[inline(always)]
fn bit_4_of_each(bits: u32) -> u32 {
    // Shifted by 4, 11, 18 and 25; no two of these 16 bits are in the same place.
    (bits & 15).wrapping_mul(0x0204_0810) & 0x1010_1010
}

#[inline(always)]
fn five_bits_in_vectors(low: &[u8; 16], high: &[u8; 4]) -> [[u8; 16]; 2] {
    let mut codes = nibbles(low);
    turn(codes.as_flattened_mut(), 16, high);
    codes
}

#[cfg(test)]
mod tests {
    //! The two ways to take each block, held against each other. What the values must be is in `tests/golden.rs`.

    use super::*;
    use crate::quant::tests::{self, assert_same};

    /// 16 bytes with each nibble once among the low ones and once among the high ones.
    const EACH_NIBBLE: [u8; 16] =
        [0xf0, 0xe1, 0xd2, 0xc3, 0xb4, 0xa5, 0x96, 0x87, 0x78, 0x69, 0x5a, 0x4b, 0x3c, 0x2d, 0x1e, 0x0f];
    /// Fifth bits that make all 32 codes of [`EACH_NIBBLE`], and the same codes in other places.
    const FIFTH_BITS: [[u8; 4]; 2] = [[0, 0, 255, 255], [255, 255, 0, 0]];

    /// A block of these fields, one after the other.
    fn block<const BYTES: usize>(fields: &[&[u8]]) -> [u8; BYTES] {
        let mut block = [0; BYTES];
        let bytes = fields.iter().copied().flatten();
        assert_eq!(bytes.clone().count(), BYTES);
        block.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        block
    }

    type Kernel<const BYTES: usize> = fn(&[u8; BYTES], &mut [f32; 32]);

    fn check<const BYTES: usize>(block: &[u8; BYTES], kernels: [Kernel<BYTES>; 2], what: &str) {
        let mut values = [[f32::NAN; 32]; 2];
        for (kernel, values) in kernels.into_iter().zip(&mut values) {
            kernel(block, values);
        }
        let [by_codes, by_table] = values;
        assert_same(&by_codes, &by_table, what);
    }

    /// All numbers, each with itself mixed up: over all, each comes up in both places.
    fn numbers() -> impl Iterator<Item = ([u8; 2], [u8; 2])> {
        tests::numbers().map(|d| (d.to_le_bytes(), d.wrapping_mul(0x9e37).to_le_bytes()))
    }

    /// Zero, one, the largest number, the largest subnormal one, infinity and a NaN, and the same below zero.
    fn special_numbers() -> impl Iterator<Item = ([u8; 2], [u8; 2])> {
        let special = || {
            [0_u16, 0x3c00, 0x7bff, 0x03ff, 0x7c00, 0x7e01].into_iter().flat_map(|bits| [bits, bits | 0x8000])
        };
        special().flat_map(move |d| special().map(move |m| (d.to_le_bytes(), m.to_le_bytes())))
    }

    #[test]
    fn codes_around_zero_give_the_same_bits_both_ways_for_each_scale() {
        for (d, _) in numbers() {
            check(&block(&[&d, &EACH_NIBBLE]), [q4_0_by_codes, q4_0_by_table], "Q4_0");
            for fifth in FIFTH_BITS {
                let block = block(&[&d, &fifth, &EACH_NIBBLE]);
                check(&block, [q5_0_by_codes, q5_0_by_table], "Q5_0");
            }
        }
    }

    #[test]
    fn codes_above_a_minimum_give_the_same_bits_both_ways_for_each_scale_and_minimum() {
        for (d, m) in numbers().chain(special_numbers()) {
            check(&block(&[&d, &m, &EACH_NIBBLE]), [q4_1_by_codes, q4_1_by_table], "Q4_1");
            for fifth in FIFTH_BITS {
                let block = block(&[&d, &m, &fifth, &EACH_NIBBLE]);
                check(&block, [q5_1_by_codes, q5_1_by_table], "Q5_1");
            }
        }
    }

    #[test]
    fn fifth_bits_get_to_their_codes_both_ways() {
        for low in [[0; 16], [255; 16], EACH_NIBBLE] {
            for half in tests::numbers() {
                for bits in [u32::from(half), u32::from(half) << 16, u32::from(half) << 8 ^ 0xff0f_00f0] {
                    let high = bits.to_le_bytes();
                    let expected = five_bits_in_vectors(&low, &high);
                    assert_eq!(five_bits_in_words(&low, &high), expected, "{bits:#x}");
                }
            }
        }
    }
}
