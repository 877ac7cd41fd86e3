//! What each type's elements are: one formula an element, from the description of the format, as slow as it is plain.

use std::sync::LazyLock;

use weightstream::ByteOrder;

/// How to read one type.
pub struct Model {
    pub id: u32,
    pub elements: usize,
    pub bytes: usize,
    /// Numbers of several bytes, as (offset, bytes), which a big-endian file holds the other way round. `None` where
    /// nobody knows.
    pub numbers: Option<Vec<(usize, usize)>>,
    /// An element of a little-endian block.
    pub value: fn(&Block<'_>, usize) -> f32,
}

impl Model {
    /// An element of a row of blocks.
    pub fn element(&self, order: ByteOrder, src: &[u8], element: usize) -> f32 {
        let start = element / self.elements * self.bytes;
        let mut block = src[start..start + self.bytes].to_vec();
        if order == ByteOrder::Big {
            for (start, bytes) in self.numbers.iter().flatten() {
                block[*start..start + bytes].reverse();
            }
        }
        (self.value)(&Block(&block), element % self.elements)
    }
}

/// The models of all types that have a size.
pub static MODELS: LazyLock<Vec<Model>> = LazyLock::new(models);

/// The same numbers `count` times, one behind the other.
fn row(start: usize, bytes: usize, count: usize) -> Vec<(usize, usize)> {
    (0..count).map(|number| (start + number * bytes, bytes)).collect()
}

fn models() -> Vec<Model> {
    let model = |id, elements, bytes, numbers: Option<Vec<(usize, usize)>>, value| Model {
        id,
        elements,
        bytes,
        numbers,
        value,
    };
    vec![
        model(0, 1, 4, Some(row(0, 4, 1)), |b, _| f32::from_bits(b.u32(0))),
        model(1, 1, 2, Some(row(0, 2, 1)), |b, _| b.f16(0)),
        model(2, 32, 18, Some(row(0, 2, 1)), |b, e| b.f16(0) * (b.half_split(2, 16, e) - 8) as f32),
        model(3, 32, 20, Some(row(0, 2, 2)), |b, e| b.f16(0) * b.half_split(4, 16, e) as f32 + b.f16(2)),
        model(6, 32, 22, None, |b, e| b.f16(0) * ((b.half_split(6, 16, e) | b.bit(2, e) << 4) - 16) as f32),
        model(7, 32, 24, None, |b, e| {
            b.f16(0) * (b.half_split(8, 16, e) | b.bit(4, e) << 4) as f32 + b.f16(2)
        }),
        model(8, 32, 34, Some(row(0, 2, 1)), |b, e| b.f16(0) * b.i8(2 + e)),
        model(9, 32, 36, Some(row(0, 2, 2)), |b, e| b.f16(0) * b.i8(4 + e)),
        model(10, 256, 84, Some(row(80, 2, 2)), q2_k),
        model(11, 256, 110, Some(row(108, 2, 1)), q3_k),
        model(12, 256, 144, Some(row(0, 2, 2)), |b, e| b.with_minimum(e, b.k_nibble(16, e))),
        model(13, 256, 176, Some(row(0, 2, 2)), |b, e| {
            b.with_minimum(e, b.k_nibble(48, e) | (b.u8(16 + e % 32) >> (e / 32) & 1) << 4)
        }),
        model(14, 256, 210, Some(row(208, 2, 1)), q6_k),
        model(15, 256, 292, Some([row(0, 4, 1), row(260, 2, 16)].concat()), |b, e| {
            f32::from_bits(b.u32(0)) * b.i8(4 + e)
        }),
        model(16, 256, 66, None, iq2_xxs),
        model(17, 256, 74, Some(row(0, 2, 33)), iq2_xs),
        model(18, 256, 98, None, iq3_xxs),
        model(19, 256, 50, Some([row(0, 2, 1), row(34, 2, 8)].concat()), iq1_s),
        model(20, 32, 18, Some(row(0, 2, 1)), |b, e| b.f16(0) * IQ4[b.half_split(2, 16, e) as usize]),
        model(21, 256, 110, Some(row(0, 2, 1)), iq3_s),
        model(22, 256, 82, Some(row(0, 2, 1)), iq2_s),
        model(23, 256, 136, Some(row(0, 2, 2)), iq4_xs),
        model(24, 1, 1, Some(Vec::new()), |b, _| b.i8(0)),
        model(25, 1, 2, Some(row(0, 2, 1)), |b, _| f32::from(b.u16(0).cast_signed())),
        model(26, 1, 4, Some(row(0, 4, 1)), |b, _| b.u32(0).cast_signed() as f32),
        model(27, 1, 8, Some(row(0, 8, 1)), |b, _| b.u64(0).cast_signed() as f32),
        model(28, 1, 8, Some(row(0, 8, 1)), |b, _| f64::from_bits(b.u64(0)) as f32),
        model(29, 256, 56, None, iq1_m),
        model(30, 1, 2, Some(row(0, 2, 1)), |b, _| f32::from_bits(u32::from(b.u16(0)) << 16)),
        model(34, 256, 54, Some(row(52, 2, 1)), tq1_0),
        model(35, 256, 66, Some(row(64, 2, 1)), |b, e| {
            ((b.u8(32 * (e / 128) + e % 32) >> (2 * (e / 32 % 4)) & 3) - 1) as f32 * b.f16(64)
        }),
        model(39, 32, 17, Some(Vec::new()), |b, e| e8m0(b.u8(0)) * FP4[b.half_split(1, 16, e) as usize]),
        model(40, 64, 36, Some(Vec::new()), |b, e| {
            ue4m3(b.u8(e / 16)) * FP4[b.half_split(4 + 8 * (e / 16), 8, e % 16) as usize]
        }),
        model(41, 128, 18, Some(row(0, 2, 1)), |b, e| if b.bit(2, e) == 1 { b.f16(0) } else { -b.f16(0) }),
        model(42, 64, 18, Some(row(0, 2, 1)), |b, e| {
            ((b.u8(2 + e / 4) >> (2 * (e % 4)) & 3) - 1) as f32 * b.f16(0)
        }),
    ]
}

/// One little-endian block. Codes are `i32`, so that they can be subtracted from.
pub struct Block<'b>(pub &'b [u8]);

