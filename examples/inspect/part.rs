//! One file of a model, read up to its data.

use std::ffi::OsStr;

use weightstream::summary::Summary;
use weightstream::{DataStart, Event, Format, Layout, Options, TensorInfo, UnknownTypes, ValueType};

use crate::Show;
use crate::outcome::Outcome;
use crate::support::failure::Failure;
use crate::support::listen::{Listener, Next};
use crate::support::shards::Shards;
use crate::support::source::Source;
use crate::support::tensors::Tensors;

pub(crate) struct Part {
    /// The name of the file, without folders.
    pub(crate) file: String,
    /// The same with its folders, ready to be printed.
    name: String,
    pub(crate) tensors: Tensors<TensorInfo>,
    pub(crate) outcome: Outcome,
}

impl Part {
    /// Reads a file. A report gets its metadata.
    pub(crate) fn read(
        source: &mut Source,
        shards: &mut Shards,
        summary: &mut Summary,
        report: Option<&mut impl Show>,
    ) -> Result<Self, Failure> {
        let options = Options::new().layout(Layout::Sparse).unknown_types(UnknownTypes::Infer);
        let mut header = Header {
            shards,
            summary,
            format: Format::default(),
            is_for_summary: false,
            report,
            checks: Checks { is_outermost: true, in_value: false },
            tensors: Tensors::new(),
            data: None,
        };
        let decoder = source.decode(options, &mut header)?;
        let Header { data, tensors, format, .. } = header;
        let Some(data) = data else { return Err(Failure::Other("no data section".into())) };
        let size = source.measure()?;
        shards.end_file()?;
        let path = source.path();
        let file = path.as_deref().and_then(|path| path.file_name()).map(OsStr::to_string_lossy);
        Ok(Self {
            file: file.map_or_else(String::new, Into::into),
            name: source.name().to_owned(),
            tensors,
            outcome: Outcome::new(format, data, size, decoder.directory()),
        })
    }

    /// Whether the file is as long as it should be.
    pub(crate) fn verdict(&self) -> Result<(), Failure> {
        self.outcome.verdict(&self.name, &self.tensors)
    }
}

/// All of a file that is before its data.
struct Header<'a, R> {
    shards: &'a mut Shards,
    summary: &'a mut Summary,
    format: Format,
    /// Whether the summary wants more of the value in hand.
    is_for_summary: bool,
    report: Option<&'a mut R>,
    checks: Checks,
    tensors: Tensors<TensorInfo>,
    data: Option<DataStart>,
}

/// What the decoder would not check of a value that is skipped: that bools are 0 or 1.
struct Checks {
    is_outermost: bool,
    in_value: bool,
}

impl Checks {
    fn see(&mut self, event: &Event<'_>) {
        let value_type = match *event {
            Event::Key { value_type, .. } => {
                self.is_outermost = true;
                value_type
            }
            Event::ArrayStart { element, .. } if self.is_outermost => {
                self.is_outermost = false;
                element
            }
            _ => return,
        };
        // Of an array it is not known yet.
        self.in_value = matches!(value_type, ValueType::Bool | ValueType::Array);
    }
}

impl<R: Show> Header<'_, R> {
    /// Passes an entry on, and says whether anybody wants more of it.
    fn entry(&mut self, event: Event<'_>, is_for_shards: bool) -> Result<bool, Failure> {
        self.checks.see(&event);
        let Some(report) = &mut self.report else { return Ok(is_for_shards || self.checks.in_value) };
        // The keys of safetensors say nothing that all writers agree on.
        if self.is_for_summary || self.format == Format::Gguf && matches!(event, Event::Key { .. }) {
            self.is_for_summary = self.summary.accept(&event);
        }
        report.event(event)?;
        if report.wants_more() || is_for_shards || self.is_for_summary || self.checks.in_value {
            return Ok(true);
        }
        report.skip_rest()?;
        Ok(false)
    }
}

impl<R: Show> Listener for Header<'_, R> {
    fn event(&mut self, event: Event<'_>) -> Result<Next, Failure> {
        let is_for_shards = self.shards.see(&event)?;
        if let Event::Header(header) = event {
            self.format = header.format;
        }
        match event {
            Event::Tensor { name, info } => {
                self.summary.accept(&event);
                self.tensors.push(name, *info);
                Ok(Next::Go)
            }
            Event::DataStart(start) => {
                self.data = Some(start);
                Ok(Next::Stop)
            }
            event => self.entry(event, is_for_shards).map(Next::wanting),
        }
    }

    fn stands_at(&mut self, offset: u64) -> Result<(), Failure> {
        self.report.as_mut().map_or(Ok(()), |report| report.stands_at(offset))
    }

    fn tensor_name(&self, index: u32) -> Option<String> {
        self.tensors.name(index)
    }
}
