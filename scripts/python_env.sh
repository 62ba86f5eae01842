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
requirements=$1
folder=$2
stamp=$folder/made-of
mkdir -p "$(dirname "$folder")"
exec {lock}>"$folder.lock"
flock "$lock"
key=$(python3 --version; sha256sum <"$requirements")

if [[ ! -e $stamp || $(<"$stamp") != "$key" ]]; then
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
        --no-compile --require-hashes -r "$requirements" >&2
    printf '%s\n' "$key" >"$stamp"
fi
echo "$folder/bin/python"
