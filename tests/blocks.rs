//! Files with a tensor of every type: what `Blocks` make of them, however the bytes come, has the reference bits.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod support;

use support::gguf_writer::{Gguf, Tensor};
use support::golden::{NO_KERNEL, assert_bits, feature_off, kernels, pairs, sizes};
use support::levels::at_each_level;
use support::rounding::{BF16, F16};
use weightstream::{Blocks, ByteOrder, Decoder, DequantizeError, Event, TensorSlot, TensorType};

/// A tensor of a file, and what must come of it.
struct Case {
    what: String,
    tensor_type: TensorType,
    bytes: Vec<u8>,
    /// The bits of the values, or why there are none.
    values: Result<Vec<u32>, DequantizeError>,
}

/// The golden data of every type, those that cannot be dequantized in this build too.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for tensor_type in TensorType::ALL.iter().copied() {
        let has_kernel = kernels().iter().any(|(listed, _)| *listed == tensor_type);
        for (set, bytes, bits) in pairs(tensor_type) {
            let values = match feature_off(tensor_type) {
                None if has_kernel => Ok(bits),
                None if NO_KERNEL.contains(&tensor_type) => Err(DequantizeError::NoKernel { tensor_type }),
                None => panic!("{tensor_type} is not dequantized, without a reason"),
                Some(feature) => Err(DequantizeError::FamilyOff { tensor_type, feature }),
            };
            cases.push(Case { what: format!("{tensor_type} {set}"), tensor_type, bytes, values });
        }
    }
    cases
}

fn file(cases: &[Case], big_endian: bool) -> Vec<u8> {
    let mut file = Gguf::new().big_endian(big_endian);
    for Case { what, tensor_type, bytes, .. } in cases {
        let (block_bytes, block_elements) = sizes(*tensor_type);
        let elements = (bytes.len() / block_bytes * block_elements) as u64;
        file = file.tensor(Tensor::new(what, tensor_type.id(), &[elements], bytes.clone()));
    }
    file.write().bytes
}

/// Blocks to numbers, through an output of three and a half of the largest blocks, or less.
fn numbers<'a, T: Copy>(
    mut blocks: Blocks<'a>,
    out: &mut [T; 896],
    dequantize: impl Fn(&mut Blocks<'a>, &mut [T]) -> Result<usize, DequantizeError>,
) -> Result<Vec<T>, DequantizeError> {
    let (_, block_elements) = sizes(blocks.tensor_type());
    let out = &mut out[..3 * block_elements + block_elements / 2];
    let mut numbers = Vec::new();
    while !blocks.is_empty() {
        let (bytes, first) = (blocks.bytes(), blocks.first_element());
        let written = match dequantize(&mut blocks, out) {
            Ok(written) => written,
            Err(error) => {
                assert_eq!((blocks.bytes(), blocks.first_element()), (bytes, first));
                return Err(error);
            }
        };
        assert!(written > 0);
        assert_eq!(blocks.first_element(), first + written as u64);
        numbers.extend_from_slice(&out[..written]);
    }
    assert_eq!(dequantize(&mut blocks, out), Ok(0));
    Ok(numbers)
}

/// What one tensor gives, in each kind of output.
#[derive(Default)]
struct Outputs {
    bytes: Vec<u8>,
    f32: Vec<f32>,
    f16: Vec<u16>,
    bf16: Vec<u16>,
    error: Option<DequantizeError>,
}

impl Outputs {
    fn take(&mut self, blocks: Blocks<'_>, wide: &mut [f32; 896], narrow: &mut [u16; 896]) {
        self.bytes.extend_from_slice(blocks.bytes());
        let outputs = (
            numbers(blocks, wide, Blocks::dequantize),
            numbers(blocks, narrow, Blocks::dequantize_f16),
            numbers(blocks, narrow, Blocks::dequantize_bf16),
        );
        match outputs {
            (Ok(f32), Ok(f16), Ok(bf16)) => {
                self.f32.extend(f32);
                self.f16.extend(f16);
                self.bf16.extend(bf16);
            }
            (Err(error), f16, bf16) => {
                assert_eq!((f16, bf16), (Err(error), Err(error)));
                self.error = Some(error);
            }
            _ => panic!("a 16-bit output fails where f32 does not"),
        }
    }
}

