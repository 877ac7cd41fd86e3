//! Checkpoints: a state as bytes that outlast a reboot, and back.
//!
//! ```text
//! checkpoint = VERSION (u8)  kind (u8)  length of all (u32)  fields  CRC-32 of all before it (u32)
//! ```
//!
//! Numbers are little-endian. A state lists its fields once, and whoever walks over the list counts, writes or reads them,
//! so that no two lists can differ. Change a list, and [`VERSION`] goes up.

use core::fmt;

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};

/// Goes up with every change of any list of fields.
const VERSION: u8 = 2;
/// Version, kind and length.
const HEAD_BYTES: usize = 1 + 1 + 4;
const SUM_BYTES: usize = 4;
/// Copied at a time where bytes are only lent.
const PIECE_BYTES: usize = 32;
/// The checksum of zip and Ethernet, without a table: a checkpoint is short, and flash is dear.
const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

/// Why a checkpoint could not be written, or be gone on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CheckpointError {
    /// The buffer cannot hold the checkpoint.
    BufferTooSmall {
        /// Bytes of the checkpoint.
        needed: usize,
    },
    /// After an error there is nothing to go on from.
    Failed,
    /// The bytes are cut short or were changed: their length or their checksum is wrong.
    Corrupt,
    /// Written by a version of this library that saves other fields.
    UnsupportedVersion {
        /// The version that the checkpoint says.
        version: u8,
    },
    /// Of something that was set up in another way: with other options, other sizes, or of another kind.
    Mismatch,
    /// A field has a value that it never has: not written by this library.
    OutOfRange,
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BufferTooSmall { needed } => write!(f, "the checkpoint needs a buffer of {needed} bytes"),
            Self::Failed => f.write_str("there is nothing to go on from after an error"),
            Self::Corrupt => f.write_str("the checkpoint is cut short or was changed"),
            Self::UnsupportedVersion { version } => {
                write!(f, "unsupported version {version} of a checkpoint")
            }
            Self::Mismatch => f.write_str("the checkpoint belongs to other options, sizes or another kind"),
            Self::OutOfRange => f.write_str("the checkpoint holds a value that is out of range"),
        }
    }
}

impl core::error::Error for CheckpointError {}

/// What is saved, so that checkpoints of one thing are not taken for those of another.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Decoder = 1,
    Metadata = 2,
    #[cfg(feature = "safetensors")]
    Safetensors = 3,
}

/// A list of fields: it shows each of them to a walker, which may take or replace it, and refuses what is out of range.
pub(crate) type List<'l> = &'l mut dyn FnMut(&mut dyn Fields) -> Result<(), CheckpointError>;

/// What walks over a list of fields.
pub trait Fields {
    /// Takes these bytes, or replaces them.
    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), CheckpointError>;
}

macro_rules! numbers {
    ($($method:ident: $type:ty;)+) => {
        impl dyn Fields + '_ {
            $(
                pub(crate) fn $method(&mut self, value: &mut $type) -> Result<(), CheckpointError> {
                    let mut bytes = value.to_le_bytes();
                    self.bytes(&mut bytes)?;
                    *value = <$type>::from_le_bytes(bytes);
                    Ok(())
                }
            )+
        }
    };
}

numbers! {
    u8: u8;
    u32: u32;
    u64: u64;
}

impl dyn Fields + '_ {
    pub(crate) fn bool(&mut self, value: &mut bool) -> Result<(), CheckpointError> {
        let mut byte = u8::from(*value);
        self.u8(&mut byte)?;
        within(byte <= 1)?;
        *value = byte == 1;
        Ok(())
    }

    /// A number that has to be the same in what goes on: an option, the size of a buffer.
    pub(crate) fn same(&mut self, value: u64) -> Result<(), CheckpointError> {
        let mut saved = value;
        self.u64(&mut saved)?;
        if saved == value { Ok(()) } else { Err(CheckpointError::Mismatch) }
    }

    /// Bytes that a list only has to lend while it is written; where it is read, [`Self::bytes`] takes its place.
    pub(crate) fn lent(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        for piece in bytes.chunks(PIECE_BYTES) {
            let mut copy = [0; PIECE_BYTES];
            let copy = copy.get_mut(..piece.len()).ok_or(CheckpointError::OutOfRange)?;
            copy.copy_from_slice(piece);
            self.bytes(copy)?;
        }
        Ok(())
    }
}

