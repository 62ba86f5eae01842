#!/usr/bin/env bash
# Installs the Python package's wheel in a fresh environment and runs tests.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
    cat <<'USAGE'
Usage: scripts/test_python.sh BUILD SUBJECT...

BUILD is a folder in which cuszi has been built; the tests are tests/python/test_SUBJECT.py, or of a
SUBJECT like docs/blocks tests/docs/test_blocks.py. Packages from PyPI are kept in build/python-env.
USAGE
}

[[ $# -ge 2 ]] || { usage >&2; exit 1; }
build=$1
packages=$("$root/scripts/python_env.sh" "$root/tests/python/requirements.txt" \
    "$root/build/python-env")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/install.log"
uv=$root/build/uv-env/bin/uv
"$uv" build --quiet --wheel --no-build-isolation --offline --python "$packages" \
    --config-setting "cmake.define.CUSZI_PREFIX=$scratch/prefix" --out-dir "$scratch/wheel" "$root"

# Shares the packages, except the one to test.
python3 -m venv --without-pip "$scratch/fresh"
fresh=$scratch/fresh/bin/python
site=$("$fresh" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$packages" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/packages.pth"
"$uv" pip install --quiet --python "$fresh" --no-deps --no-index "$scratch"/wheel/*.whl

cd "$scratch"
export CUSZI=$scratch/prefix/bin/cuszi CUSZI_SOURCE=$root PATH=$scratch/fresh/bin:$PATH
for subject in "${@:2}"; do
    [[ $subject == */* ]] || subject=python/$subject
    "$fresh" "$root/tests/${subject%/*}/test_${subject##*/}.py" -q
done
