//! The header of a model, read by few requests for few bytes.

use std::cell::Cell;
use std::rc::Rc;

use weightstream::io::Decode;
use weightstream::{Event, Format, ValueType};

use crate::source::{HttpSource, Wanted};
use crate::support::failure::Failure;
use crate::support::listen::{Listener, Next, Reading};
use crate::support::search::Search;
use crate::support::start::Start;

/// Read at a time.
const BUFFER_BYTES: usize = 4 * 1024;

/// Reads until the listener has heard enough.
pub(crate) fn read(
    source: &mut HttpSource,
    max_header: u32,
    listener: &mut impl Listener,
) -> Result<Box<dyn Decode>, Failure> {
    let (url, wanted) = (source.url().to_owned(), source.wanted());
    let start = Start::read(source).map_err(|error| Failure::Other(format!("{url}: {error}")))?;
    let format = start.format(&url)?;
    let header_end = if format == Format::Safetensors { start.header_end() } else { 0 };
    let mut foresight = Foresight { listener, wanted, header_end, strings_left: 0, length_bytes: 8 };
    let options = Search::options().header_bytes(max_header);
    let mut buffer = vec![0; BUFFER_BYTES];
    Reading { file: &url, format, options }.decode(start.before(source), &mut buffer, &mut foresight)
}

/// Tells the source how much will be wanted for sure. For that it hears of each vocabulary how much is left.
struct Foresight<'a, L> {
    listener: &'a mut L,
    wanted: Rc<Cell<Wanted>>,
    /// Where the header ends, if it says so beforehand.
    header_end: u64,
    /// Strings still to come of an array. They cannot be jumped over: each has its length in front.
    strings_left: u64,
    length_bytes: u64,
}

impl<L> Foresight<'_, L> {
    /// Whether more of the value in hand is to be told, even if nobody else wants it.
    fn see(&mut self, event: &Event<'_>) -> bool {
        match *event {
            Event::Header(header) if header.version == 1 => self.length_bytes = 4,
            Event::Key { value_type, .. } => {
                self.strings_left = 0;
                return value_type == ValueType::Array;
            }
            Event::ArrayStart { element: ValueType::String, len } => self.strings_left = len,
            Event::Text { last, .. } => self.strings_left = self.strings_left.saturating_sub(last.into()),
            _ => {}
        }
        self.strings_left > 0
    }
}

impl<L: Listener> Listener for Foresight<'_, L> {
    fn event(&mut self, event: Event<'_>) -> Result<Next, Failure> {
        let is_wanted = self.see(&event);
        match self.listener.event(event)? {
            Next::SkipValue if is_wanted => Ok(Next::Go),
            next => Ok(next),
        }
    }

    fn stands_at(&mut self, offset: u64) -> Result<(), Failure> {
        let least = self.strings_left.saturating_mul(self.length_bytes);
        let until = offset.saturating_add(least).max(self.header_end);
        self.wanted.set(Wanted { until, end: u64::MAX });
        Ok(())
    }

    fn tensor_name(&self, index: u32) -> Option<String> {
        self.listener.tensor_name(index)
    }
}
