//! However a file is cut, changed or cut short: the same events and the same verdict for any chunks, and the grammar kept.

use std::collections::BTreeMap;

use weightstream::{Error, ErrorKind, Options, Section, TensorSlot, safetensors};

use crate::support::grammar::keeps_to_grammar;
use crate::support::random::Random;
use crate::support::record::{Recording, Seen, run};
use crate::support::safetensors_writer::{
    agreed, compact, file, full, long_names, object, tensor, whole, worked_example,
};

/// Files that the decoder takes.
pub fn good_files() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("worked example", worked_example()),
        ("compact", compact()),
        ("long names", long_names()),
        ("nothing", file("{}", &[])),
        ("metadata only", file(r#"{"__metadata__":{"a":"b"}}"#, &[])),
        ("null metadata", file(r#"{"__metadata__":null}"#, &[])),
    ]
}

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

#[test]
fn every_chunk_size_and_every_cut_tells_the_same() {
    for (name, bytes) in good_files() {
        assert_eq!(whole(&bytes, Options::new()).result, Ok(()), "{name}");
        holds_for_all_cuts(name, &bytes, Options::new());
        holds_for_all_cuts(name, &bytes, Options::new().input_bytes(bytes.len() as u64));
    }
}

#[test]
fn every_pair_of_cuts_of_a_small_file_tells_the_same() {
    let header = r#"{"\u00e9":{"dtype":"I16","shape":[1],"data_offsets":[0,2]},"__metadata__":{"é\n":"\ud83d\ude00"}}"#;
    for bytes in [file(header, &[1, 2]), file(header, &[1, 2, 3])] {
        let expected = whole(&bytes, Options::new());
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(run(&mut full(Options::new()), pieces), expected, "cut at {first} and {second}");
            }
        }
    }
}

