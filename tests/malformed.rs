//! Files that are wrong, or look wrong: each gets the verdict that `data/malformed/expected.json` gives it, whatever the
//! chunks, and at a price that its bytes set, not its claims. `tools/make_malformed.py` makes files and table.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value as Json;
use support::grammar::Grammar;
use support::random::Random;
use support::record::{Recording, Seen};
use weightstream::{Decoder, Error, ErrorKind, Event, Layout, Options, Section, TensorSlot, UnknownTypes};

/// Codes that no file can bring about: `finish` before `decode` returned none, and a fault of the library.
const NOT_OF_A_FILE: [&str; 2] = ["input.events_pending", "internal"];

/// What the codes are taken from, so that a new kind of error asks for a case.
const ERROR_SOURCE: &str = include_str!("../src/error.rs");

/// Tensors that a caller records unless a case says otherwise.
const SLOTS: usize = 8;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/malformed")
}

/// A file, and what must be said of it.
struct Case {
    name: String,
    bytes: Vec<u8>,
    caller: Caller,
    verdict: Verdict,
}

/// How the file is read.
#[derive(Clone, Debug)]
struct Caller {
    options: Options,
    slots: usize,
    scratch: usize,
    /// Indexes of the tensors that are not recorded.
    skip: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq)]
enum Verdict {
    Ok { keys: u64, tensors: u64 },
    Bad { code: String, offset: u64, section: Section, index: Option<u64> },
}

impl Verdict {
    fn of(error: Error) -> Self {
        let index = error.index().map(u64::from);
        Self::Bad { code: error.code().to_owned(), offset: error.offset(), section: error.section(), index }
    }

    fn from_table(verdict: &Json) -> Self {
        let number = |of: &Json, field: &str| of[field].as_u64().expect("a number");
        if let Some(counts) = verdict.get("ok") {
            return Self::Ok { keys: number(counts, "keys"), tensors: number(counts, "tensors") };
        }
        let section = match verdict["section"].as_str().unwrap() {
            "header" => Section::Header,
            "metadata" => Section::Metadata,
            "tensors" => Section::Tensors,
            "data" => Section::Data,
            other => panic!("no such section: {other}"),
        };
        let code = verdict["code"].as_str().unwrap().to_owned();
        Self::Bad { code, offset: number(verdict, "offset"), section, index: verdict["index"].as_u64() }
    }
}

impl Caller {
    fn from_table(options: Option<&Json>) -> Self {
        let mut caller = Self { options: Options::new(), slots: SLOTS, scratch: 320, skip: Vec::new() };
        for (name, value) in options.and_then(Json::as_object).into_iter().flatten() {
            let number = value.as_u64().unwrap_or_default();
            let small = u8::try_from(number).unwrap_or(u8::MAX);
            let word = u32::try_from(number).unwrap_or(u32::MAX);
            let options = caller.options;
            caller.options = match (name.as_str(), value.as_str()) {
                ("entries", _) => options.entries(number),
                ("tensors", _) => options.tensors(number),
                ("name_bytes", _) => options.name_bytes(word),
                ("string_bytes", _) => options.string_bytes(number),
                ("array_elements", _) => options.array_elements(number),
                ("metadata_bytes", _) => options.metadata_bytes(number),
                ("alignment", _) => options.alignment(word),
                ("nesting", _) => options.nesting(small),
                ("rank", _) => options.rank(small),
                ("input_bytes", _) => options.input_bytes(number),
                ("layout", Some("sparse")) => options.layout(Layout::Sparse),
                ("unknown_types", Some("infer")) => options.unknown_types(UnknownTypes::Infer),
                ("slots", _) => {
                    caller.slots = usize::try_from(number).unwrap();
                    options
                }
                ("scratch", _) => {
                    caller.scratch = usize::try_from(number).unwrap();
                    options
                }
                ("skip", _) => {
                    let skip = value.as_array().unwrap().iter();
                    caller.skip = skip.map(|index| index.as_u64().unwrap().try_into().unwrap()).collect();
                    options
                }
                _ => panic!("no such option: {name} = {value}"),
            };
        }
        caller
    }
}

