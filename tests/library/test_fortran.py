"""Builds Fortran programs against what is installed, by gfortran with pkg-config and by CMake, and runs them.

CUSZI_BUILD in the environment is the folder that is installed. Programs are skipped where no gfortran is.
"""

import shlex
import shutil
import subprocess
import unittest
from pathlib import Path

from test_installed import BUILD, ROOT, Prefix, run

PROGRAM = Path(__file__).parent / "fortran"
STRICT = ["-std=f2018", "-Wall", "-Wextra", "-Wno-compare-reals", "-Werror", "-fcheck=all,no-array-temps"]


@unittest.skipUnless(shutil.which("gfortran"), "no gfortran")
class FortranTest(Prefix):

    @classmethod
    def setUpClass(cls):
        if "CUSZI_FORTRAN:BOOL=OFF" in (Path(BUILD) / "CMakeCache.txt").read_text():
            raise unittest.SkipTest("built without the Fortran module")
        super().setUpClass()
        cls.checks = cls.folder / "checks"
        run("cc", "-c", "-Wall", "-Wextra", "-Werror", PROGRAM / "structs.c", "-o", cls.folder / "structs.o",
            *cls.flags())
        cls.compile(PROGRAM / "checks.f90", cls.folder / "structs.o", to=cls.checks)

    @classmethod
    def flags(cls):
        return shlex.split(run("pkg-config", "--cflags", "--libs", "cuszi-fortran",
                               PKG_CONFIG_PATH=str(cls.libraries / "pkgconfig")))

    @classmethod
    def compile(cls, *sources, to, options=STRICT):
        run("gfortran", *options, *sources, "-o", to, *cls.flags(), folder=cls.folder)

    def check(self, name, folder=None, program=None):
        self.assertEqual(run(program or self.checks, name, folder=folder or self.folder,
                             LD_LIBRARY_PATH=str(self.libraries)), "done\n")

    def test_ranks_and_kinds(self):
        self.check("ranks")

    def test_integers_and_halves(self):
        self.check("integers")

    def test_sections_that_are_not_contiguous(self):
        self.check("sections")

    def test_only_sections_are_copied(self):
        """gfortran tells at run time of each array that it copies for a call."""
        program = self.folder / "telling"
        self.compile(PROGRAM / "checks.f90", self.folder / "structs.o", to=program, options=["-fcheck=array-temps"])
        for name, copies in [("contexts", False), ("addresses", False), ("sections", True)]:
            with self.subTest(name=name):
                ended = subprocess.run([program, name], capture_output=True, text=True,
                                       env={"LD_LIBRARY_PATH": str(self.libraries)})
                self.assertEqual("An array temporary was created" in ended.stderr, copies, ended.stderr)

    def test_members(self):
        self.check("members")

    def test_bounds_targets_and_options(self):
        self.check("qualities")

    def test_missing_values_and_warnings(self):
        self.check("missing")

    def test_parts(self):
        self.check("parts")

    def test_addresses(self):
        self.check("addresses")

    def test_contexts(self):
        self.check("contexts")

    def test_failures(self):
        self.check("failures")

    def test_structs_are_those_of_the_header(self):
        self.check("structs")

    def test_a_failure_without_stat_ends_the_program(self):
        ended = subprocess.run([self.checks, "stop"], capture_output=True, text=True,
                               env={"LD_LIBRARY_PATH": str(self.libraries)})
        self.assertEqual(ended.returncode, 1)
        self.assertIn("cuszi: bound -1 is not a finite number of at least 0\n", ended.stderr)

    def test_archives_of_the_tool(self):
        """Dims are Fortran's the other way round; bytes and values are the same."""
        tool, folder = self.prefix / "bin/cuszi", self.folder / "files"
        folder.mkdir()
        self.check("write", folder)
        run(tool, "compress", "field_12x18x24.f32", "-e", "1e-3", "--mode", "abs", "-o", "made.cuszi", folder=folder)
        self.assertEqual((folder / "made.cuszi").read_bytes(), (folder / "field.cuszi").read_bytes())
        self.check("read", folder)

    def test_cmake(self):
        run("cmake", "-S", PROGRAM, "-B", self.folder / "cmake", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", self.folder / "cmake")
        self.check("ranks", program=self.folder / "cmake" / "checks")

    def test_installed_sources_compile(self):
        """As they do by a compiler that cannot read the installed modules."""
        own = self.folder / "own"
        own.mkdir()
        sources = self.prefix / "share/cuszi/fortran"
        include = next(flag for flag in self.flags() if flag.startswith("-L"))
        run("gfortran", *STRICT, f"-I{sources}", sources / "cuszi_c_api.f90", sources / "cuszi.f90",
            PROGRAM / "checks.f90", self.folder / "structs.o", "-o", "checks", include, "-lcuszi", folder=own)
        self.check("ranks", program=own / "checks")

    def test_example(self):
        self.compile(ROOT / "examples/heat.f90", to=self.folder / "heat")
        said = run(self.folder / "heat", folder=self.folder, LD_LIBRARY_PATH=str(self.libraries))
        self.assertRegex(said, r"^(heat_0(000|050|100)\.cuszi +\d+ bytes\n){3}$")
        described = run(self.prefix / "bin/cuszi", "inspect", "heat_0100.cuszi", folder=self.folder)
        self.assertRegex(described, r"300\s*x\s*400")


if __name__ == "__main__":
    unittest.main()
