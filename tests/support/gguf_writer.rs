//! Writes GGUF files for tests: every well-formed one, and malformed ones on purpose.
//!
//! ```ignore
//! let file = Gguf::new()
//!     .entry("general.architecture", Value::text("llama"))
//!     .entry("bad", Value::array(vec![Value::Bool(1), Value::Bool(2).mark("two")]))
//!     .tensor(Tensor::new("output.weight", 0, &[8], vec![0; 32]))
//!     .write();
//! assert_eq!(error.offset(), file.mark("two"));
//! ```
//!
//! Nothing is checked: what a call says is what is written. Names that begin with `claim_` change what the file says and
//! leave everything else where it was. All positions are absolute, counted from the first byte of the file.

use std::collections::BTreeMap;

pub use super::gguf_value::Value;

/// A tensor: what its description says, and its data.
#[derive(Clone, Debug)]
pub struct Tensor {
    name: Vec<u8>,
    type_id: u32,
    dims: Vec<u64>,
    data: Vec<u8>,
    data_bytes: u64,
    gap: u64,
    claimed_name_bytes: Option<u64>,
    claimed_dims: Option<u32>,
    claimed_offset: Option<u64>,
}

impl Tensor {
    /// `type_id` and `dims` go into the file as they are, and `data` need not fit them.
    pub fn new(name: impl AsRef<[u8]>, type_id: u32, dims: &[u64], data: Vec<u8>) -> Self {
        let data_bytes = data.len() as u64;
        Self { data, ..Self::hollow(name, type_id, dims, data_bytes) }
    }

    /// A tensor of any size whose data nobody writes: a file with such a one ends where its data section starts.
    pub fn hollow(name: impl AsRef<[u8]>, type_id: u32, dims: &[u64], data_bytes: u64) -> Self {
        Self {
            name: name.as_ref().to_vec(),
            type_id,
            dims: dims.to_vec(),
            data: Vec::new(),
            data_bytes,
            gap: 0,
            claimed_name_bytes: None,
            claimed_dims: None,
            claimed_offset: None,
        }
    }

    /// This many unused bytes before the data, on top of the padding. A multiple of the alignment keeps it aligned.
    pub fn gap(self, bytes: u64) -> Self {
        Self { gap: bytes, ..self }
    }

    pub fn claim_name_bytes(self, bytes: u64) -> Self {
        Self { claimed_name_bytes: Some(bytes), ..self }
    }

    pub fn claim_dims(self, n_dims: u32) -> Self {
        Self { claimed_dims: Some(n_dims), ..self }
    }

    pub fn claim_offset(self, offset: u64) -> Self {
        Self { claimed_offset: Some(offset), ..self }
    }
}

/// The whole file, to be built up and then written.
#[derive(Clone, Debug)]
pub struct Gguf {
    version: u32,
    big_endian: bool,
    padded_to: u64,
    padding: u8,
    last_padding: bool,
    entries: Vec<(Vec<u8>, Option<u64>, Value)>,
    tensors: Vec<Tensor>,
    data_order: Option<Vec<usize>>,
    claimed_tensors: Option<u64>,
    claimed_entries: Option<u64>,
}

impl Gguf {
    /// Version 3, little endian, alignment 32, nothing in it.
    pub fn new() -> Self {
        Self {
            version: 3,
            big_endian: false,
            padded_to: 32,
            padding: 0,
            last_padding: true,
            entries: Vec::new(),
            tensors: Vec::new(),
            data_order: None,
            claimed_tensors: None,
            claimed_entries: None,
        }
    }

    /// Version 1 has lengths, counts and dimensions of 32 bits; any other is laid out like 3.
    pub fn version(self, version: u32) -> Self {
        Self { version, ..self }
    }

    /// Swaps everything but the magic, the data and [`Value::Raw`].
    pub fn big_endian(self, big_endian: bool) -> Self {
        Self { big_endian, ..self }
    }

    pub fn entry(mut self, key: impl AsRef<[u8]>, value: Value) -> Self {
        self.entries.push((key.as_ref().to_vec(), None, value));
        self
    }

    /// An entry whose key claims to be `key_bytes` long.
    pub fn entry_claiming(mut self, key: impl AsRef<[u8]>, key_bytes: u64, value: Value) -> Self {
        self.entries.push((key.as_ref().to_vec(), Some(key_bytes), value));
        self
    }

