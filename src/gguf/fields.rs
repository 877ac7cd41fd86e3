//! What a checkpoint saves of a machine: every field of it.

use super::machine::{Machine, State};
use super::record::{VERSION, Wire};
use crate::byte_order::ByteOrder;
use crate::carry::as_u64;
use crate::checkpoint::{CheckpointError, Fields, within};
use crate::directory::TensorSlot;

/// Every state, at the index that stands for it in a checkpoint.
const STATES: [State; 28] = [
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
    State::TensorTold,
    State::Gap,
    State::Blocks,
    State::Ended,
    State::Failed,
];

impl Machine {
    /// The fields of a checkpoint. The error is none of them: after one there is no checkpoint.
    pub(crate) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        self.options.fields(fields)?;
        self.carry.fields(fields)?;
        self.state.fields(fields)?;
        self.wire.fields(fields)?;
        fields.u32(&mut self.alignment)?;
        fields.u32(&mut self.tensor_count)?;
        fields.u32(&mut self.entry_count)?;
        fields.u32(&mut self.index)?;
        self.name.fields(fields)?;
        fields.u64(&mut self.body)?;
        self.value.fields(fields)?;
        self.tensor.fields(fields)?;
        fields.u64(&mut self.description)?;
        fields.u8(&mut self.dims_left)?;
        fields.u64(&mut self.expected)?;
        fields.bool(&mut self.inferring)?;
        fields.bool(&mut self.scattered)?;
        self.data.fields(fields)
    }

    /// Whether the fields of a checkpoint go with each other, and with this memory.
    pub(crate) fn is_sound(&self, scratch_bytes: usize, slots: &[TensorSlot]) -> bool {
        let count = if self.state < State::NextTensor { self.entry_count } else { self.tensor_count };
        let alignment = self.alignment();
        let rank = self.tensor.dims().len().saturating_add(usize::from(self.dims_left));
        self.index <= count
            && self.is_carry_sound()
            && alignment.is_power_of_two()
            && (self.alignment == 0 || alignment <= self.options.max_alignment())
            && self.body.max(self.description) <= self.position()
            && u64::from(self.name.total()) <= self.options.max_name_bytes()
            && self.scratch_bytes() <= as_u64(scratch_bytes)
            && rank <= usize::from(self.options.max_rank())
            && (self.state <= State::Version) == (self.wire.version == 0)
            && self.data.is_sound(slots, scratch_bytes)
    }

    /// Whether the carry holds the beginning of the field that the state reads; of elements, all of one that has been told.
    fn is_carry_sound(&self) -> bool {
        let len = self.carry.len();
        match self.state {
            State::Items => len <= u64::from(self.value.value_type.byte_len().unwrap_or(0)),
            _ => len == 0 || len < self.field_bytes(),
        }
    }

    /// Bytes of the scratch in use: a name, or the beginning of a block.
    pub(crate) fn scratch_bytes(&self) -> u64 {
        self.name.kept_bytes().max(u64::from(self.data.partial()))
    }
}

impl State {
    fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        let mut id = *self as u8;
        fields.u8(&mut id)?;
        *self = STATES.get(usize::from(id)).copied().ok_or(CheckpointError::OutOfRange)?;
        within(*self != Self::Failed)
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
