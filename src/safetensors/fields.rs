//! What a checkpoint saves of a machine: every field of it.

use super::machine::{LENGTH_BYTES, Machine, Place};
use crate::checkpoint::{CheckpointError, Fields, within};
use crate::directory::TensorSlot;
use crate::options::MAX_POSITION;
use crate::stream::Phase;

/// Every place, at the index that stands for it in a checkpoint.
const PLACES: [Place; 19] = [
    Place::Length,
    Place::Root,
    Place::Entries,
    Place::Name,
    Place::Metadata,
    Place::Keys,
    Place::Key,
    Place::Value,
    Place::Text,
    Place::Tensor,
    Place::Fields,
    Place::Field,
    Place::Dtype,
    Place::DtypeText,
    Place::Shape,
    Place::Dims,
    Place::Offsets,
    Place::OffsetPair,
    Place::Unknown,
];

impl Machine {
    /// The fields of a checkpoint. The error is none of them: after one there is no checkpoint.
    pub(super) fn list_fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        self.stream.fields(fields)?;
        self.json.fields(fields)?;
        let mut place = self.place as u8;
        fields.u8(&mut place)?;
        self.place = PLACES.get(usize::from(place)).copied().ok_or(CheckpointError::OutOfRange)?;
        fields.u64(&mut self.header_bytes)?;
        fields.u64(&mut self.remaining)?;
        within(self.remaining <= self.header_bytes)?;
        within(self.header_bytes <= self.stream.options.max_header_bytes())?;
        fields.bool(&mut self.has_metadata)?;
        fields.bool(&mut self.skip)?;
        fields.u64(&mut self.text_bytes)?;
        fields.u32(&mut self.entries)?;
        fields.u32(&mut self.tensors)?;
        self.description.fields(fields)?;
        fields.u64(&mut self.tensor_bytes)?;
        fields.u64(&mut self.expected)?;
        within(self.tensor_bytes.max(self.expected) <= MAX_POSITION)?;
        fields.bool(&mut self.scattered)
    }

    /// Whether the fields of a checkpoint go with each other, and with this memory.
    pub(super) fn are_fields_sound(&self, scratch_bytes: usize, slots: &[TensorSlot]) -> bool {
        let carried = self.stream.carry.len();
        let most = match self.place {
            Place::Length => LENGTH_BYTES.saturating_sub(1),
            // A character that has been told.
            Place::Text => 4,
            _ => 0,
        };
        carried <= most
            && (self.place != Place::Length || self.stream.phase == Phase::Head)
            && self.stream.is_sound(scratch_bytes, slots)
    }
}

#[cfg(test)]
mod tests {
    use super::PLACES;

    #[test]
    fn a_place_stands_where_its_number_says() {
        for (index, place) in PLACES.iter().enumerate() {
            assert_eq!(*place as usize, index);
        }
    }
}
