//! A checkpoint goes on like the decoder that wrote it, and nothing but such a checkpoint is gone on from.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod support;

use support::gguf_writer::{Gguf, Tensor};
use support::random::Random;
use support::reboot::{CRC, restored, saved, survives_every_reboot};
use support::record::{Full, Recording, Seen, full, lenient, whole};
use support::samples::{compact, corpus_file, corpus_names, corpus_options, long_names};
use weightstream::{CheckpointError, Decoder, ErrorKind, Event, Options, TensorSlot};

#[test]
fn a_decoder_survives_a_cut_after_every_byte() {
    for (version, big_endian) in [(1, false), (2, true), (3, false)] {
        survives_every_reboot("compact", &compact(version, big_endian).bytes, || full(Options::new()));
    }
    for name in ["nested_arrays.gguf", "offsets_shuffled.gguf", "zero_size_dims.gguf", "bool_nonbinary.gguf"]
    {
        survives_every_reboot(name, &corpus_file(name), || full(corpus_options(name)));
    }
    survives_every_reboot("long names", &long_names().bytes, || full(Options::new()));
    survives_every_reboot("compact, lenient", &compact(3, false).bytes, || full(lenient()));
}

#[test]
fn a_decoder_of_any_file_survives_many_reboots() {
    let mut random = Random::new(5);
    for name in corpus_names() {
        let (bytes, options) = (corpus_file(&name), corpus_options(&name));
        let mut decoder = full(options);
        let mut recording = Recording::new();
        for piece in random.pieces(&bytes, 200) {
            if !recording.push(&mut decoder, piece) {
                break;
            }
            decoder = restored(full(options), &saved(&decoder));
        }
        assert_eq!(recording.close(&decoder), whole(&bytes, options), "{name}");
    }
}

/// What was skipped stays skipped.
#[test]
fn skips_survive() {
    let bytes = compact(3, false).bytes;
    let skip = |decoder: &mut Full, seen: &Seen| {
        match seen {
            Seen::Key { name, .. } if name.text.len() == 2 => decoder.skip_value(),
            Seen::Tensor { info, .. } if info.index() == 1 => decoder.skip_tensor(),
            _ => {}
        }
        *decoder = restored(full(Options::new()), &saved(decoder));
    };
    let tell = |pieces: usize, reboot: bool| {
        let mut decoder = full(Options::new());
        let mut recording = Recording::new();
        for piece in bytes.chunks(pieces) {
            if !reboot {
                recording.push_and(&mut decoder, piece, |decoder, seen| match seen {
                    Seen::Key { name, .. } if name.text.len() == 2 => decoder.skip_value(),
                    Seen::Tensor { info, .. } if info.index() == 1 => decoder.skip_tensor(),
                    _ => {}
                });
            } else {
                recording.push_and(&mut decoder, piece, skip);
            }
        }
        recording.close(&decoder)
    };
    let expected = tell(bytes.len(), false);
    assert!(expected.events.len() < whole(&bytes, Options::new()).events.len());
    for size in [1, 3, 50] {
        assert_eq!(tell(size, true), expected, "chunks of {size}");
    }
}

/// Where a tensor of unknown type runs to the end of an input of unknown size, a source may jump as far as numbers reach.
#[test]
fn a_jump_to_the_end_of_all_positions_survives() {
    let bytes = Gguf::new().tensor(Tensor::new("unknown", 999, &[4], vec![1; 16])).write().bytes;
    let mut decoder = Decoder::with_options([], lenient());
    let mut input = &bytes[..];
    while decoder.decode(&mut input).unwrap().is_some() {}
    decoder.advance(decoder.skippable()).unwrap();
    assert_eq!(decoder.position(), u64::MAX);
    let mut checkpoint = [0; 500];
    assert_eq!(decoder.checkpoint(&mut checkpoint), Ok(decoder.checkpoint_bytes()));
    let mut restored = Decoder::with_options([], lenient());
    assert_eq!(restored.restore(&checkpoint), Ok(()));
    assert_eq!((restored.position(), restored.finish()), (u64::MAX, Ok(())));
}

