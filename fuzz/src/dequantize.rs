//! Any bytes as blocks of any type, little- or big-endian, into outputs of any length and kind, and any range of them:
//! no panic, and the values of the model, bit for bit (any NaN for a NaN).

use std::ops::Range;

use super::choices::Choices;
use super::model::{MODELS, Model, bf16_bits, f16, f16_bits};
use super::setup::cut;
use super::support::gguf_writer::{Gguf, Tensor};
use weightstream::{Blocks, ByteOrder, Decoder, DequantizeError, Event, TensorSlot, TensorType};

/// What no kernel may write over, as `f32` and as 16 bits.
const UNTOUCHED: f32 = 12_345.5;
const UNTOUCHED_HALF: u16 = 0xa5c3;

/// What to dequantize to.
#[derive(Clone, Copy)]
enum Kind {
    F32,
    F16,
    Bf16,
}

/// The type, flags, the output's length (two bytes), chunk length, then the blocks; before those of a range, its start
/// and its length (two bytes each).
pub fn dequantize(data: &[u8]) {
    let mut choices = Choices::new(data);
    let id = choices.byte();
    let flags = choices.byte();
    let room = usize::from(u16::from_le_bytes(choices.bytes())) % 1100;
    let chunk = usize::from(choices.byte()) + 1;
    // Mostly types that there are; none of safetensors, whose ids begin at 0x1_0000.
    let tensor_type = match flags & 0xf0 {
        0 => TensorType::from_id(u32::from_le_bytes([id, 0, id & 2, flags >> 3])),
        _ => TensorType::ALL[usize::from(id) % TensorType::ALL.len()],
    };
    let order = if flags & 2 == 0 { ByteOrder::Little } else { ByteOrder::Big };
    let kind = match flags >> 2 & 3 {
        0 => Kind::F32,
        1 => Kind::F16,
        2 => Kind::Bf16,
        _ => {
            let [start, len] = [(); 2].map(|()| u64::from(u16::from_le_bytes(choices.bytes())) % 2100);
            // Now and then a range that ends before it starts, or where nothing is.
            let end = if flags & 1 == 0 { start + len } else { len.wrapping_sub(start) };
            return range(tensor_type, order, choices.rest(), start..end, room);
        }
    };
    if flags & 1 == 0 {
        in_memory(tensor_type, order, choices.rest(), kind, room);
    } else if let Some(model) = model_of(tensor_type) {
        streamed(model, order, choices.rest(), kind, room, chunk);
    }
}

fn model_of(tensor_type: TensorType) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.id == tensor_type.id())
}

/// A slot for a tensor in memory, which knows the byte order of its data.
fn slot(tensor_type: TensorType, order: ByteOrder) -> TensorSlot {
    TensorSlot::new(0, 0, 0, 0, 0, tensor_type, order)
}

/// One call after the other until nothing is left.
fn in_memory(tensor_type: TensorType, order: ByteOrder, bytes: &[u8], kind: Kind, room: usize) {
    let slot = slot(tensor_type, order);
    let mut src = bytes;
    loop {
        let before = src;
        let (mut out, mut half) = (vec![UNTOUCHED; room], vec![UNTOUCHED_HALF; room]);
        let result = match (kind, order) {
            (Kind::F32, ByteOrder::Little) => tensor_type.dequantize(&mut src, &mut out),
            (Kind::F16, ByteOrder::Little) => tensor_type.dequantize_f16(&mut src, &mut half),
            (Kind::Bf16, ByteOrder::Little) => tensor_type.dequantize_bf16(&mut src, &mut half),
            (Kind::F32, ByteOrder::Big) => slot.dequantize(&mut src, &mut out),
            (Kind::F16, ByteOrder::Big) => slot.dequantize_f16(&mut src, &mut half),
            (Kind::Bf16, ByteOrder::Big) => slot.dequantize_bf16(&mut src, &mut half),
        };
        let written = check(tensor_type, order, before, kind, (&out, &half), result);
        let used = written.map_or(0, |blocks| blocks * tensor_type.block_bytes().unwrap_or(0) as usize);
        assert!(std::ptr::eq(src, &raw const before[used..]), "the source is elsewhere");
        if written.unwrap_or(0) == 0 {
            return;
        }
    }
}