/// Every case of the table.
fn cases() -> Vec<Case> {
    let table = fs::read_to_string(folder().join("expected.json")).unwrap();
    let table: Vec<Json> = serde_json::from_str(&table).unwrap();
    assert!(table.len() > 200, "the table is not whole");
    let case = |row: &Json| {
        let name = row["file"].as_str().unwrap().to_owned();
        let bytes = fs::read(folder().join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let caller = Caller::from_table(row.get("options"));
        Case { name, bytes, caller, verdict: Verdict::from_table(&row["verdict"]) }
    };
    table.iter().map(case).collect()
}

/// What reading a file told, and at what price.
struct Reading {
    verdict: Verdict,
    events: Vec<Seen>,
    /// Calls of `decode`.
    calls: usize,
}

/// Reads a file in those pieces.
fn read(caller: &Caller, pieces: &[&[u8]]) -> Reading {
    let slots = vec![TensorSlot::EMPTY; caller.slots];
    match caller.scratch {
        64 => read_by(&mut Decoder::<_, 64>::with_scratch(slots, caller.options), caller, pieces),
        320 => read_by(&mut Decoder::with_options(slots, caller.options), caller, pieces),
        other => panic!("no decoder of {other} bytes"),
    }
}

fn read_by<const SCRATCH: usize>(
    decoder: &mut Decoder<Vec<TensorSlot>, SCRATCH>,
    caller: &Caller,
    pieces: &[&[u8]],
) -> Reading {
    let (mut grammar, mut told) = (Grammar::new(), Recording::new());
    let (mut calls, mut keys, mut tensors, mut ended) = (0, 0, 0, false);
    for piece in pieces {
        let mut input = *piece;
        loop {
            calls += 1;
            let event = match decoder.decode(&mut input) {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(error) => {
                    holds_on_to(decoder, error, input);
                    return Reading { verdict: Verdict::of(error), events: told.events, calls };
                }
            };
            grammar.event(&event);
            let seen = Seen::from(event);
            told.note(seen.clone(), 0);
            match seen {
                Seen::Key { .. } => keys += 1,
                Seen::End => ended = true,
                Seen::Tensor { info, .. } => {
                    tensors += 1;
                    if caller.skip.contains(&info.index()) {
                        decoder.skip_tensor();
                        grammar.skip_tensor();
                    } else if caller.slots == 0 {
                        // Nothing is recorded.
                        grammar.skip_tensor();
                    }
                }
                _ => {}
            }
        }
        assert!(input.is_empty() || ended, "none came while there was input");
    }
    let verdict = match decoder.finish() {
        Ok(()) => {
            grammar.accepted();
            Verdict::Ok { keys, tensors }
        }
        Err(error) => Verdict::of(error),
    };
    Reading { verdict, events: told.events, calls }
}

/// After an error nothing but that error comes, and nothing is consumed.
fn holds_on_to<const SCRATCH: usize>(
    decoder: &mut Decoder<Vec<TensorSlot>, SCRATCH>,
    error: Error,
    rest: &[u8],
) {
    let position = decoder.position();
    for mut input in [rest, &[], &b"GGUF\x03\0\0\0"[..]] {
        let before = input.len();
        assert_eq!(decoder.decode(&mut input).err(), Some(error));
        assert_eq!((input.len(), decoder.position()), (before, position));
    }
    decoder.skip_value();
    decoder.skip_tensor();
    assert_eq!(decoder.skippable(), 0);
    assert_eq!(decoder.finish(), Err(error));
    assert_eq!(decoder.end(), None);
}

/// The cuts that every case is read in.
fn chunkings<'b>(bytes: &'b [u8], random: &mut Random) -> Vec<Vec<&'b [u8]>> {
    let mut chunkings = vec![vec![bytes]];
    chunkings.extend([1, 7].map(|size| bytes.chunks(size).collect()));
    // The large ones would cost more than they tell.
    let times = if bytes.len() < 1024 { 5 } else { 1 };
    chunkings.extend((0..times).map(|_| random.pieces(bytes, 24)));
    chunkings
}

