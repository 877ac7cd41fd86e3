//! What the kernels share: taking a block apart, unpacking codes, scaling them.
//!
//! A kernel unpacks the codes of a part of its block into a small array and then scales that array; both loops
//! are of known length and without branches, so that the compiler turns them into vector code.
//!
//! Where there are no vectors, a kernel may instead take the products of all codes first and then look them up.
#![allow(dead_code, reason = "which of these are used depends on the families turned on")]

/// Whether kernels take one weight after the other: on processors without vectors, such as those of microcontrollers.
pub(super) const SCALAR: bool =
    cfg!(all(target_pointer_width = "32", not(target_feature = "sse2"), not(target_feature = "neon")));

/// Whether such a processor multiplies floats itself. What a loop costs besides is then much of it, so that several weights a turn cost
/// less; otherwise they would be as many calls.
pub(super) const HARD_FLOAT: bool = SCALAR && cfg!(target_abi = "eabihf");

/// The value of a binary16 number. A NaN is made quiet, its sign and payload are kept.
pub(super) fn f16(bytes: [u8; 2]) -> f32 {
    half::f16::from_le_bytes(bytes).to_f32()
}

/// Takes an array apart into its first `A` and last `B` bytes.
#[inline(always)]
pub(super) const fn split<const A: usize, const B: usize, const N: usize>(
    bytes: &[u8; N],
) -> (&[u8; A], &[u8; B]) {
    const { assert!(matches!(N.checked_sub(A), Some(rest) if rest == B)) };
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => (first, last),
        // The lengths were checked when this was compiled.
        _ => (&[0; A], &[0; B]),
    }
}

/// The array with `value` of each byte: `array::map`, but it becomes vector code at any length.
#[inline(always)]
pub(super) fn each<T: Copy + Default, const N: usize>(bytes: &[u8; N], value: impl Fn(u8) -> T) -> [T; N] {
    let mut values = [T::default(); N];
    for (out, byte) in values.iter_mut().zip(bytes) {
        *out = value(*byte);
    }
    values
}

/// The low nibbles of all bytes, then the high ones.
#[inline(always)]
pub(super) fn nibbles<const N: usize>(bytes: &[u8; N]) -> [[u8; N]; 2] {
    [each(bytes, |byte| byte & 15), each(bytes, |byte| byte >> 4)]
}

/// Bits 0 and 1 of all bytes, then bits 2 and 3, then 4 and 5, then 6 and 7.
#[inline(always)]
pub(super) fn pairs<const N: usize>(bytes: &[u8; N]) -> [[u8; N]; 4] {
    [
        each(bytes, |byte| byte & 3),
        each(bytes, |byte| byte >> 2 & 3),
        each(bytes, |byte| byte >> 4 & 3),
        each(bytes, |byte| byte >> 6),
    ]
}

/// Turns the bits of `mask` in each code whose own bit is set; the lowest bit of a byte is for the first of eight.
#[inline(always)]
pub(super) fn turn<const N: usize>(codes: &mut [u8], mask: u8, bits: &[u8; N]) {
    let bits = bits.map(|byte| [byte; 8]);
    let own = [[1, 2, 4, 8, 16, 32, 64, 128]; N];
    let tests = bits.as_flattened().iter().zip(own.as_flattened());
    for (code, (bits, own)) in codes.iter_mut().zip(tests) {
        *code ^= if bits & own == 0 { 0 } else { mask };
    }
}

