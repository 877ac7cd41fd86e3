//! The directory of sample.gguf, made by `inspect --rust-table`.

use weightstream::{ByteOrder, TensorSlot, TensorType, name_hash};

/// The tensors in the order of the file; offsets are absolute, in bytes.
#[rustfmt::skip]
pub const TENSORS: [TensorSlot; 25] = [
    TensorSlot::new(name_hash("token_embd.weight"), 11648, 21840, 256, 0, TensorType::Q2_K, ByteOrder::Little),
    TensorSlot::new(name_hash("output_norm.weight"), 33504, 1024, 256, 1, TensorType::F32, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.0.attn_norm.weight"), 34528, 512, 256, 2, TensorType::F16, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.0.attn_q.weight"), 35040, 4608, 256, 3, TensorType::Q4_K, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.0.attn_k.weight"), 39648, 4352, 256, 4, TensorType::Q8_0, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.0.attn_v.weight"), 44000, 3360, 256, 5, TensorType::Q6_K, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.0.attn_output.weight"), 47360, 4608, 32, 6, TensorType::Q4_0, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.0.ffn_norm.weight"), 51968, 1024, 256, 7, TensorType::F32, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.0.ffn_gate.weight"), 52992, 3520, 256, 8, TensorType::Q3_K, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.0.ffn_up.weight"), 56512, 5632, 256, 9, TensorType::Q5_K, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.0.ffn_down.weight"), 62144, 5632, 32, 10, TensorType::Q5_0, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.1.attn_norm.weight"), 67776, 512, 256, 11, TensorType::BF16, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.1.attn_q.weight"), 68288, 2688, 256, 12, TensorType::Q2_K, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.1.attn_q.bias"), 70976, 256, 32, 13, TensorType::F64, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.1.attn_k.weight"), 71232, 4608, 256, 14, TensorType::Q8_1, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.1.attn_v.weight"), 75840, 4672, 256, 15, TensorType::Q8_K, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.1.attn_output.weight"), 80512, 5120, 32, 16, TensorType::Q4_1, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.1.ffn_norm.weight"), 85632, 512, 256, 17, TensorType::F16, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.1.ffn_gate.weight"), 86144, 2688, 256, 18, TensorType::Q2_K, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.1.ffn_up.weight"), 88832, 2688, 256, 19, TensorType::Q2_K, ByteOrder::Little),
    TensorSlot::new(name_hash("blk.1.ffn_down.weight"), 91520, 6144, 32, 20, TensorType::Q5_1, ByteOrder::Little),
    TensorSlot::new(name_hash("token_shift"), 97664, 260, 260, 21, TensorType::I8, ByteOrder::Little),
    TensorSlot::new(name_hash("token_bytes"), 97952, 520, 260, 22, TensorType::I16, ByteOrder::Little),
    TensorSlot::new(name_hash("token_order"), 98496, 1040, 260, 23, TensorType::I32, ByteOrder::Little),
    TensorSlot::new(name_hash("token_bytes.count"), 99552, 104, 13, 24, TensorType::I64, ByteOrder::Little),
];
