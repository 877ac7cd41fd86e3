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
