#!/usr/bin/env python3
"""Compares cuszi.h5 with h5py's way through the filter, on one dataset in chunks.

Needs h5py and the package `cuszi`, with its filter on HDF5_PLUGIN_PATH. Values are periodic noise on all scales, the bound
is 1e-3 of their range. Every time is the least of the runs, from the array to a flushed file and back. The first row is a
contiguous dataset without a filter. With --gpu also from and to a GPU's memory, in arrays of CuPy.
"""

import argparse
import math
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from fields import noise

CHUNK = (64, 128, 128)  # 4 MiB


def values_of(megabytes):
    """Noise of 64 MiB at most, repeated along the slowest axis."""
    part = noise(1, (256, 256, 256), 0.4)
    count = math.ceil(megabytes * 2**20 / part.nbytes)
    return np.concatenate([part] * count) if count > 1 else part[:max(256 * megabytes // 64, 64)].copy()


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def round_trip(path, a, options, write, read, out):
    """Seconds to write and to read, and the bytes of the file."""
    import h5py
    with h5py.File(path, "w", libver="latest") as file:
        dataset = file.create_dataset("T", a.shape, "f4", **options)
        file.flush()
        written = seconds(lambda: (write(dataset, a), file.flush()))
    with h5py.File(path) as file:
        restored = seconds(lambda: read(file["T"], out))
    return written, restored, path.stat().st_size


def synchronised(array):
    """Waits for what a GPU still copies."""
    if not isinstance(array, np.ndarray):
        array.device.synchronize()


def ways(there, options, threads):
    """Name, array, keywords of the dataset, how it is written and read; the filter before what is compared with it."""
    import cuszi.h5
    host = there if isinstance(there, np.ndarray) else there.get()
    plain = (lambda dataset, a: dataset.write_direct(a), lambda dataset, out: dataset.read_direct(out))
    batch = (lambda dataset, a: cuszi.h5.write(dataset, a, threads=threads),
             lambda dataset, out: synchronised(cuszi.h5.read(dataset, out=out, threads=threads)))
    yield "contiguous", host, {}, *plain
    for preset, chunked in options.items():
        yield f"{preset}, filter", host, chunked, *plain
        yield f"{preset}, cuszi.h5", host, chunked, *batch
        if there is not host:
            yield f"{preset}, cuszi.h5 on the GPU", there, chunked, *batch


def measured(path, array, bound, runs, way):
    """Least seconds to write and to read, and bytes of the file."""
    out = array.copy()
    out[...] = 0
    found = [round_trip(path, array, *way, out) for _ in range(runs)]
    if abs(out - array).max() > bound * (1 + 1e-6):
        sys.exit("hdf5_chunks.py: the bound is exceeded")
    return [min(times) for times in zip(*found)]


def print_copies(there, a):
    host = np.empty_like(a)
    get = min(seconds(lambda: there.get(out=host)) for _ in range(3))
    put = min(seconds(lambda: (there.set(a), synchronised(there))) for _ in range(3))
    print(f"copies from the GPU to pageable memory {get:.3f} s, back {put:.3f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--presets", default="ratio,balanced,fast")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--threads", type=int, help="of cuszi.h5 (default: all)")
    parser.add_argument("--gpu", action="store_true", help="also an array of CuPy")
    parser.add_argument("--folder", type=Path, help="for the file (default: that of temporary files)")
    asked = parser.parse_args()
    try:
        import cuszi
        import h5py  # noqa: F401
    except ImportError as missing:
        sys.exit(f"hdf5_chunks.py: {missing}")
    there = a = values_of(asked.megabytes)
    bound = 1e-3 * float(np.ptp(a))
    if asked.gpu:
        import cupy
        there = cupy.asarray(a)
        print_copies(there, a)
    options = {preset: {"chunks": CHUNK, "compression": cuszi.H5(abs=bound, preset=preset)}
               for preset in asked.presets.split(",")}
    print("| way | ratio | write s | read s | write, times the filter | read, times the filter |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        for name, array, *way in ways(there, options, asked.threads):
            write, read, size = measured(Path(folder) / "a.h5", array, bound, asked.runs, way)
            if name.endswith("filter"):
                compared = write, read
            shares = f"{compared[0] / write:.2f} | {compared[1] / read:.2f}" if way[0] else " | "
            print(f"| {name} | {a.nbytes / size:.1f} | {write:.3f} | {read:.3f} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