fn check(cases: &[Case], file: &[u8], order: ByteOrder, chunk_bytes: usize) {
    let mut decoder = Decoder::new(vec![TensorSlot::EMPTY; cases.len()]);
    let mut outputs: Vec<Outputs> = cases.iter().map(|_| Outputs::default()).collect();
    let (mut wide, mut narrow) = ([0.0; 896], [0; 896]);
    for mut chunk in file.chunks(chunk_bytes) {
        while let Some(event) = decoder.decode(&mut chunk).unwrap() {
            if let Event::Data(blocks) = event {
                let tensor = blocks.tensor() as usize;
                assert_eq!((blocks.tensor_type(), blocks.byte_order()), (cases[tensor].tensor_type, order));
                outputs[tensor].take(blocks, &mut wide, &mut narrow);
            }
        }
    }
    decoder.finish().unwrap();
    for (Case { what, bytes, values, .. }, outputs) in cases.iter().zip(outputs) {
        assert_eq!(outputs.bytes, *bytes, "{what}");
        match values {
            Ok(bits) => {
                let values: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
                assert_eq!(outputs.error, None, "{what}");
                assert_bits(&outputs.f32, bits, what);
                F16.assert_rounded(&outputs.f16, &values, what);
                BF16.assert_rounded(&outputs.bf16, &values, what);
            }
            Err(error) => assert_eq!(outputs.error, Some(*error), "{what}"),
        }
    }
}

#[test]
fn a_little_endian_file_of_every_type() {
    at_each_level(|| {
        let cases = cases();
        let file = file(&cases, false);
        for chunk_bytes in [1, 7, file.len()] {
            check(&cases, &file, ByteOrder::Little, chunk_bytes);
        }
    });
}

/// The numbers of more than one byte in a block, as offset and width. `None` where their order is not settled.
fn numbers_in_block(tensor_type: TensorType) -> Option<Vec<(usize, usize)>> {
    type T = TensorType;
    let row = |start: usize, count: usize| (0..count).map(move |number| (start + 2 * number, 2));
    Some(match tensor_type {
        T::I8 | T::MXFP4 | T::NVFP4 => vec![],
        T::F16 | T::BF16 | T::I16 => vec![(0, 2)],
        T::F32 | T::I32 => vec![(0, 4)],
        T::F64 | T::I64 => vec![(0, 8)],
        T::Q4_0 | T::Q8_0 | T::IQ4_NL | T::IQ2_S | T::IQ3_S | T::Q1_0 | T::Q2_0 => row(0, 1).collect(),
        T::Q4_1 | T::Q8_1 | T::Q4_K | T::Q5_K | T::IQ4_XS => row(0, 2).collect(),
        T::Q2_K => row(80, 2).collect(),
        T::Q3_K => row(108, 1).collect(),
        T::Q6_K => row(208, 1).collect(),
        T::Q8_K => [(0, 4)].into_iter().chain(row(260, 16)).collect(),
        T::IQ2_XS => row(0, 33).collect(),
        T::IQ1_S => row(0, 1).chain(row(34, 8)).collect(),
        T::TQ1_0 => row(52, 1).collect(),
        T::TQ2_0 => row(64, 1).collect(),
        T::Q5_0 | T::Q5_1 | T::IQ2_XXS | T::IQ3_XXS | T::IQ1_M => return None,
        other => panic!("{other} is not listed"),
    })
}

#[test]
fn a_big_endian_file_of_every_type() {
    at_each_level(|| {
        let mut cases = cases();
        for Case { tensor_type, bytes, values, .. } in &mut cases {
            let (block_bytes, _) = sizes(*tensor_type);
            match numbers_in_block(*tensor_type) {
                Some(numbers) => {
                    for block in bytes.chunks_exact_mut(block_bytes) {
                        for (offset, width) in &numbers {
                            block[*offset..][..*width].reverse();
                        }
                    }
                }
                None if values.is_ok() => {
                    *values = Err(DequantizeError::AmbiguousByteOrder { tensor_type: *tensor_type });
                }
                None => {}
            }
        }
        let file = file(&cases, true);
        for chunk_bytes in [7, file.len()] {
            check(&cases, &file, ByteOrder::Big, chunk_bytes);
        }
    });
}
