//! What a checkpoint saves of a machine: every field of it.

use super::machine::{Machine, State};
use super::record::{VERSION, Wire};
use crate::byte_order::ByteOrder;
use crate::checkpoint::{CheckpointError, Fields, within};
use crate::directory::TensorSlot;
use crate::options::MAX_GGUF_RANK;
use crate::stream::Phase;

/// Every state, at the index that stands for it in a checkpoint.
const STATES: [State; 23] = [
    State::Magic,
    State::Version,
    State::TensorCount,
    State::EntryCount,
    State::NextEntry,
    State::KeyLength,
    State::Key,
    State::ValueType,
    State::Scalar,
    State::StringLength,
    State::Text,
    State::ElementType,
    State::ElementCount,
    State::NextElement,
    State::Items,
    State::Skip,
    State::NextTensor,
    State::NameLength,
    State::Name,
    State::Rank,
    State::Dimension,
    State::TensorType,
    State::TensorOffset,
];

impl Machine {
    /// The fields of a checkpoint. The error is none of them: after one there is no checkpoint.
    pub(super) fn list_fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        self.stream.fields(fields)?;
        self.state.fields(fields)?;
        self.wire.fields(fields)?;
        fields.u32(&mut self.alignment)?;
        fields.u32(&mut self.tensor_count)?;
        fields.u32(&mut self.entry_count)?;
        self.value.fields(fields)?;
        fields.u8(&mut self.dims_left)?;
        fields.u64(&mut self.expected)?;
        fields.bool(&mut self.inferring)?;
        fields.bool(&mut self.scattered)
    }

    /// Whether the fields of a checkpoint go with each other, and with this memory.
    pub(super) fn are_fields_sound(&self, scratch_bytes: usize, slots: &[TensorSlot]) -> bool {
        let count = if self.state < State::NextTensor { self.entry_count } else { self.tensor_count };
        let alignment = self.alignment();
        let rank = self.stream.tensor.dims().len().saturating_add(usize::from(self.dims_left));
        self.stream.index <= count
            && self.is_carry_sound()
            && alignment.is_power_of_two()
            && (self.alignment == 0 || alignment <= self.stream.options.max_alignment())
            && rank <= usize::from(self.stream.options.max_rank(MAX_GGUF_RANK))
            && (self.state <= State::Version) == (self.wire.version == 0)
            && (self.stream.phase == Phase::Head || self.state == State::NextTensor)
            && self.stream.is_sound(scratch_bytes, slots)
    }

    /// Whether the carry holds the beginning of the field that the state reads; of elements, all of one that has been told.
    fn is_carry_sound(&self) -> bool {
        let len = self.stream.carry.len();
        match self.state {
            State::Items => len <= u64::from(self.value.value_type.byte_len().unwrap_or(0)),
            _ => len == 0 || len < self.field_bytes(),
        }
    }
}

impl State {
    fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        let mut id = *self as u8;
        fields.u8(&mut id)?;
        *self = STATES.get(usize::from(id)).copied().ok_or(CheckpointError::OutOfRange)?;
        Ok(())
    }
}

impl Wire {
    fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        let mut is_big = self.order == ByteOrder::Big;
        fields.bool(&mut is_big)?;
        self.order = if is_big { ByteOrder::Big } else { ByteOrder::Little };
        fields.u8(&mut self.version)?;
        within(u32::from(self.version) <= VERSION)
    }
}

#[cfg(test)]
mod tests {
    use super::STATES;

    #[test]
    fn a_state_stands_where_its_number_says() {
        for (index, state) in STATES.iter().enumerate() {
            assert_eq!(*state as usize, index);
        }
    }
}
