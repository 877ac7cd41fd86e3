//! Metadata entries: keys and their values, arrays in arrays included, without recursion.

use super::machine::{Machine, State, bytes_of, low_word};
use super::record;
use crate::carry::as_u64;
use crate::error::Fault;
use crate::name::NameReader;
use crate::options::limit_or;
use crate::stream::Failed;
use crate::token::{Lent, Progress, Token};
use crate::value::{Scalar, ValueType};

const ALIGNMENT_KEY: &[u8] = b"general.alignment";

impl Machine {
    pub(super) fn next_entry(&mut self) -> Result<Progress, Failed> {
        self.stream.name = NameReader::new();
        if self.stream.index == self.entry_count {
            self.stream.index = 0;
            self.state = State::NextTensor;
        } else {
            self.state = State::KeyLength;
        }
        Ok(Progress::On)
    }

    pub(super) fn key_length(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let Some((length, offset)) = self.read_size(input)? else { return Ok(Progress::Wait) };
        if length == 0 {
            return Err(self.fail(Fault::empty_key(), offset));
        }
        let total = self.name_bytes(length, offset)?;
        // Its type and at least one byte of value follow it.
        self.claim_metadata(length.saturating_add(5), offset)?;
        self.begin_name(total, State::Key);
        Ok(Progress::On)
    }

    /// The length of a name, if it is not too long.
    pub(super) fn name_bytes(&mut self, length: u64, offset: u64) -> Result<u32, Failed> {
        let limit = self.stream.options.max_name_bytes();
        match u32::try_from(length) {
            Ok(total) if length <= limit => Ok(total),
            _ => Err(self.fail(Fault::name_too_long(length, limit), offset)),
        }
    }

    /// A name of so many bytes comes next, to be read by `state`.
    pub(super) fn begin_name(&mut self, total: u32, state: State) {
        self.stream.name.begin(total);
        self.stream.body = self.stream.carry.position();
        self.state = state;
    }

    /// Takes in what has come of a name. Whether that is all of it.
    pub(super) fn read_name(&mut self, input: &mut &[u8], scratch: &mut [u8]) -> Result<bool, Failed> {
        let part = self.stream.carry.take_up_to(input, u64::from(self.stream.name.missing()));
        self.stream.name.push(part, scratch).map_err(|fault| self.fail(fault, self.stream.body))?;
        Ok(self.stream.name.missing() == 0)
    }

    pub(super) fn key(&mut self, input: &mut &[u8], scratch: &mut [u8]) -> Result<Progress, Failed> {
        if !self.read_name(input, scratch)? {
            return Ok(Progress::Wait);
        }
        self.value.is_alignment =
            self.stream.name.is_whole() && self.stream.name.kept(scratch) == ALIGNMENT_KEY;
        if self.value.is_alignment && self.alignment != 0 {
            return Err(self.fail(Fault::duplicate_alignment(), self.stream.body));
        }
        self.state = State::ValueType;
        Ok(Progress::On)
    }

    pub(super) fn value_type(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let Some((value_type, offset)) = self.read_type(input)? else { return Ok(Progress::Wait) };
        if self.value.is_alignment && value_type != ValueType::U32 {
            let id = u64::from(value_type.id());
            return Err(self.fail(Fault::alignment_type(id), offset));
        }
        // Strings and arrays are held against the limit when their length is known.
        let value = self.stream.carry.position();
        self.hold_metadata(u64::from(value_type.byte_len().unwrap_or(0)), value)?;
        self.begin_item(value_type);
        Ok(Progress::Say(Token::Key(value_type)))
    }

    /// A type of value or of elements.
    fn read_type(&mut self, input: &mut &[u8]) -> Result<Option<(ValueType, u64)>, Failed> {
        let Some((id, offset)) = self.read_id(input)? else { return Ok(None) };
        match ValueType::from_id(id) {
            Some(value_type) => Ok(Some((value_type, offset))),
            None => Err(self.fail(Fault::bad_value_type(u64::from(id)), offset)),
        }
    }

    /// A value or an element of that type comes next.
    fn begin_item(&mut self, value_type: ValueType) {
        self.value.value_type = value_type;
        self.state = match value_type {
            ValueType::String => State::StringLength,
            ValueType::Array => State::ElementType,
            _ => State::Scalar,
        };
    }

