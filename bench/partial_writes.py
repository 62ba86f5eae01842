#!/usr/bin/env python3
"""What a chunk that was written by rows takes, over one that was written at once: bytes, and CPU time to
restore it on one thread. At most 2.5 times the bytes and 3 times the time are aimed at.

Usage: partial_writes.py [FIELD.npy ...]

Bounds are 1e-3 of a field's range. Without fields some are made. Lines are tab-separated.
"""

import resource
import sys

import numpy as np

import cuszi


def made():
    """An image with noise, a smooth one and a volume."""
    random = np.random.default_rng(0)
    y, x = np.mgrid[0:256, 0:256]
    smooth = (np.sin(y * .05) * np.cos(x * .04)).astype("f4")
    volume = np.sin(np.arange(64**3) * 0.01).reshape(64, 64, 64) + random.normal(0, 1e-3, (64, 64, 64))
    return {"noisy": (smooth + random.normal(0, 1e-3, smooth.shape)).astype("f4"), "smooth": smooth,
            "volume": volume.astype("f4")}


def by_rows(codec, a):
    chunk = np.zeros_like(a)
    chunk[0] = a[0]
    archive = codec.encode(chunk)
    for row in range(1, len(a)):
        chunk = np.array(codec.decode(archive))
        chunk[row] = a[row]
        archive = codec.encode(chunk)
    return archive


def seconds(archive, out):
    """CPU time to restore an archive."""
    times = max(3, 2**25 // out.nbytes)
    cuszi.decompress(archive, out=out, threads=1)
    before = resource.getrusage(resource.RUSAGE_SELF)
    for _ in range(times):
        cuszi.decompress(archive, out=out, threads=1)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) / times


def main(paths):
    fields = {path: np.load(path) for path in paths} or made()
    print("field", "preset", "ratio at once", "bytes by rows", "time by rows", sep="\t")
    for name, a in fields.items():
        bound = float(a.max() - a.min()) * 1e-3
        for preset in ("ratio", "cuszi", "cusz", "fast", "zfp"):
            codec = cuszi.Numcodec(abs=bound, preset=preset)
            rows, once = by_rows(codec, a), cuszi.compress(a, abs=bound, preset=preset)
            out = np.empty_like(a)
            print(name, preset, f"{a.nbytes / len(once):.1f}", f"{len(rows) / len(once):.2f}",
                  f"{seconds(rows, out) / seconds(once, out):.2f}", sep="\t", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
