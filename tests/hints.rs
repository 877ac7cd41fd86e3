//! What a decoder says about the bytes to come: how many are needed, how many may be skipped, where the file ends. And
//! that skipping hides events, never meaning.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use support::gguf_writer::{Gguf, Tensor, Value, Written};
use support::random::Random;
use support::record::{Full, Recording, Seen, agreed, events_within, full, lenient, run, whole};
use support::samples::{compact, corpus_file, corpus_names, corpus_options, long_names};
use weightstream::{AdvanceError, Decoder, ErrorKind, Event, Options, Section, TensorSlot, UnknownTypes};

/// All good files of the corpus and the compact ones, with the options they need.
fn good_files() -> Vec<(String, Vec<u8>, Options)> {
    let good = |name: &String| name != "bool_nonbinary.gguf";
    let names = corpus_names().into_iter().filter(good);
    let mut files: Vec<_> =
        names.map(|name| (name.clone(), corpus_file(&name), corpus_options(&name))).collect();
    for (version, big_endian) in [(1, false), (3, false), (3, true)] {
        let bytes = compact(version, big_endian).bytes;
        files.push((format!("compact {version} {big_endian}"), bytes, Options::new()));
    }
    files.push(("long names".to_owned(), long_names().bytes, Options::new()));
    files
}

/// With fewer than `needed` bytes in one push, and then in single bytes, no event comes. A clone tries.
fn assert_bound(decoder: &Full, rest: &[u8], name: &str) {
    let needed = decoder.needed();
    let at = decoder.position();
    let Some(fewer) = needed.checked_sub(1) else { return };
    let fewer = &rest[..rest.len().min(usize::try_from(fewer).unwrap_or(usize::MAX))];
    let mut input = fewer;
    let event = decoder.clone().decode(&mut input).unwrap().map(Seen::from);
    assert_eq!(event, None, "{name}: {needed} bytes were said to be needed at {at}");
    if fewer.len() < 200 {
        let mut decoder = decoder.clone();
        for mut byte in fewer.chunks(1) {
            assert!(decoder.decode(&mut byte).unwrap().is_none(), "{name} at {at}");
        }
    }
}

/// Right after an element that a chunk edge had cut, the next one is needed whole.
#[test]
fn needed_after_an_element_that_was_cut() {
    let file = Gguf::new().entry("k", Value::array(vec![Value::U32(1), Value::U32(2)])).write();
    let items = file.entries[0].value as usize + 12;
    let mut decoder = full(Options::new());
    assert!(Recording::new().push(&mut decoder, &file.bytes[..items + 3]));
    assert_eq!(decoder.needed(), 1);
    for (byte, after) in [(items + 3, 4), (items + 7, 0)] {
        let skipped = if after == 0 { &file.bytes[items + 4..byte] } else { &[] };
        assert!(Recording::new().push(&mut decoder, skipped));
        let event = decoder.decode(&mut &file.bytes[byte..=byte]).unwrap();
        assert!(matches!(event, Some(Event::Items(_))), "{event:?}");
        assert_eq!(decoder.needed(), after);
    }
}

/// In a skipped value: the rest of it, and the least that comes before the next event.
#[test]
fn needed_in_skipped_values_by_hand() {
    let strings = vec![Value::text("12345678"), Value::text(""), Value::text("x")];
    for (value, inside, rest) in [
        (Value::text("12345678"), 8 + 3, 5),
        (Value::U64(1), 3, 5),
        (Value::array(vec![Value::U16(1); 4]), 12 + 3, 5),
        (Value::array(strings), 12 + 8 + 3, 5 + 2 * 8),
    ] {
        let file = |more: bool, tensors: bool| {
            let mut file = Gguf::new().entry("k", value.clone());
            if more {
                file = file.entry("m", Value::U8(1));
            }
            if tensors { file.tensor(Tensor::new("t", 24, &[1], vec![1])).write() } else { file.write() }
        };
        for (more, tensors, next) in [
            (true, true, 8 + 1 + 4),
            (true, false, 8 + 1 + 4),
            (false, true, 8 + 4 + 4 + 8),
            (false, false, 0),
        ] {
            let file = file(more, tensors);
            let mut decoder = full(Options::new());
            let cut = file.entries[0].value as usize + inside;
            let skip = |decoder: &mut Full, seen: &Seen| {
                if matches!(seen, Seen::Key { .. }) {
                    decoder.skip_value();
                }
            };
            assert!(Recording::new().push_and(&mut decoder, &file.bytes[..cut], skip));
            assert_eq!(decoder.needed(), rest + next, "{value:?}, {more}, {tensors}");
        }
    }
}

