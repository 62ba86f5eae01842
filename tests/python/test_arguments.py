"""Tests of what the Python package takes as arguments, and of how it refuses what it cannot take."""

import decimal
import fractions
import inspect
import unittest
from typing import get_args

import numpy as np

import cuszi
import support
from cuszi import _library, _options


def waves(shape=(12, 30, 40), dtype="f4"):
    return support.waves(shape, dtype)


class OnDevice:
    """Says of memory of the host what an array on a GPU says of its own."""

    def __init__(self, array, **more):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3, **more}


class Outputs(unittest.TestCase):
    """``out=`` is filled as it is asked for, or not at all."""

    def setUp(self):
        self.a = waves()
        self.archive = cuszi.compress(self.a, abs=1e-2)
        self.b = cuszi.decompress(self.archive)

    def test_shapes_of_fields(self):
        for shape in [(40, 30, 12), (12, 1200), (14400,), (12, 30, 41), (13, 30, 40), (11, 30, 40),
                      (1, 12, 30, 40)]:
            for wrap in (np.asarray, OnDevice):
                out = np.zeros(shape, "f4")
                with self.subTest(shape=shape, wrap=wrap.__name__):
                    with self.assertRaisesRegex(cuszi.UsageError, r"accepted is the shape \(12, 30, 40\) "
                                                                  "of float32"):
                        cuszi.decompress(self.archive, out=wrap(out))
                    self.assertFalse(out.any())

    def test_shapes_of_parts(self):
        for arguments in [{"box": np.s_[2:7, 3]}, {"box": np.s_[1, 2, 3]}, {"box": np.s_[..., -1]},
                          {"frame": 0}]:
            with self.subTest(**arguments):
                expected = cuszi.decompress(self.archive, **arguments)
                out = np.zeros_like(expected)
                self.assertIs(cuszi.decompress(self.archive, out=out, **arguments), out)
                np.testing.assert_array_equal(out, expected)
                with self.assertRaises(cuszi.UsageError):
                    cuszi.decompress(self.archive, out=np.zeros((1, *expected.shape), "f4"), **arguments)

    def test_kinds_of_memory_for_fields(self):
        read_only = np.zeros_like(self.a)
        read_only.flags.writeable = False
        for name, out in [("type", self.b.astype("f8")), ("integers", self.b.astype("i4")),
                          ("byte order", self.b.astype(">f4")), ("Fortran", np.asfortranarray(self.b)),
                          ("strides", np.repeat(self.b, 2, 2)[..., ::2]), ("read-only", read_only),
                          ("list", self.b.tolist()), ("bytes", bytearray(self.b.nbytes)),
                          ("masked", np.ma.zeros(self.a.shape, "f4")),
                          ("read-only there", OnDevice(read_only)),
                          ("strides there", OnDevice(np.repeat(self.b, 2, 2)[..., ::2]))]:
            with self.subTest(out=name), self.assertRaises(cuszi.UsageError):
                cuszi.decompress(self.archive, out=out)

    def test_memory_for_archives(self):
        for out in (np.zeros(60000, "u1"), np.zeros(60000, "i1"), bytearray(60000),
                    memoryview(bytearray(60000)), OnDevice(np.zeros(60000, "u1"))):
            with self.subTest(out=type(out).__name__):
                size = cuszi.compress(self.a, abs=1e-2, out=out)
                self.assertEqual(memoryview(getattr(out, "array", out)).tobytes()[:size], self.archive)
        for name, out in [("type", np.zeros(60000, "f4")), ("shape", np.zeros((300, 200), "u1")),
                          ("bytes", bytes(60000)), ("strides", np.zeros(120000, "u1")[::2]),
                          ("view", memoryview(bytearray(120000))[::2]), ("list", [0] * 60000),
                          ("type there", OnDevice(np.zeros(60000, "f4")))]:
            with self.subTest(out=name), self.assertRaisesRegex(cuszi.UsageError, "out"):
                cuszi.compress(self.a, abs=1e-2, out=out)

    def test_masks_on_devices(self):
        with self.assertRaisesRegex(cuszi.UsageError, "mask"):
            cuszi.compress(OnDevice(self.a, mask=OnDevice(self.a > 0)), abs=1e-2)


