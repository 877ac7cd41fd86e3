//! Reads a GGUF or safetensors model on a web server by requests for ranges, and tells how few of its bytes it took: the
//! header, or what of it cannot be jumped over, and the rows that are wanted.
//!
//! ```sh
//! cargo run --release --example http -- http://127.0.0.1:8000/model.gguf
//! cargo run --release --example http -- http://127.0.0.1:8000/model.gguf --tensor token_embd.weight --rows 5..6
//! ```
//!
//! The library does no networking: this is a source of `weightstream::io` over an HTTP client. A connection that breaks is
//! resumed; a file that changes meanwhile is an error; a server without ranges is read forwards, as a stream.

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

mod answer;
mod client;
mod header;
mod model;
mod report;
mod rows;
mod source;
#[path = "../support/mod.rs"]
mod support;
mod trouble;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use client::Client;
use model::Model;
use source::HttpSource;
use support::failure::{self, Failure};
use support::format;
use support::number::grouped;
use support::output::Format;
use support::progress::Progress;
use support::values::Selection;

const USAGE: &str = "\
Usage: http URL [--tensor NAME [--rows A..B] [--format text|f32|npy|bytes]] [--max-header BYTES] [--timeout SECONDS]

Reads a GGUF or safetensors model on a web server. Prints what tensors it has, or the values of one, and on standard
error how many bytes it fetched for that.

  --tensor NAME       print the values of this tensor
  --rows A..B         only rows A to B, B not among them; A.. and ..B are fine too. Rows are counted from 0 over all outer
                      dimensions
  --format FORM       text: for people (default); f32: raw little-endian values; npy: for numpy;
                      bytes: as they stand in the file, whatever their type
  --max-header BYTES  read a safetensors header of up to so many bytes (default 100000000)
  --timeout SECONDS   give a silent server up after so long (default 30)
  --help              print this text

A proxy is taken from the environment: ALL_PROXY, HTTPS_PROXY or HTTP_PROXY, and NO_PROXY.
";

const OUTPUT_BYTES: usize = 64 * 1024;
const DEFAULT_TIMEOUT_SECONDS: u64 = 30;

struct Args {
    url: String,
    selection: Option<Selection>,
    max_header: u32,
    timeout: Duration,
}

fn main() -> ExitCode {
    failure::exit("http", USAGE, arguments().and_then(|args| run(&args)))
}

fn arguments() -> Result<Args, Failure> {
    use lexopt::prelude::*;

    let (mut url, mut tensor, mut rows, mut format) = (None, None, None, None);
    let (mut max_header, mut seconds) = (0, DEFAULT_TIMEOUT_SECONDS);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("tensor") => tensor = Some(parser.value()?.string()?),
            Long("rows") => rows = Some(parser.value()?.parse()?),
            Long("format") => format = Some(parser.value()?.parse()?),
            Long("max-header") => max_header = parser.value()?.parse()?,
            Long("timeout") => seconds = parser.value()?.parse()?,
            Long("help") | Short('h') => return Err(Failure::Help),
            Value(value) if url.is_none() => url = Some(value.string()?),
            _ => return Err(arg.unexpected().into()),
        }
    }
    let usage = |what: &str| Err(Failure::Usage(what.into()));
    let Some(url) = url else { return usage("URL is missing") };
    if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
        return usage("URL starts with http:// or https://");
    }
    if seconds == 0 {
        return usage("--timeout is at least 1 second");
    }
    if tensor.is_none() && (rows.is_some() || format.is_some()) {
        return usage("--rows and --format need --tensor");
    }
    let selection = tensor.map(|tensor| Selection { tensor, rows, format: format.unwrap_or(Format::Text) });
    Ok(Args { url, selection, max_header, timeout: Duration::from_secs(seconds) })
}

fn run(args: &Args) -> Result<(), Failure> {
    // Values that run over the terminal are progress enough.
    let is_quiet = args.selection.is_some() && io::stdout().is_terminal();
    let client = Client::new(&args.url, args.timeout);
    let mut source = HttpSource::new(client, Progress::new(None, is_quiet));
    let mut out = BufWriter::with_capacity(OUTPUT_BYTES, io::stdout().lock());
    let result = show(args, &mut source, &mut out);
    source.progress().clear();
    out.flush()?;
    result?;
    // Nothing can be done where this cannot be written.
    let _ = writeln!(io::stderr(), "{}", bill(&source));
    Ok(())
}

fn show(args: &Args, source: &mut HttpSource, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(selection) = &args.selection {
        return rows::write(out, source, selection, args.max_header);
    }
    let model = Model::read(source, args.max_header)?;
    report::write(out, &model)?;
    is_whole(source, &model)
}

/// Holds the size of the file against its header.
fn is_whole(source: &HttpSource, model: &Model) -> Result<(), Failure> {
    match (source.known_size(), model.data.end) {
        (Some(size), Some(end)) if size < end => Err(Failure::Other(format!(
            "{}: offset {size}: the file is short: it ends after {} of {} bytes",
            source.url(),
            grouped(size),
            grouped(end)
        ))),
        (Some(size), Some(end)) if size > end && format::must_end(model.header.format) => {
            Err(Failure::Other(format!(
                "{}: offset {end}: bytes follow the last tensor: the file ends after {} bytes",
                source.url(),
                grouped(size)
            )))
        }
        _ => Ok(()),
    }
}

/// What it took.
fn bill(source: &HttpSource) -> String {
    let (fetched, requests) = (source.fetched(), source.requests());
    let of_all = match source.known_size() {
        Some(size) if size > 0 => {
            format!(" of {} bytes ({:.2} %)", grouped(size), 100.0 * fetched as f64 / size as f64)
        }
        _ => " bytes".into(),
    };
    let noun = if requests == 1 { "request" } else { "requests" };
    format!("fetched {}{of_all} in {} {noun}", grouped(fetched), grouped(requests))
}
