//! What holds for all three programs: exit statuses, messages, escapes, odd files.

use std::fs;
use std::io::Read;

use serde_json::json;

use crate::run::{SAMPLE, SHARED, command, file, finish, run, run_on};
use crate::support::gguf_writer::{Gguf, Tensor, Value};

#[test]
fn a_bad_file_gets_one_line_with_offset_and_name() {
    let bad_bool = "tests/data/corpus/bool_nonbinary.gguf";
    for args in [&["inspect", bad_bool][..], &["inspect", "--json", bad_bool], &["check", bad_bool]] {
        let line = run(args[0], &args[1..]).bad();
        assert!(line.starts_with(&format!("{}: {bad_bool}: offset ", args[0])), "{line}");
        assert!(line.contains("neither 0 nor 1 (key \""), "{line}");
    }
    for name in SHARED {
        let args = if name == "weights" { &["no such file", "t"][..] } else { &["no such file"] };
        assert!(run(name, args).bad().starts_with(&format!("{name}: no such file: ")));
    }
    let wrong_type = Gguf::new().tensor(Tensor::new("odd", 2, &[31], vec![0; 32])).write().bytes;
    assert!(run_on("check", &["-"], &wrong_type).bad().contains("(tensor \"odd\")"));
}

#[test]
fn a_short_file_is_told_by_its_length_and_on_a_pipe() {
    let whole = fs::read(SAMPLE).unwrap();
    // In the data, in a tensor's description, in the metadata, in the header, nothing.
    for len in [99_000, 20_000, 11_000, 5_000, 20, 0] {
        let path = file(&format!("short_{len}.gguf"), &whole[..len]);
        for (name, rest) in
            [("inspect", &[][..]), ("inspect", &["--json"]), ("check", &[]), ("check", &["--quiet"])]
        {
            let line = run(name, &[&[path.as_str()], rest].concat()).bad();
            assert!(line.contains("short_"), "{line}");
            let line = run_on(name, &[&["-"], rest].concat(), &whole[..len]).bad();
            assert!(line.contains("standard input: offset "), "{line}");
        }
        run("weights", &[&path, "token_order"]).bad();
        run_on("weights", &["-", "token_order"], &whole[..len]).bad();
    }
    let line = run("inspect", &[&file("short.gguf", &whole[..99_000])]).bad();
    assert!(line.contains("it ends after 99,000 of 99,656 bytes (tensor \"token_order\")"), "{line}");
    // The padding after the last tensor is not needed.
    let path = file("unpadded.gguf", &whole[..99_656]);
    run("inspect", &[&path]).good();
    run("check", &[&path]).good();
}

#[test]
fn an_ambiguous_byte_order_is_an_error() {
    let file = Gguf::new().big_endian(true).tensor(Tensor::new("q", 6, &[32], vec![0; 22])).write().bytes;
    let line = run_on("weights", &["-", "q"], &file).bad();
    // Unless the family is not in this build at all.
    let reason = if cfg!(feature = "legacy") { "no settled big-endian layout" } else { "needs the feature" };
    assert!(line.contains(reason) && line.contains("\"q\""), "{line}");
    assert!(run_on("check", &["-"], &file).text().contains("not decoded: "));
}

/// A tensor of an unknown type, one that is known, and one more that is unknown, scattered.
fn unknown_types() -> Vec<u8> {
    let file = Gguf::new()
        .tensor(Tensor::new("odd", 77, &[3, 5], vec![1; 64]))
        .tensor(Tensor::new("plain", 24, &[4], vec![1, 2, 3, 252]).gap(32))
        .tensor(Tensor::new("last", 4, &[2], vec![1; 40]))
        .last_padding(false);
    file.write().bytes
}

#[test]
fn unknown_types_are_listed_and_passed_over() {
    let bytes = unknown_types();
    let path = file("unknown.gguf", &bytes);
    let found = run("inspect", &["--json", &path]).json();
    let start = found["data_offset"].as_u64().unwrap();
    let expected = json!([
        {"name": "odd", "type": "type 77", "dims": [3, 5], "offset": start, "bytes": 96},
        {"name": "plain", "type": "I8", "dims": [4], "offset": start + 96, "bytes": 4},
        {"name": "last", "type": "Q4_2", "dims": [2], "offset": start + 128, "bytes": 40},
    ]);
    assert_eq!(found["tensors"], expected);
    assert_eq!(found["file_size"], json!(bytes.len()));
    assert_eq!(found, run_on("inspect", &["--json", "-"], &bytes).json());
    assert_eq!(run("inspect", &[&path]).text(), run_on("inspect", &["-"], &bytes).text());

    for found in [run("check", &[&path]).text(), run_on("check", &["-"], &bytes).text()] {
        assert_eq!(found.matches("not decoded: ").count(), 2, "{found}");
        assert!(found.contains("a tensor's type is unknown") && found.contains("-4.000"), "{found}");
    }
    let numbers = run("weights", &[&path, "plain"]).text();
    assert_eq!(numbers.split_whitespace().collect::<Vec<_>>(), ["0", "1.0", "2.0", "3.0", "-4.0"]);
    assert!(run("weights", &[&path, "odd"]).bad().contains("type 77 cannot be dequantized"));
}

