//! The kernels of entries of codebooks, in vectors of 8 numbers.
//!
//! A table of eight products is one register, and a code its index. Only the three lowest bits of an index are looked at,
//! so what a shift leaves above a code does no harm; a table of four products is there twice. An entry is 32 bits, as such a
//! number is broadcast by the load itself.

use super::{half_in_each, nibbles_of_16, upper};
use crate::quant::grids;
use crate::quant::unpack::split;
use crate::quant::written::{
    EVENLY_BUT_62, IQ1_S, IQ2_S, IQ2_XS, IQ2_XXS, ODD, entry, four_entries, in_memory, wide,
};
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{
    _mm_loadu_si64, _mm_loadu_si128, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_storeu_ps,
    _mm256_storeu_si256,
};

/// The magnitudes of the `IQ2` types, twice.
static OF_TWO_BITS: [f32; 8] = [8.0, 25.0, 43.0, 60.0, 8.0, 25.0, 43.0, 60.0];
/// The codes of the `IQ1` types less 1, shifted up or down, twice.
static SHIFTED: [[f32; 8]; 2] = [
    [-0.875, 0.125, 1.125, 2.125, -0.875, 0.125, 1.125, 2.125],
    [-1.125, -0.125, 0.875, 1.875, -1.125, -0.125, 0.875, 1.875],
];
/// The codebooks of the `IQ3` types.
static IQ3_XXS: [u32; 256] = wide(&grids::IQ3XXS);
static IQ3_S: [u32; 512] = wide(&grids::IQ3S);

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn iq2_xxs(block: &[u8; 66], out: &mut [f32; 256]) {
    let [d0, d1, parts @ ..] = block;
    // The second words of all parts.
    let (first, last) = split::<32, 32, 64>(parts);
    let [first, last] = [first, last].map(|parts| _mm256_castsi256_ps(_mm256_loadu_si256(parts)));
    let words = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(first, last));
    let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(words);
    let signs = signs_of_words(words);
    let factors = half_factors(half_in_each([*d0, *d1]), [_mm256_srli_epi32::<28>(words)], 0.25);
    let own = in_memory(&signs).iter().zip(in_memory(&factors).as_flattened());
    let parts = parts.as_chunks::<8>().0.iter().zip(own);
    for (out, ([a, b, c, d, ..], (signs, factor))) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let entries = [*a, *b, *c, *d].map(|number| entry(&IQ2_XXS, u64::from(number)));
        eights(entries, *signs, &[*factor, *factor], out);
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn iq2_xs(block: &[u8; 74], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let (codes, scales) = split::<64, 8, 72>(rest);
    let (first, last) = split::<32, 32, 64>(codes);
    let [first, last] = [first, last].map(|codes| _mm256_srli_epi16::<9>(_mm256_loadu_si256(codes)));
    let sevens = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(first, last));
    let signs = as_words(all_eight_signs(sevens));
    let factors = half_factors(half_in_each([*d0, *d1]), nibbles_as_numbers(scales), 0.25);
    let own = in_memory(&signs).iter().zip(in_memory(&factors).as_flattened().as_chunks::<2>().0);
    let parts = codes.as_chunks::<8>().0.iter().zip(own);
    for (out, (codes, (signs, factors))) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        eights(four_entries(&IQ2_XS, u64::from_le_bytes(*codes)), *signs, factors, out);
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn iq2_s(block: &[u8; 82], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let (low, rest) = split::<32, 48, 80>(rest);
    let (signs, rest) = split::<32, 16, 48>(rest);
    let (high, scales) = split::<8, 8, 16>(rest);
    let high = _mm_loadu_si64(high);
    let high = [_mm256_cvtepu8_epi64(high), _mm256_cvtepu8_epi64(_mm_srli_si128::<4>(high))];
    // Two bits each, the first ones eight bits up.
    let high = high.map(|high| {
        let bytes = in_each_word(high);
        _mm256_mullo_epi16(bytes, _mm256_set1_epi64x(0x0004_0010_0040_0100))
    });
    let numbers = entry_numbers(low, high, 0x0300);
    let factors = half_factors(half_in_each([*d0, *d1]), nibbles_as_numbers(scales), 0.25);
    let own = in_memory(&numbers).iter().zip(in_memory(&factors).as_flattened().as_chunks::<2>().0);
    let parts = signs.as_chunks::<4>().0.iter().zip(own);
    for (out, (signs, (numbers, factors))) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        eights(four_entries(&IQ2_S, *numbers), u32::from_le_bytes(*signs), factors, out);
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn iq3_xxs(block: &[u8; 98], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let (numbers, words) = split::<64, 32, 96>(rest);
    let words = _mm256_loadu_si256(words);
    let signs = signs_of_words(words);
    let factors = half_factors(half_in_each([*d0, *d1]), [_mm256_srli_epi32::<28>(words)], 0.5);
    let own = in_memory(&signs).iter().zip(in_memory(&factors).as_flattened());
    let parts = numbers.as_chunks::<8>().0.iter().zip(own);
    for (out, (numbers, (signs, factor))) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let entry = |number: u8| entry(&IQ3_XXS, u64::from(number));
        fours(numbers.as_chunks().0, entry, *signs, *factor, &EVENLY_BUT_62, out);
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn iq3_s(block: &[u8; 110], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let (low, rest) = split::<64, 44, 108>(rest);
    let (ninths, rest) = split::<8, 36, 44>(rest);
    let (signs, scales) = split::<32, 4, 36>(rest);
    let numbers = ninth_bits(low, ninths);
    let scales = _mm256_set1_epi32(i32::from_le_bytes(*scales));
    let scales = _mm256_srlv_epi32(scales, _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
    let scales = _mm256_slli_epi32::<1>(_mm256_and_si256(scales, _mm256_set1_epi32(15)));
    let factors = [odd_factors(half_in_each([*d0, *d1]), scales)];
    let own = in_memory(&numbers).as_chunks::<2>().0.iter().zip(in_memory(&factors).as_flattened());
    let parts = signs.as_chunks::<4>().0.iter().zip(own);
    for (out, (signs, ([first, last], factor))) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let numbers = [
            [*first, first >> 16],
            [first >> 32, first >> 48],
            [*last, last >> 16],
            [last >> 32, last >> 48],
        ];
        let entry = |number: u64| entry(&IQ3_S, number);
        fours(&numbers, entry, u32::from_le_bytes(*signs), *factor, &ODD, out);
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn iq1_s(block: &[u8; 50], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let (low, words) = split::<32, 16, 48>(rest);
    let by_part = _mm_loadu_si128(words);
    // Three bits each, the first ones eight bits up.
    let high = [by_part, _mm_unpackhi_epi64(by_part, by_part)].map(|words| {
        let words = in_each_word(_mm256_cvtepu16_epi64(words));
        let left = _mm256_mullo_epi16(words, _mm256_set1_epi64x(0x0000_0004_0020_0100));
        let right = _mm256_srli_epi16::<1>(words);
        _mm256_blend_epi16::<0b1000_1000>(left, right)
    });
    let numbers = entry_numbers(low, high, 0x0700);
    let scales = _mm256_srli_epi32::<11>(_mm256_cvtepu16_epi32(by_part));
    let factors = [odd_factors(half_in_each([*d0, *d1]), _mm256_and_si256(scales, _mm256_set1_epi32(14)))];
    let own = in_memory(&numbers).iter().zip(in_memory(&factors).as_flattened());
    let parts = words.as_chunks::<2>().0.iter().zip(own);
    for (out, ([_, top], (numbers, factor))) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let [up, down] = &SHIFTED;
        let shifted = if top & 128 == 0 { up } else { down };
        let products = _mm256_mul_ps(_mm256_set1_ps(*factor), _mm256_loadu_ps(shifted));
        let entries = four_entries(&IQ1_S, *numbers);
        for (out, entry) in out.as_chunks_mut().0.iter_mut().zip(entries) {
            _mm256_storeu_ps(out, _mm256_permutevar8x32_ps(products, two_bit_codes(entry)));
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn iq1_m(block: &[u8; 56], out: &mut [f32; 256]) {
    let (low, rest) = split::<32, 24, 56>(block);
    let (high, scales) = split::<16, 8, 24>(rest);
    let [_, a, _, b, _, c, _, e] = scales;
    let d = half_in_each([a >> 4 | b & 0xf0, c >> 4 | e & 0xf0]);
    let nibbles = _mm_loadu_si128(high);
    // Three bits each, the first ones eight bits up.
    let nibbles = [nibbles, _mm_unpackhi_epi64(nibbles, nibbles)].map(|nibbles| {
        let words = in_each_word(_mm256_cvtepu16_epi64(nibbles));
        let left = _mm256_mullo_epi16(words, _mm256_set1_epi64x(0x0000_0001_0010_0100));
        let right = _mm256_srli_epi16::<4>(words);
        _mm256_blend_epi16::<0b1000_1000>(left, right)
    });
    let numbers = entry_numbers(low, nibbles, 0x0700);
    let words = _mm256_castsi128_si256(_mm_cvtepu16_epi32(_mm_loadu_si64(scales)));
    let factors =
        [_mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1), _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3)].map(|own| {
            let words = _mm256_permutevar8x32_epi32(words, own);
            let scales = _mm256_srlv_epi32(words, _mm256_setr_epi32(0, 3, 6, 9, 0, 3, 6, 9));
            odd_factors(d, _mm256_and_si256(_mm256_slli_epi32::<1>(scales), _mm256_set1_epi32(14)))
        });
    let own = in_memory(&numbers).iter().zip(in_memory(&factors).as_flattened().as_chunks::<2>().0);
    let parts = high.as_chunks::<2>().0.iter().zip(own);
    for (out, (high, (numbers, [first, last]))) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let [low, high] = *high;
        let minus = [low >> 3, low >> 7, high >> 3, high >> 7].map(|bit| usize::from(bit & 1));
        let entries = four_entries(&IQ1_S, *numbers).into_iter().zip(minus).zip([first, first, last, last]);
        for (out, ((entry, minus), factor)) in out.as_chunks_mut().0.iter_mut().zip(entries) {
            let shifted = _mm256_loadu_ps(SHIFTED.get(minus).unwrap_or(&[0.0; 8]));
            let values = _mm256_permutevar8x32_ps(shifted, two_bit_codes(entry));
            _mm256_storeu_ps(out, _mm256_mul_ps(_mm256_set1_ps(*factor), values));
        }
    }
}

/// `factor × ±magnitude` for 32 elements, a factor for 16 of them, from entries of eight 2-bit codes.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn eights(entries: [u32; 4], signs: u32, factors: &[f32; 2], out: &mut [f32; 32]) {
    let magnitudes = _mm256_loadu_ps(&OF_TWO_BITS);
    let [a, b, c, d] = signs_of(signs);
    let entries = entries.as_chunks::<2>().0.iter().zip([[a, b], [c, d]]);
    let halves = out.as_chunks_mut::<16>().0.iter_mut().zip(factors).zip(entries);
    for ((out, factor), (entries, signs)) in halves {
        let products = _mm256_mul_ps(_mm256_set1_ps(*factor), magnitudes);
        for (out, (entry, signs)) in out.as_chunks_mut().0.iter_mut().zip(entries.iter().zip(signs)) {
            let values = _mm256_permutevar8x32_ps(products, two_bit_codes(*entry));
            _mm256_storeu_ps(out, _mm256_xor_ps(values, signs));
        }
    }
}

/// `factor × ±magnitude` for 32 elements, from entries of four 3-bit codes.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn fours<T: Copy>(
    numbers: &[[T; 2]],
    entry: impl Fn(T) -> u32,
    signs: u32,
    factor: f32,
    magnitudes: &[f32; 16],
    out: &mut [f32; 32],
) {
    // Those with the other sign are not of use here.
    let magnitudes = _mm256_loadu_ps(magnitudes.first_chunk().unwrap_or(&[0.0; 8]));
    let products = _mm256_mul_ps(_mm256_set1_ps(factor), magnitudes);
    let shifts = _mm256_setr_epi32(0, 3, 6, 9, 0, 3, 6, 9);
    let entries = numbers.iter().zip(signs_of(signs));
    for (out, ([first, last], signs)) in out.as_chunks_mut().0.iter_mut().zip(entries) {
        let [first, last] = [first, last].map(|number| _mm256_set1_epi32(entry(*number).cast_signed()));
        let codes = _mm256_srlv_epi32(_mm256_blend_epi32::<0b1111_0000>(first, last), shifts);
        _mm256_storeu_ps(out, _mm256_xor_ps(_mm256_permutevar8x32_ps(products, codes), signs));
    }
}

/// The eight codes of an entry, at the bottom of each number.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn two_bit_codes(entry: u32) -> __m256i {
    let shifts = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
    _mm256_srlv_epi32(_mm256_set1_epi32(entry.cast_signed()), shifts)
}

