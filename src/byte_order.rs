/// The order of the bytes of a number in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ByteOrder {
    /// Least significant byte first: nearly every file.
    #[default]
    Little = 0,
    /// Most significant byte first.
    Big = 1,
}
