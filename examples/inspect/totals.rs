//! What the tensors add up to, by type.

use std::collections::BTreeMap;
use std::io::{self, Write};

use weightstream::TensorType;

use crate::part::Part;
use crate::support::number::grouped;
use crate::support::table::{Align, Table};

#[derive(Clone, Copy, Default)]
struct Total {
    tensors: u64,
    elements: u128,
    bytes: u128,
    /// The length of some tensor says nothing about its elements.
    is_inferred: bool,
}

impl Total {
    fn add(&mut self, other: Self) {
        self.tensors += other.tensors;
        self.elements += other.elements;
        self.bytes += other.bytes;
        self.is_inferred |= other.is_inferred;
    }

    fn write(&self, out: &mut impl Write, table: &Table, label: &str, all_bytes: u128) -> io::Result<()> {
        let share = match all_bytes {
            0 => "-".into(),
            all => format!("{:.1} %", 100.0 * self.bytes as f64 / all as f64),
        };
        let bits = match self.elements {
            0 => "-".into(),
            _ if self.is_inferred => "-".into(),
            elements => format!("{:.2}", 8.0 * self.bytes as f64 / elements as f64),
        };
        let (tensors, elements) = (grouped(self.tensors), grouped(self.elements));
        table.row(out, &[label, &tensors, &elements, &grouped(self.bytes), &share, &bits])
    }
}

pub(crate) fn write(out: &mut impl Write, width: usize, parts: &[Part]) -> io::Result<()> {
    let mut types: BTreeMap<TensorType, Total> = BTreeMap::new();
    let mut all = Total::default();
    let tensors =
        parts.iter().flat_map(|part| part.tensors.iter().map(move |(_, info)| (info, &part.outcome)));
    for (info, outcome) in tensors {
        let total = Total {
            tensors: 1,
            elements: info.elements().into(),
            bytes: outcome.bytes(info.index()).unwrap_or(0).into(),
            is_inferred: info.byte_len().is_none(),
        };
        types.entry(info.tensor_type()).or_default().add(total);
        all.add(total);
    }
    if types.is_empty() {
        return Ok(());
    }
    let (tensors, elements, bytes) = (Align::Right(8), Align::Right(17), Align::Right(16));
    let table = Table::new(width, 8, &[tensors, elements, bytes, Align::Right(7), Align::Right(8)]);
    writeln!(out, "\nTypes\n")?;
    table.row(out, &["type", "tensors", "weights", "bytes", "share", "bits/w"])?;
    for (tensor_type, total) in &types {
        total.write(out, &table, &tensor_type.to_string(), all.bytes)?;
    }
    if types.len() > 1 {
        all.write(out, &table, "all", all.bytes)?;
    }
    Ok(())
}
