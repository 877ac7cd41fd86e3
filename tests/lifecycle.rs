//! A decoder in its caller's hands: cloned, reset, with little memory; what it lends, keeps and hands back.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use support::gguf_writer::{Gguf, Tensor, Value};
use support::random::Random;
use support::record::{Recording, Seen, full, run, whole};
use support::samples::{compact, corpus_file, long_names};
use weightstream::{
    ByteOrder, Decoder, Directory, Error, ErrorKind, Event, Items, Layout, Options, Section, TensorSlot,
    TensorType, name_hash,
};

#[test]
fn a_clone_goes_on_like_the_original() {
    for file in [compact(1, false), compact(3, true), long_names()] {
        let expected = whole(&file.bytes, Options::new());
        let mut decoder = full(Options::new());
        let mut recording = Recording::new();
        for at in 0..=file.bytes.len() {
            let (mut clone, mut told) = (decoder.clone(), recording.clone());
            for piece in file.bytes[at..].chunks(100) {
                told.push(&mut clone, piece);
            }
            assert_eq!(told.close(&clone), expected, "cloned at {at}");
            if let Some(byte) = file.bytes.get(at..=at) {
                recording.push(&mut decoder, byte);
            }
        }
        assert_eq!(recording.close(&decoder), expected, "clones change nothing");
    }
}

/// Also between two events of one chunk.
#[test]
fn a_clone_after_any_event_goes_on_like_the_original() {
    let file = compact(3, false).bytes;
    let expected = whole(&file, Options::new());
    let mut decoder = full(Options::new());
    let mut input = &file[..];
    let mut recording = Recording::new();
    while let Some(event) = decoder.decode(&mut input).unwrap().map(Seen::from) {
        recording.note(event, decoder.position());
        let (mut clone, mut told) = (decoder.clone(), recording.clone());
        told.push(&mut clone, input);
        assert_eq!(told.close(&clone), expected);
    }
}

#[test]
fn a_reset_forgets_the_file_and_keeps_the_options() {
    let file = compact(3, true).bytes;
    let other = compact(1, false).bytes;
    let options = Options::new().layout(Layout::Sparse).entries(19);
    let expected = whole(&other, options);
    let mut decoder = full(options);
    for at in 0..=file.len() {
        Recording::new().push(&mut decoder, &file[..at]);
        decoder.skip_value();
        decoder.reset();
        assert_eq!((decoder.position(), decoder.skippable(), decoder.end()), (0, 0, None));
        assert!(decoder.directory().is_empty());
        let context = decoder.context();
        assert_eq!((context.section, context.index), (Section::Header, None));
        assert!(context.name.is_none());
        assert_eq!(run(&mut decoder, [&other[..]]), expected, "reset at {at}");
        decoder.reset();
    }
    // After an error, and with the options in force.
    assert!(run(&mut decoder, [&b"GGML"[..]]).result.is_err());
    decoder.reset();
    assert_eq!(run(&mut decoder, [&other[..]]), expected);
    decoder.reset();
    let file = (0..20).fold(Gguf::new(), |file, _| file.entry("k", Value::U8(1))).write();
    assert_eq!(run(&mut decoder, [&file.bytes[..]]).error().code(), "limit.entries");
}

/// What is lent from the chunk ends at `position`, so that it can be taken from the file instead.
#[test]
fn lent_bytes_end_at_the_position() {
    for name in ["v1.gguf", "arrays_be.gguf", "nested_arrays.gguf", "offsets_shuffled.gguf"] {
        let file = corpus_file(name);
        let mut random = Random::new(3);
        for max in [9, 100, 100_000] {
            let mut decoder = full(Options::new().layout(Layout::Sparse));
            let mut lent_bytes = 0;
            let mut pieces = random.pieces(&file, max);
            if max > file.len() {
                pieces = vec![&file];
            }
            for piece in pieces {
                let mut input = piece;
                while let Some(event) = decoder.decode(&mut input).unwrap() {
                    let part = match event {
                        Event::Text { part, .. } => part,
                        Event::Items(items) => items.bytes(),
                        Event::Data(blocks) => blocks.bytes(),
                        _ => continue,
                    };
                    let from_chunk = piece.as_ptr_range().contains(&part.as_ptr());
                    let part = part.to_vec();
                    let end = decoder.position() as usize;
                    assert_eq!(part, file[end - part.len()..end], "{name}");
                    if from_chunk {
                        lent_bytes += part.len();
                    } else {
                        assert!(piece.len() < file.len(), "{name}: nothing is copied from a whole file");
                    }
                }
            }
            assert!(lent_bytes > 100, "{name}");
        }
    }
}

