#!/usr/bin/env bash
# Configures and builds one CMake preset: scripts/build.sh PRESET
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?usage: scripts/build.sh PRESET}

# For ccache, where there is one: clones in different folders share what was compiled.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

cmake --preset "$preset"
cmake --build --preset "$preset"
