// A memory card in memory, formatted with an empty FAT16 volume, for `embedded-sdmmc`. The guide to cards takes this file in, so
// that it stands alone.

use core::convert::Infallible;
use embedded_sdmmc::{Block, BlockCount, BlockDevice, BlockIdx, TimeSource, Timestamp};

/// Blocks before the volume: the partition table.
const VOLUME_START: u32 = 1;
/// Clusters of one block each. FAT16 has 4085 at least: with fewer it would be FAT12.
const CLUSTERS: u32 = 4200;
/// Blocks of one file allocation table: two bytes a cluster, and two clusters that do not exist.
const FAT_BLOCKS: u32 = ((CLUSTERS + 2) * 2).div_ceil(512);
/// The boot sector, two tables, and one block of 16 entries as the root directory.
const VOLUME_BLOCKS: u32 = 1 + 2 * FAT_BLOCKS + 1 + CLUSTERS;

/// The blocks of a card.
pub struct RamCard(core::cell::RefCell<Vec<[u8; 512]>>);

impl RamCard {
    /// A card with one empty volume of 2 MiB.
    pub fn formatted() -> Self {
        let mut blocks = vec![[0; 512]; (VOLUME_START + VOLUME_BLOCKS) as usize];
        blocks[0] = partition_table();
        blocks[VOLUME_START as usize] = boot_sector();
        for table in 0..2 {
            // The two clusters that do not exist: the kind of medium, and the mark of an end.
            let first = VOLUME_START + 1 + table * FAT_BLOCKS;
            blocks[first as usize][..4].copy_from_slice(&[0xF8, 0xFF, 0xFF, 0xFF]);
        }
        Self(core::cell::RefCell::new(blocks))
    }
}

fn partition_table() -> [u8; 512] {
    let mut block = [0; 512];
    block[446 + 4] = 0x06; // FAT16
    block[446 + 8..][..4].copy_from_slice(&VOLUME_START.to_le_bytes());
    block[446 + 12..][..4].copy_from_slice(&VOLUME_BLOCKS.to_le_bytes());
    block[510..].copy_from_slice(&[0x55, 0xAA]);
    block
}

fn boot_sector() -> [u8; 512] {
    let mut block = [0; 512];
    let mut put = |offset: usize, bytes: &[u8]| block[offset..][..bytes.len()].copy_from_slice(bytes);
    put(0, &[0xEB, 0x3C, 0x90]); // a jump that nobody takes
    put(3, b"RAM CARD"); // who formatted it
    put(11, &512_u16.to_le_bytes()); // bytes of a block
    put(13, &[1]); // blocks of a cluster
    put(14, &1_u16.to_le_bytes()); // blocks before the tables
    put(16, &[2]); // tables
    put(17, &16_u16.to_le_bytes()); // entries of the root directory
    put(19, &(VOLUME_BLOCKS as u16).to_le_bytes());
    put(21, &[0xF8]); // not removable
    put(22, &(FAT_BLOCKS as u16).to_le_bytes());
    put(28, &VOLUME_START.to_le_bytes());
    put(38, &[0x29]); // the next three fields are there
    put(43, b"RAM CARD   ");
    put(54, b"FAT16   ");
    put(510, &[0x55, 0xAA]);
    block
}

impl BlockDevice for RamCard {
    type Error = Infallible;

    fn read(&self, blocks: &mut [Block], start: BlockIdx) -> Result<(), Infallible> {
        for (block, kept) in blocks.iter_mut().zip(&self.0.borrow()[start.0 as usize..]) {
            block.contents = *kept;
        }
        Ok(())
    }

    fn write(&self, blocks: &[Block], start: BlockIdx) -> Result<(), Infallible> {
        for (block, kept) in blocks.iter().zip(&mut self.0.borrow_mut()[start.0 as usize..]) {
            *kept = block.contents;
        }
        Ok(())
    }

    fn num_blocks(&self) -> Result<BlockCount, Infallible> {
        Ok(BlockCount(VOLUME_START + VOLUME_BLOCKS))
    }
}

/// It is always the first moment of 1980, where the time of FAT begins.
pub struct NoClock;

impl TimeSource for NoClock {
    fn get_timestamp(&self) -> Timestamp {
        Timestamp {
            year_since_1970: 10,
            zero_indexed_month: 0,
            zero_indexed_day: 0,
            hours: 0,
            minutes: 0,
            seconds: 0,
        }
    }
}
