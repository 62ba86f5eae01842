#!/usr/bin/env bash
# Compares a GPU with the CPU: its tests, and archives byte for byte.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/check_device.sh [--build FOLDER] [--device cuda:N] [--no-tests] FOLDER

Runs the tests of the CUDA backend, under compute-sanitizer too where that is installed, and
compresses every field of FOLDER (dims and type in the names) on the GPU and on the CPU: under
presets ratio, balanced, fast and zfp, cusz and cuszi with codeword units of 32 and 64 bits, and bounds 1e-2, 1e-3
and 1e-4. Both archives must have the same bytes, and each side must restore the same values from them. A unit of
32 bits that a codeword does not fit is counted as refused if both sides refuse it.

  --build FOLDER   where cuszi was built (default build/default)
  --device cuda:N  which GPU (default cuda)
  --no-tests       only compare archives

Exits with 1 if anything differs or fails.
USAGE
}

build=build/default
device=cuda
tests=yes
fields=
while [[ $# -gt 0 ]]; do
    case $1 in
        --build) build=$2; shift ;;
        --device) device=$2; shift ;;
        --no-tests) tests=no ;;
        -h | --help) usage; exit 0 ;;
        -*) echo "check_device.sh: unknown option $1; see --help" >&2; exit 1 ;;
        *) fields=$1 ;;
    esac
    shift
done
[[ -d $fields ]] || { usage >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cuszi=$build/app/cuszi

run_tests() {
    "$build/tests/gpu_tests" "[gpu]" | tail -n 3
    command -v compute-sanitizer >/dev/null || return 0
    sanitize memcheck "[checker]"
    sanitize racecheck "[checker]~damaged*"
}

sanitize() { # TOOL TESTS
    echo "$1:"
    compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/gpu_tests" "$2" | grep 'SUMMARY\|assertions'
}

# compress DEVICE OUTPUT FIELD OPTIONS...: quiet; returns the tool's exit code.
compress() { "$cuszi" compress "$3" "${@:4}" --device "$1" -o "$2" --force --quiet >/dev/null 2>&1; }

restore() { "$cuszi" decompress "$2" --device "$1" -o "$3" --force --quiet >/dev/null 2>&1; }

# verdict FIELD OPTIONS...: equal, refused or different.
verdict() {
    local here=0 there=0
    compress cpu "$work/cpu.cuszi" "$@" || here=$?
    compress "$device" "$work/gpu.cuszi" "$@" || there=$?
    if [[ $here -ne 0 && $here -eq $there ]]; then
        echo refused
    elif [[ $here -eq 0 && $there -eq 0 ]] && cmp -s "$work/cpu.cuszi" "$work/gpu.cuszi" &&
        restore cpu "$work/cpu.cuszi" "$work/cpu.out" &&
        restore "$device" "$work/cpu.cuszi" "$work/gpu.out" &&
        cmp -s "$work/cpu.out" "$work/gpu.out"; then
        echo equal
    else
        echo different
    fi
}

[[ $tests == no ]] || run_tests
declare -A count=([equal]=0 [refused]=0 [different]=0)
for field in "$fields"/*.f32 "$fields"/*.f64; do
    [[ -e $field ]] || continue
    for preset in ratio balanced fast zfp "cusz --huffman-width "{32,64} "cuszi --huffman-width "{32,64}; do
        for bound in 1e-2 1e-3 1e-4; do
            # shellcheck disable=SC2206  # several words
            options=(--preset $preset -e "$bound")
            result=$(verdict "$field" "${options[@]}")
            count[$result]=$((count[$result] + 1))
            [[ $result != different ]] || echo "different: $field ${options[*]}"
        done
    done
done
echo "${count[equal]} equal, ${count[refused]} refused by both, ${count[different]} different"
[[ ${count[different]} -eq 0 && ${count[equal]} -gt 0 ]]
