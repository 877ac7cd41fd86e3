//! The data section: which recorded tensor lies where, and its bytes as whole blocks. The same for every format.

use crate::carry::{Carry, as_u64};
use crate::checkpoint::{CheckpointError, Fields, within};
use crate::directory::TensorSlot;
use crate::error::{Error, Fault, Section};
use crate::options::MAX_POSITION;
#[cfg(feature = "safetensors")]
use crate::placement::refuse_holes;
use crate::placement::{Refused, place, refuse_duplicates, refuse_overlaps, refuse_unknown_lengths};
use crate::token::{Lent, Progress, TensorInfo, Token};

/// Bytes of a "block" of a tensor whose type is not known.
const RAW_BLOCK: u32 = 1;

/// What the descriptions add up to, and how far the data have been read. All zero at first.
#[derive(Clone, Debug)]
pub(crate) struct DataSection {
    /// Slots recorded.
    recorded: u32,
    /// The slot whose data come next, or are coming.
    cursor: u32,
    /// Bytes of a block that a chunk edge cut; they lie in the scratch.
    partial: u32,
    /// Index of the tensor whose data end last.
    last_tensor: u32,
    /// Offset in the data section where the last tensor ends.
    last_end: u64,
    /// Offset in the data section where that tensor starts.
    last_start: u64,
    /// The largest offset of any tensor in the data section.
    highest: u64,
    /// The largest offset of a tensor whose length is not known, plus one; 0 for none.
    unknown_plus_one: u64,
    /// Index of that tensor.
    unknown_tensor: u32,
    /// Absolute offset of the first byte after the descriptions.
    descriptions_end: u64,
    /// Absolute offset of the data section.
    start: u64,
    /// Absolute offset of the byte after the last tensor. [`TensorSlot::OPEN`] where that is not known.
    end: u64,
    /// Element that the next block starts with, in the tensor in hand.
    element: u64,
}

/// What is known of the data section when the descriptions end.
pub(crate) struct Plan {
    /// Absolute offset of the first byte after the descriptions.
    pub(crate) descriptions_end: u64,
    /// Absolute offset of the data section.
    pub(crate) start: u64,
    /// Tensors described.
    pub(crate) tensors: u32,
    /// Whether tensors may lie in any order.
    pub(crate) any_order: bool,
    /// The size of the input, when it is known.
    pub(crate) input_bytes: Option<u64>,
    /// Bytes of all tensors together, where every byte of the data must belong to one of them, and the input end with the
    /// last one.
    #[cfg(feature = "safetensors")]
    pub(crate) covered: Option<u64>,
}

impl DataSection {
    pub(crate) const fn new() -> Self {
        Self {
            recorded: 0,
            cursor: 0,
            partial: 0,
            last_tensor: 0,
            last_end: 0,
            last_start: 0,
            highest: 0,
            unknown_plus_one: 0,
            unknown_tensor: 0,
            descriptions_end: 0,
            start: 0,
            end: 0,
            element: 0,
        }
    }

