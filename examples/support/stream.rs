//! A pipe, or anything else that is only read forwards.

use std::io::{self, Cursor, ErrorKind, Read};
use std::mem;

use weightstream::io::ReadAt;

/// Passed over at a time.
const PASSED_BYTES: usize = 64 * 1024;

/// A stream that knows where it stands. A read that a signal interrupted is made again.
pub(crate) struct Stream {
    reader: Box<dyn Read>,
    /// Offset of the next byte.
    position: u64,
}

impl Stream {
    pub(crate) fn new(reader: impl Read + 'static) -> Self {
        Self { reader: Box::new(reader), position: 0 }
    }

    /// These bytes, the last that were read, come once more.
    pub(crate) fn put_back(&mut self, bytes: Vec<u8>) {
        self.position = self.position.saturating_sub(bytes.len() as u64);
        let reader = mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(bytes).chain(reader));
    }

    /// Reads what is left, and returns how many bytes there were in all.
    pub(crate) fn read_to_end(&mut self) -> io::Result<u64> {
        let mut passed = vec![0; PASSED_BYTES];
        while self.read_some(&mut passed)? > 0 {}
        Ok(self.position)
    }

    fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = loop {
            match self.reader.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.position += count as u64;
        Ok(count)
    }
}

impl embedded_io::ErrorType for Stream {
    type Error = io::Error;
}

impl embedded_io::Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_some(buffer)
    }
}

/// Offsets that only grow are read at: what lies between them is passed over.
impl ReadAt for Stream {
    type Error = io::Error;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if offset < self.position {
            return Err(io::Error::other("a stream cannot be read backwards"));
        }
        let mut passed = Vec::new();
        while self.position < offset {
            passed.resize(PASSED_BYTES, 0);
            let count = (offset - self.position).min(PASSED_BYTES as u64) as usize;
            if self.read_some(&mut passed[..count])? == 0 {
                return Ok(0);
            }
        }
        self.read_some(buffer)
    }

    /// As far as anybody knows.
    fn size(&mut self) -> io::Result<u64> {
        Ok(self.position)
    }
}
