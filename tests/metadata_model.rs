//! Kept metadata of random files against a plain map, and those of the corpus against what is known of it.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::std_instead_of_core,
    clippy::unwrap_used,
    reason = "a test may panic, and runs on a host"
)]

mod support;

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value as Json;
use support::gguf_writer::{Gguf, Value};
use support::random::Random;
use support::samples::{corpus_file, corpus_options, data_dir};
use weightstream::metadata::{Key, KeyPattern, Metadata, MetadataError, MetadataErrorKind, Value as Kept};
use weightstream::{Decoder, ValueType};

const KEYS: [&str; 9] =
    ["a", "ab", "b", "bc", "general.architecture", "x.n", "y.n", ".n", "general.architecture.n"];
const FILTER: &[KeyPattern] =
    &[KeyPattern::prefix("a").with_elements(), KeyPattern::exact("b"), KeyPattern::of_architecture("n")];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u8>().prop_map(Value::U8),
        any::<i8>().prop_map(Value::I8),
        any::<u16>().prop_map(Value::U16),
        any::<i16>().prop_map(Value::I16),
        any::<u32>().prop_map(Value::U32),
        any::<i32>().prop_map(Value::I32),
        any::<f32>().prop_map(Value::F32),
        (0..2_u8).prop_map(Value::Bool),
        any::<u64>().prop_map(Value::U64),
        any::<i64>().prop_map(Value::I64),
        any::<f64>().prop_map(Value::F64),
    ]
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![Just("x"), Just("y"), Just("general.architecture"), Just("é"), Just("")]
        .prop_map(Value::text)
        .boxed()
        .prop_union(vec(any::<u8>(), 0..9).prop_map(Value::String).boxed())
}

fn value() -> impl Strategy<Value = Value> {
    let numbers = vec(any::<i16>().prop_map(Value::I16), 0..5);
    let bools = vec((0..2_u8).prop_map(Value::Bool), 0..5);
    let strings = vec(text(), 0..4);
    prop_oneof![
        scalar(),
        text(),
        numbers.prop_map(|items| Value::Array { element: 3, items }),
        bools.prop_map(|items| Value::Array { element: 7, items }),
        strings.prop_map(|items| Value::Array { element: 8, items }),
        Just(Value::array(vec![Value::array(vec![Value::text("deep")])])),
    ]
}

fn entries() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let shuffled = Just(KEYS.to_vec()).prop_shuffle();
    // Some files hold a key twice.
    let keys = (shuffled, 0..KEYS.len(), prop::bool::weighted(0.3)).prop_map(|(mut keys, place, twice)| {
        if twice {
            keys.insert(place, keys[KEYS.len() - 1 - place]);
        }
        keys
    });
    (keys, vec(value(), KEYS.len() + 1)).prop_map(|(keys, values)| keys.into_iter().zip(values).collect())
}

/// A plain store of the same meaning.
#[derive(Default)]
struct Model {
    kept: BTreeMap<&'static str, (u32, Value)>,
    used: usize,
}

fn size(value: &Value) -> usize {
    match value {
        Value::U8(_) | Value::I8(_) | Value::Bool(_) => 1,
        Value::U16(_) | Value::I16(_) => 2,
        Value::U32(_) | Value::I32(_) | Value::F32(_) => 4,
        _ => 8,
    }
}

