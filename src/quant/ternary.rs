//! Two, three or four levels an element, feature `ternary`.

use super::ternary_scalar;
use super::unpack::{SCALAR, each, f16, pairs, scale, split, turn};

/// `TQ1_0`: three levels, five elements in a byte, one block of 256 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | 32 bytes: elements 0 to 159, digit n those from 32 × n on |
/// | 32 | 16 bytes: elements 160 to 239, digit n those from 160 + 16 × n on |
/// | 48 | 4 bytes: elements 240 to 255, digit n those from 240 + 4 × n on |
/// | 52 | `d`, f16 |
///
/// A byte is a fraction of 256; in base 3 its digits after the point are the levels.
///
/// An element is `d × (digit − 1)`, as in ggml's `dequantize_row_tq1_0`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn tq1_0(block: &[u8; 54], out: &mut [f32; 256]) {
    if SCALAR {
        return ternary_scalar::tq1_0(block, out);
    }
    let [bytes @ .., d0, d1] = block;
    let d = f16([*d0, *d1]);
    let (by_32, rest) = split::<32, 20, 52>(bytes);
    let (by_16, by_4) = split::<16, 4, 20>(rest);
    let (first, rest) = out.split_at_mut(160);
    let (second, third) = rest.split_at_mut(80);
    base_3(by_32, d, first);
    base_3(by_16, d, second);
    base_3(by_4, d, third);
}

/// `TQ2_0`: 2-bit codes, three of the four levels in use, one block of 256 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | 64 bytes: codes, 128 elements in 32 bytes, the first 32 of them in bits 0 and 1 |
/// | 64 | `d`, f16 |
///
/// An element is `d × (code − 1)`, as in ggml's `dequantize_row_tq2_0`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn tq2_0(block: &[u8; 66], out: &mut [f32; 256]) {
    if SCALAR {
        return ternary_scalar::tq2_0(block, out);
    }
    let [codes @ .., d0, d1] = block;
    let d = f16([*d0, *d1]);
    for (out, codes) in out.as_chunks_mut::<128>().0.iter_mut().zip(codes.as_chunks::<32>().0) {
        let codes = pairs(codes).map(|codes| each(&codes, |code| code.wrapping_sub(1)));
        scale(codes.as_flattened(), d, out);
    }
}

/// `Q1_0`: a sign an element, one block of 128 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | 16 bytes: a bit an element, the first one lowest |
///
/// An element is `d` if its bit is set, else `−d`, as in ggml's `dequantize_row_q1_0`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q1_0(block: &[u8; 18], out: &mut [f32; 128]) {
    if SCALAR {
        return ternary_scalar::q1_0(block, out);
    }
    let [d0, d1, signs @ ..] = block;
    let d = f16([*d0, *d1]);
    for (out, signs) in out.as_chunks_mut::<32>().0.iter_mut().zip(signs.as_chunks::<4>().0) {
        // 255 is −1; with all bits but the lowest turned it is 1.
        let mut codes = [255; 32];
        turn(&mut codes, 254, signs);
        scale(&codes, d, out);
    }
}

/// `Q2_0`: four levels, one block of 64 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | 16 bytes: four codes each, the first one in bits 0 and 1 |
///
/// An element is `d × (code − 1)`, as in ggml's `dequantize_row_q2_0`: one of the levels is `2 × d`. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q2_0(block: &[u8; 18], out: &mut [f32; 64]) {
    if SCALAR {
        return ternary_scalar::q2_0(block, out);
    }
    let [d0, d1, codes @ ..] = block;
    let d = f16([*d0, *d1]);
    for (out, byte) in out.as_chunks_mut::<4>().0.iter_mut().zip(codes) {
        let codes = [byte & 3, byte >> 2 & 3, byte >> 4 & 3, byte >> 6].map(|code| code.wrapping_sub(1));
        scale(&codes, d, out);
    }
}

/// `d × (digit − 1)`: the first base-3 digits of all bytes, then the second ones, until `out` is full.
#[inline(always)]
fn base_3<const N: usize>(bytes: &[u8; N], d: f32, out: &mut [f32]) {
    let mut fractions = *bytes;
    for out in out.as_chunks_mut::<N>().0 {
        // The digit is what 3 × the fraction has before the point: 1 from 256 / 3 on, 2 from 512 / 3 on.
        let codes =
            each(&fractions, |byte| u8::from(byte > 85).wrapping_add(u8::from(byte > 170)).wrapping_sub(1));
        scale(&codes, d, out);
        fractions = each(&fractions, |byte| byte.wrapping_mul(3));
    }
}
