"""libcuszi by ctypes: its structs, its functions, its errors. include/cuszi/cuszi.h explains them."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import (POINTER, Structure, byref, c_char, c_char_p, c_double, c_int32, c_size_t,
                    c_uint32, c_uint64, c_void_p)
from pathlib import Path
from typing import Any

from ._arguments import whole
from ._errors import (ArchiveError, BoundError, DeviceError, Error, InputError, RoomError,
                      UsageError)

MAX_RANK = 4
MAX_FILLS = 16
MAX_ISOVALUES = 15
MAX_REGIONS = 16
F32, F64 = 0, 1  # cuszi_dtype; _codec has the others

_ERRORS = {1: UsageError, 2: InputError, 3: ArchiveError, 4: BoundError, 5: DeviceError,
           6: RoomError}

_RANGES = {c_int32: (-2**31, 2**31 - 1), c_uint32: (0, 2**32 - 1), c_uint64: (0, 2**64 - 1),
           c_void_p: (0, 2**64 - 1)}


_FITS_ALL = 2**31 - 1
_set = Structure.__setattr__


class _Checked(Structure):
    """Refuses whole numbers that do not fit, where ctypes would cut them."""

    _ranges: dict[str, tuple[int, int]] = {}

    def __init_subclass__(cls) -> None:
        cls._ranges = {name: _RANGES[kind] for name, kind, *_ in cls._fields_ if kind in _RANGES}

    def __setattr__(self, name: str, value: Any) -> None:
        if type(value) is not int or not 0 <= value <= _FITS_ALL:
            limits = self._ranges.get(name)
            if limits is not None:
                value = whole(name, value, *limits)
        _set(self, name, value)


class Field(Structure):
    _fields_ = [("dtype", c_int32), ("rank", c_int32), ("dims", c_uint64 * MAX_RANK)]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.dims[:self.rank])


class Region(_Checked):
    _fields_ = [("first", c_uint64 * MAX_RANK), ("end", c_uint64 * MAX_RANK), ("bound", c_double)]


class Options(_Checked):
    _fields_ = [
        ("size", c_uint32), ("version", c_uint32),
        ("bound", c_double), ("mode", c_int32), ("preset", c_int32),
        ("range_min", c_double), ("range_max", c_double), ("has_range", c_int32),
        ("fill_count", c_uint32), ("fills", POINTER(c_double)), ("frame_bytes", c_uint64),
        ("device", c_int32), ("device_index", c_int32), ("stream", c_void_p),
        ("threads", c_int32),
        ("predictor", c_int32), ("coder", c_int32), ("lossless", c_int32), ("radius", c_uint32),
        ("effort", c_int32), ("axes", c_int32), ("axis", c_int32), ("reach", c_int32),
        ("alpha", c_double), ("beta", c_double),
        ("interp_tile", c_uint64 * 3), ("interp_alpha", c_double), ("interp_anchor", c_uint32),
        ("interp_cubic", c_int32), ("interp_order", c_char * 4),
        ("index", c_int32), ("chunk", c_uint32), ("partition", c_uint32),
        ("huffman_width", c_int32), ("verify", c_int32),
        ("zfp_mode", c_int32), ("zfp_chunk", c_uint32), ("zfp_amount", c_double),
        ("strict", c_int32), ("more_fill_count", c_uint32), ("memory_limit", c_uint64),
        ("more_fills", c_double * MAX_FILLS), ("isovalues", c_double * MAX_ISOVALUES),
        ("isovalue_count", c_uint32), ("keep_sign", c_int32),
        ("regions", Region * MAX_REGIONS), ("region_count", c_uint32), ("remember", c_int32),
        ("bound_field", c_void_p), ("bound_count", c_uint64), ("bound_blocks", c_uint64 * MAX_RANK),
        ("pw", c_double), ("devices", c_uint64), ("padding", c_double), ("has_padding", c_int32),
        ("reserved_too", c_uint32)]

    def __init__(self) -> None:
        super().__init__(size=ctypes.sizeof(Options), version=1)


TEXT, WORD, WHOLE, POWER_OF_TWO, NUMBER, SIZE, FLAG = range(7)


class OptionRow(Structure):
    """A row of the library's table of options."""

    _fields_ = [
        ("group", c_char_p), ("name", c_char_p), ("member", c_char_p), ("kind", c_int32),
        ("values", c_char_p), ("least", c_double), ("most", c_double), ("initial", c_char_p),
        ("help", c_char_p)]


