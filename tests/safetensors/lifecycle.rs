//! A decoder in its caller's hands: cloned, reset, skipped with, with jumps, with little memory; what it promises on the way.

use weightstream::{ErrorKind, Event, Options, Section, TensorSlot, name_hash, safetensors};

use crate::cuts::good_files;
use crate::support::random::Random;
use crate::support::record::{Recording, Seen, run};
use crate::support::safetensors_writer::{Full, compact, file, full, long_names, whole, worked_example};

#[test]
fn a_clone_after_any_byte_goes_on_like_the_original() {
    for (name, bytes) in good_files() {
        let expected = whole(&bytes, Options::new());
        let mut decoder = full(Options::new());
        let mut recording = Recording::new();
        for at in 0..=bytes.len() {
            let (mut clone, mut told) = (decoder.clone(), recording.clone());
            told.push(&mut clone, &bytes[at..]);
            assert_eq!(told.close(&clone), expected, "{name} cloned at {at}");
            if let Some(byte) = bytes.get(at..=at) {
                recording.push(&mut decoder, byte);
            }
        }
        assert_eq!(recording.close(&decoder), expected, "clones change nothing");
    }
}

#[test]
fn a_reset_forgets_the_file_and_keeps_the_options() {
    let bytes = compact();
    let options = Options::new().name_bytes(100).input_bytes(bytes.len() as u64);
    let expected = whole(&bytes, options);
    let mut decoder = full(options);
    for at in 0..=bytes.len() {
        let mut input = &bytes[..at];
        while decoder.decode(&mut input).unwrap().is_some() {}
        decoder.reset();
        assert_eq!((decoder.position(), decoder.directory().len(), decoder.end()), (0, 0, None));
        assert_eq!(run(&mut decoder, [&bytes[..]]), expected, "after a reset at {at}");
        decoder.reset();
    }
    // Also after an error.
    let mut decoder = full(Options::new());
    assert!(decoder.decode(&mut &[0; 8][..]).is_err());
    decoder.reset();
    assert_eq!(run(&mut decoder, [&bytes[..]]), whole(&bytes, Options::new()));
}

