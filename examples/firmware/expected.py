#!/usr/bin/env python3
"""Prints what a program must print, from what the host says of the same file.

    expected.py inspect    of the output of `inspect --json`
    expected.py row        of the values of a row, as `weights --format f32` writes them
"""

import json
import struct
import sys


def inspect():
    model = json.load(sys.stdin)
    entries = {entry["key"]: entry["value"] for entry in model["metadata"]}
    architecture = entries["general.architecture"]
    tensors = model["tensors"]
    elements = 0

    print("GGUF version", model["version"])
    for index, tensor in enumerate(tensors):
        product = 1
        for dim in tensor["dims"]:
            product *= dim
        elements += product
        dims = "".join(f" {dim}" for dim in tensor["dims"])
        offset = tensor["offset"] - model["data_offset"]
        print(f"{index} {tensor['name']} {tensor['type']}{dims}, {tensor['bytes']} bytes at {offset}")
    print("data offset:", model["data_offset"])
    print("architecture:", architecture)
    print("name:", entries["general.name"])
    print("file type:", {10: "Q2_K"}[entries["general.file_type"]])
    print("layers:", entries[architecture + ".block_count"])
    print("context length:", entries[architecture + ".context_length"])
    print("embedding length:", entries[architecture + ".embedding_length"])
    print("heads:", entries[architecture + ".attention.head_count"])
    print("vocabulary:", entries["tokenizer.ggml.tokens"]["length"])
    print("chat template:", "yes" if "tokenizer.chat_template" in entries else "no")
    print(f"weights: {len(tensors)} tensors, {elements} elements, {sum(t['bytes'] for t in tensors)} bytes")


def row():
    """Bits, and six decimals, half of the last one rounded away from zero."""
    for (bits,) in struct.iter_unpack("<I", sys.stdin.buffer.read()):
        (value,) = struct.unpack("<f", struct.pack("<I", bits))
        millionths = int(abs(value) * 1e6 + 0.5)
        sign = "-" if bits >> 31 else ""
        print(f"{bits:08x} {sign}{millionths // 10**6}.{millionths % 10**6:06}")


if __name__ == "__main__":
    {"inspect": inspect, "row": row}[sys.argv[1]]()
