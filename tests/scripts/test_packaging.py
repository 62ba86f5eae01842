"""Tests of packaging/: what stands there of the project is true."""

import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "packaging/spack/spack_repo/cuszi/packages/cuszi/package.py"
CONDA = ROOT / "packaging/conda/recipe.yaml"


def version_in(name, pattern):
    return re.search(pattern, (ROOT / name).read_text())[1]


class Directives:
    """A stand-in for spack: collects what a recipe says."""

    def __init__(self):
        self.said = []
        build_systems = "spack_repo.builtin.build_systems"
        self.modules = {name: types.ModuleType(name) for name in [
            "spack", "spack.package", "spack_repo", "spack_repo.builtin", build_systems,
            f"{build_systems}.cmake", f"{build_systems}.cuda"]}
        for directive in ("license", "version", "variant", "depends_on"):
            setattr(self.modules["spack.package"], directive,
                    lambda *words, directive=directive, **_: self.said.append((directive, *words)))
        self.modules[f"{build_systems}.cmake"].CMakePackage = type("CMakePackage", (), {})
        self.modules[f"{build_systems}.cmake"].generator = lambda name: None
        self.modules[f"{build_systems}.cuda"].CudaPackage = type("CudaPackage", (), {})


class Packaging(unittest.TestCase):
    # Python 3.10 has no enterContext.
    def enterContext(self, manager):
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def test_the_version_is_the_same_everywhere(self):
        version = version_in("CMakeLists.txt", r"project\(cuszi VERSION ([\d.]+)")
        for name, pattern in [("CHANGELOG.md", r"(?m)^## ([\d.]+)"),
                              ("CITATION.cff", r"(?m)^version: ([\d.]+)"),
                              ("docs/man/cuszi.1", r'(?m)^\.TH .*"cuszi ([\d.]+)"'),
                              ("include/cuszi/cuszi.h", r'/\* "([\d.]+)" \*/'),
                              (RECIPE, r'version\("([\d.]+)"\)'), (RECIPE, r"cuszi@([\d.]+)"),
                              (CONDA, r'(?m)^  version: "([\d.]+)"')]:
            self.assertEqual(version_in(name, pattern), version, name)

    def test_the_library_is_looked_for_by_its_major_version(self):
        major = version_in("CMakeLists.txt", r"project\(cuszi VERSION (\d+)")
        for name in ["bindings/python/CMakeLists.txt", "bindings/python/cuszi/_library.py", CONDA, "scripts/build_docs.sh",
                     "scripts/run_notebook.sh", "scripts/test.sh", "tests/library/test_installed.py"]:
            self.assertEqual(set(re.findall(r"libcuszi\.so\.(\d+)", (ROOT / name).read_text())), {major}, name)

    def test_the_address_is_the_same_everywhere(self):
        """Until there is one, that of CMakeLists.txt stands in for it, and no other file has any."""
        address = version_in("CMakeLists.txt", r'HOMEPAGE_URL "(.*?)"')
        found = {str(name): re.findall(pattern, (ROOT / name).read_text()) for name, pattern in [
            ("pyproject.toml", r'(?m)^(?:Homepage|Documentation|Changelog|Issues) = "(.*)"$'),
            ("CITATION.cff", r"(?m)^repository-code: (.*)"), (RECIPE, r'homepage = "(.*)"'), (CONDA, r"homepage: (.*)")]}
        if address.endswith(".example"):
            self.assertEqual({name: urls for name, urls in found.items() if urls}, {})
        else:
            self.assertEqual([len(urls) for urls in found.values()], [4, 1, 1, 1])
            for url in sum(found.values(), []):
                self.assertTrue(url == address or url.startswith(address + "/"), url)

    def test_the_python_package_takes_its_version_from_cmake(self):
        project = ROOT / "pyproject.toml"
        text = project.read_text()
        self.assertIn('dynamic = ["version"]', text)
        self.assertNotRegex(text, r'(?m)^version = ')
        regex = re.search(r"(?m)^regex = '(.*)'$", text)[1]
        source = project.parent / re.search(r'(?m)^input = "(.*)"$', text)[1]
        self.assertEqual(re.search(regex, source.read_text())["value"],
                         version_in("CMakeLists.txt", r"project\(cuszi VERSION ([\d.]+)"))

    @unittest.skipUnless(shutil.which("cmake") and shutil.which("git"), "no cmake or no git")
    def test_the_commit_of_a_checkout(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        top, inside = Path(folder).resolve(), Path(folder).resolve() / "inside"
        inside.mkdir()

        def commit_of(source):
            subprocess.run(["cmake", f"-DSOURCE={source}", f"-DHEADER={top}/commit.hpp", "-P",
                            ROOT / "cmake/commit.cmake"], check=True)
            return version_in(top / "commit.hpp", r'commit = "(.*)";')

        def git(*words):
            return subprocess.run(["git", "-C", top, "-c", "user.name=a", "-c", "user.email=a@b",
                                   *words], check=True, capture_output=True, text=True).stdout

        self.assertEqual(commit_of(top), "")
        git("init")
        (inside / "file").write_text("1")
        git("add", "inside/file")
        git("commit", "-m", "first")
        commit = git("rev-parse", "HEAD").strip()[:12]
        self.assertEqual(commit_of(top), commit)
        self.assertEqual(commit_of(inside), "")  # of somebody else's checkout
        (inside / "file").write_text("22")
        self.assertEqual(commit_of(top), commit + "-dirty")

    def test_the_recipe_has_what_the_build_asks_for(self):
        needed = set(self.needed_by_spack())
        text = (ROOT / "CMakeLists.txt").read_text()
        asked = re.findall(r"find_package\((\w+) REQUIRED\)|REQUIRED IMPORTED_TARGET lib(\w+)\)", text)
        names = {"nlohmann_json": "nlohmann-json", "pkgconfig": "pkgconfig"}
        asked = {names.get(name.lower(), name.lower()) for name in map("".join, asked)}
        self.assertGreater(len(asked), 5)
        self.assertLessEqual(asked - {"threads"}, needed)  # those are of the system

    def needed_by_spack(self):
        """The packages that the recipe for Spack depends on, each with its least version."""
        spack = Directives()
        with mock.patch.dict(sys.modules, spack.modules):
            exec(compile(RECIPE.read_text(), RECIPE, "exec"), {})
        needed = [package.partition("@") for directive, package, *_ in spack.said if directive == "depends_on"]
        return {name: least.rstrip(":") for name, _, least in needed}

    def test_the_recipes_ask_for_the_same(self):
        names = {"nlohmann-json": "nlohmann_json", "pkgconfig": "pkg-config"}
        for_compilers = {"c", "cxx", "fortran", "cuda"}
        asked = dict(re.findall(r"(?m)^        - ([\w-]+)(?: >=([\d.]+))?$", CONDA.read_text()))
        for name, least in self.needed_by_spack().items():
            if name in for_compilers:
                self.assertIn(f'compiler("{name}")', CONDA.read_text())
            else:
                self.assertEqual(asked[names.get(name, name)], least, name)
        project = (ROOT / "pyproject.toml").read_text()
        for name, least in re.findall(r'"(numpy|scikit-build-core)>=([\d.]+)"', project):
            self.assertEqual(asked[name], least, name)

    def test_the_image_gets_what_the_build_reads(self):
        kept = re.findall(r"(?m)^!(.*)$", (ROOT / "packaging/Dockerfile.dockerignore").read_text())
        text = (ROOT / "CMakeLists.txt").read_text()
        read = {path.split("/")[0] for path in re.findall(r"add_subdirectory\(([\w/]+)\)", text)}
        self.assertLessEqual(read - {"tests"}, set(kept))
        for path in kept:
            self.assertTrue((ROOT / path).exists(), path)


if __name__ == "__main__":
    unittest.main()
