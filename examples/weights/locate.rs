//! Finds one tensor by its name, without keeping the others.

use std::ops::Range;

use weightstream::{DequantizeError, Event, Layout, Options, TensorInfo, TensorSlot, UnknownTypes};

use crate::support::directory::GrowingDirectory;
use crate::support::escape;
use crate::support::failure::Failure;
use crate::support::pump::{HostDecoder, Next, pump};
use crate::support::shards::Shards;
use crate::support::similar::Similar;
use crate::support::source::Source;

/// A tensor, and where its data lie.
#[derive(Debug)]
pub(crate) struct Found {
    info: TensorInfo,
    slot: TensorSlot,
}

impl Found {
    /// Absolute offset of the data.
    pub(crate) fn offset(&self) -> u64 {
        self.slot.offset()
    }

    /// Rows, counted over all outer dimensions; one for a scalar.
    pub(crate) fn rows(&self) -> u64 {
        self.info.dims().iter().skip(1).product()
    }

    pub(crate) fn row_elements(&self) -> u64 {
        self.info.row_elements()
    }

    /// Row-major, outermost first.
    pub(crate) fn shape(&self) -> Vec<u64> {
        self.info.shape().collect()
    }

    pub(crate) fn block_bytes(&self) -> usize {
        self.info.tensor_type().block_bytes().unwrap_or(1) as usize
    }

    /// Where rows lie in the file.
    pub(crate) fn bytes_of(&self, rows: Range<u64>) -> Option<Range<u64>> {
        self.slot.rows(rows)
    }

    pub(crate) fn dequantize(&self, src: &mut &[u8], out: &mut [f32]) -> Result<usize, DequantizeError> {
        self.slot.dequantize(src, out)
    }
}

/// Reads the descriptions of all tensors, file by file, until one has that name. Returns it and its file.
pub(crate) fn locate(shards: &mut Shards, wanted: &str) -> Result<(Source, Found), Failure> {
    let (mut similar, mut first) = (Similar::default(), None);
    while let Some(mut source) = shards.open_next()? {
        if let Some(found) = locate_in(&mut source, shards, wanted, &mut similar)? {
            return Ok((source, found));
        }
        shards.end_file()?;
        first.get_or_insert_with(|| source.name().to_owned());
    }
    shards.finish()?;
    Err(Failure::Other(format!(
        "{}: no tensor has the name \"{}\"{}",
        first.unwrap_or_default(),
        escape::plain(wanted),
        similar.hint()
    )))
}

/// The tensor, if it is in this file.
///
/// All are recorded, 40 bytes each: only then can the decoder say where tensors of unknown type end, and whether any two
/// overlap.
fn locate_in(
    source: &mut Source,
    shards: &mut Shards,
    wanted: &str,
    similar: &mut Similar,
) -> Result<Option<Found>, Failure> {
    // The size of the file is not told: of one that was cut, the rows that are there can still be had.
    let options = Options::new().layout(Layout::Sparse).unknown_types(UnknownTypes::Infer);
    let mut decoder = HostDecoder::with_scratch(GrowingDirectory::new(), options);
    let mut found: Option<TensorInfo> = None;
    pump(source, &mut decoder, |event, _| {
        shards.see(&event)?;
        match event {
            Event::Tensor { name, info } if name == wanted => found = Some(*info),
            Event::Tensor { name, .. } if found.is_none() => similar.consider(name.prefix(), wanted),
            Event::DataStart(_) => return Ok(Next::Stop),
            _ => {}
        }
        Ok(Next::Go)
    })
    .map_err(|failure| {
        failure
            .with_tensor_name(|index| found.filter(|info| info.index() == index).map(|_| wanted.to_owned()))
    })?;
    let slot =
        |info: &TensorInfo| decoder.directory().iter().find(|slot| slot.index() == info.index()).copied();
    Ok(found.and_then(|info| slot(&info).map(|slot| Found { info, slot })))
}
