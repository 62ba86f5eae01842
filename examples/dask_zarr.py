#!/usr/bin/env python3
"""Compresses a Zarr array, which may be larger than memory, on the processes of a Dask cluster.

Every worker reads chunks of SOURCE and writes chunks of TARGET, a Zarr 3 array with the codec
cuszi. A relative bound is one of the whole array: its range comes from one reduction over all
chunks. What a worker had to do when it died is done again by another; a chunk appears in TARGET
whole or not at all, so that nothing is lost.

Workers need the Python packages cuszi and zarr, and to reach SOURCE and TARGET.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import zarr
from dask.distributed import Client, LocalCluster, progress

import cuszi

RETRIES = 3  # per failing task


def as_workers_see_it(path: str) -> str:
    """A path as it is also where a worker runs in another folder; URLs as they are."""
    return path if "://" in path else str(Path(path).absolute())


def value_range(values: da.Array, fills: list[float]) -> float:
    """Largest less smallest value of what is not missing; 0 if all is."""
    known = da.isfinite(values)
    for fill in fills:
        known &= values != values.dtype.type(fill)
    lowest = da.where(known, values, np.inf).min()
    highest = da.where(known, values, -np.inf).max()
    low, high = map(float, dask.compute(lowest, highest, retries=RETRIES))
    return max(high - low, 0.0)


def create_like(source: zarr.Array, path: str, codec: cuszi.Zarr) -> zarr.Array:
    """An array as the source is, but with the codec. It must not exist."""
    names = source.metadata.dimension_names if source.metadata.zarr_format == 3 else None
    return zarr.create_array(path, shape=source.shape, chunks=source.chunks, dtype=source.dtype,
                             fill_value=source.fill_value, attributes=source.attrs.asdict(),
                             dimension_names=names, compressors=None, serializer=codec)


def compress(source: zarr.Array, path: str, bound: float, relative: bool, preset: str,
             fills: list[float], client: Client) -> zarr.Array:
    """Writes the array at `path` by the client's workers; `bound` is in the array's unit, or a
    share of its range. Raises what a task raised RETRIES times."""
    values = da.from_zarr(source, chunks=source.chunks)
    if relative:
        bound *= value_range(values, fills)
    target = create_like(source, path, cuszi.Zarr(abs=bound, preset=preset, fill=tuple(fills)))
    writing = client.compute(da.store(values, target, lock=False, compute=False), retries=RETRIES)
    progress(writing)
    writing.result()
    return target


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="SOURCE", help="a Zarr array, like in.zarr/T")
    parser.add_argument("target", metavar="TARGET", help="the array to be made, like out.zarr/T")
    bound = parser.add_mutually_exclusive_group(required=True)
    bound.add_argument("--rel", type=float, help="bound as a share of the array's value range")
    bound.add_argument("--abs", type=float, help="bound in the array's unit")
    parser.add_argument("--preset", default="ratio", help="as of the tool (default %(default)s)")
    parser.add_argument("--fill-value", type=float, action="append", metavar="V",
                        help="value that means missing, beside NaN; repeatable (default: the "
                        "array's fill value, unless that is 0)")
    parser.add_argument("--scheduler", metavar="ADDRESS",
                        help="of a Dask cluster, like tcp://host:8786; else one is started here")
    parser.add_argument("--workers", type=int, default=4, metavar="N",
                        help="processes of the cluster here (default %(default)s)")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    options = parse_arguments(arguments)
    source = zarr.open_array(as_workers_see_it(options.source), mode="r")
    fills = options.fill_value
    if fills is None:
        own = float(source.fill_value or 0)
        fills = [] if own == 0 or own != own else [own]
    relative = options.abs is None
    bound = options.rel if relative else options.abs
    cluster = options.scheduler or LocalCluster(n_workers=options.workers, threads_per_worker=1,
                                                dashboard_address=None)
    with Client(cluster) as client:
        target = compress(source, as_workers_see_it(options.target), bound, relative,
                          options.preset, fills, client)
        stored = target.nbytes_stored()
    if not options.scheduler:
        cluster.close()
    print(f"\n{options.target}: {target.nbytes} bytes became {stored}, "
          f"{target.nbytes / stored:.1f} times fewer")


if __name__ == "__main__":
    main()
