//! A file that is cut tells the same events up to the cut, and then which field is missing and how much of it.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use support::gguf_writer::{Gguf, Tensor, Value, Written};
use support::record::{Seen, agreed, events_within, lenient, whole};
use support::samples::{compact, corpus_file, corpus_names, corpus_options, entries, tensors};
use weightstream::{Decoder, Error, ErrorKind, Options, Section, TensorSlot};

/// A field of a file, as the error of a cut in it must describe it.
#[derive(Clone, Debug, PartialEq)]
struct Field {
    /// A cut from here on is told as one of this field: less than `start` where padding comes before.
    from: u64,
    start: u64,
    len: u64,
    section: Section,
    index: Option<u32>,
}

/// The fields of a file, from what was written and from where the writer says it is.
struct Fields {
    fields: Vec<Field>,
    at: u64,
    size: u64,
    section: Section,
    index: Option<u32>,
}

impl Fields {
    fn of(file: &Written, entries: &[Value], tensors: &[(u64, u64)]) -> Vec<Field> {
        let mut fields = Self {
            fields: Vec::new(),
            at: 0,
            size: file.length_bytes,
            section: Section::Header,
            index: None,
        };
        for len in [4, 4, file.length_bytes, file.length_bytes] {
            fields.field(len);
        }
        for (index, (value, at)) in entries.iter().zip(&file.entries).enumerate() {
            (fields.section, fields.index) = (Section::Metadata, Some(index as u32));
            fields.field(fields.size);
            assert_eq!(fields.at, at.key);
            fields.field(at.value_type - at.key);
            fields.field(4);
            assert_eq!(fields.at, at.value);
            fields.value(value);
            assert_eq!(fields.at, at.end);
        }
        for (index, at) in file.tensors.iter().enumerate() {
            (fields.section, fields.index) = (Section::Tensors, Some(index as u32));
            fields.field(fields.size);
            fields.field(at.n_dims - at.name);
            fields.field(4);
            at.dims.iter().for_each(|_| fields.field(file.length_bytes));
            fields.field(4);
            fields.field(8);
            assert_eq!(fields.at, at.end);
        }
        (fields.section, fields.index) = (Section::Data, None);
        fields.field(file.data_offset - file.metadata_end);
        for (index, (start, len)) in tensors.iter().copied().enumerate().filter(|(_, (_, len))| *len > 0) {
            let from = fields.at;
            fields.fields.push(Field { from, start, len, section: Section::Data, index: Some(index as u32) });
            fields.at = start + len;
        }
        fields.fields
    }

    fn field(&mut self, len: u64) {
        if len > 0 {
            let (from, section, index) = (self.at, self.section, self.index);
            self.fields.push(Field { from, start: from, len, section, index });
            self.at += len;
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::String(body) => {
                self.field(self.size);
                self.field(body.len() as u64);
            }
            Value::Array { items, .. } => {
                self.field(4);
                self.field(self.size);
                items.iter().for_each(|item| self.value(item));
            }
            Value::U8(_) | Value::I8(_) | Value::Bool(_) => self.field(1),
            Value::U16(_) | Value::I16(_) => self.field(2),
            Value::U32(_) | Value::I32(_) | Value::F32(_) => self.field(4),
            Value::U64(_) | Value::I64(_) | Value::F64(_) => self.field(8),
            other => panic!("not in the sample: {other:?}"),
        }
    }
}

