#!/usr/bin/env python3
"""Measure every preset and effort on a CPU: ratios over a folder of fields, speed and memory on one field.

Writes a table for bench/report.py. Speeds are bytes of the field over the user CPU time of whole commands
on one thread, so that other work on the machine matters little; memory is the largest resident set.
"""

import argparse
import datetime
import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import geometric_mean

from common import processor, version_of

METHODS = [("ratio", "fast"), ("ratio", "normal"), ("balanced", "-"), ("fast", "-"), ("cuszi", "-"), ("cusz", "-"),
           ("zfp", "-")]
BOUNDS = ["1e-2", "1e-3", "1e-4"]


def run(command):
    """Runs a command; the user CPU seconds that it took, and its largest resident set in bytes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"presets.py: {' '.join(map(str, command))} failed")
    return usage.ru_utime, usage.ru_maxrss * 1024


def fills_of(field):
    """Options for the fill value of a field whose name tells that it has one."""
    return ["--fill-value", "1e20"] if field.name.startswith("tos") or "_fill1e20_" in field.name else []


def ratio(cuszi, fields, options, archive):
    """The geometric mean of the ratios of some fields."""
    ratios = []
    for field in fields:
        run([cuszi, "compress", field, *options, *fills_of(field), "--quiet", "--force", "-o", archive])
        ratios.append(field.stat().st_size / archive.stat().st_size)
    return geometric_mean(ratios)


def measure(cuszi, fields, large, folder):
    archive, restored = folder / "x.cuszi", folder / "x.f32"
    where = ["--device", "cpu", "--threads", "1"]
    size = large.stat().st_size
    for preset, effort in METHODS:
        options = ["--preset", preset, *(["--effort", effort] if effort != "-" else []), *where]
        ratios = [ratio(cuszi, fields, ["-e", bound, *options], archive) for bound in BOUNDS]
        there, memory = run([cuszi, "compress", large, "-e", "1e-3", *options, "-q", "-f", "-o", archive])
        back, _ = run([cuszi, "decompress", archive, *where, "-q", "-f", "-o", restored])
        yield [preset, effort, *(f"{value:.2f}" for value in ratios), f"{size / there / 1e6:.0f}",
               f"{size / back / 1e6:.0f}", f"{memory / size:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of raw fields whose names end in dims, like bench/results/fields_real.tsv")
    parser.add_argument("large", type=Path, help="the field whose speed and memory are measured")
    parser.add_argument("--cuszi", default="cuszi", help="the tool")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.tsv")
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measure(parsed.cuszi, sorted(parsed.folder.glob("*.f32")), parsed.large, Path(folder)))
    head = ["# title: Every preset and effort on one thread",
            f"# device: One thread of {processor()}; {version_of(parsed.cuszi)}",
            f"# date: {datetime.date.today()}",
            f"# command: bench/presets.py FOLDER {parsed.large.name} --out bench/results/presets_efforts_cpu.tsv",
            "# about: Ratios are geometric means of the 19 real fields; speed and memory are those of whole commands on a "
            "rough field at 1e-3.",
            "# note: Speeds are bytes over the user CPU time of whole "
            f"commands on {parsed.large.name} at 1e-3; memory is the largest resident set when compressing it, in "
            "multiples of the field."]
    columns = ["preset", "effort", *(f"ratio at {bound}" for bound in BOUNDS), "compress MB/s", "decompress MB/s",
               "memory / field"]
    parsed.out.write_text("\n".join([*head, *map("\t".join, [columns, *rows])]) + "\n", encoding="utf-8")
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
