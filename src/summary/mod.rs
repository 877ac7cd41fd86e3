//! What a model is, for those who look at a file: its architecture, its sizes, its weights.

mod file_type;
mod weights;

use core::fmt;

use crate::event::{Event, Name};
use crate::metadata::{Content, Key, KeyPattern, Metadata};
use crate::tensor_type::TensorType;
use crate::value::ValueType;

pub use file_type::FileType;
use weights::ByType;
pub use weights::Weights;

const ARCHITECTURE: &str = "general.architecture";
const NAME: &str = "general.name";
const FILE_TYPE: &str = "general.file_type";
const TOKENS: &str = "tokenizer.ggml.tokens";
const CHAT_TEMPLATE: &str = "tokenizer.chat_template";

const WANTED: &[KeyPattern] = &[
    KeyPattern::exact(ARCHITECTURE),
    KeyPattern::exact(NAME),
    KeyPattern::exact(FILE_TYPE),
    KeyPattern::exact(TOKENS),
    KeyPattern::of_architecture("block_count"),
    KeyPattern::of_architecture("context_length"),
    KeyPattern::of_architecture("embedding_length"),
    KeyPattern::of_architecture("attention.head_count"),
    KeyPattern::of_architecture("attention.head_count_kv"),
    KeyPattern::of_architecture("vocab_size"),
];

/// Bytes of the architecture and of the name that are kept: known architectures have half as many.
const ARCHITECTURE_BYTES: usize = 40;
const NAME_BYTES: usize = 96;
/// The keys above, and some of other architectures where the architecture comes late.
const KEYS: usize = 16;
/// All of that, with the longest architecture that is kept.
const BYTES: usize = 640;

/// Takes the events of a file in, and tells what the model is. About 1.7 KiB; a static one lies in `.bss`.
///
/// ```
/// use weightstream::summary::{Heads, Summary};
/// use weightstream::{Decoder, Event};
///
/// let file = std::fs::read("examples/data/sample.gguf")?;
/// let (mut decoder, mut summary) = (Decoder::new([]), Summary::new());
/// let mut input = &file[..];
/// while let Some(event) = decoder.decode(&mut input)? {
///     if !summary.accept(&event) {
///         decoder.skip_value();
///     }
/// }
/// assert_eq!(summary.architecture().map(|shown| shown.text()), Some("llama"));
/// assert_eq!((summary.layers(), summary.context_length()), (Some(2), Some(512)));
/// assert_eq!(summary.heads(), Some(Heads::Every(2)));
/// assert_eq!(summary.vocabulary(), Some(260));
/// assert_eq!(summary.file_type().map(|kind| kind.to_string()).as_deref(), Some("Q2_K"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What is shown of odd files
///
/// A summary never fails.
///
/// - A value of another type than it should have is shown as if it were not there; integers are taken in any width. So is a
///   value that did not come whole, but for texts.
/// - A text is shown as far as it is kept, has come and is UTF-8, and then says that it is cut: see [`Shown`].
/// - Of an architecture that is cut, nothing but its beginning is shown: which keys are its own is not known.
/// - Of a key that stands in the file twice, the first one counts.
/// - Where the keys of other architectures come before `general.architecture` and fill the memory, values are missing.
#[derive(Clone, Debug)]
pub struct Summary {
    metadata: Metadata<KEYS, BYTES>,
    weights: ByType,
    has_chat_template: bool,
}

/// A text from the file: as it is, control characters included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Shown<'a> {
    text: &'a str,
    is_cut: bool,
}

/// Attention heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Heads {
    /// So many in every layer.
    Every(u64),
    /// Each layer has its own number, in an array of so many.
    PerLayer(u64),
}

impl Summary {
    /// Of nothing yet. Never panics.
    #[must_use]
    pub const fn new() -> Self {
        Self { metadata: Metadata::new(), weights: ByType::new(), has_chat_template: false }
    }

    /// Takes an event in, and says whether more of the value in hand is wanted, as
    /// [`Metadata::accept`] does. Pass on every event of the metadata, and the descriptions of the tensors. Never panics.
    pub fn accept(&mut self, event: &Event<'_>) -> bool {
        match *event {
            Event::Key { name, value_type } => {
                self.has_chat_template |= value_type == ValueType::String && is_chat_template(name);
                let wanted: &[KeyPattern] = if self.takes(name, value_type) { WANTED } else { &[] };
                self.metadata.accept_filtered(Some(wanted), event).unwrap_or(false)
            }
            Event::Text { part, start, last, .. } => self.text(part, start, last),
            Event::Tensor { info, .. } => {
                self.weights.count(info);
                false
            }
            _ => self.metadata.accept(event).unwrap_or(false),
        }
    }

    /// Whether a key can be taken without an error. Only two of them are strings.
    fn takes(&self, name: Name<'_>, value_type: ValueType) -> bool {
        let is_text = name == ARCHITECTURE || name == NAME;
        name.as_str().is_some_and(|key| {
            (is_text || value_type != ValueType::String)
                && !self.metadata.contains(key)
                && self.metadata.has_room(key.len())
        })
    }

