//! What can be wrong with metadata that are kept.

use core::fmt;

use crate::value::ValueType;

/// Why an entry could not be kept, or is not what was asked for.
///
/// `Copy`, 32 bytes at most, and without the key itself: [`index`](Self::index) tells the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MetadataError {
    kind: MetadataErrorKind,
    index: u32,
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum MetadataErrorKind {
    /// The value did not come whole: it was skipped, or the file ends within it.
    ///
    /// Code: `metadata.incomplete`.
    Incomplete,
    /// The value is of another type than was asked for.
    ///
    /// Code: `metadata.wrong_type`.
    WrongType {
        /// The type that the file gives it.
        stored: ValueType,
    },
    /// The integer does not fit the type that was asked for.
    ///
    /// Code: `metadata.out_of_range`.
    OutOfRange,
    /// The string is not UTF-8.
    ///
    /// Code: `metadata.not_utf8`.
    NotUtf8,
    /// Only the type and the length of this array are kept: see
    /// [`KeyPattern::with_elements`](super::KeyPattern::with_elements).
    ///
    /// Code: `metadata.elements_not_kept`.
    ElementsNotKept,
    /// The key stands in the file twice.
    ///
    /// Code: `metadata.duplicate_key`.
    DuplicateKey {
        /// Index of the earlier entry.
        other: u32,
    },
    /// There are more wanted keys than memory was lent for.
    ///
    /// Code: `metadata.keys_full`.
    KeysFull {
        /// Keys that can be kept.
        capacity: usize,
    },
    /// A key, a string or the elements of an array do not fit. Nothing is cut to fit.
    ///
    /// Code: `metadata.bytes_full`.
    BytesFull {
        /// Bytes that it takes: at least, for an array of strings and for a text of safetensors.
        needed: u64,
        /// Bytes that are left.
        available: usize,
    },
}

impl MetadataError {
    /// What an untouched store holds. Of kinds it is the first one, so that it is all zero.
    pub(super) const NONE: Self = Self { kind: MetadataErrorKind::Incomplete, index: 0 };

    pub(super) const fn new(kind: MetadataErrorKind, index: u32) -> Self {
        Self { kind, index }
    }

    /// What is wrong. Never panics.
    #[must_use]
    pub const fn kind(&self) -> MetadataErrorKind {
        self.kind
    }

    /// Index of the entry in the file, from 0, counted over all entries. Never panics.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// A stable name of the kind, such as `metadata.duplicate_key`. Never panics.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            MetadataErrorKind::Incomplete => "metadata.incomplete",
            MetadataErrorKind::WrongType { .. } => "metadata.wrong_type",
            MetadataErrorKind::OutOfRange => "metadata.out_of_range",
            MetadataErrorKind::NotUtf8 => "metadata.not_utf8",
            MetadataErrorKind::ElementsNotKept => "metadata.elements_not_kept",
            MetadataErrorKind::DuplicateKey { .. } => "metadata.duplicate_key",
            MetadataErrorKind::KeysFull { .. } => "metadata.keys_full",
            MetadataErrorKind::BytesFull { .. } => "metadata.bytes_full",
        }
    }
}

impl fmt::Display for MetadataErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete => f.write_str("the value did not come whole"),
            Self::WrongType { stored } => {
                write!(f, "the value is of type {}, not of the one asked for", stored.name())
            }
            Self::OutOfRange => f.write_str("the integer does not fit the type asked for"),
            Self::NotUtf8 => f.write_str("the string is not UTF-8"),
            Self::ElementsNotKept => f.write_str("the elements of the array were not kept"),
            Self::DuplicateKey { other } => write!(f, "the key is the same as that of entry {other}"),
            Self::KeysFull { capacity } => write!(f, "the metadata's {capacity} keys are full"),
            Self::BytesFull { needed, available } => {
                write!(f, "the metadata need {needed} more bytes, {available} are left")
            }
        }
    }
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (entry {})", self.kind, self.index)
    }
}

impl core::error::Error for MetadataError {}
