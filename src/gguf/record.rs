//! The shape of GGUF's fixed-size fields: streaming parsers without state.

use nom::Parser;
use nom::bytes::streaming::tag;
use nom::number::Endianness;
use nom::number::streaming;

use crate::byte_order::ByteOrder;
use crate::carry::{BadField, Parsed};
use crate::error::Fault;
use crate::value::ValueType;

const MAGIC: &[u8] = b"GGUF";
/// The newest version.
pub(super) const VERSION: u32 = 3;
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
pub(super) fn magic(_: Wire, input: &[u8]) -> Parsed<'_> {
    match tag::<_, _, BadField>(MAGIC).parse(input) {
        Ok((rest, _)) => Ok((rest, 0)),
        Err(short @ nom::Err::Incomplete(_)) => Err(short),
        Err(_) => Err(nom::Err::Failure(BadField(Fault::bad_magic()))),
    }
}

/// The version as a little-endian file writes it: see [`Wire::of_version`].
pub(super) fn version(_: Wire, input: &[u8]) -> Parsed<'_> {
    word(Wire::new(), input)
}

/// A number of 8 bits.
fn byte(_: Wire, input: &[u8]) -> Parsed<'_> {
    streaming::u8.map(u64::from).parse(input)
}

/// A number of 16 bits.
fn half(wire: Wire, input: &[u8]) -> Parsed<'_> {
    streaming::u16(wire.endianness()).map(u64::from).parse(input)
}

/// A number of 32 bits: a type id, a number of dimensions.
pub(super) fn word(wire: Wire, input: &[u8]) -> Parsed<'_> {
    streaming::u32(wire.endianness()).map(u64::from).parse(input)
}

/// A number of 64 bits: a tensor's offset, in every version.
pub(super) fn long(wire: Wire, input: &[u8]) -> Parsed<'_> {
    streaming::u64(wire.endianness()).parse(input)
}

/// A count, a length or a dimension.
pub(super) fn size(wire: Wire, input: &[u8]) -> Parsed<'_> {
    if wire.version == 1 { word(wire, input) } else { long(wire, input) }
}

/// The parser of a value of so many bytes.
pub(super) fn scalar(bytes: u8) -> crate::carry::Parser<Wire> {
    match bytes {
        1 => byte,
        2 => half,
        4 => word,
        _ => long,
    }
}

impl Wire {
    pub(super) const fn new() -> Self {
        Self { order: ByteOrder::Little, version: 0 }
    }

    /// What the version, read as little-endian, says: its low half is zero only where its bytes are swapped.
    pub(super) fn of_version(stored: u32) -> Result<Self, Fault> {
        let (order, version) = if stored & 0xffff == 0 {
            (ByteOrder::Big, stored.swap_bytes())
        } else {
            (ByteOrder::Little, stored)
        };
        match u8::try_from(version) {
            Ok(small @ 1..) if version <= VERSION => Ok(Self { order, version: small }),
            _ => Err(Fault::unsupported_version(u64::from(version))),
        }
    }

    /// Bytes of a count, a length or a dimension.
    pub(super) const fn size_bytes(self) -> u8 {
        if self.version == 1 { 4 } else { 8 }
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
        match (element, element.byte_len()) {
            (_, Some(bytes)) => u64::from(bytes),
            (ValueType::Array, _) => u64::from(self.size_bytes()).wrapping_add(4),
            _ => u64::from(self.size_bytes()),
        }
    }

    const fn endianness(self) -> Endianness {
        match self.order {
            ByteOrder::Little => Endianness::Little,
            ByteOrder::Big => Endianness::Big,
        }
    }
}
