//! Types of one number an element.
//!
//! The functions take many elements at once. From bytes, `as_chunks` makes the arrays they want:
//! `quant::f16(bytes.as_chunks().0, &mut out)`.

use super::unpack::{HARD_FLOAT, SCALAR};
use core::sync::atomic::{Ordering, compiler_fence};

/// Writes one value an element, as far as both slices go.
#[inline(always)]
pub(super) fn convert<const BYTES: usize>(
    elements: &[[u8; BYTES]],
    out: &mut [f32],
    value: impl Fn([u8; BYTES]) -> f32,
) -> usize {
    for (element, out) in elements.iter().zip(&mut *out) {
        *out = value(*element);
    }
    elements.len().min(out.len())
}

/// The same for what takes a processor about as long as a loop does besides: with [`HARD_FLOAT`], four elements a turn.
#[inline(always)]
fn convert_soon<const BYTES: usize>(
    elements: &[[u8; BYTES]],
    out: &mut [f32],
    value: impl Fn([u8; BYTES]) -> f32,
) -> usize {
    if !HARD_FLOAT {
        return convert(elements, out, value);
    }
    let count = elements.len().min(out.len());
    let (fours, _) = elements.as_chunks();
    let (values, _) = out.as_chunks_mut();
    for ([a, b, c, d], values) in fours.iter().zip(values) {
        *values = [value(*a), value(*b), value(*c), value(*d)];
    }
    let done = count & !3;
    let (elements, out) = (elements.get(done..).unwrap_or_default(), out.get_mut(done..).unwrap_or_default());
    convert(elements, out, value);
    count
}

/// Copies `F32` elements; the bits stay as they are, those of a NaN too.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn f32(elements: &[[u8; 4]], out: &mut [f32]) -> usize {
    if SLOW_MEMCPY && (HARD_FLOAT || !elements.as_ptr().cast::<f32>().is_aligned()) {
        copy_words(elements, out)
    } else {
        convert(elements, out, f32::from_le_bytes)
    }
}

/// Copies word after word, and not by memcpy.
#[inline(always)]
fn copy_words(elements: &[[u8; 4]], out: &mut [f32]) -> usize {
    convert_soon(elements, out, |bytes| {
        // Keeps the compiler from making a call of memcpy of the loop.
        compiler_fence(Ordering::SeqCst);
        f32::from_le_bytes(bytes)
    })
}

/// Whether memcpy is slow from addresses that are no multiples of 4: for a word it takes 14 instructions on Cortex-M, most
/// of which can load a word from any address; from others 5, where four words a turn take 2 each.
const SLOW_MEMCPY: bool = SCALAR && cfg!(target_arch = "arm");

/// Widens `F16` elements: IEEE binary16, a NaN made quiet with its payload kept.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn f16(elements: &[[u8; 2]], out: &mut [f32]) -> usize {
    if SCALAR {
        convert(elements, out, |bytes| f32::from_bits(widen_by_branch(bytes)))
    } else {
        convert(elements, out, widen)
    }
}

/// The lowest bit of an `f32`'s exponent.
const EXPONENT: u32 = 1 << 23;

/// What the crate `half` does, with one branch, which nearly all weights leave on the same side.
#[inline(always)]
fn widen_by_branch(bytes: [u8; 2]) -> u32 {
    let bits = i32::from(i16::from_le_bytes(bytes)).cast_unsigned();
    // An exponent of 0 or 31, to which 1 was added.
    if bits.wrapping_add(0x0400) & 0x7800 == 0 {
        return widen_other(bits);
    }
    // The sign is at the top already. The exponent is too small by 112.
    (bits << 13 & 0x8fff_e000).wrapping_add(112 * EXPONENT)
}

/// Zeros, subnormals, infinities and NaNs.
#[cold]
#[inline(never)]
fn widen_other(bits: u32) -> u32 {
    let mantissa = bits & 0x03ff;
    let magnitude = if bits & 0x4000 != 0 {
        let quiet = if mantissa == 0 { 0 } else { EXPONENT >> 1 };
        mantissa << 13 | quiet | (255 * EXPONENT)
    } else {
        // It counts 2^-24, and there is nothing to round.
        (mantissa as f32 * f32::from_bits((127 - 24) * EXPONENT)).to_bits()
    };
    bits & 0x8000_0000 | magnitude
}

