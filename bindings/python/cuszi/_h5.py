"""The HDF5 filter, for h5py, h5netcdf and xarray."""

from __future__ import annotations

import math
import os
import struct
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, Iterator, Mapping

from . import _library
from ._arguments import Real, bound, names_keywords, quality, real, value_range as range_of
from ._errors import UsageError
from ._options import Preset, ValueRange, preset_number

_STRICT = 256  # added to the preset
_MODES = {"abs": 0, "pw_rel": 512, "abs_or_pw_rel": 1024, "abs_and_pw_rel": 2048}  # likewise
_PARAMETERS_VERSION = 1


def h5_plugin_path() -> str:
    """Folder of the filter, for HDF5_PLUGIN_PATH."""
    return str(Path(__file__).with_name("plugin"))


def _default_folders() -> list[str]:
    """Where HDF5 looks without HDF5_PLUGIN_PATH, which replaces them: its own, and of Conda's."""
    folders = ["/usr/local/hdf5/lib/plugin", os.path.join(sys.prefix, "lib", "hdf5", "plugin")]
    return [folder for folder in folders if os.path.isdir(folder)]


def let_hdf5_find_it() -> None:
    """By the environment, for libraries that are loaded later; in h5py if that is there already."""
    if not os.path.isdir(h5_plugin_path()):
        return  # built without HDF5
    paths = os.environ.get("HDF5_PLUGIN_PATH", "").split(os.pathsep)
    folders = [path for path in paths if path] or _default_folders()
    if h5_plugin_path() not in folders:
        os.environ["HDF5_PLUGIN_PATH"] = os.pathsep.join([h5_plugin_path(), *folders])
    plugins = getattr(sys.modules.get("h5py"), "h5pl", None)
    if plugins is not None:
        known = {plugins.get(i) for i in range(plugins.size())}
        if h5_plugin_path().encode() not in known:
            plugins.prepend(h5_plugin_path().encode())


def _halves(number: float) -> tuple[int, int]:
    """A double as two parameters: its lower and its upper half."""
    return struct.unpack("<II", struct.pack("<d", number))


def _absolute(rel: Any, value_range: Any) -> float:
    """The bound that a share of a range is, rounded down."""
    if value_range is None:
        raise UsageError("rel= needs value_range=(min, max): a chunk has no access to the range of its "
                         "dataset")
    least, most = range_of(value_range)
    if not least <= most:
        raise UsageError(f"value_range {least}, {most} is not (min, max)")
    if not 0 <= real("rel", rel) < 1:
        raise UsageError(f"rel {rel} is not from 0 to below 1")
    bound("rel", real("rel", rel) * (most - least))  # checks that it is finite
    exact = Fraction(real("rel", rel)) * (Fraction(most) - Fraction(least))
    absolute = float(exact)
    return absolute if absolute <= exact else math.nextafter(absolute, 0)


def _let_h5py_take(kind: type) -> None:
    """As a reference to a filter, as which it takes objects of hdf5plugin, where h5py is installed."""
    try:
        import h5py
    except ImportError:
        return
    h5py.filters.FilterRefBase.register(kind)


class H5(Mapping[str, Any]):
    """A filter that makes h5py compress a chunked dataset of floats or integers.

        file.create_dataset("T", data=a, chunks=(8, 128, 128), compression=cuszi.H5(abs=0.01))
        data.to_netcdf("t.nc", engine="h5netcdf", encoding={"T": {"compression": cuszi.H5(abs=0.01)}})

    It is also a mapping of keyword arguments: ``**cuszi.H5(abs=0.01)``.

    Parameters
    ----------
    abs : float
        Maximum error of a value, in the field's unit; 0 is lossless.
    rel : float
        Maximum error as a fraction of ``value_range``, which is required: the range of the dataset
        is unknown when a chunk is compressed.
    value_range : (min, max)
    pw_rel : float
        Maximum error as a fraction of each value; zeros and signs are exact.
    abs_or_pw_rel, abs_and_pw_rel : float
        Maximum error in the field's unit or the fraction ``pw`` of each value, whichever is larger
        (or) or smaller (and).
    pw : float
    preset : "ratio", "balanced", "fast", "cuszi", "cusz" or "zfp"
    fill : float
        Value that marks missing points in datasets without a fill value, such as those nccopy
        writes.
    strict : bool
        Whether a chunk with values that look like fill values, but are not named, is an error.
        A filter cannot warn about them.

    Attributes
    ----------
    filter_id, parameters
        The filter's number and its parameters, for nccopy, h5repack and others.
    filter_options
        The parameters, under h5py's name.

    The dataset's fill value marks missing points and is restored bit for bit, like NaN.
    """

    @names_keywords()
    def __init__(self, *, abs: Real | None = None, rel: Real | None = None,
                 value_range: ValueRange = None, pw_rel: Real | None = None,
                 abs_or_pw_rel: Real | None = None, abs_and_pw_rel: Real | None = None,
                 pw: Real | None = None, preset: Preset = "ratio",
                 fill: Real | None = None, strict: bool = False) -> None:
        others = (pw_rel, abs_or_pw_rel, abs_and_pw_rel, pw)
        if rel is None:
            if value_range is not None:
                raise UsageError("value_range= needs rel=")
            asked = quality(abs, *others)
        elif any(other is not None for other in (abs, *others)):
            raise UsageError("rel= needs value_range= and excludes other bounds")
        else:
            asked = {"abs": _absolute(rel, value_range)}
        mode, most = next(iter(asked.items()))
        number = preset_number(preset) + (_STRICT if strict else 0) + _MODES[mode]
        self.filter_id: int = _library.h5_filter()
        self.parameters: tuple[int, ...] = (
            _PARAMETERS_VERSION, *_halves(most), number,
            *(_halves(asked["pw"]) if "pw" in asked else ()),
            *(() if fill is None else _halves(real("fill", fill))))
        self._arguments = {"compression": self.filter_id, "compression_opts": self.parameters}
        _let_h5py_take(H5)

    @property
    def filter_options(self) -> tuple[int, ...]:
        return self.parameters

    def __hash__(self) -> int:
        return hash((self.filter_id, self.parameters))

    def __getitem__(self, key: str) -> Any:
        return self._arguments[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arguments)

    def __len__(self) -> int:
        return len(self._arguments)
