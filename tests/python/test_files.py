"""Tests of the tool on files of NetCDF and HDF5, made by their own tools and libraries.

CUSZI in the environment names the tool.
"""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

import cuszi

INPUT, USAGE = 2, 1


def waves(shape=(20, 30, 40), dtype="f4"):
    noise = np.random.default_rng(3).normal(0, 1e-3, shape)
    return (np.sin(0.01 * np.arange(np.prod(shape))).reshape(shape) + noise).astype(dtype)


def cdl(values, missing=1e20):
    """Text of a NetCDF file with an ocean: T in time, with land, on a curved grid."""
    def listed(a):
        return ", ".join("_" if v == np.float32(missing) else f"{v:.9g}" for v in a.ravel().tolist())
    t, y, x = values.shape
    lat, lon = np.mgrid[0:y, 0:x].astype("f4")
    return f"""netcdf t {{
dimensions: time = UNLIMITED; y = {y}; x = {x};
variables:
  double time(time); time:units = "days since 2001-01-01";
  float lat(y, x); lat:units = "degrees_north";
  float lon(y, x); lon:units = "degrees_east";
  float T(time, y, x); T:units = "K"; T:coordinates = "lat lon";
    T:_FillValue = {missing}f; T:missing_value = {missing}f;
  short packed(time); packed:scale_factor = 0.1f;
  int count; char name(x);
:title = "a sea"; :history = "made";
data:
  time = {listed(np.arange(t) + 0.5)}; lat = {listed(lat + 0.1)}; lon = {listed(lon + 0.1)};
  T = {listed(values)};
  packed = {listed(np.arange(t))}; count = 7; name = "{'n' * x}";
}}
"""


