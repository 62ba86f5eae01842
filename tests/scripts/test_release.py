"""Tests of what a release and the forge need: workflows, registrations, scripts/release.sh."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REGISTRATIONS = ROOT / "packaging/registrations"


class Release(unittest.TestCase):

    def test_what_stands_in_the_way(self):
        script = (ROOT / "scripts/release.sh").read_text()
        done = subprocess.run([ROOT / "scripts/release.sh", "--nothing"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "release.sh: unknown option --nothing; see --help\n"))
        sed = re.search(r"version=\$\((sed .*) CMakeLists.txt\)", script)[1]
        version = subprocess.run(["bash", "-c", f"{sed} CMakeLists.txt"], cwd=ROOT, capture_output=True, text=True,
                                 check=True).stdout.strip()
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")

    def test_the_address_is_set_everywhere(self):
        spack = "packaging/spack/spack_repo/cuszi/packages/cuszi/package.py"
        told = ["CMakeLists.txt", "pyproject.toml", "CITATION.cff", spack, "packaging/conda/recipe.yaml"]
        old = re.search(r'HOMEPAGE_URL "(.*?)"', (ROOT / "CMakeLists.txt").read_text())[1]
        with tempfile.TemporaryDirectory() as folder:
            for name in [*told, "scripts/release.sh"]:
                copy = Path(folder) / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy)
            for address in ["https://first.test", "https://forge.test/cuszi/"]:
                subprocess.run([Path(folder) / "scripts/release.sh", "--address", address], check=True)
            texts = {name: (Path(folder) / name).read_text() for name in told}
        for name, text in texts.items():
            self.assertNotRegex(text, f"{old}|first.test|cuszi//", name)
        for name, line in [("CMakeLists.txt", 'HOMEPAGE_URL "{}")'), ("CITATION.cff", "\nrepository-code: {}\n"),
                           (spack, '\n    homepage = "{}"\n'), ("packaging/conda/recipe.yaml", "about:\n  homepage: {}\n"),
                           ("pyproject.toml", '\nHomepage = "{}"\nDocumentation = "{}/docs"\n'
                            'Changelog = "{}/blob/main/CHANGELOG.md"\nIssues = "{}/issues"\n')]:
            self.assertEqual(texts[name].count(line.replace("{}", "https://forge.test/cuszi")), 1, name)

    def test_the_ledger_is_asked_for(self):
        """It has a row for each version with a defect, and the version that it was reviewed for."""
        asked = re.search(r'grep -qF "(Reviewed for \$version\.)"', (ROOT / "scripts/release.sh").read_text())[1]
        text = (ROOT / "docs/reference/ledger.md").read_text()
        version = re.search(r"Reviewed for (\d+\.\d+\.\d+)\.", text)[1]
        self.assertIn(asked.replace("$version", version), text)
        rows = re.findall(r"(?m)^\| (?!versions|---)(.*) \|$", text)
        for row in rows:
            self.assertRegex(row, r"^\d+\.\d+\.\d+( to \d+\.\d+\.\d+)?( \| [^|]+){3}$")
        self.assertNotEqual(bool(rows), "No released version is known to be wrong" in text)

    def test_scripts_of_workflows_are_there(self):
        workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
        self.assertEqual([path.stem for path in workflows], ["build", "docs", "test", "wheels"])
        for path in workflows:
            text = path.read_text()
            with self.subTest(workflow=path.name):
                self.assertIn("permissions:", text)
                for script, options in re.findall(r"run: (\.ci/run|scripts/\S+\.sh)(.*)", text):
                    self.assertTrue((ROOT / script).is_file(), script)
                    of = (ROOT / ("scripts/test.sh" if script == ".ci/run" else script)).read_text()
                    for option in re.findall(r"--[\w-]+", options):
                        self.assertIn(option, of)
                for action in re.findall(r"uses: (\S+)", text):
                    self.assertRegex(action, r"^actions/[\w-]+@v\d+$")

    def test_the_schema_of_zarr_has_the_options_of_the_codec(self):
        schema = json.loads((REGISTRATIONS / "zarr/codecs/cuszi/schema.json").read_text())
        codec = (ROOT / "bindings/python/cuszi/_zarr.py").read_text()
        options = re.search(r"class Zarr\(.*?def __init__\(self, \*, (.*?)\) -> None", codec, re.DOTALL)[1]
        configuration = schema["properties"]["configuration"]["properties"]
        self.assertEqual(list(configuration), re.findall(r"(\w+): ", options))
        self.assertEqual(schema["properties"]["name"]["const"], re.search(r'_NAME = "(\w+)"', codec)[1])
        presets = re.search(r"Preset = Literal\[(.*?)\]", (ROOT / "bindings/python/cuszi/_options.py").read_text())[1]
        self.assertEqual(sorted(configuration["preset"]["enum"]), sorted(re.findall(r'"(\w+)"', presets)))

    def test_the_number_of_the_filter(self):
        number = re.search(r"#define CUSZI_H5_FILTER (\d+)", (ROOT / "include/cuszi/cuszi.h").read_text())[1]
        self.assertIn(f"the number {number},", " ".join((REGISTRATIONS / "hdf5-filter.md").read_text().split()))


if __name__ == "__main__":
    sys.exit(unittest.main())
