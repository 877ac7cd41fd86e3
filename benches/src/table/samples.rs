//! Files that the table makes, and throws away.

use std::fmt::Write;
use std::path::{Path, PathBuf};

const TOKENS: u64 = 262_144;
const MERGES: u64 = 514_906;
const STRING: u32 = 8;

/// A file in the system's folder for temporary ones, removed when it is dropped.
pub(crate) struct Sample(PathBuf);

impl Sample {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("weightstream-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).expect("the folder for temporary files can be written to");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        // A file that stays behind does no harm.
        _ = std::fs::remove_file(&self.0);
    }
}

/// A GGUF file with a vocabulary as large as that of Gemma 4, of 16 MB: tokens, scores, types and merges.
pub(crate) fn vocabulary() -> Sample {
    let mut bytes = b"GGUF\x03\0\0\0".to_vec();
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(5_u64.to_le_bytes());
    let string = |bytes: &mut Vec<u8>, text: &[u8]| {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text);
    };
    let key = |bytes: &mut Vec<u8>, name: &str, value_type: u32| {
        string(bytes, name.as_bytes());
        bytes.extend(value_type.to_le_bytes());
    };
    let array = |bytes: &mut Vec<u8>, name: &str, element: u32, len: u64| {
        key(bytes, name, 9);
        bytes.extend(element.to_le_bytes());
        bytes.extend(len.to_le_bytes());
    };

    key(&mut bytes, "general.architecture", STRING);
    string(&mut bytes, b"gemma");
    array(&mut bytes, "tokenizer.ggml.tokens", STRING, TOKENS);
    (0..TOKENS).for_each(|token| string(&mut bytes, &word(token)));
    array(&mut bytes, "tokenizer.ggml.scores", 6, TOKENS);
    (0..TOKENS).for_each(|token| bytes.extend((-(token as f32)).to_le_bytes()));
    array(&mut bytes, "tokenizer.ggml.token_type", 5, TOKENS);
    (0..TOKENS).for_each(|_| bytes.extend(1_i32.to_le_bytes()));
    array(&mut bytes, "tokenizer.ggml.merges", STRING, MERGES);
    (0..MERGES).for_each(|merge| {
        // Halves of a word, which differ in length, and a space.
        let word = word(merge ^ 0x5555);
        let half = 1 + random(merge) as usize % (word.len() - 1);
        string(&mut bytes, &[&word[..half], b" ", &word[half..]].concat());
    });

    // One tensor of one block, so that there are data.
    string(&mut bytes, b"token_embd.weight");
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(32_u64.to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    bytes.resize(bytes.len().next_multiple_of(32) + 4 * 32, 0);
    Sample::new("vocabulary.gguf", &bytes)
}

/// Different for every number: it ends with the number. Of 4 to 12 letters and digits.
fn word(number: u64) -> Vec<u8> {
    let mut word: Vec<u8> = random(number).to_le_bytes().iter().map(|byte| b'a' + byte % 26).collect();
    word.truncate(random(number + (1 << 32)) as usize % 7);
    let mut number = number;
    loop {
        word.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUV"[number as usize % 32]);
        number /= 32;
        if number == 0 && word.len() > 3 {
            return word;
        }
    }
}

/// Always the same bits of a number, but mixed: SplitMix64.
fn random(number: u64) -> u64 {
    let bits = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// A safetensors file of so many tensors of one element.
pub(crate) fn tensors(count: usize) -> Sample {
    let mut header = r#"{"__metadata__":{"format":"pt"}"#.to_owned();
    for index in 0..count {
        let (layer, part) = (index / 100, index % 100);
        let (start, end) = (4 * index, 4 * index + 4);
        write!(
            header,
            r#","model.layers.{layer}.mlp.experts.{part}.down_proj.weight":{{"dtype":"F32","shape":[1,1],"data_offsets":[{start},{end}]}}"#
        )
        .expect("a string takes all");
    }
    header.push('}');
    header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len() + 4 * count, 0);
    Sample::new("tensors.safetensors", &bytes)
}
