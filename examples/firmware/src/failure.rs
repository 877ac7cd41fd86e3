//! Why a program stops.

use core::convert::Infallible;

use weightstream::io::RowsError;
use weightstream::{DequantizeError, Error};

use crate::console::Console;

/// Why a program stops.
#[derive(Clone, Copy, Debug)]
pub enum Failure {
    /// The file is bad.
    Bad(Error),
    /// Blocks cannot be dequantized.
    Dequantize(DequantizeError),
    /// Rows cannot be read.
    Rows(RowsError<Infallible>),
    /// The model does not have the tensor.
    NoTensor,
    /// The program was not told which file to read.
    NoFileName,
    /// The host does not open or read the file.
    Host,
    /// The memory is in use.
    Taken,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Bad(error)
    }
}

impl From<DequantizeError> for Failure {
    fn from(error: DequantizeError) -> Self {
        Self::Dequantize(error)
    }
}

impl From<RowsError<Infallible>> for Failure {
    fn from(error: RowsError<Infallible>) -> Self {
        Self::Rows(error)
    }
}

impl Failure {
    /// Prints a line. The code of a bad file is explained at `weightstream::ErrorKind`.
    pub fn print(&self, out: &mut Console) {
        out.text("failed: ");
        match self {
            Self::Bad(error) => {
                out.text(error.code()).text(" at offset ").decimal(error.offset());
            }
            Self::Dequantize(_) | Self::Rows(RowsError::Dequantize(_)) => {
                out.text("blocks of this type cannot be dequantized here");
            }
            Self::Rows(_) => {
                out.text("the rows are not all there");
            }
            Self::NoTensor => {
                out.text("the model does not have the tensor");
            }
            Self::NoFileName => {
                out.text("no file: give one with -append FILE");
            }
            Self::Host => {
                out.text("the host cannot read the file");
            }
            Self::Taken => {
                out.text("memory is in use");
            }
        }
        out.end_line();
    }
}
