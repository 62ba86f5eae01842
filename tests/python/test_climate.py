"""Runs bench/climate.py, which compares codecs on climate fields in NetCDF files, on small ones with cuszi alone."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

SCRIPT = Path(__file__).resolve().parents[2] / "bench/climate.py"


class Climate(unittest.TestCase):

    def test_bounds_and_missing_values(self):
        y, x = np.mgrid[0:60, 0:80].astype("f4")
        wind = np.sin(x / 9) * np.cos(y / 7)
        rain = np.where(x < 20, np.nan, x / 4)
        sea = np.where(x < 30, np.float32(1e20), wind + 280)
        with tempfile.TemporaryDirectory() as folder:
            wind[None].tofile(Path(folder) / "navy_uwnd_1x60x80.f32")
            rain.tofile(Path(folder) / "bel_qpe_60x80.f32")
            sea[None].tofile(Path(folder) / "tos_ipsl_1x60x80.f32")
            ended = subprocess.run([sys.executable, SCRIPT, folder, "--codecs", "cuszi"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        head, *rows = [line.split("\t") for line in ended.stdout.splitlines() if not line.startswith("#")]
        self.assertEqual(head, ["variable", "dims", "bound", "codec", "ratio", "wrong"])
        self.assertEqual({row[0] for row in rows}, {"navy_uwnd", "bel_qpe", "tos_ipsl"})
        self.assertEqual([row[2] for row in rows], ["1e-4", "1e-3", "1e-2"] * 3)
        for row in rows:
            with self.subTest(row=row):
                self.assertGreater(float(row[4]), 3)
                self.assertEqual(row[5], "")  # neither over the bound nor with missing values that became numbers

    def test_a_folder_without_fields(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run([sys.executable, SCRIPT, folder, "--codecs", "cuszi"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("has a name of FIELDS", ended.stderr)


if __name__ == "__main__":
    unittest.main()
