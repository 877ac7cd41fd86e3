//! Steps of kernels in vectors of 16 numbers: a table of 16 products is one register, and a code its index.
//!
//! Only the four lowest bits of an index are looked at, so what a shift leaves above a code does no harm; of a table of
//! fewer products there are several in the register.
#![allow(dead_code, unused_imports, reason = "which of these are used depends on the families turned on")]

use super::avx2::{half, shifted};
#[cfg(feature = "k")]
use super::avx512_k::{q2_k, q3_k, q4_k, q5_k, q6_k};
#[cfg(feature = "legacy")]
use super::avx512_legacy::{q4_0, q4_1, q5_0, q5_1, q8_0};
use super::lines::{STEP, in_lines};
use super::written::{EVENLY_BUT_62, ODD, OF_TWO_BITS, plain_kernel, written_kernels};
use super::{Kernel, blocks, plain};
#[cfg(feature = "fp4")]
use super::{fp4, fp4::E2M1_DOUBLED};
#[cfg(feature = "iq")]
use super::{iq, iq::NON_LINEAR};
use crate::TensorType;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{
    _mm_loadu_si128, _mm256_loadu_ps, _mm256_loadu_si256, _mm512_loadu_ps, _mm512_storeu_ps,
};

written_kernels!("avx2,bmi1,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi");

#[inline]
#[target_feature(enable = "avx512f")]
fn f16(src: &[u8; 128], out: &mut [f32; STEP]) {
    for (halves, values) in src.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        _mm512_storeu_ps(values, _mm512_cvtph_ps(_mm256_loadu_si256(halves)));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bf16(src: &[u8; 128], out: &mut [f32; STEP]) {
    _ = plain::bf16(src.as_chunks().0, out);
}

/// `scale × value` for the values that a table has for the low nibbles of all bytes, then for the high ones.
#[inline]
#[target_feature(enable = "avx512f")]
fn look_up(table: &[f32; 16], codes: &[u8; 16], scale: f32, out: &mut [f32; 32]) {
    look_up_nibbles(_mm512_mul_ps(_mm512_set1_ps(scale), _mm512_loadu_ps(table)), codes, out);
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn look_up_nibbles(table: __m512, codes: &[u8; 16], out: &mut [f32; 32]) {
    let codes = _mm512_cvtepu8_epi32(_mm_loadu_si128(codes));
    for (out, codes) in out.as_chunks_mut().0.iter_mut().zip([codes, _mm512_srli_epi32::<4>(codes)]) {
        _mm512_storeu_ps(out, _mm512_permutexvar_ps(codes, table));
    }
}

/// As [`look_up`], for eight bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn look_up_eight(table: &[f32; 16], codes: &[u8; 8], scale: f32, out: &mut [f32; 16]) {
    let codes = u64::from_le_bytes(*codes);
    let codes = _mm_set_epi64x((codes >> 4).cast_signed(), codes.cast_signed());
    let table = _mm512_mul_ps(_mm512_set1_ps(scale), _mm512_loadu_ps(table));
    _mm512_storeu_ps(out, _mm512_permutexvar_ps(_mm512_cvtepu8_epi32(codes), table));
}

/// As `eights` of [`signed`](super::signed).
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn eights(factors: [f32; 2], entries: [u16; 4], signs: [u8; 4], out: &mut [f32; 32]) {
    let shifts = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    let magnitudes = _mm512_loadu_ps(&OF_TWO_BITS);
    let entries = entries.as_chunks::<2>().0.iter().zip(signs.as_chunks::<2>().0);
    for ((out, factor), ([first, last], signs)) in out.as_chunks_mut().0.iter_mut().zip(factors).zip(entries)
    {
        let codes = (u32::from(*last) << 16 | u32::from(*first)).cast_signed();
        let codes = _mm512_srlv_epi32(_mm512_set1_epi32(codes), shifts);
        let products = _mm512_permutexvar_ps(codes, _mm512_mul_ps(_mm512_set1_ps(factor), magnitudes));
        _mm512_storeu_ps(out, with_signs(products, *signs));
    }
}

/// As `fours` of [`signed`](super::signed).
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vbmi")]
fn fours(magnitudes: &[f32; 8], factor: f32, entries: [u16; 8], signs: [u8; 4], out: &mut [f32; 32]) {
    // The first bit of each code of four entries: three bits each, 16 bits an entry.
    let shifts = _mm_setr_epi8(0, 3, 6, 9, 16, 19, 22, 25, 32, 35, 38, 41, 48, 51, 54, 57);
    let magnitudes = _mm512_broadcast_f32x8(_mm256_loadu_ps(magnitudes));
    let products = _mm512_mul_ps(_mm512_set1_ps(factor), magnitudes);
    let entries = entries.as_chunks::<4>().0.iter().zip(signs.as_chunks::<2>().0);
    for (out, (entries, signs)) in out.as_chunks_mut().0.iter_mut().zip(entries) {
        let [a, b, c, d] = entries.map(u64::from);
        let codes = _mm_set1_epi64x((d << 48 | c << 32 | b << 16 | a).cast_signed());
        let codes = _mm512_cvtepu8_epi32(_mm_multishift_epi64_epi8(shifts, codes));
        _mm512_storeu_ps(out, with_signs(_mm512_permutexvar_ps(codes, products), *signs));
    }
}

/// Turns the sign of each number whose bit is set.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn with_signs(numbers: __m512, signs: [u8; 2]) -> __m512 {
    _mm512_mask_xor_ps(numbers, u16::from_le_bytes(signs), numbers, _mm512_set1_ps(-0.0))
}
