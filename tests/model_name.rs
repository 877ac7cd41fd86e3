//! File names, held against the naming convention and its regular expression.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

use proptest::prelude::*;
use regress::Regex;
use weightstream::{ModelName, Shard, ShardName};

/// The regular expression that ggml's `docs/gguf.md` gives to validate names, in ECMAScript.
const CONVENTION: &str = r"^(?:(?<Sidecar>mmproj|mtp)-)?(?<BaseName>[A-Za-z0-9\s]*(?:(?:-(?:(?:[A-Za-z\s][A-Za-z0-9\s]*)|(?:[0-9\s]*)))*))-(?:(?<SizeLabel>(?:\d+x)?(?:\d+\.)?\d+[A-Za-z](?:-[A-Za-z]+(\d+\.)?\d+[A-Za-z]+)?)(?:-(?<FineTune>[A-Za-z0-9\s-]+))?)?-(?:(?<Version>v\d+(?:\.\d+)*))(?:-(?<Encoding>(?!LoRA|vocab)[\w_]+))?(?:-(?<Type>LoRA|vocab))?(?:-(?<Shard>\d{5}-of-\d{5}))?\.gguf$";

/// The components of a name, those that it does not have as empty texts: none but the base name can be empty.
type Parts = [String; 8];

fn parsed(name: &str) -> Option<Parts> {
    let found = ModelName::parse(name)?;
    let shard = found.shard.map(|Shard { number, count }| format!("{number:05}-of-{count:05}"));
    let optional = [found.size_label, found.fine_tune, Some(found.version), found.encoding, found.model_type];
    assert!(optional.iter().all(|part| *part != Some("")), "{found:?}");
    let [size, fine_tune, version, encoding, model_type] =
        optional.map(|part| part.unwrap_or_default().to_owned());
    let sidecar = found.sidecar.unwrap_or_default().to_owned();
    let base_name = found.base_name.to_owned();
    Some([sidecar, base_name, size, fine_tune, version, encoding, model_type, shard.unwrap_or_default()])
}

/// What the regular expression says.
fn matched(regex: &Regex, name: &str) -> Option<Parts> {
    let found = regex.find(name)?;
    let groups = ["Sidecar", "BaseName", "SizeLabel", "FineTune", "Version", "Encoding", "Type", "Shard"];
    Some(
        groups.map(|group| found.named_group(group).map_or_else(String::new, |range| name[range].to_owned())),
    )
}

/// Each name and its components, as in [`Parts`], divided by `|`.
const MATCHES: [(&str, &str); 27] = [
    // Those that the convention gives itself.
    ("Mixtral-8x7B-v0.1-KQ2.gguf", "|Mixtral|8x7B||v0.1|KQ2||"),
    ("Grok-100B-v1.0-Q4_0-00003-of-00009.gguf", "|Grok|100B||v1.0|Q4_0||00003-of-00009"),
    ("Hermes-2-Pro-Llama-3-8B-v1.0-F16.gguf", "|Hermes-2-Pro-Llama-3|8B||v1.0|F16||"),
    (
        "Phi-3-mini-3.8B-ContextLength4k-instruct-v1.0.gguf",
        "|Phi-3-mini|3.8B-ContextLength4k|instruct|v1.0|||",
    ),
    ("mtp-Qwen3-27B-v1.0-Q4_K_M.gguf", "mtp|Qwen3|27B||v1.0|Q4_K_M||"),
    ("mmproj-Qwen2-VL-7B-v1.0-F16.gguf", "mmproj|Qwen2-VL|7B||v1.0|F16||"),
    // Edges.
    ("Llama--v1.0.gguf", "|Llama|||v1.0|||"),
    ("--v1.gguf", "||||v1|||"),
    ("-7B-v1.gguf", "||7B||v1|||"),
    ("Llama-7B-v1.gguf", "|Llama|7B||v1|||"),
    ("Llama-7B-v1.2.3-Q8_0.gguf", "|Llama|7B||v1.2.3|Q8_0||"),
    ("Llama-7b-v1.0.gguf", "|Llama|7b||v1.0|||"),
    ("Llama-7B-chat-v1.0-LoRA.gguf", "|Llama|7B|chat|v1.0||LoRA|"),
    ("Llama-7B-chat-v1.0-F16-LoRA.gguf", "|Llama|7B|chat|v1.0|F16|LoRA|"),
    ("Llama-7B-v1.0-F16-vocab.gguf", "|Llama|7B||v1.0|F16|vocab|"),
    ("Llama-7B-v1.0-loraX.gguf", "|Llama|7B||v1.0|loraX||"),
    ("Llama-7B-v1.0-F16-00000-of-00002.gguf", "|Llama|7B||v1.0|F16||00000-of-00002"),
    ("Llama-7B-v1.0-F16-00005-of-00002.gguf", "|Llama|7B||v1.0|F16||00005-of-00002"),
    ("mmproj-7B-v1.0.gguf", "|mmproj|7B||v1.0|||"),
    ("Model-30B-A3B-Instruct-v1.0-Q4_K_M.gguf", "|Model|30B-A3B|Instruct|v1.0|Q4_K_M||"),
    // What is a part of what, where more than one way is open.
    ("Llama-7B-v1-v2.gguf", "|Llama|7B|v1|v2|||"),
    ("Llama-7B-v1-F16-v2-F32.gguf", "|Llama|7B|v1-F16|v2|F32||"),
    ("Llama-7B-A3B-v1.gguf", "|Llama|7B-A3B||v1|||"),
    ("Llama-7B---v1.gguf", "|Llama|7B|-|v1|||"),
    ("A--v1--v2.gguf", "|A--v1|||v2|||"),
    ("Llama 3-8x-v1-00001-00001-of-00001.gguf", "|Llama 3|8x||v1|00001||00001-of-00001"),
    ("Llama\u{a0}3\u{feff}-7B-v1.gguf", "|Llama\u{a0}3\u{feff}|7B||v1|||"),
];

