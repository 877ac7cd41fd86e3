//! A file on a web server, read at any offset.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use ureq::BodyReader;
use weightstream::io::ReadAt;

use crate::answer::{Content, Identity, understand};
use crate::client::Client;
use crate::support::escape;
use crate::support::progress::Progress;
use crate::trouble::{HttpError, Trouble};

/// The first request after a jump asks for so much, and each further one for twice as much, up to `MOST_GUESSED`: nobody
/// may want what lies behind.
const FIRST_GUESS: u64 = 16 * 1024;
/// What a new request is worth: over so much that nobody wants one may as well read on.
const MOST_GUESSED: u64 = 64 * 1024;
/// Most that one request asks for, even where all of it will be wanted.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// Requests after a broken connection, as long as no byte comes that had not come before.
const MOST_ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// What is known of the bytes that will be wanted, as absolute offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// All bytes before, from where the reader is.
    pub(crate) until: u64,
    /// None from here on.
    pub(crate) end: u64,
}

/// Reads by requests for ranges, or forwards through the whole file where a server has no ranges.
pub(crate) struct HttpSource {
    url: String,
    client: Client,
    identity: Identity,
    body: Option<Body>,
    wanted: Rc<Cell<Wanted>>,
    /// Where the last request ended, and what the next guess is.
    asked_until: u64,
    guess: u64,
    fetched: u64,
    /// Offset behind the last byte that ever came.
    furthest: u64,
    progress: Progress,
}

/// An answer that has not been read to its end.
struct Body {
    reader: BodyReader<'static>,
    /// Absolute offset of its next byte.
    position: u64,
    /// Absolute offset of its end; `None` where only the end of the connection will tell.
    end: Option<u64>,
    is_part: bool,
}

impl HttpSource {
    pub(crate) fn new(client: Client, progress: Progress) -> Self {
        Self {
            url: escape::plain(client.url()),
            client,
            identity: Identity::default(),
            body: None,
            wanted: Rc::new(Cell::new(Wanted { until: 0, end: u64::MAX })),
            asked_until: 0,
            guess: 0,
            fetched: 0,
            furthest: 0,
            progress,
        }
    }

    /// The URL, ready to be printed.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Where to say what will be wanted, also while something else holds the source.
    pub(crate) fn wanted(&self) -> Rc<Cell<Wanted>> {
        Rc::clone(&self.wanted)
    }

    pub(crate) fn requests(&self) -> u64 {
        self.client.requests()
    }

    /// Bytes of the file that came. What is left of a range counts too: it is on its way.
    pub(crate) fn fetched(&self) -> u64 {
        self.fetched + self.body.as_ref().and_then(Body::rest_of_part).unwrap_or(0)
    }

    /// Bytes of the whole file, if the server has told them or its end has come.
    pub(crate) fn known_size(&self) -> Option<u64> {
        self.identity.size
    }

    pub(crate) fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    /// Tries until it works, or until nothing new has come for a few times.
    fn persist<T>(
        &mut self,
        offset: u64,
        mut attempt: impl FnMut(&mut Self) -> Result<T, Trouble>,
    ) -> Result<T, HttpError> {
        let mut failed = 0;
        loop {
            let furthest = self.furthest;
            let what = match attempt(self) {
                Ok(done) => return Ok(done),
                Err(Trouble::Wrong(what)) => {
                    self.body = None;
                    return Err(HttpError::new(offset, &what));
                }
                Err(Trouble::Broken(what)) => what,
            };
            // To go on from there is no jump.
            self.asked_until = self.body.take().map_or(offset, |body| body.position);
            failed = if self.furthest > furthest { 0 } else { failed + 1 };
            if failed == MOST_ATTEMPTS {
                let what = format!("{what}; {MOST_ATTEMPTS} attempts brought nothing new");
                return Err(HttpError::new(offset, &what));
            }
            // Once broken, once resumed: a server that goes on breaking may need a moment.
            if failed > 1 {
                thread::sleep(FIRST_PAUSE * (1 << (failed - 2)));
            }
        }
    }

    /// Brings the next byte of the body to `offset`; false where the file ends before.
    fn go_to(&mut self, offset: u64) -> Result<bool, Trouble> {
        loop {
            if self.identity.size.is_some_and(|size| offset >= size) {
                return Ok(false);
            }
            match &self.body {
                Some(body) if body.position == offset => return Ok(true),
                Some(body) if body.leads_to(offset) => {
                    let gap = offset - body.position;
                    let mut passed = [0; 16 * 1024];
                    let count = gap.min(passed.len() as u64) as usize;
                    self.take(&mut passed[..count])?;
                }
                _ => {
                    self.leave()?;
                    self.open(offset)?;
                }
            }
        }
    }

