//! The same as `serve` on embassy's executor: while this task waits for bytes, others may run.
//!
//! This program is exempt from the proof that nothing panics. A future that is polled after its end panics, and the executor
//! calls it through a pointer, behind which the linker sees no promise; the executor's own start can panic too.

#![no_std]
#![no_main]

use embassy_executor::Spawner;
use static_cell::ConstStaticCell;
use weightstream::io::asynch::Events;
use weightstream::{Decoder, TensorSlot};
use weightstream_firmware::board::{self, TENSORS};
use weightstream_firmware::console::Console;
use weightstream_firmware::failure::Failure;
use weightstream_firmware::report::Report;
use weightstream_firmware::uart::Uart;

// All zero: they take no flash.
static SLOTS: ConstStaticCell<[TensorSlot; TENSORS]> = ConstStaticCell::new([TensorSlot::EMPTY; TENSORS]);
static BUFFER: ConstStaticCell<[u8; 64]> = ConstStaticCell::new([0; 64]);

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let mut out = board::start();
    let result = serve(&mut out).await;
    board::end(result, &mut out)
}

async fn serve(out: &mut Console) -> Result<(), Failure> {
    let slots = SLOTS.try_take().ok_or(Failure::Taken)?;
    let buffer = BUFFER.try_take().ok_or(Failure::Taken)?;
    let mut report = Report::new()?;
    let decoder = Decoder::new(&mut slots[..]);
    let mut events = Events::new(decoder, Uart::start(), buffer);
    while let Some(event) = events.next().await? {
        report.accept(event, out)?;
    }
    out.decimal(events.decoder().position()).text(" bytes").end_line();
    Ok(())
}