    /// Passes a piece of a text on, as far as it is to be kept: what is cut never ends.
    fn text(&mut self, part: &[u8], start: u64, last: bool) -> bool {
        let most = match self.metadata.last_key() {
            Some(ARCHITECTURE) => ARCHITECTURE_BYTES,
            _ => NAME_BYTES,
        };
        let before = usize::try_from(start).unwrap_or(usize::MAX);
        let room = most.saturating_sub(before).min(self.metadata.free_bytes());
        let kept = part.get(..room).unwrap_or(part);
        let is_cut = kept.len() < part.len();
        let event = Event::Text { part: kept, start, total: None, last: last && !is_cut };
        self.metadata.accept(&event).unwrap_or(false) && !is_cut
    }

    /// The architecture, such as `llama`. Never panics.
    #[must_use]
    pub fn architecture(&self) -> Option<Shown<'_>> {
        self.shown(ARCHITECTURE)
    }

    /// The model's name. Never panics.
    #[must_use]
    pub fn name(&self) -> Option<Shown<'_>> {
        self.shown(NAME)
    }

    /// What most tensors are. Never panics.
    #[must_use]
    pub fn file_type(&self) -> Option<FileType> {
        self.number(Key::Exact(FILE_TYPE)).and_then(|number| u32::try_from(number).ok()).map(FileType)
    }

    /// Layers: `block_count`. Never panics.
    #[must_use]
    pub fn layers(&self) -> Option<u64> {
        self.number(Key::OfArchitecture("block_count"))
    }

    /// Tokens that the model was made to look back on. Never panics.
    #[must_use]
    pub fn context_length(&self) -> Option<u64> {
        self.number(Key::OfArchitecture("context_length"))
    }

    /// Elements of a token's embedding. Never panics.
    #[must_use]
    pub fn embedding_length(&self) -> Option<u64> {
        self.number(Key::OfArchitecture("embedding_length"))
    }

    /// Attention heads. Never panics.
    #[must_use]
    pub fn heads(&self) -> Option<Heads> {
        self.heads_of(Key::OfArchitecture("attention.head_count"))
    }

    /// Heads of keys and values. Never panics.
    #[must_use]
    pub fn kv_heads(&self) -> Option<Heads> {
        self.heads_of(Key::OfArchitecture("attention.head_count_kv"))
    }

    /// Tokens of the vocabulary: `vocab_size`, or else the length of `tokenizer.ggml.tokens`. Never panics.
    #[must_use]
    pub fn vocabulary(&self) -> Option<u64> {
        let tokens = || match self.metadata.value(TOKENS).ok().flatten()?.content() {
            Content::Array { element: ValueType::String, len } => Some(len),
            _ => None,
        };
        self.number(Key::OfArchitecture("vocab_size")).or_else(tokens)
    }

    /// Whether a chat template is there: `tokenizer.chat_template`, or one with a name behind that. Never panics.
    #[must_use]
    pub const fn has_chat_template(&self) -> bool {
        self.has_chat_template
    }

    /// What the tensors of each type add up to, in the order in which the types come first. The first 12 types of a file
    /// are told; [`other_weights`](Self::other_weights) has the rest. Never panics.
    pub fn weights_by_type(&self) -> impl Iterator<Item = (TensorType, Weights)> {
        self.weights.types()
    }

    /// What the tensors of all further types add up to. Never panics.
    #[must_use]
    pub const fn other_weights(&self) -> Weights {
        self.weights.other()
    }

    /// What all tensors add up to. Never panics.
    #[must_use]
    pub fn weights(&self) -> Weights {
        self.weights.total()
    }

    fn number(&self, key: Key<'_>) -> Option<u64> {
        self.metadata.value(key).ok().flatten()?.integer().ok()
    }

    fn heads_of(&self, key: Key<'_>) -> Option<Heads> {
        let value = self.metadata.value(key).ok().flatten()?;
        match value.content() {
            Content::Array { element, len } => is_integer(element).then_some(Heads::PerLayer(len)),
            _ => value.integer().ok().map(Heads::Every),
        }
    }

    fn shown(&self, key: &str) -> Option<Shown<'_>> {
        let (bytes, is_whole) = self.metadata.text_so_far(key)?;
        let chunk = bytes.utf8_chunks().next();
        let text = chunk.map_or("", |chunk| chunk.valid());
        Some(Shown { text, is_cut: !is_whole || text.len() < bytes.len() })
    }
}

impl Default for Summary {
    fn default() -> Self {
        Self::new()
    }
}

const fn is_integer(value_type: ValueType) -> bool {
    use ValueType::{Array, Bool, F32, F64, String};
    !matches!(value_type, F32 | F64 | Bool | String | Array)
}

fn is_chat_template(name: Name<'_>) -> bool {
    name == CHAT_TEMPLATE || name.starts_with("tokenizer.chat_template.")
}

impl<'a> Shown<'a> {
    /// The text, or the beginning of it. Never panics.
    #[must_use]
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// Whether this is not all of it: it is too long, did not come whole, or is not UTF-8 from here on. Never panics.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// The text as it is; a cut one ends in `…`.
impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)?;
        if self.is_cut { f.write_str("…") } else { Ok(()) }
    }
}
