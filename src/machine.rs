//! What a decoder asks of the machine of its format.

use core::fmt;

use crate::byte_order::ByteOrder;
use crate::checkpoint::{CheckpointError, Fields, Kind};
use crate::directory::TensorSlot;
use crate::error::{AdvanceError, Error, Fault, Section};
use crate::name::NameReader;
use crate::options::Options;
use crate::stream::{Failed, Phase, Stream};
use crate::token::{Progress, Token};

/// The state of a decoder but for the memory that is generic: compiled once a format. Sealed, since it cannot be named
/// outside of this crate.
///
/// Methods with `head` in their name are about what is before the data, and asked there only.
pub trait Machine: Clone + fmt::Debug {
    /// Of its checkpoints.
    const KIND: Kind;

    fn new(options: Options) -> Self;
    fn stream(&self) -> &Stream;
    fn stream_mut(&mut self) -> &mut Stream;

    /// Goes on before the data.
    fn step_head(
        &mut self,
        input: &mut &[u8],
        scratch: &mut [u8],
        slots: &mut [TensorSlot],
    ) -> Result<Progress, Failed>;
    /// There is nothing to say: the input is used up, but behind the data.
    fn wait(&mut self, _input: &[u8]) -> Result<Option<Token>, Error> {
        Ok(None)
    }
    /// Whether the input must end with the data.
    fn must_end(&self) -> bool {
        false
    }
    /// Byte order of the tensor data.
    fn byte_order(&self) -> ByteOrder;
    /// No further event of the value in hand is told.
    fn skip_value(&mut self);
    /// The next event's text, if that is a whole string in the chunk. The quick way to what a step would say; `None` does not mean
    /// that there is none.
    fn whole_text<'i>(&mut self, _input: &mut &'i [u8]) -> Option<&'i [u8]> {
        None
    }
    /// The length of the string in hand, where the format tells it beforehand.
    fn text_total(&self, total: u64) -> Option<u64>;
    fn head_section(&self) -> Section;
    fn head_skippable(&self) -> u64;
    /// The source jumped over `n` of the skippable bytes.
    fn head_pass(&mut self, n: u64);
    fn head_needed(&self) -> u64;
    /// What is missing when no more bytes come.
    fn head_shortfall(&self) -> Error;
    /// The fields of a checkpoint.
    fn fields(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError>;
    /// Whether the fields of a checkpoint go with each other, and with this memory.
    fn is_sound(&self, scratch_bytes: usize, slots: &[TensorSlot]) -> bool;

    /// Goes on until there is something to say or the input is used up. The first error is the last word.
    fn step(
        &mut self,
        input: &mut &[u8],
        scratch: &mut [u8],
        slots: &mut [TensorSlot],
    ) -> Result<Option<Token>, Error> {
        loop {
            let progress = if self.is_head() {
                self.step_head(input, scratch, slots)
            } else {
                let order = self.byte_order();
                self.stream_mut().step(input, scratch, slots, order)
            };
            match progress {
                Ok(Progress::On) => {}
                Ok(Progress::Wait) => return self.wait(input),
                Ok(Progress::Say(token)) => return Ok(Some(token)),
                Err(Failed) => return Err(self.stream().error),
            }
        }
    }

    /// Bytes consumed.
    fn position(&self) -> u64 {
        self.stream().carry.position()
    }

    /// The section that is being read.
    fn section(&self) -> Section {
        if self.is_head() { self.head_section() } else { self.stream().section() }
    }

    fn is_head(&self) -> bool {
        self.stream().phase == Phase::Head
    }

    fn has_failed(&self) -> bool {
        self.stream().phase == Phase::Failed
    }

    /// A fault of this library.
    fn internal(&self) -> Error {
        self.stream().error_in(Fault::internal(), self.position(), self.section())
    }

    /// Index of the entry or tensor in hand.
    fn item_index(&self, slots: &[TensorSlot]) -> Option<u32> {
        let stream = self.stream();
        if self.has_failed() {
            return stream.error.index();
        }
        match self.section() {
            Section::Header => None,
            Section::Metadata | Section::Tensors => Some(stream.index),
            Section::Data => stream.data.next(slots).map(TensorSlot::index),
        }
    }

    /// The name in hand, if the scratch still holds it.
    fn name_in_hand(&self) -> Option<&NameReader> {
        let named = matches!(self.section(), Section::Metadata | Section::Tensors);
        (named && self.stream().name.is_begun()).then_some(&self.stream().name)
    }

    /// Bytes ahead that nobody will ask for.
    fn skippable(&self, slots: &[TensorSlot]) -> u64 {
        if self.is_head() { self.head_skippable() } else { self.stream().skippable(slots) }
    }

    /// The source jumped over `n` bytes.
    fn advance(&mut self, n: u64, slots: &[TensorSlot]) -> Result<(), AdvanceError> {
        let skippable = self.skippable(slots);
        if n > skippable {
            return Err(AdvanceError { requested: n, skippable });
        }
        self.stream_mut().carry.jump(n);
        if self.is_head() {
            self.head_pass(n);
        }
        Ok(())
    }

    /// Fewest bytes until the next event; 0 when one needs none, or none will come.
    fn needed(&self, slots: &[TensorSlot]) -> u64 {
        if self.is_head() { self.head_needed() } else { self.stream().needed(slots) }
    }

    /// The verdict when no more bytes come.
    fn finish(&self, slots: &[TensorSlot]) -> Result<(), Error> {
        if self.is_head() { Err(self.head_shortfall()) } else { self.stream().finish(slots) }
    }
}
