//! GGUF: the order of the file (`machine`, with `entries`, `tensors` and `hints`) and the shape of its fields (`record`).

mod entries;
mod hints;
mod machine;
mod record;
mod tensors;

pub(crate) use machine::Machine;
