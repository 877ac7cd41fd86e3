//! The kernels of entries of codebooks, in vectors of 16 numbers.
//!
//! Of the `IQ3` types the codes of 64 elements lie in one register so that lane `i` has, a byte each, those of elements `i`,
//! `16 + i`, `32 + i` and `48 + i`. Each of four vectors is then one shift and one look-up away. A sign is the bit above the
//! code, and the table has each magnitude with either sign.
//!
//! Of the `IQ2` and `IQ1` types a vector is two entries of eight codes, each entry in all lanes of a half and shifted right by
//! the place of its code there. A table has all values of a code four times, but for `IQ1_M` twice for either entry, as these may be
//! shifted apart. Signs of the `IQ2` types are a mask.
//!
//! Only the four lowest bits of an index are looked at, so what a shift leaves above a code does no harm.

use super::bytes::{InMemory, bits, half_in_each, in_each_byte, in_order, lanes, of_256, select};
use crate::quant::grids;
use crate::quant::unpack::split;
use crate::quant::written::{
    EVENLY_BUT_62, IQ1_S, IQ2_S, IQ2_XS, IQ2_XXS, ODD, entry, four_entries, in_memory, table,
};
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{
    _mm_loadu_si64, _mm_loadu_si128, _mm_storeu_si128, _mm256_loadu_si256, _mm256_storeu_si256,
    _mm512_loadu_ps, _mm512_loadu_si512, _mm512_storeu_ps, _mm512_storeu_si512,
};

/// Codes of the `IQ1` types, less 1 and shifted up or down: of two entries none down, the first, the last, both. Each has them
/// twice, as the uppermost bit of an index of eight does not matter.
#[rustfmt::skip]
static SHIFTED: [[f32; 16]; 4] = [
    [-0.875, 0.125, 1.125, 2.125, -0.875, 0.125, 1.125, 2.125, -0.875, 0.125, 1.125, 2.125, -0.875, 0.125, 1.125, 2.125],
    [-1.125, -0.125, 0.875, 1.875, -1.125, -0.125, 0.875, 1.875, -0.875, 0.125, 1.125, 2.125, -0.875, 0.125, 1.125, 2.125],
    [-0.875, 0.125, 1.125, 2.125, -0.875, 0.125, 1.125, 2.125, -1.125, -0.125, 0.875, 1.875, -1.125, -0.125, 0.875, 1.875],
    [-1.125, -0.125, 0.875, 1.875, -1.125, -0.125, 0.875, 1.875, -1.125, -0.125, 0.875, 1.875, -1.125, -0.125, 0.875, 1.875],
];
/// For seven signs all eight: the eighth makes the number of minus signs even.
static EIGHT_SIGNS: [[u8; 64]; 2] = [table!([0; 64], 0, eight_signs), table!([0; 64], 64, eight_signs)];
/// The codebooks of the `IQ3` types: codes 0 and 1 of each entry, then codes 2 and 3.
static IQ3_XXS: [[u8; 256]; 2] = [six_bits(&grids::IQ3XXS, 0), six_bits(&grids::IQ3XXS, 6)];
static IQ3_S: [[u8; 512]; 2] = [six_bits(&grids::IQ3S, 0), six_bits(&grids::IQ3S, 6)];

const fn eight_signs(seven: u8) -> u8 {
    if seven.count_ones() & 1 == 0 { seven } else { seven | 128 }
}

