//! Flash chips and storage, read at any offset and length.

use embedded_storage::ReadStorage;
use embedded_storage::nor_flash::{ErrorType, NorFlashErrorKind, ReadNorFlash, check_read};
use weightstream::io::{Events, NorFlash, ReadAt, Storage};

use crate::adapters::is_like;
use crate::files::{Skips, decoder, expected, files, told};

/// A chip that reads whole words only, and is strict about it.
#[derive(Debug)]
struct Chip<const WORD: usize> {
    bytes: Vec<u8>,
    /// It may be larger than what it holds: the rest is zero.
    capacity: usize,
    reads: usize,
}

impl<const WORD: usize> Chip<WORD> {
    /// Erased behind the bytes, up to a whole word.
    fn new(bytes: &[u8]) -> Self {
        let capacity = bytes.len().next_multiple_of(WORD);
        let mut bytes = bytes.to_vec();
        bytes.resize(capacity, 0xff);
        Self { bytes, capacity, reads: 0 }
    }
}

fn copy(bytes: &[u8], offset: u32, out: &mut [u8]) {
    for (at, byte) in (u64::from(offset)..).zip(out) {
        *byte = usize::try_from(at).ok().and_then(|at| bytes.get(at)).copied().unwrap_or(0);
    }
}

impl<const WORD: usize> ErrorType for Chip<WORD> {
    type Error = NorFlashErrorKind;
}

impl<const WORD: usize> ReadNorFlash for Chip<WORD> {
    const READ_SIZE: usize = WORD;

    fn read(&mut self, offset: u32, out: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, out.len())?;
        self.reads += 1;
        copy(&self.bytes, offset, out);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.capacity
    }
}

struct Card {
    bytes: Vec<u8>,
    capacity: usize,
}

impl ReadStorage for Card {
    type Error = ();

    fn read(&mut self, offset: u32, out: &mut [u8]) -> Result<(), ()> {
        let end = u64::from(offset) + out.len() as u64;
        if end > self.capacity as u64 {
            return Err(());
        }
        copy(&self.bytes, offset, out);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.capacity
    }
}

fn holds_for_words_of<const WORD: usize>() {
    let bytes: Vec<u8> = (0..2 * WORD.max(40)).map(|at| at as u8 | 1).collect();
    let chip = Chip::<WORD>::new(&bytes);
    let held = chip.bytes.clone();
    is_like(&mut NorFlash::new(chip), &held);
}

#[test]
fn words_of_any_size_read_like_a_slice() {
    holds_for_words_of::<1>();
    holds_for_words_of::<4>();
    holds_for_words_of::<16>();
    holds_for_words_of::<256>();
    // No power of two.
    holds_for_words_of::<3>();
}

#[test]
fn storage_reads_like_a_slice() {
    let bytes: Vec<u8> = (0..100).collect();
    is_like(&mut Storage::new(Card { capacity: bytes.len(), bytes: bytes.clone() }), &bytes);
}

/// Whole words go straight into the buffer, in one read.
#[test]
fn aligned_reads_are_one_read() {
    let bytes: Vec<u8> = (0..64).collect();
    let mut flash = NorFlash::new(Chip::<4>::new(&bytes));
    let mut buffer = [0; 23];
    assert_eq!(flash.read_at(8, &mut buffer), Ok(20));
    assert_eq!(buffer[..20], bytes[8..28]);
    assert_eq!(flash.into_inner().reads, 1);
}

/// 64-bit machines can have chips that 32-bit addresses do not reach all of.
#[test]
fn beyond_the_addresses_of_32_bits_is_the_end() {
    let Ok(capacity) = usize::try_from(5_u64 << 30) else { return };
    let mut card = Storage::new(Card { bytes: Vec::new(), capacity });
    let mut flash = NorFlash::new(Chip::<4> { bytes: vec![7; 16], capacity, reads: 0 });
    let limit = 1_u64 << 32;
    assert_eq!((card.size(), flash.size()), (Ok(limit), Ok(limit)));
    let mut buffer = [9; 8];
    assert_eq!((card.read_at(limit - 8, &mut buffer), buffer), (Ok(8), [0; 8]));
    assert_eq!((flash.read_at(limit - 8, &mut buffer), buffer), (Ok(8), [0; 8]));
    assert_eq!(card.read_at(limit - 3, &mut buffer), Ok(3));
    assert_eq!(flash.read_at(limit - 3, &mut buffer), Ok(3));
    for offset in [limit, limit + 1, capacity as u64 - 1, u64::MAX] {
        // A wrapped address would read something.
        assert_eq!(card.read_at(offset, &mut buffer), Ok(0));
        assert_eq!(flash.read_at(offset, &mut buffer), Ok(0));
    }
}

/// What lies behind the file in the chip does not matter, but to files that are cut short.
#[test]
fn files_in_flash_tell_the_same() {
    for file in files() {
        let expected = expected(&file, Skips::Half);
        if expected.result.is_ok() {
            let mut buffer = [0; 100];
            let flash = NorFlash::new(Chip::<16>::new(&file.bytes));
            let told = told(Events::over(decoder(&file), flash, &mut buffer), Skips::Half);
            assert_eq!(told, expected, "{}", file.name);
        }
    }
}

#[test]
fn an_error_of_the_chip_is_told() {
    struct Dead;
    impl ErrorType for Dead {
        type Error = NorFlashErrorKind;
    }
    impl ReadNorFlash for Dead {
        const READ_SIZE: usize = 4;
        fn read(&mut self, _: u32, _: &mut [u8]) -> Result<(), NorFlashErrorKind> {
            Err(NorFlashErrorKind::Other)
        }
        fn capacity(&self) -> usize {
            100
        }
    }
    for offset in [0, 3, 97] {
        assert_eq!(NorFlash::new(Dead).read_at(offset, &mut [0; 9]), Err(NorFlashErrorKind::Other));
    }
    let mut card = Storage::new(Card { bytes: Vec::new(), capacity: 0 });
    assert_eq!((card.size(), card.read_at(0, &mut [0])), (Ok(0), Ok(0)));
}
