//! The order of a safetensors file: what each part of its JSON means.

use super::describe::Description;
use super::json::{Json, Lexeme};
use crate::byte_order::ByteOrder;
use crate::carry::{BadField, Parsed, as_u64};
use crate::checkpoint::{CheckpointError, Fields, Kind};
use crate::data_section::Plan;
use crate::directory::TensorSlot;
use crate::error::{Error, Fault, Section};
use crate::machine;
use crate::name::NameReader;
use crate::options::{Options, limit_or};
use crate::stream::{Failed, Phase, Stream};
use crate::token::{Format, Header, Lent, Progress, Token};
use crate::value::ValueType;

/// Bytes of the header's length, which stands before it.
pub(super) const LENGTH_BYTES: u64 = 8;
/// Bytes of the shortest header: `{}`.
const LEAST_HEADER: u64 = 2;
const METADATA: &[u8] = b"__metadata__";

/// What the next part of the header stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Place {
    /// The header's length.
    Length,
    /// The header's object.
    Root,
    /// A name, or the end of the object.
    Entries,
    /// In a name.
    Name,
    /// The value of `__metadata__`.
    Metadata,
    /// A key of it, or its end.
    Keys,
    /// In a key.
    Key,
    /// The value of a key.
    Value,
    /// In that value.
    Text,
    /// A tensor's description.
    Tensor,
    /// A field's name, or the end of the description.
    Fields,
    /// In the name of a field.
    Field,
    /// The value of the field `dtype`.
    Dtype,
    /// In that value.
    DtypeText,
    /// The value of the field `shape`.
    Shape,
    /// In that value.
    Dims,
    /// The value of the field `data_offsets`.
    Offsets,
    /// In that value.
    OffsetPair,
    /// In the value of a field that is not known.
    Unknown,
}

/// The state of a safetensors decoder. All zero at first.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) stream: Stream,
    pub(super) json: Json,
    pub(super) place: Place,
    /// Bytes of the header.
    pub(super) header_bytes: u64,
    /// Bytes of it that have not come.
    pub(super) remaining: u64,
    pub(super) has_metadata: bool,
    /// No further event of the text in hand is told.
    pub(super) skip: bool,
    /// Bytes of the text in hand that have been told or skipped.
    pub(super) text_bytes: u64,
    /// Entries of the metadata, and tensors, that have begun.
    pub(super) entries: u32,
    pub(super) tensors: u32,
    pub(super) description: Description,
    /// Bytes of all tensors.
    pub(super) tensor_bytes: u64,
    /// Where the next tensor begins in the data section if they stand in the order of their data.
    pub(super) expected: u64,
    /// Some tensor does not.
    pub(super) scattered: bool,
}

impl Machine {
    pub(crate) const fn new(options: Options) -> Self {
        Self {
            stream: Stream::new(options),
            json: Json::new(),
            place: Place::Length,
            header_bytes: 0,
            remaining: 0,
            has_metadata: false,
            skip: false,
            text_bytes: 0,
            entries: 0,
            tensors: 0,
            description: Description::new(),
            tensor_bytes: 0,
            expected: 0,
            scattered: false,
        }
    }

    fn length(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let length = self.stream.carry.read(input, (), length).map_err(|fault| self.fail(fault, 0))?;
        let Some(length) = length else { return Ok(Progress::Wait) };
        let limit = self.stream.options.max_header_bytes();
        if length < LEAST_HEADER {
            return Err(self.fail(Fault::header_too_small(length), 0));
        }
        if length > limit {
            return Err(self.fail(Fault::header_too_large(length, limit), 0));
        }
        let available = self.stream.options.input_end().saturating_sub(LENGTH_BYTES);
        if length > available {
            return Err(self.fail(Fault::exceeds_input(length, available), 0));
        }
        (self.header_bytes, self.remaining) = (length, length);
        self.place = Place::Root;
        Ok(Progress::Say(Token::Header(Header {
            format: Format::Safetensors,
            version: 0,
            byte_order: ByteOrder::Little,
            tensor_count: None,
            entry_count: None,
        })))
    }

