//! What the programs make of models in several files.

use std::fs;

use serde_json::json;

use crate::run::{SHARED, command, file, finish, list, run, run_on};
use crate::support::gguf_writer::{Gguf, Tensor, Value};

/// A shard, counted from 1. All are of five tensors, unless they say otherwise.
fn shard(number: u16, count: u16) -> Gguf {
    shard_of(number, count, 5)
}

fn shard_of(number: u16, count: u16, tensors: i32) -> Gguf {
    Gguf::new()
        .entry("split.no", Value::U16(number - 1))
        .entry("split.count", Value::U16(count))
        .entry("split.tensors.count", Value::I32(tensors))
}

fn tensor(name: &str, values: &[u8]) -> Tensor {
    Tensor::new(name, 24, &[values.len() as u64], values.to_vec())
}

fn first() -> Gguf {
    shard(1, 3).entry("general.name", Value::text("In Three"))
}

fn second() -> Gguf {
    shard(2, 3)
        .tensor(tensor("token_embd", &[1, 2, 3]))
        .tensor(tensor("blk.0.up", &[4; 40]))
        .entry("k", Value::U8(1))
}

fn third() -> Gguf {
    let last = Tensor::new(
        "output",
        0,
        &[2],
        [1.5_f32, -2.0].iter().flat_map(|value| value.to_le_bytes()).collect(),
    );
    shard(3, 3).alignment(64).tensor(tensor("blk.1.up", &[5])).tensor(tensor("none", &[])).tensor(last)
}

/// Writes the files of a model, and returns their paths.
fn write(model: &str, files: &[Gguf]) -> Vec<String> {
    let count = files.len();
    let file = |(index, content): (usize, &Gguf)| {
        file(&format!("{model}-{:05}-of-{count:05}.gguf", index + 1), &content.write().bytes)
    };
    files.iter().enumerate().map(file).collect()
}

fn good(model: &str) -> Vec<String> {
    write(model, &[first(), second(), third()])
}

