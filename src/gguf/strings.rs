//! The strings of an array, which a vocabulary has by the hundred thousand: told or passed over in one go each, where the chunk
//! holds all of one. What is cut, or wrong, is left to the states of [`entries`](super::entries).

use super::machine::{Machine, State};
use crate::byte_order::ByteOrder;
use crate::carry::as_u64;
use crate::options::limit_or;
use crate::stream::Failed;
use crate::token::{Lent, Progress, Token};
use crate::value::ValueType;

/// Bytes of a string's length.
const LENGTH: usize = 8;

impl Machine {
    /// Goes on to the next element; over strings as far as the chunk holds whole ones, up to one that somebody wants.
    pub(super) fn strings_or_next(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        while let Some(text) = self.whole_string(input) {
            if !self.value.skip {
                let (part, total) = (Lent::Chunk(text.len()), as_u64(text.len()));
                return Ok(Progress::Say(Token::Text { part, start: 0, total, last: true }));
            }
        }
        self.next_element()
    }

    /// What the next step would tell, if that is a whole string. Otherwise nothing has changed.
    ///
    /// Never on 32 bits: it is compiled into every loop around a decoder, and flash is short there.
    #[inline]
    pub(super) fn next_text<'i>(&mut self, input: &mut &'i [u8]) -> Option<&'i [u8]> {
        let is_between = self.state == State::NextElement && !self.value.skip;
        if cfg!(target_pointer_width = "64") && is_between { self.whole_string(input) } else { None }
    }

    /// The next element of the innermost array, if that is a string, the chunk holds all of it, and nothing is wrong with it.
    /// Otherwise nothing has changed.
    #[cfg_attr(target_pointer_width = "64", inline)]
    fn whole_string<'i>(&mut self, input: &mut &'i [u8]) -> Option<&'i [u8]> {
        // Nearly every file has little-endian lengths of 64 bits.
        if self.wire.version == 1 || self.wire.order == ByteOrder::Big {
            return None;
        }
        let room = self.string_room();
        let (left, ValueType::String) = self.value.innermost()? else { return None };
        let others = left.checked_sub(1)?;
        let (length, behind) = input.split_first_chunk::<LENGTH>()?;
        let length = u64::from_le_bytes(*length);
        let (part, rest) = behind.split_at_checked(usize::try_from(length).ok()?)?;
        let bytes = as_u64(LENGTH.saturating_add(part.len()));
        if bytes > room {
            return None;
        }
        // What the states keep of a body in hand stays as it was: between two elements nobody asks for it.
        *left = others;
        *input = rest;
        self.stream.carry.jump(bytes);
        Some(part)
    }

    /// Most bytes that the next string may have, its length included.
    fn string_room(&self) -> u64 {
        let options = &self.stream.options;
        let end = limit_or(options.metadata_bytes, u64::MAX).min(options.input_end());
        let longest = limit_or(options.string_bytes, u64::MAX).saturating_add(as_u64(LENGTH));
        end.saturating_sub(self.stream.carry.position()).min(longest)
    }
}
