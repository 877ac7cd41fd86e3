//! One symbol a kernel, so that `tools/kernel_sizes.py` can link each alone; and one a program, for `tools/flash_sizes.py`.
//! Nothing here runs.

#![no_std]

#[cfg(feature = "kernels")]
mod kernels;
#[cfg(not(feature = "kernels"))]
mod programs;

unsafe extern "C" {
    /// Not defined anywhere: a program that can panic does not link.
    fn a_panic_is_reachable() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it is never linked, so never called.
    unsafe { a_panic_is_reachable() }
}
