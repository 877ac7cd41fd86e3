//! Files that several tests decode: the corpus, and compact ones with a bit of everything.

use std::fs;
use std::path::{Path, PathBuf};

use super::gguf_writer::{Gguf, Tensor, Value, Written};
use weightstream::{Layout, Options};

pub fn data_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// A file of the corpus.
pub fn corpus_file(name: &str) -> Vec<u8> {
    let path = data_dir().join("corpus").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of all files of the corpus.
pub fn corpus_names() -> Vec<String> {
    let entries = fs::read_dir(data_dir().join("corpus")).expect("the corpus is there");
    let names = entries.map(|entry| entry.expect("its entries can be read").file_name());
    let mut names: Vec<String> =
        names.filter_map(|name| name.into_string().ok()).filter(|name| name.ends_with(".gguf")).collect();
    names.sort();
    assert!(names.len() >= 36, "the corpus is not whole");
    names
}

/// The options that a file of the corpus needs.
pub fn corpus_options(name: &str) -> Options {
    match name {
        "offsets_gap.gguf" | "offsets_shuffled.gguf" => Options::new().layout(Layout::Sparse),
        _ => Options::new(),
    }
}

/// The entries of the compact files: every type of value, empty things, nested arrays, the alignment in the middle.
pub fn entries() -> Vec<(&'static str, Value)> {
    let strings = vec![Value::text("ab"), Value::text(""), Value::text("déf")];
    let inner = vec![
        Value::array(vec![Value::I16(-1), Value::I16(2)]),
        Value::Array { element: 8, items: Vec::new() },
        Value::array(vec![Value::text("x")]),
    ];
    vec![
        ("u8", Value::U8(200)),
        ("i8", Value::I8(-3)),
        ("u16", Value::U16(0x1234)),
        ("i16", Value::I16(-2)),
        ("u32", Value::U32(70_000)),
        ("i32", Value::I32(-70_000)),
        ("f32", Value::F32(1.5)),
        ("t", Value::Bool(1)),
        ("s", Value::text("hello")),
        ("e", Value::text("")),
        ("general.alignment", Value::U32(8)),
        ("u64", Value::U64(1 << 40)),
        ("i64", Value::I64(-5)),
        ("f64", Value::F64(-0.25)),
        ("ab", Value::array(vec![Value::Bool(1), Value::Bool(0), Value::Bool(1)])),
        ("ai", Value::array(vec![Value::I32(1), Value::I32(-2), Value::I32(3)])),
        ("as", Value::array(strings)),
        ("a0", Value::array(Vec::new())),
        ("aa", Value::array(inner)),
    ]
}

/// The tensors of the compact files: a scalar, plain ones, one of blocks, an empty one.
pub fn tensors() -> Vec<Tensor> {
    let bytes = |len: u8| (1..=len).collect::<Vec<u8>>();
    vec![
        Tensor::new("é", 0, &[], bytes(4)),
        Tensor::new("q", 2, &[32, 2], bytes(36)),
        Tensor::new("z", 1, &[3, 0], Vec::new()),
        Tensor::new("i", 24, &[5], bytes(5)),
    ]
}

/// A file with a bit of everything in less than 700 bytes. Its last tensor is not padded.
pub fn compact(version: u32, big_endian: bool) -> Written {
    let mut file = Gguf::new().version(version).big_endian(big_endian).pad_to(8).last_padding(false);
    for (key, value) in entries() {
        file = file.entry(key, value);
    }
    for tensor in tensors() {
        file = file.tensor(tensor);
    }
    let file = file.write();
    assert!(file.bytes.len() < 750, "{} bytes are not compact", file.bytes.len());
    file
}

/// Keys and names longer than a scratch of 320 bytes.
pub fn long_names() -> Written {
    let key = format!("k.{}", "ключ".repeat(60));
    let name = format!("n.{}", "é".repeat(170));
    Gguf::new()
        .entry(key, Value::U16(7))
        .entry("after", Value::text("text"))
        .tensor(Tensor::new(name, 1, &[3], vec![1, 2, 3, 4, 5, 6]))
        .tensor(Tensor::new("short", 24, &[2], vec![7, 8]))
        .write()
}
