//! Random good files and changed ones: weightstream and the reference say the same, but for the named differences.

#[allow(dead_code, reason = "the tests of the library use all of it")]
#[path = "../../support/random.rs"]
mod random;

use std::collections::BTreeMap;

use random::Random;
use weightstream_reference::{Difference, compare, read_here, read_there};

/// dtype, elements and bytes of the smallest whole number of bytes.
const DTYPES: [(&str, u64, u64); 22] = [
    ("BOOL", 1, 1),
    ("F4", 2, 1),
    ("F6_E2M3", 4, 3),
    ("F6_E3M2", 4, 3),
    ("U8", 1, 1),
    ("I8", 1, 1),
    ("F8_E5M2", 1, 1),
    ("F8_E4M3", 1, 1),
    ("F8_E8M0", 1, 1),
    ("F8_E4M3FNUZ", 1, 1),
    ("F8_E5M2FNUZ", 1, 1),
    ("I16", 1, 2),
    ("U16", 1, 2),
    ("F16", 1, 2),
    ("BF16", 1, 2),
    ("I32", 1, 4),
    ("U32", 1, 4),
    ("F32", 1, 4),
    ("C64", 1, 8),
    ("F64", 1, 8),
    ("I64", 1, 8),
    ("U64", 1, 8),
];

fn file(header: &[u8], data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header, data].concat()
}

fn string(random: &mut Random) -> String {
    let parts =
        ["a", "b", "weight", ".", "é", "漢", "😀", "\\n", "\\\"", "\\u00e9", "\\ud83d\\ude00", "\\/", "0"];
    let text: String = (0..random.below(4)).map(|_| parts[random.below(parts.len())]).collect();
    format!("\"{text}\"")
}

/// White space, rarely.
fn space(random: &mut Random) -> &'static str {
    if random.one_in(12) { [" ", "\n", "\t", "\r\n  "][random.below(4)] } else { "" }
}

/// A value of JSON that no field needs.
fn any_value(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 6 } else { 8 }) {
        0 => "null".to_owned(),
        1 => ["true", "false"][random.below(2)].to_owned(),
        2 => ["0", "-1", "1.5", "1e9", "-0", "1E400", "123456789012345678901"][random.below(7)].to_owned(),
        3..6 => string(random),
        6 => {
            let items: Vec<_> = (0..random.below(3)).map(|_| any_value(random, depth - 1)).collect();
            format!("[{}]", items.join(","))
        }
        _ => {
            let items: Vec<_> = (0..random.below(3))
                .map(|_| format!("{}:{}", string(random), any_value(random, depth - 1)))
                .collect();
            format!("{{{}}}", items.join(","))
        }
    }
}

/// A header whose tensors tile the data, and how many bytes those are. Now and then two names, or two fields, are the same.
fn header(random: &mut Random) -> (String, usize) {
    let mut entries = Vec::new();
    let mut at = 0;
    for index in 0..random.below(6) {
        let (dtype, block, bytes) = DTYPES[random.below(22)];
        let mut shape: Vec<u64> = (0..random.below(4)).map(|_| random.below(4) as u64).collect();
        if block > 1 {
            shape.push(block);
        }
        let len = shape.iter().product::<u64>() / block * bytes;
        let mut fields = vec![
            format!("\"dtype\"{}:{}\"{dtype}\"", space(random), space(random)),
            format!("\"shape\":{}{shape:?}", space(random)),
            format!("\"data_offsets\":[{at},{}{}]", space(random), at + len),
        ];
        if random.one_in(4) {
            fields.push(format!("{}:{}", string(random), any_value(random, 3)));
        }
        fields.sort_by_key(|_| random.next_u64());
        at += len;
        let name = string(random);
        let name = if random.one_in(20) { name } else { format!("\"{index}{}", &name[1..]) };
        entries.push(format!("{name}:{}{{{}}}{}", space(random), fields.join(","), space(random)));
    }
    if random.one_in(2) {
        let texts: Vec<_> =
            (0..random.below(4)).map(|_| format!("{}:{}", string(random), string(random))).collect();
        entries.push(format!("\"__metadata__\":{{{}}}", texts.join(",")));
    }
    entries.sort_by_key(|_| random.next_u64());
    (format!("{}{{{}}}{}", space(random), entries.join(","), space(random)), at as usize)
}

