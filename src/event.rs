//! What a decoder tells: tokens, lent as slices.

use core::fmt;

use crate::byte_order::ByteOrder;
use crate::carry::as_u64;
use crate::error::{DequantizeError, Section};
use crate::quant;
use crate::tensor_type::TensorType;
use crate::token::{DataStart, Header, TensorInfo};
use crate::value::{Scalar, ValueType};

/// One thing a file says. Slices are lent from the caller's chunk or from the decoder's scratch, until the next call.
///
/// The order of events is a grammar, which holds for every file and every chunking:
///
/// ```text
/// stream  = Header (entry | Tensor)* DataStart Data* End?     GGUF: all entries before the first Tensor
/// entry   = Key value?                                        no value, or a cut one, after skip_value
/// value   = Scalar | Text+ | ArrayStart element* ArrayEnd
/// element = Items | Text+ | ArrayStart element* ArrayEnd
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u32)] // With a tag of 8 bits, what follows it is moved byte by byte on microcontrollers.
pub enum Event<'a> {
    /// The first event.
    Header(Header),
    /// A metadata entry begins. Its value follows, unless [`skip_value`](crate::Decoder::skip_value) is called.
    Key {
        /// The whole key.
        name: Name<'a>,
        /// The type of the value.
        value_type: ValueType,
    },
    /// A value of fixed size.
    Scalar(Scalar),
    /// A piece of a string: a value, or an element of an array. An empty string is one empty piece.
    Text {
        /// The bytes of this piece, not checked to be UTF-8: a chunk edge may cut a character.
        part: &'a [u8],
        /// Where the piece starts in the string, in bytes.
        start: u64,
        /// Length of the whole string in bytes; `None` where the format does not tell beforehand.
        total: Option<u64>,
        /// Whether the string ends with this piece.
        last: bool,
    },
    /// An array begins.
    ArrayStart {
        /// The type of the elements.
        element: ValueType,
        /// Elements in the array.
        len: u64,
    },
    /// A run of whole elements of the innermost open array, at least one, of fixed size.
    Items(Items<'a>),
    /// The innermost open array ends.
    ArrayEnd,
    /// A tensor's description. It is recorded in the directory by the next call of `decode`, unless
    /// [`skip_tensor`](crate::Decoder::skip_tensor) is called before.
    Tensor {
        /// The whole name.
        name: Name<'a>,
        /// The description.
        info: &'a TensorInfo,
    },
    /// All descriptions have been read and checked.
    DataStart(DataStart),
    /// Whole blocks of a recorded tensor, at least one.
    Data(Blocks<'a>),
    /// The last byte of the last tensor has been read. What follows in the input is not the decoder's; a safetensors file must end
    /// here, and a byte that follows is an error of the next call.
    End,
}

impl<'a> Event<'a> {
    /// A string that is whole.
    #[inline]
    pub(crate) const fn whole_text(part: &'a [u8]) -> Self {
        Self::Text { part, start: 0, total: Some(as_u64(part.len())), last: true }
    }
}

/// A key or a tensor name.
///
/// It compares as its full text. One that outgrew the decoder's scratch is cut: it says so, and equals nothing.
#[derive(Clone, Copy)]
pub struct Name<'a> {
    text: &'a [u8],
    total: u32,
    whole: bool,
    hash: u64,
}

impl<'a> Name<'a> {
    pub(crate) const fn new(text: &'a [u8], total: u32, whole: bool, hash: u64) -> Self {
        Self { text, total, whole, hash }
    }

