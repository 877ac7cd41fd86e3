//! Signed magnitudes from the entries of codebooks: what the `IQ2` and `IQ3` types have in common, some of it with `IQ1`.
//!
//! There are two ways, and both give the same bits. Vector code makes magnitudes of all codes, then puts the signs on and
//! scales. Where there are no vectors, the products of all magnitudes are taken first, with either sign, and then looked
//! up; a code and a sign are brought together in a nibble, eight of them at once.

use super::unpack::{SCALAR, scale};

/// `factor × ±magnitude` for 32 elements, a factor for 16 of them, from entries of eight 2-bit codes. `entry` finds them
/// in order.
#[inline(always)]
pub(super) fn eights<T>(
    factors: [f32; 2],
    codes: [T; 4],
    mut entry: impl FnMut(T) -> u16,
    signs: [u8; 4],
    out: &mut [f32; 32],
) {
    if SCALAR {
        eights_by_table(factors, codes.map(entry), signs, out);
    } else {
        // In one step: an array of entries would make slower code.
        signed(factors, codes.map(|code| of_two_bits(two_bits(entry(code)))), signs, out);
    }
}

/// `factor × ±magnitude` for 32 elements, from entries of four 3-bit codes. `entry` finds them in order, and `magnitudes`
/// makes those of four codes, one in a byte.
#[inline(always)]
pub(super) fn fours<T>(
    factor: f32,
    codes: [T; 8],
    mut entry: impl FnMut(T) -> u16,
    magnitudes: impl Fn(u32) -> u32,
    signs: [u8; 4],
    out: &mut [f32; 32],
) {
    if SCALAR {
        fours_by_table(magnitudes, factor, codes.map(entry), signs, out);
    } else {
        let [a, b, c, d, e, f, g, h] = codes.map(|code| magnitudes(three_bits(entry(code))));
        signed([factor; 2], [join(a, b), join(c, d), join(e, f), join(g, h)], signs, out);
    }
}

/// An entry of a codebook. No number is too large: they have as many bits as the codebook needs.
#[inline(always)]
pub(super) fn entry<const N: usize>(grid: &[u16; N], number: u16) -> u16 {
    grid.get(usize::from(number)).copied().unwrap_or_default()
}

#[inline(always)]
fn eights_by_table(factors: [f32; 2], entries: [u16; 4], signs: [u8; 4], out: &mut [f32; 32]) {
    let [m0, m1, m2, m3, ..] = of_two_bits(0x0302_0100).to_le_bytes();
    let entries = entries.as_chunks::<2>().0.iter().zip(signs.as_chunks::<2>().0);
    let halves = out.as_chunks_mut::<16>().0.iter_mut().zip(entries);
    for ((out, (entries, signs)), factor) in halves.zip(factors) {
        let mut products = [0.0; 8];
        multiply(factor, [m0, m1, m2, m3], &mut products);
        let entries = entries.iter().zip(signs);
        for (out, (entry, signs)) in out.as_chunks_mut::<8>().0.iter_mut().zip(entries) {
            look_up(&products, two_bits_in_nibbles(*entry) | bit_in_nibbles(*signs) << 2, out);
        }
    }
}

#[inline(always)]
fn fours_by_table(
    magnitudes: impl Fn(u32) -> u32,
    factor: f32,
    entries: [u16; 8],
    signs: [u8; 4],
    out: &mut [f32; 32],
) {
    let all = join(magnitudes(0x0302_0100), magnitudes(0x0706_0504)).to_le_bytes();
    let mut products = [0.0; 16];
    multiply(factor, all, &mut products);
    let entries = entries.as_chunks::<2>().0.iter().zip(signs);
    for (out, ([first, last], signs)) in out.as_chunks_mut::<8>().0.iter_mut().zip(entries) {
        look_up(&products, three_bits_in_nibbles(*first, *last) | bit_in_nibbles(signs) << 3, out);
    }
}

