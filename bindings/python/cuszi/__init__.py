"""Error-bounded lossy compression of scientific fields, on GPUs and CPUs.

    archive = cuszi.compress(a, rel=1e-3)           # or abs=, psnr=, ratio=; a: of floats or integers
    b = cuszi.decompress(archive)                   # |a - b| <= cuszi.info(archive).bound

NumPy arrays, and GPU arrays of CuPy, PyTorch, JAX and other libraries with
``__cuda_array_interface__`` or DLPack, are used in place. The GIL is released during a call.
"""

import typing as _typing

from ._codec import Info, append, compress, compress_batch, decompress, decompress_batch, info, room
from ._errors import (ArchiveError, BoundError, DeviceError, Error, FillWarning, InputError,
                      RoomError, TargetWarning, UsageError)
from ._errors import Warning as Warning
from ._h5 import H5, h5_plugin_path, let_hdf5_find_it
from ._library import version
from ._open import Archive, open

if _typing.TYPE_CHECKING:
    from ._numcodecs import Numcodec
    from ._zarr import Zarr
else:
    def __getattr__(name: str) -> object:
        """Loads the codecs of Zarr and numcodecs on first use."""
        if name == "Zarr":
            from ._zarr import Zarr
            return Zarr
        if name == "Numcodec":
            from ._numcodecs import Numcodec
            return Numcodec
        raise AttributeError(f"module 'cuszi' has no attribute {name!r}")

let_hdf5_find_it()
del let_hdf5_find_it


__version__ = version()
__all__ = ["Archive", "ArchiveError", "BoundError", "DeviceError", "Error", "FillWarning", "H5", "Info",
           "InputError", "Numcodec", "RoomError", "TargetWarning", "UsageError", "Zarr", "append", "compress",
           "compress_batch", "decompress", "decompress_batch", "h5_plugin_path", "info", "open", "room"]
