//! What is shown of a model: what kind of model it is, and where its tensors lie.

use weightstream::{DataStart, Event, Format, Header, TensorInfo, TensorSlot, ValueType};

use crate::header;
use crate::source::HttpSource;
use crate::support::failure::Failure;
use crate::support::listen::{Listener, Next};
use crate::support::tensors::Tensors;

/// Kept of a text.
const MOST_TEXT_BYTES: usize = 256;

/// What a header says, as far as it is shown.
pub(crate) struct Model {
    pub(crate) header: Header,
    pub(crate) architecture: String,
    pub(crate) name: String,
    pub(crate) tensors: Tensors<TensorInfo>,
    pub(crate) data: DataStart,
    /// In the order of the descriptions.
    pub(crate) slots: Vec<TensorSlot>,
}

impl Model {
    /// Reads the descriptions of all tensors; of the metadata, what it cannot jump over.
    pub(crate) fn read(source: &mut HttpSource, max_header: u32) -> Result<Self, Failure> {
        let mut reader = Reader::new();
        let decoder = header::read(source, max_header, &mut reader)?;
        let mut slots = decoder.directory().slots().to_vec();
        slots.sort_unstable_by_key(TensorSlot::index);
        reader.model(slots).ok_or_else(|| Failure::Other(format!("{}: no data section", source.url())))
    }
}

/// Keeps what is shown.
struct Reader {
    header: Option<Header>,
    architecture: Vec<u8>,
    name: Vec<u8>,
    /// Whose value comes, if it is kept.
    key: Option<Key>,
    tensors: Tensors<TensorInfo>,
    data: Option<DataStart>,
}

#[derive(Clone, Copy)]
enum Key {
    Architecture,
    Name,
}

impl Reader {
    fn new() -> Self {
        let (architecture, name) = (Vec::new(), Vec::new());
        Self { header: None, architecture, name, key: None, tensors: Tensors::new(), data: None }
    }

    fn text(&mut self, part: &[u8]) {
        let text = match self.key {
            Some(Key::Architecture) => &mut self.architecture,
            Some(Key::Name) => &mut self.name,
            None => return,
        };
        let room = MOST_TEXT_BYTES.saturating_sub(text.len());
        text.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn model(self, slots: Vec<TensorSlot>) -> Option<Model> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some(Model {
            header: self.header?,
            architecture: text(&self.architecture),
            name: text(&self.name),
            tensors: self.tensors,
            data: self.data?,
            slots,
        })
    }
}

impl Listener for Reader {
    fn event(&mut self, event: Event<'_>) -> Result<Next, Failure> {
        match event {
            Event::Header(header) => self.header = Some(header),
            // Those of safetensors say nothing that all writers agree on.
            Event::Key { name, value_type } => {
                self.key = match value_type {
                    _ if self.header.is_some_and(|header| header.format != Format::Gguf) => None,
                    ValueType::String if name == "general.architecture" => Some(Key::Architecture),
                    ValueType::String if name == "general.name" => Some(Key::Name),
                    _ => None,
                };
            }
            Event::Text { part, .. } => self.text(part),
            Event::Tensor { name, info } => self.tensors.push(name, *info),
            Event::DataStart(data) => {
                self.data = Some(data);
                return Ok(Next::Stop);
            }
            _ => {}
        }
        Ok(Next::wanting(self.key.is_some()))
    }

    fn tensor_name(&self, index: u32) -> Option<String> {
        self.tensors.name(index)
    }
}
