#!/usr/bin/env python3
"""Compares preset `balanced` with SZ3 on one thread of a CPU.

Fields are raw files of float32 with three extents in their names, slowest first. Prints a table for bench/results.

scripts/python_env.sh scripts/requirements/peers.txt build/peers-env prints a Python that has all but the tool.
"""

import datetime
import os
import resource
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

from pysz import sz, szConfig, szErrorBoundMode

from common import finite_fields, processor, take_over_output, tool_and_folder, version_of

BOUNDS = ("1e-2", "1e-3", "1e-4")
RUNS = 5


def least_user_time(command):
    """User CPU seconds of the fastest run of a command."""
    times = []
    for _ in range(RUNS):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"sz3.py: {' '.join(map(str, command))} failed")
        times.append(usage.ru_utime)
    return min(times)


def least_own_time(call):
    """User CPU seconds of the fastest of some calls, and what it returns."""
    times = []
    for _ in range(RUNS):
        start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        result = call()
        times.append(resource.getrusage(resource.RUSAGE_SELF).ru_utime - start)
    return min(times), result


def by_cuszi(tool, path, bound):
    where = ["--threads", "1", "--device", "cpu", "-q", "-f"]
    with tempfile.TemporaryDirectory() as folder:
        archive, restored = Path(folder) / "field.cuszi", Path(folder) / "field.f32"
        there = least_user_time([tool, "compress", path, "-e", bound, "--preset", "balanced", *where, "-o", archive])
        back = least_user_time([tool, "decompress", archive, *where, "-o", restored])
        return archive.stat().st_size, there, back


def by_sz3(values, bound):
    config = szConfig(*values.shape)
    config.errorBoundMode = szErrorBoundMode.ABS
    config.absErrorBound = float(bound) * float(values.max() - values.min())
    config.openmp = False
    there, (archive, _) = least_own_time(lambda: sz.compress(values, config))
    back, _ = least_own_time(lambda: sz.decompress(archive, values.dtype, values.shape))
    return len(archive), there, back


def print_head(tool, path, table):
    print(f"""# title: Preset `balanced` beside SZ3 on one thread
# device: One thread of {processor()}; {tool}; SZ3 by pysz {version("pysz")}
# date: {datetime.date.today()}
# command: scripts/python_env.sh scripts/requirements/peers.txt build/peers-env
# command: build/peers-env/bin/python bench/sz3.py {path} FOLDER > bench/results/sz3_cpu.tsv
# about: Ratio: compression / decompression in MB/s of user CPU time.
# note: The least of {RUNS} runs: whole commands of the tool, calls of SZ3 on arrays in memory. Bounds are shares of the range.
# across: codec
# cell: {{ratio}}: {{compress MB/s}} / {{decompress MB/s}}
# mean: none {{:.3g}}
field\tbound\tcodec\tratio\tcompress MB/s\tdecompress MB/s""", file=table)


def main():
    tool, folder = tool_and_folder(__doc__)
    table = take_over_output()
    print_head(version_of(tool), os.path.relpath(tool), table)
    for path, name, values in finite_fields(folder):
        for bound in BOUNDS:
            for codec, (size, there, back) in (("balanced", by_cuszi(tool, path, bound)), ("SZ3", by_sz3(values, bound))):
                print(name, bound, codec, f"{values.nbytes / size:.2f}", f"{values.nbytes / there / 1e6:.0f}",
                      f"{values.nbytes / back / 1e6:.0f}", sep="\t", file=table)


if __name__ == "__main__":
    main()
