#!/usr/bin/env bash
# Names the functions that read archives and that a fuzzing corpus has never reached.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/fuzz_coverage.sh [CORPUS...]

Replays the archives of these folders (default: the seeds, the golden archives, and what
scripts/test.sh has left in build/asan/corpus/archive) in a build that counts, and names the reader's
functions that none of them reached, with file and line. Exit code 1 if there is one that
tests/fuzz/not_reached.txt does not excuse, or an excuse that is no longer needed.

The line-by-line report is build/coverage/archive.txt. Needs clang and llvm (Debian: clang, llvm).

Example:
  scripts/fuzz_coverage.sh /tmp/corpus
USAGE
}

[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }

# tool NAME: llvm's NAME, of the version of clang where that is known.
tool() {
    local version
    version=$(clang --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p' | head -n 1)
    command -v "$1-$version" || command -v "$1" || {
        echo "fuzz_coverage.sh: $1 is missing; run: apt-get install llvm" >&2
        exit 1
    }
}
profdata=$(tool llvm-profdata)
cov=$(tool llvm-cov)
cxxfilt=$(tool llvm-cxxfilt)

mkdir -p build
scripts/build.sh coverage replay_archive make_seeds >build/coverage.log 2>&1 || {
    cat build/coverage.log
    exit 1
}

corpora=("$@")
if [[ $# -eq 0 ]]; then
    mkdir -p build/coverage/seeds
    LLVM_PROFILE_FILE=/dev/null build/coverage/tests/make_seeds build/coverage/seeds
    corpora=(build/coverage/seeds)
    mapfile -t -O 1 corpora < <(find test_data/golden -name '*.cuszi' | sort)
    [[ ! -d build/asan/corpus/archive ]] || corpora+=(build/asan/corpus/archive)
fi

profile=build/coverage/archive.profraw
merged=build/coverage/archive.profdata
LLVM_PROFILE_FILE=$profile build/coverage/tests/replay_archive "${corpora[@]}"
"$profdata" merge -sparse "$profile" -o "$merged"
rooms=(core cpu_ref codec)
"$cov" show build/coverage/tests/replay_archive -instr-profile="$merged" "${rooms[@]}" \
    >build/coverage/archive.txt
"$cov" export build/coverage/tests/replay_archive -instr-profile="$merged" "${rooms[@]}" |
    scripts/unreached.py --excuses tests/fuzz/not_reached.txt --demangle "$cxxfilt"