/// Where a token of the header begins and ends, found from a random byte.
fn token(random: &mut Random, header: &[u8]) -> std::ops::Range<usize> {
    let at = random.below(header.len());
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-+".contains(&byte);
    let mut range = at..at + 1;
    if is_word(header[at]) {
        while range.start > 0 && is_word(header[range.start - 1]) {
            range.start -= 1;
        }
        while range.end < header.len() && is_word(header[range.end]) {
            range.end += 1;
        }
    }
    range
}

const TOKENS: [&str; 52] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "8",
    "16",
    "00",
    "-0",
    "-1",
    "1.0",
    "1e0",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "null",
    "true",
    "{}",
    "[]",
    "\"\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "\\udc00",
    "F32",
    "F4",
    "I64",
    "U8",
    "dtype",
    "shape",
    "data_offsets",
    "__metadata__",
    "\"__metadata__\":null,",
    "\"dtype\":\"F32\",",
    "[0,0]",
    "{\"F32\":null}",
    "[\"U8\",[0],[0,0]]",
    "[0,4294967296,4294967296]",
    "\u{feff}",
    " ",
    "\0",
    "[1,1,1,1,1,1,1,1,1]",
    "1e999",
];

/// One change: of a byte, a token, a stretch, or of the structure.
fn change(random: &mut Random, header: &mut Vec<u8>) {
    if header.is_empty() {
        return;
    }
    let at = random.below(header.len());
    match random.below(18) {
        // What may do no harm.
        9..14 => header.insert(at, b" \n"[random.below(2)]),
        14..18 => drop(header.splice(at..at, ["a", "é", "\\u0041", "\\t"][random.below(4)].bytes())),
        0 => header[at] = random.next_u64() as u8,
        1 => header[at] ^= 1 << random.below(8),
        2 => drop(header.remove(at)),
        3 => header.insert(at, b"\"\\{}[],:0- \t\0\xff\xe9"[random.below(15)]),
        4 | 5 => {
            let new = TOKENS[random.below(TOKENS.len())].bytes();
            header.splice(token(random, header), new);
        }
        6 => drop(header.splice(at..at, TOKENS[random.below(TOKENS.len())].bytes())),
        // What stands between two commas or brackets, a second time or no more.
        _ => {
            let edge = |byte: &u8| b",[]{}".contains(byte);
            let end = header[at..].iter().position(edge).map_or(header.len(), |end| at + end);
            let start = header[..at].iter().rposition(edge).map_or(0, |start| start + 1);
            if random.one_in(2) {
                header.drain(start..end);
            } else {
                let again = [b",", &header[start..end]].concat();
                header.splice(end..end, again);
            }
        }
    }
}

/// Counts of good files, refused ones, and those of each difference.
#[derive(Debug, Default)]
struct Tally {
    good: u32,
    bad: u32,
    differences: BTreeMap<Difference, u32>,
}

impl Tally {
    fn count(&mut self, bytes: &[u8]) {
        match compare(bytes) {
            (_, Some(difference)) => *self.differences.entry(difference).or_default() += 1,
            (true, None) => self.good += 1,
            (false, None) => self.bad += 1,
        }
    }
}

fn rounds(in_debug: u32) -> u32 {
    if cfg!(debug_assertions) { in_debug } else { 20 * in_debug }
}

#[test]
fn random_good_files_give_the_same_tensors() {
    let mut random = Random::new(1);
    let mut tally = Tally::default();
    for _ in 0..rounds(5_000) {
        let (header, len) = header(&mut random);
        tally.count(&file(header.as_bytes(), &random.bytes(len)));
    }
    println!("{tally:?}");
    assert!(tally.good > 4_000 && tally.bad < tally.good / 100, "{tally:?}");
    assert!(tally.differences.contains_key(&Difference::HugeUnknownNumber));
}

