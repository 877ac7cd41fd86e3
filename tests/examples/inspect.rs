//! What `inspect` says, held against what is in the files.

use std::fs;

use serde_json::{Value as Json, json};
use weightstream::{Decoder, TensorSlot, name_hash};

use crate::run::{Corpus, SAMPLE, file, list, run, run_on};
use crate::support::gguf_writer::{Gguf, Tensor, Value};

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

/// A line of a table, from what must be in it.
fn table_line(tensor: &Json, is_big: bool, is_rust: bool) -> String {
    let number = |field: &Json| field.as_u64().unwrap();
    let row = tensor["dims"][0].as_u64().unwrap_or(1);
    let (offset, bytes) = (number(&tensor["abs_offset"]), number(&tensor["nbytes"]));
    if is_rust {
        let order = if is_big { "Big" } else { "Little" };
        format!(
            "), {offset}, {bytes}, {row}, INDEX, TensorType::{}, ByteOrder::{order}),",
            tensor["type"].as_str().unwrap()
        )
    } else {
        let hash = name_hash(tensor["name"].as_str().unwrap());
        let (id, order) = (number(&tensor["type_id"]), u8::from(is_big));
        format!(
            "    {{UINT64_C({hash:#018x}), UINT64_C({offset}), UINT64_C({bytes}), UINT64_C({row}), INDEX, {id}, {order}}}, // "
        )
    }
}

#[test]
fn tables_hold_every_tensor_of_the_corpus() {
    let corpus = Corpus::read();
    for (path, expected) in corpus.good() {
        let tensors = list(&expected["tensors"]);
        for flag in ["--rust-table", "--c-table"] {
            let found = run("inspect", &[flag, &path]).text();
            let start = if flag == "--rust-table" { "    TensorSlot::new(" } else { "    {UINT64_C(" };
            let rows: Vec<&str> = found.lines().filter(|line| line.starts_with(start)).collect();
            assert_eq!(rows.len(), tensors.len(), "{path}");
            for (index, (row, tensor)) in rows.iter().zip(tensors).enumerate() {
                let line = table_line(tensor, expected["endian"] == "big", flag == "--rust-table");
                let line = line.replace("INDEX", &index.to_string());
                assert!(row.contains(&line), "{path}: {row}\nshould have {line}");
            }
        }
    }
}

/// The table that the firmware has in its flash.
#[path = "../../examples/firmware/src/sample_table.rs"]
#[allow(unreachable_pub, reason = "it is a file of another crate")]
mod sample_table;

#[test]
fn the_table_in_rust_is_the_directory_that_a_decoder_records() {
    let made = run("inspect", &["--rust-table", SAMPLE]).text();
    assert_eq!(made, fs::read_to_string("examples/firmware/src/sample_table.rs").unwrap());

    let file = fs::read(SAMPLE).unwrap();
    let mut decoder = Decoder::new([TensorSlot::EMPTY; 32]);
    let mut input = file.as_slice();
    while decoder.decode(&mut input).unwrap().is_some() {}
    assert_eq!(decoder.directory().slots(), &sample_table::TENSORS[..]);
}

#[test]
fn no_name_breaks_out_of_a_table() {
    let name = "a\"\\\n\u{202e}/*ü\\";
    let bytes = Gguf::new().tensor(Tensor::new(name, 0, &[1], vec![0; 4])).write().bytes;
    let rust = run_on("inspect", &["--rust-table", "-"], &bytes).text();
    assert!(rust.contains(r#"name_hash("a\"\\\u{a}\u{202e}/*\u{fc}\\"), "#), "{rust}");
    let c = run_on("inspect", &["--c-table", "-"], &bytes).text();
    assert!(c.lines().all(|line| !line.ends_with('\\')), "{c}");
    assert!(c.contains("}, // a\"/") && !c.contains('\u{202e}'), "{c}");
    let (_, rows) = c.split_once("tensors[1] = {\n").unwrap();
    assert_eq!(rows.lines().count(), 2, "{c}");
}

#[test]
fn a_table_of_no_tensors_is_a_constant_too() {
    let bytes = Gguf::new().entry("n", Value::U8(1)).write().bytes;
    assert!(
        run_on("inspect", &["--rust-table", "-"], &bytes)
            .text()
            .ends_with("TENSORS: [TensorSlot; 0] = [\n];\n")
    );
    // C has no arrays of no length.
    let c = run_on("inspect", &["--c-table", "-"], &bytes).text();
    assert!(c.ends_with("tensors[1] = {\n    {0, 0, 0, 0, 0, 0, 0},\n};\n"), "{c}");
}
