//! Bytes at an offset: what rows are read from, and what a reader that jumps is built on.

use core::convert::Infallible;

use crate::carry::as_u64;

/// A source that is read at any offset: a file, a flash chip, a slice.
///
/// The `async` one is `asynch::ReadAt`.
pub trait ReadAt {
    /// What can go wrong.
    type Error;

    /// Reads bytes that start at `offset` (in bytes, from the start of the source) into `buffer`, and returns how
    /// many: fewer than fit are fine, 0 means that the source ends there or before, or that `buffer` is empty.
    ///
    /// # Errors
    ///
    /// Those of the source. The same call may be made again.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Self::Error>;

    /// Size of the source in bytes.
    ///
    /// # Errors
    ///
    /// Those of the source. The same call may be made again.
    fn size(&mut self) -> Result<u64, Self::Error>;
}

impl<T: ReadAt + ?Sized> ReadAt for &mut T {
    type Error = T::Error;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        T::read_at(self, offset, buffer)
    }

    fn size(&mut self) -> Result<u64, Self::Error> {
        T::size(self)
    }
}

impl ReadAt for [u8] {
    type Error = Infallible;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Infallible> {
        Ok(copy_from(self, offset, buffer))
    }

    fn size(&mut self) -> Result<u64, Infallible> {
        Ok(as_u64(self.len()))
    }
}

impl ReadAt for &[u8] {
    type Error = Infallible;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Infallible> {
        Ok(copy_from(self, offset, buffer))
    }

    fn size(&mut self) -> Result<u64, Infallible> {
        Ok(as_u64(self.len()))
    }
}

/// Copies what a slice has at `offset`, and returns how many bytes.
pub(super) fn copy_from(bytes: &[u8], offset: u64, buffer: &mut [u8]) -> usize {
    let rest = usize::try_from(offset).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
    buffer.iter_mut().zip(rest).map(|(to, from)| *to = *from).count()
}

/// The part of `buffer` that what has `size` bytes can fill from `offset` on. `None` at its end and behind it.
pub(super) fn room_within(size: u64, offset: u64, buffer: &mut [u8]) -> Option<&mut [u8]> {
    let left = size.checked_sub(offset).filter(|left| *left > 0)?;
    let fits = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
    buffer.get_mut(..fits)
}

/// A part of a larger source: a model in a partition, a package or an archive. Offsets count from the part's start.
///
/// ```
/// use weightstream::io::{Part, ReadAt};
///
/// let mut part = Part::with_len(&b"..model..."[..], 2, 5);
/// let mut buffer = [0; 8];
/// assert_eq!(part.read_at(1, &mut buffer), Ok(4));
/// assert_eq!(&buffer[..4], b"odel");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Part<S> {
    pub(super) source: S,
    base: u64,
    bytes: u64,
}

impl<S> Part<S> {
    /// All of `source` from offset `base` on, in bytes. Behind a safetensors model nothing may follow: where something does, use
    /// [`with_len`](Self::with_len). Never panics.
    #[must_use]
    pub const fn new(source: S, base: u64) -> Self {
        Self::with_len(source, base, u64::MAX)
    }

    /// The same, but no more than `bytes` bytes. Never panics.
    #[must_use]
    pub const fn with_len(source: S, base: u64, bytes: u64) -> Self {
        Self { source, base, bytes }
    }

    /// The source. Never panics.
    pub fn into_inner(self) -> S {
        self.source
    }

    /// Where `offset` lies in the source, and how much of `buffer` the part can fill from there. `None` where it has
    /// ended.
    pub(super) fn place<'b>(&self, offset: u64, buffer: &'b mut [u8]) -> Option<(u64, &'b mut [u8])> {
        let room = room_within(self.bytes, offset, buffer)?;
        Some((self.base.checked_add(offset)?, room))
    }

    /// What `count` bytes of `fits` are to a caller whose buffer may be larger: a claim to have read too many must
    /// stay one.
    pub(super) const fn claim(count: usize, fits: usize) -> usize {
        if count > fits { usize::MAX } else { count }
    }

    /// Size of the part, from that of the source.
    pub(super) fn size_in(&self, source_bytes: u64) -> u64 {
        source_bytes.saturating_sub(self.base).min(self.bytes)
    }
}

impl<S: ReadAt> ReadAt for Part<S> {
    type Error = S::Error;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, S::Error> {
        let Some((offset, room)) = self.place(offset, buffer) else { return Ok(0) };
        let count = self.source.read_at(offset, room)?;
        Ok(Self::claim(count, room.len()))
    }

    fn size(&mut self) -> Result<u64, S::Error> {
        let bytes = self.source.size()?;
        Ok(self.size_in(bytes))
    }
}
