//! A decoder under watch: every call is held against what the documentation of `Decoder` promises.

use std::collections::BTreeMap;

use super::setup::Fuzzed;
use super::support::grammar::Grammar;
use super::support::record::{Recording, Seen};
use weightstream::{DataStart, Error, ErrorKind, Event, Name, Section, TensorSlot, name_hash};

/// What one call of `decode` gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// An event; whether it was a tensor's description.
    Event { tensor: bool },
    /// Nothing: the input is used up, or the stream has ended.
    Nothing,
    /// An error, which is final.
    Failed,
}

pub struct Watch<'f> {
    file: &'f [u8],
    grammar: Grammar,
    pub recording: Recording,
    pub ended: bool,
    start: Option<DataStart>,
    /// The directory has slots; without one, no tensor is recorded.
    records: bool,
    /// Before this position no event may come.
    floor: u64,
    events: u64,
    arrays: u64,
    /// Keys told.
    pub keys: usize,
    tensors: usize,
    /// Tensors to be told, from the directory, and the bytes told of each.
    slots: Vec<TensorSlot>,
    told: BTreeMap<u32, u64>,
    /// Tensors whose rest the caller did not want.
    dropped: Vec<u32>,
}

impl<'f> Watch<'f> {
    pub fn new(file: &'f [u8], records: bool) -> Self {
        Self {
            file,
            grammar: Grammar::new(),
            recording: Recording::new(),
            ended: false,
            start: None,
            records,
            floor: 0,
            events: 0,
            arrays: 0,
            keys: 0,
            tensors: 0,
            slots: Vec::new(),
            told: BTreeMap::new(),
            dropped: Vec::new(),
        }
    }

    /// Whether the descriptions are over.
    pub fn in_data(&self) -> bool {
        self.start.is_some()
    }

    /// One call of `decode`. `input` is the file from the decoder's position on, up to the end of a chunk.
    pub fn step<const S: usize>(&mut self, decoder: &mut Fuzzed<S>, input: &mut &[u8]) -> Step {
        let chunk = *input;
        let before = decoder.position();
        let result = decoder.decode(input);
        let used = chunk.len().checked_sub(input.len()).expect("the input has grown");
        let rest = &raw const chunk[used..];
        assert!(input.is_empty() || std::ptr::eq(*input, rest), "the input is not the rest of the chunk");
        let position = before + used as u64;
        let mut data_start = false;
        let step = match result {
            Ok(Some(event)) => {
                self.event(&event, chunk, position);
                data_start = matches!(event, Event::DataStart(_));
                Step::Event { tensor: matches!(event, Event::Tensor { .. }) }
            }
            Ok(None) => {
                assert!(input.is_empty() || self.ended, "none came while there was input");
                assert!(!self.ended || used == 0, "bytes behind the end were taken");
                Step::Nothing
            }
            Err(error) => {
                self.recording.result = Err(error);
                Step::Failed
            }
        };
        assert_eq!(decoder.position(), position, "bytes are not counted");
        if data_start {
            self.slots = decoder.directory().slots().to_vec();
            self.check_slots();
        }
        match step {
            Step::Event { .. } => {}
            Step::Nothing => {
                let pending = decoder.finish().is_err_and(|error| error.kind() == ErrorKind::EventsPending);
                assert!(!pending, "none came while an event was due");
                if decoder.needed() == 0 {
                    // None will come.
                    self.floor = u64::MAX;
                }
            }
            Step::Failed => self.failed(decoder, chunk),
        }
        self.look(decoder);
        step
    }

    /// What may be asked between two calls.
    pub fn look<const S: usize>(&mut self, decoder: &Fuzzed<S>) {
        let position = decoder.position();
        self.floor = self.floor.max(position.saturating_add(decoder.needed()));
        let context = decoder.context();
        if let Err(error) = self.recording.result {
            assert_eq!(decoder.end(), None);
            assert_eq!(context.section, error.section());
        } else {
            assert_eq!(decoder.end(), self.start.and_then(|start| start.end));
            assert_eq!(self.in_data(), context.section == Section::Data);
        }
        if self.ended {
            assert_eq!((decoder.needed(), decoder.skippable()), (0, 0));
        }
    }

