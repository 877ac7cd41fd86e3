//! One symbol a kind of program, so that `tools/flash_sizes.py` can link each alone: what a firmware pays in flash for what it
//! uses. Results go where the optimizer cannot see them end.

use core::hint::black_box;

#[cfg(not(feature = "safetensors_alone"))]
use weightstream::Decoder;
use weightstream::Event;
#[cfg(any(feature = "directory_and_two_kernels", feature = "metadata_and_types"))]
use weightstream::TensorSlot;
#[cfg(feature = "metadata_and_types")]
use weightstream::metadata::{KeyPattern, Metadata};
#[cfg(any(feature = "safetensors_alone", feature = "both_formats"))]
use weightstream::safetensors;
#[cfg(feature = "both_formats")]
use weightstream::{Format, detect};
#[cfg(feature = "directory_and_two_kernels")]
use weightstream::{TensorType, quant};

/// Header, metadata and tensor descriptions, with skips and jumps.
#[cfg(any(feature = "decoder_alone", feature = "safetensors_alone", feature = "both_formats"))]
macro_rules! read {
    ($decoder:ident, $input:ident) => {{
        while let Some(event) = $decoder.decode(&mut $input).map_err(|error| error.offset())? {
            match event {
                Event::Header(header) => _ = black_box(header.tensor_count),
                Event::Key { name, .. } if black_box(name.name_hash()) == 1 => $decoder.skip_value(),
                Event::Scalar(value) => _ = black_box(value),
                Event::Text { part, .. } => _ = black_box(part),
                Event::ArrayStart { len, .. } => _ = black_box(len),
                Event::Items(items) => _ = black_box(items.bytes()),
                Event::Tensor { name, info } if black_box((name.name_hash(), info.data_offset())).0 == 1 => {
                    $decoder.skip_tensor();
                }
                Event::DataStart(start) => _ = black_box(start),
                _ => {}
            }
        }
        let _ = $decoder.advance($decoder.skippable());
        $decoder.finish().map_err(|error| error.offset())
    }};
}

#[cfg(feature = "decoder_alone")]
#[unsafe(no_mangle)]
pub fn decoder_alone(decoder: &mut Decoder, mut input: &[u8]) -> Result<(), u64> {
    read!(decoder, input)
}

#[cfg(feature = "safetensors_alone")]
#[unsafe(no_mangle)]
pub fn safetensors_alone(decoder: &mut safetensors::Decoder, mut input: &[u8]) -> Result<(), u64> {
    read!(decoder, input)
}

#[cfg(feature = "both_formats")]
#[unsafe(no_mangle)]
pub fn both_formats(
    gguf: &mut Decoder,
    other: &mut safetensors::Decoder,
    mut input: &[u8],
) -> Result<(), u64> {
    if detect(input) == Some(Format::Gguf) { read!(gguf, input) } else { read!(other, input) }
}

/// The same, with recorded tensors whose blocks of two types become numbers, each by the function of its type.
#[cfg(feature = "directory_and_two_kernels")]
#[unsafe(no_mangle)]
pub fn directory_and_two_kernels(
    decoder: &mut Decoder<[TensorSlot; 8]>,
    mut input: &[u8],
    out: &mut [f32; 32],
) -> Result<(), u64> {
    while let Some(event) = decoder.decode(&mut input).map_err(|error| error.offset())? {
        match event {
            Event::Key { name, .. } if black_box(name.name_hash()) == 1 => decoder.skip_value(),
            Event::Tensor { name, .. } if black_box(name.name_hash()) == 1 => decoder.skip_tensor(),
            Event::Data(blocks) if blocks.tensor_type() == TensorType::Q8_0 => {
                for block in blocks.bytes().as_chunks().0 {
                    quant::q8_0(block, out);
                    black_box(&mut *out);
                }
            }
            Event::Data(blocks) if blocks.tensor_type() == TensorType::Q4_0 => {
                for block in blocks.bytes().as_chunks().0 {
                    quant::q4_0(block, out);
                    black_box(&mut *out);
                }
            }
            _ => {}
        }
    }
    black_box(decoder.directory().find(black_box("token_embd.weight")).and_then(|slot| slot.rows(1..2)));
    decoder.finish().map_err(|error| error.offset())
}

/// Chosen metadata, the directory, and every type whose family is turned on.
#[cfg(feature = "metadata_and_types")]
#[unsafe(no_mangle)]
pub fn metadata_and_types(
    decoder: &mut Decoder<[TensorSlot; 8]>,
    metadata: &mut Metadata<16, 512>,
    mut input: &[u8],
    out: &mut [f32; 256],
) -> Result<(), u64> {
    const WANTED: &[KeyPattern] =
        &[KeyPattern::exact("general.name"), KeyPattern::of_architecture("block_count")];
    metadata.set_filter(WANTED);
    while let Some(event) = decoder.decode(&mut input).map_err(|error| error.offset())? {
        let wanted = metadata.accept(&event).map_err(|error| u64::from(error.index()))?;
        if let Event::Data(mut blocks) = event {
            while !blocks.is_empty() {
                blocks.dequantize(out).map_err(|_| 0_u64)?;
                black_box(&mut *out);
            }
        } else if !wanted {
            decoder.skip_value();
        }
    }
    black_box(metadata.integer("llama.block_count", 0_u32).is_ok());
    black_box(metadata.text("general.name", "").is_ok());
    black_box(decoder.directory().find(black_box("token_embd.weight")).and_then(|slot| slot.rows(1..2)));
    decoder.finish().map_err(|error| error.offset())
}
