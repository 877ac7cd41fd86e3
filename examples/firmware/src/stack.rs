//! Measures how deep the stack got: what lies below it is painted at the start, and looked through at the end.

use core::arch::asm;

use crate::console::Console;

unsafe extern "C" {
    /// The first word behind all statics.
    static __sheap: u32;
    /// The word behind the end of memory: the stack begins below it.
    static _stack_start: u32;
}

const PAINT: u32 = 0xc01d_bee5;
/// Not painted, below the function that paints: what it uses itself.
const SPARED_BYTES: usize = 256;

/// Paints the memory between the statics and the stack.
#[inline(never)]
pub(crate) fn paint() {
    let end = pointer().saturating_sub(SPARED_BYTES);
    let mut word = (&raw const __sheap).cast_mut();
    while word.addr() < end {
        // SAFETY: nobody uses these words: they lie behind the statics and below the stack.
        unsafe { word.write_volatile(PAINT) };
        word = word.wrapping_add(1);
    }
}

/// Does some work, and tells how deep the stack got below what it had already.
#[inline(never)]
pub fn deepest<W, T>(work: fn(W) -> T, with: W) -> (T, usize) {
    let top = pointer();
    paint();
    let result = work(with);
    (result, top.saturating_sub(unpainted().addr()))
}

/// Prints how many bytes of the stack were used, and of how many. Returns whether they were enough.
pub(crate) fn print(out: &mut Console) -> bool {
    let (bottom, top) = (&raw const __sheap, (&raw const _stack_start).addr());
    let word = unpainted();
    let bytes = |from: *const u32| u64::try_from(top.saturating_sub(from.addr())).unwrap_or(u64::MAX);
    out.text("stack: ").decimal(bytes(word)).text(" of ").decimal(bytes(bottom)).text(" bytes").end_line();
    word != bottom
}

/// The lowest word that was written to.
fn unpainted() -> *const u32 {
    let (mut word, top) = (&raw const __sheap, (&raw const _stack_start).addr());
    // SAFETY: the words lie between the statics and the end of memory.
    while word.addr() < top && unsafe { word.read_volatile() } == PAINT {
        word = word.wrapping_add(1);
    }
    word
}

/// Where the stack ends now.
#[inline(always)]
fn pointer() -> usize {
    let address;
    // SAFETY: it reads a register, and touches nothing.
    #[cfg(target_arch = "arm")]
    unsafe {
        asm!("mov {address}, sp", address = out(reg) address, options(nomem, nostack, preserves_flags));
    }
    // SAFETY: it reads a register, and touches nothing.
    #[cfg(target_arch = "riscv32")]
    unsafe {
        asm!("mv {address}, sp", address = out(reg) address, options(nomem, nostack, preserves_flags));
    }
    address
}
