//! Each kind of error, at the first byte of the field that is wrong; each limit, at the bound and one over.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use support::gguf_writer::{Gguf, Tensor, Value, Written};
use support::random::Random;
use support::record::{Recording, Seen, agreed, full, lenient, run, whole};
use support::samples::compact;
use weightstream::{Decoder, Error, ErrorKind, Event, Layout, Options, Section, TensorSlot, UnknownTypes};

const HEADER: (Section, Option<u32>) = (Section::Header, None);

fn entry(index: u32) -> (Section, Option<u32>) {
    (Section::Metadata, Some(index))
}

fn tensor(index: u32) -> (Section, Option<u32>) {
    (Section::Tensors, Some(index))
}

/// The file is refused like this, however it is cut.
#[track_caller]
fn refused(
    file: &Written,
    options: Options,
    kind: ErrorKind,
    code: &str,
    offset: u64,
    place: (Section, Option<u32>),
) -> Recording {
    let told = agreed(&file.bytes, options);
    let error = told.error();
    assert_eq!((error.kind(), error.code()), (kind, code));
    assert_eq!((error.offset(), (error.section(), error.index())), (offset, place), "{error}");
    sticks(file, options, error);
    told
}

/// After an error every later call returns the same one, whatever is asked in between.
#[track_caller]
fn sticks(file: &Written, options: Options, error: Error) {
    let mut decoder = full(options);
    let mut input = &file.bytes[..];
    let first = loop {
        match decoder.decode(&mut input) {
            Ok(Some(_)) => {}
            Ok(None) => return,
            Err(error) => break error,
        }
    };
    assert_eq!(first, error);
    for _ in 0..2 {
        assert_eq!(decoder.finish(), Err(error));
        assert_eq!(decoder.decode(&mut &file.bytes[..]).unwrap_err(), error);
        assert_eq!(decoder.decode(&mut &[][..]).unwrap_err(), error);
        decoder.skip_value();
        decoder.skip_tensor();
        assert!(decoder.advance(1).is_err());
        assert_eq!((decoder.skippable(), decoder.needed(), decoder.end()), (0, 0, None));
        let context = decoder.context();
        assert_eq!((context.section, context.index), (error.section(), error.index()));
    }
}

fn one(key: impl AsRef<[u8]>, value: Value) -> Written {
    Gguf::new().entry("first", Value::U8(1)).entry(key, value).write()
}

/// A tensor of i8 of four bytes.
fn small(name: &str) -> Tensor {
    Tensor::new(name, 24, &[4], vec![1, 2, 3, 4])
}

#[test]
fn bad_magic() {
    for (at, bytes) in [(0, b"FUGG"), (0, b"gGUF"), (0, b"GGUf"), (0, b"GGML")] {
        let file = compact(3, false).patch(at, bytes);
        refused(&file, Options::new(), ErrorKind::BadMagic, "gguf.bad_magic", 0, HEADER);
    }
}

#[test]
fn unsupported_version() {
    let cases = [
        (0_u32, 0),
        (4, 4),
        (u32::MAX, u32::MAX),
        (0x0400_0000, 4),
        (0x0001_0000, 256),
        (0x0003_0003, 0x0003_0003),
    ];
    for (stored, version) in cases {
        let file = compact(3, false).patch(4, &stored.to_le_bytes());
        let kind = ErrorKind::UnsupportedVersion { version: version.into() };
        refused(&file, Options::new(), kind, "gguf.unsupported_version", 4, HEADER);
    }
}

#[test]
fn empty_key() {
    let file = one("", Value::U8(1));
    let at = file.entries[1].start;
    refused(&file, Options::new(), ErrorKind::EmptyKey, "gguf.empty_key", at, entry(1));
}

#[test]
fn bad_value_type() {
    for id in [13, 0x8000_0000, u32::MAX] {
        let kind = ErrorKind::BadValueType { id: id.into() };
        let file = one("k", Value::U8(1).typed(id));
        let at = file.entries[1].value_type;
        let told = refused(&file, Options::new(), kind, "gguf.bad_value_type", at, entry(1));
        assert_eq!(told.events.len(), 3, "a key without a good type is not told");
        // The elements of an array, even where there are none.
        let file = one("k", Value::Array { element: id, items: Vec::new() }.mark("array"));
        refused(&file, Options::new(), kind, "gguf.bad_value_type", file.mark("array"), entry(1));
    }
}