/// Copies codes, which for so few is smaller and faster inline than a call.
#[inline(always)]
pub(super) fn copy(from: &[u8], to: &mut [u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Copies codes that are signed bytes.
#[inline(always)]
pub(super) fn as_signed(from: &[u8], to: &mut [i8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.cast_signed();
    }
}

/// `scale × value`, the values being in a table and the codes at most 15.
#[inline(always)]
pub(super) fn look_up(table: &[f32; 16], codes: &[u8], scale: f32, out: &mut [f32]) {
    for (out, code) in out.iter_mut().zip(codes) {
        *out = scale * table.get(usize::from(code & 15)).copied().unwrap_or_default();
    }
}

/// `scale × code`, the codes being signed bytes.
#[inline(always)]
pub(super) fn scale(codes: &[u8], scale: f32, out: &mut [f32]) {
    for (out, code) in out.iter_mut().zip(codes) {
        *out = scale * f32::from(code.cast_signed());
    }
}

/// `scale × code + add`, the codes being unsigned bytes.
#[inline(always)]
pub(super) fn scale_add(codes: &[u8], scale: f32, add: f32, out: &mut [f32]) {
    for (out, code) in out.iter_mut().zip(codes) {
        *out = scale * f32::from(*code) + add;
    }
}

/// The values that the first table has for the low nibbles of all bytes, then those that the second one has for the
/// high ones. `out` is twice as long as `bytes`.
#[inline(always)]
pub(super) fn look_up_nibbles<const N: usize>(bytes: &[u8; N], tables: [&[f32; 16]; 2], out: &mut [f32]) {
    let [low_table, high_table] = tables;
    let (low, high) = out.split_at_mut(N.min(out.len()));
    for ((byte, low), high) in bytes.iter().zip(low).zip(high) {
        *low = low_table.get(usize::from(byte & 15)).copied().unwrap_or_default();
        *high = high_table.get(usize::from(byte >> 4)).copied().unwrap_or_default();
    }
}

/// `factor × code + addend` for the codes from 0 on.
///
/// The products are sums, which are exact for factors of 18 bits and codes of 6. That of 0 is not one of them, for it
/// is not a number if the factor is infinite.
#[inline(always)]
pub(super) fn multiples_plus<const N: usize>(factor: f32, addend: f32, table: &mut [f32; N]) {
    let mut product = factor * 0.0;
    let mut next = -0.0;
    for value in table {
        *value = product + addend;
        next += factor;
        product = next;
    }
}

/// The values that a table has for four codes, which are the bytes of a number.
#[inline(always)]
pub(super) fn look_up_four<const N: usize>(table: &[f32; N], codes: u32, out: &mut [f32; 4]) {
    let [a, b, c, d] = codes.to_le_bytes();
    let look_up = |code: u8| table.get(usize::from(code)).copied().unwrap_or_default();
    *out = [look_up(a), look_up(b), look_up(c), look_up(d)];
}

/// `factor × code` for as many codes below zero as from zero on. The products are sums, as in [`multiples_plus`].
#[inline(always)]
pub(super) fn multiples_around_zero<const N: usize>(factor: f32, table: &mut [f32; N]) {
    let (below, from_zero) = table.split_at_mut(N >> 1);
    let mut product = factor * 0.0;
    let mut next = -0.0;
    for (below, value) in below.iter_mut().rev().zip(from_zero) {
        *value = product;
        next += factor;
        *below = -next;
        product = next;
    }
}

/// `factor × number` for −8 to 7: half of the products are those of the other half with the sign turned.
///
/// They are not sums as those of [`multiples_around_zero`], so that with few types a program for a processor without floating-point
/// hardware needs no addition.
#[inline(always)]
pub(super) fn multiples_of_a_nibble(factor: f32, table: &mut [f32; 16]) {
    let (below, from_zero) = table.split_at_mut(8);
    let mut product = factor * 0.0;
    let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    for ((below, value), number) in below.iter_mut().rev().zip(from_zero).zip(numbers) {
        *value = product;
        product = factor * number;
        *below = -product;
    }
}

/// The values that a table of 32 has for the codes, which are less than 32.
#[inline(always)]
pub(super) fn look_up_32(table: &[f32; 32], codes: &[u8], out: &mut [f32]) {
    for (out, code) in out.iter_mut().zip(codes) {
        *out = table.get(usize::from(code & 31)).copied().unwrap_or_default();
    }
}

/// `scale × value`, the values being in a table, for the low nibbles of all bytes, then for the high ones.
#[inline(always)]
pub(super) fn look_up_scaled(table: &[f32; 16], codes: &[u8; 16], scale: f32, out: &mut [f32; 32]) {
    if SCALAR {
        look_up_products(table, codes, scale, out);
    } else {
        look_up(table, nibbles(codes).as_flattened(), scale, out);
    }
}

/// [`look_up_scaled`] from a table of products.
#[inline(always)]
fn look_up_products(table: &[f32; 16], codes: &[u8; 16], scale: f32, out: &mut [f32; 32]) {
    let products = table.map(|value| scale * value);
    look_up_nibbles(codes, [&products; 2], out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quant::tests::assert_same;

    #[test]
    fn scaled_values_have_the_same_bits_both_ways() {
        let table =
            [-127.0, -0.0, 0.0, 1.0, 0.1, 3.0, -0.7, 9.0, -1.0, 13.0, 25.5, 38.0, 53.0, 69.0, 89.0, 113.0];
        for scale in [0.3, -0.7, 3e38, -1e-45, 0.0, -0.0, f32::INFINITY, f32::NAN] {
            for byte in 0..=u8::MAX {
                let codes = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31]
                    .map(|odd| byte.wrapping_mul(odd));
                let mut values = [[0.0; 32]; 2];
                let [by_codes, by_table] = &mut values;
                look_up(&table, nibbles(&codes).as_flattened(), scale, by_codes);
                look_up_products(&table, &codes, scale, by_table);
                assert_same(by_codes, by_table, "values of a table");
            }
        }
    }
}