/// A skip right after the head of an array of numbers may jump at once.
#[test]
fn a_skipped_array_of_numbers_may_be_jumped_over_at_once() {
    let file = Gguf::new().entry("k", Value::array(vec![Value::U16(7); 9])).entry("m", Value::U8(1)).write();
    let mut decoder = full(Options::new());
    let mut input = &file.bytes[..];
    while !matches!(decoder.decode(&mut input).unwrap(), Some(Event::ArrayStart { .. })) {}
    decoder.skip_value();
    assert_eq!(decoder.skippable(), 18);
    decoder.advance(18).unwrap();
    let error = decoder.finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::EventsPending, "the end of the value has not been seen");
    let mut input = &input[18..];
    assert!(matches!(decoder.decode(&mut input).unwrap(), Some(Event::Key { name, .. }) if name == "m"));
}

/// Pushes what is needed and no more, until the end.
fn feed_as_needed(bytes: &[u8], options: Options, name: &str, check: bool) -> Recording {
    let mut decoder = full(options);
    let mut recording = Recording::new();
    let mut rest = bytes;
    loop {
        let needed = decoder.needed() as usize;
        if check {
            assert_bound(&decoder, rest, name);
        }
        let ended = matches!(recording.events.last(), Some(Seen::End));
        assert_eq!(needed == 0, ended, "{name}: {needed} needed at {}", decoder.position());
        if ended {
            return recording.close(&decoder);
        }
        let (piece, behind) = rest.split_at(needed);
        rest = behind;
        let mut input = piece;
        // One event at a time: before each one the bound must hold, also where no input is needed.
        while let Some(event) = decoder.decode(&mut input).unwrap() {
            let seen = Seen::from(event);
            recording.note(seen, decoder.position());
            if check {
                assert_bound(&decoder, &bytes[decoder.position() as usize..], name);
            }
        }
    }
}

#[test]
fn fewer_than_the_needed_bytes_give_no_event() {
    for (name, bytes, options) in good_files() {
        let check = bytes.len() < 3000;
        assert_eq!(feed_as_needed(&bytes, options, &name, check), whole(&bytes, options), "{name}");
    }
}

/// At every byte, however it was reached.
#[test]
fn the_needed_bytes_are_a_bound_at_every_position() {
    for file in [compact(1, false), compact(3, true)] {
        let mut decoder = full(Options::new());
        for at in 0..file.bytes.len() {
            assert_bound(&decoder, &file.bytes[at..], "compact");
            assert_ne!(decoder.needed(), 0, "none came, and the stream has not ended");
            let mut input = &file.bytes[at..=at];
            while decoder.decode(&mut input).unwrap().is_some() {
                assert_bound(&decoder, &file.bytes[at + 1..], "compact");
            }
        }
        assert_eq!(decoder.needed(), 0);
    }
}

/// In the middle of what is skipped, the bound reaches to the next event.
#[test]
fn the_needed_bytes_of_skipped_values_are_a_bound() {
    for file in [compact(1, false), compact(3, true)] {
        for skip_at in 0..file.bytes.len() {
            let (first, rest) = file.bytes.split_at(skip_at);
            let mut decoder = full(Options::new());
            let mut recording = Recording::new();
            assert!(recording.push(&mut decoder, first));
            decoder.skip_value();
            decoder.skip_tensor();
            assert_bound(&decoder, rest, "compact");
            for (at, _) in rest.iter().enumerate().take(60) {
                assert!(recording.push(&mut decoder, &rest[at..=at]));
                assert_bound(&decoder, &rest[at + 1..], "compact");
                let ended = matches!(recording.events.last(), Some(Seen::End));
                assert_eq!(decoder.needed() == 0, ended);
            }
        }
    }
}

