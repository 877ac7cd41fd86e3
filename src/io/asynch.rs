//! The same for `async` code: [`Events`], [`ReadAt`] and [`read_rows`] over `embedded_io_async`, for any executor.
//!
//! # Cancelling
//!
//! A future of this module may be dropped at any moment, for a timeout or in a `select`, and the call made again: no event is
//! lost, none is told twice. What it keeps changes only after the source has answered. Two promises of the source are
//! needed, each where it is used:
//!
//! - Over [`ReadAt`]: none. Every read names its offset, and a [`Seekable`] whose call was cancelled seeks again.
//! - Over a plain reader, as [`Events::new`] takes it: a read that is dropped must not have taken bytes. This is what
//!   `embedded_io_async` calls side-effect-free on cancel; whether a reader is, its documentation says.

use core::ops::Range;

use embedded_io_async::{Read, Seek, SeekFrom};

use super::blocking::Sealed;
use super::pump::{Next, Pump};
use super::read_at::copy_from;
use super::rows::Reading;
use super::{Forward, Jumping, Part, ReadError, RowsError, Seekable};
use crate::carry::as_u64;
use crate::decode::Decode;
use crate::directory::TensorSlot;
use crate::event::Event;

/// A source that is read at any offset: the `async` [`io::ReadAt`](crate::io::ReadAt).
///
/// A future of it may be dropped at any moment: what the next call gives must not depend on that. Futures need not be
/// `Send`, as those of `embedded_io_async`.
#[allow(async_fn_in_trait, reason = "on a microcontroller a future stays where it is")]
pub trait ReadAt {
    /// What can go wrong.
    type Error;

    /// Reads bytes that start at `offset` (in bytes, from the start of the source) into `buffer`, and returns how
    /// many: fewer than fit are fine, 0 means that the source ends there or before, or that `buffer` is empty.
    ///
    /// # Errors
    ///
    /// Those of the source. The same call may be made again.
    async fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Self::Error>;

    /// Size of the source in bytes.
    ///
    /// # Errors
    ///
    /// Those of the source. The same call may be made again.
    async fn size(&mut self) -> Result<u64, Self::Error>;
}

impl<T: ReadAt + ?Sized> ReadAt for &mut T {
    type Error = T::Error;

    async fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        T::read_at(self, offset, buffer).await
    }

    async fn size(&mut self) -> Result<u64, Self::Error> {
        T::size(self).await
    }
}

impl ReadAt for &[u8] {
    type Error = core::convert::Infallible;

    async fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        Ok(copy_from(self, offset, buffer))
    }

    async fn size(&mut self) -> Result<u64, Self::Error> {
        Ok(as_u64(self.len()))
    }
}

impl<S: ReadAt> ReadAt for Part<S> {
    type Error = S::Error;

    async fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, S::Error> {
        let Some((offset, room)) = self.place(offset, buffer) else { return Ok(0) };
        let count = self.source.read_at(offset, room).await?;
        Ok(Self::claim(count, room.len()))
    }

    async fn size(&mut self) -> Result<u64, S::Error> {
        let bytes = self.source.size().await?;
        Ok(self.size_in(bytes))
    }
}

impl<R: Read + Seek> ReadAt for Seekable<R> {
    type Error = R::Error;

    async fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, R::Error> {
        if self.position != Some(offset) {
            // Not every reader may be sent past its end.
            if offset >= ReadAt::size(self).await? {
                return Ok(0);
            }
            self.position = None;
            if self.reader.seek(SeekFrom::Start(offset)).await? != offset {
                return Ok(0);
            }
        }
        // Not trusted again until the read has returned: it may be cancelled.
        self.position = None;
        let count = self.reader.read(buffer).await?;
        Ok(self.moved(offset, count, buffer.len()))
    }

    async fn size(&mut self) -> Result<u64, R::Error> {
        if let Some(size) = self.size {
            return Ok(size);
        }
        self.position = None;
        let size = self.reader.seek(SeekFrom::End(0)).await?;
        (self.position, self.size) = (Some(size), Some(size));
        Ok(size)
    }
}

/// Reads a file from its start, and tells what its decoder says: the `async` [`io::Events`](crate::io::Events).
///
/// ```
/// # async fn sum<R>(card: R) -> Result<f32, Box<dyn std::error::Error>>
/// # where
/// #     R: embedded_io_async::Read + embedded_io_async::Seek,
/// #     R::Error: 'static,
/// # {
/// use weightstream::io::asynch::Events;
/// use weightstream::{Decoder, Event, TensorSlot};
///
/// let mut buffer = [0; 512];
/// let mut events = Events::seeking(Decoder::new([TensorSlot::EMPTY; 1]), card, &mut buffer);
/// let (mut values, mut sum) = ([0.0; 256], 0.0);
/// while let Some(event) = events.next().await? {
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
/// # Ok(sum)
/// # }
/// ```
#[derive(Debug)]
pub struct Events<'b, C, S> {
    pump: Pump<'b, C>,
    source: S,
}

/// How [`Events`] takes bytes from its source: [`Jumping`], or [`Forward`] for streams. Sealed: a source of your own is a
/// [`ReadAt`].
#[allow(async_fn_in_trait, reason = "nobody else implements it")]
pub trait Source: Sealed {
    /// What can go wrong.
    type Error;

