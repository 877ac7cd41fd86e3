//! Tensor descriptions: their fields in any order, and whether they go together.

use super::dtype;
use super::json::Lexeme;
use super::machine::{Machine, Place, part};
use crate::checkpoint::{CheckpointError, Fields, within};
use crate::directory::whole_blocks;
use crate::error::Fault;
use crate::options::{MAX_POSITION, MAX_RANK, limit_or};
use crate::stream::Failed;
use crate::token::{Progress, TensorInfo};

/// Bytes of the longest word that means something: `data_offsets`.
const WORD_BYTES: usize = 12;
const _: () = assert!(dtype::LONGEST_NAME <= WORD_BYTES, "a dtype would never be known");
/// How deep a description is nested.
const DESCRIPTION_DEPTH: u8 = 2;

/// The description in hand. All zero at first.
#[derive(Clone, Debug)]
pub(super) struct Description {
    /// Where the tensor ends in the data section.
    end: u64,
    /// Absolute offset of the dtype.
    dtype_offset: u64,
    /// One bit for each field that has come.
    seen: u8,
    /// Numbers of `data_offsets` that have come.
    offsets: u8,
    word: Word,
}

/// The name of a field, or a dtype, as far as it has come.
#[derive(Clone, Debug)]
struct Word {
    bytes: [u8; WORD_BYTES],
    /// One more than there is room for stands for all that is longer.
    len: u8,
}

const DTYPE: u8 = 1;
const SHAPE: u8 = 2;
const OFFSETS: u8 = 4;

impl Description {
    pub(super) const fn new() -> Self {
        Self { end: 0, dtype_offset: 0, seen: 0, offsets: 0, word: Word::new() }
    }

    /// The fields of a checkpoint.
    pub(super) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.u64(&mut self.end)?;
        fields.u64(&mut self.dtype_offset)?;
        fields.u8(&mut self.seen)?;
        within(self.seen <= DTYPE | SHAPE | OFFSETS)?;
        fields.u8(&mut self.offsets)?;
        fields.bytes(&mut self.word.bytes)?;
        fields.u8(&mut self.word.len)
    }
}

impl Word {
    const fn new() -> Self {
        Self { bytes: [0; WORD_BYTES], len: 0 }
    }

    fn push(&mut self, part: &[u8]) {
        for byte in part {
            if let Some(place) = self.bytes.get_mut(usize::from(self.len)) {
                *place = *byte;
            }
            self.len = self.len.saturating_add(1);
        }
    }

    /// `None` for one that is too long to mean something.
    fn text(&self) -> Option<&[u8]> {
        self.bytes.get(..usize::from(self.len))
    }
}

impl Machine {
    /// The name that was read is that of a tensor.
    pub(super) fn begin_tensor(&mut self) -> Result<Progress, Failed> {
        self.place = Place::Tensor;
        self.stream.description = self.stream.body;
        let (tensors, limit) = (u64::from(self.tensors).saturating_add(1), self.stream.options.max_tensors());
        if tensors > limit {
            return Err(self.fail(Fault::too_many_tensors(tensors, limit), self.stream.description));
        }
        self.stream.tensor = TensorInfo::row_major(self.tensors);
        self.description = Description::new();
        self.tensors = self.tensors.saturating_add(1);
        Ok(Progress::On)
    }

    /// A part of a description.
    pub(super) fn describe(&mut self, lexeme: Lexeme, taken: &[u8], offset: u64) -> Result<Progress, Failed> {
        match (self.place, lexeme) {
            (Place::Tensor, Lexeme::ObjectStart) => Ok(self.go(Place::Fields)),
            (Place::Tensor, _) => Err(self.fail(Fault::tensor_not_object(), offset)),
            (Place::Fields, Lexeme::StringStart) => Ok(self.begin_field(offset)),
            (Place::Fields, _) => self.end_tensor(),
            (Place::Field, Lexeme::StringEnd) => self.end_field(),
            (Place::Dtype, Lexeme::StringStart) => Ok(self.begin_dtype(offset)),
            (Place::DtypeText, Lexeme::StringEnd) => self.end_dtype(),
            (Place::Field | Place::DtypeText, _) => {
                self.description.word.push(part(lexeme, taken, &mut [0; 4]));
                Ok(Progress::On)
            }
            (Place::Shape, Lexeme::ArrayStart) => Ok(self.go(Place::Dims)),
            (Place::Dims, Lexeme::Number(Some(dim))) => self.dimension(dim),
            (Place::Dims, Lexeme::ArrayEnd) => Ok(self.go(Place::Fields)),
            (Place::Offsets, Lexeme::ArrayStart) => Ok(self.go(Place::OffsetPair)),
            (Place::OffsetPair, Lexeme::Number(Some(number))) => self.data_offset(number, offset),
            (Place::OffsetPair, Lexeme::ArrayEnd) if self.description.offsets == 2 => {
                Ok(self.go(Place::Fields))
            }
            (Place::Unknown, _) => Ok(self.pass_unknown(lexeme)),
            _ => Err(self.fail(Fault::bad_field(), offset)),
        }
    }

