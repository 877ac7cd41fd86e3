//! The text of a header: JSON (RFC 8259), read byte by byte, without a tree and without recursion.
//!
//! It knows what may follow what; what the values mean is for the machine.

use crate::checkpoint::{CheckpointError, Fields, within};
use crate::error::Fault;
use crate::name::Utf8;

/// Deepest nesting, the outermost object being 1 deep: as deep as the reference's reader goes.
pub(super) const MAX_DEPTH: u8 = 127;
/// One bit a level.
const LEVEL_BYTES: usize = 16;
const LITERALS: [&[u8]; 3] = [b"null", b"true", b"false"];

/// What the text says next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexeme {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    /// The opening quote of a key or a string.
    StringStart,
    /// So many bytes of it that stand for themselves: the last ones taken.
    Plain(usize),
    /// A character of it that was escaped.
    Escaped(char),
    /// Its closing quote.
    StringEnd,
    /// A number, if it is plain: digits alone, and below 2^64.
    Number(Option<u64>),
    Null,
    Bool,
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum State {
    // Between two tokens, where white space may stand.
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    /// Nothing but white space.
    Done,
    // Inside of a string.
    Text,
    Escape,
    /// A digit of a UTF-16 unit.
    Hex,
    /// The second half of a surrogate pair.
    LowBackslash,
    LowU,
    Literal,
    // Inside of a number. The first four may be its end.
    Zero,
    Integer,
    Fraction,
    Exponent,
    Minus,
    Point,
    ExponentStart,
    ExponentSign,
}

/// Every state, at the index that stands for it in a checkpoint.
const STATES: [State; 21] = [
    State::Value,
    State::ValueOrEnd,
    State::Key,
    State::KeyOrEnd,
    State::Colon,
    State::CommaOrEnd,
    State::Done,
    State::Text,
    State::Escape,
    State::Hex,
    State::LowBackslash,
    State::LowU,
    State::Literal,
    State::Zero,
    State::Integer,
    State::Fraction,
    State::Exponent,
    State::Minus,
    State::Point,
    State::ExponentStart,
    State::ExponentSign,
];

/// How far the text has been read. All zero at first.
#[derive(Clone, Debug)]
pub(super) struct Json {
    /// The value of the number in hand, as far as it is plain.
    number: u64,
    /// Bytes of the number or literal in hand.
    token_bytes: u64,
    state: State,
    /// Open objects and arrays.
    depth: u8,
    /// One bit for each of them, set for an object.
    objects: [u8; LEVEL_BYTES],
    /// The string in hand is a key.
    is_key: bool,
    /// The number in hand is not plain.
    is_odd: bool,
    utf8: Utf8,
    /// Hexadecimal digits still to come, and the unit that they make.
    digits: u8,
    unit: u16,
    /// The first half of a surrogate pair; 0 for none.
    high: u16,
    /// Index of the literal in hand.
    literal: u8,
}

impl Json {
    pub(super) const fn new() -> Self {
        Self {
            number: 0,
            token_bytes: 0,
            state: State::Value,
            depth: 0,
            objects: [0; LEVEL_BYTES],
            is_key: false,
            is_odd: false,
            utf8: Utf8::new(),
            digits: 0,
            unit: 0,
            high: 0,
            literal: 0,
        }
    }

    /// Open objects and arrays.
    pub(super) const fn depth(&self) -> u8 {
        self.depth
    }

    /// Bytes of the number or literal that was told last.
    pub(super) const fn token_bytes(&self) -> u64 {
        self.token_bytes
    }

