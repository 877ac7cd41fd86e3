//! Reading what is to be written, a little before.
//!
//! A store over the end of a cache line is slow if the lines are not in the first cache, and with vectors of 64 bytes nearly
//! each store is one, as allocators align to 16 bytes. A load of one number fetches its line as well, and nothing waits for
//! it: to an output in the second cache, kernels write up to a third more in a second.

use super::{Block, Kernel, LARGEST_BLOCK, Level};

/// Elements of an output that lies in the first cache when it is written again and again.
const IN_FIRST_CACHE: usize = 8 * 1024;

/// Elements that a kernel writes between two fetches. More at once would make it wait.
const RUN: usize = LARGEST_BLOCK;

/// Has a kernel decode whole blocks, with room for each.
pub(super) fn run(kernel: Kernel, block: Block, mut src: &[u8], mut out: &mut [f32]) {
    if out.len() > IN_FIRST_CACHE && crosses_lines(out) {
        // No overflow, and a division without a rest: numbers of elements are powers of two.
        let bytes = (RUN >> block.elements.trailing_zeros()).wrapping_mul(block.bytes);
        while out.len() > RUN {
            let values = core::mem::take(&mut out).split_at_mut_checked(RUN);
            let (Some((blocks, other_blocks)), Some((values, rest))) = (src.split_at_checked(bytes), values)
            else {
                return;
            };
            // Not those that are next, but those behind them: memory takes its time.
            fetch(rest.get(RUN..).unwrap_or_default());
            kernel(blocks, values);
            (src, out) = (other_blocks, rest);
        }
    }
    kernel(src, out);
}

/// Whether stores of vectors cross the ends of cache lines.
fn crosses_lines(out: &[f32]) -> bool {
    let vector_bytes = match Level::in_use() {
        Level::Target => 16,
        Level::Avx2 => 32,
        Level::Avx512 => 64,
    };
    !out.as_ptr().addr().is_multiple_of(vector_bytes)
}

/// Has the first of these numbers brought into the first cache.
fn fetch(numbers: &[f32]) {
    let lines = numbers.get(..RUN).unwrap_or_default().as_chunks::<16>().0;
    core::hint::black_box(lines.iter().fold(0, |seen, [first, ..]| seen | first.to_bits()));
}
