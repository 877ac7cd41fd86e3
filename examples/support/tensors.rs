//! The tensor descriptions of a file, as far as they came.

use weightstream::{Name, TensorInfo};

/// Names and descriptions by index. All names lie in one text.
#[derive(Debug, Default)]
pub(crate) struct Tensors {
    names: String,
    rows: Vec<(u64, TensorInfo)>,
}

impl Tensors {
    pub(crate) fn push(&mut self, name: Name<'_>, info: TensorInfo) {
        self.names.push_str(name.prefix());
        self.rows.push((self.names.len() as u64, info));
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn get(&self, index: u32) -> Option<(&str, &TensorInfo)> {
        let index = index as usize;
        let (end, info) = self.rows.get(index)?;
        let start = index.checked_sub(1).and_then(|before| self.rows.get(before)).map_or(0, |(end, _)| *end);
        Some((self.names.get(start as usize..*end as usize)?, info))
    }

    pub(crate) fn name(&self, index: u32) -> Option<String> {
        self.get(index).map(|(name, _)| name.to_owned())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &TensorInfo)> {
        (0..self.rows.len()).filter_map(|index| self.get(index as u32))
    }
}
