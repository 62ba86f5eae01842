#!/usr/bin/env python3
"""Compares cuszi.Numcodec with other codecs of numcodecs on climate fields, in the manner of ClimateBenchPress.

Fields are raw files of float32 with their dims in their names, slowest first, and names that FIELDS lists. Each is
written as a CF NetCDF file and read by xarray, as a user has it: missing values are NaN. Every codec gets the whole
variable and three absolute bounds: ClimateBenchPress' own rule for variables without a table of bounds, 1e-4, 1e-3 and 1e-2
of the range of known values. Prints a table for bench/results.

scripts/python_env.sh scripts/requirements/climate.txt build/climate-env prints a Python that has all but the package cuszi.
"""

import argparse
import datetime
import math
import re
import signal
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import xarray

import cuszi
from common import processor, take_over_output

BOUNDS = {"low": 1e-4, "mid": 1e-3, "high": 1e-2}
TIME_LIMIT = 1200  # seconds per codec, variable and bound


@dataclass(frozen=True)
class Variable:
    """What a field is called in its NetCDF file."""

    name: str
    standard_name: str
    units: str
    dims: tuple
    fill: float = math.nan


# By the beginning of a file name.
FIELDS = {
    "cesm_camfv_T_month0": Variable("T", "air_temperature", "K", ("lev", "lat", "lon")),
    "tos_ipsl": Variable("tos", "sea_surface_temperature", "K", ("time", "lat", "lon"), 1e20),
    "um_colpex_theta": Variable("theta", "air_potential_temperature", "K", ("time", "lev", "y", "x")),
    "navy_uwnd": Variable("uwnd", "eastward_wind", "m s-1", ("time", "lat", "lon")),
    "wrf_QCLOUD": Variable("QCLOUD", "cloud_liquid_water_mixing_ratio", "kg kg-1", ("time", "lev", "y", "x")),
    "isabel_velmag": Variable("velmag", "wind_speed", "m s-1", ("lev", "y", "x")),
    "mitgcm_deepconv_T": Variable("theta", "sea_water_potential_temperature", "degC", ("lev", "y", "x")),
    "bel_qpe": Variable("qpe", "thickness_of_rainfall_amount", "mm", ("y", "x")),
    "climate-TS": Variable("TS", "surface_temperature", "K", ("lat", "lon")),
    "climate-CLDLOW": Variable("CLDLOW", "low_type_cloud_area_fraction", "1", ("lat", "lon")),
    "climate-PRECT": Variable("PRECT", "lwe_precipitation_rate", "m s-1", ("lat", "lon")),
}


def sz3(bound):
    from numcodecs_wasm_sz3 import Sz3
    return Sz3(eb_mode="abs", eb_abs=bound)


def sperr(bound):
    from numcodecs_wasm_sperr import Sperr
    return Sperr(mode="pwe", pwe=bound)


def zfp(bound):
    from numcodecs_wasm_zfp import Zfp
    return Zfp(mode="fixed-accuracy", tolerance=bound, non_finite="allow-unsafe")


def ebcc(bound):
    from numcodecs_wasm_ebcc import Ebcc
    return Ebcc(base_cr=100, residual="absolute", error=bound, chunk_shape="auto")


def tthresh(bound):
    from numcodecs_wasm_tthresh import Tthresh
    return Tthresh(eb_mode="rmse", eb_rmse=bound)


def bit_round(bound):
    from numcodecs_combinators.stack import CodecStack
    from numcodecs_wasm_bit_round import BitRound
    from numcodecs_wasm_zstd import Zstd
    return CodecStack(BitRound(mode="abs", eb_abs=bound), Zstd(level=3))


# For an absolute bound, with ClimateBenchPress's settings.
CODECS = {"cuszi": lambda bound: cuszi.Numcodec(abs=bound), "sz3": sz3, "sperr": sperr, "zfp": zfp, "ebcc": ebcc,
          "tthresh": tthresh, "bit-round": bit_round}


def find_fields(folder):
    """Pairs of a file and its variable."""
    found = [(path, variable) for start, variable in FIELDS.items()
             for path in sorted(folder.glob(f"{start}*_*.f32"))]
    if not found:
        sys.exit(f"climate.py: no field in {folder} has a name of FIELDS")
    return found


def write_netcdf(field, variable, path):
    dims = tuple(map(int, re.search(r"_(\d+(?:x\d+)*)\.f32$", field.name)[1].split("x")))
    values = np.fromfile(field, "f4").reshape(dims)
    attributes = {"standard_name": variable.standard_name, "units": variable.units}
    data = xarray.Dataset({variable.name: (variable.dims, values, attributes)}, attrs={"Conventions": "CF-1.11"})
    data.to_netcdf(path, encoding={variable.name: {"_FillValue": np.float32(variable.fill)}})


