//! The files of a model: one, or the shards that stand beside the first one or beside an index.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use weightstream::{Event, Format, Shard, ShardError, ShardName, ShardSet};

use crate::support::escape;
use crate::support::failure::Failure;
use crate::support::format;
use crate::support::index::Index;
use crate::support::source::Source;

/// Opens the files of a model in their order, and checks that they are one model.
pub(crate) struct Shards {
    files: Vec<PathBuf>,
    /// Files that were opened.
    opened: usize,
    /// A source that is no file of the disk. It is a model by itself, whatever its keys say.
    given: Option<Source>,
    /// Of GGUF.
    set: Option<ShardSet>,
    /// Of safetensors.
    index: Option<Index>,
    /// A safetensors header may have so many bytes; 0 is the default.
    max_header: u32,
    /// The file in hand, ready to be printed.
    name: String,
    /// In which shard each tensor is, where there are several.
    tensors: HashMap<String, usize>,
    /// What is wrong with a tensor. A shard that came twice is told as that.
    twice: Option<Failure>,
}

impl Shards {
    /// The model whose first file this is; `-` is a single one, of standard input.
    pub(crate) fn of(path: &OsStr) -> Result<Self, Failure> {
        if path == "-" {
            return Source::open(path).map(Self::single);
        }
        let path = Path::new(path);
        if Index::is_index(path) {
            let (index, files) = Index::open(path)?;
            return Ok(Self { files, index: Some(index), ..Self::empty() });
        }
        let files = match shard_name(path) {
            None => vec![path.into()],
            Some(name) => {
                if name.shard().number != 1 {
                    return Err(not_the_first(path, name));
                }
                let names = (1..=name.shard().count).filter_map(|number| name.sibling(number));
                names.map(|sibling| path.with_file_name(sibling.to_string())).collect()
            }
        };
        Ok(Self { files, set: Some(ShardSet::new()), ..Self::empty() })
    }

    /// A model in one piece that is no file.
    pub(crate) fn single(source: Source) -> Self {
        Self { given: Some(source), ..Self::empty() }
    }

    fn empty() -> Self {
        Self {
            files: Vec::new(),
            opened: 0,
            given: None,
            set: None,
            index: None,
            max_header: 0,
            name: String::new(),
            tensors: HashMap::new(),
            twice: None,
        }
    }

    /// A safetensors header may have so many bytes; 0 is the default.
    pub(crate) fn set_max_header(&mut self, bytes: u32) {
        self.max_header = bytes;
    }

    /// Files of the model.
    pub(crate) fn len(&self) -> usize {
        self.files.len().max(1)
    }

    /// Bytes of all files, where there are several. So that a missing one is told before the others are read.
    pub(crate) fn measure(&self) -> Result<Option<u64>, Failure> {
        if self.len() == 1 {
            return Ok(None);
        }
        let size = |(index, path): (usize, &PathBuf)| match fs::metadata(path) {
            Ok(metadata) => Ok(metadata.len()),
            Err(error) => Err(Failure::Other(format!(
                "{}: {error} (shard {} of {})",
                printable(path),
                index + 1,
                self.len()
            ))),
        };
        let mut sizes = self.files.iter().enumerate().map(size);
        sizes.try_fold(0_u64, |sum, size| size.map(|size| sum.saturating_add(size))).map(Some)
    }

    /// The next file; `None` when all were opened.
    pub(crate) fn open_next(&mut self) -> Result<Option<Source>, Failure> {
        let mut source = match (self.given.take(), self.files.get(self.opened)) {
            (Some(source), _) => source,
            (None, Some(path)) => Source::open(path.as_os_str())?,
            (None, None) => return Ok(None),
        };
        source.set_max_header(self.max_header);
        self.name = source.name().to_owned();
        let shard = self.files.get(self.opened).and_then(|path| shard_name(path)).map(|name| name.shard());
        self.opened += 1;
        self.check(|set| set.begin(shard))?;
        Ok(Some(source))
    }

    /// Takes in an event of the file that was opened last. False where the rest of a value is not wanted.
    pub(crate) fn see(&mut self, event: &Event<'_>) -> Result<bool, Failure> {
        match event {
            // Most events are of these, which say nothing of shards.
            Event::Text { .. } | Event::ArrayStart { .. } | Event::Items(_) | Event::ArrayEnd => Ok(false),
            event => self.see_other(event),
        }
    }

