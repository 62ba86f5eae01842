"""Amended archives (section 7)."""

import math

import numpy as np

from .numbers import hash_of
from .parts import sparse_list, uint_of

_NONE, _EVEN, _BINARY = range(3)
_SHARE, _EITHER, _BOTH = 1, 2, 3


def read(body, reader, decode, header_of, rounded):
    """The values of an amended archive: what follows the features in its header, and the rest. ``rounded`` makes
    stored values of values of T."""
    base_bytes = body.varint()
    box = [(body.varint(), body.varint()) for _ in range(body.u8())]
    width_of = _read_grid(body)
    hole = body.u64() if body.u8() else None
    exact_bytes, exact_hash, inner_bytes = body.varint(), body.u64(), body.varint()
    body.end()
    base, exact, inner = (reader.take(size) for size in (base_bytes, exact_bytes, inner_bytes))
    reader.end()
    assert hash_of(exact) == exact_hash
    values = decode(base)
    uint = uint_of(values.dtype)
    points = math.prod(extent for _, extent in box)
    bits, amended = np.zeros(points, uint), np.zeros(points, bool)
    if inner:
        header = header_of(inner)
        assert header.dims == [extent for _, extent in box] and header.stored == values.dtype
        restored = decode(inner).ravel()
        amended[:] = restored.view(uint) != hole if hole is not None else True
        bits = _on_grid(restored, header, width_of, rounded).view(uint)
    for point, value in sparse_list(exact, points).items():
        bits[point], amended[point] = value, True
    part = values.view(uint)[tuple(slice(first, first + extent) for first, extent in box)]
    bits, amended = bits.reshape(part.shape), amended.reshape(part.shape)
    part[amended] = bits[amended]
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


def _in_work(values, header):
    """Stored values as values of T."""
    if header.is_bfloat16:
        return (values.astype("u4") << 16).view("f4")
    return values.astype(header.dtype)


def _on_grid(values, header, width_of, rounded):
    if width_of is None:
        return values
    with np.errstate(all="ignore"):
        work = _in_work(values, header)
        exact = work.astype("f8")
        width = width_of(abs(exact))
        steps = exact * (1 / width)
        moved = (((steps + 1.5 * 2.0 ** 52) - 1.5 * 2.0 ** 52) * width).astype(header.dtype)
        moves = (abs(steps) < 2.0 ** 51) & np.isfinite(work)
        fills = rounded(np.array(header.fills, header.dtype), header.stored, header.is_bfloat16)
        for fill in _in_work(fills, header):
            moves &= work != fill
    return np.where(moves, rounded(np.where(moves, moved, work), header.stored, header.is_bfloat16), values)
