//! Strings that come in pieces: a chunk edge may cut a character.

/// A part of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Text(&'a str),
    /// Bytes that are not UTF-8.
    Bad(&'a [u8]),
}

/// Puts characters together again; keeps three bytes at most.
#[derive(Clone, Debug, Default)]
pub(crate) struct Utf8 {
    cut: [u8; 4],
    len: usize,
}

impl Utf8 {
    /// Takes the next bytes of a string in. `last` says that the string ends with them.
    pub(crate) fn feed<E>(
        &mut self,
        mut bytes: &[u8],
        last: bool,
        mut sink: impl FnMut(Piece<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while self.len > 0 {
            match std::str::from_utf8(&self.cut[..self.len]) {
                Ok(text) => {
                    sink(Piece::Text(text))?;
                    self.len = 0;
                }
                Err(error) => match (error.error_len(), bytes.split_first()) {
                    // What is wrong comes first: the cut bytes begin a character, and only one of them is kept.
                    (Some(bad), _) => {
                        sink(Piece::Bad(&self.cut[..bad]))?;
                        self.cut.copy_within(bad..self.len, 0);
                        self.len -= bad;
                    }
                    (None, Some((next, rest))) => {
                        self.cut[self.len] = *next;
                        self.len += 1;
                        bytes = rest;
                    }
                    (None, None) if last => {
                        sink(Piece::Bad(&self.cut[..self.len]))?;
                        self.len = 0;
                    }
                    (None, None) => return Ok(()),
                },
            }
        }
        while !bytes.is_empty() {
            let error = match std::str::from_utf8(bytes) {
                Ok(text) => return sink(Piece::Text(text)),
                Err(error) => error,
            };
            let (good, rest) = bytes.split_at(error.valid_up_to());
            if let Ok(text) = std::str::from_utf8(good)
                && !text.is_empty()
            {
                sink(Piece::Text(text))?;
            }
            match error.error_len() {
                None if !last => {
                    self.cut[..rest.len()].copy_from_slice(rest);
                    self.len = rest.len();
                    return Ok(());
                }
                bad => {
                    let (bad, rest) = rest.split_at(bad.unwrap_or(rest.len()));
                    sink(Piece::Bad(bad))?;
                    bytes = rest;
                }
            }
        }
        Ok(())
    }
}
