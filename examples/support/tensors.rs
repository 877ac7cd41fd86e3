//! The tensor descriptions of a file, as far as they came.

use weightstream::Name;

/// Names by index, and what else is kept of a description. All names lie in one text.
#[derive(Debug)]
pub(crate) struct Tensors<T> {
    names: String,
    rows: Vec<(u64, T)>,
}

impl<T> Tensors<T> {
    pub(crate) fn new() -> Self {
        Self { names: String::new(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, name: Name<'_>, description: T) {
        self.names.push_str(name.prefix());
        self.rows.push((self.names.len() as u64, description));
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn get(&self, index: u32) -> Option<(&str, &T)> {
        let index = index as usize;
        let (end, description) = self.rows.get(index)?;
        let start = index.checked_sub(1).and_then(|before| self.rows.get(before)).map_or(0, |(end, _)| *end);
        Some((self.names.get(start as usize..*end as usize)?, description))
    }

    pub(crate) fn name(&self, index: u32) -> Option<String> {
        self.get(index).map(|(name, _)| name.to_owned())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        (0..self.rows.len()).filter_map(|index| self.get(index as u32))
    }
}
