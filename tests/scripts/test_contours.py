"""Tests of scripts/contours.py and of --isovalue of batch.py, where numpy and matplotlib are installed.

CUSZI in the environment is the tool, which the last test runs.
"""

import contextlib
import csv
import io
import math
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
try:
    import numpy
    import contours
except ImportError:
    numpy = None
import batch  # noqa: E402


@unittest.skipUnless(numpy, "numpy and matplotlib are not installed")
class Contours(unittest.TestCase):
    def test_sides_are_exact(self):
        values = numpy.array([0.1, numpy.nextafter(numpy.float32(0.5), 0, dtype="f4"), 0.5, 0.6, math.nan], "f4")
        known = numpy.isfinite(values)
        self.assertEqual(contours.sides(values, known, 0.5).tolist(), [-1, -1, 0, 1, 0])
        self.assertEqual(contours.sides(numpy.array([0.1], "f4"), numpy.array([True]), 0.1).tolist(), [1])

    def test_crossings(self):
        side = numpy.array([[-1, -1, 1], [-1, 0, 1]])
        known = numpy.ones((2, 3), bool)
        self.assertEqual(contours.crossings(side, known).tolist(), [[0, 2, 0], [1, 1, 0]])
        known[0, 2] = False
        self.assertEqual(contours.crossings(side, known).tolist(), [[0, 1, 0], [1, 1, 0]])

    def test_what_is_compared(self):
        original = numpy.array([[0, 1, 2, 3], [0, 1, 2, 3]], "f4")
        moved = original + numpy.array([[0, 0.6, 0, 0], [0, 0, 0, 0]], "f4")
        known = numpy.ones(original.shape, bool)
        self.assertEqual(contours.compare(original, [moved, original], known, 1.5), [(2, 0), (3, 1), (2, 0)])
        self.assertEqual(contours.compare(original, [moved], known, 9), [(0, 0), (0, 0)])

    def test_the_window_has_most_crossings(self):
        found = numpy.zeros((3, 1, 200, 150), "i1")
        found[2, 0, 120:160, 100:140] = 1
        found[0, 0, 0, :100] = 1
        plane, single, rows, columns = contours.window_of(found)
        self.assertEqual((plane, single), (2, 0))
        self.assertEqual((rows.stop - rows.start, columns.stop - columns.start), (contours.WINDOW,) * 2)
        self.assertEqual(found[plane, 0, rows, columns].sum(), 1600)
        self.assertEqual(contours.name_of((2, slice(3, 9))), "[2, 3:9]")
        self.assertEqual(contours.window_of(numpy.ones((4, 5), "i1")), (slice(0, 4), slice(0, 5)))

    def pixels(self, path):
        from matplotlib.image import imread
        return (imread(path)[..., :3] * 255).round().astype(int)

    def test_the_picture(self):
        y, x = numpy.mgrid[0:40, 0:50].astype("f4")
        original = numpy.hypot(y - 20, x - 25)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sub/contours.png"
            contours.draw(path, "title", {"original": original, "restored": original - 5},
                          numpy.ones(original.shape, bool), 12)
            image = self.pixels(path)
        red = (image[..., 0] > 170) & (image[..., 1] < 110) & (image[..., 2] < 110)
        left, right = numpy.array_split(red, 2, axis=1)

        def width(half):
            columns = numpy.flatnonzero(half.any(axis=0))
            return columns[-1] - columns[0]
        self.assertAlmostEqual(width(right) / width(left), 17 / 12, delta=0.08)


@unittest.skipUnless(numpy, "numpy and matplotlib are not installed")
class Reports(unittest.TestCase):
    @unittest.skipUnless("CUSZI" in os.environ, "CUSZI does not say where the tool is")
    def test_contours_in_the_report(self):
        z, y, x = numpy.mgrid[0:16, 0:40, 0:50].astype("f4")
        field = numpy.sin(x / 9) * numpy.cos(y / 7) + z / 20
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "fields").mkdir()
            field.tofile(root / "fields/u_16x40x50.f32")
            (field[0] + 9).tofile(root / "fields/far_40x50.f32")
            field[0, 0].tofile(root / "fields/line_50.f32")
            command = [str(root / "fields"), "--out", str(root / "report"), "--cuszi", os.environ["CUSZI"],
                       "--error-bounds", "5e-2", "--isovalue", "0.4"]
            for made in (3, 0):
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    self.assertEqual(batch.main(command), 0)
                self.assertIn(f"{made} measurements made", said.getvalue())
            with open(root / "report/results.csv", newline="", encoding="utf-8") as file:
                rows = {row["file"].partition("_")[0]: row for row in csv.DictReader(file)}
            text = (root / "report/report.md").read_text(encoding="utf-8")
            drawn = sorted(path.name for path in root.glob("report/pictures/*contours_*"))
        self.assertGreater(int(rows["u"]["points_across"]), 10)
        self.assertNotEqual(rows["u"]["crossings_restored"], rows["u"]["crossings"])
        self.assertEqual((rows["u"]["crossings_kept"], rows["u"]["points_across_kept"]), (rows["u"]["crossings"], "0"))
        self.assertGreater(float(rows["u"]["ratio"]), float(rows["u"]["ratio_kept"]))
        self.assertEqual(rows["far"]["crossings"], "0")
        self.assertGreater(int(rows["line"]["crossings"]), 0)
        self.assertEqual(drawn, ["u_16x40x50.f32.ratio_0.05.contours_0.4.png"])  # neither of none nor of a line
        self.assertEqual(text.count("![contours](pictures/u_16x40x50.f32.ratio_0.05.contours_0.4.png)"), 1)
        self.assertIn("## Contours of 0.4", text)
        self.assertIn(f"| u_16x40x50.f32 | 0.05 | {rows['u']['crossings']} | ", text)


class Arguments(unittest.TestCase):
    def refused(self, *options):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as stop:
            batch.main([".", "--out", "report", *options])
        self.assertEqual(stop.exception.code, 2)
        return said.getvalue()

    def test_what_is_no_value(self):
        for text in ("low", "nan", "inf"):
            self.assertIn("argument --isovalue: invalid", self.refused("--isovalue", text))

    @unittest.skipIf(numpy, "numpy and matplotlib are installed")
    def test_without_numpy(self):
        self.assertIn("--isovalue needs numpy and matplotlib", self.refused("--isovalue", "1"))


if __name__ == "__main__":
    unittest.main()
