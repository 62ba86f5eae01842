"""Tests of the tool on files of NetCDF and HDF5, made by their own tools and libraries.

CUSZI in the environment names the tool, CUSZI_SOURCE the project; real fields come from the folder
data of CUSZI_SHARED, or of `shared` beside the project.
"""

import json
import lzma
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

import cuszi

os.environ["HDF5_PLUGIN_PATH"] = cuszi.h5_plugin_path()  # which libraries read once, when they load

import h5py  # noqa: E402
import netCDF4  # noqa: E402
import numpy as np  # noqa: E402
from support import waves

SHARED = Path(os.environ.get("CUSZI_SHARED", Path(os.environ["CUSZI_SOURCE"]).parent / "shared"))
USAGE, INPUT, DEVICE, OUTPUT = 1, 2, 5, 6
QUICK = ["--preset", "fast", "-q"]


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

    def run_tool(self, *command, code=0, warns=False):
        result = subprocess.run([str(part) for part in command], cwd=self.folder,
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stderr if code != 0 or warns else result.stdout

    def cuszi(self, *arguments, code=0, warns=False):
        """What the tool prints, or tells where it fails or is to warn."""
        return self.run_tool(os.environ["CUSZI"], *arguments, code=code, warns=warns)

    def archive(self, name, *options):
        self.cuszi("compress", name, "-e", "1e-3", *QUICK, "-f", *options, "-o", "out.cuszi")
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

    def test_files_of_a_newer_library(self):
        own, = re.findall(r"HDF5 (\d+)", self.cuszi("--version"))
        if int(own) >= 2 or h5py.version.hdf5_version_tuple < (2, 0, 0):
            self.skipTest("HDF5 of h5py is no newer than that of the tool, or writes no other format")
        for name in ("t.h5", "t.nc"):
            with h5py.File(self.folder / name, "w", libver="latest") as file:
                file.create_dataset("T", data=waves(), chunks=(5, 5, 5), compression="gzip")
            error = self.cuszi("compress", f"{name}:T", "-e", "1e-3", code=INPUT)
            self.assertRegex(error, "version number .*cuszi uses HDF5 1[.].* too old")

    def test_no_modules(self):
        with h5py.File(self.folder / "t.h5", "w") as file:
            file["T"] = waves()
        shutil.copy(os.environ["CUSZI"], self.folder / "bin")
        error = self.run_tool(self.folder / "bin", "compress", "t.h5:T", "-e", "1e-3", code=DEVICE)
        self.assertIn("t.h5: this cuszi was built without HDF5", error)

    def test_what_is_refused(self):
        with h5py.File(self.folder / "t.h5", "w") as file:
            file["g/T"], file["U"], file["i"] = waves(), waves(), np.arange(5) + 1j
            file["p"] = np.arange(5, dtype="i2")
            file["p"].attrs["scale_factor"] = 0.1
            file["none"] = np.zeros((0, 5), "f4")
        names = "its f32 and f64 variables are U, g/T, none"
        for name, code, reason in [("t.h5", USAGE, names), ("t.h5:V", INPUT, names),
                                   ("t.h5:g", INPUT, names), ("t.h5:i", INPUT, "contains a compound type"),
                                   ("t.h5:p", INPUT, "ncpdq -U"), ("t.h5:none", INPUT, "0x5")]:
            with self.subTest(name=name):
                self.assertIn(reason, self.cuszi("compress", name, "-e", "1e-3", code=code))
        error = self.cuszi("compress", "t.h5:U", "-e", "1e-3", "-d", "24000", code=USAGE)
        self.assertIn("leave out --dims", error)
        error = self.cuszi("compress", "t.h5:U", "-e", "1e-3", "-f", "-o", "t.h5", code=USAGE)
        self.assertIn("cannot be copied", error)
        (self.folder / "t.h5").rename(self.folder / "link.cuszi")
        (self.folder / "t.h5").symlink_to("link.cuszi")
        error = self.cuszi("compress", "t.h5:U", "-e", "1e-3", "-f", "-o", "link.cuszi", code=USAGE)
        self.assertIn("is also an input", error)
        (self.folder / "text.h5").write_text("no container")
        self.assertIn("is not an HDF5 file",
                      self.cuszi("compress", "text.h5:T", "-e", "1e-3", code=INPUT))


class Hdf5Copies(FilesTest):

    def setUp(self):
        super().setUp()
        self.a = waves()
        self.a[:, :5] = 1e20
        with h5py.File(self.folder / "t.h5", "w", track_order=True) as file:
            self.fill(file)

    def fill(self, file):
        file.attrs["title"] = "a file"
        file.attrs["empty"] = h5py.Empty("f4")
        file.create_dataset("z", data=np.arange(20) / 3).make_scale("height")
        file.create_dataset("T", data=self.a, chunks=(15, 30, 40), maxshape=(None, 30, 40),
                            fillvalue=1e20, compression="gzip", shuffle=True)
        file["T"].attrs["units"] = "K"
        file["T"].attrs["long"] = ["väried", "lengths"]
        file["T"].dims[0].attach_scale(file["z"])
        group = file.create_group("g", track_order=True)
        group.create_dataset("U", data=waves(dtype=">f8"))
        group["U"].attrs["missing_value"] = [1e20, -5.0]
        group["counts"] = np.arange(5)
        group["counts"].attrs["about"] = group["U"].ref
        group["again"] = group["U"]
        group["self"] = group
        file["soft"] = h5py.SoftLink("/g/U")
        file["away"] = h5py.ExternalLink("other.h5", "/x")
        file["type"] = np.dtype([("a", "i4"), ("b", "f8")])
        file.create_dataset("typed", data=np.zeros(3, file["type"].dtype), dtype=file["type"])
        file["texts"] = ["one", "three"]
        pointers = file.create_dataset("refs", (3,), dtype=h5py.ref_dtype)
        pointers[0], pointers[1] = file["T"].ref, group.ref
        regions = file.create_dataset("regions", (1,), dtype=h5py.regionref_dtype)
        regions[0] = file["T"].regionref[2:4, 6:9, :]
        file["scalar"] = np.float32(2)
        file.create_dataset("none", (0, 5), "f4", maxshape=(None, 5), chunks=(1, 5))

    def copy(self, *options):
        self.cuszi("compress", "t.h5", *options, *QUICK, "-f", "--no-history", "-o", "c.h5", "--verify")
        return h5py.File(self.folder / "c.h5")

    def filters(self, dataset):
        plist = dataset.id.get_create_plist()
        return [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]

    def test_values_and_filters(self):
        with self.copy("-e", "1e-3") as copy, h5py.File(self.folder / "t.h5") as file:
            for name in ("T", "g/U"):
                self.assertEqual(self.filters(copy[name]), [411])
                a, b = file[name][...], copy[name][...]
                self.assertEqual(b.dtype, a.dtype)
                sea = a != 1e20 if name == "g/U" else a != np.float32(1e20)
                np.testing.assert_array_equal(b[~sea], a[~sea])
                error = np.abs(b - a)[sea].max()
                self.assertTrue(0 < error <= 1e-3 * np.ptp(a[sea].astype("f8")))
            for name in ("z", "g/counts", "typed", "texts", "scalar", "none"):
                np.testing.assert_array_equal(copy[name][...], file[name][...])
                self.assertEqual(self.filters(copy[name]), [])
            self.assertEqual(copy["T"].maxshape, (None, 30, 40))
            self.assertEqual(copy["T"].fillvalue, np.float32(1e20))

    def test_all_else(self):
        with self.copy("-e", "1e-3") as copy, h5py.File(self.folder / "t.h5") as file:
            self.assertEqual(list(copy), list(file))
            self.assertEqual(list(copy["g"]), list(file["g"]))
            for name in ("/", "T", "g/U", "g", "z"):
                self.assertEqual(list(copy[name].attrs), list(file[name].attrs))
            self.assertEqual(copy.attrs["title"], "a file")
            self.assertIsInstance(copy.attrs["empty"], h5py.Empty)
            self.assertEqual(list(copy["T"].attrs["long"]), ["väried", "lengths"])
            np.testing.assert_array_equal(copy["g/U"].attrs["missing_value"], [1e20, -5])
            self.assertEqual(copy["g/again"], copy["g/U"])
            self.assertEqual(copy["g/self/self"], copy["g"])
            self.assertEqual(copy.get("soft", getlink=True).path, "/g/U")
            self.assertEqual(copy.get("away", getlink=True).filename, "other.h5")
            self.assertEqual(copy["typed"].dtype, file["typed"].dtype)
            # What refers to something refers to the same in the copy.
            self.assertEqual(copy["T"].dims[0][0], copy["z"])
            self.assertEqual(copy[copy["z"].attrs["REFERENCE_LIST"][0][0]], copy["T"])
            self.assertEqual(copy[copy["g/counts"].attrs["about"]], copy["g/U"])
            self.assertEqual(copy[copy["refs"][0]], copy["T"])
            self.assertEqual(copy[copy["refs"][1]], copy["g"])
            self.assertFalse(copy["refs"][2])
            region = copy["regions"][0]
            self.assertEqual(copy[region], copy["T"])
            np.testing.assert_array_equal(copy["T"][region], copy["T"][2:4, 6:9])

    def test_bounds_of_variables(self):
        with self.copy("-e", "1e-3", "--bound", "T=abs:0.1", "--bound", "/z=0") as copy:
            self.assertEqual(self.filters(copy["z"]), [411])
            np.testing.assert_array_equal(copy["z"][...], np.arange(20) / 3)
            error = np.abs(copy["T"][...] - self.a).max()
            self.assertTrue(0.05 < error <= 0.1)
        with self.copy("--bound", "g/U=1e-2", "-m", "abs") as copy:
            self.assertEqual(self.filters(copy["g/U"]), [411])
            self.assertEqual(len(self.filters(copy["T"])), 2)
        with self.copy("-e", "1e-3", "--bound", "T=pwrel:1e-2") as copy:
            a = self.a.astype("f8")
            error = np.abs(copy["T"][...] - a)
            self.assertTrue(np.all(error <= 1e-2 * np.abs(a)))
            self.assertTrue(error.max() > 0)
        for options, reason in [(["--bound", "V=0"], "it has z, T, g/U"), (["--bound", "T"], "NAME=BOUND"),
                                (["-e", "1", "--bound", "T=rel:2"], "2"),
                                (["--bound", "T=abs-or-pwrel:0.01"], "an absolute bound and"),
                                (["--bound", "T=abs-or-pwrel:0.01,"], "an absolute bound and"),
                                (["--bound", "T=abs-and-pwrel:0.01,2"], "above 0 and below 1"),
                                (["--bound", "T=abs-and-pwrel:0,1e-3"], "above 0"),
                                (["--bound", "T=0.01,1e-3"], "T=abs-or-pwrel:0.01,1e-3"),
                                (["--bound", "T=abs:0.01,1e-3"], "NAME=BOUND with one number"),
                                (["--bound", "T=abs-or-pwrel:0.01,1e-3,1e-4"], "an absolute bound and"),
                                (["--bound", "T=0.01", "-m", "abs-or-pwrel"], "--pw"),
                                (["--bound", "T=0.01", "--pw", "1e-3"], "no effect"),
                                (["-e", "1e-3", "--bound", "T=pwrel:1e-3", "--preset", "zfp"], "zfp supports no bound"),
                                (["--bound", "T=abs-or-pwrel:1,1e-3", "--preset", "zfp"], "zfp supports no bound"),
                                (["-e", "1e-3", "--interp", "alpha=2"], "--interp"), ([], "required")]:
            self.assertIn(reason, self.cuszi("compress", "t.h5", *options, "-o", "d.h5", code=USAGE))
        self.assertNotIn("d.h5", os.listdir(self.folder))

    def test_bounds_of_variables_with_several_names(self):
        for name in ("g/U", "g/again", "g/self/again", "soft"):
            with self.subTest(name=name), self.copy("--bound", f"{name}=abs:0.1") as copy:
                self.assertEqual(self.filters(copy["g/U"]), [411])
                self.assertEqual(copy["g/again"], copy["g/U"])
                with h5py.File(self.folder / "t.h5") as file:
                    error = np.abs(copy["g/U"][...] - file["g/U"][...]).max()
                self.assertTrue(0.05 < error <= 0.1)
        with h5py.File(self.folder / "other.h5", "w") as other:
            other["x"] = waves()
        for options, reason in [(["--bound", "g/U=abs:0.1", "--bound", "soft=abs:0.2"], "g/U and --bound soft name the same"),
                                (["--bound", "T=0.1", "--bound", "T=0.1"], "T and --bound T name the same"),
                                (["--bound", "away=0.1"], "has no such variable of numbers")]:
            self.assertIn(reason, self.cuszi("compress", "t.h5", *options, "-o", "d.h5", code=USAGE))

    def test_two_bounds_of_variables(self):
        a = self.a.astype("f8")

        def within(copy, bound):
            error = np.abs(copy["T"][...] - a)
            self.assertTrue(np.all(error <= bound))
            self.assertTrue(np.any(error > 0.4 * bound))
        larger, smaller = np.maximum(0.01, 0.05 * np.abs(a)), np.minimum(0.01, 0.05 * np.abs(a))
        others = ("-e", "1e-3", "-m", "abs-or-pwrel", "--pw", "0.05")
        for options, bound in [(("--bound", "T=abs-or-pwrel:0.01,0.05"), larger),
                               (("-e", "1e-3", "--bound", "T=ABS_AND_PW_REL:0.01,0.05"), smaller),
                               ((*others, "--bound", "T=0.01"), larger),  # with the share of the others
                               ((*others[2:], "--bound", "T=0.01"), larger),
                               ((*others, "--bound", "T=0.01,0.05"), larger),
                               ((*others, "--bound", "T=abs:0.01"), np.full(a.shape, 0.01))]:
            with self.subTest(options=options), self.copy(*options) as copy:
                within(copy, bound)

    def test_chunks(self):
        cases = {"small": ((20, 30, 40), (15, 30, 40), (20, 30, 40)),
                 "kept": ((2, 600, 600), (1, 600, 500), (1, 600, 500)),
                 "none": ((5, 1000, 1000), None, (2, 1000, 1000)),
                 "long": ((5_000_000,), (1000,), (1_666_667,))}
        with h5py.File(self.folder / "t.h5", "w") as file:
            for name, (shape, chunks, _) in cases.items():
                file.create_dataset(name, shape, "f4", chunks=chunks)
        with self.copy("-e", "0") as copy:
            for name, (_, _, expected) in cases.items():
                self.assertEqual(copy[name].chunks, expected)

    def test_missing_values_of_all_kinds(self):
        a = waves()
        a[0], a[1], a[2] = -999, 1e20, np.nan
        with h5py.File(self.folder / "t.h5", "w") as file:
            file.create_dataset("T", data=a, fillvalue=-999)
            file["T"].attrs["missing_value"] = np.float32(1e20)
        with self.copy("-e", "1e-3") as copy:
            np.testing.assert_array_equal(copy["T"][:3], a[:3])
            self.assertLessEqual(np.abs(copy["T"][3:] - a[3:]).max(), 1e-3 * np.ptp(a[3:]))
        self.run_tool("h5repack", "-l", "T:CHUNK=5x30x40", "c.h5", "again.h5")
        with h5py.File(self.folder / "again.h5") as again:
            np.testing.assert_array_equal(again["T"][:3], a[:3])

    def test_many_missing_values(self):
        a = waves(dtype="f8")
        named = [-1e9 - i for i in range(40)]
        with h5py.File(self.folder / "t.h5", "w") as file:
            for name, used in [("T", 15), ("U", 16), ("V", 40)]:
                a[0, 0] = 0
                a[0, 0, :used] = named[-used:]
                file.create_dataset(name, data=a, fillvalue=named[-1])
                file[name].attrs["missing_value"] = named
        for name, used in [("T", 15), ("U", 16)]:
            with self.copy("--bound", f"{name}=1e-3") as copy:
                self.assertEqual(self.filters(copy[name]), [411])
                np.testing.assert_array_equal(copy[name][0, 0, :used], named[-used:])
                np.testing.assert_array_equal(copy[name].attrs["missing_value"], named)
            report = json.loads(self.cuszi("compress", f"t.h5:{name}", "-e", "1e-3", "--json", "-f"))
            self.assertEqual(report["masked"], used)
        for option in (["t.h5:V", "-e", "1e-3"], ["t.h5", "-e", "1e-3", "-o", "d.h5"]):
            error = self.cuszi("compress", *option, "-f", code=INPUT)
            self.assertRegex(error, "t.h5:V: its points have 40 different fill values.* 16")
            self.assertNotIn("--fill-value", error)

    def test_unmatched_fill_values_are_told(self):
        a = waves(dtype="f8")
        a[:, :5] = 1e20
        with h5py.File(self.folder / "t.h5", "w") as file:
            file["g/T"], file["U"], file["g/T"].attrs["missing_value"] = a, a, np.float32(1e20)
        with netCDF4.Dataset(self.folder / "t.nc", "w", format="NETCDF3_CLASSIC") as file:
            for name, length in zip("zyx", a.shape):
                file.createDimension(name, length)
            file.createVariable("T", "f8", tuple("zyx"))[:] = a
            file["T"].missing_value = np.float32(1e20)
        for name in ("t.h5", "t.nc"):
            for bound in (["-e", "1e-3"], ["-e", "1e-3", "-m", "abs"]):
                with self.subTest(name=name, bound=bound):
                    copy = ["compress", name, *bound, "--preset", "fast", "-f", "-o", "c.nc"]
                    told = self.cuszi(*copy, warns=True)
                    self.assertRegex(told, "T: fill value 1.0000000200408773e[+]20 .* 1e[+]20")
                    if name == "t.h5":
                        self.assertRegex(told, "t.h5:U: 1e[+]20 lies far outside")
                    self.assertEqual(self.cuszi(*copy, "--fill-value", "1e20", warns=True), "")
                    (self.folder / "c.nc").unlink()
                    self.cuszi(*copy, "--strict", code=INPUT)
                    self.assertEqual(sorted(os.listdir(self.folder)), ["t.h5", "t.nc"])
                    self.cuszi(*copy, "--strict", "--fill-value", "1e20", "--verify")

    def test_outputs_are_whole_or_not_there(self):
        (self.folder / "t.h5").chmod(0o440)
        self.copy("-e", "1e-3").close()
        self.assertEqual((self.folder / "c.h5").stat().st_mode & 0o777, 0o440)
        self.assertIn("exists", self.cuszi("compress", "t.h5", "-e", "1e-3", "-o", "c.h5", code=OUTPUT))
        self.assertIn("is also an input",
                      self.cuszi("compress", "t.h5", "-e", "1e-3", "-f", "-o", "t.h5", code=USAGE))
        data = bytearray((self.folder / "c.h5").read_bytes())
        with h5py.File(self.folder / "c.h5") as file:
            place = file["T"].id.get_chunk_info(0)
        data[place.byte_offset + place.size // 2] ^= 1
        (self.folder / "damaged.h5").write_bytes(data)
        self.cuszi("compress", "damaged.h5", "-e", "1e-3", "-o", "d.h5", code=INPUT)
        self.assertEqual(sorted(os.listdir(self.folder)), ["c.h5", "damaged.h5", "t.h5"])

    def test_tools_read_it(self):
        self.copy("-e", "1e-3").close()
        self.assertIn("FILTER_ID 411", self.run_tool("h5dump", "-pH", "-d", "T", "c.h5"))
        self.run_tool("h5repack", "-f", "NONE", "c.h5", "plain.h5")
        self.cuszi("compare", "c.h5:T", "plain.h5:T", "-e", "0")

    def test_reports(self):
        line, = self.cuszi("compress", "t.h5", "-e", "1e-3", "-o", "c.h5", "--json").splitlines()
        report = json.loads(line)
        self.assertEqual(report["copy_bytes"], (self.folder / "c.h5").stat().st_size)
        self.assertEqual([each["input"] for each in report["variables"]], ["t.h5:T", "t.h5:g/U"])
        self.assertLess(report["variables"][0]["archive_bytes"], self.a.nbytes)


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
                self.assertIn("short packed with",
                              self.cuszi("compress", "t.nc:packed", "-e", "1e-3", code=INPUT))

    def test_copies(self):
        a = waves()
        a[:, :7] = 1e20
        for kind in (3, 6, 5, 4, 7):
            with self.subTest(kind=kind):
                self.make("t.nc", kind, cdl(a))
                self.cuszi("compress", "t.nc", "-e", "1e-3", "-f", "--no-history", "-o", "c.nc", "-q", "--verify")
                with netCDF4.Dataset(self.folder / "c.nc") as copy:
                    b = copy["T"][:]
                np.testing.assert_array_equal(b.mask, a == np.float32(1e20))
                error = np.abs(b.data - a)[:, 7:].max()
                self.assertTrue(0 < error <= 1e-3 * np.ptp(a[:, 7:]))
                self.check_all_else()

    def check_all_else(self):
        """ncdump of both differs in the values of T alone, and in how they are stored."""
        head, = {self.run_tool("ncdump", "-h", "-n", "t", name) for name in ("t.nc", "c.nc")}
        self.assertIn("T:coordinates", head)
        for variable in ("time", "lat", "lon", "packed", "count", "name"):
            self.assertEqual(len({self.run_tool("ncdump", "-n", "t", "-v", variable, name)
                                  for name in ("t.nc", "c.nc")}), 1)
        text = self.run_tool("ncdump", "-hs", "c.nc")
        self.assertRegex(text, r'T:_Filter = "411,')
        self.assertEqual(text.count("_Filter"), 1)
        self.run_tool("nccopy", "-F", "none", "c.nc", "plain.nc")
        self.cuszi("compare", "c.nc:T", "plain.nc:T", "-e", "0")

    def test_groups_and_types(self):
        self.make("t.nc", 4, '''netcdf t {
            types: byte enum cloud { clear = 0, dark = 1 }; compound pair { int a; float b; };
                   float(*) some;
            dimensions: x = 3; t = UNLIMITED;
            variables: cloud c(x); c:_FillValue = dark; pair p(x); some s(x); string names(x);
                       pair :about = {7, 0.5};
            data: c = clear, dark, clear; p = {1, 2}, {3, 4}, {5, 6}; s = {1, 2}, {}, {3};
                  names = "a", "b", "c";
            group: g { dimensions: y = 40;
                variables: float x(x); float T(t, x, y); cloud T:valid = clear;
                data: x = 1.1, 2.2, 3.3; T = ''' + ", ".join(map(str, waves((480,)))) + "; } }")
        self.cuszi("compress", "t.nc", "-e", "0", "--no-history", "-o", "c.nc")
        whole, = {self.run_tool("ncdump", "-n", "t", name) for name in ("t.nc", "c.nc")}
        self.assertIn("cloud T:valid = clear", whole)
        with netCDF4.Dataset(self.folder / "c.nc", "a") as copy:
            self.assertTrue(copy.dimensions["t"].isunlimited())
            copy["g/T"][4] = 1  # one more record
            self.assertEqual(copy["g/T"].shape, (5, 3, 40))
            self.assertFalse(copy["g/x"].filters()["zlib"])

    def test_values_that_nobody_wrote(self):
        self.make("t.nc", 4, "netcdf t { dimensions: x = 100; variables: float T(x); data: "
                             "T = 1, 2, 3; group: g { variables: double U(x); } }")
        for name in ("t.nc:T", "t.nc:g/U"):
            report = self.cuszi("compress", name, "-e", "1e-3", "--json", "--verify")
            self.assertIn('"masked":97' if name.endswith("T") else '"masked":100', report)
        self.assertIn("T, g/U", self.cuszi("compress", "t.nc", "-e", "1e-3", code=USAGE))


class Conventions(FilesTest):
    """What attributes say of variables, in copies of classic files and of those of HDF5."""

    AUXILIARY = {
        "lat2d": {"standard_name": "latitude"}, "lon2d": {"units": "degreesE"},
        "x_angle": {"standard_name": "projection_x_angular_coordinate"}, "levels": {"positive": "down"},
        "obs_time": {"units": "days since 1900-01-01"}, "profile": {"axis": "X"},
        "areas": {"standard_name": "cell_area", "units": "m2"},
        "quality": {"flag_values": np.arange(4, dtype="f4"), "flag_meanings": "a b c d"},
        "masks": {"flag_masks": np.array([1, 2], "f4")},
        # Named by others.
        "hyam": {}, "surface": {}, "area": {}, "volume": {}, "node_lon": {}, "node_lat": {}, "grid": {}, "edges": {}}
    FIELDS = {"T": {"cell_measures": "cells: area volume: volume", "grid_mapping": "grid: hyam"},
              "flux": {"positive": "up", "standard_name": "surface_upward_flux", "units": "W m-2"},
              "level": {"formula_terms": "a: hyam ps: surface", "bounds": "edges"},
              "cells": {"node_coordinates": "node_lon node_lat"}}

    def make(self, kind, variables, a):
        with netCDF4.Dataset(self.folder / "t.nc", "w", format=kind) as file:
            for name, length in zip("yx", a.shape):
                file.createDimension(name, length)
            for name, attributes in variables.items():
                axes = ("y",) if name == "levels" else ("y", "x")
                variable = file.createVariable(name, a.dtype, axes)
                variable.set_auto_mask(False)
                variable.setncatts(attributes)
                variable[:] = a[:, 0] if name == "levels" else a

    def copy(self, *options, code=0):
        return self.cuszi("compress", "t.nc", *options, *QUICK, "-f", "--verify", "-o", "c.nc", code=code)

    def filtered(self):
        with h5py.File(self.folder / "c.nc") as copy:
            return {name for name in copy if copy[name].id.get_create_plist().get_nfilters()}

    def test_auxiliary_variables_are_kept(self):
        variables = {**self.FIELDS, **self.AUXILIARY}
        for kind in ("NETCDF3_CLASSIC", "NETCDF4"):
            with self.subTest(kind=kind):
                self.make(kind, variables, waves((30, 40)))
                self.copy("-e", "1e-2")
                self.assertEqual(self.filtered(), set(self.FIELDS))
                with netCDF4.Dataset(self.folder / "t.nc") as file, netCDF4.Dataset(self.folder / "c.nc") as copy:
                    for name in self.AUXILIARY:
                        np.testing.assert_array_equal(copy[name][...], file[name][...])
                self.copy("--bound", "lat2d=1e-3")
                self.assertEqual(self.filtered(), {"lat2d"})

    def test_valid_values_stay_valid(self):
        a = 100 * waves((40, 50), noise=1e-2)
        limits = {"T": {"valid_range": np.array([0, 75], "f4")}, "U": {"valid_min": 0.1, "valid_max": 75.3},
                  "V": {"valid_max": np.float32(75.3)}}
        a[a.round() == 75] = 75.3
        a[:2] = 75
        for kind in ("NETCDF3_CLASSIC", "NETCDF4"):
            self.make(kind, limits, a)
            for preset in ("ratio", "cuszi", "zfp", "cusz", "fast"):
                with self.subTest(kind=kind, preset=preset):
                    self.cuszi("compress", "t.nc", "-m", "abs", "-e", "1", "--preset", preset, "-f", "-q",
                               "-o", "c.nc", "--verify")
                    self.check_sides(limits)

    def check_sides(self, limits):
        """As readers mask values, and as they compare them in double precision."""
        with netCDF4.Dataset(self.folder / "t.nc") as file, netCDF4.Dataset(self.folder / "c.nc") as copy:
            for name, attributes in limits.items():
                with warnings.catch_warnings(action="ignore"):  # of limits that f4 has not
                    one, two = file[name][:], copy[name][:]
                self.assertEqual(np.any(one.mask), name != "U")
                np.testing.assert_array_equal(two.mask, one.mask)
                self.assertGreater(np.abs(one - two).max(), 0.1)
                least, most = attributes.get("valid_range", (attributes.get("valid_min", -np.inf),
                                                            attributes.get("valid_max", np.inf)))
                one, two = (each.data.astype("f8") for each in (one, two))
                np.testing.assert_array_equal(two < least, one < least)
                np.testing.assert_array_equal(two > most, one > most)

    def test_missing_values_as_text(self):
        a = waves((30, 40))
        a[:3], a[3:5] = -999, 1e20
        attributes = {"T": {"missing_value": "-999."}, "U": {"missing_value": "-999. 1e20"},
                      "V": {"missing_value": "below -999"}}
        for kind in ("NETCDF3_CLASSIC", "NETCDF4"):
            self.make(kind, attributes, a)
            for name, masked in zip(attributes, (120, 200, 0)):
                report = json.loads(self.cuszi("compress", f"t.nc:{name}", "-e", "1e-3", "--json", "-f"))
                self.assertEqual(report["masked"], masked)

    def test_filters_that_are_not_there(self):
        a = waves((30, 40))
        stored = b"as another filter left it"
        with h5py.File(self.folder / "t.nc", "w") as file:
            file["T"] = a
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk(a.shape)
            plist.set_filter(32764, h5py.h5z.FLAG_OPTIONAL)
            strange = h5py.h5d.create(file.id, b"U", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple(a.shape), plist)
            strange.write_direct_chunk((0, 0), stored)
        told = self.cuszi("compress", "t.nc", "-e", "1e-3", "--preset", "fast", "-o", "c.nc", "--verify", warns=True)
        self.assertIn("t.nc:U: copied unchanged: its HDF5 filter 32764 is not available", told)
        self.assertEqual(self.filtered(), {"T", "U"})
        with h5py.File(self.folder / "c.nc") as copy:
            self.assertEqual(copy["U"].id.read_direct_chunk((0, 0))[1], stored)
            self.assertGreater(np.abs(copy["T"][:] - a).max(), 0)
        self.assertIn("its HDF5 filter 32764 is not available", self.copy("--bound", "U=1e-3", code=INPUT))
        (self.folder / "t.nc").rename(self.folder / "t.h5")
        self.assertIn("its HDF5 filter 32764 is not available",
                      self.cuszi("compress", "t.h5:U", "-e", "1e-3", code=INPUT))


class RealFields(FilesTest):
    """A sea's surface temperature as a model's output holds it."""

    PACKED = SHARED / "data" / "tos_ipsl_24x170x180.f32.xz"
    FILL = np.float32(1e20)

    def make(self):
        values = np.frombuffer(lzma.open(self.PACKED).read(), "f4").reshape(24, 170, 180)
        with netCDF4.Dataset(self.folder / "tos.nc", "w") as file:
            file.setncatts({"title": "IPSL model output", "Conventions": "CF-1.0"})
            for name, length in [("time", None), ("j", 170), ("i", 180)]:
                file.createDimension(name, length)
            time = file.createVariable("time", "f8", ("time",))
            time.setncatts({"units": "days since 2001-01-01", "calendar": "360_day"})
            time[:] = 30 * np.arange(24) + 15.5
            for name, units, axis in [("lat", "degrees_north", 0), ("lon", "degrees_east", 1)]:
                variable = file.createVariable(name, "f4", ("j", "i"))
                variable.units = units
                variable[:] = np.indices((170, 180))[axis]
            tos = file.createVariable("tos", "f4", ("time", "j", "i"), fill_value=self.FILL)
            tos.setncatts({"units": "K", "coordinates": "lat lon", "missing_value": self.FILL})
            tos.set_auto_mask(False)
            tos[:] = values
        return values

    @unittest.skipUnless(PACKED.exists(), f"there is no {PACKED}")
    def test_a_copy(self):
        values = self.make()
        self.cuszi("compress", "tos.nc", "-e", "1e-3", "-q", "--no-history", "-o", "c.nc")
        with netCDF4.Dataset(self.folder / "c.nc") as file:
            file.set_auto_mask(False)
            restored = file["tos"][:]
        missing = values == self.FILL
        self.assertGreater(missing.sum(), 100_000)
        np.testing.assert_array_equal(restored == self.FILL, missing)
        there = values[~missing].astype("f8")
        bound = 1e-3 * (there.max() - there.min())
        self.assertLessEqual(np.abs(restored[~missing] - there).max(), bound)
        for what in (["-h"], ["-v", "time,lat,lon"]):
            whole, = {self.run_tool("ncdump", "-n", "t", *what, name) for name in ("tos.nc", "c.nc")}
        self.assertIn("tos:coordinates", whole)


if __name__ == "__main__":
    unittest.main()
