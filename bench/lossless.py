#!/usr/bin/env python3
"""Compares a bound of 0 with fpzip, pcodec and zstd.

Fields are raw files of float32 with their dims in their names, slowest first. Of some, sums along the fastest axis in float64
are fields, too. Prints a table for bench/results.

scripts/python_env.sh scripts/requirements/lossless.txt build/lossless-env prints a Python that has all but the tool.
"""

import datetime
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

import fpzip
import numpy as np
import zstandard
from pcodec import ChunkConfig, standalone

from common import finite_fields, processor, tool_and_folder, version_of

SUMS = ("cesm_camfv_T_month0", "chi_field", "isabel_velmag_t30", "nbody_vx", "viscousfingers_conc_t60")
PCODEC_LEVEL, ZSTD_LEVEL = 8, 9
LEAST_BYTES = 2**16  # smaller fields tell of headers


def fields(folder):
    """Names and values of fields that are finite, without fill values and not tiny."""
    for _, name, values in finite_fields(folder):
        if values.nbytes < LEAST_BYTES:
            continue
        yield name, values
        if name in SUMS:
            yield f"{name} (sums)", np.cumsum(values, axis=-1, dtype="f8")


def by_cuszi(cuszi, values):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "field.npy"
        np.save(path, values)
        subprocess.run([cuszi, "compress", path, "-e", "0", "--verify"], check=True, stdout=subprocess.DEVNULL)
        return path.with_name("field.npy.cuszi").stat().st_size


def by_fpzip(values):
    packed = fpzip.compress(values.reshape((1,) * max(3 - values.ndim, 0) + values.shape), precision=0, order="C")
    assert fpzip.decompress(packed, order="C").tobytes() == values.tobytes()
    return len(packed)


def by_pcodec(values):
    packed = standalone.simple_compress(values.ravel(), ChunkConfig(compression_level=PCODEC_LEVEL))
    assert standalone.simple_decompress(packed).tobytes() == values.tobytes()
    return len(packed)


def by_planes(values):
    """Byte planes, then zstd at its default level."""
    planes = np.ascontiguousarray(values.reshape(-1).view("u1").reshape(values.size, -1).T)
    return len(zstandard.compress(planes.tobytes()))


def by_zstd(values):
    return len(zstandard.compress(values.tobytes(), ZSTD_LEVEL))


def print_head(tool):
    print(f"""# title: Lossless beside fpzip, pcodec and zstd
# device: CPU ({processor()}); {tool}; fpzip {version("fpzip")}; pcodec {version("pcodec")}, level {PCODEC_LEVEL}; zstandard {version("zstandard")}, level {ZSTD_LEVEL}, and its default after byte planes
# date: {datetime.date.today()}
# command: scripts/python_env.sh scripts/requirements/lossless.txt build/lossless-env
# command: build/lossless-env/bin/python bench/lossless.py build/default/app/cuszi FOLDER > bench/results/lossless_cpu.tsv
# about: Ratio with a bound of 0; sums are float64, along the fastest axis.
# note: fpzip keeps all bits; the slowest of four axes is one of separate fields for it. Fields with missing or fill values and tiny ones are left out.
# hide: dims
# hide: type
# across: codec
# cell: {{ratio}}
# mean: type {{:.2f}}
field\tdims\ttype\tcodec\tratio""", flush=True)


def main():
    tool, folder = tool_and_folder(__doc__)
    print_head(version_of(tool))
    for name, values in fields(folder):
        sizes = {"cuszi": by_cuszi(tool, values), "fpzip": by_fpzip(values), "pcodec": by_pcodec(values),
                 "planes": by_planes(values), "zstd": by_zstd(values)}
        for codec, size in sizes.items():
            print(name, "x".join(map(str, values.shape)), f"f{8 * values.itemsize}", codec, f"{values.nbytes / size:.3f}",
                  sep="\t", flush=True)


if __name__ == "__main__":
    main()
