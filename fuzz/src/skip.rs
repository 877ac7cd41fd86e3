//! Skips, jumps, clones and resets at any moment: what is left is what the file tells without them.

use std::collections::{BTreeMap, BTreeSet};

use super::choices::Choices;
use super::setup::{Fuzzed, Setup, cut};
use super::support::record::{Recording, Seen, run};
use super::watch::{Step, Watch};
use weightstream::{AdvanceError, ErrorKind, Section};

/// Clones, and resets, in one run.
const MOST: usize = 2;

/// A setup, how many moves follow, the moves (one after each call of `decode`, over and over), the file.
pub fn skip(data: &[u8]) {
    let (setup, rest) = Setup::split(data);
    let mut choices = Choices::new(rest);
    let count = usize::from(choices.byte());
    let moves = choices.slice(count);
    let file = choices.rest();
    if setup.small_scratch {
        compare::<64>(&setup, moves, file);
    } else {
        compare::<320>(&setup, moves, file);
    }
}

fn compare<const S: usize>(setup: &Setup, moves: &[u8], file: &[u8]) {
    let mut decoder: Fuzzed<S> = setup.decoder();
    let all = run(&mut decoder, [file]);
    let mut player = Player::<S>::new(setup, file);
    player.play(setup, moves);
    let in_data = all.events.iter().any(|event| matches!(event, Seen::DataStart(_)));
    if in_data && player.watch.in_data() {
        let kept = |index: u32| !player.skipped.tensors.contains(&index);
        let slots = decoder.directory().into_iter().filter(|slot| kept(slot.index()));
        assert!(slots.eq(player.decoder.directory().iter()), "the directory is another one");
    }
    let Player { watch, skipped, decoder, .. } = player;
    let rest = watch.close(&decoder);
    skipped.compare(&all, &rest);
}

/// What was skipped.
#[derive(Default)]
struct Skipped {
    /// Entries, by their index.
    entries: BTreeSet<usize>,
    /// Tensors that are not recorded.
    tensors: BTreeSet<u32>,
    /// Tensors whose data were cut off.
    data: BTreeSet<u32>,
}

struct Player<'f, const S: usize> {
    file: &'f [u8],
    decoder: Fuzzed<S>,
    watch: Watch<'f>,
    skipped: Skipped,
    records: bool,
    clones: usize,
    resets: usize,
}

impl<'f, const S: usize> Player<'f, S> {
    fn new(setup: &Setup, file: &'f [u8]) -> Self {
        let records = setup.slots > 0;
        Self {
            file,
            decoder: setup.decoder(),
            watch: Watch::new(file, records),
            skipped: Skipped::default(),
            records,
            clones: 0,
            resets: 0,
        }
    }

    fn position(&self) -> usize {
        usize::try_from(self.decoder.position()).expect("it is within the file")
    }

    fn play(&mut self, setup: &Setup, moves: &[u8]) {
        let mut moves = moves.iter().copied().cycle();
        let mut sizes = setup.sizes();
        let mut chunk_end = 0;
        loop {
            let position = self.position();
            // A jump may have left the chunk.
            chunk_end = chunk_end.max(position);
            let mut input = &self.file[position..chunk_end];
            let step = self.watch.step(&mut self.decoder, &mut input);
            match step {
                Step::Event { .. } => {}
                Step::Nothing if self.watch.ended || position == self.file.len() => return,
                Step::Nothing => {
                    let size = sizes.next().unwrap_or(1);
                    chunk_end = self.position().saturating_add(size).min(self.file.len());
                }
                Step::Failed => return,
            }
            let before = self.position();
            self.make(moves.next().unwrap_or(0), step == Step::Event { tensor: true });
            if self.position() < before {
                chunk_end = 0;
            }
        }
    }

