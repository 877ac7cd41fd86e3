//! Sources that can be read at any offset are read only where somebody asks for the bytes.

use embedded_io::SeekFrom;
use weightstream::io::{Events, ReadError, read_rows};
use weightstream::{Decoder, Error, ErrorKind, Event, Layout, Options, TensorSlot};

use crate::files::{Skips, decoder, files, told};
use crate::sources::TestFile;
use crate::support::gguf_writer::{Gguf, Tensor, Value, Written};
use crate::support::record::full;

/// Three tensors of 4000 bytes each, padding between and behind them.
pub fn three_tensors() -> Written {
    let data = |value: u8| vec![value; 4000];
    Gguf::new()
        .alignment(256)
        .entry("long", Value::text("text".repeat(2000)))
        .tensor(Tensor::new("a", 24, &[1000, 4], data(1)))
        .tensor(Tensor::new("b", 24, &[1000, 4], data(2)))
        .tensor(Tensor::new("c", 24, &[1000, 4], data(3)))
        .write()
}

/// Reads with all values skipped, and all tensors but one.
fn read_one(source: &mut TestFile<'_>, wanted: &str, buffer: usize) -> Result<u64, Error> {
    let mut buffer = vec![0; buffer];
    let mut events = Events::seeking(full(Options::new()), source, &mut buffer);
    let mut told = 0;
    loop {
        let skips = match events.next() {
            Ok(Some(Event::Key { .. })) => true,
            Ok(Some(Event::Tensor { name, .. })) => name != wanted,
            Ok(Some(Event::Data(blocks))) => {
                told += blocks.bytes().len() as u64;
                false
            }
            Ok(Some(_)) => false,
            Ok(None) => return Ok(told),
            Err(ReadError::Decode(error)) => return Err(error),
            Err(error) => panic!("{error}"),
        };
        if skips {
            events.skip_value();
            events.skip_tensor();
        }
    }
}

#[test]
fn only_the_wanted_tensor_is_read() {
    let file = three_tensors();
    for (index, name) in ["a", "b", "c"].iter().enumerate() {
        for buffer in [64, 512, 3000] {
            let mut source = TestFile::new(&file.bytes);
            assert_eq!(read_one(&mut source, name, buffer), Ok(4000));
            let tensor = file.tensors[index].data;
            let (last, count) = *source.reads.last().unwrap();
            assert_eq!(last + count as u64, tensor + 4000, "{name}, buffer of {buffer}");
            // The last read of the header does not know yet what comes.
            let header_end = file.metadata_end + buffer as u64;
            let between = |(offset, _): &&(u64, usize)| *offset > header_end && *offset < tensor;
            assert_eq!(source.reads.iter().find(between), None, "{name}, buffer of {buffer}");
            assert!(source.bytes_read() < 4000 + 4 * buffer as u64 + 500, "{name}: {:?}", source.reads);
        }
    }
}

/// Without a wanted one the header alone is read: the size says that the rest is there.
#[test]
fn nothing_is_read_where_nothing_is_wanted() {
    let file = three_tensors();
    let mut source = TestFile::new(&file.bytes);
    assert_eq!(read_one(&mut source, "none", 64), Ok(0));
    assert!(source.bytes_read() < 500, "{:?}", source.reads);
    let ends = source.seeks.iter().filter(|to| matches!(to, SeekFrom::End(_))).count();
    assert_eq!(ends, 1, "the size was asked for again: {:?}", source.seeks);
}

/// The same, for a file that says more than is there.
#[test]
fn no_jump_goes_past_the_end_of_the_source() {
    let file = three_tensors();
    for cut in [file.tensors[0].data, file.tensors[1].data + 5, file.tensors[2].data + 3999] {
        let bytes = &file.bytes[..cut as usize];
        let mut source = TestFile::new(bytes);
        let error = read_one(&mut source, "none", 64).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{error}");
        // The source would have panicked.
        let past = |to: &&SeekFrom| matches!(to, SeekFrom::Start(offset) if *offset > cut);
        assert_eq!(source.seeks.iter().find(past), None);
    }
}

