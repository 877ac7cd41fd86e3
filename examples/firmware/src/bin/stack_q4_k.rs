//! Prints how much stack it takes to decode a model and to dequantize its Q4_K tensors: that alone, without what a board needs
//! to start and to print.

#![no_std]
#![no_main]

use static_cell::ConstStaticCell;
use weightstream::{Decoder, Event, TensorSlot, TensorType};
use weightstream_firmware::board::{self, entry};
use weightstream_firmware::console::Console;
use weightstream_firmware::failure::Failure;
use weightstream_firmware::sample::MODEL;
use weightstream_firmware::stack;

type Decoding = Decoder<[TensorSlot; 16]>;

// All zero: they take no flash.
static DECODER: ConstStaticCell<Decoding> = ConstStaticCell::new(Decoder::new([TensorSlot::EMPTY; 16]));
static ROW: ConstStaticCell<[f32; 256]> = ConstStaticCell::new([0.0; 256]);

#[entry]
fn main() -> ! {
    board::run(measure)
}

fn measure(out: &mut Console) -> Result<(), Failure> {
    let decoder = DECODER.try_take().ok_or(Failure::Taken)?;
    let row = ROW.try_take().ok_or(Failure::Taken)?;
    let (weights, bytes) = stack::deepest(dequantize, (decoder, row));
    if weights? == 0 {
        return Err(Failure::NoTensor);
    }
    out.text("decode and dequantize Q4_K: ")
        .decimal(u64::try_from(bytes).unwrap_or(u64::MAX))
        .text(" bytes of stack");
    out.end_line();
    Ok(())
}

/// Decodes the model, and returns how many weights of Q4_K it has.
fn dequantize((decoder, row): (&mut Decoding, &mut [f32; 256])) -> Result<u64, Failure> {
    let mut weights: u64 = 0;
    let mut input = MODEL;
    while let Some(event) = decoder.decode(&mut input)? {
        match event {
            Event::Tensor { info, .. } if info.tensor_type() != TensorType::Q4_K => decoder.skip_tensor(),
            Event::Data(mut blocks) => {
                while !blocks.is_empty() {
                    let written = blocks.dequantize(row)?;
                    weights = weights.saturating_add(u64::try_from(written).unwrap_or(0));
                }
            }
            _ => {}
        }
    }
    decoder.finish()?;
    Ok(weights)
}
