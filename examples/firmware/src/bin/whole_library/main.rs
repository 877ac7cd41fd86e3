//! Calls all that the library has, so that the linker finds no panic in any of it.
//!
//! Left out is what formats through `core::fmt`, `Display` and `Debug`: core's numbers can panic. The optimizer must not know
//! what is asked, so arguments go through a black box. Functions are kept apart, or one frame would hold what all of them need.

#![no_std]
#![no_main]

mod chip;
mod other_format;

use core::hint::black_box;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use static_cell::ConstStaticCell;
use weightstream::io::{self, Events, NorFlash, Part, ReadError, Seekable, Storage, asynch};
use weightstream::metadata::{Key, KeyPattern, Metadata};
use weightstream::summary::Summary;
use weightstream::vocabulary::{FindToken, ReadToken, TOKENS};
use weightstream::{
    Decoder, Event, Items, Layout, ModelName, Options, ShardName, ShardSet, TensorSlot, TensorType,
    UnknownTypes, ValueType, name_hash, quant,
};
use weightstream_firmware::board::{self, entry};
use weightstream_firmware::console::Console;
use weightstream_firmware::failure::Failure;
use weightstream_firmware::sample::{EMBEDDINGS, MODEL};

use chip::Chip;

type Recorder = Decoder<[TensorSlot; 32]>;

static DECODER: ConstStaticCell<Recorder> = ConstStaticCell::new(Decoder::new([TensorSlot::EMPTY; 32]));
static WORK: ConstStaticCell<Work> = ConstStaticCell::new(Work::new());

/// All zero: it takes no flash.
struct Work {
    metadata: Metadata<16, 512>,
    summary: Summary,
    shards: ShardSet,
    values: [f32; 256],
    halves: [u16; 256],
    bytes: [u8; 1536],
}

impl Work {
    const fn new() -> Self {
        Self {
            metadata: Metadata::new(),
            summary: Summary::new(),
            shards: ShardSet::new(),
            values: [0.0; 256],
            halves: [0; 256],
            bytes: [0; 1536],
        }
    }
}

#[entry]
fn main() -> ! {
    board::run(call_all)
}

fn call_all(out: &mut Console) -> Result<(), Failure> {
    let decoder = DECODER.try_take().ok_or(Failure::Taken)?;
    let work = WORK.try_take().ok_or(Failure::Taken)?;
    let events = decode(decoder, work)?;
    out.decimal(events).text(" events").end_line();
    let events = other_format::decode(work)?;
    out.decimal(events).text(" events of the other format").end_line();
    ask_decoder(decoder, work);
    ask_metadata(work);
    let Work { values, halves, bytes, .. } = work;
    for slot in decoder.directory() {
        read_slot(slot, values, halves)?;
    }
    for kind in TensorType::ALL {
        black_box((kind.name(), kind.is_removed(), kind.family().map(|family| family.feature())));
    }
    call_quant(bytes, values);
    other_format::call_rest(bytes, values);
    read_sources(decoder.directory().find(black_box(EMBEDDINGS)), bytes, values);
    parse_names();
    Ok(())
}

fn options() -> Options {
    let layout = if black_box(true) { Layout::Contiguous } else { Layout::Sparse };
    let unknown = if black_box(true) { UnknownTypes::Refuse } else { UnknownTypes::Infer };
    Options::new()
        .name_bytes(black_box(1000))
        .nesting(black_box(3))
        .alignment(black_box(4096))
        .rank(black_box(4))
        .entries(black_box(1000))
        .tensors(black_box(1000))
        .string_bytes(black_box(100_000))
        .array_elements(black_box(100_000))
        .metadata_bytes(black_box(1_000_000))
        .input_bytes(black_box(u64::try_from(MODEL.len()).unwrap_or(0)))
        .layout(layout)
        .unknown_types(unknown)
}

/// Decodes the model in pieces, put away and taken up again after each of them.
#[inline(never)]
fn decode(decoder: &mut Recorder, work: &mut Work) -> Result<u64, Failure> {
    const WANTED: &[KeyPattern] = &[
        KeyPattern::prefix("general."),
        KeyPattern::of_architecture("block_count"),
        KeyPattern::exact("array.u16").with_elements(),
    ];
    *decoder = Decoder::with_options([TensorSlot::EMPTY; 32], options());
    work.metadata.set_filter(black_box(WANTED));
    let mut token = [0; 16];
    let mut find = FindToken::new(black_box(TOKENS), black_box(b"</s>"));
    let mut read = ReadToken::new(black_box(TOKENS), black_box(7), &mut token);
    let mut events = 0_u64;
    for piece in MODEL.chunks(500) {
        let mut input = piece;
        while let Some(event) = decoder.decode(&mut input)? {
            events = events.saturating_add(1);
            black_box((find.accept(&event), read.accept(&event), work.summary.accept(&event)));
            black_box((work.metadata.accept(&event).is_ok(), work.shards.accept(&event).is_ok()));
            look_at(event, &mut work.values, &mut work.halves)?;
            if black_box(false) {
                decoder.skip_value();
                decoder.skip_tensor();
            }
        }
        black_box((decoder.needed(), decoder.position(), decoder.end(), decoder.context()));
        black_box(decoder.advance(black_box(0)).is_ok() && decoder.skippable() > 0);
        black_box(decoder.checkpoint(&mut work.bytes).is_ok_and(|_| decoder.restore(&work.bytes).is_ok()));
        black_box(
            work.metadata
                .checkpoint(&mut work.bytes)
                .is_ok_and(|_| work.metadata.restore(&work.bytes).is_ok()),
        );
    }
    black_box((find.search(), read.search(), read.text().is_some()));
    decoder.finish()?;
    Ok(events)
}

