//! ggml: the reference functions of `ggml-quants.c`, and `gguf_init_from_file`.

use std::ffi::{CString, c_char, c_void};
use std::path::Path;

use weightstream::TensorType;

pub(crate) const VERSION: &str = concat!("ggml ", env!("GGML_VERSION"));

unsafe extern "C" {
    safe fn bench_ggml_dequantizes(tensor_type: u32) -> bool;
    fn bench_ggml_dequantize(tensor_type: u32, blocks: *const c_void, out: *mut f32, elements: i64);
    fn bench_ggml_read_header(path: *const c_char) -> i64;
}

/// The function of a type, if ggml has one.
pub(crate) fn dequantizer(tensor_type: TensorType) -> Option<impl Fn(&[u8], &mut [f32])> {
    let (elements, bytes) = (tensor_type.block_elements()? as usize, tensor_type.block_bytes()? as usize);
    let id = tensor_type.id();
    bench_ggml_dequantizes(id).then_some(move |blocks: &[u8], out: &mut [f32]| {
        assert!(blocks.len() / bytes == out.len() / elements && out.len().is_multiple_of(elements));
        assert!(blocks.as_ptr().cast::<f32>().is_aligned());
        // SAFETY: the function reads as many blocks as `out` has room for, which are there and aligned.
        unsafe { bench_ggml_dequantize(id, blocks.as_ptr().cast(), out.as_mut_ptr(), out.len() as i64) }
    })
}

/// Reads a header, and returns the number of keys.
pub(crate) fn read_header(path: &Path) -> u64 {
    let path = CString::new(path.as_os_str().as_encoded_bytes()).expect("a path has no zero byte");
    // SAFETY: the path ends with a zero byte and outlives the call.
    let keys = unsafe { bench_ggml_read_header(path.as_ptr()) };
    keys.try_into().expect("ggml reads this header")
}
