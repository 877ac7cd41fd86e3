//! How fast weightstream is, beside others and beside what memory allows: one table, written as Markdown.
//!
//! `table [SECTION...] [--seconds N] [--level LEVEL]` with the sections `near`, `cache`, `memory`, `header`, `safetensors` and `file`; all of
//! them where none is named. `N` is the time that is spent on a row, 1 without it; `LEVEL` the level of the
//! kernels, the highest there is without it.

mod dequantize;
mod header;
mod peers;
mod race;
mod row;
mod samples;
mod walk;
mod whole_file;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use row::Row;
use weightstream::quant::Level;

const SECTIONS: [&str; 6] = ["near", "cache", "memory", "header", "safetensors", "file"];
const USAGE: &str =
    "usage: table [near] [cache] [memory] [header] [safetensors] [file] [--seconds N] [--level LEVEL]";
const TENSORS: usize = 100_000;

fn main() -> ExitCode {
    match arguments(std::env::args().skip(1)) {
        Some((sections, budget)) => {
            run(&sections, budget);
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}

/// The sections that are asked for, and the time for a row.
fn arguments(mut given: impl Iterator<Item = String>) -> Option<(Vec<String>, Duration)> {
    let (mut sections, mut budget) = (Vec::new(), Duration::from_secs(1));
    while let Some(argument) = given.next() {
        if argument == "--seconds" {
            budget = Duration::try_from_secs_f64(given.next()?.parse().ok()?).ok()?;
        } else if argument == "--level" {
            let name = given.next()?;
            let level =
                Level::ALL.into_iter().find(|level| format!("{level:?}").eq_ignore_ascii_case(&name))?;
            level.force().then_some(())?;
        } else if SECTIONS.contains(&&argument[..]) {
            sections.push(argument);
        } else {
            return None;
        }
    }
    Some((sections, budget))
}

fn run(sections: &[String], budget: Duration) {
    let asked = |name: &str| sections.is_empty() || sections.iter().any(|section| section == name);
    let model = std::env::var_os("WEIGHTSTREAM_MODEL").map(PathBuf::from);
    println!("{}; {}; {}", env!("RUSTC_VERSION"), processor(), peers::versions().join("; "));
    println!();
    Row::print_head();
    let mut means = Vec::new();
    let places = [("near", dequantize::NEAR), ("cache", dequantize::CACHE), ("memory", dequantize::MEMORY)];
    for (name, place) in places {
        if asked(name) {
            means.push((place, dequantize::run(place, budget)));
        }
    }
    if asked("header") {
        // A header takes long, and there are many ways to read one.
        header::run_gguf("synthetic header", samples::vocabulary().path(), budget * 10);
        if let Some(model) = &model {
            header::run_gguf("header of the model", model, budget * 10);
        }
    }
    if asked("safetensors") {
        header::run_safetensors(samples::tensors(TENSORS).path(), TENSORS, budget);
    }
    if let (true, Some(model)) = (asked("file"), &model) {
        whole_file::run(model, budget);
    }
    println!();
    means.iter().for_each(|(place, rows)| dequantize::print_means(*place, rows));
}

/// What Linux says of the processor.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("model name"));
    let name = line.map_or(std::env::consts::ARCH, |line| line.trim_start_matches([' ', '\t', ':']));
    match std::thread::available_parallelism() {
        Ok(count) => format!("{name}, {count} threads"),
        Err(_) => name.to_owned(),
    }
}
