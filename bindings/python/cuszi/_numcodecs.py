"""cuszi as a codec of numcodecs, which version 2 of Zarr takes."""

from __future__ import annotations

import io
from typing import Any, ContextManager

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray

from ._arguments import QUALITY, Real, names_keywords, quality, quality_of
from ._codec import compress, decompress, merged_shape, remembering
from ._errors import ArchiveError, UsageError
from ._library import MAX_RANK
from ._options import Fill, Preset, fills_of_chunks, preset_number

#: A NumPy file header precedes the archive of an array that an archive alone cannot describe.
_HEAD = np.lib.format.MAGIC_PREFIX


def _is_field(array: np.ndarray[Any, Any]) -> bool:
    """Whether an archive alone gives the array back."""
    return array.flags.c_contiguous and array.dtype.isnative and 1 <= array.ndim <= MAX_RANK


def _head(array: np.ndarray[Any, Any]) -> bytes:
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))
    return head.getvalue()


def _read_head(data: np.ndarray[Any, Any]) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether the fastest axis is the first, type, and how many bytes this takes."""
    file = io.BytesIO(data[:2048].tobytes())
    try:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError("it is not of version 1.0")
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
    except Exception as error:  # NumPy parses Python literals, which raises many errors
        raise ArchiveError(f"the header of an array is damaged: {error}") from None
    return shape, is_fortran, dtype, file.tell()


def _copy(values: np.ndarray[Any, Any], out: Any) -> Any:
    """To an array of the same shape and numbers by value, to other memory as it lies in memory."""
    if isinstance(out, np.ndarray) and out.shape == values.shape \
            and out.dtype.newbyteorder("=") == values.dtype.newbyteorder("="):
        np.copyto(out, values)
        return out
    target = ensure_contiguous_ndarray(out)
    if target.nbytes != values.nbytes:
        raise UsageError(f"out has {target.nbytes} bytes; the array has {values.nbytes}")
    target.view("u1")[...] = values.reshape(-1, order="A").view("u1")
    return out


class Numcodec(Codec):
    """Codec of numcodecs, also for version 2 of Zarr: ``compressors=cuszi.Numcodec(abs=0.01)``.

    Parameters
    ----------
    abs, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw, preset, strict
        As for ``Zarr``.
    fill : number, or several
        As for ``Zarr``; the array's fill value has to be named.
    """

    codec_id = "cuszi"

    @names_keywords()
    def __init__(self, *, abs: Real | None = None, pw_rel: Real | None = None,
                 abs_or_pw_rel: Real | None = None, abs_and_pw_rel: Real | None = None,
                 pw: Real | None = None, preset: Preset = "ratio", fill: Fill = (), strict: bool = False) -> None:
        preset_number(preset)
        asked = quality(abs, pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw)
        for name in QUALITY:
            setattr(self, name, asked.get(name))
        self.preset = preset
        self.fill = list(fills_of_chunks(fill))
        self.strict = bool(strict)

    def encode(self, buf: Any) -> bytes:
        """Compress an array of any shape, order and byte order, which ``decode`` restores.

        The result is an archive if the array is contiguous in C order and in the machine's byte order
        and has 1 to 4 axes. Otherwise the header of a .npy file, which describes the array, precedes
        an archive of its values in memory order. Masked points are missing, as in ``compress``.

        Raises
        ------
        TypeError for an array of objects; as ``compress``
        """
        array = np.asanyarray(buf)
        if array.dtype == object:
            raise TypeError("object arrays are not supported")
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            array = array.copy(order="C")
        asked: dict[str, Any] = {**quality_of(self), "preset": self.preset, "fill": self.fill,
                                 "strict": self.strict,
                                 "padding": 0.0}  # in Zarr's chunks beyond the array's edge
        with self._remembering():
            if _is_field(array):
                return compress(array, **asked)
            in_memory = array if array.flags.c_contiguous else array.T
            return _head(array) + compress(in_memory.reshape(merged_shape(in_memory.shape)), **asked)

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Restore an array.

        Parameters
        ----------
        buf : result of ``encode``
        out : array of the same shape and numbers, or contiguous memory of the same size
            Memory for the values.

        Raises
        ------
        ArchiveError, UsageError
        """
        with self._remembering():
            values = _decoded(ensure_contiguous_ndarray(buf).view("u1"))
        return values if out is None else _copy(values, out)

    def _remembering(self) -> ContextManager[None]:
        """Zarr writes a part of a chunk by decoding and encoding all of it."""
        return remembering(quality_of(self), self.preset, self.fill)


def _decoded(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if data[:len(_HEAD)].tobytes() != _HEAD:
        return decompress(data)
    shape, is_fortran, dtype, size = _read_head(data)
    values = decompress(data[size:])
    in_memory = shape[::-1] if is_fortran else shape
    if (min(shape, default=1) < 1 or values.shape != merged_shape(in_memory)
            or values.dtype != dtype.newbyteorder("=")):
        raise ArchiveError(f"an array of the shape {shape} and the type {dtype} is stored as "
                           f"{values.shape} of {values.dtype}")
    values = values.astype(dtype, copy=False).reshape(in_memory)
    return values.T if is_fortran else values
