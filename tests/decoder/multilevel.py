"""Multilevel (4.3)."""

import math
from itertools import combinations, product
from types import SimpleNamespace

import numpy as np

from .numbers import Bits, Reader, hash_of, unzigzag
from .parts import clamp, extents_of, from_bits, local_half_steps, sparse_list, squeezed

_LATTICE, _INDEPENDENT, _LAYERED = range(3)
_FIRST_WEIGHTS = [102, 1100, 550, 400, 1600, 0, 0, 0]


def read(table, frame):
    axes = table.varint()
    reach = table.u8()
    params = SimpleNamespace(merged=axes >> 8, roles=[axes >> shift & 3 for shift in (6, 4, 2, 0)],
                             reach=reach, alpha=table.u8() / 64, beta=table.u8() / 64, half_step=table.f64())
    snap = table.u8()
    params.snap = snap & 31
    params.split = snap >= 128
    params.background = table.f32() if snap & 32 else table.f64() if snap & 64 else 0
    params.radius = table.varint()
    _find_axes(params, frame.dims)
    _find_passes(params)
    _read_coefficients(params, Bits(table.take(table.varint())), frame.dtype)
    return params


def _find_axes(params, dims):
    extents = squeezed(dims)
    params.extents = [1] + extents_of(dims) if params.merged else [1] * (4 - len(extents)) + extents
    params.lattice = [axis for axis in range(4) if params.roles[axis] == _LATTICE]
    params.layered = params.roles.index(_LAYERED) if _LAYERED in params.roles else None
    params.slice_levels = 0
    if params.layered is not None:
        params.slice_levels = min((params.extents[params.layered] - 1).bit_length(), 4)
    longest = max([params.extents[axis] for axis in params.lattice], default=1)

    def anchors(levels):
        shifts = {_LATTICE: levels, _INDEPENDENT: 0, _LAYERED: params.slice_levels}
        return math.prod(((extent - 1) >> shifts[role]) + 1 for extent, role in zip(params.extents, params.roles))

    params.levels = 0
    while anchors(params.levels) > 64 and longest > 2 ** params.levels:
        params.levels += 1


def _class_of(params, level, odd, stage):
    spacing, distance, is_first = 2 ** (level - 1), 2 ** (params.slice_levels - stage), level == params.levels + 1
    ranges, units = [], []
    for axis, (extent, role) in enumerate(zip(params.extents, params.roles)):
        if role == _LATTICE:
            begin, step = (spacing, 2 * spacing) if axis in odd else (0, spacing if is_first else 2 * spacing)
        elif role == _LAYERED:
            begin, step = (0, distance) if stage == 0 else (distance, 2 * distance)
        else:
            begin, step = 0, 1
        ranges.append(range(begin, extent, step))
        units.append({_LATTICE: spacing, _LAYERED: distance, _INDEPENDENT: 1}[role])
    return SimpleNamespace(level=level, odd=odd, order=len(odd), stage=stage, ranges=ranges, units=units,
                           points=math.prod(map(len, ranges)))


def _find_passes(params):
    params.passes, params.level_of_pass, before, part = [], [], 0, 0
    for level in range(params.levels + 1, 0, -1):
        part += before > 4096
        orders = [0] if level == params.levels + 1 else range(1, len(params.lattice) + 1)
        classes = [_class_of(params, level, odd, stage) for order in orders
                   for odd in sorted(combinations(params.lattice, order), key=lambda odd: sum(1 << a for a in odd))
                   for stage in range(params.slice_levels + 1)]
        for turn in sorted({c.order + c.stage for c in classes}):
            of_pass = sorted([c for c in classes if c.order + c.stage == turn and c.points], key=lambda c: c.order)
            if not of_pass:
                continue
            groups = sorted({(c.order, c.stage) for c in of_pass})
            for c in of_pass:
                c.group = groups.index((c.order, c.stage))
            params.passes.append(SimpleNamespace(level=level, classes=of_pass, groups=groups))
            params.level_of_pass.append(part)
        before = sum(c.points for its_pass in params.passes for c in its_pass.classes)
    params.points_of_pass = [sum(c.points for c in its_pass.classes) for its_pass in params.passes]


