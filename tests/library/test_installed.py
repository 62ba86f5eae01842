"""Builds a C program against the installed library, by CMake and by pkg-config, and runs it.

CUSZI_BUILD in the environment is the folder that is installed.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = os.environ["CUSZI_BUILD"]
PROGRAM = Path(__file__).parent / "installed"


def run(*command, **environment):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                            env={**os.environ, **environment}, timeout=300)
    if result.returncode != 0:
        raise AssertionError(f"{command}: {result.stdout}{result.stderr}")
    return result.stdout


class InstalledTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.libraries = next(cls.prefix.glob("lib*/**/libcuszi.so")).parent

    def check(self, program):
        self.assertRegex(run(program, LD_LIBRARY_PATH=str(self.libraries)),
                         r"^128000 bytes became \d{3,4}\n$")

    def test_cmake(self):
        run("cmake", "-S", PROGRAM, "-B", self.folder / "cmake", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", self.folder / "cmake")
        self.check(self.folder / "cmake" / "round_trip")

    def test_pkg_config(self):
        flags = run("pkg-config", "--cflags", "--libs", "cuszi",
                    f"--define-variable=prefix={self.prefix}",
                    PKG_CONFIG_PATH=str(self.libraries / "pkgconfig"))
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", PROGRAM / "round_trip.c",
            "-o", self.folder / "by_hand", *shlex.split(flags), "-lm")
        self.check(self.folder / "by_hand")

    def test_stays_loaded(self):
        program = ("import ctypes, _ctypes, sys; library = ctypes.CDLL(sys.argv[1]);"
                   "_ctypes.dlclose(library._handle);"
                   "print('libcuszi' in open('/proc/self/maps').read())")
        self.assertEqual(run(sys.executable, "-c", program, self.libraries / "libcuszi.so"), "True\n")

    def test_only_the_api_is_visible(self):
        symbols = run("nm", "--dynamic", "--defined-only", self.libraries / "libcuszi.so")
        names = {line.split()[-1].split("@")[0] for line in symbols.splitlines()}
        strangers = {name for name in names if not re.match(r"cuszi_|CUSZI_", name)}
        self.assertEqual(strangers, set())
        self.assertIn("cuszi_compress", names)


if __name__ == "__main__":
    unittest.main()
