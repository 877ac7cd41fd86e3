//! What the tensors add up to, by type.

use std::io::{self, Write};

use weightstream::summary::{Summary, Weights};

use crate::support::number::grouped;
use crate::support::table::{Align, Table};

pub(crate) fn write(out: &mut impl Write, width: usize, summary: &Summary) -> io::Result<()> {
    let (mut types, all): (Vec<_>, _) = (summary.weights_by_type().collect(), summary.weights());
    if types.is_empty() {
        return Ok(());
    }
    types.sort_unstable_by_key(|(tensor_type, _)| *tensor_type);
    let (tensors, elements, bytes) = (Align::Right(8), Align::Right(17), Align::Right(16));
    let longest = types.iter().map(|(tensor_type, _)| tensor_type.to_string().len()).max();
    let table = Table::new(
        width,
        longest.unwrap_or(0).max(8),
        &[tensors, elements, bytes, Align::Right(7), Align::Right(8)],
    );
    writeln!(out, "\nTypes\n")?;
    table.row(out, &["type", "tensors", "weights", "bytes", "share", "bits/w"])?;
    let mut row = |label: &str, weights: Weights| {
        let share = match all.bytes {
            0 => "-".into(),
            all => format!("{:.1} %", 100.0 * weights.bytes as f64 / all as f64),
        };
        let bits = weights.bits_per_weight().map_or_else(|| "-".into(), |bits| format!("{bits:.2}"));
        let numbers = [weights.tensors, weights.elements, weights.bytes].map(grouped);
        let [tensors, elements, bytes] = numbers.each_ref().map(String::as_str);
        table.row(out, &[label, tensors, elements, bytes, &share, &bits])
    };
    types.iter().try_for_each(|(tensor_type, weights)| row(&tensor_type.to_string(), *weights))?;
    if summary.other_weights().tensors > 0 {
        row("further", summary.other_weights())?;
    }
    if types.len() > 1 { row("all", all) } else { Ok(()) }
}
