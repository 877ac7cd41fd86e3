//! Checkpoints of kept metadata: the list of fields, and what must hold among them.

use super::Metadata;
use super::keeper::Progress;
use super::pattern::fingerprint;
use super::store::{Hand, LENGTH_BYTES, Slot, Stage, View};
use crate::carry::as_u64;
use crate::checkpoint::{self, CheckpointError, Fields, Kind, within};
use crate::value::ValueType;

impl<const KEYS: usize, const BYTES: usize> Metadata<KEYS, BYTES> {
    /// Bytes that [`checkpoint`](Self::checkpoint) would write now; 0 after an error. It grows with what is kept: 31
    /// bytes, 34 for each key, and the bytes in use. Never panics.
    pub fn checkpoint_bytes(&self) -> usize {
        if self.progress.failure().is_some() {
            return 0;
        }
        checkpoint::measure(&mut |fields| self.save(fields)).unwrap_or(0)
    }

    /// Writes all that is kept to the front of `out`, and returns how many bytes that took. With a checkpoint of the
    /// decoder that was taken at the same moment, both go on from there.
    ///
    /// ```
    /// use weightstream::Decoder;
    /// use weightstream::metadata::Metadata;
    ///
    /// let file = std::fs::read("examples/data/sample.gguf")?;
    /// let (mut decoder, mut metadata) = (Decoder::new([]), Metadata::<32, 1024>::new());
    /// let mut chunk = &file[..400];
    /// while let Some(event) = decoder.decode(&mut chunk)? {
    ///     metadata.accept(&event)?;
    /// }
    /// let mut saved = [0; 2048];
    /// let written = metadata.checkpoint(&mut saved)?;
    /// assert_eq!(written, metadata.checkpoint_bytes());
    ///
    /// let mut restored = Metadata::<32, 1024>::new();
    /// restored.restore(&saved)?;
    /// assert!(restored.keys().eq(metadata.keys()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`](CheckpointError::BufferTooSmall), with [`checkpoint_bytes`](Self::checkpoint_bytes), and
    /// [`Failed`](CheckpointError::Failed) after an error of [`accept`](Self::accept). Never panics.
    pub fn checkpoint(&self, out: &mut [u8]) -> Result<usize, CheckpointError> {
        if self.progress.failure().is_some() {
            return Err(CheckpointError::Failed);
        }
        checkpoint::save(Kind::Metadata, &mut |fields| self.save(fields), out)
    }

    /// Holds what the store held that wrote this checkpoint. `bytes` begin with it; what stands behind it does not matter.
    ///
    /// The store must have the same filter, and room for the entries; `KEYS` and `BYTES` may be others.
    ///
    /// # Errors
    ///
    /// When the checkpoint was changed, is cut short or does not fit this store: see [`CheckpointError`]. The store is then
    /// empty. Never panics.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        self.clear();
        let loaded = checkpoint::load(Kind::Metadata, &mut |fields| self.load(fields), bytes);
        if loaded.is_err() {
            self.clear();
        }
        loaded
    }

    fn save(&self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.same(fingerprint(self.filter))?;
        self.progress.clone().fields(fields)?;
        for slot in self.view().slots {
            slot.clone().fields(fields)?;
        }
        fields.lent(self.bytes.get(..self.used_bytes()).unwrap_or_default())
    }

    fn load(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.same(fingerprint(self.filter))?;
        self.progress.fields(fields)?;
        let kept = usize::try_from(self.progress.kept).ok();
        let slots = kept.and_then(|kept| self.slots.get_mut(..kept)).ok_or(CheckpointError::Mismatch)?;
        for slot in slots {
            slot.fields(fields)?;
        }
        within(are_placed(self.view().slots, self.progress.next_index))?;
        let used = self.used_bytes();
        fields.bytes(self.bytes.get_mut(..used).ok_or(CheckpointError::Mismatch)?)?;
        let view = self.view();
        within(view.slots.iter().all(|slot| is_sound(&view, slot)))?;
        within(self.progress.is_sound(view.slots.last()))
    }
}

