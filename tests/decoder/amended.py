"""Amended archives (section 7)."""

import math

import numpy as np

from .numbers import hash_of
from .parts import sparse_list, uint_of

_NONE, _EVEN, _BINARY = range(3)
_SHARE, _EITHER, _BOTH = 1, 2, 3


def read(body, reader, decode, header_of):
    """The values of an amended archive: what follows the features in its header, and the rest."""
    base_bytes = body.varint()
    box = [(body.varint(), body.varint()) for _ in range(body.u8())]
    width_of = _read_grid(body)
    hole, exact_bytes, exact_hash, inner_bytes = body.u64(), body.varint(), body.u64(), body.varint()
    body.end()
    base, exact, inner = (reader.take(size) for size in (base_bytes, exact_bytes, inner_bytes))
    reader.end()
    assert hash_of(exact) == exact_hash
    values = decode(base)
    uint = uint_of(values.dtype)
    points = math.prod(extent for _, extent in box)
    bits = np.full(points, hole, uint)
    if inner:
        header = header_of(inner)
        assert header.dims == [extent for _, extent in box] and header.dtype == values.dtype
        bits = _on_grid(decode(inner).ravel(), header.fills, width_of).view(uint)
    for point, value in sparse_list(exact, points).items():
        bits[point] = value
    part = values.view(uint)[tuple(slice(first, first + extent) for first, extent in box)]
    bits = bits.reshape(part.shape)
    part[bits != hole] = bits[bits != hole]
    return values


def _read_grid(body):
    """A function that gives the width of steps at some magnitudes; none without a grid."""
    kind = body.u8()
    if kind == _NONE:
        return None
    if kind == _EVEN:
        step = body.f64()
        return lambda magnitudes: np.full(magnitudes.shape, step)
    assert kind == _BINARY
    mode, bound, share = body.u8(), body.f64(), body.f64()
    choose = {_SHARE: lambda of_share: of_share, _EITHER: lambda of_share: np.maximum(bound, of_share),
              _BOTH: lambda of_share: np.minimum(bound, of_share)}[mode]
    return lambda magnitudes: _power_below(2 * choose(share * _power_below(magnitudes)))


def _power_below(magnitudes):
    exponents = magnitudes.view("u8") & 0x7FF0000000000000
    return np.where(exponents == 0x7FF0000000000000, 0, exponents).astype("u8").view("f8")


def _on_grid(values, fills, width_of):
    if width_of is None:
        return values
    with np.errstate(all="ignore"):
        exact = values.astype("f8")
        width = width_of(abs(exact))
        steps = exact * (1 / width)
        moved = (((steps + 1.5 * 2.0 ** 52) - 1.5 * 2.0 ** 52) * width).astype(values.dtype)
        moves = (abs(steps) < 2.0 ** 51) & np.isfinite(values)
        for fill in fills:
            moves &= values != values.dtype.type(fill)
    return np.where(moves, moved, values)
