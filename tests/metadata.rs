//! Kept metadata: what is asked for is what the file says, or a clear error; never a wrapped number, never a cut text.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use support::gguf_writer::{Gguf, Value};
use support::samples::compact;
use weightstream::metadata::{Content, Integer, Key, KeyPattern, Metadata, MetadataError, MetadataErrorKind};
use weightstream::{Decoder, Event, Options, Scalar, ValueType};

type Store = Metadata<24, 600>;

/// Keeps everything that can be kept.
const ELEMENTS: &[KeyPattern] = &[KeyPattern::prefix("").with_elements()];

/// Passes on every event of a file in chunks of `size`, and skips what is not wanted.
fn push<const K: usize, const B: usize>(
    store: &mut Metadata<K, B>,
    bytes: &[u8],
    size: usize,
) -> Result<(), MetadataError> {
    let mut decoder = Decoder::new([]);
    for mut chunk in bytes.chunks(size) {
        while let Some(event) = decoder.decode(&mut chunk).unwrap() {
            if !store.accept(&event)? {
                decoder.skip_value();
            }
        }
    }
    decoder.finish().unwrap();
    Ok(())
}

fn kept(file: &Gguf, filter: &'static [KeyPattern]) -> Store {
    let mut store = Store::with_filter(filter);
    push(&mut store, &file.write().bytes, 1 << 20).unwrap();
    store
}

fn all(file: &Gguf) -> Store {
    let mut store = Store::new();
    push(&mut store, &file.write().bytes, 1 << 20).unwrap();
    store
}

fn one(value: Value) -> Store {
    all(&Gguf::new().entry("key", value))
}

/// What a store says of a key, by every getter.
fn said<const K: usize, const B: usize>(store: &Metadata<K, B>, key: &str) -> String {
    let numbers = (store.integer(key, 9_u64), store.integer(key, 9_i64), store.float(key, 9.0));
    let others = (store.boolean(key, true), store.text(key, "nine"), store.array_len(key));
    let place = (store.contains(key), store.index(key));
    let items: Vec<_> = (0..4).map(|index| store.item(key, index)).collect();
    format!("{numbers:?} {others:?} {place:?} {:?} {items:?}", store.value(key))
}

fn kind<T: core::fmt::Debug>(result: Result<T, MetadataError>) -> MetadataErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn three_keys_are_read_as_they_were_written() {
    let tokens = vec![Value::text("<s>"), Value::text("سلام")];
    let file = Gguf::new()
        .entry("general.architecture", Value::text("llama"))
        .entry("llama.context_length", Value::U32(2048))
        .entry("tokenizer.tokens", Value::array(tokens))
        .entry("empty", Value::Array { element: 8, items: Vec::new() });
    for size in 1..=file.write().bytes.len() {
        let mut store = Metadata::<4, 128>::with_filter(ELEMENTS);
        push(&mut store, &file.write().bytes, size).unwrap();
        assert_eq!(store.integer("llama.block_count", 32), Ok(32));
        assert_eq!(store.integer("llama.context_length", 0), Ok(2048));
        assert_eq!(store.integer(Key::OfArchitecture("context_length"), 0_u32), Ok(2048));
        assert_eq!(store.text("general.architecture", ""), Ok("llama"));

        assert_eq!(store.array_len("tokenizer.tokens"), Ok(Some(2)));
        assert_eq!(store.array_len("empty"), Ok(Some(0)), "an empty array is there");
        assert_eq!(store.array_len("tokenizer.scores"), Ok(None), "and this one is not");
        let second = store.item("tokenizer.tokens", 1).unwrap().unwrap();
        assert_eq!((second.text(), second.index()), (Ok("سلام"), 2));
        assert_eq!(store.item("tokenizer.tokens", 2), Ok(None), "past the end");
        assert_eq!(store.item("empty", 0), Ok(None));
        assert!(store.contains("empty") && !store.contains("tokenizer.scores"));
        assert_eq!((store.index("empty"), store.index("tokenizer.scores")), (Some(3), None));
    }
}

