//! Events and errors do not depend on where the chunks of a file end.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

mod support;

use support::gguf_writer::{Gguf, Value};
use support::random::Random;
use support::record::{Seen, full, lenient, run, whole};
use support::samples::{compact, corpus_file, corpus_names, corpus_options, long_names};
use weightstream::Options;

/// Every size of chunk, and every cut into two.
fn holds_for_all_cuts(name: &str, bytes: &[u8], options: Options) {
    let expected = whole(bytes, options);
    for size in 1..=bytes.len() {
        assert_eq!(run(&mut full(options), bytes.chunks(size)), expected, "{name} in chunks of {size}");
    }
    for at in 0..=bytes.len() {
        let (first, second) = bytes.split_at(at);
        assert_eq!(run(&mut full(options), [first, second]), expected, "{name} cut at {at}");
    }
}

fn holds_for_corpus(names: &[&str]) {
    for name in names {
        holds_for_all_cuts(name, &corpus_file(name), corpus_options(name));
    }
}

#[test]
fn every_cut_of_small_files_tells_the_same() {
    holds_for_corpus(&["empty.gguf", "bool_nonbinary.gguf", "badutf8.gguf", "longname64.gguf"]);
    holds_for_corpus(&["no_trailing_pad.gguf", "zero_size_dims.gguf", "longnames.gguf"]);
}

#[test]
fn every_cut_of_values_and_nested_arrays_tells_the_same() {
    holds_for_corpus(&["kv_all_be.gguf", "nested_arrays.gguf"]);
}

#[test]
fn every_cut_of_aligned_and_scattered_data_tells_the_same() {
    holds_for_corpus(&["align8.gguf", "align64_be.gguf", "offsets_shuffled.gguf", "offsets_gap.gguf"]);
}

#[test]
fn every_cut_of_compact_files_tells_the_same() {
    for (version, big_endian) in [(1, false), (2, false), (3, false), (3, true), (1, true)] {
        let name = format!("compact of version {version}, big endian {big_endian}");
        holds_for_all_cuts(&name, &compact(version, big_endian).bytes, Options::new());
    }
}

#[test]
fn every_cut_of_names_beyond_the_scratch_tells_the_same() {
    let file = long_names();
    holds_for_all_cuts("long names", &file.bytes, Options::new());
    let cut = |event: &Seen| matches!(event, Seen::Key { name, .. } | Seen::Tensor { name, .. } if name.cut);
    assert_eq!(whole(&file.bytes, Options::new()).events.iter().filter(|event| cut(event)).count(), 2);
}

#[test]
fn every_cut_of_refused_files_tells_the_same() {
    let bools = [1, 0, 2, 1].map(Value::Bool).to_vec();
    let cases = [
        Gguf::new().entry("bools", Value::array(bools)),
        Gguf::new().entry("text", Value::text("cut short").claiming(100)),
        Gguf::new().entry("k\0", Value::U8(1)),
        Gguf::new().entry(b"k\xff\0", Value::U8(1)),
        Gguf::new().entry(b"k\xe2\x82", Value::U8(1)),
    ];
    for (index, file) in cases.iter().enumerate() {
        let bytes = file.write().bytes;
        assert!(whole(&bytes, Options::new()).result.is_err());
        holds_for_all_cuts(&format!("refused {index}"), &bytes, Options::new());
    }
}

#[test]
fn chosen_cuts_of_all_files_tell_the_same() {
    let mut random = Random::new(1);
    for name in corpus_names() {
        let (bytes, options) = (corpus_file(&name), corpus_options(&name));
        let expected = whole(&bytes, options);
        for size in [1, 2, 3, 7, 8, 13, 31, 64, 293, 1000, 4096] {
            assert_eq!(run(&mut full(options), bytes.chunks(size)), expected, "{name} in chunks of {size}");
        }
        for _ in 0..5 {
            // Some of these pieces are empty.
            let pieces = random.pieces(&bytes, 40);
            assert_eq!(run(&mut full(options), pieces), expected, "{name} in pieces of random size");
        }
    }
}

#[test]
fn empty_chunks_change_nothing() {
    for name in ["nested_arrays.gguf", "v1.gguf", "align64_be.gguf", "zero_size_dims.gguf"] {
        let bytes = corpus_file(name);
        let expected = whole(&bytes, Options::new());
        let spaced = bytes.chunks(1).flat_map(|chunk| [&[], chunk, &[]]);
        assert_eq!(run(&mut full(Options::new()), spaced), expected, "{name}");
    }
}

/// Bytes after the last tensor stay in the input, wherever they are cut.
#[test]
fn what_follows_the_end_is_left_alone() {
    let mut bytes = compact(3, false).bytes;
    let end = bytes.len() as u64;
    bytes.extend_from_slice(&[0xff; 50]);
    holds_for_all_cuts("compact with a tail", &bytes, lenient());
    let expected = whole(&bytes, Options::new());
    assert_eq!((expected.result, expected.position), (Ok(()), Some(end)));
    assert_eq!(expected.events.last(), Some(&Seen::End));

    let mut input = &bytes[..];
    let mut decoder = full(Options::new());
    while decoder.decode(&mut input).unwrap().is_some() {}
    assert_eq!(input, [0xff; 50]);
}
