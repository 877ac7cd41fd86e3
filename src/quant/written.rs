//! Which kernels are written for the vectors of a level, where the compiler makes slow code of the portable ones.
//!
//! A level has them by the same names: `f16`, `q4_0` and `q4_1`, and in modules `codebooks`, `tables` and `ternary`. How a
//! block is laid out is told at the portable kernels.
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "which of these are used depends on the families turned on"
)]

#[cfg(feature = "fp4")]
use super::fp4;

/// A kernel from a function for one block, its sizes given first.
macro_rules! by_block {
    ($bytes:literal $elements:literal $function:path) => {
        |src, out| blocks::<$bytes, $elements, false>(src, out, |block, out| $function(block, out))
    };
}
pub(super) use by_block;

/// `kernel` of a level, the features given, whose functions are around it.
///
/// The closures in it are compiled for that level.
macro_rules! written_kernels {
    ($features:literal) => {
        /// The kernel of a type, if it is one of those that are written for this level.
        #[target_feature(enable = $features)]
        pub(super) fn kernel(tensor_type: TensorType) -> Option<Kernel> {
            let kernel: Kernel = match tensor_type {
                TensorType::F16 => |src, out| f16(src, out),
                #[cfg(feature = "legacy")]
                TensorType::Q4_0 => {
                    |src, out| blocks::<18, 32, false>(src, out, |block, out| q4_0(block, out))
                }
                #[cfg(feature = "legacy")]
                TensorType::Q4_1 => {
                    |src, out| blocks::<20, 32, false>(src, out, |block, out| q4_1(block, out))
                }
                #[cfg(feature = "iq")]
                TensorType::IQ4_NL => by_block!(18 32 tables::iq4_nl),
                #[cfg(feature = "iq")]
                TensorType::IQ4_XS => by_block!(136 256 tables::iq4_xs),
                #[cfg(feature = "fp4")]
                TensorType::MXFP4 => by_block!(17 32 tables::mxfp4),
                #[cfg(feature = "fp4")]
                TensorType::NVFP4 => by_block!(36 64 tables::nvfp4),
                #[cfg(feature = "iq")]
                TensorType::IQ2_XXS => by_block!(66 256 codebooks::iq2_xxs),
                #[cfg(feature = "iq")]
                TensorType::IQ2_XS => by_block!(74 256 codebooks::iq2_xs),
                #[cfg(feature = "iq")]
                TensorType::IQ2_S => by_block!(82 256 codebooks::iq2_s),
                #[cfg(feature = "iq")]
                TensorType::IQ3_XXS => by_block!(98 256 codebooks::iq3_xxs),
                #[cfg(feature = "iq")]
                TensorType::IQ3_S => by_block!(110 256 codebooks::iq3_s),
                #[cfg(feature = "iq")]
                TensorType::IQ1_S => by_block!(50 256 codebooks::iq1_s),
                #[cfg(feature = "iq")]
                TensorType::IQ1_M => by_block!(56 256 codebooks::iq1_m),
                #[cfg(feature = "ternary")]
                TensorType::TQ1_0 => by_block!(54 256 ternary::tq1_0),
                #[cfg(feature = "ternary")]
                TensorType::TQ2_0 => by_block!(66 256 ternary::tq2_0),
                #[cfg(feature = "ternary")]
                TensorType::Q1_0 => by_block!(18 128 ternary::q1_0),
                #[cfg(feature = "ternary")]
                TensorType::Q2_0 => by_block!(18 64 ternary::q2_0),
                _ => return None,
            };
            Some(kernel)
        }
    };
}
pub(super) use written_kernels;

/// Codes less 8.
pub(super) static AROUND_ZERO: [f32; 16] =
    [-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
/// Codes.
pub(super) static FROM_ZERO: [f32; 16] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0];

/// What the scales of `MXFP4` stand for.
#[cfg(feature = "fp4")]
pub(super) static HALVES_OF_E8M0: [f32; 256] = {
    let mut halves = [0.0; 256];
    let (mut rest, mut scale): (&mut [f32], u8) = (&mut halves, 0);
    while let [first, others @ ..] = rest {
        *first = fp4::half_of_e8m0(scale);
        scale = scale.wrapping_add(1);
        rest = others;
    }
    halves
};

/// What the scales of `NVFP4` stand for.
#[cfg(feature = "fp4")]
pub(super) static HALVES_OF_UE4M3: [f32; 256] = {
    let mut halves = [0.0; 256];
    let (mut rest, mut scale): (&mut [f32], u8) = (&mut halves, 0);
    while let [first, others @ ..] = rest {
        *first = fp4::half_of_ue4m3(scale);
        scale = scale.wrapping_add(1);
        rest = others;
    }
    halves
};

/// The first four base-3 digits of each byte, two bits each.
pub(super) const fn digits_0_to_3() -> [u8; 256] {
    let mut digits = [0; 256];
    let (mut rest, mut byte): (&mut [u8], u8) = (&mut digits, 0);
    while let [first, others @ ..] = rest {
        let [two, four, six] = [byte.wrapping_mul(3), byte.wrapping_mul(9), byte.wrapping_mul(27)];
        *first = digit(byte) | digit(two) << 2 | digit(four) << 4 | digit(six) << 6;
        byte = byte.wrapping_add(1);
        rest = others;
    }
    digits
}

/// The fifth base-3 digit of each byte.
pub(super) const fn digit_4() -> [u8; 256] {
    let mut digits = [0; 256];
    let (mut rest, mut byte): (&mut [u8], u8) = (&mut digits, 0);
    while let [first, others @ ..] = rest {
        *first = digit(byte.wrapping_mul(81));
        byte = byte.wrapping_add(1);
        rest = others;
    }
    digits
}

/// The first base-3 digit of a fraction of 256.
const fn digit(byte: u8) -> u8 {
    match byte {
        0..=85 => 0,
        86..=170 => 1,
        171.. => 2,
    }
}

/// Keeps an array in memory. A number is broadcast from there for nothing, and to take it out of a register takes two
/// shuffles, of which a kernel has too many already; but that is what the compiler would have it do.
#[inline(always)]
pub(super) fn in_memory<T>(array: &T) -> &T {
    core::hint::black_box(array)
}
