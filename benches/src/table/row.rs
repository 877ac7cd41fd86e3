//! The table.

use std::fmt;
use std::time::Duration;

use crate::peers::Peer;

/// One thing to do, and how fast it is done.
pub(crate) struct Row {
    pub(crate) task: String,
    pub(crate) unit: Unit,
    pub(crate) weightstream: f64,
    /// What no reader of the same bytes can beat by much: its name, and how fast it is.
    pub(crate) limits: Vec<(&'static str, f64)>,
    pub(crate) peers: Vec<(Peer, &'static str, f64)>,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Unit {
    /// Billions of weights a second.
    Weights,
    /// Billions of bytes a second.
    Bytes,
    Milliseconds,
}

impl Unit {
    /// In this unit, the speed of one that does `amount` weights or bytes in this time.
    pub(crate) fn of(self, amount: usize, time: Duration) -> f64 {
        match self {
            Self::Milliseconds => time.as_secs_f64() * 1e3,
            Self::Weights | Self::Bytes => amount as f64 / time.as_secs_f64() / 1e9,
        }
    }

    /// How many times as fast the first is as the second.
    fn ratio(self, one: f64, other: f64) -> f64 {
        if self == Self::Milliseconds { other / one } else { one / other }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Weights => "G weights/s",
            Self::Bytes => "GB/s",
            Self::Milliseconds => "ms",
        })
    }
}

impl Row {
    /// The head of a table of these rows.
    pub(crate) fn print_head() {
        let peers = Peer::ALL.map(Peer::title).join(" | ");
        println!("| task | unit | weightstream | limit | another limit | {peers} |");
        println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    }

    pub(crate) fn print(&self) {
        let mut cells = vec![self.task.clone(), self.unit.to_string(), figure(self.weightstream)];
        for place in 0..2 {
            cells.push(self.limits.get(place).map_or(String::new(), |(name, speed)| self.cell(name, *speed)));
        }
        for peer in Peer::ALL {
            let of_peer = self.peers.iter().filter(|(other, ..)| *other == peer);
            let of_peer: Vec<_> = of_peer.map(|(_, name, speed)| self.cell(name, *speed)).collect();
            cells.push(of_peer.join(", "));
        }
        println!("| {} |", cells.join(" | "));
    }

    fn cell(&self, name: &str, speed: f64) -> String {
        let ratio = figure(self.unit.ratio(self.weightstream, speed));
        format!("{name} {} (**{ratio}**)", figure(speed)).trim_start().to_owned()
    }

    /// How many times as fast as the peer weightstream is.
    pub(crate) fn ratio_to(&self, peer: Peer) -> Option<f64> {
        let (.., speed) = self.peers.iter().find(|(other, ..)| *other == peer)?;
        Some(self.unit.ratio(self.weightstream, *speed))
    }

    /// How many times as fast as the limit of this name weightstream is.
    pub(crate) fn ratio_to_limit(&self, limit: &str) -> Option<f64> {
        let (_, speed) = self.limits.iter().find(|(name, _)| *name == limit)?;
        Some(self.unit.ratio(self.weightstream, *speed))
    }
}

/// A number to three digits.
pub(crate) fn figure(number: f64) -> String {
    match number {
        number if number >= 99.95 => format!("{number:.0}"),
        number if number >= 9.995 => format!("{number:.1}"),
        number => format!("{number:.2}"),
    }
}
