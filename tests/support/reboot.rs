//! A decoder that is replaced by one restored from its checkpoint, as after a reboot.

use super::record::{Recording, Records, Seen, run};
use crc::{CRC_32_ISO_HDLC, Crc};
use weightstream::{CheckpointError, Decoder, TensorSlot, safetensors};

/// What a checkpoint ends with.
pub const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// A decoder of either format.
pub trait Saves: Records {
    fn checkpoint_bytes(&self) -> usize;
    fn checkpoint(&self, out: &mut [u8]) -> Result<usize, CheckpointError>;
    fn restore(&mut self, bytes: &[u8]) -> Result<(), CheckpointError>;
}

macro_rules! saves {
    ($($decoder:ty)*) => { $(
        impl<D: AsRef<[TensorSlot]> + AsMut<[TensorSlot]>, const S: usize> Saves for $decoder {
            fn checkpoint_bytes(&self) -> usize {
                self.checkpoint_bytes()
            }

            fn checkpoint(&self, out: &mut [u8]) -> Result<usize, CheckpointError> {
                self.checkpoint(out)
            }

            fn restore(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
                self.restore(bytes)
            }
        }
    )* };
}
saves!(Decoder<D, S> safetensors::Decoder<D, S>);

/// The checkpoint of a decoder.
pub fn saved<C: Saves>(decoder: &C) -> Vec<u8> {
    let mut bytes = vec![0; decoder.checkpoint_bytes()];
    assert_eq!(decoder.checkpoint(&mut bytes), Ok(bytes.len()));
    bytes
}

/// A new decoder goes on from a checkpoint.
pub fn restored<C: Saves>(mut decoder: C, checkpoint: &[u8]) -> C {
    decoder.restore(checkpoint).unwrap();
    decoder
}

/// The decoder is replaced by one restored from its checkpoint after every event, and the rest of the chunk is thrown away,
/// as a reboot would; the source goes on at `position`.
pub fn with_a_reboot_after_every_event<C: Saves>(bytes: &[u8], new: impl Fn() -> C) -> Recording {
    let mut decoder = new();
    let mut recording = Recording::new();
    loop {
        let mut input = &bytes[decoder.position() as usize..];
        match decoder.decode(&mut input) {
            Ok(Some(event)) => {
                let seen = Seen::from(event);
                recording.note(seen, decoder.position());
            }
            Ok(None) => return recording.close(&decoder),
            Err(error) => {
                recording.result = Err(error);
                return recording.close(&decoder);
            }
        }
        decoder = restored(new(), &saved(&decoder));
    }
}

/// Cut after every byte: what comes before and after a reboot is what a decoder tells that was never interrupted. So it is with one
/// after every event.
pub fn survives_every_reboot<C: Saves>(name: &str, bytes: &[u8], new: impl Fn() -> C) {
    let expected = run(&mut new(), [bytes]);
    for at in 0..=bytes.len() {
        let (first, second) = bytes.split_at(at);
        let mut recording = Recording::new();
        let mut decoder = new();
        if recording.push(&mut decoder, first) {
            decoder = restored(new(), &saved(&decoder));
            recording.push(&mut decoder, second);
        }
        assert_eq!(recording.close(&decoder), expected, "{name} cut at {at}");
    }
    assert_eq!(with_a_reboot_after_every_event(bytes, new), expected, "{name}, event by event");
}
