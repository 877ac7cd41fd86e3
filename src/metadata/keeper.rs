//! Takes events in and keeps what is wanted of them.

use super::error::{MetadataError, MetadataErrorKind};
use super::pattern::{Choice, KeyPattern, choose};
use super::store::{Hand, LENGTH_BYTES, Slot, Stage, View};
use crate::carry::as_u64;
use crate::event::{Event, Items, Name};
use crate::value::{Scalar, ValueType};

/// What is known beside the slots and the bytes.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    /// Position of the next entry in the file.
    pub(super) next_index: u32,
    /// Slots that hold an entry.
    pub(super) kept: u32,
    /// Bytes of a string in an array that is not whole, its length included.
    pub(super) pending: u32,
    pub(super) hand: Hand,
    failed: bool,
    failure: MetadataError,
}

impl Progress {
    pub(super) const fn new() -> Self {
        Self {
            next_index: 0,
            kept: 0,
            pending: 0,
            hand: Hand::Empty,
            failed: false,
            failure: MetadataError::NONE,
        }
    }

    pub(super) fn failure(&self) -> Option<MetadataError> {
        self.failed.then_some(self.failure)
    }
}

/// A store to write to.
pub(super) struct Keeper<'m> {
    pub(super) progress: &'m mut Progress,
    pub(super) slots: &'m mut [Slot],
    pub(super) bytes: &'m mut [u8],
}

type Kept = Result<(), MetadataErrorKind>;