/// Every truncation of a file, against the fields it must name.
fn check_every_truncation(file: &Written, fields: &[Field]) {
    let complete = whole(&file.bytes, Options::new());
    assert_eq!(complete.result, Ok(()));
    let mut cuts = 0;
    for field in fields {
        for cut in field.from..field.start + field.len {
            assert_eq!(cut, cuts, "the fields do not join");
            cuts += 1;
            let told = agreed(&file.bytes[..cut as usize], Options::new());
            assert_eq!(told.events, events_within(&complete, cut), "events up to {cut}");
            let error = told.error();
            let kind = ErrorKind::Truncated { needed: field.len, got: cut.saturating_sub(field.start) };
            assert_eq!((error.kind(), error.offset()), (kind, field.start), "cut at {cut}");
            assert_eq!((error.section(), error.index()), (field.section, field.index), "cut at {cut}");
            assert_eq!(told.position, Some(cut));
        }
    }
    for cut in cuts..=file.bytes.len() as u64 {
        assert_eq!(
            whole(&file.bytes[..cut as usize], Options::new()),
            complete,
            "cut at {cut}, past the end"
        );
    }
}

#[test]
fn every_truncation_names_the_field_that_is_cut() {
    for (version, big_endian) in [(1, false), (2, false), (3, false), (3, true)] {
        let file = compact(version, big_endian);
        let values: Vec<Value> = entries().into_iter().map(|(_, value)| value).collect();
        let data = [4, 36, 0, 5];
        assert_eq!(data.len(), tensors().len());
        let tensors: Vec<(u64, u64)> = file.tensors.iter().map(|at| at.data).zip(data).collect();
        check_every_truncation(&file, &Fields::of(&file, &values, &tensors));
    }
}

/// The same without a tensor: there is no data section, and so no padding to be missing.
#[test]
fn without_tensors_the_file_ends_with_its_metadata() {
    let file = Gguf::new().entry("a", Value::U16(1)).entry("s", Value::text("abc")).write();
    let fields = Fields::of(&file, &[Value::U16(1), Value::text("abc")], &[]);
    assert_eq!(fields.iter().map(|field| field.len).sum::<u64>(), file.bytes.len() as u64);
    check_every_truncation(&file, &fields);
}

/// By hand, so that nothing above can hide a common error.
#[test]
fn truncated_fields_by_hand() {
    let file = Gguf::new()
        .entry("key", Value::text("text"))
        .tensor(Tensor::new("name", 0, &[2], vec![0; 8]))
        .write()
        .bytes;
    let metadata = (Section::Metadata, Some(0));
    let tensor = (Section::Tensors, Some(0));
    let cases = [
        ("nothing", 0, 0, 4, 0, (Section::Header, None)),
        ("magic", 3, 0, 4, 3, (Section::Header, None)),
        ("version", 4, 4, 4, 0, (Section::Header, None)),
        ("tensor count", 9, 8, 8, 1, (Section::Header, None)),
        ("cut after the tensor count", 16, 16, 8, 0, (Section::Header, None)),
        ("key length", 30, 24, 8, 6, metadata),
        ("key", 33, 32, 3, 1, metadata),
        ("value type", 37, 35, 4, 2, metadata),
        ("string length", 40, 39, 8, 1, metadata),
        ("string", 50, 47, 4, 3, metadata),
        ("name length", 51, 51, 8, 0, tensor),
        ("name", 60, 59, 4, 1, tensor),
        ("n_dims", 63, 63, 4, 0, tensor),
        ("dim", 74, 67, 8, 7, tensor),
        ("type", 76, 75, 4, 1, tensor),
        ("offset", 86, 79, 8, 7, tensor),
        ("padding", 87, 87, 9, 0, (Section::Data, None)),
        ("padding", 95, 87, 9, 8, (Section::Data, None)),
        ("data", 96, 96, 8, 0, (Section::Data, Some(0))),
        ("data", 103, 96, 8, 7, (Section::Data, Some(0))),
    ];
    for (name, cut, offset, needed, got, (section, index)) in cases {
        let error = agreed(&file[..cut], Options::new()).error();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Truncated { needed, got }, offset), "{name}");
        assert_eq!((error.section(), error.index()), (section, index), "{name}");
        assert_eq!(error.code(), "input.truncated");
    }
    assert_eq!(whole(&file[..104], Options::new()).result, Ok(()));
}

