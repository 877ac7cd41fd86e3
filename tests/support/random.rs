//! Pseudo-random numbers that are the same on every run and every machine.

/// SplitMix64: the state is a counter, the output a mix of it, so every seed is a good one.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator of its own sequence for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`. Slightly uneven for huge bounds, which no test minds.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "no number is below 0");
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// `len` bytes of any value.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len + 7);
        while bytes.len() < len {
            bytes.extend_from_slice(&self.next_u64().to_le_bytes());
        }
        bytes.truncate(len);
        bytes
    }

    /// A number from -1 up to 1 in steps of 1/128, so that f16 and bf16 hold it exactly.
    pub fn weight(&mut self) -> f32 {
        f32::from((self.next_u64() >> 56) as u8) / 128.0 - 1.0
    }

    /// The same bytes in pieces of 0 to `max` bytes, cut at random.
    pub fn pieces<'a>(&mut self, mut bytes: &'a [u8], max: usize) -> Vec<&'a [u8]> {
        assert!(max > 0, "pieces of no byte never end");
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            let (piece, rest) = bytes.split_at(self.below(max + 1).min(bytes.len()));
            pieces.push(piece);
            bytes = rest;
        }
        pieces
    }
}
