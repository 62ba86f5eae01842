#!/usr/bin/env python3
"""Compresses one field with one compressor, as often as it is asked to.

This is the process behind compare_peers.py: it needs numpy, h5py, hdf5plugin and pysz, and may
crash with the library that it calls. Its argument says what to work on, in JSON:
  {"compressor": NAME, "path": FILE, "dims": [...], "dtype": "f32", "fill_values": ["1e20"],
   "cuszi": [COMMAND, OPTION...], "folder": FOLDER FOR ITS FILES, "time_limit": SECONDS}
Each line of its input is a request, each line of its output the answer, a measurement or a failure:
  {"bound": SHARE}      with no error above this share of the value range
  {"tolerance": SHARE}  with what the compressor takes to be that
  {"psnr": DB}          at this quality, where the compressor has such a setting
"""

import io
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import h5py
import hdf5plugin
import numpy
import pysz

NETCDF_FILL = "9.969209968386869e36"
BLOCK = 1 << 22  # values compared at once
ZFP_DOUBLINGS = 6


class Failure(Exception):
    pass


# ---- the field and how well it is restored ---------------------------------------------------

class Field:
    """The values, which of them are known (neither missing nor infinite), and their range."""

    def __init__(self, job):
        self.values = numpy.fromfile(job["path"], dtype={"f32": "<f4", "f64": "<f8"}[job["dtype"]])
        self.dims = tuple(job["dims"])
        if self.values.size != math.prod(self.dims):
            raise Failure("the size of the file is not what its dims say")
        fills = [NETCDF_FILL if text == "netcdf" else text for text in job["fill_values"]]
        self.fills = numpy.array(fills, dtype="f8").astype(self.values.dtype)
        known = (self.values[block][self._known(block)] for block in self._blocks())
        extremes = [(float(part.min()), float(part.max())) for part in known if part.size]
        lows, highs = zip(*extremes) if extremes else ([0.0], [0.0])
        self.range = max(highs) - min(lows)
        if not self.range > 0:
            raise Failure("all known values are the same: it has no value range")

    def _blocks(self):
        return [slice(at, at + BLOCK) for at in range(0, self.values.size, BLOCK)]

    def _known(self, block):
        return numpy.isfinite(self.values[block]) & ~numpy.isin(self.values[block], self.fills)

    def shaped(self, most_dims=4):
        """The values without extents of 1, the slowest dimensions merged into at most most_dims."""
        dims = [extent for extent in self.dims if extent > 1]
        merged = max(len(dims) - most_dims, 0)
        return self.values.reshape([math.prod(dims[:merged + 1]), *dims[merged + 1:]])

    def compare(self, restored, bound):
        """How the restored values differ: quality over what is known, losses among the rest."""
        squares, count, largest, over, lost = 0.0, 0, 0.0, 0, 0
        for block in self._blocks():
            known = self._known(block)
            with numpy.errstate(invalid="ignore", over="ignore"):
                was, now = self.values[block].astype("f8"), restored[block].astype("f8")
                error = numpy.abs(now - was)
            kept = (was == now) | (numpy.isnan(was) & numpy.isnan(now)) | (error <= bound)
            over += int((~kept & known).sum())
            lost += int((~kept & ~known).sum())
            error = numpy.where(numpy.isnan(error), math.inf, error)[known]
            squares += float(numpy.square(error).sum())
            largest = max(largest, float(error.max(initial=0.0)))
            count += error.size
        mean = squares / count
        psnr = 20 * math.log10(self.range) - 10 * math.log10(mean) if mean > 0 else math.inf
        return {"error_bound_abs": bound, "psnr_db": psnr, "max_error_over_bound": largest / bound,
                "over_bound": over, "missing_lost": lost}


# ---- the compressors -------------------------------------------------------------------------

@dataclass
class Pass:
    """What one compression and decompression gave."""

    archive_bytes: int
    restored: numpy.ndarray
    compress_seconds: float
    decompress_seconds: float

    def measured(self, field, bound):
        return {"archive_bytes": self.archive_bytes, "compress_seconds": self.compress_seconds,
                "decompress_seconds": self.decompress_seconds,
                **field.compare(self.restored.reshape(-1), bound)}


class Peer:
    """A library that compresses in memory."""

    most_dims = 4

    def __init__(self, field, job):
        self.field, self.time_limit = field, job["time_limit"]
        self.values = field.shaped(self.most_dims)

    def pack(self, bound):
        raise NotImplementedError

    def unpack(self, packed):
        """The size of what was packed, and the restored values."""
        raise NotImplementedError

    def at_tolerance(self, share):
        bound = share * self.field.range
        return self.compress(bound).measured(self.field, bound)

    at_bound = at_tolerance

    def compress(self, bound):
        """The process ends if this takes longer than the time limit, in the library or not."""
        signal.alarm(self.time_limit)
        start = time.perf_counter()
        packed = self.pack(bound)
        middle = time.perf_counter()
        size, restored = self.unpack(packed)
        end = time.perf_counter()
        signal.alarm(0)
        return Pass(size, restored, middle - start, end - middle)