#[test]
fn an_empty_model_gives_every_default() {
    let store = all(&Gguf::new());
    assert_eq!(store.integer("a", 7_u32), Ok(7));
    assert_eq!(store.integer("a", -7_i64), Ok(-7));
    assert_eq!(store.integer(Key::OfArchitecture("a"), 7_usize), Ok(7));
    assert_eq!(store.float("a", 0.5), Ok(0.5));
    assert_eq!((store.boolean("a", true), store.boolean("a", false)), (Ok(true), Ok(false)));
    assert_eq!(store.text("a", "none"), Ok("none"));
    assert_eq!((store.array_len("a"), store.item("a", 0), store.value("a")), (Ok(None), Ok(None), Ok(None)));
    assert_eq!((store.contains("a"), store.index("a"), store.used_bytes()), (false, None, 0));
    assert_eq!(store.keys().count(), 0);
}

fn integer_or_error<T>(number: i128, value: &Value)
where
    T: Integer + TryFrom<i128> + Default + core::fmt::Debug + PartialEq,
{
    let read = one(value.clone()).integer("key", T::default());
    match T::try_from(number) {
        Ok(expected) => assert_eq!(read, Ok(expected), "{value:?}"),
        Err(_) => assert_eq!(kind(read), MetadataErrorKind::OutOfRange, "{value:?}"),
    }
}

#[test]
fn every_integer_is_read_as_any_type_that_has_it_and_never_wraps() {
    let edges = [7, 8, 15, 16, 31, 32, 63, 64].map(|bits| 1_i128 << bits);
    let numbers = edges.iter().flat_map(|edge| [*edge - 1, *edge, -*edge, -*edge - 1, 0, 1, -1, 3 - *edge]);
    let mut read = 0;
    for number in numbers {
        let stored = [
            u8::try_from(number).ok().map(Value::U8),
            i8::try_from(number).ok().map(Value::I8),
            u16::try_from(number).ok().map(Value::U16),
            i16::try_from(number).ok().map(Value::I16),
            u32::try_from(number).ok().map(Value::U32),
            i32::try_from(number).ok().map(Value::I32),
            u64::try_from(number).ok().map(Value::U64),
            i64::try_from(number).ok().map(Value::I64),
        ];
        for value in stored.into_iter().flatten() {
            integer_or_error::<u32>(number, &value);
            integer_or_error::<i32>(number, &value);
            integer_or_error::<u64>(number, &value);
            integer_or_error::<i64>(number, &value);
            integer_or_error::<usize>(number, &value);
            read += 1;
        }
    }
    assert!(read > 150, "{read}");
}

#[test]
fn a_value_of_another_type_is_an_error_and_not_the_default() {
    let values = [
        Value::U8(1),
        Value::I8(1),
        Value::U16(1),
        Value::I16(1),
        Value::U32(1),
        Value::I32(1),
        Value::F32(1.5),
        Value::Bool(1),
        Value::text("1"),
        Value::array(vec![Value::U8(1)]),
        Value::U64(1),
        Value::I64(1),
        Value::F64(1.5),
    ];
    for (id, value) in (0..).zip(values) {
        let stored = ValueType::from_id(id).unwrap();
        let store = all(&Gguf::new().entry("other", Value::U8(0)).entry("key", value));
        let wrong = |error: MetadataError| {
            assert_eq!(error.kind(), MetadataErrorKind::WrongType { stored });
            assert_eq!((error.index(), error.code()), (1, "metadata.wrong_type"));
        };
        match stored {
            ValueType::F32 | ValueType::F64 => assert_eq!(store.float("key", 0.0), Ok(1.5)),
            _ => wrong(store.float("key", 1.5).unwrap_err()),
        }
        match stored {
            ValueType::Bool => assert_eq!(store.boolean("key", false), Ok(true)),
            _ => wrong(store.boolean("key", true).unwrap_err()),
        }
        match stored {
            ValueType::String => assert_eq!(store.text("key", ""), Ok("1")),
            _ => wrong(store.text("key", "1").unwrap_err()),
        }
        match stored {
            ValueType::Array => assert_eq!(store.array_len("key"), Ok(Some(1))),
            _ => {
                wrong(store.array_len("key").unwrap_err());
                wrong(store.item("key", 0).unwrap_err());
            }
        }
        match stored {
            ValueType::F32 | ValueType::F64 | ValueType::Bool | ValueType::String | ValueType::Array => {
                wrong(store.integer("key", 1_u64).unwrap_err());
            }
            _ => assert_eq!(store.integer("key", 0), Ok(1)),
        }
        assert_eq!(store.value("key").unwrap().unwrap().value_type(), stored);
    }
}

