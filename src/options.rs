//! What a decoder accepts: limits and the two policies a caller may change.

use crate::checkpoint::{CheckpointError, Fields};

/// Limits and policies of a decoder.
///
/// A limit of 0 stands for its default. Builder methods are `const`, so options can stand in a `static`:
///
/// ```
/// use weightstream::{Layout, Options};
///
/// const OPTIONS: Options = Options::new().layout(Layout::Sparse).string_bytes(1 << 20);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Options {
    pub(crate) string_bytes: u64,
    pub(crate) array_elements: u64,
    pub(crate) metadata_bytes: u64,
    /// Size of the input plus one; 0 while it is unknown. An all-zero value must be the default.
    input_bytes_plus_one: u64,
    #[cfg(feature = "safetensors")]
    pub(crate) tensor_elements: u64,
    #[cfg(feature = "safetensors")]
    pub(crate) data_bytes: u64,
    #[cfg(feature = "safetensors")]
    header_bytes: u32,
    entries: u32,
    tensors: u32,
    name_bytes: u32,
    alignment: u32,
    nesting: u8,
    rank: u8,
    pub(crate) layout: Layout,
    pub(crate) unknown_types: UnknownTypes,
}

/// How tensors may lie in the data section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Layout {
    /// Each tensor starts where the one before it ends, padded to the alignment: the rule of ggml's loader.
    #[default]
    Contiguous,
    /// Aligned and disjoint, in any order, with gaps.
    Sparse,
}

/// What to do with a tensor type that is not known, or was removed from the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum UnknownTypes {
    /// An error that shows the id.
    #[default]
    Refuse,
    /// List the tensor with its raw id. Its length runs to the next tensor's offset, padding included; the last
    /// one's to the end of the input. Its data come raw.
    Infer,
}

/// Arrays nested deeper than this are always refused: the decoder keeps one counter a level.
pub(crate) const MAX_NESTING: u8 = 4;
/// Most dimensions that a tensor may have, of whichever format.
pub(crate) const MAX_RANK: u8 = if cfg!(feature = "safetensors") { 8 } else { MAX_GGUF_RANK };
/// GGUF has no more.
pub(crate) const MAX_GGUF_RANK: u8 = 4;
#[cfg(feature = "safetensors")]
const DEFAULT_HEADER_BYTES: u32 = 100_000_000;
/// Entries and tensors are indexed in 32 bits, of which the last stands for none.
const MAX_COUNT: u32 = u32::MAX - 1;
const DEFAULT_NAME_BYTES: u32 = 65_535;
const DEFAULT_ALIGNMENT: u32 = 1 << 20;
/// File positions are counted in 63 bits, as every operating system does.
pub(crate) const MAX_POSITION: u64 = i64::MAX.unsigned_abs();

impl Options {
    /// The defaults: every limit as its method says, [`Layout::Contiguous`], [`UnknownTypes::Refuse`].
    #[must_use]
    pub const fn new() -> Self {
        Self {
            string_bytes: 0,
            array_elements: 0,
            metadata_bytes: 0,
            input_bytes_plus_one: 0,
            #[cfg(feature = "safetensors")]
            tensor_elements: 0,
            #[cfg(feature = "safetensors")]
            data_bytes: 0,
            #[cfg(feature = "safetensors")]
            header_bytes: 0,
            entries: 0,
            tensors: 0,
            name_bytes: 0,
            alignment: 0,
            nesting: 0,
            rank: 0,
            layout: Layout::Contiguous,
            unknown_types: UnknownTypes::Refuse,
        }
    }

    /// Most bytes of a key or a tensor name. Default 65,535. In safetensors, `__metadata__` counts as a name.
    #[must_use]
    pub const fn name_bytes(mut self, bytes: u32) -> Self {
        self.name_bytes = bytes;
        self
    }

    /// Deepest nesting of arrays in GGUF; a plain array is 1 deep. Default 4, which is also the most. (A safetensors header may
    /// be nested 127 deep.)
    #[must_use]
    pub const fn nesting(mut self, depth: u8) -> Self {
        self.nesting = depth;
        self
    }

    /// Largest alignment that a GGUF file may give, in bytes. Default 1 MiB. The 32 bytes of a file that gives none are always
    /// allowed.
    #[must_use]
    pub const fn alignment(mut self, bytes: u32) -> Self {
        self.alignment = bytes;
        self
    }

    /// Most dimensions of a tensor. Default: 4 in GGUF, which has no more; 8 in safetensors, of which the decoder keeps no
    /// more.
    #[must_use]
    pub const fn rank(mut self, dimensions: u8) -> Self {
        self.rank = dimensions;
        self
    }

    /// Most metadata entries. Unbounded by default, as far as 32-bit indexes reach.
    #[must_use]
    pub const fn entries(mut self, entries: u64) -> Self {
        self.entries = count_limit(entries);
        self
    }

    /// Most tensors. Unbounded by default, as far as 32-bit indexes reach.
    #[must_use]
    pub const fn tensors(mut self, tensors: u64) -> Self {
        self.tensors = count_limit(tensors);
        self
    }

    /// Most bytes of a string value, or of a string in an array. Unbounded by default.
    #[must_use]
    pub const fn string_bytes(mut self, bytes: u64) -> Self {
        self.string_bytes = bytes;
        self
    }

