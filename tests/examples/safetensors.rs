//! What the programs make of safetensors files, held against what the reference, numpy and ml_dtypes read out of them.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::run::{SHARED, command, file, finish, list, run, run_on};

pub(crate) const SAMPLE: &str = "examples/data/sample.safetensors";
const FOLDER: &str = "tests/data/safetensors";

/// A file of this header and these data.
pub(crate) fn written(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// Two tensors: `a`, of two F32, and `b`, of three U8.
fn two() -> Vec<u8> {
    let header = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}}"#;
    written(header, &[[1.5_f32, -2.0].map(f32::to_le_bytes).as_flattened(), &[7, 8, 9]].concat())
}

/// What `tools/make_safetensors.py` expects: a path and an object for each file.
fn corpus() -> Vec<(String, Json)> {
    let expected = fs::read(Path::new(FOLDER).join("expected.json")).unwrap();
    let expected: Json = serde_json::from_slice(&expected).unwrap();
    let path = |file: &Json| format!("{FOLDER}/{}", file["file"].as_str().unwrap());
    list(&expected).iter().map(|file| (path(file), file.clone())).collect()
}

fn bits(values: &[u8]) -> Vec<u32> {
    values.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn from_hex(hex: &str) -> Vec<u8> {
    let digits = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    hex.as_bytes().chunks(2).map(digits).collect()
}

#[test]
fn inspect_tells_what_is_in_every_safetensors_file() {
    for (path, expected) in corpus() {
        let bytes = fs::read(&path).unwrap();
        for found in [
            run("inspect", &["--json", "--full", &path]).json(),
            run_on("inspect", &["--json", "-", "--chunk", "7"], &bytes).json(),
        ] {
            assert_eq!(found["format"], "safetensors");
            for field in ["data_offset", "file_size"] {
                assert_eq!(found[field], expected[field], "{path}: {field}");
            }
            let entries = expected["metadata"].as_object().unwrap();
            assert_eq!(list(&found["metadata"]).len(), entries.len(), "{path}");
            for entry in list(&found["metadata"]) {
                let key = entry["key"].as_str().unwrap();
                assert_eq!((&entry["type"], &entry["value"]), (&json!("string"), &entries[key]), "{path}");
            }
            assert_eq!(list(&found["tensors"]).len(), list(&expected["tensors"]).len());
            for (found, tensor) in list(&found["tensors"]).iter().zip(list(&expected["tensors"])) {
                for field in ["name", "dtype", "shape", "offset", "bytes"] {
                    assert_eq!(found[field], tensor[field], "{path}: {field}");
                }
            }
            let bytes = list(&expected["tensors"]).iter().map(|tensor| tensor["bytes"].as_u64().unwrap());
            assert_eq!(found["summary"]["bytes"], bytes.sum::<u64>());
        }
        let text = run("inspect", &[&path]).text();
        assert_eq!(text, run_on("inspect", &["-", "--chunk", "5"], &bytes).text());
        assert!(text.starts_with("safetensors\n\nModel\n"), "{text}");
    }
}

/// Nothing is said of a safetensors file that only GGUF has.
#[test]
fn a_safetensors_file_has_nothing_of_gguf() {
    let header = r#"{"__metadata__":{"general.architecture":"llama","general.name":"no","split.count":"2"},"blk.0.weight":{"dtype":"I16","shape":[1,2],"data_offsets":[0,4]}}"#;
    let path = file("not.gguf", &written(header, &[1, 0, 255, 255]));
    let found = run("inspect", &["--json", &path]).json();
    let fields: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["data_offset", "file_size", "format", "metadata", "summary", "tensors"]);
    assert_eq!(found["summary"], json!({"weights": 2, "bytes": 4, "bits_per_weight": 16.0}));
    let fields: Vec<&String> = found["tensors"][0].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["bytes", "dtype", "name", "offset", "shape"]);

    let text = run("inspect", &[&path]).text();
    for word in ["version", "endian", "alignment", "\n  architecture", "\n  layers", "dims"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    let rows: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for row in
        ["name dtype shape bytes", "blk.0.weight I16 1 × 2 4", "data offset 161", "expected size 165 bytes"]
    {
        assert!(rows.iter().any(|found| found == row), "{row}: {text}");
    }
    let found = run("check", &["--quiet", &path]).text();
    assert_eq!(found, format!("{path}: whole; safetensors, 1 tensor, 2 values; 0 NaN, 0 infinite\n"));
    // And the other way round.
    let found = run("check", &["--quiet", crate::run::SAMPLE]).text();
    assert!(found.contains("sample.gguf: whole; GGUF, 25 tensors"), "{found}");
}