class ArchiveInfo(Structure):
    _fields_ = [
        ("size", c_uint32), ("format_version", c_uint32), ("field", Field), ("mode", c_int32),
        ("fill_count", c_uint32), ("bound_asked", c_double), ("bound_absolute", c_double),
        ("fills", c_double * MAX_FILLS), ("frames", c_uint64), ("frame_height", c_uint64),
        ("frame_axis", c_int32), ("reserved", c_uint32), ("pw_asked", c_double)]

    def __init__(self) -> None:
        super().__init__(size=ctypes.sizeof(ArchiveInfo))


class Part(_Checked):
    _fields_ = [("size", c_uint32), ("reserved", c_uint32), ("first", c_uint64 * MAX_RANK),
                ("end", c_uint64 * MAX_RANK), ("stride", c_uint64)]

    def __init__(self) -> None:
        super().__init__(size=ctypes.sizeof(Part), stride=1)


_Read = ctypes.CFUNCTYPE(c_int32, c_void_p, c_uint64, c_void_p, c_size_t)
SOURCE = 2 ** (8 * ctypes.sizeof(c_size_t)) - 1  #: size of an archive that is a Source


class Source(Structure):
    """An archive of ``bytes`` that ``read(None, offset, address, count)`` copies; it returns 0, or 1 after a
    failure."""

    _fields_ = [("size", c_uint32), ("reserved", c_uint32), ("bytes", c_uint64), ("user", c_void_p),
                ("read", _Read)]

    def __init__(self, bytes: int, read: Any) -> None:
        super().__init__(size=ctypes.sizeof(Source), bytes=bytes, read=_Read(read))


class Compression(Structure):
    """A field of a batch."""

    _fields_ = [("options", POINTER(Options)), ("field", Field), ("values", c_void_p),
                ("archive", c_void_p), ("capacity", c_size_t), ("size", c_size_t),
                ("status", c_int32), ("reserved", c_int32)]


class Decompression(Structure):
    """An archive of a batch."""

    _fields_ = [("options", POINTER(Options)), ("archive", c_void_p), ("size", c_size_t),
                ("values", c_void_p), ("capacity", c_size_t), ("status", c_int32),
                ("reserved", c_int32)]


def _load() -> ctypes.CDLL:
    """The library beside this file, or the one that CUSZI_LIBRARY names."""
    library = ctypes.CDLL(os.environ.get("CUSZI_LIBRARY")
                          or str(Path(__file__).with_name("libcuszi.so.1")))
    signatures = {
        "cuszi_version": (c_char_p, []),
        "cuszi_h5_filter": (c_int32, []),
        "cuszi_context_create": (c_void_p, []),
        "cuszi_context_destroy": (None, [c_void_p]),
        "cuszi_last_error": (c_char_p, [c_void_p]),
        "cuszi_last_warning": (c_char_p, [c_void_p]),
        "cuszi_option_at": (POINTER(OptionRow), [c_size_t]),
        "cuszi_set_option": (c_int32, [POINTER(Options), c_char_p, c_char_p]),
        "cuszi_option_error": (c_size_t, [POINTER(Options), c_char_p, c_char_p, c_char_p,
                                          c_size_t]),
        "cuszi_bound": (c_size_t, [POINTER(Field), POINTER(Options)]),
        "cuszi_compress": (c_int32, [c_void_p, POINTER(Options), POINTER(Field), c_void_p,
                                     c_void_p, c_size_t, POINTER(c_size_t)]),
        "cuszi_compress_batch": (c_int32, [c_void_p, POINTER(Options), POINTER(Compression),
                                           c_size_t]),
        "cuszi_decompress_batch": (c_int32, [c_void_p, POINTER(Options), POINTER(Decompression),
                                             c_size_t]),
        "cuszi_reached": (c_double, [c_void_p]),
        "cuszi_read_info": (c_int32, [c_void_p, c_void_p, c_size_t, POINTER(ArchiveInfo)]),
        "cuszi_append": (c_int32, [c_void_p, c_char_p, c_void_p, c_size_t]),
        "cuszi_frame_part": (c_int32, [c_void_p, c_void_p, c_size_t, c_uint64, POINTER(Part)]),
        "cuszi_part_field": (c_int32, [c_void_p, c_void_p, c_size_t, POINTER(Part),
                                       POINTER(Field)]),
        "cuszi_decompress_part": (c_int32, [c_void_p, POINTER(Options), c_void_p, c_size_t,
                                            POINTER(Part), c_void_p, c_size_t])}
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()


