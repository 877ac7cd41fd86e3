//! Tensor descriptions: read, checked, and recorded unless the caller says no.

use super::machine::{Machine, State, align_up};
use super::record::{self, LEAST_AFTER_NAME};
use crate::directory::{TensorSlot, whole_blocks};
use crate::error::Fault;
use crate::name::NameReader;
use crate::options::{Layout, MAX_GGUF_RANK, MAX_POSITION, UnknownTypes};
use crate::stream::Failed;
use crate::tensor_type::TensorType;
use crate::token::{Progress, TensorInfo};

impl Machine {
    pub(super) fn next_tensor(&mut self, slots: &mut [TensorSlot]) -> Result<Progress, Failed> {
        self.stream.name = NameReader::new();
        if self.stream.index == self.tensor_count {
            return self.data_start(slots);
        }
        self.stream.description = self.stream.carry.position();
        self.state = State::NameLength;
        Ok(Progress::On)
    }

    pub(super) fn name_length(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let Some((length, offset)) = self.read_size(input)? else { return Ok(Progress::Wait) };
        let total = self.name_bytes(length, offset)?;
        self.claim(length.saturating_add(LEAST_AFTER_NAME), offset)?;
        self.begin_name(total, State::Name);
        Ok(Progress::On)
    }

    pub(super) fn tensor_name(&mut self, input: &mut &[u8], scratch: &mut [u8]) -> Result<Progress, Failed> {
        if !self.read_name(input, scratch)? {
            return Ok(Progress::Wait);
        }
        self.state = State::Rank;
        Ok(Progress::On)
    }

    pub(super) fn rank(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let Some((rank, offset)) = self.read_id(input)? else { return Ok(Progress::Wait) };
        let limit = self.stream.options.max_rank(MAX_GGUF_RANK);
        match u8::try_from(rank) {
            Ok(rank) if rank <= limit => self.dims_left = rank,
            _ => {
                let (dimensions, limit) = (u64::from(rank), u64::from(limit));
                return Err(self.fail(Fault::too_many_dimensions(dimensions, limit), offset));
            }
        }
        self.stream.tensor = TensorInfo::new(self.stream.index);
        self.after_dimension();
        Ok(Progress::On)
    }

    fn after_dimension(&mut self) {
        self.state = if self.dims_left == 0 { State::TensorType } else { State::Dimension };
    }

    pub(super) fn dimension(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let Some((dimension, offset)) = self.read_size(input)? else { return Ok(Progress::Wait) };
        self.dims_left = self.dims_left.saturating_sub(1);
        self.stream.tensor.push(dimension).ok_or_else(|| self.fail(Fault::internal(), offset))?;
        if !self.stream.tensor.is_countable() {
            return Err(self.fail(Fault::shape_overflow(), self.stream.description));
        }
        self.after_dimension();
        Ok(Progress::On)
    }

    pub(super) fn tensor_type(&mut self, input: &mut &[u8]) -> Result<Progress, Failed> {
        let Some((id, offset)) = self.read_id(input)? else { return Ok(Progress::Wait) };
        let tensor_type = TensorType::from_id(id);
        // What has a size under such an id is a type of another format.
        #[cfg(feature = "safetensors")]
        if tensor_type.dtype_block() != 0 {
            return Err(self.fail(Fault::unknown_tensor_type(u64::from(id)), offset));
        }
        self.stream.tensor.tensor_type = tensor_type;
        self.stream.tensor.bytes = match (tensor_type.block_elements(), tensor_type.block_bytes()) {
            (Some(elements), Some(bytes)) => self.tensor_bytes(elements, bytes)?,
            // A dimension of zero leaves nothing to infer.
            _ if self.infers() && self.stream.tensor.elements() == 0 => 0,
            _ if self.infers() => TensorInfo::UNKNOWN_LENGTH,
            _ => {
                let id = u64::from(id);
                let removed = tensor_type.is_removed();
                let kind =
                    if removed { Fault::removed_tensor_type(id) } else { Fault::unknown_tensor_type(id) };
                return Err(self.fail(kind, offset));
            }
        };
        self.state = State::TensorOffset;
        Ok(Progress::On)
    }

    fn infers(&self) -> bool {
        self.stream.options.unknown_types == UnknownTypes::Infer
    }

    /// Bytes of the tensor in hand. Divides first: the product of all dimensions fits, times a block's bytes may not.
    fn tensor_bytes(&mut self, block_elements: u32, block_bytes: u32) -> Result<u64, Failed> {
        let row_elements = self.stream.tensor.row_elements();
        if whole_blocks(row_elements, block_elements).is_none() {
            let block_elements = u64::from(block_elements);
            let kind = Fault::row_not_whole_blocks(row_elements, block_elements);
            return Err(self.fail(kind, self.stream.description));
        }
        let bytes = whole_blocks(self.stream.tensor.elements(), block_elements)
            .and_then(|blocks| blocks.checked_mul(u64::from(block_bytes)))
            .filter(|bytes| *bytes <= MAX_POSITION);
        bytes.ok_or_else(|| self.fail(Fault::size_overflow(), self.stream.description))
    }

    pub(super) fn tensor_offset(
        &mut self,
        input: &mut &[u8],
        slots: &mut [TensorSlot],
    ) -> Result<Progress, Failed> {
        let Some((data_offset, _)) = self.read(input, record::long)? else { return Ok(Progress::Wait) };
        self.stream.tensor.data_offset = data_offset;
        self.check_offset(data_offset, slots).map_err(|kind| self.fail(kind, self.stream.description))?;
        self.stream
            .data
            .count(&self.stream.tensor)
            .map_err(|kind| self.fail(kind, self.stream.description))?;
        self.expect_next().ok_or_else(|| self.fail(Fault::size_overflow(), self.stream.description))?;
        self.state = State::NextTensor;
        Ok(self.stream.tell_tensor())
    }

    fn check_offset(&mut self, data_offset: u64, slots: &mut [TensorSlot]) -> Result<(), Fault> {
        let expected = self.expected;
        let alignment = u64::from(self.alignment());
        let aligned = data_offset & alignment.wrapping_sub(1) == 0;
        // Behind a tensor of unknown type, the next one is right wherever it lies.
        let follows =
            if self.inferring { aligned && data_offset >= expected } else { data_offset == expected };
        match self.stream.options.layout {
            Layout::Contiguous if !follows => Err(Fault::offset_mismatch(data_offset, expected)),
            Layout::Contiguous if self.inferring => {
                let bytes = data_offset.saturating_sub(expected);
                self.stream.data.settle(self.stream.tensor.index.saturating_sub(1), expected, bytes, slots)
            }
            Layout::Sparse if !aligned => Err(Fault::offset_unaligned(data_offset, alignment)),
            _ => {
                self.scattered |= !follows;
                Ok(())
            }
        }
    }

    /// Where the next tensor starts if it follows the one in hand.
    fn expect_next(&mut self) -> Option<()> {
        self.inferring = self.stream.tensor.byte_len().is_none();
        let padded = align_up(self.stream.tensor.byte_len().unwrap_or(0), self.alignment())?;
        self.expected = self.stream.tensor.data_offset.checked_add(padded)?;
        Some(())
    }
}
