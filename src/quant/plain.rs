//! Types of one number an element.
//!
//! The functions take many elements at once. From bytes, `as_chunks` makes the arrays they want:
//! `quant::f16(bytes.as_chunks().0, &mut out)`.

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

/// Copies `F32` elements; the bits stay as they are, those of a NaN too.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
pub fn f32(elements: &[[u8; 4]], out: &mut [f32]) -> usize {
    convert(elements, out, f32::from_le_bytes)
}

/// Widens `F16` elements: IEEE binary16, a NaN made quiet with its payload kept.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
pub fn f16(elements: &[[u8; 2]], out: &mut [f32]) -> usize {
    convert(elements, out, widen)
}

/// What the crate `half` does, without a branch: as vector code it takes a third of the time.
#[inline(always)]
fn widen(bytes: [u8; 2]) -> f32 {
    /// The lowest bit of an `f32`'s exponent.
    const EXPONENT: u32 = 1 << 23;
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
pub fn bf16(elements: &[[u8; 2]], out: &mut [f32]) -> usize {
    convert(elements, out, |[low, high]| f32::from_le_bytes([0, 0, low, high]))
}

/// Rounds `F64` elements to the nearest `f32`, ties to even, as a C conversion does.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
pub fn f64(elements: &[[u8; 8]], out: &mut [f32]) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is what is asked for")]
    convert(elements, out, |bytes| f64::from_le_bytes(bytes) as f32)
}

/// Converts `I8` elements; every value is exact.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
pub fn i8(elements: &[[u8; 1]], out: &mut [f32]) -> usize {
    convert(elements, out, |bytes| f32::from(i8::from_le_bytes(bytes)))
}

/// Converts `I16` elements; every value is exact.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
pub fn i16(elements: &[[u8; 2]], out: &mut [f32]) -> usize {
    convert(elements, out, |bytes| f32::from(i16::from_le_bytes(bytes)))
}

// `as` from an integer to f32 rounds to nearest, ties to even, and never leaves the range. From `f64` it does
// too, except that what is too large becomes infinite. Both are what C does. There is no `From` for them.

/// Rounds `I32` elements to the nearest `f32`, ties to even, as a C conversion does.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
pub fn i32(elements: &[[u8; 4]], out: &mut [f32]) -> usize {
    convert(elements, out, |bytes| i32::from_le_bytes(bytes) as f32)
}

/// Rounds `I64` elements to the nearest `f32`, ties to even, as a C conversion does.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
pub fn i64(elements: &[[u8; 8]], out: &mut [f32]) -> usize {
    convert(elements, out, |bytes| i64::from_le_bytes(bytes) as f32)
}
