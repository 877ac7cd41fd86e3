//! The small models that the guides read are what the guides say of them, and no more.
//!
//! `WRITE_GUIDE_MODELS=1 cargo test --test guide_models` writes them anew.
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]

mod support;

use support::gguf_writer::{Gguf, Tensor, Value};

const F32: u32 = 0;
const F16: u32 = 1;
const Q4_0: u32 = 2;
const Q8_0: u32 = 8;

fn is_what_the_guides_read(name: &str, model: &Gguf) {
    let path = format!("{}/examples/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let bytes = model.write().bytes;
    if std::env::var_os("WRITE_GUIDE_MODELS").is_some() {
        std::fs::write(&path, &bytes).unwrap();
    }
    assert_eq!(std::fs::read(path).unwrap(), bytes, "{name}");
}

/// 64 weights, all zero, in each of four types.
#[test]
fn four_types() {
    let zeros = |name: &str, type_id, data_bytes| Tensor::new(name, type_id, &[64], vec![0; data_bytes]);
    let model = Gguf::new()
        .tensor(zeros("plain", F32, 256))
        .tensor(zeros("half", F16, 128))
        .tensor(zeros("eight_bits", Q8_0, 68))
        .tensor(zeros("four_bits", Q4_0, 36));
    is_what_the_guides_read("four_types.gguf", &model);
}

/// Two rows of one block each, whose scale is the f16 nearest to 0.1.
#[test]
fn embedding_q8_0() {
    let mut data = Vec::new();
    for row in 0_u8..2 {
        data.extend(0x2E66_u16.to_le_bytes());
        data.extend((0_u8..32).map(|column| (row * 32 + column).wrapping_mul(3).wrapping_sub(60)));
    }
    assert_eq!(data.len(), 68);
    let model = Gguf::new().tensor(Tensor::new("token_embd.weight", Q8_0, &[32, 2], data));
    is_what_the_guides_read("embedding_q8_0.gguf", &model);
}

/// A number, a text and a list as metadata, and one tensor that ends where the file ends.
#[test]
fn three_keys_one_tensor() {
    let data = (0_u8..6).flat_map(|n| (f32::from(n) * 0.5).to_le_bytes()).collect();
    let model = Gguf::new()
        .entry("general.architecture", Value::text("llama"))
        .entry("llama.context_length", Value::U32(2048))
        .entry("tokenizer.tokens", Value::array(vec![Value::text("<s>"), Value::text("سلام")]))
        .tensor(Tensor::new("w", F32, &[3, 2], data))
        .last_padding(false);
    is_what_the_guides_read("three_keys_one_tensor.gguf", &model);
}

#[test]
fn empty() {
    is_what_the_guides_read("empty.gguf", &Gguf::new());
}