    /// Whether the outermost value has ended.
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Takes bytes off the front of `input` until there is something to say; `None` when none is left. At an error the byte
    /// that is wrong has not been taken.
    pub(super) fn next(&mut self, input: &mut &[u8]) -> Result<Option<Lexeme>, Fault> {
        while let Some((&byte, rest)) = input.split_first() {
            if self.state == State::Text {
                let run = self.plain_run(input)?;
                if run > 0 {
                    *input = input.get(run..).unwrap_or_default();
                    return Ok(Some(Lexeme::Plain(run)));
                }
            }
            if self.state >= State::Zero && !self.number_goes_on(byte) {
                return Ok(Some(self.end_number(byte)?));
            }
            let lexeme = self.accept(byte)?;
            *input = rest;
            if lexeme.is_some() {
                return Ok(lexeme);
            }
        }
        Ok(None)
    }

    /// One byte, but for those of a number and those of a string that stand for themselves.
    fn accept(&mut self, byte: u8) -> Result<Option<Lexeme>, Fault> {
        // White space, or a byte of a number, which has been taken in.
        let is_space = self.state <= State::Done && matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        if is_space || self.state >= State::Zero {
            return Ok(None);
        }
        match (self.state, byte) {
            (State::ValueOrEnd, b']') => Ok(self.close()),
            (State::Value | State::ValueOrEnd, _) => self.value(byte),
            (State::KeyOrEnd, b'}') => Ok(self.close()),
            (State::Key | State::KeyOrEnd, b'"') => Ok(self.string(true)),
            (State::Colon, b':') => Ok(self.go(State::Value)),
            (State::CommaOrEnd, b',') => {
                Ok(self.go(if self.is_in_object() { State::Key } else { State::Value }))
            }
            (State::CommaOrEnd, b'}') if self.is_in_object() => Ok(self.close()),
            (State::CommaOrEnd, b']') if !self.is_in_object() => Ok(self.close()),
            (State::Text, b'"') => {
                self.state = if self.is_key { State::Colon } else { self.after_value() };
                Ok(Some(Lexeme::StringEnd))
            }
            (State::Text, b'\\') => Ok(self.go(State::Escape)),
            (State::Escape, _) => self.escape(byte),
            (State::LowBackslash, b'\\') => Ok(self.go(State::LowU)),
            (State::LowU, b'u') => Ok(self.unit()),
            (State::LowBackslash | State::LowU, _) => Err(Fault::bad_escape()),
            (State::Hex, _) => self.hex(byte),
            (State::Literal, _) => self.literal(byte),
            _ => Err(Fault::bad_json(u64::from(byte))),
        }
    }

    const fn go(&mut self, state: State) -> Option<Lexeme> {
        self.state = state;
        None
    }

    /// The first byte of a value.
    fn value(&mut self, byte: u8) -> Result<Option<Lexeme>, Fault> {
        self.token_bytes = 1;
        match byte {
            b'{' => self.open(true),
            b'[' => self.open(false),
            b'"' => Ok(self.string(false)),
            b'-' => {
                self.is_odd = true;
                Ok(self.go(State::Minus))
            }
            b'0'..=b'9' => {
                (self.number, self.is_odd) = (u64::from(byte & 15), false);
                Ok(self.go(if byte == b'0' { State::Zero } else { State::Integer }))
            }
            b'n' | b't' | b'f' => {
                self.literal = match byte {
                    b'n' => 0,
                    b't' => 1,
                    _ => 2,
                };
                Ok(self.go(State::Literal))
            }
            // The first byte of a byte order mark.
            0xef if self.depth == 0 => Err(Fault::byte_order_mark()),
            _ => Err(Fault::bad_json(u64::from(byte))),
        }
    }

    fn open(&mut self, is_object: bool) -> Result<Option<Lexeme>, Fault> {
        if self.depth >= MAX_DEPTH {
            return Err(Fault::nesting_too_deep(u64::from(self.depth).wrapping_add(1), u64::from(MAX_DEPTH)));
        }
        self.depth = self.depth.wrapping_add(1);
        let bit = 1 << (self.depth & 7);
        if let Some(byte) = self.objects.get_mut(usize::from(self.depth >> 3)) {
            *byte = if is_object { *byte | bit } else { *byte & !bit };
        }
        self.state = if is_object { State::KeyOrEnd } else { State::ValueOrEnd };
        Ok(Some(if is_object { Lexeme::ObjectStart } else { Lexeme::ArrayStart }))
    }