    pub(super) fn scalar(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let value_type = self.value.value_type;
        let parser = record::scalar(value_type.byte_len().unwrap_or(0));
        let Some((bits, offset)) = self.read(input, parser)? else { return Ok(Progress::Wait) };
        if value_type == ValueType::Bool && bits > 1 {
            return Err(self.fail(Fault::bad_bool(bits), offset));
        }
        if self.value.is_alignment {
            self.set_alignment(low_word(bits), offset)?;
        }
        let skip = self.value.skip;
        self.end_item();
        match Scalar::from_bits(value_type, bits) {
            _ if skip => Ok(Progress::On),
            Some(value) => Ok(Progress::Say(Token::Scalar(value))),
            None => Err(self.fail(Fault::internal(), offset)),
        }
    }

    fn set_alignment(&mut self, alignment: u32, offset: u64) -> Result<(), Failed> {
        let limit = self.stream.options.max_alignment();
        if !alignment.is_power_of_two() {
            return Err(self.fail(Fault::bad_alignment(u64::from(alignment)), offset));
        }
        if alignment > limit {
            return Err(self.fail(Fault::alignment_too_large(u64::from(alignment), u64::from(limit)), offset));
        }
        self.alignment = alignment;
        Ok(())
    }

    pub(super) fn string_length(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let Some((length, offset)) = self.read_size(input)? else { return Ok(Progress::Wait) };
        let limit = limit_or(self.stream.options.string_bytes, u64::MAX);
        if length > limit {
            return Err(self.fail(Fault::string_too_long(length, limit), offset));
        }
        self.claim_metadata(length, offset)?;
        self.begin_body(length, State::Text);
        if self.value.skip { self.skip(input) } else { self.text(input) }
    }

    /// A body of so many bytes comes next, to be told by `state` or skipped.
    fn begin_body(&mut self, bytes: u64, state: State) {
        self.stream.body = self.stream.carry.position();
        self.value.total = bytes;
        self.value.remaining = bytes;
        self.state = if self.value.skip { State::Skip } else { state };
    }

    pub(super) fn text(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let (total, before) = (self.value.total, self.value.remaining);
        let part = self.stream.carry.take_up_to(input, before).len();
        // An empty string is one empty piece; a piece of a longer one has bytes.
        if part == 0 && before > 0 {
            return Ok(Progress::Wait);
        }
        self.pass(as_u64(part));
        let last = self.value.remaining == 0;
        if last {
            self.end_item();
        }
        let start = total.saturating_sub(before);
        Ok(Progress::Say(Token::Text { part: Lent::Chunk(part), start, total, last }))
    }

    pub(super) fn element_type(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let Some((element, offset)) = self.read_type(input)? else { return Ok(Progress::Wait) };
        // The elements would be arrays two levels below the arrays that are open now.
        let (depth, limit) = (self.value.depth.saturating_add(2), self.stream.options.max_nesting());
        if element == ValueType::Array && depth > limit {
            let (depth, limit) = (u64::from(depth), u64::from(limit));
            return Err(self.fail(Fault::nesting_too_deep(depth, limit), offset));
        }
        self.value.value_type = element;
        self.state = State::ElementCount;
        Ok(Progress::On)
    }

    pub(super) fn element_count(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let Some((len, offset)) = self.read_size(input)? else { return Ok(Progress::Wait) };
        let limit = limit_or(self.stream.options.array_elements, u64::MAX);
        if len > limit {
            return Err(self.fail(Fault::array_too_long(len, limit), offset));
        }
        let element = self.value.value_type;
        self.claim_metadata(bytes_of(len, self.wire.least_element(element)), offset)?;
        self.value.push(element, len).ok_or_else(|| self.fail(Fault::internal(), offset))?;
        self.state = State::NextElement;
        if self.value.skip {
            return Ok(Progress::On);
        }
        Ok(Progress::Say(Token::ArrayStart { element, len }))
    }

