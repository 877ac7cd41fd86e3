//! What a machine says, without a borrow: numbers, and how many bytes to lend from where.

use core::fmt;

use crate::byte_order::ByteOrder;
use crate::checkpoint::{CheckpointError, Fields, within};
use crate::options::{MAX_POSITION, MAX_RANK};
use crate::tensor_type::TensorType;
use crate::value::{Scalar, ValueType};

/// A step's result. The decoder turns it into an [`Event`](crate::Event) by lending the slices it names.
#[derive(Clone, Copy, Debug)]
#[repr(u32)] // As of events.
pub enum Token {
    Header(Header),
    Key(ValueType),
    Scalar(Scalar),
    Text { part: Lent, start: u64, total: u64, last: bool },
    ArrayStart { element: ValueType, len: u64 },
    Items { run: Lent, element: ValueType },
    ArrayEnd,
    Tensor,
    DataStart(DataStart),
    Data { blocks: Lent, first_element: u64 },
    End,
}

/// Bytes to lend.
#[derive(Clone, Copy, Debug)]
pub enum Lent {
    /// The last so many bytes consumed of the caller's chunk.
    Chunk(usize),
    /// All bytes of the carry.
    Carry,
    /// The first so many bytes of the scratch.
    Scratch(usize),
}

/// How a machine's state went on.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// To another state: step again.
    On,
    /// Nowhere: the chunk is used up, or the stream has ended.
    Wait,
    /// There is something to say.
    Say(Token),
}

/// A file format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Format {
    /// GGUF, of llama.cpp and ggml.
    #[default]
    Gguf,
    /// safetensors, of Hugging Face.
    Safetensors,
}

/// The beginning of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Header {
    /// The file's format.
    pub format: Format,
    /// Version of the format; 0 where it has none.
    pub version: u32,
    /// Byte order of every number in the file, and of the tensor data.
    pub byte_order: ByteOrder,
    /// Tensors that the file claims to hold; `None` where the format does not say.
    pub tensor_count: Option<u64>,
    /// Metadata entries that the file claims to hold; `None` where the format does not say.
    pub entry_count: Option<u64>,
}

/// What is known when the last tensor description has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct DataStart {
    /// Absolute offset of the data section. In a file without tensors, where its metadata end.
    pub offset: u64,
    /// Alignment of the data section and of each tensor in it, in bytes.
    pub alignment: u32,
    /// Absolute offset of the byte after the last tensor: the least size of the file. `None` while a tensor of
    /// unknown type runs to the end of an input of unknown size.
    pub end: Option<u64>,
    /// Whether each tensor starts where the one before it ends, padded, as ggml's loader demands. It always holds
    /// with [`Layout::Contiguous`](crate::Layout::Contiguous).
    pub contiguous: bool,
}

/// The description of a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TensorInfo {
    pub(crate) dims: [u64; MAX_RANK as usize],
    pub(crate) data_offset: u64,
    pub(crate) bytes: u64,
    pub(crate) index: u32,
    pub(crate) tensor_type: TensorType,
    pub(crate) rank: u8,
    /// The dimensions stand in row-major order.
    #[cfg(feature = "safetensors")]
    is_row_major: bool,
}

/// No more dimensions than there are.
impl fmt::Debug for TensorInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TensorInfo")
            .field("index", &self.index)
            .field("tensor_type", &self.tensor_type)
            .field("dims", &self.dims())
            .field("data_offset", &self.data_offset)
            .field("bytes", &self.byte_len())
            .finish()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for TensorInfo {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "TensorInfo {{ index: {=u32}, tensor_type: {}, dims: {}, data_offset: {=u64}, bytes: {} }}",
            self.index,
            self.tensor_type,
            self.dims(),
            self.data_offset,
            self.byte_len()
        );
    }
}

impl TensorInfo {
    /// In `bytes`: the type is unknown, so the length is inferred later.
    pub(crate) const UNKNOWN_LENGTH: u64 = u64::MAX;

