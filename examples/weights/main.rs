//! Writes one tensor of a GGUF file, or some of its rows, to standard output. Reads the file's header and those rows,
//! nothing else; memory holds a few kilobytes of them at a time.
//!
//! ```sh
//! cargo run --release --example weights -- model.gguf token_embd.weight --rows 0..4
//! cargo run --release --example weights -- model.gguf output_norm.weight --format npy > norm.npy
//! ```

#![allow(
    clippy::alloc_instead_of_core,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    reason = "a program for hosts"
)]

mod locate;
#[path = "../support/mod.rs"]
mod support;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use locate::{Found, locate};
use support::escape;
use support::failure::{self, Failure};
use support::output::{Format, Output};
use support::rows::Rows;
use support::shards::Shards;
use support::source::Source;

const USAGE: &str = "\
Usage: weights FILE TENSOR [--rows A..B] [--format text|f32|npy]

Writes the values of one tensor of a GGUF file to standard output. `-` is standard input. A model in several files is
given by its first one, NAME-00001-of-0000N.gguf; `-` takes any one of them by itself.

  --rows A..B    only rows A to B, B not among them; A.. and ..B are fine too. Rows are counted from 0 over all outer
                 dimensions
  --format FORM  text: for people (default); f32: raw little-endian values; npy: for numpy
  --help         print this text
";

/// Read, and dequantized, at a time.
const PIECE_BYTES: usize = 64 * 1024;
const PIECE_VALUES: usize = 16 * 1024;

struct Args {
    file: OsString,
    tensor: String,
    rows: Option<Rows>,
    format: Format,
}

fn main() -> ExitCode {
    failure::exit("weights", USAGE, arguments().and_then(|args| run(&args)))
}

fn arguments() -> Result<Args, Failure> {
    use lexopt::prelude::*;

    let (mut file, mut tensor, mut rows, mut format) = (None, None, None, Format::Text);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("rows") => rows = Some(parser.value()?.parse()?),
            Long("format") => format = parser.value()?.parse()?,
            Long("help") | Short('h') => return Err(Failure::Help),
            Value(value) if file.is_none() => file = Some(value),
            Value(value) if tensor.is_none() => tensor = Some(value.string()?),
            _ => return Err(arg.unexpected().into()),
        }
    }
    let missing = |what| Failure::Usage(format!("{what} is missing"));
    Ok(Args {
        file: file.ok_or_else(|| missing("FILE"))?,
        tensor: tensor.ok_or_else(|| missing("TENSOR"))?,
        rows,
        format,
    })
}

fn run(args: &Args) -> Result<(), Failure> {
    let (mut source, found) = locate(&mut Shards::of(&args.file)?, &args.tensor)?;
    let fail = |what: String| {
        let name = escape::plain(&args.tensor);
        Failure::Other(format!("{}: offset {}: {what} (tensor \"{name}\")", source.name(), found.offset()))
    };
    // Without anything to read, it says whether the type can be dequantized at all.
    found.dequantize(&mut [].as_slice(), &mut []).map_err(|error| fail(error.to_string()))?;
    let all = found.rows();
    let rows = match &args.rows {
        Some(rows) => rows.within(all).map_err(fail)?,
        None => 0..all,
    };
    let bytes =
        found.bytes_of(rows.clone()).ok_or_else(|| fail("the rows are not all in the tensor".into()))?;
    let shape = match args.rows {
        Some(_) => vec![rows.end - rows.start, found.row_elements()],
        None => found.shape(),
    };

    let mut out = BufWriter::with_capacity(PIECE_BYTES, io::stdout().lock());
    let mut output = Output::new(&mut out, args.format, rows.start, found.row_elements());
    output.begin(&shape)?;
    source.go_to(bytes.start)?;
    copy(&mut source, bytes.end - bytes.start, &found, &mut output).map_err(|failure| match failure {
        Failure::Other(what) => {
            Failure::Other(format!("{what} (tensor \"{}\")", escape::plain(&args.tensor)))
        }
        other => other,
    })?;
    output.end()?;
    Ok(out.flush()?)
}

/// Dequantizes so many bytes, a piece at a time.
fn copy(
    source: &mut Source,
    mut left: u64,
    found: &Found,
    output: &mut Output<impl Write>,
) -> Result<(), Failure> {
    let mut piece = vec![0; PIECE_BYTES - PIECE_BYTES % found.block_bytes()];
    let mut values = vec![0.0; PIECE_VALUES];
    while left > 0 {
        let count = left.min(piece.len() as u64) as usize;
        source.read_exact(&mut piece[..count])?;
        left -= count as u64;
        let mut blocks = &piece[..count];
        while !blocks.is_empty() {
            let written = found
                .dequantize(&mut blocks, &mut values)
                .map_err(|error| Failure::Other(format!("{}: {error}", source.name())))?;
            output.values(&values[..written])?;
        }
    }
    Ok(())
}
