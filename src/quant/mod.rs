//! Dequantizers: one function a block type, from the bytes of one block to its `f32` values.
//!
//! Each is infallible and stands alone, so firmware that knows its types links only those. For whole slices of
//! a type known at run time there is [`TensorType::dequantize`]. The values are those of ggml's reference
//! functions, bit for bit, except that a NaN may be another NaN.
//!
//! Blocks here are little-endian. In the descriptions an offset counts bytes from the start of the block, and an
//! element is counted in the order of the output. `f16` is IEEE binary16.
//!
//! For chips without floating-point hardware the functions named `unpack_` give the integers that a block is made
//! of, and touch no float: codes with their offset subtracted, the scale and minimum of each part, and the f16
//! numbers as bits. The description of each says what its integers stand for.

mod narrow;
mod plain;
mod range;
mod unpack;

#[cfg(feature = "safetensors")]
mod dtype;
#[cfg(feature = "fp4")]
mod fp4;
#[cfg(feature = "iq")]
mod grids;
#[cfg(feature = "iq")]
mod iq;
#[cfg(feature = "k")]
mod k;
#[cfg(feature = "legacy")]
mod legacy;
#[cfg(feature = "ternary")]
mod ternary;
#[cfg(test)]
mod tests;

#[cfg(feature = "safetensors")]
pub use dtype::{bool, f8_e4m3, f8_e4m3fnuz, f8_e5m2, f8_e5m2fnuz, f8_e8m0, u8, u16, u32, u64};
#[cfg(feature = "fp4")]
pub use fp4::{mxfp4, nvfp4};
#[cfg(feature = "iq")]
pub use iq::{iq1_m, iq1_s, iq2_s, iq2_xs, iq2_xxs, iq3_s, iq3_xxs, iq4_nl, iq4_xs};
#[cfg(feature = "k")]
pub use k::{PartScales, PartScalesAndMinimums, unpack_q4_k, unpack_q5_k, unpack_q6_k};
#[cfg(feature = "k")]
pub use k::{q2_k, q3_k, q4_k, q5_k, q6_k, q8_k};
#[cfg(feature = "legacy")]
pub use legacy::{ScaleAndMinimum, unpack_q4_0, unpack_q4_1, unpack_q5_0, unpack_q5_1, unpack_q8_0};
#[cfg(feature = "legacy")]
pub use legacy::{q4_0, q4_1, q5_0, q5_1, q8_0, q8_1};
pub(crate) use narrow::{dequantize_bf16, dequantize_f16};
pub use plain::{bf16, f16, f32, f64, i8, i16, i32, i64};
pub(crate) use range::dequantize_range;
#[cfg(feature = "ternary")]
pub use ternary::{q1_0, q2_0, tq1_0, tq2_0};

use crate::tensor_type::tensor_types;
use crate::{ByteOrder, DequantizeError, TensorType};
use core::slice;

/// Elements of the largest block there is.
const LARGEST_BLOCK: usize = 256;

/// What [`dequantize`] was asked to do.
struct Job<'a, 'i> {
    tensor_type: TensorType,
    order: ByteOrder,
    src: &'a mut &'i [u8],
    out: &'a mut [f32],
}

/// Numbers in a row inside a block: `count` of `width` (2 or 4) bytes each, from byte `start` on.
#[allow(dead_code, reason = "not built when every family is off")]
struct Field {
    width: u8,
    start: u16,
    count: u16,
}

/// The big-endian column of the type table: the fields to reverse, `None` if that is ambiguous.
#[allow(unused_macros, reason = "not used when every family is off")]
macro_rules! fields {
    (ambiguous) => { None };
    ([$($width:literal @ $start:literal $(x $count:literal)?),*]) => {
        Some(&[$(Field { width: $width, start: $start, count: fields!(times $($count)?) }),*])
    };
    (times) => { 1 };
    (times $count:literal) => { $count };
}

/// The result for one line of the type table, from its family, sizes, big-endian column and kernel.
///
/// A kernel for blocks of another size is an error at compile time.
macro_rules! run {
    ($job:ident $family:ident $elements:literal $bytes:literal $big_endian:tt none) => {
        Err(DequantizeError::NoKernel { tensor_type: $job.tensor_type })
    };
    ($job:ident Plain 1 $bytes:literal whole $kernel:path) => { elements::<$bytes>($job, $kernel) };
    ($job:ident Legacy $($line:tt)+) => { run!($job "legacy" $($line)+) };
    ($job:ident K $($line:tt)+) => { run!($job "k" $($line)+) };
    ($job:ident Iq $($line:tt)+) => { run!($job "iq" $($line)+) };
    ($job:ident Ternary $($line:tt)+) => { run!($job "ternary" $($line)+) };
    ($job:ident Fp4 $($line:tt)+) => { run!($job "fp4" $($line)+) };
    ($job:ident $feature:literal $elements:literal $bytes:literal $big_endian:tt $kernel:path) => {{
        #[cfg(feature = $feature)]
        let result = blocks::<$bytes, $elements>($job, fields!($big_endian), $kernel);
        #[cfg(not(feature = $feature))]
        let result = Err(DequantizeError::FamilyOff { tensor_type: $job.tensor_type, feature: $feature });
        result
    }};
}