    /// Reads on in the header.
    fn header(
        &mut self,
        input: &mut &[u8],
        scratch: &mut [u8],
        slots: &mut [TensorSlot],
    ) -> Result<Progress, Failed> {
        // A character that was told out of it.
        self.stream.carry.clear();
        let most = self.remaining.min(self.text_room());
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(input.len());
        let text = input.get(..most).unwrap_or_default();
        let mut rest = text;
        let lexeme = self.json.next(&mut rest);
        let taken = text.len().saturating_sub(rest.len());
        self.stream.carry.take(input, taken);
        self.remaining = self.remaining.saturating_sub(as_u64(taken));
        match lexeme {
            Ok(Some(lexeme)) => {
                let taken = text.get(..taken).unwrap_or_default();
                self.accept(lexeme, taken, scratch)
            }
            Ok(None) if self.remaining > 0 => {
                Ok(if input.is_empty() { Progress::Wait } else { Progress::On })
            }
            Ok(None) if self.json.is_done() => self.data_start(slots),
            Ok(None) => Err(self.fail(Fault::header_unclosed(), self.position())),
            Err(fault) => Err(self.fail(fault, self.position())),
        }
    }

    /// What was read means something else in every place. `taken` are the bytes it was read from.
    fn accept(&mut self, lexeme: Lexeme, taken: &[u8], scratch: &mut [u8]) -> Result<Progress, Failed> {
        let offset = self.lexeme_offset(lexeme);
        match (self.place, lexeme) {
            (Place::Root, Lexeme::ObjectStart) => Ok(self.go(Place::Entries)),
            (Place::Root, _) => Err(self.fail(Fault::header_not_object(), offset)),
            (Place::Entries, Lexeme::StringStart) => Ok(self.begin_name(offset, Place::Name)),
            // Nothing but white space can follow.
            (Place::Entries, _) => Ok(Progress::On),
            (Place::Name, Lexeme::StringEnd) => self.end_name(scratch),
            (Place::Metadata, Lexeme::ObjectStart) => Ok(self.go(Place::Keys)),
            (Place::Metadata, Lexeme::Null) => Ok(self.go(Place::Entries)),
            (Place::Metadata, _) => Err(self.fail_metadata(Fault::metadata_not_object(), offset)),
            (Place::Keys, Lexeme::StringStart) => self.begin_key(offset),
            (Place::Keys, _) => Ok(self.go(Place::Entries)),
            (Place::Key, Lexeme::StringEnd) => Ok(self.go(Place::Value)),
            (Place::Name | Place::Key, _) => self.name(lexeme, taken, scratch),
            (Place::Value, Lexeme::StringStart) => Ok(self.begin_text()),
            (Place::Value, _) => Err(self.fail(Fault::metadata_not_string(), offset)),
            (Place::Text, _) => self.text(lexeme),
            _ => self.describe(lexeme, taken, offset),
        }
    }

    pub(super) const fn go(&mut self, place: Place) -> Progress {
        self.place = place;
        Progress::On
    }

    /// Absolute offset of the first byte of what was just read.
    fn lexeme_offset(&self, lexeme: Lexeme) -> u64 {
        let bytes = match lexeme {
            Lexeme::Number(_) | Lexeme::Null | Lexeme::Bool => self.json.token_bytes(),
            _ => 1,
        };
        self.position().saturating_sub(bytes)
    }

    /// Open objects and arrays.
    pub(super) const fn depth(&self) -> u8 {
        self.json.depth()
    }

    /// A name or a key begins.
    fn begin_name(&mut self, offset: u64, place: Place) -> Progress {
        self.stream.name.begin(0);
        self.stream.body = offset;
        // Of a tensor, if it is one.
        self.stream.index = self.tensors;
        self.go(place)
    }

