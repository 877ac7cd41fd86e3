#!/usr/bin/env python3
"""Packs the codebooks of the IQ types: writes src/quant/grids.rs from tests/data/tables.

Run it from anywhere; it needs nothing but Python. Each line of a table file is one entry as a hexadecimal
number, whose lowest byte is the first element. In the packed form every element is a code of 2 or 3 bits, the
first one lowest, and an entry is a u16.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# table, elements of an entry, bits of a code, what its codes stand for, the types that use it
GRIDS = [
    ("iq2xxs_grid", 8, 2, [0x08, 0x19, 0x2B], "IQ2_XXS"),
    ("iq2xs_grid", 8, 2, [0x08, 0x19, 0x2B], "IQ2_XS"),
    ("iq2s_grid", 8, 2, [0x08, 0x19, 0x2B], "IQ2_S"),
    ("iq3xxs_grid", 4, 3, [4, 12, 20, 28, 36, 44, 52, 62], "IQ3_XXS"),
    ("iq3s_grid", 4, 3, [1, 3, 5, 7, 9, 11, 13, 15], "IQ3_S"),
    ("iq1s_grid", 8, 2, [0xFF, 0, 1], "IQ1_S` and `IQ1_M"),
]


def pack(entry, elements, bits, values):
    packed = 0
    for element in range(elements):
        value = entry >> 8 * element & 0xFF
        packed |= values.index(value) << bits * element
    return packed


def signed(value):
    return value - 256 if value > 127 else value


def rows(packed):
    for start in range(0, len(packed), 13):
        yield "    " + ", ".join(f"0x{entry:04x}" for entry in packed[start : start + 13]) + ","


def main():
    lines = [
        "//! The codebooks of the IQ types, packed: 9,216 bytes in all.",
        "//!",
        "//! An entry holds a code for each element, the first one in the lowest bits.",
        "//!",
        "//! Written by `tools/pack_grids.py`; do not edit.",
    ]
    for table, elements, bits, values, types in GRIDS:
        text = (ROOT / "tests/data/tables" / f"{table}.txt").read_text()
        packed = [pack(int(entry, 16), elements, bits, values) for entry in text.split()]
        meaning = ", ".join(str(signed(value)) for value in values)
        name = table.removesuffix("_grid").upper()
        lines += [
            "",
            f"/// `{types}`: {elements} codes of {bits} bits, which stand for {meaning}.",
            f"pub(super) static {name}: [u16; {len(packed)}] = [",
            *rows(packed),
            "];",
        ]
    (ROOT / "src/quant/grids.rs").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
