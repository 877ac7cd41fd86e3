//! What can be wrong with a file, where, and in which part of it.

use core::fmt;

use crate::tensor_type::TensorType;

/// What is wrong with the bytes, and where.
///
/// `Copy` and 32 bytes at most. It holds no input: the name of the key or tensor in hand is in
/// [`Context`](crate::Context) as long as the decoder lives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error {
    offset: u64,
    first: u64,
    second: u64,
    index: u32,
    section: Section,
    code: Code,
}

/// The part of a file that was being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Section {
    /// Magic, version and counts.
    #[default]
    Header,
    /// Metadata: keys and their values.
    Metadata,
    /// The tensor descriptions, and what is checked when the last one has been read.
    Tensors,
    /// The padding before the tensor data, and the data.
    Data,
}

/// The index of an error that belongs to no entry and no tensor.
const NO_INDEX: u32 = u32::MAX;

impl Error {
    /// What an untouched decoder holds: all zero, so that a static one needs no initialised memory.
    pub(crate) const NONE: Self =
        Self { offset: 0, first: 0, second: 0, index: 0, section: Section::Header, code: Code::Internal };

    pub(crate) fn new(fault: Fault, offset: u64, section: Section, index: Option<u32>) -> Self {
        let Fault { code, first, second } = fault;
        Self { offset, first, second, index: index.unwrap_or(NO_INDEX), section, code }
    }

    /// Absolute offset in bytes of the first byte of the field that is wrong or missing; of a whole tensor
    /// description where the fault is in how its fields go together. Never panics.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The section of the file that was being read. Never panics.
    #[must_use]
    pub const fn section(&self) -> Section {
        self.section
    }

    /// Index of the metadata entry or of the tensor, from 0 in file order; `None` in the header, and where no
    /// single one is meant. Never panics.
    #[must_use]
    pub const fn index(&self) -> Option<u32> {
        if self.index == NO_INDEX { None } else { Some(self.index) }
    }

    /// What is wrong. Never panics.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        Fault { code: self.code, first: self.first, second: self.second }.kind()
    }

    /// A stable name of the kind, such as `gguf.bad_magic`, for logs and for programs in other languages.
    /// Never panics.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code.name()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (", self.kind())?;
        match (self.section, self.index()) {
            (Section::Header, _) => write!(f, "header")?,
            (Section::Metadata, Some(index)) => write!(f, "entry {index}")?,
            (Section::Metadata, None) => write!(f, "metadata")?,
            (Section::Tensors, Some(index)) => write!(f, "tensor {index}")?,
            (Section::Tensors, None) => write!(f, "tensors")?,
            (Section::Data, Some(index)) => write!(f, "data of tensor {index}")?,
            #[cfg(feature = "safetensors")]
            (Section::Data, None) if self.code == Code::TrailingBytes => write!(f, "behind the data")?,
            (Section::Data, None) => write!(f, "padding before the data")?,
        }
        write!(f, ", offset {})", self.offset)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("offset", &self.offset)
            .field("section", &self.section)
            .field("index", &self.index())
            .finish()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Error {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{} ({} {}, offset {})", self.kind(), self.section, self.index(), self.offset);
    }
}

impl core::error::Error for Error {}

/// What a check says: an [`ErrorKind`] as an [`Error`] stores it. Making one is two stores, so that the many checks
/// stay small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    code: Code,
    first: u64,
    second: u64,
}

