#!/usr/bin/env bash
# Tests bindings whose programs are too large for the default tests.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
    cat <<'USAGE'
Usage: scripts/test_doors.sh BUILD [DOOR...]

BUILD is a folder in which cuszi has been built. Each DOOR (default: all) is tested with the real
program, which is installed where it is missing:

  paraview  the plugin in ParaView (python3-paraview and xvfb of Debian, 1.2 GB)
  vtk       vtkCusziReader in VTK (from PyPI, 0.8 GB, in build/vtk-env)
  adios2    the operator plugin in bpls (built of ADIOS2's sources from PyPI in 3 minutes, in build/bpls)
  virtual   virtual Zarr by kerchunk, VirtualiZarr and Icechunk (from PyPI, 0.5 GB, in build/virtual-env)
  readers   compressed NetCDF files in CDO, NCO, R and Octave (cdo, nco, r-cran-ncdf4 and octave of Debian, 0.9 GB)
  browser   the decoder in Node and the page in headless Chromium (emscripten, nodejs and chromium of Debian, 1.2 GB)
USAGE
}

doors=(paraview vtk adios2 virtual readers browser)
[[ ${1-} != -h && ${1-} != --help ]] || { usage; exit 0; }
[[ $# -ge 1 ]] || { usage >&2; exit 1; }
build=$(cd "$1" && pwd)
shift
[[ $# -eq 0 ]] || doors=("$@")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

step() { printf '\n== %s\n' "$*"; }

# install PACKAGE...: those of Debian that are missing.
install() {
    local as_root=() installed
    # dpkg-query also finds packages that others merely name: their state tells.
    installed=$(dpkg-query -W -f '${db:Status-Abbrev}\n' "$@" 2>/dev/null | grep -c '^.i') || true
    [[ $installed -lt $# ]] || return 0
    [[ $EUID -eq 0 ]] || as_root=(sudo)
    "${as_root[@]}" apt-get -qq update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"
}

# package FOLDER: the Python package cuszi, without what it needs.
package() {
    local python
    [[ ! -d $1 ]] || return 0
    python=$("$root/scripts/python_env.sh" "$root/tests/python/requirements.txt" "$root/build/python-env")
    cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/install.log"
    "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-index \
        --no-build-isolation --config-settings "cmake.define.CUSZI_PREFIX=$scratch/prefix" \
        --wheel-dir "$scratch/wheel" "$root"
    "$python" -m zipfile -e "$scratch"/wheel/*.whl "$1"
}

test_paraview() {
    install python3-paraview paraview xvfb xauth
    package "$scratch/package"
    CUSZI_PLUGIN=$scratch/package/cuszi/cuszi_paraview.py \
        PYTHONPATH=$root/bindings/paraview/debian12:$scratch/package:$root/tests/paraview:$root/tests/python \
        xvfb-run -a -s "-noreset -screen 0 1280x1024x24" pvpython --force-offscreen-rendering "$root/tests/paraview/test_paraview.py"
}

test_vtk() {
    local python
    python=$("$root/scripts/python_env.sh" "$root/tests/paraview/requirements.txt" "$root/build/vtk-env")
    package "$scratch/package"
    PYTHONPATH=$scratch/package:$root/tests/paraview:$root/tests/python "$python" "$root/tests/paraview/test_vtk.py"
}

# make_bpls FOLDER: bpls, which ADIOS2's package of PyPI has not, of the same version.
make_bpls() {
    local python part options=(-DBUILD_TESTING=OFF -DADIOS2_BUILD_EXAMPLES=OFF "-DCMAKE_CXX_FLAGS=-O1")
    [[ ! -x $1/bin/bpls ]] || return 0
    python=$("$root/scripts/python_env.sh" "$root/tests/python/requirements.txt" "$root/build/python-env")
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-binary adios2 \
        --dest "$scratch" --require-hashes -r "$root/tests/adios2/requirements.txt"
    mkdir "$scratch/adios2"
    tar -xzf "$scratch"/adios2-*.tar.gz -C "$scratch/adios2" --strip-components 1
    for part in MPI Fortran Python SST DataMan HDF5 ZeroMQ Derived_Variable Campaign; do
        options+=("-DADIOS2_USE_$part=OFF")
    done
    cmake -S "$scratch/adios2" -B "$1" -G Ninja "${options[@]}" >"$scratch/bpls.log" 2>&1
    cmake --build "$1" --target bpls >>"$scratch/bpls.log"
}

test_adios2() {
    make_bpls "$root/build/bpls"
    PATH=$root/build/bpls/bin:$PATH "$root/scripts/test_python.sh" "$build" adios2/plugin 2>&1 | tee "$scratch/adios2.log"
    ! grep -q skipped "$scratch/adios2.log"
}

test_virtual() {
    local python
    python=$("$root/scripts/python_env.sh" "$root/tests/virtual/requirements.txt" "$root/build/virtual-env")
    package "$scratch/package"
    PYTHONPATH=$scratch/package:$root/tests/python "$python" "$root/tests/python/test_virtual.py" 2>&1 |
        tee "$scratch/virtual.log"
    ! grep -q skipped "$scratch/virtual.log"
}

test_readers() {
    local python
    install cdo nco r-cran-ncdf4 octave
    python=$("$root/scripts/python_env.sh" "$root/tests/python/requirements.txt" "$root/build/python-env")
    package "$scratch/package"
    CUSZI=$scratch/prefix/bin/cuszi HDF5_PLUGIN_PATH=$scratch/package/cuszi/plugin \
        "$python" "$root/tests/python/test_readers.py" 2>&1 | tee "$scratch/readers.log"
    ! grep -q skipped "$scratch/readers.log"
}

test_browser() {
    install emscripten chromium nodejs libfmt-dev libxxhash-dev
    "$root/scripts/build_browser.sh" "$root/build/browser"
    for part in decoder page; do
        CUSZI=$build/app/cuszi CUSZI_BROWSER=$root/build/browser node --test "$root/tests/browser/$part.test.mjs"
    done
}

for door in "${doors[@]}"; do
    [[ $(type -t "test_$door") == function ]] || { echo "test_doors.sh: no door $door; see --help" >&2; exit 1; }
    step "$door"
    "test_$door"
done
