//! A safetensors file, or a header whose length is made right: no panic, the same events and verdict for any chunks, after
//! reboots, with skips and with jumps, and the promises on `needed`, `skippable` and `position`.

use super::choices::Choices;
use super::setup::cut;
use super::support::grammar::Grammar;
use super::support::random::Random;
use super::support::record::{Recording, Seen, run};
use crc::{CRC_32_ISO_HDLC, Crc};
use weightstream::{Event, Options, TensorSlot, safetensors};

const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// A decoder whose directory has a size chosen at run time.
type Fuzzed<const SCRATCH: usize> = safetensors::Decoder<Vec<TensorSlot>, SCRATCH>;

/// Six bytes, all zero for default options, 64 slots, a scratch of 320 bytes, and a file as it stands.
struct Setup {
    options: Options,
    slots: usize,
    cut: u8,
    seed: u64,
}

/// Six bytes of setup; then a file, or a header whose length and data are added.
pub fn safetensors(data: &[u8]) {
    let mut choices = Choices::new(data);
    let [flags, limits, limit, cut, seed, data_bytes] = choices.bytes();
    let rest = choices.rest();
    let file = if flags & 1 == 0 {
        rest.to_vec()
    } else {
        let data: Vec<u8> = (0..data_bytes).collect();
        [&(rest.len() as u64).to_le_bytes(), rest, &data].concat()
    };
    let size = file.len() as u64;
    let options = match flags >> 1 & 3 {
        0 => limited(limits, limit),
        1 => limited(limits, limit).input_bytes(size),
        2 => limited(limits, limit).input_bytes(size.saturating_sub(1)),
        _ => limited(limits, limit).input_bytes(size + 1),
    };
    let slots = [64, 0, 3, 64][usize::from(flags >> 3 & 3)];
    let setup = Setup { options, slots, cut, seed: seed.into() };
    if flags & 0x20 != 0 { setup.check::<64>(&file) } else { setup.check::<320>(&file) }
}

/// Options where each bit of `which` sets a limit to what `limit` says.
fn limited(which: u8, limit: u8) -> Options {
    let mut options = Options::new();
    let (set, limit) = (|bit: u8| which >> bit & 1 != 0, u32::from(limit));
    if set(0) {
        options = options.name_bytes(limit);
    }
    if set(1) {
        options = options.tensors(u64::from(limit) % 8);
    }
    if set(2) {
        options = options.entries(u64::from(limit) % 8);
    }
    if set(3) {
        options = options.string_bytes(u64::from(limit) % 32);
    }
    if set(4) {
        options = options.rank((limit % 10) as u8);
    }
    if set(5) {
        options = options.tensor_elements(limit.into());
    }
    if set(6) {
        options = options.data_bytes(limit.into());
    }
    if set(7) {
        options = options.header_bytes(4 * limit);
    }
    options
}

impl Setup {
    fn decoder<const S: usize>(&self) -> Fuzzed<S> {
        safetensors::Decoder::with_scratch(vec![TensorSlot::EMPTY; self.slots], self.options)
    }

    fn sizes(&self) -> impl Iterator<Item = usize> {
        let mut random = Random::new(self.seed);
        let cut = usize::from(self.cut);
        std::iter::repeat_with(move || match cut {
            0 => usize::MAX,
            1..=32 => cut,
            _ => random.below(cut - 31),
        })
    }

    fn check<const S: usize>(&self, file: &[u8]) {
        let mut whole: Fuzzed<S> = self.decoder();
        let told = run(&mut whole, [file]);
        assert!(
            told.result.is_ok_and(|()| true) || told.result.is_err_and(|error| error.code() != "internal")
        );
        if told.result.is_ok() {
            assert_eq!(told.position, Some(file.len() as u64), "all of it is the file");
        }
        for pieces in [cut(file, self.sizes()).collect::<Vec<_>>(), file.chunks(1).collect()] {
            let mut other: Fuzzed<S> = self.decoder();
            assert_eq!(run(&mut other, pieces), told);
            assert_eq!(other.directory().slots(), whole.directory().slots());
            assert_eq!(other.end(), whole.end());
            let (one, other) = (other.context(), whole.context());
            assert_eq!((one.section, one.index), (other.section, other.index));
        }
        self.watch::<S>(file);
        self.reboot::<S>(file, &told);
        let skipped = self.skip::<S>(file, usize::MAX, false);
        for jumps in [false, true] {
            let other = self.skip::<S>(file, usize::from(self.cut).max(1), jumps);
            assert_eq!((other.events, other.result), (skipped.events.clone(), skipped.result));
        }
    }

