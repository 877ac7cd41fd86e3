//! Outputs of 16 bits: the `f32` values, rounded once.

use super::unpack::SCALAR;
use super::{LARGEST_BLOCK, dequantize, rounding};
use crate::{ByteOrder, DequantizeError, TensorType};

/// Rounds each number, and writes its bits.
pub(super) type Round = fn(&[f32], &mut [u16]);

/// What numbers are rounded to.
#[derive(Clone, Copy)]
pub(super) enum Format {
    /// IEEE binary16.
    F16,
    /// The upper half of an `f32`.
    Bf16,
}

/// As [`dequantize`], to the bits of binary16.
pub(crate) fn dequantize_f16(
    tensor_type: TensorType,
    order: ByteOrder,
    src: &mut &[u8],
    out: &mut [u16],
) -> Result<usize, DequantizeError> {
    narrow(tensor_type, order, src, out, rounding(Format::F16))
}

/// As [`dequantize`], to the bits of bfloat16.
pub(crate) fn dequantize_bf16(
    tensor_type: TensorType,
    order: ByteOrder,
    src: &mut &[u8],
    out: &mut [u16],
) -> Result<usize, DequantizeError> {
    narrow(tensor_type, order, src, out, rounding(Format::Bf16))
}

/// Values on their way. They begin where a line of the cache does: vectors that go over the end of one take longer.
#[cfg_attr(target_arch = "x86_64", repr(align(64)))]
struct Buffer([f32; LARGEST_BLOCK]);

/// Goes through a buffer of one block, or of so many small ones.
fn narrow(
    tensor_type: TensorType,
    order: ByteOrder,
    src: &mut &[u8],
    mut out: &mut [u16],
    round: Round,
) -> Result<usize, DequantizeError> {
    let Buffer(buffer) = &mut Buffer([0.0; LARGEST_BLOCK]);
    let mut total: usize = 0;
    loop {
        let (values, _) = buffer.split_at_mut(LARGEST_BLOCK.min(out.len()));
        let written = match dequantize(tensor_type, order, src, values) {
            // `src` or `out` are used up as far as they go; if a part is left, the next call says so.
            Ok(0) => return Ok(total),
            Err(_) if total > 0 => return Ok(total),
            Ok(written) => written,
            Err(error) => return Err(error),
        };
        // No overflow: so many elements are in `out`.
        total = total.wrapping_add(written);
        let (next, rest) = out.split_at_mut(written.min(out.len()));
        round(values, next);
        out = rest;
    }
}

/// Rounds as many numbers as both have.
#[inline(always)]
pub(super) fn round(values: &[f32], out: &mut [u16], to_bits: impl Fn(f32) -> u16) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = to_bits(*value);
    }
}

/// What the crate `half` does.
#[inline(always)]
pub(super) fn to_bf16(value: f32) -> u16 {
    if SCALAR { half::bf16::from_f32(value).to_bits() } else { to_bf16_without_branch(value) }
}

/// As vector code it takes a third of the time.
#[inline(always)]
fn to_bf16_without_branch(value: f32) -> u16 {
    let bits = value.to_bits();
    // Of the lower half, more than half carries, and half does if the last bit that stays is odd.
    let rounded = bits.wrapping_add(0x7fff_u32.wrapping_add(bits >> 16 & 1));
    let [_, _, low, high] = if value.is_nan() { bits | 0x0040_0000 } else { rounded }.to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// What the crate `half` does, without a branch: as vector code it takes a third of the time.
#[inline(always)]
pub(super) fn to_f16(value: f32) -> u16 {
    /// The lowest bit of an `f32`'s exponent.
    const EXPONENT: u32 = 1 << 23;
    let [.., sign] = value.to_bits().to_le_bytes();
    let magnitude = value.to_bits() & 0x7fff_ffff;
    // The exponent is smaller by 112. Of the 13 bits that go, more than half carries, and half does if the last bit
    // that stays is odd.
    let half = 0x0fff_u32.wrapping_add(magnitude >> 13 & 1);
    let normal = magnitude.wrapping_sub(112 * EXPONENT).wrapping_add(half) >> 13;
    // The last bit of 0.5 as f32 counts 2^-24, which is also what that of a subnormal f16 does: the sum rounds.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    let quiet = if magnitude > 255 * EXPONENT { 0x0200 | magnitude >> 13 & 0x03ff } else { 0 };
    let finite = if magnitude < 113 * EXPONENT { subnormal } else { normal };
    let bits = if magnitude < 143 * EXPONENT { finite } else { 0x7c00 | quiet };
    let [low, high, ..] = bits.to_le_bytes();
    u16::from_le_bytes([low, high | sign & 0x80])
}
