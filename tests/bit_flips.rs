//! One flipped bit anywhere: no panic, and the same events and verdict however the file is cut.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test may panic")]

mod support;

use std::collections::BTreeMap;

use support::record::{agreed, lenient, whole};
use support::samples::compact;
use weightstream::Options;

fn flip_every_bit(version: u32, big_endian: bool, options: Options) -> BTreeMap<&'static str, u32> {
    let mut bytes = compact(version, big_endian).bytes;
    let mut verdicts = BTreeMap::new();
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let verdict = match agreed(&bytes, options).result {
            Ok(()) => "ok",
            Err(error) => {
                assert_ne!(error.code(), "internal", "bit {bit}: {error}");
                error.code()
            }
        };
        *verdicts.entry(verdict).or_default() += 1;
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    assert_eq!(whole(&bytes, options).result, Ok(()), "the bits were put back");
    verdicts
}

/// A flip in the right place gives almost any error there is: else the sample is too plain to prove anything.
fn assert_varied(verdicts: &BTreeMap<&'static str, u32>, codes: &[&str]) {
    for code in codes {
        assert!(verdicts.contains_key(code), "no flip gave {code}: {verdicts:?}");
    }
}

#[test]
fn flips_in_version_3() {
    let codes = [
        "ok",
        "input.truncated",
        "gguf.bad_magic",
        "gguf.unsupported_version",
        "gguf.bad_value_type",
        "gguf.bad_bool",
        "gguf.alignment_type",
        "gguf.bad_alignment",
        "name.not_utf8",
        "limit.rank",
        "tensor.unknown_type",
        "tensor.removed_type",
        "tensor.row_not_whole_blocks",
        "tensor.offset_mismatch",
    ];
    assert_varied(&flip_every_bit(3, false, Options::new()), &codes);
}

#[test]
fn flips_in_version_1_with_any_layout() {
    let codes = ["ok", "tensor.offset_unaligned", "tensor.overlap"];
    assert_varied(&flip_every_bit(1, false, lenient()), &codes);
}

#[test]
fn flips_in_big_endian_with_a_known_size() {
    let options = lenient().input_bytes(compact(3, true).bytes.len() as u64);
    assert_varied(&flip_every_bit(3, true, options), &["ok", "input.exceeded", "name.nul"]);
}