impl Block<'_> {
    fn u8(&self, at: usize) -> i32 {
        self.0[at].into()
    }

    fn i8(&self, at: usize) -> f32 {
        self.0[at].cast_signed().into()
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from(self.0[at]) | u16::from(self.0[at + 1]) << 8
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at)) | u32::from(self.u16(at + 2)) << 16
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }

    fn f16(&self, at: usize) -> f32 {
        f16(self.u16(at))
    }

    /// Bit `n` of the bytes from `at` on, the lowest one first.
    fn bit(&self, at: usize, n: usize) -> i32 {
        self.u8(at + n / 8) >> (n % 8) & 1
    }

    /// Code `n` of `2 * bytes`, the first half of which are low nibbles.
    fn half_split(&self, at: usize, bytes: usize, n: usize) -> i32 {
        self.u8(at + n % bytes) >> (4 * (n / bytes)) & 15
    }

    /// Nibble `n`, the low one of each byte first.
    fn nibble(&self, at: usize, n: usize) -> i32 {
        self.u8(at + n / 2) >> (4 * (n % 2)) & 15
    }

    /// The code of element `e` of `Q4_K`: halves of 64 elements are split.
    fn k_nibble(&self, at: usize, e: usize) -> i32 {
        self.half_split(at + 32 * (e / 64), 32, e % 64)
    }

    /// An element of `Q4_K` or `Q5_K`, from its code.
    fn with_minimum(&self, e: usize, code: i32) -> f32 {
        let (i, s) = (e / 32, |at| self.u8(4 + at));
        let (scale, minimum) = if i < 4 {
            (s(i) & 63, s(i + 4) & 63)
        } else {
            ((s(i + 4) & 15) | (s(i - 4) >> 6) << 4, (s(i + 4) >> 4) | (s(i) >> 6) << 4)
        };
        self.f16(0) * scale as f32 * code as f32 - self.f16(2) * minimum as f32
    }
}

/// The nearest number with `digits` binary digits and exponents from `least` on, as its bits; of two, the even one.
fn nearest(value: f32, digits: i32, least: i32) -> u16 {
    let infinite = (2 * (1 - least) + 1) << (digits - 1);
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    if value.is_infinite() {
        return sign | infinite as u16;
    }
    let magnitude = f64::from(value.abs());
    // The exponent of an f64, of which every f32 but zero is a normal one.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(least);
    let unit = 2.0_f64.powi(exponent - (digits - 1));
    let bits = ((exponent - least) << (digits - 1)) + (magnitude / unit).round_ties_even() as i32;
    sign | bits.min(infinite) as u16
}

