"""Tests of scripts/analysis.py, where numpy and matplotlib are installed."""

import math
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
try:
    import numpy
    import analysis
except ImportError:
    numpy = None


@unittest.skipUnless(numpy, "numpy and matplotlib are not installed")
class Analysis(unittest.TestCase):
    def test_histogram(self):
        original = numpy.array([0, 1, 2, 3, math.nan, 1e20], "f4")
        restored = numpy.array([0.5, 1, 1.5, 3, math.nan, 1e20], "f4")
        known = analysis.known_points(original, ["1e20"])
        edges, counts = analysis.error_histogram(original, restored, known, 0.5)
        self.assertEqual((counts.sum(), counts[0], counts[50], counts[-1]), (4, 1, 2, 1))
        self.assertEqual((edges[0], edges[-1]), (-1, 1))

    def test_spectrum_of_a_wave(self):
        z, y, x = numpy.meshgrid(*(numpy.arange(n) for n in (16, 32, 64)), indexing="ij")
        wave = 5 + numpy.cos(2 * math.pi * x / 8)
        frequencies, powers = analysis.power_spectrum(wave, numpy.isfinite(wave))
        self.assertAlmostEqual(frequencies[numpy.argmax(powers)], 1 / 8, delta=1 / 128)
        self.assertGreater(frequencies.min(), 1 / 128)  # the mean is not in it

    def test_a_large_field_shows_its_middle(self):
        self.assertEqual(analysis.middle(numpy.zeros((8, 1 << 22), "f4")).size, 1 << 24)

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sub/picture.png"
            field = numpy.random.default_rng(1).normal(size=(5, 6, 7)).astype("f4")
            count = analysis.draw(path, "title", field, field + 1e-3, [], 2e-3)
            self.assertEqual((count, path.read_bytes()[:4]), (210, b"\x89PNG"))
            constant = numpy.ones((4, 5), "f8")
            analysis.draw(path, "title", constant, constant, [], 0)


if __name__ == "__main__":
    unittest.main()
