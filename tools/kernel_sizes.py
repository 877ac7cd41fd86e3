#!/usr/bin/env python3
"""Prints a table of the tensor types with the flash that each kernel takes; with --check FILE, says if FILE's is stale, with
--write FILE, puts it there.

The project .ci/sizes has one symbol a kernel. It is built for thumbv7em-none-eabihf (opt-level s, LTO) and linked once for
each of them, everything unused left out. A kernel's size is that of all loaded sections of that image but .ARM.exidx, which
firmware that aborts on panic throws away: code and tables, with all it calls. Of the calls only memcpy, memset and the like are
left out, because any firmware has them.
"""

import re
import sys

from linked_size import ROOT, build, copy_lock, linked_size
from size_table import arguments, done, markdown

TARGET = "thumbv7em-none-eabihf"
HEADER = """\
| type | bits per weight | elements / bytes of a block | bit-exact | kernel, bytes | `unpack_`, bytes |
| --- | ---: | ---: | --- | ---: | ---: |
"""
SHARED = [f"mem{name}" for name in ("cpy", "move", "set", "cmp")] + [
    f"__aeabi_mem{name}{align}" for name in ("cpy", "move", "set", "clr") for align in ("", "4", "8")
]


def types():
    """Name, elements, bytes and kernel of each type, from the one table that has them."""
    line = re.compile(r"^ +\d+ +(\w+) +(\d+) +(\d+) +\w+ +(?:whole|ambiguous|\[.*?\]) +\w+::(\w+);", re.M)
    found = line.findall((ROOT / "src/tensor_type.rs").read_text())
    assert len(found) > 30, "the table in src/tensor_type.rs has changed its form"
    return [(name, int(elements), int(size), kernel) for name, elements, size, kernel in found]


def size(library, symbol):
    return linked_size(library, symbol, left_out=SHARED)


def table():
    """The table's lines, each with its cells."""
    copy_lock()
    library = build(TARGET, "kernels")
    has_unpack = set(re.findall(r"\bunpack_(\w+) \d", (ROOT / ".ci/sizes/src/kernels.rs").read_text()))
    lines = []
    for name, elements, block_bytes, kernel in types():
        bits = f"{block_bytes * 8 / elements:g}"
        exact = "yes" if (ROOT / f"tests/data/golden/gauss/{name}.f32").exists() else "no reference"
        unpack = str(size(library, f"unpack_{kernel}")) if kernel in has_unpack else ""
        lines.append([name, bits, f"{elements} / {block_bytes}", exact, str(size(library, kernel)), unpack])
    return lines


def main():
    asked, lines = arguments(__doc__), table()
    if wrong := done(asked, HEADER, lines):
        sys.exit("\n".join(wrong))
    if asked.check:
        print(f"{asked.check}: {len(lines)} types, up to date")
    else:
        print(markdown(HEADER, lines))


if __name__ == "__main__":
    main()