#[test]
fn random_changes_get_the_same_verdict() {
    std::panic::set_hook(Box::new(|info| {
        // The reference adds without care; what panics here is to be seen.
        if !info.location().is_some_and(|place| place.file().contains("safetensors-")) {
            eprintln!("{info}");
        }
    }));
    let mut random = Random::new(2);
    let mut tally = Tally::default();
    for _ in 0..rounds(20_000) {
        let (header, len) = header(&mut random);
        let mut header = header.into_bytes();
        for _ in 0..1 + random.below(3) {
            change(&mut random, &mut header);
        }
        let len = if random.one_in(10) { (len + random.below(3)).saturating_sub(1) } else { len };
        let mut bytes = file(&header, &random.bytes(len));
        if random.one_in(20) {
            // The length itself.
            bytes[random.below(8)] ^= 1 << random.below(8);
        }
        if random.one_in(20) {
            bytes.truncate(random.below(bytes.len()));
        }
        tally.count(&bytes);
    }
    println!("{tally:?}");
    assert!(tally.good > 1_000 && tally.bad > 10_000, "{tally:?}");
}

/// Each row of the table in `docs/strictness.md`: a file, and the difference if there is one.
#[test]
fn every_row_of_the_table_is_as_it_says() {
    let a = r#""a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;
    let long = "n".repeat(65_536);
    let rows: Vec<(String, usize, bool, Option<Difference>)> = vec![
        // Refused here only.
        (format!("{{{a},{a}}}"), 0, false, Some(Difference::DuplicateName)),
        (format!("{{{a},{}}}", a.replace("\"a\"", r#""\u0061""#)), 0, false, Some(Difference::DuplicateName)),
        (format!("{{{}}}", a.replace("\"a\"", r#""a\u0000""#)), 0, false, Some(Difference::Nul)),
        (r#"{"__metadata__":{"\u0000":""}}"#.into(), 0, false, Some(Difference::Nul)),
        (format!("{{{}}}", a.replace("[0]", "[0,4294967296,2147483648]")), 0, false, Some(Difference::HugeShape)),
        (format!("{{{}}}", a.replace("[0]", "[0,1,1,1,1,1,1,1,1]")), 0, false, Some(Difference::Rank)),
        (r#"{"a":["U8",[0],[0,0]]}"#.into(), 0, false, Some(Difference::OtherNotation)),
        (format!("{{{}}}", a.replace("\"U8\"", r#"{"U8":null}"#)), 0, false, Some(Difference::OtherNotation)),
        (format!("{{{}}}", a.replace("\"a\"", &format!("\"{long}\""))), 0, false, Some(Difference::LongName)),
        // Taken here only.
        (format!("{{{}}}", a.replace("\"shape\"", r#""x":1e999,"shape""#)), 0, false, Some(Difference::HugeUnknownNumber)),
        // Taken by both.
        (" \n{}".into(), 0, true, None),
        ("{} \t\r\n".into(), 0, true, None),
        (r#"{"__metadata__":null}"#.into(), 0, true, None),
        (r#"{"__metadata__":{"k":"1","k":"2"}}"#.into(), 0, true, None),
        (r#"{"__metadata__":{"k":"\u0000"}}"#.into(), 0, true, None),
        (format!("{{{}}}", a.replace("\"shape\"", r#""x":[{"y":1}],"shape""#)), 0, true, None),
        (format!("{{{}}}", a.replace("dtype", r"d\u0074ype").replace("U8", r"U\u0038")), 0, true, None),
        (format!("{{{}}}", a.replace("\"a\"", "\"\"")), 0, true, None),
        (r#"{"b":{"dtype":"I64","shape":[1],"data_offsets":[1,9]},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}"#.into(), 9, true, None),
        (r#"{"a":{"dtype":"F4","shape":[2,3],"data_offsets":[0,3]}}"#.into(), 3, true, None),
        // Refused by both.
        ("".into(), 0, false, None),
        ("{}".into(), 1, false, None),
        ("\u{feff}{}".into(), 0, false, None),
        ("{}\0".into(), 0, false, None),
        ("[]".into(), 0, false, None),
        ("null".into(), 0, false, None),
        (format!("{{{a},}}"), 0, false, None),
        (r#"{"__metadata__":{"k":1}}"#.into(), 0, false, None),
        (r#"{"__metadata__":[]}"#.into(), 0, false, None),
        (r#"{"__metadata__":{},"__metadata__":{}}"#.into(), 0, false, None),
        (format!("{{{}}}", a.replace("\"shape\"", r#""dtype":"U8","shape""#)), 0, false, None),
        (format!("{{{}}}", a.replace("\"U8\"", "\"u8\"")), 0, false, None),
        (format!("{{{}}}", a.replace("[0,0]", "[0]")), 0, false, None),
        (format!("{{{}}}", a.replace("[0,0]", "[0,0,0]")), 0, false, None),
        (format!("{{{}}}", a.replace("[0]", "[0.0]")), 0, false, None),
        (format!("{{{}}}", a.replace("[0]", "[-0]")), 0, false, None),
        (format!("{{{}}}", a.replace("[0]", "[4294967296,4294967296,0]")), 0, false, None),
        (format!("{{{}}}", a.replace("\"a\"", r#""\ud800""#)), 0, false, None),
        (format!("{{{}}}", a.replace("\"shape\"", r#""x":"\ud800","shape""#)), 0, false, None),
        (r#"{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}}"#.into(), 2, false, None),
        (r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}"#.into(), 2, false, None),
        (r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}}"#.into(), 4, false, None),
    ];
    for (header, len, good, difference) in rows {
        assert_eq!(compare(&file(header.as_bytes(), &vec![1; len])), (good, difference), "{header:.200}");
    }
}

#[test]
fn both_go_127_deep() {
    for (depth, good) in [(126, true), (127, true), (128, false), (200, false)] {
        let (open, close) = ("[".repeat(depth - 2), "]".repeat(depth - 2));
        let header =
            format!(r#"{{"a":{{"x":{open}{close},"dtype":"U8","shape":[0],"data_offsets":[0,0]}}}}"#);
        assert_eq!(compare(&file(header.as_bytes(), &[])), (good, None), "{depth}");
        let (open, close) = (r#"{"":"#.repeat(depth - 2), "}".repeat(depth - 2));
        let header =
            format!(r#"{{"a":{{"x":{open}0{close},"dtype":"U8","shape":[0],"data_offsets":[0,0]}}}}"#);
        assert_eq!(compare(&file(header.as_bytes(), &[])), (good, None), "{depth}");
    }
}

/// A file that the reference wrote.
#[test]
fn what_the_reference_writes_is_read_here() {
    use safetensors::tensor::{Dtype, TensorView, serialize};
    let data: Vec<u8> = (0..32).collect();
    let views = [
        ("half", TensorView::new(Dtype::F16, vec![2, 2], &data[..8]).unwrap()),
        ("double", TensorView::new(Dtype::F64, vec![], &data[8..16]).unwrap()),
        ("none", TensorView::new(Dtype::F32, vec![0, 3], &[]).unwrap()),
        ("nibbles", TensorView::new(Dtype::F4, vec![2, 3], &data[16..19]).unwrap()),
        ("bool", TensorView::new(Dtype::BOOL, vec![5], &data[19..24]).unwrap()),
    ];
    let metadata = [("format".to_owned(), "pt\n\"é\"".to_owned())];
    let bytes = serialize(views, Some(metadata.into_iter().collect())).unwrap();
    let contents = read_here(&bytes).unwrap();
    assert_eq!(contents, read_there(&bytes).unwrap());
    assert_eq!(contents.tensors.len(), 5);
    assert_eq!(contents.metadata["format"], "pt\n\"é\"");
    assert_eq!(contents.tensors["nibbles"], ("F4".to_owned(), vec![2, 3], data[16..19].to_vec()));
}