#[test]
fn needed_by_hand() {
    let file = Gguf::new()
        .entry("key", Value::text("text"))
        .entry("n", Value::array(vec![Value::U64(1), Value::U64(2)]))
        .tensor(Tensor::new("a", 2, &[32], vec![0; 18]))
        .tensor(Tensor::new("b", 24, &[2], vec![1, 2]))
        .write();
    let needed_at = |len: u64| {
        let mut decoder = full(Options::new());
        assert!(Recording::new().push(&mut decoder, &file.bytes[..len as usize]));
        decoder.needed()
    };
    let key = file.entries[0];
    let last = file.tensors[1].data;
    let cases = [
        // Counts of 32 bits are possible until the version says otherwise.
        ("magic", 0, 4 + 4 + 4 + 4),
        ("version", 4, 4 + 4 + 4),
        ("counts", 8, 8 + 8),
        ("tensor count", 9, 7 + 8),
        ("entry count", 17, 7),
        ("key length", key.start, 8 + 1 + 4),
        ("key", key.key, 3 + 4),
        ("value type", key.value_type + 1, 3),
        ("string length", key.value, 8),
        ("text", key.value + 8, 1),
        ("array", file.entries[1].value, 4 + 8),
        ("items", file.entries[1].value + 12, 8),
        ("an item", file.entries[1].value + 15, 5),
        ("name length", file.tensors[0].start, 8 + 4 + 4 + 8),
        ("number of dimensions", file.tensors[0].n_dims, 4 + 4 + 8),
        ("dims", file.tensors[0].dims[0], 8 + 4 + 8),
        ("type", file.tensors[0].type_id, 4 + 8),
        ("offset", file.tensors[0].offset + 1, 7),
        ("padding", file.metadata_end, file.data_offset - file.metadata_end + 18),
        ("block", file.data_offset + 1, 17),
        ("padding between tensors", file.data_offset + 18, last - (file.data_offset + 18) + 1),
        ("an element", last + 1, 1),
        ("the end", last + 2, 0),
    ];
    for (name, len, needed) in cases {
        assert_eq!(needed_at(len), needed, "{name}");
    }
}

/// Right after the last block of a tensor its size is nothing that the next event needs.
#[test]
fn a_tensor_that_has_come_needs_nothing() {
    let file = Gguf::new()
        .alignment(8)
        .tensor(Tensor::new("a", 8, &[32, 4], vec![0; 136]))
        .tensor(Tensor::new("b", 24, &[2], vec![1, 2]))
        .write();
    let mut decoder = full(Options::new());
    let mut input = &file.bytes[..];
    let mut last = None;
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        if let Event::Data(blocks) = event {
            last = Some(blocks.tensor());
            // "b" lies right behind "a", and one element of it is enough. Behind "b" is the end.
            let needed = if last == Some(0) { 1 } else { 0 };
            assert_eq!(decoder.needed(), needed);
        }
    }
    assert_eq!(last, Some(1));
}

/// Jumps over everything that may be skipped, at most `most` bytes at a time.
fn jump<const S: usize, D: AsRef<[TensorSlot]> + AsMut<[TensorSlot]>>(
    decoder: &mut Decoder<D, S>,
    bytes: &[u8],
    size: usize,
    most: u64,
    mut then: impl FnMut(&mut Decoder<D, S>, &Seen),
) -> (Recording, u64) {
    let mut recording = Recording::new();
    let mut jumped = 0;
    loop {
        let here = decoder.skippable().min(most).min(bytes.len() as u64 - decoder.position());
        decoder.advance(here).unwrap();
        jumped += here;
        let at = decoder.position() as usize;
        let piece = if here > 0 { &[][..] } else { &bytes[at..bytes.len().min(at + size)] };
        let going = recording.push_and(decoder, piece, &mut then);
        let ended = decoder.position() as usize == bytes.len() || recording.events.last() == Some(&Seen::End);
        if !going || (ended && here == 0) {
            return (recording.close(decoder), jumped);
        }
    }
}