/// The sign bits of four times eight numbers.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn signs_of(signs: u32) -> [__m256; 4] {
    let signs = _mm256_set1_epi32(signs.cast_signed());
    let to_the_top = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
    [0, 8, 16, 24].map(|from| {
        let signs = _mm256_sllv_epi32(signs, _mm256_sub_epi32(to_the_top, _mm256_set1_epi32(from)));
        _mm256_and_ps(_mm256_castsi256_ps(signs), _mm256_set1_ps(-0.0))
    })
}

/// The lowest 16 bits of each qword in all of its words.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn in_each_word(qwords: __m256i) -> __m256i {
    let from = _mm_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 8, 9, 8, 9, 8, 9, 8, 9);
    _mm256_shuffle_epi8(qwords, _mm256_broadcastsi128_si256(from))
}

/// The numbers of entries, from their low bytes and from words that have the bits above them.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn entry_numbers(low: &[u8; 32], high: [__m256i; 2], mask: i16) -> [u64; 8] {
    let mut numbers = [0; 8];
    let words = low.as_chunks().0.iter().zip(high);
    for (numbers, (low, high)) in numbers.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        let high = _mm256_and_si256(high, _mm256_set1_epi16(mask));
        let low = _mm256_cvtepu8_epi16(_mm_loadu_si128(low));
        _mm256_storeu_si256(numbers, _mm256_or_si256(low, high));
    }
    numbers
}

