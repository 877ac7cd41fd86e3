//! The JSON form: one object, written as the file is read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use weightstream::summary::Summary;
use weightstream::{ByteOrder, Event, Format, Header, Items};

use crate::part::Part;
use crate::support::failure::Failure;
use crate::support::format;
use crate::support::source::Source;
use crate::support::utf8::{Piece, Utf8};
use crate::support::{escape, number};
use crate::{Show, model};

/// Elements of an array that are shown, unless all are.
const SHOWN_ELEMENTS: u64 = 8;
/// A string up to this size is kept until it is known whether it is UTF-8.
const KEPT_BYTES: u64 = 1 << 20;
/// Bytes that are turned into hexadecimal digits at once.
const HEX_BYTES: usize = 4096;

pub(crate) struct Report<W> {
    out: W,
    shown: u64,
    name: String,
    /// To open the file once more; `None` for a stream.
    path: Option<PathBuf>,
    format: Format,
    /// The decoder stands here: in a string, at the start of its next piece.
    position: u64,
    entries: u64,
    /// The open arrays, the outermost first.
    arrays: Vec<Array>,
    string: Str,
}

struct Array {
    /// Elements written, or left out.
    count: u64,
    /// The array stands where nothing is shown any more.
    hidden: bool,
}

/// The string in hand.
enum Str {
    None,
    Hidden,
    Kept(Vec<u8>),
    /// The first piece of one that is too long to be kept, and the length of all.
    Long(Vec<u8>, u64),
    Text(Utf8),
    Hex,
}

impl<W: Write> Report<W> {
    pub(crate) fn new(out: W, full: bool, source: &Source) -> Self {
        let shown = if full { u64::MAX } else { SHOWN_ELEMENTS };
        let (name, path) = (source.name().to_owned(), source.path());
        Self {
            out,
            shown,
            name,
            path,
            format: Format::default(),
            position: 0,
            entries: 0,
            arrays: Vec::new(),
            string: Str::None,
        }
    }

    fn header(&mut self, header: &Header) -> io::Result<()> {
        self.format = header.format;
        writeln!(self.out, "{{\n\"format\": \"{}\",", format::name(header.format).to_lowercase())?;
        if header.format == Format::Gguf {
            let (version, endian) = (header.version, endian(header.byte_order));
            writeln!(self.out, "\"version\": {version},\n\"endian\": \"{endian}\",")?;
        }
        self.out.write_all(b"\"metadata\": [")
    }

    /// A value or an element begins. Whether it is shown.
    fn begin(&mut self) -> io::Result<bool> {
        let Some(array) = self.arrays.last_mut() else { return Ok(true) };
        let is_shown = !array.hidden && array.count < self.shown;
        array.count += 1;
        if is_shown && array.count > 1 {
            self.out.write_all(b", ")?;
        }
        Ok(is_shown)
    }

    /// A value or an element ends; an entry with it, if no array is open.
    fn end(&mut self) -> io::Result<()> {
        if self.arrays.is_empty() { self.out.write_all(b"}") } else { Ok(()) }
    }

    fn items(&mut self, items: Items<'_>) -> io::Result<()> {
        let Some(array) = self.arrays.last_mut().filter(|array| !array.hidden) else { return Ok(()) };
        let left = self.shown.saturating_sub(array.count);
        for value in items.scalars().take(usize::try_from(left).unwrap_or(usize::MAX)) {
            if array.count > 0 {
                self.out.write_all(b", ")?;
            }
            array.count += 1;
            number::json(&mut self.out, value)?;
        }
        Ok(())
    }

    fn text(&mut self, part: &[u8], string: StringPart) -> Result<(), Failure> {
        let StringPart { start, total, last } = string;
        if start == 0 {
            self.string = match self.begin()? {
                // Most strings come whole.
                true if last => {
                    self.whole(part)?;
                    return Ok(self.end()?);
                }
                // Its length is not known, but it is UTF-8: the decoder sees to that.
                true if total.is_none() => {
                    self.out.write_all(b"\"")?;
                    Str::Text(Utf8::default())
                }
                true => match total.unwrap_or(0) {
                    ..=KEPT_BYTES => Str::Kept(Vec::new()),
                    total => Str::Long(Vec::new(), total),
                },
                false => Str::Hidden,
            };
        }
        self.piece(part, string)?;
        if last {
            match std::mem::replace(&mut self.string, Str::None) {
                Str::None | Str::Hidden => {}
                Str::Kept(bytes) | Str::Long(bytes, _) => self.whole(&bytes)?,
                Str::Text(_) => self.out.write_all(b"\"")?,
                Str::Hex => self.out.write_all(b"\"}")?,
            }
            self.end()?;
        }
        Ok(())
    }