    /// A part of a name.
    fn name(&mut self, lexeme: Lexeme, taken: &[u8], scratch: &mut [u8]) -> Result<Progress, Failed> {
        let limit = self.stream.options.max_name_bytes();
        let mut utf8 = [0; 4];
        let part = part(lexeme, taken, &mut utf8);
        let extended = self.stream.name.extend(part, limit, scratch);
        extended.map_err(|fault| self.fail(fault, self.stream.body))?;
        Ok(Progress::On)
    }

    fn end_name(&mut self, scratch: &[u8]) -> Result<Progress, Failed> {
        let name = &self.stream.name;
        if !(name.is_whole() && name.kept(scratch) == METADATA) {
            return self.begin_tensor();
        }
        if self.has_metadata {
            return Err(self.fail_metadata(Fault::duplicate_metadata(), self.stream.body));
        }
        self.has_metadata = true;
        // It is nobody's name.
        self.stream.name = NameReader::new();
        self.stream.index = self.entries;
        Ok(self.go(Place::Metadata))
    }

    fn begin_key(&mut self, offset: u64) -> Result<Progress, Failed> {
        self.begin_name(offset, Place::Key);
        let (entries, limit) = (u64::from(self.entries).saturating_add(1), self.stream.options.max_entries());
        self.stream.index = self.entries;
        if entries > limit {
            return Err(self.fail(Fault::too_many_entries(entries, limit), offset));
        }
        self.entries = self.entries.saturating_add(1);
        Ok(Progress::On)
    }

    fn begin_text(&mut self) -> Progress {
        (self.skip, self.text_bytes) = (false, 0);
        self.stream.body = self.position();
        self.place = Place::Text;
        Progress::Say(Token::Key(ValueType::String))
    }

    fn text_limit(&self) -> u64 {
        limit_or(self.stream.options.string_bytes, u64::MAX)
    }

    /// Bytes to read at once: of a text no more than it may have, so that what comes before the first one too many is told,
    /// however the text is cut; but one, which may be its end.
    fn text_room(&self) -> u64 {
        if self.place == Place::Text {
            self.text_limit().saturating_sub(self.text_bytes).max(1)
        } else {
            u64::MAX
        }
    }

    fn text(&mut self, lexeme: Lexeme) -> Result<Progress, Failed> {
        let (part, bytes) = match lexeme {
            Lexeme::Plain(bytes) => (Lent::Chunk(bytes), bytes),
            Lexeme::Escaped(char) => {
                let mut utf8 = [0; 4];
                let text = char.encode_utf8(&mut utf8);
                self.stream.carry.hold(text.as_bytes());
                (Lent::Carry, text.len())
            }
            _ => (Lent::Chunk(0), 0),
        };
        let last = lexeme == Lexeme::StringEnd;
        if last {
            self.place = Place::Keys;
        }
        let (start, limit) = (self.text_bytes, self.text_limit());
        self.text_bytes = start.saturating_add(as_u64(bytes));
        if self.text_bytes > limit {
            // However the text was cut, its first byte too many is the one that is told.
            return Err(self.fail(Fault::string_too_long(limit.saturating_add(1), limit), self.stream.body));
        }
        if self.skip {
            return Ok(Progress::On);
        }
        Ok(Progress::Say(Token::Text { part, start, total: 0, last }))
    }

    /// The header has been read.
    fn data_start(&mut self, slots: &mut [TensorSlot]) -> Result<Progress, Failed> {
        let start = self.position();
        self.stream.name = NameReader::new();
        let plan = Plan {
            descriptions_end: start,
            start,
            tensors: self.tensors,
            any_order: true,
            input_bytes: self.stream.options.known_input_bytes(),
            covered: Some(self.tensor_bytes),
        };
        self.stream.begin_data(&plan, 1, !self.scattered, slots)
    }

