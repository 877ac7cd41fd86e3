//! Keeps chosen metadata in fixed memory, and reads them by key with defaults.
//!
//! [`Metadata`] takes the [`Event`]s that a decoder tells, and says when the rest of a value may be skipped:
//!
//! ```
//! use weightstream::metadata::{Key, KeyPattern, Metadata};
//! use weightstream::{Decoder, Event};
//!
//! const WANTED: &[KeyPattern] = &[
//!     KeyPattern::exact("general.name"),
//!     KeyPattern::of_architecture("context_length"),
//!     KeyPattern::exact("tokenizer.ggml.tokens"),
//! ];
//!
//! let file = std::fs::read("examples/data/sample.gguf")?;
//! let mut decoder = Decoder::new([]);
//! let mut metadata = Metadata::<4, 256>::with_filter(WANTED); // 4 keys, 256 bytes for them and their strings
//! for mut chunk in file.chunks(100) {
//!     while let Some(event) = decoder.decode(&mut chunk)? {
//!         if !metadata.accept(&event)? {
//!             decoder.skip_value(); // without a value in hand it does nothing
//!         }
//!     }
//! }
//!
//! assert_eq!(metadata.text("general.name", "unnamed")?, "Weightstream Sample");
//! assert_eq!(metadata.integer(Key::OfArchitecture("context_length"), 0)?, 512);
//! assert_eq!(metadata.array_len("tokenizer.ggml.tokens")?, Some(260));
//! assert_eq!(metadata.integer("llama.block_count", 32)?, 32, "no pattern wants it");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checkpoint;
mod error;
mod keeper;
mod pattern;
mod store;
mod value;

use crate::event::Event;
use keeper::{Keeper, Progress};
use store::{Slot, View};

pub use error::{MetadataError, MetadataErrorKind};
pub use pattern::{Key, KeyPattern};
pub use value::{Content, Integer, Value};

/// Up to `KEYS` entries of a file, in `BYTES` bytes for their keys, their strings and the elements of their arrays.
///
/// All memory is `size_of::<Metadata<KEYS, BYTES>>()`: 32 bytes a key beside the bytes, and a few dozen. The value of
/// [`Metadata::new`] is all zero bytes, so a static one lies in `.bss`, and [`set_filter`](Self::set_filter) can follow.
///
/// Of arrays the type and the length are kept, and the elements where
/// [`with_elements`](KeyPattern::with_elements) asks for them.
///
/// A key is looked for among all that are kept, one by one, and so is an element in an array of strings: this is made for
/// dozens of keys, not for a vocabulary, in which [`vocabulary`](crate::vocabulary) searches.
///
/// # What the getters say
///
/// - A key that is not there gives the default. So does one that the filter does not want: nothing is known of it.
/// - A value of another type is an error, not the default. So are an integer that does not fit, a string that is not
///   UTF-8, and a value that did not come whole.
/// - After an error of [`accept`](Self::accept) every getter of values returns it: what is kept may not be all.
///   [`contains`](Self::contains), [`index`](Self::index) and [`keys`](Self::keys) tell what came before it.
#[derive(Clone, Debug)]
pub struct Metadata<const KEYS: usize, const BYTES: usize> {
    filter: Option<&'static [KeyPattern]>,
    progress: Progress,
    slots: [Slot; KEYS],
    bytes: [u8; BYTES],
}

impl<const KEYS: usize, const BYTES: usize> Metadata<KEYS, BYTES> {
    /// An empty store that keeps every key. Never panics.
    #[must_use]
    pub const fn new() -> Self {
        // Positions in the bytes have 32 bits. Lossless: `From` is not const.
        const { assert!(BYTES as u64 <= u32::MAX as u64, "metadata have less than 4 GiB") }
        Self { filter: None, progress: Progress::new(), slots: [Slot::EMPTY; KEYS], bytes: [0; BYTES] }
    }

    /// An empty store that keeps the keys that any of these patterns matches. Never panics.
    #[must_use]
    pub const fn with_filter(filter: &'static [KeyPattern]) -> Self {
        let mut metadata = Self::new();
        metadata.filter = Some(filter);
        metadata
    }

    /// From now on keeps the keys that any of these patterns matches. Never panics.
    pub const fn set_filter(&mut self, filter: &'static [KeyPattern]) {
        self.filter = Some(filter);
    }

    /// Forgets all entries and errors, for a new file. The filter stays. Never panics.
    pub const fn clear(&mut self) {
        self.progress = Progress::new();
    }

    /// Takes an event in, and says whether more of the value in hand is wanted. Where it is not,
    /// [`skip_value`](crate::Decoder::skip_value) may follow: after the key of an entry that no pattern matches, after the
    /// start of an array whose elements are not kept, and without a value in hand, when it does nothing.
    ///
    /// Pass on every event of the metadata: others may be, and change nothing. The value of an entry may be skipped at any
    /// moment. A key that is longer than the decoder's scratch is cut, and is never kept.
    ///
    /// # Errors
    ///
    /// [`DuplicateKey`](MetadataErrorKind::DuplicateKey) among the keys that are kept,
    /// [`KeysFull`](MetadataErrorKind::KeysFull) and [`BytesFull`](MetadataErrorKind::BytesFull), with the index of the
    /// entry. Every later call returns the same error. Never panics.
    pub fn accept(&mut self, event: &Event<'_>) -> Result<bool, MetadataError> {
        let filter = self.filter;
        self.accept_filtered(filter, event)
    }

