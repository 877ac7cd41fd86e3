//! One file of a model, read up to its data.

use std::ffi::OsStr;

use weightstream::{DataStart, Event, Layout, Options, TensorInfo, UnknownTypes};

use crate::Show;
use crate::outcome::Outcome;
use crate::support::directory::GrowingDirectory;
use crate::support::failure::Failure;
use crate::support::pump::{HostDecoder, Next, pump};
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
        mut report: Option<&mut impl Show>,
    ) -> Result<Self, Failure> {
        let options = Options::new().layout(Layout::Sparse).unknown_types(UnknownTypes::Infer);
        let mut decoder = HostDecoder::with_scratch(GrowingDirectory::new(), options);
        let mut tensors = Tensors::new();
        let mut data: Option<DataStart> = None;
        pump(source, &mut decoder, |event, position| {
            shards.see(&event)?;
            match event {
                Event::Tensor { name, info } => tensors.push(name, *info),
                Event::DataStart(start) => {
                    data = Some(start);
                    return Ok(Next::Stop);
                }
                event => report.as_mut().map_or(Ok(()), |report| report.event(event, position))?,
            }
            Ok(Next::Go)
        })
        .map_err(|failure| failure.with_tensor_name(|index| tensors.name(index)))?;
        let Some(data) = data else { return Err(Failure::Other("no data section".into())) };
        let size = source.measure()?;
        shards.end_file()?;
        let path = source.path();
        let file = path.as_deref().and_then(|path| path.file_name()).map(OsStr::to_string_lossy);
        Ok(Self {
            file: file.map_or_else(String::new, Into::into),
            name: source.name().to_owned(),
            tensors,
            outcome: Outcome::new(data, size, decoder.directory()),
        })
    }

    /// Whether the file is as long as it should be.
    pub(crate) fn verdict(&self) -> Result<(), Failure> {
        self.outcome.verdict(&self.name, &self.tensors)
    }
}
