//! What the programs in `src/bin` share.
//!
//! - [`board`] starts a program, and knows how much memory there is.
//! - [`console`] prints, and [`host`] reads files, both through the debugger (semihosting).
//! - `logger` takes a log to the host, and `uart` is a serial line; each for the programs that need it.
//! - [`stack`] measures how deep the stack got.
//! - [`instructions`] counts them.
//! - [`failure`] is why a program stops; `panic` makes sure that none panics.
//! - [`report`] and [`checksum`] print what a model holds while it comes.
//! - [`sample`] is the model in flash, and [`sample_table`] its directory.

#![no_std]

// Linked for its critical sections.
#[cfg(target_arch = "arm")]
use cortex_m as _;
#[cfg(target_arch = "riscv32")]
use riscv as _;

pub mod board;
pub mod checksum;
pub mod console;
pub mod failure;
pub mod host;
pub mod instructions;
#[cfg(feature = "defmt")]
pub mod logger;
mod panic;
pub mod report;
pub mod sample;
pub mod sample_table;
pub mod stack;
#[cfg(feature = "uart")]
pub mod uart;
