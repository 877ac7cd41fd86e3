#!/usr/bin/env python3
"""Makes tests/data/malformed: GGUF files that are wrong, or look wrong, and what must be said of each.

The cases are in malformed_cases.py. Where an error is told is looked up in the layout of the file that the script has
just written, so that nothing is taken over from the decoder.

    make_malformed.py             write the files and expected.json
    make_malformed.py --check     compare the files in the repository with what the script makes
    make_malformed.py --gguf-py   read every file with gguf-py 0.19.0 and compare the column `gguf_py`

Python 3.10 or later; only --gguf-py needs `pip install gguf==0.19.0`.
"""

import json
import re
import resource
import subprocess
import sys
from pathlib import Path

from malformed_cases import ACCEPT, CASES, ENDLESS, REFUSE, RULES

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "malformed"
TABLE = "expected.json"


def make_all():
    rows = ",\n".join(json.dumps(row) for _, row in CASES.values())
    files = {name + ".gguf": data for name, (data, _) in CASES.items()}
    files[TABLE] = f"[\n{rows}\n]\n".encode()
    return files


# Rules that are about the caller or about memory that this library does not have; docs/strictness.md answers them.
ANSWERED_ELSEWHERE = {"F25", "F27", "F34", "G33"}
GGML_TESTS = """HEADER_BAD_MAGIC HEADER_BAD_VERSION_0 HEADER_BAD_VERSION_1 HEADER_BAD_VERSION_FUTURE HEADER_BAD_N_KV
    HEADER_BAD_N_TENSORS HEADER_EMPTY KV_BAD_KEY_SIZE KV_EMPTY_KEY KV_BAD_TYPE KV_DUPLICATE_KEY KV_BAD_ALIGN
    KV_WRONG_TYPE_ALIGN KV_SUCCESS TENSORS_BAD_NAME_SIZE TENSORS_BAD_N_DIMS TENSORS_BAD_SHAPE TENSORS_ZERO_DIM
    TENSORS_NE_TOO_BIG TENSORS_NBYTES_TOO_BIG TENSORS_NBYTES_PAD_WRAP TENSORS_BAD_TYPE TENSORS_BAD_OFFSET
    TENSORS_DUPLICATE_NAME TENSORS_BAD_ALIGN TENSORS_INCONSISTENT_ALIGN TENSORS_SUCCESS TENSORS_CUSTOM_ALIGN
    DATA_NOT_ENOUGH_DATA DATA_BAD_ALIGN DATA_INCONSISTENT_ALIGN DATA_MEM_SIZE_OVERFLOW DATA_SUCCESS
    DATA_CUSTOM_ALIGN"""


def check_rules():
    """Every rule has a case or is answered in the docs, and no case names another one."""
    numbered = {f"{letter}{number:02}" for letter in "GF" for number in range(1, 35)}
    known = numbered | set(GGML_TESTS.split()) | {"spec", "own"}
    missing = known - RULES - ANSWERED_ELSEWHERE
    strange = {rule for rule in RULES - known if not re.fullmatch(r"CVE-\d{4}-\d+", rule)}
    if missing or strange or RULES & ANSWERED_ELSEWHERE:
        sys.exit(f"rules without a case: {sorted(missing)}; unknown rules: {sorted(strange)}")


def check_files(files):
    """The files in the repository are those that this script makes."""
    there = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    differ = sorted(name for name in files.keys() | there.keys() if files.get(name) != there.get(name))
    if differ:
        sys.exit("not what this script makes: " + ", ".join(differ))
    print(f"{len(CASES)} cases, {sum(map(len, files.values()))} bytes: as this script makes them")


READ = "import sys, gguf; gguf.GGUFReader(sys.argv[1])"


def read_with_gguf_py(path):
    """What gguf-py makes of a file, within 2 GiB and 10 seconds of processor time."""
    def bounded():
        resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
        resource.setrlimit(resource.RLIMIT_CPU, (10, 10))

    run = subprocess.run([sys.executable, "-W", "ignore", "-c", READ, path], capture_output=True, text=True,
                         preexec_fn=bounded)
    if run.returncode < 0:
        return ENDLESS, "10 seconds"
    why = run.stderr.strip().splitlines()[-1:] or [f"exit {run.returncode}"]
    if "MemoryError" in why[0]:
        return ENDLESS, why[0]
    return (ACCEPT, "") if run.returncode == 0 else (REFUSE, why[0])


def check_gguf_py():
    differ = 0
    for _, row in CASES.values():
        verdict, why = read_with_gguf_py(FOLDER / row["file"])
        if verdict != row["gguf_py"]:
            differ += 1
            print(f"{row['file']}: the table says {row['gguf_py']}, it is {verdict} {why}", flush=True)
    sys.exit(f"{differ} cases differ" if differ else 0)


def main():
    files = make_all()
    check_rules()
    if sys.argv[1:] == ["--check"]:
        check_files(files)
    elif sys.argv[1:] == ["--gguf-py"]:
        check_gguf_py()
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for path in FOLDER.iterdir():
            if path.name not in files:
                path.unlink()
        for name, data in files.items():
            (FOLDER / name).write_bytes(data)
        print(f"{len(CASES)} cases, {sum(map(len, files.values()))} bytes")


if __name__ == "__main__":
    main()
