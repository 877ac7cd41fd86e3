//! Prints how many instructions each type takes for a weight, and the decoder for a string of a vocabulary.

#![no_std]
#![no_main]

use core::hint::black_box;

use static_cell::ConstStaticCell;
use weightstream::{Decoder, Event, TensorType};
use weightstream_firmware::board::{self, entry};
use weightstream_firmware::console::Console;
use weightstream_firmware::failure::Failure;
use weightstream_firmware::instructions::Counter;
use weightstream_firmware::sample::MODEL;

/// Weights of each type that there are blocks of.
const WEIGHTS: usize = 1024;
/// How often the same is done while instructions are counted.
const TIMES: u64 = 32;

// All zero: they take no flash.
static ROW: ConstStaticCell<[f32; WEIGHTS]> = ConstStaticCell::new([0.0; WEIGHTS]);
static DECODER: ConstStaticCell<Decoder> = ConstStaticCell::new(Decoder::new([]));

/// Half of the 2048 weights that a file has: all are more than the flash of small boards.
macro_rules! golden {
    ($($kind:ident)+) => {
        [$((TensorType::$kind, {
            const ALL: &[u8] = include_bytes!(concat!("../../../../tests/data/golden/gauss/", stringify!($kind), ".q"));
            static HALF: [u8; ALL.len() / 2] = start(ALL);
            &HALF
        })),+]
    };
}

const fn start<const N: usize>(all: &[u8]) -> [u8; N] {
    match all.first_chunk() {
        Some(chunk) => *chunk,
        None => [0; N],
    }
}

/// Weights that are spread like those of a model, in blocks of every type but Q8_1, which nobody stores.
static BLOCKS: [(TensorType, &[u8]); 34] = golden! {
    F32 F16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K IQ2_XXS IQ2_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ2_S IQ4_XS
    I8 I16 I32 I64 F64 IQ1_M BF16 TQ1_0 TQ2_0 MXFP4 NVFP4 Q1_0 Q2_0
};

/// A block of Q8_1: its scale, its sum, and numbers.
const Q8_1: [u8; 36] = *b"\x12\x2e\x9a\x45 any numbers do: they are read. ";
static Q8_1_BLOCKS: [[u8; 36]; WEIGHTS / 32] = [Q8_1; WEIGHTS / 32];

#[entry]
fn main() -> ! {
    board::run(bench)
}

fn bench(out: &mut Console) -> Result<(), Failure> {
    let row = ROW.try_take().ok_or(Failure::Taken)?;
    let decoder = DECODER.try_take().ok_or(Failure::Taken)?;
    let counter = Counter::start();
    let q8_1 = (TensorType::Q8_1, Q8_1_BLOCKS.as_flattened());
    for (kind, blocks) in BLOCKS.into_iter().chain([q8_1]) {
        let weights = u64::try_from(row.len()).unwrap_or(0).saturating_mul(TIMES);
        let hundredths = counter.hundredths(weights, || {
            for _ in 0..TIMES {
                kind.dequantize(&mut black_box(blocks), row)?;
                black_box(&row);
            }
            Ok::<_, Failure>(())
        })?;
        print(kind.name().unwrap_or("?"), hundredths, out);
    }
    print("string_told", count_vocabulary(&counter, decoder, false)?, out);
    print("string_skipped", count_vocabulary(&counter, decoder, true)?, out);
    Ok(())
}

/// Hundredths of instructions for a token of the sample's vocabulary.
fn count_vocabulary(counter: &Counter, decoder: &mut Decoder, is_skipped: bool) -> Result<u64, Failure> {
    let mut input = MODEL;
    let mut is_found = false;
    decoder.reset();
    let tokens = loop {
        match decoder.decode(&mut input)? {
            Some(Event::Key { name, .. }) => is_found = name == "tokenizer.ggml.tokens",
            Some(Event::ArrayStart { len, .. }) if is_found => break len,
            Some(_) => {}
            None => return Err(Failure::NoVocabulary),
        }
    };
    counter.hundredths(tokens, || {
        if is_skipped {
            decoder.skip_value();
        }
        while let Some(event) = decoder.decode(&mut input)? {
            if let Event::Key { .. } = black_box(&event) {
                break;
            }
        }
        Ok(())
    })
}

fn print(what: &str, hundredths: u64, out: &mut Console) {
    let whole = hundredths.checked_div(100).unwrap_or(0);
    let rest = hundredths.saturating_sub(whole.saturating_mul(100));
    out.text(what).text(" ").decimal(whole).text(if rest < 10 { ".0" } else { "." }).decimal(rest).end_line();
}
