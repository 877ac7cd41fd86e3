//! A file told whole and in pieces: the same events, the same error, the same verdict.

use super::choices::Choices;
use super::setup::{Fuzzed, Setup, cut};
use super::support::record::run;

/// A setup, how many lengths of pieces follow (modulo 16), the lengths, the file.
pub fn chunking(data: &[u8]) {
    let (setup, lengths, file) = split(data);
    if setup.small_scratch {
        compare::<64>(&setup, &lengths, file);
    } else {
        compare::<320>(&setup, &lengths, file);
    }
}

/// The parts of an input.
pub(super) fn split(data: &[u8]) -> (Setup, Vec<usize>, &[u8]) {
    let (setup, rest) = Setup::split(data);
    let mut choices = Choices::new(rest);
    let count = choices.below(16);
    let lengths = choices.slice(count).iter().map(|length| usize::from(*length)).collect();
    (setup, lengths, choices.rest())
}

/// The file in pieces of these lengths, which are used over and over; whole if none of them is more than 0.
pub(super) fn pieces<'f>(file: &'f [u8], lengths: &[usize]) -> impl Iterator<Item = &'f [u8]> {
    let never_ends = lengths.iter().all(|length| *length == 0);
    cut(file, lengths.iter().copied().filter(move |_| !never_ends).cycle().chain(std::iter::once(usize::MAX)))
}

fn compare<const S: usize>(setup: &Setup, lengths: &[usize], file: &[u8]) {
    let mut whole: Fuzzed<S> = setup.decoder();
    let mut cut: Fuzzed<S> = setup.decoder();
    let told = run(&mut whole, [file]);
    assert_eq!(run(&mut cut, pieces(file, lengths)), told);
    assert_eq!(cut.directory().slots(), whole.directory().slots());
    assert_eq!(cut.end(), whole.end());
    let (one, other) = (cut.context(), whole.context());
    assert_eq!((one.section, one.index), (other.section, other.index));
    assert_eq!(one.name.map(|name| name.name_hash()), other.name.map(|name| name.name_hash()));
}
