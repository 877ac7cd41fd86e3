//! The memory of kept entries: one slot an entry, and their bytes one behind the other.
//!
//! ```text
//! bytes: key  value  key  value  ..  key  value  pending  (free)
//! value: nothing, for scalars and for arrays whose elements are not kept
//!        the string
//!        elements of fixed size, little-endian; or strings, each behind its length (u32, little-endian)
//! ```
//!
//! Nothing here is generic over the sizes, so that it is compiled once.

use super::error::{MetadataError, MetadataErrorKind};
use super::pattern::{ARCHITECTURE, Key, is_joined};
use super::value::{Content, Value};
use crate::byte_order::ByteOrder;
use crate::value::{Scalar, ValueType};

/// Bytes before each string of an array.
pub(super) const LENGTH_BYTES: usize = 4;

/// A kept entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// The bits of a scalar; the length of an array.
    pub(super) number: u64,
    /// Where the key starts in the bytes. The value follows it.
    pub(super) start: u32,
    pub(super) key_bytes: u32,
    /// Bytes of the value that have come. A string in an array counts when it is whole.
    pub(super) value_bytes: u32,
    /// Position of the entry in the file.
    pub(super) index: u32,
    pub(super) value_type: ValueType,
    /// The type of an array's elements.
    pub(super) element: ValueType,
    pub(super) stage: Stage,
    /// Whether elements are to be kept.
    pub(super) with_elements: bool,
}

/// How much of a value has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Stage {
    Nothing,
    Part,
    Whole,
}

/// The value that is being kept, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Hand {
    Empty,
    /// The key has come.
    Key,
    /// A piece of its string has come.
    Text,
    /// Its array has begun.
    Elements,
}

impl Slot {
    pub(super) const EMPTY: Self = Self {
        number: 0,
        start: 0,
        key_bytes: 0,
        value_bytes: 0,
        index: 0,
        value_type: ValueType::U8,
        element: ValueType::U8,
        stage: Stage::Nothing,
        with_elements: false,
    };

    /// Whether the array's elements are in the bytes, or on their way there.
    pub(super) fn keeps_elements(&self) -> bool {
        self.with_elements && self.value_type == ValueType::Array && self.element != ValueType::Array
    }

    pub(super) const fn value_start(&self) -> u32 {
        self.start.saturating_add(self.key_bytes)
    }

    pub(super) const fn end(&self) -> u32 {
        self.value_start().saturating_add(self.value_bytes)
    }
}

/// What has been kept, to read.
#[derive(Clone, Copy)]
pub(super) struct View<'m> {
    pub(super) failure: Option<MetadataError>,
    /// The slots that hold an entry.
    pub(super) slots: &'m [Slot],
    pub(super) bytes: &'m [u8],
}