/// The numbers of entries, from their low bytes and a bit for each.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn ninth_bits(low: &[u8; 64], ninths: &[u8; 8]) -> [u64; 16] {
    let own =
        _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, i16::MIN);
    let mut numbers = [0; 16];
    let words = low.as_chunks().0.iter().zip(ninths.as_chunks().0);
    for (numbers, (low, ninths)) in numbers.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        let ninths = _mm256_and_si256(_mm256_set1_epi16(i16::from_le_bytes(*ninths)), own);
        let ninths = _mm256_and_si256(_mm256_cmpeq_epi16(ninths, own), _mm256_set1_epi16(256));
        let low = _mm256_cvtepu8_epi16(_mm_loadu_si128(low));
        _mm256_storeu_si256(numbers, _mm256_or_si256(low, ninths));
    }
    numbers
}

/// The eight signs of four bytes each, from words with 4 × 7 signs at the bottom.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn signs_of_words(words: __m256i) -> [u32; 8] {
    let part = |words, mask| _mm256_and_si256(words, _mm256_set1_epi32(mask));
    let low = _mm256_or_si256(part(words, 0x7f), part(_mm256_slli_epi32::<1>(words), 0x7f00));
    let high = part(_mm256_slli_epi32::<2>(words), 0x7f_0000);
    let high = _mm256_or_si256(high, part(_mm256_slli_epi32::<3>(words), 0x7f00_0000));
    as_words(all_eight_signs(_mm256_or_si256(low, high)))
}

