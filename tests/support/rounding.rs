//! Rounding an `f32` to a 16-bit float, by arithmetic on its value instead of its bits.

/// A binary floating-point format of 16 bits.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub name: &'static str,
    mantissa_bits: i32,
    smallest_exponent: i32,
    infinity: u16,
}

pub const F16: Format = Format { name: "f16", mantissa_bits: 10, smallest_exponent: -14, infinity: 0x7c00 };
pub const BF16: Format = Format { name: "bf16", mantissa_bits: 7, smallest_exponent: -126, infinity: 0x7f80 };

impl Format {
    /// The bits of the number nearest to `value`, of two the even one. `None` for a NaN: any quiet one will do.
    pub fn round(self, value: f32) -> Option<u16> {
        if value.is_nan() {
            return None;
        }
        let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
        let magnitude = f64::from(value.abs());
        if magnitude.is_infinite() {
            return Some(sign | self.infinity);
        }
        // An f64 holds every f32 as a normal number, so its exponent field is that of the value.
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(self.smallest_exponent);
        let units = (magnitude / 2_f64.powi(exponent - self.mantissa_bits)).round_ties_even() as i32;
        // A number of units that needs a bit more carries into the exponent, as it should.
        let bits = units + ((exponent - self.smallest_exponent) << self.mantissa_bits);
        Some(sign | bits.min(self.infinity.into()).cast_unsigned() as u16)
    }

    pub fn is_quiet_nan(self, bits: u16) -> bool {
        let quiet = 1 << (self.mantissa_bits - 1);
        bits & self.infinity == self.infinity && bits & quiet != 0
    }

    /// Each is the rounded value of its `f32`.
    #[track_caller]
    pub fn assert_rounded(self, rounded: &[u16], values: &[f32], what: &str) {
        assert_eq!(rounded.len(), values.len(), "{what} as {}", self.name);
        for (element, (bits, value)) in rounded.iter().zip(values).enumerate() {
            let right = self.round(*value).map_or_else(|| self.is_quiet_nan(*bits), |right| right == *bits);
            let (name, from) = (self.name, value.to_bits());
            assert!(right, "{what}: element {element}, {value:?} ({from:#010x}), is {bits:#06x} as {name}");
        }
    }
}