class Numbers(unittest.TestCase):

    def setUp(self):
        self.a = waves()
        self.archive = cuszi.compress(self.a, abs=1e-2)

    def test_whole_numbers_are_not_cut(self):
        for name in ("frame_bytes", "radius", "axis", "reach", "interp_anchor", "chunk", "partition",
                     "huffman_width", "zfp_chunk", "threads", "stream"):
            for wrong in (2**32, 2**32 + 64, 2**64, 2**64 + 32, 2**65, -1, -2**32, -2**64):
                if name in ("frame_bytes", "stream") and 0 < wrong < 2**64:
                    continue  # which they may be
                axes = {"axes": "layered"} if name == "axis" else {}
                with self.subTest(name=name, wrong=wrong):
                    with self.assertRaisesRegex(cuszi.UsageError, name):
                        cuszi.compress(self.a, abs=1e-2, **axes, **{name: wrong})
        for name in ("stride", "frame", "threads", "stream"):
            for wrong in (2**64, 2**64 + 1, 2**65, -1, -2**64):
                with self.subTest(name=name, wrong=wrong):
                    with self.assertRaisesRegex(cuszi.UsageError, name):
                        cuszi.decompress(self.archive, **{name: wrong})
        for wrong in (2**64, -1):
            with self.assertRaisesRegex(cuszi.UsageError, "frame_bytes"):
                cuszi.room(self.a, frame_bytes=wrong)
        for wrong in ((2**64, 4, 4), (-1, 4, 4), (0, 4, 4), (4, 4, 4, 4), ()):
            with self.subTest(tile=wrong), self.assertRaisesRegex(cuszi.UsageError, "interp_tile"):
                cuszi.compress(self.a, abs=1e-2, predictor="interp", interp_tile=wrong)
        for wrong in ("cuda:4294967296", "cuda:-1", "cuda:", "cuda:\u00b2", "cpu:", "cuda:0,64",
                      "cuda:0,", "cuda:any"):
            with self.subTest(device=wrong), self.assertRaisesRegex(cuszi.UsageError, "device"):
                cuszi.compress(self.a, abs=1e-2, device=wrong)

    def test_boxes_are_not_cut(self):
        for box in (np.s_[2**64:], np.s_[2**64], np.s_[-2**64], np.s_[2**64 + 1:2**64 + 3]):
            with self.subTest(box=box), self.assertRaises(cuszi.UsageError):
                cuszi.decompress(self.archive, box=box)
        whole = cuszi.decompress(self.archive)
        np.testing.assert_array_equal(cuszi.decompress(self.archive, box=np.s_[2:2**64]), whole[2:])
        for box in (1.5, "1", np.arange(3), (1, [2, 3])):
            with self.subTest(box=box), self.assertRaisesRegex(TypeError, "box"):
                cuszi.decompress(self.archive, box=box)

    def test_fractions_are_no_whole_numbers(self):
        for name in ("threads", "chunk", "radius", "frame_bytes"):
            for wrong in (1.5, 64.0, "64", np.float32(64)):
                with self.subTest(name=name, wrong=wrong), self.assertRaisesRegex(TypeError, name):
                    cuszi.compress(self.a, abs=1e-2, **{name: wrong})

    def test_numbers_of_any_library(self):
        expected = cuszi.compress(self.a, abs=2, fill=4)
        for kind in (float, np.float32, np.float64, np.array, np.int64, decimal.Decimal,
                     fractions.Fraction):
            with self.subTest(kind=kind.__name__):
                self.assertEqual(cuszi.compress(self.a, abs=kind(2), fill=kind(4)), expected)
                self.assertEqual(cuszi.compress(self.a, abs=kind(2), fill=[kind(4), kind(4)]), expected)
                self.assertEqual(cuszi.room(self.a, fill=kind(4)), cuszi.room(self.a, fill=4))
                self.assertEqual(cuszi.H5(abs=kind(2), fill=kind(4)).parameters,
                                 cuszi.H5(abs=2, fill=4).parameters)
                self.assertEqual(cuszi.compress(self.a, rel=.5, value_range=(kind(0), kind(4))),
                                 cuszi.compress(self.a, rel=.5, value_range=np.array([0, 4])))
                self.assertEqual(cuszi.compress(self.a, abs=1e-2, alpha=kind(1)),
                                 cuszi.compress(self.a, abs=1e-2, alpha=1))
        for fills in (np.array([4, 5], "f4"), (v for v in (4, 5)), [4, np.float32(5)]):
            self.assertEqual(cuszi.compress(self.a, abs=2, fill=fills),
                             cuszi.compress(self.a, abs=2, fill=(4, 5)))
        for kind in (np.int32, np.uint64, np.array):
            with self.subTest(kind=kind.__name__):
                self.assertEqual(cuszi.compress(self.a, abs=2, frame_bytes=kind(65536), threads=kind(1)),
                                 cuszi.compress(self.a, abs=2, frame_bytes=65536))
                np.testing.assert_array_equal(
                    cuszi.decompress(self.archive, box=np.s_[kind(2), kind(3):kind(5)]),
                    cuszi.decompress(self.archive, box=np.s_[2, 3:5]))
                self.assertEqual(cuszi.decompress(self.archive, frame=kind(0), stride=kind(1)).shape,
                                 self.a.shape)

    def test_fill_of_the_fields_type(self):
        a = waves()
        a[1] = 1e20
        for fill in (np.float32(1e20), np.array(np.float32(1e20)), [np.float32(1e20)]):
            b = cuszi.decompress(cuszi.compress(a, rel=1e-3, fill=fill))
            np.testing.assert_array_equal(b[1], a[1])
            self.assertLess(np.abs(b - a)[2:].max(), 0.01)

    def test_what_is_no_number(self):
        for wrong in ("1e-2", b"1", 1j, np.complex64(1), [1e-2], np.array([1e-2]), np.ma.masked, object()):
            with self.subTest(wrong=wrong):
                with self.assertRaisesRegex(TypeError, "abs"):
                    cuszi.compress(self.a, abs=wrong)
                with self.assertRaisesRegex(TypeError, "abs"):
                    cuszi.H5(abs=wrong)
        for wrong in (None, 1j, [None], [[1, 2]]):
            with self.subTest(fill=wrong), self.assertRaisesRegex(TypeError, "fill"):
                cuszi.compress(self.a, abs=1, fill=wrong)
        for wrong in ("1e20", "nan", ["netcdf", "none"]):
            with self.subTest(fill=wrong), self.assertRaisesRegex(cuszi.UsageError, "netcdf"):
                cuszi.compress(self.a, abs=1, fill=wrong)
        with self.assertRaises(cuszi.UsageError):
            cuszi.compress(self.a, abs=10**400)
        for wrong in (1, (1,), (1, 2, 3)):
            with self.subTest(value_range=wrong), self.assertRaisesRegex(cuszi.UsageError, "value_range"):
                cuszi.compress(self.a, rel=1e-3, value_range=wrong)
        for arguments in ({"rel": -1, "value_range": (1, 0)}, {"rel": 1.5, "value_range": (0, 1)},
                          {"rel": 0.1, "value_range": (0, float("nan"))},
                          {"abs": 1, "value_range": (0, 1)}):
            with self.subTest(**arguments), self.assertRaises(cuszi.UsageError):
                cuszi.H5(**arguments)