fn key_and_name<const S: usize>(bytes: &[u8], size: usize) -> Vec<(String, bool, u32, u64)> {
    let mut decoder = Decoder::<_, S>::with_scratch([TensorSlot::EMPTY; 4], Options::new());
    let told = run(&mut decoder, bytes.chunks(size));
    assert_eq!(told.result, Ok(()));
    let names = told.events.into_iter().filter_map(|event| match event {
        Seen::Key { name, .. } | Seen::Tensor { name, .. } => {
            Some((name.text, name.cut, name.len, name.hash))
        }
        _ => None,
    });
    names.collect()
}

#[test]
fn names_beyond_the_scratch_are_cut() {
    let file = long_names().bytes;
    for size in [1, 63, 64, 65, 1000] {
        let whole = key_and_name::<1024>(&file, size);
        let cut = key_and_name::<64>(&file, size);
        assert_eq!(whole.len(), 4);
        for ((text, is_cut, len, hash), (prefix, cut, cut_len, cut_hash)) in whole.iter().zip(&cut) {
            assert!(!is_cut);
            assert_eq!(*len as usize, text.len());
            assert_eq!(*hash, name_hash(text));
            assert_eq!((cut_len, cut_hash), (len, hash), "the length and hash are of all of it");
            assert_eq!(*cut, text.len() > 64);
            assert!(text.starts_with(prefix));
            // At most a character less than the scratch.
            assert!(!cut || (61..=64).contains(&prefix.len()));
        }
    }
    // A name that just fits.
    for (len, fits) in [(63, true), (64, true), (65, false)] {
        let name = "n".repeat(len);
        let file = Gguf::new().tensor(Tensor::new(&name, 24, &[1], vec![1])).write().bytes;
        let names = key_and_name::<64>(&file, 7);
        assert_eq!(names, [(name[..len.min(64)].to_owned(), !fits, len as u32, name_hash(&name))]);
    }
}

#[test]
fn a_cut_name_equals_nothing() {
    let file = long_names();
    let mut decoder = Decoder::<_, 64>::with_scratch([TensorSlot::EMPTY; 4], Options::new());
    let mut input = &file.bytes[..];
    let mut cut = 0;
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        let (Event::Key { name, .. } | Event::Tensor { name, .. }) = event else { continue };
        assert!(!name.is_empty());
        if name.is_cut() {
            cut += 1;
            assert_eq!(name.as_str(), None);
            assert!(name != name.prefix(), "not even its beginning");
            assert!(name.starts_with(&name.prefix()[..10]) && !name.starts_with("other"));
            assert!(!name.ends_with("") && !name.ends_with("é"));
            assert_eq!(name.to_string(), format!("{}…", name.prefix()));
            assert_eq!(format!("{name:?}"), format!("{:?}…", name.prefix()));
        } else {
            let text = name.as_str().unwrap();
            assert!(name == text && name == *text && name != "other");
            assert!(name.starts_with(text) && name.ends_with(text) && name.ends_with(""));
            assert_eq!(name.to_string(), text);
        }
    }
    assert_eq!(cut, 2);
    // A recorded one is found by its whole name.
    let long = format!("n.{}", "é".repeat(170));
    assert_eq!(decoder.directory().find(&long).unwrap().index(), 0);
    assert!(decoder.directory().find(&long[..64]).is_none());
}

