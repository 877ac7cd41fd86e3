//! Checkpoints of kept metadata: whoever goes on from one ends with the same, and a bad one is an error.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use crc::{CRC_32_ISO_HDLC, Crc};
use support::gguf_writer::{Gguf, Value};
use support::samples::compact;
use weightstream::metadata::{KeyPattern, Metadata};
use weightstream::{CheckpointError, Decoder};

type Store = Metadata<24, 600>;
const SUM: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
const ELEMENTS: &[KeyPattern] = &[KeyPattern::prefix("").with_elements()];

fn push<const K: usize, const B: usize>(
    store: &mut Metadata<K, B>,
    decoder: &mut Decoder<[weightstream::TensorSlot; 0]>,
    mut bytes: &[u8],
) {
    while let Some(event) = decoder.decode(&mut bytes).unwrap() {
        if !store.accept(&event).unwrap() {
            decoder.skip_value();
        }
    }
}

/// All that a store says.
fn said<const K: usize, const B: usize>(store: &Metadata<K, B>) -> String {
    let entry = |key| {
        let items: Vec<_> = (0..4).map(|index| store.item(key, index)).collect();
        format!("{key}: {:?} {:?} {items:?}\n", store.index(key), store.value(key))
    };
    store.keys().map(entry).collect()
}

fn saved<const K: usize, const B: usize>(store: &Metadata<K, B>) -> Vec<u8> {
    let mut bytes = vec![0xa5; store.checkpoint_bytes() + 3];
    let written = store.checkpoint(&mut bytes).unwrap();
    assert_eq!(written, store.checkpoint_bytes());
    assert_eq!(bytes[written..], [0xa5; 3], "nothing is written behind it");
    bytes.truncate(written);
    bytes
}

/// The store and the decoder after the first `end` bytes of a file.
fn after(bytes: &[u8], end: usize) -> (Store, Decoder<[weightstream::TensorSlot; 0]>) {
    let (mut store, mut decoder) = (Store::with_filter(ELEMENTS), Decoder::new([]));
    push(&mut store, &mut decoder, &bytes[..end]);
    (store, decoder)
}

/// With the checksum that belongs to it.
fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    let body = bytes.len() - 4;
    let sum = SUM.checksum(&bytes[..body]);
    bytes[body..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn it_goes_on_from_every_byte_of_a_file() {
    let file = compact(3, false);
    let (whole, _) = after(&file.bytes, file.bytes.len());
    assert_eq!(whole.keys().count(), file.entries.len());
    for end in 0..=file.bytes.len() {
        let (store, mut decoder) = after(&file.bytes, end);
        let mut checkpoint = saved(&store);
        checkpoint.extend(b"whatever stands behind it");
        let mut restored = Metadata::<20, 500>::with_filter(ELEMENTS);
        restored.restore(&checkpoint).unwrap();
        assert_eq!(said(&restored), said(&store), "{end}");
        push(&mut restored, &mut decoder, &file.bytes[end..]);
        assert_eq!(said(&restored), said(&whole), "{end}");
        assert_eq!(restored.used_bytes(), whole.used_bytes());
    }
}

#[test]
fn a_changed_or_cut_checkpoint_is_an_error_and_leaves_nothing() {
    let file = compact(3, false);
    let (store, _) = after(&file.bytes, file.bytes.len() * 2 / 3);
    let good = saved(&store);
    for place in 0..good.len() {
        for change in [1, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[place] ^= change;
            let mut restored = store.clone();
            assert_eq!(restored.restore(&bad), Err(CheckpointError::Corrupt), "byte {place}");
            assert_eq!((restored.keys().count(), restored.used_bytes()), (0, 0));
        }
        assert_eq!(Store::with_filter(ELEMENTS).restore(&good[..place]), Err(CheckpointError::Corrupt));
    }
}

#[test]
fn it_wants_the_same_filter_and_room() {
    const OTHERS: [&[KeyPattern]; 5] = [
        &[],
        &[KeyPattern::prefix("")],
        &[KeyPattern::exact("").with_elements()],
        &[KeyPattern::prefix("a").with_elements()],
        &[KeyPattern::prefix("").with_elements(), KeyPattern::exact("")],
    ];
    let file = compact(3, false);
    let (store, _) = after(&file.bytes, file.bytes.len());
    let good = saved(&store);
    for other in OTHERS {
        assert_eq!(Store::with_filter(other).restore(&good), Err(CheckpointError::Mismatch));
    }
    assert_eq!(Store::new().restore(&good), Err(CheckpointError::Mismatch));

    assert_eq!((store.keys().count(), store.used_bytes()), (19, 96));
    assert_eq!(Metadata::<19, 96>::with_filter(ELEMENTS).restore(&good), Ok(()));
    assert_eq!(Metadata::<18, 96>::with_filter(ELEMENTS).restore(&good), Err(CheckpointError::Mismatch));
    assert_eq!(Metadata::<19, 95>::with_filter(ELEMENTS).restore(&good), Err(CheckpointError::Mismatch));

    let mut decoder_checkpoint = [0; 1024];
    Decoder::new([]).checkpoint(&mut decoder_checkpoint).unwrap();
    assert_eq!(Store::new().restore(&decoder_checkpoint), Err(CheckpointError::Mismatch));
}

#[test]
fn a_buffer_that_is_too_small_is_told_how_much_it_takes() {
    let (store, _) = after(&compact(3, false).bytes, 300);
    let needed = store.checkpoint_bytes();
    for len in 0..needed {
        let result = store.checkpoint(&mut vec![0; len]);
        assert_eq!(result, Err(CheckpointError::BufferTooSmall { needed }));
    }
    assert_eq!(Store::new().checkpoint_bytes(), 31);
    let (keys, used) = (store.keys().count(), store.used_bytes());
    assert_eq!(needed, 31 + 34 * keys + used);
}

#[test]
fn after_an_error_there_is_no_checkpoint() {
    let file = Gguf::new().entry("a", Value::U8(1)).entry("b", Value::U8(1)).write();
    let (mut store, mut decoder) = (Metadata::<1, 9>::new(), Decoder::new([]));
    let mut input = &file.bytes[..];
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        let _ = store.accept(&event);
    }
    assert_eq!(store.integer("a", 0).unwrap_err().code(), "metadata.keys_full");
    assert_eq!(store.checkpoint(&mut [0; 200]), Err(CheckpointError::Failed));
    assert_eq!(store.checkpoint_bytes(), 0);

    // What was kept before is gone with it, and so is the error.
    store.restore(&saved(&Metadata::<1, 9>::new())).unwrap();
    assert_eq!(store.integer("a", 0), Ok(0));
}