/// A number rounded to binary16.
pub fn f16_bits(value: f32) -> u16 {
    nearest(value, 11, -14)
}

/// A number rounded to bfloat16.
pub fn bf16_bits(value: f32) -> u16 {
    nearest(value, 8, -126)
}

/// IEEE binary16 by its definition; a NaN is a NaN.
pub fn f16(bits: u16) -> f32 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let magnitude = match exponent {
        0 => mantissa * power(-24),
        31 if mantissa == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + mantissa) * power(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// A power of two that is a normal `f32`.
fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127).cast_unsigned()) << 23)
}

/// Half of an E8M0 scale: 2^(code − 128).
fn e8m0(code: i32) -> f32 {
    if code < 2 { f32::from_bits(0x0020_0000 << code) } else { power(code - 128) }
}

/// Half of a UE4M3 scale, whose highest bit is not looked at.
fn ue4m3(code: i32) -> f32 {
    let (exponent, mantissa) = (code >> 3 & 15, (code & 7) as f32);
    match (code, exponent) {
        (0x7f, _) => 0.0,
        (_, 0) => mantissa * power(-10),
        _ => (8.0 + mantissa) * power(exponent - 11),
    }
}

const IQ4: [f32; 16] =
    [-127., -104., -83., -65., -49., -35., -22., -10., 1., 13., 25., 38., 53., 69., 89., 113.];

const FP4: [f32; 16] = [0., 1., 2., 3., 4., 6., 8., 12., 0., -1., -2., -3., -4., -6., -8., -12.];

fn q2_k(b: &Block<'_>, e: usize) -> f32 {
    let scale = b.u8(e / 16);
    let code = b.u8(16 + 32 * (e / 128) + e % 32) >> (2 * (e / 32 % 4)) & 3;
    b.f16(80) * (scale & 15) as f32 * code as f32 - b.f16(82) * (scale >> 4) as f32
}

fn q3_k(b: &Block<'_>, e: usize) -> f32 {
    let (i, l) = (e / 16, e % 32);
    let low = b.u8(32 + 32 * (e / 128) + l) >> (2 * (e / 32 % 4)) & 3;
    let code = if b.u8(l) >> (e / 32) & 1 == 1 { low } else { low - 4 };
    let scale_low = if i < 8 { b.u8(96 + i) & 15 } else { b.u8(96 + i - 8) >> 4 };
    let scale = scale_low | (b.u8(96 + 8 + i % 4) >> (2 * (i / 4)) & 3) << 4;
    b.f16(108) * (scale - 32) as f32 * code as f32
}

fn q6_k(b: &Block<'_>, e: usize) -> f32 {
    let (c, l, k) = (e / 128, e % 32, e / 32 % 4);
    let low = b.u8(64 * c + l + 32 * (k % 2)) >> (4 * (k / 2)) & 15;
    let high = b.u8(128 + 32 * c + l) >> (2 * k) & 3;
    b.f16(208) * b.i8(192 + e / 16) * ((low | high << 4) - 32) as f32
}

fn tq1_0(b: &Block<'_>, e: usize) -> f32 {
    let (digit, byte) = match e {
        0..160 => (e / 32, e % 32),
        160..240 => ((e - 160) / 16, 32 + (e - 160) % 16),
        _ => ((e - 240) / 4, 48 + (e - 240) % 4),
    };
    let fraction = b.u8(byte) * [1, 3, 9, 27, 81][digit] % 256;
    (((fraction * 3) >> 8) - 1) as f32 * b.f16(52)
}

/// A codebook: one entry a line.
struct Grid(Vec<[u8; 8]>);

impl Grid {
    fn new(text: &str) -> Self {
        let entry = |line: &str| u64::from_str_radix(line.trim_start_matches("0x"), 16).expect("a number");
        Self(text.lines().map(|line| entry(line).to_le_bytes()).collect())
    }

    fn at(&self, entry: i32, element: usize) -> f32 {
        self.0[entry as usize][element].into()
    }

    fn signed(&self, entry: i32, element: usize) -> f32 {
        self.0[entry as usize][element].cast_signed().into()
    }
}

macro_rules! grids {
    ($($name:ident = $file:literal;)+) => {
        $(static $name: LazyLock<Grid> =
            LazyLock::new(|| Grid::new(include_str!(concat!("../../tests/data/tables/", $file))));)+
    };
}