    fn piece(&mut self, part: &[u8], StringPart { total, last, .. }: StringPart) -> Result<(), Failure> {
        match &mut self.string {
            Str::None | Str::Hidden => {}
            Str::Kept(bytes) | Str::Long(bytes, _) => bytes.extend_from_slice(part),
            Str::Hex => hex(&mut self.out, part)?,
            Str::Text(utf8) => utf8.feed(part, last, |piece| match piece {
                Piece::Text(text) => Ok(escape::json(&mut self.out, text)?),
                Piece::Bad(_) => Err(Failure::Other(format!(
                    "{}: offset {}: a string of {} bytes turns out not to be UTF-8; give the file by its name",
                    self.name,
                    self.position,
                    total.unwrap_or(0)
                ))),
            })?,
        }
        Ok(())
    }

    /// A string that is all there.
    fn whole(&mut self, bytes: &[u8]) -> io::Result<()> {
        match std::str::from_utf8(bytes) {
            Ok(text) => string(&mut self.out, text),
            Err(_) => {
                self.out.write_all(b"{\"hex\": \"")?;
                hex(&mut self.out, bytes)?;
                self.out.write_all(b"\"}")
            }
        }
    }

    /// A string that is too long to be kept begins with these bytes: what it is must be known now.
    fn long(&mut self, first: &[u8], offset: u64, total: u64) -> Result<(), Failure> {
        // An error in looking ahead comes again, and is told, when the string is read.
        let is_utf8 = self.path.as_deref().is_none_or(|path| is_utf8(path, offset, total).unwrap_or(true));
        self.out.write_all(if is_utf8 { b"\"" } else { b"{\"hex\": \"" })?;
        self.string = if is_utf8 { Str::Text(Utf8::default()) } else { Str::Hex };
        self.position = offset;
        self.piece(first, StringPart { start: 0, total: Some(total), last: false })
    }
}

/// A piece's place in its string.
#[derive(Clone, Copy)]
struct StringPart {
    start: u64,
    total: Option<u64>,
    last: bool,
}