#[test]
fn after_an_error_every_call_gives_the_same_one() {
    for bytes in [file("{]", &[]), file("{}", &[1]), file(r#"{"a":1}"#, &[])] {
        let mut decoder = full(Options::new());
        let mut input = &bytes[..];
        let error = loop {
            match decoder.decode(&mut input) {
                Ok(event) => assert!(event.is_some()),
                Err(error) => break error,
            }
        };
        for mut more in [&b""[..], b"}", b"{}", &bytes] {
            decoder.skip_value();
            decoder.skip_tensor();
            assert_eq!(decoder.decode(&mut more).unwrap_err(), error);
            assert_eq!((decoder.finish(), decoder.needed(), decoder.skippable()), (Err(error), 0, 0));
        }
        assert_eq!(decoder.context().section, error.section());
    }
}

/// No event before `needed` bytes have come, and no `needed` of 0 before the last event.
#[test]
fn fewer_bytes_than_needed_give_no_event() {
    for (name, bytes) in good_files() {
        for skip in [false, true] {
            let mut decoder = full(Options::new());
            let (mut floor, mut ended, mut exact) = (decoder.needed(), false, 0);
            for at in 0..bytes.len() {
                let mut input = &bytes[at..=at];
                while let Some(event) = decoder.decode(&mut input).unwrap() {
                    let tensor = matches!(event, Event::Tensor { .. });
                    ended = matches!(event, Event::End);
                    assert!(floor <= at as u64 + 1, "{name}: an event at {at}, none before {floor}");
                    exact += u32::from(floor == at as u64 + 1);
                    if skip && tensor {
                        decoder.skip_tensor();
                    }
                }
                assert_eq!(decoder.needed() == 0, ended, "{name} at {at}");
                floor = floor.max(at as u64 + 1 + decoder.needed());
            }
            assert!(ended && exact >= 2, "{name}: {exact} events came as soon as was said");
        }
    }
}

/// In the length and in the data the number is exact: so many bytes give an event, one fewer does not.
#[test]
fn needed_is_exact_for_the_length_and_the_blocks() {
    let bytes = worked_example();
    let step = |decoder: &mut Full, needed: u64| {
        assert_eq!(decoder.needed(), needed);
        let (start, end) = (decoder.position() as usize, (decoder.position() + needed) as usize);
        let (mut short, mut last) = (&bytes[start..end - 1], &bytes[end - 1..end]);
        assert!(decoder.decode(&mut short).unwrap().is_none());
        assert_eq!(decoder.needed(), 1);
        Seen::from(decoder.decode(&mut last).unwrap().unwrap())
    };
    let mut decoder = full(Options::new());
    assert!(matches!(step(&mut decoder, 8), Seen::Header(_)));
    let mut header = &bytes[8..153];
    while decoder.decode(&mut header).unwrap().is_some_and(|event| !matches!(event, Event::DataStart(_))) {}
    for needed in [4, 4, 8] {
        assert!(matches!(step(&mut decoder, needed), Seen::Data { .. }));
    }
    assert!(matches!(decoder.decode(&mut &b""[..]).unwrap(), Some(Event::End)));
    assert_eq!(decoder.needed(), 0);
}

/// Behind the header's object only white space may stand, so its end is all that can come.
#[test]
fn behind_the_object_the_rest_of_the_header_is_needed() {
    let bytes = worked_example();
    let object_end = bytes.iter().rposition(|byte| *byte == b'}').unwrap() + 1;
    let mut decoder = full(Options::new());
    let mut input = &bytes[..object_end];
    while decoder.decode(&mut input).unwrap().is_some() {}
    assert_eq!(decoder.needed(), 153 - object_end as u64);
}

#[test]
fn after_a_text_or_data_from_the_chunk_the_position_is_the_end_of_its_bytes() {
    for (name, bytes) in good_files() {
        for size in [1, 5, 10_000] {
            let mut decoder = full(Options::new());
            let mut lent = 0_usize;
            for chunk in bytes.chunks(size) {
                let mut input = chunk;
                loop {
                    let event = decoder.decode(&mut input).unwrap();
                    let (part, is_data) = match event {
                        Some(Event::Text { part, .. }) => (part, false),
                        Some(Event::Data(blocks)) => (blocks.bytes(), true),
                        Some(_) => continue,
                        None => break,
                    };
                    let range = chunk.as_ptr_range();
                    let is_lent = range.contains(&part.as_ptr()) && !part.is_empty();
                    let part = part.to_vec();
                    let end = decoder.position() as usize;
                    if is_lent || is_data {
                        lent += part.len();
                        assert_eq!(part, bytes[end - part.len()..end], "{name} at {end}");
                    }
                }
            }
            assert!(lent > 0 || name.starts_with("nothing") || name.starts_with("null"), "{name}");
        }
    }
}

/// What a caller skips: keys by one bit of a number, tensors by another.
fn told_with_skips(bytes: &[u8], size: usize, choice: usize, jumps: bool) -> Recording {
    let mut decoder = full(Options::new());
    let mut recording = Recording::new();
    let (mut keys, mut tensors) = (0, 0);
    let mut rest = bytes;
    while !rest.is_empty() {
        if jumps {
            let n = decoder.skippable().min(rest.len() as u64);
            decoder.advance(n).unwrap();
            rest = &rest[n as usize..];
        }
        let (chunk, behind) = rest.split_at(size.min(rest.len()));
        rest = behind;
        let more = recording.push_and(&mut decoder, chunk, |decoder, seen| match seen {
            Seen::Key { .. } => {
                keys += 1;
                if choice >> (keys % 3) & 1 != 0 {
                    decoder.skip_value();
                }
            }
            Seen::Tensor { .. } => {
                tensors += 1;
                if choice >> (3 + tensors % 4) & 1 != 0 {
                    decoder.skip_tensor();
                }
            }
            _ => {}
        });
        if !more {
            break;
        }
    }
    recording.push(&mut decoder, &[]);
    recording.close(&decoder)
}

#[test]
fn skips_tell_the_same_for_any_chunks_and_with_jumps() {
    for (name, bytes) in good_files() {
        let all = whole(&bytes, Options::new());
        for choice in 0..128 {
            let expected = told_with_skips(&bytes, bytes.len(), choice, false);
            assert_eq!(expected.result, Ok(()), "{name}, {choice}");
            let mut left = all.events.iter();
            assert!(expected.events.iter().all(|event| left.any(|other| other == event)), "{name}, {choice}");
            for size in [1, 7] {
                assert_eq!(
                    told_with_skips(&bytes, size, choice, false),
                    expected,
                    "{name}, {choice}, {size}"
                );
                let jumped = told_with_skips(&bytes, size, choice, true);
                assert_eq!(jumped.events, expected.events, "{name}, {choice}, jumping by {size}");
                assert_eq!((jumped.result, jumped.position), (Ok(()), Some(bytes.len() as u64)));
            }
        }
    }
}

/// The rest of a text, and of a tensor, after a piece of it.
#[test]
fn the_rest_of_what_is_in_hand_can_be_dropped() {
    for bytes in [compact(), long_names()] {
        let all = whole(&bytes, Options::new());
        for drop_after in 0..bytes.len() {
            let mut decoder = full(Options::new());
            let mut recording = Recording::new();
            let mut count = 0;
            for chunk in bytes.chunks(1) {
                recording.push_and(&mut decoder, chunk, |decoder, _| {
                    if count == drop_after {
                        decoder.skip_value();
                        decoder.skip_tensor();
                    }
                    count += 1;
                });
            }
            let told = recording.close(&decoder);
            assert_eq!((told.result, told.position), (Ok(()), all.position), "dropped after {drop_after}");
        }
    }
}

#[test]
fn a_jump_too_far_is_refused_and_changes_nothing() {
    let bytes = worked_example();
    let mut decoder = safetensors::Decoder::new([]);
    let mut input = &bytes[..50];
    while decoder.decode(&mut input).unwrap().is_some() {}
    assert_eq!(decoder.skippable(), 0);
    assert!(decoder.advance(1).is_err());
    let mut input = &bytes[50..153];
    while decoder.decode(&mut input).unwrap().is_some() {}
    assert_eq!((decoder.position(), decoder.skippable(), decoder.needed()), (153, 16, 16));
    let error = decoder.advance(17).unwrap_err();
    assert_eq!((error.requested, error.skippable, decoder.position()), (17, 16, 153));
    decoder.advance(16).unwrap();
    assert!(matches!(decoder.decode(&mut &b""[..]), Ok(Some(Event::End))));
    assert_eq!(decoder.finish(), Ok(()));
    assert_eq!(decoder.decode(&mut &b"x"[..]).unwrap_err().kind(), ErrorKind::TrailingBytes);
}

/// Names beyond the scratch are told cut, and hashed whole.
#[test]
fn names_beyond_the_scratch_are_cut_and_say_so() {
    let bytes = long_names();
    let (key, name) = ("ключ".repeat(60), "é".repeat(170));
    let mut cut = Vec::new();
    for event in whole(&bytes, Options::new()).events {
        if let Seen::Key { name, .. } | Seen::Tensor { name, .. } = event
            && name.cut
        {
            assert!(name.text.len() <= 320);
            cut.push((name.len as usize, name.hash, name.text));
        }
    }
    assert_eq!(cut.len(), 2);
    for ((len, hash, prefix), full) in cut.iter().zip([&name, &key]) {
        assert_eq!((*len, *hash), (full.len(), name_hash(full)));
        assert!(full.starts_with(prefix.as_str()));
    }
}

#[test]
fn the_context_says_what_is_in_hand() {
    let bytes = compact();
    let mut decoder = full(Options::new());
    let mut seen = Vec::new();
    for mut chunk in bytes.chunks(1) {
        while decoder.decode(&mut chunk).unwrap().is_some() {}
        let context = decoder.context();
        let name = context.name.and_then(|name| name.as_str().map(str::to_owned));
        let now = (context.section, context.index, name);
        if seen.last() != Some(&now) {
            seen.push(now);
        }
    }
    let named = |section, index, name: &str| (section, Some(index), Some(name.to_owned()));
    let expected = [
        (Section::Header, None, None),
        named(Section::Tensors, 0, "a😀é"),
        named(Section::Tensors, 1, "q"),
        named(Section::Metadata, 0, "format"),
        named(Section::Metadata, 2, "k/é"),
        named(Section::Tensors, 6, "c"),
        (Section::Data, Some(1), None),
        (Section::Data, Some(6), None),
    ];
    let mut left = seen.iter();
    for expected in expected {
        assert!(left.any(|seen| *seen == expected), "{expected:?} is not in its place in {seen:?}");
    }
}

#[test]
fn a_directory_too_small_is_an_error_with_its_capacity() {
    let bytes = worked_example();
    let mut decoder = safetensors::Decoder::new([TensorSlot::EMPTY; 1]);
    let told = run(&mut decoder, [&bytes[..]]);
    assert_eq!(told.error().kind(), ErrorKind::DirectoryFull { capacity: 1 });
    let second = bytes.windows(3).position(|bytes| bytes == b"\"b\"").unwrap();
    assert_eq!(told.error().offset(), second as u64);
}

#[test]
fn random_files_in_random_pieces_with_little_scratch_tell_the_same() {
    let mut random = Random::new(9);
    for (name, bytes) in good_files() {
        let mut small = safetensors::Decoder::<_, 64>::with_scratch([TensorSlot::EMPTY; 40], Options::new());
        let expected = run(&mut small.clone(), [&bytes[..]]);
        assert_eq!(expected.result, Ok(()));
        for _ in 0..50 {
            small.reset();
            assert_eq!(run(&mut small, random.pieces(&bytes, 25)), expected, "{name}");
        }
    }
}
