//! The values of a tensor, as they come: its bytes are read, and nothing else.

use std::fmt::Display;
use std::io::Write;
use std::ops::Range;

use weightstream::io::ReadAt;

use crate::support::escape;
use crate::support::failure::Failure;
use crate::support::output::{Format, Output};
use crate::support::rows::Rows;
use crate::support::search::Found;

/// Read, and dequantized, at a time. A row may be larger: no claim of the file sizes any memory.
const PIECE_BYTES: usize = 64 * 1024;
const PIECE_VALUES: usize = 16 * 1024;

/// Which values are wanted, and in which form.
pub(crate) struct Selection {
    pub(crate) tensor: String,
    pub(crate) rows: Option<Rows>,
    pub(crate) format: Format,
}

/// The values that are wanted of a tensor that is there.
pub(crate) struct Values<'a> {
    file: &'a str,
    found: Found,
    selection: &'a Selection,
    rows: Range<u64>,
    bytes: Range<u64>,
}

impl<'a> Values<'a> {
    /// `file` is a name for messages.
    pub(crate) fn new(file: &'a str, found: Found, selection: &'a Selection) -> Result<Self, Failure> {
        let Found { info, slot } = found;
        let fail = |what: String| {
            let name = escape::plain(&selection.tensor);
            Failure::Other(format!("{file}: offset {}: {what} (tensor \"{name}\")", slot.offset()))
        };
        // Without anything to read, it says whether the type can be dequantized at all.
        if selection.format != Format::Bytes {
            slot.dequantize(&mut [].as_slice(), &mut []).map_err(|error| fail(error.to_string()))?;
        }
        // Of all dimensions but the innermost.
        let all = info.shape().rev().skip(1).product();
        let rows = match &selection.rows {
            Some(rows) => rows.within(all).map_err(fail)?,
            None => 0..all,
        };
        let bytes = match (&selection.rows, slot.byte_len()) {
            // All of them, though a row may not be whole bytes.
            (None, Some(bytes)) => Some(slot.offset()..slot.offset() + bytes),
            _ => slot.rows(rows.clone()),
        };
        let bytes = bytes.ok_or_else(|| fail("the rows are not all in the tensor".into()))?;
        Ok(Self { file, found, selection, rows, bytes })
    }

    /// Where they lie in the file.
    pub(crate) fn bytes(&self) -> Range<u64> {
        self.bytes.clone()
    }

    /// Reads them, and writes them in the form that is wanted.
    pub(crate) fn write<S: ReadAt<Error: Display>>(
        &self,
        source: &mut S,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let info = &self.found.info;
        let shape = match self.selection.rows {
            Some(_) => vec![self.rows.end - self.rows.start, info.row_elements()],
            None => info.shape().collect(),
        };
        let mut output = Output::new(out, self.selection.format, self.rows.start, info.row_elements());
        output.begin(&shape)?;
        self.copy(source, &mut output).map_err(|failure| match failure {
            Failure::Other(what) => {
                Failure::Other(format!("{what} (tensor \"{}\")", escape::plain(&self.selection.tensor)))
            }
            other => other,
        })?;
        Ok(output.end()?)
    }

    /// A piece at a time.
    fn copy<S: ReadAt<Error: Display>>(
        &self,
        source: &mut S,
        output: &mut Output<impl Write>,
    ) -> Result<(), Failure> {
        let block_bytes = self.found.info.tensor_type().block_bytes().unwrap_or(1) as usize;
        let mut piece = vec![0; PIECE_BYTES - PIECE_BYTES % block_bytes];
        let mut values = vec![0.0; PIECE_VALUES];
        let Range { start: mut offset, end } = self.bytes;
        while offset < end {
            let count = (end - offset).min(piece.len() as u64) as usize;
            self.read_exact(source, offset, &mut piece[..count])?;
            offset += count as u64;
            if self.selection.format == Format::Bytes {
                output.bytes(&piece[..count])?;
                continue;
            }
            let mut blocks = &piece[..count];
            while !blocks.is_empty() {
                let written = self
                    .found
                    .slot
                    .dequantize(&mut blocks, &mut values)
                    .map_err(|error| Failure::Other(format!("{}: {error}", self.file)))?;
                output.values(&values[..written])?;
            }
        }
        Ok(())
    }

    fn read_exact<S: ReadAt<Error: Display>>(
        &self,
        source: &mut S,
        mut offset: u64,
        mut piece: &mut [u8],
    ) -> Result<(), Failure> {
        let file = self.file;
        let failed = |error: S::Error| Failure::Other(format!("{file}: {error}"));
        while !piece.is_empty() {
            let count = source.read_at(offset, piece).map_err(failed)?;
            if count == 0 {
                let (size, end) = (source.size().map_err(failed)?, offset + piece.len() as u64);
                return Err(Failure::Other(format!(
                    "{file}: offset {size}: the file ends here, but goes on to {end}"
                )));
            }
            offset += count as u64;
            piece = &mut piece[count..];
        }
        Ok(())
    }
}
