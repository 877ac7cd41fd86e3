#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| weightstream_fuzz::safetensors(data));
