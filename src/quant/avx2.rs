//! Steps of kernels in vectors of 8 numbers.
//!
//! A table of eight products is one register, and a code its index. Only the three lowest bits of an index are looked at,
//! so what a shift leaves above a code does no harm; a table of four products is there twice.
#![allow(dead_code, unused_imports, reason = "which of these are used depends on the families turned on")]

#[cfg(feature = "k")]
use super::avx2_k::{q4_k, q5_k};
#[cfg(feature = "legacy")]
use super::avx2_legacy::{q4_0, q4_1, q5_0, q5_1, q8_0};
#[cfg(feature = "k")]
use super::k::{q2_k, q3_k, q6_k};
use super::lines::{STEP, in_lines};
use super::written::{EVENLY_BUT_62, ODD, OF_TWO_BITS, plain_kernel, written_kernels};
use super::{Kernel, blocks, plain};
#[cfg(feature = "fp4")]
use super::{fp4, fp4::E2M1_DOUBLED};
#[cfg(feature = "iq")]
use super::{iq, iq::NON_LINEAR};
use crate::TensorType;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm256_loadu_ps, _mm256_storeu_ps};

written_kernels!("avx2,bmi1,bmi2,f16c,lzcnt,popcnt");

/// The value of a binary16 number. A NaN is made quiet, its sign and payload are kept.
#[inline]
#[target_feature(enable = "f16c")]
pub(super) fn half(bytes: [u8; 2]) -> f32 {
    _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(i32::from(u16::from_le_bytes(bytes)))))
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn f16(src: &[u8; 128], out: &mut [f32; STEP]) {
    for (halves, values) in src.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        _mm256_storeu_ps(values, _mm256_cvtph_ps(_mm_loadu_si128(halves)));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn bf16(src: &[u8; 128], out: &mut [f32; STEP]) {
    // A number of 16 bits goes to the upper half of one of 32, from 16 bytes that are in both halves of a vector.
    let zeros = -0x7f80;
    let places = _mm256_setr_epi16(
        zeros, 0x0100, zeros, 0x0302, zeros, 0x0504, zeros, 0x0706, zeros, 0x0908, zeros, 0x0b0a, zeros,
        0x0d0c, zeros, 0x0f0e,
    );
    for (halves, values) in src.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        let halves = _mm256_broadcastsi128_si256(_mm_loadu_si128(halves));
        _mm256_storeu_ps(values, _mm256_castsi256_ps(_mm256_shuffle_epi8(halves, places)));
    }
}

/// `scale × value` for the values that a table has for the low nibbles of all bytes, then for the high ones. The values are
/// integers of 8 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn look_up(table: &[f32; 16], codes: &[u8; 16], scale: f32, out: &mut [f32; 32]) {
    let table = as_bytes(table);
    let [low, high] = nibbles(_mm_loadu_si128(codes)).map(|codes| _mm_shuffle_epi8(table, codes));
    for (out, values) in out.as_chunks_mut().0.iter_mut().zip([low, upper(low), high, upper(high)]) {
        _mm256_storeu_ps(out, scaled(values, scale));
    }
}

/// As [`look_up`], for eight bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn look_up_eight(table: &[f32; 16], codes: &[u8; 8], scale: f32, out: &mut [f32; 16]) {
    let codes = _mm_cvtsi64_si128(i64::from_le_bytes(*codes));
    let values = nibbles(codes).map(|codes| scaled(_mm_shuffle_epi8(as_bytes(table), codes), scale));
    for (out, values) in out.as_chunks_mut().0.iter_mut().zip(values) {
        _mm256_storeu_ps(out, values);
    }
}

/// The integers of a table, which is a constant: so is this.
#[inline]
#[target_feature(enable = "avx2")]
fn as_bytes(table: &[f32; 16]) -> __m128i {
    let [first, second] = [0, 8].map(|from| {
        let numbers = table.get(from..).and_then(|numbers| numbers.first_chunk()).unwrap_or(&[0.0; 8]);
        _mm256_cvtps_epi32(_mm256_loadu_ps(numbers))
    });
    // Of each half of a vector, the four of the first one, then the four of the second one.
    let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi32(first, second));
    _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words))
}

