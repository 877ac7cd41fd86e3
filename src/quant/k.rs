//! Blocks of 256 elements in parts of 16 or 32, each with a scale of its own, feature `k`.

use super::unpack::{each, f16, nibbles, pairs, scale, scale_add, split};

/// `Q2_K`: 2-bit codes above a minimum, one block of 256 elements in 16 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | 16 bytes, one a part: scale in the low nibble, minimum in the high one |
/// | 16 | 64 bytes: codes, 128 elements in 32 bytes, the first 32 of them in bits 0 and 1 |
/// | 80 | `d`, f16 |
/// | 82 | `dmin`, f16 |
///
/// An element is `(d × scale) × code − dmin × minimum`, as in ggml's `dequantize_row_q2_K`. Never panics.
pub fn q2_k(block: &[u8; 84], out: &mut [f32; 256]) {
    let [rest @ .., d0, d1, m0, m1] = block;
    let (d, dmin) = (f16([*d0, *d1]), f16([*m0, *m1]));
    let (scales, codes) = split::<16, 64, 80>(rest);
    let (scales, minimums) = (each(scales, |byte| byte & 15), each(scales, |byte| byte >> 4));
    above_minimum::<16, 16>(two_bits(codes).as_flattened(), d, &scales, dmin, &minimums, out);
}

/// `Q3_K`: 3-bit codes around zero, one block of 256 elements in 16 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | 32 bytes: third bit of each code, bit 0 those of the first 32 elements, bit 7 those of the last |
/// | 32 | 64 bytes: low two bits, 128 elements in 32 bytes, the first 32 of them in bits 0 and 1 |
/// | 96 | 8 bytes: low four bits of the scales, 0 to 7 in the low nibbles, 8 to 15 in the high ones |
/// | 104 | 4 bytes: high two bits of the scales, 0 to 3 in bits 0 and 1, 12 to 15 in bits 6 and 7 |
/// | 108 | `d`, f16 |
///
/// An element is `(d × (scale − 32)) × (code − 4)`, as in ggml's `dequantize_row_q3_K`. Never panics.
pub fn q3_k(block: &[u8; 110], out: &mut [f32; 256]) {
    let [rest @ .., d0, d1] = block;
    let (high, rest) = split::<32, 76, 108>(rest);
    let (low, scales) = split::<64, 12, 76>(rest);
    let mut codes = two_bits(low);
    let mut high = *high;
    for codes in &mut codes {
        for (code, high) in codes.iter_mut().zip(&mut high) {
            *code |= (*high & 1) << 2;
            *high >>= 1;
        }
    }
    let codes = codes.map(|codes| each(&codes, |code| code.wrapping_sub(4).cast_signed()));

    let (low, high) = split::<8, 4, 12>(scales);
    let mut scales = nibbles(low);
    for (scale, high) in scales.as_flattened_mut().iter_mut().zip(pairs(high).as_flattened()) {
        *scale = (*scale | high << 4).wrapping_sub(32);
    }
    let scales = scales.map(|scales| each(&scales, u8::cast_signed));
    around_zero(codes.as_flattened(), f16([*d0, *d1]), scales.as_flattened(), out);
}

/// `Q4_K`: 4-bit codes above a minimum, one block of 256 elements in 8 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | `dmin`, f16 |
/// | 4 | 12 bytes: scales and minimums of 6 bits |
/// | 16 | 128 bytes: codes, 64 elements in 32 bytes, the first 32 of them in the low nibbles |
///
/// Scales 0 to 3 are the low six bits of bytes 0 to 3, minimums 0 to 3 those of bytes 4 to 7. Of scales 4 to 7
/// the low four bits are the low nibbles of bytes 8 to 11 and the high two the top bits of bytes 0 to 3; of
/// minimums 4 to 7, the high nibbles and the top bits of bytes 4 to 7.
///
/// An element is `(d × scale) × code − dmin × minimum`, as in ggml's `dequantize_row_q4_K`. Never panics.
pub fn q4_k(block: &[u8; 144], out: &mut [f32; 256]) {
    let ([d0, d1, m0, m1, scales @ ..], codes) = split::<16, 128, 144>(block);
    let (d, dmin) = (f16([*d0, *d1]), f16([*m0, *m1]));
    let (scales, minimums) = six_bits(scales);
    above_minimum::<32, 8>(four_bits(codes).as_flattened(), d, &scales, dmin, &minimums, out);
}

/// `Q5_K`: 5-bit codes above a minimum, one block of 256 elements in 8 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, f16 |
/// | 2 | `dmin`, f16 |
/// | 4 | 12 bytes: scales and minimums of 6 bits, packed as in [`q4_k`] |
/// | 16 | 32 bytes: fifth bit of each code, bit 0 those of the first 32 elements, bit 7 those of the last |
/// | 48 | 128 bytes: low four bits, 64 elements in 32 bytes, the first 32 of them in the low nibbles |
///
/// An element is `(d × scale) × code − dmin × minimum`, as in ggml's `dequantize_row_q5_K`. Never panics.
pub fn q5_k(block: &[u8; 176], out: &mut [f32; 256]) {
    let ([d0, d1, m0, m1, scales @ ..], rest) = split::<16, 160, 176>(block);
    let (d, dmin) = (f16([*d0, *d1]), f16([*m0, *m1]));
    let (scales, minimums) = six_bits(scales);
    let (high, low) = split::<32, 128, 160>(rest);
    let mut codes = four_bits(low);
    let mut high = *high;
    for codes in &mut codes {
        for (code, high) in codes.iter_mut().zip(&mut high) {
            *code |= (*high & 1) << 4;
            *high >>= 1;
        }
    }
    above_minimum::<32, 8>(codes.as_flattened(), d, &scales, dmin, &minimums, out);
}

