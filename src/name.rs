//! Keys and tensor names, read piece by piece: checked, hashed, and kept as far as the scratch reaches.

#[cfg(feature = "safetensors")]
use crate::carry::as_u64;
use crate::checkpoint::{CheckpointError, Fields, within};
use crate::error::Fault;

/// FNV-1a, 64 bits: the offset basis and the prime of the algorithm's published definition.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a (64 bits) of a whole name: what a [`TensorSlot`](crate::TensorSlot) is found by. A stable promise.
/// Never panics.
#[must_use]
pub const fn name_hash(name: &str) -> u64 {
    let mut rest = name.as_bytes();
    let mut hash = FNV_BASIS;
    while let [byte, tail @ ..] = rest {
        hash = fnv_step(hash, *byte);
        rest = tail;
    }
    hash
}

const fn fnv_step(hash: u64, byte: u8) -> u64 {
    // Lossless: `From` is not const.
    (hash ^ byte as u64).wrapping_mul(FNV_PRIME)
}

/// A name on its way in. Its text lies in the decoder's scratch, from the start.
#[derive(Clone, Debug)]
pub struct NameReader {
    hash: u64,
    /// Bytes of the whole name.
    total: u32,
    /// Bytes that have come.
    seen: u32,
    /// Bytes of it that are in the scratch.
    kept: u32,
    utf8: Utf8,
}

impl NameReader {
    pub(crate) const fn new() -> Self {
        Self { hash: 0, total: 0, seen: 0, kept: 0, utf8: Utf8::new() }
    }

    /// A name of `total` bytes begins.
    pub(crate) const fn begin(&mut self, total: u32) {
        *self = Self { hash: FNV_BASIS, total, ..Self::new() };
    }

    /// Takes the next bytes of the name in.
    pub(crate) fn push(&mut self, bytes: &[u8], scratch: &mut [u8]) -> Result<(), Fault> {
        for &byte in bytes {
            if byte == 0 {
                return Err(Fault::name_has_nul());
            }
            if !self.utf8.accept(byte) {
                return Err(Fault::name_not_utf8());
            }
            self.hash = fnv_step(self.hash, byte);
            if let Some(place) = usize::try_from(self.seen).ok().and_then(|seen| scratch.get_mut(seen)) {
                *place = byte;
                self.kept = self.kept.saturating_add(1);
            }
            self.seen = self.seen.saturating_add(1);
        }
        if self.seen == self.total && !self.utf8.is_whole() {
            return Err(Fault::name_not_utf8());
        }
        Ok(())
    }

    /// Takes the next bytes of a name of unknown length in.
    #[cfg(feature = "safetensors")]
    pub(crate) fn extend(&mut self, bytes: &[u8], limit: u64, scratch: &mut [u8]) -> Result<(), Fault> {
        let total = u64::from(self.seen).saturating_add(as_u64(bytes.len()));
        let total = u32::try_from(total).ok().filter(|bytes| u64::from(*bytes) <= limit);
        // However the name was cut, its first byte too many is the one that is told.
        let total = total.ok_or(Fault::name_too_long(limit.saturating_add(1), limit))?;
        // More may come: the bytes may end inside of a character.
        self.total = total.saturating_add(1);
        self.push(bytes, scratch)?;
        self.total = total;
        Ok(())
    }

    /// The fields of a checkpoint.
    pub(crate) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.u64(&mut self.hash)?;
        fields.u32(&mut self.total)?;
        fields.u32(&mut self.seen)?;
        fields.u32(&mut self.kept)?;
        within(self.kept <= self.seen && self.seen <= self.total)?;
        self.utf8.fields(fields)
    }

    /// Whether there is a name in hand.
    pub(crate) const fn is_begun(&self) -> bool {
        self.hash != 0
    }

    pub(crate) const fn missing(&self) -> u32 {
        self.total.saturating_sub(self.seen)
    }

    pub(crate) const fn total(&self) -> u32 {
        self.total
    }

    pub(crate) const fn hash(&self) -> u64 {
        self.hash
    }

    /// Bytes of it that are in the scratch.
    pub(crate) fn kept_bytes(&self) -> u64 {
        u64::from(self.kept)
    }

    /// The text as far as it is kept.
    pub(crate) fn kept<'a>(&self, scratch: &'a [u8]) -> &'a [u8] {
        usize::try_from(self.kept).ok().and_then(|kept| scratch.get(..kept)).unwrap_or_default()
    }

    /// Whether all of the name has come and is kept.
    pub(crate) const fn is_whole(&self) -> bool {
        self.kept == self.total
    }
}

/// UTF-8 checked a byte at a time, by the table of well-formed sequences in the Unicode standard (3.9, table 3-7).
/// Core's own check wants all bytes at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Utf8 {
    /// Continuation bytes still to come.
    missing: u8,
    /// What the next of them may be.
    low: u8,
    high: u8,
}

impl Utf8 {
    pub(crate) const fn new() -> Self {
        Self { missing: 0, low: 0, high: 0 }
    }

    /// Whether no character is cut.
    pub(crate) const fn is_whole(&self) -> bool {
        self.missing == 0
    }

    /// The fields of a checkpoint.
    pub(crate) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.u8(&mut self.missing)?;
        fields.u8(&mut self.low)?;
        fields.u8(&mut self.high)?;
        within(self.missing <= 3)
    }

    /// Whether the next byte may follow.
    #[inline(never)] // Where it is inlined, the compiler unrolls it.
    pub(crate) fn accept(&mut self, byte: u8) -> bool {
        if let Some(missing) = self.missing.checked_sub(1) {
            let good = (self.low..=self.high).contains(&byte);
            *self = Self { missing, low: 0x80, high: 0xbf };
            return good;
        }
        let (missing, low, high) = match byte {
            0x00..=0x7f => (0, 0x80, 0xbf),
            0xc2..=0xdf => (1, 0x80, 0xbf),
            0xe0 => (2, 0xa0, 0xbf),
            0xe1..=0xec | 0xee..=0xef => (2, 0x80, 0xbf),
            0xed => (2, 0x80, 0x9f),
            0xf0 => (3, 0x90, 0xbf),
            0xf1..=0xf3 => (3, 0x80, 0xbf),
            0xf4 => (3, 0x80, 0x8f),
            _ => return false,
        };
        *self = Self { missing, low, high };
        true
    }
}
