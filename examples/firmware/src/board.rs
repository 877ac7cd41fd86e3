//! The start of a program, and what differs from board to board.

use semihosting::process;

use crate::console::Console;
use crate::failure::Failure;
use crate::stack;

/// Marks `main`: the runtime calls it when memory is set up.
#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;

/// Tensors that there is room to record, 40 bytes each.
#[cfg(all(target_arch = "arm", not(target_feature = "v7")))]
pub const TENSORS: usize = 64;
/// Tensors that there is room to record, 40 bytes each.
#[cfg(not(all(target_arch = "arm", not(target_feature = "v7"))))]
pub const TENSORS: usize = 256;

/// Runs a program, and tells how deep the stack got. Ends the emulator with the status 0, or 1 after a failure.
pub fn run(program: fn(&mut Console) -> Result<(), Failure>) -> ! {
    stack::paint();
    let mut console = Console::open();
    let result = program(&mut console);
    if let Err(failure) = &result {
        failure.print(&mut console);
    }
    let is_sound = stack::print(&mut console);
    process::exit(if result.is_ok() && is_sound { 0 } else { 1 })
}
