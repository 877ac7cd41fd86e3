//! The kernels of a level: most are written for its vectors, where the compiler makes slow code of the portable ones.
//!
//! A level has what the time goes into, by the same names: `f16` for 64 elements, `q4_0` and so on for a block, those of
//! most types in modules. How a block is laid out is told at the portable kernels.

#[cfg(feature = "fp4")]
use super::fp4;
#[cfg(feature = "iq")]
use super::grids;

/// A kernel from a function for one block, its sizes given first.
macro_rules! by_block {
    ($bytes:literal $elements:literal $function:path) => {
        |src, out| blocks::<$bytes, $elements, false>(src, out, |block, out| $function(block, out))
    };
}
pub(super) use by_block;

/// The kernel of a type of one number an element from its portable function, the bytes of an element and those of 64.
macro_rules! plain_kernel {
    ($function:ident $bytes:literal $step_bytes:literal) => {
        |src, out| {
            let convert = |src: &[_], out: &mut [_]| plain::$function(src, out);
            let step = |src: &[_; $step_bytes], out: &mut [_; STEP]| _ = convert(src.as_chunks().0, out);
            in_lines::<$bytes, $step_bytes>(src, out, step, convert);
        }
    };
}
pub(super) use plain_kernel;

/// `kernel` of a level, the level and its features given, whose steps are around it.
///
/// The closures in it are compiled for that level.
macro_rules! written_kernels {
    ($level:ident $features:literal) => {
        /// The kernel of a type at this level; `None` if it has none, or its family is turned off.
        #[target_feature(enable = $features)]
        pub(super) fn kernel(tensor_type: TensorType) -> Option<Kernel> {
            let kernel: Kernel = match tensor_type {
                TensorType::F32 => |src, out| _ = plain::f32(src.as_chunks().0, out),
                TensorType::F16 => |src, out| {
                    in_lines::<2, 128>(src, out, |src, out| f16(src, out), |src, out| plain::f16(src, out));
                },
                TensorType::BF16 => |src, out| {
                    in_lines::<2, 128>(src, out, |src, out| bf16(src, out), |src, out| plain::bf16(src, out));
                },
                TensorType::I8 => plain_kernel!(i8 1 64),
                TensorType::I16 => plain_kernel!(i16 2 128),
                TensorType::I32 => plain_kernel!(i32 4 256),
                TensorType::I64 => plain_kernel!(i64 8 512),
                TensorType::F64 => plain_kernel!(f64 8 512),
                #[cfg(feature = "legacy")]
                TensorType::Q4_0 => by_block!(18 32 q4_0),
                #[cfg(feature = "legacy")]
                TensorType::Q4_1 => by_block!(20 32 q4_1),
                #[cfg(feature = "legacy")]
                TensorType::Q5_0 => by_block!(22 32 q5_0),
                #[cfg(feature = "legacy")]
                TensorType::Q5_1 => by_block!(24 32 q5_1),
                #[cfg(feature = "legacy")]
                TensorType::Q8_0 => by_block!(34 32 q8_0),
                #[cfg(feature = "legacy")]
                TensorType::Q8_1 => by_block!(36 32 q8_0),
                #[cfg(feature = "k")]
                TensorType::Q2_K => by_block!(84 256 q2_k),
                #[cfg(feature = "k")]
                TensorType::Q3_K => by_block!(110 256 q3_k),
                #[cfg(feature = "k")]
                TensorType::Q4_K => by_block!(144 256 q4_k),
                #[cfg(feature = "k")]
                TensorType::Q5_K => by_block!(176 256 q5_k),
                #[cfg(feature = "k")]
                TensorType::Q6_K => by_block!(210 256 q6_k),
                #[cfg(feature = "k")]
                TensorType::Q8_K => by_block!(292 256 q8_k),
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
                _ => return of_dtype!($level tensor_type),
            };
            Some(kernel)
        }
    };
}
pub(super) use written_kernels;

/// A table of what a function gives for each byte from the first one on, in the place of so many zeros.
macro_rules! table {
    ($zeros:expr, $first:expr, $function:path) => {{
        let mut table = $zeros;
        let (mut rest, mut byte): (&mut [_], u8) = (&mut table, $first);
        while let [value, others @ ..] = rest {
            *value = $function(byte);
            byte = byte.wrapping_add(1);
            rest = others;
        }
        table
    }};
}
pub(super) use table;

/// What the scales of `MXFP4` stand for.
#[cfg(feature = "fp4")]
pub(super) static HALVES_OF_E8M0: [f32; 256] = table!([0.0; 256], 0, fp4::half_of_e8m0);
/// What the scales of `NVFP4` stand for.
#[cfg(feature = "fp4")]
pub(super) static HALVES_OF_UE4M3: [f32; 256] = table!([0.0; 256], 0, fp4::half_of_ue4m3);

/// The magnitudes of `IQ3_XXS`, then with the other sign.
#[cfg(feature = "iq")]
#[rustfmt::skip]
pub(super) static EVENLY_BUT_62: [f32; 16] = [
    4.0, 12.0, 20.0, 28.0, 36.0, 44.0, 52.0, 62.0, -4.0, -12.0, -20.0, -28.0, -36.0, -44.0, -52.0, -62.0,
];
/// The magnitudes of `IQ3_S`, then with the other sign.
#[cfg(feature = "iq")]
#[rustfmt::skip]
pub(super) static ODD: [f32; 16] = [
    1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, -1.0, -3.0, -5.0, -7.0, -9.0, -11.0, -13.0, -15.0,
];

/// The codebooks of the `IQ2` and `IQ1` types.
#[cfg(feature = "iq")]
pub(super) static IQ2_XXS: [u32; 256] = wide(&grids::IQ2XXS);
#[cfg(feature = "iq")]
pub(super) static IQ2_XS: [u32; 512] = wide(&grids::IQ2XS);
#[cfg(feature = "iq")]
pub(super) static IQ2_S: [u32; 1024] = wide(&grids::IQ2S);
#[cfg(feature = "iq")]
pub(super) static IQ1_S: [u32; 2048] = wide(&grids::IQ1S);

/// A codebook with entries of 32 bits: a number of so many is broadcast by the load itself.
#[cfg(feature = "iq")]
pub(super) const fn wide<const N: usize>(grid: &[u16; N]) -> [u32; N] {
    let mut wide = [0; N];
    let (mut entries, mut rest): (&[u16], &mut [u32]) = (grid, &mut wide);
    while let ([entry, other_entries @ ..], [number, others @ ..]) = (entries, rest) {
        *number = *entry as u32;
        (entries, rest) = (other_entries, others);
    }
    wide
}

/// An entry of a codebook, whose length is a power of two. No number is too large, but for what is above its bits.
#[cfg(feature = "iq")]
#[inline(always)]
pub(super) fn entry<const N: usize>(grid: &[u32; N], number: u64) -> u32 {
    let number = usize::try_from(number).unwrap_or_default() & N.wrapping_sub(1);
    grid.get(number).copied().unwrap_or_default()
}

/// The entries of four numbers of 16 bits.
#[cfg(feature = "iq")]
#[inline(always)]
pub(super) fn four_entries<const N: usize>(grid: &[u32; N], numbers: u64) -> [u32; 4] {
    [numbers, numbers >> 16, numbers >> 32, numbers >> 48].map(|number| entry(grid, number))
}

/// Keeps an array in memory. A number is broadcast from there for nothing, and to take it out of a register takes two
/// shuffles, of which a kernel has too many already; but that is what the compiler would have it do.
#[inline(always)]
pub(super) fn in_memory<T>(array: &T) -> &T {
    core::hint::black_box(array)
}
