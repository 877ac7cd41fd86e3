//! safetensors: `SafeTensors::deserialize`, which wants the whole file in memory.

use safetensors::SafeTensors;

/// The number of tensors.
pub(crate) fn read_header(file: &[u8]) -> u64 {
    SafeTensors::deserialize(file).expect("safetensors reads this header").len() as u64
}
