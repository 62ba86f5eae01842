#!/usr/bin/env python3
"""Compares the Python package on arrays of a GPU with gpu_bench, on the same field.

Needs CuPy, the package `cuszi`, and gpu_bench (cmake --build build/default --target gpu_bench).
Every time is that of a whole call, from device memory to device memory, the median of 15 when the
GPU is warm.
"""

import argparse
import re
import statistics
import subprocess
import sys
import time

PRESETS = {"cusz": "lorenzo", "cuszi": "interp", "fast": "tiles", "balanced": "cells", "ratio": "auto"}  # names of gpu_bench
RUNS = 15
WARM_UP = 0.3  # seconds


def median_ms(work):
    times = []
    begin = time.perf_counter()
    while len(times) < RUNS:
        start = time.perf_counter()
        work()
        if start - begin > WARM_UP:
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def bench(program, path, dims, dtype, preset, bound, absolute):
    """What gpu_bench takes to compress and to decompress, in ms."""
    command = [program, path, "x".join(map(str, dims)), dtype, PRESETS[preset], str(bound)]
    text = subprocess.run(command + (["abs"] if absolute else []), check=True, capture_output=True,
                          text=True).stdout
    compress, decompress = re.findall(r"GB/s \(([\d.]+)\s+ms\)", text)
    return float(compress), float(decompress)


def python(there, preset, bound, absolute):
    """What cuszi.compress and cuszi.decompress take, in ms."""
    import cupy
    import cuszi
    if absolute:
        bound *= float(there.max() - there.min())
    quality = {"abs" if absolute else "rel": bound}
    out, restored = cupy.empty(cuszi.room(there), "u1"), cupy.empty_like(there)
    compress = median_ms(lambda: cuszi.compress(there, preset=preset, out=out, **quality))
    archive = out[:cuszi.compress(there, preset=preset, out=out, **quality)]
    return compress, median_ms(lambda: cuszi.decompress(archive, out=restored))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("field", help="a raw field of one frame (at most 512 MiB), f32 or f64")
    parser.add_argument("--dims", required=True, help="slowest first, like 512x512x512")
    parser.add_argument("--type", default="f32", choices=["f32", "f64"])
    parser.add_argument("--bounds", default="1e-3", help="relative ones (default 1e-3)")
    parser.add_argument("--presets", default="cusz,cuszi,fast,ratio")
    parser.add_argument("--gpu-bench", default="build/default/gpu/gpu_bench", metavar="PROGRAM")
    options = parser.parse_args()
    dims = tuple(map(int, options.dims.split("x")))
    try:
        import cupy
        import cuszi  # noqa: F401  before minutes go by
        import numpy
    except ImportError as missing:
        sys.exit(f"measure_arrays.py: {missing}")
    values = numpy.fromfile(options.field, {"f32": "f4", "f64": "f8"}[options.type])
    there = cupy.asarray(values.reshape(dims))
    print(f"{'preset':<8} {'bound':<12} {'compress ms':>24} {'':9} {'decompress ms':>20}")
    for bound in map(float, options.bounds.split(",")):
        for preset in options.presets.split(","):
            for absolute in (False, True) if preset == "fast" else (False,):
                case = (preset, bound, absolute)
                alone = bench(options.gpu_bench, options.field, dims, options.type, *case)
                package = python(there, *case)
                shares = [f"{a:8.3f} -> {b:8.3f} {100 * (b / a - 1):+6.1f} %"
                          for a, b in zip(alone, package)]
                print(f"{preset:<8} {f'{bound:g} ' + ('abs' if absolute else 'rel'):<12}",
                      *shares, sep="  ", flush=True)


if __name__ == "__main__":
    main()
