//! What a target's first bytes choose: the decoder's options and memory, and how its input is cut.

use super::choices::Choices;
use super::support::random::Random;
use weightstream::{Decoder, Layout, Options, TensorSlot, UnknownTypes};

/// A decoder whose directory has a size chosen at run time.
pub type Fuzzed<const SCRATCH: usize> = Decoder<Vec<TensorSlot>, SCRATCH>;

/// Eight bytes, all zero for a decoder with default options, 64 slots and a scratch of 320 bytes, fed a whole file.
pub struct Setup {
    pub options: Options,
    /// Slots in the directory.
    pub slots: usize,
    /// A scratch of 64 bytes instead of 320.
    pub small_scratch: bool,
    /// The decoder is told the true size of the file.
    pub knows_size: bool,
    pub infers: bool,
    cut: u8,
    seed: u8,
}

impl Setup {
    /// The setup, and the file behind it.
    pub fn split(data: &[u8]) -> (Self, &[u8]) {
        let mut choices = Choices::new(data);
        let [flags, limits, limit, metadata, cut, seed, size, _] = choices.bytes();
        let file = choices.rest();
        let infers = flags & 2 != 0;
        let mut options = limited(limits, limit).metadata_bytes(u64::from(metadata) * 16);
        if flags & 1 != 0 {
            options = options.layout(Layout::Sparse);
        }
        if infers {
            options = options.unknown_types(UnknownTypes::Infer);
        }
        let (exact, other) = (file.len() as u64, u64::from(size));
        options = match flags >> 5 & 3 {
            0 => options,
            1 => options.input_bytes(exact),
            2 => options.input_bytes(exact.saturating_sub(other)),
            _ => options.input_bytes(exact + other),
        };
        let slots = [64, 0, 3, 64][usize::from(flags >> 3 & 3)];
        let knows_size = flags >> 5 & 3 == 1;
        (Self { options, slots, small_scratch: flags & 4 != 0, knows_size, infers, cut, seed }, file)
    }

    pub fn decoder<const SCRATCH: usize>(&self) -> Fuzzed<SCRATCH> {
        self.decoder_with(self.options)
    }

    pub fn decoder_with<const SCRATCH: usize>(&self, options: Options) -> Fuzzed<SCRATCH> {
        Decoder::with_scratch(vec![TensorSlot::EMPTY; self.slots], options)
    }

    /// How long the chunks are, one after the other; 0 now and then.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        let mut random = Random::new(self.seed.into());
        let cut = usize::from(self.cut);
        std::iter::repeat_with(move || match cut {
            0 => usize::MAX,
            1..=32 => cut,
            _ => random.below(cut - 31),
        })
    }
}

/// Options where each bit of `which` sets a limit to what `limit` says.
fn limited(which: u8, limit: u8) -> Options {
    let mut options = Options::new();
    let set = |bit: u8| which >> bit & 1 != 0;
    if set(0) {
        options = options.name_bytes(limit.into());
    }
    if set(1) {
        options = options.nesting(limit % 6);
    }
    if set(2) {
        options = options.alignment(1 << (limit % 32));
    }
    if set(3) {
        options = options.rank(limit % 6);
    }
    if set(4) {
        options = options.entries(u64::from(limit) % 32);
    }
    if set(5) {
        options = options.tensors(u64::from(limit) % 16);
    }
    if set(6) {
        options = options.string_bytes(limit.into());
    }
    if set(7) {
        options = options.array_elements(limit.into());
    }
    options
}

/// A file cut into chunks of these sizes.
pub fn cut(mut file: &[u8], sizes: impl Iterator<Item = usize>) -> impl Iterator<Item = &[u8]> {
    sizes.map_while(move |size| {
        if file.is_empty() {
            return None;
        }
        let (chunk, rest) = file.split_at(size.min(file.len()));
        file = rest;
        Some(chunk)
    })
}
