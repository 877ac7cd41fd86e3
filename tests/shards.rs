//! Sets of files: which of them are one model, and what is said of the others.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use core::mem::size_of;

use support::gguf_writer::{Gguf, Tensor, Value};
use weightstream::{Decoder, Shard, ShardError, ShardSet, SplitKey, ValueType};

/// A file with the three keys of a shard; `no` counts from 0.
fn shard(no: u16, count: u16, total: i32, tensors: &[&str]) -> Vec<u8> {
    let file = Gguf::new()
        .entry("general.name", Value::text("some model"))
        .entry("split.no", Value::U16(no))
        .entry("split.count", Value::U16(count))
        .entry("split.tensors.count", Value::I32(total));
    with_tensors(file, tensors)
}

fn with_tensors(file: Gguf, tensors: &[&str]) -> Vec<u8> {
    tensors.iter().fold(file, |file, name| file.tensor(Tensor::new(name, 24, &[2], vec![1, 2]))).write().bytes
}

/// Three files: one without tensors, as a writer makes it that puts all metadata first.
fn good() -> [Vec<u8>; 3] {
    [shard(0, 3, 3, &[]), shard(1, 3, 3, &["a", "b"]), shard(2, 3, 3, &["c"])]
}

/// Decodes a file, in chunks of 7 bytes, and leaves out what the set does not want.
fn read(set: &mut ShardSet, name: Option<Shard>, file: &[u8]) -> Result<(), ShardError> {
    let mut decoder = Decoder::new([]);
    set.begin(name)?;
    for mut chunk in file.chunks(7) {
        while let Some(event) = decoder.decode(&mut chunk).unwrap() {
            if !set.accept(&event)? {
                decoder.skip_value();
            }
        }
    }
    decoder.finish().unwrap();
    set.end_file()
}

/// All files, with the numbers that their names say, if any.
fn check(files: &[(Option<u32>, &[u8])]) -> Result<ShardSet, ShardError> {
    let mut set = ShardSet::new();
    for (number, file) in files {
        let name = number.map(|number| Shard { number, count: 3 });
        if let Err(error) = read(&mut set, name, file) {
            // It stays with what it said.
            assert_eq!((set.begin(None), set.end_file()), (Err(error), Err(error)));
            assert_eq!((read(&mut set, None, file), set.finish()), (Err(error), Err(error)));
            return Err(error);
        }
    }
    set.finish().map(|()| set)
}

fn error(files: &[(Option<u32>, &[u8])]) -> ShardError {
    check(files).unwrap_err()
}

#[test]
fn a_whole_set_in_order_is_good() {
    let [a, b, c] = good();
    for named in [true, false] {
        let name = |number| named.then_some(number);
        let set = check(&[(name(1), &a), (name(2), &b), (name(3), &c)]).unwrap();
        assert_eq!((set.count(), set.tensors(), set.next_number()), (Some(3), 3, None));
    }
    // Also in the byte order of other machines.
    let file = Gguf::new()
        .big_endian(true)
        .entry("split.tensors.count", Value::I32(3))
        .entry("split.count", Value::U16(3))
        .entry("split.no", Value::U16(2));
    check(&[(Some(1), &a), (Some(2), &b), (Some(3), &with_tensors(file, &["c"]))]).unwrap();
}

#[test]
fn a_set_tells_which_file_comes_next() {
    let mut set = ShardSet::new();
    assert_eq!((set.count(), set.next_number(), set.tensors()), (None, Some(1), 0));
    let told = good().map(|file| {
        read(&mut set, None, &file).unwrap();
        (set.count(), set.next_number(), set.tensors())
    });
    assert_eq!(told, [(Some(3), Some(2), 0), (Some(3), Some(3), 2), (Some(3), None, 3)]);
}

#[test]
fn a_file_that_is_no_shard_is_a_set_of_one() {
    let plain = with_tensors(Gguf::new().entry("k", Value::U8(1)), &["a"]);
    // As a merged model has them: they count for nothing.
    let merged = |count| shard(5, count, 77, &["a"]);
    let only_count = with_tensors(Gguf::new().entry("split.count", Value::U16(0)), &[]);
    for file in [plain.clone(), merged(0), merged(1), only_count] {
        let set = check(&[(None, &file)]).unwrap();
        assert_eq!((set.count(), set.next_number()), (Some(1), None));
        assert_eq!(error(&[(None, &file), (None, &file)]), ShardError::NotSharded);
        let [first, ..] = good();
        assert_eq!(error(&[(None, &first), (None, &file)]), ShardError::NotSharded);
        assert_eq!(error(&[(None, &file), (None, &first)]), ShardError::OtherCount { expected: 1, found: 3 });
        // Its name says otherwise.
        assert_eq!(error(&[(Some(1), &file)]), ShardError::NotSharded);
    }
    let mut set = ShardSet::new();
    read(&mut set, Some(Shard { number: 1, count: 1 }), &plain).unwrap();
    assert_eq!(set.finish(), Ok(()));
}

