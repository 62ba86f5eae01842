"""Runs the blocks of code of README.md and docs/guide, page by page, in the order of the site.

Blocks of sh of the guide run in one folder, as a reader pastes them; README.md has one of its own, with its files.
Those of Python share their names, those of C and of C++ are
each one program, and each one of Fortran is. CUSZI_SOURCE in the environment is the project's folder, CUSZI the tool, installed with the
library; the Python package is installed.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import zarr

import cuszi  # noqa: F401  (the page of NetCDF needs its plugin before HDF5 looks for any)

sys.path.insert(0, str(Path(__file__).resolve().parent))
from pages import ROOT, blocks, guide_pages  # noqa: E402

PREFIX = Path(os.environ["CUSZI"]).parents[1]
SHAPE = (64, 96, 128)
NOT_RUN = 8  # blocks, at most, that say why


def sample():
    z, y, x = np.mgrid[0:SHAPE[0], 0:SHAPE[1], 0:SHAPE[2]].astype("f4")
    return np.sin(z / 9) * np.cos(y / 11) + x / 128


def make_files(page):
    """Makes what the blocks of a page find in their folder beside what earlier pages have made: the project's folders,
    and a program of the reader's."""
    for folder in ("scripts", "examples", "bindings"):
        if not os.path.exists(folder):
            os.symlink(ROOT / folder, folder)
    if page.name == "README.md":  # which is read alone
        sample().tofile("U_64x96x128.f32")
        with netCDF4.Dataset("file.nc", "w") as file:
            for axis, extent in zip("zyx", SHAPE):
                file.createDimension(axis, extent)
            file.createVariable("TEMPERATURE", "f4", ("z", "y", "x"))[...] = sample()
    elif page.name == "library.md":
        Path("program.c").write_text("#include <cuszi/cuszi.h>\nint main(void) { return cuszi_version()[0] == 0; }\n")
    elif page.name == "fortran.md":
        Path("program.f90").write_text("use cuszi\nprint *, cuszi_version()\nend\n")


def environment():
    libraries, = {path.parent for path in PREFIX.rglob("libcuszi.so")}
    return {**os.environ, "PATH": f"{PREFIX}/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}


def run(*command):
    ended = subprocess.run(list(map(str, command)), env=environment(), text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
    if ended.returncode:
        raise AssertionError(f"{command[0]} ended with {ended.returncode}:\n{ended.stdout}")
    return ended.stdout


def program_of(texts, language):
    """One program of the blocks of a page: their includes, then one after the other in main(), unless they have one."""
    if any("int main(" in text for text in texts):
        return "".join(texts)
    lines = "".join(texts).splitlines()
    includes = [line for line in lines if line.startswith("#include")]
    body = [line for line in lines if not line.startswith("#include")]
    count = SHAPE[0] * SHAPE[1] * SHAPE[2]
    values = f"std::vector<float> values({count}, 1.5F);" if language == "cpp" else f"static float values[{count}] = {{1.5F}};"
    return "\n".join([*includes, "int main(void) {", values, *body, "return 0;", "}", ""])


def flags_for(package):
    libraries = run("pkg-config", "--variable=libdir", "cuszi").strip()
    return [*shlex.split(run("pkg-config", "--cflags", "--libs", package)), f"-Wl,-rpath,{libraries}"]


def compile_and_run(texts, language):
    compiler, standard, name = {"c": ("cc", "-std=c11", "block.c"), "cpp": ("c++", "-std=c++17", "block.cpp")}[language]
    Path(name).write_text(program_of(texts, language))
    flags = flags_for("cuszi")
    run(compiler, standard, "-Wall", "-Wextra", "-Werror", name, "-o", "block", *flags)
    said = run("./block")
    if said:
        raise AssertionError(f"the program said {said}")


def compile_and_run_fortran(text):
    Path("block.f90").write_text(text)
    flags = flags_for("cuszi-fortran")
    run("gfortran", "-std=f2018", "-fopenacc", "-foffload=disable", "-Wall", "-Wextra", "-Werror", "block.f90", "-o", "block", *flags)
    run("./block")


def build_by_cmake(text, page):
    program, language = {"library": ("program.c", "C"), "fortran": ("program.f90", "Fortran")}[page.stem]
    folder = f"{page.stem}_by_cmake"
    os.mkdir(folder)
    shutil.copy(program, folder)
    Path(folder, "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.22)\nproject(program {language})\nadd_executable(program {program})\n{text}")
    run("cmake", "-S", folder, "-B", f"{folder}/build", f"-DCMAKE_PREFIX_PATH={PREFIX}")
    run("cmake", "--build", f"{folder}/build")


class Blocks(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addClassCleanup(os.chdir, os.getcwd())

    def check_page(self, page):
        folder = Path(self.folder.name, "readme" if page.name == "README.md" else "guide")
        folder.mkdir(exist_ok=True)
        os.chdir(folder)
        make_files(page)
        names = {"a": sample()}
        programs = {}
        for block in blocks(page):
            if block.reason or block.language == "text":
                continue
            with self.subTest(page=page.name, line=block.line):
                if block.language == "sh":
                    run("bash", "-eo", "pipefail", "-c", block.text)
                elif block.language == "python":
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(compile(block.text, f"{page.name}:{block.line}", "exec"), names)
                elif block.language == "cmake":
                    build_by_cmake(block.text, page)
                elif block.language == "fortran":
                    compile_and_run_fortran(block.text)
                else:
                    programs.setdefault(block.language, []).append(block.text)
        for language, texts in programs.items():
            with self.subTest(page=page.name, language=language):
                compile_and_run(texts, language)

    def test_few_are_not_run(self):
        found = [block for page in guide_pages() for block in blocks(page)]
        not_run = []
        for block in filter(lambda block: block.reason, found):
            if (by := re.search(r"(tests/\S+) runs it", block.reason)):
                self.assertIn(block.page.name, (ROOT / by[1]).read_text())
            else:
                not_run.append(block)
        self.assertLessEqual(len(not_run), NOT_RUN)
        self.assertGreater(len(found), 4 * len(not_run))


def add_test(number, page):
    @unittest.skipIf(page.name == "fortran.md" and not shutil.which("gfortran"), "no gfortran")
    def test(self):
        self.check_page(page)
    setattr(Blocks, f"test_{number:02}_" + page.stem.lower().replace("-", "_"), test)


for numbered in enumerate(guide_pages()):
    add_test(*numbered)

if __name__ == "__main__":
    unittest.main()
