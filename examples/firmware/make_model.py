#!/usr/bin/env python3
"""Writes a model of 1 MB for the program `stream`: more than all memory of a micro:bit, with a tensor of every type.

    make_model.py FILE

The blocks are those that tests/data/golden has of each type, over and over, each time from another one on. The vocabulary
alone is more than fits in RAM. The same bytes come out everywhere.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from gguf_layout import F32, U32, Entry, Scalar, Tensor, Text, gguf, numbers, texts  # noqa: E402

TENSOR_BYTES = 28_000
TOKENS = 3_000


def types():
    """Id, name, elements and bytes of a block of each type, from the one table that has them."""
    line = re.compile(r"^ +(\d+) +(\w+) +(\d+) +(\d+) +\w+ +(?:whole|ambiguous|\[.*?\]) +\w+::\w+;", re.M)
    found = line.findall((ROOT / "src/tensor_type.rs").read_text())
    assert len(found) > 30, "the table in src/tensor_type.rs has changed its form"
    return [(int(id), name, int(elements), int(size)) for id, name, elements, size in found]


def tensors():
    offset = 0
    for id, name, elements, size in types():
        golden = ROOT / f"tests/data/golden/gauss/{name}.q"
        if not golden.exists():
            continue  # Q8_1: nobody stores it
        data = golden.read_bytes()
        blocks = [data[start:start + size] for start in range(0, len(data), size)]
        # Rows of eight blocks for small ones, of one for large ones.
        row = 1 if elements == 256 else 8
        rows = TENSOR_BYTES // (row * size)
        count = row * rows
        # From another block on each time, so that a block that comes twice, or is left out, is found.
        order = [(n + n // len(blocks)) % len(blocks) for n in range(count)]
        data = b"".join(blocks[n] for n in order)
        yield Tensor(f"every.{name.lower()}.weight".encode(), id, (row * elements, rows), data, offset)
        offset += -(-len(data) // 32) * 32


def main():
    (path,) = sys.argv[1:]
    tokens = [f"token {n} {'äöü' * (n % 7)}".encode() for n in range(TOKENS)]
    entries = [
        Entry(b"general.architecture", Text(b"every")),
        Entry(b"general.name", Text(b"A tensor of every type")),
        Entry(b"every.block_count", Scalar(U32, 1)),
        Entry(b"tokenizer.ggml.tokens", texts(*tokens)),
        Entry(b"tokenizer.ggml.scores", numbers(F32, *(-float(n) for n in range(TOKENS)))),
    ]
    Path(path).write_bytes(gguf(*entries, *tensors()).bytes)


if __name__ == "__main__":
    main()
