//! What tensors add up to.

use crate::tensor_type::TensorType;
use crate::token::TensorInfo;

/// Types that are counted one by one: more than the files that are made hold.
const TYPES: usize = 12;

/// What some tensors add up to. Sums that do not fit stay at the largest number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Weights {
    /// Tensors.
    pub tensors: u64,
    /// Elements of the tensors.
    pub elements: u64,
    /// Bytes of their data, without padding. Those of an unknown type are not in it.
    pub bytes: u64,
    /// Tensors whose length nobody knows, because their type is unknown.
    pub unsized_tensors: u64,
}

impl Weights {
    const NONE: Self = Self { tensors: 0, elements: 0, bytes: 0, unsized_tensors: 0 };

    /// Bits that an element takes; `None` without elements, and where a length is unknown. Never panics.
    #[must_use]
    pub fn bits_per_weight(&self) -> Option<f64> {
        if self.elements == 0 || self.unsized_tensors != 0 {
            return None;
        }
        Some(8.0 * to_float(self.bytes) / to_float(self.elements))
    }

    fn add(&mut self, more: Self) {
        self.tensors = self.tensors.saturating_add(more.tensors);
        self.elements = self.elements.saturating_add(more.elements);
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.unsized_tensors = self.unsized_tensors.saturating_add(more.unsized_tensors);
    }
}

/// The nearest float, from two halves that are exact.
fn to_float(number: u64) -> f64 {
    let [b0, b1, b2, b3, b4, b5, b6, b7] = number.to_le_bytes();
    let (low, high) = (u32::from_le_bytes([b0, b1, b2, b3]), u32::from_le_bytes([b4, b5, b6, b7]));
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}

/// Weights by the type of their tensors.
#[derive(Clone, Debug)]
pub(super) struct ByType {
    /// In the order in which they came. A place in use has a tensor.
    types: [(TensorType, Weights); TYPES],
    other: Weights,
}

impl ByType {
    pub(super) const fn new() -> Self {
        Self { types: [(TensorType::from_id(0), Weights::NONE); TYPES], other: Weights::NONE }
    }

    pub(super) fn count(&mut self, info: &TensorInfo) {
        let tensor_type = info.tensor_type();
        let place =
            self.types.iter_mut().find(|(known, weights)| *known == tensor_type || weights.tensors == 0);
        let weights = match place {
            Some((known, weights)) => {
                *known = tensor_type;
                weights
            }
            None => &mut self.other,
        };
        weights.add(Weights {
            tensors: 1,
            elements: info.elements(),
            bytes: info.byte_len().unwrap_or(0),
            unsized_tensors: u64::from(info.byte_len().is_none()),
        });
    }

    pub(super) fn types(&self) -> impl Iterator<Item = (TensorType, Weights)> {
        self.types.iter().filter(|(_, weights)| weights.tensors != 0).copied()
    }

    pub(super) const fn other(&self) -> Weights {
        self.other
    }

    pub(super) fn total(&self) -> Weights {
        let mut total = self.other;
        self.types().for_each(|(_, weights)| total.add(weights));
        total
    }
}
