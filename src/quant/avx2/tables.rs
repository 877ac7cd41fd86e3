//! The kernels of 4-bit codes for values of a table, in vectors of 8 numbers.

#[cfg(feature = "iq")]
use super::half_in_each;
use super::{as_bytes, look_up, look_up_by, nibbles_of_16, scaled};
#[cfg(feature = "fp4")]
use crate::quant::fp4::E2M1_DOUBLED;
#[cfg(feature = "iq")]
use crate::quant::iq::NON_LINEAR;
use crate::quant::unpack::split;
#[cfg(feature = "iq")]
use crate::quant::written::in_memory;
#[cfg(feature = "fp4")]
use crate::quant::written::{HALVES_OF_E8M0, HALVES_OF_UE4M3};
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{_mm_loadu_si64, _mm256_storeu_ps};

#[cfg(feature = "iq")]
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn iq4_nl(block: &[u8; 18], out: &mut [f32; 32]) {
    let [d0, d1, codes @ ..] = block;
    look_up_by(&NON_LINEAR, codes, half_in_each([*d0, *d1]), out);
}

#[cfg(feature = "iq")]
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn iq4_xs(block: &[u8; 136], out: &mut [f32; 256]) {
    let (head, codes) = split::<8, 128, 136>(block);
    let [d0, d1, h0, h1, low @ ..] = head;
    let by_4 = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    let low = _mm256_srlv_epi32(_mm256_set1_epi32(i32::from_le_bytes(*low)), by_4);
    let high = _mm256_set1_epi32(i32::from(u16::from_le_bytes([*h0, *h1])) << 4);
    let high = _mm256_srlv_epi32(high, _mm256_srli_epi32::<1>(by_4));
    let low = _mm256_and_si256(low, _mm256_set1_epi32(15));
    let scales = _mm256_or_si256(low, _mm256_and_si256(high, _mm256_set1_epi32(0x30)));
    let scales = _mm256_cvtepi32_ps(_mm256_sub_epi32(scales, _mm256_set1_epi32(32)));
    let mut factors = [0.0; 8];
    _mm256_storeu_ps(&mut factors, _mm256_mul_ps(half_in_each([*d0, *d1]), scales));
    let parts = codes.as_chunks::<16>().0.iter().zip(in_memory(&factors));
    for (out, (codes, factor)) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        look_up(&NON_LINEAR, codes, *factor, out);
    }
}

#[cfg(feature = "fp4")]
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn mxfp4([scale, codes @ ..]: &[u8; 17], out: &mut [f32; 32]) {
    let scale = HALVES_OF_E8M0.get(usize::from(*scale)).copied().unwrap_or_default();
    look_up(&E2M1_DOUBLED, codes, scale, out);
}

#[cfg(feature = "fp4")]
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn nvfp4(block: &[u8; 36], out: &mut [f32; 64]) {
    let (scales, codes) = split::<4, 32, 36>(block);
    let parts = codes.as_chunks::<8>().0.iter().zip(scales);
    for (out, (codes, scale)) in out.as_chunks_mut::<16>().0.iter_mut().zip(parts) {
        let scale = HALVES_OF_UE4M3.get(usize::from(*scale)).copied().unwrap_or_default();
        let table = as_bytes(&E2M1_DOUBLED);
        let values = nibbles_of_16(_mm_loadu_si64(codes)).map(|codes| _mm_shuffle_epi8(table, codes));
        for (out, values) in out.as_chunks_mut().0.iter_mut().zip(values) {
            _mm256_storeu_ps(out, scaled(values, _mm256_set1_ps(scale)));
        }
    }
}
