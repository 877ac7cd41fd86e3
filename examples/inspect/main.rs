//! Shows what is in a GGUF file: header, metadata, tensors. The tensors' data are not read where the file can be sought
//! in, and never kept.
//!
//! ```sh
//! cargo run --release --example inspect                 # a small model that is part of the program
//! cargo run --release --example inspect -- model.gguf
//! cat model.gguf | cargo run --release --example inspect -- --json -
//! ```
//!
//! Memory holds one chunk and the tensors' descriptions, no metadata. Only in JSON a string is kept up to 1 MiB, until it
//! is known whether it is UTF-8; a longer one is read twice where it can be. In a stream a longer one is taken for UTF-8,
//! and if it turns out not to be, the program says so and fails.

#![allow(
    clippy::alloc_instead_of_core,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    reason = "a program for hosts"
)]

mod json;
mod outcome;
mod preview;
#[path = "../support/mod.rs"]
mod support;
mod text;
mod totals;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use weightstream::{DataStart, Event, Layout, Options, TensorInfo, UnknownTypes};

use outcome::Outcome;
use support::failure::{self, Failure};
use support::pump::{HostDecoder, Next, pump};
use support::source::Source;
use support::tensors::Tensors;
use support::{directory::GrowingDirectory, table};

const USAGE: &str = "\
Usage: inspect [FILE|-] [--json] [--full] [--chunk BYTES]

Shows what is in a GGUF file. `-` is standard input; without FILE, a small bundled model is shown.

  --json         print one JSON object
  --full         print values whole: long texts and arrays are cut otherwise
  --chunk BYTES  decode in chunks of at most so many bytes, 1 to 16777216; the output is the same
  --help         print this text
";

const SAMPLE: &[u8] = include_bytes!("../data/sample.gguf");
const OUTPUT_BYTES: usize = 256 * 1024;
const MOST_CHUNK_BYTES: usize = 16 << 20;

struct Args {
    file: Option<OsString>,
    json: bool,
    full: bool,
    chunk: Option<usize>,
}

fn main() -> ExitCode {
    failure::exit("inspect", USAGE, arguments().and_then(|args| run(&args)))
}

fn arguments() -> Result<Args, Failure> {
    use lexopt::prelude::*;

    let mut args = Args { file: None, json: false, full: false, chunk: None };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("json") => args.json = true,
            Long("full") => args.full = true,
            Long("chunk") => {
                let bytes = parser.value()?.parse()?;
                if !(1..=MOST_CHUNK_BYTES).contains(&bytes) {
                    return Err(Failure::Usage(format!("--chunk is 1 to {MOST_CHUNK_BYTES} bytes")));
                }
                args.chunk = Some(bytes);
            }
            Long("help") | Short('h') => return Err(Failure::Help),
            Value(file) if args.file.is_none() => args.file = Some(file),
            _ => return Err(arg.unexpected().into()),
        }
    }
    Ok(args)
}

fn run(args: &Args) -> Result<(), Failure> {
    let mut source = match &args.file {
        Some(path) => Source::open(path)?,
        None => Source::bundled("sample.gguf", SAMPLE),
    };
    if let Some(bytes) = args.chunk {
        source.set_chunk_bytes(bytes);
    }
    let mut out = BufWriter::with_capacity(OUTPUT_BYTES, io::stdout().lock());
    let result = if args.json {
        let mut report = json::Report::new(&mut out, args.full, &source);
        show(&mut source, &mut report)
    } else {
        let mut report = text::Report::new(&mut out, args.full, table::terminal_width());
        show(&mut source, &mut report)
    };
    // Also before an error is told: what was right stands above it.
    out.flush()?;
    result
}

/// Who writes what there is to see.
trait Show {
    /// An event before the data, other than a tensor.
    fn event(&mut self, event: Event<'_>, position: u64) -> Result<(), Failure>;
    /// All that is known at the end.
    fn end(&mut self, tensors: &Tensors<TensorInfo>, outcome: &Outcome) -> Result<(), Failure>;
}

fn show(source: &mut Source, report: &mut impl Show) -> Result<(), Failure> {
    let options = Options::new().layout(Layout::Sparse).unknown_types(UnknownTypes::Infer);
    let mut decoder = HostDecoder::with_scratch(GrowingDirectory::new(), options);
    let mut tensors = Tensors::new();
    let mut data: Option<DataStart> = None;
    pump(source, &mut decoder, |event, position| {
        match event {
            Event::Tensor { name, info } => tensors.push(name, *info),
            Event::DataStart(start) => {
                data = Some(start);
                return Ok(Next::Stop);
            }
            event => report.event(event, position)?,
        }
        Ok(Next::Go)
    })
    .map_err(|failure| failure.with_tensor_name(|index| tensors.name(index)))?;
    let Some(data) = data else { return Err(Failure::Other("no data section".into())) };
    let size = source.measure()?;
    let outcome = Outcome::new(data, size, decoder.directory());
    report.end(&tensors, &outcome)?;
    outcome.verdict(source.name(), &tensors)
}
