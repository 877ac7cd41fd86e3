//! Any range of elements, not only whole blocks.

use super::{LARGEST_BLOCK, block, dequantize};
use crate::{ByteOrder, DequantizeError, TensorType};
use core::ops::Range;

/// Writes the values of `elements`, counted from the start of `src`; decodes only blocks that the range touches.
pub(crate) fn dequantize_range(
    tensor_type: TensorType,
    order: ByteOrder,
    src: &[u8],
    elements: Range<u64>,
    out: &mut [f32],
) -> Result<usize, DequantizeError> {
    // Whether it can be done at all is said of nothing, too.
    dequantize(tensor_type, order, &mut &[][..], &mut [])?;
    let block = block(tensor_type).ok_or(DequantizeError::NoKernel { tensor_type })?;

    let blocks = as_u64(src.len().checked_div(block.bytes).unwrap_or(0));
    let held = blocks.saturating_mul(as_u64(block.elements));
    let Range { start, end } = elements;
    let wanted = match end.checked_sub(start) {
        Some(wanted) if end <= held => wanted,
        _ => return Err(DequantizeError::OutOfRange { start, end, elements: held }),
    };
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    let got = out.len();
    let out = out.get_mut(..wanted).ok_or(DequantizeError::OutputTooSmall { needed: wanted, got })?;

    // Every block size is a power of two, and what follows lies within `src`.
    let first = usize::try_from(start >> block.elements.trailing_zeros()).unwrap_or(usize::MAX);
    let inside = start & as_u64(block.elements).wrapping_sub(1);
    let src = src.get(first.saturating_mul(block.bytes)..).unwrap_or_default();
    parts(tensor_type, order, src, usize::try_from(inside).unwrap_or(0), block.elements, out)?;
    Ok(wanted)
}

/// Fills `out` with the elements from `inside` the first block on: the end of a block, whole ones, the start of one.
fn parts(
    tensor_type: TensorType,
    order: ByteOrder,
    mut src: &[u8],
    mut inside: usize,
    block_elements: usize,
    mut out: &mut [f32],
) -> Result<(), DequantizeError> {
    let mut buffer = [0.0; LARGEST_BLOCK];
    while !out.is_empty() {
        let written = if inside == 0 && out.len() >= block_elements {
            dequantize(tensor_type, order, &mut src, out)?
        } else {
            let block = buffer.get_mut(..block_elements).unwrap_or_default();
            dequantize(tensor_type, order, &mut src, block)?;
            let part = block.get(inside..).unwrap_or_default();
            inside = 0;
            out.iter_mut().zip(part).map(|(out, value)| *out = *value).count()
        };
        if written == 0 {
            break; // Never, since `src` has the elements; but the loop must end.
        }
        out = out.get_mut(written..).unwrap_or_default();
    }
    Ok(())
}

/// No target has addresses of more than 64 bits.
fn as_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
