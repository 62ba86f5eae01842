"""Help, man page and completions."""

import re
import unittest
from pathlib import Path

from cli_test import CliTest, also_sanitized

COMMANDS = ["compress", "decompress", "compare", "inspect", "test", "list", "bench", "zfp-import",
            "zfp-export"]


class Help(CliTest):
    def test_help(self):
        text = self.cuszi("--help").stdout.decode()
        self.assertIn("slowest first", "\n".join(text.splitlines()[:3]))
        for command in COMMANDS:
            self.assertIn(command, text)
            help_text = self.cuszi(command, "--help").stdout.decode()
            self.assertIn("slowest first", "\n".join(help_text.splitlines()[:4]))
            self.assertIn(f"  cuszi {command} ", help_text)

    @also_sanitized
    def test_every_option_is_in_the_man_page_and_the_completions(self):
        root = Path(__file__).resolve().parents[2]
        man = (root / "docs/man/cuszi.1").read_text().replace("\\-", "-")
        files = {"man page": man,
                 "bash": (root / "scripts/completion/cuszi.bash").read_text(),
                 "zsh": (root / "scripts/completion/_cuszi").read_text()}
        every = {"--version"}
        for command in COMMANDS:
            text = self.cuszi(command, "--help").stdout.decode()
            options = set(re.findall(r"^  (?:-\w, ?)?\s*(--[a-z-]+)", text, re.MULTILINE))
            self.assertIn("--help", options)
            self.assertIn("--json", options)
            for name, content in files.items():
                told = set(re.findall(r"(?<![\w-])--[a-z-]+", content))
                self.assertLessEqual(options, told, f"{command}: not in the {name}")
            every |= options
        for name, content in files.items():
            told = set(re.findall(r"(?<![\w-])--[a-z-]+[a-z]", content))
            self.assertLessEqual(told, every, f"in the {name} alone")

    def test_version(self):
        self.assertRegex(self.cuszi("--version").stdout.decode(), r"^cuszi \d+\.\d+\.\d+")


if __name__ == "__main__":
    unittest.main()
