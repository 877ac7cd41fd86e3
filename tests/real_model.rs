//! A real model decodes to the recorded values, streamed in chunks of 64 KiB.
//!
//! `WEIGHTSTREAM_MODEL` names the file; `tools/models.sh` fetches it. Without that there is nothing to do. Worth
//! running with `--release`: it is 253 MB.

#![cfg(all(feature = "legacy", feature = "k"))]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod support;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;

use sha2::{Digest, Sha256};
use support::samples::data_dir;
use weightstream::{Decoder, Event, TensorSlot};

const CHUNK: usize = 64 * 1024;

#[test]
fn every_tensor_of_a_real_model_decodes_to_the_recorded_values() {
    let Some(path) = std::env::var_os("WEIGHTSTREAM_MODEL") else {
        println!("WEIGHTSTREAM_MODEL is not set: no model to decode");
        return;
    };
    let recorded = fs::read_to_string(data_dir().join("gemma-3-270m-q4_k_m.sha256.txt")).unwrap();
    let mut expected: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
    for line in recorded.lines() {
        let mut fields = line.splitn(3, ' ');
        let (sha256, elements) = (fields.next().unwrap(), fields.next().unwrap().parse().unwrap());
        expected.insert(fields.next().unwrap(), (sha256, elements));
    }
    assert_eq!(expected.len(), 236);

    let mut file = File::open(path).unwrap();
    let mut decoder = Decoder::new([TensorSlot::EMPTY; 256]);
    let mut names: Vec<String> = Vec::new();
    let mut decoded: BTreeMap<u32, (Sha256, u64)> = BTreeMap::new();
    let mut chunk = vec![0; CHUNK];
    let mut values = vec![0.0_f32; 4096];
    let mut bytes = Vec::with_capacity(4 * values.len());
    loop {
        let len = file.read(&mut chunk).unwrap();
        if len == 0 {
            break;
        }
        let mut input = &chunk[..len];
        while let Some(event) = decoder.decode(&mut input).unwrap() {
            match event {
                Event::Tensor { name, .. } => names.push(name.as_str().unwrap().to_owned()),
                Event::Data(mut blocks) => {
                    let (sha256, elements) = decoded.entry(blocks.tensor()).or_default();
                    assert_eq!(blocks.first_element(), *elements);
                    while !blocks.is_empty() {
                        let count = blocks.dequantize(&mut values).unwrap();
                        *elements += count as u64;
                        bytes.clear();
                        bytes.extend(values[..count].iter().flat_map(|value| value.to_le_bytes()));
                        sha256.update(&bytes);
                    }
                }
                _ => {}
            }
        }
    }
    decoder.finish().unwrap();
    assert_eq!((names.len(), decoded.len()), (236, 236));
    for (index, (sha256, elements)) in decoded {
        let name = names[index as usize].as_str();
        let sha256: String = sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((sha256.as_str(), elements), expected[name], "{name}");
    }
}
