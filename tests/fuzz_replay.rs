//! Every input that the fuzzer has kept, through the bodies of its targets.
#![allow(clippy::panic, clippy::arithmetic_side_effects)]

use std::fs;
use std::path::Path;

#[path = "../fuzz/src/lib.rs"]
mod targets;

/// Runs all inputs of a target; says which one fails.
fn replay(name: &str, target: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let mut inputs = 0_u32;
    for kind in ["corpus", "artifacts"] {
        // Without a finding there are no artifacts.
        let Ok(entries) = fs::read_dir(fuzz.join(kind).join(name)) else { continue };
        for entry in entries {
            let path = entry.unwrap_or_else(|error| panic!("{name}: {error}")).path();
            let input = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            if let Err(panic) = std::panic::catch_unwind(|| target(&input)) {
                eprintln!("the input is {}", path.display());
                std::panic::resume_unwind(panic);
            }
            inputs += 1;
        }
    }
    assert!(inputs > 0, "{name} has no corpus");
    println!("{name}: {inputs} inputs");
}

#[test]
fn decode() {
    replay("decode", targets::decode);
}

#[test]
fn chunking() {
    replay("chunking", targets::chunking);
}

#[test]
fn checkpoint() {
    replay("checkpoint", targets::checkpoint);
}

#[test]
fn skip() {
    replay("skip", targets::skip);
}

#[test]
fn dequantize() {
    // The model knows every type.
    if cfg!(feature = "all-types") {
        replay("dequantize", targets::dequantize);
    }
}

#[test]
fn roundtrip() {
    replay("roundtrip", targets::roundtrip);
}

#[test]
fn safetensors() {
    replay("safetensors", targets::safetensors);
}
