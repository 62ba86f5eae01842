"""Cells (4.6)."""

import math
from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np

from .numbers import Bits, Reader, unzigzag
from .parts import local_half_steps, patched

# By rank: points of a tile along an axis, cells of a block along an axis, classes in their order.
_SHAPES = {1: (4096, 64, (4,)), 2: (64, 8, (4, 2, 6)), 3: (16, 4, (4, 2, 1, 6, 5, 3, 7))}
_TOKENS, _SMALL, _CLASSES, _ONE, _WEIGHT, _CARRIED = 53, 31, 24, 1024, 1024, 16
_COARSE_CONTEXT = _CLASSES - 1  # of block 0
_MOST_SPARSE = 3  # the last class that is the sum of the magnitudes of a block


def read(table, frame):
    rank_and_limits = table.u8()
    rank = rank_and_limits & ~48
    assert rank == max(sum(extent > 1 for extent in frame.extents), 1) or rank == 2
    tile, side, _ = _SHAPES[rank]
    return SimpleNamespace(level_of_pass=list(range((tile // 2 // side).bit_length() + 1)), rank=rank,
                           half_step=table.f64(), background=table.f64(),
                           floor=table.f64() if rank_and_limits & 16 else None,
                           ceiling=table.f64() if rank_and_limits & 32 else None)


def _order(odd):
    return bin(odd).count("1")


# ---- frequency tables

def _is_mirrored(token):
    return token > 0 and token % 2 == 0 and token < _SMALL


def fitted(weights, is_of_codes):
    """Frequencies of the sum 1024 from weights, of which some are 0."""
    at_rest = 0 if is_of_codes else weights.index(max(weights))
    total, owed, rest, frequencies = sum(weights), 0, _ONE, [0] * len(weights)
    for i, weight in enumerate(weights):
        if is_of_codes and _is_mirrored(i):
            continue
        alike = 2 if is_of_codes and _is_mirrored(i + 1) else 1
        if alike == 2:
            weight = (weight + weights[i + 1] + 1) // 2
        if i == at_rest or weight == 0:
            continue
        ideal = (weight << 18) // total
        wanted = ideal + max(min(owed, ideal // 8), -(ideal // 8))
        whole = wanted + 128 >> 8
        open_bits = max(whole.bit_length() - 3, 0)
        frequency = max(1, (whole + (1 << open_bits >> 1)) >> open_bits << open_bits)
        owed += alike * (ideal - (frequency << 8))
        frequencies[i:i + alike] = [frequency] * alike
        rest -= alike * frequency
    while rest < 1:
        largest = frequencies.index(max(frequencies))
        half = frequencies[largest] // 2
        for i in range(largest, largest + (2 if is_of_codes and _is_mirrored(largest + 1) else 1)):
            rest += frequencies[i] - half
            frequencies[i] = half
    frequencies[at_rest] = rest
    return frequencies


def _class_of(total):
    if total < 4:
        return total
    exponent = total.bit_length() - 1
    return min(exponent + 9, 23) if exponent >= 9 else 2 * exponent + (total >> exponent - 1 & 1)


def power(share, exponent):
    power = 1 << 16
    while exponent:
        if exponent & 1:
            power = power * share >> 16
        share = share * share >> 16
        exponent >>= 1
    return power


def _raw_bits(token):
    return (token - _SMALL) // 2 + 4 if token >= _SMALL else 0


def _magnitude(token, raw=0):
    if token < _SMALL:
        return (token + 1) // 2
    return (2 + (token - _SMALL & 1)) << _raw_bits(token) - 1 | raw >> 1


@cache
def _default_codes(number):
    sums = [total for total in range(1, 32768) if _class_of(total) == number]
    least, largest = sums[0], 32767 if number == 23 else sums[-1]
    total = least + largest
    share = (math.isqrt((128 * 128 + total * total) << 32) - (128 << 16)) // total
    weights = [0] * 64
    for token in range(_TOKENS):
        count = 1 << _raw_bits(token)
        if _magnitude(token) <= largest:
            weights[token] = power(share, _magnitude(token) + count // 4) * count + 1
    return fitted(weights, True)


@cache
def _default_classes(context):
    weights = []
    for number in range(_CLASSES):
        weight = 1 << 20
        for _ in range(0 if context == _COARSE_CONTEXT else abs(number - context)):
            weight = weight * 3 // 8
        weights.append(weight + 1)
    return fitted(weights + [0] * (64 - _CLASSES), False)


def _width(bits, before):
    ones = 0
    while ones < 4 and bits.get(1):
        ones += 1
    return bits.get(4) if ones == 4 else before + (0, -1, 1, -2)[ones]


def table(bits, default, is_of_codes):
    if bits.get(1):
        return default
    rest = 0 if is_of_codes else bits.get(6)
    last, width, frequencies = bits.get(6), 10, [0] * 64
    for i in range(last + 1):
        if i == rest or is_of_codes and _is_mirrored(i):
            continue
        width = _width(bits, width)
        if width:
            mantissa_bits = min(width - 1, 2)
            frequencies[i] = (1 << mantissa_bits | bits.get(mantissa_bits)) << width - 1 - mantissa_bits
            if is_of_codes and _is_mirrored(i + 1):
                frequencies[i + 1] = frequencies[i]
    frequencies[rest] = _ONE - sum(frequencies)
    assert frequencies[rest] > 0
    return frequencies


def slots(frequencies):
    """Of a state's low bits: symbol, frequency, and the place in it."""
    return [(symbol, frequency, place) for symbol, frequency in enumerate(frequencies) for place in range(frequency)]


def _head(frame, classes, levels):
    bits = Bits(frame.passes[0]["codebook"])
    head = SimpleNamespace(blocks_of_lane=8 << bits.get(2), weights={})
    for level in reversed(range(levels)):
        for odd in (odd for odd in classes if _order(odd) > 1):
            second, third = (341, 341) if _order(odd) == 3 else (512, 0)
            if not bits.get(1):
                second, third = bits.get(14) - 4096, bits.get(14) - 4096
            head.weights[level, odd] = (_WEIGHT - second - third, second, third)
    head.codes = [None] + [slots(table(bits, _default_codes(number), True)) for number in range(1, _CLASSES)]
    head.classes = [slots(table(bits, _default_classes(context), False)) for context in range(_CLASSES)]
    bits.end()
    return head


# ---- chains

class Segment:
    def __init__(self, data, lanes):
        self.data = Reader(data)
        long_ones = self.data.u32()
        self.states = [int.from_bytes(self.data.take(3 + (long_ones >> lane & 1)), "little") for lane in range(lanes)]
        assert not any(self.data.take(-self.data.at % 4))

    def _refill(self, lane):
        if self.states[lane] < 1 << 16:
            self.states[lane] = self.states[lane] << 16 | self.data.u16()

    def symbol(self, lane, slots):
        return self._take(lane, *slots[self.states[lane] % _ONE])

    def _take(self, lane, symbol, frequency, place):
        self.states[lane] = frequency * (self.states[lane] >> 10) + place
        self._refill(lane)
        return symbol

    def token(self, lane, slots, carried):
        """The token of a code; of the positive one if the lane carries its sign, which `carried` counts."""
        token, frequency, place = slots[self.states[lane] % _ONE]
        if carried and 0 < token < _SMALL and carried[lane] < _CARRIED:
            carried[lane] += 1
            place, token = place + (0 if token & 1 else frequency), token - 1 | 1
            frequency *= 2
        return self._take(lane, token, frequency, place)

    def signs(self, lane, count):
        """Whether codes are negative, of those whose signs the lane carries."""
        bits = self.states[lane] - (1 << 16)
        assert 0 <= bits < 1 << count
        self.states[lane] = 1 << 16
        return [bits >> i & 1 for i in range(count)]

    def word(self, lane):
        """What the lane carries of lists."""
        word = self.states[lane] - (1 << 16)
        assert 0 <= word < 1 << 16
        self.states[lane] = 1 << 16
        return word

    def raw(self, lane, bits):
        raw = self.states[lane] & (1 << bits) - 1
        self.states[lane] >>= bits
        self._refill(lane)
        return raw

    def end(self):
        assert all(state == 1 << 16 for state in self.states)
        if self.data.at % 4:
            assert self.data.u16() == 0
        self.data.end()


def _blocks_of_pass(rank, number):
    return (0, 1) if number == 0 else (1 << rank * (number - 1), ((1 << rank) - 1) << rank * (number - 1))


def _parents(rank, block):
    depth = (block.bit_length() - 1) // rank
    box, odd = divmod(block - (1 << rank * depth), (1 << rank) - 1)
    parent = 0
    if depth:
        coarse = 0
        for axis in range(rank):
            along = box >> axis * depth & (1 << depth) - 1
            coarse |= along >> 1 << axis * (depth - 1)
        parent = (1 << rank * (depth - 1)) + coarse * ((1 << rank) - 1) + odd
    return (block - 1 if odd else parent), parent


def _read_classes(rank, number, head, index, data, classes):
    """Returns the words that the lanes carry."""
    first, blocks = _blocks_of_pass(rank, number)
    carried = []
    run = 256
    while run > 1 and run * blocks > 256:
        run //= 2
    for begin in range(0, len(classes), 32 * run):
        runs = range(begin, min(begin + 32 * run, len(classes)), run)
        segment = Segment(data.take(index.u32()), len(runs))
        for of_run, block in product(range(run), range(first, first + blocks)):
            for lane, start in enumerate(runs):
                tile = start + of_run
                if tile >= len(classes):
                    break
                if block == 0:
                    context = _COARSE_CONTEXT
                else:
                    before, parent = _parents(rank, block)
                    context = (int(classes[tile, before]) + int(classes[tile, parent]) + 1) // 2
                classes[tile, block] = segment.symbol(lane, head.classes[context])
        carried += [segment.word(lane) for lane in range(len(runs))]
        segment.end()
    return carried


def _read_lists(sparse, carried, data, classes, codes):
    """Codes of sparse blocks, whose units are told by their positions."""
    bits = [1 + 6 * int(classes[block]) for block in sparse]
    count = -(-sum(bits) // 16)
    words = carried[:count]
    if count > len(carried):
        words += [data.u16() for _ in range(count - len(carried))]
        if len(words) % 2 != len(carried) % 2:
            assert data.u16() == 0
    assert not any(carried[count:])
    string = sum(word << 16 * i for i, word in enumerate(words))
    for (tile, block), size in zip(sparse, bits):
        sign, before = -1 if string & 1 else 1, 0
        for i in range(classes[tile, block]):
            position = string >> 1 + 6 * i & 63
            sign = -sign if position < before else sign
            codes[tile, 64 * block + position] += sign
            before = position
        string >>= size


def _read_codes(live, blocks_of_lane, head, index, data, classes, codes, coded):
    for begin in range(0, len(live), 32 * blocks_of_lane):
        blocks = live[begin:begin + 32 * blocks_of_lane]
        segment = Segment(data.take(index.u32()), min(len(blocks), 32))
        carried = [0] * len(segment.states)
        for start in range(0, len(blocks), 32):
            lanes = blocks[start:start + 32]
            tables = [head.codes[classes[tile, block]] for tile, block in lanes]
            may_carry = start // 32 < (blocks_of_lane + 3) // 4
            for i in range(64):
                tokens = {lane: segment.token(lane, tables[lane], carried if may_carry else None)
                          for lane, (tile, block) in enumerate(lanes) if coded[tile, 64 * block + i]}
                for lane, token in tokens.items():
                    if token < _SMALL:
                        code = (token + 1) // 2 if token & 1 else -(token // 2)
                    else:
                        raw = segment.raw(lane, _raw_bits(token))
                        code = -_magnitude(token, raw) if raw & 1 else _magnitude(token, raw)
                    tile, block = lanes[lane]
                    codes[tile, 64 * block + i] = code
        for lane, count in enumerate(carried):
            places = [(tile, 64 * block + i) for tile, block in blocks[lane::32] for i in range(64)
                      if 0 < abs(int(codes[tile, 64 * block + i])) <= _SMALL // 2]
            for place, is_negative in zip(places, segment.signs(lane, count)):
                codes[place] = -codes[place] if is_negative else codes[place]
        segment.end()


def _read_pass(rank, number, head, sections, classes, codes, coded):
    if "index" not in sections:
        return
    index, data = Reader(sections["index"]), Reader(sections["contexts"])
    carried = _read_classes(rank, number, head, index, data, classes)
    first, blocks = _blocks_of_pass(rank, number)
    live = [(tile, block) for tile in range(len(classes)) for block in range(first, first + blocks)
            if classes[tile, block]]
    sparse = [(tile, block) for tile, block in live
              if classes[tile, block] <= _MOST_SPARSE and coded[tile, 64 * block:64 * block + 64].all()]
    _read_lists(sparse, carried, data, classes, codes)
    data.end()
    live = [block for block in live if block not in set(sparse)]
    data = Reader(sections.get("codes", b""))
    finer_passes = {1: 7, 2: 4, 3: 3}[rank] - 1 - number
    blocks_of_lane = head.blocks_of_lane >> (min(2, finer_passes) if len(classes) >= 4096 else 0)
    _read_codes(live, blocks_of_lane, head, index, data, classes, codes, coded)
    data.end(), index.end()


# ---- values

def _anchors(data, tiles):
    count = math.prod(tiles)
    groups = -(-count // 32)
    widths, words, differences = data[:groups], Reader(data[-(-groups // 4) * 4:]), []
    for width in widths:
        packed = int.from_bytes(words.take(4 * width), "little")
        differences += [unzigzag(packed >> i * width & (1 << width) - 1) for i in range(32)]
    words.end()
    anchors = np.array(differences[:count], "i8").astype("u4").reshape(tiles)
    for axis in range(3):
        anchors = np.cumsum(anchors, axis=axis, dtype="u4")
    return anchors.view("i4")


def _position(side, classes, n, odd, cell):
    """Where in its tile the code of a point stands."""
    rank, number = len(classes).bit_length(), classes.index(odd)
    z, y, x = cell
    line, across, beyond = (x, y, z) if odd & 4 else (y, x, z) if odd & 2 else (z, x, y)
    if n < side:
        return (1 + number) * n ** rank + (beyond * n + across) * n + line
    boxes = n // side
    box = (z // side * boxes + y // side) * boxes + x // side
    block = boxes ** rank + box * len(classes) + number
    return block * 64 + (beyond % side * side + across % side) * side + line % side


def _spline(dtype, far_left, right, far_right):
    if not right:
        weights = (-0.5, 1.5, 0, 0) if far_left else (0, 1, 0, 0)
    elif far_left:
        weights = (-0.0625, 0.5625, 0.5625, -0.0625) if far_right else (-0.125, 0.75, 0.375, 0)
    else:
        weights = (0, 0.375, 0.75, -0.125) if far_right else (0, 0.5, 0.5, 0)
    return [dtype(weight) for weight in weights]


def _border(dtype, fitted, axes, known):
    taking = [i for i in range(axes) if known[i] or not any(known[:axes])]
    weights, total = [dtype(0)] * 3, dtype(0)
    for i in taking:
        weights[i] = max(fitted[i], dtype(0.0625))
        total = total + weights[i]
    return [weight / total for weight in weights]


class _Cells:
    def __init__(self, frame):
        params = frame.predictor
        self.frame, self.dtype, self.extents = frame, frame.dtype, frame.extents
        self.tile, self.side, self.classes = _SHAPES[params.rank]
        self.levels = self.tile.bit_length() - 1
        self.sizes = [1] * (3 - params.rank) + [self.tile] * params.rank
        self.tiles = [-(-extent // size) for extent, size in zip(self.extents, self.sizes)]
        self.head = _head(frame, self.classes, self.levels)
        count = math.prod(self.tiles)
        classes, self.codes = np.zeros((count, 64), "u1"), np.zeros((count, 4096), "i2")
        coded = np.zeros((count, 4096), bool)
        bounds = frame.passes[0].get("bounds")
        coded[:, 0] = bounds is not None
        for level, odd in product(range(self.levels), self.classes):
            for point in self.points(level, odd):
                coded[self.code_at(level, odd, point)] = True
        for number, sections in enumerate(frame.passes):
            _read_pass(params.rank, number, self.head, sections, classes, self.codes, coded)
        dtype = self.dtype
        self.background = dtype(params.background)
        most = np.finfo(dtype).max / dtype(128)
        self.low = -most if params.floor is None else dtype(params.floor) - self.background
        self.high = most if params.ceiling is None else dtype(params.ceiling) - self.background
        self.values = np.zeros(self.extents, dtype)
        which, self.half_steps = local_half_steps(bounds, params.half_step, tuple(self.extents))
        self.which = which.reshape(self.extents)

    def step(self, level, which=0):
        return self.dtype(2 * (self.half_steps[which] / (1, 1.15, 1.3225, 1.5)[min(level, 3)]))

    def restored(self):
        anchors = _anchors(self.frame.passes[0]["anchors"], self.tiles)
        of_anchors = tuple(slice(None, None, size) for size in self.sizes)
        step = self.step(self.levels - 1)
        self.values[of_anchors] = np.clip(anchors.astype(self.dtype) * step, self.low, self.high)
        first_points = product(*(range(0, extent, size) for extent, size in zip(self.extents, self.sizes)))
        for number, point in enumerate(first_points):
            self.values[point] = self.coded(self.values[point], self.codes[number, 0], self.levels - 1, point)
        for level, odd in product(reversed(range(self.levels)), self.classes):
            self.restore_class(level, odd)
        values = np.clip(self.values + self.background, self.frame.least, self.frame.most).ravel()
        for sections in self.frame.passes:
            values = patched(values, sections.get("patches", b""))
        return values

    def points(self, level, odd):
        unit = 1 << level
        ranges = [range(unit if odd >> axis & 1 else 0, extent, 2 * unit) if size > 1 else range(extent)
                  for axis, (extent, size) in enumerate(zip(self.extents, self.sizes))]
        return product(*ranges)

    def code_at(self, level, odd, point):
        """The tile of a point, and where its code stands there."""
        unit = 1 << level
        tile = np.ravel_multi_index([at // size for at, size in zip(point, self.sizes)], self.tiles)
        cell = [at % size // (2 * unit) for at, size in zip(point, self.sizes)]
        return tile, _position(self.side, self.classes, self.tile // 2 // unit, odd, cell)

    def restore_class(self, level, odd):
        for point in self.points(level, odd):
            code = self.codes[self.code_at(level, odd, point)]
            self.values[point] = self.coded(self.predicted(level, odd, point), code, level, point)

    def coded(self, predicted, code, level, point):
        value = predicted + self.dtype(code) * self.step(level, self.which[point])
        return min(max(value, self.low), self.high)

    def at(self, point, *moves):
        moved = list(point)
        for axis, by in moves:
            moved[axis] += by
        return self.values[tuple(moved)]

    def predicted(self, level, odd, point):
        unit, dtype = 1 << level, self.dtype
        axes = [axis for axis in range(3) if odd >> axis & 1]
        parts, known = [], []
        for axis in axes:
            local = point[axis] % self.tile
            last = min(self.tile, self.extents[axis] - 1 - (point[axis] - local))
            there = (local >= 3 * unit, local + unit <= last, local + 3 * unit <= last)
            weights, left = _spline(dtype, *there), self.at(point, (axis, -unit))
            far_left, right, far_right = (self.at(point, (axis, by * unit)) if exists else left
                                          for by, exists in zip((-3, 1, 3), there))
            parts.append((weights[1] * left + weights[2] * right) + (weights[0] * far_left + weights[3] * far_right))
            known.append(there[1])
        if len(axes) == 1:
            return parts[0]
        weights = [dtype(weight) * (dtype(1) / dtype(_WEIGHT)) for weight in self.head.weights[level, odd]]
        if not all(known):
            weights = _border(dtype, weights, len(axes), known)
        if len(axes) == 2:
            mean = dtype(0)
            if all(known):
                low_low, high_low, low_high, high_high = (
                    self.at(point, (axes[0], a * unit), (axes[1], b * unit)) for b in (-1, 1) for a in (-1, 1))
                mean = dtype(0.25) * ((low_low + high_low) + (low_high + high_high))
            parts.append(mean)
        return (weights[0] * parts[0] + weights[1] * parts[1]) + weights[2] * parts[2]


def restored(frame):
    return _Cells(frame).restored()
