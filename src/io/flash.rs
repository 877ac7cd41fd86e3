//! Flash and other storage of `embedded-storage`, whose addresses are 32 bits.

use embedded_storage::ReadStorage;
use embedded_storage::nor_flash::ReadNorFlash;

use super::ReadAt;
use super::read_at::room_within;
use crate::carry::as_u64;

/// Addresses that 32 bits can give, in bytes.
const ADDRESSES: u64 = 1 << 32;

/// The part of a storage of `capacity` bytes that can be addressed.
fn addressable(capacity: usize) -> u64 {
    as_u64(capacity).min(ADDRESSES)
}

/// The address of `offset`, and the part of `buffer` that lies within `size` from there. `None` at the end and behind it.
fn place(size: u64, offset: u64, buffer: &mut [u8]) -> Option<(u32, &mut [u8])> {
    Some((u32::try_from(offset).ok()?, room_within(size, offset, buffer)?))
}

/// A `ReadStorage`, read at any offset. It ends with its capacity, or after 4 GiB, which is all that its addresses reach.
#[derive(Debug)]
pub struct Storage<S>(S);

impl<S> Storage<S> {
    /// Reads from `storage`. Never panics.
    #[must_use]
    pub const fn new(storage: S) -> Self {
        Self(storage)
    }

    /// The storage. Never panics.
    pub fn into_inner(self) -> S {
        self.0
    }
}

impl<S: ReadStorage> ReadAt for Storage<S> {
    type Error = S::Error;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, S::Error> {
        let size = addressable(self.0.capacity());
        let Some((address, room)) = place(size, offset, buffer) else { return Ok(0) };
        self.0.read(address, room)?;
        Ok(room.len())
    }

    fn size(&mut self) -> Result<u64, S::Error> {
        Ok(addressable(self.0.capacity()))
    }
}

/// Largest word of a flash chip that can be read, in bytes.
const LARGEST_WORD: usize = 256;

/// A `ReadNorFlash`, read at any offset and length.
///
/// The chip is read in whole words of its `READ_SIZE` (256 bytes at most, checked when compiled): straight into the buffer where
/// whole words are asked for, else one word at a time, of which a part is handed on. It ends with its capacity, or after 4 GiB,
/// which is all that its addresses reach. A capacity that is no multiple of `READ_SIZE` is against the rules of the trait: its last word
/// is then an error of the chip.
#[derive(Debug)]
pub struct NorFlash<F>(F);

impl<F: ReadNorFlash> NorFlash<F> {
    /// Reads from `flash`. Never panics.
    #[must_use]
    pub const fn new(flash: F) -> Self {
        const {
            assert!(F::READ_SIZE >= 1 && F::READ_SIZE <= LARGEST_WORD, "a flash word has 1 to 256 bytes");
        }
        Self(flash)
    }

    /// The flash. Never panics.
    pub fn into_inner(self) -> F {
        self.0
    }

    /// Reads the word that `address` lies in, and hands on its part from there.
    fn read_word(&mut self, address: u32, inside: usize, room: &mut [u8]) -> Result<usize, F::Error> {
        let mut bounce = [0; LARGEST_WORD];
        let word = bounce.get_mut(..F::READ_SIZE).unwrap_or_default();
        // No wrap: so many bytes of the word are before the address.
        let start = address.wrapping_sub(u32::try_from(inside).unwrap_or(0));
        self.0.read(start, word)?;
        let part = word.get(inside..).unwrap_or_default();
        Ok(room.iter_mut().zip(part).map(|(to, from)| *to = *from).count())
    }
}

impl<F: ReadNorFlash> ReadAt for NorFlash<F> {
    type Error = F::Error;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, F::Error> {
        let size = addressable(self.0.capacity());
        let Some((address, room)) = place(size, offset, buffer) else { return Ok(0) };
        let rest_of = |bytes: usize| bytes.checked_rem(F::READ_SIZE).unwrap_or(0);
        // An address of a chip is one of its capacity, which is counted in `usize`.
        let inside = rest_of(usize::try_from(address).unwrap_or(0));
        let whole = room.len().saturating_sub(rest_of(room.len()));
        match room.get_mut(..whole) {
            Some(words) if inside == 0 && whole > 0 => {
                self.0.read(address, words)?;
                Ok(whole)
            }
            _ => self.read_word(address, inside, room),
        }
    }

    fn size(&mut self) -> Result<u64, F::Error> {
        Ok(addressable(self.0.capacity()))
    }
}
