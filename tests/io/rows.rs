//! Rows of a tensor are what dequantizing the whole tensor gives there.

use std::convert::Infallible;

use weightstream::io::{Part, RowsError, read_rows};
use weightstream::{ByteOrder, DequantizeError, TensorSlot, TensorType};

use crate::sources::{Boaster, Broken, Gives, TestFile};
use crate::support::random::Random;

const OFFSET: usize = 11;
const ROWS: u64 = 3;
const ROW_BLOCKS: u64 = 2;

/// Stands where nothing may be written.
const UNTOUCHED: f32 = -7654.5;

/// A tensor of three rows of two blocks, in a model.
struct Sample {
    model: Vec<u8>,
    slot: TensorSlot,
    block: usize,
    row: usize,
}

impl Sample {
    fn new(tensor_type: TensorType, order: ByteOrder) -> Self {
        let block = tensor_type.block_bytes().unwrap() as usize;
        let row_elements = ROW_BLOCKS * u64::from(tensor_type.block_elements().unwrap());
        let bytes = ROWS * ROW_BLOCKS * block as u64;
        let slot = TensorSlot::new(1, OFFSET as u64, bytes, row_elements, 0, tensor_type, order);
        let model = Random::new(u64::from(tensor_type.id())).bytes(OFFSET + bytes as usize);
        Self { model, slot, block, row: row_elements as usize }
    }