fn look_at(event: Event<'_>, values: &mut [f32], halves: &mut [u16]) -> Result<(), Failure> {
    match event {
        Event::Key { name, value_type } => {
            black_box((name == "a", name.starts_with("b"), name.ends_with("c"), name.as_str().is_some()));
            black_box((name.prefix(), name.is_cut(), name.len(), name.is_empty(), name.name_hash()));
            black_box((value_type.name(), value_type.id(), value_type.byte_len()));
        }
        Event::Scalar(scalar) => {
            black_box(scalar.value_type());
        }
        Event::Items(items) => look_at_items(&items),
        Event::Tensor { info, .. } => {
            black_box((info.dims().len(), info.shape().next_back(), info.elements(), info.row_elements()));
            black_box((info.index(), info.data_offset(), info.byte_len()));
        }
        Event::Data(mut blocks) => {
            let (mut half, mut brain) = (blocks, blocks);
            while !blocks.is_empty() {
                black_box((blocks.first_element(), blocks.bytes().len(), blocks.byte_order()));
                black_box(blocks.dequantize(black_box(values))?);
                black_box(half.dequantize_f16(black_box(halves))?);
                black_box(brain.dequantize_bf16(black_box(halves))?);
            }
        }
        _ => {}
    }
    Ok(())
}

fn look_at_items(items: &Items<'_>) {
    black_box((items.len(), items.is_empty(), items.bytes().len(), items.element(), items.byte_order()));
    black_box(items.bools().and_then(|items| items.map(black_box).last()));
    black_box(items.u8s().and_then(|items| items.map(black_box).last()));
    black_box(items.i8s().and_then(|items| items.map(black_box).last()));
    black_box(items.u16s().and_then(|items| items.map(black_box).last()));
    black_box(items.i16s().and_then(|items| items.map(black_box).last()));
    black_box(items.u32s().and_then(|items| items.map(black_box).last()));
    black_box(items.i32s().and_then(|items| items.map(black_box).last()));
    black_box(items.f32s().and_then(|items| items.map(black_box).last()));
    black_box(items.u64s().and_then(|items| items.map(black_box).last()));
    black_box(items.i64s().and_then(|items| items.map(black_box).last()));
    black_box(items.f64s().and_then(|items| items.map(black_box).last()));
    black_box(items.scalars().map(black_box).last());
}

#[inline(never)]
fn ask_decoder(decoder: &mut Recorder, work: &mut Work) {
    black_box((decoder.checkpoint_bytes(), decoder.directory().len(), decoder.directory().is_empty()));
    // A clone is made where it stands: there is no room for another on the stack of every board.
    if black_box(false) {
        black_box(decoder.clone().into_parts());
        decoder.reset();
    }
    let error = Decoder::new([]).decode(&mut black_box(&b"no model"[..])).err();
    black_box(
        error.map(|error| (error.kind(), error.offset(), error.section(), error.index(), error.code())),
    );
    let shards = &mut work.shards;
    black_box((shards.end_file().is_ok(), shards.finish().is_ok(), shards.next_number(), shards.tensors()));
    black_box((shards.begin(None).err().map(|error| error.code()), shards.count()));
}

#[inline(never)]
fn ask_metadata(work: &mut Work) {
    let (metadata, summary) = (&work.metadata, &work.summary);
    let key = black_box("general.name");
    black_box((
        metadata.text(key, "-").is_ok(),
        metadata.float(key, 0.0).is_ok(),
        metadata.boolean(key, true).is_ok(),
    ));
    black_box((metadata.integer::<u32>(key, 0).is_ok(), metadata.integer::<i64>(key, 0).is_ok()));
    black_box((metadata.array_len(key).is_ok(), metadata.item(black_box("array.u16"), black_box(1)).is_ok()));
    black_box((
        metadata.contains(Key::OfArchitecture(black_box("x"))),
        metadata.index(key),
        metadata.used_bytes(),
    ));
    black_box((metadata.keys().count(), metadata.checkpoint_bytes()));
    for key in metadata.keys() {
        if let Ok(Some(value)) = metadata.value(key) {
            black_box((value.content(), value.index(), value.value_type()));
        }
    }
    black_box((summary.architecture(), summary.name(), summary.file_type(), summary.layers()));
    black_box((summary.context_length(), summary.embedding_length(), summary.heads(), summary.kv_heads()));
    black_box((summary.vocabulary(), summary.has_chat_template(), summary.other_weights()));
    black_box((summary.weights().bits_per_weight(), summary.weights_by_type().count()));
    if black_box(false) {
        work.metadata.clear();
    }
}

