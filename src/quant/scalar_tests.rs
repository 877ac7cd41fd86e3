//! The ways for processors without vectors have the bits of those for processors with them, which `tests/golden.rs`
//! holds to the reference. Where the former are in use, it holds them themselves.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::tests::SPECIAL;
#[cfg(feature = "k")]
use super::{k, k_scalar};
#[cfg(feature = "ternary")]
use super::{ternary, ternary_scalar};
use core::ops::Range;

/// Numbers that no run differs in.
struct Random(u32);

impl Random {
    fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0.to_be_bytes()[0]
    }

    /// Often a zero, a number next to one, the largest, an infinity or a NaN.
    fn f16(&mut self) -> u16 {
        match self.byte() {
            special @ 0..64 => SPECIAL[usize::from(special) % SPECIAL.len()],
            low => u16::from_le_bytes([low, self.byte()]),
        }
    }
}

/// Runs both ways over blocks of any bytes, but with `numbers`, which are offsets, of all kinds of f16, and with every
/// value in each byte of `scales`.
fn assert_same<const BYTES: usize, const ELEMENTS: usize>(
    scalar: fn(&[u8; BYTES], &mut [f32; ELEMENTS]),
    vector: fn(&[u8; BYTES], &mut [f32; ELEMENTS]),
    numbers: &[usize],
    scales: Range<usize>,
) {
    let mut random = Random(1);
    // Each byte four times; once on machines that are emulated.
    let rounds = if super::tests::numbers().nth(1) == Some(1) { 1024 } else { 256 };
    for round in (0..=u8::MAX).cycle().take(rounds) {
        let mut block = [0; BYTES].map(|_: u8| random.byte());
        for (scale, position) in block[scales.clone()].iter_mut().zip(0_u8..) {
            *scale = round.wrapping_add(position.wrapping_mul(37));
        }
        for &offset in numbers {
            block[offset..offset + 2].copy_from_slice(&random.f16().to_le_bytes());
        }
        // A value that is not written is seen.
        let (mut actual, mut expected) = ([1.5; ELEMENTS], [2.5; ELEMENTS]);
        scalar(&block, &mut actual);
        vector(&block, &mut expected);
        for (element, (actual, expected)) in actual.iter().zip(&expected).enumerate() {
            let is_same = actual.to_bits() == expected.to_bits() || actual.is_nan() && expected.is_nan();
            assert!(is_same, "element {element} is {actual:e}, not {expected:e}, of {block:02x?}");
        }
    }
}

#[cfg(feature = "k")]
#[test]
fn q2_k() {
    assert_same::<84, 256>(k_scalar::q2_k, k::q2_k, &[80, 82], 0..16);
}

#[cfg(feature = "k")]
#[test]
fn q3_k() {
    assert_same::<110, 256>(k_scalar::q3_k, k::q3_k, &[108], 96..108);
}

#[cfg(feature = "k")]
#[test]
fn q4_k() {
    assert_same::<144, 256>(k_scalar::q4_k, k::q4_k, &[0, 2], 4..16);
}

#[cfg(feature = "k")]
#[test]
fn q5_k() {
    assert_same::<176, 256>(k_scalar::q5_k, k::q5_k, &[0, 2], 4..16);
}

#[cfg(feature = "k")]
#[test]
fn q6_k() {
    assert_same::<210, 256>(k_scalar::q6_k, k::q6_k, &[208], 192..208);
}

#[cfg(feature = "ternary")]
#[test]
fn tq1_0() {
    assert_same::<54, 256>(ternary_scalar::tq1_0, ternary::tq1_0, &[52], 0..0);
}

#[cfg(feature = "ternary")]
#[test]
fn tq2_0() {
    assert_same::<66, 256>(ternary_scalar::tq2_0, ternary::tq2_0, &[64], 0..0);
}

#[cfg(feature = "ternary")]
#[test]
fn q1_0() {
    assert_same::<18, 128>(ternary_scalar::q1_0, ternary::q1_0, &[0], 0..0);
}

#[cfg(feature = "ternary")]
#[test]
fn q2_0() {
    assert_same::<18, 64>(ternary_scalar::q2_0, ternary::q2_0, &[0], 0..0);
}
