"""libcuszi by ctypes: its structs, its functions, its errors. include/cuszi/cuszi.h explains them."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import (POINTER, Structure, byref, c_char, c_char_p, c_double, c_int32, c_size_t,
                    c_uint32, c_uint64, c_void_p)
from pathlib import Path

MAX_RANK = 4
MAX_FILLS = 16
F32, F64 = 0, 1


class Error(RuntimeError):
    """A call that failed. ``status`` is the library's number for why."""

    status = 0


class UsageError(Error, ValueError):
    """An argument that cannot be honoured."""


class InputError(Error):
    """Values that cannot be read."""


class ArchiveError(Error):
    """Damaged, truncated, or no archive."""


class BoundError(Error):
    """A value would be over the bound."""


class DeviceError(Error):
    """A device, a driver or a library is not there."""


class RoomError(Error, ValueError):
    """``out`` is too small."""


class TargetWarning(UserWarning):
    """A target was not met; the archive is the nearest to it that was found."""


_ERRORS = {1: UsageError, 2: InputError, 3: ArchiveError, 4: BoundError, 5: DeviceError,
           6: RoomError}


class Field(Structure):
    _fields_ = [("dtype", c_int32), ("rank", c_int32), ("dims", c_uint64 * MAX_RANK)]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.dims[:self.rank])


class Options(Structure):
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
        ("memory_limit", c_uint64)]

    def __init__(self):
        super().__init__(size=ctypes.sizeof(Options), version=1)


class ArchiveInfo(Structure):
    _fields_ = [
        ("size", c_uint32), ("format_version", c_uint32), ("field", Field), ("mode", c_int32),
        ("fill_count", c_uint32), ("bound_asked", c_double), ("bound_absolute", c_double),
        ("fills", c_double * MAX_FILLS), ("frames", c_uint64), ("frame_height", c_uint64),
        ("frame_axis", c_int32), ("reserved", c_uint32)]

    def __init__(self):
        super().__init__(size=ctypes.sizeof(ArchiveInfo))


class Part(Structure):
    _fields_ = [("size", c_uint32), ("reserved", c_uint32), ("first", c_uint64 * MAX_RANK),
                ("end", c_uint64 * MAX_RANK), ("stride", c_uint64)]

    def __init__(self):
        super().__init__(size=ctypes.sizeof(Part))


def _load() -> ctypes.CDLL:
    """The library beside this file, or the one that CUSZI_LIBRARY names."""
    library = ctypes.CDLL(os.environ.get("CUSZI_LIBRARY")
                          or str(Path(__file__).with_name("libcuszi.so.0")))
    signatures = {
        "cuszi_version": (c_char_p, []),
        "cuszi_h5_filter": (c_int32, []),
        "cuszi_context_create": (c_void_p, []),
        "cuszi_context_destroy": (None, [c_void_p]),
        "cuszi_last_error": (c_char_p, [c_void_p]),
        "cuszi_bound": (c_size_t, [POINTER(Field), POINTER(Options)]),
        "cuszi_compress": (c_int32, [c_void_p, POINTER(Options), POINTER(Field), c_void_p,
                                     c_void_p, c_size_t, POINTER(c_size_t)]),
        "cuszi_reached": (c_double, [c_void_p]),
        "cuszi_read_info": (c_int32, [c_void_p, c_void_p, c_size_t, POINTER(ArchiveInfo)]),
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


class _Context(threading.local):
    """A context of the library for each thread, which goes with it."""

    def __init__(self):
        self.handle = _library.cuszi_context_create()
        if not self.handle:
            raise MemoryError

    def __del__(self, destroy=_library.cuszi_context_destroy):
        destroy(self.handle)

    def call(self, function, *arguments) -> None:
        status = function(self.handle, *arguments)
        if status == 7:
            raise MemoryError(_library.cuszi_last_error(self.handle).decode())
        if status != 0:
            error = _ERRORS.get(status, Error)(_library.cuszi_last_error(self.handle).decode())
            error.status = status
            raise error


_context = _Context()


def version() -> str:
    return _library.cuszi_version().decode()


def h5_filter() -> int:
    return _library.cuszi_h5_filter()


def bound(field: Field, options: Options) -> int:
    """The most bytes that an archive can have; 0 if the field or the options cannot be."""
    return _library.cuszi_bound(byref(field), byref(options))


def compress(options: Options, field: Field, values: int, archive: int, capacity: int) -> int:
    """From and to addresses of host or device memory; returns the archive's size."""
    size = c_size_t()
    _context.call(_library.cuszi_compress, byref(options), byref(field), values, archive, capacity,
                  byref(size))
    return size.value


def reached() -> float:
    """What this thread's last compression has reached of its target; NaN without one."""
    return _library.cuszi_reached(_context.handle)


def read_info(archive: int, size: int) -> ArchiveInfo:
    info = ArchiveInfo()
    _context.call(_library.cuszi_read_info, archive, size, byref(info))
    return info


def frame_part(archive: int, size: int, frame: int) -> Part:
    part = Part()
    _context.call(_library.cuszi_frame_part, archive, size, frame, byref(part))
    return part


def part_field(archive: int, size: int, part: Part) -> Field:
    field = Field()
    _context.call(_library.cuszi_part_field, archive, size, byref(part), byref(field))
    return field


def decompress(options: Options, archive: int, size: int, part: Part, values: int,
               capacity: int) -> None:
    _context.call(_library.cuszi_decompress_part, byref(options), archive, size, byref(part),
                  values, capacity)
