"""The malformed files, one call of `case` each, in the order of the file; and what is right among what looks wrong.

A case gives the name of its file, the rules it is about, what is wrong, the file, the verdict as a code and a field,
and what ggml and gguf-py make of it. The rules, as docs/strictness.md numbers them: G01 to G34 are the checks of ggml's
loader, F01 to F34 the faults that other readers had, names in capitals the cases of ggml's own test. `spec` stands for
a sentence of the format's description, `own` for a limit or a policy of this library.
"""

import re
import struct
from dataclasses import dataclass

from gguf_layout import *

# Verdicts.

ACCEPT, REFUSE, ABORT, ENDLESS = "accept", "refuse", "abort", "endless"
HEADER, METADATA, TENSORS, DATA = "header", "metadata", "tensors", "data"


@dataclass
class Ok:
    keys: int = 0
    tensors: int = 0

    def table(self, _):
        return {"ok": {"keys": self.keys, "tensors": self.tensors}}


@dataclass
class Bad:
    """An error in the field of that name, or `past` bytes behind it. The section and the index are those of the field
    unless they are given."""

    code: str
    field: str
    past: int = 0
    section: str | None = None
    index: int | None = None

    def table(self, file):
        section, index = self.section, self.index
        if section is None:
            kind, number = re.match(r"(entry|tensor|data)?(\d*)", self.field).groups()
            section = {"entry": METADATA, "tensor": TENSORS, "data": DATA}[kind] if number else HEADER
            index = int(number) if number else None
        return {"code": self.code, "offset": file.at[self.field] + self.past, "section": section, "index": index}


def table_error(code, index):
    """Of tensors that do not go together: told where the descriptions end."""
    return Bad(code, "descriptions_end", 0, TENSORS, index)


CASES = {}
RULES = set()


def case(name, rules, wrong, file, verdict, ggml=REFUSE, gguf_py=REFUSE, loading=None, **options):
    """`ggml` and `gguf_py` are what those do: see tests/data/README.md. `loading` is what ggml does when it is asked
    for the data too, where that is something else. `options` are the caller's, `slots` the room of its directory,
    `scratch` the size of the decoder's memory, `skip` the indexes of tensors it passes over."""
    if options.get("input_bytes") == "size":
        options["input_bytes"] = len(file.bytes)
    assert name not in CASES, name
    row = {"file": name + ".gguf", "rules": rules, "wrong": wrong, "verdict": verdict.table(file)}
    if options:
        row["options"] = options
    row |= {"ggml": ggml} | ({"ggml_loading": loading} if loading else {}) | {"gguf_py": gguf_py}
    CASES[name] = (bytes(file.bytes), row)
    RULES.update(rules.split())


# Parts of several cases.

TENSOR = Tensor(b"weight")
AT_START = Bad("gguf.bad_magic", "start", 0, HEADER)


def many_keys(count):
    return [Entry(b"key.%03d" % index, Scalar(U8, index % 256)) for index in range(count)]


# The cases.


