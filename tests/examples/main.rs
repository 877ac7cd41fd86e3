//! The example programs, run as people run them.

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

mod check;
mod http;
mod http_faults;
mod http_safetensors;
mod inspect;
mod inspect_summary;
mod promises;
mod run;
mod safetensors;
mod safetensors_index;
mod server;
mod shards;
#[path = "../support/mod.rs"]
mod support;
mod weights;
