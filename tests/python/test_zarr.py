"""Tests of the codecs of Zarr, as they are installed.

CUSZI_SOURCE is the project's folder.
"""

import asyncio
import json
import os
import tempfile
import unittest
import warnings
from pathlib import Path

import numcodecs
import numpy as np
import xarray
import zarr
from zarr.core.array_spec import ArrayConfig, ArraySpec

import cuszi
from support import waves


class ZarrTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "t.zarr"

    def create(self, a, chunks, codec, **more):
        zarr.create_array(self.path, data=a, chunks=chunks, compressors=None, serializer=codec,
                          overwrite=True, **more)
        return zarr.open_array(self.path, mode="r")

    def test_bounds_hold(self):
        for dtype in ("<f4", "<f8", ">f4"):
            for shape, chunks in [((20, 30, 40), (8, 16, 40)), ((500,), (100,)),
                                  ((2, 3, 4, 5, 60), (2, 3, 4, 5, 60)), ((3, 1, 40), (1, 1, 40))]:
                with self.subTest(dtype=dtype, shape=shape):
                    a = waves(shape, dtype)
                    stored = self.create(a, chunks, cuszi.Zarr(abs=1e-2))
                    self.assertEqual((stored.shape, stored.dtype), (shape, a.dtype.newbyteorder("=")))
                    self.assertLessEqual(np.abs(stored[...] - a).max(), 1e-2)

    def test_the_sample_of_the_registration(self):
        i, j = np.mgrid[0:12, 0:20]
        a = (np.sin(i / 5) * np.cos(j / 7)).astype("f4")
        a[3, 4] = 1e20
        sample = Path(os.environ["CUSZI_SOURCE"]) / "packaging/registrations/zarr/codecs/cuszi/sample_data/waves.zarr"
        b = zarr.open_array(sample, mode="r")[...]
        self.assertLessEqual(np.abs(b - a).max(), 1e-3)
        self.assertEqual(b[3, 4], a[3, 4])

    def test_arrays_without_axes_or_values(self):
        for shape, chunks in [((), ()), ((0, 40), (8, 40)), ((5, 0), (5, 8))]:
            a = np.ones(shape, "f4")
            for how in ({"compressors": None, "serializer": cuszi.Zarr(abs=1e-2)},
                        {"compressors": cuszi.Numcodec(abs=1e-2), "zarr_format": 2}):
                with self.subTest(shape=shape, how=how):
                    b = zarr.create_array({}, data=a, chunks=chunks, **how)[...]
                    self.assertEqual(b.shape, shape)
                    np.testing.assert_allclose(b, a, atol=1e-2)

    def test_a_share_of_each_value(self):
        a = np.exp(20 * waves()).astype("f4")
        a[3] = 0
        for codec in (cuszi.Zarr(pw_rel=1e-2), cuszi.Zarr(pw_rel=1e-2, preset="fast")):
            b = self.create(a, (8, 16, 40), codec)[...]
            self.assertLessEqual(np.abs(b.astype("f8") / np.where(a, a, 1) - (a != 0)).max(), 1e-2)
            stored = zarr.open_array(self.path, mode="r").serializer
            self.assertEqual((stored.pw_rel, stored.preset), (1e-2, codec.preset))
        codec = cuszi.Numcodec(pw_rel=1e-2)
        self.assertEqual(codec.encode(a), cuszi.compress(a, pw_rel=1e-2))
        self.assertEqual(numcodecs.get_codec(codec.get_config()), codec)
        for wrong in ({}, {"abs": 1, "pw_rel": 0.1}, {"pw_rel": 1}, {"pw_rel": -0.1}, {"abs_or_pw_rel": 1},
                      {"abs_and_pw_rel": 0, "pw": 0.1}, {"abs": 1, "pw": 0.1}):
            for kind in (cuszi.Zarr, cuszi.Numcodec):
                with self.subTest(wrong=wrong), self.assertRaises(cuszi.UsageError):
                    kind(**wrong)

    def test_two_bounds(self):
        a = np.sinh(20 * waves()).astype("f4")
        exact = a.astype("f8")
        for name, most in [("abs_or_pw_rel", np.maximum(0.1, 0.01 * np.abs(exact))),
                           ("abs_and_pw_rel", np.minimum(0.1, 0.01 * np.abs(exact)))]:
            with self.subTest(name=name):
                b = self.create(a, (8, 16, 40), cuszi.Zarr(**{name: 0.1}, pw=0.01))[...]
                self.assertTrue((np.abs(b - exact) <= most).all())
                stored = zarr.open_array(self.path, mode="r").serializer
                self.assertEqual((getattr(stored, name), stored.pw, stored.abs), (0.1, 0.01, None))
                codec = cuszi.Numcodec(**{name: 0.1}, pw=0.01)
                self.assertEqual(codec.encode(a), cuszi.compress(a, **{name: 0.1}, pw=0.01))
                self.assertEqual(numcodecs.get_codec(codec.get_config()), codec)

    def test_what_stands_in_the_store(self):
        a = waves()
        self.create(a, (20, 30, 40), cuszi.Zarr(abs=1e-2, preset="cuszi"))
        chunk, = (self.path / "c").rglob("0/0/0")
        self.assertEqual(chunk.read_bytes(), cuszi.compress(a, abs=1e-2, preset="cuszi"))
        codec = json.loads((self.path / "zarr.json").read_text())["codecs"][-1]
        self.assertEqual(codec["name"], "cuszi")
        self.assertEqual(codec["configuration"]["abs"], 1e-2)

    def test_missing_values(self):
        a = waves()
        a[:, :10] = 1e20
        a[3, 12] = np.nan
        for codec in (cuszi.Zarr(abs=1e-2), cuszi.Zarr(abs=1e-2, fill=-999, strict=True)):
            b = self.create(a, (8, 16, 40), codec, fill_value=1e20)[...]  # which pads chunks, too
            np.testing.assert_array_equal(b[:, :10], a[:, :10])
            np.testing.assert_array_equal(np.isnan(b), np.isnan(a))
            self.assertLessEqual(np.nanmax(np.abs(b - a)), 1e-2)

    def test_what_stands_in_the_store_is_json(self):
        def refuse(token):
            raise ValueError(token)
        for fill in (np.inf, -np.inf, np.nan, 1e20):
            for named in ({}, {"fill": fill}):
                self.create(waves(), (8, 16, 40), cuszi.Zarr(abs=1e-2, **named), fill_value=fill)
                json.loads((self.path / "zarr.json").read_text(), parse_constant=refuse)
                zarr.create_array(self.path, data=waves(), zarr_format=2, fill_value=fill, overwrite=True,
                                  compressors=cuszi.Numcodec(abs=1e-2, **named))
                json.loads((self.path / ".zarray").read_text(), parse_constant=refuse)

    def test_filters_in_front(self):
        a = waves((20, 32, 40))
        for name, how in [("Delta", {"dtype": "float32"}), ("FixedScaleOffset", {"offset": 0, "scale": 25.5}),
                          ("Quantize", {"digits": 3}), ("AsType", {"encode_dtype": "float64",
                                                                   "decode_dtype": "float32"})]:
            with self.subTest(name=name), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # numcodecs' codecs are not in Zarr's specification
                filters = {"filters": [getattr(zarr.codecs.numcodecs, name)(**how)]}
                plain = zarr.create_array({}, data=a, chunks=(8, 16, 40), compressors=None, **filters)[...]
                np.testing.assert_array_equal(self.create(a, (8, 16, 40), cuszi.Zarr(abs=0), **filters)[...], plain)
        turned = {"filters": [zarr.codecs.TransposeCodec(order=(2, 0, 1))]}
        b = self.create(a, (8, 16, 40), cuszi.Zarr(abs=1e-3), **turned)[...]
        self.assertLessEqual(np.abs(b - a).max(), 1e-3)
        for name, how in [("BitRound", {"keepbits": 8}), ("Quantize", {"digits": 3, "dtype": "f4", "astype": "f8"})]:
            with self.subTest(name=name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                filters = [getattr(zarr.codecs.numcodecs, name)(**how)]
                with self.assertRaisesRegex(cuszi.UsageError, "a filter before cuszi returns .*leave the filter out"):
                    self.create(a, (8, 16, 40), cuszi.Zarr(abs=0), filters=filters)

    def test_shards(self):
        a = waves((32, 32, 40))
        b = self.create(a, (8, 16, 40), cuszi.Zarr(abs=1e-3), shards=(16, 32, 40))[...]
        self.assertLessEqual(np.abs(b - a).max(), 1e-3)

    def test_one_chunk_at_a_time(self):
        """As pipelines other than Zarr's own call codecs."""
        a = waves((8, 16, 40))
        codec = self.create(a, a.shape, cuszi.Zarr(abs=1e-2)).serializer
        prototype = zarr.core.buffer.default_buffer_prototype()
        spec = ArraySpec(a.shape, zarr.dtype.Float32(), 0, ArrayConfig.from_dict({}), prototype)
        values = prototype.nd_buffer.from_numpy_array(a)
        archive = codec._encode_sync(values, spec)
        self.assertEqual(archive.to_bytes(), cuszi.compress(a, abs=1e-2))
        self.assertEqual(asyncio.run(codec._encode_single(values, spec)).to_bytes(), archive.to_bytes())
        b = codec._decode_sync(archive, spec).as_numpy_array()
        self.assertLessEqual(np.abs(b - a).max(), 1e-2)
        np.testing.assert_array_equal(asyncio.run(codec._decode_single(archive, spec)).as_numpy_array(), b)

    @unittest.skipUnless(hasattr(zarr.core.codec_pipeline, "FusedCodecPipeline"), "of zarr 3.3")
    def test_the_fused_pipeline(self):
        with zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.FusedCodecPipeline"}):
            for test in (self.test_bounds_hold, self.test_missing_values, self.test_filters_in_front, self.test_shards):
                test()

    def test_version_2(self):
        a = waves()
        codec = cuszi.Numcodec(abs=1e-2)
        zarr.create_array(self.path, data=a, chunks=(8, 16, 40), zarr_format=2, compressors=codec)
        stored = zarr.open_array(self.path, mode="r")
        self.assertEqual(stored.compressors[0].get_config(), codec.get_config())
        self.assertLessEqual(np.abs(stored[...] - a).max(), 1e-2)

    def test_what_cannot_be(self):
        for bound in (-1, float("nan"), float("inf")):
            with self.assertRaises(cuszi.UsageError):
                cuszi.Zarr(abs=bound)
        for codec in (cuszi.Zarr, cuszi.Numcodec):
            with self.subTest(codec=codec.__name__):
                with self.assertRaisesRegex(cuszi.UsageError, "preset 'bogus' is not one of ratio, "):
                    codec(abs=1, preset="bogus")
                with self.assertRaisesRegex(TypeError, "'rel'; accepted are abs, pw_rel, abs_or_pw_rel, "):
                    codec(rel=1)
                with self.assertRaisesRegex(TypeError, "abs 'small' is not a number"):
                    codec(abs="small")
                for fill in (np.float32(1e20), np.array(1e20), [np.float64(1e20)], "netcdf"):
                    codec(abs=np.float32(1), fill=fill)
        with self.assertRaisesRegex(cuszi.UsageError, "only floats of 16 to 64 bits.*lossless"):
            self.create(np.zeros(100, "c8"), (10,), cuszi.Zarr(abs=1))

    def test_strictness(self):
        a = waves()
        a[:, :10] = 1e20
        for strict in (False, True):
            codec = cuszi.Zarr(abs=1e-2, strict=strict)
            for fill in (0, 1e20):
                with self.subTest(strict=strict, fill=fill), warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    if strict and fill == 0:
                        with self.assertRaisesRegex(cuszi.InputError, "lies far outside"):
                            self.create(a, (20, 30, 40), codec, fill_value=fill)
                    else:
                        stored = self.create(a, (20, 30, 40), codec, fill_value=fill)
                        self.assertEqual(stored.serializer.strict, strict)
                        self.assertEqual([w.category for w in told],
                                         [] if fill else [cuszi.FillWarning])
        with self.assertRaises(cuszi.InputError):
            cuszi.Numcodec(abs=1e-2, strict=True).encode(a)

    def write_by_xarray(self, a, codec, **encoding):
        self.store = zarr.storage.MemoryStore()  # after an error Zarr may still write to the one of before
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            xarray.Dataset({"T": (("z", "y", "x"), a)}).to_zarr(self.store, consolidated=False, encoding={
                "T": {"chunks": (8, 16, 40), "compressors": (), "serializer": codec, **encoding}})
        return [str(warning.message) for warning in told if warning.category is cuszi.FillWarning]

    def test_a_fill_value_of_0_by_xarray(self):
        """Which the codec does not learn: Zarr's own fill value is NaN then."""
        kelvin = 290 + 20 * waves()
        land = kelvin.copy()
        land[:, :10] = np.nan
        ice = land.copy()
        ice[:, 10:12] = 1e20
        for a, named in ((land, {}), (ice, {"fill": 1e20})):
            told = self.write_by_xarray(a, cuszi.Zarr(abs=1e-2, **named), _FillValue=0)
            self.assertRegex(told[0], "^0 repeats apart from the other values; .* give fill=0$")
        with self.assertRaisesRegex(cuszi.InputError, "give fill=0"):
            self.write_by_xarray(land, cuszi.Zarr(abs=1e-2, strict=True), _FillValue=0)
        self.assertEqual(self.write_by_xarray(land, cuszi.Zarr(abs=1e-2, fill=0, strict=True), _FillValue=0), [])
        with xarray.open_zarr(self.store, consolidated=False) as file:
            np.testing.assert_array_equal(np.isnan(file["T"].values), np.isnan(land))
        rain = np.maximum(waves(), 0)
        mask = (waves() > 0).astype("f4")
        for honest in (rain, mask, kelvin, land, np.zeros_like(land), np.sign(waves()) * kelvin):
            self.assertEqual(self.write_by_xarray(honest, cuszi.Zarr(abs=1e-2, strict=True)), [])

    def test_what_pads_chunks_is_not_suspected(self):
        a = (1013 + 0.05 * waves((30, 50, 60))).astype("f4")
        for fill in (0, -999.5, np.nan):
            for strict in (False, True):
                with warnings.catch_warnings():
                    warnings.simplefilter("error", cuszi.Warning)
                    codec = cuszi.Zarr(abs=1e-3, strict=strict)
                    b = self.create(a, (20, 30, 40), codec, fill_value=fill)[...]
                self.assertLessEqual(np.abs(b - a).max(), 1e-3)
            stored = zarr.create_array(self.path, shape=(40, 60, 80), dtype="f4", chunks=(40, 60, 80), overwrite=True,
                                       compressors=None, serializer=codec, fill_value=fill)
            stored[10:40, :50, 20:] = a
            self.assertLessEqual(np.abs(stored[10:40, :50, 20:] - a).max(), 1e-3)
        old = zarr.create_array({}, data=a, chunks=(20, 30, 40), zarr_format=2,
                                compressors=cuszi.Numcodec(abs=1e-3, strict=True))
        self.assertLessEqual(np.abs(old[...] - a).max(), 1e-3)
        a[:, :25] = 1e20
        with self.assertRaisesRegex(cuszi.InputError, "1e[+]20 lies far outside"):
            self.create(a, (20, 30, 40), cuszi.Zarr(abs=1e-3, strict=True))

    def test_damage(self):
        self.create(waves(), (20, 30, 40), cuszi.Zarr(abs=1e-2))
        chunk, = (self.path / "c").rglob("0/0/0")
        data = bytearray(chunk.read_bytes())
        data[len(data) // 2] ^= 1
        chunk.write_bytes(data)
        with self.assertRaises(cuszi.ArchiveError):
            zarr.open_array(self.path, mode="r")[...]

    def test_archives_of_other_fields(self):
        self.create(waves(), (20, 30, 40), cuszi.Zarr(abs=1e-2))
        chunk, = (self.path / "c").rglob("0/0/0")
        for other in (waves((40, 30, 20)), waves((24000,)), waves(dtype="f8"), waves((20, 30, 41))):
            chunk.write_bytes(cuszi.compress(other, abs=1e-2))
            with self.subTest(shape=other.shape, dtype=other.dtype):
                with self.assertRaisesRegex(cuszi.ArchiveError, "is stored as"):
                    zarr.open_array(self.path, mode="r")[...]


if __name__ == "__main__":
    unittest.main()
