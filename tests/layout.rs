//! How tensors may lie in the data section, how large they may be, and what becomes of unknown types.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use support::gguf_writer::{Gguf, Tensor, Written};
use support::record::{Full, Recording, Seen, agreed, full, lenient, whole};
use weightstream::{DataStart, Error, ErrorKind, Layout, Options, TensorType, UnknownTypes};

const I8: u32 = 24;
const UNKNOWN: u32 = 99;

fn sparse() -> Options {
    Options::new().layout(Layout::Sparse)
}

fn infer() -> Options {
    Options::new().unknown_types(UnknownTypes::Infer)
}

/// A tensor of bytes, each of them `fill`.
fn bytes(name: &str, fill: u8, len: usize) -> Tensor {
    Tensor::new(name, I8, &[len as u64], vec![fill; len])
}

fn unknown(name: &str, fill: u8, len: usize) -> Tensor {
    Tensor::new(name, UNKNOWN, &[7, 3], vec![fill; len])
}

fn data_start(recording: &Recording) -> DataStart {
    let start = recording.events.iter().find_map(|event| match event {
        Seen::DataStart(start) => Some(*start),
        _ => None,
    });
    start.unwrap()
}

/// The data told: tensor, type, bytes.
fn data(recording: &Recording) -> Vec<(u32, u32, Vec<u8>)> {
    let data = recording.events.iter().filter_map(|event| match event {
        Seen::Data { tensor, tensor_type, bytes, first_element: 0 } => {
            Some((*tensor, tensor_type.id(), bytes.clone()))
        }
        _ => None,
    });
    data.collect()
}

fn refused(file: &Written, options: Options) -> (ErrorKind, Option<u32>, u64) {
    let error = agreed(&file.bytes, options).error();
    (error.kind(), error.index(), error.offset())
}

#[test]
fn contiguous_is_the_padded_sum() {
    for alignment in [1, 2, 4, 8, 32, 64, 4096, 1 << 20] {
        let file = Gguf::new()
            .alignment(alignment)
            .tensor(bytes("a", 1, 33))
            .tensor(bytes("b", 2, 64))
            .tensor(bytes("c", 3, 1))
            .write();
        // Files of megabytes are not cut into single bytes.
        let told = whole(&file.bytes, Options::new());
        assert_eq!(told.result, Ok(()), "alignment {alignment}");
        let start = data_start(&told);
        assert_eq!((start.offset, start.alignment), (file.data_offset, alignment));
        assert_eq!((start.end, start.contiguous), (Some(file.tensors[2].data + 1), true));
        assert_eq!(told.position, start.end);
        assert_eq!(data(&told), [(0, I8, vec![1; 33]), (1, I8, vec![2; 64]), (2, I8, vec![3])]);
    }
}

/// A start that is aligned already gets no padding.
#[test]
fn an_aligned_start_is_not_padded() {
    let name = |len: usize| "n".repeat(len);
    let mut aligned = 0;
    for len in 1..=32 {
        let file = Gguf::new().tensor(bytes(&name(len), 1, 4)).write();
        let told = agreed(&file.bytes, Options::new());
        assert_eq!(data_start(&told).offset, file.metadata_end.next_multiple_of(32));
        aligned += usize::from(data_start(&told).offset == file.metadata_end);
    }
    assert_eq!(aligned, 1);
}

#[test]
fn contiguous_refuses_gaps_shuffles_and_offsets_for_another_alignment() {
    let gap = Gguf::new().tensor(bytes("a", 1, 4)).tensor(bytes("b", 2, 4).gap(32)).write();
    let mismatch = |data_offset, expected| ErrorKind::OffsetMismatch { data_offset, expected };
    assert_eq!(refused(&gap, Options::new()), (mismatch(64, 32), Some(1), gap.tensors[1].start));
    let first = Gguf::new().tensor(bytes("a", 1, 4).gap(32)).write();
    assert_eq!(refused(&first, Options::new()), (mismatch(32, 0), Some(0), first.tensors[0].start));
    let file = Gguf::new().tensor(bytes("a", 1, 4)).tensor(bytes("b", 2, 4));
    let shuffled = file.clone().data_order(&[1, 0]).write();
    assert_eq!(refused(&shuffled, Options::new()), (mismatch(32, 0), Some(0), shuffled.tensors[0].start));
    // Offsets for an alignment of 1 in a file of 32.
    let packed = file.pad_to(1).write();
    assert_eq!(refused(&packed, Options::new()), (mismatch(4, 32), Some(1), packed.tensors[1].start));
}

