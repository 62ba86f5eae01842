"""Tests of the documents that run none of their code: paths, links, names of tests, words, tables."""

import math
import re
import subprocess
import sys
import unittest

from pages import ROOT, blocks, guide_pages, links, named_paths, written_pages

GENERATED = {"docs/reference/command-line.md", "docs/reference/c-api.md"}


def name_of(page):
    return str(page.relative_to(ROOT))


class Pages(unittest.TestCase):

    def test_paths_exist(self):
        count = 0
        for page in written_pages():
            for path in named_paths(page):
                count += 1
                with self.subTest(page=name_of(page), path=path):
                    self.assertTrue((ROOT / path).exists() or path.startswith("build/"))
        self.assertGreater(count, 100)

    def test_lists_of_files(self):
        """Those of CONTRIBUTING.md, which say what a predictor, a coder and an option take."""
        text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        for title, least in [("Add a predictor", 25), ("Add a coder", 20), ("Add an option", 12)]:
            with self.subTest(title=title):
                section = text.split(f"## {title}\n")[1].split("\n## ")[0]
                paths = re.findall(r"`([\w.]+/[\w./-]+)`", section)
                self.assertGreaterEqual(len(set(paths)), least)
                self.assertEqual([path for path in paths if not ((ROOT / path).is_file())], [])

    def test_links_lead_somewhere(self):
        for page in written_pages():
            for target in links(page):
                with self.subTest(page=name_of(page), target=target):
                    place = (page.parent / target).resolve()
                    self.assertTrue(place.exists() or str(place.relative_to(ROOT)) in GENERATED)

    def test_named_tests_exist(self):
        """The table of guarantees names test cases."""
        text = (ROOT / "docs/design/guarantees.md").read_text(encoding="utf-8")
        named = re.findall(r'`(tests/[\w./]+)` "([^"]+)"', text)
        self.assertGreater(len(named), 15)
        for path, case in named:
            with self.subTest(test=case):
                source = re.sub(r'"\s*\n\s*"', "", (ROOT / path).read_text(encoding="utf-8"))
                self.assertTrue(f'"{case}"' in source or f"def {case}(" in source)

    def test_words(self):
        """Documents are of now."""
        unwanted = re.compile(r"\b(today|yesterday|the day before|wanted|of before)\b", re.IGNORECASE)
        for page in written_pages():
            with self.subTest(page=name_of(page)):
                found = [match[0] for match in unwanted.finditer(page.read_text(encoding="utf-8"))]
                self.assertEqual(found, [])

    def test_options_of_pip(self):
        """The pip of Debian 12, 23.0, has --config-settings, but no short form of it."""
        for page in written_pages():
            with self.subTest(page=name_of(page)):
                self.assertNotIn("-C cmake.define", page.read_text(encoding="utf-8"))

    def test_the_list_of_doors_is_short(self):
        section = (ROOT / "README.md").read_text(encoding="utf-8").split("## Doors\n")[1].split("\n## ")[0]
        table = [line for line in section.splitlines() if line.startswith("|")]
        self.assertLessEqual(len(table), 12)
        self.assertEqual(table, [line for line in section.splitlines() if line])
        self.assertGreaterEqual(section.count("](docs/guide/"), len(table) - 2)

    def test_lengths(self):
        words = {name_of(page): len(page.read_text(encoding="utf-8").split()) for page in written_pages()}
        for name, most in [("README.md", 700), ("docs/design/multilevel.md", 1500), ("docs/design/tried.md", 1800)]:
            with self.subTest(page=name):
                self.assertLessEqual(words[name], most)
        docs = sum(count for name, count in words.items() if name.startswith("docs/") and name != "docs/reference/format.md")
        self.assertLessEqual(docs, 30000)

    def test_every_block_has_a_language(self):
        for page in guide_pages():
            for block in blocks(page):
                with self.subTest(page=name_of(page), line=block.line):
                    self.assertIn(block.language, ["sh", "python", "c", "cpp", "cmake", "fortran", "js", "text"])

    def test_chunks_of_examples_are_worth_it(self):
        """Smaller ones cost ratio and time, as the guide says."""
        count = 0
        for page in guide_pages():
            text = page.read_text(encoding="utf-8")
            for match in re.finditer(r"""\bchunk(?:s|sizes)"?[=:] ?\(([\d, ]+)\)""", text):
                count += 1
                line = text.count("\n", 0, match.start()) + 1
                with self.subTest(page=name_of(page), line=line, chunks=match[1]):
                    self.assertGreaterEqual(4 * math.prod(map(int, match[1].split(","))), 1 << 20)
        self.assertGreater(count, 3)

    def test_tables_are_those_of_the_measurements(self):
        run = subprocess.run([sys.executable, ROOT / "bench/report.py", "--check"], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)


if __name__ == "__main__":
    unittest.main()
