#!/usr/bin/env python3
"""Measures what the size of chunks costs, as HDF5 and Zarr make them, and prints it as a table.

Needs the package `cuszi`. Fields are raw files of float32 with their dims in their names, slowest first, like
T_50x100x100.f32. Every chunk is an archive, under the same absolute bound: a share of the field's range.
Numbers are geometric means over the fields; times are the least CPU time of three runs, in relation to that
of whole fields.
"""

import argparse
import itertools
import math
import re
import sys
import time
from pathlib import Path

import numpy as np

RUNS = 3


def read_field(path):
    dims = re.search(r"_(\d+(?:x\d+)*)\.f32$", path.name)
    if dims is None:
        sys.exit(f"measure_chunks.py: no dims in the name {path.name}; expected one like T_50x100x100.f32")
    return np.fromfile(path, "f4").reshape(tuple(map(int, dims[1].split("x"))))


def chunk_shape(shape, most_bytes):
    """At most so many bytes of f32: the longest axis is halved until they are."""
    chunk = list(shape)
    while math.prod(chunk) * 4 > most_bytes:
        longest = max(range(len(chunk)), key=chunk.__getitem__)
        chunk[longest] = -(-chunk[longest] // 2)
    return tuple(chunk)


def chunks_of(values, chunk):
    starts = (range(0, extent, step) for extent, step in zip(values.shape, chunk))
    for first in itertools.product(*starts):
        yield np.ascontiguousarray(values[tuple(slice(f, f + step) for f, step in zip(first, chunk))])


def least_time(work, items):
    """The least CPU time in which ``work`` is done with all items, and what it has made of them."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        made = [work(item) for item in items]
        times.append(time.process_time() - start)
    return min(times), made


def measure(values, bound, most_bytes, preset):
    """Ratio, and seconds to compress and to restore."""
    import cuszi
    chunks = list(chunks_of(values, chunk_shape(values.shape, most_bytes)))
    compressing, archives = least_time(lambda chunk: cuszi.compress(chunk, abs=bound, preset=preset), chunks)
    restoring, _ = least_time(cuszi.decompress, archives)
    return values.nbytes / sum(map(len, archives)), compressing, restoring


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("fields", nargs="+", type=Path, metavar="FIELD")
    parser.add_argument("--rel", type=float, default=1e-3, help="bound as a share of the range (1e-3)")
    parser.add_argument("--preset", default="ratio")
    parser.add_argument("--sizes", default="1024,256,48,16", help="KiB at most (1024,256,48,16)")
    options = parser.parse_args()
    sizes = [math.inf, *(1024 * float(size) for size in options.sizes.split(","))]
    found = []
    for path in options.fields:
        values = read_field(path)
        bound = options.rel * float(np.ptp(values))
        found.append([measure(values, bound, size, options.preset) for size in sizes])
    logarithms = np.log(np.array(found))
    shares = np.exp((logarithms - logarithms[:, :1]).mean(axis=0))
    ratios = np.exp(logarithms[..., 0].mean(axis=0))
    print("| chunk, at most | ratio | ratio, share | CPU time to compress | to restore |")
    print("| --- | --- | --- | --- | --- |")
    for size, ratio, (share, compressing, restoring) in zip(sizes, ratios, shares):
        name = "whole field" if size == math.inf else f"{size / 1024:g} KiB"
        print(f"| {name} | {ratio:.1f} | {100 * share:.0f} % | {compressing:.1f} | {restoring:.1f} |")


if __name__ == "__main__":
    main()
