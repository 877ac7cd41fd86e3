//! Takes what is logged through defmt to a file of the host.
//!
//! A crate such as `defmt-rtt` does this on a real board. The one for semihosting can panic.

use core::cell::UnsafeCell;

use critical_section::RestoreState;
use defmt::Encoder;

use crate::failure::Failure;
use crate::host::Output;

/// Opens the log: the file that the command line ends with. Before, what is logged is lost.
///
/// # Errors
///
/// When there is no such argument, and when the host cannot open the file.
pub fn start() -> Result<(), Failure> {
    let output = Output::from_command_line()?;
    // SAFETY: nobody logs in this critical section.
    critical_section::with(|_| unsafe { (*LOG.0.get()).output = Some(output) });
    Ok(())
}

static LOG: Shared =
    Shared(UnsafeCell::new(Log { encoder: Encoder::new(), output: None, restore: RestoreState::invalid() }));

struct Log {
    encoder: Encoder,
    output: Option<Output>,
    /// How the critical section ends in which a message is written.
    restore: RestoreState,
}

struct Shared(UnsafeCell<Log>);

// SAFETY: it is used in critical sections only.
unsafe impl Sync for Shared {}

#[defmt::global_logger]
struct Logger;

// SAFETY: a message is written in one critical section, from `acquire` to `release`; no interrupt logs then.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        // SAFETY: `release` ends it. The log is used here only, as said above.
        let log = unsafe {
            let restore = critical_section::acquire();
            let log = &mut *LOG.0.get();
            log.restore = restore;
            log
        };
        log.encoder.start_frame(|bytes| send(&log.output, bytes));
    }

    unsafe fn flush() {}

    unsafe fn release() {
        // SAFETY: this is the end of the critical section that `acquire` began.
        unsafe {
            let log = &mut *LOG.0.get();
            log.encoder.end_frame(|bytes| send(&log.output, bytes));
            critical_section::release(log.restore);
        }
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: this is in the critical section that `acquire` began.
        let log = unsafe { &mut *LOG.0.get() };
        log.encoder.write(bytes, |bytes| send(&log.output, bytes));
    }
}

fn send(output: &Option<Output>, bytes: &[u8]) {
    if let Some(output) = output {
        output.write(bytes);
    }
}
