//! Output that waits for something to be put above it.

use std::io::{self, Write};

/// Held back at most.
const MOST_BYTES: usize = 16 << 20;

/// Holds back what is written, but not without end: memory is bounded, whatever a file has to say.
pub(crate) struct HeldBack<W> {
    out: W,
    held: Vec<u8>,
    is_holding: bool,
}

impl<W: Write> HeldBack<W> {
    /// Passes everything on at first.
    pub(crate) fn new(out: W) -> Self {
        Self { out, held: Vec::new(), is_holding: false }
    }

    /// What is written from now on is held back.
    pub(crate) fn hold(&mut self) {
        self.is_holding = true;
    }

    /// Writes above what is held back, and lets that go. Where it was too much and has gone, writes below it.
    pub(crate) fn write_above(&mut self, write: impl FnOnce(&mut W) -> io::Result<()>) -> io::Result<()> {
        write(&mut self.out)?;
        self.let_go()
    }

    fn let_go(&mut self) -> io::Result<()> {
        self.is_holding = false;
        self.out.write_all(&std::mem::take(&mut self.held))
    }
}

impl<W: Write> Write for HeldBack<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_holding && self.held.len() + bytes.len() > MOST_BYTES {
            self.let_go()?;
        }
        if self.is_holding {
            self.held.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        self.out.write(bytes)
    }

    /// Lets go what is held back, too.
    fn flush(&mut self) -> io::Result<()> {
        self.let_go()?;
        self.out.flush()
    }
}
