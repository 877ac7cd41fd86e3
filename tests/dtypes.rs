//! The types of safetensors: what is known of each, and the values of those that ggml does not have.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod support;

use std::collections::BTreeSet;
use support::gguf_writer::{Gguf, Tensor};
use support::golden::{assert_bits, data, feature_off, in_bulk, sizes};
use support::levels::at_each_level;
use support::random::Random;
use support::rounding::{BF16, F16};
use weightstream::{
    ByteOrder, Decoder, DequantizeError, ErrorKind, Family, Options, TensorSlot, TensorType, UnknownTypes,
    quant,
};

/// Those that ggml does not have: id, name, elements and bytes of one block, whether there are values.
const OWN: [(TensorType, u32, &str, u32, u32, bool); 14] = [
    (TensorType::BOOL, 0x1_0000, "BOOL", 1, 1, true),
    (TensorType::U8, 0x1_0001, "U8", 1, 1, true),
    (TensorType::U16, 0x1_0002, "U16", 1, 2, true),
    (TensorType::U32, 0x1_0003, "U32", 1, 4, true),
    (TensorType::U64, 0x1_0004, "U64", 1, 8, true),
    (TensorType::C64, 0x1_0005, "C64", 1, 8, false),
    (TensorType::F8_E4M3, 0x1_0006, "F8_E4M3", 1, 1, true),
    (TensorType::F8_E5M2, 0x1_0007, "F8_E5M2", 1, 1, true),
    (TensorType::F8_E8M0, 0x1_0008, "F8_E8M0", 1, 1, true),
    (TensorType::F8_E4M3FNUZ, 0x1_0009, "F8_E4M3FNUZ", 1, 1, true),
    (TensorType::F8_E5M2FNUZ, 0x1_000a, "F8_E5M2FNUZ", 1, 1, true),
    (TensorType::F4, 0x1_000b, "F4", 2, 1, false),
    (TensorType::F6_E2M3, 0x1_000c, "F6_E2M3", 4, 3, false),
    (TensorType::F6_E3M2, 0x1_000d, "F6_E3M2", 4, 3, false),
];

const SHARED: [TensorType; 8] = [
    TensorType::F64,
    TensorType::I64,
    TensorType::F32,
    TensorType::I32,
    TensorType::F16,
    TensorType::BF16,
    TensorType::I16,
    TensorType::I8,
];

/// Every code of one byte.
fn codes() -> Vec<u8> {
    (0..=255).collect()
}

#[test]
fn ids_names_and_sizes_are_what_was_promised() {
    for (tensor_type, id, name, elements, bytes, has_values) in OWN {
        assert_eq!(tensor_type, TensorType::from_id(id));
        assert_eq!(
            (tensor_type.id(), tensor_type.name(), tensor_type.to_string()),
            (id, Some(name), name.into())
        );
        assert_eq!((tensor_type.block_elements(), tensor_type.block_bytes()), (Some(elements), Some(bytes)));
        assert_eq!(tensor_type.family(), has_values.then_some(Family::Plain), "{name}");
        assert!(!tensor_type.is_removed() && !TensorType::ALL.contains(&tensor_type));
    }
    for id in OWN.len() as u32 + 0x1_0000..0x1_0100 {
        let unknown = TensorType::from_id(id);
        assert_eq!(
            (unknown.name(), unknown.block_elements(), unknown.family()),
            (None, None, None),
            "{id:#x}"
        );
    }
}

#[test]
fn there_are_22_and_no_name_twice() {
    let expected = OWN.iter().map(|row| row.0).chain(SHARED);
    assert!(TensorType::DTYPES.iter().copied().eq(expected));
    let names: BTreeSet<_> = TensorType::DTYPES.iter().map(|dtype| dtype.name().unwrap()).collect();
    assert_eq!(names.len(), 22);
    for listed in TensorType::ALL.iter().filter(|listed| !SHARED.contains(listed)) {
        assert!(!names.contains(listed.name().unwrap()), "{listed} is another type");
    }
}