#[test]
fn every_cut_of_refused_files_tells_the_same() {
    let text = |text: &[u8]| [br#"{"__metadata__":{"k":""#, text, br#""}}"#].concat();
    let a = tensor("a", "F32", &[1], 0, 4);
    let limited = file(text("a\\n\\ud83d\\ude00é more".as_bytes()), &[]);
    for limit in 1..14 {
        holds_for_all_cuts("limited", &limited, Options::new().string_bytes(limit));
    }
    let headers = [
        text(b"ab\xffcd"),
        text(b"\xe2\x82"),
        text(b"\\ud800\\n"),
        text(b"\\udc00"),
        text(b"ok\x01"),
        text(b"\\x"),
        object(&[a.clone(), a.clone()]).into_bytes(),
        object(&[tensor("a", "F32", &[1], 0, 5)]).into_bytes(),
        object(&[tensor("a\0b", "F32", &[1], 0, 4)]).into_bytes(),
        object(&[a.clone(), tensor("b", "F32", &[1], 5, 9)]).into_bytes(),
        b"{\"a\":nulx}".to_vec(),
        b"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.5]}}".to_vec(),
        b"{\"a\":{\"dtype\":\"F31\"}}".to_vec(),
        b"{} x".to_vec(),
        b"{".to_vec(),
    ];
    for (index, header) in headers.iter().enumerate() {
        let bytes = file(header, &[0; 4]);
        assert!(whole(&bytes, Options::new()).result.is_err(), "{index}");
        holds_for_all_cuts(&format!("refused {index}"), &bytes, Options::new());
    }
    let bytes = file(object(&[a]), &[0; 9]);
    assert_eq!(whole(&bytes, Options::new()).error().kind(), ErrorKind::TrailingBytes);
    holds_for_all_cuts("trailing bytes", &bytes, Options::new());
}

#[test]
fn empty_chunks_change_nothing() {
    for (name, bytes) in good_files() {
        let expected = whole(&bytes, Options::new());
        let spaced = bytes.chunks(1).flat_map(|chunk| [&[], chunk, &[]]);
        assert_eq!(run(&mut full(Options::new()), spaced), expected, "{name}");
    }
}

/// Whether `part` is what of `all` was told when `cut` bytes had come: every event that ended by then, and of the next one
/// a beginning at most.
fn is_told_by(part: &Recording, all: &Recording, cut: u64) -> bool {
    let complete = all.ends.iter().take_while(|end| **end <= cut).count();
    let rest = part.events.get(complete..);
    let beginning = match (rest, all.events.get(complete)) {
        (Some([]), _) => true,
        (
            Some([Seen::Text { bytes, last: false, total: None }]),
            Some(Seen::Text { bytes: text, total: None, .. }),
        ) => text.starts_with(bytes),
        (
            Some([Seen::Data { tensor, tensor_type, first_element: 0, bytes }]),
            Some(Seen::Data { tensor: same, bytes: data, .. }),
        ) => {
            let block = u64::from(tensor_type.block_bytes().unwrap());
            let come = cut - (all.ends[complete] - data.len() as u64);
            tensor == same && data.starts_with(bytes) && bytes.len() as u64 == come / block * block
        }
        _ => false,
    };
    beginning && part.events[..complete] == all.events[..complete]
}

#[test]
fn every_truncation_names_what_is_missing_after_all_that_came() {
    for (name, bytes) in good_files() {
        let complete = whole(&bytes, Options::new());
        let header = u64::from_le_bytes(*bytes.first_chunk().unwrap());
        for cut in 0..bytes.len() as u64 {
            let told = agreed(&bytes[..cut as usize], Options::new());
            assert!(is_told_by(&told, &complete, cut), "{name} cut at {cut}");
            let error = told.error();
            let ErrorKind::Truncated { needed, got } = error.kind() else { panic!("{name}, {cut}: {error}") };
            if cut < 8 {
                assert_eq!((error.offset(), error.section(), needed, got), (0, Section::Header, 8, cut));
            } else if cut < 8 + header {
                assert_ne!(error.section(), Section::Data);
                assert_eq!((error.offset(), needed, got), (8, header, cut - 8), "{name} cut at {cut}");
            } else {
                assert_eq!(error.section(), Section::Data);
                assert!(got < needed && error.offset() + got == cut, "{name} cut at {cut}: {error}");
            }
            assert_eq!(told.position, Some(cut));
        }
    }
}

/// By hand, so that nothing above can hide a common error.
#[test]
fn truncated_data_by_hand() {
    let bytes = worked_example();
    for (cut, offset, needed, got, index) in
        [(153, 153, 8, 0, 0), (160, 153, 8, 7, 0), (161, 161, 8, 0, 1), (168, 161, 8, 7, 1)]
    {
        let error = agreed(&bytes[..cut], Options::new()).error();
        let kind = ErrorKind::Truncated { needed, got };
        assert_eq!(
            (error.kind(), error.offset(), error.index()),
            (kind, offset, Some(index)),
            "cut at {cut}"
        );
    }
}

/// Without a slot, or when every tensor was skipped, the last one is judged all the same, and so are bytes behind it.
#[test]
fn tensors_that_are_not_recorded_are_judged_too() {
    let bytes = [worked_example(), vec![0]].concat();
    let judge = |len: usize, slots: usize, skip: bool| -> Result<(), Error> {
        let mut decoder = safetensors::Decoder::new(vec![TensorSlot::EMPTY; slots]);
        let mut input = &bytes[..len];
        while let Some(event) = decoder.decode(&mut input)? {
            match event {
                weightstream::Event::Tensor { .. } if skip => decoder.skip_tensor(),
                weightstream::Event::Data(_) => panic!("nobody asked for data"),
                _ => {}
            }
        }
        decoder.finish()
    };
    for (slots, skip) in [(0, false), (0, true), (4, true)] {
        for cut in 153..169 {
            let error = judge(cut, slots, skip).unwrap_err();
            let kind = ErrorKind::Truncated { needed: 8, got: (cut as u64).saturating_sub(161) };
            assert_eq!((error.kind(), error.offset(), error.index()), (kind, 161, Some(1)), "cut at {cut}");
        }
        assert_eq!(judge(169, slots, skip), Ok(()));
        let error = judge(170, slots, skip).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::TrailingBytes, 169));
    }
}

