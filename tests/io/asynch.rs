//! Async readers tell the same as blocking ones, also when their calls are cancelled.

use weightstream::io::asynch::{Events, ReadAt, Source, read_rows};
use weightstream::io::{Part, ReadError, RowsError, Seekable};
use weightstream::{ByteOrder, Options, TensorSlot, TensorType};

use crate::files::{File, Passing, Skips, decoder, expected, files, is_whole};
use crate::sources::{Boaster, Drops, Executor, TestFile, block_on};
use crate::support::random::Random;
use crate::support::record::{Full, Recording, Seen, full};
use crate::support::samples::compact;

/// What a reader tells, called again whenever its call was dropped or its source has failed.
fn told<S: Source>(mut events: Events<'_, Full, S>, skips: Skips, executor: &mut Executor) -> Recording
where
    S::Error: Passing,
{
    let (mut recording, mut count) = (Recording::new(), 0);
    loop {
        let seen = match executor.run(events.next()) {
            None | Some(Err(ReadError::Source(_))) => continue,
            Some(Ok(Some(event))) => Seen::from(event),
            Some(Ok(None)) => break,
            Some(Err(ReadError::Decode(error))) => {
                recording.result = Err(error);
                break;
            }
            Some(Err(_)) => panic!("the buffer and the source can be used"),
        };
        recording.note(seen.clone(), events.decoder().position());
        if skips.skips(&seen, count) {
            events.skip_value();
            events.skip_tensor();
        }
        count += usize::from(is_whole(&seen));
    }
    for _ in 0..2 {
        match (block_on(events.next()), recording.result) {
            (Ok(None), Ok(())) => {}
            (Err(ReadError::Decode(again)), Err(error)) => assert_eq!(again, error),
            _ => panic!("something else after {:?}", recording.result),
        }
    }
    recording
}

/// Every kind of reader holds to what is expected. The sum of the waits and of the drops of all kinds.
fn all_kinds(
    file: &File,
    skips: Skips,
    buffer: usize,
    drops: &Drops,
    source: impl Fn(TestFile<'_>) -> TestFile<'_>,
) -> (usize, usize) {
    let expected = expected(file, skips);
    let mut buffer = vec![0x5a; buffer];
    let (mut waits, mut dropped) = (0, 0);
    let mut check = |kind, run: &mut dyn FnMut(&mut Executor) -> Recording| {
        let mut executor = Executor::new(drops.clone());
        let told = run(&mut executor);
        assert_eq!(told, expected, "{}, {kind}, skipping {skips:?}, {drops:?}", file.name);
        waits += executor.waits;
        dropped += executor.dropped;
    };
    let mut larger = vec![b'G'; 50];
    larger.extend_from_slice(&file.bytes);
    let test_file = || source(TestFile::new(&file.bytes));
    check("a stream", &mut |executor| {
        told(Events::new(decoder(file), test_file(), &mut buffer), skips, executor)
    });
    check("a file that seeks", &mut |executor| {
        told(Events::seeking(decoder(file), test_file().spoils(), &mut buffer), skips, executor)
    });
    check("offsets", &mut |executor| {
        told(Events::over(decoder(file), test_file().spoils(), &mut buffer), skips, executor)
    });
    check("a slice", &mut |executor| {
        told(Events::over(decoder(file), &file.bytes[..], &mut buffer), skips, executor)
    });
    check("a package", &mut |executor| {
        let source = source(TestFile::new(&larger)).spoils();
        told(Events::seeking_at(decoder(file), source, &mut buffer, 50), skips, executor)
    });
    (waits, dropped)
}

#[test]
fn short_reads_of_every_size_tell_the_same() {
    let file = File { name: "compact".into(), bytes: compact(3, true).bytes, options: Options::new() };
    for size in 1..=file.bytes.len() {
        all_kinds(&file, Skips::Nothing, 1000, &Drops::Never, |source| source.at_most(size).waits());
    }
}

#[test]
fn good_and_bad_files_tell_the_same_from_every_source() {
    for file in files() {
        for skips in Skips::ALL {
            all_kinds(&file, skips, 200, &Drops::Never, |source| source);
            all_kinds(&file, skips, 64, &Drops::Never, |source| source.fails().waits());
        }
    }
}

/// One call is dropped in each run, at each place where one can be.
#[test]
fn a_call_cancelled_anywhere_loses_nothing() {
    let file = File { name: "compact".into(), bytes: compact(3, false).bytes, options: Options::new() };
    for skips in Skips::ALL {
        let mut last = 0;
        for wait in 0.. {
            let (_, dropped) = all_kinds(&file, skips, 40, &Drops::At(wait), |source| source.waits());
            if dropped == 0 {
                break;
            }
            last = wait;
        }
        // Seeks and reads both wait; the stream waits the least.
        assert!(last > file.bytes.len() / 40, "{skips:?}: no call waited after {last}");
    }
}

#[test]
fn calls_cancelled_at_random_lose_nothing() {
    for (seed, file) in (0..).zip(files()) {
        let drops = Drops::Random(Random::new(seed));
        let (waits, dropped) =
            all_kinds(&file, Skips::Half, 100, &drops, |source| source.waits().at_most(90));
        assert!(dropped > 0 || waits < 20, "{}: {dropped} of {waits}", file.name);
        all_kinds(&file, Skips::Nothing, 100, &drops, |source| source.waits().fails());
    }
}

#[test]
fn a_cancelled_read_makes_the_next_one_seek() {
    let bytes: Vec<u8> = (0..100).collect();
    let mut file = Seekable::new(TestFile::new(&bytes).waits().spoils());
    let mut buffer = [0; 10];
    assert_eq!(block_on(file.read_at(20, &mut buffer)), Ok(10));
    // Reading on waits in the read; after that is dropped, in the seek.
    for wait in [0, 0, 1] {
        let mut executor = Executor::new(Drops::At(wait));
        assert_eq!(executor.run(file.read_at(30, &mut buffer)), None);
    }
    assert_eq!(block_on(file.read_at(30, &mut buffer)), Ok(10));
    assert_eq!(buffer[..], bytes[30..40]);
    let file = file.into_inner();
    assert_eq!(file.seeks.len(), 1 + 1 + 2, "{:?}", file.seeks);
}

#[test]
fn what_cannot_be_used_is_an_error() {
    let bytes = compact(3, false).bytes;
    let mut empty = Events::over(full(Options::new()), &bytes[..], &mut []);
    assert!(matches!(block_on(empty.next()), Err(ReadError::EmptyBuffer)));
    let mut buffer = [0; 30];
    let mut stream = Events::new(full(Options::new()), Boaster, &mut buffer);
    for _ in 0..2 {
        assert!(matches!(block_on(stream.next()), Err(ReadError::SourceOverrun)));
    }
    let mut buffer = [0; 30];
    let part = Part::with_len(Seekable::new(Boaster), 0, 20);
    let mut part = Events::over(full(Options::new()), part, &mut buffer);
    assert!(matches!(block_on(part.next()), Err(ReadError::SourceOverrun)));
}

#[test]
fn a_stream_is_not_read_past_the_end_and_comes_back() {
    let file = crate::jumps::three_tensors();
    let mut bytes = file.bytes.clone();
    bytes.extend_from_slice(b"what follows");
    let mut buffer = [0; 512];
    let mut events = Events::new(full(Options::new()), TestFile::new(&bytes), &mut buffer);
    while block_on(events.next()).unwrap().is_some() {}
    assert!(events.unread().is_empty());
    let (decoder, reader) = events.into_parts();
    assert_eq!(decoder.directory().len(), 3);
    assert_eq!(reader.bytes_read(), file.tensors[2].data + 4000);
}

#[test]
fn rows_are_read_whatever_is_cancelled() {
    let model: Vec<u8> = (0..70).collect();
    let slot = TensorSlot::new(0, 7, 60, 20, 0, TensorType::I8, ByteOrder::Little);
    let expected: Vec<f32> = (27_u8..67).map(f32::from).collect();
    for scratch in [1, 6, 20, 100] {
        for wait in 0.. {
            let mut source = Seekable::new(TestFile::new(&model).waits().spoils().at_most(5));
            let mut executor = Executor::new(Drops::At(wait));
            let (mut scratch, mut out) = (vec![0; scratch], [0.0; 41]);
            let written = loop {
                let call = read_rows(&mut source, &slot, 1..3, &mut scratch, &mut out);
                if let Some(result) = executor.run(call) {
                    break result;
                }
            };
            assert_eq!(written, Ok(40));
            assert_eq!((&out[..40], out[40]), (&expected[..], 0.0));
            if executor.dropped == 0 {
                assert!(wait >= 8, "no call waited");
                break;
            }
        }
    }
    let mut short = &model[..66];
    let result = block_on(read_rows(&mut short, &slot, 0..3, &mut [0; 8], &mut [0.0; 60]));
    assert_eq!(result, Err(RowsError::SourceEnds { offset: 66, missing: 1 }));
    let result = block_on(read_rows(&mut short, &slot, 0..4, &mut [0; 8], &mut [0.0; 80]));
    assert_eq!(result, Err(RowsError::RowsOutside { start: 0, end: 4 }));
}