    pub fn skip_value<const S: usize>(&mut self, decoder: &mut Fuzzed<S>) {
        decoder.skip_value();
        self.grammar.skip_value();
        self.look(decoder);
    }

    /// `described`: right after the event of a tensor, which is not to be recorded.
    pub fn skip_tensor<const S: usize>(&mut self, decoder: &mut Fuzzed<S>, described: bool) {
        decoder.skip_tensor();
        if described || self.in_data() {
            self.grammar.skip_tensor();
        }
        if let Some(Seen::Data { tensor, .. }) = self.recording.events.last() {
            self.dropped.push(*tensor);
        }
        self.look(decoder);
    }

    fn event(&mut self, event: &Event<'_>, chunk: &[u8], position: u64) {
        assert!(!self.ended, "an event after the end");
        assert!(position >= self.floor, "{event:?} came at {position}, needed until {}", self.floor);
        self.floor = 0;
        self.grammar.event(event);
        match event {
            Event::Key { name, .. } => {
                check_name(name);
                self.keys += 1;
            }
            Event::Tensor { name, .. } => {
                check_name(name);
                self.tensors += 1;
                if !self.records {
                    self.grammar.skip_tensor();
                }
            }
            Event::Text { part, .. } => self.check_lent(part, chunk, position, 0),
            Event::ArrayStart { .. } => self.arrays += 1,
            Event::Items(items) => {
                let size = usize::from(items.element().byte_len().expect("items are of fixed size"));
                self.check_lent(items.bytes(), chunk, position, size);
                assert_eq!(items.scalars().count(), items.len());
            }
            Event::DataStart(start) => self.start = Some(*start),
            Event::Data(blocks) => {
                let tensor_type = blocks.tensor_type();
                let size = tensor_type.block_bytes().unwrap_or(1);
                self.check_lent(blocks.bytes(), chunk, position, size as usize);
                let slot = self.slots.iter().find(|slot| slot.index() == blocks.tensor());
                let slot = slot.expect("data of a tensor that was not recorded");
                let told = self.told.entry(blocks.tensor()).or_default();
                let (from, len) = (slot.offset() + *told, blocks.bytes().len() as u64);
                assert_eq!(from + len, position, "data from another place");
                *told += len;
                assert!(slot.byte_len().is_none_or(|bytes| *told <= bytes), "more data than the tensor has");
                assert_eq!(blocks.byte_order(), slot.byte_order());
            }
            Event::End => {
                self.ended = true;
                assert_eq!(self.start.and_then(|start| start.end), Some(position), "the end is elsewhere");
                for slot in &self.slots {
                    let told = self.told.get(&slot.index()).copied().unwrap_or(0);
                    let dropped = self.dropped.contains(&slot.index());
                    assert!(dropped || slot.byte_len() == Some(told), "data are left out of {slot:?}");
                }
            }
            _ => {}
        }
        // Each event but the end of an array, the start of the data and the end has bytes of its own, and an array's
        // head has eight.
        self.events += 1;
        assert!(self.events <= position + self.arrays + 2 && self.arrays * 8 <= position, "too many events");
        self.recording.note(Seen::from(*event), position);
    }

    /// Lent bytes are those before the position. Only one element or block may lie elsewhere than in the chunk.
    fn check_lent(&self, lent: &[u8], chunk: &[u8], position: u64, unit: usize) {
        let end = usize::try_from(position).expect("the file is in memory");
        assert_eq!(lent, &self.file[end - lent.len()..end], "other bytes than the file's were lent");
        let inside = chunk.as_ptr_range().contains(&lent.as_ptr());
        assert!(inside || lent.len() == unit, "the chunk's own bytes should be lent");
    }

