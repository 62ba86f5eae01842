#!/usr/bin/env bash
# Prints a Python environment of pinned packages; creates or renews it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/python_env.sh REQUIREMENTS FOLDER

Makes FOLDER a virtual environment with the packages of REQUIREMENTS, a file of pinned versions and
hashes, unless it is one already. Prints the path of its python. Of several that make the same
folder at a time, one does and the others wait.
USAGE
}

[[ $# == 2 ]] || { usage >&2; exit 1; }

# make REQUIREMENTS FOLDER INSTALL: a new environment, to which INSTALL adds the packages.
make() {
    local requirements=$1 folder=$2 stamp=$2/made-of key lock
    mkdir -p "$(dirname "$folder")"
    exec {lock}>"$folder.lock"
    flock "$lock"
    key=$(python3 --version; sha256sum <"$requirements")
    if [[ ! -e $stamp || $(<"$stamp") != "$key" ]]; then
        rm -rf "$folder"
        "$3" "$requirements" "$folder" >&2
        printf '%s\n' "$key" >"$stamp"
    fi
    exec {lock}>&-
}

with_pip() {
    python3 -m venv "$2"
    "$2/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --no-compile --require-hashes -r "$1"
}

# Takes a tenth of pip's time.
with_uv() {
    python3 -m venv --without-pip "$2"
    build/uv-env/bin/uv pip install --quiet --python "$2/bin/python" --only-binary :all: --require-hashes -r "$1"
}

make scripts/requirements/uv.txt build/uv-env with_pip
make "$1" "$2" with_uv
echo "$2/bin/python"
