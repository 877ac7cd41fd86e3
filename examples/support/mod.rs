//! What the host examples share. An example takes it in by path.

#![allow(dead_code, reason = "each example uses its own part of this module")]

pub(crate) mod directory;
pub(crate) mod escape;
pub(crate) mod failure;
pub(crate) mod format;
pub(crate) mod index;
pub(crate) mod listen;
pub(crate) mod number;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod rows;
pub(crate) mod search;
pub(crate) mod shards;
pub(crate) mod similar;
pub(crate) mod source;
pub(crate) mod start;
pub(crate) mod stream;
pub(crate) mod table;
pub(crate) mod tensors;
pub(crate) mod utf8;
pub(crate) mod values;
