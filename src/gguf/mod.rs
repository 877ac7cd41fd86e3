//! GGUF: the order of the file (`machine`, with `entries`, `strings`, `tensors` and `queries`), the shape of its fields (`record`),
//! and what a checkpoint saves of it (`fields`).

mod entries;
mod fields;
mod machine;
mod queries;
mod record;
mod strings;
mod tensors;
mod value;

pub(crate) use machine::Machine;
