//! Work for `instructions.py`, which counts the instructions of each call of `counted` under callgrind.
//!
//! Prints a line for each of them, in the order of the calls. All inputs are fixed.

use std::hint::black_box;
use std::path::Path;

use weightstream::{Decoder, TensorSlot, TensorType, safetensors};
use weightstream_benches::golden;
use weightstream_benches::pump::{Told, push_gguf, push_safetensors};

/// What is counted: all that is done in here. It is found by its name.
#[unsafe(export_name = "counted")]
#[inline(never)]
extern "C" fn counted(work: &mut Work<'_>) {
    match work {
        Work::Dequantize { tensor_type, blocks, out } => {
            let written = tensor_type.dequantize(blocks, out);
            assert_eq!(written, Ok(out.len()));
        }
        Work::Gguf { file, chunk_bytes, skip } => {
            let mut told = Told::default();
            push_gguf(&mut Decoder::new([TensorSlot::EMPTY; 64]), file, *chunk_bytes, *skip, &mut told);
            assert!(told.is_whole);
        }
        Work::Safetensors { file, chunk_bytes } => {
            let mut told = Told::default();
            let mut decoder = safetensors::Decoder::new([TensorSlot::EMPTY; 64]);
            push_safetensors(&mut decoder, file, *chunk_bytes, &mut told);
            assert!(told.is_whole);
        }
    }
}

enum Work<'a> {
    Dequantize { tensor_type: TensorType, blocks: &'a [u8], out: &'a mut [f32] },
    Gguf { file: &'a [u8], chunk_bytes: usize, skip: bool },
    Safetensors { file: &'a [u8], chunk_bytes: usize },
}

fn main() {
    for &tensor_type in TensorType::ALL {
        // Whatever is done once, such as asking what the processor can do, is not to be counted.
        let blocks = golden::blocks(tensor_type);
        let mut out = vec![0.0; 2048];
        tensor_type.dequantize(&mut &blocks[..], &mut out).expect("whole blocks");
        let work = Work::Dequantize { tensor_type, blocks: &blocks, out: &mut out };
        count(&format!("dequantize {tensor_type}"), work);
    }
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/sample.gguf");
    let file = &std::fs::read(sample).expect("the sample can be read")[..];
    for (name, chunk_bytes) in [("in one chunk", file.len()), ("in chunks of 64", 64)] {
        count(&format!("header by events, {name}"), Work::Gguf { file, chunk_bytes, skip: false });
        count(
            &format!("header with vocabulary skipped, {name}"),
            Work::Gguf { file, chunk_bytes, skip: true },
        );
    }
    let file = &tensors()[..];
    for (name, chunk_bytes) in [("in one chunk", file.len()), ("in chunks of 64", 64)] {
        count(&format!("safetensors header, {name}"), Work::Safetensors { file, chunk_bytes });
    }
}

fn count(name: &str, mut work: Work<'_>) {
    println!("{name}");
    counted(black_box(&mut work));
}

/// A safetensors file with 64 tensors.
fn tensors() -> Vec<u8> {
    let tensor = |index: usize| {
        let (start, end) = (8 * index, 8 * index + 8);
        format!(r#""layers.{index}.weight":{{"dtype":"F32","shape":[1,2],"data_offsets":[{start},{end}]}}"#)
    };
    let tensors: Vec<_> = (0..64).map(tensor).collect();
    let header = format!("{{{}}}", tensors.join(","));
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], header.as_bytes(), &[0; 8 * 64]].concat()
}
