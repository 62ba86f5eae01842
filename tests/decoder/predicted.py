"""Predicted frames (2.1): lossless."""

import math
from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np

from . import cells
from .numbers import Bits, Reader

_BLOCKS = {1: (1, 1, 64), 2: (1, 8, 8), 3: (4, 4, 4)}
_CLASSES, _LANE_BLOCKS = 64, 512
_BY_VALUE, _SIGN_LAST, _MULTIPLES, _INTEGERS = range(4)


def _octave(number):
    return 70 if number == 63 else number


def _form(token, octave):
    """The least magnitude, the raw bits, and the sign (None: the lowest raw bit); None if there is no such token."""
    if token == 0:
        return 0, 0, 1
    fine, half, sign = 3 <= token < 35, token - 3 & 2, -1 if token - 3 & 1 else 1
    width = octave - (2 + (token - 3) // 4 if fine else token - 1 if token < 3 else token - 25)
    if not 1 <= width <= 64:
        return None
    if token == 63:
        return 0, width + 1, None
    if not fine:
        return 1 << width - 1, width, None
    if width == 1:
        return None if half else (1, 0, sign)
    return (3 if half else 2) << width - 2, width - 2, sign


@cache
def _default_tokens(number):
    octave = _octave(number)
    model = min(octave, 12)
    total = 3 * 2 ** model // 2
    share = (math.isqrt((128 * 128 + total * total) << 32) - (128 << 16)) // total
    weights = [0] * 64
    for token in range(64):
        form = _form(token, model)
        weights[token] = int(_form(token, octave) is not None)
        if weights[token] and form:
            least, raw_bits, sign = form
            count = 1 << raw_bits
            weights[token] += cells.power(share, least + (count if sign else count // 2) // 2) * count
    return cells.fitted(weights, False)


@cache
def _default_classes(before):
    return cells.fitted([((1 << 20) >> 2 * abs(number - before)) + 1 for number in range(_CLASSES)], False)


def _head(data, digits):
    bits = Bits(data)
    head = SimpleNamespace(order=bits.get(2), scale=bits.get(11), base=bits.get(digits))
    head.factor = bits.get(digits) if head.order == _INTEGERS else 1
    head.shift = 0 if head.order == _MULTIPLES else head.scale
    head.orders = [bits.get(2) for _ in range(3)]
    head.chunk = []
    for _ in range(3):
        below = bits.unary()
        head.chunk.append((1 << below) + bits.get(below) - 1)
    head.blocks_of_lane = 16 << bits.get(3)
    least, largest = bits.get(6), bits.get(6)
    assert least > 0
    told = range(least, largest + 1)
    head.tokens = {number: _default_tokens(number) for number in range(1, _CLASSES)}
    head.classes = {before: _default_classes(before) for before in range(_CLASSES)}
    for number in told:
        head.tokens[number] = cells.table(bits, head.tokens[number], False)
    for before in (0, *told):
        head.classes[before] = cells.table(bits, head.classes[before], False)
    bits.end()
    head.tokens = {number: cells.slots(table) for number, table in head.tokens.items()}
    head.classes = {before: cells.slots(table) for before, table in head.classes.items()}
    return head


def _parts(whole, size):
    """The boxes of this size that a box is cut into: slices."""
    ranges = [range(part.start, part.stop, step) for part, step in zip(whole, size)]
    for begin in product(*ranges):
        yield tuple(slice(at, min(at + step, part.stop)) for at, step, part in zip(begin, size, whole))


def _read_classes(head, index, data, blocks):
    classes = [0] * blocks
    for begin in range(0, blocks, 32 * _LANE_BLOCKS):
        runs = range(begin, min(begin + 32 * _LANE_BLOCKS, blocks), _LANE_BLOCKS)
        segment = cells.Segment(data.take(index.u32()), len(runs))
        for step, (lane, start) in product(range(_LANE_BLOCKS), enumerate(runs)):
            if start + step < blocks:
                before = classes[start + step - 1] if step else 0
                classes[start + step] = segment.symbol(lane, head.classes[before])
        segment.end()
    data.end()
    return classes


def _read_tokens(head, segment, classes, sizes):
    tokens = [[] for _ in classes]
    for start in range(0, len(classes), 32):
        lanes = range(start, min(start + 32, len(classes)))
        for i, block in product(range(64), lanes):
            if i < sizes[block]:
                tokens[block].append(segment.symbol(block - start, head.tokens[classes[block]]))
    segment.end()
    return tokens


def _differences(head, sections, sizes):
    """Of each block, a list."""
    index, data = Reader(sections["index"]), Reader(sections.get("codes", b""))
    raw_data = Reader(sections.get("raw", b""))
    classes = _read_classes(head, index, Reader(sections["contexts"]), len(sizes))
    differences = [[0] * size for size in sizes]
    live = [block for block, number in enumerate(classes) if number]
    begins = range(0, len(live), 32 * head.blocks_of_lane)
    token_sizes, raw_sizes = [index.u32() for _ in begins], [index.u32() for _ in begins]
    for begin, token_size, raw_size in zip(begins, token_sizes, raw_sizes):
        blocks = live[begin:begin + 32 * head.blocks_of_lane]
        segment = cells.Segment(data.take(token_size), min(len(blocks), 32))
        tokens = _read_tokens(head, segment, [classes[block] for block in blocks], [sizes[block] for block in blocks])
        raw_bytes = raw_data.take(raw_size)
        raw, used = int.from_bytes(raw_bytes, "little"), 0
        for block, of_block in zip(blocks, tokens):
            for i, token in enumerate(of_block):
                least, bits, sign = _form(token, _octave(classes[block])) or (0, 0, 1)
                own = raw >> used & (1 << bits) - 1
                used += bits
                if sign is None:
                    own, sign = own >> 1, -1 if own & 1 else 1
                differences[block][i] = sign * (least + own)
        assert -(-used // 64) * 8 == len(raw_bytes) and raw >> used == 0
    data.end(), raw_data.end(), index.end()
    return differences


def _bits_of(head, words, digits):
    """The bits of values, from words."""
    top, low, every = 1 << digits - 1, (1 << head.shift) - 1, (1 << digits) - 1
    kind = words.dtype.type
    words = words + kind(head.base)
    if head.order == _INTEGERS:
        return words * kind(head.factor)
    if head.order == _MULTIPLES:
        exponent = head.scale - (149 if digits == 32 else 1074)
        whole = words.view(f"i{digits // 8}").astype(f"f{digits // 8}")
        return np.ldexp(np.ldexp(whole, exponent - exponent // 2), exponent // 2).view(words.dtype)
    if head.order == _SIGN_LAST:
        return words >> kind(1) & kind(every & ~low & ~top) | (words >> kind(head.shift)) << kind(digits - 1)
    return words ^ np.where(words & kind(top), kind(top), kind(every & ~low))


def restored(frame):
    size = frame.stored.itemsize
    digits = 8 * max(size, 4)
    sections = frame.passes[0]
    head = _head(sections["codebook"], digits)
    rank = max(sum(extent > 1 for extent in frame.extents), 1)
    chunks = list(_parts([slice(0, extent) for extent in frame.extents], head.chunk))
    blocks = [block for chunk in chunks for block in _parts(chunk, _BLOCKS[rank])]
    sizes = [math.prod(part.stop - part.start for part in block) for block in blocks]
    words = np.zeros(frame.extents, f"u{digits // 8}")
    for block, differences in zip(blocks, _differences(head, sections, sizes)):
        wrapped = [difference << head.shift & (1 << digits) - 1 for difference in differences]
        words[block] = np.array(wrapped, words.dtype).reshape(words[block].shape)
    for chunk in chunks:
        for axis, order in enumerate(head.orders):
            for _ in range(order):
                words[chunk] = np.cumsum(words[chunk], axis=axis, dtype=words.dtype)
    bits = _bits_of(head, words, digits).ravel()
    if frame.is_bfloat16 or frame.stored == np.float16:
        bits >>= 16
    return bits.astype(f"u{size}").view(frame.stored)
