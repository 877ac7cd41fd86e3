//! What a model is, in short, for people and for programs.

use std::io::{self, Write};

use weightstream::Format;
use weightstream::summary::{Heads, Shown, Summary};

use crate::support::escape;
use crate::support::number::{self, grouped};
use crate::support::table::{Align, Table, shortened};

const LABEL_WIDTH: usize = 15;

/// Rows of what is known.
pub(crate) fn text(out: &mut impl Write, width: usize, summary: &Summary) -> io::Result<()> {
    let table = Table::fixed(width, &[Align::Left(LABEL_WIDTH), Align::Left(0)]);
    let shown = |text: Option<Shown<'_>>| text.map(|text| escape::plain(&text.to_string()));
    let (number, tokens) = (|number: u64| grouped(number), |count: u64| format!("{} tokens", grouped(count)));
    let rows = [
        ("architecture", shown(summary.architecture())),
        ("name", shown(summary.name())),
        ("file type", summary.file_type().map(|kind| kind.to_string())),
        ("layers", summary.layers().map(number)),
        ("context", summary.context_length().map(tokens)),
        ("embedding", summary.embedding_length().map(number)),
        ("heads", summary.heads().map(heads)),
        ("kv heads", summary.kv_heads().map(heads)),
        ("vocabulary", summary.vocabulary().map(tokens)),
        ("chat template", summary.has_chat_template().then(|| "yes".into())),
        ("weights", weights(summary)),
    ];
    if rows.iter().all(|(_, value)| value.is_none()) {
        return Ok(());
    }
    writeln!(out, "\nModel\n")?;
    for (label, value) in rows {
        if let Some(value) = value {
            table.row(out, &[label, &shortened(&value, table.rest())])?;
        }
    }
    Ok(())
}

fn heads(heads: Heads) -> String {
    match heads {
        Heads::Every(count) => grouped(count),
        _ => "not the same in every layer".into(),
    }
}

fn weights(summary: &Summary) -> Option<String> {
    let weights = summary.weights();
    if weights.tensors == 0 {
        return None;
    }
    let mut text = format!("{} in {}", grouped(weights.elements), number::bytes(weights.bytes));
    if let Some(bits) = weights.bits_per_weight() {
        text += &format!(", {bits:.2} bits each");
    }
    if weights.unsized_tensors > 0 {
        text += &format!(", and {} tensors of unknown size", grouped(weights.unsized_tensors));
    }
    Some(text)
}

/// An object; `null` is what is not known. Of a safetensors file, only what its tensors add up to can be.
pub(crate) fn json(out: &mut impl Write, format: Format, summary: &Summary) -> io::Result<()> {
    out.write_all(b"\"summary\": {")?;
    if format == Format::Gguf {
        json_model(out, summary)?;
    }
    let weights = summary.weights();
    write!(out, "\n  \"weights\": {},\n  \"bytes\": {},", weights.elements, weights.bytes)?;
    match weights.bits_per_weight() {
        Some(bits) => write!(out, "\n  \"bits_per_weight\": {bits:?}")?,
        None => out.write_all(b"\n  \"bits_per_weight\": null")?,
    }
    out.write_all(b"\n},\n")
}

/// What the metadata say.
fn json_model(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    json_text(out, "architecture", summary.architecture().map(|text| text.to_string()))?;
    json_text(out, "name", summary.name().map(|text| text.to_string()))?;
    json_text(out, "file_type", summary.file_type().map(|kind| kind.to_string()))?;
    let (heads, kv_heads) = (summary.heads().map(json_heads), summary.kv_heads().map(json_heads));
    let numbers = [
        ("layers", summary.layers()),
        ("context_length", summary.context_length()),
        ("embedding_length", summary.embedding_length()),
        ("vocabulary", summary.vocabulary()),
    ];
    let numbers = numbers.map(|(label, number)| (label, number.map(|number| number.to_string())));
    for (label, value) in numbers.into_iter().chain([("heads", heads), ("kv_heads", kv_heads)]) {
        write!(out, "\n  \"{label}\": {},", value.as_deref().unwrap_or("null"))?;
    }
    write!(out, "\n  \"chat_template\": {},", summary.has_chat_template())
}

fn json_text(out: &mut impl Write, label: &str, text: Option<String>) -> io::Result<()> {
    write!(out, "\n  \"{label}\": ")?;
    let Some(text) = text else { return out.write_all(b"null,") };
    out.write_all(b"\"")?;
    escape::json(out, &text)?;
    out.write_all(b"\",")
}

/// A number; where each layer has its own, `"per layer"`.
fn json_heads(heads: Heads) -> String {
    match heads {
        Heads::Every(count) => count.to_string(),
        _ => "\"per layer\"".into(),
    }
}