    pub(crate) const fn new(index: u32) -> Self {
        Self {
            dims: [0; MAX_RANK as usize],
            data_offset: 0,
            bytes: 0,
            index,
            tensor_type: TensorType::from_id(0),
            rank: 0,
            #[cfg(feature = "safetensors")]
            is_row_major: false,
        }
    }

    /// One whose dimensions will be given in row-major order.
    #[cfg(feature = "safetensors")]
    pub(crate) const fn row_major(index: u32) -> Self {
        Self { is_row_major: true, ..Self::new(index) }
    }

    const fn is_row_major(&self) -> bool {
        #[cfg(feature = "safetensors")]
        return self.is_row_major;
        #[cfg(not(feature = "safetensors"))]
        false
    }

    /// The fields of a checkpoint.
    pub(crate) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        for dim in &mut self.dims {
            fields.u64(dim)?;
        }
        fields.u64(&mut self.data_offset)?;
        fields.u64(&mut self.bytes)?;
        fields.u32(&mut self.index)?;
        self.tensor_type.fields(fields)?;
        fields.u8(&mut self.rank)?;
        #[cfg(feature = "safetensors")]
        fields.bool(&mut self.is_row_major)?;
        within(self.rank <= MAX_RANK)
    }

    /// Whether the product of the dimensions is below 2^63: zeros aside, so that the verdict does not depend on their order.
    pub(crate) fn is_countable(&self) -> bool {
        let sizes = self.dims().iter().copied().filter(|dim| *dim != 0);
        sizes.into_iter().try_fold(1_u64, u64::checked_mul).is_some_and(|product| product <= MAX_POSITION)
    }

    /// Appends a dimension, if there is room.
    pub(crate) fn push(&mut self, dimension: u64) -> Option<()> {
        *self.dims.get_mut(usize::from(self.rank))? = dimension;
        self.rank = self.rank.saturating_add(1);
        Some(())
    }

    /// Index of the tensor in the file, from 0. Never panics.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Type of the elements. Never panics.
    #[must_use]
    pub const fn tensor_type(&self) -> TensorType {
        self.tensor_type
    }

    /// The dimensions in elements, in the order the file stores them. In GGUF the first one is the innermost: its
    /// elements lie side by side; in safetensors the last one is. No dimension at all is a scalar. Never panics.
    #[must_use]
    pub fn dims(&self) -> &[u64] {
        self.dims.get(..usize::from(self.rank)).unwrap_or_default()
    }

    /// The dimensions in elements in row-major order, outermost first, as numpy and PyTorch show a shape. Never
    /// panics.
    pub fn shape(&self) -> impl ExactSizeIterator<Item = u64> + DoubleEndedIterator + '_ {
        let (dims, last) = (self.dims(), self.dims().len().saturating_sub(1));
        (0..dims.len()).map(move |at| {
            let at = if self.is_row_major() { at } else { last.saturating_sub(at) };
            dims.get(at).copied().unwrap_or_default()
        })
    }

    /// Elements of the tensor: the product of its dimensions. Never panics.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.dims().iter().fold(1, |product, dim| product.wrapping_mul(*dim))
    }

    /// Elements of a row, which lie side by side: 1 for a scalar. Never panics.
    #[must_use]
    pub fn row_elements(&self) -> u64 {
        let innermost = if self.is_row_major() { self.dims().last() } else { self.dims().first() };
        innermost.copied().unwrap_or(1)
    }

    /// Offset of the tensor in bytes from the start of the data section, as stored. Never panics.
    #[must_use]
    pub const fn data_offset(&self) -> u64 {
        self.data_offset
    }

    /// Length of the data in bytes, without padding; `None` for an unknown type. Never panics.
    #[must_use]
    pub const fn byte_len(&self) -> Option<u64> {
        if self.bytes == Self::UNKNOWN_LENGTH { None } else { Some(self.bytes) }
    }
}