class Names(unittest.TestCase):

    small = waves((6, 10, 12))

    def test_unknown_keywords(self):
        archive = cuszi.compress(waves(), abs=1e-2)
        for function, arguments, accepted in [
                (cuszi.compress, (waves(),), ["rel", "abs", "preset", "fill", "chunk", "interp_tile"]),
                (cuszi.decompress, (archive,), ["box", "stride", "masked", "out"]),
                (cuszi.room, (waves(),), ["fill", "frame_bytes"]), (cuszi.info, (archive,), ["archive"]),
                (cuszi.H5, (), ["abs", "rel", "value_range", "pw_rel", "preset", "fill"])]:
            with self.subTest(function=function.__name__):
                with self.assertRaisesRegex(TypeError, "'colour'.*accepted") as caught:
                    function(*arguments, colour="red")
                for name in accepted:
                    self.assertRegex(str(caught.exception), rf"\b{name}\b")

    def test_choices(self):
        for option in ("predictor", "coder", "effort", "lossless", "axes", "index", "interp_cubic",
                       "preset", "interp_order"):
            for wrong in ("bogus", 1, None, ["ratio"]):
                with self.subTest(option=option, wrong=wrong):
                    with self.assertRaisesRegex(cuszi.UsageError, option):
                        cuszi.compress(waves(), abs=1e-2, **{option: wrong})
        with self.assertRaisesRegex(cuszi.UsageError, "preset 'bogus' is not one of ratio, "):
            cuszi.H5(abs=1, preset="bogus")

    def test_isovalues(self):
        a = waves()
        kept = cuszi.decompress(cuszi.compress(a, rel=0.1, isovalues=[0.25, a.flat[7]], keep_sign=True))
        for isovalue in (0.25, a.flat[7], 0):
            np.testing.assert_array_equal(np.sign(kept - isovalue), np.sign(a - isovalue))
        free = cuszi.decompress(cuszi.compress(a, rel=0.1))
        self.assertTrue((np.sign(free) != np.sign(a)).any())
        self.assertEqual(cuszi.compress(a, rel=0.1, isovalues=0.0), cuszi.compress(a, rel=0.1, keep_sign=True))
        for wrong in ("high", float("nan")):
            with self.assertRaisesRegex((cuszi.UsageError, TypeError), "isovalues"):
                cuszi.compress(a, rel=0.1, isovalues=wrong)

    def test_bounds_by_place(self):
        a = waves()
        bounds = np.full(a.shape, 0.05, "f4")
        bounds[2:5, :, 8:16] = 2**-10
        regions = [(np.s_[2:5, :, 8:16], 2**-10)]
        archive = cuszi.compress(a, abs=0.05, regions=regions)
        self.assertTrue((abs(cuszi.decompress(archive) - a) <= bounds).all())
        self.assertEqual(cuszi.compress(a, abs=0.05, regions=[("2:5,:,8:16", 2**-10)]), archive)
        self.assertEqual(cuszi.compress(a, abs=0.05, bound_field=bounds), archive)
        exact = cuszi.decompress(cuszi.compress(a, abs=0.05, regions=[(3, 0)]))
        np.testing.assert_array_equal(exact[3], a[3])
        by_block = np.full([-(-n // 4) for n in a.shape], 0.05)
        by_block[0] = 2**-10
        kept = cuszi.decompress(cuszi.compress(a, abs=0.05, bound_field=by_block, bound_blocks=(4, 4, 4)))
        self.assertLessEqual(abs(kept - a)[:4].max(), 2**-10)
        kept = cuszi.decompress(cuszi.compress(a, abs=0.05, bound_field=np.full(a.shape, 1e-300)))
        np.testing.assert_array_equal(kept, a)
        for wrong in ({"regions": [(np.s_[::2], 0)]}, {"regions": [(-1, 0)]}, {"regions": [(0, -1)]},
                      {"regions": "0:4=0.01"}, {"regions": ["0:4=0.01"]}, {"regions": [("0:4",)]},
                      {"regions": ("0:4", 0.01)}, {"regions": 3}, {"bound_blocks": (4, 4)},
                      {"bound_field": bounds[:-1]}, {"bound_field": []}, {"bound_field": np.zeros((0, 4), "f4")},
                      {"bound_field": [], "bound_blocks": (4, 4)}, {"bound_field": bounds + 1j},
                      {"bound_field": bounds.astype(str)}, {"bound_field": bounds > 0.01}):
            with self.subTest(wrong=wrong), self.assertRaises(cuszi.UsageError):
                cuszi.compress(a, abs=0.05, **wrong)

    def test_lossless_and_a_mode_of_zfp_that_is_not(self):
        for mode in ("rate:4", "precision:8"):
            for bound in ("abs", "rel", "pw_rel", "abs_or_pw_rel"):
                with self.subTest(mode=mode, bound=bound):
                    with self.assertRaisesRegex(cuszi.UsageError, f"{bound}=0 has no effect .*reversible"):
                        cuszi.compress(self.small, preset="zfp", zfp_mode=mode, **{bound: 0})
            restored = cuszi.decompress(cuszi.compress(self.small, preset="zfp", zfp_mode=mode, abs=1e-3))
            self.assertLessEqual(np.abs(restored - self.small).max(), 1e-3)
            cuszi.compress(self.small, preset="zfp", zfp_mode=mode)
        for bound in ({}, {"abs": 0}, {"rel": 0}):
            for mode in ({"zfp_mode": "reversible"}, {"zfp_mode": "accuracy"} if bound else {"zfp_mode": "reversible"}):
                archive = cuszi.compress(self.small, preset="zfp", **mode, **bound)
                np.testing.assert_array_equal(cuszi.decompress(archive), self.small)

    def test_a_stride_below_1(self):
        archive = cuszi.compress(self.small, abs=1e-2)
        for stride in (0, -1):
            for box in (None, np.s_[1:3]):
                with self.assertRaisesRegex(cuszi.UsageError, f"stride {stride} is not from 1"):
                    cuszi.decompress(archive, stride=stride, box=box)

    def test_bounds_of_wider_types_are_rounded_down(self):
        random = np.random.default_rng(1)
        for kind in ("f8", "g", "i8", "f4", "f2"):
            bounds = (10 ** random.uniform(-3, 4 if kind == "f2" else 18, (40, 50))).astype(kind)
            for given in (bounds, np.asfortranarray(bounds), bounds[::2, ::-3], bounds.tolist()):
                options = _options.Options()
                _options.set_bound_field(options, given, False)
                kept = np.ravel(options.kept_bounds)
                above = np.nextafter(kept, np.float32("inf"))
                for wide, below, beyond in zip(np.ravel(given), kept, above):
                    is_whole = kind == "i8"
                    exact = fractions.Fraction(*((int(wide), 1) if is_whole else wide.as_integer_ratio()))
                    self.assertLessEqual(fractions.Fraction(float(below)), exact)
                    self.assertGreater(fractions.Fraction(float(beyond)), exact)
        options = _options.Options()
        _options.set_bound_field(options, [1e300, np.inf, 1e-300, -1e-300, 0], False)
        most, least = np.finfo("f4").max, np.finfo("f4").smallest_subnormal
        np.testing.assert_array_equal(options.kept_bounds, np.array([most, np.inf, 0, -least, 0], "f4"))

    def test_names_for_type_checkers_are_those_of_the_table(self):
        for name in ("preset", "predictor", "coder", "effort", "lossless", "index", "interp_cubic"):
            literal = getattr(_options, name.removeprefix("interp_").capitalize())
            with self.subTest(name=name):
                self.assertEqual(_library.OPTIONS[name].values.decode().split("|"),
                                 list(get_args(literal)))
        for role in get_args(_options.Axes):
            cuszi.compress(self.small, abs=1e-2, axes=role)

    def test_keywords_are_those_of_the_table(self):
        parameters = inspect.signature(cuszi.compress).parameters
        others = {"bound": "abs", "mode": "psnr", "range_min": "value_range", "fills": "fill",
                  "memory_limit": "memory_limit"}
        keywords = {others.get(member, member) for member in _library.OPTIONS if member}
        own = {"a", "abs", "rel", "pw_rel", "abs_or_pw_rel", "abs_and_pw_rel", "psnr", "ratio", "stream", "out",
               "method"}  # no options
        self.assertEqual(keywords - {"memory_limit", "abs", "psnr"} | {"axis", "bound_field"},
                         set(parameters) - own | set(_options.METHOD))
        self.assertIn("memory_limit", inspect.signature(cuszi.decompress).parameters)

    def test_0_is_the_default_of_numbers(self):
        expected = cuszi.compress(self.small, abs=1e-2)
        for name in ("reach", "alpha", "radius", "chunk", "frame_bytes", "huffman_width", "threads"):
            with self.subTest(name=name):
                self.assertEqual(cuszi.compress(self.small, abs=1e-2, **{name: 0}), expected)
        for name in ("device", "zfp_mode", "interp_order"):
            with self.subTest(name=name), self.assertRaisesRegex(cuszi.UsageError, name):
                cuszi.compress(self.small, abs=1e-2, **{name: 0})

    def test_numbers_out_of_the_table_s_range(self):
        count = 0
        for name, row in _library.OPTIONS.items():
            if name not in _options.METHOD or not row.most:
                continue
            count += 1
            for wrong in (2 * row.most, -1):
                value = wrong if row.kind == _library.NUMBER else int(wrong)
                with self.subTest(name=name, wrong=wrong):
                    with self.assertRaisesRegex(cuszi.UsageError, rf"^{name} '.*' is not "):
                        cuszi.compress(self.small, abs=1e-2, **{name: value})
        self.assertGreaterEqual(count, 8)

    def test_types_of_values(self):
        for dtype in ("c8", "?", "S3", "M8[s]"):
            with self.subTest(dtype=dtype):
                with self.assertRaisesRegex(cuszi.UsageError, "only floats of 16 to 64 bits and integers.*lossless"):
                    cuszi.compress(np.zeros((4, 4), dtype), abs=1e-2)

    def test_signatures_are_those_of_the_functions(self):
        self.assertIn("fill", inspect.signature(cuszi.compress).parameters)
        self.assertIn("strict error bound", inspect.getdoc(cuszi.compress))


if __name__ == "__main__":
    unittest.main()
