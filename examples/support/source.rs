//! Where the bytes come from: a file, which is read at any offset, or a stream.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::PathBuf;

use weightstream::Options;
use weightstream::io::{Decode, ReadAt, StdFile};

use crate::support::escape;
use crate::support::failure::Failure;
use crate::support::listen::{Listener, Reading};
use crate::support::start::Start;
use crate::support::stream::Stream;

const BUFFER_BYTES: usize = 256 * 1024;

/// An input, and what is known of it.
pub(crate) struct Source {
    name: String,
    path: Option<PathBuf>,
    size: Option<u64>,
    input: Input,
    buffer_bytes: usize,
    /// Most bytes of a safetensors header; 0 is the default.
    max_header: u32,
}

enum Input {
    File(Box<dyn ReadAt<Error = io::Error>>),
    Stream(Stream),
}

impl Source {
    /// A file, or standard input for `-`.
    pub(crate) fn open(path: &OsStr) -> Result<Self, Failure> {
        if path == "-" {
            return Ok(Self::stream("standard input".into(), io::stdin().lock()));
        }
        let name = escape::plain(&path.to_string_lossy());
        let failed = |error: io::Error| Failure::Other(format!("{name}: {error}"));
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Ok(Self::stream(name, file));
        }
        // Its buffer serves those who read a few bytes at a time; larger reads pass it by.
        let file = StdFile::new(BufReader::new(file));
        Ok(Self { path: Some(path.into()), ..Self::over(name, metadata.len(), file) })
    }

    /// A file that is part of the program.
    pub(crate) fn bundled(name: &str, bytes: &'static [u8]) -> Self {
        Self::over(name.into(), bytes.len() as u64, StdFile::new(Cursor::new(bytes)))
    }

    /// Anything that is read at any offset and has `size` bytes. The name is ready to be printed.
    pub(crate) fn over(name: String, size: u64, file: impl ReadAt<Error = io::Error> + 'static) -> Self {
        let input = Input::File(Box::new(file));
        Self { name, path: None, size: Some(size), input, buffer_bytes: BUFFER_BYTES, max_header: 0 }
    }

    fn stream(name: String, reader: impl Read + 'static) -> Self {
        let input = Input::Stream(Stream::new(reader));
        Self { name, path: None, size: None, input, buffer_bytes: BUFFER_BYTES, max_header: 0 }
    }

    /// Reads chunks of this size at most.
    pub(crate) fn set_chunk_bytes(&mut self, bytes: usize) {
        self.buffer_bytes = bytes;
    }

    /// A safetensors header may have so many bytes; 0 is the default.
    pub(crate) fn set_max_header(&mut self, bytes: u32) {
        self.max_header = bytes;
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
        self.path.clone()
    }

    /// Decodes from the start, until the listener has heard enough. A file is not read where nothing is wanted.
    pub(crate) fn decode(
        &mut self,
        options: Options,
        listener: &mut impl Listener,
    ) -> Result<Box<dyn Decode>, Failure> {
        let start = self.read_start().map_err(|error| Failure::Other(format!("{}: {error}", self.name)))?;
        let options = options.header_bytes(self.max_header);
        let reading = Reading { file: &self.name, format: start.format(&self.name)?, options };
        let mut buffer = vec![0; self.buffer_bytes];
        match &mut self.input {
            Input::File(file) => reading.decode(start.before(&mut **file), &mut buffer, listener),
            Input::Stream(stream) => reading.decode_stream(stream, &mut buffer, listener),
        }
    }

    /// The first bytes. A stream gives them once more.
    fn read_start(&mut self) -> io::Result<Start> {
        match &mut self.input {
            Input::File(file) => Start::read(&mut **file),
            Input::Stream(stream) => {
                let start = Start::read(stream)?;
                stream.put_back(start.bytes().to_vec());
                Ok(start)
            }
        }
    }

    /// Bytes of the whole input: known beforehand, or counted by reading a stream to its end.
    pub(crate) fn measure(&mut self) -> Result<u64, Failure> {
        let measured = match (&mut self.input, self.size) {
            (_, Some(size)) => Ok(size),
            (Input::File(file), None) => file.size(),
            (Input::Stream(stream), None) => stream.read_to_end(),
        };
        measured.map_err(|error| Failure::Other(format!("{}: {error}", self.name)))
    }
}

impl ReadAt for Source {
    type Error = io::Error;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.input {
            Input::File(file) => file.read_at(offset, buffer),
            Input::Stream(stream) => stream.read_at(offset, buffer),
        }
    }

    fn size(&mut self) -> io::Result<u64> {
        match &mut self.input {
            Input::File(file) => file.size(),
            Input::Stream(stream) => ReadAt::size(stream),
        }
    }
}