#[test]
fn a_source_that_jumps_sees_the_same() {
    for (name, bytes, options) in good_files() {
        let expected = whole(&bytes, options);
        for (size, most) in [(1000, u64::MAX), (7, 5), (1, 1)] {
            let (told, _) = jump(&mut full(options), &bytes, size, most, |_, _| {});
            assert_eq!(told, expected, "{name} in chunks of {size}, jumps of {most}");
        }
        // With everything skipped the source jumps over the bodies.
        let skip_all = |decoder: &mut Full, seen: &Seen| match seen {
            Seen::Key { .. } => decoder.skip_value(),
            Seen::Tensor { .. } => decoder.skip_tensor(),
            _ => {}
        };
        let mut pushed = Recording::new();
        let mut decoder = full(options);
        assert!(pushed.push_and(&mut decoder, &bytes, skip_all));
        let pushed = pushed.close(&decoder);
        assert_eq!(pushed.result, Ok(()), "{name}");
        let (told, jumped) = jump(&mut full(options), &bytes, 13, u64::MAX, skip_all);
        assert_eq!(told, pushed, "{name}");
        assert!(jumped > 0 || bytes.len() < 200, "{name}: nothing could be jumped over");
    }
}

#[test]
fn jumping_too_far_changes_nothing() {
    let file = compact(3, false).bytes;
    let expected = whole(&file, Options::new());
    let mut decoder = full(Options::new());
    let mut recording = Recording::new();
    for at in 0..file.len() {
        let skippable = decoder.skippable();
        for more in [1, 1000, u64::MAX - skippable] {
            let before = format!("{decoder:?}");
            let requested = skippable + more;
            let refusal = AdvanceError { requested, skippable };
            assert_eq!(decoder.advance(requested), Err(refusal));
            assert_eq!(format!("{decoder:?}"), before);
        }
        recording.push(&mut decoder, &file[at..=at]);
    }
    assert_eq!(recording.close(&decoder), expected);
    let text = AdvanceError { requested: 7, skippable: 5 }.to_string();
    assert_eq!(text, "cannot jump over 7 bytes: 5 are skippable");
}

/// The end of the value that the decoder is in at `position`, told from events: `None` between values.
fn value_end(file: &Written, recording: &Recording, position: u64) -> Option<usize> {
    let key_ends = |at: &&support::gguf_writer::EntryAt| at.value <= position && position < at.end;
    let entry = file.entries.iter().find(key_ends)?;
    // All that the value says comes by its end; the next event is later.
    Some(recording.ends.iter().take_while(|end| **end <= entry.end).count())
}

/// A value skipped at any byte of it: what came before stays, the rest of it is not told, everything else is.
#[test]
fn a_skip_hides_the_rest_of_the_value_and_nothing_else() {
    for (version, big_endian) in [(1, false), (3, false), (3, true)] {
        let file = compact(version, big_endian);
        let complete = whole(&file.bytes, Options::new());
        for at in 0..=file.bytes.len() {
            let mut expected = events_within(&complete, at as u64);
            let resumed = value_end(&file, &complete, at as u64).unwrap_or(usize::MAX);
            let (first, rest) = file.bytes.split_at(at);
            for (size, jumping) in [(1000, false), (1, false), (1000, true)] {
                let mut decoder = full(Options::new());
                let mut told = Recording::new();
                told.push(&mut decoder, first);
                decoder.skip_value();
                let ended = if jumping {
                    let (rest, _) = jump(&mut decoder, &file.bytes, size, u64::MAX, |_, _| {});
                    for (event, end) in rest.events.into_iter().zip(rest.ends) {
                        told.note(event, end);
                    }
                    rest.result
                } else {
                    rest.chunks(size).for_each(|piece| assert!(told.push(&mut decoder, piece)));
                    decoder.finish()
                };
                assert_eq!(ended, Ok(()), "skipped at {at}");
                if resumed == usize::MAX {
                    assert_eq!(told.events, complete.events, "skipped at {at}: no value was in hand");
                } else {
                    let tail = &complete.events[resumed..];
                    expected.extend_from_slice(tail);
                    assert_eq!(told.events, expected, "skipped at {at}");
                    expected.truncate(expected.len() - tail.len());
                }
            }
        }
    }
}

