//! What looks odd and is taken, as the reference takes it, and what is told of it.

use weightstream::{ErrorKind, Options, TensorType};

use crate::support::record::Seen;
use crate::support::safetensors_writer::{agreed, escaped, file, metadata, object, tensor};

/// The names, types, shapes and offsets of all tensors.
fn described(header: &str, data: usize) -> Vec<(String, TensorType, Vec<u64>, u64)> {
    let told = agreed(&file(header, &vec![0; data]), Options::new());
    assert_eq!(told.result, Ok(()), "{header}");
    let describe = |event| match event {
        Seen::Tensor { name, info } => {
            Some((name.text, info.tensor_type(), info.shape().collect(), info.data_offset()))
        }
        _ => None,
    };
    told.events.into_iter().filter_map(describe).collect()
}

/// The keys and texts of all metadata.
fn entries(header: impl AsRef<[u8]>) -> Vec<(String, String)> {
    let told = agreed(&file(header, &[]), Options::new());
    assert_eq!(told.result, Ok(()));
    let mut entries: Vec<(String, String)> = Vec::new();
    for event in told.events {
        match event {
            Seen::Key { name, .. } => entries.push((name.text, String::new())),
            Seen::Text { bytes, last, .. } => {
                assert!(last);
                entries.last_mut().unwrap().1 = String::from_utf8(bytes).unwrap();
            }
            _ => {}
        }
    }
    entries
}

const F32: &str = r#""dtype":"F32","shape":[2],"data_offsets":[0,8]"#;

