//! Names to suggest for one that is not there.

use crate::support::escape;

/// Names that are suggested where none fits.
const SUGGESTIONS: usize = 3;
/// A name less like the wanted one than this is not suggested.
const LEAST_LIKENESS: f64 = 0.75;
/// Longer names are not compared: it takes time in the square of their length.
const MOST_COMPARED_BYTES: usize = 256;

/// The names most like the wanted one, the best first.
#[derive(Debug, Default)]
pub(crate) struct Similar(Vec<(f64, String)>);

impl Similar {
    pub(crate) fn consider(&mut self, name: &str, wanted: &str) {
        if name.len().max(wanted.len()) > MOST_COMPARED_BYTES {
            return;
        }
        let likeness = strsim::jaro_winkler(name, wanted);
        let place = self.0.iter().take_while(|(better, _)| *better >= likeness).count();
        if likeness >= LEAST_LIKENESS && place < SUGGESTIONS {
            self.0.insert(place, (likeness, name.to_owned()));
            self.0.truncate(SUGGESTIONS);
        }
    }

    pub(crate) fn hint(&self) -> String {
        let names: Vec<String> =
            self.0.iter().map(|(_, name)| format!("\"{}\"", escape::plain(name))).collect();
        if names.is_empty() { String::new() } else { format!("; similar: {}", names.join(", ")) }
    }
}