#[test]
fn missing_repeated_and_misplaced_shards_are_told_apart() {
    let [a, b, c] = good();
    let (a, b, c) = ((None, &*a), (None, &*b), (None, &*c));
    assert_eq!(error(&[]), ShardError::Missing { number: 1, count: 1 });
    assert_eq!(error(&[a]), ShardError::Missing { number: 2, count: 3 });
    assert_eq!(error(&[a, b]), ShardError::Missing { number: 3, count: 3 });
    assert_eq!(error(&[b]), ShardError::OutOfOrder { expected: 1, found: 2 });
    assert_eq!(error(&[a, c]), ShardError::OutOfOrder { expected: 2, found: 3 });
    assert_eq!(error(&[a, a]), ShardError::Repeated { number: 1 });
    assert_eq!(error(&[a, b, a]), ShardError::Repeated { number: 1 });
    assert_eq!(error(&[a, b, b]), ShardError::Repeated { number: 2 });
    assert_eq!(error(&[a, b, c, c]), ShardError::Repeated { number: 3 });
}

#[test]
fn names_and_keys_must_say_the_same() {
    let [a, b, c] = good();
    let differs = |name: u32, keys: u32| ShardError::NameDiffers {
        name: Shard { number: name, count: 3 },
        keys: Shard { number: keys, count: 3 },
    };
    assert_eq!(error(&[(Some(2), &a)]), differs(2, 1));
    assert_eq!(error(&[(Some(1), &b)]), differs(1, 2));
    assert_eq!(error(&[(Some(1), &a), (Some(2), &c), (Some(3), &b)]), differs(2, 3));
    assert_eq!(error(&[(Some(1), &a), (Some(3), &b)]), differs(3, 2));
    // A copy of a shard under another one's name is a repetition first.
    assert_eq!(error(&[(Some(1), &a), (Some(2), &a)]), ShardError::Repeated { number: 1 });
    let mut set = ShardSet::new();
    let (name, keys) = (Shard { number: 1, count: 4 }, Shard { number: 1, count: 3 });
    assert_eq!(read(&mut set, Some(name), &a), Err(ShardError::NameDiffers { name, keys }));
}

#[test]
fn shards_of_other_models_are_told_by_their_counts() {
    let [a, ..] = good();
    let with = |second: &[u8]| error(&[(Some(1), &a), (Some(2), second)]);
    assert_eq!(with(&shard(1, 4, 3, &[])), ShardError::OtherCount { expected: 3, found: 4 });
    assert_eq!(with(&shard(1, 2, 3, &[])), ShardError::OtherCount { expected: 3, found: 2 });
    assert_eq!(with(&shard(1, 3, 4, &[])), ShardError::OtherTotal { expected: 3, found: 4 });
    assert_eq!(with(&shard(1, 3, 0, &[])), ShardError::OtherTotal { expected: 3, found: 0 });
}

#[test]
fn the_tensors_must_add_up() {
    let files = |total, last: &[&str]| {
        let files = [shard(0, 3, total, &["a"]), shard(1, 3, total, &["b", "c"]), shard(2, 3, total, last)];
        check(&files.each_ref().map(|file| (None, &file[..]))).map(|set| set.tensors())
    };
    assert_eq!(files(3, &[]), Ok(3));
    assert_eq!(files(5, &["d", "e"]), Ok(5));
    assert_eq!(files(5, &["d"]), Err(ShardError::WrongTotal { expected: 5, found: 4 }));
    assert_eq!(files(3, &["d"]), Err(ShardError::WrongTotal { expected: 3, found: 4 }));
    // Too many: before the last file.
    assert_eq!(files(2, &[]), Err(ShardError::WrongTotal { expected: 2, found: 3 }));
    assert_eq!(files(0, &[]), Err(ShardError::WrongTotal { expected: 0, found: 1 }));
}