#[test]
fn a_string_that_is_not_utf8_is_an_error_and_has_its_bytes() {
    let store = one(Value::text([b'a', 0xff]));
    assert_eq!(kind(store.text("key", "")), MetadataErrorKind::NotUtf8);
    assert_eq!(store.value("key").unwrap().unwrap().content(), Content::Text(&[b'a', 0xff]));
}

#[test]
fn the_filter_picks_by_whole_key_by_prefix_and_by_architecture() {
    const FILTER: &[KeyPattern] = &[
        KeyPattern::exact("general.name"),
        KeyPattern::prefix("tokenizer.ggml."),
        KeyPattern::of_architecture("attention.head_count"),
    ];
    let wanted = ["general.name", "tokenizer.ggml.", "tokenizer.ggml.model", "a-b.c.attention.head_count"];
    let left = [
        "general.names",
        "general",
        "tokenizer.ggml",
        "a-b.attention.head_count",
        "a-b.c.attention.head_count_kv",
        "a-b.cattention.head_count",
        ".attention.head_count",
        "attention.head_count",
    ];
    let mut file = Gguf::new().entry("general.architecture", Value::text("a-b.c"));
    for key in wanted.iter().chain(&left) {
        file = file.entry(key, Value::U8(1));
    }
    let store = kept(&file, FILTER);
    assert_eq!(store.keys().skip(1).collect::<Vec<_>>(), wanted);
    assert_eq!(store.index("a-b.c.attention.head_count"), Some(4));
    assert_eq!(store.integer(Key::OfArchitecture("attention.head_count"), 0), Ok(1));

    let none = kept(&file, &[]);
    assert_eq!((none.keys().count(), none.used_bytes()), (0, 0));
}

#[test]
fn keys_before_their_architecture_are_kept_and_only_its_own_are_meant() {
    const FILTER: &[KeyPattern] = &[KeyPattern::of_architecture("context_length")];
    let others = [
        ("llama.context_length", Value::U32(1)),
        ("x.gemma3.context_length", Value::U32(2)),
        ("gemma3.context_length", Value::U32(3)),
        ("gemma3.rope.context_length", Value::U32(4)),
    ];
    let holds = |before: &[(&str, Value)], after: &[(&str, Value)]| {
        let mut file = Gguf::new();
        for (key, value) in before.iter().chain(&others).chain(after) {
            file = file.entry(key, value.clone());
        }
        kept(&file, FILTER)
    };
    let architecture = [("general.architecture", Value::text("gemma3"))];
    for (store, keys) in [(holds(&architecture, &[]), 2), (holds(&[], &architecture), 5)] {
        assert_eq!(store.keys().count(), keys);
        assert_eq!(store.integer(Key::OfArchitecture("context_length"), 0), Ok(3));
        assert_eq!(store.integer(Key::OfArchitecture("block_count"), 5), Ok(5));
    }

    let without = holds(&[], &[]);
    assert_eq!(without.integer(Key::OfArchitecture("context_length"), 0), Ok(0));
    assert_eq!(without.integer("llama.context_length", 0), Ok(1));
    let odd = holds(&[("general.architecture", Value::U8(1))], &[]);
    let wrong = odd.integer(Key::OfArchitecture("context_length"), 0).unwrap_err();
    assert_eq!((wrong.code(), wrong.index()), ("metadata.wrong_type", 0));
}

#[test]
fn a_key_that_is_kept_twice_is_an_error_and_one_that_is_not_wanted_is_none() {
    let file = Gguf::new()
        .entry("a", Value::U8(1))
        .entry("b", Value::U8(2))
        .entry("c", Value::U8(3))
        .entry("b", Value::text("again"))
        .write();
    for size in [1, 1000] {
        let mut store = Store::new();
        let error = push(&mut store, &file.bytes, size).unwrap_err();
        assert_eq!(error.kind(), MetadataErrorKind::DuplicateKey { other: 1 });
        assert_eq!((error.index(), error.code()), (3, "metadata.duplicate_key"));
        assert_eq!(error.to_string(), "the key is the same as that of entry 1 (entry 3)");
        assert_eq!(store.accept(&Event::ArrayEnd), Err(error), "the same error comes again");
        assert_eq!((store.integer("a", 0), store.array_len("x")), (Err(error), Err(error)));
        assert_eq!(store.item("a", 0), Err(error));
        assert!(store.contains("a"));

        store.clear();
        assert_eq!(store.accept(&Event::ArrayEnd), Ok(false));
        assert!(!store.contains("a"));
    }
    let mut store = Store::with_filter(const { &[KeyPattern::exact("a")] });
    assert_eq!(push(&mut store, &file.bytes, 7), Ok(()));
    assert_eq!(store.integer("a", 0), Ok(1));

    let twice = Gguf::new()
        .entry("general.architecture", Value::text("x"))
        .entry("general.architecture", Value::text("y"));
    let mut store = Store::with_filter(const { &[KeyPattern::of_architecture("z")] });
    let error = push(&mut store, &twice.write().bytes, 9).unwrap_err();
    assert_eq!(error.kind(), MetadataErrorKind::DuplicateKey { other: 0 }, "the architecture is kept too");
}

