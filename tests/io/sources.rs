//! A file in memory that can be read in every way there is, and that behaves as badly as a source may.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use embedded_io::SeekFrom;
use weightstream::io;

use crate::support::random::Random;

/// The error of a source that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cable is out")
    }
}

impl std::error::Error for Broken {}

impl embedded_io::Error for Broken {
    fn kind(&self) -> embedded_io::ErrorKind {
        embedded_io::ErrorKind::Other
    }
}

/// How many bytes a read gives.
#[derive(Clone, Debug)]
pub enum Gives {
    All,
    AtMost(usize),
    /// 1 up to so many, at random.
    Random(Random, usize),
}

/// A file whose bytes are `head`, and zeros up to `len`.
#[derive(Clone, Debug)]
pub struct TestFile<'a> {
    head: &'a [u8],
    len: u64,
    position: u64,
    gives: Gives,
    /// Every seek and every read fails once before it succeeds.
    fails: bool,
    failed_read: bool,
    failed_seek: bool,
    /// Every `async` call waits once.
    waits: bool,
    /// A call that fails, or that is dropped while it waits, leaves the position and the buffer in disorder.
    spoils: bool,
    /// Offset and length of every read that gave something.
    pub reads: Vec<(u64, usize)>,
    /// Where every seek went.
    pub seeks: Vec<SeekFrom>,
    /// How often the size was asked for at once.
    pub sizes: usize,
}

impl<'a> TestFile<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::sparse(bytes, bytes.len() as u64)
    }

    /// `head`, and zeros up to `len` bytes.
    pub fn sparse(head: &'a [u8], len: u64) -> Self {
        let (gives, reads, seeks) = (Gives::All, Vec::new(), Vec::new());
        let (fails, failed_read, failed_seek, waits, spoils) = (false, false, false, false, false);
        Self {
            head,
            len,
            position: 0,
            gives,
            fails,
            failed_read,
            failed_seek,
            waits,
            spoils,
            reads,
            seeks,
            sizes: 0,
        }
    }

    pub fn gives(self, gives: Gives) -> Self {
        Self { gives, ..self }
    }

    pub fn at_most(self, bytes: usize) -> Self {
        self.gives(Gives::AtMost(bytes))
    }

    pub fn fails(self) -> Self {
        Self { fails: true, ..self }
    }

    pub fn waits(self) -> Self {
        Self { waits: true, ..self }
    }

    pub fn spoils(self) -> Self {
        Self { spoils: true, ..self }
    }

    /// All bytes that were given.
    pub fn bytes_read(&self) -> u64 {
        self.reads.iter().map(|(_, count)| *count as u64).sum()
    }

    /// Of those, the ones at `offset` and behind it.
    pub fn bytes_read_from(&self, offset: u64) -> u64 {
        let behind =
            |(start, count): &(u64, usize)| (start + *count as u64).saturating_sub(offset.max(*start));
        self.reads.iter().map(behind).sum()
    }

    fn disturb(&mut self, buffer: &mut [u8]) {
        if self.spoils {
            self.position = self.position.wrapping_mul(31).wrapping_add(17) % (self.len + 5);
            buffer.fill(0xa5);
        }
    }

    fn fail_read_once(&mut self, buffer: &mut [u8]) -> Result<(), Broken> {
        self.failed_read = self.fails && !self.failed_read;
        if self.failed_read {
            self.disturb(buffer);
            return Err(Broken);
        }
        Ok(())
    }

    fn fail_seek_once(&mut self) -> Result<(), Broken> {
        self.failed_seek = self.fails && !self.failed_seek;
        if self.failed_seek {
            self.disturb(&mut []);
            return Err(Broken);
        }
        Ok(())
    }

    async fn wait(&mut self, buffer: &mut [u8]) {
        if self.waits {
            let position = self.position;
            self.disturb(buffer);
            WaitOnce { waited: false }.await;
            self.position = position;
        }
    }

    fn take_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Broken> {
        self.fail_read_once(buffer)?;
        let most = match &mut self.gives {
            Gives::All => buffer.len(),
            Gives::AtMost(most) => (*most).min(buffer.len()),
            Gives::Random(random, most) => (1 + random.below(*most)).min(buffer.len()),
        };
        let count = self.len.saturating_sub(offset).min(most as u64) as usize;
        for (at, byte) in (offset..).zip(&mut buffer[..count]) {
            *byte = usize::try_from(at).ok().and_then(|at| self.head.get(at)).copied().unwrap_or(0);
        }
        if count > 0 {
            self.reads.push((offset, count));
        }
        Ok(count)
    }

    fn take(&mut self, buffer: &mut [u8]) -> Result<usize, Broken> {
        let count = self.take_at(self.position, buffer)?;
        self.position += count as u64;
        Ok(count)
    }

    /// Refuses to leave the file, as the drivers of some cards do.
    fn go(&mut self, to: SeekFrom) -> Result<u64, Broken> {
        self.fail_seek_once()?;
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.seeks.push(to);
        self.position = target.filter(|target| *target <= self.len).expect("a seek past the end");
        Ok(self.position)
    }

    fn tell_size(&mut self) -> Result<u64, Broken> {
        self.fail_seek_once()?;
        self.sizes += 1;
        Ok(self.len)
    }
}