#[test]
fn what_is_wrong_is_told_before_any_data() {
    let [a, _, c] = good();
    let mut set = ShardSet::new();
    read(&mut set, None, &a).unwrap();
    set.begin(None).unwrap();
    let mut decoder = Decoder::new([]);
    let mut input = &c[..];
    let error = loop {
        let event = decoder.decode(&mut input).unwrap().unwrap();
        if let Err(error) = set.accept(&event) {
            break error;
        }
    };
    assert_eq!(error, ShardError::OutOfOrder { expected: 2, found: 3 });
    assert!(input.len() >= 32, "the padded data of the one tensor are all ahead");
}

/// What is wrong with a file of these keys alone.
fn with_keys(keys: &[(SplitKey, Value)]) -> ShardError {
    let file = keys.iter().fold(Gguf::new(), |file, (key, value)| file.entry(key.name(), value.clone()));
    error(&[(None, &with_tensors(file, &[]))])
}

#[test]
fn each_key_has_one_type_only() {
    let values = [
        (ValueType::U8, Value::U8(1)),
        (ValueType::I8, Value::I8(1)),
        (ValueType::U16, Value::U16(1)),
        (ValueType::I16, Value::I16(1)),
        (ValueType::U32, Value::U32(1)),
        (ValueType::I32, Value::I32(1)),
        (ValueType::F32, Value::F32(1.0)),
        (ValueType::Bool, Value::Bool(1)),
        (ValueType::String, Value::text("1")),
        (ValueType::Array, Value::array(vec![Value::U16(1)])),
        (ValueType::U64, Value::U64(1)),
        (ValueType::I64, Value::I64(1)),
        (ValueType::F64, Value::F64(1.0)),
    ];
    for key in [SplitKey::No, SplitKey::Count, SplitKey::TensorsCount] {
        let wrong = values.iter().filter(|(value_type, _)| *value_type != key.value_type());
        let found = wrong.map(|(value_type, value)| {
            assert_eq!(
                with_keys(&[(key, value.clone())]),
                ShardError::WrongType { key, value_type: *value_type }
            );
        });
        assert_eq!(found.count(), 12);
    }
}

#[test]
fn keys_come_together_and_once() {
    let value = |key| match key {
        SplitKey::No => Value::U16(0),
        SplitKey::Count => Value::U16(2),
        SplitKey::TensorsCount => Value::I32(0),
    };
    let all = [SplitKey::No, SplitKey::Count, SplitKey::TensorsCount];
    for missing in all {
        let keys = all.iter().filter(|key| **key != missing).map(|key| (*key, value(*key)));
        assert_eq!(with_keys(&keys.collect::<Vec<_>>()), ShardError::MissingKey { key: missing });
        let twice = [(missing, value(missing)), (missing, value(missing))];
        assert_eq!(with_keys(&twice), ShardError::DuplicateKey { key: missing });
    }
    assert_eq!(with_keys(&[(SplitKey::No, Value::U16(0))]), ShardError::MissingKey { key: SplitKey::Count });
}

#[test]
fn numbers_that_cannot_be_are_refused() {
    for (no, count) in [(2, 2), (3, 2), (u16::MAX, 2), (u16::MAX, u16::MAX)] {
        assert_eq!(error(&[(None, &shard(no, count, 0, &[]))]), ShardError::NoSuchShard { no, count });
    }
    for tensors in [-1, i32::MIN] {
        assert_eq!(error(&[(None, &shard(0, 2, tensors, &[]))]), ShardError::NegativeTotal { tensors });
    }
    // The largest are fine.
    assert_eq!(
        error(&[(None, &shard(0, u16::MAX, i32::MAX, &["a"]))]),
        ShardError::Missing { number: 2, count: u16::MAX }
    );
    assert_eq!(
        error(&[(None, &shard(u16::MAX - 1, u16::MAX, i32::MAX, &["a"]))]),
        ShardError::OutOfOrder { expected: 1, found: 65_535 }
    );
}