/// Refuses a field that is out of range.
pub(crate) const fn within(range: bool) -> Result<(), CheckpointError> {
    if range { Ok(()) } else { Err(CheckpointError::OutOfRange) }
}

/// Bytes of the checkpoint of these fields.
pub(crate) fn measure(list: List<'_>) -> Result<usize, CheckpointError> {
    let mut count = Count(0);
    list(&mut count)?;
    Ok(count.0.saturating_add(HEAD_BYTES + SUM_BYTES))
}

/// Writes the checkpoint of these fields to the front of `out`, and returns how many bytes it has.
pub(crate) fn save(kind: Kind, list: List<'_>, out: &mut [u8]) -> Result<usize, CheckpointError> {
    let needed = measure(list)?;
    let too_small = CheckpointError::BufferTooSmall { needed };
    let out = out.get_mut(..needed).ok_or(too_small)?;
    let length = u32::try_from(needed).map_err(|_| too_small)?;
    let (body, sum) = out.split_last_chunk_mut::<SUM_BYTES>().ok_or(too_small)?;
    let mut write = Write(&mut *body);
    write.bytes(&mut [VERSION, kind as u8])?;
    write.bytes(&mut length.to_le_bytes())?;
    list(&mut write)?;
    *sum = CRC.checksum(body).to_le_bytes();
    Ok(needed)
}

/// Replaces these fields by those of the checkpoint at the front of `bytes`, behind which anything may stand. After
/// [`Mismatch`](CheckpointError::Mismatch) and [`OutOfRange`](CheckpointError::OutOfRange) some of them have been replaced,
/// after other errors none.
pub(crate) fn load(kind: Kind, list: List<'_>, bytes: &[u8]) -> Result<(), CheckpointError> {
    let (&[version, saved_kind], rest) = bytes.split_first_chunk().ok_or(CheckpointError::Corrupt)?;
    let length = rest.first_chunk().copied().map_or(0, u32::from_le_bytes);
    let all = usize::try_from(length).ok().and_then(|length| bytes.get(..length));
    let (body, sum) = all.and_then(<[u8]>::split_last_chunk).ok_or(CheckpointError::Corrupt)?;
    if CRC.checksum(body) != u32::from_le_bytes(*sum) {
        return Err(CheckpointError::Corrupt);
    }
    if version != VERSION {
        return Err(CheckpointError::UnsupportedVersion { version });
    }
    if saved_kind != kind as u8 {
        return Err(CheckpointError::Mismatch);
    }
    let mut read = Read(body.get(HEAD_BYTES..).ok_or(CheckpointError::Corrupt)?);
    list(&mut read)?;
    // A list that is done before the bytes are is that of a state of another size.
    if read.0.is_empty() { Ok(()) } else { Err(CheckpointError::Mismatch) }
}

/// Counts the bytes of the fields.
struct Count(usize);

impl Fields for Count {
    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), CheckpointError> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(())
    }
}

/// Writes the fields to a buffer that was measured before.
struct Write<'a>(&'a mut [u8]);

impl Fields for Write<'_> {
    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), CheckpointError> {
        let room = core::mem::take(&mut self.0).split_at_mut_checked(bytes.len());
        let (place, rest) = room.ok_or(CheckpointError::BufferTooSmall { needed: bytes.len() })?;
        place.copy_from_slice(bytes);
        self.0 = rest;
        Ok(())
    }
}

/// Reads the fields.
struct Read<'a>(&'a [u8]);

impl Fields for Read<'_> {
    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), CheckpointError> {
        let (saved, rest) = self.0.split_at_checked(bytes.len()).ok_or(CheckpointError::Mismatch)?;
        bytes.copy_from_slice(saved);
        self.0 = rest;
        Ok(())
    }
}
