//! The index of a safetensors model in several files, `model.safetensors.index.json`: which file has which tensor.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use weightstream::TensorInfo;

use crate::support::escape;
use crate::support::failure::Failure;
use crate::support::number::grouped;

/// What the index says, and how much of it has come true.
pub(crate) struct Index {
    /// The index's own name, ready to be printed.
    name: String,
    /// The names of the files, in their order.
    files: Vec<String>,
    tensors: HashMap<String, Place>,
    total_size: Option<u64>,
    /// Bytes of the tensors that have come.
    bytes: u64,
}

struct Place {
    /// Position in `files`.
    file: usize,
    has_come: bool,
}

impl Index {
    /// Whether a path looks like that of an index.
    pub(crate) fn is_index(path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension == "json")
    }

    /// Reads it. Returns the paths of the files, too, which stand beside it.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<PathBuf>), Failure> {
        let name = escape::plain(&path.to_string_lossy());
        let fail = |what: String| Failure::Other(format!("{name}: {what}"));
        let file = File::open(path).map_err(|error| fail(error.to_string()))?;
        let Content { metadata, weight_map: WeightMap(weights) } =
            serde_json::from_reader(BufReader::new(file)).map_err(|error| {
                fail(format!("this is no index of a model: {}", escape::plain(&error.to_string())))
            })?;
        let files: BTreeSet<&String> = weights.values().collect();
        let files: Vec<String> = files.into_iter().cloned().collect();
        if files.is_empty() {
            return Err(fail("the index names no file".into()));
        }
        if let Some(outside) = files.iter().find(|file| !is_beside(file)) {
            return Err(fail(format!("a file must stand beside the index: \"{}\"", escape::plain(outside))));
        }
        let paths = files.iter().map(|file| path.with_file_name(file)).collect();
        let place = |(tensor, file): (String, String)| {
            // All of them are there.
            let file = files.binary_search(&file).unwrap_or_default();
            (tensor, Place { file, has_come: false })
        };
        let tensors = weights.into_iter().map(place).collect();
        let total_size = metadata.and_then(|metadata| metadata.total_size);
        Ok((Self { name, files, tensors, total_size, bytes: 0 }, paths))
    }

    /// A tensor is described in the file at `position`. What is wrong with that.
    pub(crate) fn see(&mut self, position: usize, tensor: &str, info: &TensorInfo) -> Result<(), String> {
        let Some(place) = self.tensors.get_mut(tensor) else {
            return Err("the index does not name this tensor".into());
        };
        if place.file != position {
            let file = self.files.get(place.file).map_or("", String::as_str);
            return Err(format!("by the index this tensor is in {}", escape::plain(file)));
        }
        // Twice in one file is told by the decoder.
        place.has_come = true;
        self.bytes = self.bytes.saturating_add(info.byte_len().unwrap_or(0));
        Ok(())
    }

    /// All tensors of the file at `position` have been described. What is wrong with that.
    pub(crate) fn end_file(&self, position: usize) -> Result<(), String> {
        let is_missing = |place: &Place| place.file == position && !place.has_come;
        match self.tensors.iter().filter(|(_, place)| is_missing(place)).map(|(tensor, _)| tensor).min() {
            Some(tensor) => Err(format!(
                "by the index a tensor is in this file, and it is not (tensor \"{}\")",
                escape::plain(tensor)
            )),
            None => Ok(()),
        }
    }

    /// All files have been read.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        match self.total_size {
            Some(total) if total != self.bytes => Err(Failure::Other(format!(
                "{}: total_size is {}, and the tensors have {} bytes",
                self.name,
                grouped(total),
                grouped(self.bytes)
            ))),
            _ => Ok(()),
        }
    }
}

/// Whether a name is that of a file in the same folder.
fn is_beside(file: &str) -> bool {
    let mut components = Path::new(file).components();
    let is_plain = matches!((components.next(), components.next()), (Some(Component::Normal(_)), None));
    is_plain && !file.contains(['/', '\\'])
}

/// The part of an index that is used.
#[derive(Deserialize)]
struct Content {
    metadata: Option<Metadata>,
    weight_map: WeightMap,
}

#[derive(Deserialize)]
struct Metadata {
    total_size: Option<u64>,
}

/// Every tensor once: a map of Rust would let the last one win.
struct WeightMap(HashMap<String, String>);

impl<'de> Deserialize<'de> for WeightMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tensors;
        impl<'de> Visitor<'de> for Tensors {
            type Value = WeightMap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of file names")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<WeightMap, M::Error> {
                let mut weights = HashMap::new();
                while let Some((tensor, file)) = map.next_entry::<String, String>()? {
                    if weights.contains_key(&tensor) {
                        return Err(Error::custom(format_args!("it names the tensor \"{tensor}\" twice")));
                    }
                    weights.insert(tensor, file);
                }
                Ok(WeightMap(weights))
            }
        }
        deserializer.deserialize_map(Tensors)
    }
}