#[test]
fn as_many_keys_fit_as_the_type_says_and_one_more_is_an_error() {
    let mut file = Gguf::new();
    for key in ["a", "b", "c"] {
        file = file.entry(key, Value::U64(u64::MAX));
    }
    let mut store = Metadata::<3, 3>::new();
    push(&mut store, &file.write().bytes, 1).unwrap();
    assert_eq!((store.integer("c", 0), store.used_bytes()), (Ok(u64::MAX), 3));

    let more = file.entry("d", Value::U8(0)).write().bytes;
    for size in 1..more.len() {
        let mut store = Metadata::<3, 9>::new();
        let error = push(&mut store, &more, size).unwrap_err();
        assert_eq!(error.kind(), MetadataErrorKind::KeysFull { capacity: 3 });
        assert_eq!((error.index(), error.code()), (3, "metadata.keys_full"));
        let mut store = Metadata::<4, 3>::new();
        let error = push(&mut store, &more, size).unwrap_err();
        assert_eq!(error.kind(), MetadataErrorKind::BytesFull { needed: 1, available: 0 });
        assert_eq!((error.index(), error.code()), (3, "metadata.bytes_full"));
    }
    let mut nothing = Metadata::<0, 0>::new();
    assert_eq!(push(&mut nothing, &more, 5).unwrap_err().code(), "metadata.keys_full");
}

#[test]
fn texts_and_elements_fit_to_the_last_byte_and_are_never_cut() {
    let strings = Value::array(vec![Value::text("ab"), Value::text(""), Value::text("c")]);
    let cases = [
        // What the key "k" and the value take, and the claim that does not fit one byte less.
        (Value::text("12345"), 6, 5, 4),
        (Value::array(vec![Value::I16(-1), Value::I16(2), Value::I16(3)]), 7, 6, 5),
        (Value::array(vec![Value::Bool(1)]), 2, 1, 0),
        // The last string does not fit.
        (strings, 16, 5, 4),
        (Value::Array { element: 12, items: Vec::new() }, 1, 1, 0),
    ];
    const FILTER: &[KeyPattern] = &[KeyPattern::prefix("k").with_elements()];
    fn run<const B: usize>(value: &Value, size: usize) -> Option<Result<(), MetadataError>> {
        let file = Gguf::new().entry("x", Value::text("long enough")).entry("k", value.clone()).write();
        let mut store = Metadata::<1, B>::with_filter(FILTER);
        Some(push(&mut store, &file.bytes, size).inspect(|()| assert_eq!(store.used_bytes(), B)))
    }
    let by_size = |bytes: usize, value: &Value, size: usize| match bytes {
        0 => run::<0>(value, size),
        1 => run::<1>(value, size),
        2 => run::<2>(value, size),
        5 => run::<5>(value, size),
        6 => run::<6>(value, size),
        7 => run::<7>(value, size),
        15 => run::<15>(value, size),
        16 => run::<16>(value, size),
        _ => None,
    };
    for (value, bytes, needed, available) in cases {
        for size in 1..60 {
            assert_eq!(by_size(bytes, &value, size).unwrap(), Ok(()), "{value:?}");
            let error = by_size(bytes - 1, &value, size).unwrap().unwrap_err();
            assert_eq!(error.kind(), MetadataErrorKind::BytesFull { needed, available }, "{value:?} {size}");
            assert_eq!(error.index(), 1);
        }
    }
}

