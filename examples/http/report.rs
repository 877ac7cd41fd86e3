//! What a model holds, in short.

use std::io::{self, Write};

use crate::model::Model;
use crate::support::escape;
use crate::support::format;
use crate::support::number::grouped;
use crate::support::table::{Align, Table, terminal_width};

pub(crate) fn write(out: &mut impl Write, model: &Model) -> io::Result<()> {
    writeln!(out, "{}", format::headline(&model.header))?;
    for (what, text) in [("architecture", &model.architecture), ("name", &model.name)] {
        if !text.is_empty() {
            writeln!(out, "{what}: {}", escape::plain(text))?;
        }
    }
    tensors(out, model)
}

fn tensors(out: &mut impl Write, model: &Model) -> io::Result<()> {
    if model.tensors.len() == 0 {
        return writeln!(out, "\nNo tensors");
    }
    writeln!(out, "\nTensors ({})\n", grouped(model.tensors.len() as u64))?;
    let format = model.header.format;
    let types = Align::Left(format::type_width(format));
    let table = Table::new(terminal_width(), 56, &[types, Align::Left(21), Align::Right(14)]);
    table.row(out, &["name", format::type_label(format), format::dims_label(format), "bytes"])?;
    for ((name, info), slot) in model.tensors.iter().zip(&model.slots) {
        let dims = format::dims(info);
        let bytes = slot.byte_len().map_or_else(|| "?".into(), grouped);
        table.row(out, &[&escape::plain(name), &info.tensor_type().to_string(), &dims, &bytes])?;
    }
    Ok(())
}
