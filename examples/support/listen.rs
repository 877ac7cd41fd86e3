//! The events of a file, to whoever wants them.

use std::fmt::Display;

use weightstream::io::{Events, ReadError, Source};
use weightstream::{Decoder, Event};

use crate::support::directory::GrowingDirectory;
use crate::support::failure::{Bad, Failure};

/// Room for the longest name there may be: no name is ever cut.
pub(crate) const SCRATCH: usize = 1 << 16;

/// A decoder for a machine with an allocator.
pub(crate) type HostDecoder = Decoder<GrowingDirectory, SCRATCH>;

/// What to do after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Go,
    /// The rest of the value in hand is not wanted.
    SkipValue,
    /// The file is not read any further.
    Stop,
}

impl Next {
    /// After an event of the metadata.
    pub(crate) fn wanting(rest_of_value: bool) -> Self {
        if rest_of_value { Self::Go } else { Self::SkipValue }
    }
}

/// Who wants events.
pub(crate) trait Listener {
    fn event(&mut self, event: Event<'_>) -> Result<Next, Failure>;

    /// The decoder stands here after the event: at the end of what a text, items or data lent.
    fn stands_at(&mut self, _offset: u64) -> Result<(), Failure> {
        Ok(())
    }

    /// Name of a tensor that is described. A message about its data needs it: the decoder does not keep it so long.
    fn tensor_name(&self, index: u32) -> Option<String>;
}

/// Reads to the end of the file, or until the listener says [`Next::Stop`].
pub(crate) fn listen<S: Source<Error: Display>>(
    file: &str,
    events: &mut Events<'_, HostDecoder, S>,
    listener: &mut impl Listener,
) -> Result<(), Failure> {
    loop {
        let next = match events.next() {
            Ok(Some(event)) => listener.event(event)?,
            Ok(None) => return Ok(()),
            Err(error) => {
                let name = events.decoder().context().name.map(|name| name.prefix().to_owned());
                return Err(failure(file, error, name).with_tensor_name(|index| listener.tensor_name(index)));
            }
        };
        listener.stands_at(events.decoder().position())?;
        match next {
            Next::Go => {}
            Next::SkipValue => events.skip_value(),
            Next::Stop => return Ok(()),
        }
    }
}

/// Says which file it is about.
fn failure(file: &str, error: ReadError<impl Display>, name: Option<String>) -> Failure {
    match error {
        ReadError::Decode(error) => Failure::Bad(Bad { file: file.to_owned(), error, name }),
        ReadError::Source(error) => Failure::Other(format!("{file}: {error}")),
        error => Failure::Other(format!("{file}: {error}")),
    }
}
