//! All that the library has for safetensors.

use core::hint::black_box;

use static_cell::ConstStaticCell;
use weightstream::io::Events;
use weightstream::{Event, Options, TensorSlot, TensorType, detect, quant, safetensors};
use weightstream_firmware::failure::Failure;

use crate::{Work, look_at};

static MODEL: &[u8] = include_bytes!("../../../../data/sample.safetensors");

type Recorder = safetensors::Decoder<[TensorSlot; 8]>;

static DECODER: ConstStaticCell<Recorder> =
    ConstStaticCell::new(safetensors::Decoder::new([TensorSlot::EMPTY; 8]));

fn options() -> Options {
    Options::new()
        .header_bytes(black_box(4096))
        .data_bytes(black_box(8192))
        .rank(black_box(8))
        .tensor_elements(black_box(1024))
        .name_bytes(black_box(1000))
        .string_bytes(black_box(1000))
        .entries(black_box(1000))
        .tensors(black_box(1000))
        .input_bytes(black_box(u64::try_from(MODEL.len()).unwrap_or(0)))
}

/// Decodes the model in pieces, put away and taken up again after each of them. How many events it told.
#[inline(never)] // A decoder is made on its stack.
pub(crate) fn decode(work: &mut Work) -> Result<u64, Failure> {
    let decoder = DECODER.try_take().ok_or(Failure::Taken)?;
    *decoder = safetensors::Decoder::with_options([TensorSlot::EMPTY; 8], options());
    black_box(detect(black_box(MODEL)));
    let mut events = 0_u64;
    for piece in MODEL.chunks(100) {
        let mut input = piece;
        while let Some(event) = decoder.decode(&mut input)? {
            events = events.saturating_add(1);
            black_box((work.metadata.accept(&event).is_ok(), work.summary.accept(&event)));
            look_at(event, &mut work.values, &mut work.halves)?;
            if black_box(false) {
                decoder.skip_value();
                decoder.skip_tensor();
            }
        }
        black_box((decoder.needed(), decoder.position(), decoder.end(), decoder.context()));
        black_box(decoder.advance(black_box(0)).is_ok() && decoder.skippable() > 0);
        black_box(decoder.checkpoint(&mut work.bytes).is_ok_and(|_| decoder.restore(&work.bytes).is_ok()));
    }
    decoder.finish()?;
    for slot in decoder.directory() {
        black_box(slot.dequantize_rows(MODEL, black_box(0..1), &mut work.values).is_ok());
    }
    if black_box(false) {
        decoder.reset();
    }
    Ok(events)
}

/// A reader, the types and the functions that the formats do not share.
#[inline(never)]
pub(crate) fn call_rest(buffer: &mut [u8], values: &mut [f32]) {
    for kind in TensorType::DTYPES {
        black_box((
            kind.name(),
            kind.family().is_some(),
            kind.dequantize(&mut black_box(MODEL), values).is_ok(),
        ));
    }
    black_box(quant::f8_e4m3(MODEL.as_chunks().0, values));
    let mut events = Events::over(safetensors::Decoder::new([]), black_box(MODEL), buffer);
    while let Ok(Some(event)) = events.next() {
        match event {
            Event::Key { .. } => events.skip_value(),
            Event::Tensor { .. } => events.skip_tensor(),
            _ => {}
        }
    }
    black_box((events.decoder().position(), events.unread().len()));
}
