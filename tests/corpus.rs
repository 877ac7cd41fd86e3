//! Every file of the corpus says what `expected.json` says: keys, values, tensors, bytes, and their values as f32.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};
use support::record::{SLOTS, full};
use support::samples::{corpus_file, corpus_names, corpus_options, data_dir};
use weightstream::{Blocks, ByteOrder, Decoder, DequantizeError, Event, Scalar, TensorSlot};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(bytes: &[u8]) -> Json {
    match core::str::from_utf8(bytes) {
        Ok(text) => json!(text),
        Err(_) => json!({ "hex": hex(bytes) }),
    }
}

fn scalar(value: Scalar) -> Json {
    match value {
        Scalar::U8(n) => json!(n),
        Scalar::I8(n) => json!(n),
        Scalar::U16(n) => json!(n),
        Scalar::I16(n) => json!(n),
        Scalar::U32(n) => json!(n),
        Scalar::I32(n) => json!(n),
        Scalar::U64(n) => json!(n),
        Scalar::I64(n) => json!(n),
        Scalar::Bool(n) => json!(n),
        Scalar::F32(n) => json!({ "bits": format!("{:#010x}", n.to_bits()) }),
        Scalar::F64(n) => json!({ "bits": format!("{:#018x}", n.to_bits()) }),
    }
}

/// The expected value without the decimal text of floats: the bits say more.
fn only_bits(value: &Json) -> Json {
    match value {
        Json::Object(fields) => {
            let keep = |(name, _): &(&String, &Json)| !(*name == "value" && fields.contains_key("bits"));
            let fields = fields.iter().filter(keep);
            Json::Object(fields.map(|(name, value)| (name.clone(), only_bits(value))).collect())
        }
        Json::Array(items) => items.iter().map(only_bits).collect(),
        other => other.clone(),
    }
}

/// What was read of one file.
#[derive(Default)]
struct Contents {
    entries: Vec<(String, String, Json)>,
    /// Arrays that are open: their description, and the elements so far.
    open: Vec<(Map<String, Json>, Vec<Json>)>,
    text: Vec<u8>,
    tensors: Vec<Contained>,
}

struct Contained {
    described: Json,
    raw: Sha256,
    values: Sha256,
    first: Vec<String>,
    bytes: u64,
    elements: u64,
    decoded: u64,
    refusal: Option<DequantizeError>,
}

impl Contents {
    fn value(&mut self, value: Json) {
        match self.open.last_mut() {
            Some((_, items)) => items.push(value),
            None => self.entries.last_mut().unwrap().2 = value,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Key { name, value_type } => {
                let key = name.as_str().unwrap().to_owned();
                self.entries.push((key, value_type.name().to_owned(), Json::Null));
            }
            Event::Scalar(value) => self.value(scalar(value)),
            Event::Text { part, last, .. } => {
                self.text.extend_from_slice(part);
                if last {
                    let whole = text(&core::mem::take(&mut self.text));
                    self.value(whole);
                }
            }
            Event::ArrayStart { element, len } => {
                let head = [("elem".to_owned(), json!(element.name())), ("len".to_owned(), json!(len))];
                self.open.push((head.into_iter().collect(), Vec::new()));
            }
            Event::Items(items) => items.scalars().for_each(|item| self.value(scalar(item))),
            Event::ArrayEnd => {
                let (mut array, items) = self.open.pop().unwrap();
                array.insert("values".to_owned(), Json::Array(items));
                self.value(Json::Object(array));
            }
            Event::Tensor { name, info } => self.tensors.push(Contained {
                described: json!({
                    "name": name.as_str().unwrap(),
                    "type": info.tensor_type().to_string(),
                    "type_id": info.tensor_type().id(),
                    "dims": info.dims(),
                    "offset": info.data_offset(),
                    "nbytes": info.bytes().unwrap(),
                }),
                raw: Sha256::new(),
                values: Sha256::new(),
                first: Vec::new(),
                bytes: 0,
                elements: info.elements(),
                decoded: 0,
                refusal: None,
            }),
            Event::Data(blocks) => self.tensors[blocks.tensor() as usize].data(blocks),
            _ => {}
        }
    }
}

impl Contained {
    fn data(&mut self, mut blocks: Blocks<'_>) {
        self.raw.update(blocks.bytes());
        self.bytes += blocks.bytes().len() as u64;
        let mut values = [0.0; 512];
        while !blocks.is_empty() {
            match blocks.dequantize(&mut values) {
                Ok(count) => {
                    self.decoded += count as u64;
                    for value in &values[..count] {
                        self.values.update(value.to_le_bytes());
                        if self.first.len() < 8 {
                            self.first.push(format!("{:#010x}", value.to_bits()));
                        }
                    }
                }
                Err(refusal) => {
                    self.refusal = Some(refusal);
                    return;
                }
            }
        }
    }
}

