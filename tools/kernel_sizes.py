#!/usr/bin/env python3
"""Prints a table of the tensor types with the flash that each kernel takes; with --check FILE, says if FILE's is stale.

The project .ci/sizes has one symbol a kernel. It is built for thumbv7em-none-eabihf (opt-level s, LTO) and linked once for
each of them, everything unused left out. A kernel's size is that of all loaded sections of that image but .ARM.exidx, which
firmware that aborts on panic throws away: code and tables, with all it calls. Of the calls only memcpy, memset and the like are
left out, because any firmware has them.
"""

import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = "thumbv7em-none-eabihf"
HEADER = """\
| type | bits per weight | elements / bytes of a block | bit-exact | kernel, bytes | `unpack_`, bytes |
| --- | ---: | ---: | --- | ---: | ---: |
"""
SHARED = [f"mem{name}" for name in ("cpy", "move", "set", "cmp")] + [
    f"__aeabi_mem{name}{align}" for name in ("cpy", "move", "set", "clr") for align in ("", "4", "8")
]


def output(*command, **options):
    return subprocess.check_output(command, text=True, **options).strip()


def types():
    """Name, elements, bytes and kernel of each type, from the one table that has them."""
    line = re.compile(r"^ +\d+ +(\w+) +(\d+) +(\d+) +\w+ +(?:whole|ambiguous|\[.*?\]) +\w+::(\w+);", re.M)
    found = line.findall((ROOT / "src/tensor_type.rs").read_text())
    assert len(found) > 30, "the table in src/tensor_type.rs has changed its form"
    return [(name, int(elements), int(size), kernel) for name, elements, size, kernel in found]


def build():
    """The library of all kernels."""
    project = ROOT / ".ci/sizes"
    environment = os.environ | {"CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))}
    # The versions of the library, and no second list of them to keep.
    (project / "Cargo.lock").write_bytes((ROOT / "Cargo.lock").read_bytes())
    subprocess.check_call([ROOT / ".ci/cross", TARGET, "build", "--release"], cwd=project, env=environment)
    artifacts = output(ROOT / ".ci/cross", TARGET, "--artifacts", cwd=project, env=environment)
    return Path(artifacts) / "release/libweightstream_sizes.a"


def linker():
    host = re.search(r"^host: (.*)$", output("rustc", "-vV"), re.M)[1]
    return Path(output("rustc", "--print", "sysroot"), "lib/rustlib", host, "bin/rust-lld")


def loaded_bytes(image):
    """The loaded sections of a 32-bit little-endian ELF file, but .ARM.exidx."""
    data = image.read_bytes()
    (table,) = struct.unpack_from("<I", data, 32)
    entry, count = struct.unpack_from("<HH", data, 46)
    total = 0
    for index in range(count):
        _, kind, flags, _, _, size = struct.unpack_from("<6I", data, table + index * entry)
        if flags & 2 and kind == 1:  # allocated, with content
            total += size
    return total


def size(lld, library, symbol):
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder, "image")
        keep = [f"--entry={symbol}", f"--undefined={symbol}", "--gc-sections", "--fatal-warnings"]
        shared = [f"--defsym={name}=0" for name in SHARED]
        subprocess.check_call([lld, "-flavor", "gnu", *keep, *shared, library, "-o", image])
        return loaded_bytes(image)


def table():
    """The table's lines, each with its cells."""
    library, lld = build(), linker()
    has_unpack = set(re.findall(r"\bunpack_(\w+) \d", (ROOT / ".ci/sizes/src/lib.rs").read_text()))
    lines = []
    for name, elements, block_bytes, kernel in types():
        bits = f"{block_bytes * 8 / elements:g}"
        exact = "yes" if (ROOT / f"tests/data/golden/gauss/{name}.f32").exists() else "no reference"
        unpack = str(size(lld, library, f"unpack_{kernel}")) if kernel in has_unpack else ""
        lines.append([name, bits, f"{elements} / {block_bytes}", exact, str(size(lld, library, kernel)), unpack])
    return lines


def differs(cell, other):
    """Sizes may differ by a fifth and 32 bytes: every compiler has its own."""
    if cell.isdigit() and other.isdigit():
        return abs(int(cell) - int(other)) > int(cell) / 5 + 32
    return cell != other


def check(path, lines):
    """What is stale in a file."""
    text = Path(path).read_text()
    if HEADER not in text:
        return [f"{path} has no table of this form"]
    rows = text.split(HEADER, 1)[1].split("\n\n", 1)[0].splitlines()
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    if [row[0] for row in rows] != [line[0] for line in lines]:
        return [f"{path} does not list these types in this order: {' '.join(line[0] for line in lines)}"]
    return [
        f"{path} says {' | '.join(row)}\nbut it is {' | '.join(line)}"
        for row, line in zip(rows, lines)
        if len(row) != len(line) or any(map(differs, line, row))
    ]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", metavar="FILE")
    path = arguments.parse_args().check
    lines = table()
    if path:
        stale = check(path, lines)
        print("\n".join(stale) or f"{path}: {len(lines)} types, up to date", file=sys.stderr if stale else sys.stdout)
        sys.exit(bool(stale))
    print(HEADER + "\n".join("| " + " | ".join(line) + " |" for line in lines))


if __name__ == "__main__":
    main()
