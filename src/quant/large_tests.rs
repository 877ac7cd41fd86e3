//! What is written past the caches has the bits that the kernels write, wherever the output begins and ends.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::arithmetic_side_effects)]

extern crate std;

use super::large::{LINE, PIECE, PLACE_LINES, PLACES, before_lines, fence, store_line_256, store_line_512};
use super::tests::{assert_same, at_each_level, fill};
use super::{Level, block, kernel, large};
use crate::TensorType;
use std::vec;
use std::vec::Vec;

/// A value that no output has where nothing was written.
const UNTOUCHED: f32 = 123.456;

/// Outputs, in elements, with and without a whole piece, group of places, line, and an odd end of each.
fn lengths(block_elements: usize) -> Vec<usize> {
    let group = PLACES * PLACE_LINES * LINE;
    match block_elements {
        1 => vec![0, 1, LINE - 1, PIECE, PIECE + 1, 3 * PIECE + LINE + 3, group, 2 * group - 1],
        _ => vec![0, PIECE / block_elements, PIECE / block_elements + 1, 5 * PIECE / block_elements + 1]
            .into_iter()
            .map(|blocks| blocks * block_elements)
            .collect(),
    }
}

/// Decodes both ways into outputs that begin so many values behind the start of a line.
fn check(tensor_type: TensorType, blocks: &[u8], elements: usize, offsets: impl Iterator<Item = usize>) {
    let (kernel, block) = (kernel(tensor_type).unwrap(), block(tensor_type).unwrap());
    let mut expected = vec![UNTOUCHED; elements];
    kernel(blocks, &mut expected);
    let mut memory = vec![0.0; elements + 4 * LINE];
    let to_line = memory.as_ptr().align_offset(LINE * size_of::<f32>());
    for offset in offsets {
        memory.fill(UNTOUCHED);
        let start = to_line + offset;
        large::run(tensor_type, kernel, block, blocks, &mut memory[start..start + elements]);
        let what = std::format!("{tensor_type} at {:?}, {elements} behind {offset}", Level::in_use());
        assert_same(&memory[start..start + elements], &expected, &what);
        let around = memory[..start].iter().chain(&memory[start + elements..]);
        assert!(around.copied().all(|value| value == UNTOUCHED), "{what}: written beside it");
    }
}

#[test]
fn any_output_of_any_type_has_the_bits_of_the_kernel() {
    #[cfg(feature = "safetensors")]
    let dtypes = TensorType::DTYPES;
    #[cfg(not(feature = "safetensors"))]
    let dtypes = &[];
    at_each_level(|| {
        let types = TensorType::ALL.iter().chain(dtypes).copied();
        for tensor_type in types.filter(|tensor_type| kernel(*tensor_type).is_some()) {
            let block = block(tensor_type).unwrap();
            for elements in lengths(block.elements) {
                let mut blocks = vec![0; elements / block.elements * block.bytes];
                fill(&mut blocks);
                if elements <= 8 * PIECE {
                    check(tensor_type, &blocks, elements, 0..=LINE);
                } else {
                    check(tensor_type, &blocks, elements, [0, 5].into_iter());
                }
            }
        }
    });
}

#[test]
fn lines_are_those_of_the_cache() {
    let memory = [0.0; 3 * LINE];
    for offset in 0..=LINE {
        let before = before_lines(&memory[offset..]);
        assert!(before < LINE && memory[offset + before..].as_ptr().addr().is_multiple_of(64), "{offset}");
        let most = before.min(1);
        assert_eq!(before_lines(&memory[offset..offset + 1]), most, "{offset}");
    }
}

#[test]
#[allow(unsafe_code, reason = "calls code for instructions that this processor was asked for")]
fn a_line_is_written_wherever_it_is() {
    let values = core::array::from_fn(|index| index as f32);
    for offset in 0..=LINE {
        let mut memory = [UNTOUCHED; 3 * LINE];
        let line = memory[offset..].first_chunk_mut().unwrap();
        if Level::Avx512.is_available() {
            // SAFETY: the processor has AVX-512.
            unsafe { store_line_512(line, &values) };
            fence();
            assert_eq!(*line, values);
            line.fill(UNTOUCHED);
        }
        if Level::Avx2.is_available() {
            // SAFETY: the processor has AVX2.
            unsafe { store_line_256(line, &values) };
            fence();
            assert_eq!(*line, values);
            line.fill(UNTOUCHED);
        }
        assert_eq!(memory, [UNTOUCHED; 3 * LINE]);
    }
}
