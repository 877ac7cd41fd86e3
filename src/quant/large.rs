//! Large outputs, written past the caches.
//!
//! An ordinary store first reads the line of the cache that it changes, and the line is written to memory later. A
//! non-temporal store of a whole line does not read it. That pays only for values that would not stay in the caches until
//! they are used: others are read from there sooner than from memory.

#[cfg(feature = "safetensors")]
use super::dtype;
use super::{Block, Kernel, Level, avx2, avx512, plain};
use crate::TensorType;
use core::arch::x86_64::{_mm_sfence, _mm256_stream_ps, _mm512_stream_ps};
use core::mem::take;
use safe_unaligned_simd::x86_64::{_mm256_loadu_ps, _mm256_storeu_ps, _mm512_loadu_ps, _mm512_storeu_ps};

/// An output of so many values is large: of 32 MiB. Where less was decoded and then read once, ordinary stores took less
/// time for both together.
pub(super) const LARGE: usize = 8 << 20;

/// The values of a line of the cache.
pub(super) const LINE: usize = 16;
/// Values that are decoded at once, into the L1 cache.
pub(super) const PIECE: usize = super::LARGEST_BLOCK;
/// Plain elements are taken from so many places in turn: a processor reads ahead from each of them.
pub(super) const PLACES: usize = 4;
/// The lines that come from a place.
pub(super) const PLACE_LINES: usize = 256;
/// The lines that are taken from a place before it is the next one's turn.
const TURN_LINES: usize = 4;

/// Has all blocks decoded, which are whole ones, with room for each.
#[allow(
    unsafe_code,
    reason = "calls code for instructions that not every processor has, where this one has them"
)]
pub(super) fn run(tensor_type: TensorType, kernel: Kernel, block: Block, src: &[u8], out: &mut [f32]) {
    if tensor_type == TensorType::F32 {
        // A copy, which the C library makes past the caches.
        return kernel(src, out);
    }
    match Level::in_use() {
        // Few processors have no more, and a third way is not worth it.
        Level::Target => kernel(src, out),
        // SAFETY: a level other than the lowest is in use only where `Level::is_available` found all its instructions, which
        // are those that the function is compiled for.
        Level::Avx2 => unsafe { run_avx2(tensor_type, kernel, block, src, out) },
        // SAFETY: as above.
        Level::Avx512 => unsafe { run_avx512(tensor_type, kernel, block, src, out) },
    }
}

/// The function of a level, the features given, with its steps.
///
/// The closures in it are compiled for that level.
macro_rules! run_at {
    ($run:ident $level:ident $features:literal $store_line:ident) => {
        /// Decodes all blocks past the caches.
        #[target_feature(enable = $features)]
        fn $run(tensor_type: TensorType, kernel: Kernel, block: Block, src: &[u8], out: &mut [f32]) {
            let store = |line: &mut _, values: &_| $store_line(line, values);
            macro_rules! convert {
                ($function:path) => {{
                    let convert_few = |elements: &[_], values: &mut [f32]| _ = $function(elements, values);
                    convert(
                        src.as_chunks().0,
                        out,
                        convert_few,
                        |elements, values| convert_few(elements, values),
                        store,
                    )
                }};
            }
            match tensor_type {
                TensorType::F16 => convert(
                    src.as_chunks().0,
                    out,
                    |elements, values| _ = plain::f16(elements, values),
                    |elements, values| $level::f16(elements.as_flattened(), values),
                    store,
                ),
                TensorType::BF16 => convert!(plain::bf16),
                TensorType::F64 => convert!(plain::f64),
                TensorType::I16 => convert!(plain::i16),
                TensorType::I32 => convert!(plain::i32),
                TensorType::I64 => convert!(plain::i64),
                #[cfg(feature = "safetensors")]
                TensorType::U16 => convert!(dtype::u16),
                #[cfg(feature = "safetensors")]
                TensorType::U32 => convert!(dtype::u32),
                #[cfg(feature = "safetensors")]
                TensorType::U64 => convert!(dtype::u64),
                _ => pieces(kernel, block, src, out, store),
            }
            fence();
        }
    };
}
run_at!(run_avx2 avx2 "avx2,bmi1,bmi2,f16c,lzcnt,popcnt" store_line_256);
run_at!(run_avx512 avx512 "avx2,bmi1,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi"
    store_line_512);

