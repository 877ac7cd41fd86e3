//! What a model holds, in short.

use std::io::{self, Write};

use weightstream::{ByteOrder, Format};

use crate::model::Model;
use crate::support::escape;
use crate::support::number::grouped;
use crate::support::table::{Align, Table, terminal_width};

pub(crate) fn write(out: &mut impl Write, model: &Model) -> io::Result<()> {
    let format = match model.header.format {
        Format::Gguf => "GGUF",
        _ => "Unknown format,",
    };
    let order = match model.header.byte_order {
        ByteOrder::Little => "little-endian",
        ByteOrder::Big => "big-endian",
    };
    writeln!(out, "{format} version {}, {order}", model.header.version)?;
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
    let table = Table::new(terminal_width(), 56, &[Align::Left(7), Align::Left(21), Align::Right(14)]);
    table.row(out, &["name", "type", "dims", "bytes"])?;
    for ((name, info), slot) in model.tensors.iter().zip(&model.slots) {
        let dims: Vec<String> = info.dims().iter().map(u64::to_string).collect();
        let dims = if dims.is_empty() { "scalar".into() } else { dims.join(" × ") };
        let bytes = slot.byte_len().map_or_else(|| "?".into(), grouped);
        table.row(out, &[&escape::plain(name), &info.tensor_type().to_string(), &dims, &bytes])?;
    }
    Ok(())
}
