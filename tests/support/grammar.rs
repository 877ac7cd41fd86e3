//! The grammar of events, checked one by one as they come: written from the documentation, not from the decoder.

use std::collections::BTreeMap;

use weightstream::{Error, Event, ValueType};

use super::random::Random;
use super::record::Records;

/// What is allowed next.
#[derive(Clone, Debug, PartialEq)]
enum Next {
    Header,
    /// An entry, a tensor or `DataStart`, as the counts allow.
    Item,
    /// The value, or after a piece of text the rest of it.
    Value,
    /// Data or the end.
    Data,
    Nothing,
}

/// An array that is open.
#[derive(Clone, Debug)]
struct Open {
    element: ValueType,
    left: u64,
}

/// A text that is open: bytes come, and bytes in all where they are known.
type Text = (u64, Option<u64>);

#[derive(Clone, Debug)]
struct Described {
    bytes: Option<u64>,
    offset: u64,
    skipped: bool,
    /// Bytes and elements told.
    told: (u64, u64),
}

#[derive(Clone, Debug)]
pub struct Grammar {
    next: Next,
    /// `None` where the format does not tell: then entries and tensors may come in any order.
    entries_left: Option<u64>,
    tensors_left: Option<u64>,
    any_tensor: bool,
    value_type: ValueType,
    open: Vec<Open>,
    text: Option<Text>,
    tensors: BTreeMap<u32, Described>,
    /// The tensor told last, and the one whose data came last.
    last_described: Option<u32>,
    in_hand: Option<u32>,
    end_known: bool,
}

impl Grammar {
    pub fn new() -> Self {
        Self {
            next: Next::Header,
            entries_left: None,
            tensors_left: None,
            any_tensor: false,
            value_type: ValueType::U8,
            open: Vec::new(),
            text: None,
            tensors: BTreeMap::new(),
            last_described: None,
            in_hand: None,
            end_known: false,
        }
    }

    /// The caller skips: what may come next changes.
    pub fn skip_value(&mut self) {
        if self.next == Next::Value {
            (self.text, self.next) = (None, Next::Item);
            self.open.clear();
        }
    }

    pub fn skip_tensor(&mut self) {
        for index in [self.last_described.take(), self.in_hand.take()].into_iter().flatten() {
            self.tensors.get_mut(&index).expect("it was described").skipped = true;
        }
    }

    pub fn event(&mut self, event: &Event<'_>) {
        if !matches!(event, Event::Tensor { .. }) {
            self.last_described = None;
        }
        match (&self.next, event) {
            (Next::Header, Event::Header(header)) => {
                self.entries_left = header.entry_count;
                self.tensors_left = header.tensor_count;
                self.next = Next::Item;
            }
            (Next::Item, Event::Key { value_type, .. }) => {
                if let Some(left) = &mut self.entries_left {
                    assert!(!self.any_tensor, "an entry after a tensor");
                    *left = left.checked_sub(1).expect("more entries than claimed");
                }
                self.value_type = *value_type;
                self.next = Next::Value;
            }
            (Next::Item, Event::Tensor { info, .. }) => {
                assert_eq!(self.entries_left.unwrap_or(0), 0, "a tensor before the last entry");
                if let Some(left) = &mut self.tensors_left {
                    *left = left.checked_sub(1).expect("more tensors than claimed");
                }
                self.any_tensor = true;
                let described = Described {
                    bytes: info.byte_len(),
                    offset: info.data_offset(),
                    skipped: false,
                    told: (0, 0),
                };
                let before = self.tensors.insert(info.index(), described);
                assert!(before.is_none(), "a tensor is described twice");
                self.last_described = Some(info.index());
            }
            (Next::Item, Event::DataStart(start)) => {
                assert_eq!(
                    (self.entries_left.unwrap_or(0), self.tensors_left.unwrap_or(0)),
                    (0, 0),
                    "data before the last description"
                );
                self.end_known = start.end.is_some();
                self.next = Next::Data;
            }
            (Next::Value, value) => self.value(value),
            (Next::Data, Event::Data(blocks)) => {
                assert!(!blocks.is_empty(), "data without bytes");
                let (len, index) = (blocks.bytes().len() as u64, blocks.tensor());
                if let Some(before) = self.in_hand.filter(|before| *before != index) {
                    let (before, now) = (&self.tensors[&before], &self.tensors[&index]);
                    assert!(before.offset < now.offset, "data not in the order of the file");
                    assert!(before.bytes.is_none_or(|bytes| bytes == before.told.0), "data are left out");
                }
                let tensor = self.tensors.get_mut(&index).expect("data of a tensor that was described");
                assert!(!tensor.skipped, "data of a skipped tensor");
                assert_eq!(blocks.first_element(), tensor.told.1, "elements are left out");
                tensor.told.0 += len;
                tensor.told.1 += super::record::elements(blocks.tensor_type(), blocks.bytes());
                assert!(tensor.bytes.is_none_or(|bytes| tensor.told.0 <= bytes), "too much data");
                self.in_hand = Some(index);
            }
            (Next::Data, Event::End) => {
                assert!(self.end_known, "the end of what has none");
                let whole = |tensor: &Described| {
                    tensor.skipped || tensor.bytes.is_none_or(|bytes| bytes == tensor.told.0)
                };
                assert!(self.tensors.values().all(whole), "the end before the last data");
                self.in_hand = None;
                self.next = Next::Nothing;
            }
            (next, event) => panic!("{event:?} where {next:?} was allowed"),
        }
    }

