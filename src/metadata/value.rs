//! Values that were kept, and what they can be read as.

use super::error::{MetadataError, MetadataErrorKind};
use crate::value::{Scalar, ValueType};

/// A kept value, or an element of a kept array.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Value<'a> {
    content: Content<'a>,
    index: u32,
}

/// What a kept value is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Content<'a> {
    /// A value of fixed size.
    Scalar(Scalar),
    /// The bytes of a whole string, not checked to be UTF-8.
    Text(&'a [u8]),
    /// An array.
    Array {
        /// The type of its elements.
        element: ValueType,
        /// How many there are.
        len: u64,
    },
}

impl<'a> Value<'a> {
    pub(super) const fn new(content: Content<'a>, index: u32) -> Self {
        Self { content, index }
    }

    /// The value as it is. Never panics.
    #[must_use]
    pub const fn content(&self) -> Content<'a> {
        self.content
    }

    /// Index of the entry in the file, from 0, counted over all entries. Never panics.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// The type that the file gives the value. Never panics.
    #[must_use]
    pub const fn value_type(&self) -> ValueType {
        match &self.content {
            Content::Scalar(scalar) => scalar.value_type(),
            Content::Text(_) => ValueType::String,
            Content::Array { .. } => ValueType::Array,
        }
    }

    /// An integer, of whichever width and sign it is stored. A bool is none.
    ///
    /// # Errors
    ///
    /// [`WrongType`](MetadataErrorKind::WrongType), and [`OutOfRange`](MetadataErrorKind::OutOfRange) where `T` does
    /// not have the number. Never panics.
    pub fn integer<T: Integer>(&self) -> Result<T, MetadataError> {
        let Content::Scalar(scalar) = self.content else { return Err(self.wrong_type()) };
        let number = match scalar {
            Scalar::U8(n) => T::try_from(u64::from(n)).ok(),
            Scalar::U16(n) => T::try_from(u64::from(n)).ok(),
            Scalar::U32(n) => T::try_from(u64::from(n)).ok(),
            Scalar::U64(n) => T::try_from(n).ok(),
            Scalar::I8(n) => T::try_from(i64::from(n)).ok(),
            Scalar::I16(n) => T::try_from(i64::from(n)).ok(),
            Scalar::I32(n) => T::try_from(i64::from(n)).ok(),
            Scalar::I64(n) => T::try_from(n).ok(),
            Scalar::F32(_) | Scalar::F64(_) | Scalar::Bool(_) => return Err(self.wrong_type()),
        };
        number.ok_or(self.error(MetadataErrorKind::OutOfRange))
    }

    /// An `f32` or `f64`. An integer is none.
    ///
    /// # Errors
    ///
    /// [`WrongType`](MetadataErrorKind::WrongType). Never panics.
    pub fn float(&self) -> Result<f64, MetadataError> {
        match self.content {
            Content::Scalar(Scalar::F32(n)) => Ok(f64::from(n)),
            Content::Scalar(Scalar::F64(n)) => Ok(n),
            _ => Err(self.wrong_type()),
        }
    }

    /// A bool.
    ///
    /// # Errors
    ///
    /// [`WrongType`](MetadataErrorKind::WrongType). Never panics.
    pub fn boolean(&self) -> Result<bool, MetadataError> {
        match self.content {
            Content::Scalar(Scalar::Bool(value)) => Ok(value),
            _ => Err(self.wrong_type()),
        }
    }

    /// A string. [`content`](Self::content) has its bytes where it is not UTF-8.
    ///
    /// # Errors
    ///
    /// [`WrongType`](MetadataErrorKind::WrongType) and [`NotUtf8`](MetadataErrorKind::NotUtf8). Never panics.
    pub fn text(&self) -> Result<&'a str, MetadataError> {
        match self.content {
            Content::Text(bytes) => {
                core::str::from_utf8(bytes).map_err(|_| self.error(MetadataErrorKind::NotUtf8))
            }
            _ => Err(self.wrong_type()),
        }
    }

    /// Elements of an array.
    ///
    /// # Errors
    ///
    /// [`WrongType`](MetadataErrorKind::WrongType). Never panics.
    pub fn array_len(&self) -> Result<u64, MetadataError> {
        match self.content {
            Content::Array { len, .. } => Ok(len),
            _ => Err(self.wrong_type()),
        }
    }

    const fn wrong_type(&self) -> MetadataError {
        self.error(MetadataErrorKind::WrongType { stored: self.value_type() })
    }

    const fn error(&self, kind: MetadataErrorKind) -> MetadataError {
        MetadataError::new(kind, self.index)
    }
}

/// An integer type that metadata are read as: `u32`, `u64`, `usize`, `i32` and `i64`. Sealed.
pub trait Integer: TryFrom<u64> + TryFrom<i64> + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! integers {
    ($($type:ty),+) => {
        $(
            impl Integer for $type {}
            impl sealed::Sealed for $type {}
        )+
    };
}

integers!(u32, u64, usize, i32, i64);
