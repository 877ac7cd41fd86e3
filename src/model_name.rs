//! GGUF file names: the naming convention, and the number of a shard.

use core::fmt;

const EXTENSION: &str = ".gguf";
const SIDECARS: [&str; 2] = ["mmproj", "mtp"];
const MODEL_TYPES: [&str; 2] = ["LoRA", "vocab"];
/// Digits of each number of a shard in a file name.
const SHARD_DIGITS: usize = 5;

// What divides a name. As arrays: core's search for a single character brings code that can panic into the program.
const DASH: [char; 1] = ['-'];
const POINT: [char; 1] = ['.'];
const CROSS: [char; 1] = ['x'];

/// What a file name says of its model, by ggml's naming convention:
/// `[Sidecar-]BaseName-SizeLabel[-FineTune]-Version[-Encoding][-Type][-Shard].gguf`.
///
/// Most names in use do not keep to it, above all because they tell no version. A shard's number can be had of any
/// name: see [`ShardName`].
///
/// ```
/// use weightstream::ModelName;
///
/// let name = ModelName::parse("Grok-100B-v1.0-Q4_0-00003-of-00009.gguf").unwrap();
/// assert_eq!((name.base_name, name.size_label), ("Grok", Some("100B")));
/// assert_eq!((name.version, name.encoding), ("v1.0", Some("Q4_0")));
/// assert_eq!(name.shard.unwrap().number, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct ModelName<'a> {
    /// `mmproj` or `mtp`: the file goes with a model, and is none by itself.
    pub sidecar: Option<&'a str>,
    /// The model's name, its words joined by `-`. May be empty.
    pub base_name: &'a str,
    /// The number of weights, such as `7B` or `8x7B`, with one attribute at most: `30B-A3B`.
    pub size_label: Option<&'a str>,
    /// What the model was tuned for. Only told behind a size label.
    pub fine_tune: Option<&'a str>,
    /// The version, such as `v1.0`.
    pub version: &'a str,
    /// How the weights are encoded, such as `Q4_K_M`.
    pub encoding: Option<&'a str>,
    /// `LoRA` or `vocab`; without it the file is an ordinary model.
    pub model_type: Option<&'a str>,
    /// The shard as the name says it: the numbers need not go together.
    pub shard: Option<Shard>,
}

impl<'a> ModelName<'a> {
    /// Reads the name of a file, without folders. `None` where it does not keep to the convention.
    ///
    /// It agrees with the regular expression that the convention gives. Where a name can be read in more than one way,
    /// the base name is the longest that it can be, and then the fine tune. Takes time linear in the name's length.
    /// Never panics.
    #[must_use]
    pub fn parse(file_name: &'a str) -> Option<Self> {
        let stem = file_name.strip_suffix(EXTENSION)?;
        // What looks like a shard can be nothing else: `of` is no version.
        let (text, shard) = split_shard(stem).map_or((stem, None), |(text, shard)| (text, Some(shard)));
        let sidecar = text.split_once(DASH).filter(|(first, _)| SIDECARS.contains(first));
        // A sidecar's name may turn out to be the base name.
        let name = sidecar.and_then(|(sidecar, rest)| Self::read(Some(sidecar), rest));
        name.or_else(|| Self::read(None, text)).map(|name| Self { shard, ..name })
    }

    /// Reads `text`, from the base name to the type.
    fn read(sidecar: Option<&'a str>, text: &'a str) -> Option<Self> {
        let longest = longest_base_name(text)?;
        let name = Self::read_sized(text, longest).or_else(|| Self::read_unsized(text, longest))?;
        Some(Self { sidecar, ..name })
    }