#[test]
fn white_space_stands_before_between_and_behind() {
    let spaced = " \t\r\n{ \"a\"\n:\t{ \"dtype\" : \"F32\" ,\r\n\"shape\" :[ 2 ] , \"data_offsets\": [ 0 , 8 ] } \n} \t\r\n";
    let plain = format!(r#"{{"a":{{{F32}}}}}"#);
    assert_eq!(described(spaced, 8), described(&plain, 8));
    assert_eq!(described(" {}", 0), []);
    assert_eq!(described("{\n}", 0), []);
}

#[test]
fn fields_come_in_any_order() {
    let plain = described(&format!(r#"{{"a":{{{F32}}}}}"#), 8);
    let fields = [r#""dtype":"F32""#, r#""shape":[2]"#, r#""data_offsets":[0,8]"#, r#""x":0"#];
    for first in 0..4 {
        for second in (0..4).filter(|second| *second != first) {
            let mut rest = (0..4).filter(|index| *index != first && *index != second);
            let order = [first, second, rest.next().unwrap(), rest.next().unwrap()];
            let header = format!(r#"{{"a":{{{}}}}}"#, order.map(|index| fields[index]).join(","));
            assert_eq!(described(&header, 8), plain, "{header}");
        }
    }
}

#[test]
fn names_fields_and_dtypes_may_be_escaped() {
    let fields = [
        format!("{}:{}", escaped("dtype"), escaped("F8_E4M3FNUZ")),
        format!("{}:[2]", escaped("shape")),
        format!("{}:[0,2]", escaped("data_offsets")),
    ];
    let header = format!("{{{}:{{{}}}}}", escaped("Ünï😀\"\\/\u{1}"), fields.join(","));
    let expected = ("Ünï😀\"\\/\u{1}".to_owned(), TensorType::F8_E4M3FNUZ, vec![2], 0);
    assert_eq!(described(&header, 2), [expected]);
    let header = format!("{{{}:{{{}:{}}}}}", escaped("__metadata__"), escaped("key"), escaped("text😀"));
    assert_eq!(entries(header), [("key".to_owned(), "text😀".to_owned())]);
}

#[test]
fn every_escape_gives_its_character() {
    let header = r#"{"__metadata__":{"\"\\\/\b\f\n\r\t\u00e9\u20AC\uD834\udd1e":"\"\\\/\b\f\n\r\t\u00e9\u20ac\ud834\uDD1E\u0000\uffff\ud800\udc00\udbff\udfff"}}"#;
    let key = "\"\\/\u{8}\u{c}\n\r\té€𝄞";
    let text = format!("{key}\0\u{ffff}\u{10000}\u{10ffff}");
    assert_eq!(entries(header), [(key.to_owned(), text)]);
}

#[test]
fn every_dtype_is_known_by_its_name() {
    assert_eq!(TensorType::DTYPES.len(), 22);
    for dtype in TensorType::DTYPES {
        let (elements, bytes) = (dtype.block_elements().unwrap(), dtype.block_bytes().unwrap());
        let header =
            object(&[tensor("t", dtype.name().unwrap(), &[2, u64::from(elements)], 0, 2 * u64::from(bytes))]);
        let expected = ("t".to_owned(), *dtype, vec![2, u64::from(elements)], 0);
        assert_eq!(described(&header, 2 * bytes as usize), [expected]);
    }
}

#[test]
fn metadata_may_be_null_empty_and_anywhere() {
    for value in ["null", "{}", " { } "] {
        assert_eq!(entries(format!(r#"{{"__metadata__":{value}}}"#)), []);
    }
    let a = tensor("a", "U8", &[0], 0, 0);
    let b = tensor("b", "U8", &[0], 0, 0);
    let m = metadata(&[("k", "v"), ("", "")]);
    for order in [[&m, &a, &b], [&a, &m, &b], [&a, &b, &m]] {
        let header = object(&order.map(Clone::clone));
        assert_eq!(entries(&header), [("k".to_owned(), "v".to_owned()), (String::new(), String::new())]);
        assert_eq!(described(&header, 0).len(), 2);
    }
    // Nobody's name at any other place, nor when it is longer or shorter.
    let header = object(&[tensor("__metadata", "U8", &[0], 0, 0), tensor("__metadata___", "U8", &[0], 0, 0)]);
    assert_eq!(described(&header, 0).len(), 2);
    let header = r#"{"__metadata__":{"__metadata__":"x"}}"#;
    assert_eq!(entries(header), [("__metadata__".to_owned(), "x".to_owned())]);
    let header = format!(r#"{{"a":{{"__metadata__":[{{}}],{F32}}}}}"#);
    assert_eq!(described(&header, 8).len(), 1);
}

/// Which of the two counts is left to whoever keeps them.
#[test]
fn a_key_that_is_given_twice_is_told_twice() {
    let header = metadata(&[("k", "1"), ("k", "2")]);
    let expected = [("k".to_owned(), "1".to_owned()), ("k".to_owned(), "2".to_owned())];
    assert_eq!(entries(object(&[header])), expected);
}

#[test]
fn unknown_fields_are_passed_over_whatever_they_hold() {
    let plain = described(&format!(r#"{{"a":{{{F32}}}}}"#), 8);
    for value in [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "-12.50e-3",
        "1E400",
        "123456789012345678901234567890",
        r#""""#,
        r#""text \u00e9 \ud83d\ude00""#,
        "[]",
        "{}",
        r#"[1,[2,[3,{"dtype":"x","shape":null}]],"]"]"#,
        r#"{"a":{"b":[{},{"c":null}]},"a":1,"":"}"}"#,
        r#"{"dtype":"F64","shape":[9],"data_offsets":[1,2]}"#,
    ] {
        for fields in [
            format!(r#""x":{value},{F32}"#),
            format!(r#"{F32},"x":{value}"#),
            format!(r#"{F32},"x":1,"x":{value}"#),
        ] {
            assert_eq!(described(&format!(r#"{{"a":{{{fields}}}}}"#), 8), plain, "{fields}");
        }
    }
    // Long names of fields, and those that begin like a known one.
    let long = "x".repeat(1000);
    for name in ["", "dtyp", "dtypes", "Dtype", "data_offsets_", "data_offset", long.as_str()] {
        let header = format!(r#"{{"a":{{"{name}":"F64",{F32}}}}}"#);
        assert_eq!(described(&header, 8), plain, "{name}");
    }
}

#[test]
fn tensors_lie_in_any_order_and_at_any_byte() {
    let header = object(&[
        tensor("c", "I64", &[1], 3, 11),
        tensor("a", "U8", &[1], 0, 1),
        tensor("d", "F32", &[0, 5], 11, 11),
        tensor("b", "I16", &[1], 1, 3),
        tensor("e", "F32", &[0], 0, 0),
        tensor("f", "F32", &[0], 3, 3),
    ]);
    let bytes = file(&header, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    let told = agreed(&bytes, Options::new());
    assert_eq!(told.result, Ok(()));
    let data: Vec<_> = told
        .events
        .iter()
        .filter_map(|event| match event {
            Seen::Data { tensor, bytes, .. } => Some((*tensor, bytes.as_slice())),
            Seen::DataStart(start) => {
                assert!(!start.contiguous && start.end == Some(bytes.len() as u64));
                None
            }
            _ => None,
        })
        .collect();
    assert_eq!(data, [(1, &[1][..]), (3, &[2, 3]), (0, &[4, 5, 6, 7, 8, 9, 10, 11])]);
}

#[test]
fn names_may_be_empty_and_as_long_as_the_limit() {
    let long = "n".repeat(65_535);
    assert_eq!(described(&object(&[tensor("", "U8", &[0], 0, 0)]), 0)[0].0, "");
    assert!(long.starts_with(&described(&object(&[tensor(&long, "U8", &[0], 0, 0)]), 0)[0].0));
    let header = object(&[tensor(&(long + "n"), "U8", &[0], 0, 0)]);
    let kind = ErrorKind::NameTooLong { bytes: 65_536, limit: 65_535 };
    assert_eq!(agreed(&file(header, &[]), Options::new()).error().kind(), kind);
}

#[test]
fn the_largest_numbers_are_taken_where_they_fit() {
    let end = i64::MAX as u64 - 8 - 200;
    let header = format!("{:200}", object(&[tensor("a", "U8", &[end], 0, end)]));
    let kind = ErrorKind::Truncated { needed: end, got: 0 };
    assert_eq!(agreed(&file(&header, &[]), Options::new()).error().kind(), kind);
    let header = format!("{:201}", object(&[tensor("a", "U8", &[end], 0, end)]));
    assert_eq!(agreed(&file(&header, &[]), Options::new()).error().kind(), ErrorKind::SizeOverflow);
}
