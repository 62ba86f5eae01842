"""Runs the examples in Python that are not run elsewhere. CUSZI_SOURCE is the project's folder."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EXAMPLES = Path(os.environ["CUSZI_SOURCE"]) / "examples"


class Examples(unittest.TestCase):

    def test_xarray(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, EXAMPLES / "xarray_netcdf.py", "w.nc"], cwd=folder, check=True,
                                  capture_output=True, text=True)
        self.assertEqual(len(re.findall(r"^(?:temperature|wind): error 0.0\d+ of .* kept$", done.stdout, re.MULTILINE)), 2)
        before, after = re.search(r"^(\d+) bytes became (\d+)$", done.stdout, re.MULTILINE).groups()
        self.assertGreater(int(before), 20 * int(after))

    def test_notebooks(self):
        """Their cells, one after the other; scripts/run_notebook.sh makes pages of them."""
        notebooks = sorted(EXAMPLES.glob("**/*.ipynb"))
        self.assertEqual(len(notebooks), 5)
        for path in notebooks:
            with self.subTest(path.name):
                cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
                self.assertEqual([cell["outputs"] for cell in cells], [[]] * len(cells))
                program = "\n".join(["".join(cell["source"]) for cell in cells] + ["assert plt.get_fignums()"])
                self.assertGreaterEqual(program.count("assert "), 2)
                done = subprocess.run([sys.executable, "-c", program], cwd=path.parent, check=True, capture_output=True,
                                      text=True, env={**os.environ, "MPLBACKEND": "Agg"}, timeout=300)
                self.assertGreaterEqual(len(re.findall(r"times smaller", done.stdout)), 3)


if __name__ == "__main__":
    unittest.main()
