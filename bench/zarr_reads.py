#!/usr/bin/env python3
"""Measures how fast an array of a Zarr store in the host's memory is read into arrays of CuPy.

Needs a GPU, CuPy, zarr and the package `cuszi`. Reads are of the whole array. "Codec alone" restores the same chunks
without Zarr, in batches of the same size; "Zarr alone" reads them with a codec that does nothing. Times are medians.
"""

import argparse
import statistics
import time
from pathlib import Path
from unittest import mock

import cupy
import numpy as np
import zarr
from zarr.core.sync import sync

import cuszi

ARCHIVES = {"on the host": "zarr.buffer.cpu.Buffer", "on the device": "zarr.buffer.gpu.Buffer"}


def field(path, gigabytes):
    """Of a file, or waves with a little noise."""
    points = int(gigabytes * 1e9 / 4)
    if path:
        return np.fromfile(path, "f4", points)
    noise = cupy.random.default_rng(1).standard_normal(points, "f4")
    return cupy.asnumpy(cupy.sin(1e-2 * cupy.arange(points)).astype("f4") + 1e-3 * noise)


def store_of(values, side, bound, preset):
    """A store of cubes, written by the host."""
    count = len(values) // side**3
    cubes = values[:count * side**3].reshape(count * side, side, side)
    store = zarr.storage.MemoryStore()
    zarr.create_array(store, shape=cubes.shape, dtype="f4", chunks=(side, side, side), compressors=None,
                      serializer=cuszi.Zarr(abs=bound, preset=preset))
    zarr.open_array(store)[...] = cubes
    return store, cubes


def seconds(work, runs):
    times = []
    for _ in range(runs + 2):
        start = time.perf_counter()
        work()
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:])


def codec_alone(array, store, batch_size):
    """Restores the chunks of an array, which are given back."""
    prototype = zarr.core.buffer.default_buffer_prototype()
    codec = array.metadata.codecs[0]
    spec = array.metadata.get_chunk_spec((0,) * array.ndim, array.async_array.config, prototype)
    chunks = [prototype.buffer.from_buffer(data) for key, data in store._store_dict.items() if key.startswith("c/")]

    async def restore():
        for first in range(0, len(chunks), batch_size):
            await codec.decode([(chunk, spec) for chunk in chunks[first:first + batch_size]])

    return lambda: sync(restore())


def zarr_alone(array, side):
    """Reads an array whose chunks are restored already."""
    restored = zarr.core.buffer.gpu.NDBuffer(cupy.zeros((side, side, side), "f4"))

    async def nothing(self, chunks):
        return [restored for _ in chunks]

    def read():
        with mock.patch.object(cuszi.Zarr, "decode", nothing):
            return array[...]
    return read


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--field", type=Path, help="raw file of f32 (waves)")
    parser.add_argument("--gigabytes", type=float, default=2, help="of values (2)")
    parser.add_argument("--sides", default="102", help="of the cubes that are chunks (102: 4.2 MB)")
    parser.add_argument("--batches", default="1,32,128", help="sizes of batches (1,32,128)")
    parser.add_argument("--rel", type=float, default=1e-3, help="bound as a share of the range (1e-3)")
    parser.add_argument("--preset", default="fast")
    parser.add_argument("--runs", type=int, default=11)
    options = parser.parse_args()
    values = field(options.field, options.gigabytes)
    bound = options.rel * float(np.ptp(values))
    print("| chunk, MB | ratio | archives | batch | GB/s of values | of archives | codec alone | Zarr alone |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for side in map(int, options.sides.split(",")):
        store, cubes = store_of(values, side, bound, options.preset)
        packed = sum(len(data) for key, data in store._store_dict.items() if key.startswith("c/"))
        for (where, buffer), batch in ((where, int(batch)) for where in ARCHIVES.items()
                                       for batch in options.batches.split(",")):
            with zarr.config.set({"buffer": buffer, "ndbuffer": "zarr.buffer.gpu.NDBuffer",
                                  "codec_pipeline.batch_size": batch}):
                array = zarr.open_array(store)
                assert float(cupy.abs(array[...] - cupy.asarray(cubes)).max()) <= bound
                whole = seconds(lambda: array[...], options.runs)
                codec = seconds(codec_alone(array, store, batch), options.runs)
                reading = seconds(zarr_alone(array, side), options.runs)
            print(f"| {4e-6 * side**3:.1f} | {cubes.nbytes / packed:.1f} | {where} | {batch} | "
                  f"{cubes.nbytes / whole / 1e9:.0f} | {packed / whole / 1e9:.1f} | {cubes.nbytes / codec / 1e9:.0f} | "
                  f"{cubes.nbytes / reading / 1e9:.0f} |",
                  flush=True)


if __name__ == "__main__":
    main()
