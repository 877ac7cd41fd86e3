//! What several integration tests share. A test takes it in with `mod support;`.

#![allow(dead_code, reason = "each test uses its own part of this module")]
#![allow(unreachable_pub, reason = "this is a private module of every test that takes it in")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::std_instead_of_core,
    clippy::unwrap_used,
    reason = "a test may panic, and runs on a host"
)]

pub mod gguf_value;
pub mod gguf_writer;
pub mod golden;
pub mod grammar;
pub mod levels;
pub mod random;
pub mod reboot;
pub mod record;
pub mod rounding;
pub mod safetensors_writer;
pub mod samples;
