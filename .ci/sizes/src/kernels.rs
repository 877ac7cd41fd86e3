//! The kernels, by the names that they have in `quant`.

use weightstream::quant;

macro_rules! blocks {
    ($($kernel:ident $bytes:literal $elements:literal;)*) => {$(
        #[unsafe(no_mangle)]
        pub fn $kernel(block: &[u8; $bytes], out: &mut [f32; $elements]) {
            quant::$kernel(block, out);
        }
    )*};
}

macro_rules! elements {
    ($($kernel:ident $bytes:literal;)*) => {$(
        #[unsafe(no_mangle)]
        pub fn $kernel(elements: &[[u8; $bytes]], out: &mut [f32]) -> usize {
            quant::$kernel(elements, out)
        }
    )*};
}

elements! {
    f32 4; f16 2; bf16 2; f64 8; i8 1; i16 2; i32 4; i64 8;
}

blocks! {
    q4_0 18 32; q4_1 20 32; q5_0 22 32; q5_1 24 32; q8_0 34 32; q8_1 36 32;
    q2_k 84 256; q3_k 110 256; q4_k 144 256; q5_k 176 256; q6_k 210 256; q8_k 292 256;
    iq1_s 50 256; iq1_m 56 256; iq2_xxs 66 256; iq2_xs 74 256; iq2_s 82 256; iq3_xxs 98 256; iq3_s 110 256;
    iq4_nl 18 32; iq4_xs 136 256;
    tq1_0 54 256; tq2_0 66 256; q1_0 18 128; q2_0 18 64;
    mxfp4 17 32; nvfp4 36 64;
}

macro_rules! integers {
    ($($unpack:ident $bytes:literal $code:ident $elements:literal $rest:ty;)*) => {$(
        #[unsafe(no_mangle)]
        pub fn $unpack(block: &[u8; $bytes], codes: &mut [$code; $elements]) -> $rest {
            quant::$unpack(block, codes)
        }
    )*};
}

integers! {
    unpack_q4_0 18 i8 32 u16;
    unpack_q4_1 20 u8 32 quant::ScaleAndMinimum;
    unpack_q5_0 22 i8 32 u16;
    unpack_q5_1 24 u8 32 quant::ScaleAndMinimum;
    unpack_q8_0 34 i8 32 u16;
    unpack_q4_k 144 u8 256 quant::PartScalesAndMinimums;
    unpack_q5_k 176 u8 256 quant::PartScalesAndMinimums;
    unpack_q6_k 210 i8 256 quant::PartScales;
}
