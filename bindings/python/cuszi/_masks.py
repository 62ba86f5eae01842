"""Missing values by other means than NaN: masked arrays, and attributes by the CF conventions."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ._errors import UsageError
from ._options import NETCDF_FILL, fill_values


def _candidates(first: Any, dtype: np.dtype[Any]) -> Iterator[Any]:
    """Finite values of a type: the two given ones, then all from the largest down."""
    if dtype.kind in "iu":
        yield dtype.type(first)
        yield from map(dtype.type, range(np.iinfo(dtype).max, np.iinfo(dtype).min - 1, -1))
        raise UsageError(f"masked values of {dtype} of which all are in use; none is left for masked points")
    with np.errstate(over="ignore"):
        for value in (first, NETCDF_FILL):
            if np.isfinite(dtype.type(value)):
                yield dtype.type(value)
    value = np.finfo(dtype).max
    while True:
        yield value
        value = np.nextafter(value, dtype.type(0))


def equal_to(values: np.ndarray[Any, Any], fill: float) -> np.ndarray[Any, Any]:
    """Where values are a fill value, which for 64-bit integers is any that rounds to it."""
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        return values.astype(np.float64) == fill
    with np.errstate(over="ignore"):
        return values == np.asarray(fill, values.dtype)


def _filled(array: np.ma.MaskedArray[Any, Any]) -> tuple[np.ndarray[Any, Any], tuple[float, ...]]:
    """Masked points take a value that no other has: the array's own fill value, if that is so."""
    values, mask = np.array(array.data), np.ma.getmaskarray(array)
    if values.dtype.kind not in "iuf":
        return values, ()
    known = values[~mask]
    marker = next(value for value in _candidates(array.fill_value, values.dtype.newbyteorder("="))
                  if not np.any(equal_to(known, float(value))))
    values[mask] = marker
    return values, (float(marker),)


def _of_attributes(array: Any) -> tuple[float, ...]:
    """What an array of xarray, h5py or Zarr says of missing values: ``_FillValue``, ``missing_value``,
    and the fill value of its dataset unless that is 0, the default."""
    attributes = getattr(array, "attrs", {})
    found = [np.ravel(attributes[name]) for name in ("_FillValue", "missing_value")
             if name in attributes]
    own = np.ravel(getattr(array, "fillvalue", getattr(array, "fill_value", 0)))
    found.append(own[own != 0])
    return fill_values([value for values in found for value in values if values.dtype.kind in "iuf"])


def unmasked(array: Any) -> tuple[np.ndarray[Any, Any], tuple[float, ...]]:
    """An array of the host without a mask, and which of its values mean "missing" besides NaN."""
    if type(array) is np.ndarray:
        return array, ()
    if isinstance(array, (list, tuple)) and any(isinstance(a, np.ma.MaskedArray) for a in array):
        array = np.ma.asarray(array)
    if array is np.ma.masked:
        array = np.ma.masked_array(0.0, True)  # the constant has no fill value
    values = np.asanyarray(array)
    if isinstance(values, np.ma.MaskedArray):
        return _filled(values)
    return np.asarray(values), _of_attributes(array)


def masked(values: np.ndarray[Any, Any], fills: tuple[float, ...]) -> np.ma.MaskedArray[Any, Any]:
    """Masked where values are one of these; without any, where they are NaN."""
    has_nan = not fills and values.dtype.kind not in "iu"
    mask = np.isnan(values) if has_nan else np.zeros(values.shape, bool)
    for fill in fills:
        mask |= equal_to(values, fill)
    result = np.ma.MaskedArray(values, mask)
    found = values[equal_to(values, fills[0])] if fills else values[:0]
    if found.size:
        result.fill_value = found.flat[0]
    elif fills and not (values.dtype.kind in "iu" and values.dtype.itemsize == 8):
        result.fill_value = np.array(fills[:1]).astype(values.dtype)[0]
    return result
