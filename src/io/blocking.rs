//! A reader that blocks until its source has bytes.

#[cfg(feature = "embedded-io")]
use super::{Part, Seekable};
use super::{ReadAt, ReadError};
use crate::decode::Decode;
use crate::event::Event;
use crate::io::pump::{Next, Pump, Said};

/// Reads a file from its start, and tells what its decoder says.
///
/// `C` is the decoder, `S` the way its source is read: see the functions that make one. The buffer is memory for bytes on
/// their way to the decoder; 512 bytes and more do well, 1 is enough. No event is copied: it is lent from the buffer or from
/// the decoder, until the next call.
///
/// It stops behind the last wanted byte and reads nothing that follows [`Event::End`], but for what came into the buffer before
/// the end was known: see [`unread`](Self::unread). A safetensors file must end with its data: there it asks for one byte more
/// after [`Event::End`], and a byte that comes is an error. On a stream that stays open stop at `End`, and of a larger thing give
/// the model's length: [`Part::with_len`](super::Part::with_len).
///
/// A decoder that has begun, such as one from [`Decoder::restore`](crate::Decoder::restore), goes on at its
/// [`position`](crate::Decoder::position): the next bytes of a stream must be those.
///
/// ```
/// use weightstream::io::{Events, StdFile};
/// use weightstream::{Decoder, Event, TensorSlot};
///
/// let file = StdFile::new(std::fs::File::open("examples/data/sample.gguf")?);
/// let mut buffer = [0; 512];
/// let mut events = Events::over(Decoder::new([TensorSlot::EMPTY; 1]), file, &mut buffer);
/// let (mut values, mut sum) = ([0.0; 256], 0.0);
/// while let Some(event) = events.next()? {
///     match event {
///         Event::Key { .. } => events.skip_value(),
///         Event::Tensor { name, .. } if name != "output_norm.weight" => events.skip_tensor(),
///         Event::Data(mut blocks) => {
///             while !blocks.is_empty() {
///                 let written = blocks.dequantize(&mut values)?;
///                 sum += values[..written].iter().sum::<f32>();
///             }
///         }
///         _ => {}
///     }
/// }
/// assert!(sum > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Events<'b, C, S> {
    pump: Pump<'b, C>,
    source: S,
}

/// How [`Events`] takes bytes from its source: [`Jumping`], and `Forward` for streams. Sealed: a source of your own is a
/// [`ReadAt`].
pub trait Source: Sealed {
    /// What can go wrong.
    type Error;

    /// Reads bytes at `position` of the model. In a stream these are the next ones.
    ///
    /// # Errors
    ///
    /// Those of the source. Never panics, unless the source does.
    fn read(&mut self, position: u64, buffer: &mut [u8]) -> Result<usize, Self::Error>;

    /// How many of the `skippable` bytes at `position` are jumped over instead of being read.
    ///
    /// # Errors
    ///
    /// Those of the source. Never panics, unless the source does.
    fn jump(&mut self, position: u64, skippable: u64) -> Result<u64, Self::Error>;
}

/// Nameable in this crate only.
pub trait Sealed {}
#[cfg(feature = "embedded-io")]
impl<R> Sealed for Forward<R> {}
impl<S> Sealed for Jumping<S> {}

/// A source that is read from its start to its end: see [`Events::new`].
#[cfg(feature = "embedded-io")]
#[derive(Debug)]
pub struct Forward<R>(pub(super) R);

/// A source that is read at any offset, and whose unwanted bytes are jumped over: see [`Events::over`].
#[derive(Debug)]
pub struct Jumping<S> {
    pub(super) source: S,
    /// Learnt once, before the first jump.
    pub(super) size: Option<u64>,
}

impl<S> Jumping<S> {
    pub(super) const fn new(source: S) -> Self {
        Self { source, size: None }
    }

    /// How far to jump in a source of `size` bytes: never past its end, so that a short file is seen as one.
    pub(super) fn jump_within(&mut self, size: u64, position: u64, skippable: u64) -> u64 {
        self.size = Some(size);
        skippable.min(size.saturating_sub(position))
    }
}

#[cfg(feature = "embedded-io")]
impl<R: embedded_io::Read> Source for Forward<R> {
    type Error = R::Error;

    fn read(&mut self, _position: u64, buffer: &mut [u8]) -> Result<usize, R::Error> {
        self.0.read(buffer)
    }

    fn jump(&mut self, _position: u64, _skippable: u64) -> Result<u64, R::Error> {
        Ok(0)
    }
}

impl<S: ReadAt> Source for Jumping<S> {
    type Error = S::Error;

    fn read(&mut self, position: u64, buffer: &mut [u8]) -> Result<usize, S::Error> {
        self.source.read_at(position, buffer)
    }

    fn jump(&mut self, position: u64, skippable: u64) -> Result<u64, S::Error> {
        if skippable == 0 {
            return Ok(0);
        }
        let size = match self.size {
            Some(size) => size,
            None => self.source.size()?,
        };
        Ok(self.jump_within(size, position, skippable))
    }
}