impl Model {
    fn architecture(&self) -> Option<&str> {
        match self.kept.get("general.architecture") {
            Some((_, Value::String(bytes))) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    fn wants(&self, key: &str) -> bool {
        let of_architecture = match self.architecture() {
            Some(architecture) => key == format!("{architecture}.n"),
            None => key.len() > 2 && key.ends_with(".n"),
        };
        key.starts_with('a') || key == "b" || key == "general.architecture" || of_architecture
    }

    fn take(&mut self, bytes: usize, most: usize) -> Result<(), MetadataErrorKind> {
        let available = most - self.used;
        if bytes > available {
            return Err(MetadataErrorKind::BytesFull { needed: bytes as u64, available });
        }
        self.used += bytes;
        Ok(())
    }

    fn keep(
        &mut self,
        index: u32,
        key: &'static str,
        value: &Value,
        (keys, bytes): (usize, usize),
    ) -> Result<(), MetadataErrorKind> {
        if !self.wants(key) {
            return Ok(());
        }
        if let Some((other, _)) = self.kept.get(key) {
            return Err(MetadataErrorKind::DuplicateKey { other: *other });
        }
        if self.kept.len() == keys {
            return Err(MetadataErrorKind::KeysFull { capacity: keys });
        }
        self.take(key.len(), bytes)?;
        match value {
            Value::String(text) => self.take(text.len(), bytes)?,
            Value::Array { element: 8, items } if key.starts_with('a') => {
                let before = self.used;
                self.take(4 * items.len(), bytes)?;
                self.used = before;
                for item in items {
                    let Value::String(text) = item else { unreachable!() };
                    self.take(4 + text.len(), bytes)?;
                }
            }
            Value::Array { element, items } if *element != 9 && key.starts_with('a') => {
                self.take(items.iter().map(size).sum(), bytes)?;
            }
            _ => {}
        }
        self.kept.insert(key, (index, value.clone()));
        Ok(())
    }
}

/// What a value is as each type, or why not.
fn same(kept: &Kept<'_>, value: &Value) {
    let stored = ValueType::from_id(value.type_id()).unwrap();
    let wrong = MetadataErrorKind::WrongType { stored };
    let kind = |error: MetadataError| error.kind();
    let number = match *value {
        Value::U8(n) => Some(i128::from(n)),
        Value::I8(n) => Some(n.into()),
        Value::U16(n) => Some(n.into()),
        Value::I16(n) => Some(n.into()),
        Value::U32(n) => Some(n.into()),
        Value::I32(n) => Some(n.into()),
        Value::U64(n) => Some(n.into()),
        Value::I64(n) => Some(n.into()),
        _ => None,
    };
    let fit = |number: Option<i128>| number.ok_or(wrong);
    let range = MetadataErrorKind::OutOfRange;
    let small = fit(number).and_then(|n| i32::try_from(n).map_err(|_| range));
    let large = fit(number).and_then(|n| u64::try_from(n).map_err(|_| range));
    assert_eq!(kept.integer().map_err(kind), small);
    assert_eq!(kept.integer().map_err(kind), large);
    let bits = match *value {
        Value::F32(n) => Ok(f64::from(n).to_bits()),
        Value::F64(n) => Ok(n.to_bits()),
        _ => Err(wrong),
    };
    assert_eq!(kept.float().map(f64::to_bits).map_err(kind), bits);
    assert_eq!(
        kept.boolean().map_err(kind),
        if let Value::Bool(n) = value { Ok(*n == 1) } else { Err(wrong) }
    );
    let text = match value {
        Value::String(bytes) => std::str::from_utf8(bytes).map_err(|_| MetadataErrorKind::NotUtf8),
        _ => Err(wrong),
    };
    assert_eq!(kept.text().map_err(kind), text);
    let len = if let Value::Array { items, .. } = value { Ok(items.len() as u64) } else { Err(wrong) };
    assert_eq!(kept.array_len().map_err(kind), len);
}

/// Whether the elements of a kept array are those of the file.
fn same_elements<const K: usize, const B: usize>(store: &Metadata<K, B>, key: &str, value: &Value) {
    let Value::Array { element, items } = value else { return };
    for (place, item) in items.iter().enumerate() {
        match store.item(key, place as u64) {
            Ok(kept) => same(&kept.unwrap(), item),
            Err(error) => {
                assert_eq!(error.kind(), MetadataErrorKind::ElementsNotKept);
                assert!(*element == 9 || !key.starts_with('a'));
            }
        }
    }
    assert_eq!(store.item(key, items.len() as u64), Ok(None));
}

/// Passes a file on, skipping whatever is not wanted, and what `skip` says.
fn push<const K: usize, const B: usize>(
    store: &mut Metadata<K, B>,
    file: &[u8],
    chunk: usize,
    mut skip: impl FnMut() -> bool,
) -> Result<(), MetadataError> {
    let mut decoder = Decoder::new([]);
    for mut input in file.chunks(chunk) {
        while let Some(event) = decoder.decode(&mut input).unwrap() {
            if !store.accept(&event)? || skip() {
                decoder.skip_value();
            }
        }
    }
    decoder.finish().unwrap();
    Ok(())
}

fn write(entries: &[(&'static str, Value)], big_endian: bool) -> Vec<u8> {
    let file = Gguf::new().big_endian(big_endian);
    entries.iter().fold(file, |file, (key, value)| file.entry(key, value.clone())).write().bytes
}

fn agrees<const K: usize, const B: usize>(entries: &[(&'static str, Value)], big_endian: bool, chunk: usize) {
    let mut model = Model::default();
    let mut failure = None;
    for (index, (key, value)) in (0..).zip(entries) {
        if let Err(kind) = model.keep(index, key, value, (K, B)) {
            failure = Some((kind, index));
            break;
        }
    }
    let mut store = Metadata::<K, B>::with_filter(FILTER);
    let result = push(&mut store, &write(entries, big_endian), chunk, || false);
    assert_eq!(result.err().map(|error| (error.kind(), error.index())), failure);
    if failure.is_some() {
        return;
    }
    assert_eq!((store.keys().count(), store.used_bytes()), (model.kept.len(), model.used));
    for key in KEYS {
        match model.kept.get(key) {
            None => assert_eq!((store.value(key), store.index(key)), (Ok(None), None), "{key}"),
            Some((index, value)) => {
                assert_eq!(store.index(key), Some(*index));
                same(&store.value(key).unwrap().unwrap(), value);
                same_elements(&store, key, value);
            }
        }
    }
    let own = model.architecture().and_then(|architecture| model.kept.get(&*format!("{architecture}.n")));
    assert_eq!(store.index(Key::OfArchitecture("n")), own.map(|(index, _)| *index));
}

proptest! {
    #[test]
    fn random_files_are_kept_as_by_a_map(
        entries in entries(),
        big_endian: bool,
        chunk in 1..60_usize,
    ) {
        agrees::<16, 512>(&entries, big_endian, chunk);
        agrees::<5, 512>(&entries, big_endian, chunk);
        agrees::<16, 48>(&entries, big_endian, chunk);
        agrees::<4, 64>(&entries, big_endian, chunk);
    }

    #[test]
    fn a_skip_at_any_moment_loses_that_value_at_most(
        entries in entries(),
        chunk in 1..12_usize,
        seed: u64,
    ) {
        let mut random = Random::new(seed);
        let mut store = Metadata::<16, 512>::with_filter(const { &[KeyPattern::prefix("").with_elements()] });
        let result = push(&mut store, &write(&entries, false), chunk, || random.one_in(3));
        let mut keys: Vec<_> = entries.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys.dedup();
        prop_assert_eq!(result.is_err(), keys.len() < entries.len());
        if result.is_err() {
            return Ok(());
        }
        for (index, (key, value)) in (0..).zip(&entries) {
            prop_assert_eq!(store.index(*key), Some(index));
            match store.value(*key) {
                Ok(kept) => same(&kept.unwrap(), value),
                Err(error) => prop_assert_eq!(error.kind(), MetadataErrorKind::Incomplete),
            }
            if let (Ok(Some(1..)), Value::Array { items, .. }) = (store.array_len(*key), value) {
                match store.item(*key, 0) {
                    Ok(kept) => same(&kept.unwrap(), &items[0]),
                    Err(error) => prop_assert!(matches!(
                        error.kind(),
                        MetadataErrorKind::Incomplete | MetadataErrorKind::ElementsNotKept
                    )),
                }
            }
        }
    }
}

/// A value of `expected.json`, or why it cannot be compared.
fn check_expected(kept: &Kept<'_>, value: &Json, stored: &str) {
    assert_eq!(kept.value_type().name(), stored);
    match stored {
        "string" => match value.as_str() {
            Some(text) => assert_eq!(kept.text(), Ok(text)),
            None => assert_eq!(kept.text().unwrap_err().code(), "metadata.not_utf8"),
        },
        "bool" => assert_eq!(kept.boolean().ok(), value.as_bool()),
        "array" => assert_eq!(kept.array_len().ok(), value["len"].as_u64()),
        "f32" | "f64" => {
            let bits = u64::from_str_radix(&value["bits"].as_str().unwrap()[2..], 16).unwrap();
            let float =
                if stored == "f64" { f64::from_bits(bits) } else { f32::from_bits(bits as u32).into() };
            assert_eq!(kept.float().map(f64::to_bits), Ok(float.to_bits()));
        }
        _ => {
            let number: i128 = value.to_string().parse().unwrap();
            assert_eq!(kept.integer().ok(), u64::try_from(number).ok());
            assert_eq!(kept.integer().ok(), i64::try_from(number).ok());
        }
    }
}

#[test]
fn the_getters_say_what_is_known_of_the_corpus() {
    let json = std::fs::read(data_dir().join("corpus/expected.json")).unwrap();
    let expected: Vec<Json> = serde_json::from_slice(&json).unwrap();
    let mut values = 0;
    for file in &expected {
        let name = file["file"].as_str().unwrap();
        if name == "bool_nonbinary.gguf" {
            continue;
        }
        let mut store = Metadata::<96, 16_384>::new();
        let mut decoder = Decoder::with_options([], corpus_options(name));
        for mut input in corpus_file(name).chunks(50) {
            while let Some(event) = decoder.decode(&mut input).unwrap() {
                store.accept(&event).unwrap();
            }
        }
        let entries = file["kv"].as_array().unwrap();
        let mut cut = 0;
        for (index, entry) in (0..).zip(entries) {
            let key = entry["key"].as_str().unwrap();
            // Longer than the decoder's scratch.
            if key.len() > 320 {
                cut += 1;
                continue;
            }
            assert_eq!(store.index(key), Some(index), "{name}: {key}");
            let kept = store.value(key).unwrap().unwrap();
            check_expected(&kept, &entry["value"], entry["type"].as_str().unwrap());
            values += 1;
        }
        assert_eq!(store.keys().count() + cut, entries.len(), "{name}");
    }
    assert!(values > 500, "{values}");
}