#[test]
fn everything_is_known_at_compile_time() {
    const BLOCK: (Option<u32>, Option<u32>) =
        (TensorType::F6_E2M3.block_elements(), TensorType::F6_E2M3.block_bytes());
    const NAME: Option<&str> = TensorType::from_id(0x1_0008).name();
    const FAMILY: Option<Family> = TensorType::U64.family();
    assert_eq!((BLOCK, NAME, FAMILY), ((Some(4), Some(3)), Some("F8_E8M0"), Some(Family::Plain)));
}

/// A floating-point format of 8 bits, told by what its codes mean.
struct Float8 {
    tensor_type: TensorType,
    kernel: fn(&[[u8; 1]], &mut [f32]) -> usize,
    mantissa_bits: u32,
    bias: i32,
    signed: bool,
    /// Whether a code that is not finite is infinite, else NaN; `None` for a finite one.
    special: fn(u8) -> Option<bool>,
}

const FLOATS: [Float8; 5] = [
    Float8 {
        tensor_type: TensorType::F8_E4M3,
        kernel: quant::f8_e4m3,
        mantissa_bits: 3,
        bias: 7,
        signed: true,
        special: |code| matches!(code, 0x7f | 0xff).then_some(false),
    },
    Float8 {
        tensor_type: TensorType::F8_E5M2,
        kernel: quant::f8_e5m2,
        mantissa_bits: 2,
        bias: 15,
        signed: true,
        special: |code| match code {
            0x7c | 0xfc => Some(true),
            0x7d..=0x7f | 0xfd.. => Some(false),
            _ => None,
        },
    },
    Float8 {
        tensor_type: TensorType::F8_E8M0,
        kernel: quant::f8_e8m0,
        mantissa_bits: 0,
        bias: 127,
        signed: false,
        special: |code| (code == 255).then_some(false),
    },
    Float8 {
        tensor_type: TensorType::F8_E4M3FNUZ,
        kernel: quant::f8_e4m3fnuz,
        mantissa_bits: 3,
        bias: 8,
        signed: true,
        special: |code| (code == 0x80).then_some(false),
    },
    Float8 {
        tensor_type: TensorType::F8_E5M2FNUZ,
        kernel: quant::f8_e5m2fnuz,
        mantissa_bits: 2,
        bias: 16,
        signed: true,
        special: |code| (code == 0x80).then_some(false),
    },
];

impl Float8 {
    /// The code's value, by arithmetic on its fields. Exact, and so exact as `f32`.
    fn value(&self, code: u8) -> f32 {
        let (sign, magnitude) = match self.signed {
            true if code >= 0x80 => (-1.0, code & 0x7f),
            _ => (1.0, code),
        };
        let exact = match (self.special)(code) {
            Some(true) => f64::INFINITY,
            Some(false) => f64::NAN,
            None => {
                let exponent = i32::from(magnitude >> self.mantissa_bits);
                let fraction =
                    f64::from(magnitude) / f64::from(1 << self.mantissa_bits) - f64::from(exponent);
                // Without mantissa bits there is no subnormal number.
                match exponent {
                    0 if self.mantissa_bits > 0 => fraction * 2_f64.powi(1 - self.bias),
                    _ => (1.0 + fraction) * 2_f64.powi(exponent - self.bias),
                }
            }
        };
        let rounded = (sign * exact) as f32;
        assert!(exact.is_nan() || f64::from(rounded) == sign * exact);
        rounded
    }

    fn values(&self) -> Vec<u32> {
        codes().into_iter().map(|code| self.value(code).to_bits()).collect()
    }
}

/// The column of a type in the file that `tools/make_float8.py` makes.
fn golden(tensor_type: TensorType) -> Vec<u32> {
    let text = std::fs::read_to_string(data("float8.txt")).unwrap();
    let mut lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = header.iter().position(|name| tensor_type.name() == Some(name)).unwrap();
    let hex = |digits: &str| u32::from_str_radix(digits, 16).unwrap();
    let rows = lines.enumerate().map(|(code, line)| {
        assert_eq!(hex(line[0]), code as u32);
        hex(line[column])
    });
    rows.collect()
}

