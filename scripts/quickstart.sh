#!/usr/bin/env bash
# From a fresh clone to a verified archive: installs, builds, compresses a sample field, restores it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/quickstart.sh [--no-install]

Installs what is missing, builds cuszi in build/default, makes a sample field in build/sample,
compresses it under a relative error bound of 1e-3, verifies, restores and compares it.

  --no-install  do not install packages; stop if any is missing
USAGE
}

install_options=()
for argument in "$@"; do
    case $argument in
        --no-install) install_options+=("$argument") ;;
        -h | --help) usage; exit 0 ;;
        *) echo "quickstart.sh: unknown option $argument; see --help" >&2; exit 1 ;;
    esac
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
scripts/build.sh default

step "A sample field of 64 x 96 x 128 values"
mkdir -p build/sample
run build/default/test_data/make_field smooth 64x96x128 f32 1 "$field"

step "Compress and verify"
run "$cuszi" compress "$field" -e 1e-3 --verify --force

step "Restore and compare"
run "$cuszi" decompress "$field.cuszi" --compare "$field" --force

printf '\nThe tool is %s; its options: %s --help\n' "$cuszi" "$cuszi"