#[test]
fn values_are_wanted_of_three_keys_only() {
    let file = Gguf::new()
        .entry("split", Value::U16(1))
        .entry("split.no", Value::U16(0))
        .entry("split.no.x", Value::U16(1))
        .entry("split.count", Value::U16(2))
        .entry("general.alignment", Value::U32(32))
        .entry("split.tensors.count", Value::I32(0));
    let bytes = with_tensors(file, &[]);
    // Also when the caller skips nothing: other values are not taken for the keys'.
    let mut set = ShardSet::new();
    set.begin(None).unwrap();
    let mut decoder = Decoder::new([]);
    let (mut input, mut wanted) = (&bytes[..], Vec::new());
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        let is_wanted = set.accept(&event).unwrap();
        if let weightstream::Event::Key { name, .. } = event {
            wanted.extend(is_wanted.then(|| name.to_string()));
        }
    }
    assert_eq!(wanted, ["split.no", "split.count", "split.tensors.count"]);
    assert_eq!((set.count(), set.next_number()), (Some(2), Some(2)));
}

#[test]
fn calls_out_of_turn_are_refused() {
    let out_of_turn = Err(ShardError::OutOfTurn);
    let [a, ..] = good();
    let mut decoder = Decoder::new([]);
    let header = decoder.decode(&mut &a[..]).unwrap().unwrap();
    // Nothing begun.
    assert_eq!(ShardSet::new().accept(&header), Err(ShardError::OutOfTurn));
    assert_eq!(ShardSet::new().end_file(), out_of_turn);
    // Begun, and not read to its data.
    let mut begun = ShardSet::new();
    begun.begin(None).unwrap();
    assert_eq!(
        (begun.finish(), begun.clone().begin(None), begun.end_file()),
        (out_of_turn, out_of_turn, out_of_turn)
    );
    // Read, and not ended.
    let mut set = ShardSet::new();
    set.begin(None).unwrap();
    let plain = with_tensors(Gguf::new(), &[]);
    let (mut decoder, mut input) = (Decoder::new([]), &plain[..]);
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        set.accept(&event).unwrap();
    }
    assert_eq!((set.finish(), set.clone().begin(None)), (out_of_turn, out_of_turn));
    // Another file, as if it were a part of this one.
    assert_eq!(set.clone().accept(&header), Err(ShardError::OutOfTurn));
    assert_eq!((set.end_file(), set.finish()), (Ok(()), Ok(())));
    assert_eq!((set.accept(&header), set.finish()), (Err(ShardError::OutOfTurn), out_of_turn));
}

#[test]
fn errors_have_a_code_and_a_message_each() {
    let (key, shard) = (SplitKey::No, Shard { number: 12, count: 34 });
    let all = [
        (ShardError::OutOfTurn, "shards.out_of_turn", "not begun"),
        (
            ShardError::WrongType { key, value_type: ValueType::U32 },
            "shards.wrong_type",
            "split.no has the type u32, not u16",
        ),
        (ShardError::DuplicateKey { key }, "shards.duplicate_key", "split.no is given twice"),
        (ShardError::MissingKey { key }, "shards.missing_key", "split.no is missing"),
        (
            ShardError::NoSuchShard { no: 3, count: 2 },
            "shards.no_such_shard",
            "split.no is 3, which is not below the split.count of 2",
        ),
        (ShardError::NegativeTotal { tensors: -5 }, "shards.negative_total", "-5"),
        (ShardError::NotSharded, "shards.not_sharded", "no shard"),
        (
            ShardError::OtherCount { expected: 3, found: 4 },
            "shards.other_count",
            "of 4 files, the first one is of 3",
        ),
        (
            ShardError::OtherTotal { expected: 3, found: 4 },
            "shards.other_total",
            "of 4 tensors, the first one is of 3",
        ),
        (ShardError::Repeated { number: 2 }, "shards.repeated", "shard 2, which came before"),
        (
            ShardError::NameDiffers { name: shard, keys: Shard { number: 1, count: 2 } },
            "shards.name_differs",
            "by its keys this is shard 1 of 2, by its name shard 12 of 34",
        ),
        (
            ShardError::OutOfOrder { expected: 2, found: 3 },
            "shards.out_of_order",
            "this is shard 3, and shard 2 must come first",
        ),
        (ShardError::WrongTotal { expected: 9, found: 8 }, "shards.wrong_total", "9 tensors, and 8"),
        (ShardError::Missing { number: 2, count: 3 }, "shards.missing", "shard 2 of 3 is missing"),
    ];
    for (error, code, message) in all {
        assert_eq!(error.code(), code);
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn a_set_is_small_whatever_its_size() {
    assert!(size_of::<ShardSet>() <= 88, "{}", size_of::<ShardSet>());
    assert!(size_of::<ShardError>() <= 24, "{}", size_of::<ShardError>());
}
