//! Kernels in vectors of 8 numbers for the types whose codes are numbers: those of the features `legacy` and `k`.
//!
//! Codes are put together as bytes, 32 at once, and then widened.
#![allow(dead_code, unused_imports, reason = "which of these are used depends on the families turned on")]

use super::unpack::split;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{_mm_loadl_epi64, _mm_loadu_si128, _mm256_loadu_si256, _mm256_storeu_ps};

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q4_0(block: &[u8; 18], out: &mut [f32; 32]) {
    let (head, codes) = (split::<16, 2, 18>(block).0, split::<2, 16, 18>(block).1);
    let [d, _] = two_halves(head);
    scale(_mm256_sub_epi8(nibbles(codes), _mm256_set1_epi8(8)), d, out);
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q4_1(block: &[u8; 20], out: &mut [f32; 32]) {
    let (head, codes) = (split::<16, 4, 20>(block).0, split::<4, 16, 20>(block).1);
    scale_add(nibbles(codes), two_halves(head), out);
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q5_0(block: &[u8; 22], out: &mut [f32; 32]) {
    let (head, codes) = (split::<16, 6, 22>(block).0, split::<2, 20, 22>(block).1);
    let (fifth, low) = split::<4, 16, 20>(codes);
    let [d, _] = two_halves(head);
    // Without the fifth bit, 16 is subtracted from a nibble.
    let below = _mm256_andnot_si256(where_set(fifth), _mm256_set1_epi8(-16));
    scale(_mm256_or_si256(nibbles(low), below), d, out);
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q5_1(block: &[u8; 24], out: &mut [f32; 32]) {
    let (head, codes) = (split::<16, 8, 24>(block).0, split::<4, 20, 24>(block).1);
    let (fifth, low) = split::<4, 16, 20>(codes);
    let above = _mm256_and_si256(where_set(fifth), _mm256_set1_epi8(16));
    scale_add(_mm256_or_si256(nibbles(low), above), two_halves(head), out);
}

/// `Q8_0`, and `Q8_1` without its sum.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q8_0(head: &[u8; 16], codes: &[u8; 32], out: &mut [f32; 32]) {
    let [d, _] = two_halves(head);
    scale(_mm256_loadu_si256(codes), d, out);
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q4_k(block: &[u8; 144], out: &mut [f32; 256]) {
    let (head, codes) = split::<16, 128, 144>(block);
    let (factors, addends) = factors(head);
    let parts = factors.as_chunks().0.iter().zip(addends.as_chunks().0);
    let groups = out.as_chunks_mut::<64>().0.iter_mut().zip(codes.as_chunks::<32>().0);
    for ((out, codes), ([factor, next_factor], [addend, next_addend])) in groups.zip(parts) {
        let ([low_out, high_out], _) = out.as_chunks_mut::<32>() else { return };
        let [low, high] = low_and_high(_mm256_loadu_si256(codes));
        scale_add(low, [*factor, *addend].map(|number| _mm256_set1_ps(number)), low_out);
        scale_add(high, [*next_factor, *next_addend].map(|number| _mm256_set1_ps(number)), high_out);
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q5_k(block: &[u8; 176], out: &mut [f32; 256]) {
    let (head, rest) = split::<16, 160, 176>(block);
    let (fifth, low) = split::<32, 128, 160>(rest);
    let (factors, addends) = factors(head);
    let parts = factors.as_chunks().0.iter().zip(addends.as_chunks().0);
    let mut fifth = _mm256_loadu_si256(fifth);
    let groups = out.as_chunks_mut::<64>().0.iter_mut().zip(low.as_chunks::<32>().0);
    for ((out, low), ([factor, next_factor], [addend, next_addend])) in groups.zip(parts) {
        let ([low_out, high_out], _) = out.as_chunks_mut::<32>() else { return };
        let [low, high] = low_and_high(_mm256_loadu_si256(low));
        let one = _mm256_set1_epi8(16);
        let low_fifth = _mm256_and_si256(_mm256_slli_epi16::<4>(fifth), one);
        let high_fifth = _mm256_and_si256(_mm256_slli_epi16::<3>(fifth), one);
        let (low, high) = (_mm256_or_si256(low, low_fifth), _mm256_or_si256(high, high_fifth));
        scale_add(low, [*factor, *addend].map(|number| _mm256_set1_ps(number)), low_out);
        scale_add(high, [*next_factor, *next_addend].map(|number| _mm256_set1_ps(number)), high_out);
        fifth = _mm256_srli_epi16::<2>(fifth);
    }
}
/// `d × scale` of the 8 parts of `Q4_K` and `Q5_K`, and `−dmin × minimum` of each.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn factors(head: &[u8; 16]) -> ([f32; 8], [f32; 8]) {
    let [_, _, _, _, bytes @ ..] = head;
    let (scales, minimums) = super::k::six_bit_pairs(bytes);
    let [d, dmin] = two_halves(head);
    let numbers =
        |bytes: u64| _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes.cast_signed())));
    let (mut factors, mut addends) = ([0.0; 8], [0.0; 8]);
    _mm256_storeu_ps(&mut factors, _mm256_mul_ps(d, numbers(u64::from_le_bytes(scales))));
    let addend = _mm256_mul_ps(dmin, numbers(u64::from_le_bytes(minimums)));
    _mm256_storeu_ps(&mut addends, _mm256_xor_ps(addend, _mm256_set1_ps(-0.0)));
    (factors, addends)
}

/// The first two f16 numbers of a block, each in all places.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn two_halves(head: &[u8; 16]) -> [__m256; 2] {
    // Four are converted: from memory that is one step less than to bring two into a vector.
    let halves = _mm_cvtph_ps(_mm_loadl_epi64(head));
    [_mm256_broadcastss_ps(halves), _mm256_broadcastss_ps(_mm_movehdup_ps(halves))]
}

/// The low nibbles of 16 bytes, then the high ones.
#[inline]
#[target_feature(enable = "avx2")]
fn nibbles(bytes: &[u8; 16]) -> __m256i {
    let twice = _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes));
    let shifted = _mm256_srlv_epi64(twice, _mm256_setr_epi64x(0, 0, 4, 4));
    _mm256_and_si256(shifted, _mm256_set1_epi8(15))
}

/// The low nibbles of 32 bytes, and the high ones.
#[inline]
#[target_feature(enable = "avx2")]
fn low_and_high(bytes: __m256i) -> [__m256i; 2] {
    [bytes, _mm256_srli_epi16::<4>(bytes)].map(|nibbles| _mm256_and_si256(nibbles, _mm256_set1_epi8(15)))
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
fn scale_add(codes: __m256i, [factor, addend]: [__m256; 2], out: &mut [f32; 32]) {
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
