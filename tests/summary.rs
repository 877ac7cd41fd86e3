//! A summary tells what a model is, and of odd files what can be told: it never fails.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use std::collections::BTreeMap;

use serde_json::Value as Json;
use support::gguf_writer::{Gguf, Tensor, Value};
use support::random::Random;
use support::record::lenient;
use support::samples::{corpus_file, corpus_options, data_dir};
use weightstream::summary::{FileType, Heads, Summary, Weights};
use weightstream::{Decoder, Options, TensorType};

fn push(bytes: &[u8], size: usize, options: Options) -> Summary {
    let (mut decoder, mut summary) = (Decoder::with_options([], options), Summary::new());
    for mut chunk in bytes.chunks(size) {
        while let Some(event) = decoder.decode(&mut chunk).unwrap() {
            if !summary.accept(&event) {
                decoder.skip_value();
            }
        }
    }
    decoder.finish().unwrap();
    summary
}

fn of(file: &Gguf) -> Summary {
    push(&file.write().bytes, 1 << 20, Options::new())
}

fn sums(weights: Weights) -> [u64; 4] {
    [weights.tensors, weights.elements, weights.bytes, weights.unsized_tensors]
}

/// All that a summary says but its weights.
fn said(summary: &Summary) -> String {
    let texts = [summary.architecture(), summary.name()].map(|text| text.map(|text| text.to_string()));
    let sizes =
        [summary.layers(), summary.context_length(), summary.embedding_length(), summary.vocabulary()];
    let heads = [summary.heads(), summary.kv_heads()];
    format!("{texts:?} {:?} {sizes:?} {heads:?} {}", summary.file_type(), summary.has_chat_template())
}

fn llama() -> Gguf {
    Gguf::new().entry("general.architecture", Value::text("llama"))
}

#[test]
fn it_says_what_the_keys_say_in_any_order_and_chunks() {
    let tokens = vec![Value::text("<s>"), Value::text("سلام"), Value::text("x")];
    let entries = [
        ("general.architecture", Value::text("llama")),
        ("general.name", Value::text("A model")),
        ("general.file_type", Value::U32(15)),
        ("llama.block_count", Value::U32(32)),
        ("llama.context_length", Value::U64(131_072)),
        ("llama.embedding_length", Value::I16(4096)),
        ("llama.attention.head_count", Value::U8(32)),
        ("llama.attention.head_count_kv", Value::array(vec![Value::U32(8); 3])),
        ("tokenizer.ggml.tokens", Value::array(tokens)),
        ("tokenizer.chat_template", Value::text("{{ messages }}".repeat(100))),
        ("gemma.block_count", Value::U32(1)),
        ("llama.rope.context_length", Value::U32(1)),
    ];
    let mut random = Random::new(1);
    for turn in 0..40 {
        let mut left = entries.to_vec();
        let mut file = Gguf::new();
        while !left.is_empty() {
            let (key, value) = left.swap_remove(random.below(left.len()));
            file = file.entry(key, value);
        }
        let summary = push(&file.write().bytes, 1 + turn * 7, Options::new());
        assert_eq!(summary.architecture().unwrap().text(), "llama");
        assert_eq!(summary.name().unwrap().to_string(), "A model");
        assert_eq!(summary.file_type(), Some(FileType(15)));
        assert_eq!((summary.layers(), summary.context_length()), (Some(32), Some(131_072)));
        assert_eq!((summary.embedding_length(), summary.heads()), (Some(4096), Some(Heads::Every(32))));
        assert_eq!(summary.kv_heads(), Some(Heads::PerLayer(3)), "an array is told as one");
        assert_eq!(summary.vocabulary(), Some(3), "as many as there are tokens");
        assert!(summary.has_chat_template());
    }
    let both = llama()
        .entry("tokenizer.ggml.tokens", Value::array(vec![Value::text("a")]))
        .entry("llama.vocab_size", Value::U32(9));
    assert_eq!(of(&both).vocabulary(), Some(9), "the size goes before the tokens");
}

#[test]
fn of_an_empty_model_nothing_is_known() {
    let summary = of(&Gguf::new());
    assert_eq!(said(&summary), said(&Summary::new()));
    assert_eq!(said(&summary), "[None, None] None [None, None, None, None] [None, None] false");
    assert_eq!((sums(summary.weights()), summary.weights_by_type().count()), ([0; 4], 0));
    assert_eq!(summary.weights().bits_per_weight(), None);
}