    pub(super) fn next_element(&mut self) -> Result<Progress, Failed> {
        let Some((left, element)) = self.value.innermost() else {
            return Err(self.fail(Fault::internal(), self.stream.carry.position()));
        };
        let Some(others) = left.checked_sub(1) else { return Ok(self.end_array()) };
        match element.byte_len() {
            // All elements are one body.
            Some(size) => {
                let bytes = bytes_of(*left, u64::from(size));
                *left = 0;
                self.value.value_type = element;
                self.begin_body(bytes, State::Items);
            }
            None => {
                *left = others;
                self.begin_item(element);
            }
        }
        Ok(Progress::On)
    }

    fn end_array(&mut self) -> Progress {
        let skip = self.value.skip;
        self.value.depth = self.value.depth.saturating_sub(1);
        self.end_item();
        if skip { Progress::On } else { Progress::Say(Token::ArrayEnd) }
    }

    /// A value or an element has been read.
    #[inline(never)]
    fn end_item(&mut self) {
        if self.value.depth > 0 {
            self.state = State::NextElement;
            return;
        }
        self.value.skip = false;
        self.stream.index = self.stream.index.saturating_add(1);
        self.state = State::NextEntry;
    }

    pub(super) fn items(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let element = self.value.value_type;
        let size = element.byte_len().unwrap_or(1);
        // An element that was put together has been told since.
        if self.stream.carry.len() == u64::from(size) {
            self.stream.carry.clear();
        }
        if self.stream.carry.len() == 0 {
            if self.value.remaining == 0 {
                self.end_item();
                return Ok(Progress::On);
            }
            let here = usize::try_from(self.value.remaining).unwrap_or(usize::MAX).min(input.len());
            // Sizes are powers of two.
            let mut run = here & !usize::from(size.saturating_sub(1));
            if element == ValueType::Bool {
                run = self.good_bools(input.get(..run).unwrap_or_default())?;
            }
            if run > 0 {
                self.stream.carry.take(input, run);
                self.pass(as_u64(run));
                return Ok(Progress::Say(Token::Items { run: Lent::Chunk(run), element }));
            }
        }
        let before = self.stream.carry.position();
        let whole = self.stream.carry.gather(input, size);
        let taken = self.stream.carry.position().saturating_sub(before);
        self.pass(taken);
        if !whole {
            return Ok(Progress::Wait);
        }
        Ok(Progress::Say(Token::Items { run: Lent::Carry, element }))
    }

    /// How many bools come before the first one that is neither 0 nor 1; an error when that is the first.
    fn good_bools(&mut self, bytes: &[u8]) -> Result<usize, Failed> {
        let good = bytes.iter().position(|byte| *byte > 1).unwrap_or(bytes.len());
        match bytes.first() {
            Some(byte) if good == 0 => {
                let value = u64::from(*byte);
                Err(self.fail(Fault::bad_bool(value), self.stream.carry.position()))
            }
            _ => Ok(good),
        }
    }

    pub(super) fn skip(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let taken = self.stream.carry.take_up_to(input, self.value.remaining).len();
        self.pass(as_u64(taken));
        if self.value.remaining > 0 {
            return Ok(Progress::Wait);
        }
        self.end_item();
        Ok(Progress::On)
    }

    /// Bytes of the body in hand have come, or the source jumped over them.
    #[inline(never)]
    pub(super) fn pass(&mut self, bytes: u64) {
        self.value.remaining = self.value.remaining.saturating_sub(bytes);
    }

    /// Nobody wants the rest of the value in hand.
    pub(super) fn skip_rest(&mut self) {
        if self.state <= State::ValueType || self.state >= State::NextTensor {
            return;
        }
        self.value.skip = true;
        match self.state {
            State::Scalar if !self.value.is_alignment => {
                self.stream.body = self.stream.carry.field_offset();
                self.value.total = u64::from(self.value.value_type.byte_len().unwrap_or(0));
                self.value.remaining = self.value.total.saturating_sub(self.stream.carry.len());
                self.begin_skip();
            }
            State::Text | State::Items => self.begin_skip(),
            // Elements of fixed size are one body: begin it now, so that a source may jump over it at once.
            State::NextElement => {
                // It cannot fail: an array is open.
                let _ = self.next_element();
            }
            _ => {}
        }
    }

    fn begin_skip(&mut self) {
        self.stream.carry.clear();
        self.state = State::Skip;
    }
}
