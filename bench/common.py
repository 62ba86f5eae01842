"""What scripts share that measure the tool beside other codecs."""

import argparse
import os
import platform
import subprocess
from pathlib import Path


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
                platform.machine())


def version_of(tool):
    """Its name and version."""
    said = subprocess.run([tool, "--version"], check=True, capture_output=True, text=True).stdout
    return said.split("\n")[0].partition(",")[0].strip()


def tool_and_folder(description):
    """The two arguments of a command line: the tool, and a folder of fields."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cuszi", metavar="CUSZI", type=Path)
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    options = parser.parse_args()
    return options.cuszi.resolve(), options.folder


def finite_fields(folder):
    """Paths, names and values of raw fields of float32 without missing or fill values."""
    import numpy as np  # which scripts of commands alone do not need
    for path in sorted(folder.resolve().glob("*.f32")):
        name, _, dims = path.stem.rpartition("_")
        values = np.fromfile(path, "f4").reshape([int(extent) for extent in dims.split("x")])
        if np.isfinite(values).all() and np.abs(values).max() <= 1e19:
            yield path, name, values


def take_over_output():
    """A file for the table, where standard output was; what codecs print there goes to standard error."""
    table = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return table
