//! Every type to `f32`, out of a buffer in the L2 cache and out of memory.

use std::hint::black_box;
use std::time::Duration;

use weightstream::{Family, TensorType};
use weightstream_benches::golden;

use crate::peers::{self, Dequantizer, Peer};
use crate::race::Race;
use crate::row::{Row, Unit, figure};

pub(crate) const MEMSET: &str = "memset";
pub(crate) const MEMCPY: &str = "memcpy";

/// Where the weights are, and how many.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) weights: usize,
}

/// Values of 16 KiB, as in a loop that uses what it has just decoded.
pub(crate) const NEAR: Place = Place { name: "L1", weights: 4 * 1024 };
/// Both blocks and values lie in an L2 cache of 1 MiB.
pub(crate) const CACHE: Place = Place { name: "L2", weights: 64 * 1024 };
/// 256 MiB of values, which is more than the caches of most machines.
pub(crate) const MEMORY: Place = Place { name: "RAM", weights: 64 * 1024 * 1024 };

/// Prints a row for each type, and returns them.
pub(crate) fn run(place: Place, budget: Duration) -> Vec<(TensorType, Row)> {
    let mut out = vec![1.0; place.weights];
    let copied = vec![1.0; place.weights];
    let types = TensorType::ALL.iter();
    let rows = types.map(|&tensor_type| {
        let row = measure(tensor_type, place, &mut out, &copied, budget);
        row.print();
        (tensor_type, row)
    });
    rows.collect()
}

fn measure(tensor_type: TensorType, place: Place, out: &mut [f32], copied: &[f32], budget: Duration) -> Row {
    let golden = golden::blocks(tensor_type);
    let (weights, value_bytes) = (out.len(), size_of_val(out));
    let blocks = golden.repeat(weights / weights_in(tensor_type, &golden));
    let peers = peers::dequantizers(tensor_type);
    check(tensor_type, &golden, &peers);

    let out = std::cell::RefCell::new(out);
    let mut race = Race::default();
    let ours = race.enter(|| dequantize(tensor_type, black_box(&blocks), &mut out.borrow_mut()));
    // With zeros as a constant this is the C library's `memset`.
    let memset = race.enter(|| black_box(&mut **out.borrow_mut()).fill(0.0));
    let memcpy = race.enter(|| black_box(&mut **out.borrow_mut()).copy_from_slice(black_box(copied)));
    let entered: Vec<_> = peers
        .iter()
        .map(|(peer, dequantize)| {
            (*peer, race.enter(|| dequantize(black_box(&blocks), black_box(&mut **out.borrow_mut()))))
        })
        .collect();
    let times = race.run(budget);

    // As many weights as a copy would bring that moves the same bytes, in and out together.
    let as_copied = weights * 2 * value_bytes / (blocks.len() + value_bytes);
    Row {
        task: format!("{tensor_type}, {}", place.name),
        unit: Unit::Weights,
        weightstream: Unit::Weights.of(weights, times[ours]),
        limits: vec![
            (MEMSET, Unit::Weights.of(weights, times[memset])),
            (MEMCPY, Unit::Weights.of(as_copied, times[memcpy])),
        ],
        peers: entered.iter().map(|&(peer, at)| (peer, "", Unit::Weights.of(weights, times[at]))).collect(),
    }
}

fn dequantize(tensor_type: TensorType, mut blocks: &[u8], out: &mut [f32]) {
    let written = tensor_type.dequantize(&mut blocks, black_box(out));
    assert_eq!(written, Ok(out.len()));
}

fn weights_in(tensor_type: TensorType, blocks: &[u8]) -> usize {
    let elements = tensor_type.block_elements().expect("a known type");
    let bytes = tensor_type.block_bytes().expect("a known type");
    blocks.len() / bytes as usize * elements as usize
}

/// That all do the same work. Compilers for C may fuse a multiplication and an addition, so the last bits differ.
fn check(tensor_type: TensorType, blocks: &[u8], peers: &[(Peer, Dequantizer)]) {
    let mut values = vec![0.0; weights_in(tensor_type, blocks)];
    dequantize(tensor_type, blocks, &mut values);
    let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    for (peer, dequantize) in peers {
        let mut others = vec![f32::NAN; values.len()];
        dequantize(blocks, &mut others);
        let same = values.iter().zip(&others).all(|(one, other)| (one - other).abs() <= largest * 1e-6);
        assert!(same, "{tensor_type}: {} has other values", peer.title());
    }
}

/// The geometric mean of what weightstream is faster than ggml, and the least, of the two groups of types that have a target.
pub(crate) fn print_means(place: Place, rows: &[(TensorType, Row)]) {
    for (name, families) in [
        ("plain, legacy and K types", &[Family::Plain, Family::Legacy, Family::K][..]),
        ("IQ, ternary and FP4 types", &[Family::Iq, Family::Ternary, Family::Fp4]),
    ] {
        let in_group =
            |tensor_type: TensorType| tensor_type.family().is_some_and(|family| families.contains(&family));
        let group: Vec<_> = rows.iter().filter(|(tensor_type, _)| in_group(*tensor_type)).collect();
        let to =
            |ratio: &dyn Fn(&Row) -> Option<f64>| group.iter().filter_map(|(_, row)| ratio(row)).collect();
        for (other, ratios) in [
            ("ggml", to(&|row| row.ratio_to(Peer::Ggml))),
            (MEMSET, to(&|row| row.ratio_to_limit(MEMSET))),
            (MEMCPY, to(&|row| row.ratio_to_limit(MEMCPY))),
        ] {
            print_mean(&format!("{name}, {}, to {other}", place.name), ratios);
        }
    }
}

fn print_mean(name: &str, ratios: Vec<f64>) {
    let Some(least) = ratios.iter().copied().reduce(f64::min) else { return };
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    println!("- {name}: geometric mean {}, least {}", figure(mean), figure(least));
}
