//! Kernels in vectors of 16 numbers for the types whose codes are numbers: those of the features `legacy` and `k`.
//!
//! Where a part of a block has few codes, its products are a table in one register or two, and a code its index. Only the
//! lowest bits of an index are looked at, so what a shift leaves above a code does no harm. Products are exact where a
//! comment says so; then it does not matter which of the factors is multiplied first.
#![allow(dead_code, unused_imports, reason = "which of these are used depends on the families turned on")]

use super::avx512::look_up_nibbles;
use super::unpack::split;
use super::written::{AROUND_ZERO, FROM_ZERO};
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{
    _mm_loadl_epi64, _mm_loadu_si128, _mm256_loadu_si256, _mm512_loadu_ps, _mm512_loadu_si512,
    _mm512_storeu_ps,
};

#[inline]
#[target_feature(enable = "avx512f,f16c")]
pub(super) fn q4_0(block: &[u8; 18], out: &mut [f32; 32]) {
    let (head, codes) = (split::<16, 2, 18>(block).0, split::<2, 16, 18>(block).1);
    let [d, _] = two_halves(head);
    look_up_nibbles(_mm512_mul_ps(d, _mm512_loadu_ps(&AROUND_ZERO)), codes, out);
}

#[inline]
#[target_feature(enable = "avx512f,f16c")]
pub(super) fn q4_1(block: &[u8; 20], out: &mut [f32; 32]) {
    let (head, codes) = (split::<16, 4, 20>(block).0, split::<4, 16, 20>(block).1);
    let [d, m] = two_halves(head);
    look_up_nibbles(_mm512_add_ps(_mm512_mul_ps(d, _mm512_loadu_ps(&FROM_ZERO)), m), codes, out);
}

#[inline]
#[target_feature(enable = "avx512f,f16c")]
pub(super) fn q5_0(block: &[u8; 22], out: &mut [f32; 32]) {
    let (head, codes) = (split::<16, 6, 22>(block).0, split::<2, 20, 22>(block).1);
    let [d, _] = two_halves(head);
    let above = _mm512_mul_ps(d, _mm512_loadu_ps(&FROM_ZERO));
    let below = _mm512_mul_ps(d, _mm512_sub_ps(_mm512_loadu_ps(&FROM_ZERO), _mm512_set1_ps(16.0)));
    look_up_five_bits([below, above], codes, out);
}

#[inline]
#[target_feature(enable = "avx512f,f16c")]
pub(super) fn q5_1(block: &[u8; 24], out: &mut [f32; 32]) {
    let (head, codes) = (split::<16, 8, 24>(block).0, split::<4, 20, 24>(block).1);
    let [d, m] = two_halves(head);
    look_up_five_bits(multiples_plus(d, m), codes, out);
}

/// `Q8_0`, and `Q8_1` without its sum.
#[inline]
#[target_feature(enable = "avx512f,f16c")]
pub(super) fn q8_0(head: &[u8; 16], codes: &[u8; 32], out: &mut [f32; 32]) {
    let [d, _] = two_halves(head);
    for (out, codes) in out.as_chunks_mut().0.iter_mut().zip(codes.as_chunks().0) {
        let codes = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(codes)));
        _mm512_storeu_ps(out, _mm512_mul_ps(d, codes));
    }
}

/// The first two f16 numbers of a block, each in all places.
#[inline]
#[target_feature(enable = "avx512f,f16c")]
fn two_halves(head: &[u8; 16]) -> [__m512; 2] {
    // Four are converted: from memory that is one step less than to bring two into a vector.
    let halves = _mm_cvtph_ps(_mm_loadl_epi64(head));
    let second = _mm512_permutexvar_ps(_mm512_set1_epi32(1), _mm512_castps128_ps512(halves));
    [_mm512_broadcastss_ps(halves), second]
}

