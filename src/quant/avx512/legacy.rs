//! Kernels in vectors of 16 numbers for blocks of 32 elements.
//!
//! The products of all codes of four or five bits are a table in one register or two, and a code its index. Only so many
//! lowest bits of an index are looked at, so what a shift leaves above a code does no harm.

use super::bytes::select;
use super::look_up_nibbles;
use crate::quant::unpack::split;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm512_loadu_ps, _mm512_storeu_ps};

/// Codes less 8.
static AROUND_ZERO: [f32; 16] =
    [-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
/// Codes.
static FROM_ZERO: [f32; 16] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0];

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn q4_0(block: &[u8; 18], out: &mut [f32; 32]) {
    let ([d, _], codes) = (two_halves(block), split::<2, 16, 18>(block).1);
    look_up_nibbles(_mm512_mul_ps(d, _mm512_loadu_ps(&AROUND_ZERO)), codes, out);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn q4_1(block: &[u8; 20], out: &mut [f32; 32]) {
    let [d, m] = two_halves(block);
    let codes = split::<4, 16, 20>(block).1;
    look_up_nibbles(_mm512_add_ps(_mm512_mul_ps(d, _mm512_loadu_ps(&FROM_ZERO)), m), codes, out);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn q5_0(block: &[u8; 22], out: &mut [f32; 32]) {
    let ([d, _], codes) = (two_halves(block), split::<2, 20, 22>(block).1);
    let above = _mm512_mul_ps(d, _mm512_loadu_ps(&FROM_ZERO));
    let below = _mm512_mul_ps(d, _mm512_sub_ps(_mm512_loadu_ps(&FROM_ZERO), _mm512_set1_ps(16.0)));
    look_up_five_bits([below, above], codes, out);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn q5_1(block: &[u8; 24], out: &mut [f32; 32]) {
    let [d, m] = two_halves(block);
    let codes = split::<4, 20, 24>(block).1;
    look_up_five_bits(multiples_plus(d, m), codes, out);
}

/// `Q8_0`, and `Q8_1` without its sum.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn q8_0<const BYTES: usize>(block: &[u8; BYTES], out: &mut [f32; 32]) {
    let ([d, _], Some(codes)) = (two_halves(block), block.last_chunk::<32>()) else { return };
    for (out, codes) in out.as_chunks_mut().0.iter_mut().zip(codes.as_chunks().0) {
        let codes = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(codes)));
        _mm512_storeu_ps(out, _mm512_mul_ps(d, codes));
    }
}

/// The first two f16 numbers of a block, each in all places.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn two_halves<const BYTES: usize>(block: &[u8; BYTES]) -> [__m512; 2] {
    // Four are converted: from memory that is one step less than to bring two into a vector.
    let four = block.first_chunk().unwrap_or(&[0; 8]);
    let halves = _mm_cvtph_ps(_mm_cvtsi64_si128(i64::from_le_bytes(*four)));
    let second = _mm512_permutexvar_ps(_mm512_set1_epi32(1), _mm512_castps128_ps512(halves));
    [_mm512_broadcastss_ps(halves), second]
}

/// `factor × code + addend` for all codes of five bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn multiples_plus(factor: __m512, addend: __m512) -> [__m512; 2] {
    let low = _mm512_loadu_ps(&FROM_ZERO);
    let high = _mm512_add_ps(low, _mm512_set1_ps(16.0));
    [low, high].map(|codes| _mm512_add_ps(_mm512_mul_ps(factor, codes), addend))
}

/// The values that a table of 32 has for codes of five bits: 32 fifth bits, then as nibbles the other four of each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn look_up_five_bits(table: [__m512; 2], codes: &[u8; 20], out: &mut [f32; 32]) {
    let (fifth, low) = split::<4, 16, 20>(codes);
    let fifth = _mm512_set1_epi32(i32::from_le_bytes(*fifth));
    let low = _mm512_cvtepu8_epi32(_mm_loadu_si128(low));
    // Turned right by so many bits, each number has the fifth bit of its own code in place.
    let places = _mm512_setr_epi32(28, 29, 30, 31, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    let later = _mm512_add_epi32(places, _mm512_set1_epi32(16));
    let halves = [(low, places), (_mm512_srli_epi32::<4>(low), later)];
    for (out, (low, places)) in out.as_chunks_mut().0.iter_mut().zip(halves) {
        let codes = select(_mm512_set1_epi32(15), low, _mm512_rorv_epi32(fifth, places));
        let [first, second] = table;
        _mm512_storeu_ps(out, _mm512_permutex2var_ps(first, codes, second));
    }
}
