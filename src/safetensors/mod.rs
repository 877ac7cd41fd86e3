//! The format safetensors.

pub(crate) mod dtype;
