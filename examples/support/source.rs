//! Where the bytes come from: a file, which can be sought in, or a stream.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use crate::support::escape;
use crate::support::failure::Failure;

const BUFFER_BYTES: usize = 256 * 1024;

/// An input and the only buffer there is for it.
pub(crate) struct Source {
    name: String,
    input: Input,
    size: Option<u64>,
    buffer: Vec<u8>,
    /// Bytes in the buffer, and how many of them were handed out.
    filled: usize,
    taken: usize,
    /// Offset of the buffer's end in the input.
    position: u64,
    chunk_bytes: usize,
}

enum Input {
    File(PathBuf, File),
    Stream(Box<dyn Read>),
}

impl Source {
    /// A file, or standard input for `-`.
    pub(crate) fn open(path: &OsStr) -> Result<Self, Failure> {
        if path == "-" {
            return Ok(Self::new("standard input".into(), Input::Stream(Box::new(io::stdin().lock())), None));
        }
        let name = escape::plain(&path.to_string_lossy());
        let failed = |error: io::Error| Failure::Other(format!("{name}: {error}"));
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_file() {
            return Ok(Self::new(name, Input::File(path.into(), file), Some(metadata.len())));
        }
        Ok(Self::new(name, Input::Stream(Box::new(file)), None))
    }

    /// A file that is part of the program.
    pub(crate) fn bundled(name: &str, bytes: &'static [u8]) -> Self {
        Self::new(name.into(), Input::Stream(Box::new(bytes)), Some(bytes.len() as u64))
    }

    fn new(name: String, input: Input, size: Option<u64>) -> Self {
        let buffer = vec![0; BUFFER_BYTES];
        Self { name, input, size, buffer, filled: 0, taken: 0, position: 0, chunk_bytes: BUFFER_BYTES }
    }

    /// Hands out chunks of this size at most.
    pub(crate) fn set_chunk_bytes(&mut self, bytes: usize) {
        self.chunk_bytes = bytes;
        self.buffer.resize(bytes.max(BUFFER_BYTES), 0);
    }

    /// The file's name, ready to be printed.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of the whole input, where that is known beforehand.
    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    /// The path to open the file by once more; `None` for a stream.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        match &self.input {
            Input::File(path, _) => Some(path.clone()),
            Input::Stream(_) => None,
        }
    }

    /// The next bytes, none at the end, and the offset of the byte after them.
    pub(crate) fn next_chunk(&mut self) -> Result<(&[u8], u64), Failure> {
        if self.taken == self.filled {
            self.fill()?;
        }
        let start = self.taken;
        self.taken = self.filled.min(start + self.chunk_bytes);
        Ok((&self.buffer[start..self.taken], self.position - (self.filled - self.taken) as u64))
    }

    fn fill(&mut self) -> Result<(), Failure> {
        let reader: &mut dyn Read = match &mut self.input {
            Input::File(_, file) => file,
            Input::Stream(stream) => stream,
        };
        self.taken = 0;
        self.filled = loop {
            match reader.read(&mut self.buffer) {
                Ok(read) => break read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.filled = 0;
                    return Err(Failure::Other(format!("{}: {error}", self.name)));
                }
            }
        };
        self.position += self.filled as u64;
        Ok(())
    }

    /// Goes forward or a bit back, so that the next chunk starts at `offset`: by seeking, or else by reading on.
    pub(crate) fn go_to(&mut self, offset: u64) -> Result<(), Failure> {
        loop {
            if let Some(back) = self.position.checked_sub(offset)
                && back <= self.filled as u64
            {
                self.taken = self.filled - back as usize;
                return Ok(());
            }
            if let Input::File(_, file) = &mut self.input {
                file.seek(SeekFrom::Start(offset))
                    .map_err(|error| Failure::Other(format!("{}: {error}", self.name)))?;
                (self.position, self.filled, self.taken) = (offset, 0, 0);
                return Ok(());
            }
            self.fill()?;
            if self.filled == 0 {
                return Err(self.ends_before(offset));
            }
        }
    }

    /// Fills `out` with the next bytes.
    pub(crate) fn read_exact(&mut self, mut out: &mut [u8]) -> Result<(), Failure> {
        while !out.is_empty() {
            if self.taken == self.filled {
                self.fill()?;
            }
            let count = out.len().min(self.filled - self.taken);
            if count == 0 {
                return Err(self.ends_before(self.position + out.len() as u64));
            }
            let (part, rest) = out.split_at_mut(count);
            part.copy_from_slice(&self.buffer[self.taken..][..count]);
            self.taken += count;
            out = rest;
        }
        Ok(())
    }

    /// Bytes of the whole input: known beforehand, or counted by reading a stream to its end.
    pub(crate) fn measure(&mut self) -> Result<u64, Failure> {
        if let Some(size) = self.size {
            return Ok(size);
        }
        loop {
            self.fill()?;
            if self.filled == 0 {
                return Ok(self.position);
            }
        }
    }

    fn ends_before(&self, offset: u64) -> Failure {
        let (name, position) = (&self.name, self.position);
        Failure::Other(format!("{name}: offset {position}: the file ends here, but goes on to {offset}"))
    }
}
