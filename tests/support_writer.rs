//! The writer that other tests rely on, held against files written out by hand.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use support::gguf_writer::{EntryAt, Gguf, Tensor, TensorAt, Value, Written};
use support::random::Random;

/// Bytes from hex digits, repeated ones and quoted text: `47 "GUF" 00*3` is 7 bytes.
fn bytes(notation: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, part) in notation.split('"').enumerate() {
        if index % 2 == 1 {
            bytes.extend_from_slice(part.as_bytes());
            continue;
        }
        for byte in part.split_whitespace() {
            let (hex, times) = byte.split_once('*').unwrap_or((byte, "1"));
            let byte = u8::from_str_radix(hex, 16).unwrap();
            bytes.extend(vec![byte; times.parse().unwrap()]);
        }
    }
    bytes
}

#[test]
fn version_3_little_endian() {
    let file = Gguf::new()
        .entry("a", Value::U16(0x0102))
        .entry("s", Value::text("hi"))
        .entry("n", Value::array(vec![Value::Bool(1), Value::Bool(2).mark("two")]))
        .alignment(8)
        .tensor(Tensor::new("t", 24, &[3], vec![7, 8, 9]))
        .tensor(Tensor::new("uv", 0, &[1, 1], vec![0, 0, 0x80, 0x3F]))
        .write();
    let expected = bytes(
        r#" "GGUF" 03 00 00 00  02 00 00 00 00 00 00 00  04 00 00 00 00 00 00 00
            01 00 00 00 00 00 00 00 "a"  02 00 00 00  02 01
            01 00 00 00 00 00 00 00 "s"  08 00 00 00  02 00 00 00 00 00 00 00 "hi"
            01 00 00 00 00 00 00 00 "n"  09 00 00 00  07 00 00 00  02 00 00 00 00 00 00 00  01 02
            11 00 00 00 00 00 00 00 "general.alignment"  04 00 00 00  08 00 00 00
            01 00 00 00 00 00 00 00 "t"  01 00 00 00  03 00 00 00 00 00 00 00  18 00 00 00  00 00 00 00 00 00 00 00
            02 00 00 00 00 00 00 00 "uv"  02 00 00 00  01 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00
                00 00 00 00  08 00 00 00 00 00 00 00
            00*3  07 08 09 00*5  00 00 80 3F 00*4"#,
    );
    assert_eq!(file.bytes, expected);
    assert_eq!((Written::MAGIC, Written::VERSION, Written::TENSOR_COUNT, file.entry_count()), (0, 4, 8, 16));
    assert_eq!(file.entries[0], EntryAt { start: 24, key: 32, value_type: 33, value: 37, end: 39 });
    assert_eq!(file.entries[3].end, 122);
    assert_eq!(file.mark("two"), 88);
    let first = TensorAt {
        start: 122,
        name: 130,
        n_dims: 131,
        dims: vec![135],
        type_id: 143,
        offset: 147,
        end: 155,
        data: 200,
    };
    assert_eq!(file.tensors[0], first);
    assert_eq!((file.tensors[1].dims.clone(), file.tensors[1].data), (vec![169, 177], 208));
    assert_eq!((file.metadata_end, file.data_offset), (197, 200));
}

#[test]
fn version_1_has_short_lengths() {
    let file = Gguf::new()
        .version(1)
        .entry("k", Value::array(vec![Value::text("x"), Value::text("")]))
        .tensor(Tensor::new("t", 25, &[2], vec![1, 0, 2, 0]))
        .last_padding(false)
        .write();
    let expected = bytes(
        r#" "GGUF" 01 00 00 00  01 00 00 00  01 00 00 00
            01 00 00 00 "k"  09 00 00 00  08 00 00 00  02 00 00 00  01 00 00 00 "x"  00 00 00 00
            01 00 00 00 "t"  01 00 00 00  02 00 00 00  19 00 00 00  00 00 00 00 00 00 00 00
            00*29  01 00 02 00"#,
    );
    assert_eq!(file.bytes, expected);
    assert_eq!(file.entry_count(), 12);
    assert_eq!((file.metadata_end, file.data_offset), (67, 96));
}