    /// Most elements of one array in GGUF. Unbounded by default.
    #[must_use]
    pub const fn array_elements(mut self, elements: u64) -> Self {
        self.array_elements = elements;
        self
    }

    /// Most bytes of the header and the metadata of a GGUF file together. Unbounded by default.
    #[must_use]
    pub const fn metadata_bytes(mut self, bytes: u64) -> Self {
        self.metadata_bytes = bytes;
        self
    }

    /// Most bytes of a safetensors header, its length aside. Default 100,000,000, as the reference's reader.
    #[cfg(feature = "safetensors")]
    #[must_use]
    pub const fn header_bytes(mut self, bytes: u32) -> Self {
        self.header_bytes = bytes;
        self
    }

    /// Most bytes of the tensor data of a safetensors file together. Unbounded by default.
    #[cfg(feature = "safetensors")]
    #[must_use]
    pub const fn data_bytes(mut self, bytes: u64) -> Self {
        self.data_bytes = bytes;
        self
    }

    /// Most elements of one tensor of a safetensors file. Unbounded by default.
    #[cfg(feature = "safetensors")]
    #[must_use]
    pub const fn tensor_elements(mut self, elements: u64) -> Self {
        self.tensor_elements = elements;
        self
    }

    /// The size of the whole input in bytes, when it is known beforehand.
    ///
    /// Counts, lengths and the end of the last tensor are then held against it at once.
    #[must_use]
    pub const fn input_bytes(mut self, bytes: u64) -> Self {
        self.input_bytes_plus_one = bytes.saturating_add(1);
        self
    }

    /// How tensors may lie in the data section of a GGUF file. Default [`Layout::Contiguous`].
    #[must_use]
    pub const fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// What to do with unknown tensor types of GGUF. Default [`UnknownTypes::Refuse`].
    #[must_use]
    pub const fn unknown_types(mut self, policy: UnknownTypes) -> Self {
        self.unknown_types = policy;
        self
    }

    /// In a checkpoint: what goes on must have the same options.
    pub(crate) fn fields(&self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.same(u64::from(self.entries))?;
        fields.same(u64::from(self.tensors))?;
        fields.same(self.string_bytes)?;
        fields.same(self.array_elements)?;
        fields.same(self.metadata_bytes)?;
        fields.same(self.input_bytes_plus_one)?;
        #[cfg(feature = "safetensors")]
        {
            fields.same(self.tensor_elements)?;
            fields.same(self.data_bytes)?;
            fields.same(u64::from(self.header_bytes))?;
        }
        fields.same(u64::from(self.name_bytes))?;
        fields.same(u64::from(self.alignment))?;
        fields.same(u64::from(self.nesting))?;
        fields.same(u64::from(self.rank))?;
        fields.same(u64::from(self.layout as u8))?;
        fields.same(u64::from(self.unknown_types as u8))
    }

    pub(crate) const fn max_entries(&self) -> u64 {
        // Lossless: `From` is not const.
        (if self.entries == 0 { MAX_COUNT } else { self.entries }) as u64
    }

    pub(crate) const fn max_tensors(&self) -> u64 {
        (if self.tensors == 0 { MAX_COUNT } else { self.tensors }) as u64
    }

    pub(crate) const fn max_name_bytes(&self) -> u64 {
        // Lossless: `From` is not const.
        (if self.name_bytes == 0 { DEFAULT_NAME_BYTES } else { self.name_bytes }) as u64
    }

    pub(crate) const fn max_alignment(&self) -> u32 {
        if self.alignment == 0 { DEFAULT_ALIGNMENT } else { self.alignment }
    }

    pub(crate) const fn max_nesting(&self) -> u8 {
        if self.nesting == 0 || self.nesting > MAX_NESTING { MAX_NESTING } else { self.nesting }
    }

    /// `format` is the most of the format.
    pub(crate) const fn max_rank(&self, format: u8) -> u8 {
        if self.rank == 0 || self.rank > format { format } else { self.rank }
    }

    #[cfg(feature = "safetensors")]
    pub(crate) const fn max_header_bytes(&self) -> u64 {
        // Lossless: `From` is not const.
        (if self.header_bytes == 0 { DEFAULT_HEADER_BYTES } else { self.header_bytes }) as u64
    }

    /// The size of the input, when the caller knew it.
    pub(crate) const fn known_input_bytes(&self) -> Option<u64> {
        self.input_bytes_plus_one.checked_sub(1)
    }

    /// Where the input ends at the latest.
    #[inline]
    pub(crate) fn input_end(&self) -> u64 {
        self.known_input_bytes().map_or(MAX_POSITION, |bytes| bytes.min(MAX_POSITION))
    }
}

/// A limit as the caller set it, 0 being none.
pub(crate) const fn limit_or(limit: u64, unbounded: u64) -> u64 {
    if limit == 0 { unbounded } else { limit }
}

/// A limit of a count as it is kept: one beyond the last index limits nothing.
const fn count_limit(limit: u64) -> u32 {
    // Lossless: `From` is not const.
    if limit >= MAX_COUNT as u64 {
        return MAX_COUNT;
    }
    let [b0, b1, b2, b3, ..] = limit.to_le_bytes();
    u32::from_le_bytes([b0, b1, b2, b3])
}
