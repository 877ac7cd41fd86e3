//! One tensor of a model, out of whichever file has it.

use std::io::Write;

use weightstream::Event;

use crate::support::failure::Failure;
use crate::support::listen::{Listener, Next};
use crate::support::search::{Found, Search};
use crate::support::shards::Shards;
use crate::support::source::Source;
use crate::support::values::{Selection, Values};

/// Writes the selected values. Of the files before the one with the tensor, the headers are read.
pub(crate) fn write(shards: &mut Shards, selection: &Selection, out: &mut impl Write) -> Result<(), Failure> {
    let (mut source, found) = locate(shards, &selection.tensor)?;
    let file = source.name().to_owned();
    Values::new(&file, found, selection)?.write(&mut source, out)
}

/// Reads the descriptions of all tensors, file by file, until one has that name. Returns it and its file.
fn locate(shards: &mut Shards, wanted: &str) -> Result<(Source, Found), Failure> {
    let (mut search, mut first) = (Search::new(wanted), None);
    while let Some(mut source) = shards.open_next()? {
        let mut descriptions = Descriptions { shards, search: &mut search };
        let decoder = source.decode(Search::options(), &mut descriptions)?;
        if let Some(found) = search.found(decoder.directory()) {
            return Ok((source, found));
        }
        shards.end_file()?;
        first.get_or_insert_with(|| source.name().to_owned());
    }
    shards.finish()?;
    Err(search.missing(&first.unwrap_or_default()))
}

/// What is heard of a file: also whether it belongs to the others.
struct Descriptions<'a, 'b> {
    shards: &'a mut Shards,
    search: &'a mut Search<'b>,
}

impl Listener for Descriptions<'_, '_> {
    fn event(&mut self, event: Event<'_>) -> Result<Next, Failure> {
        let is_wanted = self.shards.see(&event)?;
        match self.search.event(event)? {
            Next::SkipValue if is_wanted => Ok(Next::Go),
            next => Ok(next),
        }
    }

    fn tensor_name(&self, index: u32) -> Option<String> {
        self.search.tensor_name(index)
    }
}
