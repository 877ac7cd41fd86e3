//! Least, greatest, mean and root mean square of many values.

/// Sums that do not wait for each other, so that the compiler can work on as many values at once.
const LANES: usize = 8;
/// Values looked through for NaN and infinities at once.
const BLOCK: usize = 32 * LANES;

/// The bits of a float without its sign, from which on it is infinite or NaN.
const INFINITE: u32 = 0x7f80_0000;
const WITHOUT_SIGN: u32 = 0x7fff_ffff;

/// What values are like. NaN and infinities are counted, and count in nothing else.
#[derive(Clone, Debug)]
pub(crate) struct Statistics {
    count: u64,
    nan: u64,
    infinite: u64,
    min: [f32; LANES],
    max: [f32; LANES],
    sum: [f64; LANES],
    squares: [f64; LANES],
}

impl Default for Statistics {
    fn default() -> Self {
        Self {
            count: 0,
            nan: 0,
            infinite: 0,
            min: [f32::INFINITY; LANES],
            max: [f32::NEG_INFINITY; LANES],
            sum: [0.0; LANES],
            squares: [0.0; LANES],
        }
    }
}

impl Statistics {
    pub(crate) fn add(&mut self, values: &[f32]) {
        self.count += values.len() as u64;
        values.chunks(BLOCK).for_each(|block| self.add_block(block));
    }

    fn add_block(&mut self, block: &[f32]) {
        // One pass without a branch says whether there is anything but numbers, which is rare.
        let bad =
            block.iter().fold(0, |bad, value| bad | u32::from(value.to_bits() & WITHOUT_SIGN >= INFINITE));
        let (chunks, rest) = block.as_chunks::<LANES>();
        if bad == 0 && rest.is_empty() {
            chunks.iter().for_each(|values| self.add_lanes(values));
        } else {
            block.iter().for_each(|value| self.add_one(*value));
        }
    }

    fn add_lanes(&mut self, values: &[f32; LANES]) {
        for (lane, value) in values.iter().copied().enumerate() {
            let wide = f64::from(value);
            self.min[lane] = if value < self.min[lane] { value } else { self.min[lane] };
            self.max[lane] = if value > self.max[lane] { value } else { self.max[lane] };
            self.sum[lane] += wide;
            self.squares[lane] += wide * wide;
        }
    }

    fn add_one(&mut self, value: f32) {
        if value.is_nan() {
            self.nan += 1;
        } else if value.is_infinite() {
            self.infinite += 1;
        } else {
            self.min[0] = self.min[0].min(value);
            self.max[0] = self.max[0].max(value);
            self.sum[0] += f64::from(value);
            self.squares[0] += f64::from(value) * f64::from(value);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn nan(&self) -> u64 {
        self.nan
    }

    pub(crate) fn infinite(&self) -> u64 {
        self.infinite
    }

    /// The rest is `None` where no value is a number.
    pub(crate) fn finite(&self) -> Option<Finite> {
        let count = self.count - self.nan - self.infinite;
        if count == 0 {
            return None;
        }
        Some(Finite {
            min: self.min.into_iter().fold(f32::INFINITY, f32::min),
            max: self.max.into_iter().fold(f32::NEG_INFINITY, f32::max),
            mean: self.sum.iter().sum::<f64>() / count as f64,
            rms: (self.squares.iter().sum::<f64>() / count as f64).sqrt(),
        })
    }
}

/// Of the values that are numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finite {
    pub(crate) min: f32,
    pub(crate) max: f32,
    pub(crate) mean: f64,
    pub(crate) rms: f64,
}
