//! Which rows are wanted.

use std::ops::Range;
use std::str::FromStr;

/// `A..B`, `A..` or `..B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    start: u64,
    end: Option<u64>,
}

impl FromStr for Rows {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (start, end) = text.split_once("..").ok_or("rows are given as A..B")?;
        let number = |text: &str| text.parse::<u64>().map_err(|error| format!("row {text:?}: {error}"));
        let rows = Self {
            start: if start.is_empty() { 0 } else { number(start)? },
            end: if end.is_empty() { None } else { Some(number(end)?) },
        };
        match rows.end {
            Some(end) if end < rows.start => Err(format!("rows {text} end before they start")),
            _ => Ok(rows),
        }
    }
}

impl Rows {
    /// The rows of a tensor that has so many.
    pub(crate) fn within(&self, all: u64) -> Result<Range<u64>, String> {
        let rows = self.start..self.end.unwrap_or(all);
        if rows.start > rows.end || rows.end > all {
            let end = self.end.map_or_else(String::new, |end| end.to_string());
            let noun = if all == 1 { "row" } else { "rows" };
            return Err(format!(
                "rows {}..{end} are outside of the tensor, which has {all} {noun}",
                self.start
            ));
        }
        Ok(rows)
    }
}