#[test]
fn elements_are_kept_where_they_are_asked_for() {
    const FILTER: &[KeyPattern] =
        &[KeyPattern::prefix("n"), KeyPattern::exact("not"), KeyPattern::prefix("e").with_elements()];
    let inner = Value::array(vec![Value::U8(1)]);
    for big_endian in [false, true] {
        let file = Gguf::new()
            .big_endian(big_endian)
            .entry("e.i32", Value::array(vec![Value::I32(11), Value::I32(-12), Value::I32(0)]))
            .entry("e.f64", Value::array(vec![Value::F64(0.5), Value::F64(-2.0)]))
            .entry("e.bool", Value::array(vec![Value::Bool(1), Value::Bool(0)]))
            .entry("e.nested", Value::array(vec![inner.clone()]))
            .entry("not", Value::array(vec![Value::U8(1)]))
            .entry("e.scalar", Value::U8(1));
        for size in [1, 3, 5, 1000] {
            let mut store = Store::with_filter(FILTER);
            push(&mut store, &file.write().bytes, size).unwrap();
            let item = |key, index| store.item(key, index).unwrap().unwrap();
            assert_eq!((item("e.i32", 0).integer(), item("e.i32", 1).integer()), (Ok(11), Ok(-12)));
            assert_eq!(item("e.i32", 1).integer::<u32>().unwrap_err().code(), "metadata.out_of_range");
            assert_eq!((item("e.f64", 1).float(), item("e.bool", 0).boolean()), (Ok(-2.0), Ok(true)));
            assert_eq!(item("e.bool", 1).content(), Content::Scalar(Scalar::Bool(false)));
            assert_eq!(store.item("e.i32", 3), Ok(None));
            assert_eq!(store.item("e.i32", u64::MAX), Ok(None));
            for key in ["not", "e.nested"] {
                assert_eq!(store.array_len(key), Ok(Some(1)));
                assert_eq!(kind(store.item(key, 0)), MetadataErrorKind::ElementsNotKept);
                assert_eq!(store.item(key, 1), Ok(None), "past the end, whatever is kept");
            }
        }
    }
}

#[test]
fn a_key_longer_than_the_scratch_is_never_kept() {
    let long = "k".repeat(65);
    let file = Gguf::new().entry(&long, Value::U8(1)).entry(&long[..64], Value::U8(2)).write();
    let mut decoder = Decoder::<[_; 0], 64>::with_scratch([], Options::new());
    let mut store = Store::with_filter(const { &[KeyPattern::prefix("k")] });
    let mut input = &file.bytes[..];
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        store.accept(&event).unwrap();
    }
    assert_eq!(store.keys().collect::<Vec<_>>(), [&long[..64]]);
    assert_eq!((store.index(&long[..64]), store.contains(&long[..])), (Some(1), false));
}

#[test]
fn a_cut_file_gives_what_came_whole_and_an_error_for_the_rest() {
    let file = compact(3, false);
    for end in 0..file.bytes.len() {
        let mut store = Store::with_filter(ELEMENTS);
        let mut decoder = Decoder::new([]);
        let mut input = &file.bytes[..end];
        while let Some(event) = decoder.decode(&mut input).unwrap() {
            store.accept(&event).unwrap();
        }
        let whole = file.entries.iter().filter(|entry| entry.end <= end as u64).count();
        let keys: Vec<_> = store.keys().collect();
        assert!(keys.len() == whole || keys.len() == whole + 1, "{end}");
        for (place, key) in keys.iter().enumerate() {
            let incomplete = matches!(store.value(*key), Err(error) if error.code() == "metadata.incomplete");
            assert!(!incomplete || place == whole, "{end}: {key}");
        }
        if let Some(Content::Array { len: 1.., .. }) =
            keys.get(whole).and_then(|key| store.value(*key).ok()?).map(|value| value.content())
            && keys[whole] != "aa"
        {
            assert_eq!(kind(store.item(keys[whole], 0)), MetadataErrorKind::Incomplete, "{end}");
        }
    }
}

