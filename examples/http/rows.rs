//! The values of one tensor, and no byte of another.

use std::io::Write;

use crate::header;
use crate::source::{HttpSource, Wanted};
use crate::support::failure::Failure;
use crate::support::search::Search;
use crate::support::values::{Selection, Values};

/// Writes the selected values.
pub(crate) fn write(
    out: &mut impl Write,
    source: &mut HttpSource,
    selection: &Selection,
    max_header: u32,
) -> Result<(), Failure> {
    let mut search = Search::new(&selection.tensor);
    let decoder = header::read(source, max_header, &mut search)?;
    let url = source.url().to_owned();
    let found = search.found(decoder.directory()).ok_or_else(|| search.missing(&url))?;
    let values = Values::new(&url, found, selection)?;
    let end = values.bytes().end;
    source.wanted().set(Wanted { until: end, end });
    values.write(source, out)
}
