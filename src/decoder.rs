//! The decoder: what a caller holds.

use crate::carry::as_u64;
use crate::checkpoint::{self, CheckpointError, Fields, within};
use crate::decode::{Decode, Steps};
use crate::directory::{Directory, TensorSlot};
use crate::error::{AdvanceError, Error};
use crate::event::{Blocks, Context, Event, Items, Name};
use crate::gguf;
use crate::machine::Machine;
use crate::name::NameReader;
use crate::options::Options;
use crate::token::{Lent, Token};

/// Scratch bytes of a decoder from [`Decoder::new`]: enough for the largest block (292) and for any usual name.
pub(crate) const DEFAULT_SCRATCH: usize = 320;
/// Fewest scratch bytes.
const LEAST_SCRATCH: usize = 64;

/// Decodes one GGUF file, pushed in as chunks of any size, and tells what it says as [`Event`]s.
///
/// `D` is the memory that tensors are recorded in: `[TensorSlot; N]` or `&mut [TensorSlot]`. Only the data of recorded
/// tensors are told; with no slot at all, none. `SCRATCH` bytes hold the name in hand, or a block that a chunk edge cut.
///
/// All memory is `size_of::<Decoder>()`; the value of [`Decoder::new`] is all zero bytes, so a static one lies in `.bss`.
/// A clone taken at any moment goes on exactly like the original.
///
/// The options that a decoder was made with, its directory and its scratch cannot be changed while it runs;
/// [`reset`](Self::reset) begins a new file.
pub type Decoder<D = [TensorSlot; 0], const SCRATCH: usize = DEFAULT_SCRATCH> =
    FormatDecoder<gguf::Machine, D, SCRATCH>;

/// The decoder of a format: see [`Decoder`]. `M` is its state but for the memory that the caller chooses.
#[derive(Clone, Debug)]
pub struct FormatDecoder<M, D, const SCRATCH: usize> {
    machine: M,
    directory: D,
    scratch: [u8; SCRATCH],
}

/// Making a decoder of GGUF files.
impl<D> Decoder<D> {
    /// A decoder with default [`Options`]. `directory` is memory to record tensors in. Never panics.
    #[must_use]
    pub const fn new(directory: D) -> Self {
        Self::with_options(directory, Options::new())
    }

    /// A decoder with other options. Never panics.
    #[must_use]
    pub const fn with_options(directory: D, options: Options) -> Self {
        Self::with_machine(gguf::Machine::new(options), directory)
    }
}

/// Making a decoder of GGUF files.
impl<D: AsRef<[TensorSlot]> + AsMut<[TensorSlot]>, const SCRATCH: usize> Decoder<D, SCRATCH> {
    /// A decoder with scratch memory of another size, at least 64 bytes (checked when compiled):
    /// `Decoder::<_, 1024>::with_scratch(..)`. Never panics.
    #[must_use]
    pub const fn with_scratch(directory: D, options: Options) -> Self {
        Self::with_machine(gguf::Machine::new(options), directory)
    }
}

impl<M, D, const SCRATCH: usize> FormatDecoder<M, D, SCRATCH> {
    pub(crate) const fn with_machine(machine: M, directory: D) -> Self {
        const { assert!(SCRATCH >= LEAST_SCRATCH, "the scratch of a decoder is at least 64 bytes") }
        Self { machine, directory, scratch: [0; SCRATCH] }
    }
}