    /// Recorded tensors lie in the data section, one behind the other.
    fn check_slots(&self) {
        let start = self.start.expect("it has been told");
        let open = self.slots.iter().position(|slot| slot.byte_len().is_none());
        assert!(open.is_none_or(|open| open + 1 == self.slots.len()), "only the last one can be open");
        if self.slots.len() == self.tensors {
            // One of unknown type may turn out to be empty.
            let last = |counts: fn(&TensorSlot) -> bool| {
                let ends = self
                    .slots
                    .iter()
                    .filter(|slot| counts(slot))
                    .map(|slot| Some(slot.offset() + slot.byte_len()?));
                ends.max().map_or(Some(start.offset), |end| if open.is_some() { None } else { end })
            };
            let full = last(|slot| slot.byte_len() != Some(0));
            let any = last(|slot| slot.byte_len() != Some(0) || slot.tensor_type().block_bytes().is_none());
            assert!(start.end == full || start.end == any, "the end is not that of the last tensor");
        }
        let mut end = start.offset;
        for slot in &self.slots {
            assert!(slot.offset() >= end || slot.byte_len() == Some(0), "overlap: {:?}", self.slots);
            assert!(slot.offset() >= start.offset);
            let Some(bytes) = slot.byte_len() else { continue };
            end = end.max(slot.offset() + bytes);
            // An empty tensor may lie behind the last byte of data.
            assert!(bytes == 0 || start.end.is_none_or(|all| end <= all), "data behind the end");
        }
    }

    /// Every later call gives the same error, and changes nothing.
    fn failed<const S: usize>(&self, decoder: &mut Fuzzed<S>, chunk: &[u8]) {
        assert!(!format!("{:?}", decoder.context()).is_empty());
        let error = self.recording.error();
        let position = decoder.position();
        check_error(&error);
        if error.section() != Section::Data {
            assert!(error.offset() <= position, "{error:?} lies behind {position}");
        }
        for more in [chunk, &[], b"GGUF"] {
            let mut input = more;
            assert_eq!(decoder.decode(&mut input).map(|event| event.is_some()), Err(error));
            assert_eq!(input, more, "an error takes bytes");
        }
        assert_eq!(decoder.finish(), Err(error));
        assert_eq!((decoder.position(), decoder.skippable()), (position, 0));
        assert_eq!(decoder.needed(), 0, "nothing comes after an error");
        assert!(decoder.advance(1).is_err());
        decoder.skip_value();
        decoder.skip_tensor();
        assert_eq!(decoder.finish(), Err(error));
    }

    /// No more bytes come.
    pub fn close<const S: usize>(mut self, decoder: &Fuzzed<S>) -> Recording {
        if self.recording.result.is_err() {
            return self.recording;
        }
        let verdict = decoder.finish();
        (self.recording.result, self.recording.position) = (verdict, Some(decoder.position()));
        match verdict {
            Ok(()) => self.grammar.accepted(),
            Err(error) => {
                check_error(&error);
                assert!(!self.ended, "{error:?} after the end");
                let ErrorKind::Truncated { needed, got } = error.kind() else {
                    panic!("{error:?} at the end of input")
                };
                assert!(got < needed, "{error:?}: nothing is missing");
                let (come, position) = (error.offset().saturating_add(got), decoder.position());
                assert!(come == position || got == 0 && come > position, "{error:?} at {position}");
            }
        }
        self.recording
    }
}

fn check_name(name: &Name<'_>) {
    match name.as_str() {
        Some(text) => {
            assert_eq!(text.len(), name.len() as usize);
            assert_eq!(name.name_hash(), name_hash(text));
            assert!(!name.is_cut() && name == text && !text.contains('\0'));
        }
        None => assert!(name.is_cut() && name.prefix().len() < name.len() as usize),
    }
    let _ = format!("{name} {name:?}");
}

fn check_error(error: &Error) {
    assert_ne!(error.kind(), ErrorKind::Internal, "{error:?}");
    assert_ne!(error.kind(), ErrorKind::EventsPending, "{error:?}");
    assert!(!error.code().is_empty() && !format!("{error} {error:?}").is_empty());
    assert!(error.section() != Section::Header || error.index().is_none(), "{error:?}");
}
