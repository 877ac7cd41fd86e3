//! What is printed of a model while it comes: its tensors as they are described, then the checksum of each.

use weightstream::{Event, Name, TensorInfo};

use crate::checksum::Checksums;
use crate::console::Console;
use crate::failure::Failure;

/// Prints the tensors of a model from its events.
pub struct Report {
    checksums: Checksums,
}

impl Report {
    /// Takes the one row that there is to dequantize into.
    ///
    /// # Errors
    ///
    /// When it was taken before.
    pub fn new() -> Result<Self, Failure> {
        Ok(Self { checksums: Checksums::new()? })
    }

    /// Prints what an event says.
    ///
    /// # Errors
    ///
    /// When blocks cannot be dequantized.
    pub fn accept(&mut self, event: Event<'_>, out: &mut Console) -> Result<(), Failure> {
        match event {
            Event::Tensor { name, info } => print_tensor(name, info, out),
            Event::Data(blocks) => self.checksums.add(blocks, out)?,
            Event::End => self.checksums.end_tensor(out),
            _ => {}
        }
        Ok(())
    }
}

/// Prints a line about a tensor.
pub fn print_tensor(name: Name<'_>, info: &TensorInfo, out: &mut Console) {
    out.decimal(info.index().into()).text(" ").text(name.prefix()).text(" ");
    out.text(info.tensor_type().name().unwrap_or("?"));
    for dim in info.dims() {
        out.text(" ").decimal(*dim);
    }
    out.text(", ").decimal(info.byte_len().unwrap_or(0)).text(" bytes at ").decimal(info.data_offset());
    out.end_line();
}
