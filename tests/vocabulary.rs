//! Searches in a vocabulary: the first token with those bytes, the bytes of a position, and why there are none.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and its numbers are small"
)]

mod support;

use support::gguf_writer::{Gguf, Value, Written};
use support::random::Random;
use weightstream::vocabulary::{FindToken, ReadToken, Search, TOKENS};
use weightstream::{Decoder, Event};

fn file(tokens: &[&[u8]]) -> Written {
    let items = tokens.iter().map(Value::text).collect();
    Gguf::new()
        .entry("before", Value::array(vec![Value::text("<s>"), Value::text("b")]))
        .entry(TOKENS, Value::Array { element: 8, items })
        .entry("after", Value::array(vec![Value::text("zz")]))
        .write()
}

/// Passes on the events of a file in chunks of `size`, skips what is not wanted, and counts the pieces that are told.
fn push(file: &[u8], size: usize, mut accept: impl FnMut(&Event<'_>) -> bool) -> usize {
    let (mut decoder, mut pieces) = (Decoder::new([]), 0);
    for mut chunk in file.chunks(size) {
        while let Some(event) = decoder.decode(&mut chunk).unwrap() {
            pieces += usize::from(matches!(event, Event::Text { .. } | Event::Items(_)));
            if !accept(&event) {
                decoder.skip_value();
            }
        }
    }
    decoder.finish().unwrap();
    pieces
}

fn find(file: &[u8], size: usize, token: &[u8]) -> Search {
    let mut find = FindToken::new(TOKENS, token);
    push(file, size, |event| find.accept(event));
    find.search()
}

fn read(file: &[u8], size: usize, index: u64, room: usize) -> (Search, Option<Vec<u8>>, Vec<u8>) {
    let mut buffer = vec![b'-'; room];
    let mut read = ReadToken::new(TOKENS, index, &mut buffer);
    push(file, size, |event| read.accept(event));
    let (search, text) = (read.search(), read.text().map(<[u8]>::to_vec));
    (search, text, buffer)
}

#[test]
fn every_token_is_found_and_read_in_chunks_of_any_size() {
    let tokens: [&[u8]; 9] =
        [b"<s>", b"", b"a", b"ab", "سلام".as_bytes(), b"abc", b"\xff\x00", b"abcabd", b"aab"];
    let file = file(&tokens);
    for size in 1..=file.bytes.len() {
        for (index, token) in (0..).zip(tokens) {
            let bytes = token.len() as u64;
            assert_eq!(find(&file.bytes, size, token), Search::Found { index, bytes }, "{size}");
            let (search, text, _) = read(&file.bytes, size, index, 8);
            assert_eq!((search, text.as_deref()), (Search::Found { index, bytes }, Some(token)), "{size}");
        }
        for token in [&b"abcab"[..], b"b", b"s>", b"abcabda", b"zz", b"\xff"] {
            assert_eq!(find(&file.bytes, size, token), Search::NotFound, "{size} {token:?}");
        }
        for index in [9, u64::MAX] {
            let (search, text, buffer) = read(&file.bytes, size, index, 8);
            assert_eq!((search, text, &buffer[..]), (Search::NotFound, None, &b"--------"[..]));
        }
    }
}

#[test]
fn of_a_token_that_is_there_twice_the_first_one_counts() {
    let file = file(&[b"x", b"twice", b"twice", b"x"]);
    assert_eq!(find(&file.bytes, 7, b"twice"), Search::Found { index: 1, bytes: 5 });
    assert_eq!(find(&file.bytes, 7, b"x"), Search::Found { index: 0, bytes: 1 });
}

#[test]
fn a_token_longer_than_the_buffer_tells_its_length() {
    let file = file(&[b"short", b"a long token"]);
    for size in [1, 5, 1000] {
        let (search, text, buffer) = read(&file.bytes, size, 1, 6);
        assert_eq!(search, Search::Found { index: 1, bytes: 12 });
        assert_eq!((text, &buffer[..]), (None, &b"a long"[..]), "what fits is there all the same");
        let (search, text, _) = read(&file.bytes, size, 1, 0);
        assert_eq!((search, text), (Search::Found { index: 1, bytes: 12 }, None));
        let (_, text, _) = read(&file.bytes, size, 1, 12);
        assert_eq!(text.as_deref(), Some(&b"a long token"[..]));
    }
}

#[test]
fn why_there_is_no_token_is_told() {
    let without = Gguf::new().entry("other", Value::U8(1)).write();
    assert_eq!(find(&without.bytes, 3, b""), Search::NoKey);
    assert_eq!(find(&Gguf::new().write().bytes, 3, b""), Search::NoKey);
    assert_eq!(read(&without.bytes, 3, 0, 1).0, Search::NoKey);
    let empty = file(&[]);
    assert_eq!(find(&empty.bytes, 3, b""), Search::NotFound, "an empty vocabulary has no empty token");
    let nested = Value::array(vec![Value::array(vec![Value::text("a")])]);
    for value in [Value::text("a"), Value::U8(1), Value::array(vec![Value::U8(b'a')]), nested] {
        let file = Gguf::new().entry(TOKENS, value).write();
        for size in [1, 1000] {
            assert_eq!(find(&file.bytes, size, b"a"), Search::NotStrings);
            assert_eq!(read(&file.bytes, size, 0, 1).0, Search::NotStrings);
        }
    }
}

#[test]
fn what_follows_the_answer_is_not_asked_for() {
    let tokens: Vec<Vec<u8>> = (0..100).map(|number: u32| number.to_string().into_bytes()).collect();
    let tokens: Vec<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
    let file = file(&tokens);
    let mut find = FindToken::new(TOKENS, b"41");
    assert_eq!(push(&file.bytes, 1000, |event| find.accept(event)), 42);
    let mut buffer = [0; 2];
    let mut read = ReadToken::new(TOKENS, 17, &mut buffer);
    assert_eq!(push(&file.bytes, 1000, |event| read.accept(event)), 18);
    assert_eq!(read.text(), Some(&b"17"[..]));

    // Of two at a time, both get theirs.
    let (mut first, mut second) = (FindToken::new(TOKENS, b"3"), FindToken::new("after", b"zz"));
    let pieces = push(&file.bytes, 1000, |event| first.accept(event) | second.accept(event));
    assert_eq!(pieces, 4 + 1);
    assert_eq!(first.search(), Search::Found { index: 3, bytes: 1 });
    assert_eq!(second.search(), Search::Found { index: 0, bytes: 2 });
}

#[test]
fn a_value_that_is_skipped_by_others_is_told_or_found_before() {
    let file = file(&[b"one", b"two", b"three", b"four"]);
    let mut random = Random::new(3);
    let mut skipped = 0;
    for _ in 0..300 {
        let mut find = FindToken::new(TOKENS, b"three");
        let mut buffer = [0; 5];
        let mut read = ReadToken::new(TOKENS, 2, &mut buffer);
        let size = 1 + random.below(9);
        push(&file.bytes, size, |event| {
            let wanted = find.accept(event) | read.accept(event);
            wanted && !random.one_in(9)
        });
        assert_eq!(find.search(), read.search(), "they are done at the same moment");
        match read.search() {
            Search::Found { index: 2, bytes: 5 } => assert_eq!(read.text(), Some(&b"three"[..])),
            Search::Skipped => skipped += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!((50..250).contains(&skipped), "{skipped}");
}

#[test]
fn a_piece_that_is_not_passed_on_is_not_made_up() {
    let file = file(&[b"abcdef", b"xyzxyz"]);
    for left_out in 0..6 {
        let mut buffer = [0; 6];
        let mut read = ReadToken::new(TOKENS, 1, &mut buffer);
        let mut find = FindToken::new(TOKENS, b"xyz");
        let mut pieces = 0;
        push(&file.bytes, 1, |event| {
            let passed_on = match event {
                Event::Text { total: Some(6), .. } => {
                    pieces += 1;
                    pieces != 7 + left_out
                }
                _ => true,
            };
            !passed_on || read.accept(event) | find.accept(event)
        });
        assert_eq!(pieces, 12);
        // Without the last piece the string never ends.
        let search = if left_out == 5 { Search::NotFound } else { Search::Skipped };
        assert_eq!((read.search(), read.text()), (search, None), "without piece {left_out}");
        assert_eq!(find.search(), Search::NotFound);
    }
}

#[test]
fn a_search_goes_on_as_long_as_the_metadata() {
    let file = file(&[b"one", b"two"]);
    let mut find = FindToken::new(TOKENS, b"three");
    let mut decoder = Decoder::new([]);
    let end = file.entries[1].end as usize - 1;
    let mut input = &file.bytes[..end];
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        find.accept(&event);
    }
    assert_eq!(find.search(), Search::Pending);
    assert!(!find.search().is_done());
    let mut input = &file.bytes[end..];
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        find.accept(&event);
    }
    assert_eq!(find.search(), Search::NotFound);
    assert!(find.search().is_done());
}
