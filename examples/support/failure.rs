//! How a program ends: its message and its exit status.

use std::io::{self, Write};
use std::process::ExitCode;

use weightstream::{Error, ErrorKind, Section};

use crate::support::escape;

/// Why a program stops.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is wrong: exit status 2.
    Usage(String),
    /// `--help`: the usage on standard output, exit status 0.
    Help,
    /// The file is bad, and the decoder says why: exit status 1.
    Bad(Bad),
    /// The file is bad or unreadable in another way: exit status 1.
    Other(String),
    /// Bad files, of which all has been said: exit status 1.
    Told,
    /// Nobody reads the output any more, as with `| head`: no error.
    OutputClosed,
}

/// What the decoder found.
#[derive(Debug)]
pub(crate) struct Bad {
    pub(crate) file: String,
    pub(crate) error: Error,
    /// The key or tensor name in hand.
    pub(crate) name: Option<String>,
}

impl Failure {
    /// Adds the name of the tensor whose data were in hand: the decoder does not keep it so long.
    pub(crate) fn with_tensor_name(mut self, name: impl Fn(u32) -> Option<String>) -> Self {
        if let Self::Bad(bad) = &mut self
            && bad.name.is_none()
            && matches!(bad.error.section(), Section::Tensors | Section::Data)
        {
            bad.name = bad.error.index().and_then(name);
        }
        self
    }

    /// One line for standard error; `None` if there is nothing to say.
    pub(crate) fn message(&self) -> Option<String> {
        match self {
            Self::Usage(message) | Self::Other(message) => Some(message.clone()),
            Self::Help | Self::Told | Self::OutputClosed => None,
            Self::Bad(Bad { file, error, name }) => {
                let what = match (error.section(), error.index()) {
                    (Section::Metadata, _) => "key",
                    _ => "tensor",
                };
                let item = match (name, error.index()) {
                    (Some(name), _) => format!(" ({what} \"{}\")", escape::plain(name)),
                    (None, Some(index)) => format!(" ({what} {index})"),
                    (None, None) => String::new(),
                };
                let advice = advice(error.kind()).unwrap_or_default();
                Some(format!("{file}: offset {}: {}{item}{advice}", error.offset(), error.kind()))
            }
        }
    }
}

/// What to do about it, if that is known.
fn advice(kind: ErrorKind) -> Option<String> {
    match kind {
        ErrorKind::HeaderTooLarge { bytes, .. } => {
            u32::try_from(bytes).ok().map(|bytes| format!("; with --max-header {bytes} it is read"))
        }
        _ => None,
    }
}

/// Of writing to standard output. What goes wrong in reading is told by the source, with the file's name.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Other(format!("standard output: {error}")),
        }
    }
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Self::Usage(escape::plain(&error.to_string()))
    }
}

/// Says what there is to say, and returns the exit status.
pub(crate) fn exit(program: &str, usage: &str, result: Result<(), Failure>) -> ExitCode {
    let Err(failure) = result else { return ExitCode::SUCCESS };
    match failure {
        Failure::OutputClosed => return ExitCode::SUCCESS,
        Failure::Help => {
            let _ = io::stdout().write_all(usage.as_bytes());
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    tell(program, &failure);
    if let Failure::Usage(_) = failure {
        let _ = io::stderr().write_all(usage.as_bytes());
        return ExitCode::from(2);
    }
    ExitCode::FAILURE
}

/// Says on standard error what went wrong.
pub(crate) fn tell(program: &str, failure: &Failure) {
    if let Some(message) = failure.message() {
        // Nothing can be done where this cannot be written.
        let _ = writeln!(io::stderr(), "{program}: {message}");
    }
}
