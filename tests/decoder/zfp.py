"""Zfp (4.5)."""

from itertools import product
from types import SimpleNamespace

import numpy as np

from .parts import clamp, patched, power_of_two, squeezed

_PLACES = {1: [0, 1, 2, 3], 2: [int(digit, 16) for digit in "014528693ca7dbef"], 3: list(bytes.fromhex(
    "0001041014110502082015061218092124030c3016192528220a07131c0d3134"
    "29261a171d350b232c0e32382a1b272d1e36393c330f2b2e3a3d371f3e3b2f3f")), 4: list(bytes.fromhex(
        "0001041040055011444114020820805451451506124218480960212481849003"
        "0c30c0555246164919582564619491850aa0228882280713431c4c0d703134c1"
        "c4d056596595a189298626a41a989268624a5347174d1d5c357471d4d1c50b23"
        "832c8c0eb03238c2c8e05aa566999669a8a28a2a575d75d51b4b632787936c2d"
        "8d9c1e4eb1b436727839c6d2d8c9e1e40ff033ccc33ca9a69a6a5b67976d9d5e"
        "b57679d6d9e5a38b2b8e2eac3ab8b2e8e2caf1cd3dc737f41fdcd37c734faaa7"
        "9b6b9e6ead7ab9b6e9e6da5ff577ddd77df2ce3ecb3bf82fece3bcb38fabaeba"
        "eaf6de7edb7bf96fede7bdb79ffcf3cf3faffabbeeebbefdf7df7ffefbefbfff"))}


def read(table, frame):
    params = SimpleNamespace(level_of_pass=[0], least_bits=table.varint(), most_bits=table.varint(),
                             most_planes=table.varint(), least_exponent=table.i32())
    params.chunk, params.index, params.partition = table.varint(), table.u8(), table.varint()
    params.reversible = params.least_exponent < -1074
    return params


class _Stream:
    """Bits from the lowest place of words on."""

    def __init__(self, data):
        self.bits, self.at = int.from_bytes(data, "little"), 0

    def get(self, count):
        self.at += count
        return self.bits >> (self.at - count) & ((1 << count) - 1)


class _Decoder:
    def __init__(self, frame):
        self.dtype, self.params = frame.dtype, frame.predictor
        self.extents = squeezed(frame.dims) or [1]
        self.rank = len(self.extents)
        self.size = 4 ** self.rank
        self.width = 8 * np.dtype(frame.dtype).itemsize
        self.exponent_bits, self.bias, self.count_bits = (8, 127, 5) if self.width == 32 else (11, 1023, 6)
        self.stream = _Stream(frame.passes[0]["codes"])

    def wrapped(self, number):
        half = 1 << (self.width - 1)
        return (number + half) % (2 * half) - half

    def head(self):
        """The exponent, None where there is none, and how many planes follow."""
        params = self.params
        if not self.stream.get(1):
            return None, 0
        has_exponent = not params.reversible or not self.stream.get(1)
        exponent = self.stream.get(self.exponent_bits) - self.bias if has_exponent else None
        if params.reversible:
            return exponent, self.stream.get(self.count_bits) + 1
        planes = min(params.most_planes, exponent - params.least_exponent + 2 * self.rank + 2)
        return exponent, min(max(planes, 0), self.width)

    def coefficients(self, planes, limit):
        stream, result, known = self.stream, [0] * self.size, 0
        for plane in range(self.width - 1, self.width - 1 - planes, -1):
            count = min(known, limit - stream.at)
            ones = stream.get(count)
            for i in range(count):
                result[i] |= (ones >> i & 1) << plane
            while count == known and known < self.size and stream.at < limit and stream.get(1):
                while known < self.size - 1 and stream.at < limit and not stream.get(1):
                    known += 1
                result[known] |= 1 << plane
                known += 1
                count = known
        return result

    def undo_line(self, line):
        x, y, z, w = line
        if self.params.reversible:
            w = self.wrapped(w + z)
            z = self.wrapped(z + y)
            w = self.wrapped(w + z)
            y = self.wrapped(y + x)
            z = self.wrapped(z + y)
            return x, y, z, self.wrapped(w + z)

        def undo(a, b):
            b = self.wrapped(b + a)
            return self.wrapped(2 * a - b), b

        y = self.wrapped(y + (w >> 1))
        w = self.wrapped(w - (y >> 1))
        w, y = undo(w, y)
        x, z = undo(x, z)
        z, y = undo(z, y)
        x, w = undo(x, w)
        return x, y, z, w

    def integers(self, coefficients):
        alternating = int("10" * (self.width // 2), 2)
        integers = [0] * self.size
        for place, coefficient in zip(_PLACES[self.rank], coefficients):
            integers[place] = self.wrapped((coefficient ^ alternating) - alternating)
        for stride in [4 ** axis for axis in range(self.rank - 1, -1, -1)]:
            for first in [i for i in range(self.size) if i // stride % 4 == 0]:
                line = slice(first, first + 3 * stride + 1, stride)
                integers[line] = self.undo_line(integers[line])
        return integers

    def block(self):
        start = self.stream.at
        exponent, planes = self.head()
        coefficients = self.coefficients(planes, start + self.params.most_bits)
        self.stream.at = max(self.stream.at, start + self.params.least_bits)
        if planes == 0 or (self.params.reversible and exponent == -self.bias):
            return np.zeros(self.size, self.dtype)
        integers = self.integers(coefficients)
        if exponent is None:
            all_but_sign = (1 << (self.width - 1)) - 1
            patterns = [i ^ all_but_sign if i < 0 else i for i in integers]
            return np.array(patterns, f"i{self.width // 8}").view(self.dtype)
        scale = self.dtype(power_of_two(exponent - self.width + 2))
        return np.array([self.dtype(i) * scale for i in integers], self.dtype)

    def values(self):
        values = np.zeros(self.extents, self.dtype)
        for first in product(*[range(0, extent, 4) for extent in self.extents]):
            block = self.block().reshape([4] * self.rank)
            inside = [min(4, extent - begin) for extent, begin in zip(self.extents, first)]
            part = tuple(slice(begin, begin + size) for begin, size in zip(first, inside))
            values[part] = block[tuple(slice(size) for size in inside)]
        return values.ravel()


def restored(frame):
    with np.errstate(over="ignore"):
        values = _Decoder(frame).values()
    if not frame.predictor.reversible:
        values = np.array([clamp(value, frame.least, frame.most) for value in values], frame.dtype)
    return patched(values, frame.passes[0].get("patches"))