/// `Q6_K`: 6-bit codes around zero, one block of 256 elements in 16 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | 128 bytes: low four bits, 128 elements in 64 bytes, the first 64 of them in the low nibbles |
/// | 128 | 64 bytes: high two bits, 128 elements in 32 bytes, the first 32 of them in bits 0 and 1 |
/// | 192 | 16 signed bytes: the scales |
/// | 208 | `d`, f16 |
///
/// An element is `(d × scale) × (code − 32)`, as in ggml's `dequantize_row_q6_K`. Never panics.
pub fn q6_k(block: &[u8; 210], out: &mut [f32; 256]) {
    let [rest @ .., d0, d1] = block;
    let (low, rest) = split::<128, 80, 208>(rest);
    let (high, scales) = split::<64, 16, 80>(rest);
    let mut codes = [0; 256];
    let (halves, _) = codes.as_chunks_mut::<128>();
    for ((codes, low), high) in halves.iter_mut().zip(low.as_chunks::<64>().0).zip(high.as_chunks::<32>().0) {
        let (low, high) = (nibbles(low), pairs(high));
        for ((code, low), high) in codes.iter_mut().zip(low.as_flattened()).zip(high.as_flattened()) {
            *code = (low | high << 4).wrapping_sub(32).cast_signed();
        }
    }
    around_zero(&codes, f16([*d0, *d1]), &each(scales, u8::cast_signed), out);
}

/// `Q8_K`: 8-bit codes, one block of 256 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | `d`, **f32** |
/// | 4 | 256 signed bytes: the codes |
/// | 260 | 16 × i16: the sum of each 16 codes, not needed here |
///
/// An element is `d × code`, as in ggml's `dequantize_row_q8_K`. ggml makes these blocks for its dot products.
/// Never panics.
pub fn q8_k(block: &[u8; 292], out: &mut [f32; 256]) {
    let ([d0, d1, d2, d3, codes @ ..], _) = split::<260, 32, 292>(block);
    scale(&each(codes, u8::cast_signed), f32::from_le_bytes([*d0, *d1, *d2, *d3]), out);
}

/// Codes of two bits: 128 in 32 bytes, the first 32 of them in bits 0 and 1.
#[inline(always)]
fn two_bits(bytes: &[u8; 64]) -> [[u8; 32]; 8] {
    let (first, second) = split::<32, 32, 64>(bytes);
    let ([a, b, c, d], [e, f, g, h]) = (pairs(first), pairs(second));
    [a, b, c, d, e, f, g, h]
}

/// Codes of four bits: 64 in 32 bytes, the first 32 of them in the low nibbles.
#[inline(always)]
fn four_bits(bytes: &[u8; 128]) -> [[u8; 32]; 8] {
    let mut codes = [[0; 32]; 8];
    for (codes, bytes) in codes.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks().0) {
        *codes = nibbles(bytes);
    }
    codes
}

/// The scales and the minimums of `Q4_K` and `Q5_K`, four at once in the bytes of a u32.
#[inline(always)]
fn six_bits(bytes: &[u8; 12]) -> ([u8; 8], [u8; 8]) {
    let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3] = *bytes;
    let a = u32::from_le_bytes([a0, a1, a2, a3]);
    let b = u32::from_le_bytes([b0, b1, b2, b3]);
    let c = u32::from_le_bytes([c0, c1, c2, c3]);
    let eight = |first: u32, last: u32| (u64::from(last) << 32 | u64::from(first)).to_le_bytes();
    // The two top bits of each byte of `a` and `b` become bits 4 and 5.
    let scales = eight(a & 0x3f3f_3f3f, c & 0x0f0f_0f0f | a >> 2 & 0x3030_3030);
    let minimums = eight(b & 0x3f3f_3f3f, c >> 4 & 0x0f0f_0f0f | b >> 2 & 0x3030_3030);
    (scales, minimums)
}

/// `(d × scale) × code − dmin × minimum`, with a scale and a minimum for each `PART` codes.
#[inline(always)]
fn above_minimum<const PART: usize, const PARTS: usize>(
    codes: &[u8],
    d: f32,
    scales: &[u8; PARTS],
    dmin: f32,
    minimums: &[u8; PARTS],
    out: &mut [f32; 256],
) {
    let parts = out.as_chunks_mut::<PART>().0.iter_mut().zip(codes.as_chunks::<PART>().0);
    for ((out, codes), (scale, minimum)) in parts.zip(scales.iter().zip(minimums)) {
        // Adding the negated product gives the bits of subtracting it.
        scale_add(codes, d * f32::from(*scale), -(dmin * f32::from(*minimum)), out);
    }
}

/// `(d × scale) × code`, with a scale for each 16 codes. In this order: a zero gets its sign from both factors.
#[inline(always)]
fn around_zero(codes: &[i8], d: f32, scales: &[i8], out: &mut [f32; 256]) {
    let parts = out.as_chunks_mut::<16>().0.iter_mut().zip(codes.as_chunks::<16>().0);
    for ((out, codes), part_scale) in parts.zip(scales) {
        scale(codes, d * f32::from(*part_scale), out);
    }
}