/// Decodes piece after piece into the L1 cache, and copies whole lines from there.
#[inline(always)]
fn pieces(
    kernel: Kernel,
    block: Block,
    src: &[u8],
    out: &mut [f32],
    store: impl Fn(&mut [f32; LINE], &[f32; LINE]),
) {
    // Every number of elements in a block is a power of two, and at most those of a piece. No block has more than 300 bytes.
    let bytes = (PIECE >> block.elements.trailing_zeros()).wrapping_mul(block.bytes);
    // The first piece by ordinary stores, up to the line that its end is in.
    let (Some((first, src)), Some(piece)) = (src.split_at_checked(bytes), out.get_mut(..PIECE)) else {
        return kernel(src, out);
    };
    kernel(first, piece);
    let left = before_lines(out).wrapping_neg() % LINE;
    let (_, out) = out.split_at_mut_checked(PIECE.wrapping_sub(left)).unwrap_or_default();
    // A piece, and before it what is not written of the one before.
    let mut values = Values([0.0; LINE + PIECE]);
    let values = &mut values.0;
    let start = LINE.wrapping_sub(left);
    for (value, out) in values.iter_mut().skip(start).zip(out.iter().take(left)) {
        *value = *out;
    }
    let mut rest = out;
    let mut blocks = src.chunks_exact(bytes.max(1));
    for blocks in blocks.by_ref() {
        kernel(blocks, values.get_mut(LINE..).unwrap_or_default());
        let (window, others) = take(&mut rest).split_at_mut_checked(PIECE).unwrap_or_default();
        let lines = values.get(start..).unwrap_or_default().as_chunks().0;
        for (line, values) in window.as_chunks_mut().0.iter_mut().zip(lines) {
            store(line, values);
        }
        let last = *values.last_chunk().unwrap_or(&[0.0; LINE]);
        values.first_chunk_mut().into_iter().for_each(|first| *first = last);
        rest = others;
    }
    let (last, rest) = rest.split_at_mut_checked(left).unwrap_or_default();
    for (out, value) in last.iter_mut().zip(values.iter().skip(start)) {
        *out = *value;
    }
    kernel(blocks.remainder(), rest);
}

/// Converts line after line of plain elements, from several places in turn.
#[inline(always)]
fn convert<const BYTES: usize>(
    elements: &[[u8; BYTES]],
    out: &mut [f32],
    convert_few: impl Fn(&[[u8; BYTES]], &mut [f32]),
    convert_line: impl Fn(&[[u8; BYTES]; LINE], &mut [f32; LINE]),
    store: impl Fn(&mut [f32; LINE], &[f32; LINE]),
) {
    let before = before_lines(out);
    let (first, out) = out.split_at_mut_checked(before).unwrap_or_default();
    let (first_elements, elements) = elements.split_at_checked(before).unwrap_or_default();
    convert_few(first_elements, first);

    let write_line = |(elements, line): (&[[u8; BYTES]; LINE], &mut [f32; LINE])| {
        let mut values = [0.0; LINE];
        convert_line(elements, &mut values);
        store(line, &values);
    };
    let ((elements, last_elements), (lines, last)) = (elements.as_chunks(), out.as_chunks_mut());
    let ((places, elements), (out_places, lines)) =
        (elements.as_chunks::<PLACE_LINES>(), lines.as_chunks_mut::<PLACE_LINES>());
    let (groups, out_groups) = (places.chunks(PLACES), out_places.chunks_mut(PLACES));
    for (places, out_places) in groups.zip(out_groups) {
        for turn in 0..PLACE_LINES / TURN_LINES {
            for (elements, lines) in places.iter().zip(&mut *out_places) {
                let elements = elements.as_chunks::<TURN_LINES>().0.get(turn);
                let lines = lines.as_chunks_mut::<TURN_LINES>().0.get_mut(turn);
                if let (Some(elements), Some(lines)) = (elements, lines) {
                    elements.iter().zip(lines).for_each(&write_line);
                }
            }
        }
    }
    elements.iter().zip(lines).for_each(&write_line);
    convert_few(last_elements, last);
}

/// The values before the first whole line.
pub(super) fn before_lines(out: &[f32]) -> usize {
    out.as_ptr().align_offset(size_of::<Line>()).min(out.len())
}

/// A piece and a line before it, at the start of a line of the cache.
#[repr(align(64))]
struct Values([f32; LINE + PIECE]);

/// What lies as a line of the cache does.
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "only its place matters")] [f32; LINE]);

fn is_line(values: &[f32; LINE]) -> bool {
    values.as_ptr().cast::<Line>().is_aligned()
}

/// Waits for stores past the caches, which wait for nothing else.
#[allow(unsafe_code, unused_unsafe, reason = "a safe function of newer compilers only")]
pub(super) fn fence() {
    // SAFETY: every x86-64 processor has it.
    unsafe { _mm_sfence() };
}

/// Writes a line past the caches. [`fence`] must follow before anything else reads it or writes to it.
#[inline]
#[target_feature(enable = "avx")]
#[allow(unsafe_code, reason = "there is no safe function for it")]
pub(super) fn store_line_256(line: &mut [f32; LINE], values: &[f32; LINE]) {
    let is_line = is_line(line);
    for (out, values) in line.as_chunks_mut::<8>().0.iter_mut().zip(values.as_chunks::<8>().0) {
        let values = _mm256_loadu_ps(values);
        if is_line {
            // SAFETY: `out` is 32 bytes that may be written. They begin at a multiple of 32, since the line does. Nobody touches
            // them before `fence`.
            unsafe { _mm256_stream_ps(out.as_mut_ptr(), values) };
        } else {
            _mm256_storeu_ps(out, values);
        }
    }
}

/// Writes a line past the caches. [`fence`] must follow before anything else reads it or writes to it.
#[inline]
#[target_feature(enable = "avx512f")]
#[allow(unsafe_code, reason = "there is no safe function for it")]
pub(super) fn store_line_512(line: &mut [f32; LINE], values: &[f32; LINE]) {
    let values = _mm512_loadu_ps(values);
    if is_line(line) {
        // SAFETY: the line is 64 bytes that may be written, and begins at a multiple of 64. Nobody touches it before `fence`.
        unsafe { _mm512_stream_ps(line.as_mut_ptr(), values) };
    } else {
        _mm512_storeu_ps(line, values);
    }
}