class Sz3(Peer):
    """SZ3 as it is now."""

    def pack(self, bound):
        config = pysz.szConfig(self.values.shape)
        config.errorBoundMode = pysz.szErrorBoundMode.ABS
        config.absErrorBound = bound
        return pysz.sz.compress(self.values, config)[0]

    def unpack(self, packed):
        restored, _ = pysz.sz.decompress(packed, self.values.dtype, self.values.shape)
        return packed.nbytes, restored


class Filter(Peer):
    """An HDF5 filter on one chunk that is the whole field, in a file in memory."""

    def options(self, bound):
        raise NotImplementedError

    def pack(self, bound):
        file = io.BytesIO()
        with h5py.File(file, "w") as container:
            container.create_dataset("field", data=self.values, chunks=self.values.shape,
                                     compression=self.options(bound))
        return file

    def unpack(self, packed):
        with h5py.File(packed, "r") as container:  # reopened to bypass its cache
            return container["field"].id.get_storage_size(), container["field"][...]


class Sz3Filter(Filter):
    """The SZ3 that comes with hdf5plugin, older and at times better."""

    def options(self, bound):
        return hdf5plugin.SZ3(absolute=bound)


class Sperr(Filter):
    """Missing values are given to it as NaN, the ones it knows; a lone fill value is put back."""

    most_dims = 3

    def __init__(self, field, job):
        super().__init__(field, job)
        lone = field.fills.size == 1 and not numpy.isnan(field.values).any()
        self.fill = field.fills[0] if lone else self.values.dtype.type(math.nan)
        self.values = numpy.where(self.values == self.fill, math.nan, self.values)
        self.missing = (hdf5plugin.Sperr.MISSING_NAN if numpy.isnan(self.values).any()
                        else hdf5plugin.Sperr.NO_MISSING)

    def options(self, bound):
        # Without swap, dims are reversed.
        return hdf5plugin.Sperr(absolute=bound, swap=True, missing_value_mode=self.missing)

    def compress(self, bound):
        done = super().compress(bound)
        done.restored[numpy.isnan(done.restored)] = self.fill
        return done


class Zfp(Filter):
    """Its errors are far below its tolerance: that is doubled as long as the bound is kept."""

    most_dims = 3

    def options(self, bound):
        return hdf5plugin.Zfp(accuracy=bound)

    def at_bound(self, share):
        bound = share * self.field.range
        best = self.at_tolerance(share)
        for doublings in range(1, ZFP_DOUBLINGS + 1):
            wider = self.compress(bound * 2 ** doublings).measured(self.field, bound)
            if wider["over_bound"] > best["over_bound"] or wider["missing_lost"]:
                break
            best = wider
        return best


class Cuszi:
    """The tool on files, its own times."""

    def __init__(self, field, job):
        self.field, self.job = field, job
        self.command, *self.options = job["cuszi"]

    def at_tolerance(self, share):
        bound = share * self.field.range
        return self.compress(["-m", "abs", "-e", repr(bound)]).measured(self.field, bound)

    at_bound = at_tolerance

    def at_psnr(self, psnr):
        return self.compress(["--target", f"psnr:{psnr}"]).measured(self.field, self.field.range)

    def compress(self, quality):
        archive = Path(self.job["folder"]) / "field.cuszi"
        restored = archive.with_suffix(".restored")
        fills = [f"--fill-value={value}" for value in self.job["fill_values"]]
        dims = "x".join(map(str, self.field.dims))
        packed = self.run("compress", self.job["path"], "-d", dims, "-t", self.job["dtype"],
                          *quality, *fills, *self.options, "-o", archive)
        unpacked = self.run("decompress", archive, "-o", restored)
        return Pass(archive.stat().st_size, numpy.fromfile(restored, self.field.values.dtype),
                    packed.get("compress_seconds"), unpacked.get("decompress_seconds"))

    def run(self, *arguments):
        done = subprocess.run([self.command, *map(str, arguments), "--json", "--force"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=self.job["time_limit"], check=False)
        if done.returncode != 0:
            raise Failure((done.stderr.strip().splitlines() or ["cuszi said nothing"])[-1])
        return json.loads(done.stdout)


COMPRESSORS = {"cuszi": Cuszi, "sz3": Sz3, "sz3-hdf5": Sz3Filter, "sperr": Sperr, "zfp": Zfp}


# ---- the process -----------------------------------------------------------------------------

def answer(compressor, request):
    (kind, value), = request.items()
    return getattr(compressor, f"at_{kind}")(value)


def main():
    if sys.argv[1:] == ["--version"]:
        print(", ".join(f"{name} {version(name)}" for name in ("hdf5plugin", "pysz")))
        return
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # libraries may print to stdout
    job = json.loads(sys.argv[1])
    compressor = None
    for line in sys.stdin:
        try:
            compressor = compressor or COMPRESSORS[job["compressor"]](Field(job), job)
            said = answer(compressor, json.loads(line))
        except Exception as failure:  # reported, then the next is tried
            said = {"failure": f"{type(failure).__name__}: {failure}"}
        print(json.dumps(said), file=answers)


if __name__ == "__main__":
    main()