/// Names that do not keep to the convention.
const OTHERS: [&str; 25] = [
    "not-a-known-arrangement.gguf",
    "Hermes-2-Pro-Llama-3-8B-F16.gguf",
    "Llama-v1.0.gguf",
    "Llama-7B-V1.0.gguf",
    "Llama-7B-v1.0.GGUF",
    "Llama-7B-v1.0.gguf.part",
    "Llama-7B-v1.0",
    "Llama-7B-v1.0-vocab-F16.gguf",
    "Llama-7B-v1.0-LoRAX.gguf",
    "Llama-7B-v1.0-F16-1-of-2.gguf",
    "Llama-7B-v1.0-F16-000001-of-00002.gguf",
    "Llama-7B-v1.0-Q4_K-M.gguf",
    "Llama-3.1-8B-v1.0.gguf",
    "Llama_3-8B-v1.0.gguf",
    "llama-2-7b.Q4_K_M.gguf",
    "Llama-7B--v1.gguf",
    "Llama-7BB-v1.gguf",
    "Llama-x7B-v1.gguf",
    "Llama-7.B-v1.gguf",
    "Llama-7B-v1.-F16.gguf",
    "Llama-7B-v-F16.gguf",
    "Llama\u{85}3-7B-v1.gguf",
    "Größe-7B-v1.gguf",
    ".gguf",
    "",
];

#[test]
fn names_are_read_as_the_convention_says() {
    let regex = Regex::new(CONVENTION).unwrap();
    for (name, expected) in MATCHES {
        let expected: Vec<&str> = expected.split('|').collect();
        assert_eq!(parsed(name).unwrap().as_slice(), expected, "{name}");
        assert_eq!(matched(&regex, name), parsed(name), "{name}");
    }
    for name in OTHERS {
        assert_eq!(parsed(name), None, "{name}");
        assert_eq!(matched(&regex, name), None, "{name}");
    }
}

/// What names are built from: words of every component, some with a fault.
const PIECES: [&str; 52] = [
    "mmproj",
    "mtp",
    "Llama",
    "v1x",
    "3",
    "a1",
    "1a",
    "",
    " ",
    "7",
    "7B",
    "7b",
    "8x7B",
    "8x",
    "3.8B",
    "8x3.8B",
    "8xx",
    "x7B",
    ".8B",
    "3.B",
    "7BB",
    "A3B",
    "Ctx4k",
    "A3.5B",
    "A.5B",
    "A3",
    "chat",
    "v1",
    "v1.0",
    "v0.1.2",
    "v",
    "v1.",
    "V1",
    "v1..2",
    "F16",
    "Q4_K_M",
    "Q4.0",
    "LoRA",
    "LoRAX",
    "xLoRA",
    "vocab",
    "vocabs",
    "lora",
    "00001",
    "00012",
    "of",
    "1",
    "000001",
    "_",
    "é",
    "\u{a0}",
    "\u{feff}b",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_are_read_as_the_regular_expression_reads_them(
        pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..9),
    ) {
        let name = pieces.join("-") + ".gguf";
        assert_same(&name);
    }

    /// Near the convention, so that most match.
    #[test]
    fn likely_names_are_read_as_the_regular_expression_reads_them(
        sidecar in "(mmproj-|mtp-)?",
        base_name in "[A-Z]?[a-z ]{0,3}(-[A-Za-z]{1,3}[0-9]?|-[0-9 ]{0,2}){0,3}",
        size in "(-[0-9]{1,2}(x[0-9])?(\\.[0-9])?[A-Za-z](-[A-Z]{1,2}[0-9](\\.5)?[A-Za-z]{1,2})?)?",
        fine_tune in "(-[A-Za-z0-9 -]{0,4}|-v[0-9]){0,2}",
        version in "-{0,2}v[0-9]{1,2}(\\.[0-9]){0,2}",
        encoding in "(-[A-Za-z0-9_]{1,4}|-LoRA[A-Z]?)?",
        model_type in "(-LoRA|-vocab)?",
        shard in "(-[0-9]{5}-of-[0-9]{5})?",
    ) {
        assert_same(&[sidecar, base_name, size, fine_tune, version, encoding, model_type, shard, ".gguf".into()].concat());
    }
}

