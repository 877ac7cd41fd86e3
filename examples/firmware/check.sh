#!/usr/bin/env bash
# Builds every program for every board, runs them in QEMU, compares what they print with what the host says of the same
# files, and holds what they take of the board against the limits and against the tables of the documents.
#
#   check.sh                 about a minute when all is built
#   check.sh --write         writes those tables
#   check.sh --gemma FILE    also streams a model of 253 MB through the Cortex-M4F: minutes
set -euo pipefail
exec </dev/null
cd "$(dirname "${BASH_SOURCE[0]}")"
root=$(cd ../.. && pwd)

gemma=
write=()
case ${1-} in
'') ;;
--write) write=(--write) ;;
--gemma) gemma=$(realpath "${2:?check.sh: --gemma needs a file}") ;;
*)
  echo "Usage: check.sh [--write | --gemma FILE]" >&2
  exit 2
  ;;
esac

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
boards=(thumbv6m-none-eabi thumbv7m-none-eabi thumbv7em-none-eabihf riscv32imac-unknown-none-elf)
programs=(stack_q4_k inspect stream rows rows_table whole_library)
sample=$root/examples/data/sample.gguf
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "check.sh: $*" >&2
  exit 1
}

# The name of a board, as its memory map has it.
board() {
  sed -n "s/.*\"$1\" => \"\(.*\)\",/\1/p" build.rs
}

# options PROGRAM: sets what cargo is told of it. Some are built by themselves: what they need, the others cannot have.
options() {
  options=(--quiet --bin "$1" --profile release)
  case $1 in
  bench) options=(--quiet --bin bench --profile speed --features bench) ;;
  log) options+=(--features defmt) ;;
  serve) options+=(--features uart) ;;
  serve_embassy) options+=(--features embassy) ;;
  esac
}

# The program itself.
artifact() {
  local profile=release
  if [[ $2 == bench ]]; then profile=speed; fi
  echo "$("$root/.ci/cross" "$1" --artifacts)/$profile/$2"
}

# run SECONDS TARGET PROGRAM [QEMU ARGUMENT...]: what the program prints.
run() {
  local seconds=$1 target=$2 options
  options "$3"
  shift 3
  timeout "$seconds" "$root/.ci/cross" "$target" run "${options[@]}" -- "$@" 2>"$scratch/errors"
}

# The lines of `stream`: of each tensor, and then the bytes up to the end of the last one.
checksums() {
  "$CARGO_TARGET_DIR/release/examples/check" "$1" --crc | cut -d ' ' -f 1-3
  "$CARGO_TARGET_DIR/release/examples/inspect" "$1" --json |
    python3 -c 'import json, sys; print(max(t["offset"] + t["bytes"] for t in json.load(sys.stdin)["tensors"]), "bytes")'
}

# What the host makes of the files. Of each program, the lines that it must print.
expect() {
  (cd "$root" && cargo build --quiet --release --example inspect --example check --example weights)
  local programs=$CARGO_TARGET_DIR/release/examples token
  ./make_model.py "$scratch/every.gguf"
  "$programs/inspect" "$sample" --json | ./expected.py inspect >"$scratch/expect.inspect"
  checksums "$scratch/every.gguf" >"$scratch/expect.stream"
  for token in 0 1 259; do
    echo "token $token"
    "$programs/weights" "$sample" token_embd.weight --rows "$token..$((token + 1))" --format f32 | ./expected.py row
  done >"$scratch/expect.rows"
  cp "$scratch/expect.rows" "$scratch/expect.rows_table"
  { grep '^[0-9]' "$scratch/expect.inspect"; checksums "$sample"; } >"$scratch/expect.serve"
  "$programs/inspect" "$sample" --rust-table | cmp - src/sample_table.rs
  # In C it is held to be a table that compiles.
  "$programs/inspect" "$sample" --c-table | cc -std=c99 -Wall -Wextra -Werror -Wno-unused -pedantic-errors -fsyntax-only -x c - ||
    fail "the table in C does not compile"
  if [[ $gemma ]]; then
    checksums "$gemma" >"$scratch/expect.gemma"
  fi
}

# Bytes of flash and of statics: sections that are loaded, and those that are zeroed or copied at the start.
memory() {
  readelf --sections --wide "$1" | awk '
    match($0, /^ +\[ *[0-9]+\] +/) {
      split(substr($0, RLENGTH + 1), field, " +")
      name = field[1]; bytes = field[5]; flags = field[7]
      if (flags !~ /A/ || name ~ /^\.(stack|heap|text\.dummy)$/) next
      if (field[2] == "PROGBITS") flash = flash "+0x" bytes
      if (name ~ /^\.(data|bss|uninit)$/) ram = ram "+0x" bytes
    }
    END { print "flash=$((0" flash ")) ram=$((0" ram "))" }'
}

