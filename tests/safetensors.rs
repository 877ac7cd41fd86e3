//! The decoder of safetensors files: what it tells, what it refuses, and that neither depends on how the bytes come.

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
#![allow(unreachable_pub, reason = "the modules of a test are private")]

mod support;

#[path = "safetensors/cuts.rs"]
mod cuts;
#[path = "safetensors/example.rs"]
mod example;
#[path = "safetensors/kept.rs"]
mod kept;
#[path = "safetensors/large.rs"]
mod large;
#[path = "safetensors/lenient.rs"]
mod lenient;
#[path = "safetensors/lifecycle.rs"]
mod lifecycle;
#[path = "safetensors/malformed.rs"]
mod malformed;
#[path = "safetensors/placement.rs"]
mod placement;
#[path = "safetensors/readers.rs"]
mod readers;
#[path = "safetensors/saved.rs"]
mod saved;
#[path = "safetensors/shapes.rs"]
mod shapes;
#[allow(dead_code, reason = "the tests of the readers use all of it")]
#[path = "io/sources.rs"]
mod sources;