/// The magnitudes of eight 2-bit codes, one in a byte: 8 for code 0, 25 for 1, 43 for 2.
#[inline(always)]
fn of_two_bits(codes: u64) -> u64 {
    // 8 + 17 × code, and 1 more where the code is 2.
    let multiples = codes.wrapping_add(codes << 4);
    multiples.wrapping_add(codes >> 1 & 0x0101_0101_0101_0101).wrapping_add(0x0808_0808_0808_0808)
}

/// The eight 2-bit codes of an entry, one in a byte.
#[inline(always)]
pub(super) fn two_bits(entry: u16) -> u64 {
    let codes = u64::from(entry);
    let codes = (codes | codes << 24) & 0x0000_00ff_0000_00ff;
    let codes = (codes | codes << 12) & 0x000f_000f_000f_000f;
    (codes | codes << 6) & 0x0303_0303_0303_0303
}

/// The four 3-bit codes of an entry, one in a byte.
#[inline(always)]
fn three_bits(entry: u16) -> u32 {
    let codes = u32::from(entry);
    let codes = (codes | codes << 10) & 0x003f_003f;
    (codes | codes << 5) & 0x0707_0707
}

/// The eight 2-bit codes of an entry, one in a nibble.
#[inline(always)]
pub(super) fn two_bits_in_nibbles(entry: u16) -> u32 {
    let codes = u32::from(entry);
    let codes = (codes | codes << 8) & 0x00ff_00ff;
    let codes = (codes | codes << 4) & 0x0f0f_0f0f;
    (codes | codes << 2) & 0x3333_3333
}

/// The four 3-bit codes of one entry, then those of another, one in a nibble.
#[inline(always)]
fn three_bits_in_nibbles(first: u16, last: u16) -> u32 {
    let codes = u32::from(last) << 16 | u32::from(first);
    let codes = codes & 0x003f_003f | (codes & 0x0fc0_0fc0) << 2;
    codes & 0x0707_0707 | (codes & 0x3838_3838) << 1
}

/// Eight bits, one in a nibble.
#[inline(always)]
fn bit_in_nibbles(bits: u8) -> u32 {
    let bits = u32::from(bits);
    let bits = (bits | bits << 12) & 0x000f_000f;
    let bits = (bits | bits << 6) & 0x0303_0303;
    (bits | bits << 3) & 0x1111_1111
}

/// Eight bytes, the first four from `first`.
#[inline(always)]
fn join(first: u32, last: u32) -> u64 {
    u64::from(last) << 32 | u64::from(first)
}

/// `factor × magnitude`, then the same with the other sign. There is room for that.
#[inline(always)]
fn multiply<const N: usize>(factor: f32, magnitudes: [u8; N], products: &mut [f32]) {
    let (plus, minus) = products.split_at_mut(N.min(products.len()));
    for ((plus, minus), magnitude) in plus.iter_mut().zip(minus).zip(magnitudes) {
        *plus = factor * f32::from(magnitude);
        *minus = -*plus;
    }
}

/// The values that a table has for the nibbles of a word, the lowest first. It has one for each code, or, above the bits of
/// a code, one for each sign of it; their number is a power of two.
#[inline(always)]
pub(super) fn look_up<const N: usize>(table: &[f32; N], mut nibbles: u32, out: &mut [f32; 8]) {
    for out in out {
        let [low, ..] = nibbles.to_le_bytes();
        let number = usize::from(low & 15) & N.wrapping_sub(1);
        *out = table.get(number).copied().unwrap_or_default();
        nibbles >>= 4;
    }
}