def _tap(*moves):
    tap = [0] * 4
    for axis, units in moves:
        tap[axis] += units
    return tuple(tap)


def _stencil(params, c):
    """The groups of a class's taps."""
    groups = []
    for v in range(1, params.reach + 1, 2):
        groups += [[_tap((a, -v)), _tap((a, v))] for a in c.odd if v == 1 or params.extents[a] > v * c.units[a]]
    groups += [[_tap((a, i), (b, j)) for i, j in product((-1, 1), repeat=2)] for a, b in combinations(c.odd, 2)]
    if c.order == 3:
        groups.append([_tap(*zip(c.odd, signs)) for signs in product((-1, 1), repeat=3)])
    else:
        sides = [b for b in params.lattice if b not in c.odd and params.extents[b] > 2 * c.units[b]]
        groups += [[_tap((a, i), (b, j)) for i, j in product((-1, 1), (-2, 2))] for a in c.odd for b in sides]
    if c.stage > 0:
        layered = params.layered
        groups.append([_tap((layered, -1)), _tap((layered, 1))])
        for v in (1, 3):
            around = [_tap((layered, i), (a, j)) for a in c.odd for i, j in product((-1, 1), (-v, v))]
            groups += [around] if around else []
    return groups


def _preset(c):
    if c.order == 0:
        return [1.0] * len(c.stencil)
    far = 0
    for group in c.stencil[c.order:2 * c.order]:
        far += len(group) == 2 and sum(map(abs, group[0])) == 3
    shares = [(1 + far / 8 / c.order) / c.order] * c.order + [-1 / 8 / c.order] * far
    return shares + [0.0] * (len(c.stencil) - len(shares))


def _read_coefficients(params, bits, dtype):
    for c in [c for its_pass in params.passes for c in its_pass.classes]:
        c.stencil = _stencil(params, c)
        if bits.get(1):
            others = []
            for _ in c.stencil[1:]:
                width = bits.get(4)
                others.append(unzigzag(1 << (width - 1) | bits.get(width - 1) if width else 0))
            shares = [share / 1024 for share in [1024 - sum(others), *others]]
        else:
            shares = _preset(c)
        c.weights = [dtype(share / len(group)) for share, group in zip(shares, c.stencil)]
    bits.end()


def _points(params, c):
    """A class's points, in their order."""
    edge = {0: 64, 1: 64, 2: 8, 3: 4}[sum(params.extents[axis] > 1 for axis in params.lattice)]
    tile = [edge if axis in params.lattice and params.extents[axis] > 1 else 1 for axis in range(4)]
    tiled = [range(0, len(its_range), size) for its_range, size in zip(c.ranges, tile)]
    for first in product(*tiled):
        part = [its_range[begin:begin + size] for its_range, begin, size in zip(c.ranges, first, tile)]
        yield from product(*part)


