"""compress, decompress, info."""

from __future__ import annotations

import ctypes
import math
import sys
import warnings
from dataclasses import dataclass
from typing import Any, Iterable

import numpy as np

from . import _library, _memory
from ._library import MAX_FILLS, MAX_RANK, Options, Part, TargetWarning, UsageError

NETCDF_FILL = 9.969209968386869e36  #: what netCDF writes by default for missing values

# The names of the tool's options, and their numbers in cuszi.h.
PRESETS = {"ratio": 0, "cuszi": 1, "cusz": 2, "fast": 3, "zfp": 4}
_NAMES = {
    "preset": PRESETS,
    "predictor": {"auto": 1, "lorenzo": 2, "interp": 3, "multilevel": 4,
                  "tiles": 5, "zfp": 6},
    "coder": {"auto": 1, "huffman": 2, "ans": 3},
    "effort": {"normal": 0, "fast": 1, "best": 2},
    "lossless": {"none": 0, "bitcomp": 1},
    "axes": {"auto": 0, "lattice": 1, "independent": 2, "layered": 3},
    "index": {"none": 1, "offset": 2, "length": 3, "hybrid": 4},
    "interp_cubic": {"not-a-knot": 1, "natural": 2},
}
_DTYPES = {np.dtype("f4"): _library.F32, np.dtype("f8"): _library.F64}
_MODES = {"rel": 0, "abs": 1, "psnr": 2, "ratio": 3}
_NUMBERS = {"frame_bytes", "radius", "axis", "reach", "alpha", "beta", "interp_alpha",
            "interp_anchor", "chunk", "partition", "huffman_width", "zfp_chunk"}
_ZFP_MODES = {"accuracy": 0, "precision": 1, "rate": 2, "reversible": 3}


@dataclass(frozen=True)
class Info:
    """What an archive says of its field."""

    shape: tuple[int, ...]  #: slowest first
    dtype: np.dtype
    bound: float  #: what no value's error exceeds, in the field's unit; infinite if there is none
    mode: str  #: "rel" or "abs": how the bound was asked for,
    bound_asked: float  #: and which
    fill: tuple[float, ...]  #: values that mean "missing" besides NaN and the infinities
    frames: int  #: parts of the field that are coded on their own
    frame_axis: int  #: which they are slabs of,
    frame_height: int  #: each of so many indices, but the last
    format_version: int


def _number(option: str, name: str) -> int:
    names = _NAMES[option]
    if name not in names:
        raise UsageError(f"{option} {name!r} is not one of {', '.join(names)}")
    return names[name]


def _set_device(options: Options, device: str, threads: int | None, stream: int | None,
                memories: Iterable[_memory.Memory]) -> None:
    kind, _, index = device.partition(":")
    if kind not in ("auto", "cpu", "cuda") or (index and (kind != "cuda" or not index.isdigit())):
        raise UsageError(f"device {device!r} is not auto, cpu, cuda or cuda:N")
    options.device = ("auto", "cpu", "cuda").index(kind)
    options.device_index = int(index or 0)
    options.threads = threads or 0
    if stream is None:
        stream = next((memory.stream for memory in memories if memory.stream), 0)
    options.stream = stream


def _set_zfp_mode(options: Options, mode: str) -> None:
    name, colon, amount = mode.partition(":")
    takes_amount = name in ("precision", "rate")
    try:
        options.zfp_mode = _ZFP_MODES[name]
        options.zfp_amount = float(amount) if takes_amount else 0
    except (KeyError, ValueError):
        name = ""
    if not name or bool(colon) != takes_amount:
        raise UsageError(f"zfp_mode {mode!r} is not accuracy, precision:PLANES, rate:BITS or "
                         "reversible")


def _set_method(options: Options, method: dict[str, Any]) -> None:
    for option, value in method.items():
        if option in _NAMES:
            setattr(options, option, _number(option, value))
        elif option in _NUMBERS:
            setattr(options, option, value)
        elif option == "zfp_mode":
            _set_zfp_mode(options, value)
        elif option == "interp_tile":
            options.interp_tile = (1,) * (3 - len(value)) + tuple(value)
        elif option == "interp_order":
            options.interp_order = value.encode()
        else:
            raise TypeError(f"compress() got an unexpected keyword argument {option!r}")


def _set_fills(options: Options, fill: float | str | Iterable[float | str]) -> None:
    if isinstance(fill, tuple) and not fill:
        return
    fills = [fill] if isinstance(fill, (str, float, int)) else list(fill)
    values = [NETCDF_FILL if value == "netcdf" else float(value) for value in fills]
    values = [value for value in values if value == value]  # NaN is missing anyway
    if len(values) > MAX_FILLS:
        raise UsageError(f"at most {MAX_FILLS} fill values, not {len(values)}")
    options.fill_count = len(values)
    options.fills = (ctypes.c_double * len(values))(*values)


