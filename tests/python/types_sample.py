"""What test_types.py lets mypy look at. Lines with `# error: CODE` have an error of that kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import cuszi

a = np.zeros((4, 30, 40), "f4")
out = np.zeros(100000, np.uint8)

# What there is.
archive = cuszi.compress(a, rel=1e-3, preset="fast", effort="normal", fill=[np.float32(1e20), "netcdf"])
assert_type(archive, bytes)
assert_type(cuszi.compress(a, abs=np.float32(1), threads=2, chunk=256, out=out), int)
assert_type(cuszi.compress(a.tolist(), psnr=60, value_range=None, out=bytearray(10)), int)
assert_type(cuszi.decompress(archive), npt.NDArray[Any])
assert_type(cuszi.decompress(archive, box=np.s_[1, ..., 2:3], stride=2), npt.NDArray[Any])
assert_type(cuszi.decompress(archive, masked=True), "np.ma.MaskedArray[Any, Any]")
assert_type(cuszi.room(a, fill="netcdf", frame_bytes=1 << 20), int)
assert_type(cuszi.info(archive).bound, float)
assert_type(cuszi.info(archive).shape, "tuple[int, ...]")
assert_type(cuszi.H5(abs=0.01, preset="cusz").parameters, "tuple[int, ...]")
assert_type(cuszi.H5(rel=1e-3, value_range=(a.min(), a.max()))["compression"], Any)
assert_type(cuszi.Zarr(abs=1, preset="zfp", fill=(1, 2)).abs, "float | None")
assert_type(cuszi.h5_plugin_path(), str)
assert_type(cuszi.__version__, str)
cuszi.Numcodec(abs=0.01, fill=1e20)


class OnDevice:
    """An array of a GPU."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {}


assert_type(cuszi.compress(OnDevice(), abs=1), bytes)
assert_type(cuszi.decompress(OnDevice(), out=OnDevice()), OnDevice)

# What there is not.
cuszi.compress(a, rel=1e-3, preset="bogus")  # error: call-overload
cuszi.compress(a, rel=1e-3, effort="much")  # error: call-overload
cuszi.compress(a, rel=1e-3, colour="red")  # error: call-overload
cuszi.compress(a, rel=1e-3, chunk=1.5)  # error: call-overload
cuszi.compress(a, rel=1e-3, fill="none")  # error: arg-type
cuszi.compress(a, rel="small")  # error: call-overload
cuszi.compress(a, 1e-3)  # error: call-overload
cuszi.compress(a, rel=1e-3).shape  # error: attr-defined
cuszi.decompress(archive, boxes=1)  # error: call-overload
cuszi.decompress(archive, frame="first")  # error: call-overload
cuszi.decompress(a.tolist())  # error: call-overload
cuszi.room(a, frames=1)  # error: call-arg
cuszi.info(archive).bounds  # error: attr-defined
cuszi.info("archive")  # error: arg-type
cuszi.H5(abs=1, preset="bogus")  # error: arg-type
cuszi.H5(bound=1)  # error: call-arg
cuszi.Zarr(abs=1, preset="bogus")  # error: arg-type
cuszi.Zarr(rel=1)  # error: call-arg
cuszi.Numcodec(abs=1, preset="bogus")  # error: arg-type
cuszi.shrink(a)  # error: attr-defined
