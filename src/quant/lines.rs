//! Loops that go by the lines of the cache, in which values are written.
//!
//! A vector that goes over the end of a line takes as long as two to store, and a line that is not in the L1 cache holds up
//! all that is stored after it.

use core::hint::black_box;

/// Elements of a step.
pub(super) const STEP: usize = 64;
/// Bytes of a line of the cache.
const LINE_BYTES: usize = 64;

/// Converts as many elements as there are: `convert` 64 of them, which are `STEP_BYTES` bytes, and `convert_few` fewer.
///
/// Elements around the ends of `out` may be converted twice.
#[inline(always)]
pub(super) fn in_lines<const BYTES: usize, const STEP_BYTES: usize>(
    src: &[u8],
    out: &mut [f32],
    convert: impl Fn(&[u8; STEP_BYTES], &mut [f32; STEP]),
    convert_few: impl Fn(&[[u8; BYTES]], &mut [f32]) -> usize,
) {
    const { assert!(STEP_BYTES == STEP * BYTES) };
    let (elements, _) = src.as_chunks::<BYTES>();
    let count = elements.len().min(out.len());
    let (elements, out) =
        (elements.get(..count).unwrap_or_default(), out.get_mut(..count).unwrap_or_default());
    let (Some(last), Some(last_values)) = (elements.as_flattened().last_chunk(), out.last_chunk_mut()) else {
        _ = convert_few(elements, out);
        return;
    };
    // The last step ends where `out` does, and the first one begins there: over what others convert too.
    convert(last, last_values);
    if let (Some(first), Some(values)) = (elements.as_flattened().first_chunk(), out.first_chunk_mut()) {
        convert(first, values);
    }
    // However many there are, the first step has them.
    let before_line = out.as_ptr().align_offset(LINE_BYTES).min(STEP);
    let elements = elements.get(before_line..).unwrap_or_default().as_flattened().as_chunks().0;
    let values = out.get_mut(before_line..).unwrap_or_default().as_chunks_mut().0;
    for (elements, values) in elements.iter().zip(values) {
        convert(elements, values);
    }
}

/// How many elements ahead a loop reads, which are 1 KiB.
const AHEAD: usize = 256;
/// So many elements, which are 32 KiB, may all be in the L1 cache.
const SHORT: usize = 8 * 1024;

/// Decodes one block after the other, and reads what it is about to write over, to have it in the L1 cache by then.
///
/// A read does not hold up what comes after it. Out of an L2 cache that makes up to a half more weights a second; out of
/// memory it makes no difference.
#[allow(dead_code, reason = "not used when every family is off")]
#[inline(always)]
pub(super) fn blocks<const BYTES: usize, const ELEMENTS: usize>(
    src: &[u8],
    out: &mut [f32],
    function: impl Fn(&[u8; BYTES], &mut [f32; ELEMENTS]),
) {
    let ahead = if out.len() > SHORT { const { AHEAD / ELEMENTS } } else { usize::MAX };
    let mut read = 0;
    let mut rest = out.as_chunks_mut::<ELEMENTS>().0.iter_mut();
    for block in src.as_chunks::<BYTES>().0 {
        let Some(values) = rest.next() else { break };
        if let Some(next) = rest.as_slice().get(ahead) {
            read |= read_lines(next);
        }
        function(block, values);
    }
    // The compiler would leave out what is of no use.
    black_box(read);
}

/// Reads a number of each line.
#[inline(always)]
fn read_lines(values: &[f32]) -> u32 {
    values.as_chunks::<16>().0.iter().fold(0, |bits, [first, ..]| bits | first.to_bits())
}

#[cfg(test)]
mod tests {
    //! What the values must be is in `tests/golden.rs`.
    #![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

    use super::*;
    use crate::quant::plain;
    use std::vec::Vec;

    extern crate std;

    fn converted(src: &[u8], out: &mut [f32]) {
        let convert = |src: &[_], out: &mut [_]| plain::i16(src, out);
        in_lines::<2, 128>(src, out, |src, out| _ = convert(src.as_chunks().0, out), convert);
    }

    #[test]
    fn any_number_of_elements_is_converted_wherever_the_output_begins() {
        let src: Vec<u8> = (0..400_i16).flat_map(|number| (number - 170).to_le_bytes()).collect();
        for begin in 0..17 {
            for count in (0..70).chain(120..140).chain([255, 256, 257, 300]) {
                let mut out = [f32::MAX; 400];
                // What has no room is left, and so is what nothing is given for.
                converted(&src[..2 * count + 1], &mut out[begin..begin + count]);
                converted(&src[2 * begin..], &mut out[390..]);
                let expected = |at: usize| match at.checked_sub(begin) {
                    _ if at >= 390 => (at - 390 + begin) as f32 - 170.0,
                    Some(number) if number < count => number as f32 - 170.0,
                    _ => f32::MAX,
                };
                for (at, value) in out.into_iter().enumerate() {
                    assert_eq!(value, expected(at), "{count} elements from {begin} on, at {at}");
                }
            }
        }
    }

    #[test]
    fn long_runs_of_blocks_are_decoded_to_their_ends() {
        for count in [SHORT - 1, SHORT, SHORT + 1, SHORT + AHEAD - 1, 3 * SHORT] {
            let src: Vec<u8> = (0..=250_u8).cycle().take(count).collect();
            let mut out = std::vec![f32::MAX; count + 1];
            blocks::<1, 1>(&src, &mut out, |[byte], [value]| *value = f32::from(*byte));
            assert!(out.iter().zip(&src).all(|(value, byte)| *value == f32::from(*byte)), "{count}");
            assert_eq!(out[count..], [f32::MAX]);
            // The shorter of both says where to stop.
            let mut short = std::vec![0.0; count - 1];
            blocks::<1, 1>(&src, &mut short, |[byte], [value]| *value = f32::from(*byte));
            assert_eq!(short, out[..count - 1]);
        }
    }
}
