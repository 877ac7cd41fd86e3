//! A file told whole and in pieces: the same events, the same error, the same verdict.

use super::choices::Choices;
use super::setup::{Fuzzed, Setup, cut};
use super::support::record::run;

/// A setup, how many lengths of pieces follow (modulo 16), the lengths, the file. The lengths are used over and over.
pub fn chunking(data: &[u8]) {
    let (setup, rest) = Setup::split(data);
    let mut choices = Choices::new(rest);
    let count = choices.below(16);
    let lengths: Vec<usize> = choices.slice(count).iter().map(|length| usize::from(*length)).collect();
    let file = choices.rest();
    if setup.small_scratch {
        compare::<64>(&setup, &lengths, file);
    } else {
        compare::<320>(&setup, &lengths, file);
    }
}

fn compare<const S: usize>(setup: &Setup, lengths: &[usize], file: &[u8]) {
    let mut whole: Fuzzed<S> = setup.decoder();
    let mut pieces: Fuzzed<S> = setup.decoder();
    let told = run(&mut whole, [file]);
    let never_ends = lengths.iter().all(|length| *length == 0);
    let sizes = lengths.iter().copied().filter(|_| !never_ends).cycle().chain(std::iter::once(usize::MAX));
    assert_eq!(run(&mut pieces, cut(file, sizes)), told);
    assert_eq!(pieces.directory().slots(), whole.directory().slots());
    assert_eq!(pieces.end(), whole.end());
    let (one, other) = (pieces.context(), whole.context());
    assert_eq!((one.section, one.index), (other.section, other.index));
    assert_eq!(one.name.map(|name| name.name_hash()), other.name.map(|name| name.name_hash()));
}