impl<M, D, const SCRATCH: usize> FormatDecoder<M, D, SCRATCH>
where
    M: Machine,
    D: AsRef<[TensorSlot]> + AsMut<[TensorSlot]>,
{
    /// Consumes bytes from the front of `input` until there is an event to tell.
    ///
    /// - `Ok(None)` means that `input` is empty, or that the stream has ended: bytes after [`Event::End`] stay in it.
    /// - Some events need no input, so call until `None`, not until `input` is empty.
    /// - Events (pieces of one string and runs of one array or tensor merged) and errors do not depend on where
    ///   chunks end.
    /// - Time is linear in the bytes consumed, plus one sort of the directory. No claim of the file costs more.
    /// - After [`Event::Text`], [`Event::Items`] or [`Event::Data`], [`position`](Self::position) is the end of exactly
    ///   the bytes lent, so that a caller with the file in memory may take them from there; not of a character that JSON has
    ///   escaped.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with the file, after all events before it. Every later call returns the same
    /// error. Never panics.
    #[cfg_attr(target_pointer_width = "64", inline)] // The loop around it then has a short way to each string.
    pub fn decode<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Event<'a>>, Error> {
        if let Some(part) = self.machine.whole_text(input) {
            return Ok(Some(Event::whole_text(part)));
        }
        let chunk: &'i [u8] = input;
        // A step takes from a slice of its own, so that the caller's needs no address and may stay in registers.
        let mut rest = chunk;
        let told = self.step(&mut rest);
        *input = rest;
        let Some(token) = told? else { return Ok(None) };
        let consumed = chunk.len().checked_sub(rest.len()).and_then(|used| chunk.get(..used));
        self.lend(token, consumed.unwrap_or_default()).map(Some)
    }

    /// The event of a token, its slices lent. `consumed` ends with what the step took of the chunk.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn event<'a>(&'a self, token: Token, consumed: &'a [u8]) -> Option<Event<'a>> {
        let slice = |lent: Lent| match lent {
            Lent::Chunk(len) => consumed.get(consumed.len().checked_sub(len)?..),
            Lent::Carry => Some(self.machine.stream().carry.bytes()),
            Lent::Scratch(len) => self.scratch.get(..len),
        };
        let order = self.machine.byte_order();
        Some(match token {
            Token::Header(header) => Event::Header(header),
            Token::Key(value_type) => Event::Key { name: self.name(&self.machine.stream().name), value_type },
            Token::Scalar(value) => Event::Scalar(value),
            Token::Text { part, start, total, last } => {
                Event::Text { part: slice(part)?, start, total: self.machine.text_total(total), last }
            }
            Token::ArrayStart { element, len } => Event::ArrayStart { element, len },
            Token::Items { run, element } => Event::Items(Items::new(slice(run)?, element, order)),
            Token::ArrayEnd => Event::ArrayEnd,
            Token::Tensor => Event::Tensor {
                name: self.name(&self.machine.stream().name),
                info: &self.machine.stream().tensor,
            },
            Token::DataStart(start) => Event::DataStart(start),
            Token::Data { blocks, first_element } => {
                let slot = self.machine.stream().data.next(self.directory.as_ref())?;
                let bytes = slice(blocks)?;
                Event::Data(Blocks::new(bytes, first_element, slot.index(), slot.tensor_type(), order))
            }
            Token::End => Event::End,
        })
    }

    fn name<'a>(&'a self, name: &NameReader) -> Name<'a> {
        Name::new(name.kept(&self.scratch), name.total(), name.is_whole(), name.hash())
    }

    /// Says that no more bytes come.
    ///
    /// # Errors
    ///
    /// The error that `decode` returned, if it did. [`ErrorKind::Truncated`](crate::ErrorKind::Truncated) unless the last byte of the last tensor
    /// has come, recorded or not; the padding after it is not required. [`ErrorKind::EventsPending`](crate::ErrorKind::EventsPending) when,
    /// before [`Event::DataStart`], `decode` was not called until it returned `None`. Never panics.
    pub fn finish(&self) -> Result<(), Error> {
        self.machine.finish(self.directory.as_ref())
    }

    /// No further event of the current key's value is told. The value's bytes are still read or jumped over, and
    /// what the decoder itself needs in them (`general.alignment`, lengths, counts) is still checked; the contents
    /// are not. Without a value in hand it does nothing. Never panics.
    pub fn skip_value(&mut self) {
        self.machine.skip_value();
    }

    /// After [`Event::Tensor`]: the tensor is not recorded, and its data are not told. After [`Event::Data`]: the rest
    /// of that tensor is not told. Otherwise it does nothing. Never panics.
    pub fn skip_tensor(&mut self) {
        self.machine.stream_mut().skip_tensor();
    }

    /// Bytes consumed: the absolute offset of the next byte of input. After an error it is somewhere behind the
    /// error's offset, depending on the chunks, or before it, where known [`input_bytes`](Options::input_bytes) showed the error
    /// early. Never panics.
    pub fn position(&self) -> u64 {
        self.machine.position()
    }

    /// Fewest bytes until the next event: with fewer, none comes. 0 when one needs no input, or none will come. It is
    /// tightest after `decode` returned `None`. Never panics.
    pub fn needed(&self) -> u64 {
        self.machine.needed(self.directory.as_ref())
    }

    /// Bytes ahead that nobody will ask for: see [`advance`](Self::advance). Ask after `decode` returned `None`: some
    /// states only turn into a gap then. It is close to 2^64 where the rest of an input of unknown size is of no
    /// interest. Never panics.
    pub fn skippable(&self) -> u64 {
        self.machine.skippable(self.directory.as_ref())
    }

    /// Says that the source jumped over `n` bytes, instead of pushing them. Never jump past the end of the source: `finish`
    /// would take a short file for a whole one. [`io::Events`](crate::io::Events) takes care of that.
    ///
    /// ```
    /// use std::io::{Read, Seek, SeekFrom};
    /// use weightstream::{Decoder, Event, TensorSlot};
    ///
    /// let mut file = std::fs::File::open("examples/data/sample.gguf")?;
    /// let mut decoder = Decoder::new([TensorSlot::EMPTY; 1]);
    /// let (mut buffer, mut read, mut ended) = ([0; 512], 0, false);
    /// while !ended {
    ///     let count = file.read(&mut buffer)?;
    ///     read += count;
    ///     ended = count == 0;
    ///     let mut input = &buffer[..count];
    ///     while let Some(event) = decoder.decode(&mut input)? {
    ///         match event {
    ///             Event::Key { .. } => decoder.skip_value(),
    ///             Event::Tensor { name, .. } if name != "output_norm.weight" => decoder.skip_tensor(),
    ///             Event::End => ended = true,
    ///             _ => {}
    ///         }
    ///     }
    ///     decoder.advance(decoder.skippable())?;
    ///     file.seek(SeekFrom::Start(decoder.position()))?;
    /// }
    /// decoder.finish()?;
    /// assert!(read < 20_000, "of 99,680 bytes");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When `n` is more than [`skippable`](Self::skippable): then nothing has changed. Never panics.
    pub fn advance(&mut self, n: u64) -> Result<(), AdvanceError> {
        self.machine.advance(n, self.directory.as_ref())
    }

    /// Absolute offset where the file must end at least, known from [`Event::DataStart`] on: the byte after the last
    /// tensor. `None` before, and where a tensor of unknown type runs to the end of an input of unknown size. Never
    /// panics.
    pub fn end(&self) -> Option<u64> {
        self.machine.stream().end()
    }

    /// The tensors recorded so far. Never panics.
    pub fn directory(&self) -> Directory<'_> {
        Directory::new(self.machine.stream().data.recorded(self.directory.as_ref()))
    }

    /// Where the decoder is, in words for a message: also after an error. In the data it knows recorded tensors only;
    /// the [`index`](crate::Error::index) of an error of [`finish`](Self::finish) knows all. Never panics.
    pub fn context(&self) -> Context<'_> {
        Context {
            section: self.machine.section(),
            index: self.machine.item_index(self.directory.as_ref()),
            name: self.machine.name_in_hand().map(|name| self.name(name)),
        }
    }

    /// The directory's memory, and how many of its slots hold a tensor. Never panics.
    pub fn into_parts(self) -> (D, usize) {
        let recorded = self.machine.stream().data.recorded(self.directory.as_ref()).len();
        (self.directory, recorded)
    }

    /// Bytes that [`checkpoint`](Self::checkpoint) would write now; 0 after an error. It grows with the tensors that are
    /// recorded: at most 412 bytes, 40 for each of them, and the scratch. Where the feature `safetensors` is on, 470 instead of
    /// 412, and 500 for the decoder of those files. Never panics.
    pub fn checkpoint_bytes(&self) -> usize {
        checkpoint::measure(&mut |fields| self.save(fields)).unwrap_or(0)
    }

    /// Writes all that a decoder needs to go on from here to the front of `out`, such as a page of flash, and returns
    /// how many bytes that took. It holds no bytes of the input but the name in hand, or a block that was cut.
    ///
    /// ```
    /// use weightstream::{Decoder, Event};
    ///
    /// let file = std::fs::read("examples/data/sample.gguf")?;
    /// let mut decoder = Decoder::new([]);
    /// let mut saved = [0; 1024];
    /// let mut chunk = &file[..1000];
    /// while decoder.decode(&mut chunk)?.is_some() {}
    /// decoder.checkpoint(&mut saved)?;
    ///
    /// // After a reboot: a decoder that was made in the same way.
    /// let mut decoder = Decoder::new([]);
    /// decoder.restore(&saved)?;
    /// assert_eq!(decoder.position(), 1000);
    /// let mut rest = &file[1000..];
    /// while decoder.decode(&mut rest)?.is_some_and(|event| !matches!(event, Event::End)) {}
    /// decoder.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`](CheckpointError::BufferTooSmall), with [`checkpoint_bytes`](Self::checkpoint_bytes), and
    /// [`Failed`](CheckpointError::Failed) after an error of `decode`. Never panics.
    pub fn checkpoint(&self, out: &mut [u8]) -> Result<usize, CheckpointError> {
        if self.machine.has_failed() {
            return Err(CheckpointError::Failed);
        }
        checkpoint::save(M::KIND, &mut |fields| self.save(fields), out)
    }

    /// Goes on where the decoder was that wrote this checkpoint. `bytes` begin with it; what stands behind it does not
    /// matter. The next byte to push is the one at [`position`](Self::position), of the same file.
    ///
    /// The decoder must have the same options, scratch and at least as many slots as the one that wrote it. Options are the
    /// same where the same methods were called with the same numbers.
    ///
    /// # Errors
    ///
    /// When the checkpoint was changed, is cut short or does not fit this decoder: see [`CheckpointError`]. The decoder is
    /// then as after [`reset`](Self::reset). Never panics.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let loaded = checkpoint::load(M::KIND, &mut |fields| self.load(fields), bytes);
        if loaded.is_err() {
            self.reset();
        }
        loaded
    }

    fn save(&self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.same(as_u64(SCRATCH))?;
        self.machine.clone().fields(fields)?;
        for slot in self.machine.stream().data.recorded(self.directory.as_ref()) {
            slot.clone().fields(fields)?;
        }
        let used = usize::try_from(self.machine.stream().scratch_bytes()).ok();
        fields.lent(used.and_then(|used| self.scratch.get(..used)).unwrap_or_default())
    }

    fn load(&mut self, fields: &mut dyn Fields) -> Result<(), CheckpointError> {
        fields.same(as_u64(SCRATCH))?;
        self.machine.fields(fields)?;
        let slots = self
            .machine
            .stream()
            .data
            .recorded_mut(self.directory.as_mut())
            .ok_or(CheckpointError::Mismatch)?;
        for slot in slots.iter_mut() {
            slot.fields(fields)?;
        }
        within(self.machine.is_sound(SCRATCH, slots))?;
        let used = usize::try_from(self.machine.stream().scratch_bytes()).ok();
        let used = used.and_then(|used| self.scratch.get_mut(..used)).ok_or(CheckpointError::OutOfRange)?;
        fields.bytes(used)
    }

    /// Begins a new file: keeps the options and forgets everything else. Never panics.
    pub fn reset(&mut self) {
        self.machine = M::new(self.machine.stream().options);
    }
}