class _Point:
    """A point that sees its neighbours."""

    def __init__(self, params, c, at, values):
        self.params, self.c, self.at, self.values = params, c, at, values

    def inside(self, axis, units):
        return 0 <= self.at[axis] + units * self.c.units[axis] < self.params.extents[axis]

    def near(self, tap):
        """Where a tap stands but for its part that is farther than 2."""
        place = list(self.at)
        for axis, units in enumerate(tap):
            if abs(units) > 2:
                continue
            if self.inside(axis, units):
                place[axis] += units * self.c.units[axis]
            elif self.inside(axis, -units):
                place[axis] -= units * self.c.units[axis]
        return tuple(place)

    def f(self, axis, units, base=None):
        """f(units), along an axis through `base`."""
        side = 1 if units > 0 else -1
        if abs(units) == 1 or self.inside(axis, units):
            place = list(base or self.at)
            place[axis] = self.at[axis] + (units if self.inside(axis, units) else -units) * self.c.units[axis]
            return self.values[tuple(place)]
        three = self.values.dtype.type(3)
        f = {k: self.f(axis, k * side, base) for k in range(-1, abs(units), 2)}
        if abs(units) == 3 and not self.inside(axis, -3 * side):
            return (f[1] + f[1]) - f[-1]
        if abs(units) == 3:
            return three * (f[1] - f[-1]) + self.f(axis, -3 * side, base)
        last = abs(units)
        return three * (f[last - 2] - f[last - 4]) + f[last - 6]

    def value(self, tap):
        place = self.near(tap)
        for axis, units in enumerate(tap):
            if abs(units) > 2:
                return self.f(axis, units, place)
        return self.values[place]

    def spline(self, axis):
        t = self.values.dtype.type
        near, far = self.f(axis, -1) + self.f(axis, 1), self.f(axis, -3) + self.f(axis, 3)
        return t(0.5625) * near - t(0.0625) * far

    def extrapolated(self, axis):
        t = self.values.dtype.type
        if not self.inside(axis, -3):
            return self.f(axis, -1)
        return t(1.5) * self.f(axis, -1) - t(0.5) * self.f(axis, -3)

    def interpolated(self):
        t = self.values.dtype.type
        total = t(0)
        if all(self.inside(axis, 1) for axis in self.c.odd):
            for weight, group in zip(self.c.weights, self.c.stencil):
                taps = [self.value(tap) for tap in group]
                in_group = taps[0] + taps[1]
                for i in range(2, len(taps), 2):
                    in_group = in_group + (taps[i] + taps[i + 1])
                total = total + weight * in_group
            return total
        inner = [axis for axis in self.c.odd if self.inside(axis, 1)]
        for axis in inner or self.c.odd:
            total = total + (self.spline(axis) if inner else self.extrapolated(axis))
        return total / t(len(inner or self.c.odd))


def _half_step(params, level, first=None):
    divisor = 1.0
    for _ in range(level - 1):
        if divisor < params.beta:
            divisor *= params.alpha
    return (first or params.half_step) / min(divisor, params.beta)


def _feature(value):
    return int(value) if value < 3200 else 3200


def _magnitude_features(params, c, point, magnitudes):
    direct = diagonal = parent = same = 0
    axes = [axis for axis in params.lattice if params.extents[axis] > c.units[axis]]
    for offsets in product((-1, 0, 1), repeat=len(axes)):
        moved = {axis for axis, units in zip(axes, offsets) if units}
        order, moves = len(moved ^ set(c.odd)), list(zip(axes, offsets))
        m = int(magnitudes[point.near(_tap(*moves))])
        if moved and order < c.order:
            parent += m if order == 0 else 0
            direct += m if order and len(moved) == 1 else 0
            diagonal += m if order and len(moved) > 1 else 0
        for layer in (-1, 1) if c.stage > 0 else ():
            same += int(magnitudes[point.near(_tap((params.layered, layer)))]) if not moved else 0
    return [16, direct, diagonal, parent, same]


def _slope_features(params, c, point, half_step):
    t = point.values.dtype.type
    if c.order == 0:
        return [0] * 3
    slope = curvature = t(0)
    for axis in c.odd:
        left, right = point.f(axis, -1), point.f(axis, 1)
        slope = slope + abs(right - left)
        curvature = curvature + abs((left + right) - (point.f(axis, -3) + point.f(axis, 3)))
    splines = [point.spline(axis) for axis in c.odd]
    scale = t(16 / (half_step * c.order))
    gradient = _feature(slope * scale)
    roughness = _feature(curvature * scale + (max(splines) - min(splines)) * t(32 / half_step))
    return [gradient, roughness, math.isqrt(16 * gradient)]


def _context(c, total):
    if total >> 6 <= 0:
        return 16 * c.group
    return 16 * c.group + min((total >> 6).bit_length(), 15)