/// The same after each event instead of each byte, so also where no input was needed to get there.
#[test]
fn a_skip_after_any_event_hides_the_rest() {
    for (version, big_endian) in [(1, false), (3, false), (3, true)] {
        let file = compact(version, big_endian);
        for size in [1, 3, 1000] {
            let complete = run(&mut full(Options::new()), file.bytes.chunks(size));
            let mut skip_at = 0;
            loop {
                let mut decoder = full(Options::new());
                let mut told = Recording::new();
                let (mut count, mut seen_until) = (0, None);
                for piece in file.bytes.chunks(size) {
                    told.push_and(&mut decoder, piece, |decoder, seen| {
                        if count == skip_at {
                            decoder.skip_value();
                            let between = matches!(seen, Seen::Scalar(..) | Seen::Header(_));
                            seen_until = Some((decoder.position(), between));
                        }
                        count += 1;
                    });
                }
                let Some((position, between)) = seen_until else { break };
                assert_eq!(decoder.finish(), Ok(()));
                // What is missing are whole events, in one run, within one value.
                let (all, some) = (&complete.events, &told.events);
                let same = all.iter().zip(some).take_while(|(a, b)| a == b).count();
                if same == all.len() {
                    assert_eq!(all.len(), some.len());
                } else {
                    assert!(!between);
                    let partial = matches!(
                        (&all[same], &some[same]),
                        (Seen::Text { bytes, .. }, Seen::Text { bytes: part, .. })
                        | (Seen::Items { bytes, .. }, Seen::Items { bytes: part, .. })
                            if bytes.starts_with(part)
                    );
                    let kept = same + usize::from(partial);
                    let resumed = all.len() - (some.len() - kept);
                    assert_eq!(some[kept..], all[resumed..], "skipped after event {skip_at}");
                    let entry = file.entries.iter().find(|at| position <= at.end).unwrap();
                    assert!(complete.ends[resumed - 1] <= entry.end, "skipped after event {skip_at}");
                    assert!(matches!(all[resumed], Seen::Key { .. } | Seen::Tensor { .. }));
                }
                skip_at += 1;
            }
            assert!(skip_at > 50);
        }
    }
}

fn skip_every_value(bytes: &[u8], jumping: bool, options: Options) -> Recording {
    let skip = |decoder: &mut Full, seen: &Seen| {
        if matches!(seen, Seen::Key { .. }) {
            decoder.skip_value();
        }
    };
    if jumping {
        return jump(&mut full(options), bytes, 11, u64::MAX, skip).0;
    }
    let mut decoder = full(options);
    let mut recording = Recording::new();
    recording.push_and(&mut decoder, bytes, skip);
    recording.close(&decoder)
}

/// The alignment is read even where it is skipped.
#[test]
fn a_skipped_alignment_holds() {
    for name in ["align64.gguf", "align64_be.gguf", "align16_late_key.gguf", "align4096.gguf"] {
        let bytes = corpus_file(name);
        let data = |events: &[Seen]| -> Vec<Seen> {
            let is_data = |event: &&Seen| matches!(event, Seen::Data { .. } | Seen::DataStart(_));
            events.iter().filter(is_data).cloned().collect()
        };
        let expected = data(&whole(&bytes, Options::new()).events);
        for jumping in [false, true] {
            let told = skip_every_value(&bytes, jumping, Options::new());
            assert_eq!(data(&told.events), expected, "{name}");
            assert!(!told.events.iter().any(|event| matches!(event, Seen::Scalar(..) | Seen::Text { .. })));
            assert_eq!(told.result, Ok(()));
        }
    }
}

#[test]
fn contents_of_skipped_values_are_not_judged() {
    let bools = vec![Value::Bool(1), Value::Bool(7)];
    let file = Gguf::new()
        .entry("bool", Value::Bool(9))
        .entry("bools", Value::array(bools.clone()))
        .entry("nested", Value::array(vec![Value::array(bools)]))
        .entry("text", Value::text(b"\xff\0"))
        .write();
    assert!(whole(&file.bytes, Options::new()).result.is_err());
    for jumping in [false, true] {
        assert_eq!(skip_every_value(&file.bytes, jumping, Options::new()).result, Ok(()));
    }
}

