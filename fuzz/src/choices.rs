//! Choices made by the fuzzer's bytes, from the first on. When they run out, every choice is 0.

pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn byte(&mut self) -> u8 {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *byte
    }

    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    /// At most `n` bytes, as many as there are.
    pub fn slice(&mut self, n: usize) -> &'a [u8] {
        let (slice, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        slice
    }

    /// Exactly `n` bytes, with zeros at the end if there are too few.
    pub fn padded(&mut self, n: usize) -> Vec<u8> {
        let mut bytes = self.slice(n).to_vec();
        bytes.resize(n, 0);
        bytes
    }

    /// A number below `bound`, which is 256 at most.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// All that is left.
    pub fn rest(self) -> &'a [u8] {
        self.0
    }
}
