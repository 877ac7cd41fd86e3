#!/usr/bin/env python3
"""Prints the tables of speed, drawn from the figures in benches/README.md; with --check FILE, says if FILE's are stale, with
--write FILE, puts them there.

It measures nothing: `benches` does, and its table stands in its own README.
"""

import math
import re
import sys
from pathlib import Path

from size_table import arguments, markdown, parts, write

FIGURES = Path(__file__).resolve().parent.parent / "benches/README.md"
TYPES = """\
| G weights/s | L1 | to ggml | to memset | L2 | to ggml | to memset | RAM | to limit |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
HEADERS = """\
| header of a model, ms | chunks of 64 KiB | chunks of 64 B | length walk | ggml | gguf-rs-lib | candle |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""
AIMS = """\
| aim | at least | reached |
| --- | --- | --- |
"""
# More than 9.2 bits a weight: what moves them is a copy.
WIDE = {"F32", "F16", "BF16", "I16", "I32", "I64", "F64"}
CODES = re.compile(r"IQ|TQ|Q[12]_0|MXFP|NVFP")


class Row:
    """A row of the table in benches/README.md: its figure, and those beside it by name."""

    def __init__(self, cells):
        self.task, _, self.figure, *others = cells
        self.figure = float(self.figure)
        self.limits, self.peers = {}, dict(zip(("ggml", "candle", "other"), others[2:]))
        for cell in others[:2]:
            if cell:
                name, text = cell.split(" ", 1)
                self.limits[name] = text

    def limit(self, name):
        return number(self.limits.get(name, ""))

    def ratio(self, name):
        """How many times as fast as a limit or a peer; `None` where that was not measured."""
        return ratio(self.limits.get(name) or self.peers.get(name) or "")

    def peer(self, name):
        return number(self.peers.get(name, ""))


def number(text):
    found = re.match(r"[\d.]+", text)
    return found and found[0]


def ratio(text):
    found = re.search(r"\(\*\*([\d.]+)\*\*\)", text)
    return float(found[1]) if found else None


def rows():
    lines = [line for line in FIGURES.read_text().splitlines() if re.match(r"\| .*, (L1|L2|RAM) \|.*weights/s|\| .* \| (ms|GB/s) \|", line)]
    return {row.task: row for row in (Row([cell.strip() for cell in line.strip("|").split("|")]) for line in lines)}


def text(value):
    return f"{value:.2f}" if value and value < 10 else f"{value:.1f}" if value else ""


def types(table):
    """A line for each type."""
    names = [task.removesuffix(", L1") for task in table if task.endswith(", L1")]
    lines = []
    for name in names:
        near, cache, memory = (table[f"{name}, {place}"] for place in ("L1", "L2", "RAM"))
        cells = [text(near.figure), text(near.ratio("ggml")), text(near.ratio("memset"))]
        cells += [text(cache.figure), text(cache.ratio("ggml")), text(cache.ratio("memset"))]
        lines.append([name, *cells, text(memory.figure), text(to_limit(name, memory))])
    return lines


def to_limit(name, memory):
    return memory.ratio("memcpy" if name in WIDE else "memset")


def headers(table):
    """A line for each header and way to read it."""
    lines = []
    for name in ("synthetic header", "header of the model"):
        for way in ("events", "vocabulary skipped"):
            large, small = (table[f"{name}, {way}, chunks of {size}"] for size in ("64 KiB", "64 B"))
            others = [large.limit("walk"), *(large.peer(peer) for peer in ("ggml", "other", "candle"))]
            lines.append([f"{name}, {way}", f"{large.figure:g}", f"{small.figure:g}", *(other or "" for other in others)])
    return lines


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def aims(table):
    """The aims, and what was reached."""
    names = [task.removesuffix(", L1") for task in table if task.endswith(", L1")]
    lines = []
    for kind, is_kind, least_mean, least, least_set in (
        ("plain, legacy and K types", lambda name: not CODES.match(name), 3, 1, 0.2),
        ("IQ, ternary and FP4 types", CODES.match, 4, 1.5, 0.1),
    ):
        for place in ("L1", "L2"):
            found = [table[f"{name}, {place}"] for name in names if is_kind(name)]
            peers = {row.task: row.ratio("ggml") for row in found if row.ratio("ggml")}
            sets = {row.task: row.ratio("memset") for row in found}
            lines.append(
                [
                    f"{kind}, {place}",
                    f"{least_mean} × ggml in the mean, each {least} ×; each {least_set} × memset",
                    f"{mean(peers.values()):.2f} ×{below(peers, least)}; {min(sets.values()):.2f} ×{below(sets, least_set)}",
                ]
            )
    memory = {name: to_limit(name, table[f"{name}, RAM"]) for name in names}
    for kind, is_kind, limit, least in (
        ("at most 9.2 bits a weight, to RAM", lambda name: name not in WIDE, "memset", 0.8),
        ("wider types, to RAM", lambda name: name in WIDE, "memcpy", 0.9),
    ):
        found = {name: value for name, value in memory.items() if is_kind(name)}
        reached = f"{min(found.values()):.2f} to {max(found.values()):.2f} ×{below(found, least)}"
        lines.append([kind, f"{least} × {limit}", reached])
    events, skipped = (table[f"synthetic header, {way}, chunks of 64 KiB"] for way in ("events", "vocabulary skipped"))
    walk = float(events.limit("walk"))
    lines.append(
        [
            "header by events",
            "1.5 × the time of a length walk, 15 × as fast as ggml",
            f"{events.figure / walk:.2f} ×, {events.ratio('ggml'):.1f} ×",
        ]
    )
    lines.append(["header with the vocabulary skipped", "1.1 × the time of a length walk", f"{skipped.figure / walk:.2f} ×"])
    tensors = table["safetensors, 100000 tensors"]
    reached = f"{tensors.figure:g} ms, {tensors.ratio('other'):.2f} × as fast"
    lines.append(["safetensors header of 100,000 tensors", "as fast as the crate safetensors", reached])
    for way in ("decoded", "decoded and dequantized"):
        file = table[f"whole file, {way}"]
        lines.append([f"model of 253 MB, {way}", "", f"{file.figure:g} GB/s, {file.ratio('read'):.2f} × only reading it"])
    return lines


def below(values, least):
    """The names of those that do not reach it."""
    names = [f"{name.split(',')[0]} {value:.2f}" for name, value in values.items() if value < least]
    return f" (below: {', '.join(names)})" if names else ""


def stale(path, header, lines):
    found = parts(path, header)
    if found and found[1] == markdown("", lines):
        return []
    return [f"{path} does not say what benches/README.md does: tools/speed_table.py --write {path}"]


def main():
    asked = arguments(__doc__)
    table = rows()
    wrong = []
    for header, lines in ((TYPES, types(table)), (HEADERS, headers(table)), (AIMS, aims(table))):
        print(markdown(header, lines), end="\n\n")
        if asked.write:
            wrong += write(asked.write, header, lines)
        elif asked.check:
            wrong += stale(asked.check, header, lines)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
