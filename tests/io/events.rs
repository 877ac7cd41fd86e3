//! Every blocking reader tells the same, however little its source gives and however often it fails.

use std::error::Error as _;

use weightstream::io::{Events, Part, ReadAt, ReadError, StdFile};
use weightstream::{Decoder, ErrorKind, Event, Options, TensorSlot};

use crate::files::{File, Skips, decoder, expected, files, told};
use crate::sources::{Boaster, Broken, Gives, TestFile};
use crate::support::gguf_writer::{Gguf, Value};
use crate::support::random::Random;
use crate::support::record::{Recording, Seen, full, whole};
use crate::support::samples::compact;

/// A file of every kind holds to what is expected.
fn all_kinds(file: &File, skips: Skips, buffer: usize, source: impl Fn(TestFile<'_>) -> TestFile<'_>) {
    let expected = expected(file, skips);
    let mut buffer = vec![0x5a; buffer];
    let size = buffer.len();
    let check = |told: Recording, kind| {
        assert_eq!(told, expected, "{}, {kind}, skipping {skips:?}, buffer of {size}", file.name);
    };
    let test_file = || source(TestFile::new(&file.bytes));
    check(told(Events::new(decoder(file), test_file(), &mut buffer), skips), "a stream");
    check(told(Events::seeking(decoder(file), test_file(), &mut buffer), skips), "a file that seeks");
    check(told(Events::over(decoder(file), test_file(), &mut buffer), skips), "offsets");
    check(told(Events::over(decoder(file), StdFile::new(test_file()), &mut buffer), skips), "a host's file");
    check(told(Events::over(decoder(file), &file.bytes[..], &mut buffer), skips), "a slice");

    // What is around the model would be taken for a model.
    let base = 24 + size as u64;
    let around = b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let mut larger = around.to_vec();
    larger.resize(base as usize, b'G');
    larger.extend_from_slice(&file.bytes);
    let within = || source(TestFile::new(&larger));
    check(told(Events::seeking_at(decoder(file), within(), &mut buffer, base), skips), "a package");
    larger.extend_from_slice(around);
    let part = Part::with_len(source(TestFile::new(&larger)), base, file.bytes.len() as u64);
    check(told(Events::over(decoder(file), part, &mut buffer), skips), "a partition");
}

#[test]
fn short_reads_of_every_size_tell_the_same() {
    for (version, big_endian) in [(3, false), (1, true)] {
        let bytes = compact(version, big_endian).bytes;
        let file = File { name: format!("compact of version {version}"), bytes, options: Options::new() };
        for size in 1..=file.bytes.len() {
            all_kinds(&file, Skips::Nothing, 1000, |source| source.at_most(size));
        }
    }
}

#[test]
fn buffers_of_every_size_tell_the_same() {
    let file = File { name: "compact".into(), bytes: compact(3, false).bytes, options: Options::new() };
    for size in 1..=file.bytes.len() + 1 {
        for skips in Skips::ALL {
            all_kinds(&file, skips, size, |source| source);
        }
    }
}

#[test]
fn good_and_bad_files_tell_the_same_from_every_source() {
    for file in files() {
        for skips in Skips::ALL {
            all_kinds(&file, skips, 512, |source| source);
        }
        all_kinds(&file, Skips::Nothing, 7, |source| source);
        all_kinds(&file, Skips::Half, 64, |source| source.at_most(13));
    }
}

#[test]
fn reads_of_random_size_tell_the_same() {
    for (seed, file) in (0..).zip(files()) {
        all_kinds(&file, Skips::Nothing, 100, |source| source.gives(Gives::Random(Random::new(seed), 40)));
        all_kinds(&file, Skips::Everything, 9, |source| source.gives(Gives::Random(Random::new(seed), 9)));
    }
}

/// A failed call may leave a file anywhere, but for a stream.
#[test]
fn a_source_that_fails_is_asked_again_and_nothing_is_lost() {
    for file in files() {
        for skips in [Skips::Nothing, Skips::Half] {
            all_kinds(&file, skips, 128, |source| source.fails().at_most(100));
            let expected = expected(&file, skips);
            let spoiled = || TestFile::new(&file.bytes).fails().spoils();
            let mut buffer = [0; 90];
            let seeking = Events::seeking(decoder(&file), spoiled(), &mut buffer);
            assert_eq!(told(seeking, skips), expected, "{}", file.name);
            let std_file = Events::over(decoder(&file), StdFile::new(spoiled()), &mut buffer);
            assert_eq!(told(std_file, skips), expected, "{}", file.name);
        }
    }
}

#[test]
fn the_error_of_a_source_is_told_as_it_is() {
    let bytes = compact(3, false).bytes;
    let mut buffer = [0; 64];
    let mut events = Events::new(full(Options::new()), TestFile::new(&bytes).fails(), &mut buffer);
    let error = events.next().unwrap_err();
    assert_eq!(error, ReadError::Source(Broken));
    assert_eq!(error.to_string(), "the source failed: the cable is out");
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("the cable is out"));
    assert!(matches!(events.next(), Ok(Some(Event::Header(_)))));
}

