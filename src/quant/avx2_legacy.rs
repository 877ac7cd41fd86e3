//! Kernels in vectors of 8 numbers for blocks of 32 elements: codes are put together as bytes, and then widened.
#![allow(dead_code, reason = "with `legacy` turned off, only what the kernels of `k` use")]

use super::unpack::split;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm256_loadu_si256, _mm256_storeu_ps};

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q4_0(block: &[u8; 18], out: &mut [f32; 32]) {
    let (d, codes) = (half::<0, 18>(block), split::<2, 16, 18>(block).1);
    scale(_mm256_sub_epi8(nibbles(codes), _mm256_set1_epi8(8)), d, out);
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q4_1(block: &[u8; 20], out: &mut [f32; 32]) {
    let codes = split::<4, 16, 20>(block).1;
    scale_add(nibbles(codes), [half::<0, 20>(block), half::<2, 20>(block)], out);
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q5_0(block: &[u8; 22], out: &mut [f32; 32]) {
    let (d, codes) = (half::<0, 22>(block), split::<2, 20, 22>(block).1);
    let (fifth, low) = split::<4, 16, 20>(codes);
    // Without the fifth bit, 16 is subtracted from a nibble.
    let below = _mm256_andnot_si256(where_set(fifth), _mm256_set1_epi8(-16));
    scale(_mm256_or_si256(nibbles(low), below), d, out);
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q5_1(block: &[u8; 24], out: &mut [f32; 32]) {
    let codes = split::<4, 20, 24>(block).1;
    let (fifth, low) = split::<4, 16, 20>(codes);
    let above = _mm256_and_si256(where_set(fifth), _mm256_set1_epi8(16));
    scale_add(_mm256_or_si256(nibbles(low), above), [half::<0, 24>(block), half::<2, 24>(block)], out);
}

/// `Q8_0`, and `Q8_1` without its sum.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q8_0<const BYTES: usize>(block: &[u8; BYTES], out: &mut [f32; 32]) {
    let (d, Some(codes)) = (half::<0, BYTES>(block), block.last_chunk::<32>()) else { return };
    scale(_mm256_loadu_si256(codes), d, out);
}

/// The f16 number at this offset of a block, in all places.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn half<const OFFSET: usize, const BYTES: usize>(block: &[u8; BYTES]) -> __m256 {
    // Four numbers are converted: from memory that is one step, and one number would first have to be brought into a vector.
    let four = block.get(OFFSET..).and_then(|bytes| bytes.first_chunk()).unwrap_or(&[0; 8]);
    let four = _mm_cvtsi64_si128(i64::from_le_bytes(*four));
    _mm256_broadcastss_ps(_mm_cvtph_ps(four))
}

/// The low nibbles of 16 bytes, then the high ones.
#[inline]
#[target_feature(enable = "avx2")]
fn nibbles(bytes: &[u8; 16]) -> __m256i {
    let twice = _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes));
    let shifted = _mm256_srlv_epi64(twice, _mm256_setr_epi64x(0, 0, 4, 4));
    _mm256_and_si256(shifted, _mm256_set1_epi8(15))
}

/// All ones in each byte whose bit is set.
#[inline]
#[target_feature(enable = "avx2")]
fn where_set(bits: &[u8; 4]) -> __m256i {
    let bits = _mm256_set1_epi32(i32::from_le_bytes(*bits));
    let bytes = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    // A byte is all ones once its own bit is set, if all others are.
    let others = _mm256_set1_epi64x(0x7fbf_dfef_f7fb_fdfe);
    let bits = _mm256_or_si256(_mm256_shuffle_epi8(bits, bytes), others);
    _mm256_cmpeq_epi8(bits, _mm256_set1_epi8(-1))
}

/// `factor × code`, the codes being signed bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn scale(codes: __m256i, factor: __m256, out: &mut [f32; 32]) {
    for (out, codes) in out.as_chunks_mut().0.iter_mut().zip(eights(codes)) {
        let codes = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes));
        _mm256_storeu_ps(out, _mm256_mul_ps(factor, codes));
    }
}

/// `factor × code + addend`, the codes being bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn scale_add(codes: __m256i, [factor, addend]: [__m256; 2], out: &mut [f32; 32]) {
    for (out, codes) in out.as_chunks_mut().0.iter_mut().zip(eights(codes)) {
        let codes = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(codes));
        _mm256_storeu_ps(out, _mm256_add_ps(_mm256_mul_ps(factor, codes), addend));
    }
}

/// 32 bytes, eight at a time: each in the lower half of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn eights(bytes: __m256i) -> [__m128i; 4] {
    let (low, high) = (_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes));
    [low, _mm_unpackhi_epi64(low, low), high, _mm_unpackhi_epi64(high, high)]
}
