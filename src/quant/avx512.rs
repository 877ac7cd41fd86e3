//! Steps of kernels in vectors of 16 numbers: a table of 16 products is one register, and a code its index.
//!
//! Only the four lowest bits of an index are looked at, so what a shift leaves above a code does no harm; of a table of
//! fewer products there are several in the register.
#![allow(dead_code, unused_imports, reason = "which of these are used depends on the families turned on")]

mod bytes;
#[cfg(feature = "iq")]
mod codebooks;
#[cfg(any(feature = "iq", feature = "fp4"))]
mod tables;
#[cfg(feature = "ternary")]
mod ternary;

use super::avx2::half;
use super::written::{AROUND_ZERO, FROM_ZERO, by_block, written_kernels};
use super::{Kernel, blocks, plain};
use crate::TensorType;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm256_loadu_si256, _mm512_loadu_ps, _mm512_storeu_ps};

written_kernels!("avx2,bmi1,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi");

#[inline]
#[target_feature(enable = "avx512f")]
fn f16(src: &[u8], out: &mut [f32]) {
    let (vectors, src) = src.as_chunks::<32>();
    let (values, out) = out.as_chunks_mut::<16>();
    for (halves, values) in vectors.iter().zip(values) {
        _mm512_storeu_ps(values, _mm512_cvtph_ps(_mm256_loadu_si256(halves)));
    }
    plain::f16(src.as_chunks().0, out);
}

#[inline]
#[target_feature(enable = "avx512f,f16c")]
fn q4_0([d0, d1, codes @ ..]: &[u8; 18], out: &mut [f32; 32]) {
    look_up(&AROUND_ZERO, codes, half([*d0, *d1]), out);
}

#[inline]
#[target_feature(enable = "avx512f,f16c")]
fn q4_1([d0, d1, m0, m1, codes @ ..]: &[u8; 20], out: &mut [f32; 32]) {
    let (d, m) = (half([*d0, *d1]), half([*m0, *m1]));
    let products = _mm512_mul_ps(_mm512_set1_ps(d), _mm512_loadu_ps(&FROM_ZERO));
    look_up_nibbles(_mm512_add_ps(products, _mm512_set1_ps(m)), codes, out);
}

/// `scale × value` for the values that a table has for the low nibbles of all bytes, then for the high ones.
#[inline]
#[target_feature(enable = "avx512f")]
fn look_up(table: &[f32; 16], codes: &[u8; 16], scale: f32, out: &mut [f32; 32]) {
    look_up_nibbles(_mm512_mul_ps(_mm512_set1_ps(scale), _mm512_loadu_ps(table)), codes, out);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn look_up_nibbles(table: __m512, codes: &[u8; 16], out: &mut [f32; 32]) {
    let codes = _mm512_cvtepu8_epi32(_mm_loadu_si128(codes));
    for (out, codes) in out.as_chunks_mut().0.iter_mut().zip([codes, _mm512_srli_epi32::<4>(codes)]) {
        _mm512_storeu_ps(out, _mm512_permutexvar_ps(codes, table));
    }
}