/// A block larger than the scratch only matters where it is recorded.
#[test]
fn a_block_beyond_the_scratch_passes_where_nobody_wants_it() {
    let file = Gguf::new().tensor(Tensor::new("k", 12, &[256], vec![0; 144])).write().bytes;
    let mut none = Decoder::<_, 64>::with_scratch([TensorSlot::EMPTY; 0], Options::new());
    assert_eq!(run(&mut none, file.chunks(10)).result, Ok(()));
    let mut decoder = Decoder::<_, 64>::with_scratch([TensorSlot::EMPTY; 1], Options::new());
    let mut told = Recording::new();
    told.push_and(&mut decoder, &file, |decoder, _| decoder.skip_tensor());
    assert_eq!(told.close(&decoder).result, Ok(()));
    let mut decoder = Decoder::<_, 64>::with_scratch([TensorSlot::EMPTY; 1], Options::new());
    assert_eq!(run(&mut decoder, file.chunks(10)).error().code(), "directory.scratch");
}

#[test]
fn without_slots_no_data_come() {
    let file = compact(3, false).bytes;
    let mut decoder = Decoder::new([]);
    let told = run(&mut decoder, file.chunks(7));
    assert_eq!(told.result, Ok(()));
    let expected: Vec<Seen> = whole(&file, Options::new())
        .events
        .into_iter()
        .filter(|event| !matches!(event, Seen::Data { .. }))
        .collect();
    assert_eq!(told.events, expected, "all else is told");
    decoder.reset();
    let told = run(&mut decoder, [&file[..file.len() - 1]]);
    assert_eq!(told.error().code(), "input.truncated");
}

#[test]
fn slots_may_be_lent_and_come_back() {
    let file = compact(3, true);
    let mut lent = [TensorSlot::EMPTY; 5];
    let mut decoder = Decoder::new(&mut lent[..]);
    let told = run(&mut decoder, file.bytes.chunks(11));
    assert_eq!(told, whole(&file.bytes, Options::new()));
    let (slots, recorded) = decoder.into_parts();
    assert_eq!((slots.len(), recorded), (5, 4));
    assert_eq!(slots[4], TensorSlot::EMPTY);
    let directory = Directory::new(&slots[..recorded]);
    assert_eq!((directory.len(), directory.is_empty()), (4, false));
    assert_eq!(directory.iter().count(), directory.into_iter().count());
    for (index, (name, bytes)) in [("é", 4), ("q", 36), ("z", 0), ("i", 5)].into_iter().enumerate() {
        let slot = directory.find(name).unwrap();
        assert_eq!((slot.index(), slot.byte_len()), (index as u32, Some(bytes)));
        assert_eq!((slot.offset(), slot.name_hash()), (file.tensors[index].data, name_hash(name)));
        assert_eq!(slot.byte_order(), ByteOrder::Big);
    }
    assert!(directory.find("other").is_none());
    assert!(directory.slots().is_sorted_by_key(TensorSlot::offset));
}

/// Rows become ranges of the file.
#[test]
fn rows_of_a_recorded_tensor_are_ranges_of_the_file() {
    let file = compact(3, false);
    let mut decoder = full(Options::new());
    run(&mut decoder, [&file.bytes[..]]);
    let at = file.tensors[1].data;
    let slot = decoder.directory().find("q").unwrap();
    assert_eq!((slot.row_elements(), slot.row_bytes(), slot.tensor_type()), (32, Some(18), TensorType::Q4_0));
    assert_eq!(slot.rows(0..1), Some(at..at + 18));
    assert_eq!(slot.rows(1..2), Some(at + 18..at + 36));
    assert_eq!(slot.rows(0..2), Some(at..at + 36));
    assert_eq!(slot.rows(2..2), Some(at + 36..at + 36));
    assert_eq!(slot.rows(1..3), None);
    assert_eq!(slot.rows(u64::MAX - 1..u64::MAX), None);
    #[allow(clippy::reversed_empty_ranges, reason = "a range that runs backwards holds no rows")]
    let backwards = slot.rows(2..1);
    assert_eq!(backwards, None);
    let scalar = decoder.directory().find("é").unwrap();
    assert_eq!((scalar.row_elements(), scalar.row_bytes()), (1, Some(4)));
    assert_eq!(scalar.rows(0..1), Some(file.tensors[0].data..file.tensors[0].data + 4));
}

