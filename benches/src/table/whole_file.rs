//! A whole model, as `check` reads it, beside what only reads it.

use std::cell::RefCell;
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use weightstream::{Decoder, Event, TensorSlot};

use crate::race::Race;
use crate::row::{Row, Unit};

/// As `cat` does.
const READ_BYTES: usize = 128 * 1024;
/// 16 KiB of values, as `check` has: they stay in the L1 cache.
const VALUES: usize = 4 * 1024;
const SLOTS: usize = 4096;

#[derive(Clone, Copy, PartialEq)]
enum Work {
    Read,
    Decode,
    Dequantize,
}

pub(crate) fn run(path: &Path, budget: Duration) {
    let slots = RefCell::new(vec![TensorSlot::EMPTY; SLOTS]);
    let mut race = Race::default();
    let read = race.enter(|| drive(path, Work::Read, &mut slots.borrow_mut()));
    let decode = race.enter(|| drive(path, Work::Decode, &mut slots.borrow_mut()));
    let dequantize = race.enter(|| drive(path, Work::Dequantize, &mut slots.borrow_mut()));
    let times = race.run(budget);
    let bytes = path.metadata().expect("the file is there").len() as usize;
    let of = |at: usize| Unit::Bytes.of(bytes, times[at]);
    for (task, at) in [("decoded", decode), ("decoded and dequantized", dequantize)] {
        let row = Row {
            task: format!("whole file, {task}"),
            unit: Unit::Bytes,
            weightstream: of(at),
            limits: vec![("read", of(read))],
            peers: Vec::new(),
        };
        row.print();
    }
}

fn drive(path: &Path, work: Work, slots: &mut [TensorSlot]) {
    let mut file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut buffer = vec![0; READ_BYTES];
    let mut values = vec![0.0; VALUES];
    let mut decoder = Decoder::new(slots);
    loop {
        let read = file.read(&mut buffer).expect("the file can be read");
        if read == 0 {
            break;
        }
        if work == Work::Read {
            black_box(&mut buffer);
            continue;
        }
        let mut chunk = &buffer[..read];
        while let Some(event) = decoder.decode(&mut chunk).expect("the model is right") {
            let Event::Data(mut blocks) = event else { continue };
            while work == Work::Dequantize && !blocks.is_empty() {
                blocks.dequantize(&mut values).expect("every type is on");
                black_box(&mut values);
            }
        }
    }
    if work != Work::Read {
        decoder.finish().expect("the model is whole");
    }
}
