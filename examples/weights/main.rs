//! Writes one tensor of a GGUF or safetensors file, or some of its rows, to standard output. Reads the file's header and
//! those rows, nothing else; memory holds a few kilobytes of them at a time.
//!
//! ```sh
//! cargo run --release --example weights -- model.gguf token_embd.weight --rows 0..4
//! cargo run --release --example weights -- model.gguf output_norm.weight --format npy > norm.npy
//! cargo run --release --example weights -- model.safetensors embeddings.position_ids
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

#[path = "../support/mod.rs"]
mod support;
mod tensor;

use std::ffi::OsString;
use std::io::{self, BufWriter};
use std::process::ExitCode;

use support::failure::{self, Failure};
use support::output::Format;
use support::shards::Shards;
use support::values::Selection;

const USAGE: &str = "\
Usage: weights FILE TENSOR [--rows A..B] [--format text|f32|npy|bytes] [--max-header BYTES]

Writes the values of one tensor of a GGUF or safetensors file to standard output. `-` is standard input. A model in
several files is given by its first one, NAME-00001-of-0000N.gguf, or by its index, NAME.safetensors.index.json; `-` takes
any one of them by itself.

  --rows A..B         only rows A to B, B not among them; A.. and ..B are fine too. Rows are counted from 0 over all outer
                      dimensions
  --format FORM       text: for people (default); f32: raw little-endian values; npy: for numpy;
                      bytes: as they stand in the file, whatever their type
  --max-header BYTES  read a safetensors header of up to so many bytes (default 100000000)
  --help              print this text
";

const OUTPUT_BYTES: usize = 64 * 1024;

struct Args {
    file: OsString,
    max_header: u32,
    selection: Selection,
}

fn main() -> ExitCode {
    failure::exit("weights", USAGE, arguments().and_then(|args| run(&args)))
}

fn arguments() -> Result<Args, Failure> {
    use lexopt::prelude::*;

    let (mut file, mut tensor, mut rows, mut format, mut max_header) = (None, None, None, Format::Text, 0);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("rows") => rows = Some(parser.value()?.parse()?),
            Long("format") => format = parser.value()?.parse()?,
            Long("max-header") => max_header = parser.value()?.parse()?,
            Long("help") | Short('h') => return Err(Failure::Help),
            Value(value) if file.is_none() => file = Some(value),
            Value(value) if tensor.is_none() => tensor = Some(value.string()?),
            _ => return Err(arg.unexpected().into()),
        }
    }
    let missing = |what| Failure::Usage(format!("{what} is missing"));
    Ok(Args {
        file: file.ok_or_else(|| missing("FILE"))?,
        max_header,
        selection: Selection { tensor: tensor.ok_or_else(|| missing("TENSOR"))?, rows, format },
    })
}

fn run(args: &Args) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(OUTPUT_BYTES, io::stdout().lock());
    let mut shards = Shards::of(&args.file)?;
    shards.set_max_header(args.max_header);
    tensor::write(&mut shards, &args.selection, &mut out)
}