    fn close(&mut self) -> Option<Lexeme> {
        let is_object = self.is_in_object();
        self.depth = self.depth.saturating_sub(1);
        self.state = self.after_value();
        Some(if is_object { Lexeme::ObjectEnd } else { Lexeme::ArrayEnd })
    }

    /// Whether the innermost of what is open is an object.
    fn is_in_object(&self) -> bool {
        self.objects.get(usize::from(self.depth >> 3)).is_some_and(|byte| byte & 1 << (self.depth & 7) != 0)
    }

    const fn after_value(&self) -> State {
        if self.depth == 0 { State::Done } else { State::CommaOrEnd }
    }

    fn string(&mut self, is_key: bool) -> Option<Lexeme> {
        (self.is_key, self.utf8) = (is_key, Utf8::new());
        self.state = State::Text;
        Some(Lexeme::StringStart)
    }

    /// How many bytes at the front of `input` stand for themselves; an error when the first one may not stand in a string.
    fn plain_run(&mut self, input: &[u8]) -> Result<usize, Fault> {
        // Nearly all is ASCII, and needs no state.
        let is_ascii = |byte: &u8| matches!(byte, 0x20..=0x7f) && !matches!(byte, b'"' | b'\\');
        let mut run = 0_usize;
        if self.utf8.is_whole() {
            run = input.iter().position(|byte| !is_ascii(byte)).unwrap_or(input.len());
        }
        for &byte in input.get(run..).unwrap_or_default() {
            if self.utf8.is_whole() && matches!(byte, b'"' | b'\\' | 0..0x20) {
                break;
            }
            let before = self.utf8;
            if !self.utf8.accept(byte) {
                // What came before it is told first.
                self.utf8 = before;
                return if run > 0 { Ok(run) } else { Err(Fault::header_not_utf8()) };
            }
            run = run.saturating_add(1);
        }
        Ok(run)
    }

    fn escaped(&mut self, char: char) -> Option<Lexeme> {
        self.state = State::Text;
        Some(Lexeme::Escaped(char))
    }

    /// The byte after a backslash.
    fn escape(&mut self, byte: u8) -> Result<Option<Lexeme>, Fault> {
        Ok(match byte {
            b'"' | b'\\' | b'/' => self.escaped(char::from(byte)),
            b'b' => self.escaped('\u{8}'),
            b'f' => self.escaped('\u{c}'),
            b'n' => self.escaped('\n'),
            b'r' => self.escaped('\r'),
            b't' => self.escaped('\t'),
            b'u' => self.unit(),
            _ => return Err(Fault::bad_escape()),
        })
    }

    /// Four hexadecimal digits follow.
    const fn unit(&mut self) -> Option<Lexeme> {
        (self.unit, self.digits) = (0, 4);
        self.go(State::Hex)
    }

    fn hex(&mut self, byte: u8) -> Result<Option<Lexeme>, Fault> {
        let digit = char::from(byte).to_digit(16).and_then(|digit| u16::try_from(digit).ok());
        self.unit = self.unit << 4 | digit.ok_or(Fault::bad_escape())?;
        self.digits = self.digits.saturating_sub(1);
        if self.digits > 0 {
            return Ok(None);
        }
        let unit = u32::from(self.unit);
        match (self.high, self.unit) {
            (0, 0xd800..=0xdbff) => {
                self.high = self.unit;
                Ok(self.go(State::LowBackslash))
            }
            (0, _) => char::from_u32(unit).map(|char| self.escaped(char)).ok_or(Fault::bad_escape()),
            (high, 0xdc00..=0xdfff) => {
                self.high = 0;
                // Ten bits of each, above the characters that need no pair.
                let bits = (u32::from(high) & 0x3ff) << 10 | unit & 0x3ff;
                let char = char::from_u32(bits.wrapping_add(0x1_0000));
                char.map(|char| self.escaped(char)).ok_or(Fault::bad_escape())
            }
            _ => Err(Fault::bad_escape()),
        }
    }

