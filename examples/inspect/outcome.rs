//! What a file adds up to when its descriptions have been read and its size is known.

use weightstream::{DataStart, Directory, Format, TensorInfo, TensorSlot};

use crate::support::escape;
use crate::support::failure::Failure;
use crate::support::format;
use crate::support::number::grouped;
use crate::support::tensors::Tensors;

/// Where the data lie, and where they should end.
pub(crate) struct Outcome {
    format: Format,
    pub(crate) data: DataStart,
    /// Bytes that the file should have at least.
    pub(crate) expected: u64,
    /// Bytes that the file has.
    pub(crate) size: u64,
    /// The slots in the order of the descriptions.
    slots: Vec<TensorSlot>,
}

impl Outcome {
    pub(crate) fn new(format: Format, data: DataStart, size: u64, directory: Directory<'_>) -> Self {
        let mut slots = directory.slots().to_vec();
        slots.sort_unstable_by_key(TensorSlot::index);
        // A tensor of unknown type at the end runs to the end of the file, wherever that is.
        let least = slots.iter().map(|slot| slot.offset() + slot.byte_len().unwrap_or(0)).max();
        let expected = data.end.unwrap_or_else(|| size.max(least.unwrap_or(data.offset)));
        Self { format, data, expected, size, slots }
    }

    /// Absolute offset of a tensor's data.
    pub(crate) fn offset(&self, tensor: u32) -> u64 {
        self.slots.get(tensor as usize).map_or(self.data.offset, TensorSlot::offset)
    }

    /// Bytes of a tensor's data, also of one whose length follows from what lies behind it.
    pub(crate) fn bytes(&self, tensor: u32) -> Option<u64> {
        let slot = self.slots.get(tensor as usize)?;
        slot.byte_len().or_else(|| self.expected.checked_sub(slot.offset()))
    }

    /// Padding after the last tensor is no difference.
    pub(crate) fn is_expected_size(&self) -> bool {
        let padded = self.expected.next_multiple_of(self.data.alignment.into());
        (self.expected..=padded).contains(&self.size)
    }

    /// Whether the file is as long as it should be, or else an error.
    pub(crate) fn verdict(&self, file: &str, tensors: &Tensors<TensorInfo>) -> Result<(), Failure> {
        let is_longer = self.size > self.expected && format::must_end(self.format);
        if is_longer {
            return Err(Failure::Other(format!(
                "{file}: offset {}: bytes follow the last tensor: the file ends after {} bytes",
                self.expected,
                grouped(self.size)
            )));
        }
        if self.size >= self.expected {
            return Ok(());
        }
        let place = match self.first_cut().and_then(|slot| tensors.get(slot.index())) {
            Some((name, _)) => format!("tensor \"{}\"", escape::plain(name)),
            None => "the padding before the data".into(),
        };
        let (size, expected) = (grouped(self.size), grouped(self.expected));
        Err(Failure::Other(format!(
            "{file}: offset {}: the file is short: it ends after {size} of {expected} bytes ({place})",
            self.size
        )))
    }

    /// The first tensor, in the order of the data, that the file ends in or before; none where it ends before all data.
    fn first_cut(&self) -> Option<&TensorSlot> {
        if self.size < self.data.offset {
            return None;
        }
        let is_cut = |slot: &&TensorSlot| {
            slot.byte_len() != Some(0) && slot.offset() + slot.byte_len().unwrap_or(0) > self.size
        };
        self.slots.iter().filter(is_cut).min_by_key(|slot| slot.offset())
    }
}
