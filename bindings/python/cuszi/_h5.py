"""The HDF5 filter, for h5py, h5netcdf and xarray."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import _library
from ._codec import PRESETS
from ._library import UsageError

_PARAMETERS_VERSION = 1


def h5_plugin_path() -> str:
    """The folder of the filter, as HDF5_PLUGIN_PATH wants it."""
    return str(Path(__file__).with_name("plugin"))


def _let_hdf5_find_it() -> None:
    """For libraries that are loaded later by the environment, for h5py also if it is there."""
    paths = os.environ.get("HDF5_PLUGIN_PATH", "")
    if h5_plugin_path() not in paths.split(os.pathsep):
        os.environ["HDF5_PLUGIN_PATH"] = os.pathsep.join(filter(None, [h5_plugin_path(), paths]))
    if "h5py" in sys.modules:
        plugins = sys.modules["h5py"].h5pl
        known = {plugins.get(i) for i in range(plugins.size())}
        if h5_plugin_path().encode() not in known:
            plugins.prepend(h5_plugin_path().encode())


def _halves(number: float) -> tuple[int, int]:
    """A double as two parameters: its lower and its upper half."""
    return struct.unpack("<II", struct.pack("<d", number))


class H5(Mapping):
    """Keyword arguments that make h5py compress a chunked dataset of float32 or float64.

        file.create_dataset("T", data=a, chunks=(8, 128, 128), **cuszi.H5(abs=0.01))
        data.to_netcdf("t.nc", engine="h5netcdf", encoding={"T": dict(cuszi.H5(abs=0.01))})

    The first use lets h5py find the filter, and what is loaded later, by HDF5_PLUGIN_PATH.

    Parameters
    ----------
    abs : float
        What no value's error exceeds, in the field's unit; 0 is lossless.
    rel : float
        The same as a share of ``value_range``, which has to be given: a chunk does not know the
        range of its dataset.
    value_range : (min, max)
    preset : "ratio", "cuszi", "cusz", "fast" or "zfp"
    fill : float
        A value that means missing in datasets that define no fill value of their own, as nccopy
        makes them.

    Attributes
    ----------
    filter_id, parameters
        The filter's number and its parameters, for nccopy, h5repack and others.

    The dataset's fill value counts as missing and comes back bit for bit, like NaN.
    """

    def __init__(self, *, abs: float | None = None, rel: float | None = None,
                 value_range: tuple[float, float] | None = None, preset: str = "ratio",
                 fill: float | None = None):
        if (abs is None) == (rel is None):
            raise UsageError("give one of abs= and rel=; rel= with value_range=")
        if rel is not None:
            if value_range is None:
                raise UsageError("rel= needs value_range=(min, max): a chunk does not know the "
                                 "range of its dataset")
            abs = rel * (value_range[1] - value_range[0])
        if not 0 <= abs < float("inf"):
            raise UsageError(f"the bound {abs} is not a finite number of at least 0")
        if preset not in PRESETS:
            raise UsageError(f"preset {preset!r} is not one of {', '.join(PRESETS)}")
        self.filter_id: int = _library.h5_filter()
        self.parameters: tuple[int, ...] = (
            _PARAMETERS_VERSION, *_halves(abs), PRESETS[preset],
            *(() if fill is None else _halves(fill)))
        self._arguments = {"compression": self.filter_id, "compression_opts": self.parameters}
        _let_hdf5_find_it()

    def __getitem__(self, key: str) -> Any:
        return self._arguments[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arguments)

    def __len__(self) -> int:
        return len(self._arguments)
