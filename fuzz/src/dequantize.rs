//! Any bytes as blocks of any type, little- or big-endian, into an output of any length: no panic, and the values of
//! the model, bit for bit (any NaN for a NaN).

use super::choices::Choices;
use super::model::{Block, MODELS, Model};
use super::setup::cut;
use super::support::gguf_writer::{Gguf, Tensor};
use weightstream::{Blocks, ByteOrder, Decoder, DequantizeError, Event, TensorSlot, TensorType};

/// What no kernel may write over.
const UNTOUCHED: f32 = 12_345.5;

/// The type, flags, the output's length (two bytes), chunk length, then the blocks.
pub fn dequantize(data: &[u8]) {
    let mut choices = Choices::new(data);
    let id = choices.byte();
    let flags = choices.byte();
    let room = usize::from(u16::from_le_bytes(choices.bytes())) % 1100;
    let chunk = usize::from(choices.byte()) + 1;
    let bytes = choices.rest();
    // Mostly types that there are.
    let tensor_type = match flags & 0xf0 {
        0 => TensorType::from_id(u32::from_le_bytes([id, 0, id & 1, flags >> 3])),
        _ => TensorType::ALL[usize::from(id) % TensorType::ALL.len()],
    };
    if flags & 1 == 0 {
        in_memory(tensor_type, bytes, room);
    } else if let Some(model) = model_of(tensor_type) {
        let order = if flags & 2 == 0 { ByteOrder::Little } else { ByteOrder::Big };
        streamed(model, order, bytes, room, chunk);
    }
}

fn model_of(tensor_type: TensorType) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.id == tensor_type.id())
}

/// `TensorType::dequantize`, over and over until nothing is left.
fn in_memory(tensor_type: TensorType, bytes: &[u8], room: usize) {
    let mut src = bytes;
    loop {
        let before = src;
        let mut out = vec![UNTOUCHED; room];
        let result = tensor_type.dequantize(&mut src, &mut out);
        let written = check(tensor_type, ByteOrder::Little, before, &out, result);
        let used = written.map_or(0, |blocks| blocks * tensor_type.block_bytes().unwrap_or(0) as usize);
        assert!(std::ptr::eq(src, &raw const before[used..]), "the source is elsewhere");
        if written.unwrap_or(0) == 0 {
            return;
        }
    }
}

/// The same bytes as a tensor of a file.
fn streamed(model: &Model, order: ByteOrder, bytes: &[u8], room: usize, chunk: usize) {
    let whole = &bytes[..bytes.len() / model.bytes * model.bytes];
    let elements = (whole.len() / model.bytes * model.elements) as u64;
    let file = Gguf::new()
        .big_endian(order == ByteOrder::Big)
        .tensor(Tensor::new("t", model.id, &[elements], whole.to_vec()))
        .write();
    let mut decoder = Decoder::new([TensorSlot::EMPTY; 1]);
    let mut told = 0;
    for piece in cut(&file.bytes, std::iter::repeat(chunk)) {
        let mut input = piece;
        while let Some(event) = decoder.decode(&mut input).expect("the file is good") {
            if let Event::Data(blocks) = event {
                assert_eq!((blocks.byte_order(), blocks.tensor_type().id()), (order, model.id));
                assert_eq!(blocks.first_element(), (told / model.bytes * model.elements) as u64);
                told += blocks.bytes().len();
                values(model, blocks, room);
            }
        }
    }
    assert_eq!((decoder.finish(), told), (Ok(()), whole.len()));
}

fn values(model: &Model, mut blocks: Blocks<'_>, room: usize) {
    loop {
        let (before, first) = (blocks.bytes(), blocks.first_element());
        let mut out = vec![UNTOUCHED; room];
        let result = blocks.dequantize(&mut out);
        let written = check(blocks.tensor_type(), blocks.byte_order(), before, &out, result).unwrap_or(0);
        assert!(std::ptr::eq(blocks.bytes(), &raw const before[written * model.bytes..]));
        assert_eq!(blocks.first_element(), first + (written * model.elements) as u64);
        assert_eq!(blocks.is_empty(), blocks.bytes().is_empty());
        if written == 0 {
            return;
        }
    }
}

/// Whether `result` and `out` are right for `src`. Returns the blocks written.
fn check(
    tensor_type: TensorType,
    order: ByteOrder,
    src: &[u8],
    out: &[f32],
    result: Result<usize, DequantizeError>,
) -> Option<usize> {
    let untouched = |out: &[f32]| out.iter().all(|value| value.to_bits() == UNTOUCHED.to_bits());
    let Some(model) = model_of(tensor_type) else {
        assert_eq!((tensor_type.block_bytes(), tensor_type.block_elements()), (None, None));
        assert_eq!(result, Err(DequantizeError::NoKernel { tensor_type }));
        assert!(untouched(out));
        return None;
    };
    let (size, elements) = (model.bytes, model.elements);
    assert_eq!(tensor_type.block_bytes().map(|bytes| bytes as usize), Some(size));
    assert_eq!(tensor_type.block_elements().map(|elements| elements as usize), Some(elements));
    let expected = match &model.numbers {
        None if order == ByteOrder::Big => Err(DequantizeError::AmbiguousByteOrder { tensor_type }),
        _ if src.is_empty() => Ok(0),
        _ if src.len() < size => Err(DequantizeError::PartialBlock { needed: size, got: src.len() }),
        _ if out.len() < elements => {
            Err(DequantizeError::OutputTooSmall { needed: elements, got: out.len() })
        }
        _ => Ok((src.len() / size).min(out.len() / elements) * elements),
    };
    assert_eq!(result, expected, "{tensor_type}");
    if let Err(error) = result {
        assert!(!format!("{error} {error:?}").is_empty());
    }
    let written = result.unwrap_or(0) / elements;
    let (values, rest) = out.split_at(written * elements);
    assert!(untouched(rest), "{tensor_type}: more was written than was said");
    for (block, values) in src.chunks_exact(size).zip(values.chunks_exact(elements)) {
        let mut block = block.to_vec();
        if order == ByteOrder::Big {
            for (start, bytes) in model.numbers.iter().flatten() {
                block[*start..start + bytes].reverse();
            }
        }
        for (e, value) in values.iter().enumerate() {
            let right = (model.value)(&Block(&block), e);
            let same = right.to_bits() == value.to_bits() || right.is_nan() && value.is_nan();
            assert!(same, "{tensor_type}, element {e} of {block:02x?}: {value:?} instead of {right:?}");
        }
    }
    result.ok().map(|_| written)
}