    fn see_other(&mut self, event: &Event<'_>) -> Result<bool, Failure> {
        if let Event::Header(header) = event {
            self.format(header.format)?;
        }
        if let Event::Tensor { name, info } = event {
            let tensor = name.prefix();
            self.check_index(|index, file| {
                let wrong = |what| format!("{what} (tensor \"{}\")", escape::plain(tensor));
                index.see(file, tensor, info).map_err(wrong)
            })?;
        }
        let mut is_wanted = false;
        self.check(|set| set.accept(event).map(|wants| is_wanted = wants))?;
        match event {
            Event::Tensor { name, .. } if self.len() > 1 && self.index.is_none() => {
                self.tensor(name.prefix());
            }
            Event::DataStart(_) => {
                self.check_index(|index, file| index.end_file(file))?;
                self.found_all()?;
                self.twice.take().map_or(Ok(()), Err)?;
            }
            _ => {}
        }
        Ok(is_wanted)
    }

    /// The file that was opened last has been read.
    pub(crate) fn end_file(&mut self) -> Result<(), Failure> {
        self.check(ShardSet::end_file)
    }

    /// All files have been read.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.check(|set| set.finish())?;
        self.index.as_ref().map_or(Ok(()), Index::finish)
    }

    /// A file of this format begins. Those of one model are of one format, and the keys of safetensors say nothing of
    /// shards.
    fn format(&mut self, found: Format) -> Result<(), Failure> {
        let expected = if self.index.is_some() { Format::Safetensors } else { Format::Gguf };
        if found != expected && (self.len() > 1 || self.index.is_some()) {
            return Err(Failure::Other(format!(
                "{}: the file is {}, and the model {}",
                self.name,
                format::name(found),
                format::name(expected)
            )));
        }
        self.set = self.set.take().filter(|_| found == Format::Gguf);
        Ok(())
    }

    fn check_index(
        &mut self,
        call: impl FnOnce(&mut Index, usize) -> Result<(), String>,
    ) -> Result<(), Failure> {
        // The file in hand is the one that was opened last.
        let Some((index, file)) = self.index.as_mut().zip(self.opened.checked_sub(1)) else { return Ok(()) };
        call(index, file).map_err(|what| Failure::Other(format!("{}: {what}", self.name)))
    }

    fn check(&mut self, call: impl FnOnce(&mut ShardSet) -> Result<(), ShardError>) -> Result<(), Failure> {
        let Some(set) = &mut self.set else { return Ok(()) };
        call(set).map_err(|error| Failure::Other(format!("{}: {error}", self.name)))
    }

    /// Twice in one file is told by the decoder.
    fn tensor(&mut self, name: &str) {
        let before = self.tensors.insert(name.to_owned(), self.opened);
        if let Some(before) = before.filter(|before| *before != self.opened) {
            let (file, tensor) = (&self.name, escape::plain(name));
            self.twice.get_or_insert_with(|| {
                Failure::Other(format!(
                    "{file}: a tensor of this name is also in shard {before} (tensor \"{tensor}\")"
                ))
            });
        }
    }

    /// The first file says how many there are. By its name they were found, if it has such a name.
    fn found_all(&self) -> Result<(), Failure> {
        let Some(count) = self.set.as_ref().and_then(ShardSet::count).map(u32::from) else { return Ok(()) };
        if count as usize == self.len() {
            return Ok(());
        }
        Err(Failure::Other(format!(
            "{}: this is shard {}, but its name does not end in -00001-of-{count:05}.gguf, by which the others are found",
            self.name,
            Shard { number: 1, count }
        )))
    }
}

fn shard_name(path: &Path) -> Option<ShardName<'_>> {
    ShardName::parse(path.file_name()?.to_str()?)
}

fn not_the_first(path: &Path, name: ShardName<'_>) -> Failure {
    let first = name.sibling(1).map(|first| path.with_file_name(first.to_string()));
    let first = printable(&first.unwrap_or_default());
    Failure::Other(format!(
        "{}: this is shard {}; give the first one: {first}",
        printable(path),
        name.shard()
    ))
}

fn printable(path: &Path) -> String {
    escape::plain(&path.to_string_lossy())
}