    /// The text; `None` for a cut name. Never panics.
    #[must_use]
    pub fn as_str(&self) -> Option<&'a str> {
        if self.is_cut() { None } else { core::str::from_utf8(self.text).ok() }
    }

    /// The beginning of the text, as far as the scratch holds it, and up to a whole character. Never panics.
    #[must_use]
    pub fn prefix(&self) -> &'a str {
        match core::str::from_utf8(self.text) {
            Ok(text) => text,
            Err(error) => {
                let whole = self.text.get(..error.valid_up_to()).unwrap_or_default();
                core::str::from_utf8(whole).unwrap_or_default()
            }
        }
    }

    /// Whether the name starts with `prefix`. For a cut name only what is kept of it counts. Never panics.
    #[must_use]
    pub fn starts_with(&self, prefix: &str) -> bool {
        self.text.starts_with(prefix.as_bytes())
    }

    /// Whether the name ends with `suffix`; never for a cut one. Never panics.
    #[must_use]
    pub fn ends_with(&self, suffix: &str) -> bool {
        self.whole && self.text.ends_with(suffix.as_bytes())
    }

    /// Whether the scratch does not hold all of the name. Never panics.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        !self.whole
    }

    /// Length of the whole name in bytes. Never panics.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.total
    }

    /// Whether the name has no bytes. Never panics.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// [`name_hash`](crate::name_hash) of the whole name, cut or not. Never panics.
    #[must_use]
    pub const fn name_hash(&self) -> u64 {
        self.hash
    }
}

impl PartialEq<str> for Name<'_> {
    fn eq(&self, other: &str) -> bool {
        self.whole && self.text == other.as_bytes()
    }
}

impl PartialEq<&str> for Name<'_> {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

/// The text as it is, control characters included; a cut name ends in `…`.
impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.prefix())?;
        if self.is_cut() { f.write_str("…") } else { Ok(()) }
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.prefix())?;
        if self.is_cut() { f.write_str("…") } else { Ok(()) }
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Name<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        // In a struct each string is quoted, an empty one too.
        match self.as_str() {
            Some(name) => defmt::write!(f, "{=str}", name),
            None => defmt::write!(f, "{=str}…", self.prefix()),
        }
    }
}

/// A run of whole array elements of fixed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Items<'a> {
    bytes: &'a [u8],
    element: ValueType,
    byte_order: ByteOrder,
}

macro_rules! typed_items {
    ($($method:ident: $element:ident, $type:ty;)+) => {
        $(
            #[doc = concat!("The elements, if they are of type `", stringify!($type), "`. Never panics.")]
            pub fn $method(&self) -> Option<impl ExactSizeIterator<Item = $type> + use<'a>> {
                if self.element != ValueType::$element {
                    return None;
                }
                let order = self.byte_order;
                Some(self.bytes.as_chunks().0.iter().map(move |bytes| match order {
                    ByteOrder::Little => <$type>::from_le_bytes(*bytes),
                    ByteOrder::Big => <$type>::from_be_bytes(*bytes),
                }))
            }
        )+
    };
}

impl<'a> Items<'a> {
    pub(crate) const fn new(bytes: &'a [u8], element: ValueType, byte_order: ByteOrder) -> Self {
        Self { bytes, element, byte_order }
    }

    /// The type of the elements. Never panics.
    #[must_use]
    pub const fn element(&self) -> ValueType {
        self.element
    }

    /// The byte order of the elements in [`Self::bytes`]. Never panics.
    #[must_use]
    pub const fn byte_order(&self) -> ByteOrder {
        self.byte_order
    }

    /// The elements as they stand in the file. Never panics.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Elements in the run. Never panics.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.element.byte_len() {
            // A power of two: a shift, since a division could fail.
            Some(size) => self.bytes.len().checked_shr(size.trailing_zeros()).unwrap_or(0),
            None => 0,
        }
    }

    /// Whether there are no elements: never in an event. Never panics.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The elements, if they are bools. Never panics.
    pub fn bools(&self) -> Option<impl ExactSizeIterator<Item = bool> + use<'a>> {
        if self.element != ValueType::Bool {
            return None;
        }
        Some(self.bytes.iter().map(|byte| *byte != 0))
    }

    typed_items! {
        u8s: U8, u8;
        i8s: I8, i8;
        u16s: U16, u16;
        i16s: I16, i16;
        u32s: U32, u32;
        i32s: I32, i32;
        f32s: F32, f32;
        u64s: U64, u64;
        i64s: I64, i64;
        f64s: F64, f64;
    }

    /// The elements one by one, whatever their type. Never panics.
    pub fn scalars(&self) -> impl Iterator<Item = Scalar> + use<'a> {
        let (element, order) = (self.element, self.byte_order);
        // Never 0 anyway: but the compiler sees it here, and leaves a panic out.
        let size = usize::from(element.byte_len().unwrap_or(1)).max(1);
        self.bytes.chunks_exact(size).filter_map(move |bytes| Scalar::from_bytes(element, order, bytes))
    }
}