/// `factor × ±magnitude` for 32 elements, a factor for 16 of them.
///
/// The sign is put on the magnitude: it is never zero, so the product has the bits it would have if the sign
/// were put on last.
#[inline(always)]
fn signed(factors: [f32; 2], magnitudes: [u64; 4], signs: [u8; 4], out: &mut [f32; 32]) {
    let mut codes = magnitudes.map(u64::to_le_bytes);
    let signs = signs.map(|byte| [byte; 8]);
    let own = [[1, 2, 4, 8, 16, 32, 64, 128]; 4];
    let tests = signs.as_flattened().iter().zip(own.as_flattened());
    for (code, (signs, own)) in codes.as_flattened_mut().iter_mut().zip(tests) {
        // Two's complement: all bits turned and 1 added. A branch would not become vector code.
        let minus: u8 = if signs & own == 0 { 0 } else { 255 };
        *code = (*code ^ minus).wrapping_sub(minus);
    }
    let halves = codes.as_flattened().as_chunks::<16>().0.iter().zip(factors);
    for (out, (codes, factor)) in out.as_chunks_mut::<16>().0.iter_mut().zip(halves) {
        scale(codes, factor, out);
    }
}

#[cfg(test)]
mod tests {
    //! The two ways held against each other. What the values must be is in `tests/golden.rs`.

    use super::*;
    use crate::quant::tests::{assert_same, numbers};

    /// Factors with which products round, and those that have no products like others.
    const FACTORS: [f32; 10] =
        [0.3, -0.7, 1e38, -1e-45, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1.175_494_4e-38];

    /// The signs that an entry comes with: over all entries, each byte of them.
    fn signs(entry: u16) -> [u8; 4] {
        u32::from(entry).wrapping_mul(0x9e37_79b9).to_be_bytes()
    }

    #[test]
    fn entries_of_eight_give_the_same_bits_both_ways() {
        for entry in numbers() {
            let entries = [entry, !entry, entry.rotate_left(5), entry ^ 0x6db6];
            let factors = FACTORS.into_iter().zip(FACTORS.into_iter().cycle().skip(usize::from(entry % 7)));
            for (first, last) in factors.skip(usize::from(entry % 10)).take(2) {
                let mut values = [[0.0; 32]; 2];
                let [by_vectors, by_table] = &mut values;
                let magnitudes = entries.map(|entry| of_two_bits(two_bits(entry)));
                signed([first, last], magnitudes, signs(entry), by_vectors);
                eights_by_table([first, last], entries, signs(entry), by_table);
                assert_same(by_vectors, by_table, "eight codes");
            }
        }
    }

    #[test]
    fn entries_of_four_give_the_same_bits_both_ways() {
        for entry in numbers().filter(|entry| *entry < 1 << 12) {
            let entries = [1, 3, 5, 7, 9, 11, 13, 15].map(|factor| (entry * factor) & 0x0fff);
            for factor in FACTORS {
                let mut values = [[0.0; 32]; 2];
                let [by_vectors, by_table] = &mut values;
                // Any function: 5 + 9 × code.
                let magnitudes = |codes: u32| (codes * 9).wrapping_add(0x0505_0505);
                let [a, b, c, d, e, f, g, h] = entries.map(|entry| magnitudes(three_bits(entry)));
                let joined = [join(a, b), join(c, d), join(e, f), join(g, h)];
                signed([factor; 2], joined, signs(entry), by_vectors);
                fours_by_table(magnitudes, factor, entries, signs(entry), by_table);
                assert_same(by_vectors, by_table, "four codes");
            }
        }
    }

    #[test]
    fn every_sign_gets_to_its_element() {
        for signs in 0..=u8::MAX {
            let mut values = [[0.0; 32]; 2];
            let [by_eights, by_fours] = &mut values;
            eights_by_table([1.0; 2], [0; 4], [signs, !signs, 0, signs], by_eights);
            fours_by_table(|_| 0x0808_0808, 1.0, [0; 8], [signs, !signs, 0, signs], by_fours);
            let bits =
                [signs, !signs, 0, signs].into_iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1));
            for (bit, (by_eights, by_fours)) in bits.zip(by_eights.iter().zip(by_fours)) {
                assert_eq!(
                    [*by_eights, *by_fours],
                    if bit == 1 { [-8.0; 2] } else { [8.0; 2] },
                    "{signs:#x}"
                );
            }
        }
    }
}
