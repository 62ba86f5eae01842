"""compress, decompress, info."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import math
import os
import sys
import threading
import warnings
from dataclasses import dataclass
from typing import (TYPE_CHECKING, Any, Iterable, Iterator, Literal, Mapping, SupportsIndex, TypeVar,
                    overload)

import numpy as np
import numpy.typing as npt

from . import _library, _masks, _memory, _options
from ._arguments import Real, names_keywords, whole
from ._errors import ArchiveError, FillWarning, TargetWarning, UsageError, Warning
from ._library import MAX_RANK, Options, Part
from ._options import Fill, Preset, ValueRange

if TYPE_CHECKING:
    from types import EllipsisType

    from typing_extensions import Buffer, Unpack

    from ._memory import DeviceArray
    from ._options import Method

    Box = SupportsIndex | slice | EllipsisType | tuple[SupportsIndex | slice | EllipsisType, ...] | None

Out = TypeVar("Out")

_BFLOAT16 = 3  # cuszi_dtype
_NUMBERS = {0: "f4", 1: "f8", 2: "f2", 4: "i1", 5: "u1", 6: "i2", 7: "u2", 8: "i4", 9: "u4", 10: "i8", 11: "u8"}
_DTYPES = {np.dtype(name): number for number, name in _NUMBERS.items()}


def _number_of(dtype: np.dtype[Any]) -> int | None:
    """The number in cuszi_dtype; None for other types and byte orders."""
    return _DTYPES.get(dtype, _BFLOAT16 if dtype.name == "bfloat16" else None)


@dataclass(frozen=True)
class Info:
    """Properties of an archive and its field."""

    shape: tuple[int, ...]  #: slowest first
    dtype: np.dtype[Any]
    bound: float  #: largest error of a value; infinite if unbounded
    mode: str  #: "rel", "abs", "pw_rel", "abs_or_pw_rel" or "abs_and_pw_rel"
    bound_asked: float  #: bound as given
    pw: float  #: share of each value as given
    fill: tuple[float, ...]  #: fill values besides NaN and infinities
    frames: int  #: separately coded slabs
    frame_axis: int  #: axis of the slabs
    frame_height: int  #: indices per slab, except the last
    format_version: int


def require_numbers(dtype: np.dtype[Any]) -> None:
    if _number_of(dtype.newbyteorder("=")) is None:
        raise UsageError(f"values of {dtype}; only floats of 16 to 64 bits and integers are compressed within a "
                         "bound: convert with .astype, or use a lossless codec")


def work_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Of floats that hold the values of ``dtype``, integers of 64 bits excepted, and NaN."""
    return np.dtype("f4" if dtype.itemsize <= 2 or dtype == np.dtype("f4") else "f8")


