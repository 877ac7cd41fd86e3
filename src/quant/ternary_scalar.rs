//! The kernels of [`ternary`](super::ternary) for processors without vectors: the few values that there are come from
//! a table, or have a sign put on.

use super::unpack::{f16, look_up_four, split};

/// As [`ternary::tq1_0`](super::ternary::tq1_0).
pub(super) fn tq1_0(block: &[u8; 54], out: &mut [f32; 256]) {
    let [bytes @ .., d0, d1] = block;
    let levels = levels(f16([*d0, *d1]));
    let (by_32, rest) = split::<32, 20, 52>(bytes);
    let (by_16, by_4) = split::<16, 4, 20>(rest);
    let (first, rest) = out.split_at_mut(160);
    let (second, third) = rest.split_at_mut(80);
    base_3(by_32, &levels, first);
    base_3(by_16, &levels, second);
    base_3(by_4, &levels, third);
}

/// As [`ternary::tq2_0`](super::ternary::tq2_0).
pub(super) fn tq2_0(block: &[u8; 66], out: &mut [f32; 256]) {
    let [codes @ .., d0, d1] = block;
    let levels = levels(f16([*d0, *d1]));
    for (out, codes) in out.as_chunks_mut::<128>().0.iter_mut().zip(codes.as_chunks::<32>().0) {
        for (out, shift) in out.as_chunks_mut::<32>().0.iter_mut().zip([0, 2, 4, 6]) {
            for (out, codes) in out.as_chunks_mut::<4>().0.iter_mut().zip(codes.as_chunks::<4>().0) {
                let codes = u32::from_le_bytes(*codes).wrapping_shr(shift);
                look_up_four(&levels, codes & 0x0303_0303, out);
            }
        }
    }
}

/// As [`ternary::q1_0`](super::ternary::q1_0).
pub(super) fn q1_0(block: &[u8; 18], out: &mut [f32; 128]) {
    let [d0, d1, signs @ ..] = block;
    let d = f16([*d0, *d1]).to_bits();
    for (out, signs) in out.as_chunks_mut::<8>().0.iter_mut().zip(signs) {
        let minus = u32::from(!signs);
        *out = [31, 30, 29, 28, 27, 26, 25, 24]
            .map(|place| f32::from_bits(d ^ minus.wrapping_shl(place) & 0x8000_0000));
    }
}

/// As [`ternary::q2_0`](super::ternary::q2_0).
pub(super) fn q2_0(block: &[u8; 18], out: &mut [f32; 64]) {
    let [d0, d1, codes @ ..] = block;
    let levels = levels(f16([*d0, *d1]));
    for (out, byte) in out.as_chunks_mut::<4>().0.iter_mut().zip(codes) {
        let codes = [byte & 3, byte >> 2 & 3, byte >> 4 & 3, byte >> 6];
        look_up_four(&levels, u32::from_le_bytes(codes), out);
    }
}

/// `d × (code − 1)` of the codes 0 to 3.
fn levels(d: f32) -> [f32; 4] {
    [-d, d * 0.0, d, d + d]
}

/// The first base-3 digits of all bytes, then the second ones, until `out` is full.
fn base_3(bytes: &[u8], levels: &[f32; 4], out: &mut [f32]) {
    for (byte, start) in bytes.iter().zip(0_usize..) {
        let (mut fraction, mut position) = (*byte, start);
        while let Some(value) = out.get_mut(position) {
            // The digit is what 3 × the fraction has before the point.
            let [rest, digit] = u16::from(fraction).wrapping_mul(3).to_le_bytes();
            *value = levels.get(usize::from(digit)).copied().unwrap_or_default();
            fraction = rest;
            position = position.wrapping_add(bytes.len());
        }
    }
}
