"""Planes of raw fields: which one shows most, and its values. Needs the standard library alone."""

import functools
import itertools
import math
import sys
from array import array
from dataclasses import dataclass

TYPE_CODES = {"f32": "f", "f64": "d"}
NETCDF_FILL = "9.969209968386869e36"
MOST_PLANES = 512  # that are compared, evenly spread
SAMPLE_SIDE = 32  # rows, and points of a row, by which they are


@dataclass(frozen=True)
class Plane:
    """The values of a field from the value `first` on, as a picture of height x width."""

    first: int
    height: int
    width: int
    name: str  # where it lies, for a caption: "slice [12, :, :]"


def planes_of(dims):
    """The planes of the two fastest dims, in order, at most MOST_PLANES of them; a line is folded."""
    long = [axis for axis, extent in enumerate(dims) if extent > 1]
    if len(long) < 2:
        width = math.isqrt(math.prod(dims))
        return [Plane(0, width, width, f"the first {width * width} values in rows of {width}")]
    *slow, y, x = long
    count = math.prod(dims[axis] for axis in slow)
    return [Plane(number * dims[y] * dims[x], dims[y], dims[x], name_of(number, dims, slow))
            for number in range(0, count, math.ceil(count / MOST_PLANES))]


def name_of(number, dims, slow):
    """Where the plane of this number along the slow axes lies, as NumPy writes it."""
    if not slow:
        return "the whole field"
    index = [":" if extent > 1 else "0" for extent in dims]
    for axis in reversed(slow):
        number, at = divmod(number, dims[axis])
        index[axis] = str(at)
    return f"slice [{', '.join(index)}]"


def read_plane(path, dtype, plane, side):
    """Its values, thinned to `side` rows and columns, as rows of floats."""
    row_step, column_step = (math.ceil(n / side) for n in (plane.height, plane.width))
    rows = []
    with open(path, "rb") as file:
        for y in range(0, plane.height, row_step):
            row = array(TYPE_CODES[dtype])
            file.seek((plane.first + y * plane.width) * row.itemsize)
            row.frombytes(file.read(plane.width * row.itemsize))
            if sys.byteorder == "big":
                row.byteswap()
            rows.append(row[::column_step])
    return rows


def known_test(dtype, fill_values):
    """A function that tells whether a value is neither missing nor infinite."""
    fills = {array(TYPE_CODES[dtype], [float(NETCDF_FILL if text == "netcdf" else text)])[0]
             for text in fill_values}
    return lambda value: math.isfinite(value) and value not in fills


def spread(values):
    """The variance; of no values -1."""
    if not values:
        return -1.0
    scale = max(map(abs, values)) or 1.0  # so that squares are finite
    mean = math.fsum(v / scale for v in values) / len(values)
    return math.fsum((v / scale - mean) ** 2 for v in values) / len(values) * scale * scale


@functools.lru_cache(maxsize=None)
def most_varied(field, fill_values):
    """The plane of a field whose known values vary most, by samples of them; the first of equals."""
    known = known_test(field.dtype, fill_values)

    def variance(plane):
        rows = read_plane(field.path, field.dtype, plane, SAMPLE_SIDE)
        return spread([v for v in itertools.chain(*rows) if known(v)])

    return max(planes_of(field.dims), key=variance)