/// Sets bit 7 of each byte if an odd number of its other bits is set.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn all_eight_signs(sevens: __m256i) -> __m256i {
    // In bit 0 of each byte; what the shifts bring in from the next byte stays above it.
    let odd = _mm256_xor_si256(sevens, _mm256_srli_epi32::<4>(sevens));
    let odd = _mm256_xor_si256(odd, _mm256_srli_epi32::<2>(odd));
    let odd = _mm256_xor_si256(odd, _mm256_srli_epi32::<1>(odd));
    let eighth = _mm256_and_si256(_mm256_slli_epi32::<7>(odd), _mm256_set1_epi8(i8::MIN));
    _mm256_or_si256(sevens, eighth)
}

/// 16 nibbles, each as a number.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn nibbles_as_numbers(bytes: &[u8; 8]) -> [__m256i; 2] {
    let [low, high] = nibbles_of_16(_mm_loadu_si64(bytes));
    let nibbles = _mm_unpacklo_epi8(low, high);
    [_mm256_cvtepu8_epi32(nibbles), _mm256_cvtepu8_epi32(upper(nibbles))]
}

/// `d × (0.5 + scale) × last`.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn half_factors<const N: usize>(d: __m256, scales: [__m256i; N], last: f32) -> [[f32; 8]; N] {
    scales.map(|scales| {
        let scales = _mm256_add_ps(_mm256_set1_ps(0.5), _mm256_cvtepi32_ps(scales));
        as_array(_mm256_mul_ps(_mm256_mul_ps(d, scales), _mm256_set1_ps(last)))
    })
}

/// `d × (1 + scale)`, the scales being even.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn odd_factors(d: __m256, scales: __m256i) -> [f32; 8] {
    let odd = _mm256_or_si256(scales, _mm256_set1_epi32(1));
    as_array(_mm256_mul_ps(d, _mm256_cvtepi32_ps(odd)))
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn as_array(numbers: __m256) -> [f32; 8] {
    let mut array = [0.0; 8];
    _mm256_storeu_ps(&mut array, numbers);
    array
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn as_words(bytes: __m256i) -> [u32; 8] {
    let mut words = [0; 8];
    _mm256_storeu_si256(&mut words, bytes);
    words
}