impl<M, D, const SCRATCH: usize> Steps for FormatDecoder<M, D, SCRATCH>
where
    M: Machine,
    D: AsRef<[TensorSlot]> + AsMut<[TensorSlot]>,
{
    #[inline]
    fn whole_text<'i>(&mut self, input: &mut &'i [u8]) -> Option<&'i [u8]> {
        self.machine.whole_text(input)
    }

    #[cfg_attr(target_pointer_width = "64", inline(never))]
    fn step(&mut self, input: &mut &[u8]) -> Result<Option<Token>, Error> {
        self.machine.step(input, &mut self.scratch, self.directory.as_mut())
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn lend<'a>(&'a self, token: Token, consumed: &'a [u8]) -> Result<Event<'a>, Error> {
        self.event(token, consumed).ok_or_else(|| self.machine.internal())
    }

    fn must_end(&self) -> bool {
        self.machine.must_end()
    }
}

impl<M, D, const SCRATCH: usize> Decode for FormatDecoder<M, D, SCRATCH>
where
    M: Machine,
    D: AsRef<[TensorSlot]> + AsMut<[TensorSlot]>,
{
    fn finish(&self) -> Result<(), Error> {
        self.finish()
    }

    fn skip_value(&mut self) {
        self.skip_value();
    }

    fn skip_tensor(&mut self) {
        self.skip_tensor();
    }

    fn position(&self) -> u64 {
        self.position()
    }

    fn needed(&self) -> u64 {
        self.needed()
    }

    fn skippable(&self) -> u64 {
        self.skippable()
    }

    fn advance(&mut self, n: u64) -> Result<(), AdvanceError> {
        self.advance(n)
    }

    fn wanted(&self, room: u64) -> u64 {
        self.machine.stream().wanted(room, self.directory.as_ref())
    }

    fn end(&self) -> Option<u64> {
        self.end()
    }

    fn directory(&self) -> Directory<'_> {
        self.directory()
    }

    fn context(&self) -> Context<'_> {
        self.context()
    }
}
