//! Outputs of 16 bits: the `f32` values, rounded once.

use super::{LARGEST_BLOCK, dequantize};
use crate::{ByteOrder, DequantizeError, TensorType};

/// As [`dequantize`], to the bits of binary16.
pub(crate) fn dequantize_f16(
    tensor_type: TensorType,
    order: ByteOrder,
    src: &mut &[u8],
    out: &mut [u16],
) -> Result<usize, DequantizeError> {
    narrow(tensor_type, order, src, out, |values, out| round(values, out, to_f16))
}

/// As [`dequantize`], to the bits of bfloat16.
pub(crate) fn dequantize_bf16(
    tensor_type: TensorType,
    order: ByteOrder,
    src: &mut &[u8],
    out: &mut [u16],
) -> Result<usize, DequantizeError> {
    narrow(tensor_type, order, src, out, |values, out| {
        round(values, out, |value| half::bf16::from_f32(value).to_bits());
    })
}

/// Goes through a buffer of one block, or of so many small ones.
fn narrow(
    tensor_type: TensorType,
    order: ByteOrder,
    src: &mut &[u8],
    mut out: &mut [u16],
    round: fn(&[f32], &mut [u16]),
) -> Result<usize, DequantizeError> {
    let mut buffer = [0.0; LARGEST_BLOCK];
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

#[inline(always)]
fn round(values: &[f32], out: &mut [u16], to_bits: impl Fn(f32) -> u16) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = to_bits(*value);
    }
}

/// What the crate `half` does, without a branch: as vector code it takes a third of the time.
#[inline(always)]
fn to_f16(value: f32) -> u16 {
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
