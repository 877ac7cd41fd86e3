//! Runs a decoder over pieces of a file and notes what it tells, in a form that does not depend on the pieces.

use weightstream::io::Decode;
use weightstream::{
    DataStart, Decoder, Error, Event, Header, Layout, Name, Options, Scalar, TensorInfo, TensorSlot,
    TensorType, UnknownTypes, ValueType, safetensors,
};

/// More slots than any sample has tensors.
pub const SLOTS: usize = 40;

/// The decoder that most tests use.
pub type Full = Decoder<[TensorSlot; SLOTS]>;

/// A decoder that records every tensor.
pub fn full(options: Options) -> Full {
    Decoder::with_options([TensorSlot::EMPTY; SLOTS], options)
}

/// A decoder of either format.
pub trait Records: Decode {
    fn decode<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Event<'a>>, Error>;
}

impl<D: AsRef<[TensorSlot]> + AsMut<[TensorSlot]>, const S: usize> Records for Decoder<D, S> {
    fn decode<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Event<'a>>, Error> {
        self.decode(input)
    }
}

impl<D: AsRef<[TensorSlot]> + AsMut<[TensorSlot]>, const S: usize> Records for safetensors::Decoder<D, S> {
    fn decode<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Event<'a>>, Error> {
        self.decode(input)
    }
}

/// Takes any order of tensors, and unknown types.
pub fn lenient() -> Options {
    Options::new().layout(Layout::Sparse).unknown_types(UnknownTypes::Infer)
}

/// An event without a borrow. Pieces of one string, runs of one array and blocks of one tensor are merged.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    Header(Header),
    Key {
        name: Called,
        value_type: ValueType,
    },
    /// The type and the bits, so that a NaN equals itself.
    Scalar(ValueType, u64),
    Text {
        bytes: Vec<u8>,
        total: Option<u64>,
        last: bool,
    },
    ArrayStart {
        element: ValueType,
        len: u64,
    },
    Items {
        element: ValueType,
        bytes: Vec<u8>,
    },
    ArrayEnd,
    Tensor {
        name: Called,
        info: TensorInfo,
    },
    DataStart(DataStart),
    Data {
        tensor: u32,
        tensor_type: TensorType,
        first_element: u64,
        bytes: Vec<u8>,
    },
    End,
}

/// A name without a borrow.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    pub text: String,
    pub cut: bool,
    pub len: u32,
    pub hash: u64,
}

impl From<Name<'_>> for Called {
    fn from(name: Name<'_>) -> Self {
        Self { text: name.prefix().to_owned(), cut: name.is_cut(), len: name.len(), hash: name.name_hash() }
    }
}

impl From<Event<'_>> for Seen {
    fn from(event: Event<'_>) -> Self {
        match event {
            Event::Header(header) => Self::Header(header),
            Event::Key { name, value_type } => Self::Key { name: name.into(), value_type },
            Event::Scalar(value) => Self::Scalar(value.value_type(), bits(value)),
            Event::Text { part, total, last, .. } => Self::Text { bytes: part.to_vec(), total, last },
            Event::ArrayStart { element, len } => Self::ArrayStart { element, len },
            Event::Items(items) => Self::Items { element: items.element(), bytes: items.bytes().to_vec() },
            Event::ArrayEnd => Self::ArrayEnd,
            Event::Tensor { name, info } => Self::Tensor { name: name.into(), info: *info },
            Event::DataStart(start) => Self::DataStart(start),
            Event::Data(blocks) => Self::Data {
                tensor: blocks.tensor(),
                tensor_type: blocks.tensor_type(),
                first_element: blocks.first_element(),
                bytes: blocks.bytes().to_vec(),
            },
            Event::End => Self::End,
            other => panic!("an event that the tests do not know: {other:?}"),
        }
    }
}

/// A value's bits, sign-extended.
pub fn bits(value: Scalar) -> u64 {
    match value {
        Scalar::U8(n) => n.into(),
        Scalar::I8(n) => i64::from(n).cast_unsigned(),
        Scalar::U16(n) => n.into(),
        Scalar::I16(n) => i64::from(n).cast_unsigned(),
        Scalar::U32(n) => n.into(),
        Scalar::I32(n) => i64::from(n).cast_unsigned(),
        Scalar::F32(n) => n.to_bits().into(),
        Scalar::Bool(n) => n.into(),
        Scalar::U64(n) => n,
        Scalar::I64(n) => n.cast_unsigned(),
        Scalar::F64(n) => n.to_bits(),
    }
}

/// What a decoder told of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub events: Vec<Seen>,
    /// The position after each event.
    pub ends: Vec<u64>,
    /// The error of `decode`, or else what `finish` says.
    pub result: Result<(), Error>,
    /// The position at the end, unless `decode` returned an error.
    pub position: Option<u64>,
}

impl Recording {
    /// The error, where there must be one.
    pub fn error(&self) -> Error {
        self.result.expect_err("the file should be refused")
    }

    pub fn new() -> Self {
        Self { events: Vec::new(), ends: Vec::new(), result: Ok(()), position: None }
    }

    /// Notes an event, told when the decoder was at `position`.
    pub fn note(&mut self, event: Seen, position: u64) {
        if let Some(last) = self.events.last_mut()
            && merge(last, &event)
        {
            *self.ends.last_mut().expect("an event has an end") = position;
            return;
        }
        self.events.push(event);
        self.ends.push(position);
    }

