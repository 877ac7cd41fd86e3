//! What a decoder costs the memory of a microcontroller. Nothing here runs: `check` beside this project reads the
//! symbols of the library that comes out.

#![no_std]

use core::cell::UnsafeCell;
use core::mem::size_of;
use weightstream::metadata::Metadata;
use weightstream::summary::Summary;
use weightstream::{Decoder, Error, ShardSet, TensorSlot};

/// A static that may change, as firmware keeps one behind a lock or a critical section.
#[repr(transparent)]
pub struct Shared<T>(UnsafeCell<T>);

// SAFETY: `decode` asks its caller for exclusive use, and nothing else touches the content.
unsafe impl<T> Sync for Shared<T> {}

#[unsafe(no_mangle)]
pub static DECODER: Shared<Decoder<[TensorSlot; 8]>> =
    Shared(UnsafeCell::new(Decoder::new([TensorSlot::EMPTY; 8])));

#[unsafe(no_mangle)]
pub static METADATA: Shared<Metadata<16, 512>> = Shared(UnsafeCell::new(Metadata::new()));

#[unsafe(no_mangle)]
pub static SUMMARY: Shared<Summary> = Shared(UnsafeCell::new(Summary::new()));

#[unsafe(no_mangle)]
pub static SHARD_SET: Shared<ShardSet> = Shared(UnsafeCell::new(ShardSet::new()));

/// Brings the whole decoder, and what keeps metadata, into the library, so that what it needs in `.data` would show.
///
/// # Safety
///
/// `bytes` points to `len` bytes, and no other call is going on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn decode(bytes: *const u8, len: usize) -> bool {
    // SAFETY: as asked of the caller.
    let (decoder, mut input) = unsafe { (&mut *DECODER.0.get(), core::slice::from_raw_parts(bytes, len)) };
    // SAFETY: as asked of the caller.
    let (metadata, summary) = unsafe { (&mut *METADATA.0.get(), &mut *SUMMARY.0.get()) };
    while let Ok(event) = decoder.decode(&mut input) {
        let Some(event) = event else { return decoder.finish().is_ok() };
        summary.accept(&event);
        if metadata.accept(&event).is_err() {
            return false;
        }
    }
    false
}

/// Sizes are read off symbols as long as the types.
macro_rules! size {
    ($symbol:ident, $type:ty, at most $bytes:literal) => {
        #[unsafe(no_mangle)]
        pub static $symbol: [u8; size_of::<$type>()] = [0; size_of::<$type>()];
        const _: () = assert!(
            size_of::<$type>() <= $bytes,
            concat!(stringify!($type), " is larger than ", $bytes, " bytes")
        );
    };
}

size!(SIZE_OF_DECODER, Decoder, at most 768);
size!(SIZE_OF_TENSOR_SLOT, TensorSlot, at most 40);
size!(SIZE_OF_ERROR, Error, at most 32);

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
