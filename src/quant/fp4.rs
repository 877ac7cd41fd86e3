//! 4-bit floats, feature `fp4`.

use super::unpack::{look_up, look_up_scaled, nibbles, split};

/// `MXFP4`: E2M1 codes with an E8M0 scale, one block of 32 elements.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | the scale: an exponent of 2, biased by 127 |
/// | 1 | 16 bytes: codes 0 to 15 in the low nibbles, 16 to 31 in the high ones |
///
/// An element is `2^(scale − 128) × value`, the values being twice those of E2M1, as in ggml's
/// `dequantize_row_mxfp4`. There is no NaN: a scale of 255 is a power like the others. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn mxfp4(block: &[u8; 17], out: &mut [f32; 32]) {
    let [scale, codes @ ..] = block;
    look_up_scaled(&E2M1_DOUBLED, codes, half_of_e8m0(*scale), out);
}

/// `NVFP4`: E2M1 codes with UE4M3 scales, one block of 64 elements in 4 parts.
///
/// | offset | field |
/// | --- | --- |
/// | 0 | 4 bytes, the scales: exponent biased by 7 in bits 3 to 6, mantissa in bits 0 to 2 |
/// | 4 | 8 bytes a part: codes 0 to 7 in the low nibbles, 8 to 15 in the high ones |
///
/// An element is `scale / 2 × value`, the values being twice those of E2M1, as in ggml's
/// `dequantize_row_nvfp4`. A scale of 0x7f is zero; bit 7 is not looked at otherwise. Never panics.
#[cfg_attr(target_arch = "x86_64", inline(always))]
pub fn nvfp4(block: &[u8; 36], out: &mut [f32; 64]) {
    let (scales, codes) = split::<4, 32, 36>(block);
    let parts = codes.as_chunks::<8>().0.iter().zip(scales);
    for (out, (codes, scale)) in out.as_chunks_mut::<16>().0.iter_mut().zip(parts) {
        look_up(&E2M1_DOUBLED, nibbles(codes).as_flattened(), half_of_ue4m3(*scale), out);
    }
}

/// Twice the values of E2M1. Minus zero is plain zero.
pub(super) static E2M1_DOUBLED: [f32; 16] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 0.0, -1.0, -2.0, -3.0, -4.0, -6.0, -8.0, -12.0];

/// Half of the power of 2 whose exponent, biased by 127, is given.
#[inline(always)]
pub(super) const fn half_of_e8m0(scale: u8) -> f32 {
    // The exponent is one less; the two lowest are subnormal.
    f32::from_bits(match scale {
        0 => 0x0020_0000,
        1 => 0x0040_0000,
        _ => (scale.wrapping_sub(1) as u32) << 23,
    })
}

/// Half of an unsigned number with 4 bits of exponent and 3 of mantissa.
#[inline(always)]
pub(super) const fn half_of_ue4m3(code: u8) -> f32 {
    if code == 0x7f {
        return 0.0;
    }
    let (exponent, mantissa) = (code >> 3 & 15, code & 7);
    // An exponent of 0 stands for 1 and for a mantissa without its leading 1.
    let (exponent, mantissa) = if exponent == 0 { (1, mantissa) } else { (exponent, mantissa | 8) };
    // 2^(exponent - 7), halved, and the mantissa counts eighths: 2^(exponent - 11).
    mantissa as f32 * f32::from_bits((116_u32.wrapping_add(exponent as u32)) << 23)
}