#[test]
fn bad_bool() {
    for value in [2, 255] {
        let kind = ErrorKind::BadBool { value: value.into() };
        let file = one("k", Value::Bool(value));
        let at = file.entries[1].value;
        refused(&file, Options::new(), kind, "gguf.bad_bool", at, entry(1));

        let bools = vec![Value::Bool(1), Value::Bool(0), Value::Bool(value).mark("bad"), Value::Bool(1)];
        let file = one("k", Value::array(vec![Value::array(bools)]));
        let told = refused(&file, Options::new(), kind, "gguf.bad_bool", file.mark("bad"), entry(1));
        let good = Seen::Items { element: weightstream::ValueType::Bool, bytes: vec![1, 0] };
        assert_eq!(told.events.last(), Some(&good), "the good ones come first");
    }
}

#[test]
fn alignment_of_another_type() {
    let values = [
        Value::I32(32),
        Value::U64(32),
        Value::U8(32),
        Value::F32(32.0),
        Value::text("32"),
        Value::array(vec![Value::U32(32)]),
    ];
    for value in values {
        let kind = ErrorKind::AlignmentType { id: value.type_id().into() };
        let file = one("general.alignment", value);
        let at = file.entries[1].value_type;
        refused(&file, Options::new(), kind, "gguf.alignment_type", at, entry(1));
    }
}

#[test]
fn bad_alignment() {
    for alignment in [0, 3, 13, 24, 40, u32::MAX] {
        let file = one("general.alignment", Value::U32(alignment));
        let kind = ErrorKind::BadAlignment { alignment: alignment.into() };
        let at = file.entries[1].value;
        refused(&file, Options::new(), kind, "gguf.bad_alignment", at, entry(1));
    }
}

#[test]
fn duplicate_alignment() {
    let file = Gguf::new().alignment(64).alignment(64).tensor(small("t")).write();
    let at = file.entries[1].key;
    let kind = ErrorKind::DuplicateAlignment;
    refused(&file, Options::new(), kind, "gguf.duplicate_alignment", at, entry(1));
    // Other keys are for whoever stores them.
    let file = Gguf::new().entry("k", Value::U8(1)).entry("k", Value::U8(2)).write();
    assert_eq!(whole(&file.bytes, Options::new()).result, Ok(()));
}

#[test]
fn names_with_nul() {
    for name in ["\0", "a\0", "\0a", "general.alignment\0x", "é\0"] {
        let kind = ErrorKind::NameHasNul;
        let file = one(name, Value::U32(64));
        refused(&file, Options::new(), kind, "name.nul", file.entries[1].key, entry(1));
        let file = Gguf::new().tensor(small("a")).tensor(small(name)).write();
        refused(&file, Options::new(), kind, "name.nul", file.tensors[1].name, tensor(1));
    }
}

#[test]
fn names_not_utf8() {
    let names: [&[u8]; 12] = [
        b"\x80",
        b"a\xff",
        b"\xc0\x80",
        b"\xc1\xbf",
        b"\xe0\x9f\xbf",
        b"\xed\xa0\x80",
        b"\xed\xbf\xbf",
        b"\xf0\x8f\xbf\xbf",
        b"\xf4\x90\x80\x80",
        b"\xf5\x80\x80\x80",
        b"cut\xe2\x82",
        b"cut\xf0\x9f\x98",
    ];
    for name in names {
        let kind = ErrorKind::NameNotUtf8;
        let file = one(name, Value::U8(1));
        refused(&file, Options::new(), kind, "name.not_utf8", file.entries[1].key, entry(1));
        let file = Gguf::new().tensor(Tensor::new(name, 24, &[1], vec![1])).write();
        refused(&file, Options::new(), kind, "name.not_utf8", file.tensors[0].name, tensor(0));
    }
}

