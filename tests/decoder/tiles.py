"""Tiles (4.4)."""

from itertools import product
from types import SimpleNamespace

import numpy as np

from .numbers import Reader, unzigzag
from .parts import LOG, clamp, float_magnitude

# By the number of extents that are not 1: a tile, its lanes, the points of a lane, and a group.
_SHAPES = {1: ((1, 1, 1024), (1, 1, 32), (1, 1, 32), (1, 1, 8)),
           2: ((1, 32, 32), (1, 4, 8), (1, 8, 4), (1, 2, 4)),
           3: ((8, 8, 16), (2, 4, 4), (4, 2, 4), (2, 2, 2))}

# Of a base, below the zigzag.
_SIGN_BITS, _ZERO_BITS = 3, 5


def read(table, frame):
    return SimpleNamespace(level_of_pass=[0], half_step=table.f64())


def _raster(extents):
    return list(product(*[range(extent) for extent in extents]))


class _Shape:
    """Where the points of a tile stand."""

    def __init__(self, extents):
        self.tile, lanes, of_lane, group = _SHAPES[max(sum(extent > 1 for extent in extents), 1)]
        self.lanes = [[first * size for first, size in zip(lane, of_lane)] for lane in _raster(lanes)]
        self.points = _raster(of_lane)
        groups = _raster([size // part for size, part in zip(of_lane, group)])
        self.groups = [[tuple(a * size + b for a, size, b in zip(which, group, point)) for point in _raster(group)]
                       for which in groups]

    def place(self, lane, point):
        return tuple(first + offset for first, offset in zip(self.lanes[lane], point))


class _Head:
    def __init__(self, word):
        self.pairs, self.whole, self.axes, self.base_bytes = word & 31, word >> 5 & 31, word >> 10 & 7, word >> 13 & 7
        self.bytes, self.patched, self.raw = word >> 16 & 0x3FFF, word >> 30 & 1, word >> 31

    def word_bytes(self, dtype):
        return 1024 * np.dtype(dtype).itemsize if self.raw else 4 * (64 * self.whole + self.pairs - self.whole)


def _signs(base, data):
    whole = 0xFFFFFFFF
    if not base & 2:
        return [whole * (base & 1)] * 32
    all_of_lane, some_of_lane = data.u32(), data.u32()
    return [data.u32() if some_of_lane >> lane & 1 else whole * (all_of_lane >> lane & 1) for lane in range(32)]


def _integers(shape, head, words, data, low_bits):
    """The integers of a tile, and what the base has below the zigzag; signs then as bits of each lane's points."""
    planes = np.zeros(shape.tile, "u4")

    def add(lane, pair, number, byte):
        for bit, point in enumerate(shape.groups[number // 2]):
            planes[shape.place(lane, point)] |= np.uint32((byte >> bit & 1) << (2 * pair + number % 2))

    for pair, half, lane, i in product(range(head.whole), (0, 4), range(32), range(4)):
        add(lane, pair, half + i, words.u8())
    others = range(head.whole, head.pairs)
    having = {pair: words.u32() for pair in others}
    base = int.from_bytes(data.take(head.base_bytes), "little")
    low = base & (1 << low_bits) - 1
    if low_bits == _SIGN_BITS:
        low = _signs(base, data)
    base = unzigzag(base >> low_bits)
    flags = {(pair, lane): data.u8() if having[pair] >> lane & 1 else 0 for pair in others for lane in range(32)}
    for lane, pair, number in product(range(32), others, range(8)):
        if flags[pair, lane] >> number & 1:
            add(lane, pair, number, data.u8())
    integers = planes >> np.uint32(1) ^ np.uint32(0) - (planes & np.uint32(1))
    for axis, bit in ((0, 4), (1, 2), (2, 1)):
        if head.axes & bit:
            integers = np.cumsum(integers, axis=axis, dtype="u4")
    return (integers + np.uint32(base & 0xFFFFFFFF)).view("i4"), low


def _values(frame, integers):
    dtype = frame.dtype
    addend = dtype(1.5 * 2 ** (23 if dtype == np.float32 else 52))
    signed = np.dtype(f"i{np.dtype(dtype).itemsize}")
    whole = (addend.view(signed).astype("i8") + integers).astype(signed).view(dtype) - addend
    half_step = frame.predictor.half_step
    return (whole + dtype(0.5 if half_step < 0 else 0)) * dtype(2 * abs(half_step))


def _tile_of_words(frame, shape, head, words, data):
    """The bits of a tile's values, without loss."""
    bits = np.zeros(shape.tile, "u4")
    if head.raw:
        for point, lane in product(shape.points, range(32)):
            bits[shape.place(lane, point)] = words.u32()
        return bits
    assert not head.patched
    integers, zeros = _integers(shape, head, words, data, _ZERO_BITS)
    bits = integers.view("u4") << np.uint32(zeros)
    if frame.stored.kind == "f":
        bits ^= (bits >> np.uint32(31)) * np.uint32(0x7FFFFFFF)
    return bits >> np.uint32(zeros) << np.uint32(zeros)


def _restored_tile(frame, shape, head, words, data):
    tile = np.zeros(shape.tile, frame.dtype)
    value_of = (lambda reader: reader.f32()) if frame.dtype == np.float32 else (lambda reader: reader.f64())
    if head.raw:
        for point, lane in product(shape.points, range(32)):
            tile[shape.place(lane, point)] = value_of(words)
        return tile
    has_signs = frame.transform is not None and frame.transform.id == LOG
    integers, signs = _integers(shape, head, words, data, _SIGN_BITS if has_signs else 0)
    seen = _values(frame, integers)
    tile[:] = seen if has_signs else np.clip(seen, frame.least, frame.most)
    if has_signs:
        for lane, point in product(range(32), range(32)):
            place = shape.place(lane, shape.points[point])
            magnitude = float_magnitude(frame, tile[place])
            signed = -magnitude if signs[lane] >> point & 1 else magnitude
            tile[place] = clamp(signed, frame.dtype(frame.min), frame.dtype(frame.max))
    if head.patched:
        places = [data.u16() for _ in range(data.u16())]
        for place in places:
            tile[shape.place(place // 32, shape.points[place % 32])] = value_of(data)
    return tile


def restored_words(frame):
    """Of frames of kind 7."""
    return _restored(frame, np.uint32, _tile_of_words).view(frame.stored)


def restored(frame):
    return _restored(frame, frame.dtype, _restored_tile)


def _restored(frame, dtype, restored_tile):
    sections, shape, extents = frame.passes[0], _Shape(frame.extents), frame.extents
    tiles_of_chunk = 32 // np.dtype(dtype).itemsize
    tiles = _raster([-(-extent // size) for extent, size in zip(extents, shape.tile)])
    index, values = Reader(sections["index"]), np.zeros(extents, dtype)
    for number in range(0, len(tiles), tiles_of_chunk):
        in_chunk = tiles[number:number + tiles_of_chunk]
        chunk = Reader(sections["codes"][4 * index.u32():])
        heads = [_Head(chunk.u32()) for _ in in_chunk]
        words = [Reader(chunk.take(head.word_bytes(dtype))) for head in heads]
        for place, head, its_words in zip(in_chunk, heads, words):
            data = Reader(chunk.take(head.bytes))
            tile = restored_tile(frame, shape, head, its_words, data)
            data.end(), its_words.end()
            first = [a * size for a, size in zip(place, shape.tile)]
            inside = [min(size, extent - begin) for size, extent, begin in zip(shape.tile, extents, first)]
            part = tuple(slice(begin, begin + size) for begin, size in zip(first, inside))
            values[part] = tile[tuple(slice(size) for size in inside)]
    return values.ravel()
