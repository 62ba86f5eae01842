"""What all predictors share (section 3)."""

import math
from decimal import Decimal, getcontext

import numpy as np
from numcodecs import Zstd

from .numbers import Reader

getcontext().prec = 50
_LOG_2 = Decimal(2).ln()
_Q = [None] + [float(_LOG_2 ** i / math.factorial(i)) for i in range(1, 8)]
_T = [float(Decimal(2) ** (Decimal(j) / 32)) for j in range(33)]


def unpacked(data):
    """A zstd frame's content."""
    return bytes(Zstd().decode(data))


def uint_of(dtype):
    return np.dtype(f"u{np.dtype(dtype).itemsize}")


def from_bits(dtype, bits):
    return np.array([bits], uint_of(dtype)).view(dtype)[0]


def squeezed(dims):
    return [extent for extent in dims if extent > 1]


def extents_of(dims):
    """z, y, x."""
    extents = squeezed(dims)
    if len(extents) == 4:
        extents[:2] = [extents[0] * extents[1]]
    return [1] * (3 - len(extents)) + extents


def _pieces(data, size):
    """Zstd pieces (3.1)."""
    count = -(-size // 2 ** 17)
    if count <= 1:
        return unpacked(data)
    reader = Reader(data)
    sizes = [reader.u32() for _ in range(count)]
    return b"".join(unpacked(reader.take(packed)) for packed in sizes)


def bits_of_points(data, dims):
    """Mask bits (3.1)."""
    points = math.prod(dims)
    reader = Reader(data)
    form = reader.u8()
    if form == 0:
        words = _pieces(reader.rest(), -(-points // 64) * 8)
        return np.unpackbits(np.frombuffer(words, "u1"), bitorder="little")[:points].astype(bool)
    size = reader.varint()
    gaps = Reader(_pieces(reader.rest(), size))
    bits = np.zeros(points, bool)
    place = -1
    while gaps.rest():
        place += 1 + gaps.varint()
        bits[place] = True
    bits = bits.reshape(extents_of(dims))
    reference = form - 1
    if reference & 1:
        bits = np.logical_xor.accumulate(bits, axis=1)
    if reference & 2:
        bits = np.logical_xor.accumulate(bits, axis=0)
    return bits.ravel()


def mask_values(data, count, dtype):
    """Mask values (3.1)."""
    reader = Reader(data)
    kinds = reader.u8()
    if kinds == 0:
        return np.frombuffer(unpacked(reader.rest()), dtype)
    palette = np.frombuffer(reader.take(kinds * np.dtype(dtype).itemsize), dtype)
    if kinds == 1:
        return np.repeat(palette, count)
    return palette[np.frombuffer(unpacked(reader.rest()), "u1")]


def local_half_steps(data, half_step, extents):
    """The half step of level 1 of every point (3.6)."""
    half_steps = [half_step]
    blocks, edge = None, {0: 512, 1: 512, 2: 16, 3: 8}[sum(extent > 1 for extent in extents)]
    if data:
        reader = Reader(data)
        for _ in range(reader.u8()):
            reader.f64()  # the bound
            half_steps.append(reader.f64())
        counts = [-(-extent // edge) for extent in extents]
        blocks = np.frombuffer(unpacked(reader.rest()), "u1").reshape(counts)
    at = np.indices(extents) // edge
    which = np.zeros(extents, int) if blocks is None else blocks[tuple(at)]
    return which.ravel(), half_steps


def sparse_list(data, points):
    """Values by their points (3.3)."""
    if not data:
        return {}
    reader = Reader(data)
    count, width = reader.varint(), reader.u8()
    blocks = [block for block in range(-(-points // 65536)) for _ in range(reader.u32())]
    assert len(blocks) == count
    places = [block * 65536 + reader.u16() for block in blocks]
    values = {place: int.from_bytes(reader.take(width), "little") for place in places}
    reader.end()
    return values


def patched(values, data):
    """Values with patches in their places."""
    bits = values.view(uint_of(values.dtype))
    for point, value in sparse_list(data, len(values)).items():
        bits[point] = value
    return values


def clamp(value, least, most):
    """Clamping (3.4)."""
    if value < least or value != value:
        return least
    return most if value > most else value


def _power(v, terms):
    """2^v (3.5)."""
    v = min(max(v, -1100.0), 1100.0)
    whole = math.floor(v)
    s = (v - whole) * 32
    j = min(int(s), 31)
    r = (s - j) / 32
    p = _Q[terms]
    for i in range(terms - 1, 0, -1):
        p = p * r + _Q[i]
    a = min(_T[j] + _T[j] * (p * r), _T[j + 1])
    k = int(whole / 2)
    return a * power_of_two(k) * power_of_two(whole - k)


def power_of_two(exponent):
    try:
        return math.ldexp(1.0, exponent)
    except OverflowError:
        return math.inf


LOG, _SYMLOG, _LOG_LINEAR = range(3)
_POWER = [np.float32(float.fromhex(c)) for c in ("0x1.62e430p-1", "0x1.ebfc40p-3", "0x1.c69f3ap-5", "0x1.3c4c98p-7",
                                                 "0x1.4c9214p-10", "0x1.b50dbap-13")]
_LN_2, _LOG2_E = float.fromhex("0x1.62e42fefa39efp-1"), float.fromhex("0x1.71547652b82fep+0")


def _magnitude(transform, y, terms):
    """The magnitude that y stands for (3.5)."""
    if transform.id == _SYMLOG:
        y = abs(y)
        return transform.knee * (y if y <= 1 else _power((y - 1) * _LOG2_E, terms))
    return transform.knee * (_power(y, terms) if y < 0 else 1 + y * _LN_2)


def float_magnitude(frame, y):
    """The magnitude of T that y stands for under log (3.5)."""
    largest, centre = np.finfo(frame.dtype).max, frame.transform.centre
    if frame.dtype == np.float64:
        return np.float64(min(_power(float(y) + centre, 7), float(largest)))
    y, addend = clamp(y, np.float32(-4096), np.float32(4096)), np.float32(12582912)
    whole = ((y - np.float32(0.5)) + addend) - addend
    rest, p = y - whole, _POWER[-1]
    for c in _POWER[-2::-1]:
        p = p * rest + c
    a = np.float32(1) + rest * p
    power = power_of_two(int(clamp(whole + centre, -1000, 1000)))
    return np.float32(min(float(a) * power, float(largest)))


def untransformed(frame, coded, negative):
    """Values, of what the predictor has restored (3.5); `negative` is None if there are no signs of points."""
    dtype, transform = frame.dtype, frame.transform
    terms = 4 if dtype == np.float32 else 7
    largest = float(np.finfo(dtype).max)
    if transform.id == _SYMLOG:
        negative = np.array([clamp(float(y), transform.min, transform.max) < 0 for y in coded], bool)
    elif negative is None:
        assert not frame.min < 0 < frame.max
        negative = np.full(len(coded), frame.min < 0)
    values = np.empty(len(coded), dtype)
    for i, y in enumerate(coded):
        if transform.id == LOG:
            value = float_magnitude(frame, clamp(y, dtype(transform.min), dtype(transform.max)))
        else:
            v = _magnitude(transform, clamp(float(y), transform.min, transform.max), terms)
            value = dtype(min(v, largest))
        values[i] = clamp(-value if negative[i] else value, dtype(frame.min), dtype(frame.max))
    return values