#[test]
fn sparse_takes_gaps_and_any_order() {
    let file = Gguf::new()
        .tensor(bytes("c", 3, 5))
        .tensor(bytes("a", 1, 40).gap(96))
        .tensor(bytes("b", 2, 7))
        .data_order(&[1, 2, 0])
        .padding(0xee)
        .write();
    let told = agreed(&file.bytes, sparse());
    assert_eq!(told.result, Ok(()));
    let start = data_start(&told);
    assert!(!start.contiguous);
    assert_eq!(start.end, Some(file.tensors[0].data + 5));
    let expected = [(1, I8, vec![1; 40]), (2, I8, vec![2; 7]), (0, I8, vec![3; 5])];
    assert_eq!(data(&told), expected, "in the order of the data");

    let file = Gguf::new().tensor(bytes("a", 1, 5)).tensor(bytes("b", 2, 7)).write();
    assert!(data_start(&agreed(&file.bytes, sparse())).contiguous, "it happens to be");
}

/// The index is that of the tensor described later, wherever it lies.
#[test]
fn sparse_refuses_overlaps() {
    let three = |offsets: [u64; 3]| {
        let mut file = Gguf::new();
        for (name, offset) in ["a", "b", "c"].into_iter().zip(offsets) {
            file = file.tensor(bytes(name, 1, 40).claim_offset(offset));
        }
        file.write()
    };
    let cases = [
        ([0, 0, 64], 0, 1),
        ([0, 64, 0], 0, 2),
        ([64, 32, 0], 1, 2),
        ([32, 0, 64], 0, 1),
        ([0, 64, 32], 0, 2),
        ([128, 0, 32], 1, 2),
        ([64, 128, 96], 0, 2),
    ];
    for (offsets, other, index) in cases {
        let file = three(offsets);
        let (kind, at, offset) = refused(&file, sparse());
        let expected = (ErrorKind::Overlap { other }, Some(index), file.metadata_end);
        // Where two pairs overlap, the one that comes first in the data.
        assert_eq!((kind, at, offset), expected, "{offsets:?}");
    }
    assert_eq!(agreed(&three([128, 0, 64]).bytes, sparse()).result, Ok(()));
}

/// Among recorded tensors only.
#[test]
fn a_skipped_tensor_overlaps_nothing() {
    let file = Gguf::new().tensor(bytes("a", 1, 40)).tensor(bytes("b", 2, 40).claim_offset(0)).write();
    let told = skipping(&file.bytes, sparse(), &["a"]);
    assert_eq!(told.result, Ok(()));
    assert_eq!(data(&told), [(1, I8, vec![1; 40])]);
}

/// Runs over a file and skips the tensors of these names.
fn skipping(bytes: &[u8], options: Options, names: &[&str]) -> Recording {
    let skip = |decoder: &mut Full, seen: &Seen| {
        if matches!(seen, Seen::Tensor { name, .. } if names.contains(&name.text.as_str())) {
            decoder.skip_tensor();
        }
    };
    let mut told = Recording::new();
    let mut decoder = full(options);
    told.push_and(&mut decoder, bytes, skip);
    let told = told.close(&decoder);
    let (mut again, mut decoder) = (Recording::new(), full(options));
    for piece in bytes.chunks(1) {
        again.push_and(&mut decoder, piece, skip);
    }
    assert_eq!(again.close(&decoder), told);
    told
}

#[test]
fn sparse_refuses_unaligned_offsets() {
    for (alignment, data_offset) in [(32, 48), (64, 96), (8, 36), (2, 41)] {
        let file = Gguf::new()
            .alignment(alignment)
            .tensor(bytes("a", 1, 4))
            .tensor(bytes("b", 2, 4).claim_offset(data_offset))
            .write();
        let alignment = u64::from(alignment);
        let kind = ErrorKind::OffsetUnaligned { data_offset, alignment };
        assert_eq!(refused(&file, sparse()), (kind, Some(1), file.tensors[1].start));
    }
}

