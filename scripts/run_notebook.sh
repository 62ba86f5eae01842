#!/usr/bin/env bash
# Executes examples/choose_a_bound.ipynb with nbconvert; writes a notebook and a page.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/run_notebook.sh BUILD [FOLDER]

BUILD is a folder in which cuszi has been built. Writes FOLDER/choose_a_bound.ipynb and .html (FOLDER: build/notebook); fails
where a cell does. scripts/build_docs.sh shows the former on the site. Packages from PyPI are kept in build/notebook-env.
USAGE
}

[[ $# -ge 1 && $1 != -* ]] || { usage >&2; exit 1; }
build=$1
folder=${2:-build/notebook}
python=$PWD/$(scripts/python_env.sh scripts/requirements/notebook.txt build/notebook-env)
library=$(find "$build" -name libcuszi.so.1 | head -n 1)
[[ -n $library ]] || { echo "run_notebook.sh: no libcuszi.so.1 in $build" >&2; exit 1; }
mkdir -p "$folder"
# The sources' package with the build's library.
CUSZI_LIBRARY=$(realpath "$library") PYTHONPATH=$PWD/bindings/python PYTHONDONTWRITEBYTECODE=1 \
    "$python" -m nbconvert --execute --to notebook --output-dir "$folder" --log-level WARN examples/choose_a_bound.ipynb
"$python" -m nbconvert --to html --log-level WARN "$folder/choose_a_bound.ipynb"
echo "The page is $folder/choose_a_bound.html."
