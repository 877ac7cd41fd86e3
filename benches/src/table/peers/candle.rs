//! candle: `GgmlType::to_float` and `gguf_file::Content::read`.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use candle_core::quantized::gguf_file::Content;
use candle_core::quantized::k_quants::{
    BlockQ2K, BlockQ3K, BlockQ4_0, BlockQ4_1, BlockQ4K, BlockQ5_0, BlockQ5_1, BlockQ5K, BlockQ6K, BlockQ8_0,
    BlockQ8K, GgmlType,
};
use weightstream::TensorType;

/// What decodes blocks of a type.
type Dequantizer = fn(&[u8], &mut [f32]);

/// The function of a type, if candle has one.
pub(crate) fn dequantizer(tensor_type: TensorType) -> Option<Dequantizer> {
    Some(match tensor_type {
        TensorType::F32 => dequantize::<f32>,
        TensorType::F16 => dequantize::<half::f16>,
        TensorType::BF16 => dequantize::<half::bf16>,
        TensorType::Q4_0 => dequantize::<BlockQ4_0>,
        TensorType::Q4_1 => dequantize::<BlockQ4_1>,
        TensorType::Q5_0 => dequantize::<BlockQ5_0>,
        TensorType::Q5_1 => dequantize::<BlockQ5_1>,
        TensorType::Q8_0 => dequantize::<BlockQ8_0>,
        TensorType::Q2_K => dequantize::<BlockQ2K>,
        TensorType::Q3_K => dequantize::<BlockQ3K>,
        TensorType::Q4_K => dequantize::<BlockQ4K>,
        TensorType::Q5_K => dequantize::<BlockQ5K>,
        TensorType::Q6_K => dequantize::<BlockQ6K>,
        TensorType::Q8_K => dequantize::<BlockQ8K>,
        _ => return None,
    })
}

fn dequantize<T: GgmlType>(blocks: &[u8], out: &mut [f32]) {
    // SAFETY: these blocks are plain numbers in the order of the file, and any bytes are numbers.
    let (before, blocks, after) = unsafe { blocks.align_to::<T>() };
    assert!(before.is_empty() && after.is_empty());
    T::to_float(blocks, out);
}

/// Reads a header through a buffer, and returns the number of keys.
pub(crate) fn read_header(path: &Path) -> u64 {
    read(BufReader::new(File::open(path).expect("the file can be opened")))
}

/// The same, straight from the file.
pub(crate) fn read_header_unbuffered(path: &Path) -> u64 {
    read(File::open(path).expect("the file can be opened"))
}

fn read(mut reader: impl Read + Seek) -> u64 {
    Content::read(&mut reader).expect("candle reads this header").metadata.len() as u64
}
