//! Models in several files: whether the files that came are one whole set.

mod error;

pub use error::{ShardError, SplitKey};

use crate::event::{Event, Name};
use crate::model_name::Shard;
use crate::value::{Scalar, ValueType};

/// Checks that files make up one model, while each of them is decoded.
///
/// A sharded model is several whole GGUF files, each with the keys `split.no` (u16, from 0), `split.count` (u16) and
/// `split.tensors.count` (i32, of all files). They must come in order, the first one first. A file without these keys,
/// or with a `split.count` of 0 or 1, is a set of one.
///
/// For each file: [`begin`](Self::begin), [`accept`](Self::accept) for each event, and [`end_file`](Self::end_file) once
/// the decoder has reached its end; after the last one [`finish`](Self::finish). After an error, every later call returns
/// the same one. To read a file once more after its source failed, go on from a clone made before it.
///
/// Nothing is kept of tensors but their number: that no name stands in two files is not checked. Who can spare the
/// memory compares [`Name::name_hash`] of each [`Event::Tensor`] with those before.
///
/// ```
/// use weightstream::{Decoder, ShardSet};
///
/// let files = [std::fs::read("examples/data/sample.gguf")?]; // a set of one
/// let mut set = ShardSet::new();
/// for file in &files {
///     let mut decoder = Decoder::new([]);
///     let mut input = &file[..];
///     set.begin(None)?;
///     while let Some(event) = decoder.decode(&mut input)? {
///         if !set.accept(&event)? {
///             decoder.skip_value();
///         }
///     }
///     decoder.finish()?;
///     set.end_file()?;
/// }
/// set.finish()?;
/// assert_eq!((set.count(), set.tensors()), (Some(1), 25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ShardSet {
    /// What the first file says of the set; no file has come while its count is 0.
    set: Claim,
    /// Files that have been begun and checked.
    files: u32,
    tensors: u64,
    phase: Phase,
    /// The file in hand.
    name: Option<Shard>,
    keys: Keys,
    pending: Pending,
    /// Only of meaning in [`Phase::Failed`].
    failure: ShardError,
}

/// Where in the calls of one file a set is. The first one is what a new set holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Between,
    /// The keys and tensors are coming.
    Described,
    /// The file belongs to the set.
    Checked,
    Failed,
}

/// The key whose value comes next. Not an `Option`, which would keep its nothing in another byte than 0.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum Pending {
    Nothing,
    Value(SplitKey),
}

/// What a file says of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Claim {
    count: u16,
    /// Tensors of all files. Of no meaning in a set of one.
    tensors: u32,
}

/// The values of a file's keys, as far as they came.
#[derive(Clone, Copy, Debug)]
struct Keys {
    no: Option<u16>,
    count: Option<u16>,
    tensors_count: Option<i32>,
}

impl Keys {
    const NONE: Self = Self { no: None, count: None, tensors_count: None };

    /// Whether a key has come.
    const fn has(&self, key: SplitKey) -> bool {
        match key {
            SplitKey::No => self.no.is_some(),
            SplitKey::Count => self.count.is_some(),
            SplitKey::TensorsCount => self.tensors_count.is_some(),
        }
    }

    const fn set(&mut self, key: SplitKey, value: Scalar) {
        match (key, value) {
            (SplitKey::No, Scalar::U16(no)) => self.no = Some(no),
            (SplitKey::Count, Scalar::U16(count)) => self.count = Some(count),
            (SplitKey::TensorsCount, Scalar::I32(tensors)) => self.tensors_count = Some(tensors),
            // The types were checked with the key.
            _ => {}
        }
    }