    fn begin_field(&mut self, offset: u64) -> Progress {
        self.description.word = Word::new();
        self.stream.body = offset;
        self.go(Place::Field)
    }

    fn end_field(&mut self) -> Result<Progress, Failed> {
        let (field, place) = match self.description.word.text() {
            Some(b"dtype") => (DTYPE, Place::Dtype),
            Some(b"shape") => (SHAPE, Place::Shape),
            Some(b"data_offsets") => (OFFSETS, Place::Offsets),
            _ => (0, Place::Unknown),
        };
        if self.description.seen & field != 0 {
            return Err(self.fail(Fault::duplicate_field(), self.stream.body));
        }
        self.description.seen |= field;
        Ok(self.go(place))
    }

    fn begin_dtype(&mut self, offset: u64) -> Progress {
        self.description.word = Word::new();
        self.description.dtype_offset = offset;
        self.go(Place::DtypeText)
    }

    fn end_dtype(&mut self) -> Result<Progress, Failed> {
        match self.description.word.text().and_then(dtype::from_name) {
            Some(tensor_type) => self.stream.tensor.tensor_type = tensor_type,
            None => return Err(self.fail(Fault::unknown_dtype(), self.description.dtype_offset)),
        }
        Ok(self.go(Place::Fields))
    }

    fn dimension(&mut self, dimension: u64) -> Result<Progress, Failed> {
        let rank = self.stream.tensor.dims().len();
        let limit = self.stream.options.max_rank(MAX_RANK);
        if rank >= usize::from(limit) || self.stream.tensor.push(dimension).is_none() {
            let limit = u64::from(limit);
            let fault = Fault::too_many_dimensions(limit.saturating_add(1), limit);
            return Err(self.fail(fault, self.stream.description));
        }
        Ok(Progress::On)
    }

    fn data_offset(&mut self, number: u64, offset: u64) -> Result<Progress, Failed> {
        match self.description.offsets {
            0 => self.stream.tensor.data_offset = number,
            1 => self.description.end = number,
            _ => return Err(self.fail(Fault::bad_field(), offset)),
        }
        self.description.offsets = self.description.offsets.saturating_add(1);
        Ok(Progress::On)
    }

    /// A part of a value that nobody knows: done with when nothing of it is open.
    fn pass_unknown(&mut self, lexeme: Lexeme) -> Progress {
        let is_cut = matches!(lexeme, Lexeme::StringStart | Lexeme::Plain(_) | Lexeme::Escaped(_));
        if self.depth() == DESCRIPTION_DEPTH && !is_cut {
            self.place = Place::Fields;
        }
        Progress::On
    }

    /// All of a description has been read.
    fn end_tensor(&mut self) -> Result<Progress, Failed> {
        self.check_tensor().map_err(|fault| self.fail(fault, self.stream.description))?;
        self.place = Place::Entries;
        Ok(self.stream.tell_tensor())
    }

    fn check_tensor(&mut self) -> Result<(), Fault> {
        let (start, end) = (self.stream.tensor.data_offset, self.description.end);
        if self.description.seen != DTYPE | SHAPE | OFFSETS {
            return Err(Fault::missing_field());
        }
        let found = end.checked_sub(start).ok_or(Fault::offsets_reversed(start, end))?;
        let expected = self.shape_bytes()?;
        if found != expected {
            return Err(Fault::length_mismatch(expected, found));
        }
        let limit = limit_or(self.stream.options.data_bytes, u64::MAX);
        if end > limit {
            return Err(Fault::data_too_large(end, limit));
        }
        self.stream.tensor.bytes = found;
        self.stream.data.count(&self.stream.tensor)?;
        self.tensor_bytes = self.tensor_bytes.saturating_add(found).min(MAX_POSITION);
        self.scattered |= start != self.expected;
        self.expected = end;
        Ok(())
    }

    /// Bytes that the type and the shape take. Divides first: the number of elements fits, times their bytes may not.
    fn shape_bytes(&self) -> Result<u64, Fault> {
        let tensor = &self.stream.tensor;
        if !tensor.is_countable() {
            return Err(Fault::shape_overflow());
        }
        let (elements, limit) = (tensor.elements(), limit_or(self.stream.options.tensor_elements, u64::MAX));
        if elements > limit {
            return Err(Fault::too_many_elements(elements, limit));
        }
        let size = (tensor.tensor_type.block_elements(), tensor.tensor_type.block_bytes());
        // Every dtype has one.
        let (Some(block_elements), Some(block_bytes)) = size else { return Err(Fault::internal()) };
        let blocks = whole_blocks(elements, block_elements).ok_or(Fault::partial_byte(elements))?;
        let bytes = blocks.checked_mul(u64::from(block_bytes));
        bytes.filter(|bytes| *bytes <= MAX_POSITION).ok_or(Fault::size_overflow())
    }
}