def _options() -> dict[str, OptionRow]:
    rows = {}
    index = 0
    while row := _library.cuszi_option_at(index):
        rows[row.contents.member.decode()] = row.contents
        index += 1
    return rows


#: By member of Options.
OPTIONS = _options()


def set_option(options: Options, name: str, text: str) -> None:
    arguments = byref(options), name.encode(), text.encode()
    if _library.cuszi_set_option(*arguments) != 0:
        line = ctypes.create_string_buffer(1000)
        _library.cuszi_option_error(*arguments, line, len(line))
        error = UsageError(_text(line.value))
        error.status = 1
        raise error


class _Context:
    """A context of the library, which goes with the thread that it belongs to."""

    def __init__(self) -> None:
        self.handle: int | None = _library.cuszi_context_create()
        if not self.handle:
            raise MemoryError

    def __del__(self, destroy: Any = _library.cuszi_context_destroy) -> None:
        destroy(self.handle)


_threads = threading.local()


def _context() -> int | None:
    """The calling thread's."""
    if not hasattr(_threads, "context"):
        _threads.context = _Context()
    context: _Context = _threads.context
    return context.handle


def _text(line: bytes) -> str:
    """What the library says, with this package's name for the member ``fills``."""
    return line.decode(errors="replace").replace("give fills ", "give fill=")


def _call(function: Any, *arguments: Any) -> None:
    context = _context()
    status = function(context, *arguments)
    if status == 7:
        raise MemoryError(_library.cuszi_last_error(context).decode())
    if status != 0:
        error = _ERRORS.get(status, Error)(_text(_library.cuszi_last_error(context)))
        error.status = status
        raise error


def version() -> str:
    return str(_library.cuszi_version().decode())


def h5_filter() -> int:
    return int(_library.cuszi_h5_filter())


def bound(field: Field, options: Options) -> int:
    """The most bytes that an archive can have; 0 if the field or the options cannot be."""
    return int(_library.cuszi_bound(byref(field), byref(options)))


def compress(options: Options, field: Field, values: int, archive: int, capacity: int) -> int:
    """From and to addresses of host or device memory; returns the archive's size."""
    size = c_size_t()
    _call(_library.cuszi_compress, byref(options), byref(field), values, archive, capacity,
          byref(size))
    return size.value


def compress_batch(options: Options, members: ctypes.Array[Compression]) -> None:
    """Sets the sizes of the archives."""
    _call(_library.cuszi_compress_batch, byref(options), members, len(members))


def decompress_batch(options: Options, members: ctypes.Array[Decompression]) -> None:
    _call(_library.cuszi_decompress_batch, byref(options), members, len(members))


def reached() -> float:
    """What this thread's last compression has reached of its target; NaN without one."""
    return float(_library.cuszi_reached(_context()))


def last_warning() -> str:
    """What makes the result of this thread's last call useless; empty if nothing does."""
    return _text(_library.cuszi_last_warning(_context()))


def read_info(archive: int, size: int) -> ArchiveInfo:
    info = ArchiveInfo()
    _call(_library.cuszi_read_info, archive, size, byref(info))
    return info


def append(path: bytes, archive: int, size: int) -> None:
    _call(_library.cuszi_append, path, archive, size)


def frame_part(archive: int, size: int, frame: int) -> Part:
    part = Part()
    frame = whole("frame", frame, *_RANGES[c_uint64])
    _call(_library.cuszi_frame_part, archive, size, frame, byref(part))
    return part


def part_field(archive: int, size: int, part: Part) -> Field:
    field = Field()
    _call(_library.cuszi_part_field, archive, size, byref(part), byref(field))
    return field


def decompress(options: Options, archive: int, size: int, part: Part, values: int,
               capacity: int) -> None:
    _call(_library.cuszi_decompress_part, byref(options), archive, size, byref(part), values,
          capacity)