#[test]
fn the_last_tensor_of_a_huge_file_costs_its_header_and_itself() {
    let huge = 5 * (1_u64 << 30);
    let file = Gguf::new()
        .entry("tokens", Value::array(vec![Value::text("token"); 1000]))
        .tensor(Tensor::hollow("huge", 24, &[1 << 20, 5 << 10], huge))
        .tensor(Tensor::hollow("last", 8, &[256, 64], 272 * 64))
        .write();
    let last = file.data_offset + huge;
    let len = last + 272 * 64;
    for buffer in [16, 512, 65_536] {
        let mut source = TestFile::sparse(&file.bytes, len);
        assert_eq!(read_one(&mut source, "last", buffer), Ok(272 * 64));
        let wanted = file.metadata_end + 272 * 64;
        assert!(source.bytes_read() <= wanted + buffer as u64, "{} of {wanted}", source.bytes_read());
        assert!(source.bytes_read() < len / 100);
        assert_eq!(source.bytes_read_from(last), 272 * 64);
    }

    // The same tensor again, by its place in the directory.
    let mut events_buffer = [0; 4096];
    let mut source = TestFile::sparse(&file.bytes, len);
    let mut events = Events::over(Decoder::new([TensorSlot::EMPTY; 2]), &mut source, &mut events_buffer);
    while !matches!(events.next().unwrap(), Some(Event::DataStart(_))) {}
    let (decoder, source) = events.into_parts();
    let slot = *decoder.directory().find("last").unwrap();
    let mut out = [1.0; 512];
    let before = source.bytes_read();
    let result = read_rows(source, &slot, 62..64, &mut [0; 100], &mut out);
    if cfg!(feature = "legacy") {
        assert_eq!(result, Ok(512));
        assert_eq!(out, [0.0; 512]);
        assert_eq!(source.bytes_read() - before, 2 * 272);
    } else {
        assert!(result.is_err());
    }
}

/// A read never goes back, and never gives a byte twice.
#[test]
fn no_byte_is_read_twice() {
    for file in files() {
        for skips in Skips::ALL {
            for size in [1, 30, 512] {
                let mut source = TestFile::new(&file.bytes);
                let mut buffer = vec![0; size];
                told(Events::seeking(decoder(&file), &mut source, &mut buffer), skips);
                let mut end = 0;
                for (offset, count) in &source.reads {
                    assert!(*offset >= end, "{} at {offset}", file.name);
                    end = offset + *count as u64;
                }
            }
        }
    }
}

/// What follows the last byte of the last wanted tensor is not read: neither the padding nor another file.
#[test]
fn nothing_behind_the_end_is_read() {
    let file = three_tensors();
    let end = file.tensors[2].data + 4000;
    let len = file.bytes.len() as u64 + 10_000;
    for size in [1, 64, 512, 4096] {
        let mut buffer = vec![0; size];
        for skips in Skips::ALL {
            let mut source = TestFile::sparse(&file.bytes, len);
            told(Events::seeking(full(Options::new()), &mut source, &mut buffer), skips);
            assert_eq!(source.bytes_read_from(end), 0, "{skips:?}, buffer of {size}");
            let mut source = TestFile::sparse(&file.bytes, len);
            told(Events::over(full(Options::new()), &mut source, &mut buffer), skips);
            assert_eq!(source.bytes_read_from(end), 0, "{skips:?}, buffer of {size}");
            assert!(source.sizes <= 1, "the size was asked for again");
        }
    }
}

/// A gap between recorded tensors is jumped over, and so is the rest of a tensor that is dropped.
#[test]
fn gaps_and_dropped_tensors_are_jumped_over() {
    let file = Gguf::new()
        .tensor(Tensor::new("a", 24, &[5000], vec![1; 5000]))
        .tensor(Tensor::new("b", 24, &[10], vec![2; 10]).gap(6400))
        .write();
    let options = Options::new().layout(Layout::Sparse);
    let mut source = TestFile::new(&file.bytes);
    let mut buffer = [0; 100];
    let mut events = Events::seeking(full(options), &mut source, &mut buffer);
    let mut pieces = Vec::new();
    while let Some(event) = events.next().unwrap() {
        if let Event::Data(blocks) = event {
            let (tensor, len) = (blocks.tensor(), blocks.bytes().len());
            pieces.push((tensor, len));
            if tensor == 0 {
                events.skip_tensor();
            }
        }
    }
    assert!(matches!(pieces[..], [(0, 1..=100), (1, 10)]), "{pieces:?}");
    assert!(source.bytes_read() < file.data_offset + 200 + 10, "{:?}", source.reads);
}
