//! Random files are told as they were written, and random shapes are sized as arithmetic without bounds would.

use proptest::collection::vec;
use proptest::prelude::*;
use weightstream::{Options, TensorType};

use crate::support::record::{Seen, run};
use crate::support::safetensors_writer::{agreed, escaped, file, full, object, quoted};

/// A tensor to be written: its dtype, shape, and where among the tensors its description stands.
#[derive(Clone, Debug)]
struct Written {
    name: String,
    dtype: TensorType,
    shape: Vec<u64>,
    escape: bool,
    order: usize,
}

fn bytes_of(tensor: &Written) -> u64 {
    let elements: u64 = tensor.shape.iter().product();
    elements / u64::from(tensor.dtype.block_elements().unwrap())
        * u64::from(tensor.dtype.block_bytes().unwrap())
}

fn tensor() -> impl Strategy<Value = Written> {
    let dtype = prop::sample::select(TensorType::DTYPES.to_vec());
    (dtype, vec(0..4_u64, 0..5), any::<bool>(), 0..6_usize, "\\PC{0,9}").prop_map(
        |(dtype, mut shape, escape, order, name)| {
            let block = u64::from(dtype.block_elements().unwrap());
            if block > 1 {
                shape.push(block);
            }
            Written { name, dtype, shape, escape, order }
        },
    )
}