#[test]
fn duplicates_are_told_by_the_later_one() {
    let file = |names: &[&str]| {
        let tensors = names.iter().map(|name| bytes(name, 1, 4));
        tensors.fold(Gguf::new(), Gguf::tensor).write()
    };
    for (names, other, index) in
        [(&["a", "b", "c", "b"][..], 1, 3), (&["x", "x"], 0, 1), (&["", "y", ""], 0, 2)]
    {
        let file = file(names);
        for options in [Options::new(), sparse()] {
            let expected = (ErrorKind::DuplicateTensor { other }, Some(index), file.metadata_end);
            assert_eq!(refused(&file, options), expected, "{names:?}");
        }
    }
    // One of them skipped is no matter.
    let twice = Gguf::new().tensor(bytes("a", 1, 4)).tensor(bytes("a", 2, 4)).write();
    assert_eq!(skipping(&twice.bytes, Options::new(), &["a"]).result, Ok(()));
}

#[test]
fn empty_tensors_share_offsets() {
    let empty = |name: &str, dims: &[u64]| Tensor::new(name, 0, dims, Vec::new());
    let file = Gguf::new()
        .tensor(empty("z", &[0]))
        .tensor(bytes("a", 1, 33))
        .tensor(empty("y", &[4, 0]))
        .tensor(empty("x", &[0, 0, 0, 0]))
        .tensor(bytes("b", 2, 3))
        .tensor(empty("w", &[0, 9]))
        .write();
    for options in [Options::new(), sparse()] {
        let told = agreed(&file.bytes, options);
        assert_eq!(told.result, Ok(()));
        assert_eq!(data(&told), [(1, I8, vec![1; 33]), (4, I8, vec![2; 3])]);
        assert_eq!(told.position, Some(file.tensors[4].data + 3), "the last one has no last byte");
        assert!(data_start(&told).contiguous);
    }
    // In the middle of another tensor's bytes an empty one overlaps nothing.
    let inside = Gguf::new().tensor(bytes("a", 1, 64)).tensor(empty("z", &[0]).claim_offset(32)).write();
    assert_eq!(agreed(&inside.bytes, sparse()).result, Ok(()));
    // With nothing but empty tensors the file ends where the data would start.
    let only = Gguf::new().tensor(empty("z", &[0])).tensor(empty("y", &[0])).write();
    let told = agreed(&only.bytes, Options::new());
    assert_eq!((told.result, told.position), (Ok(()), Some(only.data_offset)));
    let cut = only.data_offset as usize - 1;
    assert_eq!(agreed(&only.bytes[..cut], Options::new()).error().code(), "input.truncated");
}

/// The verdict on a shape with zeros does not depend on where they stand.
#[test]
fn zeros_in_any_order() {
    let verdict = |type_id, dims: &[u64]| {
        let file = Gguf::new().tensor(Tensor::hollow("t", type_id, dims, 0)).write();
        agreed(&file.bytes, Options::new()).result.map_err(|error| error.kind())
    };
    let large = 1 << 62;
    for dims in [[0, large, 4], [large, 0, 4], [large, 4, 0]] {
        assert_eq!(verdict(I8, &dims), Err(ErrorKind::ShapeOverflow), "{dims:?}");
    }
    for dims in [[0, large, 1], [large, 0, 1], [1, large, 0], [large, 1, 0]] {
        assert_eq!(verdict(I8, &dims), Ok(()), "{dims:?}");
        // 2^62 elements of 8 bytes would be too many, but there are none.
        assert_eq!(verdict(27, &dims), Ok(()), "{dims:?}");
    }
    // A row of blocks that is empty is whole; one that is not must be, even if no row is there.
    assert_eq!(verdict(2, &[0, 5]), Ok(()));
    assert_eq!(verdict(2, &[32, 0]), Ok(()));
    let kind = ErrorKind::RowNotWholeBlocks { row_elements: 31, block_elements: 32 };
    assert_eq!(verdict(2, &[31, 0]), Err(kind));
}

