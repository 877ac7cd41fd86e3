//! The form for people: what the model is, rows of metadata, then the tensors and what they add up to.

use std::io::{self, Write};

use weightstream::summary::Summary;
use weightstream::{Event, Format, Header, Items, Scalar, ValueType};

use crate::held_back::HeldBack;
use crate::outcome::Outcome;
use crate::part::Part;
use crate::preview::Preview;
use crate::support::escape;
use crate::support::failure::Failure;
use crate::support::format;
use crate::support::number::{self, grouped};
use crate::support::table::{Align, Table};
use crate::support::utf8::{Piece, Utf8};
use crate::{Show, model, totals};

/// Columns of an entry's type: the longest is `string[]`.
const TYPE_WIDTH: usize = 8;

pub(crate) struct Report<W> {
    /// The metadata come before it is known what the model is, but stand below that.
    out: HeldBack<W>,
    /// Columns of the terminal.
    width: usize,
    full: bool,
    format: Format,
    metadata: Table,
    /// The title of the metadata is written, or that there are none.
    has_title: bool,
    key: String,
    value: Option<Preview>,
    utf8: Utf8,
    /// Elements that have come, of each open array, the outermost first.
    arrays: Vec<u64>,
}

impl<W: Write> Report<W> {
    pub(crate) fn new(out: W, full: bool, width: usize) -> Self {
        let key_width = (width * 42 / 100).min(48);
        Self {
            out: HeldBack::new(out),
            width,
            full,
            format: Format::default(),
            has_title: false,
            metadata: Table::fixed(width, &[Align::Left(key_width), Align::Left(TYPE_WIDTH)]),
            key: String::new(),
            value: None,
            utf8: Utf8::default(),
            arrays: Vec::new(),
        }
    }

    fn header(&mut self, header: Header) -> io::Result<()> {
        self.format = header.format;
        writeln!(self.out, "{}", format::headline(&header))?;
        self.out.hold();
        // Where it does not say, the first entry brings the title.
        self.has_title = header.entry_count.is_some();
        match header.entry_count {
            Some(0) => writeln!(self.out, "\nNo metadata"),
            Some(count) => writeln!(self.out, "\nMetadata ({})\n", grouped(count)),
            None => Ok(()),
        }
    }

    fn title(&mut self, title: &str) -> io::Result<()> {
        if !std::mem::replace(&mut self.has_title, true) {
            writeln!(self.out, "\n{title}")?;
        }
        Ok(())
    }

    fn key(&mut self, name: &str) -> io::Result<()> {
        self.key = escape::plain(name);
        self.title("Metadata\n")
    }

    /// A value begins: its row up to the value's place.
    fn begin(&mut self, type_name: &str, suffix: String) -> io::Result<&mut Preview> {
        let cursor = self.metadata.begin(&mut self.out, &[&self.key, type_name])?;
        let start = self.metadata.tab(&mut self.out, cursor)?;
        let limit = if self.full { None } else { Some(self.width.saturating_sub(start)) };
        Ok(self.value.insert(Preview::new(limit, suffix)))
    }

    /// An element begins; or a value, if no array is open.
    fn begin_element(&mut self) {
        let (Some(count), Some(value)) = (self.arrays.last_mut(), &mut self.value) else { return };
        if *count > 0 {
            value.push(", ");
            value.mark();
        }
        *count += 1;
    }

    /// A value or an element ends.
    fn end_element(&mut self) -> io::Result<()> {
        if !self.arrays.is_empty() {
            return self.value.as_mut().map_or(Ok(()), |value| value.pass_on(&mut self.out));
        }
        if let Some(value) = self.value.take() {
            value.finish(&mut self.out)?;
        }
        self.out.write_all(b"\n")
    }

    fn scalar(&mut self, scalar: Scalar) -> io::Result<()> {
        let mut text = Vec::new();
        number::plain(&mut text, scalar)?;
        self.begin(scalar.value_type().name(), "…".into())?.push(&String::from_utf8_lossy(&text));
        self.end_element()
    }