    /// The same with another filter.
    pub(crate) fn accept_filtered(
        &mut self,
        filter: Option<&[KeyPattern]>,
        event: &Event<'_>,
    ) -> Result<bool, MetadataError> {
        let (progress, slots, bytes) = (&mut self.progress, &mut self.slots, &mut self.bytes);
        Keeper { progress, slots, bytes }.accept(filter, event)
    }

    /// The value of a key, whatever its type; `None` for a key that is not kept.
    ///
    /// # Errors
    ///
    /// [`Incomplete`](MetadataErrorKind::Incomplete); the error of [`accept`](Self::accept), if there was one; with
    /// [`Key::OfArchitecture`] also what is wrong with `general.architecture`. Never panics.
    pub fn value<'k>(&self, key: impl Into<Key<'k>>) -> Result<Option<Value<'_>>, MetadataError> {
        self.view().lookup(key.into())
    }

    /// An integer, of whichever width and sign it is stored.
    ///
    /// # Errors
    ///
    /// Those of [`value`](Self::value) and [`Value::integer`]. Never panics.
    pub fn integer<'k, T: Integer>(&self, key: impl Into<Key<'k>>, default: T) -> Result<T, MetadataError> {
        self.value(key)?.map_or(Ok(default), |value| value.integer())
    }

    /// An `f32` or `f64`.
    ///
    /// # Errors
    ///
    /// Those of [`value`](Self::value) and [`Value::float`]. Never panics.
    pub fn float<'k>(&self, key: impl Into<Key<'k>>, default: f64) -> Result<f64, MetadataError> {
        self.value(key)?.map_or(Ok(default), |value| value.float())
    }

    /// A bool.
    ///
    /// # Errors
    ///
    /// Those of [`value`](Self::value) and [`Value::boolean`]. Never panics.
    pub fn boolean<'k>(&self, key: impl Into<Key<'k>>, default: bool) -> Result<bool, MetadataError> {
        self.value(key)?.map_or(Ok(default), |value| value.boolean())
    }

    /// A string.
    ///
    /// # Errors
    ///
    /// Those of [`value`](Self::value) and [`Value::text`]. Never panics.
    pub fn text<'a, 'k>(
        &'a self,
        key: impl Into<Key<'k>>,
        default: &'a str,
    ) -> Result<&'a str, MetadataError> {
        self.value(key)?.map_or(Ok(default), |value| value.text())
    }

    /// Elements of an array; `None` for a key that is not there, which an empty array is not.
    ///
    /// # Errors
    ///
    /// Those of [`value`](Self::value) and [`Value::array_len`]. Never panics.
    pub fn array_len<'k>(&self, key: impl Into<Key<'k>>) -> Result<Option<u64>, MetadataError> {
        self.value(key)?.map(|value| value.array_len()).transpose()
    }

    /// An element of an array whose elements are kept; `None` past its end, and for a key that is not there, which
    /// [`array_len`](Self::array_len) tells apart.
    ///
    /// # Errors
    ///
    /// Those of [`array_len`](Self::array_len), [`ElementsNotKept`](MetadataErrorKind::ElementsNotKept), and
    /// [`Incomplete`](MetadataErrorKind::Incomplete) unless the whole array has come. Never panics.
    pub fn item<'k>(&self, key: impl Into<Key<'k>>, index: u64) -> Result<Option<Value<'_>>, MetadataError> {
        self.view().lookup_item(key.into(), index)
    }

    /// Whether a key is kept, with its value or without. Never panics.
    pub fn contains<'k>(&self, key: impl Into<Key<'k>>) -> bool {
        self.index(key).is_some()
    }

    /// Position of a key in the file, from 0, counted over all entries; `None` for a key that is not kept. Never panics.
    pub fn index<'k>(&self, key: impl Into<Key<'k>>) -> Option<u32> {
        self.view().find(key.into()).ok().flatten().map(|slot| slot.index)
    }

    /// The keys that are kept, in the order of the file. Never panics.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let view = self.view();
        view.slots.iter().map(move |slot| view.key_of(slot))
    }

    /// Bytes in use, of `BYTES`. Never panics.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        let end = self.view().slots.last().map_or(0, Slot::end).saturating_add(self.progress.pending);
        usize::try_from(end).unwrap_or(usize::MAX)
    }

    /// Whether one more key of so many bytes can be kept.
    pub(crate) fn has_room(&self, key_bytes: usize) -> bool {
        self.view().slots.len() < KEYS && key_bytes <= self.free_bytes()
    }

    pub(crate) fn free_bytes(&self) -> usize {
        BYTES.saturating_sub(self.used_bytes())
    }

    /// The key that was kept last.
    pub(crate) fn last_key(&self) -> Option<&str> {
        let view = self.view();
        view.slots.last().map(|slot| view.key_of(slot))
    }

    /// The bytes of a string as far as they have come, and whether that is all of it.
    pub(crate) fn text_so_far(&self, key: &str) -> Option<(&[u8], bool)> {
        self.view().text_so_far(key)
    }

    fn view(&self) -> View<'_> {
        let kept = usize::try_from(self.progress.kept).ok();
        let slots = kept.and_then(|kept| self.slots.get(..kept)).unwrap_or_default();
        View { failure: self.progress.failure(), slots, bytes: &self.bytes }
    }
}

impl<const KEYS: usize, const BYTES: usize> Default for Metadata<KEYS, BYTES> {
    fn default() -> Self {
        Self::new()
    }
}