impl embedded_io::ErrorType for TestFile<'_> {
    type Error = Broken;
}

impl embedded_io::Read for TestFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Broken> {
        self.take(buffer)
    }
}

impl embedded_io::Seek for TestFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64, Broken> {
        self.go(to)
    }
}

impl embedded_io_async::Read for TestFile<'_> {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Broken> {
        self.wait(buffer).await;
        self.take(buffer)
    }
}

impl embedded_io_async::Seek for TestFile<'_> {
    async fn seek(&mut self, to: SeekFrom) -> Result<u64, Broken> {
        self.wait(&mut []).await;
        self.go(to)
    }
}

impl io::ReadAt for TestFile<'_> {
    type Error = Broken;

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Broken> {
        self.take_at(offset, buffer)
    }

    fn size(&mut self) -> Result<u64, Broken> {
        self.tell_size()
    }
}

impl io::asynch::ReadAt for TestFile<'_> {
    type Error = Broken;

    async fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Broken> {
        self.wait(buffer).await;
        self.take_at(offset, buffer)
    }

    async fn size(&mut self) -> Result<u64, Broken> {
        self.wait(&mut []).await;
        self.tell_size()
    }
}

impl TestFile<'_> {
    /// Interrupted instead of broken, where nothing is in disorder.
    fn host_error(&self) -> std::io::Error {
        if self.spoils { std::io::ErrorKind::TimedOut.into() } else { std::io::ErrorKind::Interrupted.into() }
    }
}

impl std::io::Read for TestFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.take(buffer).map_err(|Broken| self.host_error())
    }
}

impl std::io::Seek for TestFile<'_> {
    fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
        let to = match to {
            std::io::SeekFrom::Start(offset) => SeekFrom::Start(offset),
            std::io::SeekFrom::End(by) => SeekFrom::End(by),
            std::io::SeekFrom::Current(by) => SeekFrom::Current(by),
        };
        self.go(to).map_err(|Broken| self.host_error())
    }
}

/// A source that claims to have read one byte more than the buffer holds.
#[derive(Debug)]
pub struct Boaster;

impl embedded_io::ErrorType for Boaster {
    type Error = Infallible;
}

impl embedded_io::Read for Boaster {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        Ok(buffer.len() + 1)
    }
}

impl embedded_io::Seek for Boaster {
    fn seek(&mut self, to: SeekFrom) -> Result<u64, Infallible> {
        Ok(if let SeekFrom::Start(offset) = to { offset } else { 1000 })
    }
}

impl embedded_io_async::Read for Boaster {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        Ok(buffer.len() + 1)
    }
}

impl embedded_io_async::Seek for Boaster {
    async fn seek(&mut self, to: SeekFrom) -> Result<u64, Infallible> {
        embedded_io::Seek::seek(self, to)
    }
}

impl io::ReadAt for Boaster {
    type Error = Infallible;

    fn read_at(&mut self, _offset: u64, buffer: &mut [u8]) -> Result<usize, Infallible> {
        Ok(buffer.len() + 1)
    }

    fn size(&mut self) -> Result<u64, Infallible> {
        Ok(1000)
    }
}

struct WaitOnce {
    waited: bool,
}

impl Future for WaitOnce {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.waited {
            return Poll::Ready(());
        }
        self.waited = true;
        Poll::Pending
    }
}

/// Polls futures, and drops some while they wait.
#[derive(Debug)]
pub struct Executor {
    drops: Drops,
    /// How often a future waited.
    pub waits: usize,
    /// How many futures were dropped.
    pub dropped: usize,
}

/// Which futures to drop.
#[derive(Clone, Debug)]
pub enum Drops {
    Never,
    /// The one that waits so many waits after the first.
    At(usize),
    /// At random, every other one.
    Random(Random),
}

impl Executor {
    pub fn new(drops: Drops) -> Self {
        Self { drops, waits: 0, dropped: 0 }
    }

    /// What the future gives; `None` if it was dropped.
    pub fn run<F: Future>(&mut self, future: F) -> Option<F::Output> {
        let mut future = std::pin::pin!(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return Some(output);
            }
            let drop = match &mut self.drops {
                Drops::Never => false,
                Drops::At(wait) => *wait == self.waits,
                Drops::Random(random) => random.one_in(2),
            };
            self.waits += 1;
            if drop {
                self.dropped += 1;
                return None;
            }
        }
    }
}

/// Runs a future to its end.
pub fn block_on<F: Future>(future: F) -> F::Output {
    Executor::new(Drops::Never).run(future).expect("none is dropped")
}
