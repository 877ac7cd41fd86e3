//! Finds one tensor by its name, without keeping the others.

use weightstream::{Directory, Event, Layout, Options, TensorInfo, TensorSlot, UnknownTypes};

use crate::support::escape;
use crate::support::failure::Failure;
use crate::support::listen::{Listener, Next};
use crate::support::similar::Similar;

/// A tensor, and where its data lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) info: TensorInfo,
    pub(crate) slot: TensorSlot,
}

/// Hears the descriptions of files, one after the other.
pub(crate) struct Search<'a> {
    wanted: &'a str,
    found: Option<TensorInfo>,
    similar: Similar,
}

impl<'a> Search<'a> {
    pub(crate) fn new(wanted: &'a str) -> Self {
        Self { wanted, found: None, similar: Similar::default() }
    }

    /// Of the decoder of each file. The size of the file is not told: of one that was cut, the rows that are there can
    /// still be had.
    pub(crate) fn options() -> Options {
        Options::new().layout(Layout::Sparse).unknown_types(UnknownTypes::Infer)
    }

    /// The tensor, if it is in the file that was heard last.
    pub(crate) fn found(&self, directory: Directory<'_>) -> Option<Found> {
        let info = self.found?;
        let slot = directory.iter().find(|slot| slot.index() == info.index()).copied()?;
        Some(Found { info, slot })
    }

    /// It was in no file.
    pub(crate) fn missing(&self, file: &str) -> Failure {
        let (wanted, hint) = (escape::plain(self.wanted), self.similar.hint());
        Failure::Other(format!("{file}: no tensor has the name \"{wanted}\"{hint}"))
    }
}

impl Listener for Search<'_> {
    /// Up to the data. No value is wanted.
    fn event(&mut self, event: Event<'_>) -> Result<Next, Failure> {
        match event {
            Event::Tensor { name, info } if name == self.wanted => self.found = Some(*info),
            Event::Tensor { name, .. } if self.found.is_none() => {
                self.similar.consider(name.prefix(), self.wanted);
            }
            Event::DataStart(_) => return Ok(Next::Stop),
            _ => {}
        }
        Ok(Next::SkipValue)
    }

    fn tensor_name(&self, index: u32) -> Option<String> {
        self.found.filter(|info| info.index() == index).map(|_| self.wanted.to_owned())
    }
}
