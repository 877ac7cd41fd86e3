//! What the machines of all formats share: the position, the name and the tensor in hand, and all from the first
//! description told to the end of the data.

use crate::byte_order::ByteOrder;
use crate::carry::{Carry, as_u64};
use crate::checkpoint::{CheckpointError, Fields, within};
use crate::data_section::{DataSection, Plan};
use crate::directory::TensorSlot;
use crate::error::{Error, Fault, Section};
use crate::name::NameReader;
use crate::options::Options;
use crate::token::{DataStart, Progress, TensorInfo, Token};

/// The part of a file that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// All before the data: what comes next there, the format's machine knows.
    Head,
    /// A description has been told; it is recorded unless the caller says no.
    TensorTold,
    /// Bytes that nobody wants, up to the next recorded tensor or the end.
    Gap,
    Blocks,
    Ended,
    Failed,
}

/// Every phase, at the index that stands for it in a checkpoint.
const PHASES: [Phase; 6] =
    [Phase::Head, Phase::TensorTold, Phase::Gap, Phase::Blocks, Phase::Ended, Phase::Failed];

/// The file is bad: [`Stream::error`] says how.
#[derive(Clone, Copy, Debug)]
pub struct Failed;

/// A decoder's state but for what is of one format. All zero at first.
#[derive(Clone, Debug)]
pub struct Stream {
    pub(crate) options: Options,
    pub(crate) carry: Carry,
    pub(crate) phase: Phase,
    /// Index of the entry in hand; in later sections, of the tensor.
    pub(crate) index: u32,
    pub(crate) name: NameReader,
    /// Absolute offset of the body in hand: of a key, a name, a string or elements.
    pub(crate) body: u64,
    pub(crate) tensor: TensorInfo,
    /// Absolute offset of the tensor description in hand.
    pub(crate) description: u64,
    pub(crate) data: DataSection,
    pub(crate) error: Error,
}

impl Stream {
    pub(crate) const fn new(options: Options) -> Self {
        Self {
            options,
            carry: Carry::new(),
            phase: Phase::Head,
            index: 0,
            name: NameReader::new(),
            body: 0,
            tensor: TensorInfo::new(0),
            description: 0,
            data: DataSection::new(),
            error: Error::NONE,
        }
    }

    /// Goes on in a phase other than the first.
    #[inline(never)]
    pub(crate) fn step(
        &mut self,
        input: &mut &[u8],
        scratch: &mut [u8],
        slots: &mut [TensorSlot],
        order: ByteOrder,
    ) -> Result<Progress, Failed> {
        match self.phase {
            Phase::TensorTold => self.record_tensor(scratch.len(), slots, order),
            Phase::Gap => Ok(self.gap(input, slots)),
            Phase::Blocks => self.blocks(input, scratch, slots),
            Phase::Head | Phase::Ended => Ok(Progress::Wait),
            Phase::Failed => Err(Failed),
        }
    }

    /// Tells the tensor in hand, whose bytes and offset are known and checked.
    pub(crate) const fn tell_tensor(&mut self) -> Progress {
        self.phase = Phase::TensorTold;
        Progress::Say(Token::Tensor)
    }

    /// Records the tensor that was told. Without any slot nothing is recorded.
    fn record_tensor(
        &mut self,
        scratch_bytes: usize,
        slots: &mut [TensorSlot],
        order: ByteOrder,
    ) -> Result<Progress, Failed> {
        if !slots.is_empty() {
            let tensor = &self.tensor;
            let slot = TensorSlot::new(
                self.name.hash(),
                tensor.data_offset,
                tensor.bytes,
                tensor.row_elements(),
                tensor.index,
                tensor.tensor_type,
                order,
            );
            let recorded = self.data.record(slot, slots, scratch_bytes);
            recorded.map_err(|fault| self.fail(fault, self.description, Section::Tensors))?;
        }
        self.after_tensor();
        Ok(Progress::On)
    }

    const fn after_tensor(&mut self) {
        self.index = self.index.saturating_add(1);
        self.phase = Phase::Head;
    }

    /// The tensor that was told is not recorded; the rest of the one in hand is dropped.
    pub(crate) const fn skip_tensor(&mut self) {
        match self.phase {
            Phase::TensorTold => self.after_tensor(),
            Phase::Blocks if self.data.is_inside() => {
                self.data.leave();
                self.phase = Phase::Gap;
            }
            _ => {}
        }
    }

    /// All descriptions have been read: the data come.
    pub(crate) fn begin_data(
        &mut self,
        plan: &Plan,
        alignment: u32,
        contiguous: bool,
        slots: &mut [TensorSlot],
    ) -> Result<Progress, Failed> {
        self.data.begin(plan, slots).map_err(|error| self.end_with(error))?;
        self.phase = Phase::Gap;
        let (offset, end) = (plan.start, self.data.end());
        Ok(Progress::Say(Token::DataStart(DataStart { offset, alignment, end, contiguous })))
    }

