//! Metadata values for the GGUF writer, good and bad.

/// A value, in the order of the type ids, then what is written otherwise than it should be.
#[derive(Clone, Debug)]
pub enum Value {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    F32(f32),
    /// The byte as it is, so that other values than 0 and 1 can be written.
    Bool(u8),
    String(Vec<u8>),
    /// The items need not be of the type that the array claims.
    Array {
        element: u32,
        items: Vec<Value>,
    },
    U64(u64),
    I64(i64),
    F64(f64),
    /// Nothing but these bytes, under this type id.
    Raw {
        type_id: u32,
        bytes: Vec<u8>,
    },
    /// See [`Value::mark`].
    Marked(&'static str, Box<Value>),
    /// See [`Value::claiming`].
    Claimed(u64, Box<Value>),
    /// See [`Value::typed`].
    Typed(u32, Box<Value>),
}

impl Value {
    pub fn text(text: impl AsRef<[u8]>) -> Self {
        Self::String(text.as_ref().to_vec())
    }

    /// An array of the first item's type. An empty one is of u8; for others write the variant out.
    pub fn array(items: Vec<Self>) -> Self {
        Self::Array { element: items.first().map_or(0, Self::type_id), items }
    }

    /// Notes where this value starts, at any depth, for `Written::mark`.
    pub fn mark(self, name: &'static str) -> Self {
        Self::Marked(name, Box::new(self))
    }

    /// A string that claims this length, or an array that claims this count.
    pub fn claiming(self, length: u64) -> Self {
        Self::Claimed(length, Box::new(self))
    }

    /// The same bytes under another type id.
    pub fn typed(self, type_id: u32) -> Self {
        Self::Typed(type_id, Box::new(self))
    }

    pub fn type_id(&self) -> u32 {
        match self {
            Self::U8(_) => 0,
            Self::I8(_) => 1,
            Self::U16(_) => 2,
            Self::I16(_) => 3,
            Self::U32(_) => 4,
            Self::I32(_) => 5,
            Self::F32(_) => 6,
            Self::Bool(_) => 7,
            Self::String(_) => 8,
            Self::Array { .. } => 9,
            Self::U64(_) => 10,
            Self::I64(_) => 11,
            Self::F64(_) => 12,
            Self::Raw { type_id, .. } | Self::Typed(type_id, _) => *type_id,
            Self::Marked(_, value) | Self::Claimed(_, value) => value.type_id(),
        }
    }

    /// The bytes of a scalar; nothing for the others.
    pub(super) fn little_endian(&self) -> Vec<u8> {
        match self {
            Self::U8(byte) | Self::Bool(byte) => vec![*byte],
            Self::I8(number) => number.to_le_bytes().to_vec(),
            Self::U16(number) => number.to_le_bytes().to_vec(),
            Self::I16(number) => number.to_le_bytes().to_vec(),
            Self::U32(number) => number.to_le_bytes().to_vec(),
            Self::I32(number) => number.to_le_bytes().to_vec(),
            Self::F32(number) => number.to_le_bytes().to_vec(),
            Self::U64(number) => number.to_le_bytes().to_vec(),
            Self::I64(number) => number.to_le_bytes().to_vec(),
            Self::F64(number) => number.to_le_bytes().to_vec(),
            _ => Vec::new(),
        }
    }
}
