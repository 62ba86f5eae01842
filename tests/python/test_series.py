"""What programs that draw read of archives: cuszi._series, without VTK."""

import unittest
from pathlib import Path

import numpy as np

import cuszi
from archive_folder import ArchiveFolder
from cuszi._series import Series
from support import waves


class OneField(ArchiveFolder):
    def test_all_of_it(self):
        b = self.archive("a.cuszi", waves())
        series = Series(["a.cuszi"])
        self.assertEqual((series.shape, series.factors, series.steps), ((20, 30, 40), (1, 1, 1), 1))
        self.assertEqual(series.dtype, np.dtype("f4"))
        np.testing.assert_array_equal(series.read(0), b)

    def test_boxes_of_previews(self):
        for axes, axis, factors in [("lattice", 0, (4, 4, 4)), ("layered", 0, (1, 4, 4)),
                                    ("independent", 2, (4, 4, 1))]:
            with self.subTest(axes=axes):
                b = self.archive("a.cuszi", waves(), axes=axes, axis=axis, predictor="multilevel")
                series = Series(["a.cuszi"], 4)
                self.assertEqual(series.factors, factors)
                thinned = b[::factors[0], ::factors[1], ::factors[2]]
                self.assertEqual(series.shape, thinned.shape)
                np.testing.assert_array_equal(series.read(0), thinned)
                np.testing.assert_array_equal(series.read(0, [(1, 3), (2, 7), (5, 6)]), thinned[1:3, 2:7, 5:6])

    def test_fields_of_fewer_axes(self):
        for shape in [(50,), (20, 30), (1, 20, 30), (20, 1, 30)]:
            with self.subTest(shape=shape):
                b = self.archive("a.cuszi", waves(shape, "f8"), axes="lattice")
                for stride in [1, 2]:
                    series = Series(["a.cuszi"], stride)
                    part = b.reshape((1,) * (3 - len(shape)) + shape)
                    part = part[tuple(slice(None, None, factor) for factor in series.factors)]
                    self.assertEqual((series.shape, max(series.factors)), (part.shape, stride))
                    np.testing.assert_array_equal(series.read(0), part)

    def test_every_type_becomes_floats(self):
        for dtype, wanted in [("f2", "f4"), ("i1", "f4"), ("u2", "f4"), ("i4", "f8"), ("u8", "f8"), ("f8", "f8")]:
            with self.subTest(dtype=dtype):
                b = self.archive("a.cuszi", (100 * (1.1 + waves((4, 5, 6)))).astype(dtype), rel=None, abs=1)
                read = Series(["a.cuszi"]).read(0)
                self.assertEqual((b.dtype, read.dtype), (np.dtype(dtype), np.dtype(wanted)))
                np.testing.assert_array_equal(read, b)

    def test_missing_values_are_nan(self):
        a = waves()
        a[3, 4, 5] = 1e20
        a[0, 0, 0] = np.inf
        self.archive("a.cuszi", a, fill=1e20)
        values = Series(["a.cuszi"]).read(0)
        self.assertTrue(np.isnan(values[3, 4, 5]))
        self.assertEqual((np.isnan(values).sum(), values[0, 0, 0]), (1, np.inf))

    def test_no_more_is_read_than_is_asked_for(self):
        self.archive("a.cuszi", waves((64, 64, 64)), axes="lattice")
        self.archive("frames.cuszi", waves((64, 64, 64)), frame_bytes=16 * 64 * 64 * 4)
        for name, stride, box in [("a.cuszi", 8, None), ("frames.cuszi", 1, [(0, 16), (0, 64), (0, 64)])]:
            with self.subTest(name=name):
                archive = bytearray(Path(name).read_bytes())
                archive[len(archive) * 3 // 4] ^= 1
                Path("bad.cuszi").write_bytes(archive)
                series = Series(["bad.cuszi"], stride)
                np.testing.assert_array_equal(series.read(0, box), Series([name], stride).read(0, box))
                with self.assertRaises(cuszi.ArchiveError):
                    Series(["bad.cuszi"], 1).read(0)

    def test_large_fields_begin_with_a_preview(self):
        self.archive("a.cuszi", np.zeros((2, 4096, 4096), "f4"))
        series = Series(["a.cuszi"])
        self.assertEqual((series.stride, series.shape), (2, (1, 2048, 2048)))
        self.assertEqual(Series(["a.cuszi"], 1).shape, (2, 4096, 4096))


class OverTime(ArchiveFolder):
    def test_files_of_a_pattern(self):
        fields = {step: self.archive(f"T{step}.cuszi", waves(seed=step)) for step in (2, 10, 1)}
        series = Series(["T*.cuszi"])
        self.assertEqual(series.paths, ["T1.cuszi", "T2.cuszi", "T10.cuszi"])
        self.assertEqual(series.steps, 3)
        for step, number in enumerate([1, 2, 10]):
            np.testing.assert_array_equal(series.read(step), fields[number])
        self.assertEqual(Series(["T2.cuszi", "T1.cuszi"]).paths, ["T2.cuszi", "T1.cuszi"])

    def test_the_slowest_of_four_axes(self):
        b = self.archive("a.cuszi", waves((6, 10, 20, 30)), axes="lattice", predictor="multilevel")
        series = Series(["a.cuszi", "a.cuszi"], 1)
        self.assertEqual((series.shape, series.steps), ((10, 20, 30), 12))
        np.testing.assert_array_equal(series.read(7), b[1])
        preview = Series(["a.cuszi"], 2)
        over_time, *factors = (6 // preview.steps, *preview.factors)
        part = b[2 * over_time, ::factors[0], ::factors[1], ::factors[2]]
        np.testing.assert_array_equal(preview.read(2), part)

    def test_what_does_not_fit_together(self):
        self.archive("a.cuszi", waves())
        self.archive("b.cuszi", waves((20, 30, 41)))
        self.archive("c.cuszi", waves(dtype="f8"))
        for other in ["b.cuszi", "c.cuszi"]:
            with self.assertRaisesRegex(cuszi.InputError, f"^{other}: .* as a.cuszi"):
                Series(["a.cuszi", other]).read(1)

    def test_steps_coded_with_other_axes(self):
        """Also steps that say nothing of their axes: constant ones, missing ones, those without loss."""
        a = waves()
        layered = {"axes": "layered", "axis": 0, "predictor": "multilevel"}
        steps = {"layered": (a, layered), "constant": (a * 0, {}), "missing": (a * np.nan, {}),
                 "lattice": (a, {"axes": "lattice", "predictor": "multilevel"}), "lossless": (a, {"rel": 0}),
                 "rough": (waves(noise=1), {"preset": "fast"})}
        restored = {name: self.archive(f"{name}.cuszi", values, **how) for name, (values, how) in steps.items()}
        for first in steps:
            names = [first, *(name for name in steps if name != first)]
            for stride in (1, 2, 4):
                series = Series([f"{name}.cuszi" for name in names], stride)
                self.assertEqual(series.factors, (1, stride, stride))
                for step, name in enumerate(names):
                    with self.subTest(first=first, stride=stride, name=name):
                        b = restored[name][:, ::stride, ::stride]
                        np.testing.assert_array_equal(series.read(step), b)
                        np.testing.assert_array_equal(series.read(step, [(3, 8), (2, 7), (5, 6)]), b[3:8, 2:7, 5:6])

    def test_a_step_that_was_not_looked_into(self):
        lattice, layered = ({"axes": axes, "axis": 0, "predictor": "multilevel"} for axes in ("lattice", "layered"))
        names = [f"{step}.cuszi" for step in range(20)]
        for name in names:
            self.archive(name, waves(), **(lattice if name != "1.cuszi" else layered))
        series = Series(names, 2)
        self.assertEqual(series.factors, (2, 2, 2))
        np.testing.assert_array_equal(series.read(1), Series(names, 1).read(1)[::2, ::2, ::2])

    def test_files_that_are_not_there_or_no_archives(self):
        with self.assertRaisesRegex(cuszi.UsageError, "no archive"):
            Series([])
        with self.assertRaisesRegex(cuszi.InputError, r"^no\*.cuszi: no such file"):
            Series(["no*.cuszi"])
        with self.assertRaises(FileNotFoundError):
            Series(["none.cuszi"])
        for content in [b"", b"nothing"]:
            Path("x.cuszi").write_bytes(content)
            with self.assertRaisesRegex(cuszi.ArchiveError, "^x.cuszi: "):
                Series(["x.cuszi"])


if __name__ == "__main__":
    unittest.main()
