"""HDF5 and NetCDF-4 files with cuszi's filter as virtual Zarr, by kerchunk and VirtualiZarr.

    cuszi.virtual.register()
    references = kerchunk.hdf.SingleHdf5ToZarr("t.nc").translate()

Readers of the references need only the package cuszi.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any, Callable

from . import _library
from ._errors import UsageError
from ._numcodecs import Numcodec
from .h5 import method_of


def codec_of(parameters: tuple[int, ...]) -> Numcodec:
    """The codec of numcodecs that reads chunks of a dataset with these parameters of the filter."""
    method = method_of(tuple(parameters))
    method.pop("isovalues", None)  # matters to a writer alone
    return Numcodec(**method)


def register() -> None:
    """Let those of kerchunk and VirtualiZarr that are installed know the filter.

    Raises
    ------
    UsageError if neither is
    """
    known = [_teach("kerchunk.hdf", "SingleHdf5ToZarr._decode_filters", _kerchunk_filters),
             _teach("virtualizarr.parsers.hdf.filters", "_filter_to_codec", _virtualizarr_codec)]
    if not any(known):
        raise UsageError("neither kerchunk nor virtualizarr is installed")


def _teach(module: str, path: str, own: Callable[..., Any]) -> bool:
    """Lets ``own`` answer for a function, which it gets as its first argument."""
    try:
        owner: Any = importlib.import_module(module)
    except ImportError:
        return False
    *outer, name = path.split(".")
    owner = functools.reduce(getattr, outer, owner)
    original = getattr(owner, name)
    if not hasattr(original, "knows_cuszi"):
        taught = functools.wraps(original)(lambda *arguments: own(original, *arguments))
        taught.knows_cuszi = True  # type: ignore[attr-defined]
        setattr(owner, name, taught)
    return True


def _kerchunk_filters(original: Callable[..., Any], translator: Any, dataset: Any) -> Any:
    filters = getattr(dataset, "_filters", {})
    if list(filters) != [str(_library.h5_filter())]:
        return original(translator, dataset)
    if not dataset.dtype.isnative:
        raise UsageError(f"{dataset.name}: values of {dataset.dtype}; Zarr version 2 reads cuszi's in the machine's "
                         "byte order only")
    return [codec_of(next(iter(filters.values())))]


def _virtualizarr_codec(original: Callable[..., Any], filter_id: str, filter_properties: Any = None) -> Any:
    if str(filter_id) != str(_library.h5_filter()):
        return original(filter_id, filter_properties)
    return codec_of(filter_properties)
