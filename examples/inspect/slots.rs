//! The directory of a model as a constant, for firmware whose model never changes: it then parses nothing.

use std::fmt::Write as _;
use std::io::Write;

use weightstream::summary::Summary;
use weightstream::{ByteOrder, Event, Format, TensorInfo};

use crate::Show;
use crate::part::Part;
use crate::support::escape;
use crate::support::failure::Failure;

/// The language of the constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    C,
}

pub(crate) struct Report<W> {
    out: W,
    language: Language,
    format: Format,
    big_endian: bool,
}

impl<W: Write> Report<W> {
    pub(crate) fn new(out: W, language: Language) -> Self {
        Self { out, language, format: Format::default(), big_endian: false }
    }

    fn head(&mut self, part: &Part) -> Result<(), Failure> {
        let file = if part.file.is_empty() { "a model".into() } else { comment(&part.file) };
        let tensors = part.tensors.len();
        let note = "The tensors in the order of the file; offsets are absolute, in bytes.";
        let id = match self.format {
            Format::Gguf => "as in the file",
            _ => "of weightstream: TensorType::id",
        };
        match self.language {
            Language::Rust => writeln!(
                self.out,
                "//! The directory of {file}, made by `inspect --rust-table`.\n\n\
                 use weightstream::{{ByteOrder, TensorSlot, TensorType, name_hash}};\n\n\
                 /// {note}\n#[rustfmt::skip]\npub const TENSORS: [TensorSlot; {tensors}] = ["
            )?,
            Language::C => writeln!(
                self.out,
                "// The directory of {file}, made by `inspect --c-table`.\n\n\
                 #include <stdint.h>\n\n\
                 struct tensor_slot {{\n    uint64_t name_hash; // FNV-1a, 64 bits, of the name\n    uint64_t offset;\n    \
                 uint64_t bytes;\n    uint64_t row_elements;\n    uint32_t index;\n    uint32_t type; // {id}\n    \
                 uint8_t big_endian;\n}};\n\n\
                 // {note}\nstatic const struct tensor_slot tensors[{}] = {{",
                tensors.max(1)
            )?,
        }
        Ok(())
    }

    fn row(&mut self, name: &str, info: &TensorInfo, offset: u64, bytes: u64) -> Result<(), Failure> {
        let (row, index, id) = (info.row_elements(), info.index(), info.tensor_type().id());
        match self.language {
            Language::Rust => {
                let order = if self.big_endian { "Big" } else { "Little" };
                let kind = match info.tensor_type().name() {
                    Some(name) => format!("TensorType::{name}"),
                    None => format!("TensorType::from_id({id})"),
                };
                writeln!(
                    self.out,
                    "    TensorSlot::new(name_hash({}), {offset}, {bytes}, {row}, {index}, {kind}, ByteOrder::{order}),",
                    rust_text(name)
                )?;
            }
            Language::C => {
                let (hash, order) = (weightstream::name_hash(name), u8::from(self.big_endian));
                writeln!(
                    self.out,
                    "    {{UINT64_C({hash:#018x}), UINT64_C({offset}), UINT64_C({bytes}), UINT64_C({row}), {index}, {id}, {order}}}, // {}",
                    comment(name)
                )?;
            }
        }
        Ok(())
    }
}

impl<W: Write> Show for Report<W> {
    fn event(&mut self, event: Event<'_>) -> Result<(), Failure> {
        if let Event::Header(header) = event {
            self.format = header.format;
            self.big_endian = header.byte_order == ByteOrder::Big;
        }
        Ok(())
    }

    /// No value is of interest.
    fn wants_more(&self) -> bool {
        false
    }

    fn end(&mut self, parts: &[Part], _summary: &Summary) -> Result<(), Failure> {
        let [part] = parts else {
            return Err(Failure::Other(
                "a table is of one file: give each one by itself, through `-`".into(),
            ));
        };
        self.head(part)?;
        for (name, info) in part.tensors.iter() {
            let (offset, bytes) = (part.outcome.offset(info.index()), part.outcome.bytes(info.index()));
            self.row(name, info, offset, bytes.unwrap_or(0))?;
        }
        if self.language == Language::C && part.tensors.len() == 0 {
            writeln!(self.out, "    {{0, 0, 0, 0, 0, 0, 0}},")?;
        }
        self.out.write_all(match self.language {
            Language::Rust => b"];\n",
            Language::C => b"};\n",
        })?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}

/// A string literal that no character of a name can end or disguise.
fn rust_text(name: &str) -> String {
    let mut text = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            ' '..='~' => text.push(c),
            c => {
                let _ = write!(text, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    text + "\""
}

/// The same for a comment to the end of a line: in C, a backslash there would go on in the next one.
fn comment(name: &str) -> String {
    escape::plain(name).replace('\\', "/")
}
