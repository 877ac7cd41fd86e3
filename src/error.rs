//! What can go wrong, as values that are `Copy` and hold no input.

use crate::TensorType;
use core::fmt;

/// Why blocks could not be turned into `f32`.
///
/// Nothing was read or written when one of these is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum DequantizeError {
    /// The output cannot hold one block.
    OutputTooSmall {
        /// Elements of one block.
        needed: usize,
        /// Elements the output holds.
        got: usize,
    },
    /// The input ends inside a block.
    PartialBlock {
        /// Bytes of one block.
        needed: usize,
        /// Bytes that were left.
        got: usize,
    },
    /// This version cannot dequantize the type: it is unknown, removed from the format, or only sized.
    NoKernel {
        /// The type of the blocks.
        tensor_type: TensorType,
    },
    /// The type's family was left out of this build.
    FamilyOff {
        /// The type of the blocks.
        tensor_type: TensorType,
        /// The cargo feature that turns the family on.
        feature: &'static str,
    },
    /// The blocks are big-endian, and it is not settled what that means for this type.
    AmbiguousByteOrder {
        /// The type of the blocks.
        tensor_type: TensorType,
    },
}

impl fmt::Display for DequantizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OutputTooSmall { needed, got } => {
                write!(f, "output too small: one block has {needed} elements, the output holds {got}")
            }
            Self::PartialBlock { needed, got } => {
                write!(f, "input ends inside a block: one block has {needed} bytes, {got} are left")
            }
            Self::NoKernel { tensor_type } => {
                write!(f, "{tensor_type} cannot be dequantized by this version of weightstream")
            }
            Self::FamilyOff { tensor_type, feature } => {
                write!(f, "{tensor_type} needs the feature \"{feature}\" of weightstream to be dequantized")
            }
            Self::AmbiguousByteOrder { tensor_type } => {
                write!(f, "{tensor_type} has no settled big-endian layout; only its raw blocks can be used")
            }
        }
    }
}

impl core::error::Error for DequantizeError {}