    fn items(&mut self, items: Items<'_>) -> io::Result<()> {
        let mut text = Vec::new();
        for scalar in items.scalars() {
            if self.value.as_ref().is_none_or(Preview::is_full) {
                break;
            }
            self.begin_element();
            text.clear();
            number::plain(&mut text, scalar)?;
            if let Some(value) = &mut self.value {
                value.push(&String::from_utf8_lossy(&text));
            }
            self.end_element()?;
        }
        Ok(())
    }

    fn text(&mut self, part: &[u8], start: u64, total: Option<u64>, last: bool) -> io::Result<()> {
        if start == 0 {
            self.utf8 = Utf8::default();
            if self.arrays.is_empty() {
                let suffix = total.map_or("…\"".into(), |total| format!("…\" of {} bytes", grouped(total)));
                self.begin("string", suffix)?;
            }
            self.begin_element();
            if let Some(value) = &mut self.value {
                value.push("\"");
            }
        }
        let Some(value) = self.value.as_mut() else { return Ok(()) };
        if !value.is_full() {
            let out = &mut self.out;
            self.utf8.feed(part, last, |piece| show(value, piece, out))?;
        }
        if last {
            value.push("\"");
            self.end_element()?;
        }
        Ok(())
    }

    fn array(&mut self, element: ValueType, len: u64) -> io::Result<()> {
        if self.arrays.is_empty() {
            self.begin(&format!("{}[]", element.name()), format!("…] of {}", grouped(len)))?;
        }
        self.begin_element();
        if let Some(value) = &mut self.value {
            value.push("[");
            value.weak_mark();
        }
        self.arrays.push(0);
        Ok(())
    }

    fn end_array(&mut self) -> io::Result<()> {
        self.arrays.pop();
        if let Some(value) = &mut self.value {
            value.push("]");
        }
        self.end_element()
    }

    fn tensors(&mut self, parts: &[Part]) -> io::Result<()> {
        let count: usize = parts.iter().map(|part| part.tensors.len()).sum();
        if count == 0 {
            return writeln!(self.out, "\nNo tensors");
        }
        writeln!(self.out, "\nTensors ({})\n", grouped(count as u64))?;
        let is_sharded = parts.len() > 1;
        let is_wide = self.width >= 100;
        let types = Align::Left(format::type_width(self.format));
        let mut columns = vec![types, Align::Left(if is_wide { 27 } else { 21 }), Align::Right(14)];
        columns.extend(is_sharded.then_some(Align::Right(5)));
        columns.extend(is_wide.then_some(Align::Right(17)));
        let table = Table::new(self.width, 56, &columns);
        let mut row = |name: &str, type_name: &str, dims: &str, bytes: &str, shard: &str, offset: &str| {
            let shard: &[&str] = if is_sharded { &[shard] } else { &[] };
            table.row(&mut self.out, &[&[name, type_name, dims, bytes], shard, &[offset]].concat())
        };
        let (type_label, dims_label) = (format::type_label(self.format), format::dims_label(self.format));
        row("name", type_label, dims_label, "bytes", "shard", "offset")?;
        for (index, Part { tensors, outcome, .. }) in parts.iter().enumerate() {
            let shard = (index + 1).to_string();
            for (name, info) in tensors.iter() {
                let dims = format::dims(info);
                let bytes = outcome.bytes(info.index()).map_or_else(|| "?".into(), grouped);
                let offset = grouped(outcome.offset(info.index()));
                let (name, type_name) = (escape::plain(name), info.tensor_type().to_string());
                row(&name, &type_name, &dims, &bytes, &shard, &offset)?;
            }
        }
        Ok(())
    }

