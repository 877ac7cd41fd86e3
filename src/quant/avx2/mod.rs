//! Steps of kernels in vectors of 8 numbers.

#[cfg(feature = "iq")]
mod codebooks;
#[cfg(feature = "k")]
mod k;
#[cfg(any(feature = "k", feature = "legacy"))]
mod legacy;
#[cfg(any(feature = "iq", feature = "fp4"))]
mod tables;
#[cfg(feature = "ternary")]
mod ternary;

#[cfg(feature = "k")]
use self::k::{q4_k, q5_k};
#[cfg(feature = "legacy")]
use self::legacy::{q4_0, q4_1, q5_0, q5_1, q8_0};
#[cfg(feature = "k")]
use super::k::{q2_k, q3_k, q6_k, q8_k};
use super::lines::{STEP, in_lines};
use super::written::{by_block, plain_kernel, written_kernels};
use super::{Kernel, blocks, of_dtype, plain};
use crate::TensorType;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm256_loadu_ps, _mm256_storeu_ps};

written_kernels!(avx2 "avx2,bmi1,bmi2,f16c,lzcnt,popcnt");

/// The value of a binary16 number in all lanes. A NaN is made quiet, its sign and payload are kept.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn half_in_each(bytes: [u8; 2]) -> __m256 {
    _mm256_cvtph_ps(_mm_set1_epi16(i16::from_le_bytes(bytes)))
}

/// The values of binary16 numbers, as many as make whole vectors.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn f16(src: &[u8], out: &mut [f32]) {
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
        _mm256_storeu_ps(values, _mm256_castsi256_ps(_mm256_shuffle_epi8(twice(halves), places)));
    }
}

/// `scale × value` for the values that a table has for the low nibbles of all bytes, then for the high ones. The values are
/// integers of 8 bits.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn look_up(table: &[f32; 16], codes: &[u8; 16], scale: f32, out: &mut [f32; 32]) {
    look_up_by(table, codes, _mm256_set1_ps(scale), out);
}

/// As [`look_up`], with the scale in all lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn look_up_by(table: &[f32; 16], codes: &[u8; 16], scale: __m256, out: &mut [f32; 32]) {
    let table = as_bytes(table);
    let [low, high] = nibbles_of_16(_mm_loadu_si128(codes)).map(|codes| _mm_shuffle_epi8(table, codes));
    for (out, values) in out.as_chunks_mut().0.iter_mut().zip([low, upper(low), high, upper(high)]) {
        _mm256_storeu_ps(out, scaled(values, scale));
    }
}

/// The integers of a table, which is a constant: so is this.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn as_bytes(table: &[f32; 16]) -> __m128i {
    let [first, second] = [0, 8].map(|from| {
        let numbers = table.get(from..).and_then(|numbers| numbers.first_chunk()).unwrap_or(&[0.0; 8]);
        _mm256_cvtps_epi32(_mm256_loadu_ps(numbers))
    });
    // Of each half of a vector, the four of the first one, then the four of the second one.
    let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi32(first, second));
    _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words))
}

/// 16 bytes, twice.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn twice(bytes: &[u8; 16]) -> __m256i {
    _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes))
}

/// The low nibbles of all bytes, and the high ones.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn nibbles_of_16(bytes: __m128i) -> [__m128i; 2] {
    [bytes, _mm_srli_epi16::<4>(bytes)].map(|nibbles| _mm_and_si128(nibbles, _mm_set1_epi8(15)))
}

/// The upper eight bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn upper(bytes: __m128i) -> __m128i {
    _mm_unpackhi_epi64(bytes, bytes)
}

/// `scale × value`, of the lower eight bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn scaled(values: __m128i, scale: __m256) -> __m256 {
    _mm256_mul_ps(scale, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(values)))
}