#[test]
fn values_of_wrong_types_are_shown_as_if_they_were_not_there() {
    let odd =
        [Value::F32(1.0), Value::Bool(1), Value::I8(-1), Value::text("7".repeat(5000)), Value::F64(0.0)];
    for value in odd {
        let mut file = Gguf::new().entry("general.name", Value::U8(1));
        file = file.entry("general.architecture", Value::text("x"));
        for key in ["block_count", "context_length", "embedding_length", "vocab_size"] {
            file = file.entry(format!("x.{key}"), value.clone());
        }
        for key in ["x.attention.head_count", "x.attention.head_count_kv", "general.file_type"] {
            file = file.entry(key, value.clone());
        }
        file = file.entry("tokenizer.ggml.tokens", value).entry("tokenizer.chat_template", Value::U8(1));
        let nothing = "[Some(\"x\"), None] None [None, None, None, None] [None, None] false";
        assert_eq!(said(&of(&file)), nothing);
    }
    let no_name = Gguf::new()
        .entry("general.architecture", Value::array(vec![Value::text("x")]))
        .entry("x.block_count", Value::U8(2));
    assert_eq!((of(&no_name).architecture(), of(&no_name).layers()), (None, None));
    let mut file = llama();
    for key in ["block_count", "context_length", "embedding_length", "vocab_size", "attention.head_count"] {
        file = file.entry(format!("llama.{key}"), Value::text("7".repeat(5000)));
    }
    let late = of(&file.entry("general.name", Value::text("n".repeat(96))));
    assert!(!late.name().unwrap().is_cut(), "texts in the place of numbers take no memory");
    let huge = llama().entry("general.file_type", Value::U64(1 << 32));
    assert_eq!(of(&huge).file_type(), None);
}

#[test]
fn arrays_of_other_elements_are_shown_as_if_they_were_not_there() {
    let key = "llama.attention.head_count";
    let others = [Value::F32(4.0), Value::F64(4.0), Value::Bool(1), Value::text("4"), Value::array(vec![])];
    for element in others {
        let summary = of(&llama().entry(key, Value::array(vec![element.clone()])));
        assert_eq!(summary.heads(), None, "{element:?}");
    }
    assert_eq!(
        of(&llama().entry(key, Value::array(vec![Value::I8(4); 3]))).heads(),
        Some(Heads::PerLayer(3))
    );
    let tokens = |element| of(&llama().entry("tokenizer.ggml.tokens", Value::array(vec![element; 2])));
    assert_eq!(tokens(Value::U32(7)).vocabulary(), None);
    assert_eq!(tokens(Value::text("a")).vocabulary(), Some(2));
}

#[test]
fn texts_are_cut_where_they_are_too_long_or_not_utf8() {
    for (written, text, is_cut) in [
        (vec![b'n'; 96], "n".repeat(96), false),
        (vec![b'n'; 97], "n".repeat(96), true),
        (vec![b'n'; 100_000], "n".repeat(96), true),
        ("é".repeat(60).into_bytes(), "é".repeat(48), true),
        (format!("x{}", "é".repeat(60)).into_bytes(), format!("x{}", "é".repeat(47)), true),
        (b"good\xffbad".to_vec(), "good".to_owned(), true),
        (Vec::new(), String::new(), false),
    ] {
        let file = Gguf::new()
            .entry("general.name", Value::String(written))
            .entry("general.architecture", Value::text("llama"))
            .entry("llama.block_count", Value::U8(3))
            .write();
        for size in [1, 13, 95, 96, 97, 1 << 20] {
            let summary = push(&file.bytes, size, Options::new());
            let name = summary.name().unwrap();
            assert_eq!((name.text(), name.is_cut()), (&text[..], is_cut), "{size}");
            assert_eq!(name.to_string(), if is_cut { text.clone() + "…" } else { text.clone() });
            assert_eq!(summary.layers(), Some(3), "and nothing else suffers");
        }
    }
}

#[test]
fn of_an_architecture_that_is_cut_only_its_beginning_is_shown() {
    for (len, layers) in [(40, Some(3)), (41, None)] {
        let long = "a".repeat(len);
        let file = Gguf::new()
            .entry("general.architecture", Value::text(&long))
            .entry(format!("{}.block_count", &long[..40]), Value::U8(3));
        let summary = of(&file);
        assert_eq!(summary.architecture().unwrap().text(), "a".repeat(40));
        assert_eq!(summary.architecture().unwrap().is_cut(), len > 40);
        assert_eq!(summary.layers(), layers, "not that of another architecture");
    }
}

