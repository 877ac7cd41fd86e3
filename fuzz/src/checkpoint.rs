//! A decoder put away and fetched again after every piece: the same events as without. A checkpoint with another byte and
//! a right checksum: refused, or gone on from without harm.

use super::chunking::{pieces, split};
use super::setup::{Fuzzed, Setup};
use super::support::random::Random;
use super::support::record::{Recording, run};
use crc::{CRC_32_ISO_HDLC, Crc};

/// The input of the target `chunking`.
pub fn checkpoint(data: &[u8]) {
    let (setup, lengths, file) = split(data);
    if setup.small_scratch {
        reboot::<64>(&setup, &lengths, file);
    } else {
        reboot::<320>(&setup, &lengths, file);
    }
}

fn reboot<const S: usize>(setup: &Setup, lengths: &[usize], file: &[u8]) {
    let mut whole: Fuzzed<S> = setup.decoder();
    let mut decoder: Fuzzed<S> = setup.decoder();
    let told = run(&mut whole, [file]);
    let mut random = Random::new(file.len() as u64);
    let mut recording = Recording::new();
    for piece in pieces(file, lengths) {
        if !recording.push(&mut decoder, piece) {
            break;
        }
        let mut saved = vec![0; decoder.checkpoint_bytes()];
        decoder.checkpoint(&mut saved).expect("the buffer is large enough");
        decoder = setup.decoder();
        decoder.restore(&saved).expect("it is as it was written");
        assert_eq!(decoder.checkpoint_bytes(), saved.len());
        tamper::<S>(setup, saved, &mut random, &file[decoder.position() as usize..]);
    }
    assert_eq!(recording.close(&decoder), told);
    assert_eq!(decoder.directory().slots(), whole.directory().slots());
}

/// Changes a byte or a few, makes the checksum right again, and goes on from that.
fn tamper<const S: usize>(setup: &Setup, mut saved: Vec<u8>, random: &mut Random, rest: &[u8]) {
    for _ in 0..=random.below(3) {
        // Neither the length nor what is compared only: the fields behind the options.
        let at = 110 + random.below(saved.len() - 110);
        saved[at] = [0, 1, 2, 8, 27, 0x7f, 0x80, 0xff][random.below(8)];
    }
    if let Some((body, sum)) = saved.split_last_chunk_mut() {
        *sum = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(body).to_le_bytes();
    }
    let mut decoder: Fuzzed<S> = setup.decoder();
    if decoder.restore(&saved).is_err() {
        assert_eq!(decoder.position(), 0);
        return;
    }
    let mut input = rest;
    let mut events = 0;
    while let Ok(Some(_)) = decoder.decode(&mut input) {
        events += 1;
        assert!(events < 2 * rest.len() + 100, "events without end");
    }
    let _ = (decoder.finish(), decoder.needed(), decoder.skippable(), decoder.end());
    let _ = decoder.advance(decoder.skippable());
}