#[track_caller]
fn assert_same(name: &str) {
    thread_local!(static REGEX: Regex = Regex::new(CONVENTION).unwrap());
    assert_eq!(parsed(name), REGEX.with(|regex| matched(regex, name)), "{name:?}");
}

/// The regular expression would take ages for most of these.
#[test]
fn names_may_be_of_any_length() {
    let long = |piece: &str, end: &str| piece.repeat(300_000) + end;
    for (piece, base_name_bytes) in [("a-", 599_999), (" -", 599_999), ("v1-", 899_999), ("-", 299_999)] {
        let name = long(piece, "7B-v1.gguf");
        assert_eq!(ModelName::parse(&name).unwrap().base_name.len(), base_name_bytes);
        assert_eq!(ModelName::parse(&long(piece, "1x2-v1.gguf")), None);
    }
    let name = long("7B-A3B-", "v1-00001-of-00001.gguf");
    let found = ModelName::parse(&name).unwrap();
    assert_eq!((found.base_name, found.size_label), ("7B-A3B", Some("7B-A3B")));
    assert_eq!(found.fine_tune.map(str::len), Some(2_099_985));
    let name = long("-00001-of-00002", ".gguf");
    assert_eq!(ShardName::parse(&name).unwrap().prefix().len(), 15 * 299_999);
    assert_eq!(ModelName::parse(&name), None);
}

#[test]
fn shards_are_told_by_the_end_of_any_name() {
    let name = "Meta-Llama-3.1-405B.Q4_K_M-00012-of-00120.gguf";
    let found = ShardName::parse(name).unwrap();
    assert_eq!(found.prefix(), "Meta-Llama-3.1-405B.Q4_K_M");
    assert_eq!(found.shard(), Shard { number: 12, count: 120 });
    assert_eq!(found.shard().to_string(), "12 of 120");
    assert_eq!(found.to_string(), name);
    for number in 1..=120 {
        let sibling = found.sibling(number).unwrap();
        assert_eq!(sibling.to_string(), format!("Meta-Llama-3.1-405B.Q4_K_M-{number:05}-of-00120.gguf"));
        assert_eq!(ShardName::parse(&sibling.to_string()), Some(sibling));
    }
    assert_eq!((found.sibling(0), found.sibling(121), found.sibling(u32::MAX)), (None, None, None));
    for (name, prefix, number, count) in [
        ("-00001-of-00001.gguf", "", 1, 1),
        ("ü -00001-of-00002-00002-of-99999.gguf", "ü -00001-of-00002", 2, 99_999),
    ] {
        let found = ShardName::parse(name).unwrap();
        assert_eq!((found.prefix(), found.shard()), (prefix, Shard { number, count }));
        assert_eq!(found.to_string(), name);
    }
    for name in [
        "m-00000-of-00002.gguf",
        "m-00003-of-00002.gguf",
        "m-00000-of-00000.gguf",
        "m-1-of-2.gguf",
        "m-000001-of-000002.gguf",
        "m-+0001-of-00002.gguf",
        "m-00001-of-0000२.gguf",
        "m-00001-OF-00002.gguf",
        "m-00001of-00002.gguf",
        "m00001-of-00002.gguf",
        "00001-of-00002.gguf",
        "m-00001-of-00002.GGUF",
        "m-00001-of-00002",
        "m-00001-of-00002.gguf.gguf",
        "m.gguf",
        "",
    ] {
        assert_eq!(ShardName::parse(name), None, "{name}");
    }
}

#[test]
fn a_shard_that_cannot_be_has_no_name() {
    let new = |number, count| ShardName::new("m", Shard { number, count }).map(|name| name.to_string());
    assert_eq!(new(1, 1).as_deref(), Some("m-00001-of-00001.gguf"));
    assert_eq!(new(99_999, 99_999).as_deref(), Some("m-99999-of-99999.gguf"));
    for (number, count) in [(0, 0), (0, 1), (2, 1), (1, 100_000), (100_000, 100_000)] {
        assert_eq!(new(number, count), None);
    }
}
