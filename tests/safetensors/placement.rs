//! Where tensors lie: exact with all of them recorded, held against a model that looks at every byte or pair; without, what
//! is checked and what is not.

use proptest::collection::vec;
use proptest::prelude::*;
use weightstream::{Error, ErrorKind, Event, Options, TensorSlot, safetensors};

use crate::support::record::run;
use crate::support::safetensors_writer::{agreed, file, object, tensor};

type Range = (u64, u64);

fn with_ranges(ranges: &[Range]) -> Vec<u8> {
    let entry = |(index, (start, end)): (usize, &Range)| {
        tensor(&format!("t{index}"), "U8", &[end - start], *start, *end)
    };
    let entries: Vec<_> = ranges.iter().enumerate().map(entry).collect();
    let end = ranges.iter().map(|(_, end)| *end).max().unwrap_or(0);
    file(object(&entries), &vec![0; end as usize])
}

/// Every byte up to the end belongs to one tensor, and an empty tensor lies in none.
fn tiles(ranges: &[Range]) -> bool {
    let end = ranges.iter().map(|(_, end)| *end).max().unwrap_or(0);
    let owners = |byte: u64| ranges.iter().filter(|(start, end)| (*start..*end).contains(&byte)).count();
    let is_inside = |at: u64| ranges.iter().any(|(start, end)| *start < at && at < *end);
    (0..end).all(|byte| owners(byte) == 1)
        && ranges.iter().filter(|(start, end)| start == end).all(|(at, _)| !is_inside(*at))
}

/// The verdict with the first `recorded` tensors in slots.
fn verdict(bytes: &[u8], recorded: usize) -> Result<(), Error> {
    let mut decoder = safetensors::Decoder::new(vec![TensorSlot::EMPTY; recorded]);
    let mut tensors = 0;
    let mut input = bytes;
    while let Some(event) = decoder.decode(&mut input)? {
        if matches!(event, Event::Tensor { .. }) {
            tensors += 1;
            if tensors > recorded {
                decoder.skip_tensor();
            }
        }
    }
    decoder.finish()
}

/// What is told with all recorded is right: the tensors that are named do overlap, the hole is there.
fn is_true(kind: ErrorKind, index: usize, ranges: &[Range]) -> bool {
    let (start, end) = ranges[index];
    match kind {
        ErrorKind::Overlap { other } => {
            let (first, last) = ranges[other as usize];
            let shares = start.max(first) < end.min(last);
            let empty_inside = start == end && first < start && start < last
                || first == last && start < first && first < end;
            (other as usize) < index && (shares || empty_inside)
        }
        ErrorKind::Hole { data_offset, expected } => {
            let covered = |byte: u64| ranges.iter().any(|(start, end)| (*start..*end).contains(&byte));
            data_offset == start && expected < start && (expected..start).all(|byte| !covered(byte))
        }
        _ => false,
    }
}

/// The sum of the sizes is where the last one with data ends, and no empty one lies behind that.
fn adds_up(ranges: &[Range]) -> bool {
    let sum: u64 = ranges.iter().map(|(start, end)| end - start).sum();
    let with_data = ranges.iter().filter(|(start, end)| start < end).map(|(_, end)| *end).max();
    sum == with_data.unwrap_or(0) && ranges.iter().all(|(_, end)| *end <= sum)
}

fn check(ranges: &[Range]) {
    let bytes = with_ranges(ranges);
    match (tiles(ranges), agreed(&bytes, Options::new()).result) {
        (true, Ok(())) => {}
        (false, Err(error)) => {
            let index = error.index().expect("a tensor is named") as usize;
            assert!(is_true(error.kind(), index, ranges), "{ranges:?}: {error}");
        }
        (expected, result) => panic!("{ranges:?}: {result:?}, but {expected}"),
    }
    // What is not recorded is only added up; a good file is good whatever is recorded.
    for recorded in 0..ranges.len() {
        let result = verdict(&bytes, recorded);
        assert!(result.is_ok() || !tiles(ranges), "{ranges:?}, {recorded} recorded: {result:?}");
        assert!(result.is_err() || adds_up(ranges), "{ranges:?}, {recorded} recorded");
        if recorded == 0 {
            assert_eq!(result.is_ok(), adds_up(ranges), "{ranges:?}, none recorded");
            let not_covered = |error: Error| matches!(error.kind(), ErrorKind::NotCovered { .. });
            assert!(result.is_ok_and(|()| true) || result.is_err_and(not_covered));
        }
    }
}

