"""Tests of bench/fields.py: the fields that measurements are made with."""

import hashlib
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(os.environ["CUSZI_SOURCE"]) / "bench"))
import fields  # noqa: E402

EXPECTED = "c6038cd9b89447cc77ac99ec41b5d751f9bdcecafa7eb01c83097770d1c2946e"


class Fields(unittest.TestCase):

    def test_they_are_the_same_everywhere(self):
        found, sha = {}, hashlib.sha256()
        for name, values in fields.fields("small"):
            found[name] = values
            sha.update(values)
        self.assertGreaterEqual(len(found), 15)
        for name, values in found.items():
            with self.subTest(field=name):
                self.assertEqual(values.dtype, np.float32)
                self.assertTrue(np.isfinite(values).all())
                self.assertGreater(np.ptp(values), 0)
        self.assertEqual((found["climate-SST_fill1e20"] == np.float32(fields.FILL)).mean().round(1), 0.5)
        self.assertEqual(sha.hexdigest(), EXPECTED)

    def test_files_have_their_dims_in_their_names(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(sys, "argv", ["", folder, "--only", "orbitals"]), \
                mock.patch("builtins.print"):
            fields.main()
            (path,) = Path(folder).iterdir()
            self.assertEqual((path.name, path.stat().st_size), ("orbitals-einspline_256x40x40.f32", 4 * 256 * 1600))

    def test_a_potential_has_its_source(self):
        source = fields.uniform(1, (16, 16, 16))
        source -= source.mean()
        potential = np.zeros_like(source)
        for _ in range(20):
            potential = fields.poisson(source, potential)
        self.assertLess(np.abs(fields.laplacian(potential) - source).max(), 1e-3)

    def test_what_is_transported_stays(self):
        values = np.zeros((8, 32), np.float32)
        values[:, 8:12] = 1
        moved = values
        for _ in range(20):
            moved = moved + fields.transport(moved, [np.float32(1)], [1], 0.4)
        self.assertAlmostEqual(float(moved.sum()), float(values.sum()), delta=1e-3)
        self.assertTrue(((moved > -1e-6) & (moved < 1 + 1e-6)).all())
        self.assertEqual(int(moved[0].argmax()), 17)


if __name__ == "__main__":
    unittest.main()