    fn gap(&mut self, input: &mut &[u8], slots: &[TensorSlot]) -> Progress {
        // Before the bytes: else every chunk of a long gap would walk over the empty tensors in it again.
        let another = self.data.enter(slots);
        if !self.data.seek(&mut self.carry, input, slots) {
            return Progress::Wait;
        }
        if another {
            self.phase = Phase::Blocks;
            return Progress::On;
        }
        self.phase = Phase::Ended;
        Progress::Say(Token::End)
    }

    fn blocks(
        &mut self,
        input: &mut &[u8],
        scratch: &mut [u8],
        slots: &[TensorSlot],
    ) -> Result<Progress, Failed> {
        let progress = self.data.blocks(&mut self.carry, input, scratch, slots);
        let progress = progress.map_err(|fault| self.fail(fault, self.carry.position(), Section::Data))?;
        Ok(progress.unwrap_or_else(|| {
            self.phase = Phase::Gap;
            Progress::On
        }))
    }

    /// Ends the stream with an error in what is in hand.
    #[cold]
    #[inline(never)]
    pub(crate) fn fail(&mut self, fault: Fault, offset: u64, section: Section) -> Failed {
        self.end_with(self.error_in(fault, offset, section))
    }

    /// Ends the stream with an error.
    pub(crate) fn end_with(&mut self, error: Error) -> Failed {
        self.error = error;
        self.phase = Phase::Failed;
        Failed
    }

    /// An error in what is in hand.
    pub(crate) fn error_in(&self, fault: Fault, offset: u64, section: Section) -> Error {
        let index = if section == Section::Header { None } else { Some(self.index) };
        Error::new(fault, offset, section, index)
    }

    /// The section that a phase other than the first belongs to.
    pub(crate) fn section(&self) -> Section {
        match self.phase {
            Phase::Failed => self.error.section(),
            Phase::Head | Phase::TensorTold => Section::Tensors,
            _ => Section::Data,
        }
    }

    /// Bytes ahead that nobody will ask for, in a phase other than the first.
    pub(crate) fn skippable(&self, slots: &[TensorSlot]) -> u64 {
        if self.phase == Phase::Gap { self.data.gap(self.carry.position(), slots) } else { 0 }
    }

    /// How many of the next `room` bytes to bring at once.
    pub(crate) fn wanted(&self, room: u64, slots: &[TensorSlot]) -> u64 {
        match self.phase {
            Phase::Gap | Phase::Blocks => self.data.wanted(self.carry.position(), room, slots),
            // Only to see whether there is any.
            Phase::Ended => room.min(1),
            _ => room,
        }
    }

    /// Fewest bytes until the next event, in a phase other than the first.
    pub(crate) fn needed(&self, slots: &[TensorSlot]) -> u64 {
        let position = self.carry.position();
        match self.phase {
            Phase::Gap => self.data.gap_needed(position, slots),
            Phase::Blocks => self.data.block_missing(position, slots),
            _ => 0,
        }
    }

    /// The verdict when no more bytes come, in a phase other than the first.
    pub(crate) fn finish(&self, slots: &[TensorSlot]) -> Result<(), Error> {
        let position = self.carry.position();
        match self.phase {
            Phase::Failed => Err(self.error),
            Phase::Ended => Ok(()),
            Phase::Gap | Phase::Blocks if self.data.is_whole(position) => Ok(()),
            Phase::Gap | Phase::Blocks => Err(self.data.shortfall(position, slots)),
            Phase::Head | Phase::TensorTold => {
                Err(self.error_in(Fault::events_pending(), position, Section::Tensors))
            }
        }
    }

    /// Where the file must end, known from the start of the data on.
    pub(crate) fn end(&self) -> Option<u64> {
        if matches!(self.phase, Phase::Gap | Phase::Blocks | Phase::Ended) { self.data.end() } else { None }
    }

    /// The fields of a checkpoint. The error is none of them: after one there is no checkpoint.
    pub(crate) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        self.options.fields(fields)?;
        self.carry.fields(fields)?;
        let mut phase = self.phase as u8;
        fields.u8(&mut phase)?;
        self.phase = PHASES.get(usize::from(phase)).copied().ok_or(CheckpointError::OutOfRange)?;
        within(self.phase != Phase::Failed)?;
        fields.u32(&mut self.index)?;
        self.name.fields(fields)?;
        fields.u64(&mut self.body)?;
        self.tensor.fields(fields)?;
        fields.u64(&mut self.description)?;
        self.data.fields(fields)
    }

    /// Whether the fields of a checkpoint go with each other, and with this memory.
    pub(crate) fn is_sound(&self, scratch_bytes: usize, slots: &[TensorSlot]) -> bool {
        self.body.max(self.description) <= self.carry.position()
            && u64::from(self.name.total()) <= self.options.max_name_bytes()
            && self.scratch_bytes() <= as_u64(scratch_bytes)
            && self.data.is_sound(slots, scratch_bytes)
    }

    /// Bytes of the scratch in use: a name, or the beginning of a block.
    pub(crate) fn scratch_bytes(&self) -> u64 {
        self.name.kept_bytes().max(u64::from(self.data.partial()))
    }
}

#[cfg(test)]
mod tests {
    use super::PHASES;

    #[test]
    fn a_phase_stands_where_its_number_says() {
        for (index, phase) in PHASES.iter().enumerate() {
            assert_eq!(*phase as usize, index);
        }
    }
}
