"""Tests of what `pip install .` would build. CUSZI_SOURCE is the project's folder."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from collections import Counter
from pathlib import Path

SOURCE = Path(os.environ["CUSZI_SOURCE"])


@unittest.skipUnless(shutil.which("ninja"), "ninja is missing")
class Build(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def configure(self, **environment):
        """What CMake prints."""
        variables = {name: value for name, value in os.environ.items() if name != "CUDAARCHS"}
        command = ["cmake", "-S", SOURCE / "bindings/python", "-B", self.folder, "-G", "Ninja"]
        return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True,
                              env={**variables, **environment}).stdout

    def commands(self):
        return subprocess.run(["ninja", "-C", str(self.folder), "-t", "commands", "python_libraries"],
                              check=True, capture_output=True, text=True).stdout

    def architectures(self, text):
        found = re.search(r"CUDA code for: (.*)", text)
        if found is None:
            self.skipTest("no nvcc")
        return found[1]

    def test_libraries_alone_and_once(self):
        text = self.configure()
        commands = self.commands()
        sources = Counter(re.findall(r" -c (\S+)", commands))
        self.assertGreater(len(sources), 50)
        self.assertEqual(set(sources.values()), {1})
        rooms = {Path(source).relative_to(SOURCE).parts[0] for source in sources
                 if Path(source).is_relative_to(SOURCE)}
        self.assertLessEqual(rooms, {"core", "cpu_ref", "gpu", "codec", "bindings"})
        here = "native" if Path("/dev/nvidiactl").exists() else "80-virtual"
        self.assertEqual(self.architectures(text), here)
        if here == "80-virtual":
            self.assertEqual(set(re.findall(r"code=\[([^\]]*)\]", commands)), {"compute_80"})

    def test_architectures_can_be_named(self):
        self.assertEqual(self.architectures(self.configure(CUDAARCHS="90-real")), "90-real")


if __name__ == "__main__":
    unittest.main()