def header_cases():
    case("magic_none", "G01", "no byte at all", gguf().cut("magic"), Bad("input.truncated", "magic"))
    case("magic_cut", "G01", "three bytes of the magic", gguf().cut("magic", 3), Bad("input.truncated", "magic"))
    case("magic_cut_and_wrong", "G02", "two bytes, the second is wrong", File().tail(b"GX"), AT_START)
    case("magic_fugg", "G02 HEADER_BAD_MAGIC", "the magic is FUGG", gguf(magic=b"FUGG"), AT_START)
    case("magic_lower_case", "G02", "the magic is gguf", gguf(magic=b"gguf"), AT_START)
    case("magic_escape", "G02 F32", "the magic is a terminal's escape sequence", gguf(magic=b"\x1b[2J"), AT_START)
    case("magic_only", "G03 F20 CVE-2024-39720", "the file ends after its magic", gguf().cut("version"),
         Bad("input.truncated", "version"))

    case("version_cut", "G03", "the file ends in its version", gguf().cut("version", 3),
         Bad("input.truncated", "version"))
    version = Bad("gguf.unsupported_version", "version")
    case("version_0", "G04 HEADER_BAD_VERSION_0", "version 0", gguf(TENSOR, said_version=0), version)
    case("version_65536", "G05", "version 0x10000: in the other byte order 256", gguf(said_version=0x10000), version)
    case("version_4", "G07 HEADER_BAD_VERSION_FUTURE", "version 4", gguf(TENSOR, said_version=4), version)
    case("version_4_big_endian", "G05 G07", "version 4, big-endian", gguf(big_endian=True, said_version=4), version)
    case("version_low_half_3", "G07", "version 0x10003", gguf(said_version=0x10003), version)
    case("version_all_ones", "G07", "version 2^32 - 1", gguf(said_version=2**32 - 1), version)
    case("version_1", "G06", "a good file of version 1", gguf(keyed(Scalar(U8, 1)), TENSOR, version=1), Ok(1, 1))
    case("version_1_laid_out_as_3", "G06 HEADER_BAD_VERSION_1",
         "says 1, is laid out as 3: the count of entries becomes a name of one NUL",
         gguf(keyed(Scalar(U8, 1)), TENSOR, said_version=1), Bad("name.nul", "entry_count", 4, TENSORS, 0))
    case("version_2", "spec", "a good file of version 2", gguf(keyed(Scalar(U8, 1)), TENSOR, version=2), Ok(1, 1),
         ACCEPT, ACCEPT)
    case("version_3_big_endian", "G05", "a good file, big-endian",
         gguf(keyed(Scalar(U8, 1)), TENSOR, big_endian=True),
         Ok(1, 1), gguf_py=ACCEPT)
    case("version_2_big_endian", "G05 own", "big-endian, though version 2", gguf(TENSOR, version=2, big_endian=True),
         Ok(0, 1), gguf_py=ACCEPT)

    tensors, entries = "tensor_count", "entry_count"
    case("tensor_count_cut", "G08", "the file ends in its count of tensors", gguf().cut(tensors, 5),
         Bad("input.truncated", tensors))
    case("tensor_count_minus_1", "G08 HEADER_BAD_N_TENSORS", "-1 tensors", gguf(TENSOR, tensors=-1),
         Bad("limit.tensors", tensors))
    case("tensor_count_wraps", "G08 F02 CVE-2024-21836", "so many tensors that a table of 48 bytes each wraps to 32",
         gguf(TENSOR, tensors=2**64 // 48 + 1), Bad("limit.tensors", tensors))
    case("tensor_count_2_60", "G08 F02", "2^60 tensors in 60 bytes", gguf(TENSOR, tensors=2**60).cut(tensors, 52),
         Bad("limit.tensors", tensors))
    case("tensor_count_2_32_less_1", "own", "a tensor more than 32-bit indexes reach", gguf(tensors=2**32 - 1),
         Bad("limit.tensors", tensors))
    case("tensor_count_2_32_less_2", "F02 F21", "2^32 - 2 tensors, and no byte of them", gguf(tensors=2**32 - 2),
         Bad("input.truncated", "descriptions_end", 0, TENSORS, 0))
    case("tensor_count_one_more", "F21", "two tensors are claimed, one is described",
         gguf(TENSOR, tensors=2).cut("descriptions_end"), Bad("input.truncated", "descriptions_end", 0, TENSORS, 1))
    case("tensor_count_beyond_size", "F02", "more tensors than the file has room for; its size is known",
         gguf(TENSOR, tensors=4), Bad("input.exceeded", tensors), input_bytes="size")
    case("tensor_count_limit", "own", "two tensors, one is allowed", gguf(TENSOR, Tensor(b"u")),
         Bad("limit.tensors", tensors), ACCEPT, ACCEPT, tensors=1)
    case("entry_count_cut", "G09", "the file ends in its count of entries", gguf().cut(entries, 7),
         Bad("input.truncated", entries))
    case("entry_count_minus_1", "G09 HEADER_BAD_N_KV", "-1 entries", gguf(keyed(Scalar(U8, 1)), entries=-1),
         Bad("limit.entries", entries))
    case("entry_count_wraps", "G09 F01 CVE-2024-23605", "so many entries that a table of 48 bytes each wraps to 32",
         gguf(keyed(Scalar(U8, 1)), entries=2**64 // 48 + 1), Bad("limit.entries", entries))
    case("entry_count_2_60", "G09 F01", "2^60 entries in 60 bytes",
         gguf(keyed(Text(bytes(20))), entries=2**60).cut(entries, 44), Bad("limit.entries", entries))
    case("entry_count_2_32_less_2", "F01 F21 CVE-2025-66959", "2^32 - 2 entries, and no byte of them",
         gguf(entries=2**32 - 2), Bad("input.truncated", "descriptions_end", 0, METADATA, 0))
    case("entry_count_one_more", "F21", "two entries are claimed, one is there",
         gguf(keyed(Scalar(U8, 1)), entries=2), Bad("input.truncated", "descriptions_end", 0, METADATA, 1))
    case("entry_count_beyond_size", "F01", "more entries than the file has room for; its size is known",
         gguf(keyed(Scalar(U8, 1)), entries=5), Bad("input.exceeded", entries), input_bytes="size")
    case("entry_count_limit", "own", "two entries, one is allowed",
         gguf(keyed(Scalar(U8, 1)), Entry(b"k", Scalar(U8, 1))),
         Bad("limit.entries", entries), ACCEPT, ACCEPT, entries=1)
    case("entry_count_metadata_limit", "own", "ten entries do not fit in the bytes allowed for metadata",
         gguf(*many_keys(10)), Bad("limit.metadata_bytes", entries), ACCEPT, ACCEPT, metadata_bytes=100)
    case("empty", "HEADER_EMPTY", "no entry, no tensor, padded to 32 bytes", gguf().tail(bytes(8)), Ok(), ACCEPT,
         ACCEPT)


def key_cases():
    length, key = "entry0.key_length", "entry0.key"
    value = Scalar(U32, 7)
    case("key_length_cut", "G10", "the file ends in the length of a key", gguf(keyed(value)).cut(length, 3),
         Bad("input.truncated", length))
    case("key_length_2_64_less_1", "G10 F03 KV_BAD_KEY_SIZE CVE-2024-23496", "a key of 2^64 - 1 bytes",
         gguf(Entry(b"key", value, key_bytes=MINUS_1)), Bad("limit.key_bytes", length))
    case("key_length_2_63", "G10 F03", "a key of 2^63 bytes", gguf(Entry(b"key", value, key_bytes=2**63)),
         Bad("limit.key_bytes", length))
    case("key_length_2_32_and_3", "F26", "a key of 2^32 + 3 bytes: the low 32 bits look right",
         gguf(Entry(b"key", value, key_bytes=2**32 + 3)), Bad("limit.key_bytes", length))
    case("key_length_all_ones_v1", "F21 CVE-2025-66960", "a key of 2^32 - 1 bytes in a file of version 1",
         gguf(Entry(b"key", value, key_bytes=MINUS_1), version=1), Bad("limit.key_bytes", length))
    case("key_cut", "G10", "the file ends in a key", gguf(keyed(value)).cut(key, 2), Bad("input.truncated", key))
    case("key_beyond_size", "G10", "a key longer than the file; its size is known",
         gguf(Entry(b"key", value, key_bytes=9)),
         Bad("input.exceeded", length), input_bytes="size")
    case("key_without_value_known", "G10", "a byte is missing for the least value of a key; the size is known",
         gguf(keyed(Scalar(U8, 1))).cut("entry0.value"), Bad("input.exceeded", length), input_bytes="size",
         gguf_py=ACCEPT)
    case("key_65536_bytes", "spec", "a key of 65,536 bytes", gguf(Entry(b"k" * 65536, value)),
         Bad("limit.key_bytes", length), ACCEPT, ACCEPT)
    case("key_limit", "own", "a key of 17 bytes, 16 are allowed", gguf(Entry(b"k" * 17, value)),
         Bad("limit.key_bytes", length), ACCEPT, ACCEPT, key_bytes=16)
    case("key_at_limit", "own", "a key of 16 bytes, 16 are allowed", gguf(Entry(b"k" * 16, value)), Ok(1), ACCEPT,
         ACCEPT,
         key_bytes=16)
    case("key_metadata_limit", "own", "a key does not fit in the bytes allowed for metadata",
         gguf(Entry(b"k" * 40, value)), Bad("limit.metadata_bytes", length), ACCEPT, ACCEPT, metadata_bytes=64)
    case("key_empty", "G11 KV_EMPTY_KEY", "an empty key", gguf(Entry(b"", value)), Bad("gguf.empty_key", length),
         gguf_py=ACCEPT)
    case("key_twice", "G12 KV_DUPLICATE_KEY", "the same key twice: left to whoever stores keys",
         gguf(keyed(value), Entry(b"other", value), keyed(value)), Ok(3))
    case("key_many", "F23 KV_SUCCESS", "1,000 keys: nothing is searched for among them", gguf(*many_keys(1000)),
         Ok(1000),
         ACCEPT, ACCEPT)
    case("key_nul", "F31 spec", "a NUL in a key", gguf(Entry(b"a\0b", value)), Bad("name.nul", key), ACCEPT, ACCEPT)
    case("key_alignment_nul", "F31 G18", "general.alignment, a NUL and more: for C it is general.alignment",
         gguf(Entry(ALIGNMENT + b"\0x", Scalar(U32, 64)), aligned=64), Bad("name.nul", key), ACCEPT, ACCEPT)
    for name, wrong, text in [
        ("byte_ff", "the byte 0xFF", b"k\xff"),
        ("overlong", "an overlong form of a slash", b"k\xc0\xaf"),
        ("surrogate", "half a surrogate pair", b"k\xed\xa0\x80"),
        ("beyond_unicode", "a character beyond U+10FFFF", b"k\xf4\x90\x80\x80"),
        ("cut_character", "a character cut by the end", b"k\xe2\x82"),
        ("lone_continuation", "a continuation byte without its beginning", b"k\x80"),
    ]:
        case("key_utf8_" + name, "spec", "not UTF-8 in a key: " + wrong, gguf(Entry(text, value)),
             Bad("name.not_utf8", key), ACCEPT)
    case("key_odd_characters", "spec", "capitals, spaces and hyphens in a key", gguf(Entry(b"Command-R Key", value)),
         Ok(1),
         ACCEPT, ACCEPT)
    case("key_escape", "F32", "an escape sequence and a bidi override in a key: for whoever prints it",
         gguf(Entry(b"\x1b]0;title\x07\xe2\x80\xae", value)), Ok(1), ACCEPT, ACCEPT)
    case("key_reserved_by_gguf_py", "own", "a key that gguf-py uses for itself", gguf(Entry(b"GGUF.version", value)),
         Ok(1),
         ACCEPT)


def value_cases():
    kind, value = "entry0.type", "entry0.value"
    one = Scalar(U8, 1)
    case("value_type_cut", "G13", "the file ends in the type of a value", gguf(keyed(one)).cut(kind, 2),
         Bad("input.truncated", kind))
    case("value_type_missing", "G13", "the file ends before the type of a value", gguf(keyed(one)).cut(kind),
         Bad("input.truncated", kind))
    case("value_type_13", "G14 KV_BAD_TYPE F08 F09 CVE-2024-32878 CVE-2024-41130",
         "value type 13, in the first entry: nothing has been set up that could be freed",
         gguf(keyed(Raw(13, b"\1"))), Bad("gguf.bad_value_type", kind))
    case("value_type_minus_1", "G14 F07", "value type -1", gguf(keyed(Raw(-1, b"\1"))),
         Bad("gguf.bad_value_type", kind))
    case("value_type_256", "G14", "value type 256: the low byte looks right", gguf(keyed(Raw(256, b"\1"))),
         Bad("gguf.bad_value_type", kind))
    for number, form in FORMATS.items():
        name = ["u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "", "", "u64", "i64", "f64"][number]
        size = struct.calcsize(form)
        case(f"value_{name}_cut", "G15", f"the file ends in a value of {size} bytes",
             gguf(keyed(Scalar(number, 1))).cut(value, size - 1), Bad("input.truncated", value),
             gguf_py=ACCEPT if size == 1 else REFUSE)
    case("value_bool_2", "G17 spec", "a bool of 2", gguf(keyed(Scalar(BOOL, 2))), Bad("gguf.bad_bool", value), ACCEPT,
         ACCEPT)
    case("value_bool_255", "G17 spec", "a bool of 255", gguf(keyed(Scalar(BOOL, 255))), Bad("gguf.bad_bool", value),
         ACCEPT, ACCEPT)
    case("value_bool_array", "G17 spec", "bools of 1, 0, 2, 1", gguf(keyed(numbers(BOOL, 1, 0, 2, 1))),
         Bad("gguf.bad_bool", "entry0.value[2]"), ACCEPT, ACCEPT)
    case("value_float_nan", "spec", "NaN and infinity are values",
         gguf(keyed(numbers(F32, float("nan"), float("inf")))),
         Ok(1), ACCEPT, ACCEPT)
    case("value_metadata_limit", "own", "a value crosses the bytes allowed for metadata",
         gguf(keyed(Scalar(U64, 1))), Bad("limit.metadata_bytes", value), ACCEPT, ACCEPT,
         metadata_bytes=43)

    length, text = value + ".length", value + ".text"
    case("string_length_cut", "G10", "the file ends in the length of a string",
         gguf(keyed(Text(b"text"))).cut(length, 7),
         Bad("input.truncated", length))
    case("string_2_64_less_1", "G10 F03 CVE-2024-23496", "a string of 2^64 - 1 bytes",
         gguf(keyed(Text(b"text", MINUS_1))),
         Bad("input.exceeded", length), gguf_py=ACCEPT)
    case("string_2_63", "G10 F03", "a string of 2^63 bytes", gguf(keyed(Text(b"text", 2**63))),
         Bad("input.exceeded", length), gguf_py=ACCEPT)
    case("string_2_60", "G10 F21 CVE-2025-0315", "a string of 2^60 bytes, of which 4 come",
         gguf(keyed(Text(b"text", 2**60))),
         Bad("input.truncated", text), gguf_py=ACCEPT)
    case("string_over_2_30", "G10", "a string of 2^30 + 1 bytes, of which 4 come",
         gguf(keyed(Text(b"text", 2**30 + 1))),
         Bad("input.truncated", text), gguf_py=ACCEPT)
    case("string_all_ones_v1", "F21 CVE-2025-66960", "a string of 2^32 - 1 bytes in a file of version 1",
         gguf(keyed(Text(b"text", MINUS_1)), version=1), Bad("input.truncated", text))
    case("string_one_more", "G10", "a string of 5 bytes, of which 4 come", gguf(keyed(Text(b"text", 5))),
         Bad("input.truncated", text), gguf_py=ACCEPT)
    case("string_beyond_size", "G10", "the same; the size of the file is known", gguf(keyed(Text(b"text", 5))),
         Bad("input.exceeded", length), gguf_py=ACCEPT, input_bytes="size")
    case("string_limit", "own", "a string of 5 bytes, 4 are allowed", gguf(keyed(Text(b"texts"))),
         Bad("limit.string_bytes", length), ACCEPT, ACCEPT, string_bytes=4)
    case("string_metadata_limit", "own", "a string does not fit in the bytes allowed for metadata",
         gguf(keyed(Text(b"text" * 20))), Bad("limit.metadata_bytes", length), ACCEPT, ACCEPT, metadata_bytes=100)
    case("string_not_utf8", "spec", "a string that is not UTF-8: values are bytes",
         gguf(keyed(Text(b"\xff\xc0\xed\xa0\x80"))),
         Ok(1), ACCEPT, ACCEPT)
    case("string_escape", "F32 F29 CVE-2024-34359 CVE-2026-5760",
         "an escape sequence, a NUL and a template in a string: bytes, never evaluated",
         gguf(keyed(Text(b"\x1b[31m\0{{ cycler.__init__.__globals__ }}"))), Ok(1), ACCEPT, ACCEPT)
    case("string_empty", "spec", "an empty string", gguf(keyed(Text(b""))), Ok(1), ACCEPT, ACCEPT)


def array_cases():
    element, count = "entry0.value.element_type", "entry0.value.count"
    case("array_element_type_cut", "G13", "the file ends in the type of an array's elements",
         gguf(keyed(numbers(U8, 1))).cut(element, 1), Bad("input.truncated", element))
    case("array_count_cut", "G13", "the file ends in the count of an array",
         gguf(keyed(numbers(U8, 1))).cut(count, 4),
         Bad("input.truncated", count))
    case("array_element_type_13", "G14 KV_BAD_TYPE", "elements of type 13", gguf(keyed(Array(13, [Raw(13, b"\1")]))),
         Bad("gguf.bad_value_type", element))
    case("array_element_type_minus_1", "G14 F07", "elements of type -1", gguf(keyed(Array(-1, [Raw(0, b"\1")]))),
         Bad("gguf.bad_value_type", element))
    case("array_element_type_13_none", "G14", "no elements, of type 13", gguf(keyed(Array(13, []))),
         Bad("gguf.bad_value_type", element), gguf_py=ACCEPT)
    case("array_none", "spec", "no elements", gguf(keyed(Array(U32, []))), Ok(1), ACCEPT, ACCEPT)
    case("array_u64_2_61", "G16 F04", "2^61 elements of 8 bytes: the product is 2^64",
         gguf(keyed(numbers(U64, 1, claim=2**61))),
         Bad("input.exceeded", count), gguf_py=ENDLESS)
    case("array_u32_2_62_and_1", "G16 F04", "2^62 + 1 elements of 4 bytes: the product wraps to 4",
         gguf(keyed(numbers(U32, 1, claim=2**62 + 1))), Bad("input.exceeded", count), gguf_py=ENDLESS)
    case("array_u8_2_64_less_1", "G16 F04", "2^64 - 1 elements of a byte", gguf(keyed(numbers(U8, 1, claim=MINUS_1))),
         Bad("input.exceeded", count), gguf_py=ENDLESS)
    case("array_u8_2_60", "G16 F21 CVE-2025-0315", "2^60 elements of a byte, of which 4 come",
         gguf(keyed(numbers(U8, 1, 2, 3, 4, claim=2**60))),
         Bad("input.truncated", "descriptions_end", 0, METADATA, 0),
         gguf_py=ENDLESS)
    case("array_u32_short", "G16", "10 elements are claimed, 3 come", gguf(keyed(numbers(U32, 1, 2, 3, claim=10))),
         Bad("input.truncated", "descriptions_end", 0, METADATA, 0), gguf_py=ACCEPT)
    case("array_u32_cut", "G16", "the file ends in an element",
         gguf(keyed(numbers(U32, 1, 2, 3))).cut("entry0.value[2]", 3),
         Bad("input.truncated", "entry0.value[2]"))
    case("array_u32_beyond_size", "G16", "10 elements are claimed, 3 come; the size is known",
         gguf(keyed(numbers(U32, 1, 2, 3, claim=10))), Bad("input.exceeded", count), gguf_py=ACCEPT,
         input_bytes="size")
    case("array_string_2_61", "G16 F05 CVE-2024-21825", "2^61 strings: lengths alone take 2^64 bytes",
         gguf(keyed(texts(b"a", claim=2**61))), Bad("input.exceeded", count))
    case("array_string_2_60", "G16 F05 CVE-2024-21825", "2^60 strings: lengths alone take 2^63 bytes",
         gguf(keyed(texts(b"a", claim=2**60))), Bad("input.exceeded", count))
    case("array_string_2_59", "G16 F05 F21", "2^59 strings, of which one comes",
         gguf(keyed(texts(b"a", claim=2**59))),
         Bad("input.truncated", "descriptions_end", 0, METADATA, 0))
    case("array_string_beyond_size", "G16 F05", "more strings than the file has room for; its size is known",
         gguf(keyed(texts(b"a", claim=3))), Bad("input.exceeded", count), input_bytes="size")
    case("array_string_2_64_less_1", "G10 F03", "the second string of an array has 2^64 - 1 bytes",
         gguf(keyed(Array(STRING, [Text(b"a"), Text(b"b", MINUS_1)]))),
         Bad("input.exceeded", "entry0.value[1].length"), gguf_py=ACCEPT)
    case("array_string_2_31", "F26 CVE-2025-49847", "a token of 2^31 bytes, of which 4 come: as int32 it is negative",
         gguf(Entry(b"tokenizer.ggml.tokens", Array(STRING, [Text(b"text", 2**31)]))),
         Bad("input.truncated", "entry0.value[0].text"), gguf_py=ACCEPT)
    case("array_string_limit", "own", "a string of 5 bytes in an array, 4 are allowed",
         gguf(keyed(texts(b"abcd", b"abcde"))),
         Bad("limit.string_bytes", "entry0.value[1].length"), ACCEPT, ACCEPT, string_bytes=4)
    case("array_limit", "own", "3 elements, 2 are allowed", gguf(keyed(numbers(U8, 1, 2, 3))),
         Bad("limit.array_elements", count), ACCEPT, ACCEPT, array_elements=2)
    case("array_metadata_limit", "own", "an array does not fit in the bytes allowed for metadata",
         gguf(keyed(numbers(U8, *range(99)))), Bad("limit.metadata_bytes", count), ACCEPT, ACCEPT, metadata_bytes=100)
    case("array_wrong_element_type", "F24", "token types as bytes where a consumer expects int32",
         gguf(Entry(b"tokenizer.ggml.token_type", numbers(U8, 1, 2, 3))), Ok(1), ACCEPT, ACCEPT)

    inner = "entry0.value" + "[0]" * 3 + ".element_type"
    case("nested_4", "G14 F22 spec", "arrays nested 4 deep", gguf(keyed(nested(4))), Ok(1), gguf_py=ACCEPT)
    case("nested_none", "G14", "an array of no arrays", gguf(keyed(Array(ARRAY, []))), Ok(1), gguf_py=ACCEPT)
    case("nested_5", "F22", "arrays nested 5 deep", gguf(keyed(nested(5))), Bad("limit.nesting", inner),
         gguf_py=ACCEPT)
    case("nested_5_none", "F22", "arrays nested 5 deep, the innermost not there",
         gguf(keyed(nested(4, Array(ARRAY, [])))), Bad("limit.nesting", inner), gguf_py=ACCEPT)
    deeper = struct.pack("<IQ", ARRAY, 1) * 1195 + struct.pack("<IQB", U8, 1, 7)
    case("nested_1200", "F22", "arrays nested 1,200 deep", gguf(keyed(nested(4, Array(ARRAY, [Raw(ARRAY, deeper)])))),
         Bad("limit.nesting", inner))
    case("nested_limit", "own", "an array in an array, none is allowed", gguf(keyed(nested(2))),
         Bad("limit.nesting", element), gguf_py=ACCEPT, nesting=1)
    case("nested_2_60", "F04 F22", "2^60 arrays: their heads alone take more than 2^63 bytes",
         gguf(keyed(Array(ARRAY, [numbers(U8, 1)], claim=2**60))), Bad("input.exceeded", count))
    case("nested_2_59", "F21 F22", "2^59 arrays, of which one comes",
         gguf(keyed(Array(ARRAY, [numbers(U8, 1)], claim=2**59))),
         Bad("input.truncated", "descriptions_end", 0, METADATA, 0))
    case("nested_beyond_size", "G14", "a byte is missing for the head of the second array; the size is known",
         gguf(keyed(Array(ARRAY, [Array(U8, []), Raw(ARRAY, bytes(11))]))), Bad("input.exceeded", count),
         input_bytes="size")
    case("nested_element_type_13", "G14", "elements of type 13 in an array in an array",
         gguf(keyed(nested(2, Array(13, [Raw(13, b"\1")])))),
         Bad("gguf.bad_value_type", "entry0.value[0].element_type"))
    case("nested_bool_2", "G17", "a bool of 2 in an array in an array", gguf(keyed(nested(2, numbers(BOOL, 0, 2)))),
         Bad("gguf.bad_bool", "entry0.value[0][1]"), gguf_py=ACCEPT)


def alignment_cases():
    kind, value = "entry0.type", "entry0.value"
    case("alignment_i32", "G18 F17 KV_WRONG_TYPE_ALIGN", "general.alignment is an i32",
         gguf(Entry(ALIGNMENT, Scalar(I32, 13))),
         Bad("gguf.alignment_type", kind))
    case("alignment_u64", "G18 F17", "general.alignment is a u64", gguf(Entry(ALIGNMENT, Scalar(U64, 32))),
         Bad("gguf.alignment_type", kind))
    case("alignment_array", "G18 F17", "general.alignment is an array of one u32",
         gguf(Entry(ALIGNMENT, numbers(U32, 32))),
         Bad("gguf.alignment_type", kind))
    case("alignment_string", "G18 F17", "general.alignment is a string", gguf(Entry(ALIGNMENT, Text(b"32"))),
         Bad("gguf.alignment_type", kind))
    case("alignment_0", "G19 F16 CVE-2025-0317", "alignment 0", gguf(alignment(0), TENSOR),
         Bad("gguf.bad_alignment", value))
    case("alignment_13", "G19 KV_BAD_ALIGN TENSORS_BAD_ALIGN DATA_BAD_ALIGN", "alignment 13",
         gguf(alignment(13), TENSOR, aligned=13), Bad("gguf.bad_alignment", value))
    case("alignment_24", "G19 spec", "alignment 24: a multiple of 8, as the description wants, but no power of two",
         gguf(alignment(24), TENSOR, aligned=24), Bad("gguf.bad_alignment", value))
    case("alignment_all_ones", "G19", "alignment 2^32 - 1", gguf(alignment(2**32 - 1)),
         Bad("gguf.bad_alignment", value))
    case("alignment_big_endian", "G19", "alignment 24, big-endian", gguf(alignment(24), big_endian=True),
         Bad("gguf.bad_alignment", value))
    case("alignment_twice", "G12 own", "general.alignment twice: the second one is refused",
         gguf(alignment(32), alignment(64)),
         Bad("gguf.duplicate_alignment", "entry1.key"))
    case("alignment_1", "G19 TENSORS_CUSTOM_ALIGN DATA_CUSTOM_ALIGN",
         "alignment 1: no multiple of 8, but taken everywhere",
         gguf(alignment(1), Tensor(b"a", T_I8, (5,)), Tensor(b"b", T_F32, (3,)), aligned=1), Ok(1, 2), ACCEPT, ACCEPT)
    case("alignment_4", "G19 spec", "alignment 4", gguf(alignment(4), TENSOR, aligned=4), Ok(1, 1), ACCEPT, ACCEPT)
    case("alignment_late", "spec", "the alignment comes last, and counts",
         gguf(keyed(Scalar(U8, 1)), alignment(8), TENSOR,
         Tensor(b"u"), aligned=8), Ok(2, 2), ACCEPT, ACCEPT)
    case("alignment_1_mib", "own", "alignment 1 MiB: the largest by default", gguf(alignment(2**20)), Ok(1), ACCEPT,
         ACCEPT)
    case("alignment_2_mib", "F18 own", "alignment 2 MiB", gguf(alignment(2**21)), Bad("limit.alignment", value),
         ACCEPT, ACCEPT)
    case("alignment_2_31", "F18", "alignment 2^31", gguf(alignment(2**31), TENSOR), Bad("limit.alignment", value))
    case("alignment_limit", "own", "alignment 64, 32 is allowed", gguf(alignment(64), TENSOR, aligned=64),
         Bad("limit.alignment", value), ACCEPT, ACCEPT, alignment=32)


def tensor_cases():
    length, name, n_dims = "tensor0.name_length", "tensor0.name", "tensor0.n_dims"
    case("name_length_cut", "G10 G20", "the file ends in the length of a name", gguf(TENSOR).cut(length, 6),
         Bad("input.truncated", length))
    case("name_2_64_less_1", "G10 G20 F03", "a name of 2^64 - 1 bytes", gguf(Tensor(b"t", name_bytes=MINUS_1)),
         Bad("limit.key_bytes", length))
    case("name_cut", "G10 G20", "the file ends in a name", gguf(TENSOR).cut(name, 3), Bad("input.truncated", name))
    case("name_beyond_size", "G10 G20", "a name longer than the file; its size is known",
         gguf(Tensor(b"t", name_bytes=2000)), Bad("input.exceeded", length), input_bytes="size")
    case("name_without_offset_known", "G10 G28", "a byte is missing for the least description; the size is known",
         gguf(Tensor(b"", dims=())).cut("descriptions_end", -1), Bad("input.exceeded", length), input_bytes="size")
    case("name_63_bytes", "G20", "a name of 63 bytes", gguf(Tensor(b"n" * 63)), Ok(0, 1), ACCEPT, ACCEPT)
    case("name_64_bytes", "G20 TENSORS_BAD_NAME_SIZE spec", "a name of 64 bytes: the description allows it",
         gguf(Tensor(b"n" * 64)), Ok(0, 1), gguf_py=ACCEPT)
    case("name_limit", "own", "a name of 17 bytes, 16 are allowed", gguf(Tensor(b"n" * 17)),
         Bad("limit.key_bytes", length),
         ACCEPT, ACCEPT, key_bytes=16)
    case("name_empty", "G20", "an empty name", gguf(Tensor(b"")), Ok(0, 1), ACCEPT, ACCEPT)
    case("name_nul", "F31", "a NUL in a name", gguf(Tensor(b"a\0b"), Tensor(b"a\0c")), Bad("name.nul", name), ACCEPT,
         ACCEPT)
    case("name_not_utf8", "spec", "a name that is not UTF-8", gguf(Tensor(b"n\xff")), Bad("name.not_utf8", name),
         ACCEPT)
    case("name_cut_character", "spec", "a name that ends in half a character", gguf(Tensor(b"n\xc3")),
         Bad("name.not_utf8", name), ACCEPT)
    case("name_numbers", "F28", "names with numbers out of any range: text, and nothing else",
         gguf(Tensor(b"direction.-1"), Tensor(b"direction.99999999999999999999")), Ok(0, 2), ACCEPT, ACCEPT)
    twins = gguf(Tensor(b"same"), Tensor(b"other"), Tensor(b"same"))
    case("name_twice", "G21 TENSORS_DUPLICATE_NAME", "the same name twice", twins, table_error("tensor.duplicate", 2))
    case("name_twice_unrecorded", "G21 own", "the same name twice; no tensor is recorded, so nobody can tell", twins,
         Ok(0, 3), slots=0)
    case("name_twice_skipped", "G21 own", "the same name twice; one of the two is not recorded", twins,
         Ok(0, 3), skip=[0])
    case("name_many", "F23 TENSORS_SUCCESS", "500 names, the first and the last the same: sorted, not searched",
         gguf(*[Tensor(b"t%03d" % (index % 499), T_F32, (0,)) for index in range(500)]),
         table_error("tensor.duplicate", 499), slots=512)

    case("n_dims_cut", "G22", "the file ends in a number of dimensions", gguf(TENSOR).cut(n_dims, 1),
         Bad("input.truncated", n_dims))
    case("n_dims_5", "G22 F06 TENSORS_BAD_N_DIMS CVE-2024-21802", "5 dimensions",
         gguf(Tensor(b"t", T_F32, (2, 1, 1, 1, 1))),
         Bad("limit.rank", n_dims), gguf_py=ACCEPT)
    case("n_dims_all_ones", "G22 F06", "2^32 - 1 dimensions", gguf(Tensor(b"t", n_dims=2**32 - 1)),
         Bad("limit.rank", n_dims))
    case("n_dims_0", "G22", "no dimensions: a scalar", gguf(Tensor(b"t", T_F32, ())), Ok(0, 1), ACCEPT, ACCEPT)
    case("n_dims_limit", "own", "3 dimensions, 2 are allowed", gguf(Tensor(b"t", T_F32, (2, 2, 2))),
         Bad("limit.rank", n_dims),
         ACCEPT, ACCEPT, rank=2)

    shape = Bad("tensor.shape_overflow", "tensor0")
    case("dims_cut", "G23", "the file ends in a dimension", gguf(Tensor(b"t", T_F32, (2, 2))).cut("tensor0.dim1", 7),
         Bad("input.truncated", "tensor0.dim1"))
    case("dims_minus_1", "G23 TENSORS_BAD_SHAPE", "4 dimensions of -1", gguf(huge(dims=(MINUS_1,) * 4, says=0)),
         shape)
    case("dims_2_63", "G23 G24", "a dimension of 2^63", gguf(huge(kind=T_I8, dims=(2**63,))), shape)
    case("dims_too_big", "G24 F10 TENSORS_NE_TOO_BIG CVE-2026-33298", "4 dimensions of 4 (2^31 - 1)",
         gguf(huge(dims=(4 * (2**31 - 1),) * 4)), shape)
    case("dims_product_2_63", "G24", "2^62 times 2", gguf(huge(kind=T_I8, dims=(2**62, 2))), shape)
    case("dims_product_2_64", "G24 F10 CVE-2026-33298", "2^32 times 2^32: the product wraps to 0",
         gguf(huge(dims=(2**32, 2**32))), shape)
    case("dims_zero_before_too_big", "G24 own", "0 times 2^62 times 4: refused in any order",
         gguf(huge(dims=(0, 2**62, 4))), shape, ACCEPT)
    case("dims_zero_after_too_big", "G24 own", "2^62 times 4 times 0: refused in any order",
         gguf(huge(dims=(2**62, 4, 0))), shape)
    case("dims_zero", "G23 F15 TENSORS_ZERO_DIM", "a dimension of 0: no bytes, nobody divides by it",
         gguf(Tensor(b"t", T_F32, (4, 0)), Tensor(b"u", T_F32, (0, 4)), Tensor(b"v")), Ok(0, 3), ACCEPT, ACCEPT)
    case("dims_product_2_63_less_1", "G24 G31",
         "the largest product, 2^63 - 1 bytes: they would end beyond the last position",
         gguf(huge(kind=T_I8, dims=(7, INT_MAX // 7))), table_error("tensor.size_overflow", 0), ABORT)

    kind = "tensor0.type"
    case("type_cut", "G25", "the file ends in the type of a tensor", gguf(TENSOR).cut(kind, 3),
         Bad("input.truncated", kind))
    unknown = Bad("tensor.unknown_type", kind)
    case("type_43", "G25 F07 TENSORS_BAD_TYPE", "type 43, the first that is not given out",
         gguf(Tensor(b"t", T_UNKNOWN)), unknown)
    case("type_minus_1", "G25 F07", "type -1", gguf(Tensor(b"t", -1)), unknown)
    case("type_2_31_less_1", "G25 F07", "type 2^31 - 1", gguf(Tensor(b"t", 2**31 - 1)), unknown)
    case("type_256", "G25 F07", "type 256: the low byte looks right", gguf(Tensor(b"t", 256)), unknown)
    for number in REMOVED:
        case(f"type_{number}_removed", "G26 F07", f"type {number}, which was taken back",
             gguf(Tensor(b"t", number, (256,))),
             Bad("tensor.removed_type", kind))
    row = Bad("tensor.row_not_whole_blocks", "tensor0")
    case("row_31", "G26", "31 x 32 of blocks of 32: the sum would fit, the rows do not",
         gguf(Tensor(b"t", T_Q4_0, (31, 32))), row)
    case("row_128", "G26", "a row of 128, blocks of 256", gguf(Tensor(b"t", T_Q4_K, (128, 2))), row)
    case("row_scalar", "G26", "a scalar in blocks of 32", gguf(Tensor(b"t", T_Q4_0, (), b"")), row)

    size = Bad("tensor.size_overflow", "tensor0")
    root = int(2**61 * 1.01)
    case("size_over_2_64", "G27 F10 TENSORS_NBYTES_TOO_BIG", "more than 2^61 elements of 8 bytes",
         gguf(huge(kind=T_I64, dims=(root,))), size)
    case("size_pads_to_2_64", "G31 F13 TENSORS_NBYTES_PAD_WRAP", "2^64 - 16 bytes: padded, they wrap to 0",
         gguf(huge(dims=(4, 2**30 - 1, 2**30 + 1))), size)
    case("size_2_63", "G27 own", "2^63 bytes: positions have 63 bits", gguf(huge(dims=(2**61,))), size,
         ACCEPT, loading=ABORT)
    case("size_divides_first", "G27 F14", "2^60 elements in blocks of 32: times 18 before the division wraps",
         gguf(huge(kind=T_Q4_0, dims=(2**60,))), Bad("input.truncated", "data0"), ACCEPT, loading=ABORT)
    case("size_two_wrap", "G32 F11 F12 DATA_MEM_SIZE_OVERFLOW CVE-2025-53630 CVE-2026-27940",
         "twice 2^63 - 64 bytes: the sum, and what a pool adds to it, wraps",
         gguf(huge(b"a", T_I8, (2**63 - 64,)), huge(b"b", T_I8, (2**63 - 64,))).tail(bytes(32)),
         Bad("tensor.size_overflow", "tensor1"), ACCEPT, loading=REFUSE)
    case("size_beyond_last_position", "G32", "2^63 - 64 bytes behind the descriptions end beyond the last position",
         gguf(huge(kind=T_I8, dims=(2**63 - 64,))), table_error("tensor.size_overflow", 0), ACCEPT, loading=ABORT)


def offset_cases():
    field, tensor = "tensor0.offset", "tensor1"
    case("offset_cut", "G28", "the file ends in the offset of a tensor", gguf(TENSOR).cut(field, 2),
         Bad("input.truncated", field))
    case("offset_minus_1", "G30 F19 TENSORS_BAD_OFFSET", "offset 2^64 - 1", gguf(Tensor(b"t", says=MINUS_1)),
         Bad("tensor.offset_mismatch", "tensor0"), gguf_py=ACCEPT)
    case("offset_wraps", "G30 F19", "offset 2^64 - 32: the data would lie before their section",
         gguf(Tensor(b"t", says=2**64 - 32)), Bad("tensor.offset_mismatch", "tensor0"), gguf_py=ACCEPT)
    case("offset_wraps_sparse", "F19", "the same, where gaps are allowed", gguf(Tensor(b"t", says=2**64 - 32)),
         Bad("tensor.size_overflow", "tensor0"), gguf_py=ACCEPT, layout="sparse")
    case("offset_pads_wrongly", "G30 TENSORS_INCONSISTENT_ALIGN DATA_INCONSISTENT_ALIGN",
         "offsets without padding, where the alignment is 32",
         gguf(Tensor(b"a", T_F32, (3,)), Tensor(b"b", offset=12, data=bytes(32))),
         Bad("tensor.offset_mismatch", tensor), gguf_py=ACCEPT)
    case("offset_unaligned_sparse", "spec", "the same, where gaps are allowed",
         gguf(Tensor(b"a", T_F32, (3,)), Tensor(b"b", offset=12, data=bytes(32))),
         Bad("tensor.offset_unaligned", tensor), gguf_py=ACCEPT, layout="sparse")
    gap = gguf(Tensor(b"a"), Tensor(b"b", offset=64))
    case("offset_gap", "G30", "32 bytes that belong to no tensor", gap, Bad("tensor.offset_mismatch", tensor),
         gguf_py=ACCEPT)
    case("offset_gap_sparse", "own", "the same, where gaps are allowed", gap, Ok(0, 2), gguf_py=ACCEPT,
         layout="sparse")
    shuffled = gguf(Tensor(b"a", offset=32), Tensor(b"b", offset=0))
    case("offset_shuffled", "G30", "the second tensor lies first", shuffled, Bad("tensor.offset_mismatch", "tensor0"),
         gguf_py=ACCEPT)
    case("offset_shuffled_sparse", "own", "the same, where any order is allowed", shuffled, Ok(0, 2), gguf_py=ACCEPT,
         layout="sparse")
    overlap = gguf(Tensor(b"a", dims=(16,)), Tensor(b"b", offset=32))
    case("offset_overlap", "G30", "the second tensor lies in the first", overlap,
         Bad("tensor.offset_mismatch", tensor),
         gguf_py=ACCEPT)
    case("offset_overlap_sparse", "spec", "the same, where gaps are allowed", overlap,
         table_error("tensor.overlap", 1),
         gguf_py=ACCEPT, layout="sparse")
    case("offset_overlap_skipped", "own", "the same; one of the two is not recorded", overlap, Ok(0, 2),
         gguf_py=ACCEPT,
         layout="sparse", skip=[0])
    case("offset_same_sparse", "spec", "the third tensor lies where the first one does",
         gguf(Tensor(b"a"), Tensor(b"b"), Tensor(b"c", offset=0)), table_error("tensor.overlap", 2), gguf_py=ACCEPT,
         layout="sparse")
    case("offset_second_wraps", "G30 F19", "the second offset is 2^64 - 32",
         gguf(Tensor(b"a"), Tensor(b"b", says=2**64 - 32)),
         Bad("tensor.offset_mismatch", tensor), gguf_py=ACCEPT)
    case("offset_past_end_sparse", "F19 CVE-2026-7482", "the data would lie 2^40 bytes behind the end",
         gguf(huge(dims=(8,), says=2**40)), Bad("input.truncated", "data", 2**40, DATA, 0), layout="sparse")
    case("offset_past_end_known_sparse", "F19 CVE-2026-7482", "the same; the size is known",
         gguf(huge(dims=(8,), says=2**40)), Bad("input.truncated", "data", 2**40, DATA, 0), layout="sparse",
         input_bytes="size")
    case("offset_last_position_sparse", "F19", "in its section the tensor ends at 2^63 - 1: in the file beyond it",
         gguf(huge(dims=(7,), says=2**63 - 32)), table_error("tensor.size_overflow", 0), layout="sparse")


def data_cases():
    good = (Tensor(b"a", T_F32, (3,)), Tensor(b"b", T_F16, (5, 2)))
    case("data_good", "G34 DATA_SUCCESS TENSORS_SUCCESS", "nothing: a good file",
         gguf(keyed(Text(b"text")), *good), Ok(1, 2), ACCEPT, ACCEPT)
    case("data_start_missing", "G29", "the file ends before the padding in front of the data",
         gguf(Tensor(b"t", T_F32, (0,))).cut("descriptions_end"), Bad("input.truncated", "descriptions_end", 0, DATA),
         gguf_py=ACCEPT)
    case("data_start_cut", "G29", "the file ends in the padding in front of the data",
         gguf(TENSOR).cut("descriptions_end", 1), Bad("input.truncated", "descriptions_end", 0, DATA))
    case("data_start_cut_known", "G29", "the same; the size is known",
         gguf(TENSOR).cut("descriptions_end", 1),
         Bad("input.truncated", "descriptions_end", 0, DATA), input_bytes="size")
    already = gguf(Tensor(b"aligned!"))
    assert already.at["descriptions_end"] == already.at["data"]
    case("data_start_aligned", "F33", "the descriptions end at a multiple of the alignment: no padding",
         already, Ok(0, 1), ACCEPT, ACCEPT)
    case("data_start_no_tensors", "spec", "no tensors: no padding is needed", gguf(keyed(Scalar(U8, 1))), Ok(1),
         ACCEPT, ACCEPT)
    case("data_missing", "G34 F19", "the file ends where the data should start", gguf(*good).cut("data"),
         Bad("input.truncated", "data0"), ACCEPT, loading=REFUSE)
    case("data_first_cut", "G34 F19", "the file ends in the first tensor", gguf(*good).cut("data0", 5),
         Bad("input.truncated", "data0"), ACCEPT, loading=REFUSE)
    case("data_last_cut", "G34 F19 CVE-2024-12055", "the last byte of the last tensor is missing",
         gguf(*good).cut("data1", 19), Bad("input.truncated", "data1"), ACCEPT, loading=REFUSE)
    case("data_last_cut_known", "G34 F19", "the same; the size of the file is known", gguf(*good).cut("data1", 19),
         Bad("input.truncated", "data1"), ACCEPT, loading=REFUSE, input_bytes="size")
    case("data_last_cut_unrecorded", "G34", "the same; no tensor is recorded", gguf(*good).cut("data1", 19),
         Bad("input.truncated", "data1"), ACCEPT, loading=REFUSE, slots=0)
    case("data_last_padding_missing", "G34 DATA_NOT_ENOUGH_DATA", "the last byte of the last padding is missing",
         gguf(*good).cut("data1", 31), Ok(0, 2), ACCEPT, ACCEPT, loading=REFUSE)
    case("data_trailing_bytes", "spec", "bytes behind the data: not the decoder's", gguf(*good).tail(b"more"),
         Ok(0, 2),
         ACCEPT, ACCEPT)
    case("data_padding_not_zero", "spec", "padding that is not zero", gguf(*good, padding=b"\xa5"), Ok(0, 2), ACCEPT,
         ACCEPT)
    case("data_padding_missing", "spec", "no padding behind the last tensor", gguf(*good, last_padding=False),
         Ok(0, 2),
         ACCEPT, ACCEPT, loading=REFUSE)
    case("data_q5_0_big_endian", "F30 CVE-2025-62609",
         "blocks whose big-endian layout nobody has defined: they come raw",
         gguf(Tensor(b"t", 6, (32,), bytes(22)), big_endian=True), Ok(0, 1), gguf_py=ACCEPT)
    case("directory_full", "own", "two tensors, one slot", gguf(*good), Bad("directory.full", "tensor1"), ACCEPT,
         ACCEPT, slots=1)
    case("directory_scratch", "own", "blocks of 144 bytes, a decoder of 64", gguf(Tensor(b"t", T_Q4_K, (256,))),
         Bad("directory.scratch", "tensor0"), ACCEPT, ACCEPT, scratch=64)


def inferred_cases():
    unknown = Tensor(b"a", T_UNKNOWN, (8,))
    case("infer_first", "F30 own", "an unknown type: it ends where the next tensor starts",
         gguf(unknown, Tensor(b"b")), Ok(0, 2),
         unknown_types="infer")
    case("infer_last", "own", "an unknown type comes last: it runs to the end of the input",
         gguf(Tensor(b"b"), unknown), Ok(0, 2),
         unknown_types="infer")
    case("infer_last_known", "own", "the same; the size of the file is known", gguf(Tensor(b"b"), unknown), Ok(0, 2),
         unknown_types="infer", input_bytes="size")
    case("infer_removed", "G26 own", "a type that was taken back", gguf(Tensor(b"a", 36, (8,)), Tensor(b"b")),
         Ok(0, 2),
         unknown_types="infer")
    case("infer_unaligned", "own", "what follows an unknown type is not aligned",
         gguf(unknown, Tensor(b"b", says=36)),
         Bad("tensor.offset_mismatch", "tensor1"), unknown_types="infer")
    case("infer_backwards", "own", "what follows an unknown type lies before it",
         gguf(Tensor(b"b"), unknown, Tensor(b"c", says=0)), Bad("tensor.offset_mismatch", "tensor2"),
         unknown_types="infer")
    case("infer_start_missing", "own", "the file ends before an unknown type starts, in the padding",
         gguf(Tensor(b"b", T_F32, (3,)), unknown).cut("data", 20), Bad("input.truncated", "data", 12, DATA),
         unknown_types="infer")
    case("infer_sparse", "own", "unknown types in any order",
         gguf(Tensor(b"b", offset=32), Tensor(b"a", T_UNKNOWN, offset=0)),
         Ok(0, 2), unknown_types="infer", layout="sparse")
    case("infer_sparse_skipped", "own", "unknown types in any order, and a tensor that is not recorded",
         gguf(unknown, Tensor(b"b"), Tensor(b"c")), table_error("tensor.length_unknown", 0), unknown_types="infer",
         layout="sparse", skip=[1])


for group in [header_cases, key_cases, value_cases, array_cases, alignment_cases, tensor_cases, offset_cases,
              data_cases, inferred_cases]:
    group()
