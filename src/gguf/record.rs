//! The shape of GGUF's fixed-size fields: streaming parsers without state.

use nom::Parser;
use nom::bytes::streaming::{tag, take};
use nom::number::Endianness;
use nom::number::streaming;

use crate::byte_order::ByteOrder;
use crate::carry::{BadField, Parsed};
use crate::error::ErrorKind;
use crate::value::{Scalar, ValueType};

const MAGIC: &[u8] = b"GGUF";
/// The newest version.
const VERSION: u32 = 3;

/// Fewest bytes of a tensor description after the name: number of dimensions, type, offset.
pub(super) const LEAST_AFTER_NAME: u64 = 4 + 4 + 8;

/// How a file writes its numbers: known once its version has been read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wire {
    pub(super) order: ByteOrder,
    /// 1, 2 or 3. Version 1 has counts, lengths and dimensions of 32 bits, the later ones of 64.
    pub(super) version: u8,
}

/// The four bytes every file begins with, in either byte order.
pub(super) fn magic(input: &[u8]) -> Parsed<'_, ()> {
    let bad = |_: nom::Err<BadField>| failure(ErrorKind::BadMagic);
    match tag::<_, _, BadField>(MAGIC).parse(input) {
        Ok((rest, _)) => Ok((rest, ())),
        Err(short @ nom::Err::Incomplete(_)) => Err(short),
        Err(wrong) => Err(bad(wrong)),
    }
}

/// The version, and with it the byte order: the low half of a version is zero only when its bytes are swapped.
pub(super) fn version(input: &[u8]) -> Parsed<'_, Wire> {
    let (rest, stored) = streaming::le_u32(input)?;
    let (order, version) = if stored & 0xffff == 0 {
        (ByteOrder::Big, stored.swap_bytes())
    } else {
        (ByteOrder::Little, stored)
    };
    match u8::try_from(version) {
        Ok(version @ 1..) if u32::from(version) <= VERSION => Ok((rest, Wire { order, version })),
        _ => Err(failure(ErrorKind::UnsupportedVersion { version: u64::from(version) })),
    }
}

impl Wire {
    pub(super) const fn new() -> Self {
        Self { order: ByteOrder::Little, version: 0 }
    }

    /// Fewest bytes of a metadata entry: key length, one byte of key, value type, one byte of value.
    pub(super) const fn least_entry(self) -> u64 {
        // Lossless: `From` is not const.
        (self.size_bytes() as u64).wrapping_add(1 + 4 + 1)
    }

    /// Fewest bytes of a tensor description: name length, number of dimensions, type, offset.
    pub(super) const fn least_tensor(self) -> u64 {
        (self.size_bytes() as u64).wrapping_add(LEAST_AFTER_NAME)
    }

    /// Fewest bytes of an array element of that type.
    pub(super) fn least_element(self, element: ValueType) -> u64 {
        match (element, element.bytes()) {
            (_, Some(bytes)) => u64::from(bytes),
            (ValueType::Array, _) => u64::from(self.size_bytes()).wrapping_add(4),
            _ => u64::from(self.size_bytes()),
        }
    }

    /// Bytes of a count, a length or a dimension.
    pub(super) const fn size_bytes(self) -> u8 {
        if self.version == 1 { 4 } else { 8 }
    }

    /// A count, a length or a dimension.
    pub(super) fn size(self, input: &[u8]) -> Parsed<'_, u64> {
        if self.version == 1 {
            let (rest, size) = self.id(input)?;
            return Ok((rest, u64::from(size)));
        }
        self.offset(input)
    }

    /// A type id, or a number of dimensions.
    pub(super) fn id(self, input: &[u8]) -> Parsed<'_, u32> {
        streaming::u32(self.endianness()).parse(input)
    }

    /// A tensor's offset: 64 bits in every version.
    pub(super) fn offset(self, input: &[u8]) -> Parsed<'_, u64> {
        streaming::u64(self.endianness()).parse(input)
    }

    /// A value of fixed size.
    pub(super) fn scalar(self, value_type: ValueType, input: &[u8]) -> Parsed<'_, Scalar> {
        let (rest, bytes) = take(value_type.bytes().unwrap_or(0)).parse(input)?;
        match Scalar::from_bytes(value_type, self.order, bytes) {
            Some(Scalar::Bool(_)) if bytes > [1].as_slice() => Err(failure(bad_bool(bytes))),
            Some(value) => Ok((rest, value)),
            None => Err(failure(ErrorKind::Internal)),
        }
    }

    const fn endianness(self) -> Endianness {
        match self.order {
            ByteOrder::Little => Endianness::Little,
            ByteOrder::Big => Endianness::Big,
        }
    }
}

/// What is wrong with a bool that is neither 0 nor 1.
fn bad_bool(bytes: &[u8]) -> ErrorKind {
    ErrorKind::BadBool { value: bytes.first().copied().map_or(0, u64::from) }
}

const fn failure(kind: ErrorKind) -> nom::Err<BadField> {
    nom::Err::Failure(BadField(kind))
}