    /// The fields of a checkpoint, but for the slots.
    pub(crate) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.u32(&mut self.recorded)?;
        fields.u32(&mut self.cursor)?;
        within(self.cursor <= self.recorded)?;
        fields.u32(&mut self.partial)?;
        fields.u32(&mut self.last_tensor)?;
        fields.u64(&mut self.last_end)?;
        fields.u64(&mut self.last_start)?;
        fields.u64(&mut self.highest)?;
        fields.u64(&mut self.unknown_plus_one)?;
        fields.u32(&mut self.unknown_tensor)?;
        fields.u64(&mut self.descriptions_end)?;
        fields.u64(&mut self.start)?;
        fields.u64(&mut self.end)?;
        fields.u64(&mut self.element)
    }

    /// Whether these slots, and a scratch of that size, go with the rest of a checkpoint.
    pub(crate) fn is_sound(&self, slots: &[TensorSlot], scratch_bytes: usize) -> bool {
        let slots = self.recorded(slots);
        let cut = self.next(slots).map_or(0, block_bytes);
        as_index(self.recorded) == slots.len()
            && slots.iter().all(|slot| fits(slot, scratch_bytes))
            && (self.partial == 0 || self.partial < cut)
    }

    /// Bytes of the scratch that hold the beginning of a block.
    pub(crate) const fn partial(&self) -> u32 {
        self.partial
    }

    /// The slots that hold a tensor.
    pub(crate) fn recorded<'s>(&self, slots: &'s [TensorSlot]) -> &'s [TensorSlot] {
        slots.get(..as_index(self.recorded)).unwrap_or_default()
    }

    /// The same, to be changed; `None` where there are not so many slots.
    pub(crate) fn recorded_mut<'s>(&self, slots: &'s mut [TensorSlot]) -> Option<&'s mut [TensorSlot]> {
        slots.get_mut(..as_index(self.recorded))
    }

    /// Absolute offset of the byte after the last tensor, when that is known.
    pub(crate) const fn end(&self) -> Option<u64> {
        if self.end == TensorSlot::OPEN { None } else { Some(self.end) }
    }

    /// Counts a tensor in, recorded or not, so that the end of the data is known.
    pub(crate) fn count(&mut self, info: &TensorInfo) -> Result<(), Fault> {
        self.highest = self.highest.max(info.data_offset);
        match info.byte_len() {
            Some(bytes) => self.count_bytes(info.index, info.data_offset, bytes),
            None => {
                if info.data_offset >= self.unknown_plus_one {
                    self.unknown_plus_one = info.data_offset.saturating_add(1);
                    self.unknown_tensor = info.index;
                }
                Ok(())
            }
        }
    }

    fn count_bytes(&mut self, index: u32, start: u64, bytes: u64) -> Result<(), Fault> {
        let end = start.checked_add(bytes).filter(|end| *end <= MAX_POSITION).ok_or(Fault::size_overflow())?;
        // An empty tensor has no last byte to wait for.
        if bytes > 0 && end > self.last_end {
            (self.last_tensor, self.last_start, self.last_end) = (index, start, end);
        }
        Ok(())
    }

    /// With tensors one behind the other: one of unknown type ends where the next one starts.
    pub(crate) fn settle(
        &mut self,
        index: u32,
        start: u64,
        bytes: u64,
        slots: &mut [TensorSlot],
    ) -> Result<(), Fault> {
        self.unknown_plus_one = 0;
        let recorded = self.recorded_mut(slots).unwrap_or_default();
        if let Some(slot) = recorded.last_mut().filter(|slot| slot.index() == index) {
            slot.set_bytes(bytes);
        }
        self.count_bytes(index, start, bytes)
    }

    /// Records a tensor in the next free slot.
    pub(crate) fn record(
        &mut self,
        slot: TensorSlot,
        slots: &mut [TensorSlot],
        scratch_bytes: usize,
    ) -> Result<(), Fault> {
        if !fits(&slot, scratch_bytes) {
            let (block_bytes, scratch_bytes) = (u64::from(block_bytes(&slot)), as_u64(scratch_bytes));
            return Err(Fault::block_exceeds_scratch(block_bytes, scratch_bytes));
        }
        let capacity = as_u64(slots.len());
        let free = slots.get_mut(as_index(self.recorded)).ok_or(Fault::directory_full(capacity))?;
        *free = slot;
        self.recorded = self.recorded.saturating_add(1);
        Ok(())
    }

    /// All descriptions have been read: checks what was recorded, and puts it in the order of the data.
    pub(crate) fn begin(&mut self, plan: &Plan, slots: &mut [TensorSlot]) -> Result<(), Error> {
        self.descriptions_end = plan.descriptions_end;
        self.start = plan.start;
        let slots = self.recorded_mut(slots).unwrap_or_default();
        self.put_in_order(plan, slots).map_err(|(fault, index)| {
            Error::new(fault, plan.descriptions_end, Section::Tensors, Some(index))
        })?;
        #[cfg(feature = "safetensors")]
        if let Some(bytes) = plan.covered {
            self.refuse_uncovered(bytes, plan, slots)?;
        }
        match plan.input_bytes {
            Some(bytes) if bytes < self.end => Err(self.shortfall(bytes, slots)),
            _ => Ok(()),
        }
    }

    fn put_in_order(&mut self, plan: &Plan, slots: &mut [TensorSlot]) -> Result<(), Refused> {
        refuse_duplicates(slots)?;
        if plan.any_order {
            refuse_unknown_lengths(slots, plan.tensors)?;
        }
        self.find_end(plan.input_bytes)?;
        place(slots, self.start, self.end);
        refuse_overlaps(slots)
    }

    /// Refuses bytes that belong to no tensor or to two, or that follow the last one. Only with all tensors in slots is the
    /// verdict exact, and one of them named.
    #[cfg(feature = "safetensors")]
    fn refuse_uncovered(&self, bytes: u64, plan: &Plan, slots: &[TensorSlot]) -> Result<(), Error> {
        let fault = |kind, index| Error::new(kind, plan.descriptions_end, Section::Tensors, index);
        if slots.len() == as_index(plan.tensors) {
            refuse_holes(slots, self.start).map_err(|(kind, index)| fault(kind, Some(index)))?;
        }
        // Where the sizes add up, an empty tensor may still lie behind them.
        let end = if bytes == self.last_end { self.last_end.max(self.highest) } else { self.last_end };
        if bytes != end {
            return Err(fault(Fault::not_covered(bytes, end), None));
        }
        match plan.input_bytes {
            Some(bytes) if bytes > self.end => {
                Err(Error::new(Fault::trailing_bytes(), self.end, Section::Data, None))
            }
            _ => Ok(()),
        }
    }

    /// Where the data end: after the last tensor, or with the input where a tensor of unknown length comes last.
    fn find_end(&mut self, input_bytes: Option<u64>) -> Result<(), Refused> {
        let start = self.start;
        let absolute = |offset, tensor| {
            let end = start.checked_add(offset).filter(|end| *end <= MAX_POSITION);
            end.ok_or((Fault::size_overflow(), tensor))
        };
        match self.unknown_plus_one.checked_sub(1) {
            Some(unknown) if unknown >= self.last_end && unknown >= self.highest => {
                // An input too short to reach even its start is told as such.
                let least = absolute(unknown, self.unknown_tensor)?;
                self.end = input_bytes.map_or(TensorSlot::OPEN, |bytes| bytes.max(least));
                return Ok(());
            }
            // Behind it there are only empty tensors, which it runs up to.
            Some(unknown) if unknown >= self.last_end => {
                let index = self.unknown_tensor;
                (self.last_tensor, self.last_start, self.last_end) = (index, unknown, self.highest);
            }
            _ => {}
        }
        self.end = absolute(self.last_end, self.last_tensor)?;
        Ok(())
    }

    /// Where the input must reach at least.
    fn least_end(&self) -> u64 {
        self.end().unwrap_or_else(|| self.start.saturating_add(self.unknown_plus_one.saturating_sub(1)))
    }

    /// Whether an input that ends at `position` is whole.
    pub(crate) fn is_whole(&self, position: u64) -> bool {
        position >= self.least_end()
    }

    /// What is missing in an input that ends at `position`, before the data do.
    pub(crate) fn shortfall(&self, position: u64, slots: &[TensorSlot]) -> Error {
        if position < self.start {
            // An input said to be shorter than its descriptions is cut where it was said to end.
            return cut_short(position, None, self.descriptions_end.min(position), self.start);
        }
        let is_cut =
            |slot: &&TensorSlot| slot.end() > position && slot.byte_len().is_some_and(|bytes| bytes > 0);
        if let Some(slot) = self.recorded(slots).iter().find(is_cut) {
            return cut_short(position, Some(slot.index()), slot.offset(), slot.end());
        }
        // The last tensor, which was not recorded; or padding before one of unknown length.
        let last_end = self.start.saturating_add(self.last_end);
        if position < last_end {
            return cut_short(
                position,
                Some(self.last_tensor),
                self.start.saturating_add(self.last_start),
                last_end,
            );
        }
        cut_short(position, None, last_end, self.least_end())
    }

    /// Bytes between `position` and the next thing somebody will ask for.
    pub(crate) fn gap(&self, position: u64, slots: &[TensorSlot]) -> u64 {
        let target = self.next(slots).map_or(self.end, TensorSlot::offset);
        target.saturating_sub(position)
    }

    /// How many of the `room` bytes from `position` on to bring at once: up to the end of the tensor in hand, or of the
    /// next one.
    pub(crate) fn wanted(&self, position: u64, room: u64, slots: &[TensorSlot]) -> u64 {
        let end = self.next(slots).map_or(self.end, TensorSlot::end);
        end.saturating_sub(position).min(room)
    }

    /// Fewest bytes until there is something to say, when a tensor is in hand: its next block, or where all of it has
    /// come, the first block of the next one, or the end.
    pub(crate) fn block_missing(&self, position: u64, slots: &[TensorSlot]) -> u64 {
        let mut left = self.left(slots);
        let Some(slot) = left.next() else { return 0 };
        if position < slot.end() {
            return u64::from(block_bytes(slot).saturating_sub(self.partial));
        }
        let (target, block) =
            left.next().map_or((self.end, 0), |next| (next.offset(), u64::from(block_bytes(next))));
        target.saturating_sub(position).saturating_add(block)
    }

    /// Fewest bytes until the next block, or the end; 0 where neither will come.
    pub(crate) fn gap_needed(&self, position: u64, slots: &[TensorSlot]) -> u64 {
        match self.next(slots) {
            Some(slot) => self.gap(position, slots).saturating_add(u64::from(block_bytes(slot))),
            None => self.end().map_or(0, |end| end.saturating_sub(position)),
        }
    }

    /// The tensor whose data come next, or are coming.
    pub(crate) fn next<'s>(&self, slots: &'s [TensorSlot]) -> Option<&'s TensorSlot> {
        self.left(slots).next()
    }

    /// The tensors with data from the one in hand on.
    fn left<'s>(&self, slots: &'s [TensorSlot]) -> impl Iterator<Item = &'s TensorSlot> + use<'s> {
        let left = self.recorded(slots).get(as_index(self.cursor)..).unwrap_or_default();
        left.iter().filter(|slot| slot.byte_len() != Some(0))
    }

    /// Passes over bytes that nobody asks for. True when the next tensor, or the end, is reached.
    #[inline(never)]
    pub(crate) fn seek(&mut self, carry: &mut Carry, input: &mut &[u8], slots: &[TensorSlot]) -> bool {
        let gap = self.gap(carry.position(), slots);
        let taken = carry.take_up_to(input, gap);
        let is_endless = self.end == TensorSlot::OPEN && self.next(slots).is_none();
        !is_endless && as_u64(taken.len()) == gap
    }

    /// Passes over empty tensors, once, so that the time of the rest does not depend on how many there are. Whether
    /// there is another one.
    pub(crate) fn enter(&mut self, slots: &[TensorSlot]) -> bool {
        while let Some(slot) = self.recorded(slots).get(as_index(self.cursor)) {
            if slot.byte_len() != Some(0) {
                return true;
            }
            self.cursor = self.cursor.saturating_add(1);
        }
        false
    }

    /// The next whole blocks of the tensor in hand. `None` in the result once its last byte has been lent.
    pub(crate) fn blocks(
        &mut self,
        carry: &mut Carry,
        input: &mut &[u8],
        scratch: &mut [u8],
        slots: &[TensorSlot],
    ) -> Result<Option<Progress>, Fault> {
        let slot = self.next(slots).ok_or(Fault::internal())?;
        let left = slot.end().saturating_sub(carry.position());
        if left == 0 && self.partial == 0 {
            self.leave();
            return Ok(None);
        }
        let block = as_index(block_bytes(slot));
        let elements = u64::from(slot.tensor_type().block_elements().unwrap_or(RAW_BLOCK));
        if self.partial == 0 {
            let run = whole_blocks_in(input.len().min(usize::try_from(left).unwrap_or(usize::MAX)), block);
            if run > 0 {
                carry.take(input, run);
                let blocks = as_u64(run.checked_div(block).unwrap_or(0));
                return Ok(Some(self.say(Lent::Chunk(run), blocks.saturating_mul(elements))));
            }
        }
        let have = as_index(self.partial);
        let part = carry.take(input, block.saturating_sub(have));
        let place = scratch.get_mut(have..).and_then(|room| room.get_mut(..part.len()));
        place.ok_or(Fault::internal())?.copy_from_slice(part);
        let have = have.saturating_add(part.len());
        if have < block {
            self.partial = u32::try_from(have).map_err(|_| Fault::internal())?;
            return Ok(Some(Progress::Wait));
        }
        self.partial = 0;
        Ok(Some(self.say(Lent::Scratch(block), elements)))
    }

    fn say(&mut self, blocks: Lent, elements: u64) -> Progress {
        let first_element = self.element;
        self.element = self.element.saturating_add(elements);
        Progress::Say(Token::Data { blocks, first_element })
    }

    /// Whether data of the tensor in hand have been lent.
    pub(crate) const fn is_inside(&self) -> bool {
        self.element > 0
    }

    /// The tensor in hand is done with.
    pub(crate) const fn leave(&mut self) {
        self.cursor = self.cursor.saturating_add(1);
        self.element = 0;
        self.partial = 0;
    }
}

/// What ends at `position` should reach from `start` to `end`.
#[inline(never)] // It is made in four places.
fn cut_short(position: u64, tensor: Option<u32>, start: u64, end: u64) -> Error {
    let (needed, got) = (end.saturating_sub(start), position.saturating_sub(start));
    Error::new(Fault::truncated(needed, got), start, Section::Data, tensor)
}

/// Whether a block of that tensor fits in the scratch, should it be cut.
fn fits(slot: &TensorSlot, scratch_bytes: usize) -> bool {
    as_index(block_bytes(slot)) <= scratch_bytes || slot.byte_len() == Some(0)
}

/// Bytes of one block.
fn block_bytes(slot: &TensorSlot) -> u32 {
    slot.tensor_type().block_bytes().unwrap_or(RAW_BLOCK)
}

/// The part of `len` bytes that is whole blocks.
fn whole_blocks_in(len: usize, block: usize) -> usize {
    len.saturating_sub(len.checked_rem(block).unwrap_or(len))
}

/// A counter as an index: no target has addresses of less than 32 bits that could hold so many slots.
fn as_index(counter: u32) -> usize {
    usize::try_from(counter).unwrap_or(usize::MAX)
}
