//! The types of safetensors, which calls them dtypes: their names, and those of them that ggml does not have.

use crate::TensorType;
use crate::tensor_type::{Family, pack};

/// All that is known about each dtype; a new one is a line here, with the next id, and a function in `quant`.
///
/// The columns are those of the table in `tensor_type`. The family is `Plain`, or `Raw` for a dtype without a kernel,
/// which has no family. What `shared` lists are types of ggml under the same name: one constant, one kernel.
macro_rules! dtypes {
    ($then:ident) => {
        $then! {
            // id     name      elements bytes family big-endian kernel
            /// `BOOL`: 0 is 0.0, any other byte is 1.0.
            0x1_0000  BOOL           1    1    Plain  whole      dtype::bool;
            /// `U8`: an unsigned integer of 8 bits.
            0x1_0001  U8             1    1    Plain  whole      dtype::u8;
            /// `U16`: an unsigned integer of 16 bits.
            0x1_0002  U16            1    2    Plain  whole      dtype::u16;
            /// `U32`: an unsigned integer of 32 bits.
            0x1_0003  U32            1    4    Plain  whole      dtype::u32;
            /// `U64`: an unsigned integer of 64 bits.
            0x1_0004  U64            1    8    Plain  whole      dtype::u64;
            /// `C64`: a complex number, which is two `f32`. Its blocks come raw only: one `f32` cannot hold it.
            0x1_0005  C64            1    8    Raw    whole      none;
            /// `F8_E4M3`: E4M3 of OCP's OFP8 specification, revision 1.0. Finite, with bias 7 and a NaN.
            0x1_0006  F8_E4M3        1    1    Plain  whole      dtype::f8_e4m3;
            /// `F8_E5M2`: E5M2 of OCP's OFP8 specification, revision 1.0. As IEEE 754 would have it, with bias 15.
            0x1_0007  F8_E5M2        1    1    Plain  whole      dtype::f8_e5m2;
            /// `F8_E8M0`: E8M0 of OCP's MX specification, version 1.0. A power of two, or NaN.
            0x1_0008  F8_E8M0        1    1    Plain  whole      dtype::f8_e8m0;
            /// `F8_E4M3FNUZ`: E4M3 of Noune et al., 2022. Finite, with bias 8 and a NaN instead of -0.
            0x1_0009  F8_E4M3FNUZ    1    1    Plain  whole      dtype::f8_e4m3fnuz;
            /// `F8_E5M2FNUZ`: E5M2 of Noune et al., 2022. Finite, with bias 16 and a NaN instead of -0.
            0x1_000a  F8_E5M2FNUZ    1    1    Plain  whole      dtype::f8_e5m2fnuz;
            /// `F4`: two numbers of 4 bits in a byte. Its blocks come raw only: the format does not say which is first.
            0x1_000b  F4             2    1    Raw    whole      none;
            /// `F6_E2M3`: four numbers of 6 bits in 3 bytes. Its blocks come raw only: the format does not say how they
            /// are packed.
            0x1_000c  F6_E2M3        4    3    Raw    whole      none;
            /// `F6_E3M2`: four numbers of 6 bits in 3 bytes. Its blocks come raw only: the format does not say how they
            /// are packed.
            0x1_000d  F6_E3M2        4    3    Raw    whole      none;
            shared: F64 I64 F32 I32 F16 BF16 I16 I8
        }
    };
}
pub(crate) use dtypes;

/// The family column of the table.
macro_rules! family {
    (Plain) => {
        Some(Family::Plain)
    };
    (Raw) => {
        None
    };
}

