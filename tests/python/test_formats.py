"""Fields through every file format and the programs that read and write it, with all that is theirs:
bound, missing values, coordinates, attributes.

CUSZI names the tool, CUSZI_SOURCE the project's folder; real fields are looked for in the folder
data of CUSZI_SHARED, or of `shared` beside the project.
"""

import lzma
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import cuszi

os.environ["HDF5_PLUGIN_PATH"] = cuszi.h5_plugin_path()  # before any HDF5 is loaded

import h5py  # noqa: E402
import netCDF4  # noqa: E402
import numpy as np  # noqa: E402
import xarray as xr  # noqa: E402
import zarr  # noqa: E402

SHARED = Path(os.environ.get("CUSZI_SHARED", Path(os.environ["CUSZI_SOURCE"]).parent / "shared"))
FILL = np.float32(1e20)
SHARE = 1e-3  # of the value range


def synthetic():
    a = np.sin(0.01 * np.arange(8 * 30 * 50)).reshape(8, 30, 50).astype("f4")
    a += np.random.default_rng(5).normal(0, 1e-2, a.shape).astype("f4")
    a[:, 10:20, :30] = FILL
    return a


def real(name, box):
    """A box of a real field."""
    dims = tuple(map(int, re.search(r"_([\dx]+)\.f32", name)[1].split("x")))
    values = np.frombuffer(lzma.open(SHARED / "data" / f"{name}.xz").read(), "f4")
    return np.ascontiguousarray(values.reshape(dims)[box])


def fields():
    """By name: an ocean with land (1e20), and others without missing values."""
    found = {"synthetic": synthetic()}
    if not (SHARED / "data").is_dir():
        print(f"no real fields in {SHARED / 'data'}: round trips of synthetic ones alone",
              file=sys.stderr)
        return found
    found["tos"] = real("tos_ipsl_24x170x180.f32", np.s_[:4, 40:120:2, ::3])
    found["QCLOUD"] = real("wrf_QCLOUD_4x14x48x48.f32", np.s_[:3, :4, :, :24])
    return found


FIELDS = fields()
ATTRIBUTES = {"units": "K", "long_name": "a field", "flag_values": [0.5, 1e3]}


def dataset(a):
    """The field with coordinates and attributes, beside a variable that is not to be filtered."""
    axes = ("member", "z", "y", "x")[-a.ndim:]
    known = a.astype("f8")
    known[a == FILL] = np.nan
    result = xr.Dataset(
        {"T": (axes, np.where(a == FILL, np.float32(np.nan), a), ATTRIBUTES),
         "count": ("y", np.arange(a.shape[-2], dtype="i4"), {"units": "1"})},
        {"x": np.linspace(-180, 180, a.shape[-1]), "y": np.linspace(-90, 90, a.shape[-2])},
        {"title": "of the tests", "history": "made"})
    result["x"].attrs = {"units": "degrees_east"}
    return result


class Formats(unittest.TestCase):

    def setUp(self):
        self.addCleanup(os.chdir, os.getcwd())

    def for_each_field(self, check):
        """check(a, bound, chunks) in a folder of its own."""
        for name, a in FIELDS.items():
            known = a[a != FILL].astype("f8")
            bound = SHARE * float(known.max() - known.min())
            chunks = ((a.shape[0] + 1) // 2, *a.shape[1:])
            with self.subTest(field=name), tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                check(a, bound, chunks)

    def check_values(self, b, a, bound):
        """`b` may have NaN for what is missing in `a`."""
        self.assertEqual((b.dtype, b.shape), (a.dtype, a.shape))
        missing = a == FILL
        lost = np.isnan(b) | (b == FILL)
        np.testing.assert_array_equal(lost, missing)
        error = np.abs(b[~missing].astype("f8") - a[~missing]).max()
        self.assertTrue(0 < error <= bound, f"{error} with the bound {bound}")

    def check_dataset(self, found, a, bound):
        expected = dataset(a)
        self.check_values(found["T"].values, a, bound)
        self.assertEqual(found.attrs, expected.attrs)
        np.testing.assert_array_equal(found["T"].attrs.pop("flag_values"), [0.5, 1e3])
        expected["T"].attrs.pop("flag_values")
        xr.testing.assert_identical(found.drop_vars("T"), expected.drop_vars("T"))
        self.assertEqual((found["T"].attrs, found["T"].dims),
                         (expected["T"].attrs, expected["T"].dims))

    def check_chunk(self, chunk, a, bound, chunks):
        """The first chunk of a file is the archive that the tool makes."""
        first = np.ascontiguousarray(a[tuple(slice(extent) for extent in chunks)])
        first.tofile("chunk.f32")
        subprocess.run([os.environ["CUSZI"], "compress", "chunk.f32", "-d",
                        "x".join(str(extent) for extent in chunks if extent != 1), "-t", "f32",
                        "-m", "abs", "-e", repr(bound), "--fill-value", repr(float(FILL)),
                        "--quiet", "--force", "-o", "chunk.cuszi"], check=True)
        self.assertEqual(bytes(chunk), Path("chunk.cuszi").read_bytes())

    def run_tool(self, *command):
        result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                                timeout=120)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def write_netcdf(self, name, a, chunks, filter):
        encoding = {"_FillValue": FILL, "chunksizes": chunks, **filter}
        dataset(a).to_netcdf(name, engine="h5netcdf", encoding={"T": encoding})


