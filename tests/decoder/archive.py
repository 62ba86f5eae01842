"""Archives and frames (sections 1 and 2)."""

import math
from types import SimpleNamespace

import numpy as np

from . import amended, ans, cells, huffman, interp, lorenzo, multilevel, predicted, signs, tiles, zfp
from .numbers import Reader, hash_of
from .parts import LOG, bits_of_points, extents_of, mask_values, unpacked, untransformed

_SECTIONS = ("raw", "mask bits", "mask values", "anchors", "outliers", "patches", "codebook", "index", "codes", "contexts",
             "lattice hash", "signs", "bounds")
_OPTIONAL, _PACKED = 13, 14
_STORED, _LOSSLESS, _CODED, _CONSTANT, _TRANSFORMED, _BOUNDED, _PREDICTED, _TILED = range(8)
_PREDICTORS = (lorenzo, interp, multilevel, tiles, zfp, cells)
_CODERS = (huffman, ans)
#: Values of bfloat16 are returned as their bits.
_STORED_TYPES = ("f4", "f8", "f2", "u2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
_BFLOAT16 = 3
_BY_FLOAT = (0, *range(2, 8))  # predicted as f32


def decode(archive):
    """The values of an archive's field, an array of its dims."""
    reader = Reader(archive)
    members = []
    while not members or reader.at < len(reader.data):
        members.append(_read_member(reader))
    return np.concatenate(members)


def _read_member(reader):
    assert reader.take(8) == b"\x89CUSZI\r\n"
    assert reader.u16() == 1
    body = Reader(_hashed(reader, reader.u16()))
    if _features(body) == ["amended"]:
        return amended.read(body, reader, decode, _header_of, _rounded)
    header = _read_header(body)
    values, sizes = [], []
    for number in range(header.frames):
        start = reader.at
        values.append(_read_frame(reader, header, number))
        sizes.append(reader.at - start)
    _check_footer(reader, sizes)
    return np.concatenate(values).reshape(header.dims)


def _hashed(reader, size):
    """The bytes in front of the hash that ends `size` bytes."""
    body = reader.take(size - 8)
    assert reader.u64() == hash_of(body)
    return body


def _header_of(archive):
    reader = Reader(archive)
    reader.take(10)
    body = Reader(_hashed(reader, reader.u16()))
    assert _features(body) == []
    return _read_header(body)


def _features(body):
    """The names of those that a header needs."""
    names = [body.take(body.u8()).decode() for _ in range(bin(body.u32()).count("1"))]
    assert names in ([], ["amended"]), names
    return names


def _read_header(body):
    """1.1, behind the features"""
    header = SimpleNamespace()
    number = body.u8()
    header.stored = np.dtype(_STORED_TYPES[number])
    header.is_bfloat16 = number == _BFLOAT16
    header.dtype = np.float32 if number in _BY_FLOAT else np.float64
    mode = body.u8()
    body.f64(), body.f64()  # bounds
    if mode >= 3:
        body.f64()  # share
    header.fills = [body.f64() for _ in range(body.u8())]
    header.dims = [body.varint() for _ in range(body.u8())]
    header.axis, header.height = body.u8(), body.varint()
    body.end()
    header.runs = -(-header.dims[header.axis] // header.height)
    header.frames = math.prod(header.dims[:header.axis]) * header.runs
    return header


def _check_footer(reader, sizes):
    """1.2"""
    start = reader.at
    assert [reader.varint() for _ in sizes] == sizes
    body = reader.data[start:reader.at]
    assert reader.u64() == hash_of(body)
    assert reader.u64() == len(body) + 20
    assert reader.take(4) == b"CUSZ"


def _read_frame(reader, header, number):
    assert reader.take(4) == b"FRAM"
    table = Reader(_hashed(reader, reader.u32()))
    axis = header.axis
    slices = min(header.height, header.dims[axis] - number % header.runs * header.height)
    dims = [1] * axis + [slices] + header.dims[axis + 1:]
    frame = _read_table(table, header.dtype, dims)
    frame.stored, frame.is_bfloat16 = header.stored, header.is_bfloat16
    assert frame.index == number
    level_of_pass = frame.predictor.level_of_pass if frame.predictor else [0]
    assert len(frame.levels) == level_of_pass[-1] + 1
    frame.passes = [{} for _ in level_of_pass]
    for at_level, level in enumerate(frame.levels):
        payload = Reader(reader.take(sum(size for _, _, size in level.sections)))
        assert hash_of(payload.data) == level.hash
        for section, in_level, size in level.sections:
            data = payload.take(size)
            of_pass = frame.passes[level_of_pass.index(at_level) + in_level]
            if section != _OPTIONAL:
                of_pass[_SECTIONS[section]] = data
    values = _restored(frame)
    if frame.kind in (_STORED, _LOSSLESS, _PREDICTED, _TILED):
        return values
    return _rounded(values, header.stored, header.is_bfloat16)


def _rounded(values, stored, is_bfloat16):
    """Values of T as stored: the nearest, ties to even, within the type's range (2)"""
    if stored == values.dtype:
        return values
    if stored.kind in "iu" and not is_bfloat16:
        limits = np.iinfo(stored)
        return np.clip(np.rint(values.astype("f8")), limits.min, limits.max).astype(stored)
    bits = values.view("u4")
    if is_bfloat16:
        kept = bits & 0xFFFF
        up = (kept > 0x8000) | ((kept == 0x8000) & (bits >> 16 & 1 == 1))
        halves = ((bits >> 16) + up).astype("u2")
        most, nan = np.uint16(0x7F7F), (bits >> 16).astype("u2")
    else:
        halves = np.clip(values, -65504, 65504).astype("f2").view("u2")
        most, nan = np.uint16(0x7BFF), (bits >> 16 & 0x8000 | 0x7C00 | bits >> 13 & 0x3FF).astype("u2")
    halves = (halves & np.uint16(0x8000)) | np.minimum(halves & np.uint16(0x7FFF), most)
    halves = np.where(np.isfinite(values), halves, nan)
    return halves if is_bfloat16 else halves.view("f2")


def _read_transform(table):
    """3.5"""
    transform = SimpleNamespace(id=table.u8())
    assert transform.id <= 2
    if transform.id == 0:
        transform.centre = table.i16()
    else:
        transform.knee = table.f64()
    transform.min, transform.max, transform.kept = table.f64(), table.f64(), table.varint()
    return transform


def _read_table(table, dtype, dims):
    frame = SimpleNamespace(dtype=dtype, dims=dims, extents=extents_of(dims), points=math.prod(dims))
    frame.index, frame.kind, frame.missing = table.varint(), table.u8(), table.varint()
    frame.min, frame.max = table.f64(), table.f64()
    frame.transform = frame.predictor = frame.coder = None
    frame.masked = frame.missing
    if frame.kind == _TRANSFORMED:
        frame.transform = _read_transform(table)
        frame.masked += frame.transform.kept
    if frame.kind == _BOUNDED:
        table.f64(), table.f64()  # the largest and the least bound, which no value depends on
        frame.masked += table.varint()
    frame.least = dtype(frame.transform.min if frame.transform else frame.min)  # of what is predicted
    frame.most = dtype(frame.transform.max if frame.transform else frame.max)
    if frame.kind in (_CODED, _TRANSFORMED, _BOUNDED):
        _read_method(table, frame)
    frame.levels = [_read_level(table) for _ in range(table.varint())]
    table.end()
    return frame


def _read_method(table, frame):
    frame.module = _PREDICTORS[table.u8()]
    frame.predictor = frame.module.read(table, frame)
    number = table.u8()
    if number != 2:
        frame.coder = _CODERS[number].read(table)


def _read_level(table):
    sections, in_level = [], 0
    for _ in range(table.varint()):
        first, size = table.u8(), table.varint()
        in_level += first >> 4
        if first == 255 and size == 0:
            continue
        assert first != _PACKED, "packed by Bitcomp"
        if first & 15 == _OPTIONAL:
            assert table.varint() & 1 == 0, "a reader has to know it"
        sections.append((first & 15, in_level, size))
    return SimpleNamespace(sections=sections, hash=table.u64())


def _restored(frame):
    dtype, first = frame.dtype, frame.passes[0]
    if frame.kind == _STORED:
        return np.frombuffer(first["raw"], frame.stored)
    if frame.kind == _LOSSLESS:
        planes = np.frombuffer(unpacked(first["raw"]), "u1").reshape(frame.stored.itemsize, frame.points)
        return np.frombuffer(planes.T.tobytes(), frame.stored)
    if frame.kind == _PREDICTED:
        return predicted.restored(frame)
    if frame.kind == _TILED:
        return tiles.restored_words(frame)
    frame.mask = bits_of_points(first["mask bits"], frame.dims) if frame.masked else np.zeros(frame.points, bool)
    assert frame.mask.sum() == frame.masked
    if frame.kind == _CONSTANT:
        values = np.repeat(np.frombuffer(first["raw"], dtype)[:1], frame.points)
    else:
        values = frame.module.restored(frame)
    if frame.transform and not (frame.transform.id == LOG and frame.module is tiles):
        negative = signs.read(first["signs"], frame.dims) if "signs" in first else None
        values = untransformed(frame, values, negative)
    if frame.masked:
        values[frame.mask] = mask_values(first["mask values"], frame.masked, dtype)
    return values
