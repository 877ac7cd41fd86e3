//! What a server's answer to a request for a range means.

use ureq::http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED,
};
use ureq::http::{Response, StatusCode};

use crate::trouble::Trouble;

/// What a body holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The bytes of the file from `start` to `end`, which is not among them.
    Part { start: u64, end: u64 },
    /// The whole file: the server knows no ranges, or the file is not the one that was asked for.
    Whole,
    /// Nothing: the file ends before the range.
    Nothing,
}

/// Which file it is: bytes of different ones must not be mixed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    etag: Option<String>,
    last_modified: Option<String>,
    /// Bytes of the whole file.
    pub(crate) size: Option<u64>,
}

impl Identity {
    /// Takes in what an answer tells of the file.
    pub(crate) fn check(&mut self, told: Self) -> Result<(), Trouble> {
        let changed = |what: &str, before: &str, after: &str| {
            Err(Trouble::Wrong(format!("the file has changed: its {what} was {before}, and is {after} now")))
        };
        if let (Some(before), Some(after)) = (self.size, told.size)
            && before != after
        {
            return changed("size", &before.to_string(), &after.to_string());
        }
        match (&self.etag, &told.etag) {
            (Some(before), Some(after)) if before != after => return changed("ETag", before, after),
            // The copies of one file on several servers may have different dates.
            (Some(tag), Some(_)) if is_strong(tag) => {}
            _ => {
                if let (Some(before), Some(after)) = (&self.last_modified, &told.last_modified)
                    && before != after
                {
                    return changed("date", before, after);
                }
            }
        }
        self.size = self.size.or(told.size);
        self.etag = self.etag.take().or(told.etag);
        self.last_modified = self.last_modified.take().or(told.last_modified);
        Ok(())
    }

    /// For `If-Range`: a server then sends no part of another file. A weak tag is not allowed there.
    pub(crate) fn validator(&self) -> Option<&str> {
        match &self.etag {
            Some(tag) => Some(tag.as_str()).filter(|tag| is_strong(tag)),
            None => self.last_modified.as_deref(),
        }
    }
}

fn is_strong(etag: &str) -> bool {
    !etag.starts_with("W/")
}

/// Checks the head of an answer to a request for the bytes from a start to an end, which is not among them.
pub(crate) fn understand<B>(
    response: &Response<B>,
    asked: (u64, u64),
) -> Result<(Content, Identity), Trouble> {
    let headers = response.headers();
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let mut identity = Identity { etag: text(ETAG), last_modified: text(LAST_MODIFIED), size: None };
    let status = response.status();
    if let Some(coding) = text(CONTENT_ENCODING).filter(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Err(Trouble::Wrong(format!("the server sends the file as {coding}, which nobody asked for")));
    }
    let content = match status {
        StatusCode::OK => {
            identity.size = length(headers)?;
            Content::Whole
        }
        StatusCode::PARTIAL_CONTENT => {
            let range = text(CONTENT_RANGE).unwrap_or_default();
            let part = part_of(&range, asked)
                .ok_or_else(|| mismatch(&format!("sends the range {range:?}"), asked))?;
            identity.size = part.size;
            if let Some(length) = length(headers)?
                && length != part.end - part.start
            {
                return Err(mismatch(&format!("sends {length} bytes as the range {range:?}"), asked));
            }
            Content::Part { start: part.start, end: part.end }
        }
        StatusCode::RANGE_NOT_SATISFIABLE => {
            let size = text(CONTENT_RANGE).and_then(|range| range.strip_prefix("bytes */")?.parse().ok());
            identity.size = size.filter(|size| *size <= asked.0);
            if identity.size.is_none() {
                return Err(answers(status));
            }
            // What came with it describes the answer, not the file.
            (identity.etag, identity.last_modified) = (None, None);
            Content::Nothing
        }
        _ => return Err(answers(status)),
    };
    Ok((content, identity))
}

fn answers(status: StatusCode) -> Trouble {
    Trouble::Wrong(format!("the server answers {status}"))
}

fn mismatch(what: &str, (start, end): (u64, u64)) -> Trouble {
    Trouble::Wrong(format!("the server {what}, asked for bytes {start} to {}", end - 1))
}

struct Part {
    start: u64,
    end: u64,
    size: Option<u64>,
}

/// Reads `bytes FIRST-LAST/SIZE`. A server may send less than was asked for, but only from the same byte on.
fn part_of(range: &str, asked: (u64, u64)) -> Option<Part> {
    let (bytes, size) = range.strip_prefix("bytes ")?.trim().split_once('/')?;
    let (first, last) = bytes.split_once('-')?;
    let (start, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let size = if size == "*" { None } else { Some(size.parse().ok()?) };
    let end = last.checked_add(1)?;
    let is_possible = start < end && size.is_none_or(|size| end <= size);
    (is_possible && start == asked.0 && end <= asked.1).then_some(Part { start, end, size })
}

fn length(headers: &HeaderMap) -> Result<Option<u64>, Trouble> {
    let Some(value) = headers.get(CONTENT_LENGTH) else { return Ok(None) };
    let length = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    length.map(Some).ok_or_else(|| Trouble::Wrong("the server sends a length that is no number".into()))
}
