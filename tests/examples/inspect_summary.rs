//! What `inspect` says of a model as a whole, and that it misses nothing in what it need not show.

use std::fs;

use serde_json::json;

use crate::run::{Run, SAMPLE, file, run, run_on};
use crate::support::gguf_writer::{Gguf, Tensor, Value};

/// A key of each kind that a summary shows, and its tensors.
fn model() -> Gguf {
    Gguf::new()
        .entry("general.architecture", Value::text("made\u{1b}up"))
        .entry("general.name", Value::text("A \"name\""))
        .entry("general.file_type", Value::U32(15))
        .entry("made\u{1b}up.block_count", Value::U32(3))
        .entry("made\u{1b}up.context_length", Value::U64(1 << 20))
        .entry("made\u{1b}up.embedding_length", Value::U32(64))
        .entry("made\u{1b}up.attention.head_count", Value::array([4, 8, 4].map(Value::I32).into()))
        .entry("made\u{1b}up.attention.head_count_kv", Value::U32(2))
        .entry("tokenizer.ggml.tokens", Value::array(vec![Value::text("a"); 1500]))
        .entry("tokenizer.chat_template", Value::text("{{ messages }}"))
        .tensor(Tensor::new("q", 8, &[64], vec![1; 68]))
        .tensor(Tensor::new("f", 0, &[2], vec![0; 8]))
}

#[test]
fn inspect_tells_programs_what_the_model_is() {
    let found = run_on("inspect", &["--json", "-"], &model().write().bytes).json();
    let expected = json!({
        "architecture": "made\u{1b}up",
        "name": "A \"name\"",
        "file_type": "Q4_K_M",
        "layers": 3,
        "context_length": 1 << 20,
        "embedding_length": 64,
        "vocabulary": 1500,
        "heads": "per layer",
        "kv_heads": 2,
        "chat_template": true,
        "weights": 66,
        "bytes": 76,
        "bits_per_weight": 76.0 * 8.0 / 66.0,
    });
    assert_eq!(found["summary"], expected);

    let nothing = run_on("inspect", &["--json", "-"], &Gguf::new().write().bytes).json();
    let summary = nothing["summary"].as_object().unwrap();
    for (label, value) in summary {
        let expected = match label.as_str() {
            "chat_template" => json!(false),
            "weights" | "bytes" => json!(0),
            _ => json!(null),
        };
        assert_eq!(*value, expected, "{label}");
    }
    assert_eq!(summary.len(), expected.as_object().unwrap().len());
}

#[test]
fn inspect_tells_people_what_the_model_is_before_anything_else() {
    let text = run_on("inspect", &["-"], &model().write().bytes).text();
    let rows: Vec<String> = text
        .lines()
        .skip_while(|line| *line != "Model")
        .skip(2)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let expected = [
        r"architecture made\u{1b}up",
        "name A \"name\"",
        "file type Q4_K_M",
        "layers 3",
        "context 1,048,576 tokens",
        "embedding 64",
        "heads not the same in every layer",
        "kv heads 2",
        "vocabulary 1,500 tokens",
        "chat template yes",
        "weights 66 in 76 bytes, 9.21 bits each",
    ];
    assert_eq!(rows, expected);
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is missing:\n{text}"));
    assert!(place("GGUF version 3") < place("\nModel\n") && place("\nModel\n") < place("\nMetadata (10)\n"));

    let nothing = run_on("inspect", &["-"], &Gguf::new().write().bytes).text();
    assert!(nothing.contains("No metadata") && !nothing.contains("Model"), "{nothing}");
}

#[test]
fn what_is_too_much_to_hold_back_stands_above() {
    let long = "0123456789abcdef".repeat(1 << 20);
    let bytes = model().entry("long", Value::text(&long)).entry("n", Value::U8(7)).write().bytes;
    let text = run_on("inspect", &["--full", "-"], &bytes).text();
    let place = |what: &str| text.find(what).unwrap();
    assert!(text.contains(&format!("\"{long}\"\n")));
    assert!(place("\nMetadata (12)\n") < place("\nModel\n") && place("\nModel\n") < place("\nTensors (2)\n"));
    assert_eq!(text.matches("\nModel\n").count(), 1);
}