#[test]
fn of_a_key_that_is_there_twice_the_first_one_counts() {
    let file = llama()
        .entry("general.name", Value::text("first"))
        .entry("llama.block_count", Value::U8(1))
        .entry("general.name", Value::text("second"))
        .entry("llama.block_count", Value::U8(2))
        .entry("general.architecture", Value::text("gemma"))
        .entry("llama.context_length", Value::U8(3));
    let summary = of(&file);
    assert_eq!(summary.architecture().unwrap().text(), "llama");
    assert_eq!(summary.name().unwrap().text(), "first");
    assert_eq!((summary.layers(), summary.context_length()), (Some(1), Some(3)));
}

#[test]
fn keys_of_others_may_fill_the_memory_but_only_before_the_architecture() {
    let foreign = |mut file: Gguf| {
        for number in 0..2000 {
            file = file.entry(format!("other{number}.block_count"), Value::U8(1));
            file = file.entry(format!("{}{number}.vocab_size", "x".repeat(150)), Value::U8(1));
        }
        file
    };
    let own = |file: Gguf| {
        file.entry("general.architecture", Value::text("llama")).entry("llama.block_count", Value::U8(3))
    };
    let typed = || Gguf::new().entry("general.file_type", Value::U8(7));
    let before = of(&foreign(own(typed())));
    assert_eq!((before.layers(), before.file_type()), (Some(3), Some(FileType(7))));
    let after = of(&own(foreign(typed())));
    assert_eq!((after.layers(), after.file_type()), (None, Some(FileType(7))), "what came first stays");
}

#[test]
fn a_chat_template_of_any_name_is_one() {
    for (key, is_one) in [
        ("tokenizer.chat_template", true),
        ("tokenizer.chat_template.tool_use", true),
        ("tokenizer.chat_templates", false),
        ("chat_template", false),
    ] {
        assert_eq!(of(&Gguf::new().entry(key, Value::text("x"))).has_chat_template(), is_one, "{key}");
    }
}

#[test]
fn file_types_have_the_names_of_llama_cpp() {
    let known = [
        (0, "ALL_F32"),
        (1, "F16"),
        (2, "Q4_0"),
        (3, "Q4_1"),
        (7, "Q8_0"),
        (8, "Q5_0"),
        (9, "Q5_1"),
        (10, "Q2_K"),
        (11, "Q3_K_S"),
        (12, "Q3_K_M"),
        (13, "Q3_K_L"),
        (14, "Q4_K_S"),
        (15, "Q4_K_M"),
        (16, "Q5_K_S"),
        (17, "Q5_K_M"),
        (18, "Q6_K"),
        (19, "IQ2_XXS"),
        (20, "IQ2_XS"),
        (21, "Q2_K_S"),
        (22, "IQ3_XS"),
        (23, "IQ3_XXS"),
        (24, "IQ1_S"),
        (25, "IQ4_NL"),
        (26, "IQ3_S"),
        (27, "IQ3_M"),
        (28, "IQ2_S"),
        (29, "IQ2_M"),
        (30, "IQ4_XS"),
        (31, "IQ1_M"),
        (32, "BF16"),
        (35, "Q4_0_8_8"),
        (36, "TQ1_0"),
        (37, "TQ2_0"),
        (38, "MXFP4_MOE"),
        (39, "NVFP4"),
        (40, "Q1_0"),
        (41, "Q2_0"),
    ];
    for (number, name) in known {
        assert_eq!((FileType(number).name(), FileType(number).to_string()), (Some(name), name.to_owned()));
    }
    for number in [42, 1024, u32::MAX] {
        assert_eq!(FileType(number).name(), None);
        assert_eq!(FileType(number).to_string(), format!("file type {number}"));
    }
}