def read_netcdf(path, variable):
    with xarray.open_dataset(path, decode_times=False) as data:
        return np.ascontiguousarray(data[variable.name].values)


def measure(codec, values, bound):
    """Ratio, how many times the bound the largest error is, and missing values that were not kept."""
    encoded = codec.encode(values)
    restored = np.asarray(codec.decode(encoded)).reshape(values.shape)
    known = np.isfinite(values)
    with np.errstate(invalid="ignore", over="ignore"):
        errors = np.abs(restored.astype("f8") - values)[known]
    errors[np.isnan(errors)] = math.inf
    lost = int(np.isfinite(restored[~known]).sum())
    return values.nbytes / memoryview(encoded).nbytes, float(errors.max(initial=0)) / bound, lost


def cells(make, values, bound):
    """The ratio, and a mark for what is wrong with it; nothing where the codec refuses the field."""
    signal.alarm(TIME_LIMIT)
    try:
        codec = make(bound)
        ratio, over, lost = measure(codec, values, bound)
    except Exception as failure:  # whatever a codec raises
        print(f"  failed: {type(failure).__name__}: {str(failure).splitlines()[0][:200]}", file=sys.stderr)
        return "", ""
    finally:
        signal.alarm(0)
    print(f"  {ratio:.2f}, {over:.3f} of the bound, {lost} missing values lost", file=sys.stderr)
    marks = f" ({over:.2g}x)" if over > 1 else ""
    return f"{ratio:.2f}", marks + (" NaN lost" if lost else "")


def give_up(*_):
    raise TimeoutError(f"took more than {TIME_LIMIT} s")


def print_head(codecs, table):
    packages = ", ".join(f"{name} {version('numcodecs-wasm-' + name)}" for name in codecs if name != "cuszi")
    print(f"""# title: `cuszi.Numcodec` beside codecs of ClimateBenchPress, absolute bounds
# device: CPU ({processor()}); cuszi {version("cuszi")}; numcodecs-wasm: {packages}
# date: {datetime.date.today()}
# command: scripts/python_env.sh scripts/requirements/climate.txt build/climate-env
# command: build/climate-env/bin/pip install .
# command: build/climate-env/bin/python bench/climate.py FOLDER > bench/results/climate_cpu.tsv
# about: Ratio at 1e-3 of the range of known values; in brackets the largest error in bounds, where it exceeds the bound. Empty: the codec refuses the field.
# note: Fields are CF NetCDF files, of real data and (climate-*) simulated; variables are compressed whole. ClimateBenchPress' tables of bounds for variables of ERA5 are on the network and were not used.
# note: 1x: over the bound by less than 5 %. TTHRESH takes a bound of the root mean square, not of each value. "NaN lost": missing values came back as numbers. bit-round is followed by zstd.
# hide: bound
# only: bound 1e-3
# across: codec
# cell: {{ratio}}{{wrong}}
# mean: bound {{:.2f}}
# mean of: ratio
variable\tdims\tbound\tcodec\tratio\twrong""", file=table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--codecs", metavar="NAMES", help="with commas between them (default: all)")
    options = parser.parse_args()
    codecs = options.codecs.split(",") if options.codecs else list(CODECS)
    if not set(codecs) <= set(CODECS):
        parser.error(f"--codecs {options.codecs}: there are {', '.join(CODECS)}")
    fields = find_fields(options.folder)
    signal.signal(signal.SIGALRM, give_up)
    table = take_over_output()
    print_head(codecs, table)
    with tempfile.TemporaryDirectory() as folder:
        for field, variable in fields:
            path = Path(folder) / f"{variable.name}.nc"
            write_netcdf(field, variable, path)
            values = read_netcdf(path, variable)
            known = values[np.isfinite(values)].astype("f8")
            name = field.name.rpartition("_")[0]
            for share in BOUNDS.values():
                bound = share * (known.max() - known.min())
                for codec in codecs:
                    print(f"{name} {share:.0e} {codec}", file=sys.stderr)
                    ratio, wrong = cells(CODECS[codec], values, bound)
                    dims = "x".join(map(str, values.shape))
                    print(name, dims, f"{share:.0e}".replace("e-0", "e-"), codec, ratio, wrong, sep="\t", file=table)


if __name__ == "__main__":
    main()