    /// The next entry is `general.alignment`, and the file keeps to it. An entry of that name alone moves nothing.
    pub fn alignment(self, alignment: u32) -> Self {
        self.entry("general.alignment", Value::U32(alignment)).pad_to(alignment.into())
    }

    /// Pads to this without an entry that says so. Any number but 0.
    pub fn pad_to(self, alignment: u64) -> Self {
        Self { padded_to: alignment, ..self }
    }

    /// What padding and gaps are filled with.
    pub fn padding(self, byte: u8) -> Self {
        Self { padding: byte, ..self }
    }

    /// Whether the data of the last tensor are padded too.
    pub fn last_padding(self, on: bool) -> Self {
        Self { last_padding: on, ..self }
    }

    pub fn tensor(mut self, tensor: Tensor) -> Self {
        self.tensors.push(tensor);
        self
    }

    /// The order of the data in the file, as indexes of all tensors, where it is not that of the descriptions.
    pub fn data_order(self, order: &[usize]) -> Self {
        Self { data_order: Some(order.to_vec()), ..self }
    }

    pub fn claim_tensor_count(self, count: u64) -> Self {
        Self { claimed_tensors: Some(count), ..self }
    }

    pub fn claim_entry_count(self, count: u64) -> Self {
        Self { claimed_entries: Some(count), ..self }
    }

    pub fn write(&self) -> Written {
        let mut out = Out { big_endian: self.big_endian, wide: self.version != 1, ..Out::default() };
        out.bytes.extend_from_slice(b"GGUF");
        out.u32(self.version);
        out.length(self.claimed_tensors.unwrap_or(self.tensors.len() as u64));
        out.length(self.claimed_entries.unwrap_or(self.entries.len() as u64));
        let entries =
            self.entries.iter().map(|(key, claimed, value)| out.entry(key, *claimed, value)).collect();
        let (order, offsets) = self.place();
        let mut tensors: Vec<TensorAt> =
            self.tensors.iter().zip(offsets).map(|(tensor, offset)| out.tensor(tensor, offset)).collect();
        let metadata_end = out.at();
        if !tensors.is_empty() {
            out.fill(self.pad(metadata_end), self.padding);
        }
        let data_offset = out.at();
        for tensor in &mut tensors {
            tensor.data += data_offset;
        }
        if self.tensors.iter().all(|tensor| tensor.data.len() as u64 == tensor.data_bytes) {
            for &index in &order {
                out.fill(tensors[index].data, self.padding);
                out.bytes.extend_from_slice(&self.tensors[index].data);
            }
            if self.last_padding && !order.is_empty() {
                out.fill(data_offset + self.pad(out.at() - data_offset), self.padding);
            }
        }
        let Out { bytes, marks, wide, .. } = out;
        let length_bytes = if wide { 8 } else { 4 };
        Written { bytes, length_bytes, entries, tensors, metadata_end, data_offset, marks }
    }

    /// The order of the data, and where the data of each tensor start, counted from the start of the data section.
    fn place(&self) -> (Vec<usize>, Vec<u64>) {
        let order = self.data_order.clone().unwrap_or_else(|| (0..self.tensors.len()).collect());
        let mut offsets = vec![0; self.tensors.len()];
        let mut end = 0;
        for &index in &order {
            offsets[index] = self.pad(end) + self.tensors[index].gap;
            end = offsets[index] + self.tensors[index].data_bytes;
        }
        (order, offsets)
    }

    fn pad(&self, position: u64) -> u64 {
        position.next_multiple_of(self.padded_to)
    }
}

/// A written file, and where its fields start.
#[derive(Clone, Debug)]
pub struct Written {
    pub bytes: Vec<u8>,
    /// The size of a length, count or dimension: 4 in version 1, else 8.
    pub length_bytes: u64,
    pub entries: Vec<EntryAt>,
    pub tensors: Vec<TensorAt>,
    /// Where the descriptions end, before any padding.
    pub metadata_end: u64,
    /// Where the data section starts; without a tensor, `metadata_end`.
    pub data_offset: u64,
    marks: BTreeMap<&'static str, u64>,
}

