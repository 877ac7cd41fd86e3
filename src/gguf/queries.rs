//! What a caller may ask between two steps: what is in hand, and how many bytes are needed, may be skipped or are
//! missing.

use super::machine::{Machine, State};
use super::record::LEAST_AFTER_NAME;
use crate::byte_order::ByteOrder;
use crate::carry::Carry;
use crate::directory::TensorSlot;
use crate::error::{AdvanceError, Error, Fault, Section};
use crate::name::NameReader;
use crate::options::Options;
use crate::token::TensorInfo;
use crate::value::ValueType;

impl Machine {
    /// Bytes consumed.
    pub(crate) const fn position(&self) -> u64 {
        self.carry.position()
    }

    /// Where the file must end, known from the start of the data on.
    pub(crate) fn end(&self) -> Option<u64> {
        if self.state >= State::Gap && self.state != State::Failed { self.data.end() } else { None }
    }

    /// The options in force.
    pub(crate) const fn options(&self) -> &Options {
        &self.options
    }

    /// The cut beginning of a field, or an element put together.
    pub(crate) const fn carry(&self) -> &Carry {
        &self.carry
    }

    /// The file's byte order.
    pub(crate) const fn byte_order(&self) -> ByteOrder {
        self.wire.order
    }

    /// The key or tensor name that was read last.
    pub(crate) const fn name(&self) -> &NameReader {
        &self.name
    }

    /// The tensor that was read last.
    pub(crate) const fn tensor(&self) -> &TensorInfo {
        &self.tensor
    }

    /// The tensor whose data are coming.
    pub(crate) fn data_slot<'s>(&self, slots: &'s [TensorSlot]) -> Option<&'s TensorSlot> {
        self.data.next(slots)
    }

    /// A fault of this library.
    pub(crate) fn internal(&self) -> Error {
        self.error(Fault::internal(), self.position())
    }

    /// The slots that hold a tensor.
    pub(crate) fn recorded<'s>(&self, slots: &'s [TensorSlot]) -> &'s [TensorSlot] {
        self.data.recorded(slots)
    }

    /// The slots that hold a tensor; `None` where there are not so many.
    pub(crate) fn recorded_mut<'s>(&self, slots: &'s mut [TensorSlot]) -> Option<&'s mut [TensorSlot]> {
        self.data.recorded_mut(slots)
    }

    /// Whether an error has been told.
    pub(crate) fn has_failed(&self) -> bool {
        self.state == State::Failed
    }

    /// Index of the entry or tensor in hand.
    pub(crate) fn item_index(&self, slots: &[TensorSlot]) -> Option<u32> {
        if self.state == State::Failed {
            return self.error.index();
        }
        match self.section() {
            Section::Header => None,
            Section::Metadata | Section::Tensors => Some(self.index),
            Section::Data => self.data.next(slots).map(TensorSlot::index),
        }
    }

    /// The name in hand, if the scratch still holds it.
    pub(crate) fn name_in_hand(&self) -> Option<&NameReader> {
        let named = matches!(self.section(), Section::Metadata | Section::Tensors);
        (named && self.name.is_begun()).then_some(&self.name)
    }

    /// Bytes ahead that nobody will ask for.
    pub(crate) fn skippable(&self, slots: &[TensorSlot]) -> u64 {
        match self.state {
            State::Skip => self.value.remaining,
            State::Gap => self.data.gap(self.position(), slots),
            _ => 0,
        }
    }

    /// The source jumped over `n` bytes.
    pub(crate) fn advance(&mut self, n: u64, slots: &[TensorSlot]) -> Result<(), AdvanceError> {
        let skippable = self.skippable(slots);
        if n > skippable {
            return Err(AdvanceError { requested: n, skippable });
        }
        self.carry.jump(n);
        if self.state == State::Skip {
            self.pass(n);
        }
        Ok(())
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

    /// Fewest bytes until the next event; 0 when one needs none, or none will come.
    pub(crate) fn needed(&self, slots: &[TensorSlot]) -> u64 {
        if self.state == State::Failed {
            return 0;
        }
        let size = u64::from(self.wire.size_bytes());
        let field = self.field_bytes().saturating_sub(self.carry.len());
        let name = u64::from(self.name.missing());
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
                size.saturating_mul(u64::from(self.dims_left.saturating_sub(1))).saturating_add(12)
            }
            State::TensorType => 8,
            State::Gap => self.data.gap_needed(self.position(), slots),
            State::Blocks => self.data.block_missing(self.position(), slots),
            _ => 0,
        };
        let skipped = if self.value.skip { self.least_after_skip() } else { 0 };
        field.saturating_add(rest).saturating_add(skipped)
    }

    /// Bytes missing of the element that a chunk edge cut, or of the next one.
    fn item_missing(&self) -> u64 {
        let size = u64::from(self.value.value_type.byte_len().unwrap_or(0));
        match self.carry.len() {
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
            sum.saturating_add(left.saturating_mul(self.wire.least_element(element)))
        });
        let size = u64::from(self.wire.size_bytes());
        let next = if self.index.saturating_add(1) < self.entry_count {
            size.saturating_add(1 + 4)
        } else if self.tensor_count > 0 {
            self.wire.least_tensor()
        } else {
            0
        };
        body.saturating_add(elements).saturating_add(next)
    }

    /// The verdict when no more bytes come.
    pub(crate) fn finish(&self, slots: &[TensorSlot]) -> Result<(), Error> {
        let truncated = |offset, needed, got| Err(self.error(Fault::truncated(needed, got), offset));
        let carried = self.carry.len();
        match self.state {
            State::Failed => Err(self.error),
            State::Ended => Ok(()),
            State::Gap | State::Blocks if self.data.is_whole(self.position()) => Ok(()),
            State::Gap | State::Blocks => Err(self.data.shortfall(self.position(), slots)),
            State::Key | State::Name => {
                let (total, missing) = (u64::from(self.name.total()), u64::from(self.name.missing()));
                truncated(self.body, total, total.saturating_sub(missing))
            }
            State::Text | State::Items | State::Skip if self.value.remaining > 0 => {
                let got = self.position().saturating_sub(self.body);
                match self.value.value_type {
                    ValueType::String => truncated(self.body, self.value.total, got),
                    element => {
                        // The element that is cut; sizes are powers of two.
                        let size = u64::from(element.byte_len().unwrap_or(1));
                        let part = got & size.wrapping_sub(1);
                        truncated(self.position().saturating_sub(part), size, part)
                    }
                }
            }
            _ if self.field_bytes() > 0 => truncated(self.carry.field_offset(), self.field_bytes(), carried),
            _ => Err(self.error(Fault::events_pending(), self.position())),
        }
    }
}
