"""Arrays of any library as addresses of memory, the host's or a GPU's."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any, Iterable, Protocol, Sequence, Union

import numpy as np

from ._errors import UsageError

_CUDA, _CUDA_HOST, _CUDA_MANAGED = 2, 3, 13  # DLPack devices
_DEFAULT_STREAM = 1  # of DLPack and CUDA
_TYPES = {(code, bits): np.dtype(f"{kind}{bits // 8}")  # DLPack code and bits
          for code, kind in enumerate("iuf") for bits in (8, 16, 32, 64) if (kind, bits) != ("f", 8)}
_BFLOAT16 = (4, 16)


class CudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


class DLPackArray(Protocol):
    def __dlpack__(self) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


#: CuPy, PyTorch, JAX and others.
DeviceArray = Union[CudaArray, DLPackArray]

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


@dataclass
class Memory:
    """Contiguous memory, slowest axis first. ``owner`` keeps it alive."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    owner: Any
    stream: int = 0  #: that fills it; 0 is the default stream
    read_only: bool = False

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def cut(self, shapes: Iterable[tuple[int, ...]]) -> list[Memory]:
        """Arrays of these shapes, one behind the other from the first value on."""
        parts = []
        address = self.address
        for shape in shapes:
            parts.append(Memory(address, shape, self.dtype, self.owner, self.stream, self.read_only))
            address += parts[-1].nbytes
        return parts


class _Tensor(ctypes.Structure):  # start of DLManagedTensor
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


def _require_contiguous(shape: Sequence[int], strides: Sequence[int] | None) -> None:
    """``strides`` count elements or bytes alike; None stands for contiguous."""
    if strides is None or 0 in shape:
        return
    step = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != step:
            raise UsageError("an array on a device must be contiguous, slowest axis first")
        step *= extent


def from_cuda_interface(interface: dict[str, Any], array: Any) -> Memory:
    if interface.get("mask") is not None:
        raise UsageError("masks on a device are not supported: give missing points a value and name it with fill=")
    dtype = np.dtype(interface["typestr"])
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    _require_contiguous(shape, strides and [stride // dtype.itemsize for stride in strides])
    stream = interface.get("stream") or 0
    address, read_only = interface["data"]
    return Memory(address or 0, shape, dtype, array, stream, read_only)


def bfloat16() -> np.dtype[Any] | None:
    """ml_dtypes' type, if the package is installed."""
    try:
        from ml_dtypes import bfloat16 as scalar
    except ImportError:
        return None
    return np.dtype(scalar)


def from_dlpack(array: Any, stream: int | None) -> Memory:
    """The array's library makes ``stream``, or the default stream, wait for what fills the array."""
    capsule = array.__dlpack__(stream=stream or _DEFAULT_STREAM)
    tensor = _Tensor.from_address(_pointer_of(capsule, b"dltensor"))
    kind = (tensor.code, tensor.bits)
    dtype = bfloat16() if kind == _BFLOAT16 else _TYPES.get(kind)
    if tensor.lanes != 1 or dtype is None:
        raise UsageError("the type of the array is not a plain number")
    shape = tuple(tensor.shape[:tensor.ndim])
    _require_contiguous(shape, tensor.strides[:tensor.ndim] if tensor.strides else None)
    return Memory((tensor.data or 0) + tensor.byte_offset, shape, dtype, (array, capsule), stream or 0)


def _speaks_dlpack(array: Any) -> bool:
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and device()[0] in (_CUDA, _CUDA_HOST, _CUDA_MANAGED)


def is_on_device(array: Any) -> bool:
    if isinstance(array, (np.ndarray, bytes, bytearray, memoryview)):
        return False
    return _speaks_dlpack(array) or getattr(array, "__cuda_array_interface__", None) is not None


def _of_device_array(array: Any, stream: int | None = None) -> Memory:
    if _speaks_dlpack(array):
        return from_dlpack(array, stream)
    return from_cuda_interface(array.__cuda_array_interface__, array)


def of_values(array: Any, stream: int | None = None) -> Memory:
    """Memory of an array to be read; what is not contiguous or not in the machine's byte order is copied."""
    if is_on_device(array):
        return _of_device_array(array, stream)
    values = np.asarray(array)
    values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    return Memory(values.ctypes.data, values.shape, values.dtype, values)


def of_bytes(data: Any) -> Memory:
    """Memory of an archive: anything with a buffer, or an array of bytes on a device, whose headers are
    copied by the default stream."""
    if is_on_device(data):
        return _of_device_array(data)
    values = np.frombuffer(data, np.uint8)
    return Memory(values.ctypes.data, values.shape, values.dtype, values)


def _writable_buffer(out: Any) -> np.ndarray[Any, Any]:
    """An array over the memory of what is on the host."""
    if isinstance(out, np.ma.MaskedArray):
        raise UsageError("out is a masked array, whose mask is not written; give out.data")
    if isinstance(out, np.ndarray):
        return out
    try:
        return np.frombuffer(out, np.uint8)
    except (TypeError, ValueError, BufferError):
        raise UsageError(f"out of type {type(out).__name__}; accepted are contiguous arrays of "
                         "NumPy, of a GPU, and writable buffers like bytearray") from None


def _require(out: Memory, shape: tuple[int, ...] | None, dtypes: Sequence[np.dtype[Any]]) -> None:
    """Without a shape any length will do, of one axis."""
    fits = out.shape == shape if shape is not None else len(out.shape) == 1
    if not fits or out.dtype not in dtypes:
        wanted = "one axis" if shape is None else f"the shape {shape}"
        raise UsageError(f"out has the shape {out.shape} and the type {out.dtype}; accepted is "
                         f"{wanted} of {' or '.join(map(str, dtypes))}")


def _of_output(out: Any, stream: int | None) -> Memory:
    if is_on_device(out):
        memory = _of_device_array(out, stream)
        interface = getattr(out, "__cuda_array_interface__", None)
        if memory.read_only or (interface is not None and interface["data"][1]):
            raise UsageError("out is read-only, like JAX arrays: give a CuPy or PyTorch array")
        return memory
    array = _writable_buffer(out)
    if not (array.flags.c_contiguous and array.flags.writeable and array.dtype.isnative):
        raise UsageError("out must be contiguous, writable and in the machine's byte order")
    return Memory(array.ctypes.data, array.shape, array.dtype, array)


def of_archive_output(out: Any, stream: int | None = None) -> Memory:
    """Memory to be filled with an archive, which is not copied."""
    memory = _of_output(out, stream)
    _require(memory, None, (np.dtype("u1"), np.dtype("i1")))
    return memory


def of_field_output(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any],
                    stream: int | None = None) -> Memory:
    """Memory of an array to be filled with a field, which is not copied."""
    memory = _of_output(out, stream)
    _require(memory, shape, (dtype,))
    return memory
