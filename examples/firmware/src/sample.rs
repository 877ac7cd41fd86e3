//! The model in flash.

use static_cell::ConstStaticCell;
use weightstream::TensorSlot;

use crate::console::Console;
use crate::failure::Failure;

/// The whole file, read where it lies.
pub static MODEL: &[u8] = include_bytes!("../../data/sample.gguf");

/// The tensor with a row for each token.
pub const EMBEDDINGS: &str = "token_embd.weight";
/// Elements of a row.
const ROW: usize = 256;
static ROW_VALUES: ConstStaticCell<[f32; ROW]> = ConstStaticCell::new([0.0; ROW]);
/// The tokens whose rows are printed.
const TOKENS: [u64; 3] = [0, 1, 259];

/// Looks some rows up, and prints each value: its bits, and what they are about.
///
/// # Errors
///
/// When the slot is not that of the embeddings.
pub fn print_embeddings(embeddings: &TensorSlot, out: &mut Console) -> Result<(), Failure> {
    let row = ROW_VALUES.try_take().ok_or(Failure::Taken)?;
    for token in TOKENS {
        let count = embeddings.dequantize_rows(MODEL, token..token.saturating_add(1), row)?;
        out.text("token ").decimal(token).end_line();
        for value in row.get(..count).unwrap_or_default() {
            out.hex(value.to_bits()).text(" ").fixed_point(*value).end_line();
        }
    }
    Ok(())
}
