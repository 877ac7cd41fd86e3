//! Loops around the decoders, like those of any caller.

use weightstream::{Decoder, Event, TensorSlot, safetensors};

/// What was told of a header.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Told {
    pub keys: u64,
    pub tensors: u64,
    /// Strings, or pieces of them.
    pub texts: u64,
    /// Bytes of strings, and numbers in arrays.
    pub amount: u64,
    /// All of the header has come.
    pub is_whole: bool,
}

impl Told {
    fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::Key { .. } => self.keys += 1,
            Event::Tensor { .. } => self.tensors += 1,
            Event::Text { part, .. } => {
                self.texts += 1;
                self.amount += part.len() as u64;
            }
            Event::Items(items) => self.amount += items.len() as u64,
            Event::DataStart(_) => self.is_whole = true,
            _ => {}
        }
    }
}

/// Pushes bytes of a GGUF file, cut into chunks, and counts what comes out. With `skip` it asks for no value of a tokenizer.
pub fn push_gguf<D: AsRef<[TensorSlot]> + AsMut<[TensorSlot]>>(
    decoder: &mut Decoder<D>,
    bytes: &[u8],
    chunk_bytes: usize,
    skip: bool,
    told: &mut Told,
) {
    for mut chunk in bytes.chunks(chunk_bytes) {
        while let Some(event) = decoder.decode(&mut chunk).expect("the file is right") {
            told.hear(&event);
            if skip && matches!(event, Event::Key { name, .. } if name.starts_with("tokenizer.")) {
                decoder.skip_value();
            }
            if told.is_whole {
                return;
            }
        }
    }
}

/// Pushes bytes of a safetensors file, cut into chunks, and counts what comes out.
pub fn push_safetensors<D: AsRef<[TensorSlot]> + AsMut<[TensorSlot]>>(
    decoder: &mut safetensors::Decoder<D>,
    bytes: &[u8],
    chunk_bytes: usize,
    told: &mut Told,
) {
    for mut chunk in bytes.chunks(chunk_bytes) {
        while let Some(event) = decoder.decode(&mut chunk).expect("the file is right") {
            told.hear(&event);
            if told.is_whole {
                return;
            }
        }
    }
}
