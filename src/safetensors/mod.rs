//! safetensors, Hugging Face's format: a JSON header that describes tensors, and their bytes.
//!
//! [`Decoder`] tells the same [`Event`](crate::Event)s as that of GGUF files, with the same methods, directory, options,
//! errors and checkpoints, and the readers of [`io`](crate::io) drive both.
//!
//! The header is read as it comes, without a tree: its size costs time, no memory. `__metadata__` are
//! [`Key`](crate::Event::Key) and [`Text`](crate::Event::Text) events wherever they stand; the shape of a tensor is row-major.
//!
//! Whether tensors overlap or leave holes is checked exactly if all of them are recorded. If not, it is checked that their
//! bytes add up to where the last one ends: necessary, but not sufficient, since an overlap can make up for a hole.

mod describe;
pub(crate) mod dtype;
mod fields;
mod json;
mod machine;

use crate::decoder::{DEFAULT_SCRATCH, FormatDecoder};
use crate::directory::TensorSlot;
use crate::options::Options;
use machine::Machine;

/// Decodes one safetensors file, pushed in as chunks of any size, and tells what it says as [`Event`](crate::Event)s.
///
/// Like the [`Decoder`](crate::Decoder) of GGUF files, but for this:
///
/// - The length of a text is not told beforehand, and where its end is told it may be by an empty piece.
/// - A character that was escaped is lent from the decoder: behind it [`position`](Decoder::position) is the end of the escape.
/// - A file must end with its last tensor. A byte behind it is an error: by the `decode` that gets it after
///   [`End`](crate::Event::End), or before the data where [`input_bytes`](crate::Options::input_bytes) are known.
///
/// ```
/// use weightstream::{Event, TensorSlot, safetensors};
///
/// let header = br#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
/// let mut file = u64::try_from(header.len())?.to_le_bytes().to_vec();
/// file.extend(header);
/// file.extend([1.5_f32, -2.0].map(f32::to_le_bytes).as_flattened());
///
/// let mut decoder = safetensors::Decoder::new([TensorSlot::EMPTY; 1]);
/// let (mut values, mut shape) = ([0.0; 2], vec![]);
/// for mut chunk in file.chunks(3) {
///     while let Some(event) = decoder.decode(&mut chunk)? {
///         match event {
///             Event::Tensor { info, .. } => shape = info.shape().collect(),
///             Event::Data(mut blocks) => {
///                 let first = usize::try_from(blocks.first_element())?;
///                 blocks.dequantize(&mut values[first..])?;
///             }
///             _ => {}
///         }
///     }
/// }
/// decoder.finish()?;
/// assert_eq!((&shape[..], values), (&[2][..], [1.5, -2.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Decoder<D = [TensorSlot; 0], const SCRATCH: usize = DEFAULT_SCRATCH> =
    FormatDecoder<Machine, D, SCRATCH>;

/// Making a decoder of safetensors files.
impl<D> Decoder<D> {
    /// A decoder with default [`Options`]. `directory` is memory to record tensors in. Never panics.
    #[must_use]
    pub const fn new(directory: D) -> Self {
        Self::with_options(directory, Options::new())
    }

    /// A decoder with other options. Never panics.
    #[must_use]
    pub const fn with_options(directory: D, options: Options) -> Self {
        Self::with_machine(Machine::new(options), directory)
    }
}

/// Making a decoder of safetensors files.
impl<D: AsRef<[TensorSlot]> + AsMut<[TensorSlot]>, const SCRATCH: usize> Decoder<D, SCRATCH> {
    /// A decoder with scratch memory of another size, at least 64 bytes (checked when compiled):
    /// `Decoder::<_, 1024>::with_scratch(..)`. Never panics.
    #[must_use]
    pub const fn with_scratch(directory: D, options: Options) -> Self {
        Self::with_machine(Machine::new(options), directory)
    }
}
