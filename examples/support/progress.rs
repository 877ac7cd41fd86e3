//! A line on the terminal that tells how far it is.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use terminal_size::{Width, terminal_size_of};

use crate::support::number;

const REDRAW: Duration = Duration::from_millis(100);
/// Columns of the bar at most.
const MOST_BAR: usize = 40;
/// Columns of what stands around it.
const AROUND_BAR: usize = 55;

/// Draws on standard error if that is a terminal, and otherwise does nothing.
pub(crate) struct Progress {
    is_on: bool,
    is_drawn: bool,
    started: Instant,
    drawn: Instant,
    end: Option<u64>,
}

impl Progress {
    /// `end` bytes are to come, if that is known.
    pub(crate) fn new(end: Option<u64>, quiet: bool) -> Self {
        let now = Instant::now();
        Self { is_on: !quiet && io::stderr().is_terminal(), is_drawn: false, started: now, drawn: now, end }
    }

    /// The end is known better now.
    pub(crate) fn set_end(&mut self, end: Option<u64>) {
        self.end = end.or(self.end);
    }

    /// So many bytes have come. Seldom draws: calls may be many.
    pub(crate) fn update(&mut self, bytes: u64) {
        if self.is_on && self.drawn.elapsed() >= REDRAW {
            self.drawn = Instant::now();
            self.is_drawn = true;
            // A terminal that is gone needs no progress.
            let _ = io::stderr().write_all(format!("\r{}\x1b[K", self.line(bytes)).as_bytes());
        }
    }

    /// Takes the line away, so that something else can be written.
    pub(crate) fn clear(&mut self) {
        if self.is_drawn {
            self.is_drawn = false;
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }

    fn line(&self, bytes: u64) -> String {
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = bytes as f64 / seconds.max(1e-3);
        let speed = format!("{}/s", number::bytes(rate as u64));
        let Some(end) = self.end.filter(|end| *end > 0) else {
            return format!("  {}  {speed}", number::bytes(bytes));
        };
        let width = terminal_size_of(io::stderr()).map_or(80, |(Width(width), _)| usize::from(width));
        let bar = width.saturating_sub(AROUND_BAR).min(MOST_BAR);
        let part = (bytes as f64 / end as f64).min(1.0);
        let full = (part * bar as f64) as usize;
        let left = (end.saturating_sub(bytes) as f64 / rate.max(1.0)).ceil() as u64;
        let (percent, rest) = ((100.0 * part) as u64, bar - full);
        let place = format!("{} of {}", number::bytes(bytes), number::bytes(end));
        format!(
            "  {percent:>3} %  {}{}  {place}  {speed}  {}:{:02} left",
            "█".repeat(full),
            "░".repeat(rest),
            left / 60,
            left % 60
        )
    }
}
