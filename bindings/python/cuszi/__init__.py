"""Error-bounded lossy compression of scientific fields, on GPUs and CPUs.

    archive = cuszi.compress(a, rel=1e-3)           # or abs=, psnr=, ratio=; a: float32 or float64
    b = cuszi.decompress(archive)                   # |a - b| <= cuszi.info(archive).bound

Arrays of NumPy, and on a GPU of CuPy, PyTorch, JAX and whatever else speaks
``__cuda_array_interface__`` or DLPack, are used where they lie. The GIL is released meanwhile.
"""

from ._codec import Info, compress, decompress, info, room
from ._h5 import H5, h5_plugin_path
from ._library import (ArchiveError, BoundError, DeviceError, Error, InputError, RoomError,
                       TargetWarning, UsageError, version)


def __getattr__(name: str):
    """The codecs of Zarr, whose packages are loaded when they are asked for."""
    if name in ("Zarr", "Numcodec"):
        from . import _zarr
        return getattr(_zarr, name)
    raise AttributeError(f"module 'cuszi' has no attribute {name!r}")


__version__ = version()
__all__ = ["ArchiveError", "BoundError", "DeviceError", "Error", "H5", "Info", "InputError",
           "Numcodec", "RoomError", "TargetWarning", "UsageError", "Zarr", "compress", "decompress",
           "h5_plugin_path", "info", "room"]
