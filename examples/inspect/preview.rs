//! The beginning of a value, as much as fits in its place, and how much there is of it.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

/// Shown text is passed on in pieces of about this size, when it is not cut.
const PASS_ON_BYTES: usize = 8 * 1024;

/// Gathers text until its place is full. What is kept is bounded by the place, or passed on if nothing is cut.
#[derive(Debug)]
pub(crate) struct Preview {
    text: String,
    width: usize,
    limit: usize,
    /// Stands behind a text that was cut.
    suffix: String,
    /// Where the text may be cut so that the suffix fits behind it.
    mark: usize,
    has_mark: bool,
    is_full: bool,
}

impl Preview {
    /// `limit` columns; `None` if nothing is to be cut.
    pub(crate) fn new(limit: Option<usize>, suffix: String) -> Self {
        let limit = limit.unwrap_or(usize::MAX);
        Self { text: String::new(), width: 0, limit, suffix, mark: 0, has_mark: false, is_full: false }
    }

    /// Whether more text would not be shown.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether nothing is cut.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.limit == usize::MAX
    }

    /// Appends text that is not cut inside.
    pub(crate) fn push(&mut self, text: &str) {
        if self.is_unlimited() {
            self.text.push_str(text);
            return;
        }
        // What takes no column must not be endless either.
        let width = text.width().max(1);
        if self.is_full || self.width.saturating_add(width) > self.limit {
            self.is_full = true;
            return;
        }
        self.text.push_str(text);
        self.width = self.width.saturating_add(width);
    }

    /// The text may be cut here.
    pub(crate) fn mark(&mut self) {
        if !self.is_full && self.width.saturating_add(self.suffix.width()) <= self.limit {
            self.mark = self.text.len();
            self.has_mark = true;
        }
    }

    /// The text may be cut here if there is no better place.
    pub(crate) fn weak_mark(&mut self) {
        let had = self.has_mark;
        if !had {
            self.mark();
            self.has_mark = false;
        }
    }

    /// Passes on what is gathered, if nothing is cut.
    pub(crate) fn pass_on(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.is_unlimited() && self.text.len() >= PASS_ON_BYTES {
            out.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self, out: &mut impl Write) -> io::Result<()> {
        if self.is_full {
            self.text.truncate(self.mark);
            self.text.push_str(&self.suffix);
        }
        out.write_all(self.text.as_bytes())
    }
}
