//! The events of a file, to whoever wants them.

use std::fmt::Display;

use weightstream::io::{Decode, Events, ReadAt, ReadError, Source};
use weightstream::{Decoder, Event, Format, Options, safetensors};

use crate::support::directory::GrowingDirectory;
use crate::support::failure::{Bad, Failure};
use crate::support::stream::Stream;

/// Room for the longest name there may be: no name is ever cut.
const SCRATCH: usize = 1 << 16;

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

/// What is read of a file, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    /// Its name for messages.
    pub(crate) file: &'a str,
    pub(crate) format: Format,
    pub(crate) options: Options,
}

impl Reading<'_> {
    /// Decodes what is read at any offset, from its start until the listener has heard enough.
    pub(crate) fn decode<S: ReadAt<Error: Display>>(
        &self,
        source: S,
        buffer: &mut [u8],
        listener: &mut impl Listener,
    ) -> Result<Box<dyn Decode>, Failure> {
        match self.format {
            Format::Safetensors => self.over(self.safetensors(), source, buffer, listener),
            _ => self.over(self.gguf(), source, buffer, listener),
        }
    }

    /// The same for a stream. What was read and not decoded comes once more.
    pub(crate) fn decode_stream(
        &self,
        stream: &mut Stream,
        buffer: &mut [u8],
        listener: &mut impl Listener,
    ) -> Result<Box<dyn Decode>, Failure> {
        match self.format {
            Format::Safetensors => self.along(self.safetensors(), stream, buffer, listener),
            _ => self.along(self.gguf(), stream, buffer, listener),
        }
    }

    fn gguf(&self) -> Decoder<GrowingDirectory, SCRATCH> {
        Decoder::with_scratch(GrowingDirectory::new(), self.options)
    }

    fn safetensors(&self) -> safetensors::Decoder<GrowingDirectory, SCRATCH> {
        safetensors::Decoder::with_scratch(GrowingDirectory::new(), self.options)
    }

    fn over<C: Decode + 'static, S: ReadAt<Error: Display>>(
        &self,
        decoder: C,
        source: S,
        buffer: &mut [u8],
        listener: &mut impl Listener,
    ) -> Result<Box<dyn Decode>, Failure> {
        let mut events = Events::over(decoder, source, buffer);
        listen(self.file, &mut events, listener)?;
        Ok(Box::new(events.into_parts().0))
    }

    fn along<C: Decode + 'static>(
        &self,
        decoder: C,
        stream: &mut Stream,
        buffer: &mut [u8],
        listener: &mut impl Listener,
    ) -> Result<Box<dyn Decode>, Failure> {
        let mut events = Events::new(decoder, &mut *stream, buffer);
        listen(self.file, &mut events, listener)?;
        let unread = events.unread().to_vec();
        let (decoder, stream) = events.into_parts();
        stream.put_back(unread);
        Ok(Box::new(decoder))
    }
}

/// Reads to the end of the file, or until the listener says [`Next::Stop`].
fn listen<C: Decode, S: Source<Error: Display>>(
    file: &str,
    events: &mut Events<'_, C, S>,
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
