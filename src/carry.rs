//! Where the decoder is in the input, and the few bytes of a field that a chunk edge cut.

use heapless::Vec;
use nom::{Err, IResult, Needed};

use crate::checkpoint::{CheckpointError, Fields, within};
use crate::error::Fault;

/// The largest field that is parsed in one piece, in bytes.
const FIELD_BYTES: usize = 8;

/// What a field's parser answers: its bits. Too short is nom's `Incomplete`, wrong is its `Failure`.
pub(crate) type Parsed<'a> = IResult<&'a [u8], u64, BadField>;

/// The parser of a field in a file that writes its numbers as `W` says. One type for all fields, so that what resumes
/// them is compiled once.
pub(crate) type Parser<W> = fn(W, &[u8]) -> Parsed<'_>;

/// Why a field is wrong: a parser's error, which holds no input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadField(pub(crate) Fault);

impl<I> nom::error::ParseError<I> for BadField {
    // nom's own parsers of fixed-size numbers never fail, they only lack bytes.
    fn from_error_kind(_: I, _: nom::error::ErrorKind) -> Self {
        Self(Fault::internal())
    }

    fn append(_: I, _: nom::error::ErrorKind, other: Self) -> Self {
        other
    }
}

/// The position in the input and, behind it, the beginning of a field that the last chunk cut.
#[derive(Clone, Debug)]
pub(crate) struct Carry {
    /// Bytes consumed so far: the absolute offset of the next byte of input.
    position: u64,
    bytes: Vec<u8, FIELD_BYTES, u8>,
}

impl Carry {
    pub(crate) const fn new() -> Self {
        Self { position: 0, bytes: Vec::new() }
    }

    /// Absolute offset of the next byte of input.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// Bytes of the field in hand that have come.
    pub(crate) fn len(&self) -> u64 {
        as_u64(self.bytes.len())
    }

    /// Absolute offset of the field in hand.
    pub(crate) fn field_offset(&self) -> u64 {
        self.position.saturating_sub(self.len())
    }

    /// The kept bytes. After [`Self::gather`] said so, they are a whole field.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Drops the kept bytes: they have been used, or nobody wants them any more.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Consumes `n` bytes of `input`, or all there are.
    #[cfg_attr(target_pointer_width = "32", inline(never))] // Flash is saved where it is short.
    pub(crate) fn take<'i>(&mut self, input: &mut &'i [u8], n: usize) -> &'i [u8] {
        let (taken, rest) = input.split_at_checked(n).unwrap_or((input, &[]));
        *input = rest;
        self.jump(as_u64(taken.len()));
        taken
    }

    /// Consumes at most `n` bytes of `input`; `n` may be larger than memory.
    #[inline(never)]
    pub(crate) fn take_up_to<'i>(&mut self, input: &mut &'i [u8], n: u64) -> &'i [u8] {
        self.take(input, usize::try_from(n).unwrap_or(usize::MAX))
    }

    /// The source jumped over `n` bytes.
    pub(crate) const fn jump(&mut self, n: u64) {
        self.position = self.position.saturating_add(n);
    }

    /// Parses one field, in place where the chunk holds all of it. `None` while bytes are missing; those that
    /// came are kept.
    pub(crate) fn read<W: Copy>(
        &mut self,
        input: &mut &[u8],
        wire: W,
        parser: Parser<W>,
    ) -> Result<Option<u64>, Fault> {
        if self.bytes.is_empty() {
            match parser(wire, input) {
                Ok((rest, bits)) => {
                    let used = input.len().saturating_sub(rest.len());
                    self.take(input, used);
                    return Ok(Some(bits));
                }
                Err(Err::Incomplete(_)) => {
                    self.keep(input, FIELD_BYTES);
                    return Ok(None);
                }
                Err(Err::Error(bad) | Err::Failure(bad)) => return Err(bad.0),
            }
        }
        loop {
            // What is missing is topped up exactly, so the carry never holds more than the field.
            let missing = match parser(wire, &self.bytes) {
                Ok((_, bits)) => {
                    self.clear();
                    return Ok(Some(bits));
                }
                Err(Err::Incomplete(Needed::Size(missing))) => missing.get(),
                Err(Err::Incomplete(Needed::Unknown)) => 1,
                Err(Err::Error(bad) | Err::Failure(bad)) => return Err(bad.0),
            };
            if input.is_empty() {
                return Ok(None);
            }
            self.keep(input, missing);
        }
    }

    /// The fields of a checkpoint.
    pub(crate) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        // Any number: a source of unknown size may have jumped to the end of all positions.
        fields.u64(&mut self.position)?;
        let mut len = u8::try_from(self.bytes.len()).unwrap_or(u8::MAX);
        fields.u8(&mut len)?;
        within(u64::from(len) <= self.position)?;
        let _ = self.bytes.resize(usize::from(len), 0);
        within(self.bytes.len() == usize::from(len))?;
        fields.bytes(&mut self.bytes)
    }

    /// Keeps these bytes, at most 8, instead of what was kept: to be lent from here.
    #[cfg(feature = "safetensors")]
    pub(crate) fn hold(&mut self, bytes: &[u8]) {
        self.clear();
        let _ = self.bytes.extend_from_slice(bytes);
    }

    /// Tops the kept bytes up to `size`; true when that many are there.
    pub(crate) fn gather(&mut self, input: &mut &[u8], size: u8) -> bool {
        self.keep(input, usize::from(size).saturating_sub(self.bytes.len()));
        self.bytes.len() >= usize::from(size)
    }

    /// Keeps at most `n` bytes of `input`.
    fn keep(&mut self, input: &mut &[u8], n: usize) {
        let room = FIELD_BYTES.saturating_sub(self.bytes.len());
        let taken = self.take(input, n.min(room));
        // It cannot be full: there was room.
        let _ = self.bytes.extend_from_slice(taken);
    }
}

/// A length in memory as the 64 bits that file lengths are counted in.
pub(crate) const fn as_u64(len: usize) -> u64 {
    // No target has addresses of more than 64 bits; `From` is not implemented for that reason alone.
    len as u64
}
