//! Headers that are wrong: every rule of the format and every answer of its reference, by the code and the exact offset.
//!
//! In a header, `¦` stands for no byte: it marks where the error must be told.

use weightstream::{Options, Section};

use crate::support::safetensors_writer::{agreed, file};

const HEADER: (Section, Option<u32>) = (Section::Header, None);
const METADATA: (Section, Option<u32>) = (Section::Metadata, None);
const ENTRY: (Section, Option<u32>) = (Section::Metadata, Some(0));
const TENSOR: (Section, Option<u32>) = (Section::Tensors, Some(0));
const SECOND: (Section, Option<u32>) = (Section::Tensors, Some(1));

/// What the codes are taken from, so that a new kind of error asks for a case.
const ERROR_SOURCE: &str = include_str!("../../src/error.rs");

/// A header, bytes of data behind it, and the error.
struct Case {
    header: Vec<u8>,
    data: usize,
    code: &'static str,
    offset: u64,
    section: Section,
    index: Option<u32>,
}

fn marked(
    header: impl AsRef<[u8]>,
    data: usize,
    code: &'static str,
    (section, index): (Section, Option<u32>),
) -> Case {
    let mark = "¦".as_bytes();
    let header = header.as_ref();
    let at = header.windows(mark.len()).position(|bytes| bytes == mark).expect("the error is marked");
    let header = [&header[..at], &header[at + mark.len()..]].concat();
    Case { header, data, code, offset: 8 + at as u64, section, index }
}

fn check(case: &Case) {
    let error = agreed(&file(&case.header, &vec![0; case.data]), Options::new()).error();
    let place = (error.code(), error.offset(), error.section(), error.index());
    let text = String::from_utf8_lossy(&case.header);
    assert_eq!(place, (case.code, case.offset, case.section, case.index), "{text}: {error}");
}