# check TARGET PROGRAM EXPECTED SECONDS [QEMU ARGUMENT...]: runs, compares, and prints a line of the table.
check() {
  local target=$1 program=$2 expected=$3 seconds=$4 began=$EPOCHREALTIME flash ram stack spent
  shift 4
  run "$seconds" "$target" "$program" "$@" >"$scratch/printed" ||
    fail "$program fails on $(board "$target"), or takes more than $seconds s:"$'\n'"$(cat "$scratch/errors")$(tail "$scratch/printed")"
  spent=$(awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $began }")
  # Its last line is about the stack, and one measures a part of it.
  stack=$(sed -n '$s/^stack: \([0-9]*\) of .*/\1/p' "$scratch/printed")
  if [[ $program == stack_q4_k ]]; then
    stack=$(sed -n 's/^decode and dequantize Q4_K: \([0-9]*\) bytes of stack$/\1/p' "$scratch/printed")
  fi
  [[ $stack ]] || fail "$program on $(board "$target") does not say what it takes of the stack"
  sed '$d' "$scratch/printed" >"$scratch/compared"
  if [[ $expected ]]; then
    diff "$scratch/expect.$expected" "$scratch/compared" || fail "$program on $(board "$target") (>) is not what the host says (<)"
  fi
  eval "$(memory "$(artifact "$target" "$program")")"
  if [[ $program != @(stream|serve*) ]]; then flash=$((flash - $(stat -c %s "$sample"))); fi
  printf '%-12s %-14s %8d %8d %8d %8s\n' "$(board "$target")" "$program" "$flash" "$ram" "$stack" "$spent"
  if [[ $expected != gemma ]]; then echo "$(board "$target") $program $flash $ram $stack" >>"$scratch/measured"; fi
}

build() {
  local target
  for target in "${boards[@]}"; do
    "$root/.ci/cross" "$target" build --quiet --release --bins
  done
}

# What differs between boards differs between ARM and RISC-V, so one of each is looked at, one of them with every feature.
lint() {
  "$root/.ci/cross" riscv32imac-unknown-none-elf clippy --quiet --release --bins -- -D warnings
  "$root/.ci/cross" thumbv7m-none-eabi clippy --quiet --release --bins --features bench,defmt,embassy -- -D warnings
}

# The proof that nothing panics must find what does, which is as much the linker's work as that of the code for a processor.
check_panics() {
  local target message
  for target in thumbv6m-none-eabi riscv32imac-unknown-none-elf; do
    if message=$("$root/.ci/cross" "$target" build --quiet --release --bin panics --features panics 2>&1); then
      fail "a program that panics links for $target"
    fi
    grep -q 'undefined symbol: this_program_can_panic' <<<"$message" || fail "panics does not build:"$'\n'"$message"
  done
}

# build_alone TARGET PROGRAM
build_alone() {
  local options
  options "$2"
  "$root/.ci/cross" "$1" build "${options[@]}"
}

# A serial line is on one board. Its bytes are those of a file.
check_serve() {
  local program
  for program in serve serve_embassy; do
    build_alone thumbv7m-none-eabi "$program"
    check thumbv7m-none-eabi "$program" serve 60 -monitor none -serial stdio <"$sample"
  done
}

# What is logged goes to a file, whose numbers the host makes texts of.
check_log() {
  local target
  cargo clippy --quiet --manifest-path print_log/Cargo.toml -- -D warnings
  cargo build --quiet --manifest-path print_log/Cargo.toml
  for target in thumbv6m-none-eabi riscv32imac-unknown-none-elf; do
    build_alone "$target" log
    check "$target" log '' 60 -append "$scratch/log"
    "$CARGO_TARGET_DIR/debug/print-log" "$(artifact "$target" log)" "$scratch/log" >"$scratch/printed"
    diff expected.log "$scratch/printed" || fail "what log logs on $(board "$target") (>) is not as expected (<)"
  done
}

# How many instructions a weight takes, held against budget.txt on the Cortex-M4F. Each instruction takes a nanosecond of the
# emulator's clock, so that no run differs from another.
check_bench() {
  local target
  mkdir "$scratch/counted"
  for target in thumbv6m-none-eabi riscv32imac-unknown-none-elf thumbv7em-none-eabihf; do
    build_alone "$target" bench
    check "$target" bench '' 60 -icount shift=0
    cp "$scratch/compared" "$scratch/counted/$(board "$target")"
  done
  run 60 thumbv7em-none-eabihf bench -icount shift=0 | sed '$d' | cmp - "$scratch/counted/mps2-an386" ||
    fail "bench counts differently each time"
}

"$root/.ci/need" qemu-system-arm qemu-system-misc binutils gcc libc6-dev
expect
lint
build
check_panics
echo 'Bytes of flash without the model in it, of statics and of the deepest stack; seconds in the emulator'
printf '%-12s %-14s %8s %8s %8s %8s\n' board program flash statics stack seconds
for target in "${boards[@]}"; do
  for program in "${programs[@]}"; do
    case $program in
    stream) check "$target" stream stream 120 -append "$scratch/every.gguf" ;;
    whole_library | stack_q4_k) check "$target" "$program" '' 60 ;;
    *) check "$target" "$program" "$program" 60 ;;
    esac
  done
done
check_serve
check_log
if [[ $gemma ]]; then
  check thumbv7em-none-eabihf stream gemma 3600 -append "$gemma"
fi
check_bench
echo
./figures.py "$scratch/measured" "$scratch/counted" "${write[@]}"