/// `factor × code + addend` for all codes of five bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn multiples_plus(factor: __m512, addend: __m512) -> [__m512; 2] {
    let low = _mm512_loadu_ps(&FROM_ZERO);
    let high = _mm512_add_ps(low, _mm512_set1_ps(16.0));
    [low, high].map(|codes| _mm512_add_ps(_mm512_mul_ps(factor, codes), addend))
}

/// The values that a table of 32 has for codes of five bits: 32 fifth bits, then as nibbles the other four of each.
#[inline]
#[target_feature(enable = "avx512f")]
fn look_up_five_bits(table: [__m512; 2], codes: &[u8; 20], out: &mut [f32; 32]) {
    let (fifth, low) = split::<4, 16, 20>(codes);
    let fifth = _mm512_set1_epi32(i32::from_le_bytes(*fifth));
    let low = _mm512_cvtepu8_epi32(_mm_loadu_si128(low));
    // Turned right by so many bits, each number has the fifth bit of its own code in place.
    let places = _mm512_setr_epi32(28, 29, 30, 31, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    let later = _mm512_add_epi32(places, _mm512_set1_epi32(16));
    let halves = [(low, places), (_mm512_srli_epi32::<4>(low), later)];
    for (out, (low, places)) in out.as_chunks_mut().0.iter_mut().zip(halves) {
        let codes = select(15, low, _mm512_rorv_epi32(fifth, places));
        let [first, second] = table;
        _mm512_storeu_ps(out, _mm512_permutex2var_ps(first, codes, second));
    }
}

/// The bits of `one` where the mask has them, and those of `other` elsewhere.
#[inline]
#[target_feature(enable = "avx512f")]
fn select(mask: i32, one: __m512i, other: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<0xca>(_mm512_set1_epi32(mask), one, other)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,f16c")]
pub(super) fn q4_k(block: &[u8; 144], out: &mut [f32; 256]) {
    let (head, codes) = split::<16, 128, 144>(block);
    let parts = factors(head);
    let groups = out.as_chunks_mut::<64>().0.iter_mut().zip(codes.as_chunks::<32>().0);
    for ((out, codes), part) in groups.zip([0, 2, 4, 6]) {
        let tables = [part, part + 1].map(|part| {
            let [factor, addend] = of_part(parts, part);
            _mm512_add_ps(_mm512_mul_ps(factor, _mm512_loadu_ps(&FROM_ZERO)), addend)
        });
        let (low, high) = split_mut(out);
        let halves = low.as_chunks_mut().0.iter_mut().zip(high.as_chunks_mut().0).zip(codes.as_chunks().0);
        for ((low, high), codes) in halves {
            let codes = _mm512_cvtepu8_epi32(_mm_loadu_si128(codes));
            let [first, second] = tables;
            _mm512_storeu_ps(low, _mm512_permutexvar_ps(codes, first));
            _mm512_storeu_ps(high, _mm512_permutexvar_ps(_mm512_srli_epi32::<4>(codes), second));
        }
    }
}

/// `d × scale` of the 8 parts of `Q4_K` and `Q5_K`, then `−dmin × minimum` of each.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,f16c")]
fn factors(head: &[u8; 16]) -> __m512 {
    let bytes = _mm_loadu_si128(head);
    // What has the low bits of scales 0 to 3, of 4 to 7, of minimums 0 to 3 and of 4 to 7, and what has the two top bits.
    let low =
        _mm_shuffle_epi8(bytes, _mm_setr_epi8(4, 5, 6, 7, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15));
    let top =
        _mm_shuffle_epi8(bytes, _mm_setr_epi8(-1, -1, -1, -1, 4, 5, 6, 7, -1, -1, -1, -1, 8, 9, 10, 11));
    let low = _mm_srlv_epi32(low, _mm_setr_epi32(0, 0, 0, 4));
    let top = _mm_and_si128(_mm_srli_epi32::<2>(top), _mm_set1_epi8(0x30));
    let masks = _mm_setr_epi32(0x3f3f_3f3f, 0x0f0f_0f0f, 0x3f3f_3f3f, 0x0f0f_0f0f);
    let integers = _mm512_cvtepu8_epi32(_mm_ternarylogic_epi32::<0xca>(masks, low, top));

    let halves = _mm512_castps128_ps512(_mm_cvtph_ps(_mm_loadl_epi64(head)));
    let places = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    let halves = _mm512_castps_si512(_mm512_permutexvar_ps(places, halves));
    let minus = _mm512_maskz_set1_epi32(0xff00, i32::MIN);
    let halves = _mm512_castsi512_ps(_mm512_xor_si512(halves, minus));
    _mm512_mul_ps(halves, _mm512_cvtepi32_ps(integers))
}

/// What [`factors`] gives for a part, each of the two in all places.
#[inline]
#[target_feature(enable = "avx512f")]
fn of_part(factors: __m512, part: i32) -> [__m512; 2] {
    [part, part + 8].map(|place| _mm512_permutexvar_ps(_mm512_set1_epi32(place), factors))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,f16c")]
pub(super) fn q5_k(block: &[u8; 176], out: &mut [f32; 256]) {
    let (head, rest) = split::<16, 160, 176>(block);
    let (fifth, low) = split::<32, 128, 160>(rest);
    let parts = factors(head);
    let mut fifth = twice(fifth);
    // The first 32 codes of a group are low nibbles, and have the lower one of two fifth bits.
    let shifts = _mm512_setr_epi64(0, 0, 0, 0, 4, 4, 4, 4);
    fifth = _mm512_rorv_epi64(fifth, _mm512_setr_epi64(60, 60, 60, 60, 61, 61, 61, 61));
    let groups = out.as_chunks_mut::<64>().0.iter_mut().zip(low.as_chunks::<32>().0);
    for ((out, low), part) in groups.zip([0, 2, 4, 6]) {
        let tables = [part, part + 1].map(|part| {
            let [factor, addend] = of_part(parts, part);
            multiples_plus(factor, addend)
        });
        let low = _mm512_srlv_epi64(twice(low), shifts);
        let codes = sixteens(select(0x0f0f_0f0f, low, fifth));
        fifth = _mm512_ror_epi64::<2>(fifth);
        let [first, second] = tables;
        let vectors = codes.into_iter().zip([first, first, second, second]);
        for (out, (codes, [first, second])) in out.as_chunks_mut().0.iter_mut().zip(vectors) {
            _mm512_storeu_ps(out, _mm512_permutex2var_ps(first, codes, second));
        }
    }
}

/// 32 bytes, twice.
#[inline]
#[target_feature(enable = "avx512f")]
fn twice(bytes: &[u8; 32]) -> __m512i {
    _mm512_broadcast_i64x4(_mm256_loadu_si256(bytes))
}

/// Each byte four times, which makes the number of 32 bits that has it lowest.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn sixteens(bytes: __m512i) -> [__m512i; 4] {
    let places = _mm512_setr_epi32(
        0x0000_0000,
        0x0101_0101,
        0x0202_0202,
        0x0303_0303,
        0x0404_0404,
        0x0505_0505,
        0x0606_0606,
        0x0707_0707,
        0x0808_0808,
        0x0909_0909,
        0x0a0a_0a0a,
        0x0b0b_0b0b,
        0x0c0c_0c0c,
        0x0d0d_0d0d,
        0x0e0e_0e0e,
        0x0f0f_0f0f,
    );
    [0, 16, 32, 48]
        .map(|from| _mm512_permutexvar_epi8(_mm512_add_epi8(places, _mm512_set1_epi8(from)), bytes))
}

/// The first 32 of 64 values, and the others.
#[inline(always)]
fn split_mut(values: &mut [f32; 64]) -> (&mut [f32], &mut [f32]) {
    values.split_at_mut(32)
}