grids! {
    IQ1S = "iq1s_grid.txt";
    IQ2XXS = "iq2xxs_grid.txt";
    IQ2XS = "iq2xs_grid.txt";
    IQ2S = "iq2s_grid.txt";
    IQ3XXS = "iq3xxs_grid.txt";
    IQ3S = "iq3s_grid.txt";
}

/// The sign of element `j` of eight, as bits.
fn sign(bits: i32, j: usize) -> f32 {
    if bits >> j & 1 == 1 { -1.0 } else { 1.0 }
}

/// The sign of element `j` of eight, as seven bits and their parity.
fn even_sign(bits: i32, j: usize) -> f32 {
    sign(bits | (bits.count_ones() as i32 & 1) << 7, j)
}

fn iq2_xxs(b: &Block<'_>, e: usize) -> f32 {
    let (part, l, j) = (2 + 8 * (e / 32), e / 8 % 4, e % 8);
    let word = b.u32(part + 4);
    let signs = (word >> (7 * l) & 127) as i32;
    b.f16(0) * (0.5 + (word >> 28) as f32) * 0.25 * IQ2XXS.at(b.u8(part + l), j) * even_sign(signs, j)
}

fn iq2_xs(b: &Block<'_>, e: usize) -> f32 {
    let (code, scale, j) = (i32::from(b.u16(2 + e / 8 * 2)), b.nibble(66, e / 16), e % 8);
    b.f16(0) * (0.5 + scale as f32) * 0.25 * IQ2XS.at(code & 511, j) * even_sign(code >> 9, j)
}

fn iq2_s(b: &Block<'_>, e: usize) -> f32 {
    let (g, j, scale) = (e / 8, e % 8, b.nibble(74, e / 16));
    let code = b.u8(2 + g) | (b.u8(66 + g / 4) >> (2 * (g % 4)) & 3) << 8;
    b.f16(0) * (0.5 + scale as f32) * 0.25 * IQ2S.at(code, j) * sign(b.u8(34 + g), j)
}

fn iq3_xxs(b: &Block<'_>, e: usize) -> f32 {
    let word = b.u32(66 + 4 * (e / 32));
    let signs = (word >> (7 * (e / 8 % 4)) & 127) as i32;
    let value = IQ3XXS.at(b.u8(2 + e / 4), e % 4);
    b.f16(0) * (0.5 + (word >> 28) as f32) * 0.5 * value * even_sign(signs, e % 8)
}

fn iq3_s(b: &Block<'_>, e: usize) -> f32 {
    let g = e / 4;
    let code = b.u8(2 + g) | b.bit(66, g) << 8;
    let scale = b.nibble(106, e / 32);
    b.f16(0) * (1 + 2 * scale) as f32 * IQ3S.at(code, e % 4) * sign(b.u8(74 + e / 8), e % 8)
}

fn iq1_s(b: &Block<'_>, e: usize) -> f32 {
    let head = i32::from(b.u16(34 + 2 * (e / 32)));
    let code = b.u8(2 + e / 8) | (head >> (3 * (e / 8 % 4)) & 7) << 8;
    let delta = if head >> 15 == 1 { -0.125 } else { 0.125 };
    b.f16(0) * (2 * (head >> 12 & 7) + 1) as f32 * (IQ1S.signed(code, e % 8) + delta)
}

fn iq1_m(b: &Block<'_>, e: usize) -> f32 {
    let scales = |word: usize| b.u16(48 + 2 * word);
    let d = (0..4).fold(0, |bits, word| bits | scales(word) >> 12 << (4 * word));
    let high = b.nibble(32, e / 8);
    let code = b.u8(e / 8) | (high & 7) << 8;
    let delta = if high & 8 != 0 { -0.125 } else { 0.125 };
    let scale = i32::from(scales(e / 64) >> (3 * (e / 16 % 4)) & 7);
    f16(d) * (2 * scale + 1) as f32 * (IQ1S.signed(code, e % 8) + delta)
}

fn iq4_xs(b: &Block<'_>, e: usize) -> f32 {
    let i = e / 32;
    let scale = b.nibble(4, i) | (i32::from(b.u16(2)) >> (2 * i) & 3) << 4;
    b.f16(0) * (scale - 32) as f32 * IQ4[b.half_split(8 + 16 * i, 16, e % 32) as usize]
}
