//! What the programs in `src/bin` share.
//!
//! - [`board`] starts a program, and knows how much memory there is.
//! - [`console`] prints, and [`host`] reads files, both through the debugger (semihosting).
//! - [`stack`] measures how deep the stack got.
//! - [`failure`] is why a program stops; `panic` makes sure that none panics.
//! - [`sample`] is the model in flash, and [`sample_table`] its directory.

#![no_std]

// Linked for its critical sections.
#[cfg(target_arch = "arm")]
use cortex_m as _;
#[cfg(target_arch = "riscv32")]
use riscv as _;

pub mod board;
pub mod console;
pub mod failure;
pub mod host;
mod panic;
pub mod sample;
pub mod sample_table;
pub mod stack;
