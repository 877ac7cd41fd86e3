//! Prints through the debugger, without `core::fmt`: its numbers can panic, or so the linker finds.

use crate::host::Output;

/// Bytes that are sent at once: each time the processor stands still.
const BUFFER: usize = 128;

/// Text on its way to the host. What cannot be sent is lost.
#[derive(Debug)]
pub struct Console {
    out: Option<Output>,
    buffer: [u8; BUFFER],
    used: usize,
}

impl Console {
    pub(crate) fn open() -> Self {
        Self { out: Output::open(), buffer: [0; BUFFER], used: 0 }
    }

    /// Prints a text. Control characters, which a file may hold, become `?`.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            let c = if c.is_control() { '?' } else { c };
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                self.byte(byte);
            }
        }
        self
    }

    /// Prints a number.
    pub fn decimal(&mut self, number: u64) -> &mut Self {
        let mut is_begun = false;
        let mut rest = number;
        for power in POWERS_OF_TEN {
            let mut digit = b'0';
            // No division: one of 64 bits is slow and large on small machines.
            while let Some(less) = rest.checked_sub(power) {
                rest = less;
                digit = digit.wrapping_add(1);
            }
            is_begun |= digit != b'0' || power == 1;
            if is_begun {
                self.byte(digit);
            }
        }
        self
    }

    /// Prints eight hexadecimal digits.
    pub fn hex(&mut self, number: u32) -> &mut Self {
        let mut rest = number;
        for _ in 0..8 {
            rest = rest.rotate_left(4);
            let digit = rest.to_le_bytes()[0] & 15;
            self.byte(if digit < 10 {
                b'0'.wrapping_add(digit)
            } else {
                b'a'.wrapping_add(digit).wrapping_sub(10)
            });
        }
        self
    }

    /// Prints a value with six decimals, rounded.
    pub fn fixed_point(&mut self, value: f32) -> &mut Self {
        if value.is_nan() {
            return self.text("nan");
        }
        if value.is_sign_negative() {
            self.byte(b'-');
        }
        let magnitude = f64::from(value.abs());
        if magnitude >= 4e9 {
            return self.text(if value.is_infinite() { "inf" } else { "over 4e9" });
        }
        let mut whole = magnitude as u32;
        let mut millionths = ((magnitude - f64::from(whole)) * 1e6 + 0.5) as u32;
        if millionths >= 1_000_000 {
            millionths = 0;
            whole = whole.saturating_add(1);
        }
        self.decimal(whole.into()).text(".");
        let mut power = 100_000;
        while power > 1 && millionths < power {
            self.byte(b'0');
            power /= 10;
        }
        self.decimal(millionths.into())
    }

    /// Ends a line, and sends it.
    pub fn end_line(&mut self) {
        self.byte(b'\n');
        self.send();
    }

    fn byte(&mut self, byte: u8) {
        if self.used == BUFFER {
            self.send();
        }
        if let Some(place) = self.buffer.get_mut(self.used) {
            *place = byte;
            self.used = self.used.saturating_add(1);
        }
    }

    fn send(&mut self) {
        let bytes = self.buffer.get(..self.used).unwrap_or_default();
        if let Some(out) = &self.out {
            out.write(bytes);
        }
        self.used = 0;
    }
}

/// All that 64 bits hold, the largest first.
#[allow(clippy::indexing_slicing, reason = "the compiler computes it")]
const POWERS_OF_TEN: [u64; 20] = {
    let mut powers = [1; 20];
    let mut place = 19;
    while place > 0 {
        powers[place - 1] = powers[place] * 10;
        place -= 1;
    }
    powers
};
