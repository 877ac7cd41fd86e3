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

/// One row a type, in the order of the ids.
const TYPES: [(ValueType, &str, u8); 13] = [
    (ValueType::U8, "u8", 1),
    (ValueType::I8, "i8", 1),
    (ValueType::U16, "u16", 2),
    (ValueType::I16, "i16", 2),
    (ValueType::U32, "u32", 4),
    (ValueType::I32, "i32", 4),
    (ValueType::F32, "f32", 4),
    (ValueType::Bool, "bool", 1),
    (ValueType::String, "string", 0),
    (ValueType::Array, "array", 0),
    (ValueType::U64, "u64", 8),
    (ValueType::I64, "i64", 8),
    (ValueType::F64, "f64", 8),
];

impl ValueType {
    /// The type of an id as GGUF stores it; `None` where there is none. Never panics.
    #[must_use]
    pub fn from_id(id: u32) -> Option<Self> {
        let row = usize::try_from(id).ok()?;
        TYPES.get(row).map(|&(value_type, _, _)| value_type)
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
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Bytes of one value; `None` for strings and arrays, whose size is in the file. Never panics.
    #[must_use]
    pub fn byte_len(self) -> Option<u8> {
        match self.row().2 {
            0 => None,
            bytes => Some(bytes),
        }
    }

    fn row(self) -> (Self, &'static str, u8) {
        TYPES.get(usize::from(self as u8)).copied().unwrap_or((self, "", 0))
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