    /// With a size label. It never looks like a part of a base name, so that it can only stand behind the longest one.
    fn read_sized(text: &'a str, base_name: &'a str) -> Option<Self> {
        let rest = text.strip_prefix(base_name)?.strip_prefix('-')?;
        let mut segments = rest.split(DASH);
        let size = segments.next().filter(|segment| is_size(segment))?;
        let attribute = segments.next().filter(|segment| is_attribute(segment));
        let with_attribute = attribute
            .and_then(|attribute| rest.get(..size.len().checked_add(1)?.checked_add(attribute.len())?));
        let labels = [with_attribute, Some(size)].into_iter().flatten();
        labels.into_iter().find_map(|label| {
            Ending::all(text).find_map(|ending| {
                let before = ending.before.strip_prefix(base_name)?.strip_prefix('-')?;
                let fine_tune = match before.strip_prefix(label)? {
                    "" => None,
                    middle => Some(middle.strip_prefix('-').filter(|text| is_fine_tune(text))?),
                };
                Some(Self { size_label: Some(label), fine_tune, ..ending.name(base_name) })
            })
        })
    }

    /// Without a size label, which leaves two dashes before the version.
    fn read_unsized(text: &'a str, longest: &'a str) -> Option<Self> {
        Ending::all(text).find_map(|ending| {
            let base_name = ending.before.strip_suffix('-')?;
            (base_name.len() <= longest.len()).then(|| ending.name(base_name))
        })
    }
}

/// The end of a name: a version, and perhaps an encoding and a type.
#[derive(Clone, Copy, Debug)]
struct Ending<'a> {
    /// The text up to the dash before the version.
    before: &'a str,
    version: &'a str,
    encoding: Option<&'a str>,
    model_type: Option<&'a str>,
}

impl<'a> Ending<'a> {
    /// Every way in which `text` can end, the shortest first.
    fn all(text: &'a str) -> impl Iterator<Item = Self> {
        (1..=3).filter_map(|segments| Self::read(text, segments))
    }

    /// The last so many segments of `text`, which are divided by dashes.
    fn read(text: &'a str, segments: usize) -> Option<Self> {
        let before = text.rsplitn(segments.saturating_add(1), DASH).nth(segments)?;
        let mut rest = text.get(before.len()..)?.strip_prefix('-')?.split(DASH);
        let version = rest.next().filter(|segment| is_version(segment))?;
        let (encoding, model_type) = match (rest.next(), rest.next()) {
            (None, _) => (None, None),
            (Some(last), None) if MODEL_TYPES.contains(&last) => (None, Some(last)),
            (Some(last), None) => (Some(last), None),
            (Some(encoding), Some(last)) => (Some(encoding), Some(last)),
        };
        let is_good =
            encoding.is_none_or(is_encoding) && model_type.is_none_or(|last| MODEL_TYPES.contains(&last));
        is_good.then_some(Self { before, version, encoding, model_type })
    }

    const fn name(self, base_name: &'a str) -> ModelName<'a> {
        let Self { before: _, version, encoding, model_type } = self;
        ModelName {
            sidecar: None,
            base_name,
            size_label: None,
            fine_tune: None,
            version,
            encoding,
            model_type,
            shard: None,
        }
    }
}

/// The most segments from the start that can be a base name, one at least.
fn longest_base_name(text: &str) -> Option<&str> {
    let mut segments = text.split(DASH);
    let first = segments.next().filter(|segment| segment.chars().all(is_word))?;
    let more = segments.take_while(|segment| is_base_segment(segment));
    let len = more.fold(first.len(), |len, segment| len.saturating_add(1).saturating_add(segment.len()));
    text.get(..len)
}

/// A segment of a base name after the first one: a word, or a number.
fn is_base_segment(segment: &str) -> bool {
    let begins_with_digit = segment.starts_with(|c: char| c.is_ascii_digit());
    segment.chars().all(|c| is_word(c) && (!begins_with_digit || !c.is_ascii_alphabetic()))
}

/// `7B`, `3.8B`, `8x7B`.
fn is_size(segment: &str) -> bool {
    let Some(number) = segment.strip_suffix(|c: char| c.is_ascii_alphabetic()) else { return false };
    match number.split_once(CROSS) {
        Some((experts, number)) => is_digits(experts) && is_number(number),
        None => is_number(number),
    }
}

/// `A3B`, `ContextLength4k`.
fn is_attribute(segment: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let rest = segment.trim_start_matches(is_letter);
    let number = rest.trim_end_matches(is_letter);
    rest.len() < segment.len() && number.len() < rest.len() && is_number(number)
}

fn is_fine_tune(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| is_word(c) || c == '-')
}

