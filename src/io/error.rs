//! What can go wrong between a source and a decoder.

use core::fmt;

use crate::error::Error;

/// Why a reader could not go on. `E` is the error of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ReadError<E> {
    /// The source failed. Nothing is lost: the next call asks it again.
    Source(E),
    /// The file is bad, or ends too early. Every later call returns the same. The name of what was in hand is in
    /// [`Decoder::context`](crate::Decoder::context).
    Decode(Error),
    /// The reader was given a buffer of no bytes.
    EmptyBuffer,
    /// The source claims to have read more bytes than it was given room for, so that it is unknown which bytes they
    /// were. Every later call returns the same.
    SourceOverrun,
}

impl<E> From<Error> for ReadError<E> {
    fn from(error: Error) -> Self {
        Self::Decode(error)
    }
}

impl<E: fmt::Display> fmt::Display for ReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => write!(f, "the source failed: {error}"),
            Self::Decode(error) => error.fmt(f),
            Self::EmptyBuffer => f.write_str("the buffer to read into has no bytes"),
            Self::SourceOverrun => f.write_str(OVERRUN),
        }
    }
}

/// What is said of a source that claims too much.
pub(super) const OVERRUN: &str = "the source claims to have read more bytes than there was room for";

impl<E: core::error::Error + 'static> core::error::Error for ReadError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Source(error) => Some(error),
            _ => None,
        }
    }
}