macro_rules! dispatch {
    (
        $($id:literal $name:ident $elements:tt $bytes:literal $family:ident
            $big_endian:tt $($kernel:ident)::+;)*
        removed: $($removed:tt)*
    ) => {
        fn dispatch(job: Job<'_, '_>) -> Result<usize, DequantizeError> {
            match job.tensor_type {
                $(TensorType::$name => run!(job $family $elements $bytes $big_endian $($kernel)::+),)*
                #[cfg(feature = "safetensors")]
                _ => dispatch_dtype(job),
                #[cfg(not(feature = "safetensors"))]
                tensor_type => Err(DequantizeError::NoKernel { tensor_type }),
            }
        }
    };
}
tensor_types!(dispatch);

#[cfg(feature = "safetensors")]
macro_rules! dispatch_dtypes {
    (
        $($(#[$doc:meta])* $id:literal $name:ident $elements:tt $bytes:literal $family:ident
            $big_endian:tt $($kernel:ident)::+;)*
        shared: $($shared:ident)*
    ) => {
        fn dispatch_dtype(job: Job<'_, '_>) -> Result<usize, DequantizeError> {
            match job.tensor_type {
                $(TensorType::$name => run!(job $family $elements $bytes $big_endian $($kernel)::+),)*
                tensor_type => Err(DequantizeError::NoKernel { tensor_type }),
            }
        }
    };
}
#[cfg(feature = "safetensors")]
crate::safetensors::dtype::dtypes!(dispatch_dtypes);

/// Writes as many whole blocks as `src` and `out` hold, moves `src` behind them, returns the elements written.
///
/// This is [`TensorType::dequantize`] for blocks of either byte order; a type without a settled big-endian
/// layout is an error if `order` says big.
pub(crate) fn dequantize(
    tensor_type: TensorType,
    order: ByteOrder,
    src: &mut &[u8],
    out: &mut [f32],
) -> Result<usize, DequantizeError> {
    dispatch(Job { tensor_type, order, src, out })
}

/// Plain types: the kernel takes many elements at once.
#[inline(never)] // A frame for each type, not one as large as all of them.
fn elements<const BYTES: usize>(
    job: Job<'_, '_>,
    kernel: impl Fn(&[[u8; BYTES]], &mut [f32]) -> usize,
) -> Result<usize, DequantizeError> {
    let (elements, _) = job.src.as_chunks::<BYTES>();
    if !enough(&job, BYTES, 1)? {
        return Ok(0);
    }
    let written = match job.order {
        ByteOrder::Little => kernel(elements, job.out),
        ByteOrder::Big => elements.iter().zip(job.out).fold(0, |written: usize, (element, value)| {
            let mut element = *element;
            element.reverse();
            written.wrapping_add(kernel(slice::from_ref(&element), slice::from_mut(value)))
        }),
    };
    // No overflow: so many bytes are in `src`.
    *job.src = job.src.get(written.wrapping_mul(BYTES)..).unwrap_or_default();
    Ok(written)
}

/// All other types: the kernel takes one block.
#[allow(dead_code, reason = "not used when every family is off")]
#[inline(never)]
fn blocks<const BYTES: usize, const ELEMENTS: usize>(
    job: Job<'_, '_>,
    fields: Option<&[Field]>,
    kernel: impl Fn(&[u8; BYTES], &mut [f32; ELEMENTS]),
) -> Result<usize, DequantizeError> {
    let swapped = match (job.order, fields) {
        (ByteOrder::Little, _) => &[],
        (ByteOrder::Big, Some(fields)) => fields,
        (ByteOrder::Big, None) => {
            return Err(DequantizeError::AmbiguousByteOrder { tensor_type: job.tensor_type });
        }
    };
    if !enough(&job, BYTES, ELEMENTS)? {
        return Ok(0);
    }
    let (blocks, _) = job.src.as_chunks::<BYTES>();
    let (values, _) = job.out.as_chunks_mut::<ELEMENTS>();
    let written = blocks.len().min(values.len());
    for (block, values) in blocks.iter().zip(values) {
        let mut copy;
        let mut block = block;
        if !swapped.is_empty() {
            copy = *block;
            swap_fields(&mut copy, swapped);
            block = &copy;
        }
        kernel(block, values);
    }
    // No overflow: so many bytes are in `src`, and so many elements in `out`.
    *job.src = job.src.get(written.wrapping_mul(BYTES)..).unwrap_or_default();
    Ok(written.wrapping_mul(ELEMENTS))
}

/// Whether there is a block to read and room for it; false if there is nothing to read.
fn enough(job: &Job<'_, '_>, block_bytes: usize, block_elements: usize) -> Result<bool, DequantizeError> {
    if job.src.is_empty() {
        return Ok(false);
    }
    if job.src.len() < block_bytes {
        return Err(DequantizeError::PartialBlock { needed: block_bytes, got: job.src.len() });
    }
    if job.out.len() < block_elements {
        return Err(DequantizeError::OutputTooSmall { needed: block_elements, got: job.out.len() });
    }
    Ok(true)
}

/// Turns a big-endian block into a little-endian one.
#[allow(dead_code, reason = "not used when every family is off")]
fn swap_fields(block: &mut [u8], fields: &[Field]) {
    fn reverse<const WIDTH: usize>(bytes: &mut [u8], count: u16) {
        let (numbers, _) = bytes.as_chunks_mut::<WIDTH>();
        numbers.iter_mut().take(usize::from(count)).for_each(|number| number.reverse());
    }
    for field in fields {
        let bytes = block.get_mut(usize::from(field.start)..).unwrap_or_default();
        match field.width {
            4 => reverse::<4>(bytes, field.count),
            _ => reverse::<2>(bytes, field.count),
        }
    }
}
