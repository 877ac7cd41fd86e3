//! Columns whose places depend on the terminal, not on what is in them.

use std::io::{self, Write};

use terminal_size::{Width, terminal_size_of};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const DEFAULT_WIDTH: usize = 80;
const LEAST_WIDTH: usize = 60;
const MOST_WIDTH: usize = 200;

/// Columns of the terminal: of `COLUMNS` if that is set, 80 where there is no terminal.
pub(crate) fn terminal_width() -> usize {
    let chosen = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = chosen.or_else(|| terminal_size_of(io::stdout()).map(|(Width(width), _)| usize::from(width)));
    width.unwrap_or(DEFAULT_WIDTH).clamp(LEAST_WIDTH, MOST_WIDTH)
}

/// Columns that a character takes.
pub(crate) fn width_of(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Cuts a text in the middle, where names of one model differ least.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.into();
    }
    let half = width.saturating_sub(1) / 2;
    let fits = |room: usize| {
        let mut room = room;
        move |c: &char| {
            let width = width_of(*c);
            let fits = width <= room;
            room = room.saturating_sub(width);
            fits
        }
    };
    let start: String = text.chars().take_while(fits(width.saturating_sub(1 + half))).collect();
    let mut end: Vec<char> = text.chars().rev().take_while(fits(half)).collect();
    end.reverse();
    start + "…" + &String::from_iter(end)
}

/// Where a column's text stands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left(usize),
    Right(usize),
}

impl Align {
    fn width(self) -> usize {
        match self {
            Self::Left(width) | Self::Right(width) => width,
        }
    }
}

/// A table of fixed columns.
pub(crate) struct Table {
    columns: Vec<Align>,
    width: usize,
}

/// Before the first column.
const INDENT: usize = 2;
/// Between two columns, at most: a text may reach over it, down to one.
const GAP: usize = 2;

impl Table {
    /// The first column takes what the others leave of `width`, up to `most`.
    pub(crate) fn new(width: usize, most: usize, others: &[Align]) -> Self {
        let taken: usize = others.iter().map(|column| GAP + column.width()).sum();
        let first = width.saturating_sub(INDENT + taken).min(most);
        Self { columns: [&[Align::Left(first)], others].concat(), width }
    }

    /// All columns as given; a last one of no width takes what is left.
    pub(crate) fn fixed(width: usize, columns: &[Align]) -> Self {
        Self { columns: columns.into(), width }
    }

    /// Columns of the terminal that are left for a last column of no width.
    pub(crate) fn rest(&self) -> usize {
        let taken: usize = self.columns.iter().map(|column| column.width() + GAP).sum();
        self.width.saturating_sub((INDENT + taken).saturating_sub(GAP))
    }

    /// Writes a row. A text that is too long for its column keeps a line of its own, and the rest stays in line.
    pub(crate) fn row(&self, out: &mut impl Write, cells: &[&str]) -> io::Result<()> {
        self.begin(out, cells)?;
        out.write_all(b"\n")
    }

    /// The same, without the end of the line. Returns the column after it.
    pub(crate) fn begin(&self, out: &mut impl Write, cells: &[&str]) -> io::Result<usize> {
        let (mut cursor, mut start) = (0, INDENT);
        for (column, cell) in self.columns.iter().zip(cells) {
            let cell = shortened(cell, self.width.saturating_sub(INDENT));
            let (place, column_width) = match *column {
                Align::Left(width) => (start, width),
                Align::Right(width) => ((start + width).saturating_sub(cell.width()), width),
            };
            start += column_width + GAP;
            if cell.is_empty() {
                continue;
            }
            if cursor > 0 && cursor >= place {
                out.write_all(b"\n")?;
                cursor = 0;
            }
            write!(out, "{:1$}{cell}", "", place - cursor)?;
            cursor = place + cell.width();
        }
        Ok(cursor)
    }

    /// Writes a row of the first column and, in place of all others, a text.
    pub(crate) fn note(&self, out: &mut impl Write, first: &str, text: &str) -> io::Result<()> {
        let rest = self.width.saturating_sub(text.width() + INDENT + GAP);
        let columns = self.columns.first().map_or(0, |column| column.width()).min(rest);
        Self::fixed(self.width, &[Align::Left(columns), Align::Left(0)]).row(out, &[first, text])
    }

    /// Goes on from `cursor` to where a column after the last one starts, and returns that.
    pub(crate) fn tab(&self, out: &mut impl Write, mut cursor: usize) -> io::Result<usize> {
        let start = INDENT + self.columns.iter().map(|column| GAP + column.width()).sum::<usize>();
        if cursor >= start {
            out.write_all(b"\n")?;
            cursor = 0;
        }
        write!(out, "{:1$}", "", start - cursor)?;
        Ok(start)
    }
}