/// A key of these bytes is taken exactly when they are UTF-8 without NUL.
fn check_utf8(decoder: &mut support::record::Full, file: &mut [u8], key: &[u8]) {
    file[24..32].copy_from_slice(&(key.len() as u64).to_le_bytes());
    let head = [&file[..32], key, &[0, 0, 0, 0]].concat();
    decoder.reset();
    let mut input = &head[..];
    let verdict = loop {
        match decoder.decode(&mut input) {
            Ok(Some(Event::Key { name, .. })) => break Ok(name.as_str().unwrap().to_owned()),
            Ok(Some(_)) => {}
            Ok(None) => panic!("no verdict on {key:x?}"),
            Err(error) => break Err(error.kind()),
        }
    };
    // The first byte that is wrong decides; the place of an incomplete character is where it breaks.
    let expected = core::str::from_utf8(key).ok().filter(|text| !text.contains('\0'));
    match (verdict, expected) {
        (Ok(told), Some(text)) => assert_eq!(told, text),
        (Err(ErrorKind::NameNotUtf8), None) => assert!(core::str::from_utf8(key).is_err(), "{key:x?}"),
        (Err(ErrorKind::NameHasNul), None) => assert!(key.contains(&0), "{key:x?}"),
        (verdict, expected) => panic!("{key:x?}: {verdict:?}, expected {expected:?}"),
    }
}

#[test]
fn utf8_is_judged_as_core_does() {
    let mut file = Gguf::new().entry("k", Value::U8(1)).write().bytes;
    let mut decoder = full(Options::new());
    let mut check = |key: &[u8]| check_utf8(&mut decoder, &mut file, key);
    for first in 0..=255 {
        check(&[first]);
        for second in 0..=255 {
            check(&[first, second]);
        }
    }
    // Lead bytes and their neighbours with continuation bytes and theirs, all edges of the table.
    let edges = [0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0];
    for first in 0xc0..=0xff {
        for second in edges {
            for third in edges {
                check(&[first, second, third]);
                check(&[first, second, third, 0x80]);
            }
        }
    }
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let mut key = random.bytes(3 + random.clone().below(2));
        if random.one_in(2) {
            key[1..].iter_mut().for_each(|byte| *byte = 0x80 | (*byte & 0x3f));
            key[0] |= 0xc0;
        }
        check(&key);
    }
    // Every character at all ends of its range.
    for text in ["\u{7f}", "\u{80}", "\u{7ff}", "\u{800}", "\u{d7ff}", "\u{e000}", "\u{ffff}", "\u{10000}"] {
        check(text.as_bytes());
    }
    check("\u{10ffff}".as_bytes());
}

/// A limit: a file at the bound is taken with it, and refused one below.
#[track_caller]
fn bounded(
    file: &Written,
    bound: u64,
    set: impl Fn(u64) -> Options,
    kind: impl Fn(u64) -> ErrorKind,
    code: &str,
    offset: u64,
    place: (Section, Option<u32>),
) {
    assert_eq!(agreed(&file.bytes, set(bound)).result, Ok(()), "at the bound");
    refused(file, set(bound - 1), kind(bound - 1), code, offset, place);
}

#[test]
fn limit_on_names() {
    let set = |limit| Options::new().name_bytes(limit as u32);
    let kind = |limit| ErrorKind::NameTooLong { bytes: 20, limit };
    let file = one("a".repeat(20), Value::U8(1));
    bounded(&file, 20, set, kind, "limit.name_bytes", file.entries[1].start, entry(1));
    let file = Gguf::new().tensor(small(&"a".repeat(20))).write();
    bounded(&file, 20, set, kind, "limit.name_bytes", file.tensors[0].start, tensor(0));

    // By default 65,535.
    let key = |bytes: usize| one("k".repeat(bytes), Value::U8(1));
    assert_eq!(whole(&key(65_535).bytes, Options::new()).result, Ok(()));
    let file = key(65_536);
    let kind = ErrorKind::NameTooLong { bytes: 65_536, limit: 65_535 };
    let at = file.entries[1].start;
    refused(&file, Options::new(), kind, "limit.name_bytes", at, entry(1));
}

/// An array of arrays, so many deep, around one byte.
fn nested(depth: u32) -> Value {
    (0..depth).fold(Value::U8(1), |inner, level| {
        let array = Value::array(vec![inner]);
        if level == 0 { array.mark("innermost") } else { array }
    })
}

#[test]
fn limit_on_nesting() {
    for depth in 2..=4_u32 {
        // What is refused is the element type "array", at the head of the array two levels up.
        let file = one("k", nested(depth));
        let at = file.mark("innermost") - 12;
        let set = |limit| Options::new().nesting(limit as u8);
        let kind = |limit| ErrorKind::NestingTooDeep { depth: u64::from(depth), limit };
        bounded(&file, depth.into(), set, kind, "limit.nesting", at, entry(1));
    }
    // No option goes beyond 4.
    for limit in [0, 5, 255] {
        let file = one("k", nested(5));
        let at = file.mark("innermost") - 12;
        let options = Options::new().nesting(limit);
        let kind = ErrorKind::NestingTooDeep { depth: 5, limit: 4 };
        refused(&file, options, kind, "limit.nesting", at, entry(1));
    }
}

