//! Blocks of 32 elements with one scale, feature `legacy`.

use super::unpack::{as_signed, copy, each, f16, nibbles, scale, scale_add, split, turn};

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
pub fn q4_0(block: &[u8; 18], out: &mut [f32; 32]) {
    let (d, codes) = q4_0_codes(block);
    scale(codes.as_flattened(), f16(d), out);
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
pub fn q4_1(block: &[u8; 20], out: &mut [f32; 32]) {
    let [d0, d1, m0, m1, codes @ ..] = block;
    scale_add(nibbles(codes).as_flattened(), f16([*d0, *d1]), f16([*m0, *m1]), out);
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
pub fn q5_0(block: &[u8; 22], out: &mut [f32; 32]) {
    let (d, codes) = q5_0_codes(block);
    scale(codes.as_flattened(), f16(d), out);
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
pub fn q5_1(block: &[u8; 24], out: &mut [f32; 32]) {
    let [d0, d1, m0, m1, rest @ ..] = block;
    let (high, low) = split(rest);
    scale_add(five_bits(low, high).as_flattened(), f16([*d0, *d1]), f16([*m0, *m1]), out);
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
pub fn q8_1(block: &[u8; 36], out: &mut [f32; 32]) {
    let [d0, d1, _, _, codes @ ..] = block;
    scale(codes, f16([*d0, *d1]), out);
}

/// Codes from their low four bits and their fifth bit.
#[inline(always)]
fn five_bits(low: &[u8; 16], high: &[u8; 4]) -> [[u8; 16]; 2] {
    let mut codes = nibbles(low);
    turn(codes.as_flattened_mut(), 16, high);
    codes
}
