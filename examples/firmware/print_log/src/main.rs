//! Prints what a program logged: `print-log PROGRAM LOG`. The texts are in the program's file, and only numbers are in the
//! log.
//!
//! `defmt-print -e PROGRAM` does it too, and more; this is less to build. A log that cannot be read to its end is an error.

use std::error::Error;
use std::fs;

use defmt_decoder::{DecodeError, Table};

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [program, log] = &files[..] else { return Err("usage: print-log PROGRAM LOG".into()) };
    let table = Table::parse(&fs::read(program)?)?.ok_or("the program does not log through defmt")?;
    let log = fs::read(log)?;
    if log.last().is_some_and(|byte| *byte != 0) {
        return Err("the log ends in the middle of a message".into());
    }
    let mut decoder = table.new_stream_decoder();
    decoder.received(&log);
    loop {
        match decoder.decode() {
            Ok(frame) => {
                let level = frame.level().map_or("", |level| level.as_str());
                println!("{level:<5} {}", frame.display_message());
            }
            Err(DecodeError::UnexpectedEof) => return Ok(()),
            Err(DecodeError::Malformed) => return Err("a message of the log is malformed".into()),
        }
    }
}
