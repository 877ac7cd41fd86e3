//! The types of metadata values.

use crate::byte_order::ByteOrder;
use crate::checkpoint::{CheckpointError, Fields};

/// The type of a metadata value, or of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum ValueType {
    /// Unsigned, 1 byte.
    U8 = 0,
    /// Signed, 1 byte.
    I8 = 1,
    /// Unsigned, 2 bytes.
    U16 = 2,
    /// Signed, 2 bytes.
    I16 = 3,
    /// Unsigned, 4 bytes.
    U32 = 4,
    /// Signed, 4 bytes.
    I32 = 5,
    /// IEEE 754 binary32.
    F32 = 6,
    /// One byte, 0 or 1.
    Bool = 7,
    /// A length and so many bytes, by the format UTF-8.
    String = 8,
    /// An element type, a count and so many elements.
    Array = 9,
    /// Unsigned, 8 bytes.
    U64 = 10,
    /// Signed, 8 bytes.
    I64 = 11,
    /// IEEE 754 binary64.
    F64 = 12,
}

/// One value of fixed size.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[allow(missing_docs, reason = "each variant holds what its name says")]
pub enum Scalar {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    F32(f32),
    Bool(bool),
    U64(u64),
    I64(i64),
    F64(f64),
}

/// Every type, at the place that its id says.
const TYPES: [ValueType; 13] = [
    ValueType::U8,
    ValueType::I8,
    ValueType::U16,
    ValueType::I16,
    ValueType::U32,
    ValueType::I32,
    ValueType::F32,
    ValueType::Bool,
    ValueType::String,
    ValueType::Array,
    ValueType::U64,
    ValueType::I64,
    ValueType::F64,
];

impl ValueType {
    /// The type of an id as GGUF stores it; `None` where there is none. Never panics.
    #[must_use]
    pub fn from_id(id: u32) -> Option<Self> {
        TYPES.get(usize::try_from(id).ok()?).copied()
    }

    /// The id as GGUF stores it. Never panics.
    #[must_use]
    pub const fn id(self) -> u32 {
        // The discriminants are the ids.
        self as u32
    }

    /// The field of a checkpoint.
    pub(crate) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        let mut id = self.id();
        fields.u32(&mut id)?;
        *self = Self::from_id(id).ok_or(CheckpointError::OutOfRange)?;
        Ok(())
    }

    /// The short name, such as `u32`. Never panics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::F32 => "f32",
            Self::Bool => "bool",
            Self::String => "string",
            Self::Array => "array",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F64 => "f64",
        }
    }

    /// Bytes of one value; `None` for strings and arrays, whose size is in the file. Never panics.
    #[must_use]
    pub const fn byte_len(self) -> Option<u8> {
        match self {
            Self::U8 | Self::I8 | Self::Bool => Some(1),
            Self::U16 | Self::I16 => Some(2),
            Self::U32 | Self::I32 | Self::F32 => Some(4),
            Self::U64 | Self::I64 | Self::F64 => Some(8),
            Self::String | Self::Array => None,
        }
    }
}

impl Scalar {
    /// A value from its bits, the lowest ones of `bits`; `None` for a type without a fixed size.
    pub(crate) const fn from_bits(value_type: ValueType, bits: u64) -> Option<Self> {
        let [b0, b1, b2, b3, ..] = bits.to_le_bytes();
        let (half, word) = ([b0, b1], [b0, b1, b2, b3]);
        Some(match value_type {
            ValueType::U8 => Self::U8(b0),
            ValueType::I8 => Self::I8(b0.cast_signed()),
            ValueType::U16 => Self::U16(u16::from_le_bytes(half)),
            ValueType::I16 => Self::I16(i16::from_le_bytes(half)),
            ValueType::U32 => Self::U32(u32::from_le_bytes(word)),
            ValueType::I32 => Self::I32(i32::from_le_bytes(word)),
            ValueType::F32 => Self::F32(f32::from_le_bytes(word)),
            ValueType::Bool => Self::Bool(b0 != 0),
            ValueType::U64 => Self::U64(bits),
            ValueType::I64 => Self::I64(bits.cast_signed()),
            ValueType::F64 => Self::F64(f64::from_bits(bits)),
            ValueType::String | ValueType::Array => return None,
        })
    }

    /// A value from the bytes of its type, all of them.
    pub(crate) fn from_bytes(value_type: ValueType, order: ByteOrder, bytes: &[u8]) -> Option<Self> {
        let push = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        let bits = match order {
            ByteOrder::Little => bytes.iter().rev().fold(0, push),
            ByteOrder::Big => bytes.iter().fold(0, push),
        };
        Self::from_bits(value_type, bits)
    }

    /// The bits of the value, the lowest ones; the others are 0.
    pub(crate) const fn bits(self) -> u64 {
        // Lossless: `From` is not const.
        match self {
            Self::U8(n) => n as u64,
            Self::I8(n) => n.cast_unsigned() as u64,
            Self::U16(n) => n as u64,
            Self::I16(n) => n.cast_unsigned() as u64,
            Self::U32(n) => n as u64,
            Self::I32(n) => n.cast_unsigned() as u64,
            Self::F32(n) => n.to_bits() as u64,
            Self::Bool(n) => n as u64,
            Self::U64(n) => n,
            Self::I64(n) => n.cast_unsigned(),
            Self::F64(n) => n.to_bits(),
        }
    }

    /// The type of the value. Never panics.
    #[must_use]
    pub const fn value_type(&self) -> ValueType {
        match self {
            Self::U8(_) => ValueType::U8,
            Self::I8(_) => ValueType::I8,
            Self::U16(_) => ValueType::U16,
            Self::I16(_) => ValueType::I16,
            Self::U32(_) => ValueType::U32,
            Self::I32(_) => ValueType::I32,
            Self::F32(_) => ValueType::F32,
            Self::Bool(_) => ValueType::Bool,
            Self::U64(_) => ValueType::U64,
            Self::I64(_) => ValueType::I64,
            Self::F64(_) => ValueType::F64,
        }
    }
}
