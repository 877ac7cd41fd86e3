//! No program here panics: one that could does not link.
//!
//! The panic handler calls a function that is nowhere. Where the optimizer finds that nothing can panic, it drops the
//! handler and the call with it; otherwise the linker asks for the function by its name. Without optimization nothing
//! can be shown, and a panic ends the program.

use core::panic::PanicInfo;

#[cfg(not(debug_assertions))]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn this_program_can_panic() -> !;
    }
    // SAFETY: it is never called, for a program with this call does not link.
    unsafe { this_program_can_panic() }
}

#[cfg(debug_assertions)]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    semihosting::process::exit(101)
}
