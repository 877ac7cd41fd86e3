//! What is printed of a model.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use weightstream::{DequantizeError, Format, TensorType};

use crate::Form;
use crate::checksum::Checksum;
use crate::ggml::Refusals;
use crate::statistics::Statistics;
use crate::support::escape;
use crate::support::format;
use crate::support::number::{grouped, short};
use crate::support::table::{Align, Table, terminal_width};

/// From so many columns on, there is room for the type.
const WIDE: usize = 110;
const NUMBER: Align = Align::Right(8);

/// Rows of tensors as they come, and what they add up to.
pub(crate) struct Report {
    out: BufWriter<Stdout>,
    is_terminal: bool,
    /// The first file.
    file: String,
    /// Files of the model.
    files: usize,
    form: Form,
    width: usize,
    table: Table,
    format: Format,
    tensors: usize,
    not_decoded: u64,
    values: u64,
    nan: u64,
    infinite: u64,
}

impl Report {
    pub(crate) fn new(files: usize, form: Form) -> Self {
        let (stdout, width) = (io::stdout(), terminal_width());
        Self {
            is_terminal: stdout.is_terminal(),
            out: BufWriter::new(stdout),
            file: String::new(),
            files,
            form,
            width,
            table: table(width, Format::default()),
            format: Format::default(),
            tensors: 0,
            not_decoded: 0,
            values: 0,
            nan: 0,
            infinite: 0,
        }
    }

    /// The descriptions of a file have been read.
    pub(crate) fn begin(&mut self, file: &str, format: Format, tensors: usize) -> io::Result<()> {
        self.tensors += tensors;
        (self.format, self.table) = (format, table(self.width, format));
        let is_first = self.file.is_empty();
        if is_first {
            self.file = file.to_owned();
        }
        if self.form != Form::Table {
            return Ok(());
        }
        if !is_first {
            writeln!(self.out)?;
        }
        writeln!(self.out, "{file} ({})\n", format::name(format))?;
        self.row("tensor", format::type_label(format), ["values", "min", "max", "mean", "rms"])
    }

    fn row(&mut self, name: &str, type_name: &str, numbers: [&str; 5]) -> io::Result<()> {
        let [count, min, max, mean, rms] = numbers;
        let cells = [name, type_name, count, min, max, mean, rms];
        let narrow = [name, count, min, max, mean, rms];
        self.table.row(&mut self.out, if self.width < WIDE { &narrow } else { &cells })?;
        // On a terminal somebody is waiting for it.
        if self.is_terminal { self.out.flush() } else { Ok(()) }
    }

    /// A tensor was dequantized.
    pub(crate) fn tensor(
        &mut self,
        index: u32,
        name: &str,
        tensor_type: TensorType,
        found: &Statistics,
        checksum: Option<Checksum>,
    ) -> io::Result<()> {
        self.values += found.count();
        self.nan += found.nan();
        self.infinite += found.infinite();
        if let Some(checksum) = checksum {
            return self.checksum(index, &format!("{:08x}", checksum.finish()), found.count(), name);
        }
        if self.form != Form::Table {
            return Ok(());
        }
        let (name, count) = (escape::plain(name), grouped(found.count()));
        let numbers = match found.finite() {
            Some(finite) => {
                [f64::from(finite.min), f64::from(finite.max), finite.mean, finite.rms].map(short)
            }
            None => ["-"; 4].map(String::from),
        };
        let [min, max, mean, rms] = numbers.each_ref().map(String::as_str);
        self.row(&name, &tensor_type.to_string(), [&count, min, max, mean, rms])?;
        if found.nan() + found.infinite() > 0 {
            writeln!(self.out, "    {}", not_finite(found.nan(), found.infinite()))?;
        }
        Ok(())
    }

    /// The line of a tensor with `--crc`.
    fn checksum(&mut self, index: u32, crc: &str, count: u64, name: &str) -> io::Result<()> {
        writeln!(self.out, "{index} {crc} {count} {}", escape::plain(name))
    }

    /// A tensor has no values.
    pub(crate) fn empty(&mut self, index: u32, name: &str, tensor_type: TensorType) -> io::Result<()> {
        match self.form {
            Form::Table => {
                self.row(&escape::plain(name), &tensor_type.to_string(), ["0", "-", "-", "-", "-"])
            }
            Form::Crc => self.checksum(index, "00000000", 0, name),
            Form::Quiet => Ok(()),
        }
    }

    /// A tensor was read, but cannot be dequantized.
    pub(crate) fn not_decoded(&mut self, index: u32, name: &str, error: &DequantizeError) -> io::Result<()> {
        self.not_decoded += 1;
        match self.form {
            Form::Table => {}
            Form::Crc => return self.checksum(index, "-", 0, name),
            Form::Quiet => return Ok(()),
        }
        let reason = match error {
            DequantizeError::NoKernel { tensor_type } => {
                format!("{tensor_type} comes as raw blocks only")
            }
            DequantizeError::AmbiguousByteOrder { tensor_type } => {
                format!("{tensor_type} has no settled big-endian layout")
            }
            DequantizeError::FamilyOff { tensor_type, feature } => {
                format!("{tensor_type} needs the feature \"{feature}\"")
            }
            error => error.to_string(),
        };
        self.table.note(&mut self.out, &escape::plain(name), &format!("not decoded: {reason}"))
    }

    /// The model is whole.
    pub(crate) fn end(&mut self, refusals: &Refusals) -> io::Result<()> {
        match self.form {
            Form::Table => writeln!(self.out)?,
            Form::Crc => return self.out.flush(),
            Form::Quiet => {}
        }
        let tensors =
            if self.tensors == 1 { "1 tensor".into() } else { plural(self.tensors as u64, "tensors") };
        let mut line = format!("{}: whole; {}, ", self.file, format::name(self.format));
        if self.files > 1 {
            line += &format!("{}, ", plural(self.files as u64, "files"));
        }
        line += &format!("{tensors}, {}", plural(self.values, "values"));
        if self.not_decoded > 0 {
            line += &format!(", {} not decoded", grouped(self.not_decoded));
        }
        line += "; ";
        line += &not_finite(self.nan, self.infinite);
        writeln!(self.out, "{line}")?;
        if let Some(line) = refusals.line() {
            writeln!(self.out, "{}: {line}", self.file)?;
        }
        self.out.flush()
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The columns of a table. A narrow one has no room for the type.
fn table(width: usize, format: Format) -> Table {
    let types = (width >= WIDE).then_some(Align::Left(format::type_width(format)));
    let columns: Vec<Align> =
        types.into_iter().chain([Align::Right(12), NUMBER, NUMBER, NUMBER, NUMBER]).collect();
    Table::new(width, 56, &columns)
}

fn plural(count: u64, noun: &str) -> String {
    format!("{} {noun}", grouped(count))
}

fn not_finite(nan: u64, infinite: u64) -> String {
    format!("{} NaN, {} infinite", grouped(nan), grouped(infinite))
}
