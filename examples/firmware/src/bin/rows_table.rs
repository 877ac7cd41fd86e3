//! What `rows` does, for firmware whose model never changes: its directory is a constant, and nothing is parsed.

#![no_std]
#![no_main]

use weightstream::Directory;
use weightstream_firmware::board::{self, entry};
use weightstream_firmware::console::Console;
use weightstream_firmware::failure::Failure;
use weightstream_firmware::sample::{EMBEDDINGS, print_embeddings};
use weightstream_firmware::sample_table::TENSORS;

#[entry]
fn main() -> ! {
    board::run(rows)
}

fn rows(out: &mut Console) -> Result<(), Failure> {
    let embeddings = Directory::new(&TENSORS).find(EMBEDDINGS).ok_or(Failure::NoTensor)?;
    print_embeddings(embeddings, out)
}
