#!/usr/bin/env bash
# Configures and builds a CMake preset: scripts/build.sh PRESET [TARGET...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?usage: scripts/build.sh PRESET [TARGET...]}
shift

# Lets ccache share results between clones.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros

cmake --preset "$preset"
cmake --build --preset "$preset" ${1:+--target "$@"}
