//! The worked example of the documentation, step by step, and what changes in it are refused.

use weightstream::{ErrorKind, Event, Format, Options, Section, TensorSlot, TensorType, safetensors};

use crate::support::record::{Called, Seen};
use crate::support::safetensors_writer::{agreed, file, object, tensor, worked_example};

/// The values of every tensor, from pieces of 3 bytes.
fn values(file: &[u8]) -> Vec<(String, Vec<f32>)> {
    let mut decoder = safetensors::Decoder::new([TensorSlot::EMPTY; 2]);
    let mut tensors: Vec<(String, Vec<f32>)> = Vec::new();
    for mut chunk in file.chunks(3) {
        while let Some(event) = decoder.decode(&mut chunk).unwrap() {
            match event {
                Event::Tensor { name, .. } => tensors.push((name.as_str().unwrap().to_owned(), Vec::new())),
                Event::Data(mut blocks) => {
                    let (_, values) = &mut tensors[blocks.tensor() as usize];
                    while !blocks.is_empty() {
                        let mut row = [0.0; 4];
                        let count = blocks.dequantize(&mut row).unwrap();
                        values.extend(&row[..count]);
                    }
                }
                _ => {}
            }
        }
    }
    decoder.finish().unwrap();
    tensors
}

#[test]
fn two_tensors_lie_where_the_header_says() {
    let bytes = worked_example();
    assert_eq!(bytes.len(), 169);
    let told = agreed(&bytes, Options::new());
    assert_eq!((told.result, told.position), (Ok(()), Some(169)));
    let Seen::Header(header) = &told.events[0] else { panic!("{:?}", told.events) };
    assert_eq!((header.format, header.tensor_count, header.entry_count), (Format::Safetensors, None, None));
    let described = told.events[1..3].iter().map(|event| match event {
        Seen::Tensor { name: Called { text, .. }, info } => {
            let shape: Vec<_> = info.shape().collect();
            (text.as_str(), info.tensor_type(), shape, info.data_offset(), info.byte_len())
        }
        other => panic!("{other:?}"),
    });
    let expected = [("a", TensorType::F32, vec![2], 0, Some(8)), ("b", TensorType::I64, vec![1], 8, Some(8))];
    assert!(described.eq(expected));
    let Seen::DataStart(start) = told.events[3] else { panic!("{:?}", told.events[3]) };
    let start = (start.offset, start.alignment, start.end, start.contiguous);
    assert_eq!(start, (153, 1, Some(169), true));
    let data = |tensor, tensor_type, range: std::ops::Range<usize>| Seen::Data {
        tensor,
        tensor_type,
        first_element: 0,
        bytes: bytes[range].to_vec(),
    };
    assert_eq!(told.events[4], data(0, TensorType::F32, 153..161));
    assert_eq!(told.events[5], data(1, TensorType::I64, 161..169));
    assert_eq!(told.events[6..], [Seen::End]);
    assert_eq!(values(&bytes), [("a".to_owned(), vec![1.5, -2.0]), ("b".to_owned(), vec![3.0])]);
}

#[test]
fn the_directory_has_the_places_of_both() {
    let bytes = worked_example();
    let mut decoder = safetensors::Decoder::new([TensorSlot::EMPTY; 2]);
    let mut input = &bytes[..];
    while decoder.decode(&mut input).unwrap().is_some_and(|event| !matches!(event, Event::DataStart(_))) {}
    let directory = decoder.directory();
    let place = |name| directory.find(name).map(|slot| (slot.offset(), slot.byte_len(), slot.row_elements()));
    assert_eq!(place("a"), Some((153, Some(8), 2)));
    assert_eq!(place("b"), Some((161, Some(8), 1)));
    assert_eq!((decoder.position(), decoder.end()), (153, Some(169)));
}