const fn six_bits<const N: usize>(grid: &[u16; N], from: u32) -> [u8; N] {
    let mut bytes = [0; N];
    let (mut entries, mut rest): (&[u16], &mut [u8]) = (grid, &mut bytes);
    while let ([entry, other_entries @ ..], [byte, others @ ..]) = (entries, rest) {
        [*byte, _] = (entry.wrapping_shr(from) & 63).to_le_bytes();
        (entries, rest) = (other_entries, others);
    }
    bytes
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn iq2_xxs(block: &[u8; 66], out: &mut [f32; 256]) {
    let [d0, d1, parts @ ..] = block;
    // A part is a qword: four entries, then a word of 4 × 7 signs and the scale.
    let words = _mm512_loadu_si512(parts);
    let signs = all_eight_signs(bits(_mm512_set1_epi64(0x352e_2720), words));
    let factors = half_factors(
        half_in_each([*d0, *d1]),
        _mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_srli_epi64::<60>(words))),
        0.25,
    );
    let mut by_16 = [0_u16; 32];
    _mm512_storeu_si512(&mut by_16, signs);
    let own = in_memory(&by_16).as_chunks::<4>().0.iter().zip(factors.numbers());
    let parts = parts.as_chunks::<8>().0.iter().zip(own);
    for (out, ([a, b, c, d, ..], ([first, last, ..], factor))) in
        out.as_chunks_mut::<32>().0.iter_mut().zip(parts)
    {
        let entries = [*a, *b, *c, *d].map(|number| entry(&IQ2_XXS, u64::from(number)));
        eights(entries, [*first, *last], [factor, factor], out);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn iq2_xs(block: &[u8; 74], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let (codes, scales) = split::<64, 8, 72>(rest);
    let codes = _mm512_loadu_si512(codes);
    let signs = all_eight_signs(_mm512_srli_epi16::<9>(codes));
    let mut numbers = [0_u64; 8];
    _mm512_storeu_si512(&mut numbers, _mm512_and_si512(codes, _mm512_set1_epi16(511)));
    let factors = half_factors(half_in_each([*d0, *d1]), nibbles(*scales), 0.25);
    let mut by_16 = [0_u16; 16];
    _mm256_storeu_si256(&mut by_16, _mm512_cvtepi16_epi8(signs));
    let own = in_memory(&by_16).as_chunks::<2>().0.iter().zip(factors.numbers().as_chunks::<2>().0);
    let parts = in_memory(&numbers).iter().zip(own);
    for (out, (numbers, (signs, [f, g]))) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let entries = four_entries(&IQ2_XS, *numbers);
        eights(entries, *signs, [f, g], out);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn iq2_s(block: &[u8; 82], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let (low, rest) = split::<32, 48, 80>(rest);
    let (signs, rest) = split::<32, 16, 48>(rest);
    let (high, scales) = split::<8, 8, 16>(rest);
    let high = _mm512_cvtepu8_epi64(_mm_loadu_si64(high));
    let numbers = entry_numbers(low, 0x0300, bits(_mm512_set1_epi64(0x0600_0400_0200_0000), high));
    let factors = half_factors(half_in_each([*d0, *d1]), nibbles(*scales), 0.25);
    let own = signs.as_chunks::<4>().0.iter().zip(factors.numbers().as_chunks::<2>().0);
    let parts = in_memory(&numbers).iter().zip(own);
    for (out, (numbers, ([a, b, c, d], [f, g]))) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let entries = four_entries(&IQ2_S, *numbers);
        eights(entries, [u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d])], [f, g], out);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn iq1_s(block: &[u8; 50], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let (low, words) = split::<32, 16, 48>(rest);
    let by_part = _mm_loadu_si128(words);
    let high = bits(_mm512_set1_epi64(0x0900_0600_0300_0000), _mm512_cvtepu16_epi64(by_part));
    let numbers = entry_numbers(low, 0x0700, high);
    let scales = _mm256_srli_epi32::<11>(_mm256_cvtepu16_epi32(by_part));
    let factors = odd_factors(half_in_each([*d0, *d1]), _mm512_castsi256_si512(scales), 14);
    let parts = in_memory(&numbers).iter().zip(words.as_chunks::<2>().0).zip(factors.numbers());
    for (out, ((numbers, [_, top]), factor)) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let [up, _, _, down] = &SHIFTED;
        let shifted = if top >> 7 == 0 { up } else { down };
        let products = _mm512_mul_ps(_mm512_set1_ps(*factor), _mm512_loadu_ps(shifted));
        let entries = four_entries(&IQ1_S, *numbers);
        for (out, entries) in out.as_chunks_mut().0.iter_mut().zip(entries.as_chunks::<2>().0) {
            _mm512_storeu_ps(out, _mm512_permutexvar_ps(two_entries(*entries), products));
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn iq1_m(block: &[u8; 56], out: &mut [f32; 256]) {
    let (low, rest) = split::<32, 24, 56>(block);
    let (high, scales) = split::<16, 8, 24>(rest);
    let [_, a, _, b, _, c, _, e] = scales;
    let d = half_in_each([a >> 4 | b & 0xf0, c >> 4 | e & 0xf0]);
    let by_four = _mm512_cvtepu16_epi64(_mm_loadu_si128(high));
    let numbers = entry_numbers(low, 0x0700, bits(_mm512_set1_epi64(0x0c00_0800_0400_0000), by_four));
    // Four times three bits of each word, which come to bit 1.
    let from = _mm512_setr_epi32(63, 2, 5, 8, 15, 18, 21, 24, 31, 34, 37, 40, 47, 50, 53, 56);
    let factors = odd_factors(d, bits(from, _mm512_set1_epi64(i64::from_le_bytes(*scales))), 14);
    // Of each byte bits 3 and 7, which are those of two entries.
    let high = _mm_loadu_si128(high);
    let first = _mm_and_si128(_mm_srli_epi16::<3>(high), _mm_set1_epi8(1));
    let last = _mm_and_si128(_mm_srli_epi16::<6>(high), _mm_set1_epi8(2));
    let mut minus = [0_u8; 16];
    _mm_storeu_si128(&mut minus, _mm_or_si128(first, last));
    let upper_half = _mm512_mask_set1_epi32(_mm512_setzero_si512(), 0xff00, 8);
    let own = in_memory(&minus).as_chunks::<2>().0.iter().zip(factors.numbers().as_chunks::<2>().0);
    let parts = in_memory(&numbers).iter().zip(own);
    for (out, (numbers, (minus, factors))) in out.as_chunks_mut::<32>().0.iter_mut().zip(parts) {
        let entries = four_entries(&IQ1_S, *numbers);
        let entries = entries.as_chunks::<2>().0.iter().zip(minus.iter().zip(factors));
        for (out, (entries, (minus, factor))) in out.as_chunks_mut().0.iter_mut().zip(entries) {
            let shifted = SHIFTED.get(usize::from(minus & 3)).unwrap_or(&[0.0; 16]);
            let in_half = _mm512_and_si512(two_entries(*entries), _mm512_set1_epi32(7));
            let codes = _mm512_or_si512(in_half, upper_half);
            let values = _mm512_permutexvar_ps(codes, _mm512_loadu_ps(shifted));
            _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_set1_ps(*factor), values));
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn iq3_xxs(block: &[u8; 98], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let (numbers, words) = split::<64, 32, 96>(rest);
    let words = _mm512_castsi256_si512(_mm256_loadu_si256(words));
    let signs = all_eight_signs(bits(_mm512_set1_epi64(0x352e_2720_150e_0700), words));
    let factors = half_factors(half_in_each([*d0, *d1]), _mm512_srli_epi32::<28>(words), 0.5);
    let numbers = _mm512_loadu_si512(numbers);
    let [first, last] = &IQ3_XXS;
    let codes = [of_256(first, numbers), of_256(last, numbers)];
    let mut own = _mm512_setzero_si512();
    let mut from = first_of_fours();
    for (out, factors) in out.as_chunks_mut::<64>().0.iter_mut().zip(factors.numbers().as_chunks::<2>().0) {
        fours(codes, from, _mm512_permutexvar_epi64(own, signs), &EVENLY_BUT_62, factors, out);
        own = _mm512_add_epi64(own, _mm512_set1_epi64(1));
        from = _mm512_add_epi8(from, _mm512_set1_epi8(16));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn iq3_s(block: &[u8; 110], out: &mut [f32; 256]) {
    let [d0, d1, rest @ ..] = block;
    let (numbers, rest) = split::<64, 44, 108>(rest);
    let (ninths, rest) = split::<8, 36, 44>(rest);
    let (signs, scales) = split::<32, 4, 36>(rest);
    let numbers = _mm512_loadu_si512(numbers);
    let ninths = u64::from_le_bytes(*ninths);
    let [first, last] = &IQ3_S;
    let codes = [of_512(first, numbers, ninths), of_512(last, numbers, ninths)];
    // Nibbles, which come to bit 1.
    let from = _mm512_castsi256_si512(_mm256_setr_epi32(31, 3, 7, 11, 15, 19, 23, 27));
    let scales = bits(from, _mm512_set1_epi32(i32::from_le_bytes(*scales)));
    let factors = odd_factors(half_in_each([*d0, *d1]), scales, 30);
    let mut from = first_of_fours();
    let parts = signs.as_chunks::<8>().0.iter().zip(factors.numbers().as_chunks::<2>().0);
    for (out, (signs, factors)) in out.as_chunks_mut::<64>().0.iter_mut().zip(parts) {
        let signs = _mm512_set1_epi64(i64::from_le_bytes(*signs));
        fours(codes, from, signs, &ODD, factors, out);
        from = _mm512_add_epi8(from, _mm512_set1_epi8(16));
    }
}

/// `factor × ±magnitude` for 32 elements, a factor for 16 of them, from entries of eight 2-bit codes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn eights(entries: [u32; 4], signs: [u16; 2], factors: [&f32; 2], out: &mut [f32; 32]) {
    let magnitudes = _mm512_set4_ps(60.0, 43.0, 25.0, 8.0);
    let entries = entries.as_chunks::<2>().0.iter().zip(signs);
    for (out, (factor, (entries, signs))) in
        out.as_chunks_mut().0.iter_mut().zip(factors.into_iter().zip(entries))
    {
        let values = _mm512_permutexvar_ps(two_entries(*entries), magnitudes);
        let values = _mm512_mul_ps(_mm512_set1_ps(*factor), values);
        _mm512_storeu_ps(out, _mm512_mask_xor_ps(values, signs, values, _mm512_set1_ps(-0.0)));
    }
}

/// The eight codes of each of two entries, at the bottom of a lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn two_entries([first, last]: [u32; 2]) -> __m512i {
    let entries = _mm512_set1_epi32(first.cast_signed());
    let entries = _mm512_mask_set1_epi32(entries, 0xff00, last.cast_signed());
    _mm512_srlv_epi32(entries, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14))
}

/// `factor × ±magnitude` for 64 elements, a factor for 32 of them, from entries of four 3-bit codes, two of which are in a byte of
/// either of `codes`. `from` are the bytes that the elements come from. `signs` has 64 of them in each qword.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn fours(
    codes: [__m512i; 2],
    from: __m512i,
    signs: __m512i,
    table: &[f32; 16],
    factors: &[f32; 2],
    out: &mut [f32; 64],
) {
    let [first, last] = codes;
    let codes = _mm512_permutex2var_epi8(first, from, last);
    // A code is at bit 0 or 3; its sign goes above it.
    let code_from = _mm512_mask_set1_epi32(_mm512_setzero_si512(), ODD_LANES, 3);
    let sign_from =
        _mm512_sub_epi8(in_order(), in_each_byte(_mm512_add_epi32(code_from, _mm512_set1_epi32(3))));
    let sign = _mm512_sllv_epi32(_mm512_set1_epi32(0x0808_0808), code_from);
    let codes = select(sign, bits(sign_from, signs), codes);
    let table = _mm512_loadu_ps(table);
    let from = [0, 8, 16, 24].map(|from| _mm512_add_epi32(code_from, _mm512_set1_epi32(from)));
    let halves = out.as_chunks_mut::<32>().0.iter_mut().zip(factors).zip(from.as_chunks::<2>().0);
    for ((out, factor), from) in halves {
        let products = _mm512_mul_ps(_mm512_set1_ps(*factor), table);
        for (out, from) in out.as_chunks_mut().0.iter_mut().zip(from) {
            _mm512_storeu_ps(out, _mm512_permutexvar_ps(_mm512_srlv_epi32(codes, *from), products));
        }
    }
}

const ODD_LANES: u16 = 0xaaaa;

/// Seven signs in each byte made eight.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn all_eight_signs(sevens: __m512i) -> __m512i {
    let [first, last] = &EIGHT_SIGNS;
    _mm512_permutex2var_epi8(_mm512_loadu_si512(first), sevens, _mm512_loadu_si512(last))
}

/// The bytes of a table of 512.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn of_512(table: &[u8; 512], numbers: __m512i, ninths: u64) -> __m512i {
    let [low, high] =
        [0, 1].map(|half| of_256(table.as_chunks::<256>().0.get(half).unwrap_or(&[0; 256]), numbers));
    _mm512_mask_blend_epi8(ninths, low, high)
}

