#!/usr/bin/env python3
"""Counts the instructions of fixed work under callgrind and prints them beside the kept figures; with --check, fails where
one is 3 % higher than its figure in instructions.txt, or the work is another; with --write, keeps them there.

Figures hold for one compiler, C library and kind of processor, all named in the file. Elsewhere --check only prints, and says why.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
KEPT = HERE / "instructions.txt"
MOST = 1.03
# What kernels may choose by, as far as callgrind knows it.
EXTENSIONS = ["ssse3", "sse4_1", "avx", "f16c", "fma", "avx2", "bmi2"]
ABOUT = """\
# Instructions of each piece of work under callgrind: `dequantize` of 2048 weights, headers of small files. Written by
# `./instructions.py --write`, and held to 3 % by `--check` where these are the same:
"""


def machine():
    """What the figures hold for."""
    rustc = subprocess.check_output(["rustc", "-vV"], text=True)
    release, target = rustc.splitlines()[0], re.search(r"^host: (.*)$", rustc, re.M)[1]
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    flags = flags[1].split() if flags else []
    extensions = " ".join(name for name in EXTENSIONS if name in flags) or "no extensions"
    return f"# {release}, {' '.join(platform.libc_ver())}, {target}, {extensions}"


def build():
    """The path of the program."""
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--bin", "instructions"]
    subprocess.run(command, cwd=HERE, check=True, env=os.environ | {"RUSTFLAGS": ""})
    metadata = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    folder = re.search(r'"target_directory":"([^"]+)"', subprocess.check_output(metadata, cwd=HERE, text=True))[1]
    return Path(folder) / "release/instructions"


def count(program):
    """Instructions by the name of the work."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        options = ["--toggle-collect=counted", "--dump-after=counted", f"--callgrind-out-file={out}"]
        command = ["valgrind", "--tool=callgrind", "-q", *options, program]
        names = subprocess.check_output(command, text=True).splitlines()
        counts = {}
        for number, name in enumerate(names, 1):
            dump = Path(f"{out}.{number}").read_text()
            counts[name] = int(re.search(r"^(?:summary|totals): (\d+)", dump, re.M)[1])
    assert len(counts) == len(names) and all(counts.values()), counts
    return counts


def kept():
    """The machine that the kept figures hold for, and the figures."""
    if not KEPT.exists():
        return None, {}
    lines = KEPT.read_text().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    figures = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return comments[-1], {name: int(figure) for name, figure in figures.items()}


def compare(counts, figures):
    """Prints all, and returns what is wrong."""
    wrong = [f"not counted any more: {name}" for name in figures.keys() - counts.keys()]
    for name, counted in counts.items():
        figure = figures.get(name)
        change = f"{100 * (counted / figure - 1):+7.2f} %" if figure else "      new"
        print(f"{counted:>10}  {change}  {name}")
        if not figure:
            wrong.append(f"has no figure: {name}")
        elif counted > figure * MOST:
            wrong.append(f"{name}: {counted} instructions, where {figure} were kept")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true")
    what.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    here, (there, figures) = machine(), kept()
    counts = count(build())
    wrong = compare(counts, figures)
    if asked.write:
        lines = [f"{name} {counted}\n" for name, counted in counts.items()]
        KEPT.write_text(ABOUT + here + "\n" + "".join(lines))
    elif here != there:
        print(f"not compared: the figures are those of\n  {there}\nand this is\n  {here}")
    elif asked.check and wrong:
        sys.exit("\n".join(wrong) + "\nIf this is meant: benches/instructions.py --write")


if __name__ == "__main__":
    main()
