//! What `inspect` says, held against what is in the files.

use std::fs;

use serde_json::{Value as Json, json};

use crate::run::{Corpus, SAMPLE, file, list, run, run_on};
use crate::support::gguf_writer::{Gguf, Value};

/// Holds a value as printed against one of `expected.json`.
#[track_caller]
fn assert_value(found: &Json, value_type: &str, expected: &Json) {
    match value_type {
        "f32" | "f64" => {
            let bits = u64::from_str_radix(&expected["bits"].as_str().unwrap()[2..], 16).unwrap();
            let wide =
                if value_type == "f32" { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) };
            if !wide.is_finite() {
                let name = if wide.is_nan() { "nan".into() } else { wide.to_string() };
                assert_eq!(found, &json!(name));
                return;
            }
            let Json::Number(number) = found else { panic!("{found} is no number") };
            let text = number.to_string();
            assert!(text.contains(['.', 'e']), "{text}");
            let found = match value_type {
                "f32" => text.parse::<f32>().unwrap().to_bits().into(),
                _ => text.parse::<f64>().unwrap().to_bits(),
            };
            assert_eq!(found, bits, "{text}");
        }
        "array" => {
            let (element, values) = (expected["elem"].as_str().unwrap(), list(&expected["values"]));
            assert_eq!((&found["element"], &found["length"]), (&json!(element), &json!(values.len())));
            assert_eq!(list(&found["value"]).len(), values.len());
            list(&found["value"])
                .iter()
                .zip(values)
                .for_each(|(found, value)| assert_value(found, element, value));
        }
        // Numbers are compared as text, digit by digit.
        _ => assert_eq!(found, expected),
    }
}

#[test]
fn inspect_tells_what_is_in_every_file_of_the_corpus() {
    let corpus = Corpus::read();
    for (path, expected) in corpus.good() {
        let found = run("inspect", &["--json", "--full", &path]).json();
        assert_eq!(found["format"], "gguf");
        for field in ["version", "endian", "alignment", "data_offset"] {
            assert_eq!(found[field], expected[field], "{path}: {field}");
        }
        let (entries, tensors) = (list(&expected["kv"]), list(&expected["tensors"]));
        assert_eq!(
            (list(&found["metadata"]).len(), list(&found["tensors"]).len()),
            (entries.len(), tensors.len())
        );
        for (found, entry) in list(&found["metadata"]).iter().zip(entries) {
            assert_eq!((&found["key"], &found["type"]), (&entry["key"], &entry["type"]), "{path}");
            assert_value(&found["value"], entry["type"].as_str().unwrap(), &entry["value"]);
        }
        let mut end = found["data_offset"].as_u64().unwrap();
        for (found, tensor) in list(&found["tensors"]).iter().zip(tensors) {
            let fields = ["name", "type", "dims"].map(|field| (&found[field], &tensor[field]));
            fields.iter().for_each(|(found, expected)| assert_eq!(found, expected, "{path}"));
            assert_eq!(
                (&found["offset"], &found["bytes"]),
                (&tensor["abs_offset"], &tensor["nbytes"]),
                "{path}"
            );
            end = end.max(found["offset"].as_u64().unwrap() + found["bytes"].as_u64().unwrap());
        }
        assert_eq!(found["file_size"].as_u64(), Some(end), "{path}");
    }
}

#[test]
fn inspect_says_the_same_of_a_pipe_in_chunks_of_any_size() {
    let corpus = Corpus::read();
    for (path, _) in corpus.good() {
        let bytes = fs::read(&path).unwrap();
        let chunk = 1 + bytes.len() % 13;
        let chunk = chunk.to_string();
        for form in [&["--json", "--full"][..], &[]] {
            let of_file = run("inspect", &[form, &[&path]].concat()).text();
            let of_pipe = run_on("inspect", &[form, &["-", "--chunk", &chunk]].concat(), &bytes).text();
            assert_eq!(of_file, of_pipe, "{path} in chunks of {chunk}");
        }
    }
}

#[test]
fn inspect_shows_the_bundled_model() {
    let of_bundled = run("inspect", &[] as &[&str]).text();
    assert_eq!(of_bundled, run("inspect", &[SAMPLE]).text());
    assert!(of_bundled.contains("Weightstream Sample"));
}

#[test]
fn arrays_are_cut_to_eight_elements() {
    let found = run("inspect", &["--json", SAMPLE]).json();
    let tokens =
        list(&found["metadata"]).iter().find(|entry| entry["key"] == "tokenizer.ggml.tokens").unwrap();
    assert_eq!((&tokens["value"]["length"], list(&tokens["value"]["value"]).len()), (&json!(260), 8));

    let row = |first: u32| Value::array((first..first + 10).map(Value::U32).collect());
    let file = Gguf::new()
        .entry("rows", Value::array((0..10).map(row).collect()))
        .entry("b", Value::Bool(1))
        .write();
    let found = run_on("inspect", &["--json", "-"], &file.bytes).json();
    let rows = list(&found["metadata"][0]["value"]["value"]);
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[7], json!({"element": "u32", "length": 10, "value": [7, 8, 9, 10, 11, 12, 13, 14]}));
    assert_eq!(found["metadata"][1]["value"], json!(true));
}

#[test]
fn long_strings_are_printed_whole_in_json() {
    let long = "weights, größer als der Puffer – 重み ".repeat(60_000);
    let write = |string: Vec<u8>| {
        Gguf::new().entry("long", Value::String(string)).entry("n", Value::U8(7)).write().bytes
    };
    let bytes = write(long.clone().into_bytes());
    let found = run("inspect", &["--json", &file("long.gguf", &bytes)]).json();
    assert_eq!(found["metadata"][0]["value"].as_str(), Some(long.as_str()));
    assert_eq!(found, run_on("inspect", &["--json", "-", "--chunk", "4093"], &bytes).json());

    // Not UTF-8 at its very end: only a file can be read twice.
    let mut string = long.into_bytes();
    string.extend(b"\xe9\x87");
    let bytes = write(string.clone());
    let found = run("inspect", &["--json", &file("long_bad.gguf", &bytes)]).json();
    let hex: String = string.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(found["metadata"][0]["value"]["hex"].as_str(), Some(hex.as_str()));
    assert_eq!(found["metadata"][1]["value"], json!(7));
    assert!(run_on("inspect", &["--json", "-"], &bytes).bad().contains("turns out not to be UTF-8"));
    // For people, both are cut.
    assert_eq!(
        run("inspect", &[&file("long_bad.gguf", &bytes)]).text(),
        run_on("inspect", &["-"], &bytes).text()
    );
}