/// Whole blocks of one tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Blocks<'a> {
    bytes: &'a [u8],
    first_element: u64,
    tensor: u32,
    tensor_type: TensorType,
    byte_order: ByteOrder,
}

impl<'a> Blocks<'a> {
    pub(crate) const fn new(
        bytes: &'a [u8],
        first_element: u64,
        tensor: u32,
        tensor_type: TensorType,
        byte_order: ByteOrder,
    ) -> Self {
        Self { bytes, first_element, tensor, tensor_type, byte_order }
    }

    /// Index of the tensor in the file, from 0. Never panics.
    #[must_use]
    pub const fn tensor(&self) -> u32 {
        self.tensor
    }

    /// Type of the tensor. Never panics.
    #[must_use]
    pub const fn tensor_type(&self) -> TensorType {
        self.tensor_type
    }

    /// Byte order of the multi-byte fields in [`Self::bytes`]. Never panics.
    #[must_use]
    pub const fn byte_order(&self) -> ByteOrder {
        self.byte_order
    }

    /// Index of the first element in the tensor, in the order of the file. For a tensor of unknown type it counts
    /// bytes. Never panics.
    #[must_use]
    pub const fn first_element(&self) -> u64 {
        self.first_element
    }

    /// The blocks that have not been dequantized yet, as they stand in the file: for those who compute on quantized
    /// weights. Never panics.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether all blocks have been dequantized. Never panics.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Writes the values of the next blocks, as many whole ones as `out` holds, and moves past them. Returns how
    /// many elements were written: 0 means that no block is left.
    ///
    /// # Errors
    ///
    /// When `out` cannot hold one block, and when the type cannot be dequantized at all: see [`DequantizeError`].
    /// Then nothing is written, and nothing moves. Never panics.
    pub fn dequantize(&mut self, out: &mut [f32]) -> Result<usize, DequantizeError> {
        let written = quant::dequantize(self.tensor_type, self.byte_order, &mut self.bytes, out)?;
        Ok(self.move_on(written))
    }

    /// The same as [`dequantize`](Self::dequantize), but to binary16: writes the bits of each value, rounded once from
    /// its `f32`.
    ///
    /// Ties go to even, what is too large becomes infinite, what is small becomes subnormal or zero, and a NaN stays
    /// one, made quiet. Uses 1 KiB of stack: one block of `f32`.
    ///
    /// # Errors
    ///
    /// Those of [`dequantize`](Self::dequantize). Never panics.
    pub fn dequantize_f16(&mut self, out: &mut [u16]) -> Result<usize, DequantizeError> {
        let written = quant::dequantize_f16(self.tensor_type, self.byte_order, &mut self.bytes, out)?;
        Ok(self.move_on(written))
    }

    /// The same as [`dequantize`](Self::dequantize), but to bfloat16: writes the bits of each value, rounded once from
    /// its `f32`.
    ///
    /// Ties go to even, what is too large becomes infinite, and a NaN stays one, made quiet. Uses 1 KiB of stack: one
    /// block of `f32`.
    ///
    /// # Errors
    ///
    /// Those of [`dequantize`](Self::dequantize). Never panics.
    pub fn dequantize_bf16(&mut self, out: &mut [u16]) -> Result<usize, DequantizeError> {
        let written = quant::dequantize_bf16(self.tensor_type, self.byte_order, &mut self.bytes, out)?;
        Ok(self.move_on(written))
    }

    const fn move_on(&mut self, elements: usize) -> usize {
        self.first_element = self.first_element.saturating_add(as_u64(elements));
        elements
    }
}

/// Where a decoder is, in words for a message.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Context<'a> {
    /// The section of the file.
    pub section: Section,
    /// Index of the metadata entry or tensor in hand.
    pub index: Option<u32>,
    /// The key or tensor name in hand, as far as it has been read and the scratch still holds it.
    pub name: Option<Name<'a>>,
}
