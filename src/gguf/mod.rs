//! GGUF: the order of the file (`machine`, with `entries`, `tensors` and `queries`) and the shape of its fields (`record`).

mod entries;
mod machine;
mod queries;
mod record;
mod tensors;
mod value;

pub(crate) use machine::Machine;