#[test]
fn every_code_of_an_8_bit_float_has_the_value_of_its_fields() {
    for float in &FLOATS {
        assert_bits(&in_bulk(float.kernel, &codes()), &float.values(), &float.tensor_type.to_string());
    }
}

/// Those of a NaN too: its sign is kept, and it is quiet.
#[test]
fn every_code_of_an_8_bit_float_has_the_golden_bits() {
    for float in &FLOATS {
        let golden = golden(float.tensor_type);
        assert_eq!(golden.len(), 256);
        for (code, (value, bits)) in in_bulk(float.kernel, &codes()).into_iter().zip(golden).enumerate() {
            assert_eq!(value.to_bits(), bits, "{} {code:#04x}", float.tensor_type);
        }
    }
}

#[test]
fn limits_are_those_of_the_specifications() {
    let limits = [
        (0, 448.0, 2_f32.powi(-9)),
        (1, 57_344.0, 2_f32.powi(-16)),
        (2, 2_f32.powi(127), 2_f32.powi(-127)),
        (3, 240.0, 2_f32.powi(-10)),
        (4, 57_344.0, 2_f32.powi(-17)),
    ];
    for (index, largest, smallest) in limits {
        let float = &FLOATS[index];
        let finite = in_bulk(float.kernel, &codes()).into_iter().filter(|value| value.is_finite());
        let positive: Vec<f32> = finite.filter(|value| *value > 0.0).collect();
        assert_eq!(positive.iter().copied().fold(0.0, f32::max), largest, "{}", float.tensor_type);
        assert_eq!(positive.iter().copied().fold(f32::MAX, f32::min), smallest, "{}", float.tensor_type);
    }
}

#[test]
fn a_bool_is_true_unless_it_is_0() {
    let values = in_bulk(quant::bool, &codes());
    assert_eq!(values[0].to_bits(), 0);
    assert!(values[1..].iter().all(|value| *value == 1.0));
}

/// The nearest `f32`, of two the even one, without a conversion from an integer to a float of more than 24 bits.
fn nearest(number: u64) -> f32 {
    let surplus = (64 - number.leading_zeros()).saturating_sub(24);
    let (kept, lost, half) = (number >> surplus, number & ((1 << surplus) - 1), (1_u64 << surplus) / 2);
    let up = surplus > 0 && (lost > half || lost == half && kept & 1 == 1);
    (kept + u64::from(up)) as f32 * 2_f32.powi(surplus.cast_signed())
}

/// Numbers around every power of two, around every tie there, and random ones of every length.
fn integers() -> Vec<u64> {
    let mut numbers = vec![0, u64::MAX];
    for power in (0..64).map(|bit| 1_u64 << bit) {
        let ulp = power >> 23;
        for step in 0..6 {
            let tie = power.wrapping_add((ulp / 2).wrapping_mul(step));
            numbers.extend([tie.wrapping_sub(1), tie, tie.wrapping_add(1)]);
        }
        numbers.extend([power - 1, (power - 1).wrapping_sub(ulp / 4), (power - 1).wrapping_sub(ulp / 4 + 1)]);
    }
    let mut random = Random::new(22);
    numbers.extend((0..20_000).map(|index| random.next_u64() >> (index % 64)));
    numbers
}

#[test]
fn unsigned_integers_are_rounded_to_the_nearest_f32() {
    let numbers = integers();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    for (number, value) in numbers.iter().zip(in_bulk(quant::u64, &bytes)) {
        assert_eq!(value, *number as f32, "{number}");
        assert_eq!(value, nearest(*number), "{number}");
    }
    let short: Vec<u32> = numbers.iter().flat_map(|number| [*number as u32, (number >> 32) as u32]).collect();
    let bytes: Vec<u8> = short.iter().flat_map(|number| number.to_le_bytes()).collect();
    for (number, value) in short.iter().zip(in_bulk(quant::u32, &bytes)) {
        assert_eq!(value, *number as f32, "{number}");
        assert_eq!(value, nearest(u64::from(*number)), "{number}");
    }
}

