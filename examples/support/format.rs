//! What the formats call things.

use weightstream::{ByteOrder, Format, Header, TensorInfo};

/// In the middle of a sentence.
pub(crate) fn name(format: Format) -> &'static str {
    match format {
        Format::Gguf => "GGUF",
        Format::Safetensors => "safetensors",
        _ => "an unknown format",
    }
}

/// The first line of what is said of a file. safetensors has neither versions nor byte orders.
pub(crate) fn headline(header: &Header) -> String {
    if header.format == Format::Safetensors {
        return name(header.format).into();
    }
    let order = match header.byte_order {
        ByteOrder::Little => "little-endian",
        ByteOrder::Big => "big-endian",
    };
    format!("{} version {}, {order}", name(header.format), header.version)
}

/// What the dimensions of a tensor are called, in the order of the file. A shape is row-major.
pub(crate) fn dims_label(format: Format) -> &'static str {
    if format == Format::Safetensors { "shape" } else { "dims" }
}

/// What the type of a tensor is called.
pub(crate) fn type_label(format: Format) -> &'static str {
    if format == Format::Safetensors { "dtype" } else { "type" }
}

/// Columns of the longest name of a type: `IQ2_XXS`, `F8_E4M3FNUZ`.
pub(crate) fn type_width(format: Format) -> usize {
    if format == Format::Safetensors { 11 } else { 7 }
}

/// The dimensions of a tensor for people, in the order of the file.
pub(crate) fn dims(info: &TensorInfo) -> String {
    let dims: Vec<String> = info.dims().iter().map(u64::to_string).collect();
    if dims.is_empty() { "scalar".into() } else { dims.join(" × ") }
}

/// Whether a file must end with its last tensor.
pub(crate) fn must_end(format: Format) -> bool {
    format == Format::Safetensors
}
