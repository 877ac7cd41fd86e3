//! Chunks of a source into a decoder, its events to whoever wants them.

use weightstream::{Decoder, Error, Event};

use crate::support::directory::GrowingDirectory;
use crate::support::failure::{Bad, Failure};
use crate::support::source::Source;

/// Room for the longest name there may be: no name is ever cut.
pub(crate) const SCRATCH: usize = 1 << 16;

/// A decoder for a machine with an allocator.
pub(crate) type HostDecoder = Decoder<GrowingDirectory, SCRATCH>;

/// What to do after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Go,
    /// The file is not read any further.
    Stop,
}

/// Reads to the end of the source, or until `on` says [`Next::Stop`]. `on` is also told the position after the event.
pub(crate) fn pump(
    source: &mut Source,
    decoder: &mut HostDecoder,
    mut on: impl FnMut(Event<'_>, u64) -> Result<Next, Failure>,
) -> Result<(), Failure> {
    let file = source.name().to_owned();
    loop {
        let (mut input, chunk_end) = source.next_chunk()?;
        let is_end = input.is_empty();
        loop {
            match decoder.decode(&mut input) {
                Ok(None) => break,
                Ok(Some(event)) => match on(event, chunk_end.saturating_sub(input.len() as u64))? {
                    Next::Go => {}
                    Next::Stop => return Ok(()),
                },
                Err(error) => return Err(bad(&file, error, decoder)),
            }
        }
        if is_end {
            return decoder.finish().map_err(|error| bad(&file, error, decoder));
        }
    }
}

fn bad(file: &str, error: Error, decoder: &HostDecoder) -> Failure {
    let name = decoder.context().name.map(|name| name.prefix().to_owned());
    Failure::Bad(Bad { file: file.to_owned(), error, name })
}
