"""Interp (4.2)."""

from itertools import product
from types import SimpleNamespace

import numpy as np

from .parts import clamp, from_bits, sparse_list


def read(table, frame):
    params = SimpleNamespace(level_of_pass=[0], points_of_pass=[frame.points], tile=[table.varint() for _ in range(3)],
                             stride=table.varint(), splines=[], order=[])
    for _ in range(3):
        params.splines.append(table.u8())
        params.order.append(table.u8())
    params.radius = table.varint()
    params.levels = params.stride.bit_length() - 1
    params.half_steps = [table.f64() for _ in range(params.levels)]
    return params


def _steps(frame):
    """Of anchors, along each axis."""
    return [frame.predictor.stride if extent > 1 else 1 for extent in frame.extents]


def _anchors(frame):
    steps, anchors = _steps(frame), {}
    stored = iter(np.frombuffer(frame.passes[0].get("anchors", b""), frame.dtype))
    mask = frame.mask.reshape(frame.extents)
    ranges = [range(0, extent, step) for extent, step in zip(frame.extents, steps)]
    for z, y in product(*ranges[:2]):
        row = {x: None if mask[z, y, x] else next(stored) for x in ranges[2]}
        known = [value for value in row.values() if value is not None]
        before = known[0] if known else frame.least + (frame.most - frame.least) * frame.dtype(0.5)
        for x, value in row.items():
            before = before if value is None else value
            anchors[z, y, x] = before
    assert next(stored, None) is None
    return anchors


def _weights(there, is_natural):
    """Of neighbours at -3s, -s, s, 3s, of which these are in the box."""
    far_left, _, right, far_right = there
    if not right:
        return 0, 1, 0, 0
    if not far_left and not far_right:
        return 0, 1 / 2, 1 / 2, 0
    if not far_right:
        return -1 / 8, 6 / 8, 3 / 8, 0
    if not far_left:
        return 0, 3 / 8, 6 / 8, -1 / 8
    return (-3 / 40, 23 / 40, 23 / 40, -3 / 40) if is_natural else (-1 / 16, 9 / 16, 9 / 16, -1 / 16)


def _prediction(box, at, axis, spacing, is_natural):
    def neighbour(units):
        place = list(at)
        place[axis] += units * spacing
        return box[tuple(place)] if 0 <= place[axis] < box.shape[axis] else None

    v = [neighbour(units) for units in (-3, -1, 1, 3)]
    w = [box.dtype.type(weight) for weight in _weights([value is not None for value in v], is_natural)]
    v = [v[1] if weight == 0 else value for weight, value in zip(w, v)]
    return (w[1] * v[1] + w[2] * v[2]) + (w[0] * v[0] + w[3] * v[3])


def _restore_tile(frame, first, box, restore):
    """Restores a closed box, which has its anchors; restore(point of the frame, prediction, level) gives a value."""
    params = frame.predictor
    for level in range(params.levels, 0, -1):
        spacing = 2 ** (level - 1)
        for turn, axis in enumerate(params.order):
            ranges = [None] * 3
            for i, other in enumerate(params.order):
                step = spacing if i < turn else 2 * spacing
                ranges[other] = range(spacing if i == turn else 0, box.shape[other], step)
            for at in product(*ranges):
                predicted = _prediction(box, at, axis, spacing, params.splines[axis] == 1)
                box[at] = restore(tuple(a + b for a, b in zip(first, at)), predicted, level)


def restored(frame):
    params, dtype, extents = frame.predictor, frame.dtype, frame.extents
    anchors, steps = _anchors(frame), _steps(frame)
    codes = np.zeros(frame.points, int)
    codes[~frame.mask] = frame.coder.decoded(frame, 0, int((~frame.mask).sum()))
    codes, mask = codes.reshape(extents), frame.mask.reshape(extents)
    outliers = sparse_list(frame.passes[0].get("outliers"), frame.points)

    def restore(point, predicted, level):
        if mask[point]:
            return predicted
        if codes[point] == 0:
            return from_bits(dtype, outliers[np.ravel_multi_index(point, extents)])
        step = dtype(2 * params.half_steps[level - 1])
        return clamp(predicted + dtype(codes[point] - params.radius) * step, frame.least, frame.most)

    values = np.zeros(extents, dtype)
    for first in product(*[range(0, extent, tile) for extent, tile in zip(extents, params.tile)]):
        own = [min(tile, extent - begin) for tile, extent, begin in zip(params.tile, extents, first)]
        box = np.zeros([min(size + 1, extent - begin) for size, extent, begin in zip(own, extents, first)], dtype)
        for at in product(*[range(0, size, step) for size, step in zip(box.shape, steps)]):
            box[at] = anchors[tuple(a + b for a, b in zip(first, at))]
        _restore_tile(frame, first, box, restore)
        part = tuple(slice(begin, begin + size) for begin, size in zip(first, own))
        values[part] = box[tuple(slice(size) for size in own)]
    return values.ravel()
