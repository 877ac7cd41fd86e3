//! Every reader tells of a safetensors file what the decoder tells of one slice, bytes behind the data included.

use weightstream::io::{self, Events, Part, ReadError, Source, StdFile};
use weightstream::{ErrorKind, Event, Options, Section};

use crate::cuts::good_files;
use crate::sources::{Gives, TestFile, block_on};
use crate::support::random::Random;
use crate::support::record::{Recording, Seen};
use crate::support::safetensors_writer::{Full, compact, file, full, whole, worked_example};

/// Good files, each with a byte too much and one too few, and bad ones.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for (name, bytes) in good_files() {
        files.push((format!("{name} cut"), bytes[..bytes.len() - 1].to_vec()));
        files.push((format!("{name} and more"), [&bytes[..], b" "].concat()));
        files.push((format!("{name} and much more"), [&bytes[..], &[0; 3000]].concat()));
        files.push((name.to_owned(), bytes));
    }
    files.push(("bad JSON".into(), file("{]", &[])));
    files.push(("nothing at all".into(), Vec::new()));
    files
}

/// What must be told: what the decoder tells of one slice, skipping every other tensor if so chosen.
fn expected(bytes: &[u8], skip: bool) -> Recording {
    let mut decoder = full(Options::new());
    let mut recording = Recording::new();
    let mut tensors = 0;
    recording.push_and(&mut decoder, bytes, |decoder, seen| {
        if skip && skips(seen, &mut tensors) {
            decoder.skip_tensor();
        }
    });
    Recording { position: None, ..recording.close(&decoder) }
}

fn skips(seen: &Seen, tensors: &mut usize) -> bool {
    let is_tensor = matches!(seen, Seen::Tensor { .. });
    *tensors += usize::from(is_tensor);
    is_tensor && tensors.is_multiple_of(2)
}

/// What a reader tells, called again whenever its source has failed.
fn told<S: Source>(mut events: Events<'_, Full, S>, skip: bool) -> Recording {
    let (mut recording, mut tensors) = (Recording::new(), 0);
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
        if skip && skips(&seen, &mut tensors) {
            events.skip_tensor();
        }
    }
    for _ in 0..2 {
        match (events.next(), recording.result) {
            (Ok(None), Ok(())) => {}
            (Err(ReadError::Decode(again)), Err(error)) => assert_eq!(again, error),
            _ => panic!("something else after {:?}", recording.result),
        }
    }
    recording
}

/// A file of every kind, except that what jumps may not see which tensor of a cut file is the first that lacks bytes.
fn all_kinds<'b>(
    (name, bytes): &'b (String, Vec<u8>),
    skip: bool,
    buffer: usize,
    source: impl Fn(TestFile<'b>) -> TestFile<'b>,
) {
    let expected = expected(bytes, skip);
    let mut buffer = vec![0x5a; buffer];
    let size = buffer.len();
    let check = |told: Recording, kind: &str| {
        assert_eq!(told, expected, "{name}, {kind}, skipping {skip}, buffer of {size}");
    };
    let test_file = || source(TestFile::new(bytes));
    let decoder = || full(Options::new());
    check(told(Events::new(decoder(), test_file(), &mut buffer), skip), "a stream");
    check(told(Events::seeking(decoder(), test_file(), &mut buffer), skip), "a file that seeks");
    check(told(Events::over(decoder(), test_file(), &mut buffer), skip), "offsets");
    check(told(Events::over(decoder(), StdFile::new(test_file()), &mut buffer), skip), "a host's file");
    check(told(Events::over(decoder(), &bytes[..], &mut buffer), skip), "a slice");
}

#[test]
fn every_reader_tells_what_the_decoder_tells_of_one_slice() {
    for file in files() {
        for skip in [false, true] {
            for buffer in [1, 7, 64, 5000] {
                all_kinds(&file, skip, buffer, |source| source);
            }
            all_kinds(&file, skip, 100, |source| source.at_most(3));
            all_kinds(&file, skip, 100, |source| source.gives(Gives::Random(Random::new(1), 40)));
            all_kinds(&file, skip, 100, |source| source.fails().at_most(11));
        }
    }
}

#[test]
fn short_reads_and_buffers_of_every_size_tell_the_same() {
    for (name, bytes) in [("compact", compact()), ("compact and more", [compact(), vec![1]].concat())] {
        let file = (name.to_owned(), bytes);
        for size in 1..=file.1.len() + 1 {
            all_kinds(&file, false, 1000, |source| source.at_most(size));
            all_kinds(&file, true, size, |source| source);
        }
    }
}