#[test]
fn a_scalar_has_one_element_and_a_zero_dimension_none() {
    let entries = [tensor("s", "I64", &[], 0, 8), tensor("none", "F32", &[0, 3], 8, 8)];
    let bytes = file(object(&entries), &7_i64.to_le_bytes());
    let told = agreed(&bytes, Options::new());
    assert_eq!(told.result, Ok(()));
    let sizes = told.events.iter().filter_map(|event| match event {
        Seen::Tensor { info, .. } => Some((info.elements(), info.byte_len(), info.dims().len())),
        _ => None,
    });
    assert!(sizes.eq([(1, Some(8), 0), (0, Some(0), 2)]));
    assert_eq!(values(&bytes), [("s".to_owned(), vec![7.0]), ("none".to_owned(), vec![])]);
}

/// A header for 16 bytes of data, its offsets of tensors after `{`, and the error.
fn refused(entries: &[String], data: usize) -> (ErrorKind, u64, Section, Option<u32>) {
    let bytes = file(object(entries), &vec![0; data]);
    let error = agreed(&bytes, Options::new()).error();
    (error.kind(), error.offset(), error.section(), error.index())
}

#[test]
fn each_of_the_eight_inconsistencies_has_its_own_error() {
    let a = tensor("a", "F32", &[2], 0, 8);
    let b = tensor("b", "I64", &[1], 8, 16);
    let with = |text: &str| [a.clone(), text.to_owned()];
    let second = 9 + a.len() as u64 + 1;
    let end = |entries: &[String]| 8 + object(entries).len() as u64;

    let shape = [tensor("a", "F32", &[3], 0, 8), b.clone()];
    let mismatch = ErrorKind::LengthMismatch { expected: 12, found: 8 };
    assert_eq!(refused(&shape, 16), (mismatch, 9, Section::Tensors, Some(0)));

    let overlap = with(&tensor("b", "I64", &[1], 4, 12));
    let kind = ErrorKind::Overlap { other: 0 };
    assert_eq!(refused(&overlap, 12), (kind, end(&overlap), Section::Tensors, Some(1)));

    let hole = with(&tensor("b", "I64", &[1], 12, 20));
    let kind = ErrorKind::Hole { data_offset: 12, expected: 8 };
    assert_eq!(refused(&hole, 20), (kind, end(&hole), Section::Tensors, Some(1)));

    let outside = with(&tensor("b", "I64", &[1], 8, 16));
    let kind = ErrorKind::Truncated { needed: 8, got: 4 };
    assert_eq!(refused(&outside, 12), (kind, end(&outside) + 8, Section::Data, Some(1)));

    let text = with(r#""__metadata__":{"k":1}"#);
    let at = second + r#""__metadata__":{"k":"#.len() as u64;
    assert_eq!(refused(&text, 8), (ErrorKind::MetadataNotString, at, Section::Metadata, Some(0)));

    let dtype = with(&tensor("b", "I128", &[1], 8, 24));
    let at = second + r#""b":{"dtype":"#.len() as u64;
    assert_eq!(refused(&dtype, 24), (ErrorKind::UnknownDtype, at, Section::Tensors, Some(1)));

    let twice = with(&tensor("a", "I64", &[1], 8, 16));
    let kind = ErrorKind::DuplicateTensor { other: 0 };
    assert_eq!(refused(&twice, 16), (kind, end(&twice), Section::Tensors, Some(1)));

    let error = agreed(&worked_example()[..100], Options::new()).error();
    let kind = ErrorKind::Truncated { needed: 145, got: 92 };
    assert_eq!((error.kind(), error.offset(), error.section()), (kind, 8, Section::Tensors));
}

/// With the size known, what lies beyond it is refused before the data.
#[test]
fn a_known_size_shows_what_is_missing_or_too_much_at_once() {
    let bytes = worked_example();
    let sized = |bytes: &[u8]| agreed(bytes, Options::new().input_bytes(bytes.len() as u64));
    assert_eq!(sized(&bytes), agreed(&bytes, Options::new()));
    let cut = sized(&bytes[..160]);
    assert_eq!(cut.error().kind(), ErrorKind::Truncated { needed: 8, got: 7 });
    let longer = sized(&[&bytes[..], &[0]].concat());
    assert_eq!((longer.error().kind(), longer.error().offset()), (ErrorKind::TrailingBytes, 169));
    for told in [cut, longer] {
        assert!(!told.events.iter().any(|event| matches!(event, Seen::DataStart(_) | Seen::Data { .. })));
    }
}

#[test]
fn limits_of_header_data_rank_and_elements_hold_at_their_bound() {
    let options = Options::new().header_bytes(4096).data_bytes(8192).rank(8).tensor_elements(1024);
    let padded = |bytes: usize| file(format!("{:bytes$}", object(&[tensor("a", "U8", &[1], 0, 1)])), &[0]);
    assert_eq!(agreed(&padded(4096), options).result, Ok(()));
    let error = agreed(&padded(4097), options).error();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::HeaderTooLarge { bytes: 4097, limit: 4096 }, 0));

    let bytes = |elements: u64| {
        let header = object(&[tensor("a", "F64", &[elements], 0, 8 * elements)]);
        file(header, &vec![0; 8 * elements as usize])
    };
    assert_eq!(agreed(&bytes(1024), options).result, Ok(()));
    let error = agreed(&bytes(1025), options).error();
    let kind = ErrorKind::TooManyElements { elements: 1025, limit: 1024 };
    assert_eq!((error.kind(), error.offset()), (kind, 9));
    let error = agreed(&bytes(1025), options.tensor_elements(0)).error();
    let kind = ErrorKind::DataTooLarge { bytes: 8200, limit: 8192 };
    assert_eq!((error.kind(), error.offset()), (kind, 9));

    let rank = |dimensions: usize| file(object(&[tensor("a", "U8", &vec![1; dimensions], 0, 1)]), &[0]);
    assert_eq!(agreed(&rank(8), options).result, Ok(()));
    let error = agreed(&rank(9), options).error();
    let kind = ErrorKind::TooManyDimensions { dimensions: 9, limit: 8 };
    assert_eq!((error.kind(), error.offset()), (kind, 9));
    // Eight is the most that the library has room for.
    assert_eq!(agreed(&rank(9), options.rank(20)).error().kind(), kind);
    let kind = ErrorKind::TooManyDimensions { dimensions: 3, limit: 2 };
    assert_eq!(agreed(&rank(3), options.rank(2)).error().kind(), kind);
}

