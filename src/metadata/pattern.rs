//! Which keys are kept, and how one is asked for.

/// The key whose value all keys of an architecture begin with.
pub(super) const ARCHITECTURE: &str = "general.architecture";

/// Keys that are to be kept. A list of these is a filter:
///
/// ```
/// use weightstream::metadata::KeyPattern;
///
/// const WANTED: &[KeyPattern] = &[
///     KeyPattern::exact("general.name"),
///     KeyPattern::prefix("tokenizer.ggml."),
///     KeyPattern::of_architecture("context_length"),
///     KeyPattern::of_architecture("rope.dimension_sections").with_elements(),
/// ];
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPattern {
    text: &'static str,
    place: Place,
    elements: bool,
}

/// Where the text of a pattern stands in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Place {
    Whole,
    Start,
    AfterArchitecture,
}

/// What a filter says of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Leave,
    Keep,
    KeepElements,
}

impl KeyPattern {
    /// One key. Never panics.
    #[must_use]
    pub const fn exact(key: &'static str) -> Self {
        Self { text: key, place: Place::Whole, elements: false }
    }

    /// Every key that starts with this. Never panics.
    #[must_use]
    pub const fn prefix(prefix: &'static str) -> Self {
        Self { text: prefix, place: Place::Start, elements: false }
    }

    /// The key `<architecture>.<suffix>`, such as `llama.context_length` for `context_length`.
    ///
    /// The architecture is the value of `general.architecture`, which is then kept too. Where it comes later in the file
    /// than the key, every key that ends with `.<suffix>` is kept until then. Never panics.
    #[must_use]
    pub const fn of_architecture(suffix: &'static str) -> Self {
        Self { text: suffix, place: Place::AfterArchitecture, elements: false }
    }

    /// Arrays of these keys are kept with their elements, all of them, not only with their type and length.
    ///
    /// An element takes the bytes of its type, a string 4 more than its length. Elements of arrays in arrays are not
    /// kept. Never panics.
    #[must_use]
    pub const fn with_elements(mut self) -> Self {
        self.elements = true;
        self
    }

    fn matches(&self, key: &str, architecture: Option<&str>) -> bool {
        match (self.place, architecture) {
            (Place::Whole, _) => key == self.text,
            (Place::Start, _) => key.starts_with(self.text),
            (Place::AfterArchitecture, Some(architecture)) => is_joined(key, architecture, self.text),
            (Place::AfterArchitecture, None) => {
                key == ARCHITECTURE
                    || key
                        .strip_suffix(self.text)
                        .and_then(|rest| rest.strip_suffix('.'))
                        .is_some_and(|rest| !rest.is_empty())
            }
        }
    }
}

/// Whether a key is `<architecture>.<suffix>`.
pub(super) fn is_joined(key: &str, architecture: &str, suffix: &str) -> bool {
    key.strip_prefix(architecture).and_then(|rest| rest.strip_prefix('.')) == Some(suffix)
}

/// What a filter says of a key. Without a filter every key is kept.
pub(super) fn choose(filter: Option<&[KeyPattern]>, key: &str, architecture: Option<&str>) -> Choice {
    let Some(filter) = filter else { return Choice::Keep };
    let mut choice = Choice::Leave;
    // A second `general.architecture` has to be seen too: it is a duplicate.
    let architecture = architecture.filter(|_| key != ARCHITECTURE);
    for pattern in filter.iter().filter(|pattern| pattern.matches(key, architecture)) {
        if pattern.elements {
            return Choice::KeepElements;
        }
        choice = Choice::Keep;
    }
    choice
}

/// A number that tells filters apart, for checkpoints.
pub(super) fn fingerprint(filter: Option<&[KeyPattern]>) -> u64 {
    let Some(filter) = filter else { return 0 };
    filter.iter().fold(1, |sum: u64, pattern| {
        let kind = u64::from(pattern.place as u8) << 1 | u64::from(pattern.elements);
        sum.rotate_left(5).wrapping_add(crate::name::name_hash(pattern.text) ^ kind)
    })
}

/// A key that is asked for. Plain text is the whole key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Key<'k> {
    /// The whole key.
    Exact(&'k str),
    /// What follows the architecture and a dot: `context_length` for `llama.context_length`. Exactly the key
    /// `<general.architecture>.<suffix>` is meant. In a file without a `general.architecture` there is no such key.
    OfArchitecture(&'k str),
}

impl<'k> From<&'k str> for Key<'k> {
    fn from(key: &'k str) -> Self {
        Self::Exact(key)
    }
}
