//! What fuzzing hits rarely, as properties of random files: arrays in arrays, placements of tensors against a model that
//! compares every pair, and names around every bound.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::std_instead_of_core,
    clippy::unwrap_used,
    reason = "a test may panic, and runs on a host"
)]

mod support;

use proptest::collection::vec;
use proptest::prelude::*;
use support::gguf_writer::{Gguf, Tensor, Value, Written};
use support::record::{Seen, agreed, full, run};
use weightstream::{Decoder, ErrorKind, Event, Layout, Options, TensorSlot, ValueType, name_hash};

/// The deepest nesting a decoder takes.
const NESTING: usize = 4;
const F32: u32 = 0;

/// A value with arrays in it, up to `depth` deep.
fn value(depth: usize) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        any::<u8>().prop_map(Value::U8),
        any::<i16>().prop_map(Value::I16),
        any::<u32>().prop_map(Value::U32),
        any::<f64>().prop_map(Value::F64),
        (0..2_u8).prop_map(Value::Bool),
        vec(any::<u8>(), 0..9).prop_map(Value::String),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    prop_oneof![1 => leaf, 2 => array(depth)].boxed()
}

/// An array up to `depth` deep: its elements are of one type, each of them random.
fn array(depth: usize) -> BoxedStrategy<Value> {
    let numbers = vec(any::<u16>().prop_map(Value::U16), 0..9);
    let bools = vec((0..2_u8).prop_map(Value::Bool), 0..9);
    let strings = vec(vec(any::<u8>(), 0..9).prop_map(Value::String), 0..5);
    let flat = prop_oneof![
        numbers.prop_map(|items| Value::Array { element: 2, items }),
        bools.prop_map(|items| Value::Array { element: 7, items }),
        strings.prop_map(|items| Value::Array { element: 8, items }),
    ];
    if depth == 1 {
        return flat.boxed();
    }
    let nested = vec(array(depth - 1), 0..4).prop_map(|items| Value::Array { element: 9, items });
    prop_oneof![1 => flat, 2 => nested].boxed()
}

/// The events that a value should give, its bytes as a little-endian file has them.
fn told(value: &Value, events: &mut Vec<Seen>) {
    let value_type = ValueType::from_id(value.type_id()).unwrap();
    match value {
        Value::String(bytes) => {
            events.push(Seen::Text { bytes: bytes.clone(), total: Some(bytes.len() as u64), last: true });
        }
        Value::Array { element, items } => {
            let element = ValueType::from_id(*element).unwrap();
            events.push(Seen::ArrayStart { element, len: items.len() as u64 });
            match element {
                ValueType::String | ValueType::Array => items.iter().for_each(|item| told(item, events)),
                _ if items.is_empty() => {}
                _ => events.push(Seen::Items { element, bytes: items.iter().flat_map(number).collect() }),
            }
            events.push(Seen::ArrayEnd);
        }
        scalar => {
            let mut bits = [0; 8];
            let bytes = number(scalar);
            // Signed values are noted sign-extended.
            let negative = matches!(scalar, Value::I16(n) if *n < 0);
            bits.fill(if negative { 0xff } else { 0 });
            bits[..bytes.len()].copy_from_slice(&bytes);
            events.push(Seen::Scalar(value_type, u64::from_le_bytes(bits)));
        }
    }
}

/// The little-endian bytes of a scalar, out of a file that holds nothing else.
fn number(value: &Value) -> Vec<u8> {
    let file = Gguf::new().entry("k", value.clone()).write();
    file.bytes[file.entries[0].value as usize..file.entries[0].end as usize].to_vec()
}

/// How deep the arrays of a value are nested: by their types, whether or not there is an element.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array { element: 9, items } => 1 + items.iter().map(depth).max().unwrap_or(0).max(1),
        Value::Array { .. } => 1,
        _ => 0,
    }
}

/// A tensor of `F32`s at its place: (offset in units of the alignment, elements).
type Place = (u64, u64);

