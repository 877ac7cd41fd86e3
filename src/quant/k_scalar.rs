//! The kernels of [`k`](super::k) for processors without vectors.
//!
//! The products of all codes of a part are taken first and then looked up, and codes are put together in fours, in
//! the bytes of a number.

use super::k::{q3_k_scales, six_bit_pairs};
use super::unpack::{each, f16, look_up_four, look_up_nibbles, multiples_plus, split};

/// As [`k::q2_k`](super::k::q2_k).
pub(super) fn q2_k(block: &[u8; 84], out: &mut [f32; 256]) {
    let [rest @ .., d0, d1, m0, m1] = block;
    let (d, dmin) = (f16([*d0, *d1]), f16([*m0, *m1]));
    let (scales, codes) = split::<16, 64, 80>(rest);
    let parts = out.as_chunks_mut::<16>().0.iter_mut().zip(scales);
    for ((out, byte), part) in parts.zip(0_u8..) {
        let mut table = [0.0; 4];
        multiples_plus(d * f32::from(byte & 15), -(dmin * f32::from(byte >> 4)), &mut table);
        // Of 128 elements, eight parts, two parts each are in the same bits of 32 bytes.
        let codes = chunk::<16>(codes, part >> 3 << 1 | part & 1);
        for (out, codes) in out.as_chunks_mut::<4>().0.iter_mut().zip(codes.as_chunks::<4>().0) {
            let codes = u32::from_le_bytes(*codes).wrapping_shr(u32::from(part & 6));
            look_up_four(&table, codes & 0x0303_0303, out);
        }
    }
}

/// As [`k::q3_k`](super::k::q3_k).
pub(super) fn q3_k(block: &[u8; 110], out: &mut [f32; 256]) {
    let [rest @ .., d0, d1] = block;
    let d = f16([*d0, *d1]);
    let (high, rest) = split::<32, 76, 108>(rest);
    let (low, scales) = split::<64, 12, 76>(rest);
    let scales = q3_k_scales(scales);
    let parts = out.as_chunks_mut::<16>().0.iter_mut().zip(&scales);
    for ((out, scale), part) in parts.zip(0_u8..) {
        let one = d * f32::from(*scale);
        let (two, three) = (one + one, one + one + one);
        let table = [-(two + two), -three, -two, -one, one * 0.0, one, two, three];
        let low = chunk::<16>(low, part >> 3 << 1 | part & 1).as_chunks::<4>().0;
        let high = chunk::<16>(high, part & 1).as_chunks::<4>().0;
        for (out, (low, high)) in out.as_chunks_mut::<4>().0.iter_mut().zip(low.iter().zip(high)) {
            let low = u32::from_le_bytes(*low).wrapping_shr(u32::from(part & 6));
            let high = u32::from_le_bytes(*high).wrapping_shr(u32::from(part >> 1));
            look_up_four(&table, low & 0x0303_0303 | (high & 0x0101_0101) << 2, out);
        }
    }
}

/// As [`k::q4_k`](super::k::q4_k).
pub(super) fn q4_k(block: &[u8; 144], out: &mut [f32; 256]) {
    let ([d0, d1, m0, m1, scales @ ..], codes) = split::<16, 128, 144>(block);
    let (d, dmin) = (f16([*d0, *d1]), f16([*m0, *m1]));
    let (scales, minimums) = six_bit_pairs(scales);
    let scales = scales.as_chunks::<2>().0.iter().zip(minimums.as_chunks::<2>().0);
    let groups = out.as_chunks_mut::<64>().0.iter_mut().zip(codes.as_chunks::<32>().0);
    for ((out, codes), (scales, minimums)) in groups.zip(scales) {
        let mut tables = [[0.0; 16]; 2];
        for (table, (scale, minimum)) in tables.iter_mut().zip(scales.iter().zip(minimums)) {
            multiples_plus(d * f32::from(*scale), -(dmin * f32::from(*minimum)), table);
        }
        look_up_nibbles(codes, tables.each_ref(), out);
    }
}