/// So that a page of flash can be chosen beforehand.
#[test]
fn no_checkpoint_is_larger_than_promised() {
    let many = (0..30)
        .fold(Gguf::new(), |file, index| file.tensor(Tensor::new(format!("{index}"), 24, &[2], vec![1, 2])));
    for bytes in [compact(3, false).bytes, long_names().bytes, many.write().bytes] {
        let mut decoder = Decoder::<_, 64>::with_scratch([TensorSlot::EMPTY; 30], Options::new());
        let mut largest = 0;
        for mut chunk in bytes.chunks(1) {
            while decoder.decode(&mut chunk).unwrap().is_some() {}
            let bytes = decoder.checkpoint_bytes();
            assert!(bytes <= 470 + 40 * decoder.directory().len() + 64, "{bytes} at {}", decoder.position());
            largest = largest.max(bytes);
        }
        assert!(largest >= 462 + 40 * decoder.directory().len(), "{largest} is less than is promised");
    }
}

/// Checkpoints of a sample, one after each of its bytes.
fn checkpoints() -> Vec<Vec<u8>> {
    let bytes = compact(3, false).bytes;
    let mut decoder = full(Options::new());
    bytes
        .chunks(1)
        .map(|mut chunk| {
            while decoder.decode(&mut chunk).unwrap().is_some() {}
            saved(&decoder)
        })
        .collect()
}

fn is_new(decoder: &Full) -> bool {
    decoder.position() == 0
        && decoder.directory().is_empty()
        && saved(decoder) == saved(&full(Options::new()))
}

#[test]
fn a_changed_byte_is_an_error_and_the_decoder_is_as_new() {
    for checkpoint in checkpoints().iter().step_by(60) {
        let mut decoder = full(Options::new());
        for at in 0..checkpoint.len() {
            for flip in [1, 0x80, 0xff] {
                let mut changed = checkpoint.clone();
                changed[at] ^= flip;
                assert_eq!(decoder.restore(&changed), Err(CheckpointError::Corrupt), "byte {at}");
            }
        }
        assert!(is_new(&decoder));
    }
}

#[test]
fn a_cut_checkpoint_is_an_error_and_a_longer_buffer_is_none() {
    let all = checkpoints();
    let checkpoint = &all[all.len() / 2];
    for len in 0..checkpoint.len() {
        assert_eq!(full(Options::new()).restore(&checkpoint[..len]), Err(CheckpointError::Corrupt), "{len}");
    }
    let page = [checkpoint.as_slice(), &[0xff; 99]].concat();
    assert_eq!(saved(&restored(full(Options::new()), &page)), *checkpoint);
}

#[test]
fn a_buffer_too_small_says_what_is_needed_and_the_decoder_goes_on() {
    let bytes = compact(3, false).bytes;
    let mut decoder = full(Options::new());
    let (mut first, mut second) = bytes.split_at(300);
    while decoder.decode(&mut first).unwrap().is_some() {}
    let needed = decoder.checkpoint_bytes();
    for len in 0..needed {
        let too_small = Err(CheckpointError::BufferTooSmall { needed });
        assert_eq!(decoder.checkpoint(&mut vec![0; len]), too_small);
    }
    while decoder.decode(&mut second).unwrap().is_some() {}
    assert_eq!(decoder.finish(), Ok(()));
}

#[test]
fn after_an_error_there_is_no_checkpoint() {
    let mut decoder = full(Options::new());
    assert_eq!(decoder.decode(&mut &b"PK\x03\x04"[..]).unwrap_err().kind(), ErrorKind::BadMagic);
    assert_eq!(decoder.checkpoint_bytes(), 0);
    assert_eq!(decoder.checkpoint(&mut [0; 1000]), Err(CheckpointError::Failed));
}