/// The low nibbles of all bytes, and the high ones.
#[inline]
#[target_feature(enable = "avx2")]
fn nibbles(bytes: __m128i) -> [__m128i; 2] {
    [bytes, _mm_srli_epi16::<4>(bytes)].map(|nibbles| _mm_and_si128(nibbles, _mm_set1_epi8(15)))
}

/// The upper eight bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn upper(bytes: __m128i) -> __m128i {
    _mm_unpackhi_epi64(bytes, bytes)
}

/// `scale × value`, of the lower eight bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn scaled(values: __m128i, scale: f32) -> __m256 {
    _mm256_mul_ps(_mm256_set1_ps(scale), _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(values)))
}

/// As `eights` of [`signed`](super::signed).
#[inline]
#[target_feature(enable = "avx2")]
fn eights(factors: [f32; 2], entries: [u16; 4], signs: [u8; 4], out: &mut [f32; 32]) {
    let shifts = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
    let [magnitudes, ..] = OF_TWO_BITS.as_chunks().0 else { return };
    let magnitudes = _mm256_loadu_ps(magnitudes);
    let entries = entries.as_chunks::<2>().0.iter().zip(signs.as_chunks::<2>().0);
    let halves = out.as_chunks_mut::<16>().0.iter_mut().zip(factors).zip(entries);
    for ((out, factor), (entries, signs)) in halves {
        let products = _mm256_mul_ps(_mm256_set1_ps(factor), magnitudes);
        let entries = entries.iter().zip(signs);
        for (out, (entry, signs)) in out.as_chunks_mut().0.iter_mut().zip(entries) {
            let codes = _mm256_srlv_epi32(_mm256_set1_epi32(i32::from(*entry)), shifts);
            _mm256_storeu_ps(out, with_signs(_mm256_permutevar8x32_ps(products, codes), *signs));
        }
    }
}

/// As `fours` of [`signed`](super::signed).
#[inline]
#[target_feature(enable = "avx2")]
fn fours(magnitudes: &[f32; 8], factor: f32, entries: [u16; 8], signs: [u8; 4], out: &mut [f32; 32]) {
    let shifts = _mm256_setr_epi32(0, 3, 6, 9, 16, 19, 22, 25);
    let products = _mm256_mul_ps(_mm256_set1_ps(factor), _mm256_loadu_ps(magnitudes));
    let entries = entries.as_chunks::<2>().0.iter().zip(signs);
    for (out, ([first, last], signs)) in out.as_chunks_mut().0.iter_mut().zip(entries) {
        let codes = (u32::from(*last) << 16 | u32::from(*first)).cast_signed();
        let codes = _mm256_srlv_epi32(_mm256_set1_epi32(codes), shifts);
        _mm256_storeu_ps(out, with_signs(_mm256_permutevar8x32_ps(products, codes), signs));
    }
}

/// Turns the sign of each number whose bit is set.
#[inline]
#[target_feature(enable = "avx2")]
fn with_signs(numbers: __m256, signs: u8) -> __m256 {
    let to_the_top = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
    let signs = _mm256_sllv_epi32(_mm256_set1_epi32(i32::from(signs)), to_the_top);
    _mm256_xor_ps(numbers, _mm256_and_ps(_mm256_castsi256_ps(signs), _mm256_set1_ps(-0.0)))
}

/// `factor × (code − 1 ± 0.125)` for the eight codes of an entry of `IQ1_S` and `IQ1_M`. All sums are exact.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn shifted(factor: f32, entry: u16, minus: bool, out: &mut [f32; 8]) {
    let shifts = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
    let codes = _mm256_srlv_epi32(_mm256_set1_epi32(i32::from(entry)), shifts);
    let all = _mm256_setr_ps(0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0);
    // −0.875 or −1.125; a branch would often be foretold wrongly.
    let shift = -0.875 - 0.25 * f32::from(u8::from(minus));
    let products = _mm256_mul_ps(_mm256_set1_ps(factor), _mm256_add_ps(all, _mm256_set1_ps(shift)));
    _mm256_storeu_ps(out, _mm256_permutevar8x32_ps(products, codes));
}
