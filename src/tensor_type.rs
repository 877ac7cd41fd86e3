//! Every type a tensor can have: its id, its name, the size of its blocks, its family.

use crate::checkpoint::{CheckpointError, Fields};
use crate::{ByteOrder, DequantizeError, quant};
use core::fmt;
use core::ops::Range;

/// All that is known about each type; a new one is a line here and a function in `quant`.
///
/// - `big-endian` is what to reverse in a block of a big-endian file: the `whole` element of a plain type; a
///   list of fields `bytes @ offset`, with `x n` for n of them in a row; or nobody knows (`ambiguous`).
/// - `kernel` is the function that dequantizes, or `none`.
///
/// The macro hands the lines to another one, so that this file takes the sizes and `quant` the kernels.
macro_rules! tensor_types {
    ($then:ident) => {
        $then! {
            // id name  elements bytes family  big-endian                kernel
            0  F32          1    4   Plain    whole                     plain::f32;
            1  F16          1    2   Plain    whole                     plain::f16;
            2  Q4_0        32   18   Legacy   [2 @ 0]                   legacy::q4_0;
            3  Q4_1        32   20   Legacy   [2 @ 0 x 2]               legacy::q4_1;
            6  Q5_0        32   22   Legacy   ambiguous                 legacy::q5_0;
            7  Q5_1        32   24   Legacy   ambiguous                 legacy::q5_1;
            8  Q8_0        32   34   Legacy   [2 @ 0]                   legacy::q8_0;
            9  Q8_1        32   36   Legacy   [2 @ 0 x 2]               legacy::q8_1;
            10 Q2_K       256   84   K        [2 @ 80 x 2]              k::q2_k;
            11 Q3_K       256  110   K        [2 @ 108]                 k::q3_k;
            12 Q4_K       256  144   K        [2 @ 0 x 2]               k::q4_k;
            13 Q5_K       256  176   K        [2 @ 0 x 2]               k::q5_k;
            14 Q6_K       256  210   K        [2 @ 208]                 k::q6_k;
            15 Q8_K       256  292   K        [4 @ 0, 2 @ 260 x 16]     k::q8_k;
            16 IQ2_XXS    256   66   Iq       ambiguous                 iq::iq2_xxs;
            17 IQ2_XS     256   74   Iq       [2 @ 0 x 33]              iq::iq2_xs;
            18 IQ3_XXS    256   98   Iq       ambiguous                 iq::iq3_xxs;
            19 IQ1_S      256   50   Iq       [2 @ 0, 2 @ 34 x 8]       iq::iq1_s;
            20 IQ4_NL      32   18   Iq       [2 @ 0]                   iq::iq4_nl;
            21 IQ3_S      256  110   Iq       [2 @ 0]                   iq::iq3_s;
            22 IQ2_S      256   82   Iq       [2 @ 0]                   iq::iq2_s;
            23 IQ4_XS     256  136   Iq       [2 @ 0 x 2]               iq::iq4_xs;
            24 I8           1    1   Plain    whole                     plain::i8;
            25 I16          1    2   Plain    whole                     plain::i16;
            26 I32          1    4   Plain    whole                     plain::i32;
            27 I64          1    8   Plain    whole                     plain::i64;
            28 F64          1    8   Plain    whole                     plain::f64;
            29 IQ1_M      256   56   Iq       ambiguous                 iq::iq1_m;
            30 BF16         1    2   Plain    whole                     plain::bf16;
            34 TQ1_0      256   54   Ternary  [2 @ 52]                  ternary::tq1_0;
            35 TQ2_0      256   66   Ternary  [2 @ 64]                  ternary::tq2_0;
            39 MXFP4       32   17   Fp4      []                        fp4::mxfp4;
            40 NVFP4       64   36   Fp4      []                        fp4::nvfp4;
            41 Q1_0       128   18   Ternary  [2 @ 0]                   ternary::q1_0;
            42 Q2_0        64   18   Ternary  [2 @ 0]                   ternary::q2_0;
            // Ids that were given out and taken back: they have no size any more.
            removed:
            4  Q4_2;
            5  Q4_3;
            31 Q4_0_4_4;
            32 Q4_0_4_8;
            33 Q4_0_8_8;
            36 IQ4_NL_4_4;
            37 IQ4_NL_4_8;
            38 IQ4_NL_8_8;
        }
    };
}
pub(crate) use tensor_types;

/// The type of a tensor's elements, as the id that stands in the file.
///
/// Any id can be carried, known or not: what is known about it is asked with [`name`](Self::name),
/// [`block_elements`](Self::block_elements) and [`block_bytes`](Self::block_bytes). Ids below `0x1_0000` are
/// ggml's; those from there on are this library's own, for types of other formats, and never change.
///
/// ```
/// use weightstream::TensorType;
/// let tensor_type = TensorType::from_id(12);
/// assert_eq!(tensor_type, TensorType::Q4_K);
/// assert_eq!(tensor_type.block_bytes(), Some(144));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct TensorType(u32);

