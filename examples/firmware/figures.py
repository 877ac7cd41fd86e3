#!/usr/bin/env python3
"""Prints what the programs take of each board, and what a weight takes, as tables. Fails where a limit of budget.txt is exceeded,
and where the documents show other figures.

    figures.py MEASURED COUNTED [--write]

MEASURED has lines of board, program, bytes of flash, of statics and of the deepest stack. The folder COUNTED has what `bench`
prints on each board. With --write the tables go into the documents.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from size_table import markdown, stale, write  # noqa: E402

BOARDS = ["microbit", "lm3s6965evb", "mps2-an386", "riscv-virt"]
COUNTED = {"mps2-an386": "Cortex-M4F", "microbit": "Cortex-M0", "riscv-virt": "RISC-V"}
SHORT = ["F16", "Q4_0", "Q8_0", "Q4_K", "Q6_K", "IQ2_XXS", "IQ4_XS", "string_told", "string_skipped"]
NAMES = {"string_told": "a string that is told", "string_skipped": "a string that is skipped"}

MEMORY = """\
| flash / statics / deepest stack, bytes | Cortex-M0 | Cortex-M3 | Cortex-M4F | RISC-V | stack at most |
| --- | ---: | ---: | ---: | ---: | ---: |
"""
INSTRUCTIONS = """\
| instructions a weight | Cortex-M4F | at most | aim | Cortex-M0 | RISC-V |
| --- | ---: | ---: | ---: | ---: | ---: |
"""
SHORT_MEMORY = """\
| deepest stack, bytes | Cortex-M0 | Cortex-M3 | Cortex-M4F | RISC-V | at most |
| --- | ---: | ---: | ---: | ---: | ---: |
"""
SHORT_INSTRUCTIONS = """\
| instructions a weight | Cortex-M0 | Cortex-M4F | RISC-V |
| --- | ---: | ---: | ---: |
"""


def rows(path):
    text = Path(path).read_text().splitlines()
    return [line.split() for line in text if line.strip() and not line.startswith("#")]


def numbers(path):
    return {name: [float(number) for number in rest] for name, *rest in rows(path)}


def memory(measured, limits, wrong):
    """The lines of both tables about memory."""
    programs = list(dict.fromkeys(program for _, program in measured))
    if programs != list(limits):
        sys.exit(f"stack.txt lists {', '.join(limits)}\nbut there are {', '.join(programs)}")
    full, short = [], []
    for program in programs:
        (limit,) = limits[program]
        cells = [measured.get((board, program)) for board in BOARDS]
        wrong += [
            f"{program} on {board} takes {cell[2]} bytes of stack, at most {limit:.0f}"
            for board, cell in zip(BOARDS, cells)
            if cell and cell[2] > limit
        ]
        most = f"{limit:,.0f}"
        name = f"`{program}`"
        full.append([name, *(" / ".join(f"{n:,}" for n in cell) if cell else "" for cell in cells), most])
        if program == "stack_q4_k":
            name = "decode, and dequantize Q4_K"
        short.append([name, *(f"{cell[2]:,}" if cell else "" for cell in cells), most])
    return full, short


def instructions(counted, budget, wrong):
    """The lines of both tables about instructions."""
    if any(board.keys() != budget.keys() for board in counted.values()):
        sys.exit("budget.txt does not have what bench counts")
    full, short = [], []
    for name, (limit, *aim) in budget.items():
        count = {board: f"{counted[board][name][0]:.1f}" for board in COUNTED}
        shown = NAMES.get(name, name)
        m4f, m0, riscv = count.values()
        full.append([shown, m4f, f"{limit:g}", f"{aim[0]:g}" if aim else "", m0, riscv])
        if name in SHORT:
            short.append([shown, m0, m4f, riscv])
        if counted["mps2-an386"][name][0] > limit:
            wrong.append(f"{name} takes {m4f} instructions on the Cortex-M4F, at most {limit:g}")
    return full, short


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured")
    parser.add_argument("counted", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    here, wrong = Path(__file__).resolve().parent, []
    measured = {(board, program): tuple(map(int, rest)) for board, program, *rest in rows(asked.measured)}
    stack, short_stack = memory(measured, numbers(here / "stack.txt"), wrong)
    counted = {board: numbers(asked.counted / board) for board in COUNTED}
    count, short_count = instructions(counted, numbers(here / "budget.txt"), wrong)
    print(markdown(MEMORY, stack), markdown(INSTRUCTIONS, count), sep="\n\n")
    tables = [
        (here / "README.md", MEMORY, stack),
        (here / "README.md", INSTRUCTIONS, count),
        (ROOT / "README.md", SHORT_MEMORY, [line for line in short_stack if line[0] in STACKS]),
        (ROOT / "README.md", SHORT_INSTRUCTIONS, short_count),
    ]
    for table in tables:
        wrong += write(*table) if asked.write else stale(*table)
    if wrong:
        sys.exit("\n".join(wrong))


STACKS = ["decode, and dequantize Q4_K", "`inspect`", "`stream`", "`rows`"]

if __name__ == "__main__":
    main()