impl<W: Write> Show for Report<W> {
    fn event(&mut self, event: Event<'_>) -> Result<(), Failure> {
        match event {
            Event::Header(header) => self.header(&header)?,
            Event::Key { name, value_type } => {
                self.out.write_all(if self.entries == 0 { b"\n  {\"key\": " } else { b",\n  {\"key\": " })?;
                self.entries += 1;
                string(&mut self.out, name.prefix())?;
                write!(self.out, ", \"type\": \"{}\", \"value\": ", value_type.name())?;
            }
            Event::Scalar(value) => {
                number::json(&mut self.out, value)?;
                self.end()?;
            }
            Event::Text { part, start, total, last } => {
                self.text(part, StringPart { start, total, last })?;
            }
            Event::ArrayStart { element, len } => {
                let hidden = !self.begin()?;
                if !hidden {
                    write!(
                        self.out,
                        "{{\"element\": \"{}\", \"length\": {len}, \"value\": [",
                        element.name()
                    )?;
                }
                self.arrays.push(Array { count: 0, hidden });
            }
            Event::Items(items) => self.items(items)?,
            Event::ArrayEnd => {
                if self.arrays.pop().is_some_and(|array| !array.hidden) {
                    self.out.write_all(b"]}")?;
                }
                self.end()?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Nothing of an array behind the elements that are shown.
    fn wants_more(&self) -> bool {
        let is_full = self.arrays.first().is_some_and(|array| array.count >= self.shown);
        !is_full || !matches!(self.string, Str::None | Str::Hidden)
    }

    fn skip_rest(&mut self) -> Result<(), Failure> {
        for array in self.arrays.drain(..).rev() {
            if !array.hidden {
                self.out.write_all(b"]}")?;
            }
        }
        self.string = Str::None;
        Ok(self.end()?)
    }

    fn stands_at(&mut self, offset: u64) -> Result<(), Failure> {
        if let Str::Long(first, total) = &mut self.string {
            let (first, total) = (std::mem::take(first), *total);
            self.long(&first, offset.saturating_sub(first.len() as u64), total)?;
        }
        self.position = offset;
        Ok(())
    }

    fn end(&mut self, parts: &[Part], summary: &Summary) -> Result<(), Failure> {
        let out = &mut self.out;
        out.write_all(if self.entries == 0 { b"],\n" } else { b"\n],\n" })?;
        model::json(out, self.format, summary)?;
        match parts {
            [part] => {
                let fields =
                    places(self.format, part).map(|(name, number)| format!("\"{name}\": {number},\n"));
                out.write_all(fields.collect::<String>().as_bytes())?;
            }
            parts => files(out, self.format, parts)?,
        }
        Ok(tensors(out, self.format, parts)?)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}

/// Where things are in a file.
fn places(format: Format, Part { outcome, .. }: &Part) -> impl Iterator<Item = (&'static str, u64)> {
    let alignment = (format == Format::Gguf).then(|| ("alignment", outcome.data.alignment.into()));
    alignment.into_iter().chain([("data_offset", outcome.data.offset), ("file_size", outcome.expected)])
}

/// The files of a model in several ones.
fn files(out: &mut impl Write, format: Format, parts: &[Part]) -> io::Result<()> {
    out.write_all(b"\"shards\": [")?;
    for (index, part) in parts.iter().enumerate() {
        out.write_all(if index == 0 { b"\n  {\"file\": " } else { b",\n  {\"file\": " })?;
        string(out, &part.file)?;
        places(format, part).try_for_each(|(name, number)| write!(out, ", \"{name}\": {number}"))?;
        out.write_all(b"}")?;
    }
    out.write_all(b"\n],\n")
}

fn tensors(out: &mut impl Write, format: Format, parts: &[Part]) -> io::Result<()> {
    out.write_all(b"\"tensors\": [")?;
    let mut separator: &[u8] = b"";
    for (index, Part { tensors, outcome, .. }) in parts.iter().enumerate() {
        for (name, info) in tensors.iter() {
            out.write_all(separator)?;
            separator = b",";
            out.write_all(b"\n  {\"name\": ")?;
            string(out, name)?;
            let (type_label, dims_label) = (format::type_label(format), format::dims_label(format));
            write!(
                out,
                ", \"{type_label}\": \"{}\", \"{dims_label}\": {:?}, ",
                info.tensor_type(),
                info.dims()
            )?;
            if parts.len() > 1 {
                write!(out, "\"shard\": {}, ", index + 1)?;
            }
            write!(out, "\"offset\": {}, \"bytes\": ", outcome.offset(info.index()))?;
            match outcome.bytes(info.index()) {
                Some(bytes) => write!(out, "{bytes}}}")?,
                None => out.write_all(b"null}")?,
            }
        }
    }
    out.write_all(if separator.is_empty() { b"]\n}\n" } else { b"\n]\n}\n" })
}

fn endian(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Little => "little",
        ByteOrder::Big => "big",
    }
}

fn string(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(b"\"")?;
    escape::json(out, text)?;
    out.write_all(b"\"")
}

fn hex(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: &u8| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    let mut text = Vec::with_capacity(2 * HEX_BYTES);
    for part in bytes.chunks(HEX_BYTES) {
        text.clear();
        text.extend(part.iter().flat_map(digits));
        out.write_all(&text)?;
    }
    Ok(())
}

/// Whether a part of a file is UTF-8, or as much of it as there is.
fn is_utf8(path: &Path, offset: u64, total: u64) -> io::Result<bool> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut file = file.take(total);
    let (mut buffer, mut utf8) = (vec![0; 64 * 1024], Utf8::default());
    loop {
        let read = file.read(&mut buffer)?;
        let good = utf8.feed(&buffer[..read], read == 0, |piece| match piece {
            Piece::Text(_) => Ok(()),
            Piece::Bad(_) => Err(()),
        });
        if good.is_err() || read == 0 {
            return Ok(good.is_ok());
        }
    }
}
