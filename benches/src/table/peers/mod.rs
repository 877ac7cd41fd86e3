//! What is compared with, each in the way that its own documentation shows.

#[cfg(feature = "candle")]
pub(crate) mod candle;
#[cfg(feature = "ggml")]
pub(crate) mod ggml;
#[cfg(feature = "gguf-rs")]
pub(crate) mod gguf_rs;
#[cfg(feature = "safetensors")]
pub(crate) mod safetensors;

use std::path::Path;

use weightstream::TensorType;

/// The columns of the table.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Peer {
    Ggml,
    Candle,
    /// gguf-rs-lib for GGUF, safetensors for its format.
    Other,
}

impl Peer {
    pub(crate) const ALL: [Self; 3] = [Self::Ggml, Self::Candle, Self::Other];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Ggml => "ggml",
            Self::Candle => "candle",
            Self::Other => "other crate",
        }
    }
}

/// Blocks to values. Both slices hold as many blocks.
pub(crate) type Dequantizer = Box<dyn Fn(&[u8], &mut [f32])>;

/// Those that know the type.
pub(crate) fn dequantizers(tensor_type: TensorType) -> Vec<(Peer, Dequantizer)> {
    #[allow(unused_mut, reason = "without any peer")]
    let mut found: Vec<(Peer, Dequantizer)> = Vec::new();
    #[cfg(feature = "ggml")]
    found.extend(
        ggml::dequantizer(tensor_type).map(|function| (Peer::Ggml, Box::new(function) as Dequantizer)),
    );
    #[cfg(feature = "candle")]
    found.extend(
        candle::dequantizer(tensor_type).map(|function| (Peer::Candle, Box::new(function) as Dequantizer)),
    );
    let _ = tensor_type;
    found
}

/// A reader of a GGUF header: the number of keys.
pub(crate) type HeaderReader = fn(&Path) -> u64;

/// The readers of a GGUF header, each with a word about how it reads where there is a choice.
pub(crate) fn gguf_readers() -> Vec<(Peer, &'static str, HeaderReader)> {
    vec![
        #[cfg(feature = "ggml")]
        (Peer::Ggml, "", ggml::read_header),
        #[cfg(feature = "candle")]
        (Peer::Candle, "", candle::read_header),
        #[cfg(feature = "candle")]
        (Peer::Candle, "unbuffered", candle::read_header_unbuffered),
        #[cfg(feature = "gguf-rs")]
        (Peer::Other, "", gguf_rs::read_header),
    ]
}

/// A reader of a safetensors file in memory: the number of tensors.
pub(crate) fn safetensors_reader() -> Option<fn(&[u8]) -> u64> {
    #[cfg(feature = "safetensors")]
    return Some(safetensors::read_header);
    #[cfg(not(feature = "safetensors"))]
    None
}

/// What each is, and of which version.
pub(crate) fn versions() -> Vec<String> {
    let crates: [(bool, &str); 3] = [
        (cfg!(feature = "candle"), "candle-core"),
        (cfg!(feature = "gguf-rs"), "gguf-rs-lib"),
        (cfg!(feature = "safetensors"), "safetensors"),
    ];
    let crates = crates.into_iter().filter(|(is_on, _)| *is_on).map(|(_, name)| locked(name));
    #[cfg(feature = "ggml")]
    return std::iter::once(ggml::VERSION.to_owned()).chain(crates).collect();
    #[cfg(not(feature = "ggml"))]
    crates.collect()
}

/// A crate with the version that Cargo.lock has.
fn locked(name: &str) -> String {
    let lines = include_str!("../../../Cargo.lock").lines();
    let mut lines = lines.skip_while(|line| *line != format!("name = {name:?}"));
    let version = lines.nth(1).and_then(|line| line.split('"').nth(1));
    format!("{name} {}", version.unwrap_or("?"))
}