fn check(name: &str, expected: &Json, chunk: usize) -> (usize, usize) {
    let bytes = corpus_file(name);
    assert_eq!(hex(&Sha256::digest(&bytes)), expected["sha256"], "{name} is not the file it was");
    let mut decoder: Decoder<[TensorSlot; SLOTS]> = full(corpus_options(name));
    let mut contents = Contents::default();
    for mut input in bytes.chunks(chunk) {
        while let Some(event) = decoder.decode(&mut input).unwrap() {
            match event {
                Event::Header(header) => {
                    let big = expected["endian"] == "big";
                    assert_eq!(header.byte_order, if big { ByteOrder::Big } else { ByteOrder::Little });
                    assert_eq!(json!(header.version), expected["version"], "{name}");
                    assert_eq!(json!(header.entry_count), expected["n_kv"], "{name}");
                    assert_eq!(json!(header.tensor_count), expected["n_tensors"], "{name}");
                }
                Event::DataStart(start) => {
                    assert_eq!(json!(start.offset), expected["data_offset"], "{name}");
                    assert_eq!(json!(start.alignment), expected["alignment"], "{name}");
                }
                event => contents.event(event),
            }
        }
    }
    decoder.finish().unwrap();

    let entries = expected["kv"].as_array().unwrap();
    assert_eq!(contents.entries.len(), entries.len());
    for ((key, value_type, value), entry) in contents.entries.iter().zip(entries) {
        assert_eq!((&json!(key), &json!(value_type)), (&entry["key"], &entry["type"]), "{name}");
        assert_eq!(*value, only_bits(&entry["value"]), "{name}: {key}");
    }

    let (mut decoded, mut raw) = (0, 0);
    let tensors = expected["tensors"].as_array().unwrap();
    assert_eq!(contents.tensors.len(), tensors.len());
    for (tensor, expected) in contents.tensors.into_iter().zip(tensors) {
        let called = expected["name"].as_str().unwrap();
        for (field, value) in tensor.described.as_object().unwrap() {
            assert_eq!(*value, expected[field], "{name}: {called}: {field}");
        }
        let slot = decoder.directory().find(called).unwrap();
        assert_eq!(json!(slot.offset()), expected["abs_offset"], "{name}: {called}");
        assert_eq!(json!(slot.bytes()), expected["nbytes"]);
        assert_eq!(json!(tensor.bytes), expected["nbytes"]);
        assert_eq!(hex(&tensor.raw.finalize()), expected["raw_sha256"], "{name}: {called}");
        match tensor.refusal {
            None => {
                assert_eq!(tensor.decoded, tensor.elements);
                let first: Vec<Json> = expected["first8"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|value| value["bits"].clone())
                    .collect();
                assert_eq!(json!(tensor.first), json!(first), "{name}: {called}");
                assert_eq!(hex(&tensor.values.finalize()), expected["f32_sha256"], "{name}: {called}");
                decoded += 1;
            }
            // Types that this build cannot dequantize; which those are is a matter of other tests.
            Some(DequantizeError::NoKernel { .. } | DequantizeError::FamilyOff { .. }) => raw += 1,
            Some(refusal) => panic!("{name}: {called}: {refusal}"),
        }
    }
    (decoded, raw)
}

#[test]
fn the_corpus_decodes_to_what_is_recorded() {
    let json = std::fs::read(data_dir().join("corpus/expected.json")).unwrap();
    let expected: Vec<Json> = serde_json::from_slice(&json).unwrap();
    assert_eq!(expected.len(), corpus_names().len());
    let (mut decoded, mut raw) = (0, 0);
    for expected in &expected {
        let name = expected["file"].as_str().unwrap();
        if name == "bool_nonbinary.gguf" {
            continue;
        }
        for chunk in [usize::MAX, 37] {
            let (more_decoded, more_raw) = check(name, expected, chunk);
            decoded += more_decoded;
            raw += more_raw;
        }
    }
    // Plain types are always there; a build without families leaves the others raw.
    let least = if cfg!(all(feature = "legacy", feature = "k")) { 2 * raw } else { 200 };
    assert!(decoded >= least, "{decoded} tensors were dequantized, {raw} were not");
}