def _field(memory: _memory.Memory) -> _library.Field:
    dtype = _DTYPES.get(memory.dtype)
    if dtype is None:
        raise UsageError(f"values of {memory.dtype}; float32 and float64 can be compressed")
    shape = memory.shape or (1,)
    if len(shape) > MAX_RANK:
        raise UsageError(f"{len(shape)} dimensions; reshape to at most {MAX_RANK}, slowest first")
    return _library.Field(dtype, len(shape), shape)


def _set_quality(options: Options, asked: dict[str, float | None],
                 value_range: tuple[float, float] | None) -> None:
    given = {mode: value for mode, value in asked.items() if value is not None}
    if not given and options.zfp_mode:
        given = {"abs": 0}  # none is needed
    if len(given) != 1:
        raise UsageError("give one of rel=, abs=, psnr= and ratio=, like rel=1e-3")
    (mode, options.bound), = given.items()
    options.mode = _MODES[mode]
    if value_range is None:
        return
    if mode != "rel":
        raise UsageError(f"value_range= goes with rel=, not with {mode}=")
    options.range_min, options.range_max = value_range
    options.has_range = 1


def _warn_if_missed(options: Options) -> None:
    reached = _library.reached()
    if reached < options.bound:  # NaN is not
        mode = list(_MODES)[options.mode]
        warnings.warn(f"the target {mode}={options.bound:g} was not met: {reached:.4g}",
                      TargetWarning, stacklevel=3)


def compress(a: Any, *, rel: float | None = None, abs: float | None = None,
             psnr: float | None = None, ratio: float | None = None, preset: str = "ratio",
             fill: float | str | Iterable[float | str] = (),
             value_range: tuple[float, float] | None = None, verify: bool = False,
             device: str = "auto", threads: int | None = None, stream: int | None = None,
             out: Any = None, **method: Any) -> Any:
    """Compress a field under a strict error bound, or to a quality or a size.

    Parameters
    ----------
    a : array of float32 or float64 with 1 to 4 dimensions, slowest first
        Of NumPy or, where it lies, on a GPU. Others are converted by ``numpy.asarray``.
    rel, abs : float
        What no value's error exceeds: a share of the value range, below 1, or in the field's unit.
        0 is lossless.
    psnr, ratio : float
        Instead of a bound a target: at least so many dB in few bits, or at least so many times
        smaller with little error. Trials find the bound, which ``info`` tells. Where a target
        cannot be met the nearest archive is made, with a TargetWarning.
    preset : "ratio", "cuszi", "cusz", "fast" or "zfp"
    fill : number, "netcdf", or several
        Values that mean "missing" besides NaN and the infinities: they come back bit for bit.
    value_range : (min, max)
        What ``rel`` refers to; else the field's own.
    verify : bool
        Restore the archive and compare.
    device : "auto", "cpu", "cuda" or "cuda:N"
    threads : int
        Of the CPU; all by default.
    stream : int
        The CUDA stream (its address) whose work makes the values; by default the stream that the
        array's library is working on.
    out : writable buffer, or array on a GPU, of bytes
        For the archive, instead of new memory; ``room(a)`` bytes are always enough.
    **method
        What else the tool can be told: predictor, coder, effort, axes with axis, reach, alpha,
        beta, radius, index, chunk, partition, huffman_width, lossless, frame_bytes,
        interp_tile, interp_anchor, interp_alpha, interp_cubic, interp_order, zfp_mode, zfp_chunk.
        A zfp_mode like "rate:8", "precision:20" or "reversible" needs no bound.

    Returns
    -------
    bytes, or with ``out`` the number of bytes that were written there
        The archive, as the tool ``cuszi`` writes it.

    Raises
    ------
    UsageError, DeviceError, RoomError; BoundError if ``verify`` finds a defect
    """
    values = _memory.of_values(a, stream)
    options = Options()
    _set_method(options, method)
    _set_quality(options, {"rel": rel, "abs": abs, "psnr": psnr, "ratio": ratio}, value_range)
    options.preset = _number("preset", preset)
    options.verify = verify
    _set_fills(options, fill)
    field = _field(values)
    if out is not None:
        target = _memory.of_output(out, stream)
        _set_device(options, device, threads, stream, (values, target))
        size = _library.compress(options, field, values.address, target.address, target.nbytes)
        _warn_if_missed(options)
        return size
    _set_device(options, device, threads, stream, (values,))
    # Pages that are never written cost nothing. What cannot be has a bound of 0 and is told.
    archive = np.empty(_library.bound(field, options), np.uint8)
    size = _library.compress(options, field, values.address, archive.ctypes.data, archive.nbytes)
    _warn_if_missed(options)
    return archive[:size].tobytes()