class Files(Formats):

    def test_h5py(self):
        def check(a, bound, chunks):
            with h5py.File("t.h5", "w") as file:
                stored = file.create_dataset("T", data=a, chunks=chunks, fillvalue=FILL,
                                             **cuszi.H5(abs=bound))
                stored.attrs.update(ATTRIBUTES)
            with h5py.File("t.h5") as file:
                self.check_values(file["T"][...], a, bound)
                self.assertEqual(file["T"].attrs["units"], "K")
                self.check_chunk(file["T"].id.read_direct_chunk((0,) * a.ndim)[1], a, bound, chunks)
        self.for_each_field(check)

    def test_netcdf_by_xarray(self):
        def check(a, bound, chunks):
            self.write_netcdf("t.nc", a, chunks, cuszi.H5(abs=bound))
            for engine in ("h5netcdf", "netcdf4"):
                with self.subTest(engine=engine), xr.open_dataset("t.nc", engine=engine) as found:
                    self.check_dataset(found.load(), a, bound)
            with netCDF4.Dataset("t.nc") as file:
                b = file["T"][...]
                np.testing.assert_array_equal(np.ma.getmaskarray(b), a == FILL)
                self.check_values(b.filled(FILL), a, bound)
            with h5py.File("t.nc") as file:
                self.check_chunk(file["T"].id.read_direct_chunk((0,) * a.ndim)[1], a, bound, chunks)
        self.for_each_field(check)

    def test_zarr_by_xarray(self):
        def check(a, bound, chunks):
            encoding = {"serializer": cuszi.Zarr(abs=bound), "compressors": (), "chunks": chunks}
            dataset(a).to_zarr("t.zarr", mode="w", zarr_format=3, consolidated=False,
                               encoding={"T": encoding})
            with xr.open_zarr("t.zarr", consolidated=False) as found:
                self.check_dataset(found.load(), a, bound)
        self.for_each_field(check)

    def test_zarr(self):
        def check(a, bound, chunks):
            for version, codec in [
                    (3, {"serializer": cuszi.Zarr(abs=bound), "compressors": None}),
                    (2, {"compressors": cuszi.Numcodec(abs=bound, fill=FILL)})]:
                with self.subTest(version=version):
                    zarr.create_array("t.zarr", data=a, chunks=chunks, zarr_format=version,
                                      fill_value=FILL, attributes=ATTRIBUTES, overwrite=True,
                                      **codec)
                    found = zarr.open_array("t.zarr", mode="r")
                    self.check_values(found[...], a, bound)
                    self.assertEqual(found.attrs.asdict(), ATTRIBUTES)
                    name = "c/" + "/".join("0" * a.ndim) if version == 3 else ".".join("0" * a.ndim)
                    self.check_chunk((Path("t.zarr") / name).read_bytes(), a, bound, chunks)
        self.for_each_field(check)


class Tools(Formats):
    """Of Debian: they bring an HDF5 of their own."""

    def header(self, name):
        """What ncdump tells of a file but for its name."""
        return self.run_tool("ncdump", "-h", name).split("\n", 1)[1]

    def attributes(self, name):
        """What h5dump tells of attributes, without the file's name and where datasets lie in it."""
        text = self.run_tool("h5dump", "-A", name).split("\n", 1)[1]
        return re.sub(r"DATASET \d+", "DATASET", text)

    def test_nccopy_and_ncdump(self):
        def check(a, bound, chunks):
            self.write_netcdf("plain.nc", a, chunks, {})
            # nccopy turns HDF5's own fill value off.
            parameters = ",".join(map(str, cuszi.H5(abs=bound, fill=FILL).parameters))
            self.run_tool("nccopy", "-F", f"T,411,{parameters}", "plain.nc", "packed.nc")
            with xr.open_dataset("packed.nc", engine="h5netcdf") as found:
                self.check_dataset(found.load(), a, bound)
            self.assertEqual(self.header("packed.nc"), self.header("plain.nc"))
            self.assertIn('T:_Filter = "411,', self.run_tool("ncdump", "-hs", "packed.nc"))
            with h5py.File("packed.nc") as file:
                self.check_chunk(file["T"].id.read_direct_chunk((0,) * a.ndim)[1], a, bound,
                                 file["T"].chunks)  # nccopy has chunks of its own for small fields
            self.run_tool("nccopy", "-F", "none", "packed.nc", "again.nc")
            with h5py.File("packed.nc") as packed, h5py.File("again.nc") as again:
                np.testing.assert_array_equal(again["T"][...], packed["T"][...])
                self.assertEqual(again["T"].id.get_create_plist().get_nfilters(), 0)
        self.for_each_field(check)

    def test_h5repack_and_h5dump(self):
        def check(a, bound, chunks):
            self.write_netcdf("plain.nc", a, chunks, {})
            parameters = cuszi.H5(abs=bound).parameters
            self.run_tool("h5repack", "-f", f"T:UD=411,0,{len(parameters)},"
                          + ",".join(map(str, parameters)), "plain.nc", "packed.nc")
            with xr.open_dataset("packed.nc", engine="netcdf4") as found:
                self.check_dataset(found.load(), a, bound)
            self.assertEqual(self.attributes("packed.nc"), self.attributes("plain.nc"))
            self.run_tool("h5dump", "-d", "T", "-b", "LE", "-o", "values", "packed.nc")
            self.check_values(np.fromfile("values", "<f4").reshape(a.shape), a, bound)
        self.for_each_field(check)


if __name__ == "__main__":
    unittest.main()
