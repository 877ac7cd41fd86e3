//! A checksum of values, to compare what two machines make of the same file.

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};

/// The CRC-32 of zip and PNG.
static CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);

/// Of the values that came so far, as little-endian `f32`.
pub(crate) struct Checksum(Digest<'static, u32, Table<16>>);

impl Default for Checksum {
    fn default() -> Self {
        Self(CRC.digest())
    }
}

impl Checksum {
    pub(crate) fn add(&mut self, values: &[f32]) {
        let mut bytes = [0; 1024];
        for values in values.chunks(bytes.len() / 4) {
            for (place, value) in bytes.chunks_exact_mut(4).zip(values) {
                place.copy_from_slice(&value.to_le_bytes());
            }
            self.0.update(&bytes[..4 * values.len()]);
        }
    }

    pub(crate) fn finish(self) -> u32 {
        self.0.finalize()
    }
}