def room(a: Any, *, fill: float | str | Iterable[float | str] = (),
         frame_bytes: int = 0) -> int:
    """The most bytes that an archive of a field can have, whatever its values: what ``out`` takes.

    Parameters
    ----------
    a, fill, frame_bytes
        As of ``compress``; of ``a`` only its type and shape matter.

    Raises
    ------
    UsageError
    """
    options = Options()
    options.frame_bytes = frame_bytes
    _set_fills(options, fill)
    return _library.bound(_field(_memory.of_values(a)), options)


def info(archive: Any) -> Info:
    """What an archive, of which the first 512 bytes are enough, says of its field.

    Raises
    ------
    ArchiveError
    """
    memory = _memory.of_bytes(archive)
    found = _library.read_info(memory.address, memory.nbytes)
    return Info(shape=found.field.shape, dtype=_dtype(found.field), bound=_bound(found.bound_absolute),
                mode="abs" if found.mode == 1 else "rel", bound_asked=found.bound_asked,
                fill=tuple(found.fills[:found.fill_count]), frames=found.frames,
                frame_axis=found.frame_axis, frame_height=found.frame_height,
                format_version=found.format_version)


def _bound(absolute: float) -> float:
    return math.inf if absolute == sys.float_info.max else absolute


def _dtype(field: _library.Field) -> np.dtype:
    return np.dtype("f4" if field.dtype == _library.F32 else "f8")


def _part(box: Any, stride: int, shape: tuple[int, ...]) -> tuple[Part, tuple[int, ...]]:
    """The part that ``box`` means in a field of this shape, and the axes that it indexes away."""
    items = box if isinstance(box, tuple) else (box,)
    if sum(item is Ellipsis for item in items) > 1 or len(items) - (Ellipsis in items) > len(shape):
        raise UsageError(f"box {box} has too many axes for a field of {shape}")
    if Ellipsis not in items:
        items += (Ellipsis,)
    at = items.index(Ellipsis)
    missing = len(shape) - (len(items) - 1)
    items = items[:at] + (slice(None),) * missing + items[at + 1:]
    part = Part()
    part.stride = stride
    single = []
    for axis, (item, extent) in enumerate(zip(items, shape)):
        if isinstance(item, slice):
            first, end, step = item.indices(extent)
            if step != 1:
                raise UsageError(f"box {box} has steps; stride= thins a field")
        else:
            first = item.__index__() + (extent if item < 0 else 0)
            end = first + 1
            single.append(axis)
        if not 0 <= first < end <= extent:
            raise UsageError(f"box {box} has no indices of axis {axis} of a field of {shape}")
        part.first[axis], part.end[axis] = first, end
    return part, tuple(single)


def decompress(archive: Any, *, box: Any = None, stride: int = 1, frame: int | None = None,
               device: str = "auto", threads: int | None = None, stream: int | None = None,
               memory_limit: int | None = None, out: Any = None) -> Any:
    """Restore a field, or a part of it, from an archive.

    Parameters
    ----------
    archive : bytes, anything else with a buffer, or an array of bytes on a GPU
    box : index expression without steps, as of ``numpy.s_[0:8, ..., 100:200]``
        Only this part; only frames that meet it are read.
    stride : a power of two
        Of these the multiples of it along axes that are space: a preview of the field.
    frame : int
        Instead of a box, the part that this frame of the archive holds; 0 is the first.
    device, threads, stream
        As of ``compress``.
    memory_limit : int
        Bytes that frames may take while they are restored, their values included; an archive that
        would take more is refused (``ArchiveError``) before it does.
    out : array of the field's type, of NumPy or on a GPU
        For the values, instead of new memory.

    Returns
    -------
    numpy.ndarray, or ``out``

    Raises
    ------
    ArchiveError, UsageError, DeviceError, RoomError
    """
    memory = _memory.of_bytes(archive)
    if frame is not None and (box is not None or frame < 0):
        raise UsageError("give one of box= and frame=, a number of at least 0")
    part, single = Part(), ()
    part.stride = stride
    if box is None and frame is None and stride == 1:
        field = _library.read_info(memory.address, memory.nbytes).field
    else:
        if box is not None:
            shape = _library.read_info(memory.address, memory.nbytes).field.shape
            part, single = _part(box, stride, shape)
        elif frame is not None:
            part = _library.frame_part(memory.address, memory.nbytes, frame)
            part.stride = stride
        field = _library.part_field(memory.address, memory.nbytes, part)
    values = np.empty(field.shape, _dtype(field)) if out is None else out
    target = _memory.of_output(values, stream)
    if target.dtype != _dtype(field):
        raise UsageError(f"out is of {target.dtype}; the field is of {_dtype(field)}")
    options = Options()
    _set_device(options, device, threads, stream, (memory, target))
    if memory_limit is not None:
        if not 0 < memory_limit < 2**64:
            raise UsageError(f"memory_limit {memory_limit} is not a number of bytes from 1 to 2**64 - 1")
        options.memory_limit = memory_limit
    _library.decompress(options, memory.address, memory.nbytes, part, target.address, target.nbytes)
    return values.squeeze(axis=single) if out is None else out