#[test]
fn limits_of_counts_names_and_texts_hold_at_their_bound() {
    let key = "k".repeat(15);
    let header = format!(
        r#"{{"__metadata__":{{"{key}":"text","é":"\u00e9"}},"a name of 15 b.":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}},
            "b":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}}}"#
    );
    let bytes = file(&header, &[]);
    let within = Options::new().entries(2).tensors(2).name_bytes(15).string_bytes(4);
    assert_eq!(agreed(&bytes, within).result, Ok(()));
    let at = |text: &str| 8 + header.find(text).unwrap() as u64;
    let cases = [
        (within.entries(1), ErrorKind::TooManyEntries { entries: 2, limit: 1 }, at("\"é\"")),
        (within.tensors(1), ErrorKind::TooManyTensors { tensors: 2, limit: 1 }, at("\"b\"")),
        (within.name_bytes(14), ErrorKind::NameTooLong { bytes: 15, limit: 14 }, at("\"kk")),
        // It counts as a name, whose end is needed to know it.
        (within.name_bytes(11), ErrorKind::NameTooLong { bytes: 12, limit: 11 }, at("\"__")),
        (within.string_bytes(3), ErrorKind::StringTooLong { bytes: 4, limit: 3 }, at("text")),
        (within.string_bytes(1), ErrorKind::StringTooLong { bytes: 2, limit: 1 }, at("text")),
    ];
    for (options, kind, offset) in cases {
        let error = agreed(&bytes, options).error();
        assert_eq!((error.kind(), error.offset()), (kind, offset), "{options:?}");
    }
    let error = agreed(&file(r#"{"sixteen bytes...":{}}"#, &[]), within).error();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::NameTooLong { bytes: 16, limit: 15 }, 9));
}
