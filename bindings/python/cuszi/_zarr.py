"""cuszi as a codec of Zarr: of version 3, and for version 2 through numcodecs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray, ndarray_copy
from zarr.abc.codec import ArrayBytesCodec

from ._arguments import Real, names_keywords, quality
from ._codec import compress, decompress, require_floats
from ._errors import ArchiveError
from ._library import MAX_RANK
from ._options import Fill, Preset, fill_values, preset_number

_NAME = "cuszi"


def _field_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A chunk's, of any rank: axes of extent 1 left out, the slowest merged until four are left."""
    extents = [extent for extent in shape if extent != 1] or [1]
    while len(extents) > MAX_RANK:
        extents[:2] = [extents[0] * extents[1]]
    return tuple(extents)


_QUALITY = ("abs", "pw_rel", "abs_or_pw_rel", "abs_and_pw_rel", "pw")


def _quality_of(codec: Any) -> dict[str, float]:
    return quality(**{name: getattr(codec, name) for name in _QUALITY})


@dataclass(frozen=True)
class Zarr(ArrayBytesCodec):
    """Compress the chunks of a Zarr array of float32 or float64.

        zarr.create_array("t.zarr", data=a, chunks=(8, 128, 128), compressors=None,
                          serializer=cuszi.Zarr(abs=0.01))

    Parameters
    ----------
    abs : float
        What no value's error exceeds, in the array's unit; 0 is lossless. A share of the value
        range has to be computed from all chunks first.
    pw_rel : float
        The bound as a share of each value instead; zeros and signs come back exactly.
    abs_or_pw_rel, abs_and_pw_rel : float
        A bound in the array's unit, of which and of the share ``pw`` of each value the larger or the
        smaller holds.
    pw : float
    preset : "ratio", "cuszi", "cusz", "fast" or "zfp"
    fill : number, or several
        Values that mean "missing" besides NaN and the infinities: they come back bit for bit. By
        default the array's fill value, unless that is 0.
    strict : bool
        Whether what a FillWarning would tell of a chunk is an error.
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
        fills = None if fill is None else fill_values(fill)
        for name, value in (*((name, asked.get(name)) for name in _QUALITY),
                            ("preset", preset), ("fill", fills), ("strict", bool(strict))):
            object.__setattr__(self, name, value)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Zarr:
        if data["name"] != _NAME:
            raise ValueError(f"expected the codec {_NAME!r}, not {data['name']!r}")
        return cls(**data["configuration"])

    def to_dict(self) -> dict[str, Any]:
        configuration: dict[str, Any] = {**_quality_of(self), "preset": self.preset}
        if self.fill is not None:
            configuration["fill"] = list(self.fill)
        if self.strict:
            configuration["strict"] = True
        return {"name": _NAME, "configuration": configuration}

    def evolve_from_array_spec(self, array_spec: Any) -> Zarr:
        require_floats(array_spec.dtype.to_native_dtype())
        if self.fill is not None:
            return self
        fills = fill_values(array_spec.fill_value or 0)
        return replace(self, fill=tuple(fill for fill in fills if fill != 0))

    async def _encode_single(self, chunk_array: Any, chunk_spec: Any) -> Any:
        chunk = np.ascontiguousarray(chunk_array.as_numpy_array())
        chunk = chunk.reshape(_field_shape(chunk.shape))
        asked: dict[str, Any] = _quality_of(self)
        archive = await asyncio.to_thread(lambda: compress(
            chunk, preset=self.preset, fill=self.fill or (), strict=self.strict, **asked))
        return chunk_spec.prototype.buffer.from_bytes(archive)

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        dtype = chunk_spec.dtype.to_native_dtype()
        values = await asyncio.to_thread(decompress, chunk_bytes.as_numpy_array())
        expected = _field_shape(chunk_spec.shape)
        if values.shape != expected or values.dtype != dtype.newbyteorder("="):
            raise ArchiveError(f"a chunk of the shape {expected} and the type {dtype} is stored as "
                               f"{values.shape} of {values.dtype}")
        values = values.astype(dtype, copy=False)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(values.reshape(chunk_spec.shape))

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        raise NotImplementedError("an archive's size follows from its values")


class Numcodec(Codec):
    """The same for Zarr version 2: ``compressor=cuszi.Numcodec(abs=0.01)``.

    Parameters
    ----------
    abs, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw, preset, fill, strict
        As of ``Zarr``; the array's fill value has to be named.
    """

    codec_id = _NAME

    @names_keywords()
    def __init__(self, *, abs: Real | None = None, pw_rel: Real | None = None,
                 abs_or_pw_rel: Real | None = None, abs_and_pw_rel: Real | None = None,
                 pw: Real | None = None, preset: Preset = "ratio", fill: Fill = (), strict: bool = False) -> None:
        preset_number(preset)
        asked = quality(abs, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw)
        for name in _QUALITY:
            setattr(self, name, asked.get(name))
        self.preset = preset
        self.fill = list(fill_values(fill))
        self.strict = bool(strict)

    def encode(self, buf: Any) -> bytes:
        """Masked points are missing, as in ``compress``."""
        chunk = np.asanyarray(buf)
        asked: dict[str, Any] = _quality_of(self)
        return compress(chunk.reshape(_field_shape(chunk.shape)), **asked, preset=self.preset,
                        fill=self.fill, strict=self.strict)

    def decode(self, buf: Any, out: Any = None) -> Any:
        values = decompress(ensure_contiguous_ndarray(buf))
        return values if out is None else ndarray_copy(values, out)
