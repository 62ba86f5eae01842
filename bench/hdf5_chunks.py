#!/usr/bin/env python3
"""Compares cuszi.h5 with h5py's way through the filter, on one dataset in chunks.

Needs h5py and the package `cuszi`, with its filter on HDF5_PLUGIN_PATH. Values are periodic noise on all scales, the bound
is 1e-3 of their range. Every time is the least of the runs, from the array to a flushed file and back; beside them stands
what the same array takes as a contiguous dataset without a filter. With CuPy and --gpu also from and to a GPU's memory.
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


def ways(there, options, threads):
    """Name, array, keywords of the dataset, how it is written and read."""
    import cuszi.h5
    import h5py  # noqa: F401
    host = there if isinstance(there, np.ndarray) else there.get()
    plain = (lambda dataset, a: dataset.write_direct(a), lambda dataset, out: dataset.read_direct(out))
    batch = (lambda dataset, a: cuszi.h5.write(dataset, a, threads=threads),
             lambda dataset, out: cuszi.h5.read(dataset, out=out, threads=threads))
    yield "no filter", host, {}, *plain
    for preset, chunked in options.items():
        yield f"{preset}, filter", host, chunked, *plain
        yield f"{preset}, cuszi.h5", host, chunked, *batch
        if there is not host:
            yield f"{preset}, cuszi.h5 on the GPU", there, chunked, *batch


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
        host = np.empty_like(a)
        copied = [min(seconds(work) for _ in range(3)) for work in
                  (lambda: there.get(out=host), lambda: (there.set(a), cupy.cuda.Device().synchronize()))]
        print(f"copies from and to the GPU, pageable: {copied[0]:.3f} s, {copied[1]:.3f} s")
    options = {preset: {"chunks": CHUNK, "compression": cuszi.H5(abs=bound, preset=preset)}
               for preset in asked.presets.split(",")}
    print("| way | ratio | write s | read s | write, of the filter | read, of the filter |")
    print("| --- | --- | --- | --- | --- | --- |")
    compared = (math.nan, math.nan)
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        for name, array, keywords, write, read in ways(there, options, asked.threads):
            out = type(array)(array.shape, array.dtype) if array is not a else np.empty_like(a)
            runs = [round_trip(Path(folder) / "a.h5", array, keywords, write, read, out) for _ in range(asked.runs)]
            least = [min(times) for times in zip(*runs)]
            if keywords and abs(out - array).max() > bound * (1 + 1e-6):
                sys.exit(f"hdf5_chunks.py: {name} exceeds the bound")
            if name.endswith(" filter"):
                compared = least if keywords else (math.nan, math.nan)
            shares = [f"{before / now:.2f} times" if keywords else "" for before, now in zip(compared, least)]
            print(f"| {name} | {a.nbytes / least[2]:.1f} | {least[0]:.3f} | {least[1]:.3f} | {shares[0]} | {shares[1]} |",
                  flush=True)


if __name__ == "__main__":
    main()
