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

# make REQUIREMENTS FOLDER INSTALL...: INSTALL adds the packages.
make() {
    local requirements=$1 stamp=$2/made-of key lock
    mkdir -p "$(dirname "$2")"
    exec {lock}>"$2.lock"
    flock "$lock"
    key=$(python3 --version; sha256sum <"$requirements")
    if [[ ! -e $stamp || $(<"$stamp") != "$key" ]]; then
        rm -rf "$2"
        "${@:3}" --quiet --only-binary :all: --require-hashes -r "$requirements" >&2
        printf '%s\n' "$key" >"$stamp"
    fi
    exec {lock}>&-
}

# uv takes a tenth of pip's time.
with_pip() {
    python3 -m venv "$uv_folder"
    "$uv_folder/bin/pip" install --disable-pip-version-check --no-compile "$@"
}
with_uv() {
    python3 -m venv --without-pip "$folder"
    "$uv_folder/bin/uv" pip install --python "$folder/bin/python" "$@"
}

uv_folder=build/uv-env
folder=$2
make scripts/requirements/uv.txt "$uv_folder" with_pip
make "$1" "$folder" with_uv
echo "$folder/bin/python"
