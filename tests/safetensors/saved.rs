//! A checkpoint goes on like the decoder that wrote it, and nothing but such a checkpoint is gone on from.

use weightstream::{CheckpointError, Decoder, Event, Options, TensorSlot, safetensors};

use crate::cuts::good_files;
use crate::support::reboot::{CRC, restored, saved, survives_every_reboot};
use crate::support::record::{Recording, Seen};
use crate::support::safetensors_writer::{compact, file, full, whole};

#[test]
fn a_decoder_survives_a_reboot_after_every_byte_and_every_event() {
    let mut files = good_files();
    files.push(("bytes behind", file("{}", &[0, 0])));
    files.push(("a bad escape", file(r#"{"__metadata__":{"\ud83d\ude00":"\ud83d\ude00\ud800x"}}"#, &[])));
    for (name, bytes) in files {
        let options = Options::new().header_bytes(9000).data_bytes(99);
        survives_every_reboot(name, &bytes, || full(options));
    }
}

/// Also where a piece of a text starts.
#[test]
fn the_pieces_of_a_text_join_over_reboots() {
    let bytes = compact();
    let mut decoder = full(Options::new());
    let (mut end, mut pieces) = (0, 0);
    for mut chunk in bytes.chunks(1) {
        while let Some(event) = decoder.decode(&mut chunk).unwrap() {
            if let Event::Text { part, start, last, .. } = event {
                assert_eq!(start, end);
                end = if last { 0 } else { start + part.len() as u64 };
                pieces += 1;
            }
        }
        decoder = restored(full(Options::new()), &saved(&decoder));
    }
    assert!(pieces > 20);
}

/// What was skipped stays skipped.
#[test]
fn skips_survive() {
    let bytes = compact();
    let tell = |size: usize, reboot: bool| {
        let mut decoder = full(Options::new());
        let mut recording = Recording::new();
        for piece in bytes.chunks(size) {
            recording.push_and(&mut decoder, piece, |decoder, seen| {
                match seen {
                    Seen::Key { name, .. } if name.text != "format" => decoder.skip_value(),
                    Seen::Tensor { info, .. } if info.index() % 2 == 1 => decoder.skip_tensor(),
                    _ => {}
                }
                if reboot {
                    *decoder = restored(full(Options::new()), &saved(decoder));
                }
            });
        }
        recording.close(&decoder)
    };
    let expected = tell(bytes.len(), false);
    assert_eq!(expected.result, Ok(()));
    assert!(expected.events.len() < whole(&bytes, Options::new()).events.len());
    for size in [1, 3, 50] {
        assert_eq!(tell(size, true), expected, "chunks of {size}");
    }
}

/// Checkpoints of a sample, one after each of its bytes.
fn checkpoints() -> Vec<Vec<u8>> {
    let mut decoder = full(Options::new());
    let bytes = compact();
    let after = |mut chunk: &[u8]| {
        while decoder.decode(&mut chunk).unwrap().is_some() {}
        saved(&decoder)
    };
    bytes.chunks(1).map(after).collect()
}

#[test]
fn a_changed_or_cut_checkpoint_is_an_error_and_the_decoder_is_as_new() {
    let new = saved(&full(Options::new()));
    for checkpoint in checkpoints().iter().step_by(150) {
        let mut decoder = full(Options::new());
        for at in 0..checkpoint.len() {
            let mut changed = checkpoint.clone();
            changed[at] ^= 0x10;
            assert_eq!(decoder.restore(&changed), Err(CheckpointError::Corrupt), "byte {at}");
            assert_eq!(decoder.restore(&checkpoint[..at]), Err(CheckpointError::Corrupt), "cut at {at}");
        }
        assert_eq!(saved(&decoder), new);
    }
}

#[test]
fn a_decoder_made_in_another_way_refuses_a_checkpoint() {
    let all = checkpoints();
    let checkpoint = &all[all.len() / 2];
    for options in [
        Options::new().header_bytes(99_999_999),
        Options::new().data_bytes(1 << 40),
        Options::new().tensor_elements(1 << 40),
        Options::new().entries(99),
        Options::new().tensors(99),
        Options::new().string_bytes(1 << 20),
        Options::new().input_bytes(compact().len() as u64),
        Options::new().name_bytes(99),
        Options::new().rank(7),
    ] {
        assert_eq!(full(options).restore(checkpoint), Err(CheckpointError::Mismatch), "{options:?}");
    }
    let mut few_slots = safetensors::Decoder::new([TensorSlot::EMPTY; 1]);
    assert_eq!(few_slots.restore(all.last().unwrap()), Err(CheckpointError::Mismatch));
    // Nor does one of the other format, in either direction.
    let mut gguf = Decoder::new([TensorSlot::EMPTY; 40]);
    assert_eq!(gguf.restore(checkpoint), Err(CheckpointError::Mismatch));
    let mut bytes = vec![0; gguf.checkpoint_bytes()];
    gguf.checkpoint(&mut bytes).unwrap();
    assert_eq!(full(Options::new()).restore(&bytes), Err(CheckpointError::Mismatch));
}

/// Where the checksum is right and the fields are not, the decoder refuses them or goes on without harm: what it tells is
/// bounded by the bytes that come.
#[test]
fn fields_of_any_value_do_no_harm() {
    let bytes = compact();
    let most_events = 2 * bytes.len() + 100;
    let mut accepted = 0;
    for (index, checkpoint) in checkpoints().iter().enumerate().step_by(61) {
        for at in 6..checkpoint.len() - 4 {
            for value in [0, 1, 4, 17, 0x80, 0xff] {
                let mut changed = checkpoint.clone();
                changed[at] = value;
                let (body, sum) = changed.split_last_chunk_mut().unwrap();
                *sum = CRC.checksum(body).to_le_bytes();
                let mut decoder = full(Options::new());
                if decoder.restore(&changed).is_err() {
                    assert_eq!(decoder.position(), 0);
                    continue;
                }
                accepted += 1;
                let mut events = 0;
                let mut input = &bytes[index + 1..];
                while let Ok(Some(_)) = decoder.decode(&mut input) {
                    events += 1;
                    assert!(events < most_events, "byte {at} of checkpoint {index}, {value}");
                }
                let _ = (decoder.finish(), decoder.needed(), decoder.skippable(), decoder.context());
                let _ = decoder.checkpoint(&mut vec![0; decoder.checkpoint_bytes()]);
            }
        }
    }
    assert!(accepted > 1000, "only {accepted} were accepted");
}
