//! What `weights` writes, held against the values of the files.

use sha2::{Digest, Sha256};

use crate::run::{Corpus, SAMPLE, file, has_dequantizer, list, run, run_on};
use crate::support::gguf_writer::{Gguf, Tensor};

#[test]
fn weights_are_those_of_the_corpus() {
    let files =
        ["all_types_le", "all_types_be", "dims_le", "dims_be", "offsets_shuffled", "offsets_gap", "v1"];
    let corpus = Corpus::read();
    for (path, expected) in
        corpus.good().filter(|(path, _)| files.iter().any(|name| path.contains(&format!("/{name}."))))
    {
        for tensor in list(&expected["tensors"]) {
            let found = run("weights", &[&path, tensor["name"].as_str().unwrap(), "--format", "f32"]);
            if has_dequantizer(tensor) {
                let hash: String =
                    Sha256::digest(found.good()).iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(hash, tensor["f32_sha256"], "{path}: {tensor}");
            } else {
                assert!(found.bad().contains("dequantized"));
            }
        }
    }
}

#[test]
fn weights_writes_rows() {
    let read = |args: &[&str]| run("weights", &[&[SAMPLE, "token_shift"], args].concat()).good();
    assert_eq!(read(&["--format", "f32", "--rows", "0..1"]), read(&["--format", "f32"]));

    // Little-endian and big-endian, from a file and from a pipe: rows are a part of the whole.
    for big_endian in [false, true] {
        let values = (0..28_u8).map(|n| 1.5 - f32::from(n));
        let data =
            values.flat_map(|value| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() });
        let tensor = Tensor::new("t", 0, &[7, 4], data.collect());
        let bytes = Gguf::new().big_endian(big_endian).tensor(tensor).write().bytes;
        let (path, name) = (&*file("rows.gguf", &bytes), "t");
        let all = run("weights", &[path, name, "--format", "f32"]).good();
        for (rows, part) in
            [("1..3", 28..84), ("..1", 0..28), ("3..", 84..112), ("2..2", 0..0), ("4..4", 0..0)]
        {
            let args = [name, "--format", "f32", "--rows", rows];
            assert_eq!(run("weights", &[&[path], &args[..]].concat()).good(), all[part.clone()], "{rows}");
            let of_pipe = run_on("weights", &[&["-"], &args[..]].concat(), &bytes).good();
            assert_eq!(of_pipe, all[part], "{rows}");
        }
        for rows in ["0..5", "5..", "4..6"] {
            assert!(run("weights", &[path, name, "--rows", rows]).bad().contains("which has 4 rows"));
        }
        let text = run("weights", &[path, name, "--rows", "2..4"]).text();
        let numbers: Vec<&str> = text.split_whitespace().collect();
        assert_eq!((numbers[0], numbers[8], numbers.len()), ("2", "3", 16), "{text}");
        let values: Vec<u8> = [&numbers[1..8], &numbers[9..]]
            .concat()
            .iter()
            .flat_map(|number| number.parse::<f32>().unwrap().to_le_bytes())
            .collect();
        assert_eq!(values, all[56..]);
    }
}

#[test]
fn weights_writes_npy() {
    let cases: [(&[u64], _, _); 7] = [
        (&[], None, "()"),
        (&[5], None, "(5,)"),
        (&[7, 4], None, "(4, 7)"),
        (&[32, 3, 4], None, "(4, 3, 32)"),
        (&[3, 0], None, "(0, 3)"),
        (&[7, 4], Some("1..3"), "(2, 7)"),
        (&[5], Some("0..1"), "(1, 5)"),
    ];
    for (dims, rows, shape) in cases {
        let tensor = Tensor::new("t", 24, dims, vec![1; dims.iter().product::<u64>() as usize]);
        let bytes = Gguf::new().tensor(tensor).write().bytes;
        let mut args = vec!["-", "t", "--format", "npy"];
        args.extend(rows.iter().flat_map(|rows| ["--rows", rows]));
        let found = run_on("weights", &args, &bytes).good();
        let (start, rest) = found.split_at(10);
        assert_eq!(&start[..8], b"\x93NUMPY\x01\x00");
        let len = usize::from(u16::from_le_bytes([start[8], start[9]]));
        assert_eq!((10 + len) % 64, 0);
        let header = std::str::from_utf8(&rest[..len]).unwrap();
        let expected = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        assert_eq!((header.trim_end(), header.ends_with('\n')), (expected.as_str(), true));
        let elements: usize =
            shape.split([',', '(', ')', ' ']).filter_map(|dim| dim.parse::<usize>().ok()).product();
        assert_eq!(rest.len() - len, 4 * elements);
    }
}

#[test]
fn weights_suggests_names() {
    let line = run("weights", &[SAMPLE, "blk.0.attn_q.weigth"]).bad();
    assert!(
        line.contains("no tensor has the name \"blk.0.attn_q.weigth\"; similar: \"blk.0.attn_q.weight\""),
        "{line}"
    );
    let line = run("weights", &[SAMPLE, "zzz"]).bad();
    assert!(!line.contains("similar"), "{line}");
}