#[test]
fn every_file_gets_its_verdict_in_any_chunks() {
    let mut random = Random::new(4);
    for case in cases() {
        let events = read(&case.caller, &[&case.bytes]).events;
        for pieces in chunkings(&case.bytes, &mut random) {
            let (name, chunks) = (&case.name, pieces.len());
            let reading = read(&case.caller, &pieces);
            assert_eq!(reading.verdict, case.verdict, "{name} in {chunks} chunks");
            assert_eq!(reading.events, events, "{name} in {chunks} chunks");
            // An event for each byte, a none for each chunk, and a few events that need no byte.
            let most = case.bytes.len() + chunks + 4;
            assert!(reading.calls <= most, "{name} in {chunks} chunks: {} calls", reading.calls);
        }
    }
}

/// What is not recorded is checked all the same, but for what takes the records of others.
#[test]
fn without_records_the_verdict_is_the_same_or_a_table_was_needed() {
    for case in cases() {
        let caller = Caller { slots: 0, ..case.caller.clone() };
        let verdict = read(&caller, &[&case.bytes]).verdict;
        match &case.verdict {
            Verdict::Bad { code, section, .. } if *section == Section::Data => {
                // Without records the last tensor is told, not the first that is cut.
                assert!(matches!(&verdict, Verdict::Bad { code: same, .. } if same == code), "{}", case.name);
            }
            Verdict::Bad { code, .. } if needs_records(code) => {
                assert!(matches!(verdict, Verdict::Ok { .. }), "{}: {verdict:?}", case.name);
            }
            expected => assert_eq!(verdict, *expected, "{}", case.name),
        }
    }
}

fn needs_records(code: &str) -> bool {
    ["tensor.duplicate", "tensor.overlap", "tensor.length_unknown", "directory.full", "directory.scratch"]
        .contains(&code)
}

/// Knowing the size finds what is wrong earlier, and nothing else.
#[test]
fn with_the_size_known_no_good_file_is_refused_and_no_bad_one_accepted() {
    for case in cases() {
        let size = u64::try_from(case.bytes.len()).unwrap();
        let caller = Caller { options: case.caller.options.input_bytes(size), ..case.caller.clone() };
        let verdict = read(&caller, &[&case.bytes]).verdict;
        match (&case.verdict, &verdict) {
            (Verdict::Ok { .. }, _) => assert_eq!(verdict, case.verdict, "{}", case.name),
            (Verdict::Bad { offset: late, .. }, Verdict::Bad { offset, .. }) => {
                assert!(offset <= late, "{}: {verdict:?}", case.name);
            }
            _ => panic!("{}: {verdict:?}", case.name),
        }
    }
}

#[test]
fn the_table_and_the_folder_name_the_same_files() {
    let listed: Vec<_> = cases().into_iter().map(|case| case.name).collect();
    let unique: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), unique.len(), "a file is listed twice");
    let there = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(there.filter(|name| name != "expected.json").collect::<BTreeSet<_>>(), unique);
}

#[test]
fn every_code_has_a_case() {
    // `name: Kind { numbers } = "the.code", "message";`
    let rows = ERROR_SOURCE.split_once("\nerror_kinds! {").expect("the table of kinds").1;
    let rows = rows.split_once("\n}").expect("its end").0;
    // Those of another format have tests of their own.
    let rows = rows.split(";\n").filter(|row| !row.contains("@\"safetensors\""));
    let codes = rows.filter_map(|row| row.split_once(" = \"")?.1.split('"').next());
    let codes: BTreeSet<_> = codes.map(str::to_owned).collect();
    assert!(codes.contains("gguf.bad_magic") && codes.len() > 30, "{codes:?}");

    let mut told: BTreeSet<_> = NOT_OF_A_FILE.map(str::to_owned).into();
    for case in cases() {
        if let Verdict::Bad { code, .. } = case.verdict {
            told.insert(code);
        }
    }
    assert_eq!(told, codes);
}

#[test]
fn finish_before_decode_returned_none_is_told() {
    let mut decoder = Decoder::new([TensorSlot::EMPTY; 1]);
    let mut input = &b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"[..];
    assert!(matches!(decoder.decode(&mut input), Ok(Some(Event::Header(_)))));
    let error = decoder.finish().unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::EventsPending, 24));
    assert_eq!(error.code(), "input.events_pending");
}
