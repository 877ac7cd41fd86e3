//! The kernels of two, three and four levels, in vectors of 8 numbers.
//!
//! The products of all levels are one register, and a code of two bits their index. What is above a code does no harm, as
//! they are there twice.

use super::{half_in_each, twice};
use crate::quant::unpack::split;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::_mm256_storeu_ps;

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn tq1_0(block: &[u8; 54], out: &mut [f32; 256]) {
    let [bytes @ .., d0, d1] = block;
    let products = levels(half_in_each([*d0, *d1]));
    let (by_16, by_4) = split::<48, 4, 52>(bytes);
    let (by_32, rest) = out.split_at_mut(160);
    let (second, third) = rest.split_at_mut(80);
    let [first, last, by_16] = by_16.as_chunks().0 else { return };
    let (mut first, mut last) = (eighths(first), eighths(last));
    for out in by_32.as_chunks_mut::<32>().0 {
        let (low, high) = out.split_at_mut(16);
        first = digits(first, products, low);
        last = digits(last, products, high);
    }
    let mut by_16 = eighths(by_16);
    for out in second.as_chunks_mut::<16>().0 {
        by_16 = digits(by_16, products, out);
    }
    // Four bytes, then the fractions behind their first digits.
    let bytes = _mm_cvtsi32_si128(i32::from_le_bytes(*by_4));
    let bytes = _mm256_cvtepu8_epi32(_mm_unpacklo_epi32(bytes, bytes));
    let mut by_4 = behind_digits(_mm256_mullo_epi16(bytes, _mm256_setr_epi32(1, 1, 1, 1, 3, 3, 3, 3)));
    for out in third.as_chunks_mut().0 {
        let digits = _mm256_srli_epi32::<8>(_mm256_mullo_epi16(by_4, _mm256_set1_epi16(3)));
        _mm256_storeu_ps(out, _mm256_permutevar8x32_ps(products, digits));
        by_4 = behind_digits(_mm256_mullo_epi16(by_4, _mm256_set1_epi16(9)));
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn tq2_0(block: &[u8; 66], out: &mut [f32; 256]) {
    let [codes @ .., d0, d1] = block;
    let products = levels(half_in_each([*d0, *d1]));
    for (out, codes) in out.as_chunks_mut::<128>().0.iter_mut().zip(codes.as_chunks::<32>().0) {
        let (first, last) = split::<16, 16, 32>(codes);
        // In number i bytes i, 8 + i, 16 + i, 24 + i.
        let last = _mm256_slli_epi16::<8>(eighths(last));
        let (low, high) = (eighths(first), last);
        let codes = _mm256_or_si256(low, high);
        let by_32 = [
            codes,
            _mm256_srli_epi32::<2>(codes),
            _mm256_srli_epi32::<4>(codes),
            _mm256_srli_epi32::<6>(codes),
        ];
        for (out, codes) in out.as_chunks_mut::<32>().0.iter_mut().zip(by_32) {
            let by_8 = [
                codes,
                _mm256_srli_epi32::<16>(codes),
                _mm256_srli_epi32::<8>(codes),
                _mm256_srli_epi32::<24>(codes),
            ];
            look_up(by_8, products, out);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q1_0(block: &[u8; 18], out: &mut [f32; 128]) {
    let [d0, d1, signs @ ..] = block;
    let d = half_in_each([*d0, *d1]);
    let products = _mm256_xor_ps(d, _mm256_setr_ps(-0.0, 0.0, -0.0, 0.0, -0.0, 0.0, -0.0, 0.0));
    let shifts = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (out, signs) in out.as_chunks_mut::<32>().0.iter_mut().zip(signs.as_chunks().0) {
        let signs = _mm256_set1_epi32(i32::from_le_bytes(*signs));
        let signs = [0, 8, 16, 24]
            .map(|from| _mm256_srlv_epi32(signs, _mm256_add_epi32(shifts, _mm256_set1_epi32(from))));
        look_up(signs, products, out);
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q2_0(block: &[u8; 18], out: &mut [f32; 64]) {
    let [d0, d1, codes @ ..] = block;
    let products = levels(half_in_each([*d0, *d1]));
    let (first, last) =
        (_mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14), _mm256_setr_epi32(16, 18, 20, 22, 24, 26, 28, 30));
    for (out, codes) in out.as_chunks_mut::<16>().0.iter_mut().zip(codes.as_chunks().0) {
        let codes = _mm256_set1_epi32(i32::from_le_bytes(*codes));
        look_up([first, last].map(|from| _mm256_srlv_epi32(codes, from)), products, out);
    }
}

/// `d × (code − 1)` for all codes of two bits, twice.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn levels(d: __m256) -> __m256 {
    _mm256_mul_ps(d, _mm256_setr_ps(-1.0, 0.0, 1.0, 2.0, -1.0, 0.0, 1.0, 2.0))
}

/// The values that a table has for codes.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn look_up<const N: usize>(codes: [__m256i; N], table: __m256, out: &mut [f32]) {
    for (out, codes) in out.as_chunks_mut().0.iter_mut().zip(codes) {
        _mm256_storeu_ps(out, _mm256_permutevar8x32_ps(table, codes));
    }
}

/// In number i bytes i and 8 + i, a word each.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn eighths(bytes: &[u8; 16]) -> __m256i {
    let first = _mm_setr_epi8(0, -1, 8, -1, 1, -1, 9, -1, 2, -1, 10, -1, 3, -1, 11, -1);
    let last = _mm_setr_epi8(4, -1, 12, -1, 5, -1, 13, -1, 6, -1, 14, -1, 7, -1, 15, -1);
    _mm256_shuffle_epi8(twice(bytes), _mm256_setr_m128i(first, last))
}

/// The products of the first digits of twice eight fractions, each in a word; returns what is behind these digits.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn digits(fractions: __m256i, products: __m256, out: &mut [f32]) -> __m256i {
    // The digit is what 3 × the fraction has before the point.
    let tripled = _mm256_mullo_epi16(fractions, _mm256_set1_epi16(3));
    look_up([_mm256_srli_epi32::<8>(tripled), _mm256_srli_epi32::<24>(tripled)], products, out);
    behind_digits(tripled)
}

/// Fractions without what is before the point.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn behind_digits(words: __m256i) -> __m256i {
    _mm256_and_si256(words, _mm256_set1_epi16(255))
}