    fn literal(&mut self, byte: u8) -> Result<Option<Lexeme>, Fault> {
        let text = LITERALS.get(usize::from(self.literal)).copied().unwrap_or_default();
        let here = usize::try_from(self.token_bytes).ok();
        if here.and_then(|here| text.get(here)) != Some(&byte) {
            return Err(Fault::bad_json(u64::from(byte)));
        }
        self.token_bytes = self.token_bytes.wrapping_add(1);
        if usize::try_from(self.token_bytes) != Ok(text.len()) {
            return Ok(None);
        }
        self.state = self.after_value();
        Ok(Some(if self.literal == 0 { Lexeme::Null } else { Lexeme::Bool }))
    }

    /// Takes a byte into the number in hand, if it can belong to it.
    fn number_goes_on(&mut self, byte: u8) -> bool {
        let state = match (self.state, byte) {
            (State::Minus, b'0') => State::Zero,
            (State::Minus | State::Integer, b'0'..=b'9') => State::Integer,
            (State::Zero | State::Integer, b'.') => State::Point,
            (State::Point | State::Fraction, b'0'..=b'9') => State::Fraction,
            (State::Zero | State::Integer | State::Fraction, b'e' | b'E') => State::ExponentStart,
            (State::ExponentStart, b'+' | b'-') => State::ExponentSign,
            (State::ExponentStart | State::ExponentSign | State::Exponent, b'0'..=b'9') => State::Exponent,
            _ => return false,
        };
        self.token_bytes = self.token_bytes.saturating_add(1);
        if state == State::Integer && !self.is_odd {
            let tenfold = self.number.checked_mul(10);
            match tenfold.and_then(|tenfold| tenfold.checked_add(u64::from(byte & 15))) {
                Some(number) => self.number = number,
                None => self.is_odd = true,
            }
        }
        self.is_odd |= state >= State::Fraction;
        self.state = state;
        true
    }

    /// The number in hand ends before this byte.
    fn end_number(&mut self, byte: u8) -> Result<Lexeme, Fault> {
        if self.state > State::Exponent {
            return Err(Fault::bad_json(u64::from(byte)));
        }
        self.state = self.after_value();
        Ok(Lexeme::Number(if self.is_odd { None } else { Some(self.number) }))
    }

    /// The fields of a checkpoint.
    pub(super) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.u64(&mut self.number)?;
        fields.u64(&mut self.token_bytes)?;
        let mut state = self.state as u8;
        fields.u8(&mut state)?;
        self.state = STATES.get(usize::from(state)).copied().ok_or(CheckpointError::OutOfRange)?;
        fields.u8(&mut self.depth)?;
        within(self.depth <= MAX_DEPTH)?;
        fields.bytes(&mut self.objects)?;
        fields.bool(&mut self.is_key)?;
        fields.bool(&mut self.is_odd)?;
        self.utf8.fields(fields)?;
        fields.u8(&mut self.digits)?;
        within(self.digits <= 4)?;
        let [mut unit, mut high] = [self.unit, self.high].map(u32::from);
        fields.u32(&mut unit)?;
        fields.u32(&mut high)?;
        self.unit = u16::try_from(unit).map_err(|_| CheckpointError::OutOfRange)?;
        self.high = u16::try_from(high).map_err(|_| CheckpointError::OutOfRange)?;
        within(self.high == 0 || matches!(self.high, 0xd800..=0xdbff))?;
        fields.u8(&mut self.literal)?;
        within(usize::from(self.literal) < LITERALS.len())
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