    /// One move; `described` right after a tensor's description.
    fn make(&mut self, choice: u8, described: bool) {
        let skippable = self.decoder.skippable();
        let left = (self.file.len() - self.position()) as u64;
        match choice {
            0x40..=0x5f => self.skip_value(),
            0x60..=0x7f => self.skip_tensor(described),
            0x80..=0x9f => self.advance(skippable.min(left)),
            0xa0..=0xaf => self.advance(skippable.min(left).min(u64::from(choice & 15))),
            0xb0..=0xbf if skippable < u64::MAX => {
                let requested = skippable + 1 + (u64::MAX - skippable - 1) / 15 * u64::from(choice & 15);
                let before = format!("{:?}", self.decoder);
                assert_eq!(self.decoder.advance(requested), Err(AdvanceError { requested, skippable }));
                assert_eq!(format!("{:?}", self.decoder), before, "a refused jump changes something");
            }
            0xc0..=0xcf if self.clones < MOST && !self.watch.ended => self.fork(),
            0xd0..=0xd7 if self.resets < MOST => {
                self.resets += 1;
                self.decoder.reset();
                self.watch = Watch::new(self.file, self.records);
                self.skipped = Skipped::default();
                assert_eq!(self.decoder.position(), 0);
            }
            _ => {}
        }
    }

    fn skip_value(&mut self) {
        self.watch.skip_value(&mut self.decoder);
        let in_tensors = matches!(self.watch.recording.events.last(), Some(Seen::Tensor { .. }));
        if let Some(index) = self.watch.keys.checked_sub(1).filter(|_| !in_tensors && !self.watch.in_data()) {
            self.skipped.entries.insert(index);
        }
    }

    fn skip_tensor(&mut self, described: bool) {
        self.watch.skip_tensor(&mut self.decoder, described);
        match self.watch.recording.events.last() {
            Some(Seen::Tensor { info, .. }) if described => {
                self.skipped.tensors.insert(info.index());
            }
            Some(Seen::Data { tensor, .. }) => {
                self.skipped.data.insert(*tensor);
            }
            _ => {}
        }
    }

    fn advance(&mut self, n: u64) {
        let before = self.decoder.position();
        assert_eq!(self.decoder.advance(n), Ok(()));
        assert_eq!(self.decoder.position(), before + n);
        self.watch.look(&self.decoder);
    }

    /// Two clones go on alike, with other pieces; then one takes the place of the original.
    fn fork(&mut self) {
        self.clones += 1;
        let rest = &self.file[self.position()..];
        let whole = run(&mut self.decoder.clone(), [rest]);
        let size = if rest.len() < 1024 { 1 } else { 13 };
        // With the file used up, an event may still be due.
        let pieces = cut(rest, std::iter::repeat(size)).chain(std::iter::once(&[][..]));
        assert_eq!(run(&mut self.decoder.clone(), pieces), whole);
        self.decoder = self.decoder.clone();
    }
}

/// The events of a run, sorted by what they belong to.
#[derive(Default)]
struct Story<'r> {
    header: Option<&'r Seen>,
    entries: Vec<(&'r Seen, &'r [Seen])>,
    tensors: Vec<&'r Seen>,
    start: Option<&'r Seen>,
    data: BTreeMap<u32, &'r [u8]>,
    ended: bool,
}

impl<'r> Story<'r> {
    fn of(recording: &'r Recording) -> Self {
        let mut story = Self::default();
        for (at, event) in recording.events.iter().enumerate() {
            match event {
                Seen::Header(_) => story.header = Some(event),
                Seen::Key { .. } => {
                    let rest = &recording.events[at + 1..];
                    let starts = |event: &Seen| {
                        matches!(event, Seen::Key { .. } | Seen::Tensor { .. } | Seen::DataStart(_))
                    };
                    let len = rest.iter().position(starts).unwrap_or(rest.len());
                    story.entries.push((event, &rest[..len]));
                }
                Seen::Tensor { .. } => story.tensors.push(event),
                Seen::DataStart(_) => story.start = Some(event),
                Seen::Data { tensor, bytes, .. } => {
                    assert_eq!(story.data.insert(*tensor, bytes), None, "the data of a tensor are scattered");
                }
                Seen::End => story.ended = true,
                _ => {}
            }
        }
        story
    }
}

