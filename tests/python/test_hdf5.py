"""Tests of the HDF5 filter by h5py and by the tools of HDF5 and netCDF, as it is installed.

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
from support import waves


class Hdf5Test(unittest.TestCase):
    """Works in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_tool(self, *command):
        environment = {**os.environ, "HDF5_PLUGIN_PATH": cuszi.h5_plugin_path()}
        result = subprocess.run([str(part) for part in command], cwd=self.folder, env=environment,
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def write(self, name, a, filter, chunks=True, **more):
        with h5py.File(self.folder / name, "w") as file:
            return file.create_dataset("T", data=a, chunks=chunks, **filter, **more).chunks

    def read(self, name):
        with h5py.File(self.folder / name) as file:
            return file["T"][...]


class H5py(Hdf5Test):

    def test_bounds_hold(self):
        for dtype in ("<f4", ">f4", "<f8", ">f8"):
            for preset in ("ratio", "cuszi"):
                a = waves(dtype=dtype)
                with self.subTest(dtype=dtype, preset=preset):
                    self.write("t.h5", a, cuszi.H5(abs=1e-2, preset=preset), chunks=(8, 16, 40))
                    b = self.read("t.h5")
                    self.assertEqual(b.dtype, a.dtype)
                    self.assertLessEqual(np.abs(b - a).max(), 1e-2)
                    self.assertLess((self.folder / "t.h5").stat().st_size, a.nbytes / 2)

    def test_any_shape_of_chunks(self):
        for shape, chunks in [((5000,), (1000,)), ((30, 40), (1, 40)), ((3, 2, 4, 5, 60), None),
                              ((2, 3, 2, 3, 2, 30), (2, 3, 2, 3, 2, 30)), ((7, 1, 9), (4, 1, 4))]:
            a = waves(shape)
            with self.subTest(shape=shape, chunks=chunks):
                self.write("t.h5", a, cuszi.H5(abs=1e-3), chunks=chunks or True)
                self.assertLessEqual(np.abs(self.read("t.h5") - a).max(), 1e-3)

    def test_chunks_are_archives_of_the_tool(self):
        a = waves()
        self.write("t.h5", a, cuszi.H5(abs=1e-2), chunks=(10, 30, 40))
        a[10:].tofile(self.folder / "chunk_10x30x40.f32")
        self.run_tool(os.environ["CUSZI"], "compress", "chunk_10x30x40.f32", "-m", "abs", "-e",
                      "1e-2", "--quiet", "-o", "chunk.cuszi")
        with h5py.File(self.folder / "t.h5") as file:
            chunk = file["T"].id.read_direct_chunk((10, 0, 0))[1]
        self.assertEqual(chunk, (self.folder / "chunk.cuszi").read_bytes())

    def test_missing_values(self):
        a = waves()
        a[:, :10] = 1e20
        a[3, 12, :] = np.nan
        self.write("t.h5", a, cuszi.H5(abs=1e-2), fillvalue=np.float32(1e20))
        b = self.read("t.h5")
        np.testing.assert_array_equal(b[:, :10], a[:, :10])
        np.testing.assert_array_equal(np.isnan(b), np.isnan(a))
        self.assertLessEqual(np.nanmax(np.abs(b - a)), 1e-2)

    def test_relative_bounds_need_a_range(self):
        a = waves()
        lowest, highest = float(a.min()), float(a.max())
        self.write("t.h5", a, cuszi.H5(rel=1e-3, value_range=(lowest, highest)))
        self.assertLessEqual(np.abs(self.read("t.h5") - a).max(), 1e-3 * (highest - lowest))
        for arguments in [{}, {"rel": 1e-3}, {"abs": -1}, {"abs": float("inf")},
                          {"abs": 1, "rel": 1}, {"abs": 1, "preset": "best"}]:
            with self.subTest(arguments=arguments), self.assertRaises(cuszi.UsageError):
                cuszi.H5(**arguments)

    def test_what_cannot_be_filtered(self):
        with h5py.File(self.folder / "t.h5", "w") as file:
            for dtype in ("i4", "i8", "f2", "S4"):
                with self.assertRaises((ValueError, OSError)):
                    file.create_dataset(dtype, data=np.arange(100).astype(dtype), chunks=(10,),
                                        **cuszi.H5(abs=1))
            with self.assertRaises((ValueError, OSError)):  # parameters of no known version
                file.create_dataset("v", data=waves(), chunks=True, compression=cuszi.H5(abs=1)[
                    "compression"], compression_opts=(9, 0, 0))

    def test_damage(self):
        self.write("t.h5", waves(), cuszi.H5(abs=1e-2), chunks=(20, 30, 40))
        with h5py.File(self.folder / "t.h5") as file:
            place = file["T"].id.get_chunk_info(0)
        data = bytearray((self.folder / "t.h5").read_bytes())
        data[place.byte_offset + place.size // 2] ^= 1
        (self.folder / "t.h5").write_bytes(data)
        with self.assertRaises(OSError):
            self.read("t.h5")


class Tools(Hdf5Test):
    """h5dump, h5repack and nccopy, which bring an HDF5 library of their own."""

    def setUp(self):
        super().setUp()
        self.filter = cuszi.H5(abs=1e-2)

    def test_h5repack(self):
        a = waves()
        self.write("plain.h5", a, {})
        values = ",".join(map(str, self.filter.parameters))
        self.run_tool("h5repack", "-l", "T:CHUNK=8x16x40", "-f",
                      f"T:UD={self.filter.filter_id},0,{len(self.filter.parameters)},{values}",
                      "plain.h5", "packed.h5")
        b = self.read("packed.h5")
        self.assertGreater(np.abs(b - a).max(), 0)
        self.assertLessEqual(np.abs(b - a).max(), 1e-2)
        self.run_tool("h5repack", "-f", "T:NONE", "packed.h5", "again.h5")
        np.testing.assert_array_equal(self.read("again.h5"), b)

    def test_h5dump(self):
        a = waves((4, 5, 6))
        self.write("t.h5", a, self.filter)
        text = self.run_tool("h5dump", "-p", "-d", "T", "-y", "-w", "0", "t.h5")
        self.assertIn(f"FILTER_ID {self.filter.filter_id}", text)
        data = text[text.index("DATA {") + 6:text.index("}", text.index("DATA {"))]
        values = np.array(data.replace(",", " ").split(), dtype="f4").reshape(a.shape)
        np.testing.assert_allclose(values, self.read("t.h5"), rtol=1e-5)

    @unittest.skipUnless(shutil.which("nccopy"), "nccopy is missing")
    def test_nccopy(self):
        a = waves((4, 30, 40))
        rows = ",".join(map(str, a.ravel().tolist()))
        (self.folder / "t.cdl").write_text(
            "netcdf t { dimensions: z = 4; y = 30; x = 40; variables: float T(z, y, x);"
            ' T:units = "K"; T:_FillValue = 1.e20f; float x(x); data: T = ' + rows + "; }")
        self.run_tool("ncgen", "-4", "-o", "t.nc", "t.cdl")
        values = ",".join(map(str, self.filter.parameters))
        self.run_tool("nccopy", "-c", "z/4,y/30,x/40", "-F", f"T,{self.filter.filter_id},{values}",
                      "t.nc", "packed.nc")
        b = self.read("packed.nc")
        self.assertGreater(np.abs(b - a).max(), 0)
        self.assertLessEqual(np.abs(b - a).max(), 1e-2)
        self.assertIn('T:units = "K"', self.run_tool("ncdump", "-h", "packed.nc"))


if __name__ == "__main__":
    unittest.main()