    /// Ends the stream with an error in what is in hand.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, fault: Fault, offset: u64) -> Failed {
        // In `__metadata__`, but in no entry of it.
        if matches!(self.place, Place::Metadata | Place::Keys) {
            return self.fail_metadata(fault, offset);
        }
        self.stream.fail(fault, offset, self.section_in_head())
    }

    /// Ends the stream with an error in the metadata as a whole, not in one entry.
    fn fail_metadata(&mut self, fault: Fault, offset: u64) -> Failed {
        self.stream.end_with(Error::new(fault, offset, Section::Metadata, None))
    }

    fn section_in_head(&self) -> Section {
        match self.place {
            place if place <= Place::Entries => Section::Header,
            // Whose name it is shows at its end.
            Place::Name => Section::Tensors,
            place if place <= Place::Text => Section::Metadata,
            _ => Section::Tensors,
        }
    }

    const fn position(&self) -> u64 {
        self.stream.carry.position()
    }
}

impl machine::Machine for Machine {
    const KIND: Kind = Kind::Safetensors;

    fn new(options: Options) -> Self {
        Self::new(options)
    }

    fn stream(&self) -> &Stream {
        &self.stream
    }

    fn stream_mut(&mut self) -> &mut Stream {
        &mut self.stream
    }

    fn step_head(
        &mut self,
        input: &mut &[u8],
        scratch: &mut [u8],
        slots: &mut [TensorSlot],
    ) -> Result<Progress, Failed> {
        if self.place == Place::Length { self.length(input) } else { self.header(input, scratch, slots) }
    }

    fn wait(&mut self, input: &[u8]) -> Result<Option<Token>, Error> {
        if self.stream.phase == Phase::Ended && !input.is_empty() {
            let error = Error::new(Fault::trailing_bytes(), self.position(), Section::Data, None);
            self.stream.end_with(error);
            return Err(error);
        }
        Ok(None)
    }

    fn must_end(&self) -> bool {
        true
    }

    fn byte_order(&self) -> ByteOrder {
        ByteOrder::Little
    }

    fn skip_value(&mut self) {
        self.skip |= self.place == Place::Text;
    }

    fn text_total(&self, _total: u64) -> Option<u64> {
        None
    }

    fn head_section(&self) -> Section {
        self.section_in_head()
    }

    fn head_skippable(&self) -> u64 {
        0
    }

    fn head_pass(&mut self, _n: u64) {}

    fn head_needed(&self) -> u64 {
        if self.place == Place::Length {
            LENGTH_BYTES.saturating_sub(self.stream.carry.len())
        } else if self.json.is_done() {
            self.remaining
        } else {
            self.remaining.min(1)
        }
    }

    fn head_shortfall(&self) -> Error {
        let error = |fault, offset| self.stream.error_in(fault, offset, self.section_in_head());
        if self.place == Place::Length {
            return error(Fault::truncated(LENGTH_BYTES, self.stream.carry.len()), 0);
        }
        if self.remaining == 0 {
            return error(Fault::events_pending(), self.position());
        }
        let got = self.header_bytes.saturating_sub(self.remaining);
        error(Fault::truncated(self.header_bytes, got), LENGTH_BYTES)
    }

    fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        self.list_fields(fields)
    }

    fn is_sound(&self, scratch_bytes: usize, slots: &[TensorSlot]) -> bool {
        self.are_fields_sound(scratch_bytes, slots)
    }
}

/// The header's length: 64 bits, little-endian.
fn length((): (), input: &[u8]) -> Parsed<'_> {
    nom::number::streaming::le_u64::<_, BadField>(input)
}

/// The bytes that a part of a string stands for: the last ones of those it was read from, or a character.
pub(super) fn part<'a>(lexeme: Lexeme, taken: &'a [u8], utf8: &'a mut [u8; 4]) -> &'a [u8] {
    match lexeme {
        Lexeme::Plain(bytes) => {
            taken.len().checked_sub(bytes).and_then(|at| taken.get(at..)).unwrap_or_default()
        }
        Lexeme::Escaped(char) => char.encode_utf8(utf8).as_bytes(),
        _ => &[],
    }
}
