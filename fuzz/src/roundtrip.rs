//! Any bytes as choices that make a well-formed model: it decodes to itself, and none of its beginnings does.

use super::choices::Choices;
use super::setup::{Fuzzed, cut};
use super::support::gguf_writer::{Gguf, Tensor, Value, Written};
use super::support::random::Random;
use super::support::record::{Called, Recording, Seen, bits, events_within, run};
use weightstream::{
    ByteOrder, DataStart, Decoder, ErrorKind, Format, Header, Layout, Options, Scalar, TensorSlot,
    TensorType, ValueType, name_hash,
};

const SCRATCH: usize = 320;
/// Most bytes of a tensor.
const TENSOR_BYTES: u64 = 900;

pub fn roundtrip(data: &[u8]) {
    let mut choices = Choices::new(data);
    let model = Model::choose(&mut choices);
    let file = model.write();
    let seed = u64::from(choices.byte());
    let piece = choices.below(256) + 1;
    let keep = u64::from(u16::from_le_bytes(choices.bytes()));

    let mut decoder: Fuzzed<SCRATCH> = model.decoder(file.bytes.len());
    let mut random = Random::new(seed);
    let told = run(&mut decoder, random.pieces(&file.bytes, piece));
    model.compare(&file, &told);
    model.compare_directory(&file, &decoder);

    let end = told.position.expect("it is good");
    let keep = keep % end.max(1);
    let mut decoder = model.decoder(file.bytes.len());
    let begun = run(&mut decoder, cut(&file.bytes[..keep as usize], std::iter::repeat(piece)));
    assert_eq!(begun.events, events_within(&told, keep), "the first {keep} bytes");
    assert!(matches!(begun.error().kind(), ErrorKind::Truncated { .. }), "{:?}", begun.error());
}

struct Model {
    version: u32,
    big_endian: bool,
    alignment: Option<u32>,
    /// Where among the entries the alignment stands.
    alignment_at: usize,
    entries: Vec<(String, Value)>,
    tensors: Vec<Described>,
    order: Option<Vec<usize>>,
    padding: u8,
    last_padding: bool,
    sparse: bool,
    knows_size: bool,
}

struct Described {
    name: String,
    tensor_type: TensorType,
    dims: Vec<u64>,
    data: Vec<u8>,
    gap: u64,
}

