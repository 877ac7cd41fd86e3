//! Shows what is in a GGUF or safetensors file: header, metadata, tensors. The tensors' data are not read where the file
//! can be sought in, and never kept.
//!
//! ```sh
//! cargo run --release --example inspect                 # a small model that is part of the program
//! cargo run --release --example inspect -- model.gguf
//! cargo run --release --example inspect -- model.safetensors
//! cat model.gguf | cargo run --release --example inspect -- --json -
//! ```
//!
//! Memory holds one chunk and the tensors' descriptions, and for people the shown part of the metadata: until it is known
//! what to write above that, or until it is 16 MiB. In JSON a string is kept up to 1 MiB, until it is known whether it is
//! UTF-8; a longer one is read twice where it can be. In a stream a longer one is taken for UTF-8, and if it turns out not
//! to be, the program says so and fails.

#![allow(
    clippy::alloc_instead_of_core,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    reason = "a program for hosts"
)]

mod held_back;
mod json;
mod model;
mod outcome;
mod part;
mod preview;
mod slots;
#[path = "../support/mod.rs"]
mod support;
mod text;
mod totals;

use std::ffi::OsString;
use std::io::{self, BufWriter};
use std::process::ExitCode;

use weightstream::Event;
use weightstream::summary::Summary;

use part::Part;
use slots::Language;
use support::failure::{self, Failure};
use support::shards::Shards;
use support::source::Source;
use support::table;

const USAGE: &str = "\
Usage: inspect [FILE|-] [--json|--rust-table|--c-table] [--full] [--chunk BYTES] [--max-header BYTES]

Shows what is in a GGUF or safetensors file. `-` is standard input; without FILE, a small bundled model is shown. A model
in several files is given by its first one, NAME-00001-of-0000N.gguf, or by its index, NAME.safetensors.index.json, and
shown as one; `-` takes any one of them by itself. Dimensions are in the order of the file: in GGUF the elements of the
first one lie side by side, in a shape of safetensors those of the last one.

  --json              print one JSON object
  --rust-table        print the tensors' places as a constant in Rust, for firmware that need not read the descriptions
  --c-table           the same in C
  --full              print values whole: long texts and arrays are cut otherwise
  --chunk BYTES       decode in chunks of at most so many bytes, 1 to 16777216; the output is the same
  --max-header BYTES  read a safetensors header of up to so many bytes (default 100000000)
  --help              print this text

Of a bad file, what came before the fault is printed: then the status is 1, and a JSON object is not finished.
";

const SAMPLE: &[u8] = include_bytes!("../data/sample.gguf");
const OUTPUT_BYTES: usize = 256 * 1024;
const MOST_CHUNK_BYTES: usize = 16 << 20;

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Json,
    Table(Language),
}

struct Args {
    file: Option<OsString>,
    form: Form,
    full: bool,
    chunk: Option<usize>,
    max_header: u32,
}

fn main() -> ExitCode {
    failure::exit("inspect", USAGE, arguments().and_then(|args| run(&args)))
}

fn arguments() -> Result<Args, Failure> {
    use lexopt::prelude::*;

    let mut args = Args { file: None, form: Form::Text, full: false, chunk: None, max_header: 0 };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("json") => choose(&mut args.form, Form::Json)?,
            Long("rust-table") => choose(&mut args.form, Form::Table(Language::Rust))?,
            Long("c-table") => choose(&mut args.form, Form::Table(Language::C))?,
            Long("full") => args.full = true,
            Long("chunk") => {
                let bytes = parser.value()?.parse()?;
                if !(1..=MOST_CHUNK_BYTES).contains(&bytes) {
                    return Err(Failure::Usage(format!("--chunk is 1 to {MOST_CHUNK_BYTES} bytes")));
                }
                args.chunk = Some(bytes);
            }
            Long("max-header") => args.max_header = parser.value()?.parse()?,
            Long("help") | Short('h') => return Err(Failure::Help),
            Value(file) if args.file.is_none() => args.file = Some(file),
            _ => return Err(arg.unexpected().into()),
        }
    }
    Ok(args)
}

fn choose(form: &mut Form, chosen: Form) -> Result<(), Failure> {
    if *form != Form::Text && *form != chosen {
        return Err(Failure::Usage("--json, --rust-table and --c-table do not go together".into()));
    }
    *form = chosen;
    Ok(())
}

fn run(args: &Args) -> Result<(), Failure> {
    let mut shards = match &args.file {
        Some(path) => Shards::of(path)?,
        None => Shards::single(Source::bundled("sample.gguf", SAMPLE)),
    };
    shards.set_max_header(args.max_header);
    shards.measure()?;
    let Some(first) = open_next(&mut shards, args)? else { return Ok(()) };
    let out = BufWriter::with_capacity(OUTPUT_BYTES, io::stdout().lock());
    match args.form {
        Form::Text => {
            let report = text::Report::new(out, args.full, table::terminal_width());
            show(first, &mut shards, args, report)
        }
        Form::Json => {
            let report = json::Report::new(out, args.full, &first);
            show(first, &mut shards, args, report)
        }
        Form::Table(language) => show(first, &mut shards, args, slots::Report::new(out, language)),
    }
}

fn open_next(shards: &mut Shards, args: &Args) -> Result<Option<Source>, Failure> {
    let mut source = shards.open_next()?;
    if let (Some(source), Some(bytes)) = (&mut source, args.chunk) {
        source.set_chunk_bytes(bytes);
    }
    Ok(source)
}

/// Who writes what there is to see.
trait Show {
    /// An event of the first file, before its tensors.
    fn event(&mut self, event: Event<'_>) -> Result<(), Failure>;
    /// Whether anything that may still come of the entry in hand would be shown.
    fn wants_more(&self) -> bool {
        true
    }
    /// Nothing more comes of the entry in hand.
    fn skip_rest(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    /// The decoder stands here after the event.
    fn stands_at(&mut self, _offset: u64) -> Result<(), Failure> {
        Ok(())
    }
    /// All that is known at the end of all files.
    fn end(&mut self, parts: &[Part], summary: &Summary) -> Result<(), Failure>;
    /// Writes what was kept in memory.
    fn flush(&mut self) -> Result<(), Failure>;
}

fn show(first: Source, shards: &mut Shards, args: &Args, mut report: impl Show) -> Result<(), Failure> {
    let result = read(first, shards, args, &mut report);
    // Also before an error is told: what was right stands above it.
    report.flush()?;
    result
}

fn read(first: Source, shards: &mut Shards, args: &Args, report: &mut impl Show) -> Result<(), Failure> {
    let (mut parts, mut next) = (Vec::new(), Some(first));
    let mut summary = Summary::new();
    while let Some(mut source) = next {
        // The metadata of a model are those of its first file.
        let report = if parts.is_empty() { Some(&mut *report) } else { None };
        parts.push(Part::read(&mut source, shards, &mut summary, report)?);
        next = open_next(shards, args)?;
    }
    shards.finish()?;
    report.end(&parts, &summary)?;
    parts.iter().try_for_each(Part::verdict)
}
