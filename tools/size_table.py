"""A table of figures in Markdown: printed, held against the one that stands in a file, or written there."""

import argparse
import re
from pathlib import Path


def arguments(doc):
    """What the command line asks for: to check a file, to write one, or neither."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--check", metavar="FILE")
    either.add_argument("--write", metavar="FILE")
    return parser.parse_args()


def markdown(header, lines):
    return header + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def differs(cell, other):
    """Sizes may differ by a fifth and 32 bytes, and counts with a fraction by a fifth and 1: every compiler has its own."""
    cells, others = cell.split(" / "), other.split(" / ")
    if len(cells) != len(others):
        return True
    return any(differ(number, old) for number, old in zip(cells, others))


def differ(cell, other):
    number, old = cell.replace(",", ""), other.replace(",", "")
    if all(re.fullmatch(r"\d+(\.\d+)?", text) for text in (number, old)):
        allowed = float(number) / 5 + (1 if "." in number else 32)
        return abs(float(number) - float(old)) > allowed
    return cell != other


def parts(path, header):
    """The text of a file before, in and behind the lines of the table under this header; nothing if it has no such table."""
    before, found, rest = Path(path).read_text().partition(header)
    if not found:
        return None
    if rest.startswith("\n"):  # a table without lines
        return before + header, "", "\n" + rest
    end = rest.find("\n\n")
    end = len(rest.rstrip("\n")) if end < 0 else end
    return before + header, rest[:end], rest[end:]


def stale(path, header, lines):
    """What is stale in the table under this header in a file."""
    found = parts(path, header)
    if not found:
        return [f"{path} has no table of this form"]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in found[1].splitlines()]
    if [row[0] for row in rows] != [line[0] for line in lines]:
        return [f"{path} does not list these in this order: {', '.join(line[0] for line in lines)}"]
    return [
        f"{path} says {' | '.join(row)}\nbut it is {' | '.join(line)}"
        for row, line in zip(rows, lines)
        if len(row) != len(line) or any(map(differs, line, row))
    ]


def write(path, header, lines):
    """Puts the table in the place of the one under this header in a file. Returns what is wrong."""
    found = parts(path, header)
    if not found:
        return [f"{path} has no table of this form"]
    before, _, behind = found
    Path(path).write_text(before + markdown("", lines) + behind)
    return []


def done(asked, header, lines):
    """Does what the command line asks for. Returns what is wrong."""
    if asked.write:
        return write(asked.write, header, lines)
    return stale(asked.check, header, lines) if asked.check else []