impl Model {
    fn choose(choices: &mut Choices<'_>) -> Self {
        let version = [3, 2, 1, 3][choices.below(4)];
        let flags = choices.byte();
        let flag = |bit: u8| flags >> bit & 1 == 1;
        let alignment = flag(0).then(|| 1 << choices.below(11));
        let entries: Vec<_> =
            (0..choices.below(8)).map(|index| (key(choices, index), value(choices))).collect();
        let alignment_at = choices.below(entries.len() + 1);
        let gap = |choices: &mut Choices<'_>| match flag(1) {
            true => choices.below(3) as u64 * u64::from(alignment.unwrap_or(32)),
            false => 0,
        };
        let tensors: Vec<_> = (0..choices.below(8))
            .map(|index| {
                let gap = gap(choices);
                Described { gap, ..Described::choose(choices, index) }
            })
            .collect();
        let order = flag(2).then(|| {
            let mut order: Vec<usize> = (0..tensors.len()).collect();
            for last in (1..order.len()).rev() {
                order.swap(last, choices.below(last + 1));
            }
            order
        });
        Self {
            version,
            big_endian: flag(3),
            alignment,
            alignment_at,
            entries,
            tensors,
            order,
            padding: choices.byte(),
            last_padding: flag(4),
            sparse: flag(1) || flag(2) || flag(5),
            knows_size: flag(6),
        }
    }

    fn write(&self) -> Written {
        let mut file = Gguf::new()
            .version(self.version)
            .big_endian(self.big_endian)
            .padding(self.padding)
            .last_padding(self.last_padding);
        for index in 0..=self.entries.len() {
            if let Some(alignment) = self.alignment.filter(|_| index == self.alignment_at) {
                file = file.alignment(alignment);
            }
            if let Some((key, value)) = self.entries.get(index) {
                file = file.entry(key, value.clone());
            }
        }
        for tensor in &self.tensors {
            let Described { name, tensor_type, dims, data, gap } = tensor;
            file = file.tensor(Tensor::new(name, tensor_type.id(), dims, data.clone()).gap(*gap));
        }
        if let Some(order) = &self.order {
            file = file.data_order(order);
        }
        file.write()
    }

    fn decoder(&self, file_bytes: usize) -> Fuzzed<SCRATCH> {
        let mut options = Options::new();
        if self.sparse {
            options = options.layout(Layout::Sparse);
        }
        if self.knows_size {
            options = options.input_bytes(file_bytes as u64);
        }
        Decoder::with_scratch(vec![TensorSlot::EMPTY; self.tensors.len()], options)
    }

    fn byte_order(&self) -> ByteOrder {
        if self.big_endian { ByteOrder::Big } else { ByteOrder::Little }
    }

    /// What was told is what was written.
    fn compare(&self, file: &Written, told: &Recording) {
        assert_eq!(told.result, Ok(()));
        let mut events = told.events.iter();
        let mut next = || events.next().expect("an event is missing");

        let Seen::Header(Header { format, version, byte_order, tensor_count, entry_count, .. }) = next()
        else {
            panic!("no header")
        };
        let entry_total = self.entries.len() + usize::from(self.alignment.is_some());
        assert_eq!((*format, *version, *byte_order), (Format::Gguf, self.version, self.byte_order()));
        assert_eq!(*tensor_count, Some(self.tensors.len() as u64));
        assert_eq!(*entry_count, Some(entry_total as u64));

        let alignment = self.alignment.map(|alignment| ("general.alignment", Value::U32(alignment)));
        let entries = self.entries.iter().map(|(key, value)| (key.as_str(), value.clone()));
        let mut entries: Vec<_> = entries.collect();
        if let Some(alignment) = alignment {
            entries.insert(self.alignment_at, alignment);
        }
        for (key, value) in entries {
            assert_eq!(*next(), Seen::Key { name: called(key), value_type: type_of(&value) });
            let mut expected = Vec::new();
            self.expect(&value, &mut expected);
            for event in expected {
                assert_eq!(*next(), event);
            }
        }

        for (index, tensor) in self.tensors.iter().enumerate() {
            let Seen::Tensor { name, info } = next() else { panic!("no tensor") };
            assert_eq!(*name, called(&tensor.name));
            assert_eq!((info.index() as usize, info.tensor_type()), (index, tensor.tensor_type));
            assert_eq!(info.dims(), tensor.dims);
            assert!(info.shape().eq(tensor.dims.iter().rev().copied()));
            assert_eq!(info.byte_len(), Some(tensor.data.len() as u64));
            assert_eq!(info.data_offset(), file.tensors[index].data - file.data_offset);
        }

        let Seen::DataStart(DataStart { offset, alignment, end, contiguous, .. }) = next() else {
            panic!("no start of data")
        };
        assert_eq!((*offset, *alignment), (file.data_offset, self.alignment.unwrap_or(32)));
        assert_eq!(*contiguous, self.is_contiguous(file));

        let mut in_order: Vec<_> = self.tensors.iter().zip(&file.tensors).enumerate().collect();
        in_order.retain(|(_, (tensor, _))| !tensor.data.is_empty());
        in_order.sort_by_key(|(_, (_, at))| at.data);
        let mut last = file.data_offset;
        for (index, (tensor, at)) in in_order {
            let tensor_type = tensor.tensor_type;
            let bytes = tensor.data.clone();
            last = at.data + bytes.len() as u64;
            assert_eq!(*next(), Seen::Data { tensor: index as u32, tensor_type, first_element: 0, bytes });
        }
        assert_eq!((*end, told.position), (Some(last), Some(last)));
        assert_eq!(*next(), Seen::End);
        assert_eq!(events.next(), None);
    }

    /// Whether each tensor starts where the one before it ends, padded.
    fn is_contiguous(&self, file: &Written) -> bool {
        let mut end = file.data_offset;
        self.tensors.iter().zip(&file.tensors).all(|(tensor, at)| {
            let follows = at.data == end;
            end = at.data + (tensor.data.len() as u64).next_multiple_of(self.alignment.unwrap_or(32).into());
            follows
        })
    }

    fn compare_directory(&self, file: &Written, decoder: &Fuzzed<SCRATCH>) {
        let directory = decoder.directory();
        assert_eq!(directory.len(), self.tensors.len());
        for (tensor, at) in self.tensors.iter().zip(&file.tensors) {
            let slot = directory.find(&tensor.name).expect("it was recorded");
            let bytes = tensor.data.len() as u64;
            assert_eq!((slot.offset(), slot.byte_len()), (at.data, Some(bytes)));
            assert_eq!((slot.tensor_type(), slot.byte_order()), (tensor.tensor_type, self.byte_order()));
            let rows = tensor.dims.iter().skip(1).product();
            assert_eq!(slot.rows(0..rows), Some(at.data..at.data + bytes));
            assert!(bytes == 0 || slot.rows(0..rows + 1).is_none());
        }
    }

    /// The events of a value.
    fn expect(&self, value: &Value, events: &mut Vec<Seen>) {
        match value {
            Value::String(text) => {
                events.push(Seen::Text { bytes: text.clone(), total: Some(text.len() as u64), last: true })
            }
            Value::Array { element, items } => {
                let element = ValueType::from_id(*element).expect("it was chosen");
                events.push(Seen::ArrayStart { element, len: items.len() as u64 });
                if element.byte_len().is_none() {
                    items.iter().for_each(|item| self.expect(item, events));
                } else if !items.is_empty() {
                    let bytes = items.iter().flat_map(|item| self.stored(item)).collect();
                    events.push(Seen::Items { element, bytes });
                }
                events.push(Seen::ArrayEnd);
            }
            scalar => events.push(Seen::Scalar(type_of(scalar), bits(as_scalar(scalar)))),
        }
    }

    /// The bytes of a number as they stand in the file.
    fn stored(&self, value: &Value) -> Vec<u8> {
        let mut bytes = match as_scalar(value) {
            Scalar::U8(n) => n.to_le_bytes().to_vec(),
            Scalar::I8(n) => n.to_le_bytes().to_vec(),
            Scalar::U16(n) => n.to_le_bytes().to_vec(),
            Scalar::I16(n) => n.to_le_bytes().to_vec(),
            Scalar::U32(n) => n.to_le_bytes().to_vec(),
            Scalar::I32(n) => n.to_le_bytes().to_vec(),
            Scalar::F32(n) => n.to_le_bytes().to_vec(),
            Scalar::Bool(n) => vec![n.into()],
            Scalar::U64(n) => n.to_le_bytes().to_vec(),
            Scalar::I64(n) => n.to_le_bytes().to_vec(),
            Scalar::F64(n) => n.to_le_bytes().to_vec(),
        };
        if self.big_endian {
            bytes.reverse();
        }
        bytes
    }
}

