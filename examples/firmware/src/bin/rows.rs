//! Looks token embeddings up in a model in flash: reads its descriptions once, and then any row straight from where it
//! lies.

#![no_std]
#![no_main]

use static_cell::ConstStaticCell;
use weightstream::{Decoder, Event, TensorSlot};
use weightstream_firmware::board::{self, entry};
use weightstream_firmware::console::Console;
use weightstream_firmware::failure::Failure;
use weightstream_firmware::sample::{EMBEDDINGS, MODEL, print_embeddings};

// One slot: one tensor is wanted. All zero: it takes no flash.
static DECODER: ConstStaticCell<Decoder<[TensorSlot; 1]>> =
    ConstStaticCell::new(Decoder::new([TensorSlot::EMPTY; 1]));

#[entry]
fn main() -> ! {
    board::run(rows)
}

fn rows(out: &mut Console) -> Result<(), Failure> {
    let decoder = DECODER.try_take().ok_or(Failure::Taken)?;
    let mut input = MODEL;
    while let Some(event) = decoder.decode(&mut input)? {
        match event {
            Event::Key { .. } => decoder.skip_value(),
            Event::Tensor { name, .. } if name != EMBEDDINGS => decoder.skip_tensor(),
            Event::DataStart(_) => break,
            _ => {}
        }
    }
    let embeddings = decoder.directory().find(EMBEDDINGS).ok_or(Failure::NoTensor)?;
    print_embeddings(embeddings, out)
}