impl<'m> View<'m> {
    fn slice(&self, start: u32, bytes: u32) -> &'m [u8] {
        let start = usize::try_from(start).ok();
        let rest = start.and_then(|start| self.bytes.get(start..)).unwrap_or_default();
        usize::try_from(bytes).ok().and_then(|bytes| rest.get(..bytes)).unwrap_or_default()
    }

    pub(super) fn key_of(&self, slot: &Slot) -> &'m str {
        core::str::from_utf8(self.slice(slot.start, slot.key_bytes)).unwrap_or_default()
    }

    /// Whether its key is in the store, and UTF-8.
    pub(super) fn has_key(&self, slot: &Slot) -> bool {
        let key = self.slice(slot.start, slot.key_bytes);
        usize::try_from(slot.key_bytes) == Ok(key.len()) && core::str::from_utf8(key).is_ok()
    }

    pub(super) fn value_of(&self, slot: &Slot) -> &'m [u8] {
        self.slice(slot.value_start(), slot.value_bytes)
    }

    /// The entry of a whole key.
    pub(super) fn find_exact(&self, key: &str) -> Option<&'m Slot> {
        // As bytes: each key that comes is held against all, and keys were found to be UTF-8 when they came.
        self.slots.iter().find(|slot| self.slice(slot.start, slot.key_bytes) == key.as_bytes())
    }

    /// The entry of a key. What is wrong with `general.architecture` is wrong with all keys that begin with it.
    pub(super) fn find(&self, key: Key<'_>) -> Result<Option<&'m Slot>, MetadataError> {
        match key {
            Key::Exact(key) => Ok(self.find_exact(key)),
            Key::OfArchitecture(suffix) => {
                let Some(slot) = self.find_exact(ARCHITECTURE) else { return Ok(None) };
                let architecture = self.value(slot)?.text()?;
                Ok(self.slots.iter().find(|slot| is_joined(self.key_of(slot), architecture, suffix)))
            }
        }
    }

    /// The architecture, as far as it is known and sound.
    pub(super) fn architecture(&self) -> Option<&'m str> {
        self.find_exact(ARCHITECTURE).and_then(|slot| self.value(slot).ok()?.text().ok())
    }

    pub(super) fn lookup(&self, key: Key<'_>) -> Result<Option<Value<'m>>, MetadataError> {
        self.failure.map_or(Ok(()), Err)?;
        self.find(key)?.map(|slot| self.value(slot)).transpose()
    }

    pub(super) fn lookup_item(&self, key: Key<'_>, index: u64) -> Result<Option<Value<'m>>, MetadataError> {
        self.failure.map_or(Ok(()), Err)?;
        self.find(key)?.map_or(Ok(None), |slot| self.element(slot, index))
    }

    pub(super) fn value(&self, slot: &Slot) -> Result<Value<'m>, MetadataError> {
        let incomplete = MetadataError::new(MetadataErrorKind::Incomplete, slot.index);
        let content = match (slot.value_type, slot.stage) {
            (_, Stage::Nothing) | (ValueType::String, Stage::Part) => return Err(incomplete),
            (ValueType::String, _) => Content::Text(self.value_of(slot)),
            (ValueType::Array, _) => Content::Array { element: slot.element, len: slot.number },
            (scalar, _) => Content::Scalar(Scalar::from_bits(scalar, slot.number).ok_or(incomplete)?),
        };
        Ok(Value::new(content, slot.index))
    }

    pub(super) fn text_so_far(&self, key: &str) -> Option<(&'m [u8], bool)> {
        let slot = self.find_exact(key).filter(|slot| slot.value_type == ValueType::String)?;
        Some((self.value_of(slot), slot.stage == Stage::Whole))
    }

    /// An element of a kept array; `None` past its end.
    pub(super) fn element(&self, slot: &Slot, index: u64) -> Result<Option<Value<'m>>, MetadataError> {
        let error = |kind| Err(MetadataError::new(kind, slot.index));
        if index >= self.value(slot)?.array_len()? {
            return Ok(None);
        }
        if !slot.keeps_elements() {
            return error(MetadataErrorKind::ElementsNotKept);
        }
        if slot.stage != Stage::Whole {
            return error(MetadataErrorKind::Incomplete);
        }
        let content = match slot.element {
            ValueType::String => Strings(self.value_of(slot)).nth_string(index).map(Content::Text),
            element => fixed(element, self.value_of(slot), index).map(Content::Scalar),
        };
        Ok(content.map(|content| Value::new(content, slot.index)))
    }

    /// Elements of an array that are in the bytes, all of them whole.
    pub(super) fn kept_elements(&self, slot: &Slot) -> Option<u64> {
        let bytes = self.value_of(slot);
        match slot.element.byte_len() {
            Some(size) => crate::directory::whole_blocks(u64::from(slot.value_bytes), size.into()),
            None => {
                let mut strings = Strings(bytes);
                let count = strings.by_ref().fold(0_u64, |count, _| count.saturating_add(1));
                strings.0.is_empty().then_some(count)
            }
        }
    }
}

/// An element of fixed size.
fn fixed(element: ValueType, bytes: &[u8], index: u64) -> Option<Scalar> {
    let size = usize::from(element.byte_len()?);
    let start = usize::try_from(index).ok()?.checked_mul(size)?;
    Scalar::from_bytes(element, ByteOrder::Little, bytes.get(start..)?.get(..size)?)
}

/// The strings of an array, one by one.
struct Strings<'m>(&'m [u8]);

impl<'m> Strings<'m> {
    fn nth_string(&mut self, index: u64) -> Option<&'m [u8]> {
        self.nth(usize::try_from(index).ok()?)
    }
}

impl<'m> Iterator for Strings<'m> {
    type Item = &'m [u8];

    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = self.0.split_first_chunk::<LENGTH_BYTES>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (text, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }
}