    /// The file's number, from 1, and what it says of the set; `None` for a file that is no shard.
    fn shard(&self) -> Result<Option<(u16, Claim)>, ShardError> {
        let missing = |key| ShardError::MissingKey { key };
        let count = match self.count {
            Some(0 | 1) => return Ok(None),
            None if self.no.is_none() && self.tensors_count.is_none() => return Ok(None),
            count => count.ok_or(missing(SplitKey::Count))?,
        };
        let no = self.no.ok_or(missing(SplitKey::No))?;
        let total = self.tensors_count.ok_or(missing(SplitKey::TensorsCount))?;
        if no >= count {
            return Err(ShardError::NoSuchShard { no, count });
        }
        let tensors = u32::try_from(total).map_err(|_| ShardError::NegativeTotal { tensors: total })?;
        Ok(Some((no.saturating_add(1), Claim { count, tensors })))
    }
}

impl ShardSet {
    /// A set of which no file has come. It is all zero bytes, so that a static one lies in `.bss`. Never panics.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            set: Claim { count: 0, tensors: 0 },
            files: 0,
            tensors: 0,
            phase: Phase::Between,
            name: None,
            keys: Keys::NONE,
            pending: Pending::Nothing,
            failure: ShardError::OutOfTurn,
        }
    }

    /// A file begins. `name` is what its name says, if that is known and says anything: see
    /// [`ShardName::shard`](crate::ShardName::shard). It is then held against the keys.
    ///
    /// # Errors
    ///
    /// [`ShardError::OutOfTurn`] when the file before was not ended. Never panics.
    pub fn begin(&mut self, name: Option<Shard>) -> Result<(), ShardError> {
        self.turn(Phase::Between)?;
        self.phase = Phase::Described;
        (self.name, self.keys, self.pending) = (name, Keys::NONE, Pending::Nothing);
        Ok(())
    }

    /// Takes an event of the file in. Returns whether the set needs what follows: `false` is said of a key whose value
    /// may be skipped.
    ///
    /// # Errors
    ///
    /// At a key: that its type is wrong, or that it comes twice. At [`Event::DataStart`], before any data: that the file
    /// does not belong here, and why. [`ShardError::OutOfTurn`] when no file was begun, or the one before was not ended.
    /// Never panics.
    pub fn accept(&mut self, event: &Event<'_>) -> Result<bool, ShardError> {
        match self.phase {
            Phase::Described => {}
            // Another file, which was not begun.
            Phase::Checked if matches!(event, Event::Header(_)) => return self.fail(ShardError::OutOfTurn),
            Phase::Checked => return Ok(true),
            Phase::Between | Phase::Failed => return self.turn(Phase::Described).map(|()| true),
        }
        match *event {
            Event::Key { name, value_type } => {
                let key = self.key(name, value_type).or_else(|error| self.fail(error))?;
                self.pending = key.map_or(Pending::Nothing, Pending::Value);
                return Ok(key.is_some());
            }
            Event::Scalar(value) => {
                if let Pending::Value(key) = self.pending {
                    self.keys.set(key, value);
                }
            }
            Event::Tensor { .. } => self.tensors = self.tensors.saturating_add(1),
            Event::DataStart(_) => {
                self.check_file().or_else(|error| self.fail(error))?;
                self.phase = Phase::Checked;
            }
            _ => {}
        }
        Ok(true)
    }

    /// The file's last byte has come: [`Decoder::finish`](crate::Decoder::finish) found it whole.
    ///
    /// # Errors
    ///
    /// [`ShardError::OutOfTurn`] when no [`Event::DataStart`] has come. Never panics.
    pub fn end_file(&mut self) -> Result<(), ShardError> {
        self.turn(Phase::Checked)?;
        self.phase = Phase::Between;
        Ok(())
    }

    /// No more files come.
    ///
    /// # Errors
    ///
    /// [`ShardError::Missing`] when some have not come, [`ShardError::OutOfTurn`] when the last one was not ended. Never
    /// panics.
    pub fn finish(&self) -> Result<(), ShardError> {
        match self.phase {
            Phase::Failed => Err(self.failure),
            Phase::Described | Phase::Checked => Err(ShardError::OutOfTurn),
            Phase::Between => match self.next_number() {
                Some(number) => Err(ShardError::Missing { number, count: self.set.count.max(1) }),
                None => Ok(()),
            },
        }
    }

    /// Files in the set, as the first one says; `None` until its [`Event::DataStart`]. Never panics.
    #[must_use]
    pub const fn count(&self) -> Option<u16> {
        if self.set.count == 0 { None } else { Some(self.set.count) }
    }

    /// The number, from 1, of the file that must come next; `None` when all have come, or at least begun their data.
    /// Never panics.
    #[must_use]
    pub fn next_number(&self) -> Option<u32> {
        let count = u32::from(self.set.count.max(1));
        if self.files < count { Some(self.files.saturating_add(1)) } else { None }
    }

    /// Tensors that have come in all files. Never panics.
    #[must_use]
    pub const fn tensors(&self) -> u64 {
        self.tensors
    }

    /// Whether a key is one of ours, and as it should be.
    fn key(&self, name: Name<'_>, value_type: ValueType) -> Result<Option<SplitKey>, ShardError> {
        let Some(key) = SplitKey::ALL.into_iter().find(|key| name == key.name()) else { return Ok(None) };
        if value_type != key.value_type() {
            return Err(ShardError::WrongType { key, value_type });
        }
        if self.keys.has(key) {
            return Err(ShardError::DuplicateKey { key });
        }
        Ok(Some(key))
    }

    /// All keys and descriptions of the file in hand have come.
    fn check_file(&mut self) -> Result<(), ShardError> {
        let Some((number, claim)) = self.keys.shard()? else { return self.check_unsharded() };
        if self.files == 0 {
            self.set = claim;
        }
        self.check_membership(number, claim)?;
        self.files = self.files.saturating_add(1);
        self.check_total(number)
    }

    /// A file that is no shard is a whole set, and its name must not say otherwise.
    fn check_unsharded(&mut self) -> Result<(), ShardError> {
        if self.files > 0 || self.name.is_some_and(|name| name.count != 1) {
            return Err(ShardError::NotSharded);
        }
        (self.set.count, self.files) = (1, 1);
        Ok(())
    }

    /// Whether it is the next file of this set.
    fn check_membership(&self, number: u16, claim: Claim) -> Result<(), ShardError> {
        let (set, number) = (self.set, u32::from(number));
        if claim.count != set.count {
            return Err(ShardError::OtherCount { expected: set.count, found: claim.count });
        }
        if claim.tensors != set.tensors {
            return Err(ShardError::OtherTotal { expected: set.tensors, found: claim.tensors });
        }
        if number <= self.files {
            return Err(ShardError::Repeated { number });
        }
        let shard = Shard { number, count: u32::from(set.count) };
        if let Some(name) = self.name.filter(|name| *name != shard) {
            return Err(ShardError::NameDiffers { name, keys: shard });
        }
        let expected = self.files.saturating_add(1);
        if number == expected { Ok(()) } else { Err(ShardError::OutOfOrder { expected, found: number }) }
    }

    /// Too many tensors are an error at once, too few with the last file.
    fn check_total(&self, number: u16) -> Result<(), ShardError> {
        let (expected, found) = (self.set.tensors, self.tensors);
        if found > u64::from(expected) || (number == self.set.count && found != u64::from(expected)) {
            return Err(ShardError::WrongTotal { expected, found });
        }
        Ok(())
    }

    /// Whether it is the turn of a call that belongs in this phase.
    fn turn(&mut self, phase: Phase) -> Result<(), ShardError> {
        match self.phase {
            Phase::Failed => Err(self.failure),
            now if now == phase => Ok(()),
            _ => self.fail(ShardError::OutOfTurn),
        }
    }

    const fn fail<T>(&mut self, error: ShardError) -> Result<T, ShardError> {
        (self.phase, self.failure) = (Phase::Failed, error);
        Err(error)
    }
}

impl Default for ShardSet {
    fn default() -> Self {
        Self::new()
    }
}
