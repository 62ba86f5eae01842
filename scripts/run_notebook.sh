#!/usr/bin/env bash
# Executes the notebooks of examples with nbconvert; writes notebooks and pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/run_notebook.sh BUILD [FOLDER]

BUILD is a folder in which cuszi has been built. Writes each notebook of examples to FOLDER (build/notebook), with what its
cells print and draw, and as a page; fails where a cell does. scripts/build_docs.sh shows choose_a_bound on the site. Packages
from PyPI are kept in build/notebook-env.
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
    "$python" -m nbconvert --execute --to notebook --output-dir "$folder" --log-level WARN examples/*.ipynb examples/notebooks/*.ipynb
"$python" -m nbconvert --to html --log-level WARN "$folder"/*.ipynb
echo "The pages are in $folder."
