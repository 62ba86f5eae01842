"""Builds C programs against what is installed, and runs them: one with the library, by CMake and by
pkg-config, and one that has parallel HDF5 use the filter.

CUSZI_BUILD in the environment is the folder that is installed, CUSZI the tool in it.
"""

import array
import itertools
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = os.environ["CUSZI_BUILD"]
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
# OpenMPI: here alone, without ssh; more ranks than cores, which wait without spinning; by anybody.
MPI = {"OMPI_MCA_plm": "isolated", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_mpi_yield_when_idle": "1",
       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(*command, folder=None, **environment):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                            cwd=folder, env={**os.environ, **environment}, timeout=300)
    if result.returncode != 0:
        raise AssertionError(f"{command}: {result.stdout}{result.stderr}")
    return result.stdout


def search_paths(folder):
    """Where each program and shared library below `folder` looks for libraries: entries by file."""
    found = {}
    for file in folder.rglob("*"):
        if file.is_symlink() or not file.is_file() or "CMakeFiles" in file.parts:
            continue
        with open(file, "rb") as opened:
            if opened.read(4) != b"\x7fELF":
                continue
        dynamic = run("readelf", "--dynamic", "--wide", file)
        entries = [entry for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic)
                   for entry in path.split(":")]
        found[str(file.relative_to(folder))] = entries
    return found


