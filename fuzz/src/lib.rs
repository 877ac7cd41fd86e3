//! The bodies of the fuzz targets: plain functions of bytes, which panic where a promise of the decoder is broken.
//!
//! The fuzzer calls them through `fuzz_targets`, and the tests replay the corpus through the same code: see
//! `tests/fuzz_replay.rs` of the main package, which takes this file in as a module.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::new_without_default,
    clippy::panic,
    clippy::std_instead_of_core,
    clippy::unwrap_used,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    reason = "a target may panic, and runs on a host"
)]

mod checkpoint;
mod choices;
mod chunking;
mod decode;
mod dequantize;
mod model;
mod roundtrip;
mod safetensors;
mod setup;
mod skip;
pub mod support;
mod watch;

pub use checkpoint::checkpoint;
pub use chunking::chunking;
pub use decode::decode;
pub use dequantize::dequantize;
pub use roundtrip::roundtrip;
pub use safetensors::safetensors;
pub use skip::skip;