#[test]
fn lengths_and_the_alignment_of_skipped_values_are_judged() {
    let deep = (0..5).fold(Value::U8(1), |inner, _| Value::array(vec![inner]));
    let text = Value::text("hello");
    let limits = Options::new().string_bytes(4).array_elements(3);
    let cases = [
        ("general.alignment", Value::U32(24), "gguf.bad_alignment"),
        ("general.alignment", Value::I32(32), "gguf.alignment_type"),
        ("general.alignment", Value::U32(1 << 21), "limit.alignment"),
        ("k", text.clone(), "limit.string_bytes"),
        ("k", Value::array(vec![text]), "limit.string_bytes"),
        ("k", Value::array(vec![Value::U8(0); 4]), "limit.array_elements"),
        ("k", Value::array(vec![Value::array(vec![Value::U8(0); 4])]), "limit.array_elements"),
        ("k", deep, "limit.nesting"),
        ("k", Value::Array { element: 77, items: Vec::new() }, "gguf.bad_value_type"),
        ("k", Value::array(vec![Value::U64(0)]).claiming(1 << 61), "limit.array_elements"),
        ("k", Value::text("x").claiming(1 << 61), "limit.string_bytes"),
    ];
    for (key, value, code) in cases {
        let file = Gguf::new().entry(key, value.clone()).entry("after", Value::U8(1)).write();
        let told = whole(&file.bytes, limits).error();
        assert_eq!(told.code(), code);
        for jumping in [false, true] {
            assert_eq!(skip_every_value(&file.bytes, jumping, limits).error(), told, "{value:?}");
        }
        // Nothing is needed, or skippable, once there is an error.
        let mut decoder = full(limits);
        let mut recording = Recording::new();
        let skip = |decoder: &mut Full, _: &Seen| decoder.skip_value();
        assert!(!recording.push_and(&mut decoder, &file.bytes, skip));
        assert_eq!((decoder.needed(), decoder.skippable()), (0, 0), "after {told}");
    }
    let twice = Gguf::new().alignment(32).alignment(32).write();
    assert_eq!(skip_every_value(&twice.bytes, true, limits).error().code(), "gguf.duplicate_alignment");
}

/// A skipped string or array that is cut is missing what it lacks, as if it were not skipped.
#[test]
fn a_skipped_value_that_is_cut_is_truncated_alike() {
    let file = compact(3, false);
    for cut in 0..file.metadata_end as usize {
        let bytes = &file.bytes[..cut];
        let expected = whole(bytes, Options::new()).error();
        for jumping in [false, true] {
            assert_eq!(skip_every_value(bytes, jumping, Options::new()).error(), expected, "cut at {cut}");
        }
    }
}

/// `skip_tensor` after its description, or after any of its data.
#[test]
fn a_skipped_tensor_is_left_out() {
    let file = compact(3, false);
    let complete = agreed(&file.bytes, Options::new());
    for index in 0..4 {
        let others: Vec<Seen> = complete
            .events
            .iter()
            .filter(|event| !matches!(event, Seen::Data { tensor, .. } if *tensor == index))
            .cloned()
            .collect();
        let skip = |decoder: &mut Full, seen: &Seen| {
            if matches!(seen, Seen::Tensor { info, .. } if info.index() == index) {
                decoder.skip_tensor();
            }
        };
        for size in [1, 7, 1000] {
            let (told, _) = jump(&mut full(Options::new()), &file.bytes, size, u64::MAX, skip);
            assert_eq!((told.events, told.result), (others.clone(), Ok(())), "without {index}");
        }
    }
    // After its first block, the second block of "q" is dropped, wherever the source is by then.
    for size in [1, 18, 20] {
        let skip = |decoder: &mut Full, seen: &Seen| {
            if matches!(seen, Seen::Data { tensor: 1, .. }) {
                decoder.skip_tensor();
            }
        };
        let (told, _) = jump(&mut full(Options::new()), &file.bytes, size, u64::MAX, skip);
        assert_eq!(told.result, Ok(()));
        let mut expected = complete.events.clone();
        for event in &mut expected {
            if let Seen::Data { tensor: 1, bytes, .. } = event {
                bytes.truncate(18);
            }
        }
        assert_eq!(told.events, expected, "in chunks of {size}");
    }
}

/// At any other moment both skips do nothing.
#[test]
fn skips_out_of_place_do_nothing() {
    let file = compact(3, false).bytes;
    let expected = whole(&file, Options::new());
    let misplaced = |decoder: &mut Full, seen: &Seen| match seen {
        Seen::Header(_) | Seen::Tensor { .. } | Seen::DataStart(_) | Seen::Data { .. } | Seen::End => {
            decoder.skip_value();
        }
        _ => decoder.skip_tensor(),
    };
    let mut decoder = full(Options::new());
    decoder.skip_value();
    decoder.skip_tensor();
    let mut told = Recording::new();
    for piece in file.chunks(9) {
        told.push_and(&mut decoder, piece, misplaced);
    }
    assert_eq!(told.close(&decoder), expected);
    let mut decoder = full(Options::new());
    let mut told = Recording::new();
    told.push_and(&mut decoder, &file, |decoder, seen| {
        if matches!(seen, Seen::DataStart(_) | Seen::Header(_)) {
            decoder.skip_tensor();
        }
    });
    assert_eq!(told.close(&decoder), expected);
}