#[test]
fn version_3_big_endian() {
    let file = Gguf::new()
        .big_endian(true)
        .entry("f", Value::F32(1.0))
        .entry("d", Value::array(vec![Value::I16(-2)]))
        .tensor(Tensor::new("t", 25, &[1], vec![0x12, 0x34]))
        .pad_to(4)
        .write();
    let expected = bytes(
        r#" "GGUF" 00 00 00 03  00 00 00 00 00 00 00 01  00 00 00 00 00 00 00 02
            00 00 00 00 00 00 00 01 "f"  00 00 00 06  3F 80 00 00
            00 00 00 00 00 00 00 01 "d"  00 00 00 09  00 00 00 03  00 00 00 00 00 00 00 01  FF FE
            00 00 00 00 00 00 00 01 "t"  00 00 00 01  00 00 00 00 00 00 00 01  00 00 00 19  00 00 00 00 00 00 00 00
            00*3  12 34 00*2"#,
    );
    assert_eq!(file.bytes, expected);
}

#[test]
fn what_a_file_claims_moves_nothing() {
    let honest = |tensor| {
        Gguf::new()
            .entry("key", Value::array(vec![Value::text("ab").mark("ab")]))
            .tensor(tensor)
            .tensor(Tensor::new("u", 24, &[1], vec![5]))
    };
    let tensor = Tensor::new("t", 24, &[1], vec![4]);
    let claims = honest(tensor.clone().claim_name_bytes(6).claim_dims(7).claim_offset(8))
        .claim_tensor_count(9)
        .claim_entry_count(10)
        .write();
    let honest = honest(tensor).write();
    let at = &honest.tensors[0];
    let patched = honest
        .clone()
        .patch(Written::TENSOR_COUNT, &9_u64.to_le_bytes())
        .patch(honest.entry_count(), &10_u64.to_le_bytes())
        .patch(at.start, &6_u64.to_le_bytes())
        .patch(at.n_dims, &7_u32.to_le_bytes())
        .patch(at.offset, &8_u64.to_le_bytes());
    assert_eq!(claims.bytes, patched.bytes);
    assert_eq!(claims.tensors, honest.tensors);

    let value = Value::array(vec![Value::text("ab").claiming(3).mark("inner")]).claiming(4).typed(5);
    let file = Gguf::new().entry_claiming("key", 2, value).write();
    let at = file.entries[0];
    let body = bytes(
        r#" 02 00 00 00 00 00 00 00 "key"  05 00 00 00
            08 00 00 00  04 00 00 00 00 00 00 00  03 00 00 00 00 00 00 00 "ab""#,
    );
    assert_eq!(file.bytes[at.start as usize..], body);
    assert_eq!(file.mark("inner"), at.value + 12);
}

#[test]
fn data_take_any_place() {
    let tensors = |file: Gguf| {
        file.tensor(Tensor::new("a", 24, &[3], vec![1; 3]))
            .tensor(Tensor::new("b", 24, &[2], vec![2; 2]).gap(8))
            .tensor(Tensor::new("c", 24, &[1], vec![3; 1]))
            .pad_to(4)
            .padding(0xEE)
    };
    let file = tensors(Gguf::new()).data_order(&[2, 0, 1]).write();
    let data = "03 EE*3  01 01 01 EE  EE*8  02 02 EE*2";
    assert_eq!(file.bytes[file.data_offset as usize..], bytes(data));
    for (tensor, offset) in file.tensors.iter().zip([4, 16, 0_u64]) {
        assert_eq!(tensor.data, file.data_offset + offset);
        assert_eq!(file.bytes[tensor.offset as usize..][..8], offset.to_le_bytes());
    }

    let file = tensors(Gguf::new())
        .tensor(Tensor::hollow("d", 24, &[5 << 30], 5 << 30))
        .tensor(Tensor::new("e", 24, &[1], vec![4]))
        .write();
    assert_eq!(file.bytes.len() as u64, file.data_offset);
    assert_eq!(file.tensors[4].data - file.tensors[3].data, 5 << 30);
}

#[test]
fn random_numbers_are_the_same_everywhere() {
    let mut random = Random::new(0);
    assert_eq!(random.next_u64(), 0xE220_A839_7B1D_CDAF);
    assert_eq!(random.next_u64(), 0x6E78_9E6A_A1B9_65F4);
    assert_eq!(Random::new(0).bytes(10), bytes("AF CD 1D 7B 39 A8 20 E2 F4 65"));
    let all = random.bytes(1000);
    let pieces = random.pieces(&all, 7);
    assert!(pieces.iter().all(|piece| piece.len() <= 7) && pieces.iter().any(|piece| piece.is_empty()));
    assert_eq!(pieces.concat(), all);
    assert!((0..1000).all(|_| random.below(3) < 3 && random.weight().abs() <= 1.0));
}
