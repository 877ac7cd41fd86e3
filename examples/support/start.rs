//! The first bytes of a file, which tell its format, and what is read of it behind them.

use weightstream::io::ReadAt;
use weightstream::{DETECT_BYTES, Format, detect};

use crate::support::failure::Failure;

/// The first bytes of a file; fewer where it is shorter.
pub(crate) struct Start {
    bytes: [u8; DETECT_BYTES],
    len: usize,
}

impl Start {
    pub(crate) fn read<S: ReadAt + ?Sized>(source: &mut S) -> Result<Self, S::Error> {
        let mut start = Self { bytes: [0; DETECT_BYTES], len: 0 };
        while start.len < DETECT_BYTES {
            match source.read_at(start.len as u64, &mut start.bytes[start.len..])? {
                0 => break,
                count => start.len += count,
            }
        }
        Ok(start)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The format of the file. Where the bytes do not tell it, its name may: then the decoder says what is wrong.
    pub(crate) fn format(&self, file: &str) -> Result<Format, Failure> {
        // Most texts with a space in that place would be safetensors, with a header that no option allows.
        let is_absurd =
            |format: &Format| *format == Format::Safetensors && self.header_end() > u32::MAX.into();
        if let Some(format) = detect(self.bytes()).filter(|format| !is_absurd(format)) {
            return Ok(format);
        }
        match file.rsplit_once('.') {
            Some((_, "gguf")) => Ok(Format::Gguf),
            Some((_, "safetensors")) => Ok(Format::Safetensors),
            _ => Err(Failure::Other(format!("{file}: offset 0: this is neither GGUF nor safetensors"))),
        }
    }

    /// Bytes up to the end of a safetensors header, as the file claims.
    pub(crate) fn header_end(&self) -> u64 {
        let length = self.bytes.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
        length.saturating_add(8)
    }

    /// The whole file once more. These bytes are not read again.
    pub(crate) fn before<S: ReadAt>(&self, source: S) -> Whole<'_, S> {
        Whole { start: self.bytes(), source }
    }
}

/// A source whose first bytes are in memory.
pub(crate) struct Whole<'a, S> {
    start: &'a [u8],
    source: S,
}

impl<S: ReadAt> ReadAt for Whole<'_, S> {
    type Error = S::Error;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, S::Error> {
        match usize::try_from(offset).ok().and_then(|offset| self.start.get(offset..)) {
            Some(kept) if !kept.is_empty() => {
                let count = kept.len().min(buffer.len());
                buffer[..count].copy_from_slice(&kept[..count]);
                Ok(count)
            }
            _ => self.source.read_at(offset, buffer),
        }
    }

    fn size(&mut self) -> Result<u64, S::Error> {
        self.source.size()
    }
}
