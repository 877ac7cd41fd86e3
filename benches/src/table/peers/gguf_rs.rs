//! gguf-rs-lib: `open_gguf_file`, which reads through a buffer.

use std::path::Path;

/// Reads a header, and returns the number of keys.
pub(crate) fn read_header(path: &Path) -> u64 {
    let reader = gguf_rs_lib::reader::open_gguf_file(path).expect("gguf-rs-lib reads this header");
    reader.metadata().len() as u64
}
