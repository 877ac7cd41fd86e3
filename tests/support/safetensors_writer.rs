//! Writes safetensors files, good and bad ones: the header is text, taken as it is.

use std::fmt::Write;

use super::record::{Recording, SLOTS, run};
use weightstream::{Options, TensorSlot, safetensors};

/// The decoder that most tests use.
pub type Full = safetensors::Decoder<[TensorSlot; SLOTS]>;

/// A decoder that records every tensor.
pub fn full(options: Options) -> Full {
    safetensors::Decoder::with_options([TensorSlot::EMPTY; SLOTS], options)
}

/// A file: the header's length, the header, the data.
pub fn file(header: impl AsRef<[u8]>, data: &[u8]) -> Vec<u8> {
    let header = header.as_ref();
    [&(header.len() as u64).to_le_bytes(), header, data].concat()
}

/// A header of these entries.
pub fn object(entries: &[String]) -> String {
    format!("{{{}}}", entries.join(","))
}

/// The entry of a tensor, as the reference writes it.
pub fn tensor(name: &str, dtype: &str, shape: &[u64], start: u64, end: u64) -> String {
    let shape = shape.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let name = quoted(name);
    format!(r#"{name}:{{"dtype":"{dtype}","shape":[{shape}],"data_offsets":[{start},{end}]}}"#)
}

/// The entry of metadata.
pub fn metadata(entries: &[(&str, &str)]) -> String {
    let entries: Vec<_> =
        entries.iter().map(|(key, text)| format!("{}:{}", quoted(key), quoted(text))).collect();
    format!(r#""__metadata__":{}"#, object(&entries))
}

/// A string of JSON, with no more escapes than it needs.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\0'..='\x1f' => write!(quoted, "\\u{:04x}", u32::from(char)).expect("a string takes all"),
            _ => quoted.push(char),
        }
    }
    quoted + "\""
}

/// The same with every character escaped.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::from('"');
    for unit in text.encode_utf16() {
        write!(escaped, "\\u{unit:04X}").expect("a string takes all");
    }
    escaped + "\""
}

/// The file of the issue: `a` is F32 `[1.5, -2.0]`, `b` is I64 `[3]`, behind a header padded to 145 bytes.
pub fn worked_example() -> Vec<u8> {
    let entries = [tensor("a", "F32", &[2], 0, 8), tensor("b", "I64", &[1], 8, 16)];
    let header = format!("{:145}", object(&entries));
    assert_eq!(header.len(), 145);
    let mut data = [1.5_f32, -2.0].map(f32::to_le_bytes).concat();
    data.extend(3_i64.to_le_bytes());
    file(header, &data)
}

/// A file with a bit of everything in less than 800 bytes: fields and tensors in any order, escapes, unknown fields,
/// sub-byte types, a scalar, empty tensors, bytes at odd offsets, white space, metadata in the middle.
pub fn compact() -> Vec<u8> {
    let entries = [
        r#""\u0061\uD83D\uDE00é":{"shape":[],"dtype":"F16","data_offsets":[17,19]}"#.to_owned(),
        r#" "q" : { "extra" : [ {"a":[1.5e+3,-0,null]}, "\n\"" , true, false ], "d\u0074ype" : "F\u0034",
 "data_offsets" : [ 0 , 3 ] , "shape" : [ 2 , 3 ] }"#
            .to_owned(),
        r#""__m\u0065tadata__":{"format":"pt","":"","k\/é":"a\\\"\b\f\n\r\t\u00e9\ud834\udd1e.é漢🙂","e":"\u0000"}"#
            .to_owned(),
        tensor("z", "BOOL", &[3, 0], 19, 19),
        tensor("y", "I64", &[0], 0, 0),
        tensor("i", "I64", &[1], 9, 17),
        tensor("", "F6_E2M3", &[2, 2, 2], 3, 9),
        tensor("c", "C64", &[1, 1], 19, 27),
    ];
    let header = format!(" \r\n\t{}\n  ", object(&entries));
    let file = file(header, &(1..=27).collect::<Vec<u8>>());
    assert!(file.len() < 800, "{} bytes are not compact", file.len());
    file
}

/// A key and a name longer than a scratch of 320 bytes, and a text that no scratch holds.
pub fn long_names() -> Vec<u8> {
    let (key, text) = ("ключ".repeat(60), "ab\né".repeat(200));
    let entries = [
        tensor(&"é".repeat(170), "I16", &[3], 2, 8),
        metadata(&[(&key, &text), ("after", "text")]),
        tensor("short", "U8", &[2], 0, 2),
    ];
    file(object(&entries), &[1, 2, 3, 4, 5, 6, 7, 8])
}

/// What a decoder that records every tensor tells of a whole file.
pub fn whole(bytes: &[u8], options: Options) -> Recording {
    run(&mut full(options), [bytes])
}

/// The same for the file cut into chunks of 1 and of 7 bytes, which must tell the same.
pub fn agreed(bytes: &[u8], options: Options) -> Recording {
    let recording = whole(bytes, options);
    for size in [1, 7] {
        assert_eq!(run(&mut full(options), bytes.chunks(size)), recording, "chunks of {size}");
    }
    recording
}
