"""Tests of what the Python package warns of, and of strictness."""

import unittest
import warnings

import numpy as np

import cuszi
from support import waves


class Warnings(unittest.TestCase):

    def setUp(self):
        warnings.simplefilter("error")
        self.addCleanup(warnings.resetwarnings)
        self.spoiled = waves()
        self.spoiled[:, 4:8] = 1e20

    def test_ranges_with_missing_values(self):
        with self.assertWarnsRegex(cuszi.FillWarning, r"1e\+20 lies far outside.*give fill=1e\+20$") as caught:
            cuszi.compress(self.spoiled, rel=1e-3)
        self.assertEqual(caught.filename, __file__)
        with self.assertRaises(cuszi.InputError) as refused:
            cuszi.compress(self.spoiled, rel=1e-3, strict=True)
        self.assertRegex(str(refused.exception), r"1e\+20 lies far outside.*give fill=1e\+20$")
        out = np.empty(cuszi.room(self.spoiled), "u1")
        with self.assertWarns(cuszi.FillWarning):
            cuszi.compress(self.spoiled, rel=1e-3, out=out)

    def test_fill_values_of_the_other_type(self):
        with self.assertWarnsRegex(cuszi.FillWarning, "matches no point, but"):
            cuszi.compress(self.spoiled.astype("f8"), rel=1e-3, fill=1e20)
        for fill in (np.float32(1e20), float(np.float32(1e20))):
            cuszi.compress(self.spoiled.astype("f8"), rel=1e-3, fill=fill, strict=True)

    def test_what_is_named_is_not_suspected(self):
        for strict in (False, True):
            cuszi.compress(self.spoiled, rel=1e-3, fill=1e20, strict=strict)
            cuszi.compress(np.ma.masked_greater(self.spoiled, 1e10), rel=1e-3, strict=strict)
            cuszi.compress(np.where(self.spoiled > 1e10, np.nan, self.spoiled), rel=1e-3, strict=strict)
            cuszi.compress(waves(), rel=1e-3, fill=1e20, strict=strict)

    def test_targets(self):
        with self.assertWarnsRegex(cuszi.TargetWarning, "target ratio.*not met"):
            cuszi.compress(waves(), ratio=1e6, preset="cuszi")
        with self.assertRaisesRegex(cuszi.BoundError, "target ratio.*not met"):
            cuszi.compress(waves(), ratio=1e6, preset="cuszi", strict=True)
        cuszi.compress(waves(), ratio=10, preset="cuszi", strict=True)

    def test_categories(self):
        for category in (cuszi.FillWarning, cuszi.TargetWarning):
            self.assertTrue(issubclass(category, cuszi.Warning))
        self.assertTrue(issubclass(cuszi.Warning, UserWarning))
        warnings.simplefilter("ignore", cuszi.Warning)
        cuszi.compress(self.spoiled, rel=1e-3)


if __name__ == "__main__":
    unittest.main()
