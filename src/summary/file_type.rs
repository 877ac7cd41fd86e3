//! The names of `general.file_type`.

use core::fmt;

/// What most tensors of a file are: the number in `general.file_type`, as llama.cpp counts them.
///
/// Other lists of file types agree with it only up to 10.
///
/// ```
/// use weightstream::summary::FileType;
/// assert_eq!(FileType(15).name(), Some("Q4_K_M"));
/// assert_eq!(FileType(99).to_string(), "file type 99");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FileType(pub u32);

/// By number. Those of 4 to 6 and 33 to 35 were removed: only old files have them.
const NAMES: [&str; 42] = [
    "ALL_F32",
    "F16",
    "Q4_0",
    "Q4_1",
    "Q4_1_SOME_F16",
    "Q4_2",
    "Q4_3",
    "Q8_0",
    "Q5_0",
    "Q5_1",
    "Q2_K",
    "Q3_K_S",
    "Q3_K_M",
    "Q3_K_L",
    "Q4_K_S",
    "Q4_K_M",
    "Q5_K_S",
    "Q5_K_M",
    "Q6_K",
    "IQ2_XXS",
    "IQ2_XS",
    "Q2_K_S",
    "IQ3_XS",
    "IQ3_XXS",
    "IQ1_S",
    "IQ4_NL",
    "IQ3_S",
    "IQ3_M",
    "IQ2_S",
    "IQ2_M",
    "IQ4_XS",
    "IQ1_M",
    "BF16",
    "Q4_0_4_4",
    "Q4_0_4_8",
    "Q4_0_8_8",
    "TQ1_0",
    "TQ2_0",
    "MXFP4_MOE",
    "NVFP4",
    "Q1_0",
    "Q2_0",
];

impl FileType {
    /// The name, also of one that was removed; `None` for an unknown number. Never panics.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        NAMES.get(usize::try_from(self.0).ok()?).copied()
    }
}

/// The name, or the number of one that is unknown.
impl fmt::Display for FileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "file type {}", self.0),
        }
    }
}