class FilesTest(unittest.TestCase):
    """Works in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_tool(self, *command, code=0):
        environment = {**os.environ, "HDF5_PLUGIN_PATH": cuszi.h5_plugin_path()}
        result = subprocess.run([str(part) for part in command], cwd=self.folder, env=environment,
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout if code == 0 else result.stderr

    def cuszi(self, *arguments, code=0):
        return self.run_tool(os.environ["CUSZI"], *arguments, code=code)

    def archive(self, name, *options):
        self.cuszi("compress", name, "-e", "1e-3", "-q", "-f", *options, "-o", "out.cuszi")
        return (self.folder / "out.cuszi").read_bytes()

    def raw_archive(self, a, *fills):
        name = f"raw_{'x'.join(map(str, a.shape))}.f{8 * a.itemsize}"
        a.astype(a.dtype.newbyteorder("<")).tofile(self.folder / name)
        return self.archive(name, *[word for fill in fills for word in ("--fill-value", fill)])


class Hdf5(FilesTest):

    def test_archives_are_those_of_the_values(self):
        for dtype in ("<f4", ">f4", "<f8", ">f8"):
            a = waves(dtype=dtype)
            expected = self.raw_archive(a)
            for how in ({}, {"chunks": (3, 7, 40)}, {"chunks": (20, 2, 3), "compression": "gzip"},
                        {"chunks": (20, 30, 40), **cuszi.H5(abs=0)}):
                with self.subTest(dtype=dtype, how=how):
                    with h5py.File(self.folder / "t.h5", "w") as file:
                        file.create_dataset("g/T", data=a, **how)
                    self.assertEqual(self.archive("t.h5:/g/T"), expected)

    def test_read_by_parts(self):
        a = waves((6, 5, 40, 50), dtype="f8")
        with h5py.File(self.folder / "t.h5", "w") as file:
            file.create_dataset("T", data=a, chunks=(4, 3, 16, 50))
        a.tofile(self.folder / "raw_6x5x40x50.f64")
        options = ("-m", "rel", "--frame-size", "64K")
        self.assertEqual(self.archive("t.h5:T", *options),
                         self.archive("raw_6x5x40x50.f64", *options))

    def test_axes_beyond_four(self):
        a = waves((3, 1, 2, 4, 5, 60))
        with h5py.File(self.folder / "t.h5", "w") as file:
            file["T"] = a
            file["s"] = np.float32(3)
        self.assertEqual(self.archive("t.h5:T"), self.raw_archive(a.reshape(6, 4, 5, 60)))
        self.assertEqual(self.archive("t.h5:s"), self.raw_archive(np.array([3], "f4")))

    def test_missing_values(self):
        a = waves(dtype="f8")
        a[:, :10] = -999
        a[3, 12] = 1e20
        with h5py.File(self.folder / "t.h5", "w") as file:
            file.create_dataset("T", data=a, fillvalue=-999)
            file["T"].attrs["missing_value"] = [1e20, -999]
        self.assertEqual(self.archive("t.h5:T"), self.raw_archive(a, "-999", "1e20"))
        self.cuszi("compress", "t.h5:T", "-e", "1e-3", "--verify")
        self.cuszi("decompress", "t.T.cuszi", "--compare", "t.h5:T")
        b = np.fromfile(self.folder / "t.T.restored.f64").reshape(a.shape)
        np.testing.assert_array_equal(b[a == -999], -999)
        np.testing.assert_array_equal(b[3, 12], 1e20)

    def test_what_is_refused(self):
        with h5py.File(self.folder / "t.h5", "w") as file:
            file["g/T"], file["U"], file["i"] = waves(), waves(), np.arange(5)
            file["p"] = np.arange(5, dtype="i2")
            file["p"].attrs["scale_factor"] = 0.1
            file["none"] = np.zeros((0, 5), "f4")
        names = "its variables of f32 and f64 are U, g/T, none"
        for name, code, reason in [("t.h5", USAGE, names), ("t.h5:V", INPUT, names),
                                   ("t.h5:g", INPUT, names), ("t.h5:i", INPUT, "holds int64"),
                                   ("t.h5:p", INPUT, "ncpdq -U"), ("t.h5:none", INPUT, "0x5")]:
            with self.subTest(name=name):
                self.assertIn(reason, self.cuszi("compress", name, "-e", "1e-3", code=code))
        error = self.cuszi("compress", "t.h5:U", "-e", "1e-3", "-d", "24000", code=USAGE)
        self.assertIn("leave out --dims", error)
        error = self.cuszi("compress", "t.h5:U", "-e", "1e-3", "-f", "-o", "t.h5", code=USAGE)
        self.assertIn("is an input", error)
        (self.folder / "text.h5").write_text("no container")
        self.assertIn("is no file of HDF5",
                      self.cuszi("compress", "text.h5:T", "-e", "1e-3", code=INPUT))


@unittest.skipUnless(shutil.which("ncgen"), "ncgen is missing")
class Netcdf(FilesTest):

    def make(self, name, kind, text):
        (self.folder / "t.cdl").write_text(text)
        self.run_tool("ncgen", f"-{kind}", "-o", name, "t.cdl")

    def test_all_kinds(self):
        a = waves()
        a[:, :7] = 1e20
        expected = self.raw_archive(a, repr(float(np.float32(1e20))))
        for kind in (3, 6, 5, 4, 7):
            with self.subTest(kind=kind):
                self.make("t.nc", kind, cdl(a))
                self.assertEqual(self.archive("t.nc"), expected)  # its only field
                self.assertEqual(self.archive("t.nc:/T"), expected)
                self.cuszi("compress", "t.nc:lat", "-e", "0", "-f", "--verify")
                self.assertIn("short packed by",
                              self.cuszi("compress", "t.nc:packed", "-e", "1e-3", code=INPUT))

    def test_values_that_nobody_wrote(self):
        self.make("t.nc", 4, "netcdf t { dimensions: x = 100; variables: float T(x); data: "
                             "T = 1, 2, 3; group: g { variables: double U(x); } }")
        for name in ("t.nc:T", "t.nc:g/U"):
            report = self.cuszi("compress", name, "-e", "1e-3", "--json", "--verify")
            self.assertIn('"masked":97' if name.endswith("T") else '"masked":100', report)
        self.assertIn("T, g/U", self.cuszi("compress", "t.nc", "-e", "1e-3", code=USAGE))


if __name__ == "__main__":
    unittest.main()