class _Decoder:
    def __init__(self, frame):
        self.frame, self.params, self.dtype = frame, frame.predictor, frame.dtype
        extents = self.params.extents
        self.values = np.zeros(extents, frame.dtype)
        self.magnitudes = np.zeros(extents, int)
        self.mask = frame.mask.reshape(extents)
        background = self.params.background if self.params.snap else _middle(frame)
        self.background = frame.dtype(background)
        self.remembered, self.done = {}, []
        bounds = frame.passes[0].get("bounds")
        which, self.half_steps = local_half_steps(bounds, self.params.half_step, extents_of(frame.dims))
        self.which = which.reshape(extents)

    def weights(self, data, groups):
        """Of the groups of a pass."""
        reader, weights = Reader(data or b""), []
        for order, stage in groups:
            key = order, stage > 0
            kind = reader.u8() if data else 0
            if kind == 1:
                self.remembered[key] = [unzigzag(reader.varint()) for _ in range(8)]
            weights.append(self.remembered.get(key, _FIRST_WEIGHTS))
        reader.end()
        return weights

    def estimate(self, c, at, weights, half_step):
        """The sum of weight * feature at a point."""
        point = _Point(self.params, c, at, self.values)
        features = _magnitude_features(self.params, c, point, self.magnitudes)
        features += _slope_features(self.params, c, point, half_step)
        return sum(weight * feature for weight, feature in zip(weights, features))

    def contexts(self, points, weights, half_step):
        """Of all points of a pass."""
        return [_context(c, self.estimate(c, at, weights[c.group], half_step)) for c, at in points]

    def prediction(self, c, at, half_step):
        predicted = self.background
        if c.stencil:
            predicted = _Point(self.params, c, at, self.values).interpolated()
        is_near = abs(predicted - self.background) < self.dtype(half_step * self.params.snap / 16)
        return self.background if is_near else predicted

    def restore_pass(self, number, its_pass):
        frame, params, sections = self.frame, self.params, self.frame.passes[number]
        half_step = _half_step(params, its_pass.level)
        points = [(c, at) for c in its_pass.classes for at in _points(params, c)]
        coded = [(c, at) for c, at in points if not self.mask[at]]
        contexts = None
        if frame.coder.needs_contexts:
            weights = self.weights(sections.get("contexts"), its_pass.groups)
            others = 16 * len(its_pass.groups)
            contexts = [context + (others if params.split and self.which[at] else 0)
                        for context, (c, at) in zip(self.contexts(points, weights, half_step), points)
                        if not self.mask[at]]
        codes = iter(frame.coder.decoded(frame, number, len(coded), contexts))
        outliers = sparse_list(sections.get("outliers"), len(points))
        for place, (c, at) in enumerate(points):
            value = self.prediction(c, at, half_step)
            if not self.mask[at]:
                code = next(codes)
                self.magnitudes[at] = min(abs(code - params.radius), 64) if code else 64
                own = _half_step(params, its_pass.level, self.half_steps[self.which[at]])
                step = self.dtype(code - params.radius) * self.dtype(2 * own)
                value = clamp(value + step, frame.least, frame.most) if code else from_bits(self.dtype, outliers[place])
            self.values[at] = value
            self.done.append(value)

    def check_lattice(self, expected):
        known = np.array(self.done, self.dtype)
        known[np.isnan(known)] = 0
        assert hash_of(known.tobytes()) == int.from_bytes(expected, "little")

    def run(self):
        for number, its_pass in enumerate(self.params.passes):
            if its_pass.level == 1 and number and self.params.passes[number - 1].level != 1:
                self.check_lattice(self.frame.passes[number]["lattice hash"])
            self.restore_pass(number, its_pass)
        return self.values.ravel()


def _middle(frame):
    transform = frame.transform
    least, most = (transform.min, transform.max) if transform else (frame.min, frame.max)
    return least + (most - least) / 2


def restored(frame):
    with np.errstate(over="ignore", invalid="ignore"):
        return _Decoder(frame).run()
