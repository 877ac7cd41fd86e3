//! The forms that the values of a tensor are written in.

use std::io::{self, Write};
use std::str::FromStr;

use crate::support::table::terminal_width;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    F32,
    Npy,
    /// As they stand in the file.
    Bytes,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "f32" => Ok(Self::F32),
            "npy" => Ok(Self::Npy),
            "bytes" => Ok(Self::Bytes),
            _ => Err("the formats are text, f32, npy and bytes".into()),
        }
    }
}

/// Columns of a value, as wide as the longest: `-1.1754944e-38`.
const VALUE_WIDTH: usize = 14;
/// Columns of a row's number.
const ROW_WIDTH: usize = 8;

pub(crate) struct Output<W> {
    out: W,
    format: Format,
    row_elements: u64,
    /// The row in hand, and how many of its values are written.
    row: u64,
    column: u64,
    values_a_line: u64,
    bytes: Vec<u8>,
}

impl<W: Write> Output<W> {
    pub(crate) fn new(out: W, format: Format, first_row: u64, row_elements: u64) -> Self {
        let values_a_line = (terminal_width().saturating_sub(ROW_WIDTH) / (VALUE_WIDTH + 1)).max(1) as u64;
        Self { out, format, row_elements, row: first_row, column: 0, values_a_line, bytes: Vec::new() }
    }

    /// Before all values. `shape` is row-major.
    pub(crate) fn begin(&mut self, shape: &[u64]) -> io::Result<()> {
        if self.format != Format::Npy {
            return Ok(());
        }
        let dims: Vec<String> = shape.iter().map(u64::to_string).collect();
        // Python writes a tuple of one with a comma.
        let comma = if dims.len() == 1 { "," } else { "" };
        let shape = format!("({}{comma})", dims.join(", "));
        let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        // Magic, version, length, header and a line feed: a multiple of 64 bytes.
        let padding = (64 - (10 + header.len() + 1) % 64) % 64;
        header.push_str(&" ".repeat(padding));
        header.push('\n');
        self.out.write_all(b"\x93NUMPY\x01\x00")?;
        // Eight dimensions of twenty digits are far below 64 KiB.
        self.out.write_all(&(header.len() as u16).to_le_bytes())?;
        self.out.write_all(header.as_bytes())
    }

    pub(crate) fn values(&mut self, values: &[f32]) -> io::Result<()> {
        match self.format {
            Format::Text => values.iter().try_for_each(|value| self.text(*value)),
            Format::F32 | Format::Npy | Format::Bytes => {
                self.bytes.clear();
                self.bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                self.out.write_all(&self.bytes)
            }
        }
    }

    /// Bytes of the file, where they are what is wanted.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    fn text(&mut self, value: f32) -> io::Result<()> {
        if self.column == 0 {
            write!(self.out, "{:>1$}", self.row, ROW_WIDTH - 1)?;
        } else if self.column.is_multiple_of(self.values_a_line) {
            write!(self.out, "\n{:1$}", "", ROW_WIDTH - 1)?;
        }
        write!(self.out, " {value:>VALUE_WIDTH$?}")?;
        self.column += 1;
        if self.column == self.row_elements {
            self.column = 0;
            self.row += 1;
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// After all values.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