impl Progress {
    fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.u32(&mut self.next_index)?;
        fields.u32(&mut self.kept)?;
        fields.u32(&mut self.pending)?;
        let mut hand = self.hand as u8;
        fields.u8(&mut hand)?;
        self.hand = match hand {
            0 => Hand::Empty,
            1 => Hand::Key,
            2 => Hand::Text,
            3 => Hand::Elements,
            _ => return Err(CheckpointError::OutOfRange),
        };
        Ok(())
    }

    /// Whether the value in hand is one that is not whole.
    fn is_sound(&self, last: Option<&Slot>) -> bool {
        let hand = last.map_or(Hand::Empty, |slot| match (slot.value_type, slot.stage) {
            (_, Stage::Nothing) => Hand::Key,
            (ValueType::String, Stage::Part) => Hand::Text,
            (ValueType::Array, Stage::Part) => Hand::Elements,
            _ => Hand::Empty,
        });
        let strings = last.is_some_and(|slot| slot.element == ValueType::String);
        let pending =
            self.hand == Hand::Elements && strings && u64::from(self.pending) >= as_u64(LENGTH_BYTES);
        (self.hand == Hand::Empty || self.hand == hand) && (self.pending == 0 || pending)
    }
}

impl Slot {
    fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.u64(&mut self.number)?;
        fields.u32(&mut self.start)?;
        fields.u32(&mut self.key_bytes)?;
        fields.u32(&mut self.value_bytes)?;
        fields.u32(&mut self.index)?;
        self.value_type.fields(fields)?;
        self.element.fields(fields)?;
        let mut stage = self.stage as u8;
        fields.u8(&mut stage)?;
        self.stage = match stage {
            0 => Stage::Nothing,
            1 => Stage::Part,
            2 => Stage::Whole,
            _ => return Err(CheckpointError::OutOfRange),
        };
        fields.bool(&mut self.with_elements)
    }
}

/// Whether the entries lie one behind the other, in the order of the file.
fn are_placed(slots: &[Slot], next_index: u32) -> bool {
    let (mut end, mut least_index) = (0_u32, 0);
    for slot in slots {
        let Some(next) = end.checked_add(slot.key_bytes).and_then(|end| end.checked_add(slot.value_bytes))
        else {
            return false;
        };
        if slot.start != end || slot.index < least_index || slot.index >= next_index {
            return false;
        }
        (end, least_index) = (next, slot.index.saturating_add(1));
    }
    true
}

/// Whether an entry is one that events can make.
fn is_sound(view: &View<'_>, slot: &Slot) -> bool {
    // The first entry of its key.
    let is_named = view.has_key(slot)
        && view.find_exact(view.key_of(slot)).is_some_and(|first| first.index == slot.index);
    let is_plain = slot.element == ValueType::U8;
    is_named
        && match (slot.value_type, slot.stage) {
            (_, Stage::Nothing) => is_plain && slot.number == 0 && slot.value_bytes == 0,
            (ValueType::String, _) => is_plain && slot.number == 0,
            (ValueType::Array, stage) if slot.keeps_elements() => view
                .kept_elements(slot)
                .is_some_and(|kept| kept <= slot.number && (stage == Stage::Part || kept == slot.number)),
            (ValueType::Array, stage) => slot.value_bytes == 0 && stage == Stage::Whole,
            (scalar, stage) => {
                is_plain && slot.value_bytes == 0 && stage == Stage::Whole && fits(scalar, slot.number)
            }
        }
}

/// Whether a scalar has no more bits than its type.
fn fits(value_type: ValueType, bits: u64) -> bool {
    let most = match value_type.byte_len() {
        Some(8) | None => u64::MAX,
        Some(_) if value_type == ValueType::Bool => 1,
        Some(bytes) => {
            1_u64.checked_shl(u32::from(bytes).saturating_mul(8)).map_or(0, |end| end.wrapping_sub(1))
        }
    };
    bits <= most
}