#[test]
fn metadata_are_told_wherever_they_stand() {
    let tensor = r#""t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#;
    let with = |metadata: &str| written(&format!("{{{tensor}{metadata}}}"), &[1]);
    let text = run_on("inspect", &["-"], &with(r#","__metadata__":{"k":"v","long":"word "}"#)).text();
    assert!(text.find("\nMetadata\n\n  k  ").unwrap() < text.find("\nTensors (1)\n").unwrap(), "{text}");
    for nothing in ["", r#","__metadata__":{}"#, r#","__metadata__":null"#] {
        let bytes = with(nothing);
        let text = run_on("inspect", &["-"], &bytes).text();
        assert!(text.contains("\nNo metadata\n\nTensors (1)\n"), "{text}");
        assert_eq!(run_on("inspect", &["--json", "-"], &bytes).json()["metadata"], json!([]));
    }
    // A text is cut at the edge of the terminal, whatever its length, which nobody tells beforehand.
    let long = "0123456789".repeat(300_000);
    let bytes = with(&format!(r#","__metadata__":{{"k":"{long}","l":"after"}}"#));
    let text = run_on("inspect", &["-"], &bytes).text();
    assert!(text.lines().all(|line| line.chars().count() <= 80) && text.contains("…\"\n"), "{text}");
    assert!(text.contains("\"after\"\n"), "{text}");
    let found = run_on("inspect", &["--json", "-"], &bytes).json();
    assert_eq!(found["metadata"][0]["value"].as_str(), Some(long.as_str()));
    let text = run_on("inspect", &["--full", "-"], &bytes).text();
    assert!(text.contains(&format!("\"{long}\"\n")));
}

#[test]
fn weights_are_those_of_numpy() {
    let mut dtypes = Vec::new();
    for (path, expected) in corpus() {
        let bytes = fs::read(&path).unwrap();
        for tensor in list(&expected["tensors"]) {
            let (name, dtype) = (tensor["name"].as_str().unwrap(), tensor["dtype"].as_str().unwrap());
            let found = run("weights", &[&path, name, "--format", "f32"]);
            let Some(hex) = tensor["f32"].as_str() else {
                let line = found.bad();
                assert!(
                    line.contains(&format!("{dtype} cannot be dequantized: it comes as raw blocks only")),
                    "{line}"
                );
                assert!(["C64", "F4", "F6_E2M3", "F6_E3M2"].contains(&dtype), "{dtype}");
                continue;
            };
            let values = found.good();
            assert_eq!(bits(&values), bits(&from_hex(hex)), "{path}: {tensor}");
            let of_pipe = run_on("weights", &["-", name, "--format", "f32"], &bytes);
            assert!(of_pipe.good() == values, "{path}: {name}");
            dtypes.push(dtype.to_owned());
        }
    }
    dtypes.sort();
    dtypes.dedup();
    assert_eq!(dtypes.len(), 18, "{dtypes:?}");
}

#[test]
fn bytes_are_those_of_the_file_whatever_the_type() {
    let mut dtypes = Vec::new();
    for (path, expected) in corpus() {
        let bytes = fs::read(&path).unwrap();
        for tensor in list(&expected["tensors"]) {
            let number = |field: &str| usize::try_from(tensor[field].as_u64().unwrap()).unwrap();
            let place = number("offset")..number("offset") + number("bytes");
            let name = tensor["name"].as_str().unwrap();
            assert!(
                run("weights", &[&path, name, "--format", "bytes"]).good() == bytes[place],
                "{path}: {name}"
            );
            dtypes.push(tensor["dtype"].as_str().unwrap().to_owned());
        }
    }
    dtypes.sort();
    dtypes.dedup();
    assert_eq!(dtypes.len(), 22, "{dtypes:?}");

    // An odd row of half bytes: all of it, but no row by itself.
    let header = r#"{"t":{"dtype":"F4","shape":[2,3],"data_offsets":[0,3]}}"#;
    let bytes = written(header, &[1, 2, 3]);
    assert_eq!(run_on("weights", &["-", "t", "--format", "bytes"], &bytes).good(), [1, 2, 3]);
    let line = run_on("weights", &["-", "t", "--format", "bytes", "--rows", "0..1"], &bytes).bad();
    assert!(line.contains("the rows are not all in the tensor"), "{line}");
    // Blocks of GGUF, whole rows of them.
    let model = fs::read(crate::run::SAMPLE).unwrap();
    let args = &[crate::run::SAMPLE, "token_embd.weight", "--format", "bytes", "--rows"];
    let [all, second] = ["0..", "1..2"].map(|rows| run("weights", &[&args[..], &[rows]].concat()).good());
    assert_eq!((all.len(), second.len()), (21_840, 84));
    assert!(all[84..168] == second && model.windows(all.len()).any(|window| window == all));
}

#[test]
fn rows_of_safetensors_are_those_of_the_last_dimension() {
    let header = r#"{"t":{"dtype":"I8","shape":[2,3,4],"data_offsets":[0,24]},"s":{"dtype":"I8","shape":[],"data_offsets":[24,25]},"n":{"dtype":"I8","shape":[3,0],"data_offsets":[25,25]}}"#;
    let bytes = written(header, &(0..25).collect::<Vec<u8>>());
    let read = |args: &[&str]| run_on("weights", &[&["-"], args, &["--format", "f32"]].concat(), &bytes);
    let values = |range: std::ops::Range<u8>| {
        range.flat_map(|value| f32::from(value).to_le_bytes()).collect::<Vec<_>>()
    };
    for (args, expected) in [
        (&["t"][..], 0..24),
        (&["t", "--rows", "0..1"], 0..4),
        (&["t", "--rows", "2..4"], 8..16),
        (&["t", "--rows", "5.."], 20..24),
        (&["s"], 24..25),
        (&["s", "--rows", "0..1"], 24..25),
        (&["n", "--rows", "0..3"], 0..0),
    ] {
        assert_eq!(read(args).good(), values(expected), "{args:?}");
    }
    assert!(read(&["t", "--rows", "5..7"]).bad().contains("which has 6 rows"));
    let npy = run_on("weights", &["-", "t", "--format", "npy"], &bytes).good();
    assert!(String::from_utf8_lossy(&npy).contains("'shape': (2, 3, 4), }"));
}

#[test]
fn check_prints_checksums_of_safetensors() {
    use crc::{CRC_32_ISO_HDLC, Crc};

    for (path, expected) in corpus() {
        let found = run("check", &["--crc", &path]).text();
        let tensors = list(&expected["tensors"]);
        assert_eq!(found.lines().count(), tensors.len(), "{path}");
        for (index, tensor) in tensors.iter().enumerate() {
            let values = tensor["f32"].as_str().map(from_hex);
            let (crc, count) = match &values {
                Some(values) => {
                    (format!("{:08x}", Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(values)), values.len() / 4)
                }
                None => ("-".into(), 0),
            };
            let start = format!("{index} {crc} {count} ");
            assert_eq!(
                found.lines().filter(|line| line.starts_with(&start)).count(),
                1,
                "{path}: {start}\n{found}"
            );
        }
        // From a pipe, and as a table.
        let bytes = fs::read(&path).unwrap();
        assert_eq!(found, run_on("check", &["--crc", "-"], &bytes).text());
        let text = run("check", &[&path]).text();
        assert!(text.starts_with(&format!("{path} (safetensors)\n")), "{text}");
        // Whatever lies where, ggml reads no such file anyway.
        assert!(!text.contains("ggml"), "{text}");
    }
}

#[test]
fn a_bad_safetensors_file_gets_one_line_with_offset_and_name() {
    let whole = two();
    let data = whole.len() - 11;
    let end = "unexpected end of data: needed";
    let b = format!("{}: {end} 3 bytes, got 2 (tensor \"b\")", data + 8);
    let behind = format!("{}: bytes follow the last tensor", data + 11);
    // What `check` says of a file, whose size it knows, and of a pipe.
    let cases: [(_, _, &str, Option<&str>); 6] = [
        ("cut length", whole[..5].to_vec(), "0: unexpected end of data: needed 8 bytes, got 5", None),
        ("no object", written("[]", &[]), "8: the header is not an object", None),
        ("mark", written("\u{feff}{}", &[]), "8: the header begins with a byte order mark", None),
        (
            "cut header",
            whole[..60].to_vec(),
            "0: a count or a length needs 107 more bytes, and at most 52 can follow",
            Some("8: unexpected end of data: needed 107 bytes, got 52"),
        ),
        ("cut data", whole[..data + 10].to_vec(), &b, Some(&b)),
        ("trailing", [&whole[..], &[0]].concat(), &behind, Some(&behind)),
    ];
    for (what, bytes, of_file, of_pipe) in cases {
        let path = file(&format!("{what}.safetensors"), &bytes);
        for args in [&["check", &path][..], &["check", "--quiet", &path], &["check", "--crc", &path]] {
            let line = run(args[0], &args[1..]).bad();
            assert!(line.starts_with(&format!("check: {path}: offset {of_file}")), "{what}: {line}");
        }
        run("inspect", &[&path]).bad();
        let line = run_on("check", &["-"], &bytes).bad();
        let of_inspect = run_on("inspect", &["-"], &bytes).bad();
        match of_pipe {
            Some(message) => {
                assert!(
                    line.starts_with(&format!("check: standard input: offset {message}")),
                    "{what}: {line}"
                );
            }
            // Without a name, nobody knows what it should be.
            None => {
                assert_eq!(line, "check: standard input: offset 0: this is neither GGUF nor safetensors\n");
                assert_eq!(of_inspect, line.replace("check", "inspect"));
            }
        }
    }
    // `inspect` looks at the size of the file, and shows what can be shown.
    let trailing = [&whole[..], &[0]].concat();
    let line = format!(
        "offset {}: bytes follow the last tensor: the file ends after {} bytes\n",
        data + 11,
        data + 12
    );
    let found = run("inspect", &[&file("trailing.safetensors", &trailing)]);
    assert!(String::from_utf8_lossy(&found.out).contains("actual size"), "{found:?}");
    assert!(found.bad().ends_with(&line));
    assert!(run_on("inspect", &["-"], &trailing).bad().ends_with(&line));
    let line = run_on("inspect", &["-"], &whole[..data + 10]).bad();
    assert!(line.contains("the file is short: it ends after") && line.contains("(tensor \"b\")"), "{line}");
    // What is whole is no error, whatever its name.
    for name in ["whole.safetensors", "whole.bin", "whole.gguf"] {
        run("check", &[&file(name, &whole)]).good();
    }
}

#[test]
fn what_is_neither_is_told() {
    let png = file("picture.png", b"\x89PNG\r\n\x1a\nand so on");
    for name in SHARED {
        let args = if name == "weights" { &[&*png, "t"][..] } else { &[&*png] };
        let found = run(name, args);
        assert!(found.out.is_empty(), "{found:?}");
        assert_eq!(found.bad(), format!("{name}: {png}: offset 0: this is neither GGUF nor safetensors\n"));
    }
    assert!(run_on("check", &["-"], b"A letter to you").bad().contains("neither GGUF nor safetensors"));
    assert!(run("check", &[&file("empty.bin", b"")]).bad().contains("neither GGUF nor safetensors"));
}

/// A header of `bytes`, most of which are a text.
fn long_header(bytes: usize) -> Vec<u8> {
    let end = r#""},"t":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
    let mut header = String::from(r#"{"__metadata__":{"k":""#);
    header += &"x".repeat(bytes - header.len() - end.len());
    header += end;
    written(&header, &[1, 2])
}

#[test]
fn a_longer_header_than_allowed_names_the_option() {
    let path = file("long_header.safetensors", &long_header(5_000));
    for name in SHARED {
        let rest = if name == "weights" { &["t"][..] } else { &[] };
        let line = run(name, &[&["--max-header", "4999", &path], rest].concat()).bad();
        let expected =
            "offset 0: header of 5000 bytes is over the limit of 4999; with --max-header 5000 it is read\n";
        assert_eq!(line, format!("{name}: {path}: {expected}"));
        run(name, &[&["--max-header", "5000", &path], rest].concat()).good();
        run(name, &[&[path.as_str()], rest].concat()).good();
        let wrong = run(name, &["--max-header", "5000000000", &path]);
        assert_eq!((wrong.status, wrong.out.len()), (Some(2), 0));
    }
    // GGUF has no such limit.
    run("check", &["--quiet", "--max-header", "10", crate::run::SAMPLE]).good();
}

/// In release builds only: without optimization, it would take a minute.
#[cfg(not(debug_assertions))]
#[test]
fn a_large_header_of_130_mb_is_refused_by_default_and_read_when_allowed() {
    let bytes = long_header(130_000_000);
    for name in SHARED {
        let rest = if name == "weights" { &["t"][..] } else { &[] };
        let line = run_on(name, &[&["-"], rest].concat(), &bytes).bad();
        let expected = "standard input: offset 0: header of 130000000 bytes is over the limit of 100000000; with --max-header 130000000 it is read\n";
        assert_eq!(line, format!("{name}: {expected}"));
        run_on(name, &[&["--max-header", "130000000", "-"], rest].concat(), &bytes).good();
    }
}

#[test]
fn tables_hold_the_tensors_of_safetensors() {
    let rust = run("inspect", &["--rust-table", SAMPLE]).text();
    let expected = r#"    TensorSlot::new(name_hash("layers.0.down.weight"), 2224, 256, 16, 5, TensorType::F8_E4M3, ByteOrder::Little),"#;
    assert!(rust.lines().any(|line| line == expected), "{rust}");
    let c = run("inspect", &["--c-table", SAMPLE]).text();
    let (hash, id) = (weightstream::name_hash("mask"), weightstream::TensorType::BOOL.id());
    let expected = format!(
        "    {{UINT64_C({hash:#018x}), UINT64_C(2480), UINT64_C(8), UINT64_C(8), 6, {id}, 0}}, // mask"
    );
    assert!(c.lines().any(|line| line == expected), "{c}");
    // The number is not in the file.
    assert!(!c.contains("as in the file"), "{c}");
}

#[test]
fn tables_of_safetensors_keep_to_the_width_of_the_terminal() {
    let long = "blk.".repeat(30);
    let header = format!(
        r#"{{"__metadata__":{{"{long}":"{long}"}},"{long}":{{"dtype":"F8_E4M3FNUZ","shape":[1,1,1,1,1,1,1,2],"data_offsets":[0,2]}}}}"#
    );
    let path = file("wide.safetensors", &written(&header, &[1, 2]));
    for columns in [80, 100, 140] {
        for args in [["inspect", &path], ["check", &path], ["inspect", SAMPLE], ["check", SAMPLE]] {
            let text = finish(command(args[0], &args[1..]).env("COLUMNS", columns.to_string()), None).text();
            // A sentence, whose file may have any name.
            let lines =
                text.lines().filter(|line| !line.contains("whole; ") && !line.ends_with(" (safetensors)"));
            let widest = lines.map(unicode_width::UnicodeWidthStr::width).max();
            assert!(widest.unwrap() <= columns, "{columns} columns:\n{text}");
        }
    }
}

/// `WEIGHTSTREAM_SAFETENSORS` names all-MiniLM-L6-v2; `tools/models.sh` fetches it.
#[test]
fn every_tensor_of_a_real_model_has_the_values_of_the_reference() {
    let Some(path) = std::env::var_os("WEIGHTSTREAM_SAFETENSORS") else {
        println!("WEIGHTSTREAM_SAFETENSORS is not set: no model to check");
        return;
    };
    let found = run("check", &["--crc".as_ref(), path.as_os_str()]).text();
    let mut found: Vec<&str> = found.lines().collect();
    found.sort_by_key(|line| line.split(' ').next().unwrap().parse::<u32>().unwrap());
    let expected = fs::read_to_string("tests/data/all-MiniLM-L6-v2.crc32.txt").unwrap();
    assert_eq!(found.len(), 104);
    assert_eq!(found, expected.lines().collect::<Vec<_>>());
}
