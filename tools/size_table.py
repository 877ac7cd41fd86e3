"""A table of sizes in Markdown: printed, or held against the one that stands in a file."""

import argparse
from pathlib import Path


def path_to_check(doc):
    """The file that the command line asks to check, if it does."""
    arguments = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", metavar="FILE")
    return arguments.parse_args().check


def markdown(header, lines):
    return header + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def differs(cell, other):
    """Sizes may differ by a fifth and 32 bytes: every compiler has its own."""
    number, old = cell.replace(",", ""), other.replace(",", "")
    if number.isdigit() and old.isdigit():
        return abs(int(number) - int(old)) > int(number) / 5 + 32
    return cell != other


def stale(path, header, lines):
    """What is stale in the table under this header in a file."""
    text = Path(path).read_text()
    if header not in text:
        return [f"{path} has no table of this form"]
    rows = text.split(header, 1)[1].split("\n\n", 1)[0].splitlines()
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    if [row[0] for row in rows] != [line[0] for line in lines]:
        return [f"{path} does not list these in this order: {', '.join(line[0] for line in lines)}"]
    return [
        f"{path} says {' | '.join(row)}\nbut it is {' | '.join(line)}"
        for row, line in zip(rows, lines)
        if len(row) != len(line) or any(map(differs, line, row))
    ]
