//! The serial line of the lm3s6965evb: a PL011 of Arm, which the chip of the Raspberry Pi Pico has too.
//!
//! The interrupt moves bytes into a queue, and does nothing else. It could push them into the decoder, but a byte that ends a
//! block or the descriptions makes work of thousands of instructions: all the while other interrupts wait, and bytes of the
//! line are lost. So the decoder runs where there is time, and the queue holds what comes meanwhile.
//!
//! When the queue is full the interrupt stays off until there is room. A sender that does not wait then (RTS and CTS) loses
//! bytes, which the chip notices. QEMU waits. It also needs no clock and no pins; on a real chip they are set up first.

use core::cell::RefCell;
use core::future::poll_fn;
use core::task::{Poll, Waker};

use cortex_m::asm;
use cortex_m::interrupt::{self, InterruptNumber, Mutex};
use cortex_m::peripheral::NVIC;
use cortex_m_rt::exception;
use embedded_io::ErrorKind;
use heapless::Deque;

use crate::failure::Failure;

/// Bytes that have come and that nobody has taken.
static RECEIVER: Mutex<RefCell<Receiver>> =
    Mutex::new(RefCell::new(Receiver { queue: Deque::new(), has_lost: false, waker: None }));

struct Receiver {
    queue: Deque<u8, 64>,
    has_lost: bool,
    waker: Option<Waker>,
}

/// The receiving side of the line.
#[derive(Debug)]
pub struct Uart(());

impl Uart {
    /// Turns the line on: 115,200 baud with a clock of 12.5 MHz, eight bits, no parity.
    pub fn start() -> Self {
        registers::IBRD.write(6);
        registers::FBRD.write(50);
        registers::LCRH.write(registers::LCRH_EIGHT_BITS | registers::LCRH_FIFO);
        registers::CR.write(registers::CR_ENABLE | registers::CR_RECEIVE);
        registers::IMSC.write(registers::RECEIVE_INTERRUPTS);
        // SAFETY: no critical section rests on this interrupt being off.
        unsafe { NVIC::unmask(Interrupt) };
        Self(())
    }

    /// Waits for a byte; the processor sleeps meanwhile.
    ///
    /// # Errors
    ///
    /// When bytes were lost or garbled.
    pub fn read_byte(&mut self) -> Result<u8, Failure> {
        loop {
            let byte = with_receiver(|receiver| {
                let byte = receiver.take()?;
                if byte.is_none() {
                    // An interrupt that comes now ends the sleep, and runs when this section ends.
                    asm::wfi();
                }
                Ok(byte)
            });
            if let Some(byte) = byte.map_err(|_| Failure::Line)? {
                return Ok(byte);
            }
        }
    }
}

impl embedded_io_async::ErrorType for Uart {
    type Error = ErrorKind;
}

/// A read that is dropped has taken no bytes.
impl embedded_io_async::Read for Uart {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ErrorKind> {
        poll_fn(|context| {
            let count = with_receiver(|receiver| {
                let count = receiver.fill(buffer)?;
                if count == 0 {
                    receiver.waker = Some(context.waker().clone());
                }
                Ok(count)
            });
            if count == Ok(0) && !buffer.is_empty() { Poll::Pending } else { Poll::Ready(count) }
        })
        .await
    }
}

impl Receiver {
    /// The next byte, if there is one.
    fn take(&mut self) -> Result<Option<u8>, ErrorKind> {
        if self.has_lost {
            return Err(ErrorKind::InvalidData);
        }
        let byte = self.queue.pop_front();
        registers::IMSC.write(registers::RECEIVE_INTERRUPTS);
        Ok(byte)
    }

    /// The bytes that are there, as many as fit.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, ErrorKind> {
        let mut count = 0_usize;
        for place in buffer {
            let Some(byte) = self.take()? else { break };
            *place = byte;
            count = count.saturating_add(1);
        }
        Ok(count)
    }

    /// Moves bytes from the chip into the queue.
    fn receive(&mut self) {
        while registers::FR.read() & registers::FR_RECEIVE_EMPTY == 0 {
            if self.queue.is_full() {
                registers::IMSC.write(0);
                break;
            }
            let word = registers::DR.read();
            self.has_lost |= word & registers::DR_ERRORS != 0;
            let _ = self.queue.push_back(word.to_le_bytes()[0]);
        }
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

fn with_receiver<R>(action: impl FnOnce(&mut Receiver) -> Result<R, ErrorKind>) -> Result<R, ErrorKind> {
    interrupt::free(|section| {
        let mut receiver = RECEIVER.borrow(section).try_borrow_mut().map_err(|_| ErrorKind::Other)?;
        action(&mut receiver)
    })
}

/// The number of the line's interrupt.
#[derive(Clone, Copy)]
struct Interrupt;

// SAFETY: it is always the same number, and the chip has it.
unsafe impl InterruptNumber for Interrupt {
    fn number(self) -> u16 {
        5
    }
}

/// Any interrupt: there is but one. With the crate of a chip, each has a function and a name.
#[exception]
unsafe fn DefaultHandler(_number: i16) {
    let _ = with_receiver(|receiver| {
        receiver.receive();
        Ok(())
    });
}

/// The registers that are used, with the names of Arm's manual.
mod registers {
    /// One register, at its address.
    pub(super) struct Register(usize);

    impl Register {
        pub(super) fn read(&self) -> u32 {
            // SAFETY: a register of this chip.
            unsafe { core::ptr::with_exposed_provenance::<u32>(self.0).read_volatile() }
        }

        pub(super) fn write(&self, value: u32) {
            // SAFETY: a register of this chip.
            unsafe { core::ptr::with_exposed_provenance_mut::<u32>(self.0).write_volatile(value) }
        }
    }

    /// Data, and what went wrong with them: a break, a wrong frame or parity, bytes lost before.
    pub(super) const DR: Register = Register(0x4000_c000);
    pub(super) const DR_ERRORS: u32 = 0xf << 8;
    /// Flags.
    pub(super) const FR: Register = Register(0x4000_c018);
    pub(super) const FR_RECEIVE_EMPTY: u32 = 1 << 4;
    /// The clock's divisor, and its 64ths.
    pub(super) const IBRD: Register = Register(0x4000_c024);
    pub(super) const FBRD: Register = Register(0x4000_c028);
    /// The form of the line.
    pub(super) const LCRH: Register = Register(0x4000_c02c);
    pub(super) const LCRH_FIFO: u32 = 1 << 4;
    pub(super) const LCRH_EIGHT_BITS: u32 = 3 << 5;
    /// Control.
    pub(super) const CR: Register = Register(0x4000_c030);
    pub(super) const CR_ENABLE: u32 = 1 << 0;
    pub(super) const CR_RECEIVE: u32 = 1 << 9;
    /// Which interrupts are on: bytes have come, and some have lain there for a while.
    pub(super) const IMSC: Register = Register(0x4000_c038);
    pub(super) const RECEIVE_INTERRUPTS: u32 = 1 << 4 | 1 << 6;
}