def merged_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with at most four axes: axes of extent 1 left out, the slowest merged."""
    extents = [extent for extent in shape if extent != 1] or [1]
    while len(extents) > MAX_RANK:
        extents[:2] = [extents[0] * extents[1]]
    return tuple(extents)


def _field(memory: _memory.Memory) -> _library.Field:
    require_numbers(memory.dtype)
    dtype = _number_of(memory.dtype)
    if dtype is None:
        raise UsageError(f"values of {memory.dtype} on a device, not in the machine's byte order")
    shape = memory.shape or (1,)
    if len(shape) > MAX_RANK:
        raise UsageError(f"{len(shape)} dimensions; reshape to at most {MAX_RANK}, slowest first")
    return _library.Field(dtype, len(shape), shape)


def _warn(options: Options) -> None:
    """Warn of what makes the last archive useless."""
    text = _library.last_warning()
    if text:
        missed = _library.reached() < options.bound  # false for NaN
        warnings.warn(text, TargetWarning if missed else FillWarning, stacklevel=4)


def _values(a: Any, fill: Any, stream: int | None = None) -> tuple[_memory.Memory, tuple[float, ...]]:
    """An array to be read, and which of its values mean "missing" besides NaN."""
    fills = _options.fill_values(fill)
    if _memory.is_on_device(a):
        return _memory.of_values(a, stream), fills
    values, own = _masks.unmasked(a)
    return _memory.of_values(values), tuple(dict.fromkeys(own + fills))


def _asked(quality: Mapping[str, Any], preset: Preset, value_range: ValueRange, verify: bool,
           strict: bool, method: Mapping[str, Any]) -> Options:
    """Keywords as options, but for fill values and the device."""
    options = Options()
    options.remember = 1 if _restoring() is not None else 0
    _options.set_method(options, method)
    _options.set_quality(options, quality, value_range)
    _options.set_option(options, "preset", preset)
    if verify:
        options.verify = 1
    if strict:
        options.strict = 1
    return options


_threads = threading.local()


def _restoring() -> Options | None:
    """What this thread restores with, if ``remembering``."""
    return getattr(_threads, "restoring", None)


@functools.lru_cache
def _chunk_options(asked: tuple[tuple[str, float], ...], preset: Preset, fills: tuple[float, ...]) -> Options:
    """What chunks are compressed with, which no one changes."""
    quality = dict(asked)
    method = {"pw": quality.pop("pw")} if "pw" in quality else {}
    options = _asked(quality, preset, None, False, False, method)
    _options.set_fills(options, fills)
    options.remember = 1
    return options


@contextlib.contextmanager
def remembering(asked: Mapping[str, Any], preset: Preset, fill: Iterable[float]) -> Iterator[None]:
    """While it is open, this thread's archives are remembered as chunks that are compressed in this way, and
    its fields are compared with them: ``remember`` in cuszi.h. ``asked`` is a bound as of ``compress``.
    """
    _threads.restoring = _chunk_options(tuple(asked.items()), preset, tuple(fill))
    try:
        yield
    finally:
        _threads.restoring = None


def _restoring_options() -> Options:
    options = _restoring()
    return Options() if options is None else Options.from_buffer_copy(options)


@overload
def compress(a: npt.ArrayLike | DeviceArray, *, rel: Real | None = None, abs: Real | None = None,
             pw_rel: Real | None = None, abs_or_pw_rel: Real | None = None,
             abs_and_pw_rel: Real | None = None, psnr: Real | None = None, ratio: Real | None = None,
             preset: Preset = "ratio",
             fill: Fill = (), value_range: ValueRange = None, verify: bool = False,
             strict: bool = False, device: str = "auto", threads: int | None = None,
             stream: int | None = None, out: None = None, **method: Unpack[Method]) -> bytes: ...


@overload
def compress(a: npt.ArrayLike | DeviceArray, *, rel: Real | None = None, abs: Real | None = None,
             pw_rel: Real | None = None, abs_or_pw_rel: Real | None = None,
             abs_and_pw_rel: Real | None = None, psnr: Real | None = None, ratio: Real | None = None,
             preset: Preset = "ratio",
             fill: Fill = (), value_range: ValueRange = None, verify: bool = False,
             strict: bool = False, device: str = "auto", threads: int | None = None,
             stream: int | None = None, out: Buffer | DeviceArray, **method: Unpack[Method]) -> int: ...


@names_keywords(_options.METHOD)
def compress(a: Any, *, rel: Any = None, abs: Any = None, pw_rel: Any = None,
             abs_or_pw_rel: Any = None, abs_and_pw_rel: Any = None, psnr: Any = None, ratio: Any = None,
             preset: Preset = "ratio", fill: Fill = (), value_range: ValueRange = None,
             verify: bool = False, strict: bool = False, device: str = "auto",
             threads: int | None = None, stream: int | None = None, out: Any = None,
             **method: Any) -> bytes | int:
    """Compress a field under a strict error bound, or to a quality or a size.

    Parameters
    ----------
    a : array of floats or integers of up to 64 bits, with 1 to 4 dimensions of at least 1, slowest first
        A NumPy array, or an array on a GPU, used in place. Others are converted by
        ``numpy.asanyarray``. Masked points are missing, and so are values equal to
        ``attrs["_FillValue"]`` or ``attrs["missing_value"]`` of an xarray or h5py array. A scalar or
        an array without axes is restored with the shape (1,).
    rel, abs : float
        Maximum error of a value: a fraction of the value range, below 1, or in the field's unit.
        0 is lossless.
    pw_rel : float
        Maximum error as a fraction of each value; zeros and signs are exact.
    abs_or_pw_rel, abs_and_pw_rel : float
        Maximum error in the field's unit, above 0, or the fraction ``pw`` of each value, below 1,
        whichever is larger (or) or smaller (and).
    psnr, ratio : float
        Target instead of a bound: minimum PSNR in dB with few bits, or minimum compression ratio
        with little error. Trials find the bound, which ``info`` returns. If the target cannot be
        met, the result is the nearest archive, with a TargetWarning.
    preset : "ratio", "balanced", "fast", "cuszi", "cusz" or "zfp"
    fill : number, "netcdf", or several
        Values that mark missing points, in addition to NaN and infinities; restored bit for bit.
    value_range : (min, max)
        Value range for ``rel``; by default that of the field.
    verify : bool
        Restore the archive and compare.
    strict : bool
        Whether a FillWarning or a TargetWarning is an error.
    device : "auto", "cpu", "cuda", "cuda:N", "cuda:N,M..." or "cuda:all"
        By default the array's GPU, else the faster of a GPU and the CPU.
    threads : int
        Number of CPU threads; all by default.
    stream : int
        Address of the CUDA stream that computes the values; by default the current stream of the
        array's library.
    out : writable buffer, or array on a GPU, of bytes along one axis
        Memory for the archive; ``room(a)`` bytes are always enough.
    **method
        Further options of the tool: isovalues (a number or several; values stay on their side of
        each), keep_sign (values keep their sign), regions (pairs of an index like
        ``np.s_[0:8, 100:200]`` and a smaller bound, 0 for lossless; later ones override), bound_field
        (an array of smaller bounds, one for each point or for each block of bound_blocks points), pw
        (see abs_or_pw_rel), padding (value of padded points, which causes no FillWarning), predictor,
        coder, effort, axes with axis, reach, alpha, beta, radius, index, chunk, partition, huffman_width, lossless, frame_bytes,
        interp_tile, interp_anchor, interp_alpha, interp_cubic, interp_order, zfp_mode, zfp_chunk.
        A zfp_mode like "rate:8", "precision:20" or "reversible" needs no bound.

    Returns
    -------
    bytes, or with ``out`` the number of bytes written
        The archive, as the tool ``cuszi`` writes it.

    Raises
    ------
    UsageError, DeviceError, RoomError; BoundError if ``verify`` finds an error; with ``strict``,
    InputError for values that look like fill values, BoundError for a target that is not met

    Warns
    -----
    FillWarning, TargetWarning
    """
    values, fills = _values(a, fill, stream)
    options = _asked({"rel": rel, "abs": abs, "pw_rel": pw_rel, "abs_or_pw_rel": abs_or_pw_rel,
                      "abs_and_pw_rel": abs_and_pw_rel, "psnr": psnr, "ratio": ratio},
                     preset, value_range, verify, strict, method)
    _options.set_fills(options, fills)
    field = _field(values)
    if out is not None:
        target = _memory.of_archive_output(out, stream)
        _options.set_device(options, device, threads, stream, (values, target))
        size = _library.compress(options, field, values.address, target.address, target.nbytes)
        _warn(options)
        return size
    _options.set_device(options, device, threads, stream, (values,))
    # Untouched pages cost nothing. Invalid input has a bound of 0 and is reported below.
    archive = np.empty(_library.bound(field, options), np.uint8)
    size = _library.compress(options, field, values.address, archive.ctypes.data, archive.nbytes)
    _warn(options)
    return archive[:size].tobytes()


@names_keywords(_options.METHOD)
def compress_batch(fields: Iterable[Any], *, rel: Real | None = None, abs: Real | None = None,
                   pw_rel: Real | None = None, abs_or_pw_rel: Real | None = None,
                   abs_and_pw_rel: Real | None = None, psnr: Real | None = None, ratio: Real | None = None,
                   preset: Preset = "ratio", fill: Fill = (), value_range: ValueRange = None,
                   verify: bool = False, strict: bool = False, device: str = "auto",
                   threads: int | None = None, stream: int | None = None, out: Any = None,
                   **method: Any) -> list[Any]:
    """Compress many fields concurrently in one call. Archives are the same as from ``compress``.

    Parameters
    ----------
    fields : arrays of any shapes and types, each as ``compress`` takes it
    out : writable buffer, or array on a GPU, of bytes along one axis
        Memory for all archives; the sum of ``room(a)`` bytes is always enough. On a GPU, small fields
        on the same device are compressed together by ``preset="fast"``.
    rel, abs and the others
        As for ``compress``, for all fields.

    Returns
    -------
    list of bytes, or with ``out`` of slices of ``out``
        The archives.

    Raises
    ------
    As ``compress``, for the first field that fails; the message has its number.

    Warns
    -----
    FillWarning, TargetWarning: for the first field
    """
    inputs = [_values(a, fill, stream) for a in fields]
    options = _asked({"rel": rel, "abs": abs, "pw_rel": pw_rel, "abs_or_pw_rel": abs_or_pw_rel,
                      "abs_and_pw_rel": abs_and_pw_rel, "psnr": psnr, "ratio": ratio},
                     preset, value_range, verify, strict, method)
    own = {fills: _with_fills(options, fills) for _, fills in inputs}
    members = (_library.Compression * len(inputs))()
    for member, (values, fills) in zip(members, inputs):
        member.options = own[fills]
        member.field = _field(values)
        member.values = values.address
    places = [0, *itertools.accumulate(_library.bound(member.field, member.options.contents)
                                       for member in members)]
    archives = np.empty(places[-1], np.uint8) if out is None else out
    target = _memory.of_archive_output(archives, stream)
    for member, first, end in zip(members, places, places[1:]):
        member.archive = target.address + min(first, target.nbytes)
        member.capacity = max(min(end, target.nbytes) - first, 0)
    memories = [values for values, _ in inputs]
    _options.set_device(options, device, threads, stream, [*memories, target])
    for pointer in own.values():
        _options.set_device(pointer.contents, device, threads, stream, [*memories, target])
    _library.compress_batch(options, members)
    _warn(options)
    found = [archives[first:first + member.size] for member, first in zip(members, places)]
    return found if out is not None else [archive.tobytes() for archive in found]


def append(path: str | os.PathLike[str], a: npt.ArrayLike | DeviceArray, **options: Any) -> None:
    """Compress a field and add it to an archive, along the slowest axis.

    A stopped call leaves the archive readable as before. Concurrent calls wait for each other.

    Parameters
    ----------
    path : str or PathLike
        A file, which is created if need be.
    a : array
        As for ``compress``. Its shape is the archive's but for the slowest axis, or lacks that axis.
    **options
        As for ``compress``, without ``out``. An archive that exists gives its bound, if there is none,
        and its fill values.

    Raises
    ------
    ArchiveError if the archive is damaged or of another type or shape; as ``compress``

    Warns
    -----
    FillWarning, TargetWarning
    """
    begin = _beginning(path)
    if begin:
        known = info(begin)
        a = _of_rank(a, len(known.shape))
        options["fill"] = (*known.fill, *_options.fill_values(options.get("fill", ())))
        if all(options.get(name) is None for name in _QUALITIES):
            options.update(_bound_of(known))
    archive = np.frombuffer(compress(a, **options), np.uint8)
    _library.append(os.fsencode(path), archive.ctypes.data, archive.nbytes)


def _of_rank(a: Any, rank: int) -> Any:
    """Add the slowest axis if only that is missing."""
    if not hasattr(a, "ndim"):
        a = np.asarray(a)
    return a[None] if a.ndim + 1 == rank else a


_QUALITIES = ("rel", "abs", "pw_rel", "abs_or_pw_rel", "abs_and_pw_rel", "psnr", "ratio", "zfp_mode")


def _beginning(path: str | os.PathLike[str]) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(512)
    except FileNotFoundError:
        return b""


def _bound_of(known: Info) -> dict[str, float]:
    """The bound as keywords of ``compress``."""
    if known.mode == "pw_rel":
        return {"pw_rel": known.bound_asked}
    if known.mode in ("abs_or_pw_rel", "abs_and_pw_rel"):
        return {known.mode: known.bound_asked, "pw": known.pw}
    if math.isinf(known.bound):
        raise UsageError("the archive has no bound to continue with; give one")
    return {"abs": known.bound}


def _with_fills(options: Options, fills: tuple[float, ...]) -> Any:
    """A pointer to such options for fields with these fill values."""
    own = Options.from_buffer_copy(options)
    _options.set_fills(own, fills)
    return ctypes.pointer(own)


@names_keywords()
def room(a: npt.ArrayLike | DeviceArray, *, fill: Fill = (), frame_bytes: int = 0) -> int:
    """Maximum size of an archive of a field in bytes, for any values: a sufficient size of ``out``.

    Parameters
    ----------
    a, fill, frame_bytes
        As for ``compress``; only the type and shape of ``a`` matter.

    Raises
    ------
    UsageError
    """
    options = Options()
    options.remember = 1 if _restoring() is not None else 0
    _options.set_quality(options, {"abs_or_pw_rel": 1}, None)  # which has the longest header
    options.pw = 0.5
    _options.set_option(options, "frame_bytes", frame_bytes)
    values, fills = _values(a, fill)
    _options.set_fills(options, fills)
    bytes_at_most = _library.bound(_field(values), options)
    if bytes_at_most == 0:
        raise UsageError(f"an array of the shape {values.shape}; each extent must be at least 1")
    return bytes_at_most


@names_keywords()
def info(archive: Buffer | DeviceArray) -> Info:
    """Properties of an archive. The first 512 bytes are enough for one that was not appended to.

    Raises
    ------
    ArchiveError
    """
    memory = _memory.of_bytes(archive)
    return info_of(_library.read_info(memory.address, memory.nbytes))


def info_of(found: _library.ArchiveInfo) -> Info:
    return Info(shape=found.field.shape, dtype=field_dtype(found.field), bound=_bound(found.bound_absolute),
                mode=_MODES.get(found.mode, "abs"), bound_asked=found.bound_asked, pw=found.pw_asked,
                fill=tuple(found.fills[:found.fill_count]), frames=found.frames,
                frame_axis=found.frame_axis, frame_height=found.frame_height,
                format_version=found.format_version)


_MODES = {0: "rel", 4: "pw_rel", 5: "abs_or_pw_rel", 6: "abs_and_pw_rel"}


def _bound(absolute: float) -> float:
    return math.inf if absolute == sys.float_info.max else absolute


def field_dtype(field: _library.Field) -> np.dtype[Any]:
    if field.dtype != _BFLOAT16:
        return np.dtype(_NUMBERS[field.dtype])
    dtype = _memory.bfloat16()
    if dtype is None:
        raise UsageError("the archive has values of bfloat16, which need the package ml_dtypes")
    return dtype


def along_axes(box: Any, rank: int) -> tuple[Any, ...]:
    """What a box takes of each axis."""
    items = box if isinstance(box, tuple) else (box,)
    open_axes = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(open_axes) > 1 or len(items) - len(open_axes) > rank:
        raise UsageError(f"box {box} has too many axes for a field of {rank}")
    at = open_axes[0] if open_axes else len(items)
    missing = (slice(None),) * (rank - len(items) + len(open_axes))
    return items[:at] + missing + items[at + len(open_axes):]


def box_in(box: Any, shape: tuple[int, ...]) -> tuple[tuple[slice, ...], tuple[int, ...]]:
    """The indices of each axis that ``box`` means in a field of this shape, and the axes that it indexes away."""
    slices = []
    single = []
    for axis, (item, extent) in enumerate(zip(along_axes(Ellipsis if box is None else box, len(shape)), shape)):
        if isinstance(item, slice):
            first, end, step = item.indices(extent)
            if step != 1:
                raise UsageError(f"box {box} has steps; use stride= for a preview")
        else:
            index = whole("box", item, -extent, extent - 1)
            first = index + (extent if index < 0 else 0)
            end = first + 1
            single.append(axis)
        if not 0 <= first < end <= extent:
            raise UsageError(f"box {box} selects no index of axis {axis} of a field of {shape}")
        slices.append(slice(first, end))
    return tuple(slices), tuple(single)


def part_of(slices: tuple[slice, ...], stride: int = 1) -> Part:
    part = Part()
    for axis, indices in enumerate(slices):
        part.first[axis], part.end[axis] = indices.start, indices.stop
    part.stride = stride
    return part


@overload
def decompress(archive: Buffer | DeviceArray, *, box: Box = None, stride: int = 1,
               frame: int | None = None, device: str = "auto", threads: int | None = None,
               stream: int | None = None, memory_limit: int | None = None,
               masked: Literal[False] = False,
               out: None = None) -> npt.NDArray[Any]: ...


@overload
def decompress(archive: Buffer | DeviceArray, *, box: Box = None, stride: int = 1,
               frame: int | None = None, device: str = "auto", threads: int | None = None,
               stream: int | None = None, memory_limit: int | None = None,
               masked: Literal[True],
               out: npt.NDArray[Any] | None = None) -> np.ma.MaskedArray[Any, Any]: ...


@overload
def decompress(archive: Buffer | DeviceArray, *, box: Box = None, stride: int = 1,
               frame: int | None = None, device: str = "auto", threads: int | None = None,
               stream: int | None = None, memory_limit: int | None = None,
               masked: Literal[False] = False, out: Out) -> Out: ...


@names_keywords()
def decompress(archive: Any, *, box: Box = None, stride: int = 1, frame: int | None = None,
               device: str = "auto", threads: int | None = None, stream: int | None = None,
               memory_limit: int | None = None, masked: bool = False, out: Any = None) -> Any:
    """Restore a field, or a part of it, from an archive.

    Parameters
    ----------
    archive : bytes, anything else with a buffer, or an array of bytes on a GPU
    box : index expression without steps, like ``numpy.s_[0:8, ..., 100:200]``
        Restore only this box; only frames that intersect it are read.
    stride : a power of two
        Restore only indices that are multiples of it along spatial axes: a preview of the field.
    frame : int
        Restore only this frame of the archive instead of a box; 0 is the first.
    device, threads, stream
        As for ``compress``.
    memory_limit : int
        Maximum memory in bytes for restoring frames, including their values; an archive that needs
        more raises ``ArchiveError`` before the memory is allocated.
    masked : bool
        Whether to return a masked array. The archive's fill values are masked, which are exactly the
        points masked when it was compressed; if it has none, NaN is masked.
    out : contiguous array of the result's shape and type, in NumPy or on a GPU
        Memory for the values.

    Returns
    -------
    numpy.ndarray, or numpy.ma.MaskedArray, or ``out``

    Raises
    ------
    ArchiveError, UsageError, DeviceError
    """
    memory = _memory.of_bytes(archive)
    if masked and _memory.is_on_device(out):
        raise UsageError("masked= needs NumPy arrays, and out is on a device")
    found = _library.read_info(memory.address, memory.nbytes)
    field, part, single = _part_of(memory, found.field, box, frame, stride)
    shape = tuple(extent for axis, extent in enumerate(field.shape) if axis not in single)
    values = np.empty(shape, field_dtype(field)) if out is None else out
    target = _memory.of_field_output(values, shape, field_dtype(field), stream)
    options = _restoring_options()
    _options.set_device(options, device, threads, stream, (memory, target), memory_limit)
    _library.decompress(options, memory.address, memory.nbytes, part, target.address, target.nbytes)
    if text := _library.last_warning():
        warnings.warn(text, Warning, stacklevel=3)
    return _masks.masked(values, tuple(found.fills[:found.fill_count])) if masked else values


@names_keywords()
def decompress_batch(archives: Iterable[Any], *, device: str = "auto", threads: int | None = None,
                     stream: int | None = None, memory_limit: int | None = None,
                     out: Iterable[Any] | None = None) -> list[Any]:
    """Restore many fields concurrently in one call.

    Parameters
    ----------
    archives : each as ``decompress`` takes it
    device, threads, stream, memory_limit
        As for ``decompress``.
    out : contiguous arrays of the fields' shapes and types, in NumPy or on a GPU
        Memory for the values.

    Returns
    -------
    list of numpy.ndarray, or of the arrays in ``out``

    Raises
    ------
    As ``decompress``, for the first archive that fails; the message has its number.
    """
    memories = [_memory.of_bytes(archive) for archive in archives]
    fields = [_library.part_field(memory.address, memory.nbytes, Part()) for memory in memories]
    restored = [np.empty(field.shape, field_dtype(field)) for field in fields] if out is None else list(out)
    if len(restored) != len(fields):
        raise UsageError(f"out has {len(restored)} arrays for {len(fields)} archives")
    targets = [_memory.of_field_output(values, field.shape, field_dtype(field), stream)
               for values, field in zip(restored, fields)]
    options = Options()
    _options.set_device(options, device, threads, stream, memories + targets, memory_limit)
    _restore(memories, targets, options)
    return restored


def _restore(archives: list[_memory.Memory], targets: list[_memory.Memory], options: Options) -> None:
    members = (_library.Decompression * len(archives))()
    for member, archive, target in zip(members, archives, targets):
        member.archive, member.size = archive.address, archive.nbytes
        member.values, member.capacity = target.address, target.nbytes
    _library.decompress_batch(options, members)


def restore_chunks(archives: Iterable[Any], shapes: list[tuple[int, ...]], values: Any) -> None:
    """Restores fields of known shapes one behind the other in an array of one axis.

    Raises
    ------
    ArchiveError, also for an archive of another shape or type
    """
    memories = [_memory.of_bytes(archive) for archive in archives]
    target = _memory.of_field_output(values, (sum(map(math.prod, shapes)),), values.dtype)
    for memory, shape in zip(memories, shapes):
        field = _library.read_info(memory.address, memory.nbytes).field
        if field.shape != shape or field_dtype(field) != target.dtype:
            raise ArchiveError(f"a chunk of the shape {shape} and the type {target.dtype} is stored as "
                               f"{field.shape} of {field_dtype(field)}")
    options = _restoring_options()
    _options.set_device(options, "auto", None, None, [*memories, target])
    _restore(memories, target.cut(shapes), options)


def _part_of(archive: _memory.Memory, whole_field: _library.Field, box: Any, frame: int | None,
             stride: int) -> tuple[_library.Field, Part, tuple[int, ...]]:
    """What to restore as a field, as a part, and the axes that a box indexes away."""
    single: tuple[int, ...] = ()
    part = Part()
    if box is not None and frame is not None:
        raise UsageError("give one of box= and frame=")
    if box is not None:
        slices, single = box_in(box, whole_field.shape)
        part = part_of(slices)
    elif frame is not None:
        part = _library.frame_part(archive.address, archive.nbytes, frame)
    part.stride = whole("stride", stride, 1, 2**64 - 1)
    return _library.part_field(archive.address, archive.nbytes, part), part, single
