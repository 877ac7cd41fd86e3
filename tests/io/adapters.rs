//! What makes a source of a slice, of a file, of a part of a larger source.

use std::io::Cursor;

use embedded_io::SeekFrom;
use weightstream::io::{Part, ReadAt, Seekable, StdFile};

use crate::sources::{Broken, TestFile};

const LEN: usize = 40;

fn bytes() -> Vec<u8> {
    (1..=LEN as u8).collect()
}

/// Every offset and length gives the bytes that a slice has there, and 0 where it has none; and the size is right.
#[track_caller]
pub fn is_like<S: ReadAt>(source: &mut S, bytes: &[u8])
where
    S::Error: std::fmt::Debug,
{
    assert_eq!(source.size().unwrap(), bytes.len() as u64);
    let far = [u64::from(u32::MAX), 1 << 32, (1 << 32) + 3, i64::MAX as u64, u64::MAX - 1, u64::MAX];
    for offset in (0..bytes.len() as u64 + 3).chain(far) {
        let rest = usize::try_from(offset).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
        for len in 0..rest.len() + 5 {
            reads_like(source, offset, rest, len);
        }
    }
    assert_eq!(source.size().unwrap(), bytes.len() as u64);
}

/// Reads `len` bytes, in as many calls as it takes.
fn reads_like<S: ReadAt>(source: &mut S, offset: u64, rest: &[u8], len: usize)
where
    S::Error: std::fmt::Debug,
{
    let mut buffer = vec![0xee; len];
    let expected = &rest[..len.min(rest.len())];
    let mut have = 0;
    while have < expected.len() {
        let count = source.read_at(offset + have as u64, &mut buffer[have..]).unwrap();
        assert!(count > 0, "the end comes too early, {have} bytes after {offset}");
        have += count;
    }
    assert_eq!(&buffer[..have], expected, "{len} bytes at {offset}");
    if len > expected.len() {
        assert_eq!(source.read_at(offset.saturating_add(have as u64), &mut buffer[have..]).unwrap(), 0);
    }
    assert!(buffer[have..].iter().all(|byte| *byte == 0xee), "something is written behind the end");
    assert_eq!(source.read_at(offset, &mut []).unwrap(), 0);
}

#[test]
fn every_source_reads_like_a_slice() {
    let bytes = bytes();
    is_like(&mut &bytes[..], &bytes);
    let mut copy = bytes.clone();
    is_like(&mut &mut copy[..], &bytes);
    for most in [1, 7, LEN] {
        is_like(&mut Seekable::new(TestFile::new(&bytes).at_most(most)), &bytes);
        is_like(&mut StdFile::new(TestFile::new(&bytes).at_most(most)), &bytes);
    }
    // Its seeks go past its end.
    is_like(&mut StdFile::new(Cursor::new(&bytes)), &bytes);
    is_like(&mut &mut Seekable::new(TestFile::new(&bytes)), &bytes);
    is_like(&mut &[][..], &[]);
    is_like(&mut Seekable::new(TestFile::new(&[])), &[]);
}

#[test]
fn a_part_reads_like_the_slice_of_it() {
    let bytes = bytes();
    for base in [0, 1, 13, LEN - 1, LEN] {
        is_like(&mut Part::new(&bytes[..], base as u64), &bytes[base..]);
        is_like(&mut Part::new(Seekable::new(TestFile::new(&bytes)), base as u64), &bytes[base..]);
        for len in [0, 1, LEN - base] {
            let mut part = Part::with_len(TestFile::new(&bytes), base as u64, len as u64);
            is_like(&mut part, &bytes[base..(base + len).min(LEN)]);
        }
        // No more than there is.
        is_like(&mut Part::with_len(&bytes[..], base as u64, 1000), &bytes[base..]);
    }
    for base in [LEN as u64 + 1, 1 << 40, u64::MAX] {
        is_like(&mut Part::new(&bytes[..], base), &[]);
        is_like(&mut Part::with_len(&bytes[..], base, 5), &[]);
    }
    let inner = Part::with_len(&bytes[..], 10, 20);
    is_like(&mut Part::new(inner, 5), &bytes[15..30]);
    assert_eq!(Part::new(inner, 5).into_inner().into_inner(), bytes);
}

#[test]
fn reading_on_does_not_seek() {
    let bytes = bytes();
    let mut file = Seekable::new(TestFile::new(&bytes).at_most(9));
    let mut buffer = [0; 10];
    let mut offset = 3;
    while let count @ 1.. = file.read_at(offset, &mut buffer).unwrap() {
        offset += count as u64;
    }
    assert_eq!(offset, LEN as u64);
    assert_eq!(file.into_inner().seeks, [SeekFrom::End(0), SeekFrom::Start(3)]);
}

#[test]
fn a_file_that_is_elsewhere_is_sought_first() {
    let bytes = bytes();
    let mut moved = TestFile::new(&bytes);
    embedded_io::Seek::seek(&mut moved, SeekFrom::Start(30)).unwrap();
    let mut file = Seekable::new(moved);
    let mut buffer = [0; 4];
    assert_eq!(file.read_at(0, &mut buffer), Ok(4));
    assert_eq!(buffer[..], bytes[..4]);
}

#[test]
fn after_an_error_the_position_is_not_trusted() {
    let bytes = bytes();
    let mut file = Seekable::new(TestFile::new(&bytes).fails().spoils());
    let mut buffer = [0; 4];
    for offset in [0, 4, 8, 30] {
        let mut failures = 0;
        while let Err(error) = file.read_at(offset, &mut buffer) {
            assert_eq!(error, Broken);
            failures += 1;
            assert!(failures < 5, "it seeks and fails again and again");
        }
        assert!(failures > 0);
        assert_eq!(buffer[..], bytes[offset as usize..][..4], "at {offset}");
    }
}

/// A signal may come at any time; it is no error.
#[test]
fn interrupted_calls_of_the_host_are_made_again() {
    let bytes = bytes();
    is_like(&mut StdFile::new(TestFile::new(&bytes).fails().at_most(3)), &bytes);
}

#[test]
fn other_errors_of_the_host_are_told() {
    struct Bad;
    impl std::io::Read for Bad {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::NotFound.into())
        }
    }
    impl std::io::Seek for Bad {
        fn seek(&mut self, _: std::io::SeekFrom) -> std::io::Result<u64> {
            Ok(0)
        }
    }
    let mut file = StdFile::new(Bad);
    assert_eq!(file.size().unwrap(), 0);
    let error = file.read_at(0, &mut [0; 3]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

/// Another place than the one asked for has other bytes.
#[test]
fn a_seek_that_ends_elsewhere_is_the_end() {
    struct Clamping(u64);
    impl embedded_io::ErrorType for Clamping {
        type Error = Broken;
    }
    impl embedded_io::Read for Clamping {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Broken> {
            buffer.fill(1);
            Ok(buffer.len())
        }
    }
    impl embedded_io::Seek for Clamping {
        fn seek(&mut self, to: SeekFrom) -> Result<u64, Broken> {
            Ok(match to {
                SeekFrom::Start(offset) => offset.min(self.0),
                _ => 1000,
            })
        }
    }
    let mut file = Seekable::new(Clamping(500));
    assert_eq!(file.read_at(500, &mut [0; 3]), Ok(3));
    assert_eq!(file.read_at(501, &mut [0; 3]), Ok(0));
}
