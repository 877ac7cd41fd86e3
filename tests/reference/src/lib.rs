//! One safetensors file read by weightstream and by the format's reference: the same verdict and the same tensors, but for a
//! list of differences, each of which has a name and is shown to be there.

#![allow(
    clippy::missing_panics_doc,
    missing_docs,
    reason = "what is for tests may panic, and its names say what it is"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::catch_unwind;

use safetensors::SafeTensors;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use weightstream::{Event, TensorSlot, safetensors as here};

/// A tensor: dtype, shape, bytes.
pub type Tensor = (String, Vec<u64>, Vec<u8>);

/// What a file says. Of a key given twice in the metadata, the last text.
#[derive(Debug, Default, PartialEq)]
pub struct Contents {
    pub tensors: BTreeMap<String, Tensor>,
    pub metadata: BTreeMap<String, String>,
}

/// Where the two differ on purpose: the rows of the table in `docs/strictness.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// A tensor's name is given twice: the last one counts there.
    DuplicateName,
    /// A name or key with a NUL in it.
    Nul,
    /// The product of the dimensions but zeros is 2^63 or more, and one of them is 0.
    HugeShape,
    /// More than eight dimensions.
    Rank,
    /// A description that is an array, or a dtype that is an object.
    OtherNotation,
    /// A name or key of more than 65,535 bytes.
    LongName,
    /// A number in a field that nobody knows, too large for `f64`: refused there only.
    HugeUnknownNumber,
}

/// The contents, or why there are none.
pub fn read_here(bytes: &[u8]) -> Result<Contents, weightstream::Error> {
    let mut decoder =
        here::Decoder::<_, 4096>::with_scratch(vec![TensorSlot::EMPTY; 300], weightstream::Options::new());
    let mut contents = Contents::default();
    let (mut names, mut key) = (Vec::new(), String::new());
    let mut text = Vec::new();
    let mut input = bytes;
    while let Some(event) = decoder.decode(&mut input)? {
        match event {
            Event::Tensor { name, info } => {
                let dtype = info.tensor_type().name().expect("every dtype has a name").to_owned();
                names.push(name.prefix().to_owned());
                contents
                    .tensors
                    .insert(name.prefix().to_owned(), (dtype, info.shape().collect(), Vec::new()));
            }
            Event::Key { name, .. } => name.prefix().clone_into(&mut key),
            Event::Text { part, last, .. } => {
                text.extend(part);
                if last {
                    let text = String::from_utf8(std::mem::take(&mut text)).expect("the header is UTF-8");
                    contents.metadata.insert(key.clone(), text);
                }
            }
            Event::Data(blocks) => {
                let name = &names[blocks.tensor() as usize];
                contents.tensors.get_mut(name).expect("it was told").2.extend(blocks.bytes());
            }
            _ => {}
        }
    }
    decoder.finish().map(|()| contents)
}

/// The same by the reference. It may panic where numbers wrap.
pub fn read_there(bytes: &[u8]) -> Result<Contents, String> {
    let read = || -> Result<Contents, safetensors::SafeTensorError> {
        let (_, metadata) = SafeTensors::read_metadata(bytes)?;
        let tensors = SafeTensors::deserialize(bytes)?;
        let tensor = |(name, view): (String, safetensors::tensor::TensorView<'_>)| {
            let shape = view.shape().iter().map(|dim| *dim as u64).collect();
            (name, (view.dtype().to_string(), shape, view.data().to_vec()))
        };
        Ok(Contents {
            tensors: tensors.tensors().into_iter().map(tensor).collect(),
            metadata: metadata.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect(),
        })
    };
    match catch_unwind(read) {
        Ok(contents) => contents.map_err(|error| format!("{error:?}")),
        Err(_) => Err("it panicked".to_owned()),
    }
}

/// Reads a file by both. Whether they agree that it is good, and the difference if there is one.
pub fn compare(bytes: &[u8]) -> (bool, Option<Difference>) {
    let (ours, theirs) = (read_here(bytes), read_there(bytes));
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => {
            assert_eq!(ours, theirs, "{}", show(bytes));
            (true, None)
        }
        (Err(_), Err(_)) => (false, None),
        (Err(error), Ok(theirs)) => {
            let difference = stricter(bytes, *error, theirs);
            let difference = difference.unwrap_or_else(|| panic!("only here: {error}\n{}", show(bytes)));
            (false, Some(difference))
        }
        (Ok(_), Err(error)) => {
            assert!(error.contains("number out of range"), "only there: {error}\n{}", show(bytes));
            (false, Some(Difference::HugeUnknownNumber))
        }
    }
}

fn show(bytes: &[u8]) -> String {
    format!("{} bytes: {}", bytes.len(), String::from_utf8_lossy(bytes.get(8..).unwrap_or_default()))
}

/// Why the file is refused here only: what the error says must be there.
fn stricter(bytes: &[u8], error: weightstream::Error, theirs: &Contents) -> Option<Difference> {
    let header = header(bytes);
    let keys = keys(header);
    let nul = |name: &String| name.contains('\0');
    let long = |name: &String| name.len() > 65_535;
    let names = || theirs.tensors.keys().chain(theirs.metadata.keys()).chain(&keys);
    let shapes = || theirs.tensors.values().map(|(_, shape, _)| shape);
    let at = bytes.get(usize::try_from(error.offset()).ok()?).copied();
    let is_huge = |shape: &Vec<u64>| {
        let sizes = shape.iter().filter(|dim| **dim != 0);
        shape.contains(&0)
            && sizes.fold(1_u128, |product, dim| product.saturating_mul(u128::from(*dim))) >> 63 != 0
    };
    // Of two tensors of one name, the first may be wrong in any way.
    if keys.iter().collect::<BTreeSet<_>>().len() < keys.len() {
        return Some(Difference::DuplicateName);
    }
    match error.code() {
        "name.nul" if names().any(nul) || header.windows(6).any(|text| text == b"\\u0000") => {
            Some(Difference::Nul)
        }
        "tensor.shape_overflow" if shapes().any(is_huge) => Some(Difference::HugeShape),
        "limit.rank" if shapes().any(|shape| shape.len() > 8) => Some(Difference::Rank),
        "safetensors.tensor_not_object" if at == Some(b'[') => Some(Difference::OtherNotation),
        "safetensors.bad_field" if at == Some(b'{') => Some(Difference::OtherNotation),
        "limit.name_bytes" if names().any(long) => Some(Difference::LongName),
        _ => None,
    }
}

/// The header of a file that has one.
fn header(bytes: &[u8]) -> &[u8] {
    let (length, rest) = bytes.split_at(8);
    let length = u64::from_le_bytes(length.try_into().expect("they are eight"));
    &rest[..usize::try_from(length).expect("it lies in the file")]
}

/// The keys of the outermost object, each as often as it stands there.
fn keys(header: &[u8]) -> Vec<String> {
    struct Keys;
    impl<'de> Visitor<'de> for Keys {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut keys = Vec::new();
            while let Some((key, IgnoredAny)) = map.next_entry()? {
                keys.push(key);
            }
            Ok(keys)
        }
    }
    serde_json::Deserializer::from_slice(header).deserialize_map(Keys).expect("the reference took it")
}