#[cfg(feature = "embedded-io")]
impl<'b, C: Decode, R: embedded_io::Read> Events<'b, C, Forward<R>> {
    /// Reads a stream, such as a socket or a serial line. Lend it as `&mut reader` to go on with it afterwards. Never
    /// panics.
    pub const fn new(decoder: C, reader: R, buffer: &'b mut [u8]) -> Self {
        Self { pump: Pump::new(decoder, buffer), source: Forward(reader) }
    }

    /// The decoder and the reader. Never panics.
    pub fn into_parts(self) -> (C, R) {
        (self.pump.into_decoder(), self.source.0)
    }
}

impl<'b, C: Decode, S: ReadAt> Events<'b, C, Jumping<S>> {
    /// Reads a source that can be read at any offset, and jumps over what nobody asks for: reading one tensor of a large
    /// file touches its header and that tensor. Never panics.
    ///
    /// The size of the source is asked for once, before the first jump, and no jump goes past it. Where you know it, give it to
    /// the decoder too, with [`Options::input_bytes`](crate::Options::input_bytes): then a short file is told at its header.
    pub const fn over(decoder: C, source: S, buffer: &'b mut [u8]) -> Self {
        Self { pump: Pump::new(decoder, buffer), source: Jumping::new(source) }
    }

    /// The decoder and the source. Never panics.
    pub fn into_parts(self) -> (C, S) {
        (self.pump.into_decoder(), self.source.source)
    }
}

#[cfg(feature = "embedded-io")]
impl<'b, C: Decode, R: embedded_io::Read + embedded_io::Seek> Events<'b, C, Jumping<Seekable<R>>> {
    /// Reads a file that can be sought, like [`over`](Self::over). The model starts at its offset 0. Never panics.
    pub const fn seeking(decoder: C, reader: R, buffer: &'b mut [u8]) -> Self {
        Self::over(decoder, Seekable::new(reader), buffer)
    }
}

#[cfg(feature = "embedded-io")]
impl<'b, C: Decode, R: embedded_io::Read + embedded_io::Seek> Events<'b, C, Jumping<Part<Seekable<R>>>> {
    /// The same for a model that starts at offset `base` of the file, in bytes: in a package, in a partition. The
    /// decoder's offsets count from there. Never panics.
    pub const fn seeking_at(decoder: C, reader: R, buffer: &'b mut [u8], base: u64) -> Self {
        Self::over(decoder, Part::new(Seekable::new(reader), base), buffer)
    }
}

impl<C: Decode, S: Source> Events<'_, C, S> {
    /// The next event; `None` after the last one.
    ///
    /// # Errors
    ///
    /// [`ReadError::Source`] when the source fails: nothing is lost and nothing is told twice when it is called again.
    /// [`ReadError::Decode`] when the file is bad, or when the source ends before the file does; the others when the buffer
    /// or the source are not usable. Never panics.
    #[allow(clippy::should_implement_trait, reason = "what it returns is lent, which no iterator can do")]
    #[cfg_attr(target_pointer_width = "64", inline)] // As `decode` is.
    pub fn next(&mut self) -> Result<Option<Event<'_>>, ReadError<S::Error>> {
        if let Some(text) = self.pump.whole_text() {
            return Ok(Some(self.pump.lend_text(text)));
        }
        match self.step()? {
            Some(said) => self.pump.lend(said).map(Some),
            None => Ok(None),
        }
    }

    /// What the decoder says next.
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    fn step(&mut self) -> Result<Option<Said>, ReadError<S::Error>> {
        loop {
            match self.pump.step()? {
                Next::Tell(said) => return Ok(Some(said)),
                Next::Fill => self.fill()?,
                Next::Stop => return Ok(None),
            }
        }
    }

    /// Jumps, or reads.
    fn fill(&mut self) -> Result<(), ReadError<S::Error>> {
        let position = self.pump.position();
        let jump = self.source.jump(position, self.pump.skippable()).map_err(ReadError::Source)?;
        if self.pump.jump(jump) {
            return Ok(());
        }
        let count = self.source.read(position, self.pump.room()?).map_err(ReadError::Source)?;
        self.pump.filled(count)
    }

    /// See [`Decoder::skip_value`](crate::Decoder::skip_value). Never panics.
    pub fn skip_value(&mut self) {
        self.pump.skip_value();
    }

    /// See [`Decoder::skip_tensor`](crate::Decoder::skip_tensor). Never panics.
    pub fn skip_tensor(&mut self) {
        self.pump.skip_tensor();
    }

    /// The decoder: its context, its position, its directory. Never panics.
    pub const fn decoder(&self) -> &C {
        self.pump.decoder()
    }

    /// Bytes that have been read and that the decoder has not consumed. After [`Event::End`] they follow the file: of a
    /// stream, what comes before that which the reader gives next. Never panics.
    pub fn unread(&self) -> &[u8] {
        self.pump.unread()
    }
}