class Prefix(unittest.TestCase):
    """A scratch folder in which the build is installed."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.libraries = next(cls.prefix.glob("lib*/**/libcuszi.so")).parent


class InstalledTest(Prefix):

    def check(self, program):
        self.assertRegex(run(program, LD_LIBRARY_PATH=str(self.libraries)),
                         r"^128000 bytes became \d{3,4}\n$")

    def test_tool_alone(self):
        """What scripts/quickstart.sh --prefix installs opens containers, too."""
        alone = self.folder / "alone"
        run("cmake", "--install", BUILD, "--prefix", alone, "--component", "tool")
        if not shutil.which("ncgen") or not list(alone.glob("lib*/**/libcuszi_netcdf.so")):
            self.skipTest("no ncgen, or the tool was built without NetCDF")
        (self.folder / "t.cdl").write_text("netcdf t { dimensions: x = 9; variables: float T(x);"
                                           " data: T = 1, 2, 3, 4, 5, 6, 7, 8, 9; }")
        for kind in ("classic", "nc4"):
            with self.subTest(kind=kind):
                field = self.folder / f"{kind}.nc"
                run("ncgen", "-k", kind, "-o", field, self.folder / "t.cdl")
                archive = self.folder / f"{kind}.cuszi"
                run(alone / "bin" / "cuszi", "compress", f"{field}:T", "-e", "1e-3", "-o", archive)
                self.assertGreater(archive.stat().st_size, 0)

    def test_cmake(self):
        run("cmake", "-S", EXAMPLES, "-B", self.folder / "cmake", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", self.folder / "cmake")
        self.check(self.folder / "cmake" / "round_trip")
        said = run(self.folder / "cmake" / "time_steps", LD_LIBRARY_PATH=str(self.libraries))
        self.assertRegex(said, r"^20 steps: 9600000 bytes became \d{4,5}\n$")

    def flags(self):
        """For a compiler, by pkg-config."""
        return shlex.split(run("pkg-config", "--cflags", "--libs", "cuszi",
                               PKG_CONFIG_PATH=str(self.libraries / "pkgconfig")))

    def test_pkg_config(self):
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", EXAMPLES / "round_trip.c",
            "-o", self.folder / "by_hand", *self.flags(), "-lm")
        self.check(self.folder / "by_hand")

    def test_as_the_example_says(self):
        shutil.copy(EXAMPLES / "round_trip.c", self.folder)
        said, = re.findall(r"^ \*   (cc .*?)^ \*/", (EXAMPLES / "round_trip.c").read_text(), re.M | re.S)
        command = said.replace("\\\n *", "")
        self.assertRegex(run("bash", "-c", command, folder=self.folder, LD_LIBRARY_PATH="",
                             PKG_CONFIG_PATH=str(self.libraries / "pkgconfig")),
                         r"^128000 bytes became \d{3,4}\n$")

    def parallel(self, name, *flags):
        """An example for ranks, built, and the environment in which it runs."""
        plugins = self.libraries / "hdf5" / "plugins"
        if not (shutil.which("h5pcc") and shutil.which("mpiexec") and plugins.is_dir()):
            self.skipTest("no parallel HDF5 (libhdf5-openmpi-dev)")
        run("h5pcc", "-shlib", "-Wall", "-Wextra", "-Werror", f"-I{self.prefix}/include", EXAMPLES / f"{name}.c", "-o",
            self.folder / name, *flags, "-lm", folder=self.folder)  # where it leaves its object file
        return self.folder / name, {**MPI, "HDF5_PLUGIN_PATH": str(plugins), "LD_LIBRARY_PATH": str(self.libraries)}

    def test_blocks_of_ranks(self):
        program, environment = self.parallel("mpi_field", *self.flags())
        file, side = self.folder / "blocks.h5", 24
        for ranks, extents in [(1, (24, 24, 24)), (4, (48, 48, 24))]:
            with self.subTest(ranks=ranks):
                said = run("mpiexec", "-n", ranks, program, file, side, **environment)
                bound, *others = re.findall(r"(?m)^bound (\S+) in \S+ s, compressed in \S+ s, written in", said)
                self.assertEqual(others, [bound, bound])
                bound = float(bound)
                run("h5dump", "-d", "T", "-b", "LE", "-o", self.folder / "blocks.f32", file, **environment)
                values = array.array("f", (self.folder / "blocks.f32").read_bytes())
                expected = [math.sin(0.05 * z) * math.cos(0.04 * y) + 0.3 * math.sin(0.07 * x + 0.02 * z)
                            for z, y, x in itertools.product(*map(range, extents))]
                self.assertEqual(len(values), len(expected))
                self.assertAlmostEqual(bound, 1e-3 * (max(expected) - min(expected)), 6)
                self.assertLessEqual(max(abs(a - b) for a, b in zip(values, expected)), bound + 1e-6)

    def test_parallel_hdf5(self):
        program, environment = self.parallel("mpi_hdf5")
        file = self.folder / "slabs.h5"
        said = run("mpiexec", "-n", "4", program, file, **environment)
        self.assertEqual(said, "within the bound\n")
        layout = run("h5dump", "-p", "-H", file, **environment)
        self.assertIn("FILTER_ID 411", layout)
        self.assertGreater(float(re.search(r"\(([\d.]+):1 COMPRESSION", layout)[1]), 4)

    def test_chunks_of_hdf5(self):
        plugins = self.libraries / "hdf5" / "plugins"
        if not (shutil.which("h5cc") and plugins.is_dir()):
            self.skipTest("no h5cc (hdf5-helpers)")
        run("h5cc", "-shlib", "-Wall", "-Wextra", "-Werror", EXAMPLES / "hdf5_chunks.c", "-o", self.folder / "chunks",
            *self.flags(), "-lm", folder=self.folder)
        said = run(self.folder / "chunks", self.folder / "chunks.h5", HDF5_PLUGIN_PATH=str(plugins),
                   LD_LIBRARY_PATH=str(self.libraries))
        self.assertRegex(said, r"^614400 bytes became \d{3,4}\n$")

    def test_debian_package(self):
        if not shutil.which("dpkg-shlibdeps"):
            self.skipTest("no dpkg-shlibdeps (dpkg-dev)")
        made, root = self.folder / "made", self.folder / "root"
        run("cpack", "--config", f"{BUILD}/CPackConfig.cmake", "-B", made)
        package, = made.glob("cuszi_*.deb")
        self.assertRegex(run("dpkg-deb", "--field", package, "Depends"), r"libc6 .*libxxhash0")
        version = re.search(r"cuszi VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertEqual(run("dpkg-deb", "--field", package, "Version").strip(), version)
        run("dpkg-deb", "--extract", package, root)
        usr = root / "usr"
        for entries in self.check_search_paths(usr).values():
            self.assertTrue(all(re.match(r"\$ORIGIN|/usr/lib/", entry) for entry in entries), entries)
        for path in ["share/man/man1/cuszi.1", "share/bash-completion/completions/cuszi",
                     "share/zsh/vendor-completions/_cuszi", "share/doc/cuszi/LICENSE",
                     "include/cuszi/cuszi.h"]:
            self.assertTrue((usr / path).is_file(), path)
        self.assertFalse((usr / "share/zsh/site-functions").exists())  # where Debian's zsh looks not
        (self.folder / "u_8x20x30.f32").write_bytes(bytes(4800) + b"\0\0\x80?" * 3600)
        run(usr / "bin/cuszi", "compress", self.folder / "u_8x20x30.f32", "-e", "1e-3", "--verify")
        for plugin in usr.rglob("hdf5/plugins/libh5cuszi.so"):
            self.assertRegex(run("ldd", plugin), f"libcuszi.so.1 => .*{root.name}/usr/lib")
            links = list(usr.glob("lib/*/hdf5/*/plugins/libh5cuszi.so"))
            self.assertEqual({link.resolve() for link in links}, {plugin.resolve()})

    def check_search_paths(self, folder):
        found = search_paths(folder)
        self.assertTrue(any(found.values()), folder)
        for file, entries in found.items():
            for entry in entries:  # an empty one is the current folder
                with self.subTest(folder=folder, file=file, entry=entry):
                    self.assertRegex(entry, r"^(/|\$ORIGIN(/|$))")
        return found

    def test_no_library_comes_from_the_current_folder(self):
        self.check_search_paths(Path(BUILD) / "app")
        self.check_search_paths(Path(BUILD) / self.libraries.relative_to(self.prefix))
        for file, entries in self.check_search_paths(self.prefix).items():
            for entry in entries:
                with self.subTest(file=file, entry=entry):
                    self.assertFalse(Path(entry).is_relative_to(ROOT), "a folder of the sources")
                    self.assertFalse(Path(entry).is_relative_to(BUILD), "a folder of the build")

    def test_a_planted_library_does_not_run(self):
        """Neither from the current folder nor from beside the tool."""
        planted = self.folder / "planted"
        planted.mkdir()
        tool = Path(os.environ["CUSZI"])
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--dynamic", "--wide", tool))
        for library in needed:
            (planted / library).write_bytes(b"no library")
        self.assertIn("libxxhash.so.0", needed)
        subprocess.run([tool, "--version"], cwd=planted, check=True, capture_output=True)

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