/// One row a kind: its doc, the function that makes it, its name and the (at most two) numbers it carries, its
/// stable code, its message.
macro_rules! error_kinds {
    ($( $(#[doc = $doc:literal])+ $(@$feature:literal)? $make:ident: $kind:ident $({ $first:ident $(, $second:ident)? })? = $code:literal, $message:literal; )+) => {
        /// What is wrong with a file. Numbers are bytes, counts or ids as the field's name says.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the numbers are named and explained by their variant")]
        pub enum ErrorKind {
            $( $(#[doc = $doc])+ #[doc = concat!("\n\nCode: `", $code, "`.")] $(#[cfg(feature = $feature)])? $kind $({ $first: u64 $(, $second: u64)? })?, )+
        }

        /// An [`ErrorKind`] without its numbers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Code {
            $( $(#[cfg(feature = $feature)])? $kind, )+
        }

        impl Fault {
            $(
                $(#[cfg(feature = $feature)])?
                pub(crate) const fn $make($($first: u64 $(, $second: u64)?)?) -> Self {
                    Self {
                        code: Code::$kind,
                        first: error_kinds!(number $($first)?),
                        second: error_kinds!(number $($($second)?)?),
                    }
                }
            )+

            #[allow(unused_variables, reason = "not every kind carries two numbers")]
            const fn kind(self) -> ErrorKind {
                match self.code {
                    $( $(#[cfg(feature = $feature)])? Code::$kind => {
                        $( let $first = self.first; $( let $second = self.second; )? )?
                        ErrorKind::$kind $({ $first $(, $second)? })?
                    } )+
                }
            }
        }

        impl Code {
            const fn name(self) -> &'static str {
                match self {
                    $( $(#[cfg(feature = $feature)])? Self::$kind => $code, )+
                }
            }
        }

        impl fmt::Display for ErrorKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $( $(#[cfg(feature = $feature)])? Self::$kind $({ $first $(, $second)? })? => write!(f, $message), )+
                }
            }
        }
    };
    (number) => { 0 };
    (number $number:ident) => { $number };
}

error_kinds! {
    /// A condition that cannot happen did: a fault of this library. Please report it.
    internal: Internal = "internal", "internal fault of the decoder";
    /// The input ended inside a field of `needed` bytes, of which only `got` came. For tensor data the field is
    /// the whole tensor.
    truncated: Truncated { needed, got } = "input.truncated", "unexpected end of data: needed {needed} bytes, got {got}";
    /// `finish` was called while events were waiting that need no further input: `decode` must be called until
    /// it returns `None`.
    events_pending: EventsPending = "input.events_pending", "events are waiting: decode was not called until it returned none";
    /// A count or a length claims `needed` bytes at least, but at most `available` can follow.
    exceeds_input: ExceedsInput { needed, available } = "input.exceeded",
        "a count or a length needs {needed} more bytes, and at most {available} can follow: the file is cut short, or the number is wrong";

    /// The first four bytes are not `GGUF`.
    bad_magic: BadMagic = "gguf.bad_magic", "not a GGUF file: bad magic";
    /// A version other than 1, 2 and 3 (in either byte order).
    unsupported_version: UnsupportedVersion { version } = "gguf.unsupported_version", "unsupported GGUF version {version}";
    /// A key of no bytes.
    empty_key: EmptyKey = "gguf.empty_key", "empty key";
    /// A value type, or the element type of an array, that does not exist.
    bad_value_type: BadValueType { id } = "gguf.bad_value_type", "no such value type: {id}";
    /// A bool whose byte is neither 0 nor 1.
    bad_bool: BadBool { value } = "gguf.bad_bool", "bool byte is {value}, neither 0 nor 1";
    /// `general.alignment` is not stored as a scalar u32; `id` is its value type.
    alignment_type: AlignmentType { id } = "gguf.alignment_type", "general.alignment has value type {id}, not u32 (4)";
    /// `general.alignment` is not a power of two.
    bad_alignment: BadAlignment { alignment } = "gguf.bad_alignment", "alignment {alignment} is not a power of two";
    /// `general.alignment` stands in the file twice.
    duplicate_alignment: DuplicateAlignment = "gguf.duplicate_alignment", "general.alignment is given twice";

    /// The header's length is less than the 2 bytes of an empty object.
    @"safetensors" header_too_small: HeaderTooSmall { bytes } = "safetensors.header_too_small",
        "a header of {bytes} bytes cannot hold an object";
    /// The header is longer than [`Options::header_bytes`](crate::Options::header_bytes).
    @"safetensors" header_too_large: HeaderTooLarge { bytes, limit } = "safetensors.header_too_large",
        "header of {bytes} bytes is over the limit of {limit}";
    /// A string in the header is not UTF-8.
    @"safetensors" header_not_utf8: HeaderNotUtf8 = "safetensors.not_utf8", "the header is not UTF-8";
    /// The header begins with a byte order mark.
    @"safetensors" byte_order_mark: ByteOrderMark = "safetensors.byte_order_mark", "the header begins with a byte order mark";
    /// A byte that cannot stand there in JSON.
    @"safetensors" bad_json: BadJson { byte } = "safetensors.bad_json", "the header is not JSON: unexpected byte {byte}";
    /// An escape in a string that JSON does not have, or half of a surrogate pair.
    @"safetensors" bad_escape: BadEscape = "safetensors.bad_escape", "the header is not JSON: bad escape in a string";
    /// The header ends before its object does.
    @"safetensors" header_unclosed: HeaderUnclosed = "safetensors.header_unclosed", "the header ends before its object does";
    /// The header is another value than an object.
    @"safetensors" header_not_object: HeaderNotObject = "safetensors.header_not_object", "the header is not an object";
    /// `__metadata__` is neither an object nor null.
    @"safetensors" metadata_not_object: MetadataNotObject = "safetensors.metadata_not_object", "__metadata__ is not an object";
    /// A value in `__metadata__` is not a string.
    @"safetensors" metadata_not_string: MetadataNotString = "safetensors.metadata_not_string", "metadata value is not a string";
    /// `__metadata__` stands in the header twice.
    @"safetensors" duplicate_metadata: DuplicateMetadata = "safetensors.duplicate_metadata", "__metadata__ is given twice";
    /// A tensor's description is not an object.
    @"safetensors" tensor_not_object: TensorNotObject = "safetensors.tensor_not_object", "the description is not an object";
    /// A `dtype`, `shape` or `data_offsets` is not of the type that it must be: a string, or an array of plain non-negative
    /// integers below 2^64, two of them for `data_offsets`.
    @"safetensors" bad_field: BadField = "safetensors.bad_field", "a dtype, shape or data_offsets is not of its type";
    /// A `dtype`, `shape` or `data_offsets` stands in a description twice.
    @"safetensors" duplicate_field: DuplicateField = "safetensors.duplicate_field", "a dtype, shape or data_offsets is given twice";
    /// A description lacks `dtype`, `shape` or `data_offsets`.
    @"safetensors" missing_field: MissingField = "safetensors.missing_field", "the description lacks dtype, shape or data_offsets";
    /// A `dtype` that is not known.
    @"safetensors" unknown_dtype: UnknownDtype = "safetensors.unknown_dtype", "unknown dtype";
    /// A tensor ends before it starts.
    @"safetensors" offsets_reversed: OffsetsReversed { start, end } = "safetensors.offsets_reversed",
        "the tensor's data_offsets end at {end}, before they start at {start}";
    /// The bits of a tensor are not whole bytes.
    @"safetensors" partial_byte: PartialByte { elements } = "safetensors.partial_byte",
        "{elements} elements of less than a byte each do not make whole bytes";
    /// A tensor's type and shape take `expected` bytes, and its `data_offsets` span `found`.
    @"safetensors" length_mismatch: LengthMismatch { expected, found } = "safetensors.length_mismatch",
        "type and shape take {expected} bytes, data_offsets span {found}";
    /// The tensor before this one, in the order of the data, ends at `expected` in the data section, and this one starts
    /// behind that, at `data_offset`: bytes of no tensor lie between.
    @"safetensors" hole: Hole { data_offset, expected } = "safetensors.hole",
        "the tensor's data start at {data_offset}, and those before end at {expected}";
    /// All tensors together have `bytes` bytes, but end at `end`: bytes belong to two of them, or to none.
    @"safetensors" not_covered: NotCovered { bytes, end } = "safetensors.not_covered",
        "the tensors have {bytes} bytes, and the data end at {end}: they overlap, or leave holes";
    /// Bytes follow the last tensor.
    @"safetensors" trailing_bytes: TrailingBytes = "safetensors.trailing_bytes", "bytes follow the last tensor";
    /// A tensor has more elements than [`Options::tensor_elements`](crate::Options::tensor_elements).
    @"safetensors" too_many_elements: TooManyElements { elements, limit } = "limit.tensor_elements",
        "tensor of {elements} elements is over the limit of {limit}";
    /// A tensor ends beyond [`Options::data_bytes`](crate::Options::data_bytes) of data.
    @"safetensors" data_too_large: DataTooLarge { bytes, limit } = "limit.data_bytes",
        "tensor data of at least {bytes} bytes are over the limit of {limit}";

    /// A key or tensor name is not UTF-8.
    name_not_utf8: NameNotUtf8 = "name.not_utf8", "name is not UTF-8";
    /// A key or tensor name contains the byte 0.
    name_has_nul: NameHasNul = "name.nul", "name contains a NUL byte";

    /// A key or tensor name is longer than [`Options::name_bytes`](crate::Options::name_bytes).
    name_too_long: NameTooLong { bytes, limit } = "limit.name_bytes", "name of {bytes} bytes is over the limit of {limit}";
    /// Arrays are nested deeper than [`Options::nesting`](crate::Options::nesting); in safetensors, objects and arrays deeper
    /// than 127.
    nesting_too_deep: NestingTooDeep { depth, limit } = "limit.nesting", "nested {depth} deep, over the limit of {limit}";
    /// The alignment is larger than [`Options::alignment`](crate::Options::alignment).
    alignment_too_large: AlignmentTooLarge { alignment, limit } = "limit.alignment",
        "alignment of {alignment} bytes is over the limit of {limit}";
    /// A tensor has more dimensions than the format or [`Options::rank`](crate::Options::rank) allows.
    too_many_dimensions: TooManyDimensions { dimensions, limit } = "limit.rank",
        "tensor of {dimensions} dimensions is over the limit of {limit}";
    /// More entries than [`Options::entries`](crate::Options::entries).
    too_many_entries: TooManyEntries { entries, limit } = "limit.entries", "{entries} metadata entries are over the limit of {limit}";
    /// More tensors than [`Options::tensors`](crate::Options::tensors).
    too_many_tensors: TooManyTensors { tensors, limit } = "limit.tensors", "{tensors} tensors are over the limit of {limit}";
    /// A string value is longer than [`Options::string_bytes`](crate::Options::string_bytes).
    string_too_long: StringTooLong { bytes, limit } = "limit.string_bytes", "string of {bytes} bytes is over the limit of {limit}";
    /// An array has more elements than [`Options::array_elements`](crate::Options::array_elements).
    array_too_long: ArrayTooLong { elements, limit } = "limit.array_elements",
        "array of {elements} elements is over the limit of {limit}";
    /// The metadata would take more bytes than [`Options::metadata_bytes`](crate::Options::metadata_bytes).
    metadata_too_large: MetadataTooLarge { bytes, limit } = "limit.metadata_bytes",
        "metadata of at least {bytes} bytes are over the limit of {limit}";

    /// A tensor type id that is not known.
    unknown_tensor_type: UnknownTensorType { id } = "tensor.unknown_type", "unknown tensor type {id}";
    /// The id of a tensor type that files may no longer hold.
    removed_tensor_type: RemovedTensorType { id } = "tensor.removed_type", "tensor type {id} was removed from the format";
    /// The product of the non-zero dimensions is 2^63 or more.
    shape_overflow: ShapeOverflow = "tensor.shape_overflow", "the product of the dimensions is too large";
    /// A row (the first dimension) does not divide into whole blocks.
    row_not_whole_blocks: RowNotWholeBlocks { row_elements, block_elements } = "tensor.row_not_whole_blocks",
        "a row of {row_elements} elements does not divide into blocks of {block_elements}";
    /// The size of a tensor, or where it would end, is beyond what 64 bits can count.
    size_overflow: SizeOverflow = "tensor.size_overflow", "the tensor's size or end is too large";
    /// With [`Layout::Contiguous`](crate::Layout::Contiguous): a tensor's offset in the data section is not where
    /// the tensor before it ends, padded.
    offset_mismatch: OffsetMismatch { data_offset, expected } = "tensor.offset_mismatch",
        "the tensor's data offset is {data_offset}, expected {expected}";
    /// With [`Layout::Sparse`](crate::Layout::Sparse): a tensor's offset in the data section is not a multiple of
    /// the alignment.
    offset_unaligned: OffsetUnaligned { data_offset, alignment } = "tensor.offset_unaligned",
        "the tensor's data offset {data_offset} is not a multiple of {alignment}";
    /// Two recorded tensors share bytes; `other` is the index of the earlier one.
    overlap: Overlap { other } = "tensor.overlap", "the tensor's data overlap those of tensor {other}";
    /// Two recorded tensors have the same name (by its hash); `other` is the index of the earlier one.
    duplicate_tensor: DuplicateTensor { other } = "tensor.duplicate", "the tensor has the name of tensor {other}";
    /// With [`UnknownTypes::Infer`](crate::UnknownTypes::Infer) and [`Layout::Sparse`](crate::Layout::Sparse): the
    /// length of a recorded tensor of unknown type cannot be known, because some tensor was not recorded.
    length_unknown: LengthUnknown = "tensor.length_unknown",
        "the length of a tensor of unknown type needs every tensor to be recorded";

    /// A block of a recorded tensor is larger than the decoder's scratch memory.
    block_exceeds_scratch: BlockExceedsScratch { block_bytes, scratch_bytes } = "directory.scratch",
        "a block of {block_bytes} bytes does not fit in the scratch memory of {scratch_bytes}";
    /// More tensors are to be recorded than the caller lent slots for.
    directory_full: DirectoryFull { capacity } = "directory.full", "the directory's {capacity} slots are full";
}

/// The caller asked to jump over more bytes than may be skipped. The decoder is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AdvanceError {
    /// Bytes that the caller wanted to jump over.
    pub requested: u64,
    /// Bytes that may be jumped over now.
    pub skippable: u64,
}

impl fmt::Display for AdvanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot jump over {} bytes: {} are skippable", self.requested, self.skippable)
    }
}

impl core::error::Error for AdvanceError {}

/// Why blocks could not be turned into numbers.
///
/// Nothing was read or written when one of these is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum DequantizeError {
    /// The output cannot hold one block or, where a range was asked for, the range.
    OutputTooSmall {
        /// Elements of one block, or of the range.
        needed: usize,
        /// Elements the output holds.
        got: usize,
    },
    /// The input ends inside a block.
    PartialBlock {
        /// Bytes of one block.
        needed: usize,
        /// Bytes that were left.
        got: usize,
    },
    /// The type is unknown, or was removed from the format, so that nothing is known of its blocks; or it is one whose
    /// blocks come raw only: `C64`, `F4`, `F6_E2M3` and `F6_E3M2` of safetensors.
    NoKernel {
        /// The type of the blocks.
        tensor_type: TensorType,
    },
    /// The type's family was left out of this build.
    FamilyOff {
        /// The type of the blocks.
        tensor_type: TensorType,
        /// The cargo feature that turns the family on.
        feature: &'static str,
    },
    /// The blocks are big-endian, and it is not settled what that means for this type.
    AmbiguousByteOrder {
        /// The type of the blocks.
        tensor_type: TensorType,
    },
    /// The range of elements is not within the input, or it ends before it starts.
    OutOfRange {
        /// The first element asked for.
        start: u64,
        /// The element after the last one asked for.
        end: u64,
        /// Elements in the whole blocks of the input.
        elements: u64,
    },
}

impl fmt::Display for DequantizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OutputTooSmall { needed, got } => {
                write!(f, "output too small: {needed} elements are needed, the output holds {got}")
            }
            Self::PartialBlock { needed, got } => {
                write!(f, "input ends inside a block: one block has {needed} bytes, {got} are left")
            }
            Self::NoKernel { tensor_type } => {
                write!(f, "{tensor_type} cannot be dequantized: it comes as raw blocks only")
            }
            Self::FamilyOff { tensor_type, feature } => {
                write!(f, "{tensor_type} needs the feature \"{feature}\" of weightstream to be dequantized")
            }
            Self::AmbiguousByteOrder { tensor_type } => {
                write!(f, "{tensor_type} has no settled big-endian layout; only its raw blocks can be used")
            }
            Self::OutOfRange { start, end, elements } => {
                write!(f, "elements {start}..{end} are not all among the {elements} of the input")
            }
        }
    }
}

impl core::error::Error for DequantizeError {}
