//! Kernels in vectors of 8 numbers for blocks of 32 elements.
//!
//! Codes are put together as bytes, 16 of them in both halves of a vector, from where one step makes eight numbers of them.

use super::twice;
use crate::quant::unpack::split;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::_mm256_storeu_ps;

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q4_0(block: &[u8; 18], out: &mut [f32; 32]) {
    let ([d, _], codes) = (two_halves(block), split::<2, 16, 18>(block).1);
    let codes = nibbles_of_32(twice(codes)).map(|codes| _mm256_sub_epi8(codes, _mm256_set1_epi8(8)));
    scale(codes, d, out);
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q4_1(block: &[u8; 20], out: &mut [f32; 32]) {
    let codes = split::<4, 16, 20>(block).1;
    scale_add(nibbles_of_32(twice(codes)), two_halves(block), out);
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q5_0(block: &[u8; 22], out: &mut [f32; 32]) {
    let ([d, _], codes) = (two_halves(block), split::<2, 20, 22>(block).1);
    // Without the fifth bit, 16 is subtracted from a nibble.
    let codes = five_bits(codes, |nibbles, fifth| {
        _mm256_or_si256(nibbles, _mm256_andnot_si256(fifth, _mm256_set1_epi8(-16)))
    });
    scale(codes, d, out);
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q5_1(block: &[u8; 24], out: &mut [f32; 32]) {
    let codes = five_bits(split::<4, 20, 24>(block).1, |nibbles, fifth| {
        _mm256_or_si256(nibbles, _mm256_and_si256(fifth, _mm256_set1_epi8(16)))
    });
    scale_add(codes, two_halves(block), out);
}

/// `Q8_0`, and `Q8_1` without its sum.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q8_0<const BYTES: usize>(block: &[u8; BYTES], out: &mut [f32; 32]) {
    let ([d, _], Some(codes)) = (two_halves(block), block.last_chunk::<32>()) else { return };
    let ([first, last], _) = codes.as_chunks() else { return };
    scale([twice(first), twice(last)], d, out);
}

/// The first two f16 numbers of a block, each in all places.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn two_halves<const BYTES: usize>(block: &[u8; BYTES]) -> [__m256; 2] {
    // Four are converted: from memory that is one step less than to bring two into a vector.
    let four = block.first_chunk().unwrap_or(&[0; 8]);
    let halves = _mm_cvtph_ps(_mm_cvtsi64_si128(i64::from_le_bytes(*four)));
    [_mm256_broadcastss_ps(halves), _mm256_broadcastss_ps(_mm_movehdup_ps(halves))]
}

/// The low nibbles of all bytes, and the high ones.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn nibbles_of_32(bytes: __m256i) -> [__m256i; 2] {
    [bytes, _mm256_srli_epi16::<4>(bytes)].map(|nibbles| _mm256_and_si256(nibbles, _mm256_set1_epi8(15)))
}

/// Codes of five bits by `with_fifth` of their nibbles, and of bytes that are all ones for each fifth bit that is set.
#[inline]
#[target_feature(enable = "avx2")]
fn five_bits(codes: &[u8; 20], with_fifth: impl Fn(__m256i, __m256i) -> __m256i) -> [__m256i; 2] {
    let (fifth, low) = split::<4, 16, 20>(codes);
    // A half of the vector has low nibbles, the other one high ones.
    let low = _mm256_srlv_epi64(twice(low), _mm256_setr_epi64x(0, 0, 4, 4));
    let codes = with_fifth(_mm256_and_si256(low, _mm256_set1_epi8(15)), where_set(fifth));
    [_mm256_permute4x64_epi64::<0b01_00_01_00>(codes), _mm256_permute4x64_epi64::<0b11_10_11_10>(codes)]
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

/// `factor × code`, the codes being signed bytes: 16 and 16, each twice.
#[inline]
#[target_feature(enable = "avx2")]
fn scale(codes: [__m256i; 2], factor: __m256, out: &mut [f32; 32]) {
    // A code as the uppermost of four bytes is 2^24 times as large, with its sign. An f32 has room below the least factor.
    let factor = _mm256_mul_ps(factor, _mm256_set1_ps(f32::from_bits((127 - 24) << 23)));
    let places = _mm256_setr_epi32(
        0x00ff_ffff,
        0x01ff_ffff,
        0x02ff_ffff,
        0x03ff_ffff,
        0x04ff_ffff,
        0x05ff_ffff,
        0x06ff_ffff,
        0x07ff_ffff,
    );
    let (outs, _) = out.as_chunks_mut::<16>();
    for (out, codes) in outs.iter_mut().zip(codes) {
        for (out, codes) in out.as_chunks_mut().0.iter_mut().zip(eights(codes, places, 0x0800_0000)) {
            _mm256_storeu_ps(out, _mm256_mul_ps(factor, codes));
        }
    }
}

/// `factor × code + addend`, the codes being bytes: 16 and 16, each twice.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn scale_add(codes: [__m256i; 2], [factor, addend]: [__m256; 2], out: &mut [f32; 32]) {
    let places = _mm256_setr_epi32(-256, -255, -254, -253, -252, -251, -250, -249);
    let (outs, _) = out.as_chunks_mut::<16>();
    for (out, codes) in outs.iter_mut().zip(codes) {
        for (out, codes) in out.as_chunks_mut().0.iter_mut().zip(eights(codes, places, 8)) {
            _mm256_storeu_ps(out, _mm256_add_ps(_mm256_mul_ps(factor, codes), addend));
        }
    }
}

/// 16 bytes that are there twice as numbers: those in these places, then those `further` on. A negative place is a zero.
#[inline]
#[target_feature(enable = "avx2")]
fn eights(bytes: __m256i, places: __m256i, further: i32) -> [__m256; 2] {
    [places, _mm256_add_epi32(places, _mm256_set1_epi32(further))]
        .map(|places| _mm256_cvtepi32_ps(_mm256_shuffle_epi8(bytes, places)))
}
