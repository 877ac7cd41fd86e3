//! Metadata of a safetensors file, kept: texts whose length is not told beforehand, and keys without a letter.

use weightstream::metadata::{Metadata, MetadataErrorKind};
use weightstream::{Options, safetensors};

use crate::support::safetensors_writer::{file, metadata, object};

fn push<const K: usize, const B: usize>(
    store: &mut Metadata<K, B>,
    decoder: &mut safetensors::Decoder,
    mut bytes: &[u8],
) {
    while let Some(event) = decoder.decode(&mut bytes).unwrap() {
        // Its error stays: every getter tells it.
        let _ = store.accept(&event);
    }
}

#[test]
fn a_store_goes_on_from_its_checkpoint_wherever_a_text_is_cut() {
    let bytes = file(object(&[metadata(&[("", "x"), ("k", "a\n\u{1f600}b"), ("e", "")])]), &[]);
    for end in 0..=bytes.len() {
        let (mut store, mut decoder) = (Metadata::<4, 64>::new(), safetensors::Decoder::new([]));
        push(&mut store, &mut decoder, &bytes[..end]);
        let (mut page, mut state) = ([0; 512], [0; 1024]);
        store.checkpoint(&mut page).unwrap();
        decoder.checkpoint(&mut state).unwrap();

        let (mut store, mut decoder) = (Metadata::<4, 64>::new(), safetensors::Decoder::new([]));
        assert_eq!(store.restore(&page), Ok(()), "after {end} bytes");
        decoder.restore(&state).unwrap();
        push(&mut store, &mut decoder, &bytes[end..]);
        assert_eq!(store.text("", "-"), Ok("x"));
        assert_eq!(store.text("k", "-"), Ok("a\n\u{1f600}b"));
        assert_eq!(store.text("e", "-"), Ok(""));
    }
}

#[test]
fn a_text_that_does_not_fit_is_told_in_the_same_way_however_it_is_cut() {
    let long = "a".repeat(50);
    let bytes = file(object(&[metadata(&[("k", &long)])]), &[]);
    for size in 1..=bytes.len() {
        let mut store = Metadata::<2, 20>::new();
        let mut decoder = safetensors::Decoder::with_options([], Options::new());
        bytes.chunks(size).for_each(|chunk| push(&mut store, &mut decoder, chunk));
        let error = store.text("k", "-").unwrap_err();
        assert_eq!(
            error.kind(),
            MetadataErrorKind::BytesFull { needed: 20, available: 19 },
            "chunks of {size}"
        );
    }
}
