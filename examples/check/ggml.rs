//! What ggml's loader refuses and this library accepts.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher};

use weightstream::{ByteOrder, Event, ValueType};

/// ggml counts the byte 0 after a name, and has room for 64.
const NAME_BYTES: u32 = 64;
/// The longest string, and the most elements of an array.
const LONGEST: u64 = 1 << 30;

/// Reasons, gathered while the file is read. The keys' hashes are kept, 8 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    reasons: Vec<&'static str>,
    keys: HashSet<u64, BuildHasherDefault<DefaultHasher>>,
}

impl Refusals {
    /// Keys may be the same in several files.
    pub(crate) fn begin_file(&mut self) {
        self.keys.clear();
    }

    pub(crate) fn see(&mut self, event: &Event<'_>) {
        match event {
            Event::Header(header) => {
                self.note(header.version == 1, "version 1 is too old for it");
                self.note(header.byte_order == ByteOrder::Big, "it is big-endian");
            }
            Event::Key { name, .. } => {
                let is_new = self.keys.insert(name.name_hash());
                self.note(!is_new, "a key is given twice");
            }
            Event::Text { total, .. } => {
                self.note(total.is_some_and(|total| total > LONGEST), "a string is over 1 GiB");
            }
            Event::ArrayStart { element, len } => {
                self.note(*element == ValueType::Array, "an array holds arrays");
                self.note(*len > LONGEST, "an array has over 2^30 elements");
            }
            Event::Tensor { name, info } => {
                self.note(name.len() >= NAME_BYTES, "a tensor's name has 64 bytes or more");
                self.note(info.byte_len().is_none(), "a tensor's type is unknown");
            }
            Event::DataStart(start) => {
                self.note(!start.contiguous, "the tensors are not laid out one behind the other");
            }
            _ => {}
        }
    }

    fn note(&mut self, applies: bool, reason: &'static str) {
        if applies && !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// One line; `None` if ggml would take the file.
    pub(crate) fn line(&self) -> Option<String> {
        if self.reasons.is_empty() {
            return None;
        }
        Some(format!("ggml would refuse this file: {}", self.reasons.join("; ")))
    }
}