/// Ranges that tile, in any order, with empty ones at edges; some are moved afterwards.
fn nearly_tiling() -> impl Strategy<Value = Vec<Range>> {
    let moves = vec((any::<prop::sample::Index>(), -2..3_i64, -2..3_i64), 0..3);
    (vec(0..4_u64, 0..9), moves).prop_flat_map(|(sizes, moves)| {
        let mut ranges = Vec::new();
        let mut at = 0;
        for size in sizes {
            ranges.push((at, at + size));
            at += size;
        }
        for (index, by, grow) in moves {
            if let Some((start, end)) = (!ranges.is_empty()).then(|| index.get(&ranges)).copied() {
                let start = start.saturating_add_signed(by);
                let end = end.saturating_add_signed(by).saturating_add_signed(grow).max(start);
                let at = index.index(ranges.len());
                ranges[at] = (start, end);
            }
        }
        Just(ranges).prop_shuffle()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn tensors_that_nearly_tile_get_the_verdict_of_the_model(ranges in nearly_tiling()) {
        check(&ranges);
    }

    #[test]
    fn tensors_anywhere_get_the_verdict_of_the_model(
        ranges in vec((0..8_u64, 0..5_u64).prop_map(|(start, len)| (start, start + len)), 0..6),
    ) {
        check(&ranges);
    }
}

/// All placements of up to three small tensors.
#[test]
fn all_small_placements_get_the_verdict_of_the_model() {
    let all: Vec<Range> = (0..4).flat_map(|start| (start..4).map(move |end| (start, end))).collect();
    for a in &all {
        check(&[*a]);
        for b in &all {
            check(&[*a, *b]);
            for c in &all {
                check(&[*a, *b, *c]);
            }
        }
    }
}

/// An overlap of one byte makes up for a hole of one byte: that is why the sum does not suffice.
#[test]
fn the_sum_alone_is_fooled_and_the_directory_is_not() {
    let ranges = [(0, 2), (1, 3), (4, 5)];
    assert!(adds_up(&ranges) && !tiles(&ranges));
    let bytes = with_ranges(&ranges);
    assert_eq!(verdict(&bytes, 0), Ok(()));
    assert_eq!(verdict(&bytes, 1), Ok(()));
    assert_eq!(verdict(&bytes, 2).unwrap_err().kind(), ErrorKind::Overlap { other: 0 });
    assert_eq!(verdict(&bytes, 3).unwrap_err().kind(), ErrorKind::Overlap { other: 0 });
}

#[test]
fn without_all_recorded_the_sum_is_told() {
    let bytes = with_ranges(&[(0, 2), (3, 5)]);
    let header = u64::from_le_bytes(*bytes.first_chunk().unwrap());
    for recorded in [0, 1] {
        let error = verdict(&bytes, recorded).unwrap_err();
        let kind = ErrorKind::NotCovered { bytes: 4, end: 5 };
        assert_eq!((error.kind(), error.offset(), error.index()), (kind, 8 + header, None));
        assert_eq!(error.code(), "safetensors.not_covered");
    }
}

/// A sum beyond all numbers is held to be too large, not wrapped.
#[test]
fn sizes_that_add_up_beyond_64_bits_are_refused() {
    let half = 1_u64 << 62;
    let entries: Vec<_> = (0..5).map(|index| tensor(&index.to_string(), "U8", &[half], 0, half)).collect();
    let bytes = file(object(&entries), &[]);
    let told = run(&mut safetensors::Decoder::new([]), [&bytes[..]]);
    let kind = ErrorKind::NotCovered { bytes: i64::MAX as u64, end: half };
    assert_eq!(told.error().kind(), kind);
}

#[test]
fn many_empty_tensors_between_others_cost_nothing() {
    let mut entries = vec![tensor("a", "U8", &[3], 0, 3), tensor("b", "U8", &[2], 3, 5)];
    entries.extend(
        (0..37).map(|index| tensor(&format!("e{index}"), "F64", &[0], 3 * (index % 2), 3 * (index % 2))),
    );
    assert_eq!(agreed(&file(object(&entries), &[1, 2, 3, 4, 5]), Options::new()).result, Ok(()));
}
