#![no_std]
//! Placeholder

mod byte_order;
mod carry;
mod data;
mod decoder;
mod directory;
mod error;
mod event;
mod gguf;
mod name;
mod options;
pub mod quant;
mod tensor_type;
mod token;
mod value;

pub use byte_order::ByteOrder;
pub use decoder::Decoder;
pub use directory::{Directory, TensorSlot};
pub use error::{AdvanceError, DequantizeError, Error, ErrorKind, Section};
pub use event::{Blocks, Context, Event, Items, Name};
pub use name::name_hash;
pub use options::{Layout, Options, UnknownTypes};
pub use tensor_type::{Family, TensorType};
pub use token::{DataStart, Format, Header, TensorInfo};
pub use value::{Scalar, ValueType};
