#!/usr/bin/env bash
# Lists functions reading archives and .npy files that a fuzzing corpus never reaches.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/fuzz_coverage.sh [CORPUS...]

Replays the archives of these folders (default: the seeds, the golden archives, and what
scripts/test.sh has left in build/asan/corpus/archive) in a build that counts, then headers of .npy
files, and names the readers' functions that none of them reached, with file and line. Exit code 1 if there is one that
tests/fuzz/not_reached.txt does not excuse, or an excuse that is no longer needed.

The line-by-line report is build/coverage/lines.txt. Needs clang and llvm (Debian: clang, llvm).

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
scripts/build.sh coverage replay_archive replay_npy make_seeds >build/coverage.log 2>&1 || {
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

# Seeds for fuzz_npy; any bytes work.
headers=(build/coverage/headers)
mkdir -p "${headers[0]}"
for i in {1..300}; do sha256sum <<<"$i" >"${headers[0]}/$i"; done
[[ ! -d build/asan/corpus/npy ]] || headers+=(build/asan/corpus/npy)

programs=(build/coverage/tests/replay_archive -object build/coverage/tests/replay_npy)
merged=build/coverage/merged.profdata
LLVM_PROFILE_FILE=build/coverage/archive.profraw build/coverage/tests/replay_archive "${corpora[@]}"
LLVM_PROFILE_FILE=build/coverage/npy.profraw build/coverage/tests/replay_npy "${headers[@]}"
"$profdata" merge -sparse build/coverage/archive.profraw build/coverage/npy.profraw -o "$merged"
rooms=(core cpu_ref codec)
"$cov" show "${programs[@]}" -instr-profile="$merged" "${rooms[@]}" >build/coverage/lines.txt
"$cov" export "${programs[@]}" -instr-profile="$merged" "${rooms[@]}" |
    scripts/unreached.py --excuses tests/fuzz/not_reached.txt --demangle "$cxxfilt"