/// The bytes of [`of_256`], of the first and of the last two codes, that the first 64 elements come from.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn first_of_fours() -> __m512i {
    let entries =
        _mm512_add_epi32(_mm512_set1_epi32(0x0c08_0400), in_each_byte(_mm512_srli_epi32::<2>(lanes())));
    let last = _mm512_and_si512(lanes(), _mm512_set1_epi32(2));
    _mm512_add_epi32(entries, in_each_byte(_mm512_slli_epi32::<5>(last)))
}

/// The numbers of entries, from their low bytes and from words that have the bits above them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn entry_numbers(low: &[u8; 32], mask: i16, high: __m512i) -> [u64; 8] {
    let low = _mm512_cvtepu8_epi16(_mm256_loadu_si256(low));
    let mut numbers = [0_u64; 8];
    let high = _mm512_and_si512(high, _mm512_set1_epi16(mask));
    _mm512_storeu_si512(&mut numbers, _mm512_or_si512(low, high));
    numbers
}

/// 16 nibbles, each at the bottom of a lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn nibbles(bytes: [u8; 8]) -> __m512i {
    bits(_mm512_slli_epi32::<2>(lanes()), _mm512_set1_epi64(i64::from_le_bytes(bytes)))
}

/// `d × (0.5 + scale) × last`, the scales being the lowest four bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn half_factors(d: __m512, scales: __m512i, last: f32) -> InMemory {
    let scales = _mm512_cvtepi32_ps(_mm512_and_si512(scales, _mm512_set1_epi32(15)));
    let factors = _mm512_mul_ps(d, _mm512_add_ps(_mm512_set1_ps(0.5), scales));
    InMemory::new(_mm512_mul_ps(factors, _mm512_set1_ps(last)))
}

/// `d × (1 + 2 × scale)`, twice the scale being the bits of `mask`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
fn odd_factors(d: __m512, scales: __m512i, mask: i32) -> InMemory {
    let odd = _mm512_or_si512(_mm512_and_si512(scales, _mm512_set1_epi32(mask)), _mm512_set1_epi32(1));
    InMemory::new(_mm512_mul_ps(d, _mm512_cvtepi32_ps(odd)))
}
