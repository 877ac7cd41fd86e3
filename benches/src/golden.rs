//! Blocks of each type, from the golden files of the tests.

use std::path::Path;

use weightstream::TensorType;

/// 2048 weights as whole blocks: random numbers of a normal distribution, quantized by ggml.
pub fn blocks(tensor_type: TensorType) -> Vec<u8> {
    if tensor_type == TensorType::Q8_1 {
        return q8_1(&blocks(TensorType::Q8_0));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/golden/gauss");
    let path = folder.join(format!("{tensor_type}.q"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// There are no golden files of Q8_1, which is Q8_0 with a sum behind the scale.
fn q8_1(q8_0: &[u8]) -> Vec<u8> {
    let (blocks, []) = q8_0.as_chunks::<34>() else { panic!("a block is cut") };
    blocks.iter().flat_map(|block| [&block[..2], &[0; 2], &block[2..]].concat()).collect()
}
