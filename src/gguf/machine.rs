//! The order of a GGUF file: plain integers and field-less enums, no bytes.

use super::record::{self, Wire};
use super::value::Value;
use crate::carry::{Carry, Parser};
use crate::data_section::{DataSection, Plan};
use crate::directory::TensorSlot;
use crate::error::{Error, Fault, Section};
use crate::name::NameReader;
use crate::options::{Layout, Options, limit_or};
use crate::token::{DataStart, Format, Header, Progress, TensorInfo, Token};

/// Where a file gives none, in bytes.
const DEFAULT_ALIGNMENT: u32 = 32;

/// What is read next, in the order of the file. In a state that reads a field, the carry may hold its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum State {
    Magic,
    Version,
    TensorCount,
    EntryCount,
    /// Between two entries, or after the last.
    NextEntry,
    KeyLength,
    Key,
    ValueType,
    /// A value of fixed size.
    Scalar,
    StringLength,
    /// The bytes of a string.
    Text,
    /// The head of an array.
    ElementType,
    ElementCount,
    /// Between two elements of an array, or after the last.
    NextElement,
    /// The elements of an array whose elements are of fixed size.
    Items,
    /// The bytes of a string, a value or elements that nobody wants.
    Skip,
    /// Between two descriptions, or after the last.
    NextTensor,
    NameLength,
    Name,
    Rank,
    Dimension,
    TensorType,
    TensorOffset,
    /// A description has been told; it is recorded unless the caller says no.
    TensorTold,
    /// Bytes that nobody wants, up to the next recorded tensor or the end.
    Gap,
    Blocks,
    Ended,
    Failed,
}

/// The file is bad: [`Machine::error`] says how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed;

/// A decoder's state but for the memory that is generic: compiled once.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(super) options: Options,
    pub(super) carry: Carry,
    pub(super) state: State,
    /// The file's alignment; 0 until it is given.
    pub(super) alignment: u32,
    pub(super) wire: Wire,
    pub(super) tensor_count: u32,
    pub(super) entry_count: u32,
    /// Index of the entry in hand; in later sections, of the tensor.
    pub(super) index: u32,
    pub(super) name: NameReader,
    /// Absolute offset of the body in hand: of a key, a name, a string or elements.
    pub(super) body: u64,
    pub(super) value: Value,
    pub(super) tensor: TensorInfo,
    /// Absolute offset of the tensor description in hand.
    pub(super) description: u64,
    /// Dimensions of the tensor in hand still to be read.
    pub(super) dims_left: u8,
    /// Offset in the data section where the next tensor is expected.
    pub(super) expected: u64,
    /// The tensor before was of unknown type, and starts at `expected`.
    pub(super) inferring: bool,
    /// Some tensor did not start where the one before it ended.
    pub(super) scattered: bool,
    pub(super) data: DataSection,
    pub(super) error: Error,
}

impl Machine {
    pub(crate) const fn new(options: Options) -> Self {
        Self {
            options,
            carry: Carry::new(),
            state: State::Magic,
            alignment: 0,
            wire: Wire::new(),
            tensor_count: 0,
            entry_count: 0,
            index: 0,
            name: NameReader::new(),
            body: 0,
            value: Value::new(),
            tensor: TensorInfo::new(0),
            description: 0,
            dims_left: 0,
            expected: 0,
            inferring: false,
            scattered: false,
            data: DataSection::new(),
            error: Error::NONE,
        }
    }

