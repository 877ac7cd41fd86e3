//! Which format a file is of.

use crate::options::MAX_POSITION;
use crate::token::Format;

/// Bytes that [`detect`] needs at most.
pub const DETECT_BYTES: usize = 9;

/// The format of the file that starts with these bytes: at least [`DETECT_BYTES`] of them, unless it is shorter.
///
/// A GGUF file starts with its magic. A safetensors file has none: it starts with the length of its header, behind which an
/// object begins, after white space perhaps. `None` is neither. Whether the file is good, only its decoder can tell. Never
/// panics.
///
/// ```
/// use weightstream::{Format, detect};
///
/// assert_eq!(detect(b"GGUF\x03\0\0\0\0"), Some(Format::Gguf));
/// assert_eq!(detect(b"\x02\0\0\0\0\0\0\0{}"), Some(Format::Safetensors));
/// assert_eq!(detect(b"PK\x03\x04\0\0\0\0\0"), None);
/// ```
#[must_use]
pub fn detect(start: &[u8]) -> Option<Format> {
    if start.starts_with(b"GGUF") {
        return Some(Format::Gguf);
    }
    let (length, rest) = start.split_first_chunk()?;
    let is_length = (2..=MAX_POSITION).contains(&u64::from_le_bytes(*length));
    let is_object = matches!(rest.first(), Some(b'{' | b' ' | b'\t' | b'\n' | b'\r'));
    (is_length && is_object).then_some(Format::Safetensors)
}