#[test]
fn limit_on_the_alignment() {
    let file = |alignment| one("general.alignment", Value::U32(alignment));
    let at = file(1).entries[1].value;
    for (options, limit) in [(Options::new(), 1 << 20), (Options::new().alignment(64), 64)] {
        assert_eq!(agreed(&file(limit).bytes, options).result, Ok(()));
        let (alignment, limit) = (u64::from(limit) * 2, u64::from(limit));
        let kind = ErrorKind::AlignmentTooLarge { alignment, limit };
        refused(&file(alignment as u32), options, kind, "limit.alignment", at, entry(1));
    }
}

#[test]
fn limit_on_dimensions() {
    let file = |rank: u32| {
        let dims = vec![1; rank as usize];
        Gguf::new().tensor(small("t")).tensor(Tensor::new("u", 24, &dims, vec![1])).write()
    };
    let set = |limit| Options::new().rank(limit as u8);
    for rank in 2..=4_u32 {
        let kind = |limit| ErrorKind::TooManyDimensions { dimensions: rank.into(), limit };
        let at = file(rank).tensors[1].n_dims;
        bounded(&file(rank), rank.into(), set, kind, "limit.rank", at, tensor(1));
    }
    // No option goes beyond 4.
    for (rank, limit) in [(5, 0), (5, 8), (5, 255), (u32::MAX, 0)] {
        let file = file(4).patch(file(4).tensors[1].n_dims, &rank.to_le_bytes());
        let kind = ErrorKind::TooManyDimensions { dimensions: rank.into(), limit: 4 };
        let at = file.tensors[1].n_dims;
        refused(&file, Options::new().rank(limit), kind, "limit.rank", at, tensor(1));
    }
}

#[test]
fn limits_on_counts() {
    let file = Gguf::new().entry("a", Value::U8(1)).entry("b", Value::U8(1));
    let file = file.tensor(small("t")).tensor(small("u")).tensor(small("v")).write();
    let kind = |limit| ErrorKind::TooManyEntries { entries: 2, limit };
    bounded(&file, 2, |limit| Options::new().entries(limit), kind, "limit.entries", 16, HEADER);
    let kind = |limit| ErrorKind::TooManyTensors { tensors: 3, limit };
    bounded(&file, 3, |limit| Options::new().tensors(limit), kind, "limit.tensors", 8, HEADER);

    // Indexes have 32 bits.
    let most = u64::from(u32::MAX) - 1;
    for limit in [0, u64::MAX] {
        let file = Gguf::new().claim_tensor_count(most + 1).write();
        let kind = ErrorKind::TooManyTensors { tensors: most + 1, limit: most };
        refused(&file, Options::new().tensors(limit), kind, "limit.tensors", 8, HEADER);
    }
    let file = Gguf::new().claim_tensor_count(most).write();
    let kind = ErrorKind::Truncated { needed: 8, got: 0 };
    refused(&file, Options::new(), kind, "input.truncated", 24, tensor(0));
}

#[test]
fn limits_on_values() {
    let set = |limit| Options::new().string_bytes(limit);
    let kind = |limit| ErrorKind::StringTooLong { bytes: 5, limit };
    let file = one("k", Value::text("hello").mark("here"));
    bounded(&file, 5, set, kind, "limit.string_bytes", file.mark("here"), entry(1));
    let file = one("k", Value::array(vec![Value::text("hi"), Value::text("hello").mark("here")]));
    bounded(&file, 5, set, kind, "limit.string_bytes", file.mark("here"), entry(1));

    let set = |limit| Options::new().array_elements(limit);
    let kind = |limit| ErrorKind::ArrayTooLong { elements: 3, limit };
    let inner = Value::array(vec![Value::U8(1), Value::U8(2), Value::U8(3)]).mark("here");
    let file = one("k", Value::array(vec![Value::array(vec![Value::U8(1)]), inner]));
    bounded(&file, 3, set, kind, "limit.array_elements", file.mark("here") + 4, entry(1));
}

