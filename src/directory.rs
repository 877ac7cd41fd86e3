//! What is recorded of each tensor, in memory the caller lends: enough to find it and to read its rows later.

use core::ops::Range;

use crate::byte_order::ByteOrder;
use crate::checkpoint::{CheckpointError, Fields};
use crate::error::DequantizeError;
use crate::name::name_hash;
use crate::quant;
use crate::tensor_type::TensorType;

/// The place of one tensor: 40 bytes, all zero while empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TensorSlot {
    name_hash: u64,
    offset: u64,
    bytes: u64,
    /// Elements of a row; the highest bit is set where the file is big-endian. A row never needs that bit, since
    /// the product of all dimensions stays below 2^63.
    row: u64,
    index: u32,
    tensor_type: TensorType,
}

const BIG_ENDIAN: u64 = 1 << 63;

impl TensorSlot {
    /// A slot that holds no tensor yet.
    pub const EMPTY: Self = Self::new(0, 0, 0, 0, 0, TensorType::from_id(0), ByteOrder::Little);

    /// In `bytes`: the tensor runs to the next one, or to the end of the input.
    pub(crate) const OPEN: u64 = u64::MAX;

    /// A slot from its parts, for a table of a known model: see [`Directory::new`]. `offset` is absolute, in bytes.
    /// Never panics.
    #[must_use]
    pub const fn new(
        name_hash: u64,
        offset: u64,
        bytes: u64,
        row_elements: u64,
        index: u32,
        tensor_type: TensorType,
        byte_order: ByteOrder,
    ) -> Self {
        let order = match byte_order {
            ByteOrder::Little => 0,
            ByteOrder::Big => BIG_ENDIAN,
        };
        Self { name_hash, offset, bytes, row: (row_elements & !BIG_ENDIAN) | order, index, tensor_type }
    }

    /// [`name_hash`] of the tensor's whole name. Never panics.
    #[must_use]
    pub const fn name_hash(&self) -> u64 {
        self.name_hash
    }

    /// Absolute offset of the tensor's first byte, from the `DataStart` event on. Before, and after an error before it,
    /// it may still be counted from the start of the data section. Never panics.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Length of the tensor in bytes; `None` for one of unknown type that runs to the end of an input of unknown
    /// size (and, before `DataStart`, while it is being inferred). Never panics.
    #[must_use]
    pub const fn byte_len(&self) -> Option<u64> {
        if self.bytes == Self::OPEN { None } else { Some(self.bytes) }
    }

    /// Absolute offset of the byte after the tensor; `u64::MAX` where its length is not known.
    pub(crate) const fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// Elements of a row: the dimension whose elements lie side by side. Never panics.
    #[must_use]
    pub const fn row_elements(&self) -> u64 {
        self.row & !BIG_ENDIAN
    }

    /// Index of the tensor in the file, from 0. Never panics.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// The type of the tensor's elements. Never panics.
    #[must_use]
    pub const fn tensor_type(&self) -> TensorType {
        self.tensor_type
    }

    /// The byte order of the tensor's data. Never panics.
    #[must_use]
    pub const fn byte_order(&self) -> ByteOrder {
        if self.row & BIG_ENDIAN == 0 { ByteOrder::Little } else { ByteOrder::Big }
    }

    /// Bytes of one row; `None` for an unknown type, and where a row is not whole blocks, as one of three `F4`. Never panics.
    #[must_use]
    pub fn row_bytes(&self) -> Option<u64> {
        let blocks = whole_blocks(self.row_elements(), self.tensor_type.block_elements()?)?;
        blocks.checked_mul(u64::from(self.tensor_type.block_bytes()?))
    }

    /// Where rows `rows.start` to `rows.end` (exclusive) lie: a range of absolute offsets in bytes. `None` where
    /// they are not all in the tensor, or [`row_bytes`](Self::row_bytes) are not known. Never panics.
    #[must_use]
    pub fn rows(&self, rows: Range<u64>) -> Option<Range<u64>> {
        let row_bytes = self.row_bytes()?;
        let start = rows.start.checked_mul(row_bytes)?;
        let end = rows.end.checked_mul(row_bytes)?;
        if rows.start > rows.end || end > self.byte_len()? {
            return None;
        }
        Some(self.offset.checked_add(start)?..self.offset.checked_add(end)?)
    }

    /// Dequantizes blocks of this tensor that the caller has read, such as some of its [`rows`](Self::rows), in the
    /// byte order of the file. Writes as many whole blocks as `src` and `out` hold, moves `src` behind them and
    /// returns the number of elements written: 0 means that `src` is empty.
    ///
    /// # Errors
    ///
    /// Those of [`TensorType::dequantize`], and
    /// [`AmbiguousByteOrder`](DequantizeError::AmbiguousByteOrder). Then nothing is written, and nothing moves. Never
    /// panics.
    pub fn dequantize(&self, src: &mut &[u8], out: &mut [f32]) -> Result<usize, DequantizeError> {
        quant::dequantize(self.tensor_type, self.byte_order(), src, out)
    }

    /// The fields of a checkpoint.
    pub(crate) fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.u64(&mut self.name_hash)?;
        fields.u64(&mut self.offset)?;
        fields.u64(&mut self.bytes)?;
        fields.u64(&mut self.row)?;
        fields.u32(&mut self.index)?;
        self.tensor_type.fields(fields)
    }

    pub(crate) const fn set_offset(&mut self, offset: u64) {
        self.offset = offset;
    }

    pub(crate) const fn set_bytes(&mut self, bytes: u64) {
        self.bytes = bytes;
    }
}