    /// Asks for bytes from `offset` on.
    fn open(&mut self, offset: u64) -> Result<(), Trouble> {
        let asked = (offset, self.request_end(offset));
        let response = self.client.get(asked, self.identity.validator())?;
        let (content, told) = understand(&response, asked)?;
        self.identity.check(told)?;
        let (position, end) = match content {
            Content::Part { start, end } => (start, Some(end)),
            Content::Whole => (0, self.identity.size),
            Content::Nothing => return Ok(()),
        };
        let is_part = content != Content::Whole;
        self.asked_until = end.unwrap_or(u64::MAX);
        self.body = Some(Body { reader: response.into_body().into_reader(), position, end, is_part });
        Ok(())
    }

    /// Where a request from `offset` on ends: behind all that will be wanted for sure, and a guess further.
    fn request_end(&mut self, offset: u64) -> u64 {
        let follows = (self.asked_until..=self.asked_until.saturating_add(MOST_GUESSED)).contains(&offset);
        self.guess = if follows { (2 * self.guess).clamp(FIRST_GUESS, MOST_GUESSED) } else { FIRST_GUESS };
        let Wanted { until, end } = self.wanted.get();
        let most = end.min(self.identity.size.unwrap_or(u64::MAX)).min(offset.saturating_add(MOST_BYTES));
        let wanted = until.max(offset.saturating_add(self.guess)).min(most);
        // Never an empty range, whatever was thought to be wanted.
        wanted.max(offset.saturating_add(1))
    }

    /// Lets the body go. What is left of a part is on its way, so it is read: then the connection can be used again.
    fn leave(&mut self) -> Result<(), Trouble> {
        if self.body.as_ref().is_some_and(|body| !body.is_part) {
            self.body = None;
        }
        let mut passed = [0; 16 * 1024];
        while self.body.is_some() {
            match self.take(&mut passed) {
                Ok(_) => {}
                Err(Trouble::Broken(_)) => self.body = None,
                Err(wrong) => return Err(wrong),
            }
        }
        Ok(())
    }

    /// Reads the next bytes of the body; none where there is none. A body that has come whole is let go.
    fn take(&mut self, buffer: &mut [u8]) -> Result<usize, Trouble> {
        let Some(body) = &mut self.body else { return Ok(0) };
        let count = body.read(buffer)?;
        self.fetched += count as u64;
        self.furthest = self.furthest.max(body.position);
        self.progress.update(self.fetched);
        if count == 0 {
            // A stream of unknown length has ended.
            self.identity.size = Some(body.position);
        }
        if count == 0 || body.end == Some(body.position) {
            self.body = None;
        }
        Ok(count)
    }
}

impl Body {
    /// Whether reading on leads to `offset`.
    fn leads_to(&self, offset: u64) -> bool {
        self.position <= offset && self.end.is_none_or(|end| offset < end)
    }

    /// Bytes that are still to come of a range.
    fn rest_of_part(&self) -> Option<u64> {
        self.end.filter(|_| self.is_part).map(|end| end - self.position)
    }

    /// Reads some of what is left.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Trouble> {
        let left = self.end.map_or(u64::MAX, |end| end - self.position);
        let most = left.min(buffer.len() as u64) as usize;
        let count = self.read_some(most, buffer)?;
        self.position += count as u64;
        match self.end {
            Some(end) if count == 0 => Err(Trouble::Wrong(format!(
                "the server's answer ends {} bytes too early",
                end - self.position
            ))),
            Some(end) if end == self.position => self.expect_end().map(|()| count),
            _ => Ok(count),
        }
    }

    fn read_some(&mut self, most: usize, buffer: &mut [u8]) -> Result<usize, Trouble> {
        loop {
            match self.reader.read(&mut buffer[..most]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Ok(result?),
            }
        }
    }

    /// All has come. That the client sees the end, too, makes the connection free for the next request.
    fn expect_end(&mut self) -> Result<(), Trouble> {
        match self.read_some(1, &mut [0]) {
            Ok(0) | Err(Trouble::Broken(_)) => Ok(()),
            Ok(_) => Err(Trouble::Wrong("the server's answer is longer than it says".into())),
            Err(wrong) => Err(wrong),
        }
    }
}

impl ReadAt for HttpSource {
    type Error = HttpError;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, HttpError> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.persist(offset, |source| if source.go_to(offset)? { source.take(buffer) } else { Ok(0) })
    }

    /// Where nobody knows the size, it is what has come: so no reader jumps past an end that shows only when it comes.
    fn size(&mut self) -> Result<u64, HttpError> {
        if self.identity.size.is_none() && self.body.is_none() {
            self.persist(0, |source| source.open(0))?;
        }
        Ok(self.identity.size.unwrap_or(self.body.as_ref().map_or(0, |body| body.position)))
    }
}
