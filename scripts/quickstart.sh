#!/usr/bin/env bash
# From a fresh clone to a verified archive.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/quickstart.sh [--no-install] [--prefix FOLDER]

Installs what is missing, builds the tool in build/default, makes a sample field in build/sample,
compresses it under a relative error bound of 1e-3, verifies, restores and compares it.

CUDA code is compiled for the GPU that is here. Without one it is left in a form that the driver of
any GPU from 8.0 on compiles at its first use, which saves most of the build; CUDAARCHS=90 compiles
it for compute capability 9.0 here.

  --no-install     do not install packages; stop if any is missing
  --prefix FOLDER  also put the tool into FOLDER/bin, with its man page and completions into
                   FOLDER/share; ~/.local needs no administrator
USAGE
}

install_options=()
prefix=
while [[ $# -gt 0 ]]; do
    case $1 in
        --no-install) install_options+=("$1") ;;
        --prefix) prefix=${2:?"quickstart.sh: --prefix needs a folder"}; shift ;;
        --prefix=*) prefix=${1#*=} ;;
        -h | --help) usage; exit 0 ;;
        *) echo "quickstart.sh: unknown option $1; see --help" >&2; exit 1 ;;
    esac
    shift
done

cuszi=build/default/app/cuszi
field=build/sample/smooth_64x96x128.f32

step() { printf '\n== %s\n' "$*"; }
run() {
    printf '$ %s\n' "$*"
    "$@"
}

step "Packages"
scripts/install_deps.sh "${install_options[@]}"

step "Build"
[[ -e /dev/nvidiactl ]] || export CUDAARCHS=${CUDAARCHS:-80-virtual}
scripts/build.sh default cuszi make_field

step "A sample field of 64 x 96 x 128 values"
mkdir -p build/sample
run build/default/test_data/make_field smooth 64x96x128 f32 1 "$field"

step "Compress and verify"
run "$cuszi" compress "$field" -e 1e-3 --verify --force

step "Restore and compare"
run "$cuszi" decompress "$field.cuszi" --compare "$field" --force

if [[ -n $prefix ]]; then
    step "Install"
    cmake --install build/default --prefix "$prefix" --component tool
    bin=$(cd "$prefix/bin" && pwd)
else
    bin=$PWD/build/default/app
fi

echo
if [[ $(command -v cuszi || true) == "$bin/cuszi" ]]; then
    echo "From anywhere: cuszi --help"
else
    echo "The tool is $bin/cuszi. To call it from anywhere, put this into ~/.bashrc:"
    echo "  export PATH=\"$bin:\$PATH\""
    [[ -n $prefix ]] || echo "or install it: scripts/quickstart.sh --prefix ~/.local"
fi