/// What the crate `half` does, without a branch: as vector code it takes a third of the time.
#[inline(always)]
fn widen(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let sign = (bits & 0x8000) << 16;
    // The mantissa and five bits of exponent are where an f32 has them, with an exponent too small by 112.
    let magnitude = (bits & 0x7fff) << 13;
    let normal = magnitude.wrapping_add(112 * EXPONENT);
    // An exponent of 0 stands for 1 and for a mantissa without its leading 1: put it there, take it away.
    let subnormal = f32::from_bits(magnitude.wrapping_add(113 * EXPONENT)) - f32::from_bits(113 * EXPONENT);
    let quiet = if magnitude > 31 * EXPONENT { EXPONENT >> 1 } else { 0 };
    let special = magnitude | (255 * EXPONENT) | quiet;
    let finite = if magnitude < EXPONENT { subnormal.to_bits() } else { normal };
    f32::from_bits(sign | if magnitude < 31 * EXPONENT { finite } else { special })
}

/// Widens `BF16` elements: the upper 16 bits of an `f32`, a NaN not made quiet.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn bf16(elements: &[[u8; 2]], out: &mut [f32]) -> usize {
    convert_soon(elements, out, |[low, high]| f32::from_le_bytes([0, 0, low, high]))
}

/// Rounds `F64` elements to the nearest `f32`, ties to even, as a C conversion does.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn f64(elements: &[[u8; 8]], out: &mut [f32]) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is what is asked for")]
    convert(elements, out, |bytes| f64::from_le_bytes(bytes) as f32)
}

/// Converts `I8` elements; every value is exact.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn i8(elements: &[[u8; 1]], out: &mut [f32]) -> usize {
    convert_soon(elements, out, |bytes| f32::from(i8::from_le_bytes(bytes)))
}

/// Converts `I16` elements; every value is exact.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn i16(elements: &[[u8; 2]], out: &mut [f32]) -> usize {
    convert_soon(elements, out, |bytes| f32::from(i16::from_le_bytes(bytes)))
}

// `as` from an integer to f32 rounds to nearest, ties to even, and never leaves the range. From `f64` it does
// too, except that what is too large becomes infinite. Both are what C does. There is no `From` for them.

/// Rounds `I32` elements to the nearest `f32`, ties to even, as a C conversion does.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn i32(elements: &[[u8; 4]], out: &mut [f32]) -> usize {
    convert_soon(elements, out, |bytes| i32::from_le_bytes(bytes) as f32)
}

/// Rounds `I64` elements to the nearest `f32`, ties to even, as a C conversion does.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn i64(elements: &[[u8; 8]], out: &mut [f32]) -> usize {
    convert(elements, out, |bytes| i64::from_le_bytes(bytes) as f32)
}

#[cfg(test)]
mod tests {
    //! The two ways to take each element, held against each other. What the values must be is in `tests/golden.rs`.
    #![allow(clippy::indexing_slicing)]

    use super::*;

    #[test]
    fn f16_gives_the_same_bits_both_ways() {
        for bits in 0..=u16::MAX {
            let bytes = bits.to_le_bytes();
            assert_eq!(widen_by_branch(bytes), widen(bytes).to_bits(), "{bits:#x}");
        }
    }

    #[test]
    fn f32_gives_the_same_bits_both_ways_for_any_number_of_elements() {
        let elements: [[u8; 4]; 9] =
            [1_u32, 2, 3, 4, 5, 6, 7, 8, 9].map(|number| (number.wrapping_mul(0xf731_0a05)).to_le_bytes());
        for (from, to) in (0..=9).flat_map(|from| (0..=9).map(move |to| (from, to))) {
            let mut values = [[1.0; 9]; 2];
            let [copied, converted] = &mut values;
            let written = copy_words(&elements[..from], &mut copied[..to]);
            assert_eq!(written, convert(&elements[..from], &mut converted[..to], f32::from_le_bytes));
            assert_eq!(values[0].map(f32::to_bits), values[1].map(f32::to_bits));
        }
    }
}
