//! Headers: that of a GGUF file with a large vocabulary, and that of a safetensors file with many tensors.

use std::cell::RefCell;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use weightstream::{Decoder, TensorSlot, safetensors};
use weightstream_benches::pump::{Told, push_gguf, push_safetensors};

use crate::peers::{self, Peer};
use crate::race::Race;
use crate::row::{Row, Unit};

/// What is read at once.
const READ_BYTES: usize = 64 * 1024;
/// What is pushed at once.
const CHUNKS: [(usize, &str); 4] =
    [(64, "64 B"), (512, "512 B"), (4 * 1024, "4 KiB"), (READ_BYTES, "64 KiB")];
const SLOTS: usize = 512;

/// The header of one GGUF file, by events and with the vocabulary skipped.
pub(crate) fn run_gguf(name: &str, path: &Path, budget: Duration) {
    let header_bytes = header_bytes(path);
    check(path);
    let mut race = Race::default();
    let walk = race.enter(|| _ = black_box(walk(path, READ_BYTES)));
    let read = race.enter(|| read(path, READ_BYTES, header_bytes));
    let ours: Vec<_> = CHUNKS
        .iter()
        .flat_map(|&(chunk, title)| [(chunk, title, false), (chunk, title, true)])
        .map(|(chunk, title, skip)| {
            let how = if skip { "vocabulary skipped" } else { "events" };
            let at = race.enter(move || _ = black_box(decode(path, chunk, skip)));
            (format!("{name}, {how}, chunks of {title}"), skip, at)
        })
        .collect();
    let peers: Vec<_> = peers::gguf_readers()
        .into_iter()
        .map(|(peer, how, reader)| (peer, how, race.enter(move || _ = black_box(reader(path)))))
        .collect();
    let times = race.run(budget);

    let of = |at: usize| Unit::Milliseconds.of(0, times[at]);
    for (task, _, at) in
        ours.iter().filter(|(_, skip, _)| !skip).chain(ours.iter().filter(|(_, skip, _)| *skip))
    {
        let row = Row {
            task: task.clone(),
            unit: Unit::Milliseconds,
            weightstream: of(*at),
            limits: vec![("walk", of(walk)), ("read", of(read))],
            peers: peers.iter().map(|&(peer, how, at)| (peer, how, of(at))).collect(),
        };
        row.print();
    }
}

/// The file is opened and read as in a program, and ends where the data begin.
fn decode(path: &Path, chunk_bytes: usize, skip: bool) -> Told {
    let mut file = open(path);
    let mut buffer = [0; READ_BYTES];
    let mut decoder = Decoder::new([TensorSlot::EMPTY; SLOTS]);
    let mut told = Told::default();
    while !told.is_whole {
        let read = file.read(&mut buffer).expect("the file can be read");
        assert_ne!(read, 0, "the file is whole");
        push_gguf(&mut decoder, &buffer[..read], chunk_bytes, skip, &mut told);
    }
    told
}

fn walk(path: &Path, buffer_bytes: usize) -> u64 {
    crate::walk::Walk::new(open(path), buffer_bytes).header()
}

fn read(path: &Path, buffer_bytes: usize, mut bytes: u64) {
    let mut file = open(path);
    let mut buffer = vec![0; buffer_bytes];
    while bytes > 0 {
        let read = file.read(black_box(&mut buffer)).expect("the file can be read");
        assert_ne!(read, 0, "the file is whole");
        bytes = bytes.saturating_sub(read as u64);
    }
}

fn open(path: &Path) -> File {
    File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn header_bytes(path: &Path) -> u64 {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut decoder = Decoder::new([]);
    push_gguf(&mut decoder, &bytes, bytes.len(), true, &mut Told::default());
    decoder.position()
}

/// That all find as much.
fn check(path: &Path) {
    let told = decode(path, READ_BYTES, false);
    for (chunk, _) in CHUNKS {
        let other = decode(path, chunk, false);
        assert_eq!((told.keys, told.tensors, told.amount), (other.keys, other.tensors, other.amount));
    }
    let skipped = decode(path, READ_BYTES, true);
    assert_eq!((told.keys, told.tensors), (skipped.keys, skipped.tensors));
    assert!(skipped.amount < told.amount / 100, "most of the header is a vocabulary");
    let strings = walk(path, READ_BYTES);
    assert!(strings <= told.texts && told.texts < strings + told.keys + 1000);
    for (peer, _, reader) in peers::gguf_readers() {
        assert_eq!(reader(path), told.keys, "{}: another number of keys", peer.title());
    }
}

/// The header of a safetensors file with so many tensors, all of them recorded.
pub(crate) fn run_safetensors(path: &Path, count: usize, budget: Duration) {
    let slots = RefCell::new(vec![TensorSlot::EMPTY; count]);
    let decode = || {
        let mut slots = slots.borrow_mut();
        let mut decoder = safetensors::Decoder::new(&mut slots[..]);
        let (mut file, mut buffer, mut told) = (open(path), [0; READ_BYTES], Told::default());
        while !told.is_whole {
            let read = file.read(&mut buffer).expect("the file can be read");
            assert_ne!(read, 0, "the file is whole");
            push_safetensors(&mut decoder, &buffer[..read], READ_BYTES, &mut told);
        }
        assert_eq!((told.tensors, decoder.directory().len()), (count as u64, count));
    };
    let file_bytes = fs::metadata(path).expect("the file is there").len();
    let kept = &RefCell::new(Vec::new());
    let mut race = Race::default();
    let ours = race.enter(decode);
    let read = race.enter(|| read(path, READ_BYTES, file_bytes));
    let peer = peers::safetensors_reader().map(|reader| {
        race.enter(move || {
            let mut kept = kept.borrow_mut();
            kept.clear();
            open(path).read_to_end(&mut kept).expect("the file can be read");
            assert_eq!(reader(&kept), count as u64);
        })
    });
    let times = race.run(budget);
    let of = |at: usize| Unit::Milliseconds.of(0, times[at]);
    let row = Row {
        task: format!("safetensors, {count} tensors"),
        unit: Unit::Milliseconds,
        weightstream: of(ours),
        limits: vec![("read", of(read))],
        peers: peer.iter().map(|&at| (Peer::Other, "", of(at))).collect(),
    };
    row.print();
}
