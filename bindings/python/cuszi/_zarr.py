"""cuszi as a codec of Zarr, version 3. Values and archives lie where Zarr's buffers have them: on the host,
or in arrays of CuPy.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import math
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Callable, Iterable

import numpy as np
from zarr.abc.codec import ArrayBytesCodec

from ._arguments import QUALITY, Real, names_keywords, quality, quality_of
from ._codec import compress_batch, merged_shape, remembering, require_numbers, restore_chunks, room
from ._errors import FillWarning, InputError, UsageError
from ._memory import is_on_device
from ._options import Fill, Preset, fills_of_chunks, preset_number

_NAME = "cuszi"


def _remembered(work: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """A codec's method, with which a part of a chunk is written by restoring and compressing all of it."""
    @functools.wraps(work)
    def remembered(codec: Any, *chunks: list[Any]) -> list[Any]:
        with remembering(quality_of(codec), codec.preset, codec.fill or ()):
            return work(codec, *chunks)
    return remembered


@dataclass(frozen=True)
class Zarr(ArrayBytesCodec):
    """Compress the chunks of a Zarr array of floats or integers.

        zarr.create_array("t.zarr", data=a, chunks=(8, 128, 128), compressors=None,
                          serializer=cuszi.Zarr(abs=0.01))

    Parameters
    ----------
    abs : float
        Maximum error of a value, in the array's unit; 0 is lossless. Compute a relative bound from
        the value range of all chunks first.
    pw_rel : float
        Maximum error as a fraction of each value; zeros and signs are exact.
    abs_or_pw_rel, abs_and_pw_rel : float
        Maximum error in the array's unit or the fraction ``pw`` of each value, whichever is larger
        (or) or smaller (and).
    pw : float
    preset : "ratio", "balanced", "fast", "cuszi", "cusz" or "zfp"
    fill : number, or several
        Values that mark missing points, in addition to NaN, infinities and the array's fill value
        unless it is 0; restored bit for bit.
    strict : bool
        Whether a FillWarning of a chunk is an error.
    """

    is_fixed_size = False

    abs: float | None = None
    pw_rel: float | None = None
    abs_or_pw_rel: float | None = None
    abs_and_pw_rel: float | None = None
    pw: float | None = None
    preset: Preset = "ratio"
    fill: tuple[float, ...] | None = None
    strict: bool = False

    @names_keywords()
    def __init__(self, *, abs: Real | None = None, pw_rel: Real | None = None,
                 abs_or_pw_rel: Real | None = None, abs_and_pw_rel: Real | None = None,
                 pw: Real | None = None, preset: Preset = "ratio", fill: Fill | None = None,
                 strict: bool = False) -> None:
        preset_number(preset)
        asked = quality(abs, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw)
        fills = None if fill is None else fills_of_chunks(fill)
        for name, value in (*((name, asked.get(name)) for name in QUALITY),
                            ("preset", preset), ("fill", fills), ("strict", bool(strict))):
            object.__setattr__(self, name, value)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Zarr:
        if data["name"].removeprefix("numcodecs.") != _NAME:  # VirtualiZarr's name
            raise ValueError(f"expected the codec {_NAME!r}, not {data['name']!r}")
        return cls(**data["configuration"])

    def to_dict(self) -> dict[str, Any]:
        configuration: dict[str, Any] = {**quality_of(self), "preset": self.preset}
        if self.fill is not None:
            configuration["fill"] = list(self.fill)
        if self.strict:
            configuration["strict"] = True
        return {"name": _NAME, "configuration": configuration}

    def evolve_from_array_spec(self, array_spec: Any) -> Zarr:
        require_numbers(array_spec.dtype.to_native_dtype())
        own = fills_of_chunks(array_spec.fill_value or 0)
        fills = (*(self.fill or ()), *(fill for fill in own if fill != 0))
        return replace(self, fill=tuple(dict.fromkeys(fills)))

    async def encode(self, chunks_and_specs: Iterable[tuple[Any, Any]]) -> list[Any]:
        return await _of_present(self._encode, list(chunks_and_specs))

    async def decode(self, chunks_and_specs: Iterable[tuple[Any, Any]]) -> list[Any]:
        return await _of_present(self._decode, list(chunks_and_specs))

    async def _encode_single(self, chunk: Any, spec: Any) -> Any:
        return (await self.encode([(chunk, spec)]))[0]

    async def _decode_single(self, chunk: Any, spec: Any) -> Any:
        return (await self.decode([(chunk, spec)]))[0]

    def _encode_sync(self, chunk: Any, spec: Any) -> Any:
        return self._encode([chunk], [spec])[0]

    def _decode_sync(self, chunk: Any, spec: Any) -> Any:
        return self._decode([chunk], [spec])[0]

    @_remembered
    def _encode(self, chunks: list[Any], specs: list[Any]) -> list[Any]:
        prototype = specs[0].prototype
        fields = [_as_field(chunk.as_ndarray_like(), spec) for chunk, spec in zip(chunks, specs)]
        fill = self.fill or ()
        for field, spec in zip(fields, specs):
            if 0 not in fill and spec.fill_value != 0 and _zeros_lie_apart(field, fill):
                self._tell("0 repeats apart from the other values; if it means missing, as xarray's _FillValue "
                           "of 0 does, give fill=0")
        places = prototype.nd_buffer.empty((sum(room(field, fill=fill) for field in fields),),
                                           np.dtype("u1")).as_ndarray_like()
        asked: dict[str, Any] = quality_of(self)
        if specs[0].fill_value == 0:
            asked["padding"] = 0.0  # beyond the array's edge, and where nothing was written
        archives = compress_batch(fields, preset=self.preset, fill=fill, strict=self.strict, out=places,
                                  **asked)
        stays = is_on_device(places) and is_on_device(prototype.buffer.create_zero_length().as_array_like())
        if stays:
            return [prototype.buffer.from_array_like(archive.copy()) for archive in archives]
        on_host = (prototype.nd_buffer.from_ndarray_like(archive).as_numpy_array() for archive in archives)
        return [prototype.buffer.from_bytes(archive.tobytes()) for archive in on_host]

    def _tell(self, text: str) -> None:
        if self.strict:
            error = InputError(text)
            error.status = 2
            raise error
        warnings.warn(text, FillWarning, stacklevel=2)

    @_remembered
    def _decode(self, chunks: list[Any], specs: list[Any]) -> list[Any]:
        nd_buffer, dtype = specs[0].prototype.nd_buffer, specs[0].dtype.to_native_dtype()
        points = [math.prod(spec.shape) for spec in specs]
        values = nd_buffer.empty((sum(points),), dtype.newbyteorder("=")).as_ndarray_like()
        restore_chunks([chunk.as_array_like() for chunk in chunks],
                       [merged_shape(spec.shape) for spec in specs], values)
        values = values.astype(dtype, copy=False)
        ends = list(itertools.accumulate(points))
        return [nd_buffer.from_ndarray_like(values[end - count:end].reshape(spec.shape))
                for spec, count, end in zip(specs, points, ends)]

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        raise NotImplementedError("an archive's size follows from its values")