#[test]
fn inspect_shows_shards_as_one_model() {
    let paths = good("one model");
    let found = run("inspect", &["--json", &paths[0]]).json();
    let keys: Vec<_> = list(&found["metadata"]).iter().map(|entry| entry["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["split.no", "split.count", "split.tensors.count", "general.name"]);
    let files = [first(), second(), third()].map(|file| file.write());
    let size = |index: usize, bytes: u64| files[index].tensors.last().map_or(0, |tensor| tensor.data + bytes);
    let shards = [(0, 32, files[0].data_offset), (1, 32, size(1, 40)), (2, 64, size(2, 8))];
    let shards = shards.map(|(index, alignment, size)| {
        let name = format!("one model-0000{}-of-00003.gguf", index + 1);
        json!({"file": name, "alignment": alignment, "data_offset": files[index].data_offset, "file_size": size})
    });
    assert_eq!(found["shards"], json!(shards));
    assert_eq!(
        (&found["alignment"], &found["data_offset"], &found["file_size"]),
        (&json!(null), &json!(null), &json!(null))
    );
    let expected = [
        ("token_embd", 2, 0, 3),
        ("blk.0.up", 2, 1, 40),
        ("blk.1.up", 3, 0, 1),
        ("none", 3, 1, 0),
        ("output", 3, 2, 8),
    ];
    assert_eq!(list(&found["tensors"]).len(), expected.len());
    for (found, (name, shard, index, bytes)) in list(&found["tensors"]).iter().zip(expected) {
        assert_eq!(
            (&found["name"], &found["shard"], &found["bytes"]),
            (&json!(name), &json!(shard), &json!(bytes))
        );
        assert_eq!(found["offset"], json!(files[shard - 1].tensors[index].data), "{name}");
    }

    let text = run("inspect", &[&paths[0]]).text();
    let has =
        |row: &str| text.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") == row);
    assert!(text.contains("\nTensors (5)\n") && text.contains("\nFiles (3)\n"), "{text}");
    assert!(has("token_embd I8 3 3 2") && has("output F32 2 8 3"), "{text}");
    assert!(has("all 5 46 52 100.0 % 9.04"), "{text}");
    assert!(
        has(&format!("one model-00003-of-00003.gguf 3 {} {}", files[2].data_offset, size(2, 8))),
        "{text}"
    );
    assert!(text.contains("\"In Three\"") && !text.contains("actual size"), "{text}");
    let in_chunks = run("inspect", &["--chunk", "5", &paths[0]]).text();
    assert_eq!(in_chunks, text);
}

#[test]
fn check_reads_all_shards() {
    let paths = good("all");
    let found = run("check", &["--quiet", &paths[0]]).text();
    assert_eq!(
        found,
        format!("{}: whole; GGUF, 3 files, 5 tensors, 46 values; 0 NaN, 0 infinite\n", paths[0])
    );
    let found = run("check", &[&paths[0]]).text();
    let places: Vec<_> = [&paths[1], "token_embd", "blk.0.up", &paths[2], "blk.1.up", "output"]
        .iter()
        .map(|text| found.find(&format!("{text} ")).or_else(|| found.find(&format!("{text}\n"))).unwrap())
        .collect();
    assert!(places.is_sorted(), "{found}");
}

#[test]
fn weights_finds_a_tensor_in_any_shard() {
    let paths = good("any");
    let read = |name| run("weights", &[paths[0].as_str(), name, "--format", "f32"]).good();
    assert_eq!(read("output"), [1.5_f32, -2.0].map(f32::to_le_bytes).concat());
    assert_eq!(read("token_embd"), [1.0_f32, 2.0, 3.0].map(f32::to_le_bytes).concat());
    let line = run("weights", &[&paths[0], "blk.1.upp"]).bad();
    assert!(line.contains("; similar: \"blk.1.up\", \"blk.0.up\""), "{line}");
}

#[test]
fn a_missing_shard_is_named_before_anything_is_read() {
    let paths = good("gap");
    fs::remove_file(&paths[1]).unwrap();
    for args in [&["inspect"][..], &["inspect", "--json"], &["check"], &["check", "--quiet"]] {
        let found = run(args[0], &[&args[1..], &[&paths[0]]].concat());
        assert!(found.out.is_empty(), "{found:?}");
        let line = found.bad();
        assert!(line.starts_with(&format!("{}: {}: ", args[0], paths[1])), "{line}");
        assert!(line.ends_with("(shard 2 of 3)\n"), "{line}");
    }
    // What stands in a file that is there can be had.
    let paths = write("late gap", &[shard_of(1, 2, 2).tensor(tensor("here", &[7])), shard_of(2, 2, 2)]);
    fs::remove_file(&paths[1]).unwrap();
    run("weights", &[&paths[0], "here"]).good();
    assert!(run("weights", &[&paths[0], "there"]).bad().contains(&paths[1]));
}

/// Models that are none: which file is named, and what is said of it.
#[test]
fn files_that_are_not_one_model_are_told() {
    let plain = Gguf::new().tensor(tensor("t", &[1]));
    let five =
        || shard(3, 3).tensor(tensor("a", &[1])).tensor(tensor("b", &[1])).tensor(tensor("token_embd", &[1]));
    let cases = [
        ("repeated", vec![first(), second(), second()], 2, "this is shard 2, which came before"),
        ("repeated first", vec![first(), first(), third()], 1, "this is shard 1, which came before"),
        (
            "swapped",
            vec![first(), third(), second()],
            1,
            "by its keys this is shard 3 of 3, by its name shard 2 of 3",
        ),
        (
            "swapped first",
            vec![second(), first(), third()],
            0,
            "by its keys this is shard 2 of 3, by its name shard 1 of 3",
        ),
        ("renamed", vec![first(), second()], 0, "by its keys this is shard 1 of 3, by its name shard 1 of 2"),
        ("foreign count", vec![first(), shard(2, 4), third()], 1, "of 4 files, the first one is of 3"),
        (
            "foreign total",
            vec![first(), shard_of(2, 3, 6), third()],
            1,
            "of 6 tensors, the first one is of 5",
        ),
        ("foreign plain", vec![first(), plain.clone(), third()], 1, "the file is no shard"),
        ("plain", vec![plain.clone(), plain.clone()], 0, "the file is no shard"),
        ("too few", vec![first(), second(), shard(3, 3)], 2, "they hold 5 tensors, and 2 have come"),
        (
            "too many",
            vec![first(), second().tensor(tensor("x", &[1])), third()],
            2,
            "they hold 5 tensors, and 6 have come",
        ),
        (
            "twice",
            vec![first(), second(), five()],
            2,
            "a tensor of this name is also in shard 2 (tensor \"token_embd\")",
        ),
        (
            "wrong type",
            vec![Gguf::new().entry("split.count", Value::U32(2)), shard(2, 2)],
            0,
            "split.count has the type u32, not u16",
        ),
    ];
    for (model, files, bad, message) in cases {
        let paths = write(model, &files);
        for args in [&["inspect"][..], &["inspect", "--json"], &["check"], &["check", "--quiet"]] {
            let line = run(args[0], &[&args[1..], &[&paths[0]]].concat()).bad();
            assert!(line.starts_with(&format!("{}: {}: ", args[0], paths[bad])), "{model}: {line}");
            assert!(line.contains(message), "{model}: {line}");
        }
        let line = run("weights", &[&paths[0], "no such"]).bad();
        assert!(line.contains(&paths[bad]) && line.contains(message), "{model}: {line}");
    }
}

#[test]
fn a_shard_with_a_fault_of_its_own_is_named() {
    let bad_bool = shard(2, 3).entry("odd", Value::Bool(2));
    let paths = write("bad bytes", &[first(), bad_bool, third()]);
    for name in ["inspect", "check"] {
        let line = run(name, &[&paths[0]]).bad();
        assert!(line.starts_with(&format!("{name}: {}: offset ", paths[1])), "{line}");
        assert!(line.contains("neither 0 nor 1 (key \"odd\")"), "{line}");
    }
    let paths = good("cut");
    let whole = fs::read(&paths[2]).unwrap();
    let end = third().write().tensors[2].data as usize + 7;
    fs::write(&paths[2], &whole[..end]).unwrap();
    for name in ["inspect", "check"] {
        let found = run(name, &[&paths[0]]);
        assert!(
            String::from_utf8_lossy(&found.out).contains("token_embd"),
            "what was right is told: {found:?}"
        );
        let line = found.bad();
        assert!(
            line.starts_with(&format!("{name}: {}: offset ", paths[2])) && line.contains("\"output\""),
            "{line}"
        );
    }
    assert!(String::from_utf8(run("inspect", &[&paths[0]]).out).unwrap().contains("actual size"));
}

#[test]
fn another_shard_than_the_first_is_no_model() {
    let paths = good("not first");
    for name in SHARED {
        let args = if name == "weights" { &[&*paths[1], "token_embd"][..] } else { &[&*paths[1]] };
        let found = run(name, args);
        assert!(found.out.is_empty(), "{found:?}");
        let expected =
            format!("{name}: {}: this is shard 2 of 3; give the first one: {}\n", paths[1], paths[0]);
        assert_eq!(found.bad(), expected);
    }
    // By its keys alone.
    let path = file("not first, renamed.gguf", &fs::read(&paths[1]).unwrap());
    assert!(run("check", &[&path]).bad().contains("this is shard 2, and shard 1 must come first"));
    let path = file("first, renamed.gguf", &fs::read(&paths[0]).unwrap());
    for name in ["inspect", "check"] {
        let line = run(name, &[&path]).bad();
        assert!(
            line.contains("this is shard 1 of 3, but its name does not end in -00001-of-00003.gguf"),
            "{line}"
        );
    }
}

#[test]
fn a_shard_on_standard_input_is_shown_by_itself() {
    let bytes = second().write().bytes;
    let found = run_on("inspect", &["--json", "-"], &bytes).json();
    assert_eq!((list(&found["tensors"]).len(), &found["shards"]), (2, &json!(null)));
    assert!(run_on("check", &["-"], &bytes).text().contains("standard input: whole; GGUF, 2 tensors"));
    assert_eq!(run_on("weights", &["-", "token_embd", "--format", "f32"], &bytes).good().len(), 12);
}

#[test]
fn a_set_of_one_is_a_file_like_any_other() {
    let content = Gguf::new().tensor(tensor("t", &[1])).write().bytes;
    let of_one = run("inspect", &["--json", &file("alone-00001-of-00001.gguf", &content)]).json();
    assert_eq!(of_one, run("inspect", &["--json", &file("alone.gguf", &content)]).json());
    assert_eq!(of_one["shards"], json!(null));
    // As a merged model has its keys.
    let merged = shard_of(1, 2, 9).tensor(tensor("t", &[1])).write();
    let merged = merged.clone().patch(merged.entries[1].value, &[0, 0]).bytes;
    assert!(run("check", &[&file("merged.gguf", &merged)]).text().contains("whole; GGUF, 1 tensor"));
}

#[test]
fn tables_of_shards_keep_to_the_width_of_the_terminal() {
    let long = "blk.".repeat(30);
    let paths =
        write(&"model-".repeat(25), &[shard_of(1, 2, 1), shard_of(2, 2, 1).tensor(tensor(&long, &[1, 2]))]);
    for columns in [80, 100, 140] {
        let found = finish(command("inspect", &[&paths[0]]).env("COLUMNS", columns.to_string()), None).text();
        let widest = found.lines().map(unicode_width::UnicodeWidthStr::width).max();
        assert!(widest.unwrap() <= columns, "{columns} columns:\n{found}");
    }
}

#[cfg(unix)]
#[test]
fn names_of_shards_are_escaped() {
    let paths = good("od\u{1b}d\u{202e}");
    for args in [&["inspect"][..], &["inspect", "--json"], &["check"]] {
        let text = run(args[0], &[&args[1..], &[&paths[0]]].concat()).text();
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && text.contains("od"), "{text}");
    }
    let found = run("inspect", &["--json", &paths[0]]).json();
    assert_eq!(found["shards"][2]["file"], json!("od\u{1b}d\u{202e}-00003-of-00003.gguf"));
    fs::remove_file(&paths[2]).unwrap();
    for args in [["inspect", &paths[0]], ["check", &paths[0]], ["check", &paths[1]]] {
        assert!(!run(args[0], &args[1..]).bad().contains(['\u{1b}', '\u{202e}']));
    }
}
