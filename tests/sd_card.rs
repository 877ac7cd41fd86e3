//! A file on a memory card tells what the same bytes tell in one slice, and unwanted tensors cost no reads.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and runs on a host"
)]
#![allow(unreachable_pub, reason = "the modules of a test are private")]

#[path = "support/ram_card.rs"]
mod ram_card;
mod support;

use core::cell::Cell;
use core::convert::Infallible;

use embedded_sdmmc::{
    Block, BlockCount, BlockDevice, BlockIdx, File, Mode, RawVolume, VolumeIdx, VolumeManager,
};
use ram_card::{NoClock, RamCard};
use support::record::{Recording, Seen, full, run};
use support::samples::{corpus_file, corpus_names, corpus_options};
use weightstream::io::{Events, ReadError};
use weightstream::{Decoder, Event, TensorSlot};

/// A card that counts the blocks that are read of it.
struct Counted<'c>(RamCard, &'c Cell<usize>);

impl BlockDevice for Counted<'_> {
    type Error = Infallible;

    fn read(&self, blocks: &mut [Block], start: BlockIdx) -> Result<(), Infallible> {
        self.1.set(self.1.get() + blocks.len());
        self.0.read(blocks, start)
    }

    fn write(&self, blocks: &[Block], start: BlockIdx) -> Result<(), Infallible> {
        self.0.write(blocks, start)
    }

    fn num_blocks(&self) -> Result<BlockCount, Infallible> {
        self.0.num_blocks()
    }
}

type Card<'c> = VolumeManager<Counted<'c>, NoClock>;

fn card(blocks_read: &Cell<usize>) -> (Card<'_>, RawVolume) {
    let card = VolumeManager::new(Counted(RamCard::formatted(), blocks_read), NoClock);
    let volume = card.open_raw_volume(VolumeIdx(0)).unwrap();
    (card, volume)
}

/// Writes the only file of a volume, and opens it.
fn store<'a, 'c>(
    (card, volume): &'a (Card<'c>, RawVolume),
    bytes: &[u8],
) -> File<'a, Counted<'c>, NoClock, 4, 4, 1> {
    let root = card.open_root_dir(*volume).unwrap().to_directory(card);
    let file = root.open_file_in_dir("MODEL.GGU", Mode::ReadWriteCreateOrTruncate).unwrap();
    file.write(bytes).unwrap();
    file.close().unwrap();
    root.open_file_in_dir("MODEL.GGU", Mode::ReadOnly).unwrap()
}

#[test]
fn every_file_of_the_corpus_tells_the_same_from_a_card() {
    let blocks_read = Cell::new(0);
    let card = card(&blocks_read);
    for name in corpus_names() {
        let bytes = corpus_file(&name);
        let expected = run(&mut full(corpus_options(&name)), [&bytes[..]]);
        for buffer_bytes in [512, 100] {
            let mut buffer = vec![0; buffer_bytes];
            let decoder = full(corpus_options(&name));
            let mut events = Events::seeking(decoder, store(&card, &bytes), &mut buffer);
            let mut recording = Recording::new();
            loop {
                let seen = match events.next() {
                    Ok(Some(event)) => Seen::from(event),
                    Ok(None) => break,
                    Err(ReadError::Decode(error)) => {
                        recording.result = Err(error);
                        break;
                    }
                    Err(error) => panic!("{name}: {error}"),
                };
                recording.note(seen, events.decoder().position());
            }
            assert_eq!(recording.close(events.decoder()), expected, "{name}, buffer of {buffer_bytes}");
        }
    }
}

#[test]
fn tensors_that_are_skipped_cost_no_reads() {
    let model = std::fs::read("examples/data/sample.gguf").unwrap();
    let blocks_read = Cell::new(0);
    let card = card(&blocks_read);
    let file = store(&card, &model);
    blocks_read.set(0);

    let mut buffer = [0; 512];
    let mut events = Events::seeking(Decoder::new([TensorSlot::EMPTY; 1]), file, &mut buffer);
    let mut data_bytes = 0;
    while let Some(event) = events.next().unwrap() {
        match event {
            Event::Key { .. } => events.skip_value(),
            Event::Tensor { name, .. } if name != "output_norm.weight" => events.skip_tensor(),
            Event::Data(blocks) => data_bytes += blocks.bytes().len(),
            _ => {}
        }
    }
    assert_eq!(data_bytes, 1024);
    // The model has 195 blocks. Of these and of the table of its clusters few are read, some of them again.
    assert!(blocks_read.get() < 100, "{} blocks were read", blocks_read.get());
}