#[test]
fn the_types_of_tensors_add_up() {
    let mut file = Gguf::new();
    for type_id in 24..=27 {
        file = file.tensor(Tensor::new(type_id.to_string(), type_id, &[3], vec![0; 24]).gap(32));
    }
    // More types than a summary tells one by one, and the one of the lowest number last.
    for type_id in (100..110).rev().chain([0]) {
        file = file.tensor(Tensor::new(type_id.to_string(), type_id, &[2], vec![0; 8]).gap(32));
    }
    let text = run_on("inspect", &["-"], &file.write().bytes).text();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| *line != "Types")
        .skip(3)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 14, "{rows:?}");
    assert_eq!(rows[0][..4], ["I8", "1", "3", "3"]);
    assert_eq!(rows[3][..4], ["I64", "1", "3", "24"]);
    assert_eq!(rows[12][..4], ["further", "3", "6", "8"]);
    assert_eq!(rows[13][..4], ["all", "15", "34", "53"]);
}

/// What is left out of the output is read less closely, but a fault in it is told all the same.
#[test]
fn a_fault_in_what_is_not_shown_is_told() {
    let bools =
        |bad: u8| Value::array((0..3000).map(|n| Value::Bool(if n == 2900 { bad } else { 1 })).collect());
    for nested in [false, true] {
        let flags = |bad| if nested { Value::array(vec![bools(bad)]) } else { bools(bad) };
        run_on("inspect", &["-"], &Gguf::new().entry("flags", flags(1)).write().bytes).good();
        let bytes = Gguf::new().entry("flags", flags(2)).write().bytes;
        for form in [&["-"][..], &["--json", "-"]] {
            let line = run_on("inspect", form, &bytes).bad();
            assert!(line.contains("neither 0 nor 1 (key \"flags\")"), "{line}");
        }
    }
    let whole = fs::read(SAMPLE).unwrap();
    for len in (10_000..12_000).step_by(61).chain((0..10_000).step_by(501)) {
        let path = file("cut.gguf", &whole[..len]);
        let expected = run("inspect", &["--full", &path]).bad();
        for form in [&[][..], &["--json"], &["--json", "--full"]] {
            assert_eq!(run("inspect", &[form, &[&path]].concat()).bad(), expected, "{len}");
        }
    }
}

#[test]
fn arrays_end_where_what_is_shown_of_them_does() {
    for count in [0, 1, 7, 8, 9, 2000] {
        let numbers = Value::array((0..count).map(Value::U32).collect());
        let texts = Value::array((0..count).map(|n| Value::text(n.to_string())).collect());
        let lists = Value::array((0..count).map(|n| Value::array(vec![Value::U32(n)])).collect());
        let bytes = Gguf::new()
            .entry("numbers", numbers)
            .entry("texts", texts)
            .entry("lists", lists)
            .entry("n", Value::U8(7))
            .write()
            .bytes;
        for chunk in ["1", "9", "65536"] {
            let found = run_on("inspect", &["--json", "-", "--chunk", chunk], &bytes).json();
            let metadata = &found["metadata"];
            for index in 0..3 {
                let value = &metadata[index]["value"];
                let shown = value["value"].as_array().unwrap().len();
                assert_eq!((&value["length"], shown), (&json!(count), count.min(8) as usize), "{value}");
            }
            assert_eq!(metadata[3]["value"], json!(7));
            let Run { status, out, .. } = run_on("inspect", &["-", "--chunk", chunk], &bytes);
            let text = String::from_utf8(out).unwrap();
            let last = text.lines().find(|line| line.trim_start().starts_with("n ")).unwrap();
            assert_eq!(
                (status, last.split_whitespace().collect::<Vec<_>>().join(" ")),
                (Some(0), "n u8 7".into())
            );
        }
    }
}
