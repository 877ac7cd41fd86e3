//! One model, from the first byte of its first file to the last one of its last.

use std::ffi::OsStr;

use weightstream::{Blocks, DequantizeError, Event, Format, Layout, Options, TensorType, UnknownTypes};

use crate::Form;
use crate::checksum::Checksum;
use crate::ggml::Refusals;
use crate::report::Report;
use crate::statistics::Statistics;
use crate::support::failure::Failure;
use crate::support::listen::{Listener, Next};
use crate::support::progress::Progress;
use crate::support::shards::Shards;
use crate::support::source::Source;
use crate::support::tensors::Tensors;

/// 16 KiB of values, which stay in the L1 cache.
const VALUES: usize = 4 * 1024;

/// Checks the file, and where it is the first of several, all of them.
pub(crate) fn check(path: &OsStr, form: Form, max_header: u32) -> Result<(), Failure> {
    let mut shards = Shards::of(path)?;
    shards.set_max_header(max_header);
    let size = shards.measure()?;
    let mut check = Check {
        report: Report::new(shards.len(), form),
        progress: Progress::new(size, form == Form::Quiet),
        format: Format::default(),
        before: 0,
        tensors: Tensors::new(),
        refusals: Refusals::default(),
        values: vec![0.0; VALUES],
        has_checksums: form == Form::Crc,
        tensor: None,
    };
    let result = check.files(&mut shards);
    check.progress.clear();
    match result {
        Ok(()) => Ok(check.report.end(&check.refusals)?),
        Err(failure) => {
            // What was found before stands above what is wrong.
            check.report.flush()?;
            Err(failure)
        }
    }
}

struct Check {
    report: Report,
    progress: Progress,
    format: Format,
    /// Bytes of the files before the one in hand.
    before: u64,
    tensors: Tensors<Kind>,
    refusals: Refusals,
    values: Vec<f32>,
    has_checksums: bool,
    tensor: Option<InHand>,
}

/// What is kept of a description.
struct Kind {
    tensor_type: TensorType,
    is_empty: bool,
}

/// The tensor whose data are coming.
struct InHand {
    index: u32,
    outcome: Result<Statistics, DequantizeError>,
    checksum: Option<Checksum>,
}

impl Check {
    fn files(&mut self, shards: &mut Shards) -> Result<(), Failure> {
        while let Some(mut source) = shards.open_next()? {
            self.file(&mut source, shards)?;
            shards.end_file()?;
            self.before += source.size().unwrap_or(0);
        }
        shards.finish()
    }

    fn file(&mut self, source: &mut Source, shards: &mut Shards) -> Result<(), Failure> {
        let mut options = Options::new().layout(Layout::Sparse).unknown_types(UnknownTypes::Infer);
        if let Some(bytes) = source.size() {
            options = options.input_bytes(bytes);
        }
        self.tensors = Tensors::new();
        self.refusals.begin_file();
        let file = source.name().to_owned();
        source.decode(options, &mut Hearing { check: self, shards, file: &file })?;
        self.finish_tensor()
    }

    fn event(&mut self, event: Event<'_>) -> Result<Next, Failure> {
        if self.format == Format::Gguf {
            self.refusals.see(&event);
        }
        match event {
            Event::Tensor { name, info } => self
                .tensors
                .push(name, Kind { tensor_type: info.tensor_type(), is_empty: info.byte_len() == Some(0) }),
            Event::Data(blocks) => self.data(blocks)?,
            _ => {}
        }
        Ok(Next::Go)
    }

    fn data_start(&mut self, file: &str) -> Result<(), Failure> {
        self.progress.clear();
        self.report.begin(file, self.format, self.tensors.len())?;
        // Nothing comes of tensors without data.
        for (index, (name, kind)) in self.tensors.iter().enumerate() {
            if kind.is_empty {
                self.report.empty(index as u32, name, kind.tensor_type)?;
            }
        }
        Ok(())
    }

    fn data(&mut self, mut blocks: Blocks<'_>) -> Result<(), Failure> {
        if self.tensor.as_ref().is_none_or(|tensor| tensor.index != blocks.tensor()) {
            self.finish_tensor()?;
            let checksum = self.has_checksums.then(Checksum::default);
            let outcome = Ok(Statistics::default());
            self.tensor = Some(InHand { index: blocks.tensor(), outcome, checksum });
        }
        let Some(tensor) = &mut self.tensor else { return Ok(()) };
        while let Ok(statistics) = &mut tensor.outcome
            && !blocks.is_empty()
        {
            match blocks.dequantize(&mut self.values) {
                Ok(count) => {
                    let values = &self.values[..count];
                    statistics.add(values);
                    if let Some(checksum) = &mut tensor.checksum {
                        checksum.add(values);
                    }
                }
                Err(error) => tensor.outcome = Err(error),
            }
        }
        Ok(())
    }

    /// The data of the tensor in hand have all come.
    fn finish_tensor(&mut self) -> Result<(), Failure> {
        let Some(InHand { index, outcome, checksum }) = self.tensor.take() else { return Ok(()) };
        let Some((name, kind)) = self.tensors.get(index) else { return Ok(()) };
        self.progress.clear();
        match outcome {
            Ok(statistics) => self.report.tensor(index, name, kind.tensor_type, &statistics, checksum)?,
            Err(error) => self.report.not_decoded(index, name, &error)?,
        }
        Ok(())
    }
}

/// One file, whole.
struct Hearing<'a> {
    check: &'a mut Check,
    shards: &'a mut Shards,
    file: &'a str,
}

impl Listener for Hearing<'_> {
    fn event(&mut self, event: Event<'_>) -> Result<Next, Failure> {
        self.shards.see(&event)?;
        if let Event::Header(header) = event {
            self.check.format = header.format;
        }
        if let Event::DataStart(start) = event {
            // The size of all shards is known better.
            if self.shards.len() == 1 {
                self.check.progress.set_end(start.end);
            }
            self.check.data_start(self.file)?;
        }
        self.check.event(event)
    }

    fn stands_at(&mut self, offset: u64) -> Result<(), Failure> {
        self.check.progress.update(self.check.before + offset);
        Ok(())
    }

    fn tensor_name(&self, index: u32) -> Option<String> {
        self.check.tensors.name(index)
    }
}
