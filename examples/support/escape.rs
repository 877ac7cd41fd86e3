//! Text from files is not to be trusted: it may move a terminal's cursor, hide itself, or turn lines around.

use std::io::{self, Write};

use crate::support::utf8::Piece;

/// Whether a character is written as an escape: it controls the terminal or the direction of text, or it is invisible.
#[inline]
pub(crate) fn is_hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        '\0'..='\u{9f}' | '\u{ad}' => true,
        // Fillers, zero-width characters, marks and overrides of direction, line and paragraph separators.
        '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' => true,
        '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{e0fff}' | '\u{fdd0}'..='\u{fdef}' => true,
        // The last two of each plane are no characters.
        c => u32::from(c) & 0xfffe == 0xfffe,
    }
}

/// Appends a character as people read it; inside quotes, the quote is escaped too.
pub(crate) fn push(to: &mut String, c: char, quoted: bool) {
    match c {
        '\n' => to.push_str("\\n"),
        '\r' => to.push_str("\\r"),
        '\t' => to.push_str("\\t"),
        '\\' => to.push_str("\\\\"),
        '"' if quoted => to.push_str("\\\""),
        c if is_hidden(c) => to.extend(c.escape_unicode()),
        c => to.push(c),
    }
}

/// Appends a byte that is not UTF-8.
pub(crate) fn push_byte(to: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    to.push_str("\\x");
    to.push(char::from(DIGITS[usize::from(byte >> 4)]));
    to.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// A whole text, such as a name, without quotes.
pub(crate) fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    text.chars().for_each(|c| push(&mut escaped, c, false));
    escaped
}

/// The inside of a JSON string: what JSON demands, and what terminals should not see, as escapes that read back the
/// same.
pub(crate) fn json(out: &mut impl Write, text: &str) -> io::Result<()> {
    // Most texts are plain up to their end.
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    let plain = text.bytes().take_while(is_plain).count();
    let mut written = 0;
    for (start, c) in text[plain..].char_indices().map(|(start, c)| (plain + start, c)) {
        if !(matches!(c, '"' | '\\') || is_hidden(c)) {
            continue;
        }
        out.write_all(&text.as_bytes()[written..start])?;
        written = start + c.len_utf8();
        match c {
            '"' => out.write_all(b"\\\"")?,
            '\\' => out.write_all(b"\\\\")?,
            '\n' => out.write_all(b"\\n")?,
            '\r' => out.write_all(b"\\r")?,
            '\t' => out.write_all(b"\\t")?,
            c => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?,
        }
    }
    out.write_all(&text.as_bytes()[written..])
}

/// Appends a piece of a string inside quotes.
pub(crate) fn push_piece(to: &mut String, piece: Piece<'_>) {
    match piece {
        Piece::Text(text) => text.chars().for_each(|c| push(to, c, true)),
        Piece::Bad(bytes) => bytes.iter().for_each(|byte| push_byte(to, *byte)),
    }
}
