//! Steps of kernels in vectors of 16 numbers: a table of 16 products is one register, and a code its index.
//!
//! Only the four lowest bits of an index are looked at, so what a shift leaves above a code does no harm; of a table of
//! fewer products there are several in the register.

mod bytes;
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
use self::k::{q2_k, q3_k, q4_k, q5_k, q6_k};
#[cfg(feature = "legacy")]
use self::legacy::{q4_0, q4_1, q5_0, q5_1, q8_0};
#[cfg(feature = "k")]
use super::k::q8_k;
use super::lines::{STEP, in_lines};
use super::written::{by_block, plain_kernel, written_kernels};
use super::{Kernel, blocks, of_dtype, plain};
use crate::TensorType;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm256_loadu_si256, _mm512_storeu_ps};

written_kernels!(avx512 "avx2,bmi1,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi");

/// The values of binary16 numbers, as many as make whole vectors.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn f16(src: &[u8], out: &mut [f32]) {
    for (halves, values) in src.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        _mm512_storeu_ps(values, _mm512_cvtph_ps(_mm256_loadu_si256(halves)));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn bf16(src: &[u8; 128], out: &mut [f32; STEP]) {
    _ = plain::bf16(src.as_chunks().0, out);
}

/// The values that a table has for the low nibbles of all bytes, then for the high ones.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn look_up_nibbles(table: __m512, codes: &[u8; 16], out: &mut [f32; 32]) {
    let codes = _mm512_cvtepu8_epi32(_mm_loadu_si128(codes));
    for (out, codes) in out.as_chunks_mut().0.iter_mut().zip([codes, _mm512_srli_epi32::<4>(codes)]) {
        _mm512_storeu_ps(out, _mm512_permutexvar_ps(codes, table));
    }
}
