#!/usr/bin/env python3
"""Makes tests/data/safetensors: small safetensors files, and expected.json, what must be read out of them.

The files are written by the package safetensors, which is the reference, but for handmade.safetensors: what a file may
hold and that package does not write. It must read that one, too. The values come from numpy and ml_dtypes, so that the
decoder under test does not judge itself.

    make_safetensors.py                     write the folder
    make_safetensors.py --check             compare the folder with what the script makes
    make_safetensors.py --checksums MODEL   write what `check --crc` must print of a model

Needs `pip install safetensors==0.8.0 ml_dtypes==0.6.0`, which bring numpy.
"""

import json
import math
import struct
import sys
import zlib
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors import TensorSpec, deserialize, serialize

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "safetensors"
SAMPLE = Path(__file__).resolve().parent.parent / "examples" / "data" / "sample.safetensors"

# By the name in a header: the type of the elements, and the name that the package's writer wants.
TYPES = {
    "BOOL": (np.bool_, "bool"),
    "U8": (np.uint8, "uint8"),
    "I8": (np.int8, "int8"),
    "U16": (np.uint16, "uint16"),
    "I16": (np.int16, "int16"),
    "U32": (np.uint32, "uint32"),
    "I32": (np.int32, "int32"),
    "U64": (np.uint64, "uint64"),
    "I64": (np.int64, "int64"),
    "F16": (np.float16, "float16"),
    "BF16": (ml_dtypes.bfloat16, "bfloat16"),
    "F32": (np.float32, "float32"),
    "F64": (np.float64, "float64"),
    "C64": (np.complex64, "complex64"),
    "F8_E4M3": (ml_dtypes.float8_e4m3fn, "float8_e4m3fn"),
    "F8_E5M2": (ml_dtypes.float8_e5m2, "float8_e5m2"),
    "F8_E8M0": (ml_dtypes.float8_e8m0fnu, "float8_e8m0fnu"),
    "F8_E4M3FNUZ": (ml_dtypes.float8_e4m3fnuz, "float8_e4m3fnuz"),
    "F8_E5M2FNUZ": (ml_dtypes.float8_e5m2fnuz, "float8_e5m2fnuz"),
}
# Two numbers in an element, or numbers whose order in a byte the format does not give: raw only.
RAW = {"C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6}

# Names and texts as hostile as JSON lets them be.
NAMES = ['quote " backslash \\ slash /', "tab\tline\nreturn\r", "größe 重み 🦀", "\u202eback", "", "__metadata"]
METADATA = {
    "format": "pt",
    "empty": "",
    'key "quoted" \\ \u0007': "value\n\t\"quoted\" \\ / \u001b[31m",
    "unicode": "é 重み 🦀 \u2028",
    "long": "abcdefgh" * 100,
}


class Rng:
    """Bytes that are the same with every version of numpy."""

    def __init__(self, seed):
        self.state = seed

    def bytes(self, count):
        out = bytearray()
        while len(out) < count:
            self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
            out += struct.pack("<I", self.state >> 32)
        return bytes(out[:count])


def spec(dtype, shape, data, keep):
    """A tensor for the package's writer, which borrows the data."""
    array = np.frombuffer(data or b"\0", np.uint8)
    keep.append(array)
    name = "float4_e2m1fn_x2" if dtype == "F4" else TYPES[dtype][1]
    if dtype == "F4":
        # The writer takes the shape in bytes, and doubles it.
        shape = [*shape[:-1], shape[-1] // 2]
    return TensorSpec(dtype=name, shape=list(shape), data_ptr=array.ctypes.data, data_len=len(data))


def written(tensors, metadata):
    keep = []
    specs = {name: spec(dtype, shape, data, keep) for name, (dtype, shape, data) in tensors.items()}
    return bytes(serialize(specs, metadata))


def edges(dtype):
    """What is most easily got wrong of a type: least, greatest, halves of the rounding, subnormals, infinities, NaN."""
    kind = np.dtype(TYPES[dtype][0])
    if dtype[0] in "UI":
        info = np.iinfo(kind)
        numbers = {info.min, info.max, 0, 1}
        numbers |= {2**bit + add for bit in range(0, kind.itemsize * 8, 3) for add in (-1, 0, 1)}
        numbers |= {2**24 + 1, 2**24 + 3, 2**25 + 2, 2**63 - 2**38, 2**63 - 2**39 + 1, 2**64 - 2**39}
        return np.array(sorted(n for n in numbers if info.min <= n <= info.max), dtype=kind).tobytes()
    bits = {
        "F16": (np.uint16, [0, 0x8000, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0xFC00, 0x7E00]),
        "BF16": (np.uint16, [0, 0x8000, 1, 0x7F, 0x80, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0]),
        "F32": (np.uint32, [0, 0x80000000, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000]),
    }
    if dtype in bits:
        kind, values = bits[dtype]
        return np.array(values, dtype=kind).tobytes()
    numbers = [0.0, -0.0, 1 / 3, 3.5e38, -3.5e38, 3.4028235677973366e38, 3.4028235677973362e38, 1e-45, 7e-46, 1e-46]
    numbers += [1 + 2**-24, 1 + 2**-24 + 2**-50, 1 + 3 * 2**-24, math.inf, -math.inf, math.nan, 1e308, -1e-310]
    return np.array(numbers, dtype=kind).tobytes()


def dtypes():
    """A tensor of every dtype that the package writes."""
    rng, tensors = Rng(1), {}
    for dtype, (kind, _) in TYPES.items():
        kind = np.dtype(kind)
        if dtype == "BOOL":
            data = bytes([0, 1, 1, 0, 1])
        elif kind.itemsize == 1:
            data = bytes(range(256))
        elif dtype == "C64":
            data = np.array([1.5, -2.0, 0.0, 3.25], dtype="<f4").tobytes()
        else:
            data = edges(dtype) + rng.bytes(16 * kind.itemsize)
        if dtype == "F64":
            # Random bits are hardly ever within the range of f32.
            data += (np.frombuffer(rng.bytes(128), "<u4").astype("<f8") / 7 - 1e8).tobytes()
        tensors[f"t.{dtype}"] = (dtype, [len(data) // kind.itemsize], data)
    tensors["t.F4"] = ("F4", [2, 6], bytes(range(6)))
    # The writer's order of several is chance.
    return written(tensors, {'key "quoted" \\ \u0007': METADATA['key "quoted" \\ \u0007']})


def shapes():
    """Scalars, empty tensors, and many dimensions."""
    rng, tensors = Rng(2), {}
    kinds = ["F32", "I64", "U8", "BF16", "F16"]
    all_shapes = [[], [0], [0, 3], [3, 0], [1], [7], [2, 3], [3, 1, 2], [2, 1, 3, 2], [1, 2, 1, 2, 1, 2, 1, 2]]
    for index, shape in enumerate(all_shapes):
        dtype = kinds[index % len(kinds)]
        size = np.dtype(TYPES[dtype][0]).itemsize
        # Small exponents in every type.
        data = np.frombuffer(rng.bytes(math.prod(shape)), np.int8).astype(TYPES[dtype][0]).tobytes()
        assert len(data) == size * math.prod(shape)
        tensors[f"shape {shape}"] = (dtype, shape, data)
    return written(tensors, None)


def handmade():
    """Odd offsets, descriptions in no order, escapes, white space, unknown fields, metadata at the end."""
    rng = Rng(3)
    odd = [("U8", [3]), ("F32", [2, 2]), ("BOOL", [1]), ("I64", [1]), ("F16", [3]), ("F6_E2M3", [4]), ("F64", [1])]
    odd += [("F6_E3M2", [2, 2]), ("U16", [5]), ("F4", [2, 3]), ("BF16", [1, 3]), ("I32", [0])]
    data, entries = b"", []
    for index, (dtype, shape) in enumerate(odd):
        bits = RAW.get(dtype) or 8 * np.dtype(TYPES[dtype][0]).itemsize
        count = bits * math.prod(shape) // 8
        part = bytes([index % 2]) if dtype == "BOOL" else rng.bytes(count)
        if dtype in ("F16", "BF16", "F32", "F64"):
            part = np.arange(1, 1 + math.prod(shape)).astype(TYPES[dtype][0]).tobytes()
        name = NAMES[index] if index < len(NAMES) else f"t{index}"
        entries.append((name, dtype, shape, [len(data), len(data) + len(part)]))
        data += part
    texts = []
    for index, (name, dtype, shape, offsets) in enumerate(reversed(entries)):
        name = json.dumps(name, ensure_ascii=index % 2 == 0)
        fields = [f'"dtype" : "{dtype}"', f'"shape":{shape}', f'"data_offsets":\t{offsets}']
        if index % 3 == 1:
            fields.append('"note": {"a": [1, -2.5e3, true, null, "}"], "b": {}}')
        fields = fields[index % len(fields) :] + fields[: index % len(fields)]
        texts.append(f"{name}: {{{', '.join(fields)}}}")
    texts.append('"__metad\\u0061ta__" : ' + json.dumps(METADATA))
    header = ("\n{" + ",\r\n ".join(texts) + "} \n").encode()
    assert len(header) % 8 != 0
    return struct.pack("<Q", len(header)) + header + data


def values(dtype, data):
    """The values of a tensor as numpy gives them; None where an f32 is not one of them."""
    if dtype in RAW:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        return np.frombuffer(data, TYPES[dtype][0]).astype("<f4")


def described(name, file):
    """What must be read out of a file. The reference has to read the same."""
    header_bytes = struct.unpack("<Q", file[:8])[0]
    header = json.loads(file[8 : 8 + header_bytes])
    start = 8 + header_bytes
    reference = {name: tensor for name, tensor in deserialize(file)}
    metadata, tensors = header.pop("__metadata__", {}), []
    assert set(reference) == set(header)
    for tensor, entry in header.items():
        begin, end = entry["data_offsets"]
        data = bytes(reference[tensor]["data"])
        assert data == file[start + begin : start + end]
        assert (reference[tensor]["dtype"], reference[tensor]["shape"]) == (entry["dtype"], entry["shape"])
        found = values(entry["dtype"], data)
        tensors.append(
            {
                "name": tensor,
                "dtype": entry["dtype"],
                "shape": entry["shape"],
                "offset": start + begin,
                "bytes": end - begin,
                "f32": None if found is None else found.tobytes().hex(),
            }
        )
    return {"file": name, "metadata": metadata, "data_offset": start, "file_size": len(file), "tensors": tensors}


def sample():
    """A model of one layer, as small as a model can be."""
    rng = Rng(4)
    halves = lambda count: (np.frombuffer(rng.bytes(2 * count), "<i2").astype("<f4") / 32768).astype("<f2").tobytes()
    tensors = {
        "embed.weight": ("F16", [32, 16], halves(512)),
        "layers.0.up.weight": ("BF16", [16, 16], bytes(np.linspace(-1, 1, 256).astype(ml_dtypes.bfloat16).tobytes())),
        "layers.0.down.weight": ("F8_E4M3", [16, 16], bytes(code if code % 128 != 127 else 0 for code in range(256))),
        "norm.weight": ("F32", [16], np.linspace(0.5, 2, 16).astype("<f4").tobytes()),
        "position_ids": ("I64", [1, 8], np.arange(8).astype("<i8").tobytes()),
        "mask": ("BOOL", [8], bytes([1, 1, 1, 1, 0, 0, 0, 0])),
        "scale": ("F64", [], np.array(0.125).tobytes()),
    }
    return written(tensors, {"name": "Weightstream Sample"})


def made():
    files = {"dtypes.safetensors": dtypes(), "shapes.safetensors": shapes(), "handmade.safetensors": handmade()}
    expected = [described(name, file) for name, file in files.items()]
    expected.append(described("../../../examples/data/sample.safetensors", sample()))
    text = "[\n" + ",\n".join(file_text(file) for file in expected) + "\n]\n"
    files = {FOLDER / name: file for name, file in files.items()}
    return {**files, SAMPLE: sample(), FOLDER / "expected.json": text.encode()}


def file_text(file):
    """A line for each tensor."""
    tensors = file.pop("tensors")
    lines = ",\n  ".join(json.dumps(tensor) for tensor in tensors)
    return json.dumps(file)[:-1] + f', "tensors": [\n  {lines}]}}'


def checksums(path):
    file = Path(path).read_bytes()
    header = json.loads(file[8 : 8 + struct.unpack("<Q", file[:8])[0]])
    indexes = {name: index for index, name in enumerate(name for name in header if name != "__metadata__")}
    for name, tensor in sorted(deserialize(file), key=lambda tensor: indexes[tensor[0]]):
        found = values(tensor["dtype"], bytes(tensor["data"]))
        print(indexes[name], f"{zlib.crc32(found.tobytes()):08x}", len(found), name)


def main():
    match sys.argv[1:]:
        case []:
            FOLDER.mkdir(exist_ok=True)
            for path, content in made().items():
                path.write_bytes(content)
        case ["--check"]:
            stale = [path.name for path, content in made().items() if not path.exists() or path.read_bytes() != content]
            if stale:
                sys.exit(f"not what this script makes: {', '.join(stale)}")
        case ["--checksums", path]:
            checksums(path)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