macro_rules! constants {
    (
        $($(#[$doc:meta])* $id:literal $name:ident $elements:literal $bytes:literal $family:ident
            $big_endian:tt $($kernel:ident)::+;)*
        shared: $($shared:ident)*
    ) => {
        /// The dtypes of safetensors that ggml does not have, named as safetensors names them. Their ids are this
        /// library's own and stay as they are: the file has names. Needs the feature `safetensors`.
        impl TensorType {
            $(
                $(#[$doc])*
                #[doc = ""]
                #[doc = concat!("Id `", stringify!($id), "`: ", $elements, " element(s) in ", $bytes, " byte(s).")]
                pub const $name: Self = Self::from_id($id);
            )*

            /// Every dtype of safetensors: first those that ggml does not have, by rising id, then those that are
            /// its types too, such as [`F32`](Self::F32). Needs the feature `safetensors`.
            pub const DTYPES: &'static [Self] = &[$(Self::$name,)* $(Self::$shared),*];

            /// The name of a dtype that ggml does not have.
            pub(crate) const fn dtype_name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            /// Elements and bytes of its block, as the table in `tensor_type` has them; 0 if it is none.
            pub(crate) const fn dtype_block(self) -> u16 {
                match self {
                    $(Self::$name => const { pack($elements, $bytes) },)*
                    _ => 0,
                }
            }

            /// Its family; `None` if there are only raw blocks, or if it is none.
            pub(crate) const fn dtype_family(self) -> Option<Family> {
                match self {
                    $(Self::$name => family!($family),)*
                    _ => None,
                }
            }
        }
    };
}
dtypes!(constants);

/// Bytes of the longest of their names.
pub(super) const LONGEST_NAME: usize = {
    let (mut rest, mut longest) = (TensorType::DTYPES, 0);
    while let [dtype, others @ ..] = rest {
        if let Some(name) = dtype.name()
            && name.len() > longest
        {
            longest = name.len();
        }
        rest = others;
    }
    longest
};

/// The type with this name in a header of safetensors; upper and lower case differ.
pub(crate) fn from_name(name: &[u8]) -> Option<TensorType> {
    let named = |dtype: &TensorType| dtype.name().is_some_and(|known| known.as_bytes() == name);
    TensorType::DTYPES.iter().copied().find(named)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

    use super::from_name;
    use crate::TensorType;

    /// Every name of the format, written out here a second time.
    const NAMES: [(&str, TensorType); 22] = [
        ("BOOL", TensorType::BOOL),
        ("F4", TensorType::F4),
        ("F6_E2M3", TensorType::F6_E2M3),
        ("F6_E3M2", TensorType::F6_E3M2),
        ("U8", TensorType::U8),
        ("I8", TensorType::I8),
        ("F8_E5M2", TensorType::F8_E5M2),
        ("F8_E4M3", TensorType::F8_E4M3),
        ("F8_E8M0", TensorType::F8_E8M0),
        ("F8_E4M3FNUZ", TensorType::F8_E4M3FNUZ),
        ("F8_E5M2FNUZ", TensorType::F8_E5M2FNUZ),
        ("I16", TensorType::I16),
        ("U16", TensorType::U16),
        ("F16", TensorType::F16),
        ("BF16", TensorType::BF16),
        ("I32", TensorType::I32),
        ("U32", TensorType::U32),
        ("F32", TensorType::F32),
        ("C64", TensorType::C64),
        ("F64", TensorType::F64),
        ("I64", TensorType::I64),
        ("U64", TensorType::U64),
    ];

    #[test]
    fn every_name_is_that_of_its_type() {
        for (name, dtype) in NAMES {
            assert_eq!(from_name(name.as_bytes()), Some(dtype));
            assert_eq!(dtype.name(), Some(name));
        }
        assert_eq!(TensorType::DTYPES.len(), NAMES.len());
        for dtype in TensorType::DTYPES {
            assert_eq!(NAMES.iter().filter(|(_, listed)| listed == dtype).count(), 1, "{dtype}");
        }
    }

    #[test]
    fn other_names_are_refused() {
        for (name, _) in NAMES {
            let end = name.len() + 1;
            let mut text = [b' '; 16];
            text[1..end].copy_from_slice(name.as_bytes());
            for wrong in [&text[..end], &text[1..=end], &text[1..end - 1]] {
                assert_eq!(from_name(wrong), None, "{name}");
            }
            text.make_ascii_lowercase();
            assert_eq!(from_name(&text[1..end]), None, "{name}");
        }
        let ggml: [&[u8]; 3] = [b"Q4_0", b"IQ4_NL", b"Q4_2"];
        let unknown: [&[u8]; 7] = [b"", b"F128", b"C128", b"F8", b"F8_E4M3FN", b"F8_E8M0FNU", b"F\xff32"];
        for name in ggml.into_iter().chain(unknown) {
            assert_eq!(from_name(name), None);
        }
    }
}
