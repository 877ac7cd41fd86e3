//! Kernels in vectors of 16 numbers for blocks of 256 elements.
//!
//! Where a part of a block has few codes, its products are a table, alone or with those of other parts; the index is a code,
//! with the number of the part beside it. Only the lowest bits of an index are looked at. Codes are put together as bytes,
//! 64 at once.
//!
//! Factors are exact: products of the 11 bits of an f16 number and of 8 bits at most.

use super::bytes::{InMemory, SELECT, half_in_each, in_each_byte, lanes, select};
use super::legacy::multiples_plus;
use crate::quant::k::q3_k_scales;
use crate::quant::unpack::split;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{
    _mm_loadl_epi64, _mm_loadu_si128, _mm256_loadu_si256, _mm512_loadu_si512, _mm512_storeu_ps,
};

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn q2_k([rest @ .., d0, d1, m0, m1]: &[u8; 84], out: &mut [f32; 256]) {
    let (scales, codes) = split::<16, 64, 80>(rest);
    let scales = _mm512_cvtepu8_epi32(_mm_loadu_si128(scales));
    let minimums = _mm512_cvtepi32_ps(_mm512_srli_epi32::<4>(scales));
    let scales = _mm512_cvtepi32_ps(_mm512_and_si512(scales, _mm512_set1_epi32(15)));
    let factors = _mm512_mul_ps(half_in_each([*d0, *d1]), scales);
    let minus = _mm512_xor_ps(half_in_each([*m0, *m1]), _mm512_set1_ps(-0.0));
    let addends = _mm512_mul_ps(minus, minimums);
    let table = |parts: __m512i, codes: __m512| {
        let [factors, addends] = [factors, addends].map(|all| _mm512_permutexvar_ps(parts, all));
        _mm512_add_ps(_mm512_mul_ps(factors, codes), addends)
    };
    // Each table is for the first 16 or the last of 32 bytes, and for bits 0, 1, 4 and 5 or for the others. An index consists
    // of the code, where it lies, and of the place of its part.
    let low_codes =
        _mm512_setr_ps(0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0);
    let high_codes =
        _mm512_setr_ps(0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0);
    let low_parts = _mm512_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
    let high_parts = _mm512_setr_epi32(2, 6, 10, 14, 2, 6, 10, 14, 2, 6, 10, 14, 2, 6, 10, 14);
    let [first, second] = [0, 1].map(|half| {
        let half = _mm512_set1_epi32(half);
        let low = table(_mm512_add_epi32(low_parts, half), low_codes);
        [low, table(_mm512_add_epi32(high_parts, half), high_codes)]
    });
    let [low_bits, high_bits] = [3, 12].map(|bits| _mm512_set1_epi32(bits));
    let groups = out.as_chunks_mut::<128>().0.iter_mut().zip(codes.as_chunks::<32>().0).zip([[0, 1], [2, 3]]);
    for ((out, codes), places) in groups {
        let ([codes, later], _) = codes.as_chunks() else { continue };
        let [codes, later] = [codes, later].map(|codes| _mm512_cvtepu8_epi32(_mm_loadu_si128(codes)));
        let shifted = [codes, later].map(|codes| _mm512_srli_epi32::<4>(codes));
        let outs = out.as_chunks_mut::<64>().0.iter_mut().zip([[codes, later], shifted]).zip(places);
        for ((out, codes), place) in outs {
            let (above, below) = (_mm512_set1_epi32(place << 2), _mm512_set1_epi32(place));
            let ([[first_low, first_high], [last_low, last_high]], [codes, later]) = ([first, second], codes);
            let values = [
                _mm512_permutexvar_ps(select(low_bits, codes, above), first_low),
                _mm512_permutexvar_ps(select(low_bits, later, above), last_low),
                _mm512_permutexvar_ps(select(high_bits, codes, below), first_high),
                _mm512_permutexvar_ps(select(high_bits, later, below), last_high),
            ];
            let outs = out.as_chunks_mut().0.iter_mut().zip(values);
            outs.for_each(|(out, values)| _mm512_storeu_ps(out, values));
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn q3_k([rest @ .., d0, d1]: &[u8; 110], out: &mut [f32; 256]) {
    let (high, rest) = split::<32, 76, 108>(rest);
    let (low, scales) = split::<64, 12, 76>(rest);
    let scales = q3_k_scales(scales).map(i8::cast_unsigned);
    let scales = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(&scales)));
    let factors = _mm512_mul_ps(half_in_each([*d0, *d1]), scales);
    let codes_around_zero = _mm512_setr_ps(
        -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0,
    );
    let parts = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    let mut parts = [parts, _mm512_add_epi32(parts, _mm512_set1_epi32(2))];
    // Of 64 codes, which are four parts, the first 32 have the lower ones of four low bits, and of two third bits.
    let mut high = _mm512_rorv_epi64(twice(high), _mm512_setr_epi64(62, 62, 62, 62, 63, 63, 63, 63));
    let shifts = _mm512_setr_epi64(0, 0, 0, 0, 2, 2, 2, 2);
    let place = _mm512_setr_epi64(
        0,
        0,
        0x0808_0808_0808_0808,
        0x0808_0808_0808_0808,
        0x1010_1010_1010_1010,
        0x1010_1010_1010_1010,
        0x1818_1818_1818_1818,
        0x1818_1818_1818_1818,
    );
    let low = low.as_chunks().0.iter().flat_map(|low| {
        let low = _mm512_srlv_epi64(twice(low), shifts);
        [low, _mm512_srli_epi64::<4>(low)]
    });
    for (out, low) in out.as_chunks_mut::<64>().0.iter_mut().zip(low) {
        let [first, second] =
            parts.map(|parts| _mm512_mul_ps(_mm512_permutexvar_ps(parts, factors), codes_around_zero));
        let third = select(_mm512_set1_epi32(0x0404_0404), high, place);
        let codes = sixteens(select(_mm512_set1_epi32(0x0303_0303), low, third));
        for (out, codes) in out.as_chunks_mut().0.iter_mut().zip(codes) {
            _mm512_storeu_ps(out, _mm512_permutex2var_ps(first, codes, second));
        }
        high = _mm512_ror_epi64::<2>(high);
        parts = parts.map(|parts| _mm512_add_epi32(parts, _mm512_set1_epi32(4)));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn q4_k(block: &[u8; 144], out: &mut [f32; 256]) {
    let (head, codes) = split::<16, 128, 144>(block);
    let parts = InMemory::new(factors(head));
    let (factors, addends) = parts.numbers().split_at(8);
    let parts = factors.as_chunks().0.iter().zip(addends.as_chunks().0);
    let groups = out.as_chunks_mut::<64>().0.iter_mut().zip(codes.as_chunks::<32>().0);
    for ((out, codes), (factors, addends)) in groups.zip(parts) {
        let [low, high] = tables(factors, addends).map(|[low, _]| low);
        let ([first, second], _) = codes.as_chunks() else { continue };
        let [first, second] = [first, second].map(|bytes| _mm512_cvtepu8_epi32(_mm_loadu_si128(bytes)));
        let [later, last] = [first, second].map(|codes| _mm512_srli_epi32::<4>(codes));
        // One after the other: lines of the cache come faster in their order.
        let vectors = [(low, first), (low, second), (high, later), (high, last)];
        for (out, (table, codes)) in out.as_chunks_mut().0.iter_mut().zip(vectors) {
            _mm512_storeu_ps(out, _mm512_permutexvar_ps(codes, table));
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn q5_k(block: &[u8; 176], out: &mut [f32; 256]) {
    let (head, rest) = split::<16, 160, 176>(block);
    let (fifth, low) = split::<32, 128, 160>(rest);
    let parts = InMemory::new(factors(head));
    let (factors, addends) = parts.numbers().split_at(8);
    let parts = factors.as_chunks().0.iter().zip(addends.as_chunks().0);
    // The first 32 codes of a group are low nibbles, and have the lower one of two fifth bits.
    let shifts = _mm512_setr_epi64(0, 0, 0, 0, 4, 4, 4, 4);
    let mut fifth = _mm512_rorv_epi64(twice(fifth), _mm512_setr_epi64(60, 60, 60, 60, 61, 61, 61, 61));
    let groups = out.as_chunks_mut::<64>().0.iter_mut().zip(low.as_chunks::<32>().0);
    for ((out, low), (factors, addends)) in groups.zip(parts) {
        let [first, second] = tables(factors, addends);
        let low = _mm512_srlv_epi64(twice(low), shifts);
        let codes = sixteens(select(_mm512_set1_epi32(0x0f0f_0f0f), low, fifth));
        let vectors = codes.into_iter().zip([first, first, second, second]);
        for (out, (codes, [first, second])) in out.as_chunks_mut().0.iter_mut().zip(vectors) {
            _mm512_storeu_ps(out, _mm512_permutex2var_ps(first, codes, second));
        }
        fifth = _mm512_ror_epi64::<2>(fifth);
    }
}

/// What codes of five bits stand for in two parts.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn tables([factor, next_factor]: &[f32; 2], [addend, next_addend]: &[f32; 2]) -> [[__m512; 2]; 2] {
    [(factor, addend), (next_factor, next_addend)]
        .map(|(factor, addend)| multiples_plus(_mm512_set1_ps(*factor), _mm512_set1_ps(*addend)))
}

/// `d × scale` of the 8 parts of `Q4_K` and `Q5_K`, then `−dmin × minimum` of each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn factors(head: &[u8; 16]) -> __m512 {
    let bytes = _mm_loadu_si128(head);
    // Of scales 0 to 3, of 4 to 7, of minimums 0 to 3, of 4 to 7: what has the low bits, and what has the two top ones.
    let low = _mm_shuffle_epi32::<0b11_10_11_01>(bytes);
    let top = _mm_shuffle_epi32::<0b10_10_01_01>(bytes);
    let low = _mm_srlv_epi32(low, _mm_setr_epi32(0, 0, 0, 4));
    let top = _mm_and_si128(_mm_srli_epi32::<2>(top), _mm_setr_epi32(0, 0x3030_3030, 0, 0x3030_3030));
    let masks = _mm_setr_epi32(0x3f3f_3f3f, 0x0f0f_0f0f, 0x3f3f_3f3f, 0x0f0f_0f0f);
    let integers = _mm512_cvtepu8_epi32(_mm_ternarylogic_epi32::<SELECT>(masks, low, top));

    let halves = _mm512_castps128_ps512(_mm_cvtph_ps(_mm_loadl_epi64(head)));
    let places = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    let halves = _mm512_castps_si512(_mm512_permutexvar_ps(places, halves));
    let minus = _mm512_maskz_set1_epi32(0xff00, i32::MIN);
    let halves = _mm512_castsi512_ps(_mm512_xor_si512(halves, minus));
    _mm512_mul_ps(halves, _mm512_cvtepi32_ps(integers))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn q6_k([rest @ .., d0, d1]: &[u8; 210], out: &mut [f32; 256]) {
    let (low, rest) = split::<128, 80, 208>(rest);
    let (high, scales) = split::<64, 16, 80>(rest);
    // Codes are made four times as large; below the least factor, 2^-24, an f32 has room.
    let d = _mm512_mul_ps(half_in_each([*d0, *d1]), _mm512_set1_ps(0.25));
    let scales = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(scales)));
    let factors = InMemory::new(_mm512_mul_ps(d, scales));
    let bits = low.as_chunks::<64>().0.iter().zip(high.as_chunks::<32>().0);
    let outs = out.as_chunks_mut::<128>().0.iter_mut().zip(factors.numbers().as_chunks::<8>().0);
    for ((low, high), (out, factors)) in bits.zip(outs) {
        let (low, high) = (_mm512_loadu_si512(low), twice(high));
        // Two bits become the uppermost; of four times 32 bytes, they are bits 0 and 1, 2 and 3, 4 and 5, 6 and 7.
        let first = _mm512_sllv_epi64(high, _mm512_setr_epi64(6, 6, 6, 6, 4, 4, 4, 4));
        let second = _mm512_sllv_epi64(high, _mm512_setr_epi64(2, 2, 2, 2, 0, 0, 0, 0));
        let codes = [(_mm512_slli_epi64::<2>(low), first), (_mm512_srli_epi64::<2>(low), second)];
        let outs = out.as_chunks_mut::<64>().0.iter_mut().zip(factors.as_chunks::<4>().0);
        for ((low, high), (out, factors)) in codes.into_iter().zip(outs) {
            let codes = four_times_signed(select(_mm512_set1_epi32(0x3c3c_3c3c), low, high));
            for ((out, codes), factor) in out.as_chunks_mut().0.iter_mut().zip(codes).zip(factors) {
                let codes = _mm512_cvtepi32_ps(codes);
                _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_set1_ps(*factor), codes));
            }
        }
    }
}

/// `4 × (code − 32)` for codes in the six uppermost bits of each byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn four_times_signed(bytes: __m512i) -> [__m512i; 4] {
    // The bits below a code are cleared, and its highest one is turned: that subtracts half of what it counts to.
    let (code, highest) = (_mm512_set1_epi8(-4), _mm512_set1_epi8(-128));
    let bytes = _mm512_ternarylogic_epi32::<0x6c>(bytes, highest, code);
    sixteens(bytes).map(|bytes| _mm512_srai_epi32::<24>(bytes))
}

/// Each byte four times, which makes the number of 32 bits that has it lowest, and uppermost.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn sixteens(bytes: __m512i) -> [__m512i; 4] {
    let places = in_each_byte(lanes());
    [0, 16, 32, 48]
        .map(|from| _mm512_permutexvar_epi8(_mm512_add_epi8(places, _mm512_set1_epi8(from)), bytes))
}

/// 32 bytes, twice.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn twice(bytes: &[u8; 32]) -> __m512i {
    _mm512_broadcast_i64x4(_mm256_loadu_si256(bytes))
}
