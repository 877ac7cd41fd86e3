//! What rounds to 16 bits, at each level of [`Level`](super::Level).

use super::narrow::{Format, Round, round, to_bf16, to_f16};
#[cfg(all(feature = "std", target_arch = "x86_64"))]
use core::arch::x86_64::*;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
use safe_unaligned_simd::x86_64::{_mm_storeu_si128, _mm256_loadu_ps, _mm256_storeu_si256, _mm512_loadu_ps};

pub(super) fn target(format: Format) -> Round {
    match format {
        Format::F16 => |values, out| round(values, out, to_f16),
        Format::Bf16 => |values, out| round(values, out, to_bf16),
    }
}

#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn avx2(format: Format) -> Round {
    match format {
        Format::F16 => |values, out| {
            by_vectors(values, out, |values, out| {
                let rounded = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(values));
                _mm_storeu_si128::<[u16; 8]>(out, rounded);
            });
        },
        Format::Bf16 => |values, out| round(values, out, to_bf16),
    }
}

#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn avx512(format: Format) -> Round {
    match format {
        Format::F16 => |values, out| {
            by_vectors(values, out, |values, out| {
                let rounded = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_loadu_ps(values));
                _mm256_storeu_si256::<[u16; 16]>(out, rounded);
            });
        },
        Format::Bf16 => |values, out| round(values, out, to_bf16),
    }
}

/// Rounds as many numbers as both have to binary16: vectors by `convert`, then the others.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[inline(always)]
fn by_vectors<const N: usize>(values: &[f32], out: &mut [u16], convert: impl Fn(&[f32; N], &mut [u16; N])) {
    let count = values.len().min(out.len());
    let (values, out) = (values.split_at(count).0, out.split_at_mut(count).0);
    let (vectors, values) = values.as_chunks();
    let (halves, out) = out.as_chunks_mut();
    vectors.iter().zip(halves).for_each(|(vector, halves)| convert(vector, halves));
    round(values, out, to_f16);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]

    use super::*;
    use crate::quant::rounding;
    use crate::quant::tests::at_each_level;

    #[test]
    fn the_shorter_slice_says_how_many_numbers_are_rounded() {
        let values = core::array::from_fn::<f32, 40, _>(|at| [1.0, -2.5, 3.0e-6, 7.0e4, f32::NAN][at % 5]);
        at_each_level(|| {
            for format in [Format::F16, Format::Bf16] {
                let round = rounding(format);
                for (count, room) in (0..=40).flat_map(|count| (0..=40).map(move |room| (count, room))) {
                    let (mut out, mut expected) = ([0x1234; 40], [0x1234; 40]);
                    round(&values[..count], &mut out[..room]);
                    for (expected, value) in expected[..room].iter_mut().zip(&values[..count]) {
                        target(format)(&[*value], core::slice::from_mut(expected));
                    }
                    assert_eq!(out, expected, "{count} numbers, room for {room}");
                }
            }
        });
    }
}