    /// The bits of the whole tensor, or why there are none.
    fn whole(&self) -> Result<Vec<u32>, DequantizeError> {
        let mut out = vec![0.0; self.row * ROWS as usize];
        let mut blocks = &self.model[OFFSET..];
        let written = self.slot.dequantize(&mut blocks, &mut out)?;
        assert_eq!((written, blocks.len()), (out.len(), 0));
        Ok(bits(&out))
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn samples() -> impl Iterator<Item = Sample> {
    let orders = [ByteOrder::Little, ByteOrder::Big];
    orders.into_iter().flat_map(|order| TensorType::ALL.iter().map(move |tensor| Sample::new(*tensor, order)))
}

/// Holds every way to read rows against the whole tensor.
fn check(sample: &Sample, rows: std::ops::Range<u64>, scratch: usize, gives: &Gives) {
    let what = format!("{:?} rows {rows:?}, scratch of {scratch}, {gives:?}", sample.slot);
    let mut out = vec![UNTOUCHED; sample.row * ROWS as usize + 1];
    let mut source = TestFile::new(&sample.model).gives(gives.clone());
    let mut scratch = vec![0x5a; scratch];
    let result = read_rows(&mut source, &sample.slot, rows.clone(), &mut scratch, &mut out);
    let mut flash_out = vec![UNTOUCHED; out.len()];
    let from_flash = sample.slot.dequantize_rows(&sample.model, rows.clone(), &mut flash_out);
    match sample.whole() {
        Ok(bits_of_all) => {
            let range = rows.start as usize * sample.row..rows.end as usize * sample.row;
            let count = range.len();
            assert_eq!((result, from_flash), (Ok(count), Ok(count)), "{what}");
            assert_eq!(bits(&out[..count]), bits_of_all[range], "{what}");
            assert!(out[count..].iter().all(|value| *value == UNTOUCHED), "{what}");
            assert_eq!(bits(&out), bits(&flash_out), "{what}");
            let bytes = rows.end - rows.start;
            assert_eq!(source.bytes_read(), bytes * ROW_BLOCKS * sample.block as u64, "{what}");
        }
        Err(error) => {
            assert_eq!(result, Err(RowsError::Dequantize(error)), "{what}");
            assert_eq!(from_flash, Err(RowsError::Dequantize(error)), "{what}");
            assert_eq!(source.reads, [], "{what}");
        }
    }
}

#[test]
fn rows_of_every_type_are_those_of_the_whole_tensor() {
    let mut some = 0;
    for sample in samples() {
        some += usize::from(sample.whole().is_ok());
        for (start, end) in [(0, 0), (0, 1), (1, 2), (0, ROWS), (1, ROWS), (ROWS, ROWS)] {
            for blocks in [1, 2, 3, 100] {
                check(&sample, start..end, blocks * sample.block, &Gives::All);
            }
            let mut random = Random::new(start + end);
            let scratch = sample.block + random.below(5 * sample.block);
            let gives = Gives::Random(random, 2 * sample.block);
            check(&sample, start..end, scratch, &gives);
        }
    }
    // The plain ones always; of the others all but the ambiguous ones, where their families are on.
    assert!(some >= 2 * 8, "{some} samples can be dequantized");
}

#[test]
fn scratch_of_every_size_does() {
    for tensor_type in [TensorType::Q4_0, TensorType::F16, TensorType::I64, TensorType::MXFP4] {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let sample = Sample::new(tensor_type, order);
            let all = ROWS as usize * ROW_BLOCKS as usize * sample.block;
            for scratch in sample.block..=all + 1 {
                check(&sample, 0..ROWS, scratch, &Gives::All);
                check(&sample, 1..2, scratch, &Gives::AtMost(5));
            }
        }
    }
}

/// Nothing is read or written before what the caller got wrong is told.
#[test]
fn mistakes_of_the_caller_are_told_first() {
    let sample = Sample::new(TensorType::I16, ByteOrder::Little);
    let mut source = TestFile::new(&sample.model);
    let mut out = [UNTOUCHED; 12];
    let mut read = |rows, scratch: usize, room: usize, slot: &TensorSlot| {
        let result = read_rows(&mut source, slot, rows, &mut vec![0; scratch], &mut out[..room]);
        assert_eq!(source.reads, []);
        assert!(out.iter().all(|value| *value == UNTOUCHED));
        result.unwrap_err()
    };
    let outside = |start, end| RowsError::RowsOutside { start, end };
    for (start, end) in [(0, 4), (3, 4), (4, 4), (2, 1), (0, u64::MAX), (u64::MAX, u64::MAX), (u64::MAX, 0)] {
        assert_eq!(read(start..end, 100, 12, &sample.slot), outside(start, end));
        let in_memory = sample.slot.dequantize_rows(&sample.model, start..end, &mut [0.0; 12]);
        assert_eq!(in_memory, Err(RowsError::RowsOutside { start, end }));
    }
    let too_small = RowsError::OutputTooSmall { needed: 4, got: 3 };
    assert_eq!(read(0..2, 100, 3, &sample.slot), too_small);
    let in_memory = sample.slot.dequantize_rows(&sample.model, 0..2, &mut [0.0; 3]);
    assert_eq!(in_memory, Err(RowsError::OutputTooSmall { needed: 4, got: 3 }));
    assert_eq!(read(0..2, 1, 12, &sample.slot), RowsError::ScratchTooSmall { needed: 2, got: 1 });

    let tensor_type = TensorType::from_id(4);
    let slot = TensorSlot::new(1, 11, 12, 2, 0, tensor_type, ByteOrder::Little);
    let no_kernel = DequantizeError::NoKernel { tensor_type };
    for rows in [0..1, 0..1000] {
        assert_eq!(read(rows.clone(), 0, 0, &slot), RowsError::Dequantize(no_kernel));
        let in_memory = slot.dequantize_rows(&sample.model, rows, &mut []);
        assert_eq!(in_memory, Err(RowsError::Dequantize(no_kernel)));
    }
    if cfg!(feature = "legacy") {
        let tensor_type = TensorType::Q5_0;
        let slot = TensorSlot::new(1, 11, 22, 32, 0, tensor_type, ByteOrder::Big);
        let ambiguous = DequantizeError::AmbiguousByteOrder { tensor_type };
        assert_eq!(read(0..1, 100, 12, &slot), RowsError::Dequantize(ambiguous));
    }
}

/// A slot made by hand may claim anything.
#[test]
fn slots_that_lie_are_errors() {
    let sample = Sample::new(TensorType::I8, ByteOrder::Little);
    let mut out = [0.0; 8];
    let slot =
        |offset, bytes, row| TensorSlot::new(1, offset, bytes, row, 0, TensorType::I8, ByteOrder::Little);
    for (slot, rows) in [(slot(u64::MAX, 8, 4), 1..2), (slot(0, u64::MAX - 1, 1 << 62), 0..4)] {
        let (start, end) = (rows.start, rows.end);
        let result = read_rows(&mut &sample.model[..], &slot, rows, &mut [0; 8], &mut out);
        assert_eq!(result, Err(RowsError::RowsOutside { start, end }));
    }
    let result = slot(0, u64::MAX - 1, 1 << 62).dequantize_rows(&sample.model, 0..2, &mut out);
    assert_eq!(result, Err(RowsError::OutputTooSmall { needed: 1 << 63, got: 8 }));
    let far = slot(1 << 62, 8, 4);
    let (offset, missing) = (sample.model.len() as u64, (1 << 62) + 4 - sample.model.len() as u64);
    let result = far.dequantize_rows(&sample.model, 0..1, &mut out);
    assert_eq!(result, Err(RowsError::SourceEnds { offset, missing }));
    let result = read_rows(&mut &sample.model[..], &far, 0..1, &mut [0; 8], &mut out);
    assert_eq!(result, Err(RowsError::SourceEnds { offset: 1 << 62, missing: 4 }));
    // Rows of no element.
    assert_eq!(slot(0, 0, 0).dequantize_rows(&sample.model, 0..5, &mut out), Ok(0));
    assert_eq!(read_rows(&mut &[][..], &slot(0, 0, 0), 0..5, &mut [0; 8], &mut out), Ok(0));
}

#[test]
fn a_source_that_ends_early_is_told() {
    let sample = Sample::new(TensorType::I16, ByteOrder::Little);
    for cut in 0..12 {
        let model = &sample.model[..OFFSET + cut];
        for scratch in [2, 5, 100] {
            let mut source = TestFile::new(model).at_most(3);
            let result = read_rows(&mut source, &sample.slot, 0..ROWS, &mut vec![0; scratch], &mut [0.0; 6]);
            let (offset, missing) = (model.len() as u64, 12 - cut as u64);
            assert_eq!(result, Err(RowsError::SourceEnds { offset, missing }));
        }
        let result = sample.slot.dequantize_rows(model, 0..ROWS, &mut [0.0; 6]);
        let (offset, missing) = (model.len() as u64, 12 - cut as u64);
        assert_eq!(result, Err(RowsError::SourceEnds { offset, missing }));
    }
}

#[test]
fn errors_of_the_source_are_told_and_the_call_can_be_made_again() {
    let sample = Sample::new(TensorType::I16, ByteOrder::Little);
    let mut source = TestFile::new(&sample.model).fails();
    let mut out = [0.0; 6];
    let mut read = || read_rows(&mut source, &sample.slot, 0..ROWS, &mut [0; 100], &mut out);
    let error = read().unwrap_err();
    assert_eq!(error, RowsError::Source(Broken));
    assert_eq!(error.to_string(), "the source failed: the cable is out");
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(read(), Ok(6));
    assert_eq!(Ok(bits(&out)), sample.whole());

    let result = read_rows(&mut Boaster, &sample.slot, 0..1, &mut [0; 100], &mut out);
    assert_eq!(result, Err(RowsError::<Infallible>::SourceOverrun));
    let mut part = Part::with_len(Boaster, 0, 13);
    let result = read_rows(&mut part, &sample.slot, 0..1, &mut [0; 100], &mut out);
    assert_eq!(result, Err(RowsError::SourceOverrun));
}

#[test]
fn errors_say_what_is_wrong_in_numbers() {
    let cases: [(RowsError, &str); 5] = [
        (RowsError::RowsOutside { start: 3, end: 9 }, "rows 3..9 are not all in the tensor"),
        (
            RowsError::OutputTooSmall { needed: 8, got: 2 },
            "output too small: the rows have 8 elements, the output holds 2",
        ),
        (
            RowsError::ScratchTooSmall { needed: 18, got: 2 },
            "scratch too small: one block has 18 bytes, the scratch holds 2",
        ),
        (
            RowsError::SourceEnds { offset: 70, missing: 4 },
            "the source ends at offset 70: 4 bytes of the rows are missing",
        ),
        (RowsError::SourceOverrun, "the source claims to have read more bytes than there was room for"),
    ];
    for (error, message) in cases {
        assert_eq!(error.to_string(), message);
    }
}
