//! Blocks of 256 elements in parts of 16 or 32, each with a scale of its own, feature `k`.

use super::k_scalar;
use super::unpack::{SCALAR, each, f16, nibbles, pairs, scale, scale_add, split};

/// What a `Q4_K` or `Q5_K` block holds beside its codes; a part is 32 elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PartScalesAndMinimums {
    /// What the scales are multiples of, as the bits of an f16.
    pub d: u16,
    /// What the minimums are multiples of, as the bits of an f16.
    pub dmin: u16,
    /// The scale of each part, 0 to 63.
    pub scales: [u8; 8],
    /// The minimum of each part, 0 to 63.
    pub minimums: [u8; 8],
}

/// What a `Q6_K` block holds beside its codes; a part is 16 elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PartScales {
    /// What the scales are multiples of, as the bits of an f16.
    pub d: u16,
    /// The scale of each part.
    pub scales: [i8; 16],
}

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
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q2_k(block: &[u8; 84], out: &mut [f32; 256]) {
    if SCALAR {
        return k_scalar::q2_k(block, out);
    }
    let [rest @ .., d0, d1, m0, m1] = block;
    let (d, dmin) = (f16([*d0, *d1]), f16([*m0, *m1]));
    let (scales, codes) = split::<16, 64, 80>(rest);
    let factors = each(scales, |byte| d * f32::from(byte & 15));
    let addends = each(scales, |byte| -(dmin * f32::from(byte >> 4)));

    let mut factors = factors.as_chunks::<2>().0.iter().zip(addends.as_chunks::<2>().0);
    let groups = out.as_chunks_mut::<128>().0.iter_mut().zip(codes.as_chunks::<32>().0);
    for (out, codes) in groups {
        let codes = pairs(codes);
        let groups = out.as_chunks_mut::<32>().0.iter_mut().zip(&codes);
        // `factors` last: the end of `groups` is seen before one of them is taken.
        for ((out, codes), (factors, addends)) in groups.zip(factors.by_ref()) {
            scale_add_parts::<16>(codes, factors, addends, out);
        }
    }
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
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q3_k(block: &[u8; 110], out: &mut [f32; 256]) {
    if SCALAR {
        return k_scalar::q3_k(block, out);
    }
    let [rest @ .., d0, d1] = block;
    let d = f16([*d0, *d1]);
    let (high, rest) = split::<32, 76, 108>(rest);
    let (low, scales) = split::<64, 12, 76>(rest);
    let factors = q3_k_scales(scales).map(|scale| d * f32::from(scale));

    let mut high = *high;
    let groups = out.as_chunks_mut::<128>().0.iter_mut().zip(low.as_chunks::<32>().0);
    for ((out, low), factors) in groups.zip(factors.as_chunks::<8>().0) {
        let mut codes = pairs(low);
        for codes in &mut codes {
            add_bit(codes, &mut high, 2);
        }
        let codes = codes.map(|codes| each(&codes, |code| code.wrapping_sub(4)));
        scale_parts::<16>(codes.as_flattened(), factors, out);
    }
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
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q4_k(block: &[u8; 144], out: &mut [f32; 256]) {
    if SCALAR {
        return k_scalar::q4_k(block, out);
    }
    let ([d0, d1, m0, m1, scales @ ..], codes) = split::<16, 128, 144>(block);
    let (factors, addends) = factors(f16([*d0, *d1]), f16([*m0, *m1]), scales);
    let factors = factors.as_chunks::<2>().0.iter().zip(addends.as_chunks::<2>().0);
    let groups = out.as_chunks_mut::<64>().0.iter_mut().zip(codes.as_chunks::<32>().0);
    for ((out, codes), (factors, addends)) in groups.zip(factors) {
        scale_add_parts::<32>(nibbles(codes).as_flattened(), factors, addends, out);
    }
}

/// The integers of a [`q4_k`] block, without floating point: writes the codes, which are 0 to 15, and returns the
/// scales and minimums.
///
/// Element `e` is `(d × scales[e / 32]) × codes[e] − dmin × minimums[e / 32]`; as `f32`, each operation rounded, that
/// has the bits of [`q4_k`]. Never panics.
pub fn unpack_q4_k(block: &[u8; 144], codes: &mut [u8; 256]) -> PartScalesAndMinimums {
    let (head, packed) = split::<16, 128, 144>(block);
    for (codes, packed) in codes.as_chunks_mut::<64>().0.iter_mut().zip(packed.as_chunks::<32>().0) {
        let (low, high) = codes.split_at_mut(32);
        for ((low, high), byte) in low.iter_mut().zip(high).zip(packed) {
            (*low, *high) = (byte & 15, byte >> 4);
        }
    }
    scales_and_minimums(head)
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
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q5_k(block: &[u8; 176], out: &mut [f32; 256]) {
    if SCALAR {
        return k_scalar::q5_k(block, out);
    }
    let ([d0, d1, m0, m1, scales @ ..], rest) = split::<16, 160, 176>(block);
    let (factors, addends) = factors(f16([*d0, *d1]), f16([*m0, *m1]), scales);
    let (high, low) = split::<32, 128, 160>(rest);
    let mut high = *high;
    let factors = factors.as_chunks::<2>().0.iter().zip(addends.as_chunks::<2>().0);
    let groups = out.as_chunks_mut::<64>().0.iter_mut().zip(low.as_chunks::<32>().0);
    for ((out, low), (factors, addends)) in groups.zip(factors) {
        scale_add_parts::<32>(five_bits(low, &mut high).as_flattened(), factors, addends, out);
    }
}

/// The integers of a [`q5_k`] block, without floating point: writes the codes, which are 0 to 31, and returns the
/// scales and minimums.
///
/// Element `e` is `(d × scales[e / 32]) × codes[e] − dmin × minimums[e / 32]`; as `f32`, each operation rounded, that
/// has the bits of [`q5_k`]. Never panics.
pub fn unpack_q5_k(block: &[u8; 176], codes: &mut [u8; 256]) -> PartScalesAndMinimums {
    let (head, rest) = split::<16, 160, 176>(block);
    let (high, low) = split::<32, 128, 160>(rest);
    let groups = codes.as_chunks_mut::<64>().0.iter_mut().zip(low.as_chunks::<32>().0);
    for ((codes, low), shift) in groups.zip([0_u32, 2, 4, 6]) {
        let (first, second) = codes.split_at_mut(32);
        for ((first, second), (low, high)) in first.iter_mut().zip(second).zip(low.iter().zip(high)) {
            let high = high.wrapping_shr(shift);
            (*first, *second) = (low & 15 | (high & 1) << 4, low >> 4 | (high & 2) << 3);
        }
    }
    scales_and_minimums(head)
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
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q6_k(block: &[u8; 210], out: &mut [f32; 256]) {
    if SCALAR {
        return k_scalar::q6_k(block, out);
    }
    let [rest @ .., d0, d1] = block;
    let d = f16([*d0, *d1]);
    let (low, rest) = split::<128, 80, 208>(rest);
    let (high, scales) = split::<64, 16, 80>(rest);
    let factors = each(scales, |scale| d * f32::from(scale.cast_signed()));

    let bits = low.as_chunks::<64>().0.iter().zip(high.as_chunks::<32>().0);
    let groups = out.as_chunks_mut::<128>().0.iter_mut().zip(factors.as_chunks::<8>().0);
    for ((low, high), (out, factors)) in bits.zip(groups) {
        scale_parts::<16>(&six_bits(low, high), factors, out);
    }
}

/// The integers of a [`q6_k`] block, without floating point: writes the codes less 32, which are −32 to 31, and
/// returns the scales.
///
/// Element `e` is `(d × scales[e / 16]) × codes[e]`; as `f32`, the product in brackets first (a zero gets its sign
/// from it), that has the bits of [`q6_k`]. Never panics.
pub fn unpack_q6_k(block: &[u8; 210], codes: &mut [i8; 256]) -> PartScales {
    let [rest @ .., d0, d1] = block;
    let (low, rest) = split::<128, 80, 208>(rest);
    let (high, scales) = split::<64, 16, 80>(rest);
    let bits = low.as_chunks::<64>().0.iter().zip(high.as_chunks::<32>().0);
    for (codes, (low, high)) in codes.as_chunks_mut::<128>().0.iter_mut().zip(bits) {
        let (first, second) = split::<32, 32, 64>(low);
        let (left, right) = codes.split_at_mut(64);
        let (codes_0, codes_1) = left.split_at_mut(32);
        let (codes_2, codes_3) = right.split_at_mut(32);
        let codes = codes_0.iter_mut().zip(codes_1).zip(codes_2.iter_mut().zip(codes_3));
        let bits = first.iter().zip(second).zip(high);
        for (((code_0, code_1), (code_2, code_3)), ((first, second), high)) in codes.zip(bits) {
            let signed = |low: u8, high: u8| (low | high & 48).wrapping_sub(32).cast_signed();
            (*code_0, *code_1) = (signed(first & 15, high << 4), signed(second & 15, high << 2));
            (*code_2, *code_3) = (signed(first >> 4, *high), signed(second >> 4, high >> 2));
        }
    }
    PartScales { d: u16::from_le_bytes([*d0, *d1]), scales: each(scales, u8::cast_signed) }
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
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn q8_k(block: &[u8; 292], out: &mut [f32; 256]) {
    let ([d0, d1, d2, d3, codes @ ..], _) = split::<260, 32, 292>(block);
    scale(codes, f32::from_le_bytes([*d0, *d1, *d2, *d3]), out);
}

/// Adds one bit to each code: the lowest of `bits`, which move on to the next.
#[inline(always)]
fn add_bit(codes: &mut [u8; 32], bits: &mut [u8; 32], position: u32) {
    for (code, bits) in codes.iter_mut().zip(bits) {
        *code |= (*bits & 1).wrapping_shl(position);
        *bits >>= 1;
    }
}

/// Codes of two parts of `Q5_K`, from their low four bits and their fifth bit, which is the lowest of `high`.
#[inline(always)]
fn five_bits(low: &[u8; 32], high: &mut [u8; 32]) -> [[u8; 32]; 2] {
    let mut codes = nibbles(low);
    for codes in &mut codes {
        add_bit(codes, high, 4);
    }
    codes
}

/// Codes of half a block of `Q6_K`, less 32, from their low four and their high two bits.
#[inline(always)]
fn six_bits(low: &[u8; 64], high: &[u8; 32]) -> [u8; 128] {
    let (low, high) = (nibbles(low), pairs(high));
    let mut codes = [0; 128];
    for ((code, low), high) in codes.iter_mut().zip(low.as_flattened()).zip(high.as_flattened()) {
        *code = (low | high << 4).wrapping_sub(32);
    }
    codes
}

/// The 16 scales of `Q3_K`.
#[inline(always)]
pub(super) fn q3_k_scales(bytes: &[u8; 12]) -> [i8; 16] {
    let (low, high) = split::<8, 4, 12>(bytes);
    let (low, high) = (nibbles(low), pairs(high));
    let mut scales = [0; 16];
    for ((scale, low), high) in scales.iter_mut().zip(low.as_flattened()).zip(high.as_flattened()) {
        *scale = (low | high << 4).wrapping_sub(32).cast_signed();
    }
    scales
}

/// `d × scale` and `−dmin × minimum` of the 8 parts of `Q4_K` and `Q5_K`.
#[inline(always)]
fn factors(d: f32, dmin: f32, bytes: &[u8; 12]) -> ([f32; 8], [f32; 8]) {
    let (scales, minimums) = six_bit_pairs(bytes);
    (each(&scales, |scale| d * f32::from(scale)), each(&minimums, |minimum| -(dmin * f32::from(minimum))))
}

/// The same as integers, from the first bytes of the block.
#[inline(always)]
fn scales_and_minimums(head: &[u8; 16]) -> PartScalesAndMinimums {
    let [d0, d1, m0, m1, bytes @ ..] = head;
    let (scales, minimums) = six_bit_pairs(bytes);
    let (d, dmin) = (u16::from_le_bytes([*d0, *d1]), u16::from_le_bytes([*m0, *m1]));
    PartScalesAndMinimums { d, dmin, scales, minimums }
}

/// The scales and the minimums of the 8 parts of `Q4_K` and `Q5_K`.
#[inline(always)]
pub(super) fn six_bit_pairs(bytes: &[u8; 12]) -> ([u8; 8], [u8; 8]) {
    let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3] = *bytes;
    // Four at once, in the bytes of a number.
    let a = u32::from_le_bytes([a0, a1, a2, a3]);
    let b = u32::from_le_bytes([b0, b1, b2, b3]);
    let c = u32::from_le_bytes([c0, c1, c2, c3]);
    let eight = |first: u32, last: u32| (u64::from(last) << 32 | u64::from(first)).to_le_bytes();
    // The two top bits of each byte of `a` and `b` become bits 4 and 5.
    let scales = eight(a & 0x3f3f_3f3f, c & 0x0f0f_0f0f | a >> 2 & 0x3030_3030);
    let minimums = eight(b & 0x3f3f_3f3f, c >> 4 & 0x0f0f_0f0f | b >> 2 & 0x3030_3030);
    (scales, minimums)
}

/// `factor × code + addend`, with a factor and an addend for each `PART` codes.
///
/// Adding a negated product gives the bits of subtracting the product.
#[inline(always)]
fn scale_add_parts<const PART: usize>(codes: &[u8], factors: &[f32], addends: &[f32], out: &mut [f32]) {
    let parts = out.as_chunks_mut::<PART>().0.iter_mut().zip(codes.as_chunks::<PART>().0);
    for ((out, codes), (factor, addend)) in parts.zip(factors.iter().zip(addends)) {
        scale_add(codes, *factor, *addend, out);
    }
}

/// `factor × code`, with a factor for each `PART` codes. A zero gets its sign from both, so the product of all
/// scales must come first.
#[inline(always)]
fn scale_parts<const PART: usize>(codes: &[u8], factors: &[f32], out: &mut [f32]) {
    let parts = out.as_chunks_mut::<PART>().0.iter_mut().zip(codes.as_chunks::<PART>().0);
    for ((out, codes), factor) in parts.zip(factors) {
        scale(codes, *factor, out);
    }
}
