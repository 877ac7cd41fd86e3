#![no_std]
#![doc = include_str!("../README.md")]
//!
//! # Where things are
//!
//! ```text
//! any chunks ──▶ Decoder ──▶ Event<'_> ──▶ Blocks ──▶ dequantize ──▶ caller's &mut [f32]
//!                │               └ event: a token, its slices lent    └ quant: a file a family, and for
//!                │                                                      vectors of x86-64 avx2 and avx512
//!                │ gguf/machine  order of the file: plain integers, no bytes; it says tokens (`token`)
//!                │ gguf/record   shape of its fields: nom parsers, no state
//!                │ gguf/strings  the short way for strings of an array that a chunk holds whole
//!                │ safetensors/  json: tokens of the header; machine: what they mean; describe: the fields of a tensor, its rules
//!                │ stream        what both machines have: position, name and tensor in hand, data, error
//!                │ carry         the few bytes of a field that a chunk edge cut
//!                └ data_section  from recorded tensor to recorded tensor, in whole blocks; one that a chunk edge cut
//!                                is put together in the decoder's scratch
//! ```
//!
//! By name: `Decoder::decode`, `Machine::step` (a format's `step_head`, which calls `Carry::read` in GGUF and `Json::next` in
//! safetensors; from a tensor told on `Stream::step`, which calls `DataSection::blocks`), `Decoder::event`, `Blocks::dequantize`, `quant::dequantize`, which takes
//! a kernel from `quant::kernel`. `decode` stands in `decoder`, and on 64 bits tries `whole_text` first, for strings of an array; the file
//! `decode` has what a reader asks of any decoder. The readers of [`io`] do the first three in two calls, `Steps::step` and `lend`.
//!
//! A kernel is the function of the type in a loop. On x86-64 with the feature `std` there are three levels of it (`quant/level`), and the
//! processor is asked once: `quant/avx512` or `quant/avx2`, for the types listed in `quant/written`, and for others the portable function,
//! compiled for that level. `quant/lines` is the loop, `quant/large` writes 32 MiB or more past the caches. Anywhere else there is
//! the portable function alone: of it the compiler makes vectors of aarch64, and where there are none it takes the way that
//! `quant::unpack::SCALAR` chooses. Blocks of big-endian files go through `quant/swap` first.
//!
//! Where to add
//! - a value type: `ValueType` and `Scalar` in `value`, an iterator of `Items` in `event`, what the getters make of it in
//!   `metadata/value`.
//! - a tensor type: a line of the table in `tensor_type`, a function in `quant`, a line in `quant/written`. A dtype of safetensors: a line of the table in
//!   `safetensors/dtype`, a function in `quant/dtype`. The tests then ask for golden data, a row of the README, its numbers in
//!   `quant/tests`; its flash is measured by `.ci/sizes`, its instructions by `examples/firmware` and `benches`.
//! - a kernel for processors without vector units: beside the one of its type, chosen by `quant::unpack::SCALAR`, and held to
//!   the same bits by a test. Its instructions have a limit in `examples/firmware/budget.txt`.
//! - a kernel for AVX2 or AVX-512: a function in `quant/avx2` or `quant/avx512`, and a line in `quant/written`. That list is one for
//!   both levels, so the other one has the same name: a kernel of its own, or the portable one, imported. For NEON there is none yet; it
//!   needs no level, since every aarch64 has it.
//! - a level: `quant/level`, `kernel` and `rounding` in `quant/mod`, a folder with `written_kernels`, `quant/roundings`, and `run` in
//!   `quant/large`. No merged multiplication and addition: it would not have ggml's bits.
//! - a rule: about one tensor in `gguf/tensors` or `safetensors/describe`, about several in `placement`.
//! - a format: a machine of its own (`machine` says what is asked of one), a name in `token::Format`, a rule in `detect`.
//! - a limit: `options` (0 is the default; its `fields` too, and the version in `checkpoint` goes up), a row of the table in `error`, the check where the format's machine
//!   reads the number.
//! - a source of bytes: an implementation of [`io::ReadAt`], for `async` code of `io::asynch::ReadAt`; or a loop around `decode`
//!   outside of this crate, where a source that can seek may jump over [`Decoder::skippable`] bytes and say so with
//!   [`Decoder::advance`].
//! - a getter of metadata: `metadata/value`, and by key in `metadata/mod`. A rule about shards: `shards/mod`, its error in
//!   `shards/error`.
//! - a board, a program for it: `examples/firmware`. A budget of flash: `tools/flash_sizes.py`; of
//!   stack and of instructions: `stack.txt` and `budget.txt` there.
//!
//! - [`Decoder`] takes the bytes of a GGUF file, `safetensors::Decoder` those of the other format. Both tell [`Event`]s, whose
//!   order is a grammar: see [`Event`]. [`detect`] knows which one a file needs.
//! - [`io`] brings the bytes from streams, files, flash and slices, and reads rows.
//! - [`TensorSlot`] and [`Directory`] record where tensors lie, to read rows of them later.
//! - [`Options`] set limits, and what may be looser than ggml's rules.
//! - [`Error`] says what is wrong and at which offset; [`Decoder::context`] names the key or tensor in hand.
//! - [`ShardSet`] checks that several files are one model; [`ModelName`] and [`ShardName`] read file names.
//! - [`TensorType`] knows the size of every type, and [`quant`] the values of its blocks.
//! - [`metadata`] keeps chosen keys in fixed memory, [`summary`] what a model is; [`vocabulary`] finds tokens. They take
//!   events, and parse nothing.

mod byte_order;
mod carry;
mod checkpoint;
mod data_section;
mod decode;
mod decoder;
mod detect;
mod directory;
mod error;
mod event;
mod gguf;
pub mod guide;
pub mod io;
mod machine;
pub mod metadata;
mod model_name;
mod name;
mod options;
mod placement;
pub mod quant;
#[cfg(feature = "safetensors")]
pub mod safetensors;
mod shards;
mod stream;
pub mod summary;
mod tensor_type;
mod token;
mod value;
pub mod vocabulary;

pub use byte_order::ByteOrder;
pub use checkpoint::CheckpointError;
pub use decoder::{Decoder, FormatDecoder};
pub use detect::{DETECT_BYTES, detect};
pub use directory::{Directory, TensorSlot};
pub use error::{AdvanceError, DequantizeError, Error, ErrorKind, Section};
pub use event::{Blocks, Context, Event, Items, Name};
pub use model_name::{ModelName, Shard, ShardName};
pub use name::name_hash;
pub use options::{Layout, Options, UnknownTypes};
pub use shards::{ShardError, ShardSet, SplitKey};
pub use tensor_type::{Family, TensorType};
pub use token::{DataStart, Format, Header, TensorInfo};
pub use value::{Scalar, ValueType};
