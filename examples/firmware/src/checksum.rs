//! Checksums of tensors: what a program prints instead of more values than anyone can read.

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};
use static_cell::ConstStaticCell;
use weightstream::Blocks;

use crate::console::Console;
use crate::failure::Failure;

/// No block has more elements.
static ROW: ConstStaticCell<[f32; 256]> = ConstStaticCell::new([0.0; 256]);

/// The CRC-32 of zip and PNG.
static CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// Dequantizes the tensors of a model one after the other, and prints of each its index, the CRC-32 of its values and
/// their number.
pub struct Checksums {
    row: &'static mut [f32; 256],
    tensor: Option<Checksum>,
}

impl Checksums {
    /// Takes the one row that there is.
    ///
    /// # Errors
    ///
    /// When it was taken before.
    pub fn new() -> Result<Self, Failure> {
        Ok(Self { row: ROW.try_take().ok_or(Failure::Taken)?, tensor: None })
    }

    /// Adds blocks of the same tensor, or of the next one.
    ///
    /// # Errors
    ///
    /// When the blocks cannot be dequantized.
    pub fn add(&mut self, mut blocks: Blocks<'_>, out: &mut Console) -> Result<(), Failure> {
        if self.tensor.as_ref().is_some_and(|tensor| tensor.index != blocks.tensor()) {
            self.end_tensor(out);
        }
        let tensor = self.tensor.get_or_insert_with(|| Checksum::new(blocks.tensor()));
        while !blocks.is_empty() {
            let count = blocks.dequantize(self.row)?;
            tensor.add(self.row.get(..count).unwrap_or_default());
        }
        Ok(())
    }

    /// Prints the line of a tensor whose data have all come.
    pub fn end_tensor(&mut self, out: &mut Console) {
        if let Some(Checksum { index, digest, values }) = self.tensor.take() {
            out.decimal(index.into()).text(" ").hex(digest.finalize()).text(" ").decimal(values).end_line();
        }
    }
}

/// Of the values of a tensor, as little-endian `f32`.
struct Checksum {
    index: u32,
    digest: Digest<'static, u32, Table<1>>,
    values: u64,
}

impl Checksum {
    fn new(index: u32) -> Self {
        Self { index, digest: CRC.digest(), values: 0 }
    }

    fn add(&mut self, values: &[f32]) {
        for value in values {
            self.digest.update(&value.to_le_bytes());
            self.values = self.values.saturating_add(1);
        }
    }
}