/// As [`k::q5_k`](super::k::q5_k).
pub(super) fn q5_k(block: &[u8; 176], out: &mut [f32; 256]) {
    let ([d0, d1, m0, m1, scales @ ..], rest) = split::<16, 160, 176>(block);
    let (d, dmin) = (f16([*d0, *d1]), f16([*m0, *m1]));
    let (high, low) = split::<32, 128, 160>(rest);
    let (scales, minimums) = six_bit_pairs(scales);
    let parts = out.as_chunks_mut::<32>().0.iter_mut().zip(scales.iter().zip(&minimums));
    for ((out, (scale, minimum)), part) in parts.zip(0_u8..) {
        let mut table = [0.0; 32];
        multiples_plus(d * f32::from(*scale), -(dmin * f32::from(*minimum)), &mut table);
        let low = chunk::<32>(low, part >> 1).as_chunks::<4>().0;
        let bits = low.iter().zip(high.as_chunks::<4>().0);
        for (out, (low, high)) in out.as_chunks_mut::<4>().0.iter_mut().zip(bits) {
            let low = u32::from_le_bytes(*low).wrapping_shr(u32::from(part << 2 & 4));
            let high = u32::from_le_bytes(*high).wrapping_shr(u32::from(part));
            look_up_four(&table, low & 0x0f0f_0f0f | (high & 0x0101_0101) << 4, out);
        }
    }
}

/// As [`k::q6_k`](super::k::q6_k).
pub(super) fn q6_k(block: &[u8; 210], out: &mut [f32; 256]) {
    let [rest @ .., d0, d1] = block;
    let d = f16([*d0, *d1]);
    let (low, rest) = split::<128, 80, 208>(rest);
    let (high, scales) = split::<64, 16, 80>(rest);
    // A code in the upper six bits of a byte is four times as large.
    let quarter = 0.25 * d;
    let factors = each(scales, |scale| quarter * f32::from(scale.cast_signed()));

    let bits = low.as_chunks::<64>().0.iter().zip(high.as_chunks::<32>().0);
    let groups = out.as_chunks_mut::<128>().0.iter_mut().zip(factors.as_chunks::<8>().0);
    for ((low, high), (out, factors)) in bits.zip(groups) {
        q6_k_half(low, high, factors, out);
    }
}

/// Of each part of 32 elements, the first 16 have one factor and the last 16 another.
#[inline(always)]
fn q6_k_half(low: &[u8; 64], high: &[u8; 32], factors: &[f32; 8], out: &mut [f32; 128]) {
    let (first, second) = split::<32, 32, 64>(low);
    let low = first.as_chunks::<4>().0.iter().zip(second.as_chunks::<4>().0);
    for ((low, high), position) in low.zip(high.as_chunks::<4>().0).zip(0..) {
        let (first, second) = (u32::from_le_bytes(*low.0), u32::from_le_bytes(*low.1));
        // With its highest bit turned, a code is a signed number: the one that is 32 less.
        let mut high = u32::from_le_bytes(*high) ^ 0xaaaa_aaaa;
        let parts = out.as_chunks_mut::<32>().0.iter_mut().zip(factors.as_chunks::<2>().0);
        for ((out, factors), low) in parts.zip([first << 2, second << 2, first >> 2, second >> 2]) {
            let codes = (low & 0x3c3c_3c3c | high << 6 & 0xc0c0_c0c0).to_le_bytes();
            high >>= 2;
            let factor = factors.get(position >> 2).copied().unwrap_or_default();
            if let Some(out) = out.as_chunks_mut::<4>().0.get_mut(position) {
                *out = codes.map(|code| factor * f32::from(code.cast_signed()));
            }
        }
    }
}

/// One of the pieces of an array; there are more than `index`.
#[inline(always)]
fn chunk<const N: usize>(bytes: &[u8], index: u8) -> &[u8; N] {
    bytes.as_chunks::<N>().0.get(usize::from(index)).unwrap_or(&[0; N])
}