/// A tensor is recorded by the first `decode` after it was told.
#[test]
fn a_tensor_is_recorded_by_the_next_call() {
    let file = compact(3, false).bytes;
    let mut decoder = full(Options::new());
    let mut input = &file[..];
    let mut told = 0;
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        match event {
            Event::Tensor { .. } => {
                assert_eq!(decoder.directory().len(), told);
                told += 1;
            }
            Event::DataStart(_) => assert_eq!(decoder.directory().len(), told),
            _ => {}
        }
    }
    assert_eq!(told, 4);
}

/// The context names what is in hand.
#[test]
fn the_context_says_where_the_decoder_is() {
    let file = compact(3, false);
    let context = |len: u64| {
        let mut decoder = full(Options::new());
        Recording::new().push(&mut decoder, &file.bytes[..len as usize]);
        let context = decoder.context();
        (context.section, context.index, context.name.map(|name| name.prefix().to_owned()))
    };
    assert_eq!(context(10), (Section::Header, None, None));
    let entry = file.entries[8];
    assert_eq!(context(entry.start + 3), (Section::Metadata, Some(8), None));
    assert_eq!(context(entry.value), (Section::Metadata, Some(8), Some("s".to_owned())));
    assert_eq!(context(entry.value + 10), (Section::Metadata, Some(8), Some("s".to_owned())));
    let tensor = &file.tensors[1];
    assert_eq!(context(tensor.start + 2), (Section::Tensors, Some(1), None));
    assert_eq!(context(tensor.offset), (Section::Tensors, Some(1), Some("q".to_owned())));
    assert_eq!(context(tensor.data + 1), (Section::Data, Some(1), None));
    // After an error, the name that it happened in.
    let bad = file.patch(tensor_type_at(), &[99]);
    let mut decoder = full(Options::new());
    assert!(run(&mut decoder, [&bad.bytes[..]]).result.is_err());
    let context = decoder.context();
    assert_eq!((context.section, context.index), (Section::Tensors, Some(1)));
    assert!(context.name.unwrap() == "q");
}

fn tensor_type_at() -> u64 {
    compact(3, false).tensors[1].type_id
}

#[test]
fn header_tensors_and_values_tell_what_the_file_says() {
    let file = corpus_file("dims_be.gguf");
    let mut decoder = full(Options::new());
    let mut input = &file[..];
    let mut ranks = Vec::new();
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        match event {
            Event::Header(header) => {
                assert_eq!((header.version, header.byte_order), (3, ByteOrder::Big));
                assert_eq!((header.tensor_count, header.entry_count), (Some(8), Some(2)));
            }
            Event::Tensor { info, .. } => {
                let mut shape: Vec<u64> = info.shape().collect();
                shape.reverse();
                assert_eq!(shape, info.dims());
                assert_eq!(info.elements(), info.dims().iter().product::<u64>());
                assert_eq!(info.row_elements(), info.dims().first().copied().unwrap_or(1));
                ranks.push(info.dims().len());
            }
            _ => {}
        }
    }
    ranks.sort_unstable();
    ranks.dedup();
    assert_eq!(ranks, [0, 1, 2, 3, 4]);
}

/// Typed views of a run of elements, in both byte orders.
#[test]
fn items_give_numbers_in_the_byte_order_of_the_file() {
    for big_endian in [false, true] {
        let file = Gguf::new()
            .big_endian(big_endian)
            .entry("u16", Value::array(vec![Value::U16(1), Value::U16(0x1234)]))
            .entry("i64", Value::array(vec![Value::I64(-2), Value::I64(3)]))
            .entry("f32", Value::array(vec![Value::F32(1.5), Value::F32(-0.0)]))
            .entry("bool", Value::array(vec![Value::Bool(1), Value::Bool(0)]))
            .write();
        let mut decoder = full(Options::new());
        let mut input = &file.bytes[..];
        let mut runs = 0;
        while let Some(event) = decoder.decode(&mut input).unwrap() {
            let Event::Items(items) = event else { continue };
            runs += 1;
            assert_eq!((items.len(), items.is_empty(), items.scalars().count()), (2, false, 2));
            check_numbers(&items);
        }
        assert_eq!(runs, 4);
    }
}

