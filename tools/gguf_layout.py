"""Writes GGUF files, good ones and others, and notes where every field is.

Nothing is checked: what a call says is what is written.
"""

import struct
from dataclasses import dataclass

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
FORMATS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B", U64: "Q", I64: "q", F64: "d"}

# Tensor types that the cases use, with elements and bytes of a block.
T_F32, T_F16, T_Q4_0, T_Q4_K, T_I8, T_I64 = 0, 1, 2, 12, 24, 27
BLOCKS = {T_F32: (1, 4), T_F16: (1, 2), T_Q4_0: (32, 18), T_Q4_K: (256, 144), T_I8: (1, 1), T_I64: (1, 8)}
REMOVED = (4, 5, 31, 32, 33, 36, 37, 38)
T_UNKNOWN = 43

MINUS_1 = 2**64 - 1
INT_MAX = 2**63 - 1


# Values. `write` says where things are under the value's path: `.length` and `.text` of a string, `.element_type`,
# `.count` and `[0]`, `[1]` and so on of an array.


@dataclass
class Scalar:
    kind: int
    number: float

    def write(self, file, path):
        file.put(FORMATS[self.kind], self.number, path)


@dataclass
class Text:
    text: bytes
    claim: int | None = None
    kind = STRING

    def write(self, file, path):
        file.size(len(self.text) if self.claim is None else self.claim, path + ".length")
        file.raw(self.text, path + ".text")


@dataclass
class Array:
    element: int
    items: list
    claim: int | None = None
    kind = ARRAY

    def write(self, file, path):
        file.put("I", self.element, path + ".element_type")
        file.size(len(self.items) if self.claim is None else self.claim, path + ".count")
        for index, item in enumerate(self.items):
            file.mark(f"{path}[{index}]")
            item.write(file, f"{path}[{index}]")


@dataclass
class Raw:
    """These bytes, under this type."""

    kind: int
    bytes: bytes = b""

    def write(self, file, path):
        file.raw(self.bytes, path)


def numbers(kind, *values, claim=None):
    return Array(kind, [Scalar(kind, value) for value in values], claim)


def texts(*values, claim=None):
    return Array(STRING, [Text(value) for value in values], claim)


def nested(depth, inner=numbers(U8, 7)):
    """Arrays in arrays; `inner` is the innermost."""
    return inner if depth == 1 else Array(ARRAY, [nested(depth - 1, inner)])


@dataclass
class Entry:
    key: bytes
    value: object
    key_bytes: int | None = None
    kind: int | None = None


@dataclass
class Tensor:
    """`data` is what stands in the file, None for as many bytes as the shape needs. `offset` is where it stands, and
    what is said unless `says` is something else."""

    name: bytes = b"t"
    kind: int = T_F32
    dims: tuple = (8,)
    data: bytes | None = None
    offset: int | None = None
    says: int | None = None
    name_bytes: int | None = None
    n_dims: int | None = None

    def size(self):
        elements = 1
        for dim in self.dims:
            elements *= dim
        block_elements, block_bytes = BLOCKS.get(self.kind, (1, 1))
        return elements // block_elements * block_bytes


def huge(name=b"t", kind=T_F32, dims=(), **more):
    """A tensor whose data nobody writes."""
    return Tensor(name, kind, dims, b"", **more)


ALIGNMENT = b"general.alignment"


def alignment(value):
    return Entry(ALIGNMENT, Scalar(U32, value))


def keyed(value):
    return Entry(b"key", value)


class File:
    """The bytes of a file, and where everything is."""

    def __init__(self, version=3, big_endian=False):
        self.bytes = bytearray()
        self.at = {"start": 0}
        self.order = ">" if big_endian else "<"
        self.size_format = "I" if version == 1 else "Q"

    def mark(self, name):
        self.at[name] = len(self.bytes)

    def raw(self, data, name):
        self.mark(name)
        self.bytes += data

    def put(self, form, number, name):
        if form in "IQ":
            number &= 2 ** (32 if form == "I" else 64) - 1
        self.raw(struct.pack(self.order + form, number), name)

    def size(self, number, name):
        self.put(self.size_format, number, name)

    def cut(self, name, more=0):
        """Nothing from `more` bytes behind that place on."""
        del self.bytes[self.at[name] + more:]
        return self

    def tail(self, data):
        self.bytes += data
        return self


def gguf(*parts, version=3, big_endian=False, magic=b"GGUF", said_version=None, tensors=None, entries=None,
         aligned=32, padding=b"\0", last_padding=True):
    """A file. `tensors` and `entries` are the counts it claims, where they are not the true ones."""
    file = File(version, big_endian)
    keys = [part for part in parts if isinstance(part, Entry)]
    described = [part for part in parts if isinstance(part, Tensor)]
    file.raw(magic, "magic")
    file.put("I", version if said_version is None else said_version, "version")
    file.size(len(described) if tensors is None else tensors, "tensor_count")
    file.size(len(keys) if entries is None else entries, "entry_count")
    for index, entry in enumerate(keys):
        path = f"entry{index}"
        file.size(len(entry.key) if entry.key_bytes is None else entry.key_bytes, path + ".key_length")
        file.raw(entry.key, path + ".key")
        file.put("I", entry.value.kind if entry.kind is None else entry.kind, path + ".type")
        file.mark(path + ".value")
        entry.value.write(file, path + ".value")
    offset, places = 0, []
    for index, tensor in enumerate(described):
        path = f"tensor{index}"
        data = bytes([index % 255 + 1]) * tensor.size() if tensor.data is None else tensor.data
        place = offset if tensor.offset is None else tensor.offset
        places.append((place, data))
        file.mark(path)
        file.size(len(tensor.name) if tensor.name_bytes is None else tensor.name_bytes, path + ".name_length")
        file.raw(tensor.name, path + ".name")
        file.put("I", len(tensor.dims) if tensor.n_dims is None else tensor.n_dims, path + ".n_dims")
        for axis, dim in enumerate(tensor.dims):
            file.size(dim, f"{path}.dim{axis}")
        file.put("I", tensor.kind, path + ".type")
        file.put("Q", place if tensor.says is None else tensor.says, path + ".offset")
        offset = place + -(-tensor.size() // aligned) * aligned
    file.mark("descriptions_end")
    if not described:
        return file
    start = -(-len(file.bytes) // aligned) * aligned
    file.bytes += padding * (start - len(file.bytes))
    file.mark("data")
    for index, (place, data) in enumerate(places):
        file.at[f"data{index}"] = start + place
        if data:
            end = start + place + len(data)
            file.bytes += padding * (end - len(file.bytes))
            file.bytes[start + place:end] = data
    if last_padding:
        file.bytes += padding * (-len(file.bytes) % aligned)
    return file
