"""Renders the conda recipe by rattler-build, where that is installed (scripts/requirements/conda.txt)."""

import re
import unittest
from pathlib import Path

try:
    from rattler_build import Stage0Recipe, VariantConfig
except ImportError:
    Stage0Recipe = None

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packaging/conda"


@unittest.skipUnless(Stage0Recipe, "no rattler-build")
class Conda(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        variants = VariantConfig.from_file(str(FOLDER / "variants.yaml"))
        rendered = Stage0Recipe.from_file(str(FOLDER / "recipe.yaml")).render(variants)
        cls.recipes = {(each["package"]["name"], each["build"]["string"]): each
                       for each in (variant.recipe.to_dict() for variant in rendered)}

    def of(self, name, cuda):
        return [recipe for (package, build), recipe in self.recipes.items()
                if package == name and build.startswith("cuda" if cuda else "cpu")]

    def test_every_package_is_there_for_the_cpu_and_for_cuda(self):
        version = re.search(r"project\(cuszi VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
        pythons = len(re.search(r"(?m)^python: \[(.*)\]$", (FOLDER / "variants.yaml").read_text())[1].split(","))
        for cuda in (False, True):
            self.assertEqual(len(self.of("libcuszi", cuda)), 1)
            self.assertEqual(len(self.of("cuszi", cuda)), pythons)
        for recipe in self.recipes.values():
            self.assertEqual(recipe["package"]["version"], version)

    def test_cuda_is_asked_for_where_it_is_built(self):
        for cuda in (False, True):
            library, = self.of("libcuszi", cuda)
            self.assertEqual(library["build"]["script"]["env"]["CUSZI_CUDA"], "ON" if cuda else "OFF")
            self.assertEqual(any("nvcc" in package for package in library["requirements"]["build"]), cuda)
            self.assertEqual("cuda-cudart-dev" in library["requirements"]["host"], cuda)
            # Of two that can be installed, a solver takes that with CUDA where the machine has a driver.
            self.assertEqual(library["build"].get("variant", {}).get("down_prioritize_variant", 0), 0 if cuda else 1)

    def test_what_scripts_read_is_there(self):
        for recipe in self.recipes.values():
            self.assertTrue((FOLDER / recipe["source"][0]["path"] / "CMakeLists.txt").is_file())
            for name in recipe["about"]["license_file"]:
                self.assertTrue((ROOT / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()
