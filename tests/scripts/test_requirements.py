"""Tests of what the scripts install from PyPI: nothing that is not named by version and hash."""

import re
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


class Requirements(unittest.TestCase):
    def test_every_package_has_a_version_and_hashes(self):
        files = list((SCRIPTS / "requirements").glob("*.txt"))
        self.assertTrue(files)
        for file in files:
            text = re.sub(r"#.*\n", "", file.read_text()).replace("\\\n", "")
            for line in text.splitlines():
                with self.subTest(file=file.name, line=line[:40]):
                    self.assertRegex(line, r"^[\w-]+==[\w.]+(\s+--hash=sha256:[0-9a-f]{64})+$")

    def test_every_script_asks_for_the_hashes_or_no_index(self):
        for file in [*SCRIPTS.glob("*.sh"), *SCRIPTS.glob("*.py")]:
            text = file.read_text()
            for command in re.finditer(r'pip"?,? "?(install|download)\b', text):
                with self.subTest(script=file.name):
                    self.assertRegex(text[command.start():command.start() + 300], "--require-hashes|--no-index")


if __name__ == "__main__":
    unittest.main()
