#!/usr/bin/env bash
# Measures what the documents say of flash, of stack and of instructions, and writes it into their tables. Fails where a limit
# is exceeded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/kernel_sizes.py --write README.md
tools/flash_sizes.py --write README.md
examples/firmware/check.sh --write