    /// Goes on until there is something to say or the input is used up. The first error is the last word.
    pub(crate) fn step(
        &mut self,
        input: &mut &[u8],
        scratch: &mut [u8],
        slots: &mut [TensorSlot],
    ) -> Result<Option<Token>, Error> {
        loop {
            let progress = match self.state {
                State::Magic => self.magic(input),
                State::Version => self.version(input),
                State::TensorCount => self.tensor_count(input),
                State::EntryCount => self.entry_count(input),
                State::NextEntry => self.next_entry(),
                State::KeyLength => self.key_length(input),
                State::Key => self.key(input, scratch),
                State::ValueType => self.value_type(input),
                State::Scalar => self.scalar(input),
                State::StringLength => self.string_length(input),
                State::Text => self.text(input),
                State::ElementType => self.element_type(input),
                State::ElementCount => self.element_count(input),
                State::NextElement => self.next_element(),
                State::Items => self.items(input),
                State::Skip => self.skip(input),
                State::NextTensor => self.next_tensor(slots),
                State::NameLength => self.name_length(input),
                State::Name => self.tensor_name(input, scratch),
                State::Rank => self.rank(input),
                State::Dimension => self.dimension(input),
                State::TensorType => self.tensor_type(input),
                State::TensorOffset => self.tensor_offset(input, slots),
                State::TensorTold => self.record_tensor(scratch.len(), slots),
                State::Gap => self.gap(input, slots),
                State::Blocks => self.blocks(input, scratch, slots),
                State::Ended => return Ok(None),
                State::Failed => return Err(self.error),
            };
            match progress {
                Ok(Progress::On) => {}
                Ok(Progress::Wait) => return Ok(None),
                Ok(Progress::Say(token)) => return Ok(Some(token)),
                Err(Failed) => return Err(self.error),
            }
        }
    }

    fn magic(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        if self.read(input, record::magic)?.is_none() {
            return Ok(Progress::Wait);
        }
        self.state = State::Version;
        Ok(Progress::On)
    }

    fn version(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let Some((stored, offset)) = self.read(input, record::version)? else { return Ok(Progress::Wait) };
        match Wire::of_version(low_word(stored)) {
            Ok(wire) => self.wire = wire,
            Err(fault) => return Err(self.fail(fault, offset)),
        }
        self.state = State::TensorCount;
        Ok(Progress::On)
    }

    fn tensor_count(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let Some((count, offset)) = self.read_size(input)? else { return Ok(Progress::Wait) };
        let limit = self.options.max_tensors();
        match u32::try_from(count) {
            Ok(small) if count <= limit => self.tensor_count = small,
            _ => return Err(self.fail(Fault::too_many_tensors(count, limit), offset)),
        }
        self.claim(count, self.wire.least_tensor(), offset)?;
        self.state = State::EntryCount;
        Ok(Progress::On)
    }

    fn entry_count(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let Some((count, offset)) = self.read_size(input)? else { return Ok(Progress::Wait) };
        let limit = self.options.max_entries();
        match u32::try_from(count) {
            Ok(small) if count <= limit => self.entry_count = small,
            _ => return Err(self.fail(Fault::too_many_entries(count, limit), offset)),
        }
        self.claim_metadata(count, self.wire.least_entry(), offset)?;
        self.state = State::NextEntry;
        Ok(Progress::Say(Token::Header(self.header())))
    }

    fn header(&self) -> Header {
        Header {
            format: Format::Gguf,
            version: u32::from(self.wire.version),
            byte_order: self.wire.order,
            tensor_count: Some(u64::from(self.tensor_count)),
            entry_count: Some(u64::from(self.entry_count)),
        }
    }

    /// All descriptions have been read.
    #[inline(never)]
    pub(super) fn data_start(&mut self, slots: &mut [TensorSlot]) -> Result<Progress, Failed> {
        let descriptions_end = self.carry.position();
        let alignment = self.alignment();
        // Without tensors there is no data section, and so no padding before it.
        let start = if self.tensor_count == 0 {
            Some(descriptions_end)
        } else {
            align_up(descriptions_end, alignment)
        };
        let start = start.ok_or_else(|| self.fail(Fault::size_overflow(), descriptions_end))?;
        let plan = Plan {
            descriptions_end,
            start,
            tensors: self.tensor_count,
            any_order: self.options.layout == Layout::Sparse,
            input_bytes: self.options.known_input_bytes(),
        };
        self.data.begin(&plan, slots).map_err(|error| self.end_with(error))?;
        self.state = State::Gap;
        let (end, contiguous) = (self.data.end(), !self.scattered);
        Ok(Progress::Say(Token::DataStart(DataStart { offset: start, alignment, end, contiguous })))
    }

    fn gap(&mut self, input: &mut &[u8], slots: &[TensorSlot]) -> Result<Progress, Failed> {
        // Before the bytes: else every chunk of a long gap would walk over the empty tensors in it again.
        let another = self.data.enter(slots);
        if !self.data.seek(&mut self.carry, input, slots) {
            return Ok(Progress::Wait);
        }
        if another {
            self.state = State::Blocks;
            return Ok(Progress::On);
        }
        self.state = State::Ended;
        Ok(Progress::Say(Token::End))
    }

