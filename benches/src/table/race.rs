//! How long things take, measured in turns, so that a slow moment of the machine meets all of them.
//!
//! What is measured is the processor's time of this thread, the system's work for it included: what other programs take away
//! does not count, nor does waiting for a disk.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// A sample is at least this long: what is shorter is done several times.
const SAMPLE: Duration = Duration::from_micros(50);
const LEAST_ROUNDS: usize = 5;
const MOST_ROUNDS: usize = 2001;

/// Things of which one round does each.
#[derive(Default)]
pub(crate) struct Race<'a> {
    entrants: Vec<Box<dyn FnMut() + 'a>>,
}

impl<'a> Race<'a> {
    /// Returns the place of its time in the results.
    pub(crate) fn enter(&mut self, entrant: impl FnMut() + 'a) -> usize {
        self.entrants.push(Box::new(entrant));
        self.entrants.len() - 1
    }

    /// The median time of each. Rounds go on until `budget` is spent, but for five at least.
    pub(crate) fn run(mut self, budget: Duration) -> Vec<Duration> {
        let began = Instant::now();
        let repeats: Vec<u32> = self.entrants.iter_mut().map(|entrant| repeats(entrant)).collect();
        let mut samples = vec![Vec::new(); self.entrants.len()];
        for round in 0..MOST_ROUNDS {
            if round >= LEAST_ROUNDS && began.elapsed() > budget {
                break;
            }
            for ((entrant, &repeats), samples) in self.entrants.iter_mut().zip(&repeats).zip(&mut samples) {
                // What is short enough to be repeated is to find its data in the cache.
                if repeats > 1 {
                    entrant();
                }
                samples.push(time(entrant, repeats));
            }
        }
        samples.into_iter().map(median).collect()
    }
}

fn repeats(entrant: &mut dyn FnMut()) -> u32 {
    entrant();
    let once = (0..3).map(|_| time(entrant, 1)).min().unwrap_or_default();
    let wanted = SAMPLE.as_nanos() / once.as_nanos().max(1) + 1;
    wanted.try_into().unwrap_or(u32::MAX)
}

fn time(entrant: &mut dyn FnMut(), repeats: u32) -> Duration {
    let start = thread_time();
    for _ in 0..repeats {
        entrant();
    }
    (thread_time() - start) / repeats
}

fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().expect("a time is not negative")
}

fn median(mut samples: Vec<Duration>) -> Duration {
    let middle = samples.len() / 2;
    *samples.select_nth_unstable(middle).1
}
