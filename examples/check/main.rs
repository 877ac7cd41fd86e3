//! Reads GGUF and safetensors files to their last byte, dequantizes every tensor, and prints what the values are like:
//! enough to see a broken download, a broken quantization, or NaN.
//!
//! ```sh
//! cargo run --release --example check -- model.gguf
//! ```
//!
//! Memory does not depend on the size of the file: a chunk, 16 KiB of values, and what is kept of the tensors'
//! descriptions, about 100 bytes of each.

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

mod checksum;
mod file;
mod ggml;
mod report;
mod statistics;
#[path = "../support/mod.rs"]
mod support;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use support::failure::{self, Failure};

const USAGE: &str = "\
Usage: check FILE... [--quiet|--crc] [--max-header BYTES]

Reads GGUF and safetensors files whole, dequantizes every tensor, and prints of each the number of values, the least and
the greatest, their mean and root mean square, and how many are NaN or infinite; those count in nothing else. `-` is
standard input. With one bad file among several, the others are still checked. A model in several files is given by its
first one, NAME-00001-of-0000N.gguf, or by its index, NAME.safetensors.index.json, and checked as one; `-` takes any one
of them by itself.

  --quiet             print one line a file, and no progress
  --crc               print only one line a tensor: its index, the CRC-32 of its values as little-endian f32 (`-` where it
                      cannot be dequantized), their number, and its name
  --max-header BYTES  read a safetensors header of up to so many bytes (default 100000000)
  --help              print this text
";

fn main() -> ExitCode {
    failure::exit("check", USAGE, arguments().and_then(|args| run(&args)))
}

struct Args {
    files: Vec<OsString>,
    form: Form,
    max_header: u32,
}

/// What is printed of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A table of the tensors, and what they add up to.
    Table,
    /// One line a model.
    Quiet,
    /// One line a tensor, with a checksum.
    Crc,
}

fn arguments() -> Result<Args, Failure> {
    use lexopt::prelude::*;

    let (mut files, mut quiet, mut crc, mut max_header) = (Vec::new(), false, false, 0);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("quiet") | Short('q') => quiet = true,
            Long("crc") => crc = true,
            Long("max-header") => max_header = parser.value()?.parse()?,
            Long("help") | Short('h') => return Err(Failure::Help),
            Value(file) => files.push(file),
            _ => return Err(arg.unexpected().into()),
        }
    }
    if files.is_empty() {
        return Err(Failure::Usage("FILE is missing".into()));
    }
    let form = match (quiet, crc) {
        (true, true) => return Err(Failure::Usage("--quiet and --crc do not go together".into())),
        (true, false) => Form::Quiet,
        (false, true) => Form::Crc,
        (false, false) => Form::Table,
    };
    Ok(Args { files, form, max_header })
}

fn run(args: &Args) -> Result<(), Failure> {
    let mut is_good = true;
    for (position, path) in args.files.iter().enumerate() {
        if position > 0 && args.form != Form::Quiet {
            writeln!(io::stdout())?;
        }
        match file::check(path, args.form, args.max_header) {
            Ok(()) => {}
            Err(Failure::OutputClosed) => return Err(Failure::OutputClosed),
            Err(failure) => {
                failure::tell("check", &failure);
                is_good = false;
            }
        }
    }
    if is_good { Ok(()) } else { Err(Failure::Told) }
}
