//! Rows of a tensor, read and dequantized.

use core::convert::Infallible;
use core::fmt;
use core::ops::Range;

use super::ReadAt;
use super::error::OVERRUN;
use crate::carry::as_u64;
use crate::directory::TensorSlot;
use crate::error::DequantizeError;

/// Why rows of a tensor could not be read. `E` is the error of the source.
///
/// Nothing is kept: the same call may be made again. What the source gave until then may stand in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RowsError<E = Infallible> {
    /// The source failed.
    Source(E),
    /// The tensor's type cannot be dequantized, or not in its byte order. Nothing has been read.
    Dequantize(DequantizeError),
    /// The rows are not all in the tensor, or end before they start. Nothing has been read.
    RowsOutside {
        /// The first row asked for.
        start: u64,
        /// The row after the last one asked for.
        end: u64,
    },
    /// The output cannot hold the rows. Nothing has been read.
    OutputTooSmall {
        /// Elements in the rows.
        needed: u64,
        /// Elements the output holds.
        got: usize,
    },
    /// The scratch memory cannot hold one block. Nothing has been read.
    ScratchTooSmall {
        /// Bytes of one block.
        needed: u32,
        /// Bytes the scratch memory has.
        got: usize,
    },
    /// The source ends inside the rows.
    SourceEnds {
        /// Absolute offset where it ends.
        offset: u64,
        /// Bytes of the rows that are missing.
        missing: u64,
    },
    /// The source claims to have read more bytes than it was given room for.
    SourceOverrun,
}

impl<E> From<DequantizeError> for RowsError<E> {
    fn from(error: DequantizeError) -> Self {
        Self::Dequantize(error)
    }
}

impl<E: fmt::Display> fmt::Display for RowsError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => write!(f, "the source failed: {error}"),
            Self::Dequantize(error) => error.fmt(f),
            Self::RowsOutside { start, end } => write!(f, "rows {start}..{end} are not all in the tensor"),
            Self::OutputTooSmall { needed, got } => {
                write!(f, "output too small: the rows have {needed} elements, the output holds {got}")
            }
            Self::ScratchTooSmall { needed, got } => {
                write!(f, "scratch too small: one block has {needed} bytes, the scratch holds {got}")
            }
            Self::SourceEnds { offset, missing } => {
                write!(f, "the source ends at offset {offset}: {missing} bytes of the rows are missing")
            }
            Self::SourceOverrun => f.write_str(OVERRUN),
        }
    }
}

impl<E: core::error::Error + 'static> core::error::Error for RowsError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Source(error) => Some(error),
            _ => None,
        }
    }
}

/// Reads rows `rows.start` to `rows.end` (exclusive) of a tensor and writes their values to the start of `out`. Returns how
/// many elements there are.
///
/// `scratch` is memory for the blocks on their way: one block is enough, more means fewer and larger reads. Offsets of the
/// slot count from the start of `source`: see [`Part`](super::Part) where the model starts elsewhere.
///
/// ```
/// use weightstream::io::{StdFile, read_rows};
/// use weightstream::{ByteOrder, TensorSlot, TensorType, name_hash};
///
/// // Usually a slot comes out of the directory of a decoder.
/// let slot = TensorSlot::new(name_hash("w"), 1, 8, 2, 0, TensorType::F16, ByteOrder::Little);
/// let mut file = StdFile::new(std::io::Cursor::new([9, 0, 0, 0, 0, 0, 0x3c, 0, 0xc0]));
/// let mut row = [0.0; 2];
/// assert_eq!(read_rows(&mut file, &slot, 1..2, &mut [0; 4], &mut row)?, 2);
/// assert_eq!(row, [1.0, -2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// See [`RowsError`]. Never panics.
pub fn read_rows<S: ReadAt + ?Sized>(
    source: &mut S,
    slot: &TensorSlot,
    rows: Range<u64>,
    scratch: &mut [u8],
    out: &mut [f32],
) -> Result<usize, RowsError<S::Error>> {
    let mut reading = Reading::new(slot, rows, scratch.len(), out.len())?;
    while let Some((offset, room)) = reading.room(scratch) {
        let count = source.read_at(offset, room).map_err(RowsError::Source)?;
        reading.filled(count, scratch, out)?;
    }
    Ok(reading.written)
}

