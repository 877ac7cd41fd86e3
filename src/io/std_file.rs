//! Files of the standard library.

extern crate std;

use std::io::{ErrorKind, Read, Result, Seek, SeekFrom};

use super::ReadAt;
use crate::carry::as_u64;

/// Anything that `std::io` can read and seek, read at any offset.
///
/// It remembers where the reader stands, so that reading on does not seek; after an error it does not trust that. A call
/// that a signal interrupted is made again. The size is asked for once.
#[derive(Debug)]
pub struct StdFile<F> {
    file: F,
    /// Where the file stands; `None` where that is not known.
    position: Option<u64>,
    /// Size of the file in bytes, once it is known.
    size: Option<u64>,
}

impl<F> StdFile<F> {
    /// Reads from `file`, wherever it stands. Never panics.
    #[must_use]
    pub const fn new(file: F) -> Self {
        Self { file, position: None, size: None }
    }

    /// The file. Never panics.
    pub fn into_inner(self) -> F {
        self.file
    }
}

impl<F: Read + Seek> ReadAt for StdFile<F> {
    type Error = std::io::Error;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        if self.position != Some(offset) {
            if offset >= self.size()? {
                return Ok(0);
            }
            self.position = None;
            if retry(|| self.file.seek(SeekFrom::Start(offset)))? != offset {
                return Ok(0);
            }
        }
        self.position = None;
        let count = retry(|| self.file.read(buffer))?;
        if count <= buffer.len() {
            self.position = offset.checked_add(as_u64(count));
        }
        Ok(count)
    }

    fn size(&mut self) -> Result<u64> {
        if let Some(size) = self.size {
            return Ok(size);
        }
        self.position = None;
        let size = retry(|| self.file.seek(SeekFrom::End(0)))?;
        (self.position, self.size) = (Some(size), Some(size));
        Ok(size)
    }
}

/// Calls again while a signal interrupts.
fn retry<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
