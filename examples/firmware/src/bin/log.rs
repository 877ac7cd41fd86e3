//! Logs what the decoder says through defmt: events, values and errors. No text is formatted on the chip.

#![no_std]
#![no_main]

use static_cell::ConstStaticCell;
use weightstream::{ByteOrder, Decoder, Event, TensorSlot, TensorType};
use weightstream_firmware::board::{self, entry};
use weightstream_firmware::console::Console;
use weightstream_firmware::failure::Failure;
use weightstream_firmware::logger;
use weightstream_firmware::sample::MODEL;

// One slot: one tensor's data are wanted. All zero: it takes no flash.
static DECODER: ConstStaticCell<Decoder<[TensorSlot; 1]>> =
    ConstStaticCell::new(Decoder::new([TensorSlot::EMPTY; 1]));

/// The smallest tensor of the sample that has blocks to speak of.
const LOGGED: &str = "token_bytes.count";

#[entry]
fn main() -> ! {
    board::run(log)
}

fn log(_: &mut Console) -> Result<(), Failure> {
    logger::start()?;
    let decoder = DECODER.try_take().ok_or(Failure::Taken)?;
    log_events(decoder)?;
    defmt::info!("recorded: {}", decoder.directory().find(LOGGED));
    log_errors(decoder)
}

fn log_events(decoder: &mut Decoder<[TensorSlot; 1]>) -> Result<(), Failure> {
    let mut values = [0.0; 16];
    let mut input = MODEL;
    while let Some(event) = decoder.decode(&mut input)? {
        defmt::debug!("{}", event);
        match event {
            Event::Key { name, .. } if name.starts_with("tokenizer.") => decoder.skip_value(),
            Event::Tensor { name, .. } if name != LOGGED => decoder.skip_tensor(),
            Event::Data(mut blocks) => {
                let count = blocks.dequantize(&mut values)?;
                defmt::info!("the values: {}", values.get(..count));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What is said of a file that ends too early, of one that is no model, and of blocks that cannot be dequantized.
fn log_errors(decoder: &mut Decoder<[TensorSlot; 1]>) -> Result<(), Failure> {
    decoder.reset();
    let mut start = MODEL.get(..5000).unwrap_or_default();
    while decoder.decode(&mut start)?.is_some() {}
    if let Err(error) = decoder.finish() {
        defmt::warn!("{}, in {}", error, decoder.context());
    }
    decoder.reset();
    if let Err(error) = decoder.decode(&mut &b"no model"[..]) {
        defmt::error!("{}", error);
    }
    let slot = TensorSlot::new(0, 0, 22, 32, 0, TensorType::Q5_0, ByteOrder::Big);
    if let Err(error) = slot.dequantize(&mut &[0; 22][..], &mut [0.0; 32]) {
        defmt::error!("{}", error);
    }
    Ok(())
}