#[test]
fn weights_add_up_by_type_and_none_are_lost() {
    let mut file = Gguf::new();
    let mut expected: BTreeMap<u32, [u64; 4]> = BTreeMap::new();
    for (index, tensor_type) in TensorType::ALL.iter().enumerate() {
        for turn in 0..=index % 3 {
            let (block, bytes) = (tensor_type.block_elements().unwrap(), tensor_type.block_bytes().unwrap());
            let data = vec![0; bytes as usize * (turn + 1)];
            let sum = expected.entry(tensor_type.id()).or_default();
            let more = [1, u64::from(block) * (turn as u64 + 1), data.len() as u64, 0];
            *sum = core::array::from_fn(|field| sum[field] + more[field]);
            let name = format!("{index}.{turn}");
            file = file.tensor(Tensor::new(name, tensor_type.id(), &[block.into(), turn as u64 + 1], data));
        }
    }
    let summary = of(&file);
    let told: Vec<_> = summary.weights_by_type().collect();
    assert_eq!(told.len(), 12);
    for ((told, weights), tensor_type) in told.iter().zip(TensorType::ALL) {
        assert_eq!((told, sums(*weights)), (tensor_type, expected[&tensor_type.id()]));
        let (bits, block) = (8 * tensor_type.block_bytes().unwrap(), tensor_type.block_elements().unwrap());
        assert_eq!(weights.bits_per_weight(), Some(f64::from(bits) / f64::from(block)));
    }
    let add = |rows: &[TensorType]| {
        let rows = rows.iter().map(|tensor_type| expected[&tensor_type.id()]);
        rows.fold([0; 4], |sum, row| core::array::from_fn(|field| sum[field] + row[field]))
    };
    assert_eq!(sums(summary.other_weights()), add(&TensorType::ALL[12..]));
    assert_eq!(sums(summary.weights()), add(TensorType::ALL));
}

#[test]
fn tensors_of_unknown_type_are_counted_without_bytes() {
    let file = Gguf::new()
        .tensor(Tensor::new("known", 1, &[16], vec![0; 32]))
        .tensor(Tensor::new("unknown", 999, &[7], vec![0; 32]))
        .write();
    let summary = push(&file.bytes, 50, lenient().input_bytes(file.bytes.len() as u64));
    assert_eq!(sums(summary.weights()), [2, 23, 32, 1]);
    assert_eq!(summary.weights().bits_per_weight(), None);
    let unknown: Vec<_> = summary.weights_by_type().collect();
    assert_eq!((unknown[1].0.id(), sums(unknown[1].1)), (999, [1, 7, 0, 1]));
    assert_eq!(unknown[0].1.bits_per_weight(), Some(16.0));
}

#[test]
fn bits_a_weight_are_exact_beyond_32_bits() {
    let (elements, bytes) = (3_u64 << 40, 27_u64 << 36);
    let file = Gguf::new().tensor(Tensor::hollow("huge", 2, &[elements], bytes));
    let (mut decoder, mut summary) = (Decoder::new([]), Summary::new());
    let file = file.write();
    let mut input = &file.bytes[..];
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        summary.accept(&event);
    }
    assert_eq!(summary.weights().bytes, elements / 32 * 18);
    assert_eq!(summary.weights().bits_per_weight(), Some(4.5));
}

#[test]
fn the_corpus_is_summed_up_as_it_is_known() {
    let json = std::fs::read(data_dir().join("corpus/expected.json")).unwrap();
    let expected: Vec<Json> = serde_json::from_slice(&json).unwrap();
    let mut named = 0;
    for file in &expected {
        let called = file["file"].as_str().unwrap();
        if called == "bool_nonbinary.gguf" {
            continue;
        }
        let value = |key: &str| {
            let entries = file["kv"].as_array().unwrap();
            entries.iter().find(|entry| entry["key"] == key).and_then(|entry| entry["value"].as_str())
        };
        let sum =
            |field: fn(&Json) -> u64| file["tensors"].as_array().unwrap().iter().map(field).sum::<u64>();
        for size in [29, usize::MAX] {
            let summary = push(&corpus_file(called), size, corpus_options(called));
            assert_eq!(summary.name().map(|name| name.text()), value("general.name"), "{called}");
            let architecture = summary.architecture().map(|shown| shown.text());
            assert_eq!(architecture, value("general.architecture"), "{called}");
            let weights = summary.weights();
            assert_eq!(weights.bytes, sum(|tensor| tensor["nbytes"].as_u64().unwrap()), "{called}");
            let elements = |tensor: &Json| {
                let dims = tensor["dims"].as_array().unwrap();
                dims.iter().map(|dim| dim.as_u64().unwrap()).product()
            };
            assert_eq!((weights.tensors, weights.elements), (sum(|_| 1), sum(elements)), "{called}");
            named += usize::from(summary.name().is_some());
        }
    }
    assert!(named > 40, "{named}");
}

#[test]
fn a_summary_is_small() {
    assert!(size_of::<Summary>() <= 1744, "{}", size_of::<Summary>());
}
