#!/usr/bin/env bash
# Builds the decoder for browsers: a folder with cuszi.wasm, cuszi.js and a page.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/build_browser.sh [FOLDER]

Writes cuszi.wasm, cuszi.js and index.html to FOLDER (build/browser), which any web server can serve. Needs emscripten,
libfmt-dev and libxxhash-dev of Debian 12; takes zstd's sources from PyPI. Compiles for some minutes.
USAGE
}

[[ ${1-} != -* ]] || { usage; exit 0; }
folder=${1:-build/browser}
made=build/browser-build
command -v emcmake >/dev/null || { echo "build_browser.sh: no emcmake; apt-get install emscripten" >&2; exit 1; }

# Headers of Debian that no compiler for WebAssembly finds by itself.
mkdir -p "$made/headers" "$folder"
cp -r /usr/include/fmt /usr/include/xxhash.h "$made/headers"
if [[ ! -e $made/zstd/zstd.c ]]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    python3 -m venv "$scratch/env"
    "$scratch/env/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary zstandard \
        --dest "$scratch" --require-hashes -r bindings/browser/requirements.txt
    mkdir -p "$made/zstd"
    tar -xzf "$scratch"/zstandard-*.tar.gz -C "$made/zstd" --strip-components 2 --wildcards '*/zstd/zstd*'
fi

emcmake cmake -S bindings/browser -B "$made" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCUSZI_ZSTD="$PWD/$made/zstd" -DCUSZI_HEADERS="$PWD/$made/headers" >"$made/configure.log"
ninja -C "$made"
cp "$made/cuszi.wasm" bindings/browser/{cuszi.js,index.html,package.json} "$folder"
ls -l "$folder"
