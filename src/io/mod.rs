//! Readers that bring the bytes: from a stream, a card, flash, a slice. None of them parses anything: each is a loop
//! around the one decoder.
//!
//! - [`Events`] reads a file from its start and tells what the decoder says. Where the source can be read at any offset
//!   it jumps over what nobody asks for.
//! - [`read_rows`] reads and dequantizes some rows of a tensor, once the directory knows where it lies.
//!   [`TensorSlot::dequantize_rows`](crate::TensorSlot::dequantize_rows) does it for a model in memory.
//! - [`ReadAt`] is what both read from. Slices have it; for the rest there are adapters, one for each trait that a source may
//!   offer, and [`Part`] for a model inside of something larger.
//!
//! | the source has | adapter | feature |
//! | --- | --- | --- |
//! | `embedded_io::Read + Seek`, `embedded_io_async::Read + Seek` | `Seekable` | `embedded-io`, `embedded-io-async` |
//! | `embedded_storage::ReadStorage` | `Storage` | `embedded-storage` |
//! | `embedded_storage::nor_flash::ReadNorFlash` | `NorFlash` | `embedded-storage` |
//! | `std::io::Read + Seek` | `StdFile` | `std` |
//! | `embedded_io::Read` only: a socket, a serial line | none: `Events::new` | `embedded-io` |
//!
//! `asynch` has all of it for `async` code.

#[cfg(feature = "embedded-io-async")]
pub mod asynch;
mod blocking;
mod error;
#[cfg(feature = "embedded-storage")]
mod flash;
mod pump;
mod read_at;
mod rows;
#[cfg(feature = "embedded-io")]
mod seek;
#[cfg(feature = "std")]
mod std_file;

pub use crate::decode::Decode;
#[cfg(feature = "embedded-io")]
pub use blocking::Forward;
pub use blocking::{Events, Jumping, Source};
pub use error::ReadError;
#[cfg(feature = "embedded-storage")]
pub use flash::{NorFlash, Storage};
pub use read_at::{Part, ReadAt};
pub use rows::{RowsError, read_rows};
#[cfg(feature = "embedded-io")]
pub use seek::Seekable;
#[cfg(feature = "std")]
pub use std_file::StdFile;
