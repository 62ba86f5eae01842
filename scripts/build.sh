#!/usr/bin/env bash
# Configures and builds one CMake preset, all of it or some targets: scripts/build.sh PRESET [TARGET...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?usage: scripts/build.sh PRESET [TARGET...]}
shift

# For ccache, where there is one: clones in different folders share what was compiled.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros

cmake --preset "$preset"
cmake --build --preset "$preset" ${1:+--target "$@"}
