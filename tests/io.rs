//! Readers tell of any source what the decoder tells of one slice, and read no more of it than they must.

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

#[path = "io/adapters.rs"]
mod adapters;
#[path = "io/asynch.rs"]
mod asynch;
#[path = "io/events.rs"]
mod events;
#[path = "io/files.rs"]
mod files;
#[path = "io/flash.rs"]
mod flash;
#[path = "io/jumps.rs"]
mod jumps;
#[path = "io/rows.rs"]
mod rows;
#[path = "io/sources.rs"]
mod sources;