/// Random places of the larger files: the events are a prefix, and the error is a truncation before the cut.
#[test]
fn truncated_corpus_files_tell_a_prefix() {
    for name in corpus_names() {
        let (bytes, options) = (corpus_file(&name), corpus_options(&name));
        let complete = whole(&bytes, options);
        let Ok(()) = complete.result else { continue };
        let end = complete.position.unwrap();
        let step = (bytes.len() / 20).max(1);
        for cut in (0..end as usize).step_by(step).chain([end as usize - 1]) {
            let told = agreed(&bytes[..cut], options);
            assert_eq!(told.events, events_within(&complete, cut as u64), "{name} cut at {cut}");
            let ErrorKind::Truncated { needed, got } = told.error().kind() else { panic!("{name}") };
            assert!(got < needed, "{name} cut at {cut}");
            let missing = told.error().offset() + got;
            assert!(missing == cut as u64 || (got == 0 && missing > cut as u64), "{name} cut at {cut}");
        }
    }
}

/// With gaps and in any order, the error names the first recorded tensor in the file that is not whole.
#[test]
fn truncated_sparse_data_name_the_first_tensor_cut() {
    let file = Gguf::new()
        .tensor(Tensor::new("c", 24, &[4], vec![3; 4]))
        .tensor(Tensor::new("a", 24, &[4], vec![1; 4]))
        .tensor(Tensor::new("b", 24, &[4], vec![2; 4]).gap(64))
        .data_order(&[1, 2, 0])
        .write();
    let data: Vec<u64> = file.tensors.iter().map(|at| at.data).collect();
    for cut in file.data_offset..data[0] + 4 {
        let index = [1, 2, 0].into_iter().find(|index| data[*index] + 4 > cut).unwrap();
        let error = agreed(&file.bytes[..cut as usize], lenient()).error();
        let kind = ErrorKind::Truncated { needed: 4, got: cut.saturating_sub(data[index]) };
        assert_eq!((error.kind(), error.offset()), (kind, data[index]), "cut at {cut}");
        assert_eq!(error.index(), Some(index as u32));
    }
}

/// Without a slot, or when every tensor was skipped, the last one is judged all the same.
#[test]
fn tensors_that_are_not_recorded_are_judged_too() {
    let file = compact(3, false);
    let (start, end) = (file.tensors[3].data, file.tensors[3].data + 5);
    let judge = |len: usize, skip: bool| -> Result<(), Error> {
        let mut slots = [TensorSlot::EMPTY; 8];
        let mut decoder = Decoder::new(if skip { &mut slots[..] } else { &mut [] });
        let mut input = &file.bytes[..len];
        while let Some(event) = decoder.decode(&mut input)? {
            match event {
                weightstream::Event::Tensor { .. } if skip => decoder.skip_tensor(),
                weightstream::Event::Data(_) => panic!("nobody asked for data"),
                _ => {}
            }
        }
        decoder.finish()
    };
    for skip in [false, true] {
        for cut in file.data_offset..end {
            let error = judge(cut as usize, skip).unwrap_err();
            let kind = ErrorKind::Truncated { needed: 5, got: cut.saturating_sub(start) };
            assert_eq!((error.kind(), error.offset(), error.index()), (kind, start, Some(3)), "cut at {cut}");
        }
        assert_eq!(judge(end as usize, skip), Ok(()));
    }
}