/// Where fields stand in a checkpoint: those of the store, and those of an entry from the first one's start.
mod place {
    pub(super) const NEXT_INDEX: usize = 14;
    pub(super) const KEPT: usize = 18;
    pub(super) const PENDING: usize = 22;
    pub(super) const HAND: usize = 26;
    pub(super) const ENTRIES: usize = 27;
    pub(super) const ENTRY_BYTES: usize = 34;
    pub(super) const NUMBER: usize = 0;
    pub(super) const START: usize = 8;
    pub(super) const KEY_BYTES: usize = 12;
    pub(super) const VALUE_BYTES: usize = 16;
    pub(super) const INDEX: usize = 20;
    pub(super) const VALUE_TYPE: usize = 24;
    pub(super) const ELEMENT: usize = 28;
    pub(super) const STAGE: usize = 32;
    pub(super) const WITH_ELEMENTS: usize = 33;
}

/// Each way in which fields can contradict each other is refused.
#[test]
fn fields_that_contradict_each_other_are_out_of_range() {
    use place::*;
    let strings = vec![Value::text("x"), Value::text("yz")];
    let file = Gguf::new()
        .entry("b", Value::Bool(1))
        .entry("t", Value::text("text"))
        .entry("i", Value::array(vec![Value::I16(-1), Value::I16(2)]))
        .entry("n", Value::array(vec![Value::array(vec![Value::U8(1)])]))
        .entry("s", Value::array(strings))
        .write();
    let (store, _) = after(&file.bytes, file.bytes.len() - 1);
    let good = saved(&store);
    let entry = |entry: usize, field: usize| ENTRIES + entry * ENTRY_BYTES + field;
    let bytes = entry(5, 0);
    // In hand is the last string, of which one byte of two has come: `b`, `t` `text`, `i` 4 bytes, `n`, `s` 5 bytes.
    assert_eq!(good[PENDING..ENTRIES], [5, 0, 0, 0, 3]);
    assert_eq!(good[bytes..].len(), 1 + (1 + 4) + (1 + 4) + 1 + (1 + 5) + 5 + 4);
    let forgeries: [&[(usize, u8)]; 30] = [
        &[(NEXT_INDEX, 4)],
        &[(HAND, 4)],
        &[(HAND, 1)],
        &[(HAND, 2)],
        &[(HAND, 0)],
        &[(PENDING, 3), (entry(4, VALUE_BYTES), 7)],
        &[(entry(0, NUMBER), 2)],
        &[(entry(0, NUMBER + 1), 1)],
        &[(entry(0, START), 1)],
        &[(entry(0, START), 3)],
        &[(entry(1, START), 0)],
        &[(entry(0, KEY_BYTES), 0), (entry(0, VALUE_BYTES), 1)],
        &[(entry(1, KEY_BYTES), 2), (entry(1, VALUE_BYTES), 3), (bytes + 2, 0xff)],
        &[(entry(1, KEY_BYTES + 3), 0xff), (entry(1, VALUE_BYTES + 3), 0xff)],
        &[(entry(1, INDEX), 0)],
        &[(entry(1, INDEX), 2)],
        &[(entry(0, VALUE_TYPE), 13)],
        &[(entry(0, VALUE_TYPE), 13 + 7), (entry(0, NUMBER), 0)],
        &[(entry(0, ELEMENT), 1)],
        &[(entry(0, STAGE), 3)],
        &[(entry(0, STAGE), 1)],
        &[(entry(0, STAGE), 0)],
        &[(entry(0, WITH_ELEMENTS), 2)],
        &[(entry(1, NUMBER), 1)],
        &[(entry(2, NUMBER), 1)],
        &[(entry(2, NUMBER), 3)],
        &[(entry(3, STAGE), 1)],
        &[(entry(4, NUMBER), 0)],
        // The length of the first string in the array `s`.
        &[(bytes + 13, 2)],
        // A key that was there before.
        &[(bytes + 1, b'b')],
    ];
    for forgery in forgeries {
        let mut bad = good.clone();
        for (place, value) in forgery {
            assert_ne!(bad[*place], *value, "{forgery:?} changes nothing");
            bad[*place] = *value;
        }
        let result = store.clone().restore(&signed(bad));
        assert_eq!(result, Err(CheckpointError::OutOfRange), "{forgery:?}");
    }
    // Nothing but the key, a part of the text, the first string of two.
    let ends = [file.entries[2].value, file.entries[1].end - 1, file.entries[4].end - 10];
    for (end, hand) in ends.into_iter().zip(1..) {
        let (store, _) = after(&file.bytes, end as usize);
        let good = saved(&store);
        assert_eq!(good[PENDING..ENTRIES], [0, 0, 0, 0, hand], "{end}");
        for other in 0..5 {
            let mut bad = good.clone();
            bad[HAND] = other;
            let result = store.clone().restore(&signed(bad));
            let is_sound = other == hand || other == 0;
            assert_eq!(result, if is_sound { Ok(()) } else { Err(CheckpointError::OutOfRange) });
        }
    }
    let mut more = good.clone();
    more[KEPT] = 25;
    assert_eq!(store.clone().restore(&signed(more)), Err(CheckpointError::Mismatch));
    assert_eq!(store.clone().restore(&signed(good)), Ok(()));
}