impl Written {
    pub const MAGIC: u64 = 0;
    pub const VERSION: u64 = 4;
    pub const TENSOR_COUNT: u64 = 8;

    pub fn entry_count(&self) -> u64 {
        Self::TENSOR_COUNT + self.length_bytes
    }

    /// Where the value starts that was marked with this name: a string's length, an array's element type.
    pub fn mark(&self, name: &str) -> u64 {
        *self.marks.get(name).expect("no value has this mark")
    }

    /// Writes over the bytes at `offset`.
    pub fn patch(mut self, offset: u64, bytes: &[u8]) -> Self {
        self.bytes[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        self
    }
}

/// Where the fields of an entry start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntryAt {
    /// The key's length.
    pub start: u64,
    /// The key's body.
    pub key: u64,
    pub value_type: u64,
    /// A string's length, an array's element type.
    pub value: u64,
    pub end: u64,
}

/// Where the fields of a tensor's description start, and its data.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorAt {
    /// The name's length.
    pub start: u64,
    /// The name's body.
    pub name: u64,
    pub n_dims: u64,
    pub dims: Vec<u64>,
    pub type_id: u64,
    pub offset: u64,
    pub end: u64,
    /// The data, whatever offset the description claims.
    pub data: u64,
}

#[derive(Default)]
struct Out {
    bytes: Vec<u8>,
    big_endian: bool,
    wide: bool,
    marks: BTreeMap<&'static str, u64>,
}

impl Out {
    fn at(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn fill(&mut self, end: u64, byte: u8) {
        self.bytes.resize(end as usize, byte);
    }

    fn number(&mut self, little_endian: &[u8]) {
        if self.big_endian {
            self.bytes.extend(little_endian.iter().rev());
        } else {
            self.bytes.extend_from_slice(little_endian);
        }
    }

    fn u32(&mut self, number: u32) {
        self.number(&number.to_le_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.number(&number.to_le_bytes());
    }

    fn length(&mut self, length: u64) {
        if self.wide {
            self.u64(length);
        } else {
            self.u32(length.try_into().expect("a length of version 1 has 32 bits"));
        }
    }

    /// Returns where the body starts.
    fn string(&mut self, body: &[u8], claimed: Option<u64>) -> u64 {
        self.length(claimed.unwrap_or(body.len() as u64));
        let start = self.at();
        self.bytes.extend_from_slice(body);
        start
    }

    fn entry(&mut self, key: &[u8], claimed: Option<u64>, value: &Value) -> EntryAt {
        let start = self.at();
        let key = self.string(key, claimed);
        let value_type = self.at();
        self.u32(value.type_id());
        let body = self.at();
        self.value(value, None);
        EntryAt { start, key, value_type, value: body, end: self.at() }
    }

    fn value(&mut self, value: &Value, claimed: Option<u64>) {
        match value {
            Value::String(body) => {
                self.string(body, claimed);
            }
            Value::Array { element, items } => {
                self.u32(*element);
                self.length(claimed.unwrap_or(items.len() as u64));
                for item in items {
                    self.value(item, None);
                }
            }
            Value::Raw { bytes, .. } => self.bytes.extend_from_slice(bytes),
            Value::Marked(name, inner) => {
                let before = self.marks.insert(name, self.at());
                assert!(before.is_none(), "two values are marked {name}");
                self.value(inner, claimed);
            }
            Value::Claimed(length, inner) => self.value(inner, Some(*length)),
            Value::Typed(_, inner) => self.value(inner, claimed),
            scalar => self.number(&scalar.little_endian()),
        }
    }

    fn tensor(&mut self, tensor: &Tensor, data: u64) -> TensorAt {
        let start = self.at();
        let name = self.string(&tensor.name, tensor.claimed_name_bytes);
        let n_dims = self.at();
        self.u32(tensor.claimed_dims.unwrap_or(tensor.dims.len() as u32));
        let mut dims = Vec::new();
        for &dim in &tensor.dims {
            dims.push(self.at());
            self.length(dim);
        }
        let type_id = self.at();
        self.u32(tensor.type_id);
        let offset = self.at();
        self.u64(tensor.claimed_offset.unwrap_or(data));
        TensorAt { start, name, n_dims, dims, type_id, offset, end: self.at(), data }
    }
}
