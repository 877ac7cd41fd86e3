//! What a caller may ask between two steps before the data: how many bytes are needed, may be skipped or are missing.

use super::machine::{Machine, State, bytes_of};
use super::record::LEAST_AFTER_NAME;
use crate::error::{Error, Fault};
use crate::value::ValueType;

impl Machine {
    /// Bytes ahead that nobody will ask for.
    pub(super) const fn skippable_value(&self) -> u64 {
        match self.state {
            State::Skip => self.value.remaining,
            _ => 0,
        }
    }

    /// Bytes of the field that the state reads; 0 where it reads none.
    pub(super) fn field_bytes(&self) -> u64 {
        match self.state {
            State::Magic | State::Version => 4,
            State::ValueType | State::ElementType | State::Rank | State::TensorType => 4,
            State::TensorOffset => 8,
            State::Scalar => u64::from(self.value.value_type.byte_len().unwrap_or(0)),
            State::TensorCount
            | State::EntryCount
            | State::KeyLength
            | State::StringLength
            | State::ElementCount
            | State::NameLength
            | State::Dimension => u64::from(self.wire.size_bytes()),
            _ => 0,
        }
    }

    /// Fewest bytes until the next event; 0 when one needs none.
    pub(super) fn least_to_event(&self) -> u64 {
        let size = u64::from(self.wire.size_bytes());
        let field = self.field_bytes().saturating_sub(self.stream.carry.len());
        let name = u64::from(self.stream.name.missing());
        let rest = match self.state {
            // The version may say that counts are short.
            State::Magic => 4 + 4 + 4,
            State::Version => 4 + 4,
            State::TensorCount => size,
            State::KeyLength => 1 + 4,
            State::Key => name.saturating_add(4),
            State::ElementType => size,
            State::Text => self.value.remaining.min(1),
            State::Items => self.item_missing(),
            State::NameLength => LEAST_AFTER_NAME,
            State::Name => name.saturating_add(LEAST_AFTER_NAME),
            State::Rank => LEAST_AFTER_NAME - 4,
            State::Dimension => {
                bytes_of(u64::from(self.dims_left.saturating_sub(1)), size).saturating_add(12)
            }
            State::TensorType => 8,
            _ => 0,
        };
        let skipped = if self.value.skip { self.least_after_skip() } else { 0 };
        field.saturating_add(rest).saturating_add(skipped)
    }

    /// Bytes missing of the element that a chunk edge cut, or of the next one.
    fn item_missing(&self) -> u64 {
        let size = u64::from(self.value.value_type.byte_len().unwrap_or(0));
        match self.stream.carry.len() {
            // All of an element in the carry is one that has been told.
            carried if carried > 0 && carried < size => size.saturating_sub(carried),
            _ => self.value.remaining.min(size),
        }
    }

    /// Fewest bytes between what is being skipped and the next event. The first field of a skipped body is not
    /// among them.
    fn least_after_skip(&self) -> u64 {
        let body = if self.state == State::Skip { self.value.remaining } else { 0 };
        let elements = self.value.open().fold(0_u64, |sum, (left, element)| {
            sum.saturating_add(bytes_of(left, self.wire.least_element(element)))
        });
        let size = u64::from(self.wire.size_bytes());
        let next = if self.stream.index.saturating_add(1) < self.entry_count {
            size.saturating_add(1 + 4)
        } else if self.tensor_count > 0 {
            self.wire.least_tensor()
        } else {
            0
        };
        body.saturating_add(elements).saturating_add(next)
    }

    /// What is missing when no more bytes come.
    pub(super) fn shortfall(&self) -> Error {
        let truncated = |offset, needed, got| self.error(Fault::truncated(needed, got), offset);
        let carried = self.stream.carry.len();
        match self.state {
            State::Key | State::Name => {
                let (total, missing) =
                    (u64::from(self.stream.name.total()), u64::from(self.stream.name.missing()));
                truncated(self.stream.body, total, total.saturating_sub(missing))
            }
            State::Text | State::Items | State::Skip if self.value.remaining > 0 => {
                let got = self.stream.carry.position().saturating_sub(self.stream.body);
                match self.value.value_type {
                    ValueType::String => truncated(self.stream.body, self.value.total, got),
                    element => {
                        // The element that is cut; sizes are powers of two.
                        let size = u64::from(element.byte_len().unwrap_or(1));
                        let part = got & size.wrapping_sub(1);
                        truncated(self.stream.carry.position().saturating_sub(part), size, part)
                    }
                }
            }
            _ if self.field_bytes() > 0 => {
                truncated(self.stream.carry.field_offset(), self.field_bytes(), carried)
            }
            _ => self.error(Fault::events_pending(), self.stream.carry.position()),
        }
    }
}