/// Every byte of a checkpoint replaced by others, with a checksum that is right: what is taken is a state that says the
/// same checkpoint again, and that events can follow.
#[test]
fn a_forged_checkpoint_is_an_error_or_a_sound_state() {
    let file = Gguf::new()
        .entry("b", Value::Bool(1))
        .entry("é", Value::text("text"))
        .entry("i", Value::array(vec![Value::I16(-1), Value::I16(2)]))
        .entry("s", Value::array(vec![Value::text("x"), Value::text("yz")]))
        .write();
    let rest = Gguf::new().entry("new", Value::text("text")).write();
    let mut refused = 0;
    let mut taken = 0;
    for end in (24..file.bytes.len()).step_by(3).chain([file.bytes.len()]) {
        let (store, _) = after(&file.bytes, end);
        let good = saved(&store);
        for place in 2..good.len() - 4 {
            for value in [0, 1, 2, 3, 4, 8, 9, 13, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[place] = value;
                let bad = signed(bad);
                let mut restored = Store::with_filter(ELEMENTS);
                match restored.restore(&bad) {
                    Ok(()) => {
                        taken += 1;
                        assert_eq!(saved(&restored), bad, "byte {place} of {end}: {value}");
                        let _ = said(&restored);
                        let (mut decoder, mut input) = (Decoder::new([]), &rest.bytes[..]);
                        while let Some(event) = decoder.decode(&mut input).unwrap() {
                            let _ = restored.accept(&event);
                        }
                        assert!(restored.used_bytes() <= 600);
                    }
                    Err(error) => {
                        refused += 1;
                        assert_ne!(error, CheckpointError::Failed);
                        assert_eq!(restored.keys().count(), 0);
                    }
                }
            }
        }
    }
    assert!(refused > taken && taken > 1000, "{refused} {taken}");
}
