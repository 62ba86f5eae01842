"""Whole chunks of HDF5 datasets in batches, for arrays on a GPU or on the host.

    dataset = file.create_dataset("T", a.shape, "f4", chunks=(8, 128, 128), compression=cuszi.H5(abs=0.01))
    cuszi.h5.write(dataset, a)
    b = cuszi.h5.read(dataset)

The chunks are the same as those of the filter, which needs one call for each. Arrays may be on a GPU.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import struct
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, NamedTuple, Tuple, TypeVar

import numpy as np

from . import _library, _memory
from ._codec import box_in, compress_batch, decompress_batch, info, merged_shape, require_numbers, room
from ._errors import ArchiveError, UsageError
from ._h5 import _MODES, _STRICT
from ._options import preset_name

if TYPE_CHECKING:
    from ._codec import Box

T = TypeVar("T")
R = TypeVar("R")
_MOST_BATCH = 1 << 28  # bytes of values
_HOST_BATCH = 1 << 25  # less, so that its memory stays in caches, unless threads need more chunks
_CHUNKS_A_THREAD = 2  # of a batch on the host, so that none waits for long
_MOST_THREADS = 16  # more gain nothing
_FILLS, _LISTS = 15, 17  # first fill value; least end of the fill values


class _Chunks:
    """A dataset's chunks, and how its filter compresses them."""

    def __init__(self, dataset: Any) -> None:
        plist = dataset.id.get_create_plist()
        number = _library.h5_filter()
        if plist.get_nfilters() != 1 or plist.get_filter(0)[0] != number:
            raise UsageError(f"{dataset.name}: cuszi is not its only filter; use dataset[...]")
        require_numbers(dataset.dtype)
        self.dataset, self.shape, self.extents = dataset, dataset.shape, dataset.chunks
        self.dtype = dataset.dtype
        self.fill = dataset.fillvalue
        self.nbytes = math.prod(self.extents) * self.dtype.itemsize
        self.method = {**method_of(plist.get_filter(0)[2]), "padding": 0.0}

    def in_box(self, box: tuple[slice, ...], xp: Any, threads: int) -> list[list[tuple[int, ...]]]:
        """First indices of the chunks that intersect a box, in batches; on the host of several chunks a thread."""
        ranges = [range(part.start // extent * extent, part.stop, extent) for part, extent in zip(box, self.extents)]
        origins = list(itertools.product(*ranges))
        bytes_at_once = max(_HOST_BATCH, _CHUNKS_A_THREAD * threads * self.nbytes) if xp is np else _MOST_BATCH
        most = max(min(bytes_at_once, _MOST_BATCH) // self.nbytes, 1)
        return [origins[first:first + most] for first in range(0, len(origins), most)]

    def memory(self, batches: list[list[tuple[int, ...]]], xp: Any) -> Callable[[int, int], Any]:
        """Gives memory for chunk ``i`` of batch ``k``. On the host, two batches share all of it in turn: new memory
        takes longer than the copy that fills it."""
        native = self.dtype.newbyteorder("=")
        if xp is not np:
            return lambda k, i: xp.empty(self.extents, native)
        most = max(map(len, batches), default=0)
        turns = [np.empty((most, *self.extents), native) for _ in range(min(2, len(batches)))]
        return lambda k, i: turns[k % 2][i]

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


def _ahead(work: Callable[[T], R], items: Iterable[T], beside: bool) -> Iterator[R]:
    """Results of ``work``, of which another thread makes the next one while one is used."""
    if not beside:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(1, "cuszi") as other:
        coming: Future[R] | None = None
        for item in items:
            made, coming = coming, other.submit(work, item)
            if made is not None:
                yield made.result()
        if coming is not None:
            yield coming.result()


@contextmanager
def _behind(beside: bool) -> Iterator[Callable[[Callable[[], None]], None]]:
    """Calls what it is given, one after the other; in another thread, after the one before has ended."""
    with ThreadPoolExecutor(1, "cuszi") as other:
        last: list[Future[None]] = []

        def call(work: Callable[[], None]) -> None:
            while last:
                last.pop().result()
            if beside:
                last.append(other.submit(work))
            else:
                work()
        yield call
        while last:
            last.pop().result()


def _threads_of(threads: int | None) -> int:
    return min(threads or len(os.sched_getaffinity(0)), _MOST_THREADS)


_Copy = Tuple[Any, Any]  # where values go, and values


@contextmanager
def _copying(threads: int) -> Iterator[Callable[[Iterable[_Copy]], None]]:
    """A function that copies; in several threads, since NumPy lets others run meanwhile."""
    def copy(pair: _Copy) -> None:
        pair[0][...] = pair[1]

    with ThreadPoolExecutor(threads, "cuszi copies") as pool:
        def copy_all(pairs: Iterable[_Copy]) -> None:
            for _ in (pool.map if threads > 1 else map)(copy, pairs):
                pass
        yield copy_all


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
    copiers = _threads_of(threads) if xp is np else 1
    batches = chunks.in_box(whole, xp, copiers)
    memory = chunks.memory(batches, xp)
    beside = xp is np and len(batches) > 1
    archives: list[Any] = []  # of one batch are written while those of the next one are made

    def store(batch: list[tuple[int, ...]], made: list[Any]) -> None:
        for origin, archive in zip(batch, made):
            dataset.id.write_direct_chunk(origin, archive)

    # This thread compresses: its context and the memory of that serve again in the next call.
    with _copying(copiers) as copy, _behind(beside) as behind:
        gathered = _ahead(lambda k: _gathered(chunks, array, batches[k], functools.partial(memory, k), copy),
                          range(len(batches)), beside)
        for k, fields in enumerate(gathered):
            if k < 2:
                archives.append(np.empty(len(fields) * room(fields[0], fill=chunks.method["fill"]), "u1"))
            made = compress_batch(fields, out=archives[k % 2], device=device, threads=threads, **chunks.method)
            behind(functools.partial(store, batches[k], made))


def _gathered(chunks: _Chunks, array: Any, batch: list[tuple[int, ...]], memory: Callable[[int], Any],
              copy: Callable[[Iterable[_Copy]], None]) -> list[Any]:
    """The chunks of a batch: views of the array where they are contiguous in it, else copies."""
    whole = tuple(slice(0, extent) for extent in chunks.shape)
    fields, copies = [], []
    for i, origin in enumerate(batch):
        inside, part = chunks.within(origin, whole)
        field = array[part]
        if not _is_whole(field, chunks):
            chunk = memory(i)
            if field.shape != chunk.shape:
                chunk[...] = chunks.fill  # HDF5 pads as the filter would see it
            copies.append((chunk[inside], field))
            field = chunk
        fields.append(field.reshape(merged_shape(chunks.extents)))
    copy(copies)
    return fields


def _is_whole(values: Any, chunks: _Chunks) -> bool:
    """Whether memory is that of a chunk."""
    native = chunks.dtype.newbyteorder("=")
    return bool(values.shape == chunks.extents and values.dtype == native and values.flags.c_contiguous)


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
    xp = _library_of(target)
    copiers = _threads_of(threads) if xp is np else 1
    batches = chunks.in_box(slices, xp, copiers)
    memory = chunks.memory(batches, xp)
    beside = xp is np and len(batches) > 1
    with _copying(copiers) as copy, _behind(beside) as behind:
        for stored in _ahead(lambda k: _stored(chunks, batches[k], slices, target, functools.partial(memory, k)),
                             range(len(batches)), beside):
            decompress_batch(stored.archives, device=device, threads=threads,
                             memory_limit=max(16 * chunks.nbytes, 1 << 20), out=stored.places)
            behind(functools.partial(copy, stored.copies))
    return values


class _Stored(NamedTuple):
    """Archives of a batch, where their values go, and what is copied from there."""

    archives: list[bytes]
    places: list[Any]
    copies: list[_Copy]


def _stored(chunks: _Chunks, batch: list[tuple[int, ...]], box: tuple[slice, ...], target: Any,
            memory: Callable[[int], Any]) -> _Stored:
    xp = _library_of(target)
    stored = _Stored([], [], [])
    shape = merged_shape(chunks.extents)
    for i, origin in enumerate(batch):
        inside, part = chunks.within(origin, box)
        if chunks.dataset.id.get_chunk_info_by_coord(origin).byte_offset is None:
            target[part] = chunks.fill  # never written
            continue
        mask, archive = chunks.dataset.id.read_direct_chunk(origin)
        if mask:  # stored without the filter
            target[part] = xp.asarray(np.frombuffer(archive, chunks.dtype).astype(target.dtype))\
                .reshape(chunks.extents)[inside]
            continue
        _require_chunk(archive, shape, target.dtype)
        place = target[part]
        if not _is_whole(place, chunks):
            place = memory(i)
            stored.copies.append((target[part], place[inside]))
        stored.archives.append(archive)
        stored.places.append(place.reshape(shape))
    return stored


def _require_chunk(archive: bytes, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    known = info(archive)
    if math.prod(known.shape) != math.prod(shape) or known.dtype != dtype:
        raise ArchiveError(f"a chunk of {shape} is stored as {known.shape} of {known.dtype}")
