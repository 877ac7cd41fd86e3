//! Files that are sought and then read, as sources that are read at an offset.

use embedded_io::{Read, Seek, SeekFrom};

use super::ReadAt;
use crate::carry::as_u64;

/// An `embedded_io` reader that can seek (with the feature `embedded-io-async`, an async one too), read at any offset.
///
/// It remembers where the reader stands, so that reading on does not seek. After an error, and after a call of the async one
/// that was cancelled, it does not trust that: the next call seeks, by absolute offset. The size is asked for once.
#[derive(Debug)]
pub struct Seekable<R> {
    pub(super) reader: R,
    /// Where the reader stands; `None` where that is not known.
    pub(super) position: Option<u64>,
    /// Size of the reader's file in bytes, once it is known.
    pub(super) size: Option<u64>,
}

impl<R> Seekable<R> {
    /// Reads from `reader`, wherever it stands. Never panics.
    #[must_use]
    pub const fn new(reader: R) -> Self {
        Self { reader, position: None, size: None }
    }

    /// The reader. Never panics.
    pub fn into_inner(self) -> R {
        self.reader
    }

    /// `count` bytes of a buffer of `room` have been read at `offset`.
    pub(super) fn moved(&mut self, offset: u64, count: usize, room: usize) -> usize {
        self.position = if count > room { None } else { offset.checked_add(as_u64(count)) };
        count
    }
}

impl<R: Read + Seek> ReadAt for Seekable<R> {
    type Error = R::Error;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, R::Error> {
        if self.position != Some(offset) {
            // Not every reader may be sent past its end.
            if offset >= ReadAt::size(self)? {
                return Ok(0);
            }
            self.position = None;
            if self.reader.seek(SeekFrom::Start(offset))? != offset {
                return Ok(0);
            }
        }
        self.position = None;
        let count = self.reader.read(buffer)?;
        Ok(self.moved(offset, count, buffer.len()))
    }

    fn size(&mut self) -> Result<u64, R::Error> {
        if let Some(size) = self.size {
            return Ok(size);
        }
        self.position = None;
        let size = self.reader.seek(SeekFrom::End(0))?;
        (self.position, self.size) = (Some(size), Some(size));
        Ok(size)
    }
}