/// Sizes beyond what 64 bits count: the cases of ggml's own tests, and blocks whose bytes exceed their elements.
#[test]
fn sizes_that_overflow() {
    let verdict = |tensors: &[(u32, &[u64])], options| {
        let mut file = Gguf::new();
        let mut offset = 0;
        for (index, (type_id, dims)) in tensors.iter().enumerate() {
            let tensor = Tensor::hollow(index.to_string(), *type_id, dims, 0).claim_offset(offset);
            file = file.tensor(tensor);
            // What a tensor of bytes takes.
            offset += dims.iter().fold(1_u64, |product, dim| product.saturating_mul(*dim));
        }
        let file = file.write();
        let (kind, index, at) = refused(&file, options);
        let start = index.and_then(|index| file.tensors.get(index as usize)).map(|tensor| tensor.start);
        assert!(Some(at) == start || at == file.metadata_end || matches!(kind, ErrorKind::Truncated { .. }));
        (kind, index)
    };
    let (shape, size) = (ErrorKind::ShapeOverflow, ErrorKind::SizeOverflow);
    let ne = 4 * ((1 << 31) - 1);
    for options in [Options::new(), sparse(), infer()] {
        for dims in [&[ne, ne][..], &[ne, ne, ne], &[ne, ne, ne, ne]] {
            assert_eq!(verdict(&[(0, dims)], options), (shape, Some(0)), "the number of elements");
        }
        assert_eq!(verdict(&[(I8, &[u64::MAX; 4])], options), (shape, Some(0)), "-1");
        assert_eq!(verdict(&[(I8, &[1 << 63])], options), (shape, Some(0)));
        assert_eq!(verdict(&[(I8, &[1, 1 << 63])], options), (shape, Some(0)));
        let wide = (1 << 61) / 100 * 101;
        assert_eq!(verdict(&[(27, &[wide])], options), (size, Some(0)), "the number of bytes");
        let (a, b) = ((1 << 30) - 1, (1 << 30) + 1);
        assert_eq!(verdict(&[(0, &[4, a, b])], options), (size, Some(0)), "2^64 - 16 wraps when padded");
        // 2^63 - 64 bytes each: one may be, two may not.
        let half = 0x7FFF_FFFF_FFFF_FFC0;
        assert_eq!(verdict(&[(I8, &[half]), (I8, &[half])], options), (size, Some(1)), "the sum");
        // Q4_0 multiplies by 18 before it divides by 32 in ggml, and wraps to 2^56.
        let missing = ErrorKind::Truncated { needed: 648_518_346_341_351_424, got: 0 };
        assert_eq!(verdict(&[(2, &[1 << 60])], options), (missing, Some(0)), "it is only not there");
    }
    // Too far away, in any order.
    for offset in [1 << 63, (1 << 63) - 32, u64::MAX - 31] {
        let file = Gguf::new().tensor(bytes_at("t", offset)).write();
        let error = agreed(&file.bytes, sparse()).error();
        assert_eq!((error.kind(), error.index()), (ErrorKind::SizeOverflow, Some(0)), "{offset}");
    }
    // In the data section it is near enough, in the file it is not.
    let far = Gguf::new().tensor(bytes("a", 1, 4)).tensor(bytes_at("t", (1 << 63) - 64)).write();
    assert_eq!(refused(&far, sparse()), (ErrorKind::SizeOverflow, Some(1), far.metadata_end));
}

fn bytes_at(name: &str, offset: u64) -> Tensor {
    Tensor::hollow(name, I8, &[32], 0).claim_offset(offset)
}

#[test]
fn unknown_types_are_refused_by_default() {
    let file = |id| Gguf::new().tensor(Tensor::new("t", id, &[1], vec![1])).write();
    let at = file(0).tensors[0].type_id;
    for options in [Options::new(), sparse()] {
        let unknown = (ErrorKind::UnknownTensorType { id: 1234 }, Some(0), at);
        assert_eq!(refused(&file(1234), options), unknown);
        assert_eq!(refused(&file(4), options), (ErrorKind::RemovedTensorType { id: 4 }, Some(0), at));
    }
}