/// A part of a larger file ends where it says, and a byte behind that is nobody's.
#[test]
fn a_part_is_the_whole_file_for_its_reader() {
    let bytes = worked_example();
    let larger = [&[9; 24], &bytes[..], b"behind it"].concat();
    let read = |len: u64| {
        let part = Part::with_len(&larger[..], 24, len);
        told(Events::over(full(Options::new()), part, &mut [0; 50]), false)
    };
    assert_eq!(read(169), expected(&bytes, false));
    let error = read(170).error();
    assert_eq!(
        (error.kind(), error.offset(), error.section()),
        (ErrorKind::TrailingBytes, 169, Section::Data)
    );
    assert!(matches!(read(168).error().kind(), ErrorKind::Truncated { needed: 8, got: 7 }));
    // Where the model starts is known, its end is that of the file.
    let cut = &larger[..24 + 169];
    let mut buffer = [0; 50];
    let reader = Events::seeking_at(full(Options::new()), TestFile::new(cut), &mut buffer, 24);
    assert_eq!(told(reader, false), expected(&bytes, false));
}

fn told_async<S: io::asynch::Source>(mut events: io::asynch::Events<'_, Full, S>) -> Recording {
    let mut recording = Recording::new();
    loop {
        let seen = match block_on(events.next()) {
            Ok(Some(event)) => Seen::from(event),
            Ok(None) => return recording,
            Err(ReadError::Decode(error)) => {
                recording.result = Err(error);
                return recording;
            }
            Err(_) => panic!("the buffer and the source can be used"),
        };
        recording.note(seen, events.decoder().position());
    }
}

#[test]
fn readers_that_wait_tell_the_same() {
    for (name, bytes) in files() {
        let expected = expected(&bytes, false);
        for size in [1, 13, 4000] {
            let mut buffer = vec![0; size];
            let source = || TestFile::new(&bytes).waits();
            let stream = io::asynch::Events::new(full(Options::new()), source(), &mut buffer);
            assert_eq!(told_async(stream), expected, "{name}, a stream, {size}");
            let over = io::asynch::Events::over(full(Options::new()), source(), &mut buffer);
            assert_eq!(told_async(over), expected, "{name}, offsets, {size}");
        }
    }
}

/// A file of a terabyte: what nobody wants is not read, and its end is found by jumping.
#[test]
fn a_reader_jumps_over_what_nobody_wants() {
    let tera = 1_u64 << 40;
    let header = format!(
        r#"{{"big":{{"dtype":"U8","shape":[{tera}],"data_offsets":[4,{}]}},"a":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}}}"#,
        tera + 4
    );
    let head = file(header, &[1, 2, 3, 4]);
    let end = head.len() as u64 + tera;
    for (size, ok) in [(end, true), (end - 1, false), (end + 1, false)] {
        let mut buffer = [0; 256];
        let mut events = Events::seeking(full(Options::new()), TestFile::sparse(&head, size), &mut buffer);
        let mut data = Vec::new();
        let result = loop {
            let skip = match events.next() {
                Ok(Some(Event::Tensor { name, .. })) => name == "big",
                Ok(Some(Event::Data(blocks))) => {
                    data.extend(blocks.bytes());
                    false
                }
                Ok(Some(_)) => false,
                Ok(None) => break Ok(()),
                Err(ReadError::Decode(error)) => break Err(error),
                Err(_) => panic!("the file can be read"),
            };
            if skip {
                events.skip_tensor();
            }
        };
        assert_eq!((result.is_ok(), &data[..]), (ok, &[1, 2, 3, 4][..]), "{result:?}");
        let source = events.into_parts().1.into_inner();
        assert!(source.bytes_read() < 2000, "{} bytes were read", source.bytes_read());
    }
    assert!(whole(&head, Options::new()).result.is_err());
}

/// What a stream gives, and how much of it was asked for at once.
struct Asked<'a>(&'a [u8], Vec<usize>);

impl embedded_io::ErrorType for Asked<'_> {
    type Error = core::convert::Infallible;
}

impl embedded_io::Read for Asked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        self.1.push(buffer.len());
        embedded_io::Read::read(&mut self.0, buffer)
    }
}

/// On a stream that goes on with something else, no more than one byte of that is lost.
#[test]
fn one_byte_is_asked_for_behind_the_end() {
    let bytes = [&worked_example()[..], b"something else"].concat();
    let mut stream = Asked(&bytes, Vec::new());
    // Too small to hold the end of the header and all of the data: then more has come before the end was known.
    let mut buffer = [0; 16];
    let mut events = Events::new(full(Options::new()), &mut stream, &mut buffer);
    let error = loop {
        match events.next() {
            Ok(event) => assert!(event.is_some(), "a byte behind the end is an error"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, ReadError::Decode(error) if error.kind() == ErrorKind::TrailingBytes));
    assert_eq!(stream.1.last(), Some(&1));
    assert_eq!(stream.0, b"omething else");
}