impl Described {
    fn choose(choices: &mut Choices<'_>, index: usize) -> Self {
        let tensor_type = TensorType::ALL[choices.below(TensorType::ALL.len())];
        let block = u64::from(tensor_type.block_elements().expect("it has a size"));
        let block_bytes = u64::from(tensor_type.block_bytes().expect("it has a size"));
        let mut blocks = 1;
        // A scalar is one element, which is a block only of a plain type.
        let rank = choices.below(5).max(usize::from(block > 1));
        let mut dims: Vec<u64> = Vec::new();
        for axis in 0..rank {
            let most = (TENSOR_BYTES / block_bytes).checked_div(blocks).unwrap_or(0);
            let dim = u64::from(choices.byte()) % (most + 1);
            blocks *= dim;
            dims.push(if axis == 0 { dim * block } else { dim });
        }
        let data = data(choices, (blocks * block_bytes) as usize);
        Self { name: name(choices, &format!("t{index}")), tensor_type, dims, data, gap: 0 }
    }
}

/// A few chosen bytes, and as many as are needed that only look like it.
fn data(choices: &mut Choices<'_>, len: usize) -> Vec<u8> {
    let mut bytes = choices.slice(len.min(8)).to_vec();
    let seed = bytes.iter().fold(len as u64, |seed, byte| seed.rotate_left(8) ^ u64::from(*byte));
    bytes.extend(Random::new(seed).bytes(len - bytes.len()));
    bytes
}

