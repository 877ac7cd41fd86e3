//! Numbers as people and as JSON read them.

use std::io::{self, Write};

use weightstream::Scalar;

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the largest unit that leaves a whole number: `241.4 MiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = (bytes.max(1).ilog2() / 10) as usize;
    match unit {
        0 => format!("{bytes} bytes"),
        _ => format!("{:.1} {}", bytes as f64 / (1_u64 << (10 * unit)) as f64, UNITS[unit]),
    }
}

/// About four significant digits, in nine columns at most.
pub(crate) fn short(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{number:.2e}");
    }
    // Of 4 digits, those that do not stand before the point stand behind it.
    let behind_point = (3.0 - size.log10().floor()).clamp(0.0, 6.0);
    format!("{number:.*}", behind_point as usize)
}

/// A value as JSON: integers with all digits, floats as the shortest text that reads back the same, always with a point
/// or an exponent; what JSON has no number for is a string.
pub(crate) fn json(out: &mut impl Write, value: Scalar) -> io::Result<()> {
    match value {
        Scalar::F32(value) if !value.is_finite() => not_finite(out, value.into()),
        Scalar::F64(value) if !value.is_finite() => not_finite(out, value),
        value => plain(out, value),
    }
}

fn not_finite(out: &mut impl Write, value: f64) -> io::Result<()> {
    let text = match value {
        value if value.is_nan() => "\"nan\"",
        value if value > 0.0 => "\"inf\"",
        _ => "\"-inf\"",
    };
    out.write_all(text.as_bytes())
}

/// The same without quotes.
pub(crate) fn plain(out: &mut impl Write, value: Scalar) -> io::Result<()> {
    match value {
        Scalar::U8(value) => write!(out, "{value}"),
        Scalar::I8(value) => write!(out, "{value}"),
        Scalar::U16(value) => write!(out, "{value}"),
        Scalar::I16(value) => write!(out, "{value}"),
        Scalar::U32(value) => write!(out, "{value}"),
        Scalar::I32(value) => write!(out, "{value}"),
        Scalar::U64(value) => write!(out, "{value}"),
        Scalar::I64(value) => write!(out, "{value}"),
        Scalar::Bool(value) => write!(out, "{value}"),
        // `Debug` is the shortest text, with a point or an exponent.
        Scalar::F32(value) => write!(out, "{value:?}"),
        Scalar::F64(value) => write!(out, "{value:?}"),
    }
}
