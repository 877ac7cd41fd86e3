//! What can be wrong with a set of files that are each fine.

use core::fmt;

use crate::model_name::Shard;
use crate::value::ValueType;

/// A key that says what set a file belongs to, and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SplitKey {
    /// `split.no`: the number of the file, from 0.
    No,
    /// `split.count`: files in the set.
    Count,
    /// `split.tensors.count`: tensors in all files of the set.
    TensorsCount,
}

impl SplitKey {
    pub(super) const ALL: [Self; 3] = [Self::No, Self::Count, Self::TensorsCount];

    /// The key as it stands in a file. Never panics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::No => "split.no",
            Self::Count => "split.count",
            Self::TensorsCount => "split.tensors.count",
        }
    }

    /// The only type that its value may have. Never panics.
    #[must_use]
    pub const fn value_type(self) -> ValueType {
        match self {
            Self::No | Self::Count => ValueType::U16,
            Self::TensorsCount => ValueType::I32,
        }
    }
}

/// Why files do not make up one model. Files are counted from 1, as in their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ShardError {
    // The first one stands in an untouched set: it must be all zero.
    /// The methods of the set were not called in their order: it is the caller's fault, not that of a file.
    OutOfTurn,
    /// A key has another type than [`SplitKey::value_type`].
    WrongType {
        /// The key.
        key: SplitKey,
        /// The type that it has.
        value_type: ValueType,
    },
    /// A file has the key twice.
    DuplicateKey {
        /// The key.
        key: SplitKey,
    },
    /// A file has some of the three keys, but not this one.
    MissingKey {
        /// The key.
        key: SplitKey,
    },
    /// `split.no` is not below `split.count`.
    NoSuchShard {
        /// The value of `split.no`, which counts from 0.
        no: u16,
        /// The value of `split.count`.
        count: u16,
    },
    /// `split.tensors.count` is negative.
    NegativeTotal {
        /// Its value.
        tensors: i32,
    },
    /// A file is no shard, and came as one of several, or its name says that it is one of several.
    NotSharded,
    /// A file belongs to a set of another size than the first one.
    OtherCount {
        /// Files in the set, as the first one says.
        expected: u16,
        /// Files in the set, as this one says.
        found: u16,
    },
    /// A file belongs to a set of another number of tensors than the first one.
    OtherTotal {
        /// Tensors in the set, as the first file says.
        expected: u32,
        /// Tensors in the set, as this file says.
        found: u32,
    },
    /// A shard came a second time.
    Repeated {
        /// Its number.
        number: u32,
    },
    /// The name of a file and its keys do not say the same.
    NameDiffers {
        /// What the name says.
        name: Shard,
        /// What the keys say.
        keys: Shard,
    },
    /// A shard came before its turn.
    OutOfOrder {
        /// The number of the shard that should have come.
        expected: u32,
        /// The number of the shard that came.
        found: u32,
    },
    /// The files hold another number of tensors than they say. Too many are told as soon as they are.
    WrongTotal {
        /// Tensors in the set, as each file says.
        expected: u32,
        /// Tensors that have come.
        found: u64,
    },
    /// A shard did not come at all.
    Missing {
        /// Its number.
        number: u32,
        /// Files in the set.
        count: u16,
    },
}

impl ShardError {
    /// A stable name of the error, such as `shards.missing`, for logs and for programs in other languages.
    /// Never panics.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OutOfTurn => "shards.out_of_turn",
            Self::WrongType { .. } => "shards.wrong_type",
            Self::DuplicateKey { .. } => "shards.duplicate_key",
            Self::MissingKey { .. } => "shards.missing_key",
            Self::NoSuchShard { .. } => "shards.no_such_shard",
            Self::NegativeTotal { .. } => "shards.negative_total",
            Self::NotSharded => "shards.not_sharded",
            Self::OtherCount { .. } => "shards.other_count",
            Self::OtherTotal { .. } => "shards.other_total",
            Self::Repeated { .. } => "shards.repeated",
            Self::NameDiffers { .. } => "shards.name_differs",
            Self::OutOfOrder { .. } => "shards.out_of_order",
            Self::WrongTotal { .. } => "shards.wrong_total",
            Self::Missing { .. } => "shards.missing",
        }
    }
}

impl fmt::Display for ShardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OutOfTurn => write!(f, "a file of the set was not begun, or not ended"),
            Self::WrongType { key, value_type } => {
                let (key, wanted) = (key.name(), key.value_type().name());
                write!(f, "{key} has the type {}, not {wanted}", value_type.name())
            }
            Self::DuplicateKey { key } => write!(f, "{} is given twice", key.name()),
            Self::MissingKey { key } => write!(f, "the file is a shard, but {} is missing", key.name()),
            Self::NoSuchShard { no, count } => {
                write!(f, "split.no is {no}, which is not below the split.count of {count}")
            }
            Self::NegativeTotal { tensors } => write!(f, "split.tensors.count is negative: {tensors}"),
            Self::NotSharded => write!(f, "the file is no shard: its keys name no set of several files"),
            Self::OtherCount { expected, found } => {
                write!(f, "the shard is of another model: of {found} files, the first one is of {expected}")
            }
            Self::OtherTotal { expected, found } => {
                write!(f, "the shard is of another model: of {found} tensors, the first one is of {expected}")
            }
            Self::Repeated { number } => write!(f, "this is shard {number}, which came before"),
            Self::NameDiffers { name, keys } => {
                write!(f, "by its keys this is shard {keys}, by its name shard {name}")
            }
            Self::OutOfOrder { expected, found } => {
                write!(f, "this is shard {found}, and shard {expected} must come first")
            }
            Self::WrongTotal { expected, found } => {
                write!(f, "the shards say that they hold {expected} tensors, and {found} have come")
            }
            Self::Missing { number, count } => write!(f, "shard {number} of {count} is missing"),
        }
    }
}

impl core::error::Error for ShardError {}