def _zeros_lie_apart(field: Any, fill: tuple[float, ...]) -> bool:
    """Whether zeros are further from the other values than those are from each other. They are nothing that pads
    a chunk where the array's fill value is another. A device's values are not looked at."""
    if is_on_device(field) or field.size - np.count_nonzero(field) < 2:
        return False
    with np.errstate(over="ignore"):
        named = np.asarray(fill, field.dtype)
    known = field[np.isfinite(field) & (field != 0) & ~np.isin(field, named)]
    if known.size < 16:
        return False
    least, most = sorted((abs(float(known.min())), abs(float(known.max()))))
    return bool(np.sign(known.min()) == np.sign(known.max()) and 0 < most - least < least)


def _as_field(chunk: Any, spec: Any) -> Any:
    """A chunk in the machine's byte order and at most four axes. Filters may hand on a flat one."""
    dtype = spec.dtype.to_native_dtype().newbyteorder("=")
    if chunk.dtype.newbyteorder("=") != dtype or math.prod(chunk.shape) != math.prod(spec.shape):
        raise UsageError(f"a filter before cuszi returns {chunk.dtype} of the shape {chunk.shape} where Zarr "
                         f"expects {dtype} of the shape {spec.shape}; leave the filter out")
    return chunk.astype(dtype, order="C", copy=False).reshape(merged_shape(spec.shape))


#: For device batches: each thread has memory there, and one prepares while the other works.
_OF_DEVICE = ThreadPoolExecutor(2, "cuszi")


def _threads(prototype: Any) -> ThreadPoolExecutor | None:
    """The pool for values on a device; None, the event loop's own, for the host."""
    nothing = prototype.nd_buffer.empty((0,), np.dtype("f4")).as_ndarray_like()
    return _OF_DEVICE if is_on_device(nothing) else None


async def _of_present(work: Callable[[list[Any], list[Any]], list[Any]],
                      batch: list[tuple[Any, Any]]) -> list[Any]:
    """What ``work`` makes, in a thread, of the chunks that are there, and their specs."""
    present = [(chunk, spec) for chunk, spec in batch if chunk is not None]
    if not present:
        return [None] * len(batch)
    chunks, specs = map(list, zip(*present))
    threads = _threads(specs[0].prototype)
    made = iter(await asyncio.get_running_loop().run_in_executor(threads, work, chunks, specs))
    return [None if chunk is None else next(made) for chunk, _ in batch]
