//! Which kernels are written for the vectors of a level, where the compiler makes slow code of the portable ones.
//!
//! A level has what the time goes into, by the same names: `f16` for 64 elements, `q4_0` and so on for a block, and of types
//! with tables the steps: `look_up` for codes of a table, and `eights`, `fours` and `shifted` for entries of codebooks. There
//! what a block consists of stays with the portable kernels.
#![allow(dead_code, reason = "which of these are used depends on the families turned on")]

/// The kernel of a type of one number an element from its portable function, the bytes of an element and those of 64.
macro_rules! plain_kernel {
    ($function:ident $bytes:literal $step_bytes:literal) => {
        |src, out| {
            let convert = |src: &[_], out: &mut [_]| plain::$function(src, out);
            let step = |src: &[_; $step_bytes], out: &mut [_; STEP]| _ = convert(src.as_chunks().0, out);
            in_lines::<$bytes, $step_bytes>(src, out, step, convert);
        }
    };
}
pub(super) use plain_kernel;

/// `kernel` of a level, the features given, whose steps are around it.
///
/// The closures in it are compiled for that level.
macro_rules! written_kernels {
    ($features:literal) => {
        /// The kernel of a type, if it is one of those that are written for this level.
        #[target_feature(enable = $features)]
        pub(super) fn kernel(tensor_type: TensorType) -> Option<Kernel> {
            let kernel: Kernel = match tensor_type {
                TensorType::F16 => |src, out| {
                    in_lines::<2, 128>(src, out, |src, out| f16(src, out), |src, out| plain::f16(src, out));
                },
                TensorType::BF16 => |src, out| {
                    in_lines::<2, 128>(src, out, |src, out| bf16(src, out), |src, out| plain::bf16(src, out));
                },
                TensorType::I8 => plain_kernel!(i8 1 64),
                TensorType::I16 => plain_kernel!(i16 2 128),
                TensorType::I32 => plain_kernel!(i32 4 256),
                TensorType::I64 => plain_kernel!(i64 8 512),
                TensorType::F64 => plain_kernel!(f64 8 512),
                #[cfg(feature = "legacy")]
                TensorType::Q4_0 => {
                    |src, out| blocks::<18, 32, false>(src, out, |block, out| q4_0(block, out))
                }
                #[cfg(feature = "legacy")]
                TensorType::Q4_1 => {
                    |src, out| blocks::<20, 32, false>(src, out, |block, out| q4_1(block, out))
                }
                #[cfg(feature = "legacy")]
                TensorType::Q5_0 => {
                    |src, out| blocks::<22, 32, false>(src, out, |block, out| q5_0(block, out))
                }
                #[cfg(feature = "legacy")]
                TensorType::Q5_1 => {
                    |src, out| blocks::<24, 32, false>(src, out, |block, out| q5_1(block, out))
                }
                #[cfg(feature = "legacy")]
                TensorType::Q8_0 => {
                    |src, out| blocks::<34, 32, false>(src, out, |block, out| q8_0(block, out))
                }
                #[cfg(feature = "legacy")]
                TensorType::Q8_1 => {
                    |src, out| blocks::<36, 32, false>(src, out, |block, out| q8_0(block, out))
                }
                #[cfg(feature = "k")]
                TensorType::Q2_K => {
                    |src, out| blocks::<84, 256, false>(src, out, |block, out| q2_k(block, out))
                }
                #[cfg(feature = "k")]
                TensorType::Q3_K => {
                    |src, out| blocks::<110, 256, false>(src, out, |block, out| q3_k(block, out))
                }
                #[cfg(feature = "k")]
                TensorType::Q4_K => {
                    |src, out| blocks::<144, 256, false>(src, out, |block, out| q4_k(block, out))
                }
                #[cfg(feature = "k")]
                TensorType::Q5_K => {
                    |src, out| blocks::<176, 256, false>(src, out, |block, out| q5_k(block, out))
                }
                #[cfg(feature = "k")]
                TensorType::Q6_K => {
                    |src, out| blocks::<210, 256, false>(src, out, |block, out| q6_k(block, out))
                }
                #[cfg(feature = "iq")]
                TensorType::IQ4_NL => |src, out| {
                    blocks::<18, 32, false>(src, out, |[d0, d1, codes @ ..], out| {
                        look_up(&NON_LINEAR, codes, half([*d0, *d1]), out);
                    });
                },
                #[cfg(feature = "iq")]
                TensorType::IQ4_XS => |src, out| {
                    blocks::<136, 256, false>(src, out, |block, out| {
                        iq::iq4_xs_by(block, out, |codes, scale, out| {
                            look_up(&NON_LINEAR, codes, scale, out)
                        });
                    });
                },
                #[cfg(feature = "fp4")]
                TensorType::MXFP4 => |src, out| {
                    blocks::<17, 32, false>(src, out, |block, out| {
                        let (scale, codes) = fp4::mxfp4_scale(block);
                        look_up(&E2M1_DOUBLED, codes, scale, out);
                    });
                },
                #[cfg(feature = "fp4")]
                TensorType::NVFP4 => |src, out| {
                    blocks::<36, 64, false>(src, out, |block, out| {
                        fp4::nvfp4_by(block, out, |codes, scale, out| {
                            look_up_eight(&E2M1_DOUBLED, codes, scale, out);
                        });
                    });
                },
                #[cfg(feature = "iq")]
                TensorType::IQ2_XXS => |src, out| {
                    blocks::<66, 256, false>(src, out, |block, out| {
                        iq::iq2_xxs_by(block, out, |factors, entries, signs, out: &mut _| {
                            eights(factors, entries, signs, out);
                        });
                    });
                },
                #[cfg(feature = "iq")]
                TensorType::IQ2_XS => |src, out| {
                    blocks::<74, 256, false>(src, out, |block, out| {
                        iq::iq2_xs_by(block, out, |factors, entries, signs, out: &mut _| {
                            eights(factors, entries, signs, out);
                        });
                    });
                },
                #[cfg(feature = "iq")]
                TensorType::IQ2_S => |src, out| {
                    blocks::<82, 256, false>(src, out, |block, out| {
                        iq::iq2_s_by(block, out, |factors, entries, signs, out: &mut _| {
                            eights(factors, entries, signs, out);
                        });
                    });
                },
                #[cfg(feature = "iq")]
                TensorType::IQ3_XXS => |src, out| {
                    blocks::<98, 256, false>(src, out, |block, out| {
                        iq::iq3_xxs_by(block, out, |factor, entries, signs, out: &mut _| {
                            fours(&EVENLY_BUT_62, factor, entries, signs, out);
                        });
                    });
                },
                #[cfg(feature = "iq")]
                TensorType::IQ3_S => |src, out| {
                    blocks::<110, 256, false>(src, out, |block, out| {
                        iq::iq3_s_by(block, out, |factor, entries, signs, out: &mut _| {
                            fours(&ODD, factor, entries, signs, out);
                        });
                    });
                },
                #[cfg(feature = "iq")]
                TensorType::IQ1_S => |src, out| {
                    blocks::<50, 256, false>(src, out, |block, out| {
                        iq::iq1_s_by(block, out, |factor, entry, minus, out| {
                            shifted(factor, entry, minus, out)
                        });
                    });
                },
                #[cfg(feature = "iq")]
                TensorType::IQ1_M => |src, out| {
                    blocks::<56, 256, false>(src, out, |block, out| {
                        iq::iq1_m_by(block, out, |factor, entry, minus, out| {
                            shifted(factor, entry, minus, out)
                        });
                    });
                },
                _ => return None,
            };
            Some(kernel)
        }
    };
}
pub(super) use written_kernels;

/// The magnitudes of `IQ3_XXS`.
pub(super) static EVENLY_BUT_62: [f32; 8] = [4.0, 12.0, 20.0, 28.0, 36.0, 44.0, 52.0, 62.0];
/// The magnitudes of `IQ3_S`.
pub(super) static ODD: [f32; 8] = [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0];
/// The magnitudes of the `IQ2` types, for two codes: the upper one does not matter.
pub(super) static OF_TWO_BITS: [f32; 16] =
    [8.0, 25.0, 43.0, 60.0, 8.0, 25.0, 43.0, 60.0, 8.0, 25.0, 43.0, 60.0, 8.0, 25.0, 43.0, 60.0];
/// Codes less 8.
pub(super) static AROUND_ZERO: [f32; 16] =
    [-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
/// Codes.
pub(super) static FROM_ZERO: [f32; 16] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0];