/// Values of blocks that the caller has read, in the byte order of the file, in more ways than
/// [`dequantize`](Self::dequantize).
impl TensorSlot {
    /// To binary16, as [`TensorType::dequantize_f16`]. Never panics.
    ///
    /// # Errors
    ///
    /// Those of [`dequantize`](Self::dequantize).
    pub fn dequantize_f16(&self, src: &mut &[u8], out: &mut [u16]) -> Result<usize, DequantizeError> {
        quant::dequantize_f16(self.tensor_type, self.byte_order(), src, out)
    }

    /// To bfloat16, as [`TensorType::dequantize_bf16`]. Never panics.
    ///
    /// # Errors
    ///
    /// Those of [`dequantize`](Self::dequantize).
    pub fn dequantize_bf16(&self, src: &mut &[u8], out: &mut [u16]) -> Result<usize, DequantizeError> {
        quant::dequantize_bf16(self.tensor_type, self.byte_order(), src, out)
    }

    /// Any range of elements, as [`TensorType::dequantize_range`]. `src` is the whole tensor or some of its
    /// [`rows`](Self::rows), and `elements` counts from the first element of `src`. Never panics.
    ///
    /// # Errors
    ///
    /// Those of [`TensorType::dequantize_range`], and
    /// [`AmbiguousByteOrder`](DequantizeError::AmbiguousByteOrder), whatever the range.
    pub fn dequantize_range(
        &self,
        src: &[u8],
        elements: Range<u64>,
        out: &mut [f32],
    ) -> Result<usize, DequantizeError> {
        quant::dequantize_range(self.tensor_type, self.byte_order(), src, elements, out)
    }
}

/// Blocks in so many elements, which must be whole ones. Every block size is a power of two, so that a shift does;
/// a 64-bit division is slow and large on small machines.
pub(crate) fn whole_blocks(elements: u64, block_elements: u32) -> Option<u64> {
    if !block_elements.is_power_of_two() {
        return None;
    }
    let mask = u64::from(block_elements).wrapping_sub(1);
    if elements & mask != 0 {
        return None;
    }
    elements.checked_shr(block_elements.trailing_zeros())
}

/// A view of recorded tensors, in the order of their data in the file once `DataStart` came, of their descriptions
/// before. After an error it is in no particular order.
#[derive(Clone, Copy, Debug)]
pub struct Directory<'a> {
    slots: &'a [TensorSlot],
}

impl<'a> Directory<'a> {
    /// A directory over slots that are already filled, such as a constant table in flash. Never panics.
    #[must_use]
    pub const fn new(slots: &'a [TensorSlot]) -> Self {
        Self { slots }
    }

    /// The tensor of that name (by its hash), if it was recorded. Never panics.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'a TensorSlot> {
        let hash = name_hash(name);
        self.slots.iter().find(|slot| slot.name_hash == hash)
    }

    /// Tensors recorded. Never panics.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether no tensor is recorded. Never panics.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The recorded slots. Never panics.
    #[must_use]
    pub const fn slots(&self) -> &'a [TensorSlot] {
        self.slots
    }

    /// The recorded slots, one by one. Never panics.
    pub fn iter(&self) -> core::slice::Iter<'a, TensorSlot> {
        self.slots.iter()
    }
}

impl<'a> IntoIterator for Directory<'a> {
    type Item = &'a TensorSlot;
    type IntoIter = core::slice::Iter<'a, TensorSlot>;

    fn into_iter(self) -> Self::IntoIter {
        self.slots.iter()
    }
}

/// Sorts by heap: in place, without recursion, in O(n log n) whatever the order. Core's sort recurses and is large.
#[cfg_attr(target_pointer_width = "64", inline)] // With `before` in it.
pub(crate) fn heap_sort(slots: &mut [TensorSlot], before: fn(&TensorSlot, &TensorSlot) -> bool) {
    for root in (0..slots.len() / 2).rev() {
        sift_down(slots, root, before);
    }
    let mut heap = slots;
    while let Some(last) = heap.len().checked_sub(1) {
        swap(heap, 0, last);
        let Some(rest) = heap.get_mut(..last) else { return };
        heap = rest;
        sift_down(heap, 0, before);
    }
}

/// Lets the slot at `root` sink below the children that come after it.
#[cfg_attr(target_pointer_width = "64", inline)]
fn sift_down(heap: &mut [TensorSlot], mut root: usize, before: fn(&TensorSlot, &TensorSlot) -> bool) {
    loop {
        let left = root.saturating_mul(2).saturating_add(1);
        let right = left.saturating_add(1);
        let (Some(parent), Some(first)) = (heap.get(root), heap.get(left)) else { return };
        let (child, slot) = match heap.get(right) {
            Some(second) if before(first, second) => (right, second),
            _ => (left, first),
        };
        if !before(parent, slot) {
            return;
        }
        swap(heap, root, child);
        root = child;
    }
}

/// Core's `swap` can panic, and not every target's optimizer sees that it never does here.
pub(crate) fn swap(slots: &mut [TensorSlot], first: usize, second: usize) {
    if let Ok([first, second]) = slots.get_disjoint_mut([first, second]) {
        core::mem::swap(first, second);
    }
}