/// Each byte with each bit flipped, and replaced by each of `others`.
fn change_every_byte(mut bytes: Vec<u8>, others: &[u8], options: Options) -> BTreeMap<&'static str, u32> {
    let mut verdicts = BTreeMap::new();
    for at in 0..bytes.len() {
        let byte = bytes[at];
        for changed in (0..8).map(|bit| byte ^ 1 << bit).chain(others.iter().copied()) {
            bytes[at] = changed;
            let verdict = match agreed(&bytes, options).result {
                Ok(()) => "ok",
                Err(error) => {
                    assert_ne!(error.code(), "internal", "byte {at} as {changed}: {error}");
                    error.code()
                }
            };
            *verdicts.entry(verdict).or_default() += 1;
        }
        bytes[at] = byte;
    }
    assert_eq!(whole(&bytes, options).result, Ok(()), "the bytes were put back");
    verdicts
}

/// A change in the right place gives almost any error there is: else the sample is too plain to prove anything.
#[test]
fn a_changed_byte_anywhere_gives_one_verdict_for_all_chunks() {
    let compact = compact();
    let size = compact.len() as u64;
    let sized = change_every_byte(compact.clone(), b"", Options::new().input_bytes(size));
    for code in ["input.exceeded", "safetensors.trailing_bytes", "ok"] {
        assert!(sized.contains_key(code), "no change gave {code}: {sized:?}");
    }
    let verdicts = change_every_byte(compact, b"\"\\{}[],:0\xff", Options::new());
    let codes = [
        "ok",
        "safetensors.header_too_large",
        "safetensors.not_utf8",
        "safetensors.bad_json",
        "safetensors.bad_escape",
        "safetensors.header_unclosed",
        "safetensors.header_not_object",
        "safetensors.metadata_not_object",
        "safetensors.metadata_not_string",
        "safetensors.tensor_not_object",
        "safetensors.bad_field",
        "safetensors.missing_field",
        "safetensors.unknown_dtype",
        "safetensors.offsets_reversed",
        "safetensors.partial_byte",
        "safetensors.length_mismatch",
        "tensor.duplicate",
    ];
    for code in codes {
        assert!(verdicts.contains_key(code), "no change gave {code}: {verdicts:?}");
    }
}

#[test]
fn every_file_keeps_to_the_grammar_whatever_is_skipped() {
    let random = &mut Random::new(1);
    for (name, bytes) in good_files() {
        for size in [1, 2, 5, 64, 10_000] {
            assert_eq!(
                keeps_to_grammar(full(Options::new()), bytes.chunks(size), 0, random),
                Ok(()),
                "{name} in chunks of {size}"
            );
        }
        for round in 0..200 {
            let pieces = random.pieces(&bytes, 30);
            assert_eq!(
                keeps_to_grammar(full(Options::new()), pieces, 1 + round % 6, random),
                Ok(()),
                "{name}, round {round}"
            );
        }
    }
}

#[test]
fn every_cut_or_changed_file_keeps_to_the_grammar_up_to_the_error() {
    let random = &mut Random::new(2);
    let mut bytes = compact();
    for cut in 0..bytes.len() {
        assert!(keeps_to_grammar(full(Options::new()), [&bytes[..cut]], 0, random).is_err());
        assert!(keeps_to_grammar(full(Options::new()), bytes[..cut].chunks(3), 0, random).is_err());
    }
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let verdict = keeps_to_grammar(full(Options::new()), [&bytes[..]], 0, random);
        assert_eq!(keeps_to_grammar(full(Options::new()), bytes.chunks(5), 0, random), verdict, "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}
