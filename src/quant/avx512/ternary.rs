//! The kernels of two, three and four levels, in vectors of 16 numbers.
//!
//! The products of all levels are one register, and a code of two bits their index. What is above a code does no harm, as
//! they are there four times.

use super::bytes::{half_in_each, in_each_byte, in_order, lanes, of_256};
use crate::quant::unpack::split;
use crate::quant::written::table;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{_mm256_loadu_si256, _mm512_loadu_si512, _mm512_storeu_ps};

/// The first four base-3 digits of each byte, two bits each.
static DIGITS_0_TO_3: [u8; 256] = table!([0; 256], 0, digits_0_to_3);
/// The fifth base-3 digit of each byte.
static DIGIT_4: [u8; 256] = table!([0; 256], 0, digit_4);

const fn digits_0_to_3(byte: u8) -> u8 {
    let [two, four, six] = [byte.wrapping_mul(3), byte.wrapping_mul(9), byte.wrapping_mul(27)];
    digit(byte) | digit(two) << 2 | digit(four) << 4 | digit(six) << 6
}

const fn digit_4(byte: u8) -> u8 {
    digit(byte.wrapping_mul(81))
}

/// The first base-3 digit of a fraction of 256.
const fn digit(byte: u8) -> u8 {
    match byte {
        0..=85 => 0,
        86..=170 => 1,
        171.. => 2,
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn tq1_0(block: &[u8; 54], out: &mut [f32; 256]) {
    let [bytes @ .., d0, d1] = block;
    let ((first, _), (_, last)) = (split::<32, 20, 52>(bytes), split::<20, 32, 52>(bytes));
    // Bytes 0 to 31, then bytes 20 to 51.
    let bytes = _mm512_castsi256_si512(_mm256_loadu_si256(first));
    let bytes = _mm512_inserti64x4::<1>(bytes, _mm256_loadu_si256(last));
    // In lane i bytes i, 16 + i, 32 + i, and of bytes 48 to 51 each fourth lane has one.
    let from = _mm512_and_si512(in_each_byte(lanes()), _mm512_set1_epi32(0x03ff_ffff));
    let bytes = _mm512_permutexvar_epi8(_mm512_add_epi32(_mm512_set1_epi32(0x3c2c_1000), from), bytes);
    let (four, fifth) = (of_256(&DIGITS_0_TO_3, bytes), of_256(&DIGIT_4, bytes));
    let by_4 = _mm512_setr_epi32(24, 24, 24, 24, 26, 26, 26, 26, 28, 28, 28, 28, 30, 30, 30, 30);
    let codes = [
        four,
        _mm512_srli_epi32::<8>(four),
        _mm512_srli_epi32::<2>(four),
        _mm512_srli_epi32::<10>(four),
        _mm512_srli_epi32::<4>(four),
        _mm512_srli_epi32::<12>(four),
        _mm512_srli_epi32::<6>(four),
        _mm512_srli_epi32::<14>(four),
        fifth,
        _mm512_srli_epi32::<8>(fifth),
        _mm512_srli_epi32::<16>(four),
        _mm512_srli_epi32::<18>(four),
        _mm512_srli_epi32::<20>(four),
        _mm512_srli_epi32::<22>(four),
        _mm512_srli_epi32::<16>(fifth),
        _mm512_srlv_epi32(four, by_4),
    ];
    look_up(codes, levels(half_in_each([*d0, *d1])), out);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn tq2_0(block: &[u8; 66], out: &mut [f32; 256]) {
    let [codes @ .., d0, d1] = block;
    let codes = _mm512_permutexvar_epi8(in_order(), _mm512_loadu_si512(codes));
    let codes = [
        codes,
        _mm512_srli_epi32::<8>(codes),
        _mm512_srli_epi32::<2>(codes),
        _mm512_srli_epi32::<10>(codes),
        _mm512_srli_epi32::<4>(codes),
        _mm512_srli_epi32::<12>(codes),
        _mm512_srli_epi32::<6>(codes),
        _mm512_srli_epi32::<14>(codes),
        _mm512_srli_epi32::<16>(codes),
        _mm512_srli_epi32::<24>(codes),
        _mm512_srli_epi32::<18>(codes),
        _mm512_srli_epi32::<26>(codes),
        _mm512_srli_epi32::<20>(codes),
        _mm512_srli_epi32::<28>(codes),
        _mm512_srli_epi32::<22>(codes),
        _mm512_srli_epi32::<30>(codes),
    ];
    look_up(codes, levels(half_in_each([*d0, *d1])), out);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn q1_0(block: &[u8; 18], out: &mut [f32; 128]) {
    let [d0, d1, signs @ ..] = block;
    let plus = half_in_each([*d0, *d1]);
    let minus = _mm512_xor_ps(plus, _mm512_set1_ps(-0.0));
    for (out, signs) in out.as_chunks_mut().0.iter_mut().zip(signs.as_chunks().0) {
        _mm512_storeu_ps(out, _mm512_mask_blend_ps(u16::from_le_bytes(*signs), minus, plus));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn q2_0(block: &[u8; 18], out: &mut [f32; 64]) {
    let [d0, d1, codes @ ..] = block;
    let from = _mm512_slli_epi32::<1>(lanes());
    let [a, b, c, d4] = codes.as_chunks().0 else { return };
    let codes =
        [a, b, c, d4].map(|codes| _mm512_srlv_epi32(_mm512_set1_epi32(i32::from_le_bytes(*codes)), from));
    look_up(codes, levels(half_in_each([*d0, *d1])), out);
}

/// `d × (code − 1)` for all codes of two bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn levels(d: __m512) -> __m512 {
    _mm512_mul_ps(d, _mm512_set4_ps(2.0, 1.0, 0.0, -1.0))
}

/// The values that a table has for codes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn look_up<const N: usize>(codes: [__m512i; N], table: __m512, out: &mut [f32]) {
    for (out, codes) in out.as_chunks_mut().0.iter_mut().zip(codes) {
        _mm512_storeu_ps(out, _mm512_permutexvar_ps(codes, table));
    }
}
