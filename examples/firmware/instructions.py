#!/usr/bin/env python3
"""Prints what `bench` counted on each board as a table, and fails where the first one is above its budget.

    instructions.py BUDGET M4F M0 RISC-V
"""

import sys


def numbers(path):
    rows = (line.split() for line in open(path) if line.strip() and not line.startswith("#"))
    return {name: [float(number) for number in rest] for name, *rest in rows}


budget, *counted = map(numbers, sys.argv[1:])
first = counted[0]
assert all(board.keys() == budget.keys() for board in counted), "budget.txt does not have what bench counts"

print("Instructions a weight (opt-level 3), and a string of a vocabulary")
print(f"{'':<16}{'Cortex-M4F':>11}{'at most':>9}{'aim':>7}{'Cortex-M0':>11}{'RISC-V':>9}")
above = []
for name, (limit, *aim) in budget.items():
    m4f, m0, riscv = (board[name][0] for board in counted)
    print(f"{name:<16}{m4f:11.2f}{limit:9g}{aim[0] if aim else '':>7}{m0:11.2f}{riscv:9.2f}")
    if m4f > limit:
        above.append(name)
sys.exit(f"above the budget: {', '.join(above)}" if above else 0)
