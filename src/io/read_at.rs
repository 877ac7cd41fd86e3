//! Bytes at an offset: what rows are read from, and what a reader that jumps is built on.

/// A source that is read at any offset: a file, a flash chip, a slice.
pub trait ReadAt {
    /// What can go wrong.
    type Error;

    /// Reads bytes that start at `offset` (in bytes, from the start of the source) into `buffer`, and returns how
    /// many: fewer than fit are fine, 0 means that the source ends there, or that `buffer` is empty.
    ///
    /// # Errors
    ///
    /// Those of the source. The same call may be made again.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Self::Error>;

    /// Size of the source in bytes.
    ///
    /// # Errors
    ///
    /// Those of the source. The same call may be made again.
    fn size(&mut self) -> Result<u64, Self::Error>;
}