/// How a type stores its elements; each family but the plain one can be left out of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Family {
    /// One number an element: floats and integers.
    Plain,
    /// Blocks of 32 with one scale: `Q4_0` to `Q8_1`.
    Legacy,
    /// Blocks of 256 with a scale for each part: `Q2_K` to `Q8_K`.
    K,
    /// Codebooks and tables of values: `IQ1_S` to `IQ4_XS`.
    Iq,
    /// Two, three or four levels an element: `TQ1_0`, `TQ2_0`, `Q1_0`, `Q2_0`.
    Ternary,
    /// 4-bit floats: `MXFP4`, `NVFP4`.
    Fp4,
}

impl Family {
    /// The cargo feature that turns the family's dequantizers on; `None` if they are always there.
    ///
    /// Never panics.
    pub const fn feature(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Legacy => Some("legacy"),
            Self::K => Some("k"),
            Self::Iq => Some("iq"),
            Self::Ternary => Some("ternary"),
            Self::Fp4 => Some("fp4"),
        }
    }

    /// Whether that feature is on.
    pub(crate) const fn is_on(self) -> bool {
        match self {
            Self::Plain => true,
            Self::Legacy => cfg!(feature = "legacy"),
            Self::K => cfg!(feature = "k"),
            Self::Iq => cfg!(feature = "iq"),
            Self::Ternary => cfg!(feature = "ternary"),
            Self::Fp4 => cfg!(feature = "fp4"),
        }
    }
}

/// In [`TensorType::block`]: where the bytes end and the power of two begins.
const ELEMENTS_SHIFT: u32 = 12;
const BYTES_MASK: u16 = (1 << ELEMENTS_SHIFT) - 1;

/// What [`TensorType::block`] says of a block of that size. Where it cannot, nothing is compiled.
pub(crate) const fn pack(elements: u16, bytes: u16) -> u16 {
    assert!(elements.is_power_of_two() && bytes <= BYTES_MASK, "a block is of another kind");
    let mut packed = bytes;
    let mut left = elements;
    while left > 1 {
        left >>= 1;
        packed = packed.wrapping_add(1 << ELEMENTS_SHIFT);
    }
    packed
}

macro_rules! sizes {
    (
        $($id:literal $name:ident $elements:literal $bytes:literal $family:ident
            $big_endian:tt $($kernel:ident)::+;)*
        removed: $($removed_id:literal $removed_name:ident;)*
    ) => {
        /// One constant a type, named as ggml names it.
        impl TensorType {
            $(
                #[doc = concat!(
                    "`", stringify!($name), "`, id ", $id, ": ", $elements, " element(s) in ", $bytes, " byte(s)."
                )]
                pub const $name: Self = Self($id);
            )*
            $(
                #[doc = concat!("`", stringify!($removed_name), "`, id ", $removed_id, ": removed from the format.")]
                pub const $removed_name: Self = Self($removed_id);
            )*

            /// Every type of ggml that has a size, by rising id. Those of safetensors, some of which are the same, are in
            /// `DTYPES`, with the feature `safetensors`.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The type's name, also of one that was removed; `None` if the id is unknown.
            ///
            /// Never panics.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)*
                    $(Self::$removed_name => Some(stringify!($removed_name)),)*
                    #[cfg(feature = "safetensors")]
                    _ => self.dtype_name(),
                    #[cfg(not(feature = "safetensors"))]
                    _ => None,
                }
            }

            /// Whether the id was given out once and then taken out of the format.
            ///
            /// Never panics.
            pub const fn is_removed(self) -> bool {
                matches!(self, $(Self::$removed_name)|*)
            }

            /// Elements of one block; `None` if the type was removed or is unknown.
            ///
            /// Never panics.
            pub const fn block_elements(self) -> Option<u32> {
                match self.block() {
                    0 => None,
                    block => Some(1_u32.wrapping_shl((block >> ELEMENTS_SHIFT) as u32)),
                }
            }

            /// Bytes of one block; `None` if the type was removed or is unknown.
            ///
            /// Never panics.
            pub const fn block_bytes(self) -> Option<u32> {
                match self.block() {
                    0 => None,
                    block => Some((block & BYTES_MASK) as u32),
                }
            }

            /// Both in two bytes, so that the table of all types is small: bytes, and the power of two that is the
            /// number of elements. 0 if there is none.
            const fn block(self) -> u16 {
                match self {
                    $(Self::$name => const { pack($elements, $bytes) },)*
                    #[cfg(feature = "safetensors")]
                    _ => self.dtype_block(),
                    #[cfg(not(feature = "safetensors"))]
                    _ => 0,
                }
            }

            /// The family; `None` if the type was removed, is unknown, or comes as raw blocks only. A type has a family
            /// if and only if it has a dequantizer, which may be turned off.
            ///
            /// Never panics.
            pub const fn family(self) -> Option<Family> {
                match self {
                    $(Self::$name => Some(Family::$family),)*
                    #[cfg(feature = "safetensors")]
                    _ => self.dtype_family(),
                    #[cfg(not(feature = "safetensors"))]
                    _ => None,
                }
            }
        }
    };
}
tensor_types!(sizes);