#[test]
fn limit_on_metadata() {
    let set = |limit| Options::new().metadata_bytes(limit);
    let kind = |bytes| move |limit| ErrorKind::MetadataTooLarge { bytes, limit };
    let code = "limit.metadata_bytes";
    let tensors = |file: Gguf| file.tensor(small("descriptions are not metadata")).write();

    // A string is refused by its length, elements by their count, before they come.
    let file = tensors(Gguf::new().entry("k", Value::text("hello").mark("here")));
    let end = file.entries[0].end;
    bounded(&file, end, set, kind(end), code, file.mark("here"), entry(0));
    let file = tensors(Gguf::new().entry("k", Value::array(vec![Value::U16(1); 9]).mark("here")));
    let end = file.entries[0].end;
    bounded(&file, end, set, kind(end), code, file.mark("here") + 4, entry(0));

    // A key is refused by its length, with its type and one byte of value.
    let file = tensors(Gguf::new().entry("a", Value::U64(1)).entry("key", Value::U8(1)));
    let (start, end) = (file.entries[1].start, file.entries[1].end);
    bounded(&file, end, set, kind(end), code, start, entry(1));

    // A scalar is refused where it starts, before its key is told, skipped or not.
    let file = tensors(Gguf::new().entry("k", Value::U64(1)));
    let (value, end) = (file.entries[0].value, file.entries[0].end);
    bounded(&file, end, set, kind(end), code, value, entry(0));

    // A claim of entries at 14 bytes each.
    let file = tensors(Gguf::new().entry("a", Value::U8(1)).entry("b", Value::U8(1)));
    bounded(&file, 24 + 28, set, kind(24 + 28), code, 16, HEADER);
}

/// Wherever a limit or the known end of the input falls, in a string of an array too, the verdict does not depend on the cuts.
#[test]
fn every_bound_is_held_alike_however_the_file_is_cut() {
    for (version, big_endian) in [(1, false), (3, false), (3, true)] {
        let file = compact(version, big_endian).bytes;
        for bound in 1..=file.len() as u64 {
            agreed(&file, Options::new().metadata_bytes(bound));
            agreed(&file, Options::new().input_bytes(bound));
        }
        for bound in 1..=20 {
            agreed(&file, Options::new().string_bytes(bound));
        }
    }
}

#[test]
fn unknown_and_removed_types() {
    let file = |id| Gguf::new().tensor(small("t")).tensor(Tensor::new("u", id, &[32], vec![0; 8])).write();
    for id in [43, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0x1_0000] {
        let kind = ErrorKind::UnknownTensorType { id: id.into() };
        let at = file(id).tensors[1].type_id;
        let told = refused(&file(id), Options::new(), kind, "tensor.unknown_type", at, tensor(1));
        assert!(told.error().to_string().contains(&id.to_string()), "the message shows the id");
    }
    for id in [4, 5, 31, 32, 33, 36, 37, 38] {
        let kind = ErrorKind::RemovedTensorType { id: id.into() };
        let at = file(id).tensors[1].type_id;
        let told = refused(&file(id), Options::new(), kind, "tensor.removed_type", at, tensor(1));
        assert!(told.error().to_string().contains(&id.to_string()), "the message shows the id");
    }
}

#[test]
fn shapes() {
    let file =
        |id, dims: &[u64]| Gguf::new().tensor(small("t")).tensor(Tensor::hollow("u", id, dims, 0)).write();
    let bad = file(24, &[1 << 32, 1 << 31]);
    let (kind, at) = (ErrorKind::ShapeOverflow, bad.tensors[1].start);
    refused(&bad, Options::new(), kind, "tensor.shape_overflow", at, tensor(1));

    let bad = file(2, &[31, 32]);
    let kind = ErrorKind::RowNotWholeBlocks { row_elements: 31, block_elements: 32 };
    refused(&bad, Options::new(), kind, "tensor.row_not_whole_blocks", at, tensor(1));
    let bad = file(12, &[]);
    let kind = ErrorKind::RowNotWholeBlocks { row_elements: 1, block_elements: 256 };
    refused(&bad, Options::new(), kind, "tensor.row_not_whole_blocks", at, tensor(1));

    let bad = file(0, &[1 << 62]);
    refused(&bad, Options::new(), ErrorKind::SizeOverflow, "tensor.size_overflow", at, tensor(1));
}