/// Rows of a model that lies in memory.
impl TensorSlot {
    /// Writes the values of rows `rows.start` to `rows.end` (exclusive) to the start of `out`, and returns how many elements
    /// there are. `model` is the whole file, from its first byte on: in flash, or mapped. Nothing is copied.
    ///
    /// # Errors
    ///
    /// See [`RowsError`]; then nothing is written. Never panics.
    pub fn dequantize_rows(
        &self,
        model: &[u8],
        rows: Range<u64>,
        out: &mut [f32],
    ) -> Result<usize, RowsError> {
        let place = check_rows(self, rows, out.len())?;
        let start = usize::try_from(place.start).unwrap_or(usize::MAX);
        let end = usize::try_from(place.end).unwrap_or(usize::MAX);
        let Some(mut blocks) = model.get(start..end) else {
            let offset = as_u64(model.len());
            return Err(RowsError::SourceEnds { offset, missing: place.end.saturating_sub(offset) });
        };
        Ok(self.dequantize(&mut blocks, out)?)
    }
}

/// Where the rows lie, as absolute offsets, if they can be dequantized into `room` elements.
fn check_rows<E>(slot: &TensorSlot, rows: Range<u64>, room: usize) -> Result<Range<u64>, RowsError<E>> {
    // Whether it can be done at all is said of nothing, too.
    slot.dequantize(&mut &[][..], &mut [])?;
    let Range { start, end } = rows;
    let place = slot.rows(rows).ok_or(RowsError::RowsOutside { start, end })?;
    // No overflow: the rows are in the tensor, whose elements 64 bits can count; a slot made up by hand saturates.
    let needed = end.saturating_sub(start).saturating_mul(slot.row_elements());
    if needed > as_u64(room) {
        return Err(RowsError::OutputTooSmall { needed, got: room });
    }
    Ok(place)
}

/// The reading of rows, without the source: blocking and async callers share it.
pub(super) struct Reading<'s> {
    slot: &'s TensorSlot,
    /// Absolute offset of the next byte, and of the byte after the rows.
    left: Range<u64>,
    /// Most bytes that are dequantized at once: whole blocks.
    piece: usize,
    /// Bytes of the piece in hand that have come.
    have: usize,
    /// Elements written.
    pub(super) written: usize,
}

impl<'s> Reading<'s> {
    pub(super) fn new<E>(
        slot: &'s TensorSlot,
        rows: Range<u64>,
        scratch_bytes: usize,
        room: usize,
    ) -> Result<Self, RowsError<E>> {
        let left = check_rows(slot, rows, room)?;
        let needed = slot.tensor_type().block_bytes().unwrap_or(u32::MAX);
        let block = usize::try_from(needed).unwrap_or(usize::MAX);
        if scratch_bytes < block {
            return Err(RowsError::ScratchTooSmall { needed, got: scratch_bytes });
        }
        let piece = scratch_bytes.saturating_sub(scratch_bytes.checked_rem(block).unwrap_or(0));
        Ok(Self { slot, left, piece, have: 0, written: 0 })
    }

    /// What to read next: from which offset, into which part of the scratch. `None` when all rows have come.
    pub(super) fn room<'b>(&self, scratch: &'b mut [u8]) -> Option<(u64, &'b mut [u8])> {
        let room = scratch.get_mut(self.have..self.piece_end()).filter(|room| !room.is_empty())?;
        Some((self.left.start, room))
    }

    /// Bytes of the piece in hand.
    fn piece_end(&self) -> usize {
        let left = self.left.end.saturating_sub(self.left.start);
        usize::try_from(left).map_or(self.piece, |left| left.saturating_add(self.have).min(self.piece))
    }

    /// The source has read `count` bytes into the room; 0 is its end.
    pub(super) fn filled<E>(
        &mut self,
        count: usize,
        scratch: &[u8],
        out: &mut [f32],
    ) -> Result<(), RowsError<E>> {
        let end = self.piece_end();
        let have = self.have.saturating_add(count);
        if count == 0 {
            let Range { start, end } = self.left;
            return Err(RowsError::SourceEnds { offset: start, missing: end.saturating_sub(start) });
        }
        if have > end {
            return Err(RowsError::SourceOverrun);
        }
        self.left.start = self.left.start.saturating_add(as_u64(count));
        self.have = have;
        if have == end {
            let mut blocks = scratch.get(..end).unwrap_or_default();
            let room = out.get_mut(self.written..).unwrap_or_default();
            self.written = self.written.saturating_add(self.slot.dequantize(&mut blocks, room)?);
            self.have = 0;
        }
        Ok(())
    }
}
