"""Whole chunks of HDF5 datasets in batches, for arrays on a GPU or on the host.

    dataset = file.create_dataset("T", a.shape, "f4", chunks=(8, 128, 128), compression=cuszi.H5(abs=0.01))
    cuszi.h5.write(dataset, a)
    b = cuszi.h5.read(dataset)

The chunks are the same as those of the filter, which needs one call for each. Arrays may be on a GPU.
"""

from __future__ import annotations

import itertools
import math
import struct
import sys
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

from . import _library, _memory
from ._codec import box_in, compress_batch, decompress_batch, info, merged_shape, require_floats
from ._errors import ArchiveError, UsageError
from ._h5 import _MODES, _STRICT
from ._options import preset_name

if TYPE_CHECKING:
    from ._codec import Box

_BATCH_BYTES = 1 << 28
_FILLS, _LISTS = 15, 17  # first fill value; least end of the fill values


class _Chunks:
    """A dataset's chunks, and how its filter compresses them."""

    def __init__(self, dataset: Any) -> None:
        plist = dataset.id.get_create_plist()
        number = _library.h5_filter()
        if plist.get_nfilters() != 1 or plist.get_filter(0)[0] != number:
            raise UsageError(f"{dataset.name}: cuszi is not its only filter; use dataset[...]")
        require_floats(dataset.dtype)
        self.dataset, self.shape, self.extents = dataset, dataset.shape, dataset.chunks
        self.dtype = dataset.dtype
        self.fill = dataset.fillvalue
        self.nbytes = math.prod(self.extents) * self.dtype.itemsize
        self.method = {**method_of(plist.get_filter(0)[2]), "padding": 0.0}

    def in_box(self, box: tuple[slice, ...]) -> Iterator[list[tuple[int, ...]]]:
        """First indices of the chunks that intersect a box, in batches."""
        ranges = [range(part.start // extent * extent, part.stop, extent) for part, extent in zip(box, self.extents)]
        origins = itertools.product(*ranges)
        while batch := list(itertools.islice(origins, max(_BATCH_BYTES // self.nbytes, 1))):
            yield batch

    def within(self, origin: tuple[int, ...], box: tuple[slice, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """What a chunk and a box share, in the chunk and in the box."""
        ends = [(max(first, part.start), min(first + extent, part.stop))
                for first, extent, part in zip(origin, self.extents, box)]
        return (tuple(slice(a - first, b - first) for (a, b), first in zip(ends, origin)),
                tuple(slice(a - part.start, b - part.start) for (a, b), part in zip(ends, box)))


def method_of(numbers: tuple[int, ...]) -> dict[str, Any]:
    """A dataset's filter parameters as keywords of ``compress``; bindings/hdf5/chunk_settings.hpp describes them."""
    kind = numbers[3]
    fill_count, isovalue_count = numbers[14] % 256, numbers[14] // 256
    isovalues_at = max(_LISTS, _FILLS + 2 * fill_count)
    mode = next(name for name, bit in reversed(_MODES.items()) if kind & bit == bit)
    method = {mode: _double(numbers, 1), "preset": preset_name(kind % _STRICT), "strict": bool(kind & _STRICT),
              "fill": _doubles(numbers, _FILLS, fill_count)}
    if isovalue_count:
        method["isovalues"] = _doubles(numbers, isovalues_at, isovalue_count)
    if mode.endswith("_pw_rel"):
        method["pw"] = _double(numbers, isovalues_at + 2 * isovalue_count)
    return method


def _double(numbers: tuple[int, ...], at: int) -> float:
    return float(struct.unpack("<d", struct.pack("<II", *numbers[at:at + 2]))[0])


def _doubles(numbers: tuple[int, ...], at: int, count: int) -> list[float]:
    return [_double(numbers, at + 2 * i) for i in range(count)]


def _library_of(array: Any) -> Any:
    """NumPy, or the module of an array on a device, which has its functions."""
    return sys.modules[type(array).__module__.partition(".")[0]] if _memory.is_on_device(array) else np


def write(dataset: Any, array: Any, *, device: str = "auto", threads: int | None = None) -> None:
    """Write all of a chunked dataset of h5py whose only filter is cuszi.

    Parameters
    ----------
    dataset : h5py.Dataset
    array : array of its shape, in NumPy or on a GPU
    device, threads
        As for ``compress``.

    Raises
    ------
    UsageError; as ``compress_batch``
    """
    chunks = _Chunks(dataset)
    xp = _library_of(array)
    array = array if xp is not np else np.asanyarray(array)
    if tuple(array.shape) != chunks.shape:
        raise UsageError(f"an array of the shape {tuple(array.shape)} for a dataset of {chunks.shape}")
    if isinstance(array, np.ma.MaskedArray):
        array = array.filled(chunks.fill)
    whole = tuple(slice(0, extent) for extent in chunks.shape)
    native = chunks.dtype.newbyteorder("=")
    shape = merged_shape(chunks.extents)
    for batch in chunks.in_box(whole):
        fields = []
        for origin in batch:
            inside, part = chunks.within(origin, whole)
            field = xp.ascontiguousarray(array[part], dtype=native)
            if field.shape != chunks.extents:  # HDF5 pads as the filter would see it
                padded = xp.full(chunks.extents, chunks.fill, native)
                padded[inside] = field
                field = padded
            fields.append(field.reshape(shape))
        archives = compress_batch(fields, device=device, threads=threads, **chunks.method)
        for origin, archive in zip(batch, archives):
            dataset.id.write_direct_chunk(origin, archive)


def read(dataset: Any, box: Box = None, *, out: Any = None, device: str = "auto", threads: int | None = None) -> Any:
    """Read a chunked dataset of h5py whose only filter is cuszi, or a box of it.

    Parameters
    ----------
    dataset : h5py.Dataset
    box : index expression without steps, like ``numpy.s_[0:8, ..., 100:200]``
    out : array of the box's shape and the dataset's type, in NumPy or on a GPU
    device, threads
        As for ``decompress``.

    Returns
    -------
    numpy.ndarray, or ``out``

    Raises
    ------
    ArchiveError, UsageError, DeviceError
    """
    chunks = _Chunks(dataset)
    slices, single = box_in(box, chunks.shape)
    shape = tuple(part.stop - part.start for part in slices)
    native = chunks.dtype.newbyteorder("=")
    kept = tuple(extent for axis, extent in enumerate(shape) if axis not in single)
    values = np.empty(kept, native) if out is None else out
    if tuple(values.shape) != kept or values.dtype != native:
        raise UsageError(f"out has the shape {tuple(values.shape)} and the type {values.dtype}; accepted is "
                         f"{kept} of {native}")
    target = values.reshape(shape)  # a view: extents of 1 more
    for batch in chunks.in_box(slices):
        _read_batch(chunks, batch, slices, target, device, threads)
    return values


def _read_batch(chunks: _Chunks, batch: list[tuple[int, ...]], box: tuple[slice, ...], target: Any, device: str,
                threads: int | None) -> None:
    xp = _library_of(target)
    archives, places, copies = [], [], []
    shape = merged_shape(chunks.extents)
    for origin in batch:
        inside, part = chunks.within(origin, box)
        if chunks.dataset.id.get_chunk_info_by_coord(origin).byte_offset is None:
            target[part] = chunks.fill  # never written
            continue
        mask, stored = chunks.dataset.id.read_direct_chunk(origin)
        if mask:  # stored without the filter
            target[part] = xp.asarray(np.frombuffer(stored, chunks.dtype).astype(target.dtype))\
                .reshape(chunks.extents)[inside]
            continue
        place = target[part]
        is_whole = place.shape == chunks.extents and place.flags.c_contiguous
        if not is_whole:
            place = xp.empty(chunks.extents, target.dtype)
            copies.append((part, place, inside))
        archives.append(stored)
        places.append(place.reshape(shape))
    for known in archives:
        _require_chunk(known, shape, target.dtype)
    decompress_batch(archives, device=device, threads=threads, memory_limit=max(16 * chunks.nbytes, 1 << 20), out=places)
    for part, place, inside in copies:
        target[part] = place[inside]


def _require_chunk(archive: bytes, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    known = info(archive)
    if math.prod(known.shape) != math.prod(shape) or known.dtype != dtype:
        raise ArchiveError(f"a chunk of {shape} is stored as {known.shape} of {known.dtype}")