/// A key of its own for each index.
fn key(choices: &mut Choices<'_>, index: usize) -> String {
    name(choices, &format!("k{index}"))
}

/// Any text behind a beginning of its own; longer than the scratch now and then.
fn name(choices: &mut Choices<'_>, start: &str) -> String {
    let (len, repeat) = (choices.below(24), choices.byte());
    let text = String::from_utf8_lossy(choices.slice(len)).replace('\0', "0");
    let text = if repeat > 240 { text.repeat(usize::from(repeat) - 200) } else { text };
    format!("{start}.{text}")
}

/// Any value, with four arrays inside each other at most.
fn value(choices: &mut Choices<'_>) -> Value {
    match choices.below(14) {
        9 | 13 => array(choices, 3),
        type_id => scalar(choices, type_id as u32),
    }
}

/// A number or a text.
fn scalar(choices: &mut Choices<'_>, type_id: u32) -> Value {
    match type_id {
        0 => Value::U8(choices.byte()),
        1 => Value::I8(choices.byte().cast_signed()),
        2 => Value::U16(u16::from_le_bytes(choices.bytes())),
        3 => Value::I16(i16::from_le_bytes(choices.bytes())),
        4 => Value::U32(u32::from_le_bytes(choices.bytes())),
        5 => Value::I32(i32::from_le_bytes(choices.bytes())),
        6 => Value::F32(f32::from_le_bytes(choices.bytes())),
        7 => Value::Bool(choices.flag().into()),
        10 => Value::U64(u64::from_le_bytes(choices.bytes())),
        11 => Value::I64(i64::from_le_bytes(choices.bytes())),
        12 => Value::F64(f64::from_le_bytes(choices.bytes())),
        _ => {
            let len = usize::from(choices.byte());
            Value::String(choices.padded(len))
        }
    }
}

/// An array with so many levels of arrays inside it at most.
fn array(choices: &mut Choices<'_>, depth: usize) -> Value {
    let element = choices.below(if depth > 0 { 14 } else { 13 }) as u32;
    let (element, most) = match element {
        13 => (9, 6),
        9 if depth == 0 => (8, 6),
        9 => (9, 6),
        8 => (8, 6),
        other => (other, 48),
    };
    let item = |choices: &mut Choices<'_>| match element {
        9 => array(choices, depth - 1),
        element => scalar(choices, element),
    };
    let items = (0..choices.below(most)).map(|_| item(choices)).collect();
    Value::Array { element, items }
}

fn type_of(value: &Value) -> ValueType {
    ValueType::from_id(value.type_id()).expect("it was chosen")
}

fn as_scalar(value: &Value) -> Scalar {
    match *value {
        Value::U8(n) => Scalar::U8(n),
        Value::I8(n) => Scalar::I8(n),
        Value::U16(n) => Scalar::U16(n),
        Value::I16(n) => Scalar::I16(n),
        Value::U32(n) => Scalar::U32(n),
        Value::I32(n) => Scalar::I32(n),
        Value::F32(n) => Scalar::F32(n),
        Value::Bool(n) => Scalar::Bool(n != 0),
        Value::U64(n) => Scalar::U64(n),
        Value::I64(n) => Scalar::I64(n),
        Value::F64(n) => Scalar::F64(n),
        ref other => panic!("{other:?} is no number"),
    }
}

/// A name as it is told: whole, or as much of it as the scratch holds.
fn called(name: &str) -> Called {
    let cut = name.len() > SCRATCH;
    let kept = (0..=name.len().min(SCRATCH)).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    Called { text: name[..kept].to_owned(), cut, len: name.len() as u32, hash: name_hash(name) }
}
