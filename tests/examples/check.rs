//! What `check` says of whole files.

use crc::{CRC_32_ISO_HDLC, Crc};
use serde_json::json;

use crate::run::{Corpus, Run, SAMPLE, file, has_dequantizer, list, run, run_on};
use crate::support::gguf_writer::{Gguf, Tensor};

#[test]
fn check_tells_what_ggml_would_refuse() {
    let corpus = Corpus::read();
    for (path, expected) in corpus.good() {
        let found = run("check", &["--quiet", &path]).text();
        let is_refused = expected["accepted_by_ggml"] == false;
        assert_eq!(found.contains(": ggml would refuse this file: "), is_refused, "{found}");
        assert_eq!(found.lines().count(), 1 + usize::from(is_refused), "{found}");
        let decoded = list(&expected["tensors"]).iter().filter(|tensor| !has_dequantizer(tensor));
        let not_decoded = decoded.filter(|tensor| tensor["nbytes"] != json!(0)).count();
        assert_eq!(found.contains(&format!("{not_decoded} not decoded")), not_decoded > 0, "{found}");
    }
}

#[test]
fn check_counts_what_is_no_number() {
    let values = [1.0, f32::NAN, f32::INFINITY, -3.0, f32::NEG_INFINITY, 0.5];
    let repeated = values.repeat(1000);
    let data = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let file = Gguf::new()
        .tensor(Tensor::new("mixed", 0, &[6000], data(&repeated)))
        .tensor(Tensor::new("nothing", 0, &[0], vec![]))
        .tensor(Tensor::new("void", 0, &[1], data(&[f32::NAN])))
        .tensor(Tensor::new("steps", 0, &[1001], data(&(0..1001).map(|n| n as f32).collect::<Vec<_>>())));
    let found = run_on("check", &["-"], &file.write().bytes).text();
    let row = |name: &str| {
        let line = found.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("mixed"), "6,000 -3.000 1.000 -0.5000 1.848");
    assert_eq!(row("nothing"), "0 - - - -");
    assert_eq!(row("void"), "1 - - - -");
    assert_eq!(row("steps"), "1,001 0 1000 500.0 577.5");
    assert!(found.contains("    1,000 NaN, 2,000 infinite\n"), "{found}");
    assert!(found.contains("4 tensors, 7,002 values; 1,001 NaN, 2,000 infinite\n"), "{found}");
}

#[test]
fn check_goes_on_after_a_bad_file() {
    let bad = file("bad.gguf", b"GGML");
    let Run { status, out, errors } = run("check", &["--quiet", &bad, SAMPLE, "no such file", SAMPLE]);
    assert_eq!(status, Some(1));
    assert_eq!(String::from_utf8(out).unwrap().matches("sample.gguf: whole; GGUF, 25 tensors").count(), 2);
    assert_eq!(errors.lines().count(), 2, "{errors}");
    assert!(errors.contains("bad magic") && errors.contains("no such file"), "{errors}");
}

#[test]
fn check_prints_checksums_of_the_values() {
    let corpus = Corpus::read();
    for (path, expected) in corpus.good() {
        let found = run("check", &["--crc", &path]).text();
        let tensors = list(&expected["tensors"]);
        assert_eq!(found.lines().count(), tensors.len(), "{path}");
        for line in found.lines() {
            let mut fields = line.splitn(4, ' ');
            let [index, crc, count, _] = [(); 4].map(|()| fields.next().unwrap());
            let tensor = &tensors[index.parse::<usize>().unwrap()];
            if !has_dequantizer(tensor) && tensor["nbytes"] != json!(0) {
                assert_eq!((crc, count), ("-", "0"), "{path}: {line}");
                continue;
            }
            // What `weights` writes is held to the corpus elsewhere.
            let name = tensor["name"].as_str().unwrap();
            let values = match tensor["nbytes"] == json!(0) {
                true => Vec::new(),
                false => run("weights", &[&path, name, "--format", "f32"]).good(),
            };
            let checksum = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(&values);
            assert_eq!(
                (crc, count),
                (&*format!("{checksum:08x}"), &*(values.len() / 4).to_string()),
                "{path}: {line}"
            );
        }
    }
}

#[test]
fn checksums_are_those_of_zip() {
    let data = [1.0_f32, -2.5, 1e-3].map(f32::to_le_bytes).concat();
    let file = Gguf::new().tensor(Tensor::new("t", 0, &[3], data)).write().bytes;
    // zlib.crc32 of the twelve bytes.
    assert_eq!(run_on("check", &["--crc", "-"], &file).text(), "0 28a4aff1 3 t\n");
}
