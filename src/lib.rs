#![no_std]
#![doc = include_str!("../README.md")]
//!
//! # Where things are
//!
//! ```text
//! any chunks ──▶ Decoder ──▶ Event<'_> ──▶ Blocks ──▶ dequantize ──▶ caller's &mut [f32]
//!                │ gguf/machine  order of the file: plain integers, no bytes
//!                │ gguf/record   shape of its fields: nom parsers, no state
//!                │ carry         the few bytes of a field that a chunk edge cut
//!                └ data          recorded tensors, in the order of their bytes
//! ```
//!
//! - [`Decoder`] takes the bytes and tells [`Event`]s, whose order is a grammar: see [`Event`].
//! - [`TensorSlot`] and [`Directory`] record where tensors lie, to read rows of them later.
//! - [`Options`] set limits, and what may be looser than ggml's rules.
//! - [`Error`] says what is wrong and at which offset; [`Decoder::context`] names the key or tensor in hand.
//! - [`TensorType`] knows the size of every type, and [`quant`] the values of its blocks.

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
