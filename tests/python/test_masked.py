"""Tests of masked arrays, and of arrays whose attributes name missing values."""

import tempfile
import unittest
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import xarray
import zarr

import cuszi
from support import waves

FILL = np.float32(1e20)


def ocean(dtype="f4", land=1e20):
    """A masked field whose land has this raw value."""
    a = waves(dtype=dtype)
    a[:, 4:8] = land
    return np.ma.MaskedArray(a, np.broadcast_to(np.arange(30)[:, None] // 4 == 1, a.shape).copy())


class MaskedTest(unittest.TestCase):

    def check(self, a, b, bound):
        np.testing.assert_array_equal(np.ma.getmaskarray(b), np.ma.getmaskarray(a))
        known = ~np.ma.getmaskarray(a)
        original, restored = a.data[known], b.data[known]
        np.testing.assert_array_equal(np.isnan(restored), np.isnan(original))
        finite = np.isfinite(original)
        np.testing.assert_array_equal(restored[~finite], original[~finite])
        self.assertLessEqual(np.abs(restored[finite] - original[finite]).max(), bound)


class Masked(MaskedTest):

    def test_round_trips(self):
        for dtype in ("f4", "f8", ">f4"):
            for land in (1e20, 9.969209968386869e36, np.nan, np.inf, -1e30, 0, 0.5):
                for preset in ("ratio", "balanced", "fast", "cuszi", "cusz", "zfp"):
                    a = ocean(dtype)
                    a.data[a.mask] = land
                    with self.subTest(dtype=dtype, land=land, preset=preset):
                        archive = cuszi.compress(a, rel=1e-3, preset=preset)
                        info = cuszi.info(archive)
                        self.assertLessEqual(info.bound, 1e-3 * (a.max() - a.min()) * (1 + 1e-6))
                        b = cuszi.decompress(archive, masked=True)
                        self.assertIsInstance(b, np.ma.MaskedArray)
                        self.check(a, b, info.bound)

    def test_what_is_masked_does_not_count(self):
        a = ocean()
        archives = set()
        for land in (1e20, np.nan, -3, 7e7):
            a.data[a.mask] = land
            archives.add(cuszi.compress(a, rel=1e-3))
        self.assertEqual(len(archives), 1)

    def test_known_values_that_equal_the_fill_value(self):
        for dtype in ("f4", "f8"):
            a = ocean(dtype)
            netcdf, most = a.dtype.type(9.969209968386869e36), np.finfo(a.dtype).max
            for legitimate in ([1e20], [1e20, netcdf], [1e20, netcdf, most],
                               [1e20, netcdf, most, np.nextafter(most, 0, dtype=dtype)]):
                a.data[0, 20, :len(legitimate)] = legitimate
                with self.subTest(dtype=dtype, legitimate=legitimate):
                    b = cuszi.decompress(cuszi.compress(a, abs=1e-3), masked=True)
                    np.testing.assert_array_equal(b.mask, a.mask)
                    np.testing.assert_allclose(b.data[0, 20, :len(legitimate)].astype("f8"),
                                               np.asarray(legitimate, dtype).astype("f8"))
        a = np.ma.MaskedArray([0.0, -0.0, 1e-4, 2], [False, False, False, True], fill_value=0)
        b = cuszi.decompress(cuszi.compress(a, abs=1e-3), masked=True)
        np.testing.assert_array_equal(b.mask, a.mask)

    def test_nan_beside_a_mask(self):
        a = ocean()
        a.data[2, 20:25] = np.nan
        a.data[3, 20, 3] = np.inf
        self.check(a, cuszi.decompress(cuszi.compress(a, abs=1e-3), masked=True), 1e-3)

    def test_masks_of_nothing_and_of_all(self):
        a = waves()
        a[0, 0, 0] = np.nan
        for mask in (np.ma.nomask, False, np.zeros(a.shape, bool)):
            b = cuszi.decompress(cuszi.compress(np.ma.MaskedArray(a, mask), abs=1e-3), masked=True)
            self.assertFalse(np.ma.getmaskarray(b).any())
        b = cuszi.decompress(cuszi.compress(np.ma.MaskedArray(a, True), rel=1e-3), masked=True)
        self.assertTrue(b.mask.all())

    def test_the_original_is_not_changed(self):
        a = ocean()
        data, mask = a.data.copy(), a.mask.copy()
        cuszi.compress(a, abs=1e-3)
        np.testing.assert_array_equal(a.data, data)
        np.testing.assert_array_equal(a.mask, mask)

    def test_fill_values_beside_a_mask(self):
        a = ocean()
        a.data[1, 20] = 7e7
        b = cuszi.decompress(cuszi.compress(a, rel=1e-3, fill=[7e7, 1e20]), masked=True)
        self.assertLess(np.abs(b - a)[0].max(), 0.01)
        np.testing.assert_array_equal(b.mask, a.mask | (a.data == np.float32(7e7)))

    def test_wide_integers(self):
        """The usual fill values have no exact double."""
        for dtype, fill in (("i8", -9223372036854775806), ("i8", 2**63 - 1), ("u8", 2**64 - 2)):
            with self.subTest(dtype=dtype, fill=fill):
                values = np.arange(600, dtype=dtype).reshape(20, 30)
                values[3] = fill
                a = np.ma.MaskedArray(values, values == np.array(fill, dtype), fill_value=fill)
                b = cuszi.decompress(cuszi.compress(a, abs=5), masked=True)
                np.testing.assert_array_equal(b.mask, a.mask)
                self.assertEqual(b.fill_value, a.fill_value)
                self.assertLessEqual(np.abs(b.compressed() - a.compressed().astype("i8")).max(), 5)

    def test_plain_arrays(self):
        a = waves()
        a[1], a[2] = FILL, np.nan
        b = cuszi.decompress(cuszi.compress(a, rel=1e-3, fill=FILL), masked=True)
        np.testing.assert_array_equal(b.mask, a == FILL)
        self.assertEqual(b.fill_value, FILL)
        a[1] = 0
        b = cuszi.decompress(cuszi.compress(a, abs=1e-3), masked=True)
        np.testing.assert_array_equal(b.mask, np.isnan(a))

    def test_parts_and_outputs(self):
        archive = cuszi.compress(ocean(), abs=1e-3)
        whole = cuszi.decompress(archive, masked=True)
        part = cuszi.decompress(archive, masked=True, box=np.s_[3, 2:, -3:])
        np.testing.assert_array_equal(part.mask, whole.mask[3, 2:, -3:])
        out = np.zeros(whole.shape, "f4")
        b = cuszi.decompress(archive, masked=True, out=out)
        np.testing.assert_array_equal(b.mask, whole.mask)
        self.assertTrue(np.shares_memory(b.data, out))

    def test_room(self):
        a = np.random.default_rng(2).integers(0, 2**31, (20, 30), "i4").view("f4")
        a = np.ma.masked_invalid(a)
        out = np.empty(cuszi.room(a), "u1")
        size = cuszi.compress(a, abs=0, out=out)
        self.assertEqual(out[:size].tobytes(), cuszi.compress(a, abs=0))

    def test_sequences(self):
        a = ocean()
        self.assertEqual(cuszi.compress(list(a), abs=1e-3), cuszi.compress(a, abs=1e-3))


class Attributes(MaskedTest):
    """What xarray, h5py and netCDF4 know of missing values."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.a = ocean()

    def check_range(self, archive):
        self.assertLess(cuszi.info(archive).bound, 0.01)
        self.check(self.a, cuszi.decompress(archive, masked=True), cuszi.info(archive).bound)

    def test_arrays_of_xarray(self):
        for name in ("_FillValue", "missing_value"):
            for value in (FILL, np.array([FILL]), float(FILL)):
                with self.subTest(name=name, value=value):
                    array = xarray.DataArray(self.a.data, attrs={name: value, "units": "K"})
                    self.check_range(cuszi.compress(array, rel=1e-3))
        decoded = xarray.DataArray(self.a.filled(np.nan))
        self.check_range(cuszi.compress(decoded, rel=1e-3))

    def test_files(self):
        """Of both attributes, with and without what xarray and netCDF4 make of them."""
        for name in ("_FillValue", "missing_value"):
            path = self.folder / f"{name}.nc"
            data = xarray.Dataset({"T": (("z", "y", "x"), self.a.filled(np.nan))})
            encoding = {"_FillValue": None, name: FILL}
            data.to_netcdf(path, engine="h5netcdf", encoding={"T": encoding})
            with self.subTest(name=name):
                for decode in (True, False):
                    with xarray.open_dataset(path, engine="h5netcdf", mask_and_scale=decode) as file:
                        self.check_range(cuszi.compress(file["T"], rel=1e-3))
                with h5py.File(path) as file:
                    self.check_range(cuszi.compress(file["T"], rel=1e-3))
                with netCDF4.Dataset(path) as file:
                    self.check_range(cuszi.compress(file["T"][...], rel=1e-3))
                    self.check_range(cuszi.compress(file["T"], rel=1e-3))

    def test_fill_values_of_datasets(self):
        with h5py.File(self.folder / "t.h5", "w") as file:
            dataset = file.create_dataset("T", data=self.a.filled(FILL), fillvalue=FILL)
            self.check_range(cuszi.compress(dataset, rel=1e-3))
            plain = file.create_dataset("plain", data=waves())
            self.assertEqual(cuszi.info(cuszi.compress(plain, rel=1e-3)).fill, ())
        array = zarr.create_array(self.folder / "t.zarr", data=self.a.filled(FILL), fill_value=FILL)
        self.check_range(cuszi.compress(array, rel=1e-3))

    def test_attributes_that_are_no_numbers(self):
        array = xarray.DataArray(waves(), attrs={"_FillValue": "none", "missing_value": [np.nan, 5]})
        self.assertEqual(cuszi.info(cuszi.compress(array, abs=1e-3)).fill, (5.0,))

    def test_encodings_of_xarray(self):
        """Datasets that are written with a fill value keep missing values, and all others within the
        bound."""
        data = xarray.Dataset({"T": (("z", "y", "x"), self.a.filled(np.nan))})
        for name in ("_FillValue", "missing_value"):
            encoding = {"_FillValue": None, name: FILL}
            data.to_netcdf(self.folder / "t.nc", engine="h5netcdf",
                           encoding={"T": {**encoding, **cuszi.H5(abs=1e-2)}})
            data.to_zarr(self.folder / "t.zarr", mode="w", consolidated=False, encoding={
                "T": {**encoding, "compressors": (), "serializer": cuszi.Zarr(abs=1e-2, fill=FILL)}})
            with self.subTest(name=name):
                with xarray.open_dataset(self.folder / "t.nc", engine="h5netcdf") as file:
                    self.check(self.a, np.ma.masked_invalid(file["T"].values), 1e-2)
                with xarray.open_zarr(self.folder / "t.zarr", consolidated=False) as file:
                    self.check(self.a, np.ma.masked_invalid(file["T"].values), 1e-2)

    def test_codecs(self):
        zarr.create_array(self.folder / "f.zarr", data=self.a.filled(FILL), chunks=(8, 16, 40),
                          compressors=None, serializer=cuszi.Zarr(abs=1e-2), fill_value=FILL)
        b = zarr.open_array(self.folder / "f.zarr")[...]
        self.check(self.a, np.ma.masked_equal(b, FILL), 1e-2)
        archive = cuszi.Numcodec(abs=1e-2).encode(self.a)
        self.check(self.a, cuszi.decompress(archive, masked=True), 1e-2)


if __name__ == "__main__":
    unittest.main()