    /// A part of a value: the type of the innermost open array says which.
    fn value(&mut self, event: &Event<'_>) {
        let innermost = self.open.last().map(|open| (open.element, open.left));
        let expected = innermost.map_or(self.value_type, |(element, _)| element);
        match event {
            Event::ArrayEnd => {
                assert!(self.text.is_none(), "an array ends inside a text");
                let array = self.open.pop().expect("an array ends that is not open");
                assert_eq!(array.left, 0, "an array ends before its last element");
                self.element_done(1);
            }
            Event::Scalar(value) => {
                assert!(self.open.is_empty(), "a scalar in an array");
                assert_eq!(value.value_type(), expected);
                self.element_done(1);
            }
            Event::Items(items) => {
                assert!(!self.open.is_empty() && !items.is_empty());
                assert_eq!(items.element(), expected);
                let size = usize::from(items.element().byte_len().expect("items are of fixed size"));
                assert_eq!(items.bytes().len(), items.len() * size);
                self.element_done(items.len() as u64);
            }
            Event::Text { part, start, total, last } => {
                assert_eq!(expected, ValueType::String);
                let (come, of) = self.text.unwrap_or((0, *total));
                assert_eq!((*start, *total), (come, of), "a text has a hole");
                let come = come + part.len() as u64;
                match total {
                    Some(total) => {
                        assert!(!part.is_empty() || *total == 0, "an empty piece of a text");
                        assert_eq!(*last, come == *total, "the last piece is not marked, or another one is");
                    }
                    None => assert!(!part.is_empty() || *last, "an empty piece of a text"),
                }
                self.text = Some((come, *total));
                if *last {
                    self.text = None;
                    self.element_done(1);
                }
            }
            Event::ArrayStart { element, len } => {
                assert_eq!(expected, ValueType::Array);
                assert!(innermost.is_none_or(|(_, left)| left > 0), "more elements than claimed");
                self.open.push(Open { element: *element, left: *len });
            }
            other => panic!("{other:?} in a value"),
        }
    }

    fn element_done(&mut self, count: u64) {
        match self.open.last_mut() {
            Some(array) => {
                array.left = array.left.checked_sub(count).expect("more elements than claimed");
            }
            None => self.next = Next::Item,
        }
    }

    /// The file was found to be whole.
    pub fn accepted(&self) {
        let open_ended = self.next == Next::Data && !self.end_known;
        assert!(self.next == Next::Nothing || open_ended, "accepted where {:?} was allowed", self.next);
    }
}

/// Holds what a decoder tells of these pieces against the grammar. Skips one event in so many; 0 for none. A new verdict of
/// `finish` at the end.
pub fn keeps_to_grammar<'b, D: Records>(
    mut decoder: D,
    pieces: impl IntoIterator<Item = &'b [u8]>,
    skip_one_in: usize,
    random: &mut Random,
) -> Result<(), Error> {
    let mut grammar = Grammar::new();
    let mut skip = |decoder: &mut D, grammar: &mut Grammar| {
        if skip_one_in > 0 && random.one_in(skip_one_in) {
            if random.one_in(2) {
                decoder.skip_value();
                grammar.skip_value();
            } else {
                decoder.skip_tensor();
                grammar.skip_tensor();
            }
        }
    };
    for piece in pieces {
        let mut input = piece;
        while let Some(event) = decoder.decode(&mut input)? {
            grammar.event(&event);
            skip(&mut decoder, &mut grammar);
        }
    }
    decoder.finish()?;
    grammar.accepted();
    Ok(())
}
