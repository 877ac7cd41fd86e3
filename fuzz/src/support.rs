//! What the targets use of that which the tests share.

#![allow(dead_code, reason = "the targets do not use all of it")]

#[path = "../../tests/support/gguf_value.rs"]
pub mod gguf_value;
#[path = "../../tests/support/gguf_writer.rs"]
pub mod gguf_writer;
#[path = "../../tests/support/grammar.rs"]
pub mod grammar;
#[path = "../../tests/support/random.rs"]
pub mod random;
#[path = "../../tests/support/record.rs"]
pub mod record;
#[path = "../../tests/support/safetensors_writer.rs"]
pub mod safetensors_writer;
#[path = "../../tests/support/samples.rs"]
pub mod samples;
