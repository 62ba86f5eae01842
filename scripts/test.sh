#!/usr/bin/env bash
# Installs missing packages, builds, and runs all tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/test.sh [--no-install] [--quick] [--tidy]

Checks the formatting, builds, and runs the tests of the default and of the sanitizer build, a
smoke run of the fuzzers, the tests of threads under the thread sanitizer, the tests of the
scripts and of the documents, and builds their site.

  --no-install  do not install packages; stop if any is missing
  --quick       only the default build and its tests
  --tidy        also run clang-tidy

The fuzzers run for 30 seconds in all, or CUSZI_FUZZ_SECONDS. Fuzzers and clang-tidy are not run
again on what has passed before. Where no GPU is, the preset ci takes the place of default: device
code is checked, but not generated.
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
preset=default
if [[ ! -e /dev/nvidiactl ]]; then  # without a GPU, kernels are only checked
    preset=ci
    export CUDAARCHS=${CUDAARCHS:-80-virtual}
fi
source_folders=(app bench bindings codec core cpu_ref examples gpu include tests test_data)
# Python keeps no compiled files beside sources.
export PYTHONDONTWRITEBYTECODE='' PYTHONPYCACHEPREFIX=$PWD/build/pycache
passed_folder=$PWD/build/passed
export passed_folder
fuzz_seconds=${CUSZI_FUZZ_SECONDS:-30}

step() { printf '\n== %s\n' "$*"; }

# sources NAME_PATTERN...: project files that match a pattern.
sources() {
    local names=(-name "$1") folders=()
    for pattern in "${@:2}"; do names+=(-o -name "$pattern"); done
    for folder in "${source_folders[@]}"; do [[ ! -d $folder ]] || folders+=("$folder"); done
    find "${folders[@]}" -type f \( "${names[@]}" \) | sort
}

# once KEY COMMAND...: skips a command that passed under this key.
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
    output=$(clang-tidy-14 --quiet -p build/tidy "$1" 2>&1) || { echo "$output"; return 1; }
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
    cmake --preset tidy  # for compile_commands.json
    # Inputs of a check: rules, flags and headers.
    key=$(sources '*.h' '*.hpp' '*.cuh' | xargs -r cat .clang-tidy build/tidy/compile_commands.json |
        sha256sum)
    # Files that no build compiles have no flags.
    sources '*.cpp' | grep -v '^tests/' |
        while read -r file; do
            ! grep -qF "/$file\"" build/tidy/compile_commands.json || echo "$file"
        done |
        xargs -r -n 1 -P "$jobs" bash -c 'tidy_once "$@"' tidy_once "$key"
}

# Fuzzers: share of the time in sixteenths, largest input in bytes.
fuzzers=("archive 8 16384" "round_trip 3 1024" "field_name 1 256" "npy 1 256" "option_text 1 256" "zfp 1 1024" "zfp_header 1 1024")

# fuzz NAME SHARE BYTES: starts from earlier findings and the golden archives.
fuzz() {
    local corpus=build/asan/corpus/$1
    mkdir -p "$corpus"
    if [[ $1 == archive ]]; then
        build/asan/tests/make_seeds "$corpus" || return 1
        # Large uncoded archives would take most of the time.
        find test_data/golden -name '*.cuszi' -size -16k -not -name multilevel_padded.cuszi \
            -exec cp -t "$corpus" {} +
    fi
    ASAN_OPTIONS=max_allocation_size_mb=1024 \
        "build/asan/tests/fuzz_$1" -seed=1 -max_total_time=$(((fuzz_seconds * $2 + 15) / 16)) -timeout=60 \
        -rss_limit_mb=2048 -len_control=0 -max_len="$3" -print_final_stats=1 \
        -artifact_prefix="build/asan/$1-" "$corpus" 2>&1 |
        grep -v '^#.*\(NEW\|REDUCE\|pulse\|RELOAD\)\|NEW_FUNC\|# Uses:'
}

# The first fuzzer takes half of the time; the others run beside it.
smoke_fuzz() {
    local failed=0 first
    # shellcheck disable=SC2086  # three words
    fuzz ${fuzzers[0]} >build/fuzz.log 2>&1 &
    first=$!
    for fuzzer in "${fuzzers[@]:1}"; do
        # shellcheck disable=SC2086
        fuzz $fuzzer || failed=1
    done
    wait "$first" || failed=1
    cat build/fuzz.log
    return "$failed"
}

step "Packages"
if [[ $quick == yes ]]; then
    scripts/install_deps.sh "${install_options[@]}"
else
    scripts/install_deps.sh --dev "${install_options[@]}"
    step "Formatting"
    check_format
fi

if [[ $quick == yes ]]; then
    step "Build: $preset"
    scripts/build.sh "$preset"
    step "Tests: $preset"
    ctest --preset "$preset" -j "$jobs"
    exit
fi

# Frame pipeline, thread pool, and contexts in several threads.
run_tsan() {
    TSAN_OPTIONS=halt_on_error=1:die_after_fork=0 build/tsan/tests/thread_tests &&
        TSAN_OPTIONS=halt_on_error=1:die_after_fork=0 build/tsan/tests/library_tests \
            "threads with a context each*,batches*,*pending*,*without waiting*"
}

check_tsan() {
    step "Build: tsan"
    scripts/build.sh tsan || return
    step "Tests: tsan"
    once "$(sha256sum build/tsan/tests/{thread,library}_tests build/tsan/lib*/libcuszi.so.1)" run_tsan
}

check_asan() {
    step "Build: asan"
    scripts/build.sh asan || return
    step "Tests: asan"
    ctest --preset asan -j "$jobs" || return
    step "Fuzzing"
    once "$fuzz_seconds $(sha256sum build/asan/tests/fuzz_*)" smoke_fuzz
}

check_sanitized() { check_asan && check_tsan; }

# Tests of plots, with their packages.
test_drawings() {
    local python tool
    python=$(scripts/python_env.sh tests/python/requirements.txt build/python-env) || return
    python=$(realpath -s "$python") tool=$(realpath "build/$preset/app/cuszi")
    (cd tests/scripts && CUSZI=$tool "$python" -m unittest test_analysis test_contours test_batch test_compare_peers)
}

test_conda_recipe() {
    local python
    python=$(scripts/python_env.sh scripts/requirements/conda.txt build/conda-env) || return
    "$python" -m unittest discover -s tests/scripts -p test_conda.py
}

check_default() {
    step "Build: $preset"
    scripts/build.sh "$preset" || return
    step "Tests of the scripts"
    python3 -m unittest discover -s tests/scripts || return
    test_drawings || return
    test_conda_recipe || return
    step "Documents"
    python3 -m unittest discover -s tests/docs -p test_pages.py || return
    scripts/build_docs.sh || return
    step "Tests: $preset"
    ctest --preset "$preset" -j "$jobs"
}

# Concurrently, to use all cores.
mkdir -p build
set -m  # own process group, to kill it as a whole
check_sanitized >build/sanitized.log 2>&1 &
sanitized=$!
set +m
trap 'kill -- "-$sanitized" 2>/dev/null || true' EXIT
failed=0
check_default || failed=$?
wait "$sanitized" || failed=$?
cat build/sanitized.log
if [[ $tidy == yes ]]; then
    step "clang-tidy"
    check_tidy || failed=$?
fi
exit "$failed"