#[inline(never)]
fn read_slot(slot: &TensorSlot, values: &mut [f32], halves: &mut [u16]) -> Result<(), Failure> {
    let range = slot.rows(black_box(0..1)).unwrap_or_default();
    let start = usize::try_from(range.start).unwrap_or_default();
    let bytes = MODEL.get(start..).unwrap_or_default();
    black_box((slot.row_bytes(), slot.name_hash(), slot.byte_len(), slot.index(), slot.byte_order()));
    black_box(slot.dequantize(&mut black_box(bytes), values).is_ok());
    black_box(slot.dequantize_f16(&mut black_box(bytes), halves).is_ok());
    black_box(slot.dequantize_bf16(&mut black_box(bytes), halves).is_ok());
    black_box(slot.dequantize_range(bytes, black_box(3..7), values).is_ok());
    black_box(slot.dequantize_rows(MODEL, black_box(0..1), values).is_ok());
    let kind = slot.tensor_type();
    black_box((
        kind.dequantize(&mut black_box(bytes), values).is_ok(),
        kind.block_elements(),
        kind.block_bytes(),
    ));
    black_box(kind.dequantize_f16(&mut black_box(bytes), halves).is_ok());
    black_box(kind.dequantize_bf16(&mut black_box(bytes), halves).is_ok());
    black_box(kind.dequantize_range(bytes, black_box(1..2), values).is_ok());
    Ok(())
}

/// What cannot be reached through `dequantize`.
#[inline(never)]
fn call_quant(bytes: &[u8], values: &mut [f32]) {
    macro_rules! unpack {
        ($($name:ident $code:literal $elements:literal;)*) => {$(
            if let Some(block) = bytes.first_chunk() {
                let mut codes = [$code; $elements];
                black_box(quant::$name(black_box(block), &mut codes));
                black_box(codes);
            }
        )*};
    }
    unpack! {
        unpack_q4_0 0_i8 32; unpack_q4_1 0_u8 32; unpack_q5_0 0_i8 32; unpack_q5_1 0_u8 32; unpack_q8_0 0_i8 32;
        unpack_q4_k 0_u8 256; unpack_q5_k 0_u8 256; unpack_q6_k 0_i8 256;
    }
    black_box(quant::f16(bytes.as_chunks().0, values));
    black_box(quant::bf16(bytes.as_chunks().0, values));
}

#[inline(never)]
fn read_sources(slot: Option<&TensorSlot>, bytes: &mut [u8], values: &mut [f32]) {
    let (buffer, scratch) = bytes.split_at_mut_checked(1024).unwrap_or_default();
    count(Events::new(Decoder::new([]), black_box(MODEL), buffer));
    count(Events::over(Decoder::new([]), black_box(MODEL), buffer));
    count(Events::seeking(Decoder::new([]), Chip(0), buffer));
    count(Events::seeking_at(Decoder::new([]), Chip(0), buffer, black_box(0)));
    count(Events::over(Decoder::new([]), Storage::new(Chip(0)), buffer));
    count(Events::over(
        Decoder::new([]),
        Part::with_len(NorFlash::new(Chip(0)), 0, black_box(90_000)),
        buffer,
    ));
    finish(async {
        let mut events = asynch::Events::seeking(Decoder::new([]), Chip(0), buffer);
        while let Ok(Some(_)) = events.next().await {
            events.skip_value();
        }
        black_box((events.decoder().position(), events.unread().len()));
    });
    let Some(slot) = slot else { return };
    black_box(io::read_rows(&mut Seekable::new(Chip(0)), slot, black_box(1..2), scratch, values).is_ok());
    finish(async {
        let mut model = black_box(MODEL);
        let read = asynch::read_rows(&mut model, slot, black_box(1..2), scratch, values);
        black_box(read.await.is_ok());
    });
}

#[inline(never)]
fn count<S: io::Source>(mut events: Events<'_, Decoder, S>) {
    let mut count = 0_u32;
    let result = loop {
        match events.next() {
            Ok(Some(Event::Key { .. })) => events.skip_value(),
            Ok(Some(Event::Tensor { .. })) => events.skip_tensor(),
            Ok(Some(_)) => count = count.saturating_add(1),
            Ok(None) => break true,
            Err(ReadError::Source(_)) => break black_box(false),
            Err(_) => break false,
        }
    };
    black_box((count, result, events.decoder().position(), events.unread().len()));
}

/// Nothing here ever waits, so a future is ready at once.
fn finish(future: impl Future<Output = ()>) {
    let mut context = Context::from_waker(Waker::noop());
    black_box(matches!(pin!(future).poll(&mut context), Poll::Ready(())));
}

#[inline(never)]
fn parse_names() {
    let name = black_box("Tiny-15M-v1.0-Q4_0-00001-of-00002.gguf");
    black_box((ModelName::parse(name), name_hash(name), ValueType::from_id(black_box(8))));
    if let Some(shard) = ShardName::parse(name) {
        black_box((shard.prefix(), shard.shard().is_valid(), shard.sibling(black_box(2)).is_some()));
    }
}