#[test]
fn offsets() {
    let file = |offset| Gguf::new().tensor(small("t")).tensor(small("u").claim_offset(offset)).write();
    for data_offset in [0, 4, 31, 33, 64, u64::MAX] {
        let bad = file(data_offset);
        let (at, kind) = (bad.tensors[1].start, ErrorKind::OffsetMismatch { data_offset, expected: 32 });
        refused(&bad, Options::new(), kind, "tensor.offset_mismatch", at, tensor(1));
    }
    for data_offset in [4, 31, 33, u64::MAX] {
        let bad = file(data_offset);
        let (at, kind) = (bad.tensors[1].start, ErrorKind::OffsetUnaligned { data_offset, alignment: 32 });
        let options = Options::new().layout(Layout::Sparse);
        refused(&bad, options, kind, "tensor.offset_unaligned", at, tensor(1));
    }
}

/// What is found when the last description has been read stands at the end of the descriptions.
#[test]
fn tables() {
    let sparse = Options::new().layout(Layout::Sparse);
    let file = Gguf::new().tensor(small("t")).tensor(small("u").claim_offset(0)).write();
    let at = file.metadata_end;
    refused(&file, sparse, ErrorKind::Overlap { other: 0 }, "tensor.overlap", at, tensor(1));

    let file = Gguf::new().tensor(small("a")).tensor(small("t")).tensor(small("t")).write();
    let at = file.metadata_end;
    let kind = ErrorKind::DuplicateTensor { other: 1 };
    let told = refused(&file, Options::new(), kind, "tensor.duplicate", at, tensor(2));
    assert_eq!(told.events.len(), 4, "the descriptions were told");

    let file = Gguf::new().tensor(Tensor::new("a", 99, &[4], vec![0; 4])).tensor(small("b")).write();
    let mut slots = [TensorSlot::EMPTY; 4];
    let options = sparse.unknown_types(UnknownTypes::Infer);
    let error = skipping_last(&mut Decoder::with_options(&mut slots[..], options), &file).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::LengthUnknown, "tensor.length_unknown"));
    assert_eq!(
        (error.offset(), error.section(), error.index()),
        (file.metadata_end, Section::Tensors, Some(0))
    );
}

/// Decodes, but leaves out the second tensor.
fn skipping_last(decoder: &mut Decoder<&mut [TensorSlot]>, file: &Written) -> Result<(), Error> {
    let mut input = &file.bytes[..];
    while let Some(event) = decoder.decode(&mut input)? {
        if matches!(event, Event::Tensor { name, .. } if name == "b") {
            decoder.skip_tensor();
        }
    }
    decoder.finish()
}

#[test]
fn the_caller_s_memory() {
    let file = Gguf::new().tensor(small("t")).tensor(Tensor::new("u", 12, &[256], vec![0; 144])).write();
    for pieces in [file.bytes.len(), 1] {
        let mut decoder = Decoder::<_, 143>::with_scratch([TensorSlot::EMPTY; 4], Options::new());
        let told = run(&mut decoder, file.bytes.chunks(pieces));
        let kind = ErrorKind::BlockExceedsScratch { block_bytes: 144, scratch_bytes: 143 };
        let error = told.error();
        assert_eq!((error.kind(), error.code()), (kind, "directory.scratch"));
        assert_eq!((error.offset(), error.index()), (file.tensors[1].start, Some(1)));
        assert_eq!(told.events.len(), 3, "the description was told");
        let mut decoder = Decoder::<_, 144>::with_scratch([TensorSlot::EMPTY; 4], Options::new());
        assert_eq!(run(&mut decoder, file.bytes.chunks(pieces)).result, Ok(()), "at the bound");

        let mut decoder = Decoder::new([TensorSlot::EMPTY; 1]);
        let told = run(&mut decoder, file.bytes.chunks(pieces));
        let error = told.error();
        assert_eq!(
            (error.kind(), error.code()),
            (ErrorKind::DirectoryFull { capacity: 1 }, "directory.full")
        );
        assert_eq!((error.offset(), error.index()), (file.tensors[1].start, Some(1)));
        assert_eq!(run(&mut Decoder::new([TensorSlot::EMPTY; 2]), file.bytes.chunks(pieces)).result, Ok(()));
    }
}