    /// The files of a model in several ones.
    fn files(&mut self, parts: &[Part]) -> io::Result<()> {
        let numbers = [Align::Right(8), Align::Right(14), Align::Right(17)];
        let table = Table::new(self.width, 80, &numbers);
        writeln!(self.out, "\nFiles ({})\n", grouped(parts.len() as u64))?;
        table.row(&mut self.out, &["name", "tensors", "data offset", "bytes"])?;
        for Part { file, tensors, outcome, .. } in parts {
            let (tensors, offset) = (grouped(tensors.len() as u64), grouped(outcome.data.offset));
            let cells = [&escape::plain(file), &tensors, &offset, &grouped(outcome.expected)];
            table.row(&mut self.out, &cells.map(String::as_str))?;
            if !outcome.is_expected_size() {
                let size = format!("actual size {}", grouped(outcome.size));
                table.note(&mut self.out, "", &size)?;
            }
        }
        let all: u128 = parts.iter().map(|part| u128::from(part.outcome.expected)).sum();
        table.row(&mut self.out, &["all", "", "", &grouped(all)])
    }

    fn file(&mut self, outcome: &Outcome) -> io::Result<()> {
        let table = Table::fixed(self.width, &[Align::Left(15), Align::Left(0)]);
        let size = |size| match size {
            0..1024 => format!("{size} bytes"),
            _ => format!("{} bytes ({})", grouped(size), number::bytes(size)),
        };
        writeln!(self.out, "\nFile\n")?;
        if self.format == Format::Gguf {
            table.row(&mut self.out, &["alignment", &format!("{} bytes", outcome.data.alignment)])?;
        }
        table.row(&mut self.out, &["data offset", &grouped(outcome.data.offset)])?;
        table.row(&mut self.out, &["expected size", &size(outcome.expected)])?;
        if !outcome.is_expected_size() {
            table.row(&mut self.out, &["actual size", &size(outcome.size)])?;
        }
        Ok(())
    }
}

/// Shows a piece of a string: character by character where it may be cut at any of them.
fn show(value: &mut Preview, piece: Piece<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut escaped = String::new();
    if value.is_unlimited() {
        escape::push_piece(&mut escaped, piece);
        value.push(&escaped);
        return value.pass_on(out);
    }
    let mut show = |part: Piece<'_>| {
        escaped.clear();
        escape::push_piece(&mut escaped, part);
        value.push(&escaped);
        value.weak_mark();
        !value.is_full()
    };
    match piece {
        Piece::Text(text) => text.chars().all(|c| show(Piece::Text(c.encode_utf8(&mut [0; 4])))),
        Piece::Bad(bytes) => bytes.chunks(1).all(|byte| show(Piece::Bad(byte))),
    };
    Ok(())
}

impl<W: Write> Show for Report<W> {
    fn event(&mut self, event: Event<'_>) -> Result<(), Failure> {
        match event {
            Event::Header(header) => self.header(header)?,
            Event::Key { name, .. } => self.key(name.prefix())?,
            Event::Scalar(value) => self.scalar(value)?,
            Event::Text { part, start, total, last } => self.text(part, start, total, last)?,
            Event::ArrayStart { element, len } => self.array(element, len)?,
            Event::Items(items) => self.items(items)?,
            Event::ArrayEnd => self.end_array()?,
            _ => {}
        }
        Ok(())
    }

    fn wants_more(&self) -> bool {
        self.value.as_ref().is_none_or(|value| !value.is_full())
    }

    fn skip_rest(&mut self) -> Result<(), Failure> {
        self.arrays.clear();
        Ok(self.end_element()?)
    }

    fn end(&mut self, parts: &[Part], summary: &Summary) -> Result<(), Failure> {
        let width = self.width;
        self.title("No metadata")?;
        self.out.write_above(|out| model::text(out, width, summary))?;
        self.tensors(parts)?;
        totals::write(&mut self.out, self.width, summary)?;
        match parts {
            [part] => self.file(&part.outcome)?,
            parts => self.files(parts)?,
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}