#[test]
fn only_what_is_wanted_is_asked_for() {
    let tokens = Value::array(vec![Value::text("a"), Value::text("b")]);
    let file = Gguf::new()
        .entry("left", Value::text("text"))
        .entry("text", Value::text("text"))
        .entry("number", Value::U8(1))
        .entry("array", tokens.clone())
        .entry("elements", tokens)
        .write();
    const FILTER: &[KeyPattern] = &[
        KeyPattern::exact("text"),
        KeyPattern::exact("number"),
        KeyPattern::exact("array"),
        KeyPattern::exact("elements").with_elements(),
    ];
    let mut store = Store::with_filter(FILTER);
    let (mut decoder, mut input, mut told) = (Decoder::new([]), &file.bytes[..], Vec::new());
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        let label = match event {
            Event::Key { name, .. } => name.to_string(),
            Event::Text { .. } => "piece".to_owned(),
            Event::Scalar(_) => "scalar".to_owned(),
            Event::ArrayStart { .. } => "start".to_owned(),
            Event::ArrayEnd => "end".to_owned(),
            _ => continue,
        };
        let wanted = store.accept(&event).unwrap();
        told.push((label, wanted));
        if !wanted {
            decoder.skip_value();
        }
    }
    let expected = [
        ("left", false),
        ("text", true),
        ("piece", false),
        ("number", true),
        ("scalar", false),
        ("array", true),
        ("start", false),
        ("elements", true),
        ("start", true),
        ("piece", true),
        ("piece", true),
        ("end", false),
    ];
    let expected = expected.map(|(label, wanted)| (label.to_owned(), wanted));
    assert_eq!(told, expected, "an array without its elements ends at its start");
    assert_eq!(store.array_len("array"), Ok(Some(2)));
}

#[test]
fn pieces_that_are_not_passed_on_are_never_made_up() {
    let file = Gguf::new()
        .entry("text", Value::text("abcdef"))
        .entry("array", Value::array(vec![Value::text("abcdef"), Value::text("x")]))
        .entry("numbers", Value::array(vec![Value::U8(1), Value::U8(2), Value::U8(3)]))
        .write();
    let mut events = 0;
    for left_out in 0..40 {
        let mut store = Store::with_filter(ELEMENTS);
        let mut decoder = Decoder::new([]);
        let (mut count, mut key) = (0, String::new());
        let mut broken = None;
        for mut chunk in file.bytes.chunks(2) {
            while let Some(event) = decoder.decode(&mut chunk).unwrap() {
                if let Event::Key { name, .. } = event {
                    key = name.to_string();
                }
                if matches!(event, Event::Text { .. } | Event::Items(_)) {
                    count += 1;
                    if count - 1 == left_out {
                        broken = Some(key.clone());
                        continue;
                    }
                }
                store.accept(&event).unwrap();
            }
        }
        events = events.max(count);
        for key in ["text", "array", "numbers"] {
            let whole = match key {
                "text" => store.text(key, "").map(|text| text.len() as u64),
                _ => store.item(key, 0).map(|_| 6),
            };
            match &broken {
                Some(broken) if broken == key => assert_eq!(kind(whole), MetadataErrorKind::Incomplete),
                _ => assert_eq!(whole, Ok(6), "{key} without {broken:?}"),
            }
        }
    }
    assert!((6..40).contains(&events), "every piece was left out once: {events}");
}

#[test]
fn the_same_is_kept_in_chunks_of_any_size() {
    let file = compact(3, true);
    let mut whole = Store::with_filter(ELEMENTS);
    push(&mut whole, &file.bytes, usize::MAX).unwrap();
    assert_eq!(whole.keys().count(), file.entries.len());
    for size in 1..file.bytes.len() {
        let mut store = Store::with_filter(ELEMENTS);
        push(&mut store, &file.bytes, size).unwrap();
        for key in whole.keys() {
            assert_eq!(said(&store, key), said(&whole, key), "{size}");
        }
        assert_eq!(store.used_bytes(), whole.used_bytes());
    }
}

#[test]
fn memory_is_what_the_type_says() {
    assert!(size_of::<Metadata<0, 0>>() <= 80, "{}", size_of::<Metadata<0, 0>>());
    // Fewer where 64 bits need no more alignment than 32.
    let key_bytes = (size_of::<Metadata<10, 0>>() - size_of::<Metadata<0, 0>>()) / 10;
    assert!((28..=32).contains(&key_bytes), "{key_bytes}");
    assert_eq!(size_of::<Metadata<0, 800>>(), size_of::<Metadata<0, 0>>() + 800);
    assert!(size_of::<MetadataError>() <= 32);
}
