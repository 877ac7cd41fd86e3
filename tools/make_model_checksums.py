#!/usr/bin/env python3
"""Writes what each tensor of a GGUF file decodes to, one line a tensor, in the order of the file:

    <SHA-256 of the values as little-endian f32> <number of values> <name>

The values come from gguf-py, so that the decoder under test does not judge itself; those of Q8_1 and Q8_K, which
gguf-py cannot decode, from the formulas of this script. Needs `pip install gguf`.

    make_model_checksums.py MODEL.gguf > MODEL.sha256.txt
"""

import hashlib
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

# gguf-py takes a Q8_1 block for 40 bytes; ggml's has two f16 and 32 bytes.
gguf.GGML_QUANT_SIZES[Type.Q8_1] = (32, 36)

# So that the values of a large tensor are never in memory all at once.
ROWS_AT_ONCE = 4096


def decode(kind, rows):
    """The values of some rows, stored as `kind`, as little-endian f32."""
    if kind == Type.Q8_1:
        values = scaled_bytes(rows, 36, "<f2", 4, 32)
    elif kind == Type.Q8_K:
        values = scaled_bytes(rows, 292, "<f4", 4, 256)
    elif rows.dtype == np.uint8:
        values = gguf.quants.dequantize(rows, kind)
    else:
        values = rows
    return values.astype("<f4")


def scaled_bytes(rows, block_bytes, scale, start, count):
    """Blocks of a float and `count` signed bytes at `start`, which gguf-py stores but does not decode."""
    blocks = rows.reshape(-1, block_bytes)
    scale_bytes = np.dtype(scale).itemsize
    scales = np.ascontiguousarray(blocks[:, :scale_bytes]).view(scale).astype(np.float32)
    return scales * blocks[:, start : start + count].view(np.int8).astype(np.float32)


def checksum(tensor):
    digest = hashlib.sha256()
    data = np.atleast_1d(tensor.data)
    rows = data.reshape(-1, data.shape[-1])
    for start in range(0, len(rows), ROWS_AT_ONCE):
        digest.update(decode(tensor.tensor_type, rows[start : start + ROWS_AT_ONCE]).tobytes())
    return digest.hexdigest()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for tensor in gguf.GGUFReader(sys.argv[1]).tensors:
        print(checksum(tensor), tensor.n_elements, tensor.name)


if __name__ == "__main__":
    main()
