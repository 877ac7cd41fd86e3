//! Decodes a file that is larger than all memory: reads it from the host in pieces of 256 bytes, dequantizes every block
//! into one row, and prints of each tensor its index, the CRC-32 of its values and their number.

#![no_std]
#![no_main]

use static_cell::ConstStaticCell;
use weightstream::{Decoder, Event, TensorSlot};
use weightstream_firmware::board::{self, TENSORS, entry};
use weightstream_firmware::checksum::Checksums;
use weightstream_firmware::console::Console;
use weightstream_firmware::failure::Failure;
use weightstream_firmware::host::File;

// All zero: they take no flash.
static DECODER: ConstStaticCell<Decoder<[TensorSlot; TENSORS]>> =
    ConstStaticCell::new(Decoder::new([TensorSlot::EMPTY; TENSORS]));
static PIECE: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);

#[entry]
fn main() -> ! {
    board::run(stream)
}

fn stream(out: &mut Console) -> Result<(), Failure> {
    let decoder = DECODER.try_take().ok_or(Failure::Taken)?;
    let piece = PIECE.try_take().ok_or(Failure::Taken)?;
    let mut checksums = Checksums::new()?;
    let mut file = File::from_command_line()?;
    loop {
        let mut input = file.read(piece)?;
        if input.is_empty() {
            break;
        }
        while let Some(event) = decoder.decode(&mut input)? {
            if let Event::Data(blocks) = event {
                checksums.add(blocks, out)?;
            }
        }
    }
    checksums.end_tensor(out);
    decoder.finish()?;
    out.decimal(decoder.position()).text(" bytes").end_line();
    Ok(())
}
