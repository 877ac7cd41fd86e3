//! What a shell that brings the bytes may ask of a decoder, of whichever format.

use crate::directory::Directory;
use crate::error::{AdvanceError, Error};
use crate::event::{Context, Event};
use crate::token::Token;

/// A decoder, of whichever format: what the readers of [`io`](crate::io) drive. Sealed.
pub trait Decode: Steps {
    /// See [`Decoder::finish`](crate::Decoder::finish).
    ///
    /// # Errors
    ///
    /// When the input may not end here. Never panics.
    fn finish(&self) -> Result<(), Error>;
    /// See [`Decoder::skip_value`](crate::Decoder::skip_value). Never panics.
    fn skip_value(&mut self);
    /// See [`Decoder::skip_tensor`](crate::Decoder::skip_tensor). Never panics.
    fn skip_tensor(&mut self);
    /// See [`Decoder::position`](crate::Decoder::position). Never panics.
    fn position(&self) -> u64;
    /// See [`Decoder::needed`](crate::Decoder::needed). Never panics.
    fn needed(&self) -> u64;
    /// See [`Decoder::skippable`](crate::Decoder::skippable). Never panics.
    fn skippable(&self) -> u64;
    /// See [`Decoder::advance`](crate::Decoder::advance).
    ///
    /// # Errors
    ///
    /// When `n` is more than [`skippable`](Self::skippable). Never panics.
    fn advance(&mut self, n: u64) -> Result<(), AdvanceError>;
    /// How many of the next `room` bytes a reader should bring at once: in the data no more than up to the end of the
    /// recorded tensor in hand or of the next one, after the last one up to the end of the data, and behind the data one; else
    /// all of them.
    /// Never panics.
    fn wanted(&self, room: u64) -> u64;
    /// See [`Decoder::end`](crate::Decoder::end). Never panics.
    fn end(&self) -> Option<u64>;
    /// See [`Decoder::directory`](crate::Decoder::directory). Never panics.
    fn directory(&self) -> Directory<'_>;
    /// See [`Decoder::context`](crate::Decoder::context). Never panics.
    fn context(&self) -> Context<'_>;
}

/// [`decode`](crate::Decoder::decode) in two calls, since an event that borrows the decoder cannot be returned out of a
/// loop. Nameable in this crate only, which is what seals [`Decode`].
pub trait Steps {
    /// Consumes bytes until there is something to say.
    fn step(&mut self, input: &mut &[u8]) -> Result<Option<Token>, Error>;
    /// The next event's text, if that is a whole string in the input. A short way to what a step would say: `None` does not
    /// mean that there is none.
    fn whole_text<'i>(&mut self, input: &mut &'i [u8]) -> Option<&'i [u8]>;
    /// The event of what the last step said. `consumed` ends with what that step took of its input.
    fn lend<'a>(&'a self, token: Token, consumed: &'a [u8]) -> Result<Event<'a>, Error>;
    /// Whether the input must end with the data, so that a byte behind them is an error.
    fn must_end(&self) -> bool;
}
