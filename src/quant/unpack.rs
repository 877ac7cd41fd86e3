//! What the kernels share: taking a block apart, unpacking codes, scaling them.
//!
//! A kernel unpacks the codes of a part of its block into a small array and then scales that array; both loops
//! are of known length and without branches, so that the compiler turns them into vector code.
#![allow(dead_code, reason = "which of these are used depends on the families turned on")]

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