    /// Pushes one piece, and notes all it gives. Whether to go on.
    pub fn push<C: Records>(&mut self, decoder: &mut C, piece: &[u8]) -> bool {
        self.push_and(decoder, piece, |_, _| {})
    }

    /// The same; `then` is called after each event, and may skip.
    pub fn push_and<C: Records>(
        &mut self,
        decoder: &mut C,
        piece: &[u8],
        mut then: impl FnMut(&mut C, &Seen),
    ) -> bool {
        let mut input = piece;
        loop {
            let before = decoder.position();
            let left = input.len();
            let seen = match decoder.decode(&mut input) {
                Ok(Some(event)) => Seen::from(event),
                Ok(None) => {
                    let ended = self.events.last() == Some(&Seen::End);
                    assert!(input.is_empty() || ended, "none came while there was input");
                    return true;
                }
                Err(error) => {
                    self.result = Err(error);
                    return false;
                }
            };
            assert_eq!(decoder.position() - before, (left - input.len()) as u64, "bytes are not counted");
            self.note(seen.clone(), decoder.position());
            then(decoder, &seen);
        }
    }

    /// No more bytes come.
    pub fn close<C: Records>(mut self, decoder: &C) -> Self {
        let verdict = decoder.finish();
        match self.result {
            Ok(()) => (self.result, self.position) = (verdict, Some(decoder.position())),
            Err(_) => assert_eq!(self.result, verdict, "finish says something else than decode"),
        }
        self
    }
}

/// Adds `event` to the one before it, if they are pieces of one thing.
fn merge(last: &mut Seen, event: &Seen) -> bool {
    match (last, event) {
        (Seen::Text { bytes, total, last: done @ false }, Seen::Text { bytes: more, total: same, last }) => {
            assert_eq!(total, same);
            // Where the length is not known beforehand, the end may come alone.
            let end_alone = total.is_none() && *last;
            assert!(!more.is_empty() || end_alone, "an empty piece of a string that has bytes");
            bytes.extend(more);
            *done = *last;
            true
        }
        (Seen::Items { element, bytes }, Seen::Items { element: same, bytes: more }) => {
            assert_eq!(element, same);
            bytes.extend(more);
            true
        }
        (
            Seen::Data { tensor, tensor_type, first_element, bytes },
            Seen::Data { tensor: other, first_element: next, bytes: more, .. },
        ) if tensor == other => {
            assert_eq!(*next, *first_element + elements(*tensor_type, bytes), "elements are left out");
            bytes.extend(more);
            true
        }
        _ => false,
    }
}

/// Elements in whole blocks; of an unknown type, bytes.
pub fn elements(tensor_type: TensorType, bytes: &[u8]) -> u64 {
    let (Some(elements), Some(block)) = (tensor_type.block_elements(), tensor_type.block_bytes()) else {
        return bytes.len() as u64;
    };
    assert_eq!(bytes.len() % block as usize, 0, "a block is cut");
    (bytes.len() / block as usize) as u64 * u64::from(elements)
}

/// Runs a decoder over pieces to the end.
pub fn run<'b, C: Records>(decoder: &mut C, pieces: impl IntoIterator<Item = &'b [u8]>) -> Recording {
    let mut recording = Recording::new();
    for piece in pieces {
        if !recording.push(decoder, piece) {
            break;
        }
    }
    recording.close(decoder)
}

/// What a decoder that records every tensor tells of a whole file.
pub fn whole(bytes: &[u8], options: Options) -> Recording {
    run(&mut full(options), [bytes])
}

/// The same for the file cut into chunks of 1 and of 7 bytes, which must tell the same.
pub fn agreed(bytes: &[u8], options: Options) -> Recording {
    let recording = whole(bytes, options);
    for size in [1, 7] {
        assert_eq!(run(&mut full(options), bytes.chunks(size)), recording, "chunks of {size}");
    }
    recording
}

/// The events that the first `len` bytes of a file give, from those of the whole file.
pub fn events_within(recording: &Recording, len: u64) -> Vec<Seen> {
    let complete = recording.ends.iter().take_while(|end| **end <= len).count();
    let mut events = recording.events[..complete].to_vec();
    let Some(next) = recording.events.get(complete) else { return events };
    let end = recording.ends[complete];
    let part = |bytes: &[u8], unit: u64| {
        let come = len.saturating_sub(end - bytes.len() as u64);
        bytes[..(come / unit * unit) as usize].to_vec()
    };
    let cut = match next {
        Seen::Text { bytes, total, .. } => Seen::Text { bytes: part(bytes, 1), total: *total, last: false },
        Seen::Items { element, bytes } => {
            let size = element.byte_len().expect("items are of fixed size");
            Seen::Items { element: *element, bytes: part(bytes, size.into()) }
        }
        Seen::Data { tensor, tensor_type, first_element, bytes } => {
            let block = tensor_type.block_bytes().unwrap_or(1);
            let bytes = part(bytes, block.into());
            Seen::Data { tensor: *tensor, tensor_type: *tensor_type, first_element: *first_element, bytes }
        }
        _ => return events,
    };
    match &cut {
        Seen::Text { bytes, .. } | Seen::Items { bytes, .. } | Seen::Data { bytes, .. }
            if !bytes.is_empty() =>
        {
            events.push(cut);
        }
        _ => {}
    }
    events
}
