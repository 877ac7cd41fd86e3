//! Decodes a file that is larger than all memory: reads it from the host in pieces of 256 bytes, dequantizes every block
//! into one row, and prints of each tensor its index, the CRC-32 of its values and their number.

#![no_std]
#![no_main]

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};
use static_cell::ConstStaticCell;
use weightstream::{Decoder, Event, TensorSlot};
use weightstream_firmware::board::{self, TENSORS, entry};
use weightstream_firmware::console::Console;
use weightstream_firmware::failure::Failure;
use weightstream_firmware::host::File;

// All zero: they take no flash.
static DECODER: ConstStaticCell<Decoder<[TensorSlot; TENSORS]>> =
    ConstStaticCell::new(Decoder::new([TensorSlot::EMPTY; TENSORS]));
static PIECE: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
/// No block has more elements.
static ROW: ConstStaticCell<[f32; 256]> = ConstStaticCell::new([0.0; 256]);

/// The CRC-32 of zip and PNG.
static CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

#[entry]
fn main() -> ! {
    board::run(stream)
}

fn stream(out: &mut Console) -> Result<(), Failure> {
    let decoder = DECODER.try_take().ok_or(Failure::Taken)?;
    let piece = PIECE.try_take().ok_or(Failure::Taken)?;
    let row = ROW.try_take().ok_or(Failure::Taken)?;
    let mut file = File::from_command_line()?;
    let mut tensor: Option<Checksum> = None;
    loop {
        let mut input = file.read(piece)?;
        if input.is_empty() {
            break;
        }
        while let Some(event) = decoder.decode(&mut input)? {
            let Event::Data(mut blocks) = event else { continue };
            let checksum = match &mut tensor {
                Some(checksum) if checksum.index == blocks.tensor() => checksum,
                _ => {
                    print(tensor.take(), out);
                    tensor.insert(Checksum::new(blocks.tensor()))
                }
            };
            while !blocks.is_empty() {
                let count = blocks.dequantize(row)?;
                checksum.add(row.get(..count).unwrap_or_default());
            }
        }
    }
    print(tensor, out);
    decoder.finish()?;
    out.decimal(decoder.position()).text(" bytes").end_line();
    Ok(())
}

/// Of the values of a tensor, as little-endian `f32`.
struct Checksum {
    index: u32,
    digest: Digest<'static, u32, Table<1>>,
    values: u64,
}

impl Checksum {
    fn new(index: u32) -> Self {
        Self { index, digest: CRC.digest(), values: 0 }
    }

    fn add(&mut self, values: &[f32]) {
        for value in values {
            self.digest.update(&value.to_le_bytes());
            self.values = self.values.saturating_add(1);
        }
    }
}

/// What is printed of a tensor whose data have all come.
fn print(checksum: Option<Checksum>, out: &mut Console) {
    if let Some(Checksum { index, digest, values }) = checksum {
        out.decimal(index.into()).text(" ").hex(digest.finalize()).text(" ").decimal(values).end_line();
    }
}
