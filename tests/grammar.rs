//! The order of events is the grammar in the documentation of `Event`: for good files, for bad ones up to the error,
//! and whatever is skipped.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use support::gguf_writer::{Gguf, Tensor};
use support::grammar::keeps_to_grammar;
use support::random::Random;
use support::record::{full, lenient};
use support::samples::{compact, corpus_file, corpus_names, corpus_options, long_names};
use weightstream::{Error, Options};

/// Holds a file against the grammar. Skips one event in so many; 0 for none. A new verdict of `finish` at the end.
fn check<'b>(
    pieces: impl IntoIterator<Item = &'b [u8]>,
    options: Options,
    skip_one_in: usize,
    random: &mut Random,
) -> Result<(), Error> {
    keeps_to_grammar(full(options), pieces, skip_one_in, random)
}

#[test]
fn every_corpus_file_keeps_to_it() {
    let random = &mut Random::new(1);
    for name in corpus_names() {
        let (bytes, options) = (corpus_file(&name), corpus_options(&name));
        let verdict = check([&bytes[..]], options, 0, random);
        assert_eq!(verdict.is_err(), name == "bool_nonbinary.gguf", "{name}: {verdict:?}");
        for size in [1, 5, 64, 1000] {
            assert_eq!(check(bytes.chunks(size), options, 0, random), verdict, "{name} in chunks of {size}");
        }
    }
}

#[test]
fn every_truncated_or_flipped_file_keeps_to_it_up_to_the_error() {
    let random = &mut Random::new(2);
    for (version, big_endian) in [(1, false), (3, true)] {
        let mut bytes = compact(version, big_endian).bytes;
        for cut in 0..bytes.len() {
            assert!(check([&bytes[..cut]], Options::new(), 0, random).is_err());
            assert!(check(bytes[..cut].chunks(3), Options::new(), 0, random).is_err());
        }
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            for options in [Options::new(), lenient()] {
                let verdict = check([&bytes[..]], options, 0, random);
                assert_eq!(check(bytes.chunks(5), options, 0, random), verdict, "bit {bit}");
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn whatever_is_skipped_it_is_kept_to() {
    let random = &mut Random::new(3);
    for name in corpus_names().iter().filter(|name| *name != "bool_nonbinary.gguf") {
        let (bytes, options) = (corpus_file(name), corpus_options(name));
        for skip_one_in in [1, 2, 3, 10, 50] {
            let pieces = random.pieces(&bytes, 200);
            assert_eq!(check(pieces, options, skip_one_in, random), Ok(()), "{name}");
            assert_eq!(check([&bytes[..]], options, skip_one_in, random), Ok(()), "{name}");
        }
    }
    for file in [compact(1, false), compact(3, true), long_names()] {
        for round in 0..200 {
            let pieces = random.pieces(&file.bytes, 20);
            assert_eq!(check(pieces, Options::new(), 1 + round % 8, random), Ok(()));
        }
    }
}

/// Without a known end, no `End` comes, and the file is accepted wherever it stops.
#[test]
fn data_of_unknown_length_keep_to_it() {
    let random = &mut Random::new(4);
    let file = Gguf::new()
        .tensor(Tensor::new("known", 24, &[3], vec![1, 2, 3]))
        .tensor(Tensor::new("unknown", 99, &[3], vec![4, 5, 6, 7]))
        .write();
    for size in [1, 7, 1000] {
        assert_eq!(check(file.bytes.chunks(size), lenient(), 0, random), Ok(()));
    }
}
