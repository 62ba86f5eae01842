"""Runs the examples of README.md and docs/library.md that are in Python, for HDF5's tools, or of files
that say themselves what they hold.

CUSZI_SOURCE in the environment is the project's folder.
"""

import os
import re
import subprocess
import tempfile
import textwrap
import unittest
from pathlib import Path

import h5py
import numpy as np
import xarray
import zarr

import cuszi
from support import waves

SOURCE = Path(os.environ["CUSZI_SOURCE"])


def examples(page, first_line):
    """The indented blocks of a page that begin with a line like this."""
    blocks = re.findall(r"(?m)^(?:    .*\n|\n)+", (SOURCE / page).read_text())
    blocks = [textwrap.dedent(block).strip("\n") for block in blocks]
    return [block for block in blocks if re.match(first_line, block)]


class Examples(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.a = waves((32, 128, 128), seed=8, noise=1e-2)
        self.a.tofile("T_32x128x128.f32")

    def run_commands(self, commands):
        tool = Path(os.environ["CUSZI"]).parent
        environment = {**os.environ, "PATH": f"{tool}:{os.environ['PATH']}"}
        subprocess.run(["bash", "-eo", "pipefail", "-c", commands], check=True, env=environment,
                       stdout=subprocess.DEVNULL)

    def check_stores(self):
        with h5py.File("t.h5") as file:
            self.assertLessEqual(np.abs(file["T"][...] - self.a).max(), 0.01)
        self.assertLessEqual(np.abs(zarr.open_array("t.zarr")[...] - self.a).max(), 0.01)
        with xarray.open_dataset("t.nc", engine="h5netcdf") as data:
            self.check_filtered(data["T"].values)

    def check_filtered(self, b):
        self.assertTrue(0 < np.abs(b - self.a).max() <= 0.01)

    def test_readme(self):
        example, = examples("README.md", "import cuszi")
        exec(example, {"a": self.a})
        self.check_stores()

    def test_commands_of_readme(self):
        """Those for the field that most of them are for, of a smaller field of that name."""
        self.a.tofile("U_32x128x128.f32")
        commands = re.findall(r"(?m)^    (cuszi .*U_100x500x500[^#\n]*)", (SOURCE / "README.md").read_text())
        commands = [command.replace("100x500x500", "32x128x128").replace("100:200", "10:20").split()
                    for command in commands if "bitcomp" not in command]
        self.assertGreater(len(commands), 7)
        for _, *words in commands:
            with self.subTest(command=words):
                force = ["--force"] if words[0] in ("compress", "decompress") else []
                subprocess.run([os.environ["CUSZI"], *words, *force], check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_files(self):
        np.save("x.npy", self.a)
        with h5py.File("file.h5", "w") as file:
            file["group/dataset"] = self.a
        Path("file.cdl").write_text("netcdf file { dimensions: t = 100; variables: float TEMPERATURE(t);"
                                    " data: TEMPERATURE = 1, 2, 3; }")
        subprocess.run(["ncgen", "-o", "file.nc", "file.cdl"], check=True)
        commands, = examples("README.md", "cuszi compress x.npy")
        self.run_commands(commands)
        for name in ("x.npy.cuszi", "file.group.dataset.cuszi"):
            b = cuszi.decompress(Path(name).read_bytes())
            self.assertLessEqual(np.abs(b - self.a).max(), 1e-3 * np.ptp(self.a))
        self.run_commands(examples("README.md", "cuszi compress file.nc -e 1e-3 -o")[0])
        with h5py.File("file.cuszi.h5") as file:
            error = np.abs(file["group/dataset"][...] - self.a).max()
            self.assertTrue(1e-3 * np.ptp(self.a) < error <= 0.01)
        self.assertEqual(cuszi.info(Path("T.cuszi").read_bytes()).shape, (100,))
        Path("file.cuszi.nc").unlink()
        self.run_commands(examples("docs/library.md", "cuszi compress")[0])

    def test_library_page(self):
        found = examples("docs/library.md", "import cuszi")
        self.assertEqual(len(found), 4)
        names = {}
        for example in found:
            exec(example, names)
        np.testing.assert_array_equal(names["a"], self.a)
        self.check_stores()
        with xarray.open_zarr("x.zarr") as data:
            self.check_filtered(data["T"].values)
            self.assertEqual(data["T"].attrs, {"units": "K"})

    def test_commands_for_hdf5(self):
        parameters = ",".join(map(str, cuszi.H5(abs=0.01).parameters))
        short, = examples("README.md", "export HDF5_PLUGIN_PATH")
        commands, = examples("docs/library.md", "export HDF5_PLUGIN_PATH")
        self.assertIn(short, commands)
        self.assertEqual(commands.count(parameters), 2)
        with h5py.File("plain.h5", "w") as file:
            file["T"] = self.a
        xarray.Dataset({"T": (("z", "y", "x"), self.a)}).to_netcdf("plain.nc", engine="h5netcdf")
        self.run_commands(commands)
        for packed in ("packed.h5", "packed.nc"):
            with h5py.File(packed) as file:
                self.check_filtered(file["T"][...])


if __name__ == "__main__":
    unittest.main()
