#!/usr/bin/env python3
"""Prints a table of what programs take of flash; with --check FILE, says if FILE's is stale, with --write FILE, puts it there.
Fails where a budget is exceeded.

The programs are in .ci/sizes/src/programs.rs: symbols, built with opt-level s and LTO, each linked alone with all that it
calls, memcpy and the like among it. One that can panic does not link.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

from linked_size import build, copy_lock, linked_size
from size_table import arguments, done, markdown

TARGETS = {"Cortex-M0": "thumbv6m-none-eabi", "Cortex-M4F": "thumbv7em-none-eabihf"}
FAMILIES = ["legacy", "k", "iq", "ternary", "fp4"]
HEADER = """\
| flash, bytes | Cortex-M0 | Cortex-M4F | at most |
| --- | ---: | ---: | ---: |
"""
KIB = 1024


def program(target, name, features=""):
    """Bytes of a program, compiled with nothing beside it."""
    return linked_size(build(target, f"{name} {features}"), name)


def sizes(target):
    """Name, bytes and budget of each program."""
    plain = program(target, "metadata_and_types")
    alone = program(target, "decoder_alone")
    families = [
        (f"- `{family}` adds", program(target, "metadata_and_types", family) - plain, None) for family in FAMILIES
    ]
    return [
        ("decoder alone: header, metadata, tensor descriptions", alone, 12 * KIB),
        (
            "with a directory and the functions of Q8_0 and Q4_0",
            program(target, "directory_and_two_kernels"),
            15 * KIB,
        ),
        ("with a directory, `Metadata`, and `dequantize` of plain types", plain, None),
        *families,
        ("with all types", program(target, "metadata_and_types", "all-types"), 40 * KIB),
        ("decoder of safetensors alone, beside none of GGUF", program(target, "safetensors_alone"), None),
        ("- beside that of GGUF it adds", program(target, "both_formats") - alone, 10 * KIB),
    ]


def table():
    copy_lock()
    with ThreadPoolExecutor() as pool:
        columns = list(pool.map(sizes, TARGETS.values()))
    lines, exceeded = [], []
    for cells in zip(*columns):
        name, _, budget = cells[0]
        lines.append([name, *(f"{size:,}" for _, size, _ in cells), f"{budget:,}" if budget else ""])
        exceeded += [
            f"{name}: {size:,} bytes on {chip}, at most {budget:,}"
            for chip, (_, size, _) in zip(TARGETS, cells)
            if budget and size > budget
        ]
    return lines, exceeded


def main():
    asked = arguments(__doc__)
    lines, wrong = table()
    print(markdown(HEADER, lines))
    wrong += done(asked, HEADER, lines)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
