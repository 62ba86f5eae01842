#!/usr/bin/env python3
"""Writes a dataset of xarray to NetCDF with a bound for each variable, and opens it again, lazily.

Readers need the filter alone: any program of HDF5 or NetCDF-4 that finds it in HDF5_PLUGIN_PATH.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import xarray

import cuszi

BOUNDS = {"temperature": 0.01, "wind": 0.05}  # in the units of each
CHUNKS = (4, 180, 360)  # of at least 1 MiB


def weather() -> xarray.Dataset:
    """Eight days over a globe, with the sea's temperature missing on land."""
    day = np.arange(8.0)[:, None, None]
    lat, lon = np.radians(np.linspace(-89.5, 89.5, 180))[:, None], np.radians(np.arange(360.0))[None, :]
    temperature = 300 - 40 * np.sin(lat) ** 2 + 3 * np.sin(3 * lon + day) * np.cos(lat)
    temperature = np.where(np.sin(2 * lon) * np.cos(lat) > 0.5, np.nan, temperature)
    wind = 20 * np.sin(2 * lat) * np.cos(2 * lon - 0.5 * day)
    dims = ("time", "lat", "lon")
    return xarray.Dataset({"temperature": (dims, temperature.astype("f4"), {"units": "K"}),
                           "wind": (dims, wind.astype("f4"), {"units": "m s-1"})})


def write(data: xarray.Dataset, path: Path) -> None:
    encoding = {name: {"chunksizes": CHUNKS, **cuszi.H5(abs=bound)} for name, bound in BOUNDS.items()}
    data.to_netcdf(path, engine="h5netcdf", encoding=encoding)


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "weather.nc")
    data = weather()
    write(data, path)
    with xarray.open_dataset(path, engine="h5netcdf") as again:
        for name, bound in BOUNDS.items():
            error = float(abs(again[name].astype("f8") - data[name]).max())
            missing = bool((again[name].isnull() == data[name].isnull()).all())
            print(f"{name}: error {error:.4f} of {bound} {data[name].attrs['units']}, "
                  f"missing values {'kept' if missing else 'LOST'}")
    print(f"{data.nbytes} bytes became {path.stat().st_size}")


if __name__ == "__main__":
    main()
