"""Tests of the HDF5 filter by h5py and by the tools of HDF5 and netCDF, as it is installed.

CUSZI in the environment names the tool.
"""

import multiprocessing
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

import h5py
import numpy as np
import xarray

import cuszi
from support import waves


def halves(value):
    return struct.unpack("<II", struct.pack("<d", value))


def read(path):
    with h5py.File(path) as file:
        return file["T"][...]


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
        with h5py.File(self.folder / name, "w", rdcc_nbytes=0) as file:  # chunks at once
            return file.create_dataset("T", data=a, chunks=chunks, **filter, **more).chunks

    def read(self, name):
        return read(self.folder / name)


class H5py(Hdf5Test):

    def test_a_share_of_a_range_is_rounded_down(self):
        random = np.random.default_rng(1)
        for rel, least, width in zip(random.uniform(0, 1, 2000), random.normal(0, 300, 2000),
                                     10 ** random.uniform(-6, 6, 2000)):
            words = cuszi.H5(rel=rel, value_range=(least, least + width)).parameters
            bound, = struct.unpack("<d", struct.pack("<II", *words[1:3]))
            exact = Fraction(rel) * (Fraction(least + width) - Fraction(least))
            self.assertLessEqual(Fraction(bound), exact)
            self.assertGreater(Fraction(np.nextafter(bound, 1e300)), exact)

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

    def test_a_filter_object(self):
        """As those of hdf5plugin are."""
        a = waves()
        one, same, other = cuszi.H5(abs=1e-2), cuszi.H5(abs=1e-2), cuszi.H5(abs=2e-2)
        self.assertEqual((one, hash(one)), (same, hash(same)))
        self.assertNotEqual(one, other)
        self.assertEqual(one, dict(one))
        self.assertEqual({one: 1, other: 2}[same], 1)
        self.assertIsInstance(one, h5py.filters.FilterRefBase)
        self.write("keywords.h5", a, one, chunks=(8, 16, 40))
        self.write("object.h5", a, {"compression": one}, chunks=(8, 16, 40))
        np.testing.assert_array_equal(self.read("object.h5"), self.read("keywords.h5"))
        self.assertEqual(*((self.folder / name).stat().st_size for name in ("object.h5", "keywords.h5")))
        data = xarray.Dataset({"T": (("z", "y", "x"), a)})
        for how in ({"compression": one}, dict(one), {**one, "chunksizes": (8, 16, 40)}):
            data.to_netcdf(self.folder / "t.nc", engine="h5netcdf", encoding={"T": how})
            self.assertLessEqual(np.abs(self.read("t.nc") - a).max(), 1e-2)
            self.assertGreater(np.abs(self.read("t.nc") - a).max(), 0)

    def test_datasets_without_values(self):
        for shape, chunks in [((0, 40), (8, 40)), ((0, 40), True)]:
            self.write("t.h5", np.zeros(shape, "f4"), cuszi.H5(abs=1e-2), chunks=chunks, maxshape=(None, 40))
            with h5py.File(self.folder / "t.h5", "a") as file:
                self.assertEqual(file["T"][...].shape, shape)
                file["T"].resize((20, 40))
                file["T"][...] = waves((20, 40))
            self.assertLessEqual(np.abs(self.read("t.h5") - waves((20, 40))).max(), 1e-2)

    def test_a_share_of_each_value(self):
        a = np.exp(20 * waves()).astype("f4")
        a[3] = 0
        self.write("t.h5", a, cuszi.H5(pw_rel=1e-2), chunks=(10, 30, 40))
        b = self.read("t.h5").astype("f8")
        self.assertLessEqual(np.abs(b / np.where(a, a, 1) - (a != 0)).max(), 1e-2)
        with h5py.File(self.folder / "t.h5") as file:
            chunk = file["T"].id.read_direct_chunk((10, 0, 0))[1]
        self.assertEqual(chunk, cuszi.compress(a[10:], pw_rel=1e-2))

    def test_two_bounds(self):
        a = np.sinh(20 * waves()).astype("f4")
        exact = a.astype("f8")
        fill = {"fillvalue": np.float32(a[0, 0, 0])}
        for name, most in [("abs_or_pw_rel", np.maximum(0.1, 0.01 * np.abs(exact))),
                           ("abs_and_pw_rel", np.minimum(0.1, 0.01 * np.abs(exact)))]:
            for keywords in ({}, {"fill": float(a[1, 1, 1])}):
                for dataset in ({}, fill):
                    with self.subTest(name=name, keywords=keywords, dataset=dataset):
                        self.write("t.h5", a, cuszi.H5(**{name: 0.1}, pw=0.01, **keywords), **dataset)
                        b = self.read("t.h5").astype("f8")
                        self.assertTrue((np.abs(b - exact) <= most).all())
                        if keywords:
                            self.assertEqual(b[1, 1, 1], exact[1, 1, 1])

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
                          {"abs": 1, "rel": 1}, {"abs": 1, "preset": "best"}, {"pw_rel": 1},
                          {"pw_rel": 0.1, "abs": 1}, {"pw_rel": 0.1, "value_range": (0, 1)},
                          {"abs_or_pw_rel": 1}, {"abs_and_pw_rel": 0, "pw": 0.1}, {"abs": 1, "pw": 0.1},
                          {"abs_or_pw_rel": 1, "pw": 0}, {"rel": 0.1, "value_range": (0, 1), "pw": 0.1}]:
            with self.subTest(arguments=arguments), self.assertRaises(cuszi.UsageError):
                cuszi.H5(**arguments)

    def test_what_cannot_be_filtered(self):
        with h5py.File(self.folder / "t.h5", "w") as file:
            for dtype in ("c8", "?", "S4"):
                with self.assertRaises((ValueError, OSError)):
                    file.create_dataset(dtype, data=np.arange(100).astype(dtype), chunks=(10,),
                                        **cuszi.H5(abs=1))
            with self.assertRaises((ValueError, OSError)):  # parameters of no known version
                file.create_dataset("v", data=waves(), chunks=True, compression=cuszi.H5(abs=1)[
                    "compression"], compression_opts=(9, 0, 0))

    def create(self, type_id, set_up, chunks=(20, 30, 40)):
        """Makes a dataset of any type with what set_up(properties) adds, and with our filter."""
        with h5py.File(self.folder / "t.h5", "w") as file:
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_chunk(chunks)
            set_up(properties)
            space = h5py.h5s.create_simple((20, 30, 40))
            h5py.h5d.create(file.id, b"T", type_id, space, properties).write(
                h5py.h5s.ALL, h5py.h5s.ALL, waves(dtype="f8"))
            self.assertEqual(file["T"].shape, (20, 30, 40))
        return self.read("t.h5")

    def ours(self, properties, **arguments):
        flags = h5py.h5z.FLAG_MANDATORY
        properties.set_filter(411, flags, cuszi.H5(abs=1e-3, **arguments).parameters)

    def test_filters_in_front_are_refused(self):
        before = {"shuffle": lambda p: p.set_shuffle(), "deflate": lambda p: p.set_deflate(1),
                  "fletcher32": lambda p: p.set_fletcher32(),
                  "scaleoffset": lambda p: p.set_scaleoffset(0, 3)}
        for name, set_up in before.items():
            for behind in (False, True):
                with self.subTest(name=name, behind=behind):
                    steps = [self.ours, set_up] if behind else [set_up, self.ours]
                    def set_all(properties):
                        for step in steps:
                            step(properties)
                    if behind and name != "scaleoffset":
                        b = self.create(h5py.h5t.IEEE_F64LE, set_all)
                        self.assertLessEqual(np.abs(b - waves(dtype="f8")).max(), 1e-3)
                    elif not behind:
                        with self.assertRaisesRegex(Exception, f"a filter before cuszi.*{name}"):
                            self.create(h5py.h5t.IEEE_F64LE, set_all)
        with self.assertRaisesRegex(Exception, "before cuszi.*shuffle"):
            self.write("t.h5", waves(), cuszi.H5(abs=1e-3), shuffle=True)

    def test_floats_of_other_layouts_are_refused(self):
        def changed(type_id, change):
            other = type_id.copy()
            change(other)
            return other
        f32, f64 = h5py.h5t.IEEE_F32LE, h5py.h5t.IEEE_F64LE
        for of in (f32, f64, h5py.h5t.IEEE_F32BE, h5py.h5t.IEEE_F64BE):
            b = self.create(of, self.ours)
            self.assertLessEqual(np.abs(b - waves(dtype="f8")).max(), 1e-3 + 1e-7)
        for name, other in {
                "bias": changed(f32, lambda t: t.set_ebias(100)),
                "exponent": changed(f32, lambda t: (t.set_fields(31, 25, 6, 0, 25),
                                                    t.set_ebias(31))),
                "size": changed(f64, lambda t: t.set_fields(63, 54, 9, 0, 54)),
                "norm": changed(f32, lambda t: t.set_norm(h5py.h5t.NORM_NONE)),
                "precision": changed(f64, lambda t: (t.set_fields(31, 23, 8, 0, 23),
                                                     t.set_precision(32)))}.items():
            with self.subTest(name=name):
                with self.assertRaisesRegex(Exception, "cuszi takes only IEEE floats"):
                    self.create(other, self.ours)

    def test_too_many_fill_values_are_refused(self):
        a = waves()
        self.write("t.h5", a, cuszi.H5(abs=1e-3))
        with h5py.File(self.folder / "t.h5") as file:
            numbers = list(file["T"].id.get_create_plist().get_filter(0)[2])
        for count, code in ((15, None), (16, "fill value")):
            fills = [half for i in range(count) for half in halves(1e10 + i)]
            how = {"compression": 411, "compression_opts": (*numbers[:14], count, *fills),
                   "fillvalue": np.float32(-999)}
            if code is None:
                self.write("t.h5", a, how)
                continue
            with self.assertRaisesRegex(Exception, code):
                self.write("t.h5", a, how)

    def test_parameters_that_mean_nothing_are_refused(self):
        a = waves()
        bound, fill, pw = halves(1e-3), halves(-999.0), halves(0.1)
        self.write("t.h5", a, cuszi.H5(abs=1e-3))
        with h5py.File(self.folder / "t.h5") as file:
            whole = list(file["T"].id.get_create_plist().get_filter(0)[2])
        isovalue = [*whole[:14], 256, 0, 0, *halves(0.5)]
        good = [(1, *bound), (1, *bound, 0), (1, *bound, 3 + 256, *fill), (1, *bound, 512, *fill),
                (1, *bound, 1024, *pw), (1, *bound, 2048, *pw, *fill), whole, isovalue]
        bad = [(1,), (1, *bound, 0, 5), (1, *bound, 0, *fill, *fill), (1, *bound, 0, *fill, 5),
               (1, *bound, 512 + 1024), (1, *bound, 512 + 1024, *pw), (1, *bound, 1024), (1, *bound, 1024, 5),
               (1, *bound, 1024, *pw, 5), (1, *bound, 64), (1, *bound, 4096), (1, *bound, 0, *[0] * 8),
               whole[:-1], [*whole, 0], [*whole, *fill], [*whole, *[0] * 200], [*whole[:14], 200, 0, 0],
               [*whole[:14], 256, 0, 0], [*whole[:14], 16 * 256, *[0] * 34]]
        for parameters in good:
            self.write("t.h5", a, {"compression": 411, "compression_opts": tuple(parameters)})
            b = self.read("t.h5")
            np.testing.assert_array_equal((a > 0.5, a < 0.5) if parameters is isovalue else [],
                                          (b > 0.5, b < 0.5) if parameters is isovalue else [])
        for parameters in bad:
            with self.subTest(parameters=parameters):
                with self.assertRaises((ValueError, OSError)):
                    self.write("t.h5", a, {"compression": 411, "compression_opts": tuple(parameters)})
        self.assertIn("4 parameters for this mode, or 6 with a fill value, not 8",
                      self.reason(a, (1, *bound, 0, *fill, *fill)))

    def test_stored_parameters_that_mean_nothing(self):
        self.write("t.h5", waves(), cuszi.H5(abs=1e-3), chunks=(20, 30, 40))
        with h5py.File(self.folder / "t.h5") as file:
            numbers = list(file["T"].id.get_create_plist().get_filter(0)[2])
        data = (self.folder / "t.h5").read_bytes()
        stored = struct.pack(f"<{len(numbers)}I", *numbers)
        self.assertEqual(data.count(stored), 1)
        for place, number in [(0, 2), (3, 512 + 1024), (4, 4), (14, 2)]:
            with self.subTest(place=place):
                changed = [*numbers[:place], number, *numbers[place + 1:]]
                (self.folder / "t.h5").write_bytes(data.replace(stored, struct.pack(f"<{len(numbers)}I", *changed)))
                with self.assertRaises(OSError):
                    self.read("t.h5")

    def reason(self, a, parameters):
        """What HDF5's error stack tells where a filter fails, not in all versions."""
        self.write("plain.h5", a, {})
        values = ",".join(map(str, parameters))
        return subprocess.run(
            ["h5repack", "--enable-error-stack", "-l", "T:CHUNK=20x30x40", "-f",
             f"T:UD=411,0,{len(parameters)},{values}", "plain.h5", "packed.h5"], cwd=self.folder,
            env={**os.environ, "HDF5_PLUGIN_PATH": cuszi.h5_plugin_path()},
            capture_output=True, text=True, timeout=120).stderr

    def test_strict(self):
        a = waves()
        a[:, :5] = 1e20
        for fails in (False, True):
            filtered = cuszi.H5(abs=1e-3, preset="fast", strict=fails)
            parameters = list(filtered.parameters)
            how = dict(filtered)
            if fails:
                with self.assertRaises(OSError):
                    self.write("t.h5", a, how)
                self.assertIn("1e+20 lies far outside", self.reason(a, parameters))
            else:
                self.write("t.h5", a, how)
            self.write("t.h5", a, how, fillvalue=np.float32(1e20))
            np.testing.assert_array_equal(self.read("t.h5")[:, :5], a[:, :5])

    def test_files_can_be_closed_after_an_error_of_a_strict_filter(self):
        """As the guide says: without a cache of chunks, or with other values in them."""
        a = waves()
        a[:, :5] = 1e20
        for cache in ({"rdcc_nbytes": 0}, {"rdcc_nbytes": 1 << 20}):
            with self.subTest(cache=cache), h5py.File(self.folder / "t.h5", "w", **cache) as file:
                dataset = file.create_dataset("T", a.shape, "f4", chunks=a.shape,
                                              compression=cuszi.H5(abs=1e-3, strict=True))
                with self.assertRaisesRegex((OSError, RuntimeError), "filter returned failure"):
                    dataset[...] = a
                    file.flush()
                if cache["rdcc_nbytes"]:
                    dataset[...] = 1
            self.assertLessEqual(np.abs(self.read("t.h5") - (1 if cache["rdcc_nbytes"] else 0)).max(), 1e-3)

    def test_what_pads_chunks_is_not_suspected(self):
        a = (1013 + 0.05 * waves((30, 50, 60))).astype("f4")
        how = dict(cuszi.H5(abs=1e-3, strict=True))
        self.write("t.h5", a, how, chunks=(20, 30, 40))
        self.assertLessEqual(abs(self.read("t.h5") - a).max(), 1e-3)
        with h5py.File(self.folder / "part.h5", "w") as file:
            data = file.create_dataset("T", (40, 60, 80), "f4", chunks=(40, 60, 80), **how)
            data[:20] = 1013
            data[:5] = 1013.25 + a[:5, :1, :1] - 1013
        a[:, :5] = 1e20
        with self.assertRaises(OSError):
            self.write("t.h5", a, how, chunks=(20, 30, 40))

    def test_forked_children_read(self):
        a = waves((64, 100, 100))
        self.write("t.h5", a, cuszi.H5(abs=1e-2), chunks=(32, 100, 100))
        expected = self.read("t.h5")
        with multiprocessing.get_context("fork").Pool(2) as pool:
            for b in pool.map_async(read, [self.folder / "t.h5"] * 4).get(timeout=60):
                np.testing.assert_array_equal(b, expected)

    def test_damage(self):
        self.write("t.h5", waves(), cuszi.H5(abs=1e-2), chunks=(20, 30, 40))
        with h5py.File(self.folder / "t.h5") as file:
            place = file["T"].id.get_chunk_info(0)
        data = bytearray((self.folder / "t.h5").read_bytes())
        data[place.byte_offset + place.size // 2] ^= 1
        (self.folder / "t.h5").write_bytes(data)
        with self.assertRaises(OSError):
            self.read("t.h5")


class Imports(Hdf5Test):
    """Importing cuszi is enough to read."""

    def run_python(self, program):
        environment = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
        result = subprocess.run([sys.executable, "-c", program], cwd=self.folder, env=environment,
                                capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_readers_need_no_filter(self):
        self.write("t.h5", waves(), cuszi.H5(abs=1e-2))
        for modules in ("cuszi, h5py", "h5py, cuszi", "h5py, cuszi, h5netcdf"):
            with self.subTest(modules=modules):
                self.assertEqual(self.run_python(
                    f"import {modules}; print(h5py.File('t.h5')['T'][...].shape)"), "(20, 30, 40)\n")
        self.assertEqual(self.run_python("import cuszi, netCDF4; print("
                                         "netCDF4.Dataset('t.h5')['T'][...].shape)"), "(20, 30, 40)\n")

    def test_nothing_else_is_imported(self):
        self.assertEqual(self.run_python("import cuszi, sys; print([name for name in ('h5py', 'zarr', "
                                         "'numcodecs') if name in sys.modules])"), "[]\n")
        self.run_python("import sys; sys.modules['h5py'] = None; import cuszi; cuszi.H5(abs=1).parameters")

    def test_folders_of_others_are_kept(self):
        program = ("import os; os.environ['HDF5_PLUGIN_PATH'] = '/other:/folders'; import cuszi; import "
                   "cuszi; print(os.environ['HDF5_PLUGIN_PATH'] == cuszi.h5_plugin_path() + "
                   "':/other:/folders')")
        self.assertEqual(self.run_python(program), "True\n")


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
