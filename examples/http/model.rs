//! The header of a model: what kind of model it is, and where its tensors lie.

use weightstream::io::{Events, ReadError};
use weightstream::{
    DataStart, Event, Header, Layout, Name, Options, TensorInfo, TensorSlot, UnknownTypes, ValueType,
};

use crate::source::{HttpSource, Wanted};
use crate::support::directory::GrowingDirectory;
use crate::support::failure::{Bad, Failure};
use crate::support::pump::HostDecoder;
use crate::support::tensors::Tensors;
use crate::trouble::HttpError;

/// Read at a time.
const BUFFER_BYTES: usize = 4 * 1024;
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
    pub(crate) fn read(source: &mut HttpSource) -> Result<Self, Failure> {
        // As in `weights`, a file may be shorter than it should: the rows that are there can still be had.
        let options = Options::new().layout(Layout::Sparse).unknown_types(UnknownTypes::Infer);
        let decoder = HostDecoder::with_scratch(GrowingDirectory::new(), options);
        let (url, wanted) = (source.url().to_owned(), source.wanted());
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut events = Events::over(decoder, source, &mut buffer);
        let mut reader = Reader::new();
        loop {
            let is_wanted = match events.next() {
                Ok(Some(event)) => reader.see(event),
                Ok(None) => break,
                Err(error) => {
                    let name = events.decoder().context().name.map(|name| name.prefix().to_owned());
                    return Err(
                        failure(&url, error, name).with_tensor_name(|index| reader.tensors.name(index))
                    );
                }
            };
            if reader.data.is_some() {
                break;
            }
            if !is_wanted {
                events.skip_value();
            }
            wanted.set(Wanted { until: events.decoder().position() + reader.least_left(), end: u64::MAX });
        }
        let mut slots = events.decoder().directory().slots().to_vec();
        slots.sort_unstable_by_key(TensorSlot::index);
        reader.model(slots).ok_or_else(|| Failure::Other(format!("{url}: no data section")))
    }

    /// The tensor of that name.
    pub(crate) fn find(&self, name: &str) -> Option<(&TensorInfo, &TensorSlot)> {
        let (_, info) = self.tensors.iter().find(|(each, _)| *each == name)?;
        Some((info, self.slots.get(info.index() as usize)?))
    }
}

/// Says which file it is about.
fn failure(url: &str, error: ReadError<HttpError>, name: Option<String>) -> Failure {
    match error {
        ReadError::Decode(error) => Failure::Bad(Bad { file: url.to_owned(), error, name }),
        ReadError::Source(error) => Failure::Other(format!("{url}: {error}")),
        error => Failure::Other(format!("{url}: {error}")),
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
    /// Strings still to come of an array. They cannot be jumped over: each has its length in front.
    strings_left: u64,
}

#[derive(Clone, Copy)]
enum Key {
    Architecture,
    Name,
}

impl Reader {
    fn new() -> Self {
        Self {
            header: None,
            architecture: Vec::new(),
            name: Vec::new(),
            key: None,
            tensors: Tensors::new(),
            data: None,
            strings_left: 0,
        }
    }

    /// Takes an event in. False where the rest of the value is not wanted.
    fn see(&mut self, event: Event<'_>) -> bool {
        match event {
            Event::Header(header) => self.header = Some(header),
            Event::Key { name, value_type } => return self.key(name, value_type),
            Event::Text { part, last, .. } => self.text(part, last),
            // A vocabulary is told only to know how much of it is left.
            Event::ArrayStart { element: ValueType::String, len } => self.strings_left = len,
            Event::ArrayStart { .. } => return false,
            Event::Tensor { name, info } => self.tensors.push(name, *info),
            Event::DataStart(data) => self.data = Some(data),
            _ => {}
        }
        true
    }

    fn key(&mut self, name: Name<'_>, value_type: ValueType) -> bool {
        self.strings_left = 0;
        self.key = match value_type {
            ValueType::String if name == "general.architecture" => Some(Key::Architecture),
            ValueType::String if name == "general.name" => Some(Key::Name),
            _ => None,
        };
        self.key.is_some() || value_type == ValueType::Array
    }

    fn text(&mut self, part: &[u8], last: bool) {
        let text = match self.key {
            Some(Key::Architecture) => &mut self.architecture,
            Some(Key::Name) => &mut self.name,
            None => {
                self.strings_left = self.strings_left.saturating_sub(last.into());
                return;
            }
        };
        let room = MOST_TEXT_BYTES.saturating_sub(text.len());
        text.extend_from_slice(&part[..part.len().min(room)]);
    }

    /// Fewest bytes of the strings that are left.
    fn least_left(&self) -> u64 {
        let length_bytes = if self.header.is_some_and(|header| header.version == 1) { 4 } else { 8 };
        self.strings_left.saturating_mul(length_bytes)
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
