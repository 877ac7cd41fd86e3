//! What the programs make of safetensors models in several files, given by their index.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::run::{SHARED, file, list, run, run_on};
use crate::safetensors::written;
use crate::support::gguf_writer::Gguf;

const ALL: [&str; 3] = ["m-1.safetensors", "m-2.safetensors", "m-3.safetensors"];

/// A file of tensors of U8, with these names and so many elements each.
fn shard(tensors: &[(&str, u8)]) -> Vec<u8> {
    let (mut entries, mut data) = (vec![r#""__metadata__":{"format":"pt"}"#.to_owned()], Vec::new());
    for (name, len) in tensors {
        let start = data.len();
        data.extend(0..*len);
        let offsets = [start, data.len()];
        entries.push(format!(r#""{name}":{{"dtype":"U8","shape":[{len}],"data_offsets":{offsets:?}}}"#));
    }
    written(&format!("{{{}}}", entries.join(",")), &data)
}

/// A model of three files in a folder of its own, whose index a test may spoil. Returns the path of the index.
fn model(folder: &str, spoil: impl FnOnce(&mut Json)) -> String {
    let folder_path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder_path).unwrap();
    let files =
        [shard(&[("embed", 5), ("one", 2)]), shard(&[("two", 3)]), shard(&[("three", 4), ("none", 0)])];
    for (name, content) in ALL.iter().zip(files) {
        fs::write(folder_path.join(name), content).unwrap();
    }
    let mut index = json!({
        "metadata": {"total_size": 14, "total_parameters": 14},
        "weight_map": {"embed": ALL[0], "one": ALL[0], "three": ALL[2], "two": ALL[1], "none": ALL[2]},
        "other": [1, {}],
    });
    spoil(&mut index);
    file(&format!("{folder}/model.safetensors.index.json"), index.to_string().as_bytes())
}

fn good(folder: &str) -> String {
    model(folder, |_| {})
}

/// The path of a file of the model.
fn beside(index: &str, name: &str) -> String {
    Path::new(index).with_file_name(name).into_os_string().into_string().unwrap()
}

/// All programs that read whole models refuse this one: the line that they print, but for the program's name.
#[track_caller]
fn refused(index: &str) -> String {
    let mut lines = Vec::new();
    for args in [&["inspect"][..], &["inspect", "--json"], &["check"], &["check", "--quiet"], &["weights"]] {
        let rest = if args[0] == "weights" { &[index, "no such"] } else { &[index][..] };
        let line = run(args[0], &[&args[1..], rest].concat()).bad();
        lines.push(line.strip_prefix(&format!("{}: ", args[0])).unwrap().trim_end().to_owned());
    }
    lines.dedup();
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.remove(0)
}

#[test]
fn an_index_stands_for_all_its_files() {
    let index = good("index good");
    let found = run("inspect", &["--json", &index]).json();
    assert_eq!(found["format"], "safetensors");
    assert_eq!(found["metadata"], json!([{"key": "format", "type": "string", "value": "pt"}]));
    assert_eq!(found["summary"]["bytes"], json!(14));
    let names: Vec<_> = list(&found["shards"]).iter().map(|shard| &shard["file"]).collect();
    assert_eq!(names, ALL);
    for shard in list(&found["shards"]) {
        let fields: Vec<&String> = shard.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["data_offset", "file", "file_size"]);
    }
    let places: Vec<_> = list(&found["tensors"])
        .iter()
        .map(|tensor| (tensor["name"].clone(), tensor["shard"].clone()))
        .collect();
    let expected = [("embed", 1), ("one", 1), ("two", 2), ("three", 3), ("none", 3)];
    assert_eq!(places, expected.map(|(name, shard)| (json!(name), json!(shard))));

    let text = run("inspect", &[&index]).text();
    assert!(text.contains("\nTensors (5)\n") && text.contains("\nFiles (3)\n"), "{text}");
    let found = run("check", &["--quiet", &index]).text();
    let first = beside(&index, ALL[0]);
    assert_eq!(
        found,
        format!("{first}: whole; safetensors, 3 files, 5 tensors, 14 values; 0 NaN, 0 infinite\n")
    );
    let values = run("weights", &[&index, "three", "--format", "f32"]).good();
    assert_eq!(values, [0.0_f32, 1.0, 2.0, 3.0].map(f32::to_le_bytes).as_flattened());
}

#[test]
fn an_index_need_not_tell_the_size() {
    for metadata in [json!({}), json!(null), json!({"total_size": null})] {
        run("check", &[&model("index sizeless", |index| index["metadata"] = metadata)]).good();
    }
    let without = model("index sizeless", |index| {
        index.as_object_mut().unwrap().remove("metadata");
    });
    run("check", &[&without]).good();
}

#[test]
fn a_tensor_must_be_where_the_index_has_it() {
    let index = model("index elsewhere", |index| index["weight_map"]["one"] = json!(ALL[1]));
    let file = beside(&index, ALL[0]);
    assert_eq!(
        refused(&index),
        format!("{file}: by the index this tensor is in {} (tensor \"one\")", ALL[1])
    );

    let index = model("index unnamed", |index| {
        index["weight_map"].as_object_mut().unwrap().remove("two");
        index["weight_map"]["two_"] = json!(ALL[1]);
    });
    let file = beside(&index, ALL[1]);
    assert_eq!(refused(&index), format!("{file}: the index does not name this tensor (tensor \"two\")"));

    let index = model("index missing", |index| index["weight_map"]["more"] = json!(ALL[2]));
    let file = beside(&index, ALL[2]);
    assert_eq!(
        refused(&index),
        format!("{file}: by the index a tensor is in this file, and it is not (tensor \"more\")")
    );
}

#[test]
fn a_tensor_stands_in_one_file_only() {
    let index = good("index twice");
    let file = beside(&index, ALL[1]);
    fs::write(&file, shard(&[("two", 3), ("embed", 5)])).unwrap();
    assert_eq!(
        refused(&index),
        format!("{file}: by the index this tensor is in {} (tensor \"embed\")", ALL[0])
    );
    // Twice in one file is told by the decoder, with its offset.
    fs::write(&file, shard(&[("two", 3), ("two", 3)])).unwrap();
    for name in ["inspect", "check"] {
        let line = run(name, &[&index]).bad();
        assert!(line.starts_with(&format!("{name}: {file}: offset ")), "{line}");
        assert!(line.contains("the tensor has the name of tensor 0 (tensor \"two\")"), "{line}");
    }
    // And in the index itself.
    let text = r#"{"weight_map": {"embed": "m-1.safetensors", "one": "m-2.safetensors", "embed": "m-1.safetensors"}}"#;
    fs::write(&index, text).unwrap();
    let line = refused(&index);
    assert!(
        line.starts_with(&format!(
            "{index}: this is no index of a model: it names the tensor \"embed\" twice"
        )),
        "{line}"
    );
}

#[test]
fn the_tensors_have_the_bytes_that_the_index_tells() {
    for (total, told) in [(13, "13"), (15, "15"), (1_000_000, "1,000,000")] {
        let index = model("index total", |index| index["metadata"]["total_size"] = json!(total));
        assert_eq!(refused(&index), format!("{index}: total_size is {told}, and the tensors have 14 bytes"));
    }
}

#[test]
fn no_file_of_an_index_is_outside_of_its_folder() {
    let outside = [
        "../m-1.safetensors",
        "/etc/hosts",
        "a/m.safetensors",
        "..",
        ".",
        "",
        "./m-1.safetensors",
        "a\\m",
        "m-1.safetensors/",
    ];
    for name in outside {
        let index = model("index outside", |index| index["weight_map"]["one"] = json!(name));
        let printed = name.replace('\\', "\\\\");
        assert_eq!(refused(&index), format!("{index}: a file must stand beside the index: \"{printed}\""));
    }
}

#[test]
fn what_is_no_index_is_told() {
    let texts = [
        "",
        "[]",
        "{}",
        "{\"weight_map\": []}",
        "{\"weight_map\": {\"t\": 1}}",
        "{\"weight_map\": {\"t\": null}}",
        "{\"weight_map\": {}, \"weight_map\": {}}",
        "{\"weight_map\": {\"t\": \"f\"}, \"metadata\": {\"total_size\": -1}}",
        "{\"weight_map\": {\"t\": \"f\"}, \"metadata\": {\"total_size\": 1, \"total_size\": 1}}",
        "{\"weight_map\": {\"t\": \"f\"}, \"metadata\": 3}",
        "{\"weight_map\": {\"t\": \"f\"}} x",
    ];
    for text in texts {
        let index = file("no index.json", text.as_bytes());
        let line = refused(&index);
        assert!(line.starts_with(&format!("{index}: this is no index of a model: ")), "{text}: {line}");
    }
    let index = file("empty index.json", br#"{"weight_map": {}}"#);
    assert_eq!(refused(&index), format!("{index}: the index names no file"));
    let line = run("check", &["no such.index.json"]).bad();
    assert!(line.starts_with("check: no such.index.json: "), "{line}");
    // Through a pipe nothing stands beside it.
    let index = fs::read(good("index piped")).unwrap();
    assert!(run_on("check", &["-"], &index).bad().contains("neither GGUF nor safetensors"));
}

#[test]
fn a_missing_or_foreign_file_of_an_index_is_named() {
    let index = good("index gap");
    let file = beside(&index, ALL[1]);
    fs::remove_file(&file).unwrap();
    for name in ["inspect", "check"] {
        let found = run(name, &[&index]);
        assert!(found.out.is_empty(), "{found:?}");
        let line = found.bad();
        assert!(
            line.starts_with(&format!("{name}: {file}: ")) && line.ends_with("(shard 2 of 3)\n"),
            "{line}"
        );
    }
    // What stands in a file that is there can be had.
    run("weights", &[&index, "one"]).good();
    assert!(run("weights", &[&index, "three"]).bad().contains(&file));

    fs::write(&file, Gguf::new().write().bytes).unwrap();
    assert_eq!(refused(&index), format!("{file}: the file is GGUF, and the model safetensors"));
    // And a safetensors file among those of a GGUF model.
    let first = crate::run::file("st-00001-of-00002.gguf", &shard(&[("t", 1)]));
    crate::run::file("st-00002-of-00002.gguf", &shard(&[("u", 1)]));
    assert_eq!(refused(&first), format!("{first}: the file is safetensors, and the model GGUF"));
}

#[test]
fn a_file_of_an_index_with_a_fault_of_its_own_is_named() {
    let index = good("index cut");
    let file = beside(&index, ALL[2]);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    for name in ["inspect", "check"] {
        let line = run(name, &[&index]).bad();
        assert!(line.starts_with(&format!("{name}: {file}: ")) && line.contains("\"three\""), "{line}");
    }
    fs::write(&file, [&whole[..], &[0]].concat()).unwrap();
    for name in ["inspect", "check"] {
        let line = run(name, &[&index]).bad();
        assert!(line.starts_with(&format!("{name}: {file}: offset ")), "{line}");
        assert!(line.contains("bytes follow the last tensor"), "{line}");
    }
    for name in SHARED {
        assert!(run(name, &["--help"]).text().contains(".safetensors.index.json"));
    }
}

#[test]
fn an_index_is_escaped() {
    let hostile = "a\u{1b}[31m\u{202e}";
    for spoil in [0, 1, 2] {
        let index = model("index hostile", |index| match spoil {
            0 => index["weight_map"]["one"] = json!(format!("../{hostile}")),
            1 => index["weight_map"]["one"] = json!(hostile),
            _ => index["weight_map"][hostile] = json!(ALL[0]),
        });
        let line = run("check", &[&index]).bad();
        assert!(line.contains("a\\u{1b}[31m\\u{202e}") && !line.contains(['\u{1b}', '\u{202e}']), "{line}");
    }
}
