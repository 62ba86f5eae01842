#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/test.sh [--no-install] [--quick] [--tidy]

Checks the formatting, builds, and runs the tests of the default and of the sanitizer build, a
smoke run of the archive fuzzer, and the tests of the scripts.

  --no-install  do not install packages; stop if any is missing
  --quick       only build the default preset and run its tests
  --tidy        also run clang-tidy

The fuzzer runs for 60 seconds, or CUSZI_FUZZ_SECONDS. The fuzzer and clang-tidy are not run again
on what has passed before.
USAGE
}

install_options=()
quick=no
tidy=no
for argument in "$@"; do
    case $argument in
        --no-install) install_options+=("$argument") ;;
        --quick) quick=yes ;;
        --tidy) tidy=yes ;;
        -h | --help) usage; exit 0 ;;
        *) echo "test.sh: unknown option $argument; see --help" >&2; exit 1 ;;
    esac
done

jobs=$(nproc)
# One architecture is enough to test, and takes a fifth of the time of all.
export CUDAARCHS=${CUDAARCHS:-90}
source_folders=(app bindings codec core cpu_ref gpu include tests test_data)
passed_folder=$PWD/build/passed
export passed_folder
fuzz_seconds=${CUSZI_FUZZ_SECONDS:-60}

step() { printf '\n== %s\n' "$*"; }

# sources NAME_PATTERN...: the files of the project whose names match one of the patterns.
sources() {
    local names=(-name "$1") folders=()
    for pattern in "${@:2}"; do names+=(-o -name "$pattern"); done
    for folder in "${source_folders[@]}"; do [[ ! -d $folder ]] || folders+=("$folder"); done
    find "${folders[@]}" -type f \( "${names[@]}" \) | sort
}

# once KEY COMMAND...: runs the command unless it has passed before under this key.
once() {
    local stamp
    stamp=$passed_folder/$(sha256sum <<<"$*" | cut -c1-32)
    if [[ -e $stamp ]]; then
        echo "unchanged since it passed: ${*:2}"
    else
        "${@:2}" && mkdir -p "$passed_folder" && touch "$stamp"
    fi
}

tidy_file() { # FILE
    local output
    output=$(clang-tidy-14 --quiet -p build/default "$1" 2>&1) || { echo "$output"; return 1; }
}

tidy_once() { # KEY FILE
    once "$1 $(sha256sum "$2")" tidy_file "$2"
}
export -f once tidy_file tidy_once

check_format() {
    sources '*.c' '*.cpp' '*.h' '*.hpp' '*.cu' '*.cuh' | xargs -r clang-format-14 --dry-run -Werror
}

check_tidy() {
    local key
    # What a file is compiled with: the checks, the flags and every header.
    key=$(sources '*.h' '*.hpp' '*.cuh' | xargs -r cat .clang-tidy build/default/compile_commands.json |
        sha256sum)
    # A file that no build compiles (CUDA code in a build without it) has no flags to check it with.
    sources '*.cpp' | grep -v '^tests/' |
        while read -r file; do
            ! grep -qF "/$file\"" build/default/compile_commands.json || echo "$file"
        done |
        xargs -r -n 1 -P "$jobs" bash -c 'tidy_once "$@"' tidy_once "$key"
}

smoke_fuzz() {
    local corpus=build/asan/corpus
    mkdir -p "$corpus"
    find test_data/golden -name '*.cuszi' -exec cp -t "$corpus" {} +
    build/asan/tests/fuzz_archive -seed=1 -max_total_time="$fuzz_seconds" -timeout=60 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix=build/asan/ "$corpus" 2>&1 |
        grep -v '^#.*\(NEW\|REDUCE\|pulse\)\|NEW_FUNC'
}

step "Packages"
if [[ $quick == yes ]]; then
    scripts/install_deps.sh "${install_options[@]}"
else
    scripts/install_deps.sh --dev "${install_options[@]}"
    step "Formatting"
    check_format
fi

step "Build: default"
scripts/build.sh default

if [[ $quick == no ]]; then
    step "Tests of the scripts"
    python3 -m unittest discover -s tests/scripts

    if [[ $tidy == yes ]]; then
        step "clang-tidy"
        check_tidy
    fi

    step "Build: asan"
    scripts/build.sh asan
    step "Tests: asan"
    ctest --preset asan -j "$jobs"
fi

step "Tests: default"
if [[ $quick == yes ]]; then
    ctest --preset default -j "$jobs"
    exit
fi

echo "with the archive reader being fuzzed for $fuzz_seconds s beside them"
once "$fuzz_seconds $(sha256sum build/asan/tests/fuzz_archive)" smoke_fuzz >build/fuzz.log 2>&1 &
fuzzer=$!
tests=0
ctest --preset default -j "$jobs" || tests=$?
fuzzing=0
wait "$fuzzer" || fuzzing=$?
step "Fuzzing"
cat build/fuzz.log
exit $((tests | fuzzing))
