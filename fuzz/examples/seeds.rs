//! Writes the first inputs of every target into `corpus`: `cargo run --example seeds`, in the directory `fuzz`.
//!
//! They are made from the small files of the tests, the beginning of the sample model, and the known blocks of each type.

use std::fs;
use std::path::Path;

use weightstream::TensorType;
use weightstream_fuzz::support::gguf_writer::{Gguf, Tensor};
use weightstream_fuzz::support::random::Random;
use weightstream_fuzz::support::{safetensors_writer, samples};

/// Larger files teach the fuzzer nothing more, and slow it down.
const MOST: usize = 3000;

fn main() {
    let mut files = Vec::new();
    for version in 1..=3 {
        for big_endian in [false, true] {
            files.push(samples::compact(version, big_endian).bytes);
        }
    }
    files.push(samples::long_names().bytes);
    files.push(gaps(&[40, 24, 5]));
    files.push(gaps(&[40, 24, 200]));
    files.push(rows());
    let unknown = Tensor::new("unknown", 5, &[9], vec![7; 36]);
    files.push(Gguf::new().tensor(unknown).tensor(Tensor::new("empty", 0, &[0], Vec::new())).write().bytes);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sample = fs::read(root.join("examples/data/sample.gguf")).expect("the sample is there");
    files.push(sample[..MOST].to_vec());
    let mut names: Vec<_> = fs::read_dir(root.join("tests/data/corpus"))
        .expect("the corpus is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "gguf"))
        .collect();
    names.sort();
    files.extend(names.iter().map(|path| fs::read(path).expect("it can be read")));
    files.retain(|file| file.len() <= MOST);

    let plain = [0; 8];
    let tight = [0x14, 0, 0, 0, 40, 1, 0, 0]; // scratch of 64 bytes, 3 slots, chunks of 0 to 8 bytes
    let lenient = [0x23, 0, 0, 0, 7, 0, 0, 0]; // any order, unknown types, size known, chunks of 7 bytes
    for file in &files {
        let with = |head: &[u8]| [head, file].concat();
        for setup in [plain, tight, lenient] {
            write("decode", &with(&setup));
        }
        write("chunking", &with(&[&plain[..], &[1, 1]].concat()));
        write("chunking", &with(&[&lenient[..], &[3, 13, 0, 7]].concat()));
        write("skip", &with(&[&plain[..], &[5, 0x40, 0x80, 0, 0x60, 0xa3]].concat()));
        write("skip", &with(&[&tight[..], &[7, 0, 0, 0xc0, 0, 0x60, 0, 0x80]].concat()));
        write("skip", &with(&[&lenient[..], &[6, 0, 0x40, 0, 0xb0, 0xd0, 0x80]].concat()));
        for seed in 0..2 {
            // A move now and then, with chunks of 0 to 28 bytes.
            let mut random = Random::new(seed);
            let moves = random.bytes(60).into_iter().map(|choice| if random.one_in(6) { choice } else { 0 });
            let moves: Vec<u8> = std::iter::once(60).chain(moves).collect();
            write("skip", &with(&[&[0, 0, 0, 0, 60, seed as u8, 0, 0], &moves[..]].concat()));
        }
    }
    for (index, tensor_type) in TensorType::ALL.iter().enumerate() {
        let block = tensor_type.block_bytes().expect("it has a size") as usize;
        // In memory and streamed, little- and big-endian, to f32, f16 and bf16.
        for flags in [0x10, 0x11, 0x13, 0x14, 0x17, 0x18, 0x1b] {
            let (head, seed) = ([index as u8, flags, 0, 2, 6], flags.into());
            write("dequantize", &[&head[..], &Random::new(seed).bytes(2 * block + 1)].concat());
        }
    }
    for (index, (start, len)) in [(0, 1), (3, 250), (200, 100), (256, 256), (1, 0)].into_iter().enumerate() {
        let head = [12 + index as u8, 0x1c, 0, 4, 0, start as u8, (start >> 8) as u8, len as u8, 0];
        write("dequantize", &[&head[..], &Random::new(9).bytes(900)].concat());
    }
    write("dequantize", &[12, 0, 0, 1, 0]);
    write_safetensors();
    for seed in 0..40 {
        write("roundtrip", &Random::new(seed).bytes(40 + 16 * seed as usize));
    }
}

/// Files as they stand and headers whose length is added, with default options, and with limits, few slots and a known size.
fn write_safetensors() {
    use safetensors_writer::{compact, long_names, metadata, object, tensor, worked_example};
    for file in [worked_example(), compact(), long_names()] {
        for setup in [[0; 6], [0x32, 0, 0, 5, 0, 0], [0x0a, 0, 0, 60, 1, 0]] {
            write("safetensors", &[&setup[..], &file].concat());
        }
    }
    let a = tensor("a", "F32", &[2], 0, 8);
    let headers = [
        "{}".to_owned(),
        r#"{"__metadata__":null}"#.to_owned(),
        object(&[a.clone(), tensor("b", "I64", &[1], 8, 16)]),
        object(&[tensor("b", "F4", &[2, 3], 8, 11), metadata(&[("k", "v"), ("", "\n")]), a.clone()]),
        object(&[a.clone(), tensor("z", "F64", &[0, 3], 8, 8)]),
        object(&[a.clone(), tensor("b", "U8", &[1], 9, 10)]),
        object(&[a.clone(), tensor("b", "U8", &[4], 4, 8)]),
        object(&[a.clone(), a]),
        r#"{"__metadata__":{"\ud83d\ude00":"\u00e9\ud834\udd1e"},"s":{"x":[{"y":[1.5e-3,null]}],"dtype":"I64","shape":[],"data_offsets":[0,8]}}"#
            .to_owned(),
    ];
    for header in headers {
        for data_bytes in [0, 8, 16] {
            write("safetensors", &[&[1, 0, 0, 7, 0, data_bytes], header.as_bytes()].concat());
        }
        write("safetensors", &[&[0x2b, 0xff, 9, 3, 0, 8], header.as_bytes()].concat());
    }
}

/// A file with gaps, and with tensors of these types in another order.
fn gaps(types: &[u32]) -> Vec<u8> {
    let tensor = |index: usize, type_id: &u32| {
        let bytes = Random::new(index as u64).bytes(36);
        Tensor::new(format!("t{index}"), *type_id, &[64], bytes).gap(32 * index as u64)
    };
    let tensors = types.iter().enumerate().map(|(index, type_id)| tensor(index, type_id));
    tensors.fold(Gguf::new(), Gguf::tensor).data_order(&[2, 0, 1]).write().bytes
}

/// Tensors of several blocks, one behind the other, with an empty one and a scalar in between.
fn rows() -> Vec<u8> {
    let mut random = Random::new(1);
    let mut file = Gguf::new();
    for (index, tensor_type) in [2, 8, 0, 39, 1, 30, 15].map(TensorType::from_id).into_iter().enumerate() {
        let (elements, bytes) = (tensor_type.block_elements(), tensor_type.block_bytes());
        let (elements, bytes) = elements.zip(bytes).expect("it has a size");
        let blocks = if index == 2 { 0 } else { u64::from(600 / bytes).min(8) };
        let data = random.bytes((blocks * u64::from(bytes)) as usize);
        let dims = [u64::from(elements) * blocks];
        file = file.tensor(Tensor::new(format!("row{index}"), tensor_type.id(), &dims, data));
    }
    file.write().bytes
}

/// Named by its content, so that writing it again changes nothing.
fn write(target: &str, input: &[u8]) {
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    fs::create_dir_all(&directory).expect("it can be made");
    fs::write(directory.join(format!("seed-{hash:016x}")), input).expect("it can be written");
}
