"""Lets mypy look at types_sample.py, and at the package as it is installed."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import cuszi

SAMPLE = Path(__file__).with_name("types_sample.py")


class Types(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.cache = folder.name

    def errors(self, *arguments):
        """By mypy, as pairs of a line and a kind; and all that it says."""
        command = [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context",
                   "--cache-dir", self.cache, *map(str, arguments)]
        text = subprocess.run(command, capture_output=True, text=True, timeout=300,
                              cwd=self.cache).stdout
        found = re.findall(r"(?m)^.*?:(\d+): error: .*\[([\w-]+)\]$", text)
        return {(int(line), kind) for line, kind in found}, text

    def test_users_see_types(self):
        lines = SAMPLE.read_text().splitlines()
        expected = {(number, match[1]) for number, line in enumerate(lines, 1)
                    if (match := re.search(r"# error: ([\w-]+)$", line))}
        self.assertGreater(len(expected), 10)
        found, text = self.errors("--strict", SAMPLE)
        self.assertEqual(found, expected, text)

    def test_the_package_is_typed(self):
        folder = Path(cuszi.__file__).parent
        found, text = self.errors("--disallow-untyped-defs", "--disallow-incomplete-defs",
                                  "--ignore-missing-imports", folder)
        self.assertEqual(found, set(), text)


if __name__ == "__main__":
    unittest.main()
