"""Planes of raw fields: which one shows most, and its values. Needs numpy and matplotlib, as analysis.py does."""

import functools
import math
from dataclasses import dataclass

import numpy

from analysis import known_points

MOST_PLANES = 512  # that are compared, evenly spread
SAMPLE_SIDE = 32  # rows, and points of a row, by which they are


@dataclass(frozen=True)
class Plane:
    index: tuple  # in what planes_in() gives
    name: str  # where it lies, for a caption: "slice [12, :, :]"


def planes_in(path, dims, dtype):
    """A raw field as an array that has planes: a line is folded."""
    values = numpy.memmap(path, {"f32": "<f4", "f64": "<f8"}[dtype], "r")
    if sum(extent > 1 for extent in dims) > 1:
        return values.reshape(dims)
    width = math.isqrt(len(values))
    return values[:width * width].reshape(width, width)


def planes_of(field):
    """The planes of the two fastest axes of more than one point, in order, at most MOST_PLANES of them."""
    long = [axis for axis, extent in enumerate(field.dims) if extent > 1]
    if len(long) < 2:
        width = math.isqrt(math.prod(field.dims))
        return [Plane((slice(None),) * 2, f"the first {width * width} values in rows of {width}")]
    extents = [1 if axis in long[-2:] else extent for axis, extent in enumerate(field.dims)]
    numbers = range(0, math.prod(extents), math.ceil(math.prod(extents) / MOST_PLANES))
    indices = [tuple(slice(None) if axis in long[-2:] else int(i) for axis, i in enumerate(at))
               for at in zip(*numpy.unravel_index(numbers, extents))]
    return [Plane(index, name_of(index) if len(long) > 2 else "the whole field") for index in indices]


def name_of(index):
    """Where a plane lies, as NumPy writes it."""
    return f"slice [{', '.join(':' if isinstance(at, slice) else str(at) for at in index)}]"


def thinned(values, side):
    """A plane, thinned to `side` rows and columns."""
    return values[tuple(slice(None, None, math.ceil(extent / side)) for extent in values.shape)]


def spread(values):
    """The variance; of no values -1."""
    if not values.size:
        return -1.0
    scale = float(numpy.abs(values).max()) or 1.0  # so that squares are finite
    return float(numpy.var(values / scale)) * scale * scale


@functools.lru_cache(maxsize=None)
def most_varied(field, fill_values):
    """The plane of a field whose known values vary most, by samples of them; the first of equals."""
    values = planes_in(field.path, field.dims, field.dtype)

    def variance(plane):
        sample = thinned(values[plane.index], SAMPLE_SIDE)
        return spread(sample[known_points(sample, fill_values)].astype("f8"))

    return max(planes_of(field), key=variance)