#[test]
fn wrong_usage_is_told_with_status_2() {
    let wrong: [&[&str]; 18] = [
        &["inspect", "--no-such"],
        &["inspect", "a", "b"],
        &["inspect", "--chunk", "0"],
        &["inspect", "--chunk", "x"],
        &["inspect", "--chunk"],
        &["inspect", "--json=1"],
        &["weights"],
        &["weights", SAMPLE],
        &["weights", SAMPLE, "t", "u"],
        &["weights", SAMPLE, "t", "--rows", "3"],
        &["weights", SAMPLE, "t", "--rows", "3..1"],
        &["weights", SAMPLE, "t", "--rows", "-1..1"],
        &["weights", SAMPLE, "t", "--format", "csv"],
        &["check"],
        &["check", "--loud", SAMPLE],
        &["check", "--crc", "--quiet", SAMPLE],
        &["inspect", "--json", "--c-table"],
        &["inspect", "--c-table", "--rust-table"],
    ];
    for args in wrong {
        let found = run(args[0], &args[1..]);
        assert_eq!((found.status, found.out.as_slice()), (Some(2), &[][..]), "{args:?}");
        assert!(found.errors.contains("\nUsage: "), "{args:?}: {}", found.errors);
    }
    for name in SHARED {
        assert!(run(name, &["--help"]).text().starts_with("Usage: "));
    }
}

/// What no terminal should get from a file: escape sequences, overrides of direction, invisible characters.
const HOSTILE: &str =
    "a\u{1b}[31m\u{7}\u{9b}2J\u{202e}b\u{2066}\u{200b}\u{feff}\u{61c}\u{e0041}\"\\\n\u{7f}z";

#[test]
fn text_from_files_is_escaped() {
    let bytes = Gguf::new()
        .entry(HOSTILE, Value::array(vec![Value::text(HOSTILE), Value::text(b"\xff\x1b[0m")]))
        .tensor(Tensor::new(HOSTILE, 24, &[2], vec![1, 2]))
        .write()
        .bytes;
    let path = file("hostile.gguf", &bytes);
    let runs = [
        run("inspect", &[&path]),
        run("inspect", &["--full", &path]),
        run("inspect", &["--json", &path]),
        run("check", &[&path]),
        run("weights", &[path.as_str(), "x"]),
        run("weights", &[path.as_str(), HOSTILE, "--rows", "5.."]),
        run("check", &[&file("hostile_short.gguf", &bytes[..bytes.len() - 31])]),
        run("inspect", &[&file("hostile_short.gguf", &bytes[..bytes.len() - 31])]),
        run("inspect", &["no\u{1b}such\u{202e}file"]),
        run("inspect", &["--no\u{1b}such\u{202e}option"]),
    ];
    for found in runs {
        let text = String::from_utf8(found.out).unwrap() + &found.errors;
        let hidden = |c: &char| HOSTILE.contains(*c) && !c.is_ascii_graphic() && *c != '\n';
        assert_eq!(text.chars().find(hidden), None, "{text}");
        assert!(!text.is_empty());
    }
    let found = run("inspect", &["--json", &path]).json();
    assert_eq!(
        (&found["metadata"][0]["key"], &found["tensors"][0]["name"]),
        (&json!(HOSTILE), &json!(HOSTILE))
    );
    assert_eq!(found["metadata"][0]["value"]["value"], json!([HOSTILE, {"hex": "ff1b5b306d"}]));
    let text = run("inspect", &["--full", &path]).text();
    assert!(text.contains(r#""\xff\u{1b}[0m"]"#), "{text}");
}

#[test]
fn a_claim_sizes_no_memory() {
    let bytes =
        Gguf::new().tensor(Tensor::new("t", 24, &[2], vec![1, 2])).claim_tensor_count(1 << 31).write().bytes;
    let path = file("claim.gguf", &bytes);
    for name in ["inspect", "check"] {
        run(name, &[&path]).bad();
        run_on(name, &["-"], &bytes).bad();
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let tensor = Tensor::new("t", 24, &[400_000], vec![1; 400_000]);
    let path = file("leaves.gguf", &Gguf::new().tensor(tensor).write().bytes);
    for args in [&["weights", &path, "t"][..], &["inspect", "--json", "--full"], &["check", SAMPLE]] {
        let mut child = command(args[0], &args[1..]).spawn().unwrap();
        drop(child.stdout.take());
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!((child.wait().unwrap().code(), errors.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn tables_keep_to_the_width_of_the_terminal() {
    let long = "blk.".repeat(30);
    let bytes = Gguf::new()
        .entry(&long, Value::text("語".repeat(100)))
        .entry("scalar", Value::F64(-1.797_693_134_862_315_7e308))
        .entry("zalgo", Value::text("e\u{301}\u{301}\u{301}".repeat(100)))
        .tensor(Tensor::new(&long, 24, &[2, 1, 1, 1], vec![1, 2]))
        .tensor(Tensor::new("blk.0.post_attention_norm_and_more.weight", 24, &[2], vec![1, 2]))
        .write()
        .bytes;
    let path = file("wide.gguf", &bytes);
    for columns in [80, 100, 140] {
        for args in [["inspect", &path], ["inspect", SAMPLE], ["check", SAMPLE]] {
            let text = finish(command(args[0], &args[1..]).env("COLUMNS", columns.to_string()), None).text();
            let widest = text
                .lines()
                .filter(|line| !line.contains("whole; "))
                .map(unicode_width::UnicodeWidthStr::width);
            assert!(widest.max().unwrap() <= columns, "{columns} columns:\n{text}");
        }
    }
}