/// With the size known, a file that is too short is refused before its data, and a whole one passes.
#[test]
fn a_known_size_refuses_short_files_at_once() {
    for (version, big_endian) in [(1, false), (3, false), (3, true)] {
        let file = compact(version, big_endian);
        let end = file.bytes.len();
        for cut in 0..end {
            let told = agreed(&file.bytes[..cut], Options::new().input_bytes(cut as u64));
            let error = told.error();
            let is_data = |event: &Seen| matches!(event, Seen::DataStart(_) | Seen::Data { .. });
            assert!(!told.events.iter().any(is_data), "cut at {cut}");
            if cut as u64 >= file.metadata_end {
                assert_eq!(error, whole(&file.bytes[..cut], Options::new()).error(), "cut at {cut}");
                assert_eq!(told.position, None, "cut at {cut}: finish was needed to find out");
            }
            let known = matches!(error.kind(), ErrorKind::ExceedsInput { .. } | ErrorKind::Truncated { .. });
            assert!(known, "cut at {cut}: {error}");
        }
        for more in [0, 1, 1000] {
            let told = agreed(&file.bytes, Options::new().input_bytes((end + more) as u64));
            assert_eq!(told, whole(&file.bytes, Options::new()));
        }
    }
}

#[test]
fn a_known_size_bounds_each_claim() {
    let mark = "here";
    let entry = |value: Value| Gguf::new().entry("k", value.mark(mark));
    let after = |file: &Written, offset: u64| file.bytes.len() as u64 - offset;

    // What is claimed at least, for a claim of 1000 at the field's offset.
    let file = entry(Value::text("abc").claiming(1000)).write();
    let (at, available) = (file.mark(mark), after(&file, file.mark(mark) + 8));
    check_claim(&file, at, 1000, available);

    let file = entry(Value::array(vec![Value::U32(1)]).claiming(1000)).write();
    let (at, available) = (file.mark(mark) + 4, after(&file, file.mark(mark) + 12));
    check_claim(&file, at, 4000, available);

    let file = entry(Value::array(vec![Value::text("x")]).claiming(1000)).write();
    let (at, available) = (file.mark(mark) + 4, after(&file, file.mark(mark) + 12));
    check_claim(&file, at, 8000, available);

    // An inner array has a type and a count.
    let file = entry(Value::array(vec![Value::array(Vec::new())]).claiming(1000)).write();
    let (at, available) = (file.mark(mark) + 4, after(&file, file.mark(mark) + 12));
    check_claim(&file, at, 12_000, available);

    // A key's type and one byte of value come after it.
    let file = Gguf::new().entry_claiming("k", 1000, Value::U8(0)).write();
    check_claim(&file, file.entries[0].start, 1005, after(&file, file.entries[0].key));

    // A name's n_dims, type and offset come after it.
    let file = Gguf::new().tensor(Tensor::new("n", 24, &[], vec![1]).claim_name_bytes(1000)).write();
    check_claim(&file, file.tensors[0].start, 1016, after(&file, file.tensors[0].name));

    // An entry has 14 bytes at least, a tensor's description 24; in version 1 10 and 20.
    let file = entry(Value::U8(1)).claim_entry_count(1000).write();
    check_claim(&file, 16, 14_000, after(&file, 24));
    let file = entry(Value::U8(1)).claim_tensor_count(1000).write();
    check_claim(&file, 8, 24_000, after(&file, 16));
    let file = entry(Value::U8(1)).version(1).claim_entry_count(1000).write();
    check_claim(&file, 12, 10_000, after(&file, 16));
    let file = entry(Value::U8(1)).version(1).claim_tensor_count(1000).write();
    check_claim(&file, 8, 20_000, after(&file, 12));
}

fn check_claim(file: &Written, offset: u64, needed: u64, available: u64) {
    let size = file.bytes.len() as u64;
    let error = agreed(&file.bytes, Options::new().input_bytes(size)).error();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::ExceedsInput { needed, available }, offset));
    // Were the input as large as claimed, it would be a truncation or pass; were it one byte less, not.
    let fits = size - available + needed;
    let error = agreed(&file.bytes, Options::new().input_bytes(fits - 1)).error();
    let short = ErrorKind::ExceedsInput { needed, available: needed - 1 };
    assert_eq!((error.kind(), error.offset()), (short, offset));
    let told = agreed(&file.bytes, Options::new().input_bytes(fits));
    assert!(!told.result.is_err_and(|error| error.offset() == offset), "at the bound");
}