#[test]
fn an_error_of_the_file_is_told_as_the_decoder_tells_it() {
    let mut buffer = [0; 64];
    let mut events = Events::new(full(Options::new()), &b"GGUF\x07\0\0\0"[..], &mut buffer);
    let Err(ReadError::Decode(error)) = events.next() else { panic!("the version should be refused") };
    assert!(matches!(error.kind(), ErrorKind::UnsupportedVersion { .. }), "{error}");
    assert_eq!(events.next().unwrap_err().to_string(), error.to_string());
    assert!(events.next().unwrap_err().source().is_none());
    assert_eq!(events.decoder().context().index, None);
}

/// No end of the file: that would be told as one cut short.
#[test]
fn a_buffer_of_no_bytes_is_an_error() {
    let bytes = compact(3, false).bytes;
    let mut over = Events::over(full(Options::new()), &bytes[..], &mut []);
    let mut stream = Events::new(full(Options::new()), &bytes[..], &mut []);
    for _ in 0..2 {
        assert!(matches!(over.next(), Err(ReadError::EmptyBuffer)));
        assert!(matches!(stream.next(), Err(ReadError::EmptyBuffer)));
    }
}

/// Then nobody knows which bytes it has read: no later call goes on.
#[test]
fn a_source_that_claims_too_much_is_an_error() {
    for size in [1, 64] {
        let mut buffer = vec![0; size];
        let mut stream = Events::new(full(Options::new()), Boaster, &mut buffer);
        assert_eq!(stream.next().unwrap_err(), ReadError::SourceOverrun);
        assert_eq!(stream.next().unwrap_err(), ReadError::SourceOverrun);
        let mut seeking = Events::seeking(full(Options::new()), Boaster, &mut buffer);
        assert_eq!(seeking.next().unwrap_err(), ReadError::SourceOverrun);
        // A part that is smaller than the buffer.
        let mut part = Events::over(full(Options::new()), Part::with_len(Boaster, 3, 20), &mut buffer);
        assert_eq!(part.next().unwrap_err(), ReadError::SourceOverrun);
    }
}

/// Not even where the source comes to its senses: what came meanwhile is lost.
#[test]
fn after_a_claim_of_too_much_nothing_is_told() {
    struct Once<'a>(&'a [u8], bool);
    impl embedded_io::ErrorType for Once<'_> {
        type Error = std::convert::Infallible;
    }
    impl embedded_io::Read for Once<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error> {
            let count = embedded_io::Read::read(&mut self.0, buffer)?;
            self.1 = !self.1;
            Ok(if self.1 { count } else { buffer.len() + 1 })
        }
    }
    let bytes = compact(3, false).bytes;
    let mut buffer = [0; 24];
    let mut events = Events::new(full(Options::new()), Once(&bytes, false), &mut buffer);
    assert!(matches!(events.next(), Ok(Some(Event::Header(_)))));
    for _ in 0..3 {
        assert_eq!(events.next().unwrap_err(), ReadError::SourceOverrun);
    }
}

