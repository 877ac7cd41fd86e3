//! A directory that grows with the descriptions that come, on machines that have an allocator.

use weightstream::TensorSlot;

const FIRST_SLOTS: usize = 64;

/// Memory for as many tensors as a file really describes.
///
/// All are recorded: only then can a decoder say where those of unknown type end, whether any two overlap, and whether they
/// leave holes.
///
/// The decoder asks for its slots in each call of `decode`, and records one tensor a call at most: so there is always a
/// free one at the end. The count that a file claims sizes nothing: 40 bytes here answer at least 24 bytes of GGUF, and
/// 50 of safetensors.
#[derive(Clone, Debug)]
pub(crate) struct GrowingDirectory(Vec<TensorSlot>);

impl GrowingDirectory {
    pub(crate) fn new() -> Self {
        Self(vec![TensorSlot::EMPTY; FIRST_SLOTS])
    }
}

impl AsRef<[TensorSlot]> for GrowingDirectory {
    fn as_ref(&self) -> &[TensorSlot] {
        &self.0
    }
}

impl AsMut<[TensorSlot]> for GrowingDirectory {
    fn as_mut(&mut self) -> &mut [TensorSlot] {
        if self.0.last() != Some(&TensorSlot::EMPTY) {
            self.0.resize(self.0.len().saturating_mul(2), TensorSlot::EMPTY);
        }
        &mut self.0
    }
}