    /// Byte by byte: no event before it may come, and the grammar.
    fn watch<const S: usize>(&self, file: &[u8]) {
        let mut decoder: Fuzzed<S> = self.decoder();
        let mut grammar = Grammar::new();
        let mut floor = decoder.needed();
        for (at, byte) in file.iter().enumerate() {
            let mut input = std::slice::from_ref(byte);
            loop {
                let event = match decoder.decode(&mut input) {
                    Ok(Some(event)) => event,
                    Ok(None) => break,
                    Err(error) => {
                        assert_eq!(decoder.finish(), Err(error));
                        assert_eq!(decoder.decode(&mut &file[..]).unwrap_err(), error);
                        assert_eq!((decoder.needed(), decoder.skippable()), (0, 0));
                        return;
                    }
                };
                assert!(floor <= at as u64 + 1, "an event at {at}, none before {floor}");
                grammar.event(&event);
                if self.slots == 0 && matches!(event, Event::Tensor { .. }) {
                    // Without a slot, no tensor is recorded.
                    grammar.skip_tensor();
                }
            }
            assert_eq!(decoder.position(), at as u64 + 1);
            if decoder.needed() > 0 {
                floor = floor.max(decoder.position() + decoder.needed());
            }
            assert!(decoder.skippable() <= decoder.needed() || decoder.needed() == 0);
        }
        if decoder.finish().is_ok() {
            grammar.accepted();
        }
    }

    /// Put away and fetched again after every piece; then with a few bytes changed.
    fn reboot<const S: usize>(&self, file: &[u8], told: &Recording) {
        let mut random = Random::new(self.seed);
        let mut decoder: Fuzzed<S> = self.decoder();
        let mut recording = Recording::new();
        for piece in cut(file, self.sizes()) {
            if !recording.push(&mut decoder, piece) {
                break;
            }
            let mut saved = vec![0; decoder.checkpoint_bytes()];
            decoder.checkpoint(&mut saved).expect("the buffer is large enough");
            decoder = self.decoder();
            decoder.restore(&saved).expect("it is as it was written");
            assert_eq!(decoder.checkpoint_bytes(), saved.len());
            if random.one_in(4) {
                self.tamper::<S>(saved, &mut random, &file[decoder.position() as usize..]);
            }
        }
        assert_eq!(recording.close(&decoder), *told);
    }

    fn tamper<const S: usize>(&self, mut saved: Vec<u8>, random: &mut Random, rest: &[u8]) {
        for _ in 0..=random.below(3) {
            // Behind the options, which are compared only.
            let at = 130 + random.below(saved.len() - 130);
            saved[at] = [0, 1, 2, 8, 19, 0x7f, 0x80, 0xff][random.below(8)];
        }
        if let Some((body, sum)) = saved.split_last_chunk_mut() {
            *sum = CRC.checksum(body).to_le_bytes();
        }
        let mut decoder: Fuzzed<S> = self.decoder();
        if decoder.restore(&saved).is_err() {
            assert_eq!(decoder.position(), 0);
            return;
        }
        let (mut input, mut events) = (rest, 0);
        while let Ok(Some(_)) = decoder.decode(&mut input) {
            events += 1;
            assert!(events < 2 * rest.len() + 200, "events without end");
        }
        let _ = (decoder.finish(), decoder.needed(), decoder.skippable(), decoder.end(), decoder.context());
        let _ = decoder.advance(decoder.skippable());
    }

    /// Every other key and tensor is skipped.
    fn skip<const S: usize>(&self, file: &[u8], size: usize, jumps: bool) -> Recording {
        let mut decoder: Fuzzed<S> = self.decoder();
        let mut recording = Recording::new();
        let mut count = self.seed;
        let mut rest = file;
        while !rest.is_empty() {
            if jumps {
                let n = decoder.skippable().min(rest.len() as u64);
                decoder.advance(n).expect("it can be skipped");
                rest = &rest[n as usize..];
            }
            let (chunk, behind) = rest.split_at(size.min(rest.len()));
            rest = behind;
            let more = recording.push_and(&mut decoder, chunk, |decoder, seen| match seen {
                Seen::Key { .. } | Seen::Tensor { .. } => {
                    count += 1;
                    if count.is_multiple_of(2) {
                        decoder.skip_value();
                        decoder.skip_tensor();
                    }
                }
                _ => {}
            });
            if !more {
                return recording.close(&decoder);
            }
        }
        // An event that needs no bytes may be left after a jump.
        recording.push(&mut decoder, &[]);
        recording.close(&decoder)
    }
}