/// Its length runs to the next tensor, padding included; its data come raw.
#[test]
fn an_unknown_type_in_the_middle_is_inferred() {
    for id in [UNKNOWN, 4, u32::MAX] {
        let file = Gguf::new()
            .tensor(bytes("a", 1, 3))
            .tensor(Tensor::new("u", id, &[7, 3], vec![2; 70]))
            .tensor(bytes("b", 3, 4))
            .padding(0xee)
            .write();
        let raw = [vec![2; 70], vec![0xee; 26]].concat();
        let expected = [(0, I8, vec![1; 3]), (1, id, raw), (2, I8, vec![3; 4])];
        for options in [infer(), lenient()] {
            let told = agreed(&file.bytes, options);
            assert_eq!(told.result, Ok(()));
            assert_eq!(data(&told), expected);
            assert_eq!(told.events.last(), Some(&Seen::End));
            let start = data_start(&told);
            assert_eq!(start.end, Some(file.tensors[2].data + 4));
            assert!(matches!(&told.events[2], Seen::Tensor { info, .. }
                if info.bytes().is_none() && info.dims() == [7, 3] && info.tensor_type().id() == id));
            let mut decoder = full(options);
            Recording::new().push(&mut decoder, &file.bytes);
            let slot = decoder.directory().find("u").unwrap();
            assert_eq!((slot.bytes(), slot.offset()), (Some(96), file.tensors[1].data));
            assert_eq!((slot.row_bytes(), slot.rows(0..1)), (None, None));
        }
    }
}

/// The last one runs to the end of the input: where that is not known, there is no end.
#[test]
fn an_unknown_type_at_the_end_runs_to_the_end_of_the_input() {
    let file = Gguf::new().tensor(bytes("a", 1, 3)).tensor(unknown("u", 2, 50)).last_padding(false).write();
    let data_at = file.tensors[1].data;
    let size = file.bytes.len() as u64;
    assert_eq!(size, data_at + 50);
    for options in [infer(), lenient()] {
        let told = agreed(&file.bytes, options);
        assert_eq!((told.result, told.position), (Ok(()), Some(size)));
        assert_eq!(data_start(&told).end, None);
        assert!(!told.events.contains(&Seen::End));
        assert_eq!(data(&told)[1], (1, UNKNOWN, vec![2; 50]));
        // Wherever it stops, it may have ended; but it must have begun.
        for len in [data_at, data_at + 1, size - 1] {
            assert_eq!(agreed(&file.bytes[..len as usize], options).result, Ok(()), "{len}");
        }
        let error = agreed(&file.bytes[..data_at as usize - 1], options).error();
        assert_eq!(error.code(), "input.truncated");

        let known = options.input_bytes(size);
        let told = agreed(&file.bytes, known);
        assert_eq!((told.result, data_start(&told).end), (Ok(()), Some(size)));
        assert_eq!(told.events.last(), Some(&Seen::End));
        assert_eq!(data(&told)[1], (1, UNKNOWN, vec![2; 50]));
        let mut decoder = full(known);
        Recording::new().push(&mut decoder, &file.bytes);
        assert_eq!(decoder.directory().find("u").unwrap().bytes(), Some(50));
        // A byte less than was said is a truncation of that tensor.
        let error = agreed(&file.bytes[..size as usize - 1], known).error();
        assert_eq!(error.kind(), ErrorKind::Truncated { needed: 50, got: 49 });
        assert_eq!((error.offset(), error.index()), (data_at, Some(1)));
    }
}

#[test]
fn two_unknown_types_in_a_row() {
    let file = Gguf::new()
        .tensor(unknown("u", 1, 33))
        .tensor(unknown("v", 2, 32))
        .tensor(bytes("a", 3, 4))
        .tensor(unknown("w", 4, 8))
        .tensor(unknown("x", 5, 9))
        .last_padding(false)
        .write();
    let pad = |fill: u8, len: usize, to: usize| [vec![fill; len], vec![0; to - len]].concat();
    let expected = [
        (0, UNKNOWN, pad(1, 33, 64)),
        (1, UNKNOWN, vec![2; 32]),
        (2, I8, vec![3; 4]),
        (3, UNKNOWN, pad(4, 8, 32)),
        (4, UNKNOWN, vec![5; 9]),
    ];
    for options in [infer(), lenient()] {
        let told = agreed(&file.bytes, options);
        assert_eq!((told.result, data(&told)), (Ok(()), expected.to_vec()));
        let told = agreed(&file.bytes, options.input_bytes(file.bytes.len() as u64));
        assert_eq!((told.result, data(&told)), (Ok(()), expected.to_vec()));
        assert_eq!(told.events.last(), Some(&Seen::End));
    }
}

