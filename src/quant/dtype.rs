//! Types that safetensors has and ggml has not: booleans, unsigned integers, floats of 8 bits.
//!
//! The functions take many elements at once, as those of `plain` do.
//!
//! The floats of 8 bits are a sign, an exponent and a mantissa, named by their numbers of bits. A code with the
//! exponent 0 is subnormal. Every value of theirs is exact as `f32`.

use super::plain::convert;

/// The lowest bit of an `f32`'s exponent.
const EXPONENT: u32 = 1 << 23;
const INFINITY: u32 = 255 * EXPONENT;
const NAN: u32 = INFINITY | EXPONENT >> 1;

/// Converts `BOOL` elements: 0 is 0.0, any other byte is 1.0.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn bool(elements: &[[u8; 1]], out: &mut [f32]) -> usize {
    convert(elements, out, |[byte]| f32::from(byte != 0))
}

/// Converts `U8` elements; every value is exact.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn u8(elements: &[[u8; 1]], out: &mut [f32]) -> usize {
    convert(elements, out, |bytes| f32::from(u8::from_le_bytes(bytes)))
}

/// Converts `U16` elements; every value is exact.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn u16(elements: &[[u8; 2]], out: &mut [f32]) -> usize {
    convert(elements, out, |bytes| f32::from(u16::from_le_bytes(bytes)))
}

// As in `plain`: `as` from an integer to f32 rounds to nearest, ties to even. There is no `From` for it.

/// Rounds `U32` elements to the nearest `f32`, ties to even, as a C conversion does.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn u32(elements: &[[u8; 4]], out: &mut [f32]) -> usize {
    convert(elements, out, |bytes| u32::from_le_bytes(bytes) as f32)
}

/// Rounds `U64` elements to the nearest `f32`, ties to even, as a C conversion does.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn u64(elements: &[[u8; 8]], out: &mut [f32]) -> usize {
    convert(elements, out, |bytes| u64::from_le_bytes(bytes) as f32)
}

/// Widens `F8_E4M3` elements: E4M3 of the "OCP 8-bit Floating Point Specification (OFP8)", revision 1.0.
///
/// The exponent's bias is 7. There is no infinity; S.1111.111 is a NaN, which keeps its sign and is made quiet. The
/// largest number is 448. LLVM's APFloat calls it `Float8E4M3FN`.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn f8_e4m3(elements: &[[u8; 1]], out: &mut [f32]) -> usize {
    convert(elements, out, |[code]| {
        signed(code, if code & 0x7f == 0x7f { NAN } else { magnitude(code, 3, 7) })
    })
}

/// Widens `F8_E5M2` elements: E5M2 of the "OCP 8-bit Floating Point Specification (OFP8)", revision 1.0.
///
/// It is the upper half of an IEEE binary16. The exponent's bias is 15. S.11111.00 is infinite, S.11111 with any other
/// mantissa a NaN, which keeps its sign and is made quiet. The largest number is 57,344. LLVM's APFloat calls it
/// `Float8E5M2`.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn f8_e5m2(elements: &[[u8; 1]], out: &mut [f32]) -> usize {
    convert(elements, out, |[code]| {
        let special = if code & 0x7f == 0x7c { INFINITY } else { NAN };
        signed(code, if code & 0x7f < 0x7c { magnitude(code, 2, 15) } else { special })
    })
}

/// Widens `F8_E8M0` elements: E8M0 of the "OCP Microscaling Formats (MX) Specification", version 1.0.
///
/// The code `x` is 2^(x - 127), and 255 a NaN. There is no sign, no zero and no infinity. Code 0, which is 2^-127, is a
/// subnormal `f32`. LLVM's APFloat calls it `Float8E8M0FNU`.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn f8_e8m0(elements: &[[u8; 1]], out: &mut [f32]) -> usize {
    convert(elements, out, |[code]| {
        // The code is the exponent of an f32. The highest bit of the mantissa alone is 2^-127, and makes a NaN.
        let highest = if code == 0 || code == 255 { EXPONENT >> 1 } else { 0 };
        f32::from_bits(u32::from(code) << 23 | highest)
    })
}

/// Widens `F8_E4M3FNUZ` elements: E4M3 of "8-bit Numerical Formats for Deep Neural Networks" (Noune et al., 2022).
///
/// The exponent's bias is 8. There is no infinity and no negative zero: its code, 0x80, is the only NaN. The largest
/// number is 240. LLVM's APFloat calls it `Float8E4M3FNUZ`.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn f8_e4m3fnuz(elements: &[[u8; 1]], out: &mut [f32]) -> usize {
    convert(elements, out, |[code]| signed(code, if code == 0x80 { NAN } else { magnitude(code, 3, 8) }))
}

/// Widens `F8_E5M2FNUZ` elements: E5M2 of "8-bit Numerical Formats for Deep Neural Networks" (Noune et al., 2022).
///
/// The exponent's bias is 16. There is no infinity and no negative zero: its code, 0x80, is the only NaN. The largest
/// number is 57,344. LLVM's APFloat calls it `Float8E5M2FNUZ`.
///
/// Stops at the end of the shorter slice and returns the number of elements written. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn f8_e5m2fnuz(elements: &[[u8; 1]], out: &mut [f32]) -> usize {
    convert(elements, out, |[code]| signed(code, if code == 0x80 { NAN } else { magnitude(code, 2, 16) }))
}

/// The bits of an `f32`, with the sign of the code.
#[inline(always)]
fn signed(code: u8, magnitude: u32) -> f32 {
    f32::from_bits(u32::from(code & 0x80) << 24 | magnitude)
}

/// The bits of a finite number of 8 bits as `f32`, without its sign. Without a branch, so that loops over it become
/// vector code.
#[inline(always)]
fn magnitude(code: u8, mantissa_bits: u32, bias: u32) -> u32 {
    // The mantissa and the exponent are where an f32 has them, with an exponent too small by the difference of the biases.
    let bits = u32::from(code & 0x7f).wrapping_shl(23_u32.wrapping_sub(mantissa_bits));
    let rebias = 127_u32.wrapping_sub(bias).wrapping_mul(EXPONENT);
    let normal = bits.wrapping_add(rebias);
    // An exponent of 0 stands for 1 and for a mantissa without its leading 1: put it there, take it away.
    let one = rebias.wrapping_add(EXPONENT);
    let subnormal = f32::from_bits(bits.wrapping_add(one)) - f32::from_bits(one);
    if bits < EXPONENT { subnormal.to_bits() } else { normal }
}