/// So that another file, or anything else, may follow in a stream.
#[test]
fn a_stream_is_not_read_past_the_end_of_the_file() {
    let file = crate::jumps::three_tensors();
    let mut bytes = file.bytes.clone();
    bytes.extend_from_slice(b"what follows");
    let mut reader = TestFile::new(&bytes);
    let mut buffer = [0; 512];
    let mut events = Events::new(full(Options::new()), &mut reader, &mut buffer);
    while events.next().unwrap().is_some() {}
    assert!(events.unread().is_empty());
    assert_eq!(reader.bytes_read(), file.tensors[2].data + 4000);
}

/// In a small file the end is known too late; then those bytes are had from the reader.
#[test]
fn what_was_read_too_much_of_a_stream_is_kept() {
    let mut bytes = compact(3, false).bytes;
    let end = bytes.len();
    bytes.extend_from_slice(b"what follows");
    let mut reader = &bytes[..];
    let mut buffer = [0; 2000];
    let mut events = Events::new(full(Options::new()), &mut reader, &mut buffer);
    while events.next().unwrap().is_some() {}
    assert_eq!(events.unread(), b"what follows");
    let (decoder, reader) = events.into_parts();
    assert!(reader.is_empty());
    assert_eq!((decoder.position(), decoder.directory().len()), (end as u64, 4));
}

/// Such as one that was restored after a reboot.
#[test]
fn a_decoder_that_has_begun_goes_on() {
    let bytes = compact(3, false).bytes;
    let expected = whole(&bytes, Options::new());
    for at in 0..bytes.len() {
        let mut decoder = full(Options::new());
        let mut before = Recording::new();
        before.push(&mut decoder, &bytes[..at]);
        let mut buffer = [0; 7];
        let (mut stream, mut file) = (before.clone(), before);
        let mut events = Events::new(decoder.clone(), &bytes[at..], &mut buffer);
        while let Some(event) = events.next().unwrap() {
            stream.note(Seen::from(event), 0);
        }
        let mut events = Events::over(decoder, &bytes[..], &mut buffer);
        while let Some(event) = events.next().unwrap() {
            file.note(Seen::from(event), 0);
        }
        assert_eq!(stream.events, expected.events, "a stream from {at}");
        assert_eq!(file.events, expected.events, "a file from {at}");
    }
}

/// It would never consume what follows, and be given it again and again.
#[test]
fn a_decoder_that_has_ended_reads_nothing() {
    struct Untouched;
    impl embedded_io::ErrorType for Untouched {
        type Error = Broken;
    }
    impl embedded_io::Read for Untouched {
        fn read(&mut self, _: &mut [u8]) -> Result<usize, Broken> {
            Err(Broken)
        }
    }
    impl ReadAt for Untouched {
        type Error = Broken;
        fn read_at(&mut self, _: u64, _: &mut [u8]) -> Result<usize, Broken> {
            Err(Broken)
        }
        fn size(&mut self) -> Result<u64, Broken> {
            Err(Broken)
        }
    }
    let no_tensors = Gguf::new().entry("key", Value::U8(1)).write();
    for bytes in [compact(3, false).bytes, no_tensors.bytes] {
        let mut decoder = full(Options::new());
        Recording::new().push(&mut decoder, &bytes);
        let mut buffer = [0; 7];
        let mut stream = Events::new(decoder.clone(), Untouched, &mut buffer);
        assert!(matches!(stream.next(), Ok(None)));
        let mut file = Events::over(decoder, Untouched, &mut buffer);
        assert!(matches!(file.next(), Ok(None)));
        assert!(matches!(file.next(), Ok(None)));
    }
}

#[test]
fn any_memory_and_any_scratch_do() {
    let file = File { name: "compact".into(), bytes: compact(3, false).bytes, options: Options::new() };
    let mut slots = [TensorSlot::EMPTY; 4];
    let mut buffer = [0; 32];
    let small = Decoder::<_, 64>::with_scratch(&mut slots[..], Options::new());
    let mut events = Events::over(small, &file.bytes[..], &mut buffer);
    let mut count = 0;
    while events.next().unwrap().is_some() {
        count += 1;
    }
    assert!(count >= expected(&file, Skips::Nothing).events.len());
    let ((recorded, filled), source) = {
        let (decoder, source) = events.into_parts();
        (decoder.into_parts(), source)
    };
    assert_eq!((recorded.len(), filled, source.len()), (4, 4, file.bytes.len()));
}
