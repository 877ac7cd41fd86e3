//! Any bytes, any options, any chunks: no panic, and every promise on `Decoder::decode` holds.

use super::setup::{Fuzzed, Setup, cut};
use super::support::record::{Recording, run};
use super::watch::{Step, Watch};
use weightstream::Options;

pub fn decode(data: &[u8]) {
    let (setup, file) = Setup::split(data);
    if setup.small_scratch { check::<64>(&setup, file) } else { check::<320>(&setup, file) }
}

fn check<const S: usize>(setup: &Setup, file: &[u8]) {
    let mut decoder: Fuzzed<S> = setup.decoder();
    let recording = watch(&mut decoder, setup, file);
    if setup.knows_size && !setup.infers {
        // A file is whole or not, whether its size is known beforehand or not.
        let mut decoder: Fuzzed<S> = setup.decoder_with(Options::default());
        if setup.options == Options::default().input_bytes(file.len() as u64) {
            let unknowing = run(&mut decoder, [file]);
            assert_eq!(recording.result.is_ok(), unknowing.result.is_ok());
            if recording.result.is_ok() {
                assert_eq!(recording, unknowing);
            }
        }
    }
    let (slots, recorded) = decoder.into_parts();
    assert!(slots.len() == setup.slots && recorded <= slots.len());
}

fn watch<const S: usize>(decoder: &mut Fuzzed<S>, setup: &Setup, file: &[u8]) -> Recording {
    let mut watch = Watch::new(file, setup.slots > 0);
    'chunks: for chunk in cut(file, setup.sizes()) {
        let mut input = chunk;
        loop {
            match watch.step(decoder, &mut input) {
                Step::Event { .. } => {}
                Step::Nothing => break,
                Step::Failed => break 'chunks,
            }
        }
        if watch.ended {
            // Not a byte more is taken.
            assert_eq!(watch.step(decoder, &mut &file[..]), Step::Nothing);
            break;
        }
    }
    watch.close(decoder)
}