impl Skipped {
    /// `all` without what was skipped is `rest`.
    fn compare(&self, all: &Recording, rest: &Recording) {
        let (full, kept) = (Story::of(all), Story::of(rest));
        assert_eq!(full.header, kept.header);
        let differs = self.may_differ(all, rest);
        assert!(full.entries.len() <= kept.entries.len(), "entries are left out");
        assert!(full.tensors.len() <= kept.tensors.len(), "tensors are left out");
        for (index, (one, other)) in full.entries.iter().zip(&kept.entries).enumerate() {
            assert_eq!(one.0, other.0);
            if self.entries.contains(&index) {
                assert!(is_prefix(other.1, one.1), "{:?} is not in {:?}", other.1, one.1);
            } else {
                assert_eq!(one.1, other.1);
            }
        }
        assert!(full.tensors.iter().zip(&kept.tensors).all(|(one, other)| one == other));
        if differs {
            return;
        }
        assert_eq!((full.entries.len(), full.tensors.len()), (kept.entries.len(), kept.tensors.len()));
        assert_eq!((full.start, full.ended), (kept.start, kept.ended));
        for (tensor, bytes) in &full.data {
            let told = kept.data.get(tensor).copied();
            if self.tensors.contains(tensor) {
                assert_eq!(told, None);
            } else if self.data.contains(tensor) {
                assert!(told.is_some_and(|told| bytes.starts_with(told)));
            } else {
                assert_eq!(told, Some(*bytes));
            }
        }
        assert!(kept.data.keys().all(|tensor| full.data.contains_key(tensor)));
        let (Err(one), Err(other)) = (all.result, rest.result) else {
            assert_eq!((all.result, all.position), (rest.result, rest.position));
            return;
        };
        if one.section() == Section::Data {
            // Which tensor is the first that is cut depends on which are told.
            assert_eq!((one.code(), other.section()), (other.code(), Section::Data));
        } else {
            assert_eq!(one, other);
        }
        assert_eq!(all.position, rest.position);
    }

    /// Whether the verdict may be another one: contents that were skipped are not checked, and tensors that were not
    /// recorded are not compared with each other.
    fn may_differ(&self, all: &Recording, rest: &Recording) -> bool {
        let skipped_tensors = !self.tensors.is_empty();
        if rest.result.is_err_and(|error| error.kind() == ErrorKind::LengthUnknown) {
            return skipped_tensors;
        }
        let Err(error) = all.result else { return false };
        match error.kind() {
            ErrorKind::BadBool { .. } => {
                error.index().is_some_and(|index| self.entries.contains(&(index as usize)))
            }
            ErrorKind::DuplicateTensor { .. }
            | ErrorKind::Overlap { .. }
            | ErrorKind::BlockExceedsScratch { .. }
            | ErrorKind::DirectoryFull { .. }
            | ErrorKind::LengthUnknown => skipped_tensors,
            _ => false,
        }
    }
}

/// Whether `part` is the beginning of `whole`; its last event may be cut.
fn is_prefix(part: &[Seen], whole: &[Seen]) -> bool {
    let Some((last, before)) = part.split_last() else { return true };
    let Some((whole_before, [whole_last, ..])) = whole.split_at_checked(before.len()) else { return false };
    let cut = match (last, whole_last) {
        (Seen::Text { bytes, total, last: false }, Seen::Text { bytes: all, total: same, .. }) => {
            total == same && all.starts_with(bytes)
        }
        (Seen::Items { element, bytes }, Seen::Items { element: same, bytes: all }) => {
            element == same && all.starts_with(bytes)
        }
        (last, whole_last) => last == whole_last,
    };
    cut && before == whole_before
}
