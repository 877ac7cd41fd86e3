//! A decoder and its buffer: all of a reader but the reading, so that blocking and async readers share it.
//!
//! Nothing here changes while a source is being read, which is what makes an async reader safe to cancel.

use core::ops::Range;

use super::ReadError;
use crate::carry::as_u64;
use crate::decode::Decode;
use crate::event::Event;
use crate::token::Token;

/// What a reader does next.
pub(super) enum Next {
    /// Tell what the decoder said.
    Tell(Said),
    /// Bring more bytes: jump, or read.
    Fill,
    /// Nothing: the stream has ended.
    Stop,
}

/// What the decoder said, before its slices are lent.
pub(super) struct Said {
    token: Token,
    /// The part of the buffer that was consumed for it.
    consumed: Range<usize>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Running,
    /// The decoder told the end, or the source has ended.
    Ended,
    /// The source claimed to have read more than it could.
    Overrun,
}

#[derive(Debug)]
pub(super) struct Pump<'b, C> {
    decoder: C,
    buffer: &'b mut [u8],
    /// The part of the buffer that the decoder has not consumed.
    unread: Range<usize>,
    state: State,
}

impl<'b, C: Decode> Pump<'b, C> {
    pub(super) const fn new(decoder: C, buffer: &'b mut [u8]) -> Self {
        Self { decoder, buffer, unread: 0..0, state: State::Running }
    }

    pub(super) const fn decoder(&self) -> &C {
        &self.decoder
    }

    pub(super) fn into_decoder(self) -> C {
        self.decoder
    }

    /// Bytes that have been read, and that the decoder has not consumed.
    pub(super) fn unread(&self) -> &[u8] {
        self.buffer.get(self.unread.clone()).unwrap_or_default()
    }

    pub(super) fn skip_value(&mut self) {
        self.decoder.skip_value();
    }

    pub(super) fn skip_tensor(&mut self) {
        self.decoder.skip_tensor();
    }

    /// Lets the decoder consume what is in the buffer, until it has something to say.
    // Otherwise what it returns is copied through memory for each event.
    #[inline(always)]
    pub(super) fn step<E>(&mut self) -> Result<Next, ReadError<E>> {
        match self.state {
            State::Running => {}
            State::Ended => {
                self.decoder.finish()?;
                return Ok(Next::Stop);
            }
            State::Overrun => return Err(ReadError::SourceOverrun),
        }
        let Range { start, end } = self.unread;
        let mut input = self.buffer.get(start..end).unwrap_or_default();
        let told = self.decoder.step(&mut input);
        self.unread.start = end.saturating_sub(input.len());
        let Some(token) = told? else { return Ok(self.starve()) };
        if matches!(token, Token::End) && !self.decoder.must_end() {
            self.state = State::Ended;
        }
        Ok(Next::Tell(Said { token, consumed: start..self.unread.start }))
    }

    /// The part of the buffer that is the next event's text, if that is a whole string: a short way to what [`step`](Self::step)
    /// and [`lend`](Self::lend) would give. `None` does not mean that there is none.
    #[inline]
    pub(super) fn whole_text(&mut self) -> Option<Range<usize>> {
        let mut input = self.buffer.get(self.unread.clone())?;
        let text = self.decoder.whole_text(&mut input)?.len();
        self.unread.start = self.unread.end.saturating_sub(input.len());
        Some(self.unread.start.saturating_sub(text)..self.unread.start)
    }

    /// The event of what [`whole_text`](Self::whole_text) gave.
    #[inline]
    pub(super) fn lend_text(&self, text: Range<usize>) -> Event<'_> {
        Event::whole_text(self.buffer.get(text).unwrap_or_default())
    }

    /// The decoder has nothing to say: it needs more bytes, unless it told its end before it came here. Then none are to be
    /// read: it would never consume them.
    fn starve(&mut self) -> Next {
        let is_at_end = self.decoder.end().is_some_and(|end| self.decoder.position() >= end);
        if is_at_end && !self.decoder.must_end() {
            self.state = State::Ended;
            return Next::Stop;
        }
        Next::Fill
    }

    /// The event of what [`step`](Self::step) gave.
    pub(super) fn lend<E>(&self, said: Said) -> Result<Event<'_>, ReadError<E>> {
        let consumed = self.buffer.get(said.consumed).unwrap_or_default();
        Ok(self.decoder.lend(said.token, consumed)?)
    }

    /// Where the next bytes come from, counted from the start of the model.
    pub(super) fn position(&self) -> u64 {
        self.decoder.position()
    }

    /// Bytes that may be jumped over: asked when the decoder has consumed the buffer, so that the source is at its
    /// position.
    pub(super) fn skippable(&self) -> u64 {
        self.decoder.skippable()
    }

    /// The source jumps over `bytes`. False where it does not, and must read.
    pub(super) fn jump(&mut self, bytes: u64) -> bool {
        bytes > 0 && self.decoder.advance(bytes).is_ok()
    }

    /// Where the next bytes go: the buffer, as far as there is something in reach that somebody wants.
    pub(super) fn room<E>(&mut self) -> Result<&mut [u8], ReadError<E>> {
        let bytes = self.room_bytes();
        match self.buffer.get_mut(..bytes) {
            Some(room) if !room.is_empty() => Ok(room),
            _ => Err(ReadError::EmptyBuffer),
        }
    }

    fn room_bytes(&self) -> usize {
        let most = self.buffer.len();
        let wanted = usize::try_from(self.decoder.wanted(as_u64(most))).unwrap_or(most);
        wanted.max(1).min(most)
    }

    /// The source has read `count` bytes into the room; 0 is its end.
    pub(super) fn filled<E>(&mut self, count: usize) -> Result<(), ReadError<E>> {
        if count > self.room_bytes() {
            self.state = State::Overrun;
            return Err(ReadError::SourceOverrun);
        }
        if count == 0 {
            self.state = State::Ended;
        }
        self.unread = 0..count;
        Ok(())
    }
}
