//! The kernels of 4-bit codes for values of a table, in vectors of 16 numbers.

use super::bytes::{InMemory, half_in_each, in_each_byte, lanes};
use super::look_up_nibbles;
#[cfg(feature = "fp4")]
use crate::quant::fp4::E2M1_DOUBLED;
#[cfg(feature = "iq")]
use crate::quant::iq::NON_LINEAR;
use crate::quant::unpack::split;
#[cfg(feature = "fp4")]
use crate::quant::written::{HALVES_OF_E8M0, HALVES_OF_UE4M3};
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm256_loadu_si256, _mm512_loadu_ps, _mm512_storeu_ps};

#[cfg(feature = "iq")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn iq4_nl(block: &[u8; 18], out: &mut [f32; 32]) {
    let [d0, d1, codes @ ..] = block;
    look_up_nibbles(_mm512_mul_ps(half_in_each([*d0, *d1]), _mm512_loadu_ps(&NON_LINEAR)), codes, out);
}

#[cfg(feature = "iq")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn iq4_xs(block: &[u8; 136], out: &mut [f32; 256]) {
    let (head, codes) = split::<8, 128, 136>(block);
    let [d0, d1, h0, h1, low @ ..] = head;
    let low = _mm512_set1_epi32(i32::from_le_bytes(*low));
    let low = _mm512_srlv_epi32(low, _mm512_slli_epi32::<2>(lanes()));
    let high = _mm512_set1_epi32(i32::from(u16::from_le_bytes([*h0, *h1])) << 4);
    let high = _mm512_srlv_epi32(high, _mm512_slli_epi32::<1>(lanes()));
    let low = _mm512_and_si512(low, _mm512_set1_epi32(15));
    let scales = _mm512_or_si512(low, _mm512_and_si512(high, _mm512_set1_epi32(0x30)));
    let scales = _mm512_cvtepi32_ps(_mm512_sub_epi32(scales, _mm512_set1_epi32(32)));
    let factors = InMemory::new(_mm512_mul_ps(half_in_each([*d0, *d1]), scales));
    let parts = codes.as_chunks::<16>().0.iter().zip(factors.numbers());
    for (out, (codes, factor)) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        look_up_nibbles(_mm512_mul_ps(_mm512_set1_ps(*factor), _mm512_loadu_ps(&NON_LINEAR)), codes, out);
    }
}

/// The values are looked up, and not the products: with the least scales these are subnormal, which takes a hundred times as
/// long, while in a block of zeros, which has such a scale, no product is.
#[cfg(feature = "fp4")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn mxfp4([scale, codes @ ..]: &[u8; 17], out: &mut [f32; 32]) {
    let scale = HALVES_OF_E8M0.get(usize::from(*scale)).copied().unwrap_or_default();
    let table = _mm512_loadu_ps(&E2M1_DOUBLED);
    let codes = _mm512_cvtepu8_epi32(_mm_loadu_si128(codes));
    for (out, codes) in out.as_chunks_mut().0.iter_mut().zip([codes, _mm512_srli_epi32::<4>(codes)]) {
        let values = _mm512_permutexvar_ps(codes, table);
        _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_set1_ps(scale), values));
    }
}

#[cfg(feature = "fp4")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn nvfp4(block: &[u8; 36], out: &mut [f32; 64]) {
    let (scales, codes) = split::<4, 32, 36>(block);
    // In lane i byte i of each of four parts, and once more in lane 8 + i.
    let in_part = _mm512_and_si512(lanes(), _mm512_set1_epi32(7));
    let from = _mm512_add_epi32(_mm512_set1_epi32(0x1810_0800), in_each_byte(in_part));
    let codes = _mm512_permutexvar_epi8(from, _mm512_castsi256_si512(_mm256_loadu_si256(codes)));
    let nibble = _mm512_mask_set1_epi32(_mm512_setzero_si512(), 0xff00, 4);
    let table = _mm512_loadu_ps(&E2M1_DOUBLED);
    let from = [0, 8, 16, 24].map(|from| _mm512_add_epi32(nibble, _mm512_set1_epi32(from)));
    for (out, (scale, from)) in out.as_chunks_mut().0.iter_mut().zip(scales.iter().zip(from)) {
        let scale = HALVES_OF_UE4M3.get(usize::from(*scale)).copied().unwrap_or_default();
        let values = _mm512_permutexvar_ps(_mm512_srlv_epi32(codes, from), table);
        _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_set1_ps(scale), values));
    }
}
