//! Counts instructions, in QEMU with `-icount shift=0`: there each takes a nanosecond, and no run differs from another.
//!
//! On a chip the same counters count cycles, or so.

use core::arch::asm;

/// What the counter counts in a loop of known length: it may run slower than one tick an instruction.
#[derive(Debug)]
pub struct Counter {
    loop_ticks: u64,
}

/// Instructions of the loop, two a round.
const LOOP: u64 = 4_000_000;
const ROUNDS: u32 = 2_000_000;

impl Counter {
    /// Starts the counter, and learns how fast it is.
    pub fn start() -> Self {
        timer::start();
        let begin = timer::now();
        // SAFETY: it counts down, and touches nothing else.
        #[cfg(target_arch = "arm")]
        unsafe {
            asm!("2:", "subs {n}, #1", "bne 2b", n = inout(reg) ROUNDS => _, options(nomem, nostack));
        }
        // SAFETY: it counts down, and touches nothing else.
        #[cfg(target_arch = "riscv32")]
        unsafe {
            asm!("2:", "addi {n}, {n}, -1", "bnez {n}, 2b", n = inout(reg) ROUNDS => _, options(nomem, nostack));
        }
        Self { loop_ticks: timer::since(begin) }
    }

    /// Hundredths of instructions that a piece of work takes for each of `parts`.
    ///
    /// On a Cortex-M it must take less than 2^24 ticks: 270 million instructions or more on these boards.
    pub fn hundredths<E>(&self, parts: u64, work: impl FnOnce() -> Result<(), E>) -> Result<u64, E> {
        let begin = timer::now();
        work()?;
        let instructions = timer::since(begin).saturating_mul(LOOP);
        let divisor = self.loop_ticks.saturating_mul(parts);
        Ok(instructions.saturating_mul(100).checked_div(divisor).unwrap_or(u64::MAX))
    }
}

/// SysTick, which counts down in 24 bits.
#[cfg(target_arch = "arm")]
mod timer {
    use cortex_m::Peripherals;
    use cortex_m::peripheral::SYST;
    use cortex_m::peripheral::syst::SystClkSource;

    const RELOAD: u32 = 0xff_ffff;

    pub(super) fn start() {
        // SAFETY: nobody else has the timer.
        let mut timer = unsafe { Peripherals::steal() }.SYST;
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(RELOAD);
        timer.clear_current();
        timer.enable_counter();
    }

    pub(super) fn now() -> u32 {
        SYST::get_current()
    }

    pub(super) fn since(begin: u32) -> u64 {
        (begin.wrapping_sub(now()) & RELOAD).into()
    }
}

/// The number of instructions that were carried out.
#[cfg(target_arch = "riscv32")]
mod timer {
    use riscv::register::minstret;

    pub(super) fn start() {}

    pub(super) fn now() -> u64 {
        minstret::read64()
    }

    pub(super) fn since(begin: u64) -> u64 {
        now().wrapping_sub(begin)
    }
}
