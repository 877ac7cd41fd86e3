//! What may go wrong between here and the server.

use std::fmt;
use std::io;

use crate::support::escape;

/// Why bytes did not come.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The connection broke, or none came about: worth another request.
    Broken(String),
    /// The server says something that cannot be right, or that it has no such file: asking again is of no use.
    Wrong(String),
}

impl From<ureq::Error> for Trouble {
    fn from(error: ureq::Error) -> Self {
        match error {
            // Such as a certificate that nobody vouches for.
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                Self::Wrong(error.to_string())
            }
            ureq::Error::Io(error) => Self::Broken(format!("the connection failed: {error}")),
            ureq::Error::Timeout(_) => Self::Broken("the server is silent".into()),
            ureq::Error::ConnectionFailed => Self::Broken("there is no connection".into()),
            ureq::Error::TlsRequired => Self::Wrong("this build of the program has no https".into()),
            error => Self::Wrong(error.to_string()),
        }
    }
}

/// Of reading a body: the client wraps its own errors.
impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        ureq::Error::from(error).into()
    }
}

/// Why a source gives up.
#[derive(Debug)]
pub(crate) struct HttpError {
    /// Offset of the bytes that were wanted.
    offset: u64,
    what: String,
}

impl HttpError {
    /// `what` may hold words of the server.
    pub(crate) fn new(offset: u64, what: &str) -> Self {
        Self { offset, what: escape::plain(what) }
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset {}: {}", self.offset, self.what)
    }
}

impl std::error::Error for HttpError {}