#[test]
fn short_unsigned_integers_are_exact() {
    let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    for (number, value) in (0..=u16::MAX).zip(in_bulk(quant::u16, &bytes)) {
        assert_eq!(f64::from(value), f64::from(number));
    }
    for (number, value) in codes().into_iter().zip(in_bulk(quant::u8, &codes())) {
        assert_eq!(f64::from(value), f64::from(number));
    }
}

/// Bytes of any length of each type that has values, and what its function makes of their whole elements.
fn samples() -> Vec<(TensorType, Vec<u8>, Vec<f32>)> {
    let mut random = Random::new(7);
    let mut samples = Vec::new();
    for (tensor_type, ..) in OWN.iter().filter(|row| row.5) {
        let (block_bytes, _) = sizes(*tensor_type);
        for len in (0..40).chain([255, 256, 257, 1023, 2049]) {
            let bytes = random.bytes(len);
            let whole = &bytes[..len / block_bytes * block_bytes];
            let values = match *tensor_type {
                TensorType::BOOL => in_bulk(quant::bool, whole),
                TensorType::U8 => in_bulk(quant::u8, whole),
                TensorType::U16 => in_bulk(quant::u16, whole),
                TensorType::U32 => in_bulk(quant::u32, whole),
                TensorType::U64 => in_bulk(quant::u64, whole),
                float => {
                    in_bulk(FLOATS.iter().find(|listed| listed.tensor_type == float).unwrap().kernel, whole)
                }
            };
            samples.push((*tensor_type, bytes, values));
        }
    }
    samples
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn bytes_of_any_length_give_their_whole_elements() {
    at_each_level(|| {
        for (tensor_type, bytes, values) in samples() {
            let (block_bytes, _) = sizes(tensor_type);
            let what = format!("{tensor_type}, {} bytes", bytes.len());
            for room in [1, 3, values.len() + 1] {
                let (mut src, mut told, mut out) = (&bytes[..], Vec::new(), vec![7.0; room]);
                while src.len() >= block_bytes {
                    let left = src.len();
                    let written = tensor_type.dequantize(&mut src, &mut out).unwrap();
                    assert_eq!(
                        (written, left - src.len()),
                        ((left / block_bytes).min(room), written * block_bytes)
                    );
                    told.extend_from_slice(&out[..written]);
                }
                assert_bits(&told, &bits(&values), &what);
                let rest = match src.len() {
                    0 => Ok(0),
                    got => Err(DequantizeError::PartialBlock { needed: block_bytes, got }),
                };
                assert_eq!(tensor_type.dequantize(&mut src, &mut out), rest, "{what}");
                assert_eq!(src.len(), bytes.len() % block_bytes);
            }
        }
    });
}

#[test]
fn outputs_of_16_bits_are_rounded_once_from_f32() {
    at_each_level(|| {
        for (tensor_type, bytes, values) in samples() {
            let what = format!("{tensor_type}, {} bytes", bytes.len());
            if values.is_empty() {
                continue;
            }
            let mut out = vec![0; values.len() + 1];
            assert_eq!(tensor_type.dequantize_f16(&mut &bytes[..], &mut out), Ok(values.len()));
            F16.assert_rounded(&out[..values.len()], &values, &what);
            assert_eq!(tensor_type.dequantize_bf16(&mut &bytes[..], &mut out), Ok(values.len()));
            BF16.assert_rounded(&out[..values.len()], &values, &what);
        }
    });
}

#[test]
fn any_range_has_the_values_of_its_elements() {
    at_each_level(|| {
        let mut random = Random::new(9);
        for (tensor_type, bytes, values) in samples() {
            for _ in 0..10 {
                let start = random.below(values.len() + 1);
                let end = start + random.below(values.len() - start + 1);
                let mut out = vec![7.0; end - start];
                let range = start as u64..end as u64;
                assert_eq!(tensor_type.dequantize_range(&bytes, range, &mut out), Ok(end - start));
                assert_bits(&out, &bits(&values[start..end]), &format!("{tensor_type} {start}..{end}"));
            }
            let (start, end, elements) = (0, values.len() as u64 + 1, values.len() as u64);
            let error = Err(DequantizeError::OutOfRange { start, end, elements });
            assert_eq!(
                tensor_type.dequantize_range(&bytes, start..end, &mut vec![0.0; values.len() + 1]),
                error
            );
        }
    });
}

/// A slot of one's own may say that its data are big-endian.
#[test]
fn slots_know_the_byte_order() {
    for (tensor_type, mut bytes, values) in samples() {
        let (block_bytes, _) = sizes(tensor_type);
        bytes.truncate(values.len() * block_bytes);
        bytes.chunks_exact_mut(block_bytes).for_each(<[u8]>::reverse);
        let slot = TensorSlot::new(0, 0, 0, 0, 0, tensor_type, ByteOrder::Big);
        let mut out = vec![7.0; values.len()];
        assert_eq!(slot.dequantize(&mut &bytes[..], &mut out), Ok(values.len()));
        assert_bits(&out, &bits(&values), &format!("{tensor_type}, big-endian"));
    }
}

#[test]
fn types_without_values_come_raw_and_say_so() {
    for (tensor_type, ..) in OWN.iter().filter(|row| !row.5) {
        let tensor_type = *tensor_type;
        let error = DequantizeError::NoKernel { tensor_type };
        let (bytes, mut out, mut half) = ([0; 24], [7.0; 32], [7; 32]);
        let mut src = &bytes[..];
        assert_eq!(tensor_type.dequantize(&mut src, &mut out), Err(error));
        assert_eq!(tensor_type.dequantize_f16(&mut src, &mut half), Err(error));
        assert_eq!(tensor_type.dequantize_bf16(&mut src, &mut half), Err(error));
        assert_eq!(tensor_type.dequantize_range(src, 0..0, &mut out), Err(error));
        assert_eq!((src.len(), out, half), (24, [7.0; 32], [7; 32]));
        let text = format!("{tensor_type} cannot be dequantized: it comes as raw blocks only");
        assert_eq!(error.to_string(), text);
    }
}

/// Without a family there is no dequantizer; with one there is, unless the family's feature is off.
#[test]
fn the_family_says_whether_a_type_can_be_dequantized() {
    for tensor_type in (0..100).chain(0x1_0000..0x1_0100).map(TensorType::from_id) {
        let expected = match (tensor_type.family(), feature_off(tensor_type)) {
            (None, _) => Err(DequantizeError::NoKernel { tensor_type }),
            (Some(_), Some(feature)) => Err(DequantizeError::FamilyOff { tensor_type, feature }),
            (Some(_), None) => Ok(0),
        };
        assert_eq!(tensor_type.dequantize(&mut &[][..], &mut []), expected, "{tensor_type}");
    }
    let features = TensorType::DTYPES.iter().filter_map(|dtype| dtype.family()?.feature());
    assert_eq!(features.count(), 0, "no feature but that of the format is needed");
}

/// In a GGUF file these ids mean nothing, and their lengths are not guessed either.
#[test]
fn a_gguf_file_cannot_have_a_dtype() {
    for (_, id, name, ..) in OWN {
        for (unknown_types, dims) in
            [UnknownTypes::Refuse, UnknownTypes::Infer].into_iter().flat_map(|rule| [(rule, 32), (rule, 0)])
        {
            let tensor = Tensor::new("t", id, &[dims], vec![0; 8 * dims as usize]);
            let file = Gguf::new().tensor(tensor).write();
            let options = Options::new().unknown_types(unknown_types);
            let mut decoder = Decoder::with_options([TensorSlot::EMPTY; 1], options);
            let mut input = &file.bytes[..];
            let error = loop {
                match decoder.decode(&mut input) {
                    Ok(event) => assert!(event.is_some(), "{name} was accepted"),
                    Err(error) => break error,
                }
            };
            assert_eq!(error.kind(), ErrorKind::UnknownTensorType { id: id.into() });
            assert_eq!(error.offset(), file.tensors[0].type_id);
        }
    }
}
