//! Can panic, and so must not link: shows that the proof in `panic` proves something. Built with `--features panics` only.

#![no_std]
#![no_main]

use core::hint::black_box;

use weightstream_firmware::board::{self, entry};
use weightstream_firmware::console::Console;
use weightstream_firmware::failure::Failure;

#[entry]
fn main() -> ! {
    board::run(panics)
}

#[allow(clippy::indexing_slicing, reason = "on purpose")]
fn panics(out: &mut Console) -> Result<(), Failure> {
    let digits = [1, 2, 3];
    out.decimal(digits[black_box(3)]).end_line();
    Ok(())
}