fn check_numbers(items: &Items<'_>) {
    if let Some(numbers) = items.u16s() {
        assert_eq!(numbers.collect::<Vec<_>>(), [1, 0x1234]);
    } else if let Some(numbers) = items.i64s() {
        assert_eq!(numbers.collect::<Vec<_>>(), [-2, 3]);
    } else if let Some(numbers) = items.f32s() {
        assert_eq!(numbers.map(f32::to_bits).collect::<Vec<_>>(), [0x3fc0_0000, 0x8000_0000]);
    } else {
        assert_eq!(items.bools().unwrap().collect::<Vec<_>>(), [true, false]);
        assert!(items.u8s().is_none());
    }
}

#[test]
fn sizes_stay_small() {
    assert!(size_of::<Decoder>() <= 768, "{}", size_of::<Decoder>());
    assert!(size_of::<TensorSlot>() <= 40);
    assert!(size_of::<Error>() <= 32);
    assert!(size_of::<Event<'_>>() <= 56, "{}", size_of::<Event<'_>>());
    let slots = size_of::<Decoder<[TensorSlot; 8]>>() - size_of::<Decoder>();
    assert_eq!(slots, 8 * size_of::<TensorSlot>(), "nothing else grows");
}

#[test]
fn name_hash_is_fnv_1a() {
    const AT_COMPILE_TIME: u64 = name_hash("foobar");
    assert_eq!(name_hash(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(name_hash("a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(AT_COMPILE_TIME, 0x8594_4171_f739_67e8);
}

/// A block that is never told needs no room.
#[test]
fn an_empty_tensor_of_large_blocks_needs_no_scratch() {
    let file = Gguf::new().tensor(Tensor::new("t", 15, &[256, 0], Vec::new())).write();
    let mut decoder = Decoder::<_, 64>::with_scratch([TensorSlot::EMPTY; 1], Options::new());
    assert_eq!(run(&mut decoder, [&file.bytes[..]]).result, Ok(()));
}

/// Rows backwards are no rows, also where a row has no bytes.
#[test]
fn rows_backwards_are_none() {
    let slot = TensorSlot::new(0, 100, 0, 0, 0, TensorType::F32, ByteOrder::Little);
    let (start, end) = (5, 3);
    assert_eq!((slot.rows(3..5), slot.rows(start..end)), (Some(100..100), None));
}

/// A name is in hand from its first byte on: not while its length is read, and not when that is refused.
#[test]
fn a_refused_length_leaves_no_name_in_hand() {
    let file = Gguf::new().entry("key", Value::U8(1)).tensor(Tensor::new("t", 24, &[1], vec![0])).write();
    for at in [file.entries[0].start, file.tensors[0].start] {
        let mut decoder = full(Options::new().input_bytes(at + 9));
        assert!(matches!(
            run(&mut decoder, [&file.bytes[..]]).error().kind(),
            ErrorKind::ExceedsInput { .. }
        ));
        assert!(decoder.context().name.is_none(), "{:?}", decoder.context());
    }
}

/// Between two things the section is that of the next one.
#[test]
fn the_section_changes_with_the_first_event_of_the_next() {
    let file = Gguf::new()
        .entry("k", Value::U8(1))
        .tensor(Tensor::new("a", 24, &[1], vec![1]))
        .tensor(Tensor::new("b", 24, &[1], vec![1]))
        .write();
    let mut decoder = full(Options::new());
    let mut input = &file.bytes[..];
    let mut sections = Vec::new();
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        if matches!(event, Event::Tensor { .. }) {
            decoder.skip_tensor();
        }
        sections.push(decoder.context().section);
    }
    let (metadata, tensors, data) = (Section::Metadata, Section::Tensors, Section::Data);
    assert_eq!(sections, [metadata, metadata, metadata, tensors, tensors, data, data]);
}
