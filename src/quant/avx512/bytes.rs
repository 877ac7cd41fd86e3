//! Steps of AVX-512 with the bytes of a block, and what becomes of its scale.

use crate::quant::written::in_memory;
use core::arch::x86_64::*;
use safe_unaligned_simd::x86_64::{_mm512_loadu_si512, _mm512_storeu_ps};

/// The value of a binary16 number in all lanes. A NaN is made quiet, its sign and payload are kept.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn half_in_each(bytes: [u8; 2]) -> __m512 {
    _mm512_cvtph_ps(_mm256_set1_epi16(i16::from_le_bytes(bytes)))
}

/// The number of each lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn lanes() -> __m512i {
    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}

/// The lowest byte of each lane in all of its bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn in_each_byte(lanes: __m512i) -> __m512i {
    _mm512_mullo_epi32(lanes, _mm512_set1_epi32(0x0101_0101))
}

/// The elements whose codes are in the bytes of a lane: `i`, `16 + i`, `32 + i`, `48 + i`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn in_order() -> __m512i {
    _mm512_add_epi32(_mm512_set1_epi32(0x3020_1000), in_each_byte(lanes()))
}

/// The bytes that begin with these bits of a qword.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn bits(from: __m512i, qwords: __m512i) -> __m512i {
    _mm512_multishift_epi64_epi8(from, qwords)
}

/// The bytes of a table of 256.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn of_256(table: &[u8; 256], numbers: __m512i) -> __m512i {
    let [a, b, c, d] = [0, 1, 2, 3]
        .map(|quarter| _mm512_loadu_si512(table.as_chunks::<64>().0.get(quarter).unwrap_or(&[0; 64])));
    let (low, high) = (_mm512_permutex2var_epi8(a, numbers, b), _mm512_permutex2var_epi8(c, numbers, d));
    _mm512_mask_blend_epi8(_mm512_movepi8_mask(numbers), low, high)
}

/// Numbers in memory: a load brings one of them to all places, for which from a register it takes one step or two that only
/// one unit of the processor can do.
///
/// What goes over the end of a line of the cache cannot be loaded right after it was stored.
#[repr(align(64))]
pub(super) struct InMemory([f32; 16]);

impl InMemory {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
    pub(super) fn new(numbers: __m512) -> Self {
        let mut memory = Self([0.0; 16]);
        _mm512_storeu_ps(&mut memory.0, numbers);
        memory
    }

    /// The numbers, from where they are: the compiler would take them from the register.
    #[inline(always)]
    pub(super) fn numbers(&self) -> &[f32; 16] {
        in_memory(&self.0)
    }
}

/// The bits of `one` where the mask has them, and those of `other` elsewhere.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,f16c")]
pub(super) fn select(mask: __m512i, one: __m512i, other: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<SELECT>(mask, one, other)
}

/// The table of [`select`]: a bit for each three that a mask, one number and the other can have.
pub(super) const SELECT: i32 = 0xca;
