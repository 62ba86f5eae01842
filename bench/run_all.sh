#!/usr/bin/env bash
# Recreates tables and picture of docs/benchmarks from generated fields.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: bench/run_all.sh [--size small|medium|full] [--sdrbench FOLDER] [--real FOLDER] [--build BUILD] [--out OUT]
                        [--only TABLES]

Writes fields by bench/fields.py into OUT/fields-SIZE, measures every table of bench/tables.py that can be measured here
into OUT/results, and writes the pages of docs/benchmarks and their picture from these into OUT/pages. Tables that cannot
(other devices, peers for GPUs) stay as they are in bench/results, with the device and the date that they name.

  --size      of the fields (small: seconds; full, 512^3, for the tables of a GPU: hours and 12 GB of memory)
  --sdrbench  a folder of files of SDRBench, found by the names that they have there (bench/sdrbench.dims)
  --real      a folder of the fields that bench/results/fields_real.tsv lists
  --build     where cuszi is built (build/default)
  --out       (build/benchmarks)
  --only      tables, separated by commas
USAGE
}

size=small
out=build/benchmarks
options=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --size) size=${2?} ;;
        --out) out=${2?} ;;
        --sdrbench | --real | --build | --only) options+=("$1" "${2?}") ;;
        -h | --help) usage; exit 0 ;;
        *) echo "run_all.sh: unknown option $1; see --help" >&2; exit 1 ;;
    esac
    shift 2
done

python=$(scripts/python_env.sh scripts/requirements/peers.txt build/peers-venv)
fields=$out/fields-$size
if [[ ! -e $fields/complete ]]; then
    "$python" bench/fields.py "$fields" --size "$size"
    touch "$fields/complete"
fi
mkdir -p "$out/results"
cp bench/results/*.tsv "$out/results"
"$python" bench/tables.py "$fields" --out "$out" "${options[@]}"
"$python" bench/report.py --results "$out/results" --into "$out/pages"