/// A file with tensors at these places, however they lie, long enough for all of them.
fn placed(places: &[Place], alignment: u32) -> Written {
    let mut file = Gguf::new().alignment(alignment);
    let mut end = 0;
    for (index, &(unit, elements)) in places.iter().enumerate() {
        let offset = unit * u64::from(alignment);
        end = end.max(offset + elements * 4);
        let tensor = Tensor::new(format!("t{index}"), F32, &[elements], Vec::new());
        file = file.tensor(tensor.claim_offset(offset));
    }
    let mut file = file.last_padding(false).write();
    let data: Vec<u8> = (0..end).map(|at| (at % 251) as u8).collect();
    file.bytes.truncate(file.data_offset as usize);
    file.bytes.extend(data);
    file
}

/// The tensors that share a byte with one described before them: compares every pair.
fn overlapping(places: &[Place], alignment: u32) -> Vec<u32> {
    let span = |&(unit, elements): &Place| {
        let start = unit * u64::from(alignment);
        start..start + elements * 4
    };
    let meets = |later: usize, earlier: usize| {
        let (a, b) = (span(&places[later]), span(&places[earlier]));
        a.start.max(b.start) < a.end.min(b.end)
    };
    let later = (0..places.len()).filter(|&later| (0..later).any(|earlier| meets(later, earlier)));
    later.map(|index| index as u32).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(192) })]

    #[test]
    fn values_with_arrays_at_any_depth_are_told_as_written(values in vec(value(NESTING), 1..5)) {
        let mut file = Gguf::new();
        let mut expected = Vec::new();
        for (index, value) in values.iter().enumerate() {
            file = file.entry(format!("key.{index}"), value.clone());
            told(value, &mut expected);
        }
        let recording = agreed(&file.write().bytes, Options::new());
        prop_assert_eq!(recording.result, Ok(()));
        let values: Vec<Seen> = recording
            .events
            .into_iter()
            .filter(|event| !matches!(event, Seen::Header(_) | Seen::Key { .. } | Seen::DataStart(_) | Seen::End))
            .collect();
        prop_assert_eq!(values, expected);
    }

    #[test]
    fn arrays_are_taken_up_to_the_limit_of_nesting_and_refused_beyond(value in array(NESTING + 2), limit in 1..=NESTING) {
        let file = Gguf::new().entry("k", value.clone()).tensor(Tensor::new("t", F32, &[1], vec![0; 4])).write();
        let result = agreed(&file.bytes, Options::new().nesting(limit as u8)).result;
        match result {
            Ok(()) => prop_assert!(depth(&value) <= limit),
            Err(error) => {
                let refused = ErrorKind::NestingTooDeep { depth: limit as u64 + 1, limit: limit as u64 };
                prop_assert_eq!(error.kind(), refused);
                prop_assert!(depth(&value) > limit);
            }
        }
    }

    #[test]
    fn sparse_tensors_are_refused_exactly_where_two_share_a_byte(
        places in vec((0..12_u64, prop_oneof![Just(0_u64), 0..24_u64]), 0..9),
        alignment in prop_oneof![Just(1_u32), Just(4), Just(8), Just(32), Just(64)],
    ) {
        let file = placed(&places, alignment);
        let recording = agreed(&file.bytes, Options::new().layout(Layout::Sparse));
        let overlapping = overlapping(&places, alignment);
        if let Err(error) = recording.result {
            let ErrorKind::Overlap { other } = error.kind() else { panic!("{error}") };
            prop_assert!(overlapping.contains(&error.index().unwrap()));
            prop_assert!(other < u64::from(error.index().unwrap()));
            prop_assert_eq!(error.offset(), file.metadata_end);
            return Ok(());
        }
        prop_assert_eq!(&overlapping, &Vec::<u32>::new());
        // All data come, in the order of the file, and are those of the place that was asked for.
        let mut last = 0;
        let mut come = 0;
        for event in &recording.events {
            let Seen::Data { tensor, bytes, first_element: 0, .. } = event else { continue };
            let (unit, elements) = places[*tensor as usize];
            let start = unit * u64::from(alignment);
            prop_assert_eq!(bytes.len() as u64, elements * 4);
            prop_assert_eq!(u64::from(bytes[0]), start % 251);
            prop_assert!(come == 0 || start >= last);
            last = start;
            come += 1;
        }
        prop_assert_eq!(come, places.iter().filter(|place| place.1 > 0).count());
    }

    #[test]
    fn contiguous_tensors_are_those_whose_offsets_are_the_padded_sums(
        mut elements in vec(prop_oneof![Just(0_u64), 0..40_u64], 1..9),
        alignment in prop_oneof![Just(1_u32), Just(2), Just(8), Just(32), Just(4096)],
        wrong in any::<prop::sample::Index>(),
        by in prop_oneof![Just(0_u64), 1..3_u64],
    ) {
        elements.push(1);
        let wrong = wrong.index(elements.len());
        let mut sum = 0;
        let mut places = Vec::new();
        for (index, count) in elements.iter().enumerate() {
            places.push((sum + if index == wrong { by } else { 0 }, *count));
            sum += (count * 4).div_ceil(u64::from(alignment));
        }
        let file = placed(&places, alignment);
        let result = agreed(&file.bytes, Options::new()).result;
        if by == 0 {
            prop_assert_eq!(result, Ok(()));
        } else {
            let error = result.unwrap_err();
            let unit = u64::from(alignment);
            let (data_offset, expected) = (places[wrong].0 * unit, (places[wrong].0 - by) * unit);
            prop_assert_eq!(error.kind(), ErrorKind::OffsetMismatch { data_offset, expected });
            prop_assert_eq!(error.offset(), file.tensors[wrong].start);
            prop_assert_eq!(error.index(), Some(wrong as u32));
        }
    }

    #[test]
    fn names_keep_their_text_within_the_scratch_and_their_hash_beyond(
        name in "[a-zé中😀.]{1,90}",
        limit in 1..400_u32,
        chunk in 1..30_usize,
    ) {
        let file = Gguf::new().entry(&name, Value::U8(1)).tensor(Tensor::new(&name, F32, &[1], vec![0; 4])).write();
        let options = Options::new().key_bytes(limit);
        let mut decoder = Decoder::<_, 64>::with_scratch([TensorSlot::EMPTY; 1], options);
        let mut seen = 0;
        let mut check = |event: Event<'_>| {
            let (Event::Key { name: told, .. } | Event::Tensor { name: told, .. }) = event else { return };
            seen += 1;
            let fits = name.len() <= 64;
            assert_eq!(told.is_cut(), !fits);
            assert_eq!(told == name.as_str(), fits);
            assert_eq!(told.as_str(), fits.then_some(name.as_str()));
            assert!(name.starts_with(told.prefix()) && told.prefix().len() + 3 >= name.len().min(64));
            assert_eq!(told.hash(), name_hash(&name));
            assert_eq!(told.len() as usize, name.len());
        };
        let mut result = Ok(());
        'file: for mut piece in file.bytes.chunks(chunk) {
            loop {
                match decoder.decode(&mut piece) {
                    Ok(Some(event)) => check(event),
                    Ok(None) => break,
                    Err(error) => {
                        result = Err(error);
                        break 'file;
                    }
                }
            }
        }
        if name.len() <= limit as usize {
            prop_assert_eq!((result, decoder.finish(), seen), (Ok(()), Ok(()), 2));
            prop_assert!(decoder.directory().find(&name).is_some());
        } else {
            let kind = ErrorKind::NameTooLong { bytes: name.len() as u64, limit: limit.into() };
            prop_assert_eq!(result.map_err(|error| (error.kind(), error.offset())), Err((kind, file.entries[0].start)));
        }
    }

    #[test]
    fn random_cuts_tell_what_the_whole_file_tells(
        values in vec(value(3), 0..4),
        elements in vec(0..40_u64, 0..4),
        cuts in vec(0..40_usize, 0..60),
    ) {
        let mut file = Gguf::new();
        for (index, value) in values.iter().enumerate() {
            file = file.entry(format!("k{index}"), value.clone());
        }
        for (index, elements) in elements.iter().enumerate() {
            file = file.tensor(Tensor::new(format!("t{index}"), F32, &[*elements], vec![7; *elements as usize * 4]));
        }
        let bytes = file.write().bytes;
        let mut rest = bytes.as_slice();
        let mut pieces = Vec::new();
        for cut in cuts {
            let (piece, behind) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            rest = behind;
        }
        pieces.push(rest);
        prop_assert_eq!(run(&mut full(Options::new()), pieces), agreed(&bytes, Options::new()));
    }
}