/// Any range of elements.
fn range(tensor_type: TensorType, order: ByteOrder, src: &[u8], range: Range<u64>, room: usize) {
    let mut out = vec![UNTOUCHED; room];
    let result = match order {
        ByteOrder::Little => tensor_type.dequantize_range(src, range.clone(), &mut out),
        ByteOrder::Big => slot(tensor_type, order).dequantize_range(src, range.clone(), &mut out),
    };
    let Some(model) = model_of(tensor_type) else {
        assert_eq!(result, Err(DequantizeError::NoKernel { tensor_type }));
        return;
    };
    let held = (src.len() / model.bytes * model.elements) as u64;
    let Range { start, end } = range;
    let expected = match model.numbers {
        None if order == ByteOrder::Big => Err(DequantizeError::AmbiguousByteOrder { tensor_type }),
        _ if start > end || end > held => Err(DequantizeError::OutOfRange { start, end, elements: held }),
        _ if ((end - start) as usize) > room => {
            Err(DequantizeError::OutputTooSmall { needed: (end - start) as usize, got: room })
        }
        _ => Ok((end - start) as usize),
    };
    assert_eq!(result, expected, "{tensor_type}");
    let (values, rest) = out.split_at(result.unwrap_or(0));
    assert!(rest.iter().all(|value| value.to_bits() == UNTOUCHED.to_bits()));
    for (element, value) in (start as usize..).zip(values) {
        let right = model.element(order, src, element);
        assert!(same(right, *value), "{tensor_type}, element {element}: {value:?} instead of {right:?}");
    }
}

/// The same bytes as a tensor of a file.
fn streamed(model: &Model, order: ByteOrder, bytes: &[u8], kind: Kind, room: usize, chunk: usize) {
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
                values(model, blocks, kind, room);
            }
        }
    }
    assert_eq!((decoder.finish(), told), (Ok(()), whole.len()));
}

fn values(model: &Model, mut blocks: Blocks<'_>, kind: Kind, room: usize) {
    loop {
        let (before, first) = (blocks.bytes(), blocks.first_element());
        let (mut out, mut half) = (vec![UNTOUCHED; room], vec![UNTOUCHED_HALF; room]);
        let result = match kind {
            Kind::F32 => blocks.dequantize(&mut out),
            Kind::F16 => blocks.dequantize_f16(&mut half),
            Kind::Bf16 => blocks.dequantize_bf16(&mut half),
        };
        let (tensor_type, order) = (blocks.tensor_type(), blocks.byte_order());
        let written = check(tensor_type, order, before, kind, (&out, &half), result).unwrap_or(0);
        assert!(std::ptr::eq(blocks.bytes(), &raw const before[written * model.bytes..]));
        assert_eq!(blocks.first_element(), first + (written * model.elements) as u64);
        assert_eq!(blocks.is_empty(), blocks.bytes().is_empty());
        if written == 0 {
            return;
        }
    }
}

/// Whether `result` and what was written are right for `src`. Returns the blocks written.
fn check(
    tensor_type: TensorType,
    order: ByteOrder,
    src: &[u8],
    kind: Kind,
    (out, half): (&[f32], &[u16]),
    result: Result<usize, DequantizeError>,
) -> Option<usize> {
    let written = result.unwrap_or(0);
    let (used, used_half) = if matches!(kind, Kind::F32) { (written, 0) } else { (0, written) };
    assert!(out[used..].iter().all(|value| value.to_bits() == UNTOUCHED.to_bits()), "{tensor_type}");
    assert!(half[used_half..].iter().all(|bits| *bits == UNTOUCHED_HALF), "{tensor_type}");
    let Some(model) = model_of(tensor_type) else {
        assert_eq!((tensor_type.block_bytes(), tensor_type.block_elements()), (None, None));
        assert_eq!(result, Err(DequantizeError::NoKernel { tensor_type }));
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
    for element in 0..written {
        let right = model.element(order, src, element);
        let good = match kind {
            Kind::F32 => same(right, out[element]),
            Kind::F16 if right.is_nan() => f16(half[element]).is_nan(),
            Kind::F16 => half[element] == f16_bits(right),
            Kind::Bf16 if right.is_nan() => f32::from_bits(u32::from(half[element]) << 16).is_nan(),
            Kind::Bf16 => half[element] == bf16_bits(right),
        };
        let (block, values) = (element / elements * size, (out[element], half[element]));
        let block = &src[block..block + size];
        assert!(good, "{tensor_type}, element {element}, {block:02x?}: {values:x?} instead of {right:?}");
    }
    result.ok().map(|written| written / elements)
}

fn same(right: f32, value: f32) -> bool {
    right.to_bits() == value.to_bits() || right.is_nan() && value.is_nan()
}
