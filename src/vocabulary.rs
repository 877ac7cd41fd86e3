//! Finds a token in the vocabulary of a file, or the text of one, in one pass and without memory for the vocabulary.
//!
//! ```
//! use weightstream::vocabulary::{FindToken, ReadToken, Search, TOKENS};
//! use weightstream::Decoder;
//!
//! let file = std::fs::read("examples/data/sample.gguf")?;
//! let mut buffer = [0; 16];
//! let mut find = FindToken::new(TOKENS, b"</s>");
//! let mut read = ReadToken::new(TOKENS, 1, &mut buffer);
//! let mut decoder = Decoder::new([]);
//! let mut input = &file[..];
//! while let Some(event) = decoder.decode(&mut input)? {
//!     // Both must see it: no `||` here.
//!     if !(find.accept(&event) | read.accept(&event)) {
//!         decoder.skip_value();
//!     }
//!     if find.search().is_done() && read.search().is_done() {
//!         break;
//!     }
//! }
//! assert_eq!(find.search(), Search::Found { index: 2, bytes: 4 });
//! assert_eq!(read.text(), Some(&b"<s>"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::carry::as_u64;
use crate::event::Event;
use crate::value::ValueType;

/// The key of the tokens: an array of strings, in which a token's position is its id.
pub const TOKENS: &str = "tokenizer.ggml.tokens";

/// How a search stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Search {
    /// It goes on.
    Pending,
    /// The token is there.
    Found {
        /// Its position in the array, from 0.
        index: u64,
        /// Its length in bytes.
        bytes: u64,
    },
    /// The array has no such token.
    NotFound,
    /// The file does not have the key.
    NoKey,
    /// The value of the key is not an array of strings.
    NotStrings,
    /// The value was skipped before the search was done.
    Skipped,
}

impl Search {
    /// Whether nothing that comes can change it. Never panics.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        !matches!(self, Self::Pending)
    }
}

/// Finds the position of a token by its bytes. Where a file holds it twice, the first one counts.
#[derive(Clone, Debug)]
pub struct FindToken<'t> {
    walk: Walk<'t>,
    token: &'t [u8],
    /// Bytes of the string in hand that are those of the token.
    equal: usize,
}

impl<'t> FindToken<'t> {
    /// Looks for `token` in the array of strings of this key, such as [`TOKENS`]. Never panics.
    #[must_use]
    pub const fn new(key: &'t str, token: &'t [u8]) -> Self {
        Self { walk: Walk::new(key), token, equal: 0 }
    }

    /// Takes an event in, and says whether more of the value in hand is wanted. Pass on every event until
    /// [`search`](Self::search) is done. Never panics.
    pub fn accept(&mut self, event: &Event<'_>) -> bool {
        if let Some(piece) = self.walk.accept(event) {
            if piece.start == 0 {
                self.equal = 0;
            }
            // Only a string that was equal so far goes on where its next piece starts.
            if piece.start == as_u64(self.equal)
                && self.token.get(self.equal..).is_some_and(|rest| rest.starts_with(piece.part))
            {
                self.equal = self.equal.saturating_add(piece.part.len());
                if piece.last && self.equal == self.token.len() {
                    self.walk.found(as_u64(self.equal));
                }
            }
            self.walk.after(piece.last);
        }
        self.walk.wants_more()
    }

    /// How the search stands. Never panics.
    #[must_use]
    pub const fn search(&self) -> Search {
        self.walk.search
    }
}

/// Reads the bytes of the token at a position into a buffer of the caller.
#[derive(Debug)]
pub struct ReadToken<'t> {
    walk: Walk<'t>,
    index: u64,
    buffer: &'t mut [u8],
    seen: u64,
}

impl<'t> ReadToken<'t> {
    /// Reads the string at `index` in the array of strings of this key, such as [`TOKENS`]. Never panics.
    #[must_use]
    pub const fn new(key: &'t str, index: u64, buffer: &'t mut [u8]) -> Self {
        Self { walk: Walk::new(key), index, buffer, seen: 0 }
    }

    /// Takes an event in, and says whether more of the value in hand is wanted. Pass on every event until
    /// [`search`](Self::search) is done. Never panics.
    pub fn accept(&mut self, event: &Event<'_>) -> bool {
        if let Some(piece) = self.walk.accept(event) {
            if self.walk.index == self.index {
                self.take(piece);
            }
            self.walk.after(piece.last);
        }
        self.walk.wants_more()
    }

    fn take(&mut self, piece: Piece<'_>) {
        if piece.start != self.seen {
            // A piece was not passed on.
            self.walk.search = Search::Skipped;
            return;
        }
        let start = usize::try_from(self.seen).unwrap_or(usize::MAX);
        let room = self.buffer.get_mut(start..).unwrap_or_default();
        for (place, byte) in room.iter_mut().zip(piece.part) {
            *place = *byte;
        }
        self.seen = self.seen.saturating_add(as_u64(piece.part.len()));
        if piece.last {
            self.walk.found(self.seen);
        }
    }

    /// How the search stands. What is found may be longer than the buffer: it says the full length. Never panics.
    #[must_use]
    pub const fn search(&self) -> Search {
        self.walk.search
    }

    /// The bytes of the token; `None` unless it is found, and where the buffer is too small for it. Never panics.
    #[must_use]
    pub fn text(&self) -> Option<&[u8]> {
        let Search::Found { bytes, .. } = self.walk.search else { return None };
        self.buffer.get(..usize::try_from(bytes).ok()?)
    }
}

/// A piece of a string of the array.
#[derive(Clone, Copy)]
struct Piece<'p> {
    part: &'p [u8],
    start: u64,
    last: bool,
}

/// Walks over the strings of one array.
#[derive(Clone, Debug)]
struct Walk<'t> {
    key: &'t str,
    search: Search,
    stage: Stage,
    /// Position of the string in hand.
    index: u64,
}

/// Where a walk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Before,
    Key,
    Strings,
}

impl<'t> Walk<'t> {
    const fn new(key: &'t str) -> Self {
        Self { key, search: Search::Pending, stage: Stage::Before, index: 0 }
    }

    /// A piece of a string of the array, if that is what the event is.
    fn accept<'p>(&mut self, event: &Event<'p>) -> Option<Piece<'p>> {
        if self.search.is_done() {
            return None;
        }
        match (self.stage, *event) {
            (Stage::Strings, Event::Text { part, start, last, .. }) => {
                return Some(Piece { part, start, last });
            }
            (Stage::Strings, Event::ArrayEnd) => self.search = Search::NotFound,
            (Stage::Before, Event::Key { name, .. }) if name == self.key => self.stage = Stage::Key,
            (Stage::Key, Event::ArrayStart { element: ValueType::String, .. }) => self.stage = Stage::Strings,
            (Stage::Key, Event::Scalar(_) | Event::Text { .. } | Event::ArrayStart { .. }) => {
                self.search = Search::NotStrings;
            }
            (Stage::Before, Event::Tensor { .. } | Event::DataStart(_)) => self.search = Search::NoKey,
            (Stage::Key | Stage::Strings, Event::Key { .. } | Event::Tensor { .. } | Event::DataStart(_)) => {
                self.search = Search::Skipped;
            }
            _ => {}
        }
        None
    }

    /// The string in hand is the one.
    const fn found(&mut self, bytes: u64) {
        self.search = Search::Found { index: self.index, bytes };
    }

    /// A piece has been looked at.
    const fn after(&mut self, last: bool) {
        if last {
            self.index = self.index.saturating_add(1);
        }
    }

    fn wants_more(&self) -> bool {
        !self.search.is_done() && self.stage != Stage::Before
    }
}
