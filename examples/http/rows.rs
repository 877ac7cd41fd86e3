//! The values of a tensor, as they come.

use std::io::Write;
use std::ops::Range;

use weightstream::io::ReadAt;
use weightstream::{TensorInfo, TensorSlot};

use crate::model::Model;
use crate::source::{HttpSource, Wanted};
use crate::support::escape;
use crate::support::failure::Failure;
use crate::support::output::{Format, Output};
use crate::support::rows::Rows;
use crate::support::similar::Similar;

/// Read, and dequantized, at a time. A row may be larger.
const PIECE_BYTES: usize = 64 * 1024;
const PIECE_VALUES: usize = 16 * 1024;

/// Which values are wanted, and in which form.
pub(crate) struct Selection {
    pub(crate) tensor: String,
    pub(crate) rows: Option<Rows>,
    pub(crate) format: Format,
}

/// Writes the selected values, and asks for their bytes only.
pub(crate) fn write(
    out: &mut impl Write,
    source: &mut HttpSource,
    model: &Model,
    selection: &Selection,
) -> Result<(), Failure> {
    let name = &selection.tensor;
    let Some((info, slot)) = model.find(name) else { return Err(missing(source.url(), model, name)) };
    let place = format!("{}: offset {}", source.url(), slot.offset());
    let fail = |what: String| Failure::Other(format!("{place}: {what} (tensor \"{}\")", escape::plain(name)));
    // Without anything to read, it says whether the type can be dequantized at all.
    slot.dequantize(&mut [].as_slice(), &mut []).map_err(|error| fail(error.to_string()))?;
    let all = info.dims().iter().skip(1).product();
    let rows = match &selection.rows {
        Some(rows) => rows.within(all).map_err(fail)?,
        None => 0..all,
    };
    let bytes = slot.rows(rows.clone()).ok_or_else(|| fail("the rows are not all in the tensor".into()))?;
    let shape = match selection.rows {
        Some(_) => vec![rows.end - rows.start, info.row_elements()],
        None => info.shape().collect(),
    };
    let mut output = Output::new(out, selection.format, rows.start, info.row_elements());
    output.begin(&shape)?;
    source.wanted().set(Wanted { until: bytes.end, end: bytes.end });
    copy(source, bytes, info, slot, &mut output).map_err(|failure| match failure {
        Failure::Other(what) => Failure::Other(format!("{what} (tensor \"{}\")", escape::plain(name))),
        other => other,
    })?;
    Ok(output.end()?)
}

fn missing(url: &str, model: &Model, wanted: &str) -> Failure {
    let mut similar = Similar::default();
    model.tensors.iter().for_each(|(name, _)| similar.consider(name, wanted));
    let wanted = escape::plain(wanted);
    Failure::Other(format!("{url}: no tensor has the name \"{wanted}\"{}", similar.hint()))
}

/// Dequantizes the blocks in `bytes`, a piece at a time: no claim of the file sizes any memory.
fn copy(
    source: &mut HttpSource,
    bytes: Range<u64>,
    info: &TensorInfo,
    slot: &TensorSlot,
    output: &mut Output<impl Write>,
) -> Result<(), Failure> {
    let block_bytes = info.tensor_type().block_bytes().unwrap_or(1) as usize;
    let mut piece = vec![0; PIECE_BYTES - PIECE_BYTES % block_bytes];
    let mut values = vec![0.0; PIECE_VALUES];
    let mut offset = bytes.start;
    while offset < bytes.end {
        let count = (bytes.end - offset).min(piece.len() as u64) as usize;
        read_exact(source, offset, &mut piece[..count])?;
        offset += count as u64;
        let mut blocks = &piece[..count];
        while !blocks.is_empty() {
            let written = slot
                .dequantize(&mut blocks, &mut values)
                .map_err(|error| Failure::Other(format!("{}: {error}", source.url())))?;
            output.values(&values[..written])?;
        }
    }
    Ok(())
}

fn read_exact(source: &mut HttpSource, mut offset: u64, mut piece: &mut [u8]) -> Result<(), Failure> {
    while !piece.is_empty() {
        let count = source
            .read_at(offset, piece)
            .map_err(|error| Failure::Other(format!("{}: {error}", source.url())))?;
        if count == 0 {
            let (url, end) = (source.url(), offset + piece.len() as u64);
            let size = source.known_size().unwrap_or(offset);
            return Err(Failure::Other(format!(
                "{url}: offset {size}: the file ends here, but goes on to {end}"
            )));
        }
        offset += count as u64;
        piece = &mut piece[count..];
    }
    Ok(())
}