#[test]
fn the_end_is_known_from_the_start_of_the_data() {
    for (name, bytes, options) in good_files() {
        let mut decoder = full(options);
        let mut input = &bytes[..];
        let mut end = None;
        while let Some(event) = decoder.decode(&mut input).unwrap() {
            match event {
                Event::DataStart(start) => end = start.end,
                Event::Data(_) | Event::End => {}
                _ => assert_eq!(decoder.end(), None, "{name}"),
            }
            assert_eq!(decoder.end(), end, "{name}");
        }
        assert_eq!(end, Some(decoder.position()), "{name}");
    }
}

/// A tensor of 5 GiB is jumped over, and the one behind it is where it should be: positions have 64 bits.
#[test]
fn data_beyond_4_gib_are_found() {
    const GIB: u64 = 1 << 30;
    for big_endian in [false, true] {
        let file = Gguf::new()
            .big_endian(big_endian)
            .tensor(Tensor::hollow("huge", 0, &[GIB / 4, 5], 5 * GIB))
            .tensor(Tensor::new("behind", 24, &[40], (0..40).collect()))
            .tensor(Tensor::hollow("wide", 24, &[6 * GIB + 1], 6 * GIB + 1))
            .tensor(Tensor::new("last", 25, &[2], vec![1, 2, 3, 4]))
            .write();
        let mut decoder = full(Options::new());
        let mut told = Recording::new();
        told.push_and(&mut decoder, &file.bytes, |decoder, seen| {
            if matches!(seen, Seen::Tensor { name, .. } if name.text == "huge" || name.text == "wide") {
                decoder.skip_tensor();
            }
        });
        let [huge, behind, wide, last] = [0, 1, 2, 3].map(|index: usize| file.tensors[index].data);
        assert!(behind > 5 * GIB && last > 11 * GIB);
        assert_eq!(decoder.end(), Some(last + 4));
        assert_eq!(decoder.directory().find("behind").unwrap().offset(), behind);
        assert_eq!(decoder.needed(), 5 * GIB + 1);

        assert_eq!((decoder.position(), decoder.skippable()), (huge, 5 * GIB));
        decoder.advance(3 * GIB).unwrap();
        let error = decoder.finish().unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Truncated { needed: 40, got: 0 }, behind));
        decoder.advance(2 * GIB).unwrap();
        assert_eq!((decoder.position(), decoder.skippable()), (behind, 0));
        told.push(&mut decoder, &(0..40).collect::<Vec<u8>>());
        assert_eq!(told.ends.last(), Some(&(behind + 40)));
        assert_eq!(decoder.skippable(), last - (behind + 40));
        assert!(wide - behind < 100);
        decoder.advance(last - (behind + 40)).unwrap();
        let error = decoder.finish().unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Truncated { needed: 4, got: 0 }, last));
        assert_eq!((error.section(), error.index()), (Section::Data, Some(3)));
        told.push(&mut decoder, &[1, 2, 3, 4]);
        assert_eq!((decoder.finish(), decoder.position()), (Ok(()), last + 4));
        assert_eq!(told.events.last(), Some(&Seen::End));
    }
}

/// The same within the metadata: a string of 5 GiB that nobody wants.
#[test]
fn a_string_beyond_4_gib_is_jumped_over() {
    let length = 5 << 30;
    let file = Gguf::new().entry("big", Value::text("").claiming(length)).claim_entry_count(2).write();
    let mut decoder = full(Options::new());
    let mut told = Recording::new();
    let skip = |decoder: &mut Full, seen: &Seen| {
        if matches!(seen, Seen::Key { .. }) {
            decoder.skip_value();
        }
    };
    told.push_and(&mut decoder, &file.bytes, skip);
    assert_eq!(decoder.skippable(), length);
    decoder.advance(length).unwrap();
    // The next entry, as it stands in a file of its own.
    let next = Gguf::new().entry("next", Value::U16(0x0102)).write();
    told.push(&mut decoder, &next.bytes[24..]);
    assert_eq!(decoder.finish(), Ok(()));
    let position = file.bytes.len() as u64 + length + next.bytes.len() as u64 - 24;
    assert_eq!(decoder.position(), position);
    let values: Vec<&Seen> = told.events.iter().filter(|event| matches!(event, Seen::Scalar(..))).collect();
    assert_eq!(values, [&Seen::Scalar(weightstream::ValueType::U16, 0x0102)]);
}