fn entry(tensor: &Written, start: u64) -> String {
    let text = |text: &str| if tensor.escape { escaped(text) } else { quoted(text) };
    let mut fields = [
        format!("{}:{}", text("dtype"), text(tensor.dtype.name().unwrap())),
        format!("{}:{:?}", text("shape"), tensor.shape),
        format!("{}:[{start} , {}]", text("data_offsets"), start + bytes_of(tensor)),
    ];
    fields.rotate_left(tensor.order % 3);
    if tensor.order > 2 {
        fields.swap(0, 1);
    }
    format!("{}:{{{}}}", text(&tensor.name), fields.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn what_was_written_is_told(
        mut tensors in vec(tensor(), 0..8),
        texts in vec(("\\PC{0,9}", ".{0,30}", any::<bool>()), 0..5),
        at in any::<prop::sample::Index>(),
        sizes in vec(1..60_usize, 1..5),
    ) {
        for (index, tensor) in tensors.iter_mut().enumerate() {
            tensor.name += &index.to_string();
        }
        let mut starts = Vec::new();
        let mut end = 0;
        for tensor in &tensors {
            starts.push(end);
            end += bytes_of(tensor);
        }
        // In the header they stand in another order.
        let mut order: Vec<usize> = (0..tensors.len()).collect();
        order.sort_by_key(|index| tensors[*index].order);
        let mut entries: Vec<String> = order.iter().map(|index| entry(&tensors[*index], starts[*index])).collect();
        let write = |(key, text, escape): &(String, String, bool)| {
            let write = |text: &str| if *escape { escaped(text) } else { quoted(text) };
            format!("{}:{}", write(key), write(text))
        };
        let metadata = object(&texts.iter().map(write).collect::<Vec<_>>());
        let at = at.index(entries.len() + 1);
        entries.insert(at, format!(r#""__metadata__":{metadata}"#));
        let data: Vec<u8> = (0..end).map(|byte| byte as u8).collect();
        let bytes = file(object(&entries), &data);

        let told = agreed(&bytes, Options::new());
        let mut left = &bytes[..];
        let pieces = sizes.iter().cycle().map_while(|size| {
            let (piece, rest) = left.split_at(left.len().min(*size));
            left = rest;
            (!piece.is_empty()).then_some(piece)
        });
        prop_assert_eq!(run(&mut full(Options::new()), pieces.collect::<Vec<_>>()), told.clone());
        prop_assert_eq!(told.result, Ok(()));

        let mut described = Vec::new();
        let mut keys = Vec::new();
        for event in &told.events {
            match event {
                Seen::Tensor { name, info } => described.push((name, info)),
                Seen::Key { name, .. } => keys.push((name.text.clone(), described.len(), None)),
                Seen::Text { bytes, .. } => keys.last_mut().unwrap().2 = Some(bytes.clone()),
                Seen::Data { tensor, bytes, .. } => {
                    let index = order[*tensor as usize];
                    let range = starts[index] as usize..(starts[index] + bytes_of(&tensors[index])) as usize;
                    prop_assert_eq!(bytes, &data[range]);
                }
                _ => {}
            }
        }
        let expected = texts.iter().map(|(key, text, _)| (key.clone(), at, Some(text.clone().into_bytes())));
        prop_assert_eq!(keys, expected.collect::<Vec<_>>());
        prop_assert_eq!(described.len(), tensors.len());
        for ((name, info), index) in described.into_iter().zip(&order) {
            let tensor = &tensors[*index];
            prop_assert_eq!(&name.text, &tensor.name);
            prop_assert_eq!(info.tensor_type(), tensor.dtype);
            prop_assert_eq!(info.shape().collect::<Vec<_>>(), tensor.shape.clone());
            prop_assert_eq!((info.data_offset(), info.byte_len()), (starts[*index], Some(bytes_of(tensor))));
        }
        let with_data = tensors.iter().filter(|tensor| bytes_of(tensor) > 0).count();
        let data_events = told.events.iter().filter(|event| matches!(event, Seen::Data { .. })).count();
        prop_assert_eq!(data_events, with_data);
    }

    /// With 128 bits: the code of the error, and which comes first.
    #[test]
    fn shapes_are_sized_as_without_bounds(
        dtype in prop::sample::select(TensorType::DTYPES.to_vec()),
        shape in vec(
            prop_oneof![0..5_u64, Just(1 << 31), Just(1 << 32), Just(1 << 61), any::<u64>(), Just((1 << 63) - 1)],
            0..5,
        ),
        start in prop_oneof![Just(0_u64), 0..9_u64, any::<u64>()],
        wrong in prop::option::of(0..3_u64),
    ) {
        let limit = i64::MAX as u128;
        let product = shape.iter().filter(|dim| **dim != 0).try_fold(1_u128, |product, dim| {
            product.checked_mul(u128::from(*dim)).filter(|product| *product <= limit)
        });
        let elements = product.map(|product| if shape.contains(&0) { 0 } else { product });
        let block = u128::from(dtype.block_elements().unwrap());
        let bytes = elements.map(|elements| elements / block * u128::from(dtype.block_bytes().unwrap()));
        let claimed = match (bytes.and_then(|bytes| u64::try_from(bytes).ok()), wrong) {
            (Some(bytes), None) => bytes,
            (Some(bytes), Some(wrong)) => bytes.saturating_add(wrong),
            (None, _) => 8,
        };
        let end = start.saturating_add(claimed);
        let found = u128::from(end - start);
        let code = match (elements, bytes) {
            (None, _) | (_, None) => Some("tensor.shape_overflow"),
            (Some(elements), _) if elements % block != 0 => Some("safetensors.partial_byte"),
            (_, Some(bytes)) if bytes > limit => Some("tensor.size_overflow"),
            (_, Some(bytes)) if bytes != found => Some("safetensors.length_mismatch"),
            _ if u128::from(end) > limit => Some("tensor.size_overflow"),
            _ => None,
        };
        let header = format!(
            r#"{{"a":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{start},{end}]}}}}"#
        );
        let told = agreed(&file(&header, &[]), Options::new());
        let at_description = told.result.err().filter(|error| error.offset() == 9);
        prop_assert_eq!(at_description.map(|error| error.code()), code, "{}", header);
        // Told when nothing is wrong with the description alone.
        let is_told = told.events.iter().any(|event| matches!(event, Seen::Tensor { .. }));
        prop_assert_eq!(is_told, code.is_none());
    }
}