/// `v1`, `v1.0`, `v1.2.3`.
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|numbers| numbers.split(POINT).all(is_digits))
}

fn is_encoding(segment: &str) -> bool {
    !segment.is_empty()
        && segment.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !MODEL_TYPES.iter().any(|model_type| segment.starts_with(model_type))
}

/// Digits, with a point between them or not.
fn is_number(text: &str) -> bool {
    text.split_once(POINT)
        .map_or_else(|| is_digits(text), |(whole, part)| is_digits(whole) && is_digits(part))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What names are made of: ASCII letters and digits, and white space as ECMAScript has it, since the convention's
/// regular expression is in that language.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Which file of a set one is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Shard {
    /// The number of the file, from 1. The key `split.no` counts from 0.
    pub number: u32,
    /// Files in the set.
    pub count: u32,
}

impl Shard {
    /// Whether there is such a shard: from 1 to the count, and of five digits at most. Never panics.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        1 <= self.number && self.number <= self.count && self.count < 100_000
    }
}

/// `3 of 9`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.number, self.count)
    }
}

/// The file name of a shard, as llama.cpp writes it: `<prefix>-00003-of-00009.gguf`. Displays as that name.
///
/// ```
/// use weightstream::ShardName;
///
/// let first = ShardName::parse("Qwen3-235B-Q4_K_M-00001-of-00003.gguf").unwrap();
/// assert_eq!(first.prefix(), "Qwen3-235B-Q4_K_M");
/// assert_eq!(first.sibling(3).unwrap().to_string(), "Qwen3-235B-Q4_K_M-00003-of-00003.gguf");
/// assert_eq!(first.sibling(4), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ShardName<'a> {
    prefix: &'a str,
    shard: Shard,
}

impl<'a> ShardName<'a> {
    /// The name of a shard; `None` where there is no such shard: see [`Shard::is_valid`]. Never panics.
    #[must_use]
    pub const fn new(prefix: &'a str, shard: Shard) -> Option<Self> {
        if shard.is_valid() { Some(Self { prefix, shard }) } else { None }
    }

    /// Reads the name of a file, without folders. `None` where it is not that of a shard, or there is no such shard,
    /// as in `00004-of-00003`. Never panics.
    #[must_use]
    pub fn parse(file_name: &'a str) -> Option<Self> {
        let (prefix, shard) = split_shard(file_name.strip_suffix(EXTENSION)?)?;
        Self::new(prefix, shard)
    }

    /// What all files of the set begin with. Never panics.
    #[must_use]
    pub const fn prefix(&self) -> &'a str {
        self.prefix
    }

    /// Which file of the set it is. Never panics.
    #[must_use]
    pub const fn shard(&self) -> Shard {
        self.shard
    }

    /// The name of another file of the set, from 1; `None` where the set has no such file. Never panics.
    #[must_use]
    pub const fn sibling(&self, number: u32) -> Option<Self> {
        Self::new(self.prefix, Shard { number, count: self.shard.count })
    }
}

impl fmt::Display for ShardName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shard { number, count } = self.shard;
        write!(f, "{}-{number:0SHARD_DIGITS$}-of-{count:0SHARD_DIGITS$}{EXTENSION}", self.prefix)
    }
}

/// Takes `-00003-of-00009` off the end. The numbers may be any.
fn split_shard(stem: &str) -> Option<(&str, Shard)> {
    let (rest, count) = stem.rsplit_once(DASH)?;
    let (prefix, number) = rest.strip_suffix("-of")?.rsplit_once(DASH)?;
    Some((prefix, Shard { number: shard_number(number)?, count: shard_number(count)? }))
}

fn shard_number(digits: &str) -> Option<u32> {
    if digits.len() == SHARD_DIGITS && is_digits(digits) { digits.parse().ok() } else { None }
}
