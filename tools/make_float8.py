#!/usr/bin/env python3
"""Makes tests/data/float8.txt: the value of every code of the 8-bit floats of safetensors, as the bits of an f32.

The values come from ml_dtypes, so that the functions under test do not judge themselves.

    make_float8.py           write the file
    make_float8.py --check   compare the file in the repository with what the script makes

Needs `pip install ml_dtypes==0.6.0`, which brings numpy.
"""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np

FILE = Path(__file__).resolve().parent.parent / "tests" / "data" / "float8.txt"
TYPES = {
    "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2,
    "F8_E8M0": ml_dtypes.float8_e8m0fnu,
    "F8_E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "F8_E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}


def table():
    codes = np.arange(256, dtype=np.uint8)
    columns = [codes.view(kind).astype(np.float32).view(np.uint32) for kind in TYPES.values()]
    lines = ["code " + " ".join(TYPES)]
    for code, *values in zip(codes, *columns):
        lines.append(f"{code:02x} " + " ".join(f"{bits:08x}" for bits in values))
    return "\n".join(lines) + "\n"


def main():
    match sys.argv[1:]:
        case []:
            FILE.write_text(table())
        case ["--check"]:
            if FILE.read_text() != table():
                sys.exit(f"{FILE.name} is not what this script makes")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
