"""Programs that read a compressed NetCDF-4 file by HDF5_PLUGIN_PATH alone: CDO, NCO, R and Octave.

CUSZI is the tool.
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import netCDF4
import numpy as np

BOUND = 1e-3
PAGE = Path(__file__).resolve().parents[2] / "docs/guide/hdf5-netcdf.md"
CUSZI = os.environ["CUSZI"]


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"no {program}")


class Readers(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        y, x = np.mgrid[0:32, 0:48]
        field = np.stack([np.sin(y / 9) * np.cos(x / 11) + step for step in range(4)]).astype("f4")
        field[:, :4, :4] = 1e20
        with netCDF4.Dataset(cls.folder / "t.nc", "w") as file:
            for name, units, values in (("time", "days since 2000-01-01", np.arange(4.0)),
                                        ("lat", "degrees_north", np.linspace(-80, 80, 32)),
                                        ("lon", "degrees_east", np.linspace(0, 350, 48))):
                file.createDimension(name, None if name == "time" else len(values))
                file.createVariable(name, "f8", (name,)).units = units
                file[name][:] = values
            file.createVariable("T", "f4", ("time", "lat", "lon"), fill_value=1e20)[:] = field
        cls.run_program(CUSZI, "compress", "t.nc", "-m", "abs", "-e", BOUND, "-o", "c.nc")

    @classmethod
    def run_program(cls, *arguments):
        ended = subprocess.run(list(map(str, arguments)), cwd=cls.folder, capture_output=True, text=True, timeout=300)
        if ended.returncode != 0:
            raise AssertionError(ended.stderr)
        return ended.stdout

    def assert_near(self, name, variable="T", bound=BOUND):
        with netCDF4.Dataset(self.folder / "t.nc") as one, netCDF4.Dataset(self.folder / name) as other:
            a, b = one["T"][:], other[variable][:]
        np.testing.assert_array_equal(a.mask, b.mask)
        self.assertLessEqual(np.abs(a - b).max(), bound)

    @needs("cdo")
    def test_cdo(self):
        lines = self.run_program("cdo", "-s", "infon", "c.nc").splitlines()
        self.assertEqual([int(line.split()[6]) for line in lines[1:]], [16] * 4)
        self.run_program("cdo", "-s", "sub", "t.nc", "c.nc", "d.nc")
        with netCDF4.Dataset(self.folder / "d.nc") as file:
            self.assertLessEqual(np.abs(file["T"][:]).max(), BOUND)
        self.run_program("cdo", "-s", "-f", "nc4", "-z", "zip", "copy", "c.nc", "z.nc")
        self.assert_near("z.nc")

    @needs("ncks")
    def test_nco(self):
        self.run_program("ncap2", "-O", "-s", "d=T*2", "c.nc", "n.nc")
        self.run_program("ncap2", "-O", "-s", "h=d/2", "n.nc", "h.nc")
        self.assert_near("n.nc", bound=2 * BOUND)  # compressed again
        self.assert_near("h.nc", "h", 3 * BOUND)
        self.run_program("ncks", "-O", "-L", "0", "c.nc", "k.nc")
        self.assert_near("k.nc")

    @needs("Rscript")
    def test_r(self):
        code = """library(ncdf4); a <- ncvar_get(nc_open("t.nc"), "T"); b <- ncvar_get(nc_open("c.nc"), "T")
                  stopifnot(identical(is.na(a), is.na(b))); cat(max(abs(a - b), na.rm = TRUE))"""
        self.assertLessEqual(float(self.run_program("Rscript", "-e", code)), BOUND)

    @needs("octave-cli")
    def test_octave(self):
        code = """a = load("-hdf5", "t.nc"); b = load("-hdf5", "c.nc"); m = abs(a.T - b.T);
                  printf("largest %g of %d\\n", max(m(:)), numel(m))"""
        largest, count = re.search(r"largest (\S+) of (\d+)", self.run_program("octave-cli", "--quiet", "--eval", code)).groups()
        self.assertLessEqual(float(largest), BOUND)
        self.assertEqual(int(count), 4 * 32 * 48)

    @unittest.skipUnless(all(map(shutil.which, ("cdo", "ncks", "Rscript", "octave-cli"))), "not all programs")
    def test_the_block_of_the_guide(self):
        with netCDF4.Dataset(self.folder / "file.nc", "w") as file:
            for axis, extent in zip("zyx", (8, 9, 10)):
                file.createDimension(axis, extent)
            file.createVariable("TEMPERATURE", "f4", ("z", "y", "x"))[:] = np.linspace(1, 3, 720).reshape(8, 9, 10)
        self.run_program(CUSZI, "compress", "file.nc", "-m", "abs", "-e", BOUND, "-o", "packed.nc")
        block, = re.findall(r"(?ms)^```sh\n(cdo .*?)^```$", PAGE.read_text())
        said = self.run_program("bash", "-eo", "pipefail", "-c", block)
        self.assertEqual([round(float(number), 2) for number in re.findall(r"(?m)^ *([\d.]+)$", said)], [2])
        self.assertRegex(said, r"Min\. +1st Qu\.")
        with netCDF4.Dataset(self.folder / "plain.nc") as file:
            self.assertLessEqual(np.abs(file["TEMPERATURE"][:].ravel() - np.linspace(1, 3, 720)).max(), 1.01 * BOUND)


if __name__ == "__main__":
    unittest.main()