impl Keeper<'_> {
    #[inline(never)] // As one with its caller, it is larger, and so is its frame.
    pub(super) fn accept(
        &mut self,
        filter: Option<&[KeyPattern]>,
        event: &Event<'_>,
    ) -> Result<bool, MetadataError> {
        if let Some(failure) = self.progress.failure() {
            return Err(failure);
        }
        let kept = match *event {
            Event::Key { name, value_type } => self.key(filter, name, value_type),
            Event::Scalar(value) => self.scalar(value),
            Event::Text { part, start, total, last } => self.text(part, start, total, last),
            Event::ArrayStart { element, len } => self.array_start(element, len),
            Event::Items(items) => self.items(items),
            Event::ArrayEnd => self.array_end(),
            _ => self.drop_rest(),
        };
        match kept {
            Ok(()) => Ok(self.progress.hand != Hand::Empty),
            Err(kind) => {
                let failure = MetadataError::new(kind, self.progress.next_index.saturating_sub(1));
                self.progress.failed = true;
                self.progress.failure = failure;
                Err(failure)
            }
        }
    }

    fn view(&self) -> View<'_> {
        let kept = usize::try_from(self.progress.kept).unwrap_or(usize::MAX);
        let slots = self.slots.get(..kept).unwrap_or_default();
        View { failure: None, slots, bytes: self.bytes }
    }

    fn key(&mut self, filter: Option<&[KeyPattern]>, name: Name<'_>, value_type: ValueType) -> Kept {
        let index = self.progress.next_index;
        self.progress.next_index = index.saturating_add(1);
        self.drop_rest()?;
        // A name that is cut equals nothing.
        let Some(key) = name.as_str() else { return Ok(()) };
        let view = self.view();
        let choice = choose(filter, key, view.architecture());
        if choice == Choice::Leave {
            return Ok(());
        }
        if let Some(earlier) = view.find_exact(key) {
            return Err(MetadataErrorKind::DuplicateKey { other: earlier.index });
        }
        let capacity = self.slots.len();
        let full = MetadataErrorKind::KeysFull { capacity };
        let start = self.end();
        let place = usize::try_from(self.progress.kept).ok().filter(|kept| *kept < capacity).ok_or(full)?;
        self.check_room(as_u64(key.len()))?;
        self.append(start, key.as_bytes())?;
        *self.slots.get_mut(place).ok_or(full)? = Slot {
            start,
            key_bytes: name.len(),
            index,
            value_type,
            with_elements: choice == Choice::KeepElements,
            ..Slot::EMPTY
        };
        self.progress.kept = self.progress.kept.saturating_add(1);
        self.progress.hand = Hand::Key;
        Ok(())
    }

    /// The value ends here, or what is left of it is of no interest: a string that has begun is not whole then.
    fn drop_rest(&mut self) -> Kept {
        self.progress.hand = Hand::Empty;
        self.progress.pending = 0;
        Ok(())
    }

    fn scalar(&mut self, value: Scalar) -> Kept {
        let hand = self.progress.hand;
        if let Some(slot) = self.last().filter(|_| hand == Hand::Key) {
            slot.number = value.bits();
            slot.value_type = value.value_type();
            slot.stage = Stage::Whole;
        }
        self.drop_rest()
    }

    fn text(&mut self, part: &[u8], start: u64, total: Option<u64>, last: bool) -> Kept {
        match self.progress.hand {
            Hand::Key | Hand::Text => self.value_text(part, start, total, last),
            Hand::Elements => self.element_text(part, start, total, last),
            Hand::Empty => Ok(()),
        }
    }

    fn value_text(&mut self, part: &[u8], start: u64, total: Option<u64>, last: bool) -> Kept {
        if self.progress.hand == Hand::Key {
            self.check_room(total.unwrap_or(0))?;
        }
        let end = self.end();
        let Some(slot) = self.last() else { return self.drop_rest() };
        slot.value_type = ValueType::String;
        slot.stage = Stage::Part;
        // A piece that was not passed on: what follows would stand in the wrong place.
        if start != u64::from(slot.value_bytes) {
            return self.drop_rest();
        }
        let bytes = self.append(end, part).map_err(|full| match total {
            Some(_) => full,
            None => too_long(full, start),
        })?;
        if let Some(slot) = self.last() {
            slot.value_bytes = slot.value_bytes.saturating_add(bytes);
            if last {
                slot.stage = Stage::Whole;
            }
        }
        self.progress.hand = if last { Hand::Empty } else { Hand::Text };
        Ok(())
    }

    /// A piece of a string in an array. It stands behind its length, and counts when it is whole.
    fn element_text(&mut self, part: &[u8], start: u64, total: Option<u64>, last: bool) -> Kept {
        if self.last().is_none_or(|slot| slot.element != ValueType::String) {
            return self.drop_rest();
        }
        if self.progress.pending == 0 {
            self.check_room(total.unwrap_or(0).saturating_add(as_u64(LENGTH_BYTES)))?;
            self.progress.pending = self.append(self.end(), &[0; LENGTH_BYTES])?;
        }
        if start.checked_add(as_u64(LENGTH_BYTES)) != Some(u64::from(self.progress.pending)) {
            return self.drop_rest();
        }
        let bytes = self.append(self.end(), part)?;
        self.progress.pending = self.progress.pending.saturating_add(bytes);
        if last {
            self.commit_text();
        }
        Ok(())
    }

    fn commit_text(&mut self) {
        let pending = core::mem::take(&mut self.progress.pending);
        let begin = self.end();
        let length = u64::from(pending).saturating_sub(as_u64(LENGTH_BYTES));
        let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
        if let Some(place) = self.room(begin).and_then(|room| room.first_chunk_mut()) {
            *place = length;
        }
        if let Some(slot) = self.last() {
            slot.value_bytes = slot.value_bytes.saturating_add(pending);
        }
    }

    fn array_start(&mut self, element: ValueType, len: u64) -> Kept {
        let hand = self.progress.hand;
        self.drop_rest()?;
        let Some(slot) = self.last().filter(|_| hand == Hand::Key) else { return Ok(()) };
        slot.value_type = ValueType::Array;
        slot.element = element;
        slot.number = len;
        if !slot.keeps_elements() {
            slot.stage = Stage::Whole;
            return Ok(());
        }
        slot.stage = Stage::Part;
        let least = element.byte_len().map_or(as_u64(LENGTH_BYTES), u64::from);
        self.check_room(len.saturating_mul(least))?;
        self.progress.hand = Hand::Elements;
        Ok(())
    }

    fn items(&mut self, items: Items<'_>) -> Kept {
        let wanted = self.progress.hand == Hand::Elements;
        if !wanted || self.last().is_none_or(|slot| slot.element != items.element()) {
            return self.drop_rest();
        }
        let size = usize::from(items.element().byte_len().unwrap_or(0));
        for item in items.scalars() {
            let bits = item.bits().to_le_bytes();
            let bytes = self.append(self.end(), bits.get(..size).unwrap_or_default())?;
            if let Some(slot) = self.last() {
                slot.value_bytes = slot.value_bytes.saturating_add(bytes);
            }
        }
        Ok(())
    }

    fn array_end(&mut self) -> Kept {
        if self.progress.hand == Hand::Elements && self.progress.pending == 0 {
            let view = self.view();
            let all = view.slots.last().is_some_and(|slot| view.kept_elements(slot) == Some(slot.number));
            if let Some(slot) = self.last().filter(|_| all) {
                slot.stage = Stage::Whole;
            }
        }
        self.drop_rest()
    }

    /// The entry whose key came last of those kept.
    fn last(&mut self) -> Option<&mut Slot> {
        let place = self.progress.kept.checked_sub(1)?;
        self.slots.get_mut(usize::try_from(place).ok()?)
    }

    /// Where the bytes in use end.
    fn end(&self) -> u32 {
        let end = self.view().slots.last().map_or(0, Slot::end);
        end.saturating_add(self.progress.pending)
    }

    fn room(&mut self, start: u32) -> Option<&mut [u8]> {
        self.bytes.get_mut(usize::try_from(start).ok()?..)
    }

    fn check_room(&mut self, needed: u64) -> Kept {
        let available = self.room(self.end()).map_or(0, |room| room.len());
        if needed > as_u64(available) {
            return Err(MetadataErrorKind::BytesFull { needed, available });
        }
        Ok(())
    }

    /// Writes bytes to where those in use end, and returns how many.
    fn append(&mut self, start: u32, bytes: &[u8]) -> Result<u32, MetadataErrorKind> {
        let needed = as_u64(bytes.len());
        let room = self.room(start).unwrap_or_default();
        let full = MetadataErrorKind::BytesFull { needed, available: room.len() };
        room.get_mut(..bytes.len()).ok_or(full)?.copy_from_slice(bytes);
        u32::try_from(needed).map_err(|_| full)
    }
}

/// What is full, told of a whole text of unknown length: the same, however it was cut.
fn too_long(full: MetadataErrorKind, start: u64) -> MetadataErrorKind {
    let MetadataErrorKind::BytesFull { available, .. } = full else { return full };
    let available = available.saturating_add(usize::try_from(start).unwrap_or(usize::MAX));
    MetadataErrorKind::BytesFull { needed: as_u64(available).saturating_add(1), available }
}
