//! A push-based decoder for model-weight files, for machines that cannot hold them.
#![no_std]

mod byte_order;
mod error;
pub mod quant;
mod tensor_type;

pub use byte_order::ByteOrder;
pub use error::DequantizeError;
pub use tensor_type::{Family, TensorType};
