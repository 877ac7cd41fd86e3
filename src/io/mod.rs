//! Shells that bring the bytes: from a reader, from flash, from a card, from a socket. None of them parses anything.

mod read_at;

pub use crate::decode::Decode;
pub use read_at::ReadAt;
