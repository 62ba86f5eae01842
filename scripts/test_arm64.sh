#!/usr/bin/env bash
# Cross-compiles for 64-bit ARM and runs tests under qemu.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/test_arm64.sh [--no-install] [--full]

On Debian 12: installs the cross compiler and qemu, unpacks the libraries of a Debian for arm64 into build/arm64-root
(nothing of it is installed), builds the preset arm64, and runs under qemu the golden archives, which have to restore
to the same values and to be made again byte for byte, and the archives of released versions, the tests of steps, of codec and of the library.

  --no-install  do not install packages of this machine
  --full        also the rooms property and damage: hours
USAGE
}

install=yes
rooms=(codec compat library unit)
for argument in "$@"; do
    case $argument in
        --no-install) install=no ;;
        --full) rooms+=(property damage) ;;
        -h | --help) usage; exit 0 ;;
        *) echo "test_arm64.sh: unknown option $argument; see --help" >&2; exit 1 ;;
    esac
done

root=$PWD/build/arm64-root
build=$PWD/build/arm64
libraries=(libc6-dev libstdc++-12-dev libcli11-dev libfmt-dev libspdlog-dev catch2 nlohmann-json3-dev libxxhash-dev
    libzstd-dev libhdf5-dev libnetcdf-dev libzfp-dev)

as_root=()
[[ $EUID -eq 0 ]] || as_root=(sudo)
if [[ $install == yes ]]; then
    scripts/install_deps.sh
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        g++-aarch64-linux-gnu qemu-user mmdebstrap >/dev/null
fi
if [[ ! -e $root/complete ]]; then
    rm -rf "$root"
    (IFS=,; mmdebstrap --quiet --architectures=arm64 --variant=extract --include="${libraries[*]}" bookworm "$root")
    touch "$root/complete"
fi

cmake --preset arm64
cmake --build --preset arm64 -j "$(nproc)"

# Wrapper scripts for programs that start others by path.
mkdir -p "$build/emulated"
emulated() { # NAME PROGRAM
    printf '#!/bin/sh\nexec qemu-aarch64 -L "%s" "%s" "$@"\n' "$root" "$2" >"$build/emulated/$1"
    chmod +x "$build/emulated/$1"
    echo "$build/emulated/$1"
}
file -b "$build/app/cuszi" | grep -q 'ARM aarch64'
CUSZI=$(emulated cuszi "$build/app/cuszi")
MAKE_FIELD=$(emulated make_field "$build/test_data/make_field")
SLOW_DECODER=$(emulated slow_decoder "$build/tests/slow_decoder")
export CUSZI MAKE_FIELD SLOW_DECODER OMP_NUM_THREADS=2
echo "== golden"
PYTHONDONTWRITEBYTECODE=1 python3 tests/golden/test_golden.py
# qemu 7.2 fails when a threaded process forks, and its times mean nothing.
tests='~"a forked child*" ~"threads that wait*" ~"threads sleep*"'
for room in "${rooms[@]}"; do
    echo "== $room"
    "$(emulated "${room}_tests" "$build/tests/${room}_tests")" "$tests"
done
