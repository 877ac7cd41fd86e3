"""Flash that a symbol of the project .ci/sizes takes with all that it calls, linked alone for a microcontroller."""

import os
import re
import struct
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def output(*command, **options):
    return subprocess.check_output(command, text=True, **options).strip()


def build(target, features):
    """The library of the symbols that these features ask for, for a target."""
    project = ROOT / ".ci/sizes"
    # A folder for each target, so that one need not wait for the other.
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"), "sizes", target).absolute()
    environment = os.environ | {"CARGO_TARGET_DIR": str(folder)}
    cross = ROOT / ".ci/cross"
    subprocess.check_call([cross, target, "build", "--release", "--quiet", "--features", features], cwd=project, env=environment)
    artifacts = output(cross, target, "--artifacts", cwd=project, env=environment)
    return Path(artifacts) / "release/libweightstream_sizes.a"


def copy_lock():
    """Gives the project the versions of the library, so that there is no second list of them to keep."""
    (ROOT / ".ci/sizes/Cargo.lock").write_bytes((ROOT / "Cargo.lock").read_bytes())


def linker():
    host = re.search(r"^host: (.*)$", output("rustc", "-vV"), re.M)[1]
    return Path(output("rustc", "--print", "sysroot"), "lib/rustlib", host, "bin/rust-lld")


def linked_size(library, symbol, left_out=()):
    """Bytes of all loaded sections of an image of nothing but this symbol and what it needs, `left_out` apart."""
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder, "image")
        keep = [f"--entry={symbol}", f"--undefined={symbol}", "--gc-sections", "--fatal-warnings"]
        shared = [f"--defsym={name}=0" for name in left_out]
        subprocess.check_call([linker(), "-flavor", "gnu", *keep, *shared, library, "-o", image])
        size = loaded_bytes(image)
        assert size, f"there is no {symbol}"
        return size


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
