#!/usr/bin/env bash
# Builds the site in build/site; fails on warnings and broken links.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/build_docs.sh [--serve]

Builds build/site from docs and README.md with MkDocs Material, which comes from PyPI into
build/docs-env, and the reference of the C API with Doxygen. Where build/default has the library, the example
notebook is run by it and shown with its pictures, else without.

  --serve  show it at http://127.0.0.1:8000 and build again after changes
USAGE
}

command=(build --strict)  # MkDocs counts no warnings with --quiet
case ${1:-} in
    --serve) command=(serve) ;;
    -h | --help) usage; exit 0 ;;
    '') ;;
    *) echo "build_docs.sh: unknown option $1; see --help" >&2; exit 1 ;;
esac

python=$(scripts/python_env.sh scripts/requirements/docs.txt build/docs-env)
export NO_MKDOCS_2_WARNING=1
"$python" bench/report.py --check
[[ -z $(find build/default -name libcuszi.so.1 2>/dev/null) ]] || scripts/run_notebook.sh build/default
PYTHONDONTWRITEBYTECODE=1 "$python" -m mkdocs "${command[@]}"
[[ ${command[0]} == serve ]] || echo "The site is build/site/index.html."