impl TensorType {
    /// The type with this id, whether it is known or not.
    ///
    /// Never panics.
    pub const fn from_id(id: u32) -> Self {
        Self(id)
    }

    /// The id, as it stands in a file.
    ///
    /// Never panics.
    pub const fn id(self) -> u32 {
        self.0
    }

    /// The field of a checkpoint.
    pub(crate) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.u32(&mut self.0)
    }

    /// Dequantizes little-endian blocks that lie in memory, such as a model in flash.
    ///
    /// Writes as many whole blocks as `src` and `out` hold, moves `src` behind them and returns the number of
    /// elements written. Zero means that `src` is empty, nothing else. The values of ggml's types are those of its
    /// reference, bit for bit (a NaN may be another NaN).
    ///
    /// Never panics.
    ///
    /// # Errors
    ///
    /// `src` and `out` are left as they were if
    /// - the type has no dequantizer here or its family is turned off, whatever `src` holds;
    /// - `src` is not empty but shorter than one block;
    /// - `out` cannot hold one block.
    ///
    /// ```
    /// use weightstream::TensorType;
    /// let mut src: &[u8] = &[0x00, 0x3c, 0x00, 0xc0];
    /// let mut out = [0.0; 8];
    /// assert_eq!(TensorType::F16.dequantize(&mut src, &mut out), Ok(2));
    /// assert_eq!(out[..2], [1.0, -2.0]);
    /// assert!(src.is_empty());
    /// ```
    pub fn dequantize(self, src: &mut &[u8], out: &mut [f32]) -> Result<usize, DequantizeError> {
        quant::dequantize(self, ByteOrder::Little, src, out)
    }

    /// The same as [`dequantize`](Self::dequantize), but to binary16: writes the bits of each value, rounded once from
    /// its `f32`.
    ///
    /// Ties go to even, what is too large becomes infinite, what is small becomes subnormal or zero, and a NaN stays
    /// one, made quiet. Uses 1 KiB of stack: one block of `f32`. Never panics.
    ///
    /// # Errors
    ///
    /// Those of [`dequantize`](Self::dequantize).
    pub fn dequantize_f16(self, src: &mut &[u8], out: &mut [u16]) -> Result<usize, DequantizeError> {
        quant::dequantize_f16(self, ByteOrder::Little, src, out)
    }

    /// The same as [`dequantize`](Self::dequantize), but to bfloat16: writes the bits of each value, rounded once from
    /// its `f32`.
    ///
    /// Ties go to even, what is too large becomes infinite, and a NaN stays one, made quiet. Uses 1 KiB of stack: one
    /// block of `f32`. Never panics.
    ///
    /// # Errors
    ///
    /// Those of [`dequantize`](Self::dequantize).
    pub fn dequantize_bf16(self, src: &mut &[u8], out: &mut [u16]) -> Result<usize, DequantizeError> {
        quant::dequantize_bf16(self, ByteOrder::Little, src, out)
    }

    /// Dequantizes any range of elements of little-endian blocks that lie in memory, such as a tensor in flash: the
    /// range may start and end inside blocks, and only blocks that it touches are decoded.
    ///
    /// `src` is a whole tensor or some rows of it, `elements` counts from its first element. Writes the values to the
    /// start of `out` and returns how many there are: the length of the range. Uses 1 KiB of stack: one block of
    /// `f32`. Never panics.
    ///
    /// # Errors
    ///
    /// Nothing is written if
    /// - the type has no dequantizer here or its family is turned off, whatever the range;
    /// - the range is not within the whole blocks of `src`, or ends before it starts;
    /// - `out` is shorter than the range.
    ///
    /// ```
    /// use weightstream::TensorType;
    /// let flash: &[u8] = &[1, 2, 3, 4, 5];
    /// let mut out = [0.0; 3];
    /// assert_eq!(TensorType::I8.dequantize_range(flash, 1..4, &mut out), Ok(3));
    /// assert_eq!(out, [2.0, 3.0, 4.0]);
    /// ```
    pub fn dequantize_range(
        self,
        src: &[u8],
        elements: Range<u64>,
        out: &mut [f32],
    ) -> Result<usize, DequantizeError> {
        quant::dequantize_range(self, ByteOrder::Little, src, elements, out)
    }
}

/// The name, or the id of a type without one.
impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "type {}", self.0),
        }
    }
}

/// The same as `Display`.
impl fmt::Debug for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for TensorType {
    fn format(&self, f: defmt::Formatter<'_>) {
        match self.name() {
            Some(name) => defmt::write!(f, "{=str}", name),
            None => defmt::write!(f, "type {=u32}", self.0),
        }
    }
}