/// Jumps and pushes of any size, with anything skipped: they only hide.
#[test]
fn random_jumps_agree_with_pushes() {
    let mut random = Random::new(5);
    for file in [compact(1, false), compact(3, true), long_names()] {
        for round in 0..300 {
            // The same choices for both runs, by the order of what can be skipped whole.
            let mut choices = random.clone();
            let mut skip = |decoder: &mut Full, seen: &Seen| {
                if matches!(seen, Seen::Key { .. } | Seen::Tensor { .. }) && choices.one_in(2) {
                    decoder.skip_value();
                    decoder.skip_tensor();
                }
            };
            let mut pushed = Recording::new();
            let mut decoder = full(lenient());
            pushed.push_and(&mut decoder, &file.bytes, &mut skip);
            let pushed = pushed.close(&decoder);
            let mut choices = random.clone();
            let skip = |decoder: &mut Full, seen: &Seen| {
                if matches!(seen, Seen::Key { .. } | Seen::Tensor { .. }) && choices.one_in(2) {
                    decoder.skip_value();
                    decoder.skip_tensor();
                }
            };
            let most = 1 + (round % 50) as u64;
            let (told, _) = jump(&mut full(lenient()), &file.bytes, 1 + round % 23, most, skip);
            assert_eq!(told, pushed, "round {round}");
            random.next_u64();
        }
    }
}

/// The rest of an input that nobody can name the end of may be jumped over, but has no end to tell.
#[test]
fn an_endless_rest_never_ends() {
    let file = Gguf::new().tensor(Tensor::new("u", 99, &[8], vec![1; 64])).write();
    let options = Options::new().unknown_types(UnknownTypes::Infer);
    let mut decoder = Decoder::with_options([], options);
    let mut input = &file.bytes[..];
    while decoder.decode(&mut input).unwrap().is_some() {}
    assert_eq!((decoder.end(), decoder.needed(), decoder.finish()), (None, 0, Ok(())));
    for jump in [1, 1 << 40, u64::MAX] {
        decoder.advance(jump.min(decoder.skippable())).unwrap();
        assert!(decoder.decode(&mut [].as_slice()).unwrap().is_none());
        assert_eq!(decoder.finish(), Ok(()));
    }
}

/// A source that can jump past its own end makes a short file look whole, unless the decoder knows the size.
#[test]
fn a_known_size_stops_a_source_that_jumps_past_its_end() {
    let file = Gguf::new().tensor(Tensor::new("t", 24, &[1000], vec![1; 1000])).last_padding(false).write();
    let short = &file.bytes[..file.data_offset as usize + 10];
    let jump_over_all = |options| {
        let mut decoder = Decoder::with_options([], options);
        let mut input = short;
        while decoder.decode(&mut input)?.is_some() {}
        decoder.advance(decoder.skippable()).unwrap();
        while decoder.decode(&mut [].as_slice())?.is_some() {}
        decoder.finish()
    };
    assert_eq!(jump_over_all(Options::new()), Ok(()), "nobody could know");
    let error = jump_over_all(Options::new().input_bytes(short.len() as u64)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Truncated { needed: 1000, got: 10 });
    assert_eq!((error.offset(), error.index()), (file.data_offset, Some(0)));
}

/// A tensor of which nothing has been told yet is not dropped: not even when part of its first block has come.
#[test]
fn a_skip_before_the_first_block_drops_nothing() {
    let file = Gguf::new().tensor(Tensor::new("t", 8, &[32], vec![3; 34])).write();
    let mut decoder = full(Options::new());
    let mut told = Recording::new();
    let (head, tail) = file.bytes.split_at(file.data_offset as usize + 5);
    assert!(told.push(&mut decoder, head));
    decoder.skip_tensor();
    assert!(told.push(&mut decoder, tail));
    assert_eq!(told.close(&decoder), whole(&file.bytes, Options::new()));
}
