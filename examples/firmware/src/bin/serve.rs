//! Decodes a model that comes over a serial line, byte by byte: prints its tensors, and a checksum of each.
//!
//! On the lm3s6965evb only. `uart` receives in an interrupt; the processor sleeps while no byte is there.

#![no_std]
#![no_main]

use static_cell::ConstStaticCell;
use weightstream::{Decoder, Event, TensorSlot};
use weightstream_firmware::board::{self, TENSORS, entry};
use weightstream_firmware::console::Console;
use weightstream_firmware::failure::Failure;
use weightstream_firmware::report::Report;
use weightstream_firmware::uart::Uart;

// All zero: it takes no flash.
static DECODER: ConstStaticCell<Decoder<[TensorSlot; TENSORS]>> =
    ConstStaticCell::new(Decoder::new([TensorSlot::EMPTY; TENSORS]));

#[entry]
fn main() -> ! {
    board::run(serve)
}

fn serve(out: &mut Console) -> Result<(), Failure> {
    let decoder = DECODER.try_take().ok_or(Failure::Taken)?;
    let mut report = Report::new()?;
    let mut uart = Uart::start();
    let mut is_whole = false;
    // The line has no end; the model has.
    while !is_whole {
        let byte = [uart.read_byte()?];
        let mut input = &byte[..];
        while let Some(event) = decoder.decode(&mut input)? {
            is_whole = matches!(event, Event::End);
            report.accept(event, out)?;
        }
    }
    decoder.finish()?;
    out.decimal(decoder.position()).text(" bytes").end_line();
    Ok(())
}