/// Behind an unknown one the next tensor may start anywhere that is aligned and not before it.
#[test]
fn what_follows_an_unknown_type_keeps_to_the_alignment() {
    let file = |offset| {
        let first = Gguf::new().tensor(bytes("a", 1, 32)).tensor(unknown("u", 2, 32));
        first.tensor(bytes("b", 3, 4).claim_offset(offset)).write()
    };
    let kind = |data_offset| ErrorKind::OffsetMismatch { data_offset, expected: 32 };
    let at = file(0).tensors[2].start;
    for offset in [0, 1, 33, 63, 65] {
        assert_eq!(refused(&file(offset), infer()), (kind(offset), Some(2), at));
    }
    let told = agreed(&file(32).bytes, infer());
    assert_eq!((told.result, data(&told).len()), (Ok(()), 2), "the unknown one may be empty");
}

/// Skipped tensors among unknown ones: with a fixed order nothing is lost, without one a length may be.
#[test]
fn unknown_types_and_skipped_tensors() {
    let file = Gguf::new()
        .tensor(bytes("a", 1, 3))
        .tensor(unknown("u", 2, 40))
        .tensor(bytes("b", 3, 4))
        .last_padding(false)
        .write();
    let u = (1, UNKNOWN, [vec![2; 40], vec![0; 24]].concat());
    let told = skipping(&file.bytes, infer(), &["a", "b"]);
    assert_eq!((told.result, data(&told)), (Ok(()), vec![u.clone()]));
    let told = skipping(&file.bytes, infer(), &["u"]);
    assert_eq!((told.result, data(&told).len()), (Ok(()), 2));

    let all = skipping(&file.bytes, lenient(), &[]);
    assert_eq!((all.result, data(&all)[1].clone()), (Ok(()), u));
    for skipped in [&["a"][..], &["b"], &["a", "b"]] {
        let error: Error = skipping(&file.bytes, lenient(), skipped).error();
        assert_eq!((error.kind(), error.index()), (ErrorKind::LengthUnknown, Some(1)), "{skipped:?}");
        assert_eq!(error.offset(), file.metadata_end);
    }
    let told = skipping(&file.bytes, lenient(), &["u"]);
    assert_eq!((told.result, data(&told).len()), (Ok(()), 2), "nobody asks for its length");
    assert_eq!(skipping(&file.bytes, lenient(), &["a", "b", "u"]).result, Ok(()));
}

/// In any order the length of an unknown type runs to whatever comes next in the file.
#[test]
fn unknown_types_in_any_order() {
    let file = Gguf::new()
        .tensor(unknown("u", 1, 40))
        .tensor(bytes("a", 2, 4))
        .tensor(unknown("v", 3, 32))
        .data_order(&[2, 1, 0])
        .last_padding(false)
        .write();
    let size = file.bytes.len() as u64;
    let expected = [(2, UNKNOWN, vec![3; 32]), (1, I8, vec![2; 4]), (0, UNKNOWN, vec![1; 40])];
    for options in [lenient(), lenient().input_bytes(size)] {
        let told = agreed(&file.bytes, options);
        assert_eq!((told.result, data(&told)), (Ok(()), expected.to_vec()));
    }
}

#[test]
fn every_known_type_is_sized() {
    for tensor_type in TensorType::ALL {
        let (elements, block) =
            (tensor_type.block_elements().unwrap(), tensor_type.block_bytes().unwrap() as usize);
        let dims = [u64::from(elements) * 2, 3];
        let bytes: Vec<u8> = (0..block * 6).map(|index| index as u8).collect();
        let file = Gguf::new().tensor(Tensor::new("t", tensor_type.id(), &dims, bytes.clone())).write();
        let told = agreed(&file.bytes, Options::new());
        assert_eq!((told.result, data(&told)), (Ok(()), vec![(0, tensor_type.id(), bytes)]), "{tensor_type}");
    }
}
