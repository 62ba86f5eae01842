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

    def test_code_of_the_notebook(self):
        """What computes; scripts/run_notebook.sh also draws."""
        cells = [cell for cell in json.loads((EXAMPLES / "choose_a_bound.ipynb").read_text())["cells"]
                 if cell["cell_type"] == "code"]
        self.assertEqual([cell["outputs"] for cell in cells], [[]] * len(cells))
        computing = ["".join(cell["source"]).replace("import matplotlib.pyplot as plt\n", "") for cell in cells]
        program = "\n".join(source for source in computing if "plt." not in source)
        done = subprocess.run([sys.executable, "-c", program], cwd=EXAMPLES, check=True, capture_output=True, text=True)
        self.assertEqual(len(re.findall(r"times smaller", done.stdout)), 6)


if __name__ == "__main__":
    unittest.main()
