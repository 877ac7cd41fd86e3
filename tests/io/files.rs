//! The files that readers are tried on, and what must be told of them.

use std::fs;

use weightstream::io::{Events, ReadError, Source};
use weightstream::{Decoder, Error, Options, TensorSlot};

use crate::sources::Broken;
use crate::support::record::{Full, Recording, Seen, full, lenient};
use crate::support::samples::{compact, corpus_file, corpus_names, corpus_options, data_dir, long_names};

pub struct File {
    pub name: String,
    pub bytes: Vec<u8>,
    pub options: Options,
}

/// Good files, bad ones, and good ones cut short.
pub fn files() -> Vec<File> {
    let mut files: Vec<File> = corpus_names()
        .into_iter()
        .map(|name| File { bytes: corpus_file(&name), options: corpus_options(&name), name })
        .collect();
    for (name, file) in [("compact", compact(3, false)), ("compact, old", compact(1, true))] {
        let cuts = [20, 90, file.metadata_end as usize + 3, file.bytes.len() - 1, file.bytes.len()];
        for cut in cuts {
            let (name, bytes) = (format!("{name} up to {cut}"), file.bytes[..cut].to_vec());
            files.push(File { name, bytes, options: Options::new() });
        }
    }
    files.push(File { name: "long names".into(), bytes: long_names().bytes, options: Options::new() });
    let malformed = fs::read_dir(data_dir().join("malformed")).expect("the malformed files are there");
    for entry in malformed.map(|entry| entry.expect("an entry")) {
        let name = entry.file_name().into_string().expect("a name");
        let bytes = fs::read(entry.path()).expect("its bytes");
        for (how, options) in [("", Options::new()), (", lenient", lenient())] {
            files.push(File { name: format!("{name}{how}"), bytes: bytes.clone(), options });
        }
    }
    assert!(files.len() > 200, "files are missing");
    files
}

/// What the caller does after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skips {
    Nothing,
    /// Every other value and every other tensor.
    Half,
    Everything,
}

impl Skips {
    pub const ALL: [Self; 3] = [Self::Nothing, Self::Half, Self::Everything];

    /// Whether to skip what the event begins. `count` says how many came before it.
    pub fn skips(self, event: &Seen, count: usize) -> bool {
        let begins = matches!(event, Seen::Key { .. } | Seen::Tensor { .. } | Seen::ArrayStart { .. });
        begins && (self == Self::Everything || self == Self::Half && count.is_multiple_of(2))
    }
}

/// What must be told of a file: what the decoder tells of it as one slice.
pub fn expected(file: &File, skips: Skips) -> Recording {
    let mut decoder = full(file.options);
    let (mut recording, mut count) = (Recording::new(), 0);
    recording.push_and(&mut decoder, &file.bytes, |decoder, seen| {
        if skips.skips(seen, count) {
            decoder.skip_value();
            decoder.skip_tensor();
        }
        // Pieces of one thing are counted once, so that the count does not depend on chunks.
        count += usize::from(is_whole(seen));
    });
    unplaced(recording.close(&decoder))
}

/// Whether the event comes once, whatever the chunks.
pub fn is_whole(seen: &Seen) -> bool {
    !matches!(seen, Seen::Text { .. } | Seen::Items { .. } | Seen::Data { .. })
}

/// Without the last position, which after an error depends on the chunks.
fn unplaced(recording: Recording) -> Recording {
    Recording { position: None, ..recording }
}

/// An error of a source that only fails for a while.
pub trait Passing {}
impl Passing for Broken {}
impl Passing for std::convert::Infallible {}
impl Passing for std::io::Error {}
impl Passing for embedded_storage::nor_flash::NorFlashErrorKind {}

/// What a reader tells, called again whenever its source has failed.
pub fn told<S: Source>(mut events: Events<'_, Full, S>, skips: Skips) -> Recording
where
    S::Error: Passing,
{
    let (mut recording, mut count) = (Recording::new(), 0);
    loop {
        let seen = match events.next() {
            Ok(Some(event)) => Seen::from(event),
            Ok(None) => break,
            Err(ReadError::Source(_)) => continue,
            Err(ReadError::Decode(error)) => {
                recording.result = Err(error);
                break;
            }
            Err(_) => panic!("the buffer and the source can be used"),
        };
        recording.note(seen.clone(), events.decoder().position());
        if skips.skips(&seen, count) {
            events.skip_value();
            events.skip_tensor();
        }
        count += usize::from(is_whole(&seen));
    }
    holds_on_to(&mut events, recording.result);
    recording
}

/// After the last word nothing else comes, whatever the caller asks for.
fn holds_on_to<S: Source>(events: &mut Events<'_, Full, S>, last: Result<(), Error>) {
    for _ in 0..3 {
        match (events.next(), last) {
            (Ok(None), Ok(())) => {}
            (Err(ReadError::Decode(again)), Err(error)) => assert_eq!(again, error),
            _ => panic!("something else after {last:?}"),
        }
        events.skip_value();
        events.skip_tensor();
    }
}

/// A decoder for a file.
pub fn decoder(file: &File) -> Decoder<[TensorSlot; 40]> {
    full(file.options)
}
