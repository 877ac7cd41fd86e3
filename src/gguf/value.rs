//! The metadata value in hand, and the arrays around it: one counter a level instead of recursion.

use crate::checkpoint::{CheckpointError, Fields, within};
use crate::options::MAX_NESTING;
use crate::value::ValueType;

/// The value in hand.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// Bytes of the body in hand: of a string, of all elements.
    pub(super) total: u64,
    /// Bytes of it that have not come.
    pub(super) remaining: u64,
    /// Elements still to be read, of each open array, the outermost first.
    pub(super) left: [u64; MAX_NESTING as usize],
    /// Their type.
    pub(super) elements: [ValueType; MAX_NESTING as usize],
    /// Open arrays.
    pub(super) depth: u8,
    /// The type of what is being read: of the value, then of the element.
    pub(super) value_type: ValueType,
    /// Nobody wants the rest of the value.
    pub(super) skip: bool,
    /// The key is the one that the decoder itself needs.
    pub(super) is_alignment: bool,
}

impl Value {
    pub(super) const fn new() -> Self {
        Self {
            total: 0,
            remaining: 0,
            left: [0; MAX_NESTING as usize],
            elements: [ValueType::U8; MAX_NESTING as usize],
            depth: 0,
            value_type: ValueType::U8,
            skip: false,
            is_alignment: false,
        }
    }

    /// The fields of a checkpoint.
    pub(super) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.u64(&mut self.total)?;
        fields.u64(&mut self.remaining)?;
        within(self.remaining <= self.total)?;
        for (left, element) in self.left.iter_mut().zip(&mut self.elements) {
            fields.u64(left)?;
            element.fields(fields)?;
        }
        fields.u8(&mut self.depth)?;
        within(self.depth <= MAX_NESTING)?;
        self.value_type.fields(fields)?;
        fields.bool(&mut self.skip)?;
        fields.bool(&mut self.is_alignment)
    }

    /// Elements left, and their type, of the innermost open array.
    pub(super) fn innermost(&mut self) -> Option<(&mut u64, ValueType)> {
        let level = usize::from(self.depth.checked_sub(1)?);
        Some((self.left.get_mut(level)?, *self.elements.get(level)?))
    }

    /// Opens an array.
    pub(super) fn push(&mut self, element: ValueType, count: u64) -> Option<()> {
        let level = usize::from(self.depth);
        *self.left.get_mut(level)? = count;
        *self.elements.get_mut(level)? = element;
        self.depth = self.depth.saturating_add(1);
        Some(())
    }

    /// The elements that open arrays still wait for, and their types.
    pub(super) fn open(&self) -> impl Iterator<Item = (u64, ValueType)> {
        let open = self.left.iter().copied().zip(self.elements.iter().copied());
        open.take(usize::from(self.depth))
    }
}
