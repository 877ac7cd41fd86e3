//! A header far larger than any memory for it, made while it is read. The bytes that are not kept can only be counted: the
//! decoder itself has no allocator.

use weightstream::{ErrorKind, Event, Options, TensorSlot, safetensors};

/// Bytes of one entry, and of each piece.
const ENTRY: usize = 100;
const PIECE: usize = 64 * 1024;

/// In a debug build every byte takes 30 times as long, and on an emulated machine as well.
const SLOW: bool = cfg!(debug_assertions) || !cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// A header of so many tensors of one byte each, 100 bytes an entry, piece by piece, and then their data.
struct Generator {
    tensors: u64,
    next: u64,
    buffer: Vec<u8>,
}

impl Generator {
    fn new(tensors: u64) -> Self {
        Self { tensors, next: 0, buffer: (tensors * ENTRY as u64 + 2).to_le_bytes().to_vec() }
    }

    /// The next piece of the header; empty behind its last byte.
    fn piece(&mut self, piece: &mut Vec<u8>) {
        while self.buffer.len() < PIECE && self.next <= self.tensors {
            let start = self.buffer.len();
            let index = self.next;
            self.next += 1;
            if index == self.tensors {
                self.buffer.extend(b" }");
                break;
            }
            let open = if index == 0 { '{' } else { ',' };
            let end = index + 1;
            let text = format!(
                r#"{open}"layers.{index}.w":{{"dtype":"U8","shape":[1],"data_offsets":[{index},{end}]}}"#
            );
            self.buffer.extend(text.as_bytes());
            self.buffer.resize(start + ENTRY, b' ');
        }
        let rest = self.buffer.split_off(PIECE.min(self.buffer.len()));
        *piece = std::mem::replace(&mut self.buffer, rest);
    }
}

/// Reads the header and its data with no slot; tensors told.
fn read(tensors: u64, options: Options) -> Result<u64, weightstream::Error> {
    let mut decoder = safetensors::Decoder::<[TensorSlot; 0]>::with_options([], options);
    let mut generator = Generator::new(tensors);
    let mut piece = Vec::new();
    let (mut told, mut names) = (0, 0);
    loop {
        generator.piece(&mut piece);
        if piece.is_empty() {
            break;
        }
        let mut input = &piece[..];
        while let Some(event) = decoder.decode(&mut input)? {
            if let Event::Tensor { name, info } = event {
                assert_eq!(u64::from(info.index()), told);
                assert_eq!((info.data_offset(), info.byte_len()), (told, Some(1)));
                names += name.len();
                told += 1;
            }
        }
    }
    assert_eq!(decoder.end(), Some(8 + tensors * (ENTRY as u64 + 1) + 2));
    assert_eq!(decoder.skippable(), tensors);
    decoder.advance(tensors).unwrap();
    assert!(matches!(decoder.decode(&mut &b""[..]), Ok(Some(Event::End))));
    assert!(u64::from(names) > 10 * tensors);
    decoder.finish().map(|()| told)
}

/// 90 MB, or 3 MB where that is slow.
#[test]
fn a_header_of_900_000_tensors_streams() {
    let tensors = if SLOW { 30_000 } else { 900_000 };
    assert_eq!(read(tensors, Options::new()), Ok(tensors));
}

#[test]
fn a_header_of_130_mb_is_refused_by_default_and_read_when_allowed() {
    let error = read(1_300_000, Options::new()).unwrap_err();
    let kind = ErrorKind::HeaderTooLarge { bytes: 130_000_002, limit: 100_000_000 };
    assert_eq!((error.kind(), error.offset()), (kind, 0));
    let allowed = Options::new().header_bytes(200_000_000);
    if SLOW {
        // Of its bytes only the first.
        let mut decoder = safetensors::Decoder::with_options([], allowed);
        let mut input = &130_000_002_u64.to_le_bytes()[..];
        assert!(matches!(decoder.decode(&mut input), Ok(Some(Event::Header(_)))));
    } else {
        assert_eq!(read(1_300_000, allowed), Ok(1_300_000));
    }
    let error = read(2_000_001, allowed).unwrap_err();
    assert_eq!(error.code(), "safetensors.header_too_large");
}