#[test]
fn a_decoder_made_in_another_way_refuses_a_checkpoint() {
    let bytes = compact(3, false).bytes;
    let mut decoder = full(Options::new());
    let mut input = &bytes[..];
    while decoder.decode(&mut input).unwrap().is_some_and(|event| !matches!(event, Event::DataStart(_))) {}
    let checkpoint = saved(&decoder);
    let options = [
        Options::new().entries(99),
        Options::new().tensors(99),
        Options::new().string_bytes(1 << 20),
        Options::new().array_elements(1 << 20),
        Options::new().metadata_bytes(1 << 20),
        Options::new().input_bytes(bytes.len() as u64),
        Options::new().name_bytes(99),
        Options::new().alignment(64),
        Options::new().nesting(3),
        Options::new().rank(3),
        Options::new().layout(weightstream::Layout::Sparse),
        Options::new().unknown_types(weightstream::UnknownTypes::Infer),
    ];
    for options in options {
        assert_eq!(full(options).restore(&checkpoint), Err(CheckpointError::Mismatch), "{options:?}");
    }
    let mut other_scratch = Decoder::<_, 400>::with_scratch([TensorSlot::EMPTY; 4], Options::new());
    assert_eq!(other_scratch.restore(&checkpoint), Err(CheckpointError::Mismatch));
    let mut few_slots = Decoder::new([TensorSlot::EMPTY; 3]);
    assert_eq!(few_slots.restore(&checkpoint), Err(CheckpointError::Mismatch));
    // All four tensors are recorded, and fit.
    let mut enough = Decoder::new([TensorSlot::EMPTY; 4]);
    assert_eq!(enough.restore(&checkpoint), Ok(()));
    assert_eq!(enough.directory().slots(), decoder.directory().slots());
}

/// The checksum of a checkpoint that was changed on purpose.
fn sign(checkpoint: &mut [u8]) {
    let (body, sum) = checkpoint.split_last_chunk_mut().unwrap();
    *sum = CRC.checksum(body).to_le_bytes();
}

#[test]
fn another_version_or_kind_is_refused() {
    let mut checkpoint = saved(&full(Options::new()));
    checkpoint[0] += 1;
    sign(&mut checkpoint);
    let version = checkpoint[0];
    assert_eq!(
        full(Options::new()).restore(&checkpoint),
        Err(CheckpointError::UnsupportedVersion { version })
    );
    let mut checkpoint = saved(&full(Options::new()));
    checkpoint[1] += 1;
    sign(&mut checkpoint);
    assert_eq!(full(Options::new()).restore(&checkpoint), Err(CheckpointError::Mismatch));
}

/// Where the checksum is right and the fields are not, the decoder refuses them or goes on without harm: what it tells is
/// bounded by the bytes that come.
#[test]
fn fields_of_any_value_do_no_harm() {
    let file = compact(3, false).bytes;
    let most_events = 2 * file.len() + 100;
    let mut accepted = 0;
    for (index, checkpoint) in checkpoints().iter().enumerate().step_by(90) {
        for at in 6..checkpoint.len() - 4 {
            for value in [0, 1, 4, 27, 0x7f, 0xff] {
                let mut changed = checkpoint.clone();
                changed[at] = value;
                sign(&mut changed);
                let mut decoder = full(Options::new());
                if decoder.restore(&changed).is_err() {
                    assert!(is_new(&decoder));
                    continue;
                }
                accepted += 1;
                let mut events = 0;
                let mut input = &file[index..];
                while let Ok(Some(_)) = decoder.decode(&mut input) {
                    events += 1;
                    assert!(events < most_events, "byte {at} of checkpoint {index}, {value}");
                }
                let _ = (decoder.finish(), decoder.needed(), decoder.skippable(), decoder.context());
            }
        }
    }
    assert!(accepted > 200, "only {accepted} were accepted");
}

/// A change of the fields is a change of `VERSION`: checkpoints of an older version may lie in somebody's flash.
#[test]
fn the_bytes_of_a_checkpoint_are_those_of_version_2() {
    let all = checkpoints();
    let lengths: Vec<usize> = all.iter().map(Vec::len).collect();
    // Without the checksum that each ends with: with it, a CRC of all of them would be the same for any content.
    let bodies: Vec<&[u8]> = all.iter().map(|bytes| &bytes[..bytes.len() - 4]).collect();
    let checksum = CRC.checksum(&bodies.concat());
    assert_eq!((all[0][0], lengths[0], lengths[lengths.len() - 1], checksum), (2, 463, 622, 2_548_470_192));
}
