//! A source that offers every trait a source may have.

use core::convert::Infallible;

use embedded_storage::ReadStorage;
use embedded_storage::nor_flash::{ErrorType, NorFlashErrorKind, ReadNorFlash};
use weightstream::io::ReadAt;
use weightstream_firmware::sample::MODEL;

/// The model as a chip that is read by its address, with a position for those who seek.
pub(crate) struct Chip(pub(crate) u64);

impl Chip {
    fn copy(offset: u64, buffer: &mut [u8]) -> usize {
        let Ok(count) = (&mut &*MODEL).read_at(offset, buffer);
        count
    }
}

impl embedded_io::ErrorType for Chip {
    type Error = Infallible;
}

impl embedded_io::Read for Chip {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let count = Self::copy(self.0, buffer);
        self.0 = self.0.saturating_add(u64::try_from(count).unwrap_or(0));
        Ok(count)
    }
}

impl embedded_io::Seek for Chip {
    fn seek(&mut self, to: embedded_io::SeekFrom) -> Result<u64, Infallible> {
        let end = u64::try_from(MODEL.len()).unwrap_or(0);
        self.0 = match to {
            embedded_io::SeekFrom::Start(offset) => offset,
            embedded_io::SeekFrom::End(more) => end.saturating_add_signed(more),
            embedded_io::SeekFrom::Current(more) => self.0.saturating_add_signed(more),
        };
        Ok(self.0)
    }
}

impl embedded_io_async::Read for Chip {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        embedded_io::Read::read(self, buffer)
    }
}

impl embedded_io_async::Seek for Chip {
    async fn seek(&mut self, to: embedded_io::SeekFrom) -> Result<u64, Infallible> {
        embedded_io::Seek::seek(self, to)
    }
}

impl ReadStorage for Chip {
    type Error = Infallible;

    fn read(&mut self, address: u32, buffer: &mut [u8]) -> Result<(), Infallible> {
        Self::copy(address.into(), buffer);
        Ok(())
    }

    fn capacity(&self) -> usize {
        MODEL.len()
    }
}

impl ErrorType for Chip {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Chip {
    const READ_SIZE: usize = 16;

    fn read(&mut self, address: u32, buffer: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        Self::copy(address.into(), buffer);
        Ok(())
    }

    fn capacity(&self) -> usize {
        MODEL.len()
    }
}