    /// Reads bytes at `position` of the model. In a stream these are the next ones.
    ///
    /// # Errors
    ///
    /// Those of the source. Never panics, unless the source does.
    async fn read(&mut self, position: u64, buffer: &mut [u8]) -> Result<usize, Self::Error>;

    /// How many of the `skippable` bytes at `position` are jumped over instead of being read.
    ///
    /// # Errors
    ///
    /// Those of the source. Never panics, unless the source does.
    async fn jump(&mut self, position: u64, skippable: u64) -> Result<u64, Self::Error>;
}

impl<R: Read> Source for Forward<R> {
    type Error = R::Error;

    async fn read(&mut self, _position: u64, buffer: &mut [u8]) -> Result<usize, R::Error> {
        self.0.read(buffer).await
    }

    async fn jump(&mut self, _position: u64, _skippable: u64) -> Result<u64, R::Error> {
        Ok(0)
    }
}

impl<S: ReadAt> Source for Jumping<S> {
    type Error = S::Error;

    async fn read(&mut self, position: u64, buffer: &mut [u8]) -> Result<usize, S::Error> {
        self.source.read_at(position, buffer).await
    }

    async fn jump(&mut self, position: u64, skippable: u64) -> Result<u64, S::Error> {
        if skippable == 0 {
            return Ok(0);
        }
        let size = match self.size {
            Some(size) => size,
            None => self.source.size().await?,
        };
        Ok(self.jump_within(size, position, skippable))
    }
}

impl<'b, C: Decode, R: Read> Events<'b, C, Forward<R>> {
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
    /// Reads a source that can be read at any offset, and jumps over what nobody asks for, as
    /// [`io::Events::over`](crate::io::Events::over) does. Never panics.
    pub const fn over(decoder: C, source: S, buffer: &'b mut [u8]) -> Self {
        Self { pump: Pump::new(decoder, buffer), source: Jumping::new(source) }
    }

    /// The decoder and the source. Never panics.
    pub fn into_parts(self) -> (C, S) {
        (self.pump.into_decoder(), self.source.source)
    }
}

impl<'b, C: Decode, R: Read + Seek> Events<'b, C, Jumping<Seekable<R>>> {
    /// Reads a file that can be sought, like [`over`](Self::over). The model starts at its offset 0. Never panics.
    pub const fn seeking(decoder: C, reader: R, buffer: &'b mut [u8]) -> Self {
        Self::over(decoder, Seekable::new(reader), buffer)
    }
}

impl<'b, C: Decode, R: Read + Seek> Events<'b, C, Jumping<Part<Seekable<R>>>> {
    /// The same for a model that starts at offset `base` of the file, in bytes: in a package, in a partition. The
    /// decoder's offsets count from there. Never panics.
    pub const fn seeking_at(decoder: C, reader: R, buffer: &'b mut [u8], base: u64) -> Self {
        Self::over(decoder, Part::new(Seekable::new(reader), base), buffer)
    }
}

impl<C: Decode, S: Source> Events<'_, C, S> {
    /// The next event; `None` after the last one. It may be cancelled: see [above](self).
    ///
    /// # Errors
    ///
    /// Those of [`io::Events::next`](crate::io::Events::next). Never panics.
    pub async fn next(&mut self) -> Result<Option<Event<'_>>, ReadError<S::Error>> {
        if let Some(text) = self.pump.whole_text() {
            return Ok(Some(self.pump.lend_text(text)));
        }
        let said = loop {
            match self.pump.step()? {
                Next::Tell(said) => break said,
                Next::Fill => self.fill().await?,
                Next::Stop => return Ok(None),
            }
        };
        self.pump.lend(said).map(Some)
    }

    /// Jumps, or reads.
    async fn fill(&mut self) -> Result<(), ReadError<S::Error>> {
        let position = self.pump.position();
        let jump = self.source.jump(position, self.pump.skippable()).await.map_err(ReadError::Source)?;
        if self.pump.jump(jump) {
            return Ok(());
        }
        let count = self.source.read(position, self.pump.room()?).await.map_err(ReadError::Source)?;
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

    /// Bytes that have been read and that the decoder has not consumed: see
    /// [`io::Events::unread`](crate::io::Events::unread). Never panics.
    pub fn unread(&self) -> &[u8] {
        self.pump.unread()
    }
}

/// Reads and dequantizes rows of a tensor: the `async` [`io::read_rows`](crate::io::read_rows). A cancelled call has kept
/// nothing, and may be made again.
///
/// # Errors
///
/// See [`RowsError`]. Never panics.
pub async fn read_rows<S: ReadAt + ?Sized>(
    source: &mut S,
    slot: &TensorSlot,
    rows: Range<u64>,
    scratch: &mut [u8],
    out: &mut [f32],
) -> Result<usize, RowsError<S::Error>> {
    let mut reading = Reading::new(slot, rows, scratch.len(), out.len())?;
    while let Some((offset, room)) = reading.room(scratch) {
        let count = source.read_at(offset, room).await.map_err(RowsError::Source)?;
        reading.filled(count, scratch, out)?;
    }
    Ok(reading.written)
}