/// `finish` says when somebody forgot to ask for what is waiting.
#[test]
fn events_pending() {
    let file = compact(3, false).bytes;
    let mut decoder = full(Options::new());
    let mut input = &file[..];
    let mut pending = 0;
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        let needs_no_input = matches!(
            event,
            // The file is one chunk, and so each array of numbers is one run.
            Event::Scalar(_)
                | Event::Items(_)
                | Event::ArrayEnd
                | Event::Text { last: true, .. }
                | Event::Tensor { .. }
        );
        if needs_no_input {
            let error = decoder.finish().unwrap_err();
            assert_eq!((error.kind(), error.code()), (ErrorKind::EventsPending, "input.events_pending"));
            assert_eq!(error.offset(), decoder.position());
            pending += 1;
        }
    }
    assert!(pending > 20);
    assert_eq!(decoder.finish(), Ok(()));
}

#[test]
fn messages() {
    let file = compact(3, false);
    let message = |bytes: &[u8]| whole(bytes, lenient()).error().to_string();
    let header = message(&file.bytes[..16]);
    assert_eq!(header, "unexpected end of data: needed 8 bytes, got 0 (header, offset 16)");
    let entry = message(&file.bytes[..30]);
    assert_eq!(entry, "unexpected end of data: needed 8 bytes, got 6 (entry 0, offset 24)");
    let at = file.tensors[1].type_id;
    let tensor = message(&file.bytes[..at as usize]);
    let expected = format!("unexpected end of data: needed 4 bytes, got 0 (tensor 1, offset {at})");
    assert_eq!(tensor, expected);
    let at = file.tensors[3].data;
    let data = message(&file.bytes[..at as usize + 2]);
    let expected = format!("unexpected end of data: needed 5 bytes, got 2 (data of tensor 3, offset {at})");
    assert_eq!(data, expected);
    let at = file.metadata_end;
    let padding = message(&file.bytes[..at as usize]);
    let needed = file.data_offset - at;
    let expected = format!(
        "unexpected end of data: needed {needed} bytes, got 0 (padding before the data, offset {at})"
    );
    assert_eq!(padding, expected);
    let error = whole(b"GGUX", Options::new()).error();
    assert_eq!(error.to_string(), "not a GGUF file: bad magic (header, offset 0)");
    assert!(format!("{error:?}").contains("BadMagic"));
}

/// What a small file claims costs nothing: it fails within its own bytes.
#[test]
fn huge_claims_fail_within_the_file() {
    let huge = 1 << 60;
    let k = || Gguf::new().entry("k", Value::U8(1));
    let string = |length| Gguf::new().entry("k", Value::text("ab").claiming(length));
    let array = |items, count| Gguf::new().entry("k", Value::array(items).claiming(count));
    for claim in [huge, u64::MAX, 1 << 63, u64::MAX - 7] {
        let files = [
            k().claim_entry_count(claim),
            k().claim_tensor_count(claim),
            Gguf::new().entry_claiming("k", claim, Value::U8(1)),
            string(claim),
            array(vec![Value::U8(1)], claim),
            array(vec![Value::F64(1.0)], claim),
            array(vec![Value::text("a")], claim),
            array(vec![Value::array(vec![Value::U8(1)])], claim),
            Gguf::new().tensor(small("t").claim_name_bytes(claim)),
            Gguf::new().tensor(Tensor::hollow("t", 24, &[claim], 0)),
            Gguf::new().tensor(Tensor::hollow("t", 24, &[claim, claim], 0)),
            Gguf::new().tensor(Tensor::hollow("t", 24, &[1], 0).claim_offset(claim)),
        ];
        for (index, file) in files.iter().enumerate() {
            let bytes = file.write().bytes;
            assert!(bytes.len() < 100);
            for options in [Options::new(), lenient(), Options::new().input_bytes(bytes.len() as u64)] {
                let told = agreed(&bytes, options);
                assert!(told.result.is_err(), "file {index} claims {claim} and was accepted");
                assert!(told.events.len() < 12);
            }
        }
    }
}

/// The pieces of a string that is cut come all the same.
#[test]
fn what_came_before_an_error_is_told() {
    let file = one("k", Value::text("hello").claiming(8));
    let told = agreed(&file.bytes, Options::new());
    let text = Seen::Text { bytes: b"hello".to_vec(), total: Some(8), last: false };
    assert_eq!(told.events.last(), Some(&text));
    assert_eq!(told.error().kind(), ErrorKind::Truncated { needed: 8, got: 5 });
}