fn json_cases() -> Vec<Case> {
    let json = |header: &str, place| marked(header, 0, "safetensors.bad_json", place);
    let escape = |header: &str| marked(header, 0, "safetensors.bad_escape", ENTRY);
    let utf8 = |bytes: &[u8], bad: &[u8], after: &[u8]| {
        let text = [br#"{"__metadata__":{"k":""#, bytes, "¦".as_bytes(), bad, after].concat();
        marked(text, 0, "safetensors.not_utf8", ENTRY)
    };
    let tensor = r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]"#;
    vec![
        marked("¦\u{feff}{}", 0, "safetensors.byte_order_mark", HEADER),
        marked("¦[]", 0, "safetensors.header_not_object", HEADER),
        marked("¦\"ab\"", 0, "safetensors.header_not_object", HEADER),
        marked(" ¦null", 0, "safetensors.header_not_object", HEADER),
        marked("¦12 ", 0, "safetensors.header_not_object", HEADER),
        marked("  ¦", 0, "safetensors.header_unclosed", HEADER),
        marked("{ ¦", 0, "safetensors.header_unclosed", HEADER),
        marked(format!("{tensor}}}¦"), 0, "safetensors.header_unclosed", HEADER),
        marked(format!("{tensor}¦"), 0, "safetensors.header_unclosed", TENSOR),
        marked(r#"{"a¦"#, 0, "safetensors.header_unclosed", TENSOR),
        marked("{\"a\":{\"x\":\"\\u12¦", 0, "safetensors.header_unclosed", TENSOR),
        marked("{\"__metadata__\":{\"a\":\"\u{e9}¦", 0, "safetensors.header_unclosed", ENTRY),
        json("¦\0{", HEADER),
        json("¦xx", HEADER),
        json("{}¦\0", HEADER),
        json("{}¦{}", HEADER),
        json("{}¦,", HEADER),
        json("{}¦\u{c}", HEADER),
        json("{¦,}", HEADER),
        json("{¦:1}", HEADER),
        json("{¦1:2}", HEADER),
        json("{¦'a':1}", HEADER),
        json("{¦// \n}", HEADER),
        json("{¦\u{a0}}", HEADER),
        json(&format!("{tensor}}},¦}}"), HEADER),
        json(&format!("{tensor},¦}}}}"), TENSOR),
        json(&format!("{tensor}¦]}}"), TENSOR),
        json(&format!("{tensor}}}¦]"), HEADER),
        json(&format!("{tensor}}} ¦\"b\""), HEADER),
        json(r#"{"a"¦,"#, TENSOR),
        json(r#"{"a" ¦"b"}"#, TENSOR),
        json(r#"{"a":¦}"#, TENSOR),
        json(r#"{"a":{"shape":[1,¦]}}"#, TENSOR),
        json(r#"{"a":{"shape":[¦,1]}}"#, TENSOR),
        json(r#"{"a":{"shape":[1¦}}}"#, TENSOR),
        json(r#"{"a":{"shape":[1 ¦2]}}"#, TENSOR),
        json(r#"{"a":{"x":[1¦:]}}"#, TENSOR),
        // Numbers and words that JSON does not have.
        json(r#"{"a":{"shape":[0¦0]}}"#, TENSOR),
        json(r#"{"a":{"shape":[¦+1]}}"#, TENSOR),
        json(r#"{"a":{"shape":[-¦]}}"#, TENSOR),
        json(r#"{"a":{"shape":[-¦a]}}"#, TENSOR),
        json(r#"{"a":{"x":[-0¦1]}}"#, TENSOR),
        json(r#"{"a":{"shape":[1.¦]}}"#, TENSOR),
        json(r#"{"a":{"shape":[¦.5]}}"#, TENSOR),
        json(r#"{"a":{"shape":[1e¦]}}"#, TENSOR),
        json(r#"{"a":{"shape":[1e+¦]}}"#, TENSOR),
        json(r#"{"a":{"shape":[1.¦e1]}}"#, TENSOR),
        json(r#"{"a":{"shape":[0¦x1]}}"#, TENSOR),
        json(r#"{"a":{"shape":[1¦_0]}}"#, TENSOR),
        json(r#"{"a":{"shape":[¦NaN]}}"#, TENSOR),
        json(r#"{"a":{"x":¦Infinity}}"#, TENSOR),
        json(r#"{"a":{"x":nul¦}}}"#, TENSOR),
        json(r#"{"a":{"x":t¦RUE}}"#, TENSOR),
        json(r#"{"a":{"x":false¦1}}"#, TENSOR),
        json(r#"{"a":{"x":null¦l}}"#, TENSOR),
        // Control characters stand in no string.
        json("{\"a¦\0\":1}", TENSOR),
        json("{\"a¦\n\":1}", TENSOR),
        json("{\"a\":{\"¦\x1f\":1}}", TENSOR),
        json("{\"__metadata__\":{\"¦\t\":\"\"}}", ENTRY),
        json("{\"__metadata__\":{\"k\":\"a¦\x01\"}}", ENTRY),
        json("{\"a\":{\"dtype\":\"F¦\r32\"}}", TENSOR),
        json("{\"a\":{\"x\":[\"¦\x02\"]}}", TENSOR),
        // Escapes. A half of a surrogate pair shows when what follows is no other half.
        escape(r#"{"__metadata__":{"k":"\¦x"}}"#),
        escape(r#"{"__metadata__":{"k":"\¦U0041"}}"#),
        escape(r#"{"__metadata__":{"k":"\u00¦g0"}}"#),
        escape(r#"{"__metadata__":{"k":"\u¦"}}"#),
        escape(r#"{"__metadata__":{"k":"\ud800¦"}}"#),
        escape(r#"{"__metadata__":{"k":"\ud800¦x"}}"#),
        escape(r#"{"__metadata__":{"k":"\ud800\¦n"}}"#),
        escape(r#"{"__metadata__":{"k":"\ud800\u004¦1"}}"#),
        escape(r#"{"__metadata__":{"k":"\ud800\ud80¦0"}}"#),
        escape(r#"{"__metadata__":{"k":"\udc0¦0\ud800"}}"#),
        escape(r#"{"__metadata__":{"\udff¦f":""}}"#),
        marked(r#"{"a":{"x":"\udff¦f"}}"#, 0, "safetensors.bad_escape", TENSOR),
        marked(r#"{"\ud83d¦":{}}"#, 0, "safetensors.bad_escape", TENSOR),
        // UTF-8: a lone continuation, a byte of none, overlong, a surrogate, beyond the last, cut by the end of the string.
        utf8(b"ab", b"\x80", b"\"}}"),
        utf8(b"", b"\xff", b"\"}}"),
        utf8(b"", b"\xc0\x80", b"\"}}"),
        utf8(b"\xe0", b"\x9f\xbf", b"\"}}"),
        utf8(b"\xed", b"\xa0\x80", b"\"}}"),
        utf8(b"\xf4", b"\x90\x80\x80", b"\"}}"),
        utf8(b"", b"\xf5\x80\x80\x80", b"\"}}"),
        utf8(b"\xe2\x82", b"\"", b"}}"),
        utf8(b"\xe2\x82", b"\\", b"n\"}}"),
        marked(b"{\"\xc3\xc2\xa6(\":1}", 0, "safetensors.not_utf8", TENSOR),
    ]
}

fn nested(depth: usize, mark: bool) -> String {
    // The header and the description are two of them.
    let (open, close) = ("[".repeat(depth - 3), "]".repeat(depth - 2));
    let mark = if mark { "¦" } else { "" };
    format!(r#"{{"a":{{"dtype":"U8","x":{open}{mark}[{close},"shape":[1],"data_offsets":[0,1]}}}}"#)
}

fn meaning_cases() -> Vec<Case> {
    let field = |header: &str| marked(header, 8, "safetensors.bad_field", TENSOR);
    let whole = |fields: &str| format!("{{¦\"a\":{{{fields}}}}}");
    let with = |dtype: &str, shape: &str, offsets: &str| {
        whole(&format!(r#""dtype":"{dtype}","shape":[{shape}],"data_offsets":[{offsets}]"#))
    };
    let dtype = |name: &str| {
        let header = format!(r#"{{"a":{{"dtype":¦"{name}","shape":[1],"data_offsets":[0,4]}}}}"#);
        marked(header, 4, "safetensors.unknown_dtype", TENSOR)
    };
    let missing = |fields: &str| marked(whole(fields), 8, "safetensors.missing_field", TENSOR);
    let (t, s, o) = (r#""dtype":"F32""#, r#""shape":[2]"#, r#""data_offsets":[0,8]"#);
    let twice = |fields: &str| {
        let header = format!(r#"{{"a":{{{t},{s},{o},{fields}}}}}"#);
        marked(header, 8, "safetensors.duplicate_field", TENSOR)
    };
    let text = |value: &str| {
        let header = format!(r#"{{"__metadata__":{{"k":¦{value}}}}}"#);
        marked(header, 0, "safetensors.metadata_not_string", ENTRY)
    };
    let metadata = |value: &str| {
        let header = format!(r#"{{"__metadata__":¦{value}}}"#);
        marked(header, 0, "safetensors.metadata_not_object", METADATA)
    };
    let tensor =
        |value: &str| marked(format!(r#"{{"a":¦{value}}}"#), 8, "safetensors.tensor_not_object", TENSOR);
    vec![
        // What the reference takes for an array of the three, or for a variant of an enumeration, is none here.
        tensor(r#"["F32",[2],[0,8]]"#),
        tensor("null"),
        tensor("7"),
        tensor("\"F32\""),
        tensor("true"),
        field(r#"{"a":{"dtype":¦{"F32":null},"shape":[2],"data_offsets":[0,8]}}"#),
        field(r#"{"a":{"dtype":¦["F32"],"shape":[2],"data_offsets":[0,8]}}"#),
        field(r#"{"a":{"dtype":¦1}}"#),
        field(r#"{"a":{"dtype":¦null}}"#),
        field(r#"{"a":{"shape":¦2}}"#),
        field(r#"{"a":{"shape":¦null}}"#),
        field(r#"{"a":{"shape":¦"2"}}"#),
        field(r#"{"a":{"shape":¦{}}}"#),
        field(r#"{"a":{"shape":[¦"2"]}}"#),
        field(r#"{"a":{"shape":[¦[2]]}}"#),
        field(r#"{"a":{"shape":[2,¦null]}}"#),
        field(r#"{"a":{"shape":[¦true]}}"#),
        field(r#"{"a":{"shape":[¦2.0]}}"#),
        field(r#"{"a":{"shape":[¦2e0]}}"#),
        field(r#"{"a":{"shape":[¦-0]}}"#),
        field(r#"{"a":{"shape":[¦-2]}}"#),
        field(r#"{"a":{"shape":[¦18446744073709551616]}}"#),
        field(r#"{"a":{"shape":[0,¦99999999999999999999999999]}}"#),
        field(r#"{"a":{"data_offsets":¦8}}"#),
        field(r#"{"a":{"data_offsets":¦null}}"#),
        field(r#"{"a":{"data_offsets":[¦]}}"#),
        field(r#"{"a":{"data_offsets":[0¦]}}"#),
        field(r#"{"a":{"data_offsets":[0,8,¦8]}}"#),
        field(r#"{"a":{"data_offsets":[0,¦"8"]}}"#),
        field(r#"{"a":{"data_offsets":[¦-0,8]}}"#),
        field(r#"{"a":{"data_offsets":[0,¦8.0]}}"#),
        field(r#"{"a":{"data_offsets":[0,¦8E0]}}"#),
        field(r#"{"a":{"data_offsets":[0,¦-8]}}"#),
        field(r#"{"a":{"data_offsets":[0,¦18446744073709551616]}}"#),
        field(r#"{"a":{"data_offsets":[0,¦[8]]}}"#),
        dtype("f32"),
        dtype(""),
        dtype("F32 "),
        dtype("F3"),
        dtype("F322"),
        dtype("F8_E4M3FNUZX"),
        dtype("Q4_0"),
        dtype("data_offsets_and_more"),
        dtype(r"F32\u0000"),
        missing(""),
        missing(r#""x":1"#),
        missing(&format!("{s},{o}")),
        missing(&format!("{t},{o}")),
        missing(&format!("{t},{s}")),
        missing(&format!(r#"{t},{s},"Data_offsets":[0,8]"#)),
        twice(&format!("¦{t}")),
        twice(&format!("¦{s}")),
        twice(&format!("¦{o}")),
        twice(r#"¦"d\u0074ype":"F32""#),
        twice(r#"¦"shape":null"#),
        metadata("[]"),
        metadata("\"\""),
        metadata("1"),
        metadata("false"),
        text("1"),
        text("null"),
        text("true"),
        text("-1.5e3"),
        text("{}"),
        text("[\"a\"]"),
        // Behind a tensor, whose index it is not.
        marked(
            r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"__metadata__":{"k":¦1}}"#,
            0,
            "safetensors.metadata_not_string",
            ENTRY,
        ),
        marked(
            r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"__metadata__":¦1}"#,
            0,
            "safetensors.metadata_not_object",
            METADATA,
        ),
        marked(r#"{"__metadata__":{},¦"__metadata__":{}}"#, 0, "safetensors.duplicate_metadata", METADATA),
        marked(
            r#"{"__metadata__":null,¦"\u005f_metadata__":null}"#,
            0,
            "safetensors.duplicate_metadata",
            METADATA,
        ),
        marked(with("F32", "2", "8,0"), 8, "safetensors.offsets_reversed", TENSOR),
        marked(with("F32", "0", "1,0"), 8, "safetensors.offsets_reversed", TENSOR),
        marked(with("F32", "3", "0,8"), 8, "safetensors.length_mismatch", TENSOR),
        marked(with("F32", "2,0", "0,8"), 8, "safetensors.length_mismatch", TENSOR),
        marked(with("F32", "2", "0,0"), 8, "safetensors.length_mismatch", TENSOR),
        marked(with("F32", "", "0,8"), 8, "safetensors.length_mismatch", TENSOR),
        marked(with("F64", "2", "0,8"), 8, "safetensors.length_mismatch", TENSOR),
        marked(with("F4", "2,4", "0,8"), 8, "safetensors.length_mismatch", TENSOR),
        marked(with("F4", "3", "0,2"), 2, "safetensors.partial_byte", TENSOR),
        marked(with("F4", "", "0,1"), 1, "safetensors.partial_byte", TENSOR),
        marked(with("F4", "3", "0,1"), 1, "safetensors.partial_byte", TENSOR),
        marked(with("F6_E2M3", "3", "0,3"), 3, "safetensors.partial_byte", TENSOR),
        marked(with("F6_E3M2", "2,3", "0,5"), 5, "safetensors.partial_byte", TENSOR),
        marked(with("U8", "4294967296,2147483648", "0,8"), 8, "tensor.shape_overflow", TENSOR),
        marked(with("U8", "4294967296,4294967296,0", "0,0"), 0, "tensor.shape_overflow", TENSOR),
        marked(with("U8", "0,4294967296,4294967296", "0,0"), 0, "tensor.shape_overflow", TENSOR),
        marked(with("U8", "18446744073709551615", "0,8"), 8, "tensor.shape_overflow", TENSOR),
        marked(with("F64", "1152921504606846976", "0,8"), 8, "tensor.size_overflow", TENSOR),
        marked(with("F64", "2305843009213693952", "0,0"), 0, "tensor.size_overflow", TENSOR),
        marked(with("U8", "0", "9223372036854775808,9223372036854775808"), 0, "tensor.size_overflow", TENSOR),
        marked(
            with("U8", "2", "18446744073709551613,18446744073709551615"),
            0,
            "tensor.size_overflow",
            TENSOR,
        ),
        // The last position of all, but the header comes before it.
        marked(
            format!("{}¦", with("U8", "9223372036854775807", "0,9223372036854775807").replace('¦', "")),
            0,
            "tensor.size_overflow",
            TENSOR,
        ),
        marked(r#"{¦"a\u0000":{}}"#, 0, "name.nul", TENSOR),
        marked(r#"{"__metadata__":{¦"a\u0000b":""}}"#, 0, "name.nul", ENTRY),
        marked(nested(128, true), 1, "limit.nesting", TENSOR),
    ]
}

fn placement_cases() -> Vec<Case> {
    let u8s = |places: &[(u64, u64)]| {
        let entry = |(index, (start, end)): (usize, &(u64, u64))| {
            let len = end - start;
            format!(r#""{index}":{{"dtype":"U8","shape":[{len}],"data_offsets":[{start},{end}]}}"#)
        };
        let entries: Vec<_> = places.iter().enumerate().map(entry).collect();
        format!("{{{}}}¦", entries.join(","))
    };
    let third = (Section::Tensors, Some(2));
    vec![
        marked(u8s(&[(1, 3)]), 3, "safetensors.hole", TENSOR),
        marked(u8s(&[(0, 2), (3, 4)]), 4, "safetensors.hole", SECOND),
        marked(u8s(&[(3, 4), (0, 2)]), 4, "safetensors.hole", TENSOR),
        marked(u8s(&[(0, 2), (3, 3)]), 2, "safetensors.hole", SECOND),
        marked(u8s(&[(5, 5)]), 0, "safetensors.hole", TENSOR),
        marked(u8s(&[(0, 2), (1, 3)]), 3, "tensor.overlap", SECOND),
        marked(u8s(&[(1, 3), (0, 2)]), 3, "tensor.overlap", SECOND),
        marked(u8s(&[(0, 2), (0, 2)]), 2, "tensor.overlap", SECOND),
        marked(u8s(&[(0, 4), (1, 2), (2, 3)]), 4, "tensor.overlap", SECOND),
        marked(u8s(&[(0, 4), (2, 2)]), 4, "tensor.overlap", SECOND),
        marked(u8s(&[(2, 2), (0, 4)]), 4, "tensor.overlap", SECOND),
        // An overlap that makes up for a hole.
        marked(u8s(&[(0, 2), (1, 3), (4, 5)]), 5, "tensor.overlap", SECOND),
        marked(u8s(&[(0, 2), (3, 5), (3, 4)]), 5, "tensor.overlap", third),
        marked(
            r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u0061":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}¦"#,
            2,
            "tensor.duplicate",
            SECOND,
        ),
        marked(
            r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}¦"#,
            0,
            "tensor.duplicate",
            SECOND,
        ),
    ]
}

#[test]
fn what_is_no_json_is_refused_at_its_byte() {
    json_cases().iter().for_each(check);
}

#[test]
fn what_means_no_tensor_and_no_metadata_is_refused_at_its_field() {
    meaning_cases().iter().for_each(check);
}

#[test]
fn what_lies_wrong_is_refused_where_the_descriptions_end() {
    placement_cases().iter().for_each(check);
}

/// The length, and what follows the header.
fn outer_cases() -> Vec<(Vec<u8>, &'static str, u64)> {
    let length = |length: u64| length.to_le_bytes().to_vec();
    let header = r#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
    vec![
        (vec![], "input.truncated", 0),
        (vec![2, 0, 0, 0, 0, 0, 0], "input.truncated", 0),
        (length(0), "safetensors.header_too_small", 0),
        (length(1), "safetensors.header_too_small", 0),
        ([length(1), b"{".to_vec()].concat(), "safetensors.header_too_small", 0),
        (length(100_000_001), "safetensors.header_too_large", 0),
        (length(u64::MAX), "safetensors.header_too_large", 0),
        (length(100_000_000), "input.truncated", 8),
        ([length(3), b"{}".to_vec()].concat(), "input.truncated", 8),
        (file(header, &[]), "input.truncated", 8 + header.len() as u64),
        (file(header, &[1]), "input.truncated", 8 + header.len() as u64),
        (file(header, &[1, 2, 3]), "safetensors.trailing_bytes", 8 + header.len() as u64 + 2),
        (file("{}", &[0]), "safetensors.trailing_bytes", 10),
        (file("{} ", b"{}"), "safetensors.trailing_bytes", 11),
    ]
}

#[test]
fn what_is_too_short_or_too_long_is_refused() {
    for (bytes, code, offset) in outer_cases() {
        let error = agreed(&bytes, Options::new()).error();
        assert_eq!((error.code(), error.offset()), (code, offset), "{bytes:?}");
    }
}

#[test]
fn nesting_of_127_is_taken_and_of_128_refused() {
    assert_eq!(agreed(&file(nested(127, false), &[0]), Options::new()).result, Ok(()));
    let error = agreed(&file(nested(128, false), &[0]), Options::new()).error();
    assert_eq!(error.code(), "limit.nesting");
    assert!(error.to_string().contains("128 deep, over the limit of 127"), "{error}");
    // Much deeper, of objects, costs no more.
    let deep = format!(r#"{{"a":{{"x":{}"#, r#"{"x":"#.repeat(100_000));
    assert_eq!(agreed(&file(deep, &[]), Options::new()).error().code(), "limit.nesting");
}

/// Each code that only this format has is given by some case here or in the tests of the limits.
#[test]
fn every_code_of_the_format_has_a_case() {
    let mut given = vec!["safetensors.header_too_small"];
    for cases in [json_cases(), meaning_cases(), placement_cases()] {
        given.extend(cases.iter().map(|case| case.code));
    }
    given.extend(outer_cases().iter().map(|(_, code, _)| *code));
    // With fewer slots than tensors: in `placement`.
    given.push("safetensors.not_covered");
    let codes: Vec<_> = ERROR_SOURCE
        .split('"')
        .filter(|text| text.starts_with("safetensors.") && !text.contains(' '))
        .collect();
    assert!(codes.len() > 20, "{codes:?}");
    for code in codes {
        assert!(given.contains(&code), "no case gives {code}");
    }
}
