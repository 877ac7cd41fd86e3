//! Kernels in vectors of 8 numbers for those blocks of 256 elements of which the compiler makes slow code.

use super::legacy::{nibbles_of_32, scale_add, two_halves};
use super::twice;
use crate::quant::k::six_bit_pairs;
use crate::quant::unpack::split;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::_mm256_storeu_ps;

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q4_k(block: &[u8; 144], out: &mut [f32; 256]) {
    let (head, codes) = split::<16, 128, 144>(block);
    let (factors, addends) = factors(head);
    let parts = factors.as_chunks().0.iter().zip(addends.as_chunks().0);
    let groups = out.as_chunks_mut::<64>().0.iter_mut().zip(codes.as_chunks::<32>().0);
    for ((out, codes), (factors, addends)) in groups.zip(parts) {
        let ([first, last], _) = codes.as_chunks() else { return };
        let [[low, high], [later_low, later_high]] = [first, last].map(|codes| nibbles_of_32(twice(codes)));
        scale_add_two_parts([[low, later_low], [high, later_high]], factors, addends, out);
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q5_k(block: &[u8; 176], out: &mut [f32; 256]) {
    let (head, rest) = split::<16, 160, 176>(block);
    let (fifth, low) = split::<32, 128, 160>(rest);
    let (factors, addends) = factors(head);
    let parts = factors.as_chunks().0.iter().zip(addends.as_chunks().0);
    let ([fifth, later_fifth], _) = fifth.as_chunks() else { return };
    let mut fifth = [fifth, later_fifth].map(|bits| twice(bits));
    let groups = out.as_chunks_mut::<64>().0.iter_mut().zip(low.as_chunks::<32>().0);
    for ((out, low), (factors, addends)) in groups.zip(parts) {
        let ([first, last], _) = low.as_chunks() else { return };
        let ([fifth_first, fifth_last], one) = (fifth, _mm256_set1_epi8(16));
        let [[low, high], [later_low, later_high]] =
            [(first, fifth_first), (last, fifth_last)].map(|(codes, fifth)| {
                let [low, high] = nibbles_of_32(twice(codes));
                let low_fifth = _mm256_and_si256(_mm256_slli_epi16::<4>(fifth), one);
                let high_fifth = _mm256_and_si256(_mm256_slli_epi16::<3>(fifth), one);
                [_mm256_or_si256(low, low_fifth), _mm256_or_si256(high, high_fifth)]
            });
        scale_add_two_parts([[low, later_low], [high, later_high]], factors, addends, out);
        fifth = fifth.map(|bits| _mm256_srli_epi16::<2>(bits));
    }
}

/// `factor × code + addend` for two parts, whose codes are as those of [`scale_add`].
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn scale_add_two_parts(
    codes: [[__m256i; 2]; 2],
    factors: &[f32; 2],
    addends: &[f32; 2],
    out: &mut [f32; 64],
) {
    let parts = codes.into_iter().zip(factors).zip(addends);
    for (out, ((codes, factor), addend)) in out.as_chunks_mut().0.iter_mut().zip(parts) {
        scale_add(codes, [_mm256_set1_ps(*factor), _mm256_set1_ps(*addend)], out);
    }
}

/// `d × scale` of the 8 parts of `Q4_K` and `Q5_K`, and `−dmin × minimum` of each.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn factors(head: &[u8; 16]) -> ([f32; 8], [f32; 8]) {
    let [_, _, _, _, bytes @ ..] = head;
    let (scales, minimums) = six_bit_pairs(bytes);
    let [d, dmin] = two_halves(head);
    let numbers =
        |bytes: u64| _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes.cast_signed())));
    let (mut factors, mut addends) = ([0.0; 8], [0.0; 8]);
    _mm256_storeu_ps(&mut factors, _mm256_mul_ps(d, numbers(u64::from_le_bytes(scales))));
    let addend = _mm256_mul_ps(dmin, numbers(u64::from_le_bytes(minimums)));
    _mm256_storeu_ps(&mut addends, _mm256_xor_ps(addend, _mm256_set1_ps(-0.0)));
    (factors, addends)
}
