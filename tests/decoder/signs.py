"""Signs (3.7)."""

from functools import cache

import numpy as np

from .cells import Segment, fitted, slots, table
from .numbers import Bits, Reader
from .parts import extents_of

_LANES, _GROUP, _CHANGES = 32, 4, 16


@cache
def _default(number):
    weights = []
    for symbol in range(16):
        if number < _CHANGES:
            signs = number ^ symbol
            changes = bin((signs ^ signs << 1) & 15).count("1")
            weights.append((1 << 16 >> 2 * changes + bin(symbol).count("1")) * (1 if number or symbol else 4))
        else:
            often, weight = 2 * (number - _CHANGES) + 1, 1
            for i in range(_GROUP):
                weight *= often if symbol >> i & 1 else 8 - often
            weights.append(weight)
    return fitted(weights + [0] * 48, False)


class _Tiles:
    """The tiles of a frame, numbered column by column; each a list of 64 signs."""

    def __init__(self, dims):
        z, y, x = extents_of(dims)
        self.rows = 8 if z > 1 or (y > 1 and x <= 8) else 1
        self.slices, self.height, self.width = (z, y, x) if self.rows == 8 else (y, 1, x)
        self.in_row = 64 // self.rows
        self.across = -(-self.width // self.in_row)
        self.tiles = [None] * (self.across * -(-self.height // self.rows) * self.slices)

    def compared(self, number, before):
        if number % self.slices:
            return before
        return before[-8:] * 8 if self.rows == 8 else before[-1:] * 64

    def signs(self):
        signs = np.empty((self.slices, self.height, self.width), bool)
        for z, y, x in np.ndindex(signs.shape):
            column = y // self.rows * self.across + x // self.in_row
            signs[z, y, x] = self.tiles[column * self.slices + z][y % self.rows * self.in_row + x % self.in_row]
        return signs.reshape(-1)


def _nibble(segment, lane, tables, tiles, compared, tile):
    """The next four signs of a tile."""
    first, row, expected = len(tile), tiles.in_row, []
    point_before = compared[first] if first % row == 0 else tile[-1]
    for at in range(first, first + 4):
        is_alike = tiles.rows == 1 or at < 8 or tile[at - 8] == compared[at - 8]
        expected.append(compared[at] if is_alike else tile[at - 8])
    context = sum((sign != point_before) << i for i, sign in enumerate(expected))
    wrong = segment.symbol(lane, tables[context])
    return [sign ^ wrong >> i & 1 for i, sign in enumerate(expected)]


def _lane(segment, lane, tables, tiles, numbers, sign):
    """Decodes the tiles of a lane; stops before each symbol."""
    before, differed = [sign] * 64, False
    for first in numbers[::_GROUP]:
        compared = tiles.compared(first, before)
        yield
        changes = segment.symbol(lane, tables[_CHANGES + 2 * (len(set(compared)) > 1) + differed])
        for i, number in enumerate(range(first, min(first + _GROUP, numbers.stop))):
            compared, differed = tiles.compared(number, before), changes >> i & 1
            before = []
            while differed and len(before) < 64:
                yield
                before += _nibble(segment, lane, tables, tiles, compared, before)
            before = before or compared
            tiles.tiles[number] = before


def _read_segment(data, tables, tiles, runs, sign):
    """`runs`: the numbers of tiles of each lane."""
    present = Reader(data[:4]).u32() if data else 0
    lanes = []
    count = bin(present).count("1")
    segment = Segment(data[4:], count)
    for i, numbers in enumerate(runs):
        if present >> i & 1:
            lanes.append(_lane(segment, len(lanes), tables, tiles, numbers, sign))
        else:
            for number in numbers:
                tiles.tiles[number] = [sign] * 64
    assert len(lanes) == count and (count or not data)
    ended = object()
    for lane in lanes:
        next(lane)
    while lanes:
        lanes = [lane for lane in lanes if next(lane, ended) is not ended]
    segment.end()


def read(data, dims):
    """Whether points are negative."""
    points, bits = int(np.prod(dims)), Bits(data)
    if bits.get(1):
        assert len(data) == 4 + -(-points // 32) * 4
        return np.unpackbits(np.frombuffer(data[4:], "u1"), bitorder="little")[:points].astype(bool)
    sign = bits.get(1)
    tables = [slots(table(bits, _default(number), False)) for number in range(20)]
    tiles, reader = _Tiles(dims), Reader(data)
    reader.take(-(-bits.bytes_read() // 4) * 4)
    count = len(tiles.tiles)
    of_lane = 256 if count < 2 ** 16 else 128 if count < 2 ** 18 else 64
    runs = [range(first, min(first + of_lane, count)) for first in range(0, count, of_lane)]
    segments = [runs[i:i + _LANES] for i in range(0, len(runs), _LANES)]
    sizes = [reader.u32() for _ in segments]
    for size, of_segment in zip(sizes, segments):
        _read_segment(reader.take(size), tables, tiles, of_segment, sign)
    reader.end()
    return tiles.signs()