    fn blocks(
        &mut self,
        input: &mut &[u8],
        scratch: &mut [u8],
        slots: &[TensorSlot],
    ) -> Result<Progress, Failed> {
        let progress = self.data.blocks(&mut self.carry, input, scratch, slots);
        match progress.map_err(|kind| self.fail(kind, self.carry.position()))? {
            Some(progress) => Ok(progress),
            None => {
                self.state = State::Gap;
                Ok(Progress::On)
            }
        }
    }

    /// The alignment in bytes, given or not.
    pub(super) const fn alignment(&self) -> u32 {
        if self.alignment == 0 { DEFAULT_ALIGNMENT } else { self.alignment }
    }

    /// Reads one field: its bits, and where it began. `None` while bytes are missing.
    pub(super) fn read(
        &mut self,
        input: &mut &[u8],
        parser: Parser<Wire>,
    ) -> Result<Option<(u64, u64)>, Failed> {
        let offset = self.carry.field_offset();
        match self.carry.read(input, self.wire, parser) {
            Ok(bits) => Ok(bits.map(|bits| (bits, offset))),
            Err(fault) => Err(self.fail(fault, offset)),
        }
    }

    /// Reads a count, a length or a dimension.
    pub(super) fn read_size(&mut self, input: &mut &[u8]) -> Result<Option<(u64, u64)>, Failed> {
        self.read(input, record::size)
    }

    /// Reads a type id, or a number of dimensions.
    pub(super) fn read_id(&mut self, input: &mut &[u8]) -> Result<Option<(u32, u64)>, Failed> {
        let id = self.read(input, record::word)?;
        Ok(id.map(|(bits, offset)| (low_word(bits), offset)))
    }

    /// Holds the claim that `count` things of at least `each` bytes follow against what can follow.
    pub(super) fn claim(&mut self, count: u64, each: u64, offset: u64) -> Result<(), Failed> {
        let needed = count.saturating_mul(each);
        let available = self.options.input_end().saturating_sub(self.carry.position());
        if needed > available {
            return Err(self.fail(Fault::exceeds_input(needed, available), offset));
        }
        Ok(())
    }

    /// The same for a claim within the metadata, which have a limit of their own.
    pub(super) fn claim_metadata(&mut self, count: u64, each: u64, offset: u64) -> Result<(), Failed> {
        self.hold_metadata(count.saturating_mul(each), offset)?;
        self.claim(count, each, offset)
    }

    /// Holds the metadata, with `more` bytes to come, against their limit.
    pub(super) fn hold_metadata(&mut self, more: u64, offset: u64) -> Result<(), Failed> {
        let limit = limit_or(self.options.metadata_bytes, u64::MAX);
        let bytes = self.carry.position().saturating_add(more);
        if bytes > limit {
            return Err(self.fail(Fault::metadata_too_large(bytes, limit), offset));
        }
        Ok(())
    }

    /// Ends the stream with an error in what is in hand.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, fault: Fault, offset: u64) -> Failed {
        self.end_with(self.error(fault, offset))
    }

    /// Ends the stream with an error.
    fn end_with(&mut self, error: Error) -> Failed {
        self.error = error;
        self.state = State::Failed;
        Failed
    }

    /// An error in what is in hand.
    pub(super) fn error(&self, kind: Fault, offset: u64) -> Error {
        let section = self.section();
        let index = if section == Section::Header { None } else { Some(self.index) };
        Error::new(kind, offset, section, index)
    }

    /// The section that the state belongs to.
    pub(crate) fn section(&self) -> Section {
        match self.state {
            State::Failed => self.error.section(),
            state if state < State::NextEntry => Section::Header,
            state if state < State::NextTensor => Section::Metadata,
            state if state < State::Gap => Section::Tensors,
            _ => Section::Data,
        }
    }
}

/// A field of 32 bits out of the 64 that every field is read as.
pub(super) fn low_word(bits: u64) -> u32 {
    u32::try_from(bits).unwrap_or(u32::MAX)
}

/// `offset` rounded up to a multiple of `alignment`, a power of two; the same where it is one already.
pub(super) fn align_up(offset: u64, alignment: u32) -> Option<u64> {
    let mask = u64::from(alignment).wrapping_sub(1);
    Some(offset.checked_add(mask)? & !mask)
}
