"""Tests of what documents are made with: tables of measurements, the manual page, the header of the C API."""

import base64
import json
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "scripts/site")]

import c_api  # noqa: E402
import man_page  # noqa: E402
import notebook  # noqa: E402
import report  # noqa: E402

HEAD = "# title: T\n# device: D\n# date: 2026-01-01\n# command: run\n# about: A.\n"


class Tables(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "t.tsv"

    def read(self, text):
        self.path.write_text(HEAD + text)
        return report.read_table(self.path)

    def test_a_column_becomes_columns(self):
        table = self.read("# across: bound\n# cell: {in} / {out}\nfield\tbound\tin\tout\n"
                          "a\t1e-2\t1\t2\na\t1e-3\t3\t4\nb\t1e-3\t5\t6\n")
        self.assertEqual(report.shown_columns(table),
                         (["field", "1e-2", "1e-3"], [["a", "1 / 2", "3 / 4"], ["b", "", "5 / 6"]]))

    def test_means_are_geometric(self):
        table = self.read("# across: bound\n# cell: {over} ({peer})\n# mean: none {:.2f}x\n# mean of: over\n"
                          "field\tbound\tover\tpeer\na\t1e-2\t2.00x\tp\nb\t1e-2\t8.00x\tq\n")
        heads, _ = report.shown_columns(table)
        self.assertEqual(report.mean_rows(table, heads), [["geometric mean", "4.00x"]])

    def test_no_mean_of_some_rows_alone(self):
        table = self.read("# across: preset\n# cell: {ratio}\n# mean: none {:.1f}\n"
                          "field\tpreset\tratio\na\tp\t2\na\tq\t\nb\tp\t8\nb\tq\t5\n")
        heads, _ = report.shown_columns(table)
        self.assertEqual(report.mean_rows(table, heads), [["geometric mean", "4.0", ""]])

    def test_rows_and_columns_that_a_page_leaves_out(self):
        rows = "field\tbound\tratio\tms\na\t1e-2\t2\t1\na\t1e-3\t8\t1\nb\t1e-3\t2\t1\n"
        table = self.read("# hide: bound\n# hide: ms\n# only: bound 1e-3\n# mean: none {:.0f}\n" + rows)
        heads, shown = report.shown_columns(table)
        self.assertEqual((heads, shown), (["field", "ratio"], [["a", "8"], ["b", "2"]]))
        self.assertEqual(report.mean_rows(table, heads), [["geometric mean", "3"]])
        self.assertEqual(report.shown_columns(self.read("# only: means\n" + rows))[1], [])

    def test_means_in_the_form_of_cells(self):
        table = self.read("# across: bound\n# cell: {ratio}: {ms} ms\n# mean: none {:.0f}\nfield\tbound\tratio\tms\n"
                          "a\t1e-3\t2\t1\nb\t1e-3\t8\t9\n")
        self.assertEqual(report.mean_rows(table, report.shown_columns(table)[0]), [["geometric mean", "4: 3 ms"]])

    def test_what_is_no_table(self):
        for text, told in [("field\tratio\na\n", "1 cells, not 2"), ("# across\nfield\na\n", "is not '# key: value'"),
                           ("field\n", "no rows")]:
            with self.subTest(text=text), self.assertRaisesRegex(report.FormatError, told):
                self.read(text)
        self.path.write_text("field\na\n")
        with self.assertRaisesRegex(report.FormatError, "no '# title:'"):
            report.read_table(self.path)

    def test_every_table_is_on_a_page(self):
        tables = report.read_tables()
        self.assertGreater(len(tables), 30)
        report.pages(tables)
        with self.assertRaisesRegex(report.FormatError, "t.tsv is on no page"):
            report.pages({**tables, "t": self.read("field\na\n")})


class ManualPage(unittest.TestCase):

    def test_every_option_is_there(self):
        text = man_page.to_markdown((ROOT / "docs/man/cuszi.1").read_text())
        for option in ["`-e, --error-bound BOUND`", "`--target psnr:DB|ratio:R`", "`--box A:B,...`", "`6`"]:
            self.assertIn(f"\n{option}\n\n:   ", text)
        self.assertNotRegex(text, r"(?m)^\s*\.[A-Za-z]")
        self.assertNotRegex(text, r"\\f|\\-")

    def test_lines_that_troff_drops(self):
        with self.assertRaisesRegex(man_page.UnknownMacro, r"^\.dat,$"):
            man_page.to_markdown(".SH NAME\nends in\n.dat, .bin\n")


class Notebook(unittest.TestCase):

    def test_that_of_the_examples_has_all_its_cells(self):
        path = ROOT / "examples/choose_a_bound.ipynb"
        text, pictures = notebook.to_markdown(path)
        for cell in json.loads(path.read_text())["cells"]:
            self.assertIn("".join(cell["source"]), text)
        self.assertEqual(pictures, {})

    def test_what_cells_have_left(self):
        def code(source, *outputs):
            return {"cell_type": "code", "source": [source], "outputs": list(outputs)}
        picture = {"data": {"image/png": base64.b64encode(b"png").decode(), "text/plain": ["<Figure>"]}}
        cells = [{"cell_type": "markdown", "source": ["# Look\n", "\n", "words"]},
                 code("1 + 1", {"data": {"text/plain": ["2"]}}), code("print(3)", {"text": ["3\n"]}),
                 code("draw()", {"data": {"text/plain": ["Text(...)"]}}, picture)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "n.ipynb"
            path.write_text(json.dumps({"cells": cells}))
            text, pictures = notebook.to_markdown(path)
        self.assertEqual(text, "# Look\n\nwords\n\n```python\n1 + 1\n```\n\n```text\n2\n```\n\n"
                               "```python\nprint(3)\n```\n\n```text\n3\n```\n\n"
                               "```python\ndraw()\n```\n\n![Look](n-0.png)\n")
        self.assertEqual(pictures, {"n-0.png": b"png"})


@unittest.skipUnless(shutil.which("doxygen"), "no doxygen")
class Header(unittest.TestCase):

    def test_everything_is_there(self):
        header = ROOT / "include/cuszi/cuszi.h"
        text = c_api.to_markdown(header)
        functions = re.findall(r"(?m)^CUSZI_API[^(]*?(\w+)\(", header.read_text())
        self.assertGreater(len(functions), 12)
        for name in functions:
            self.assertIn(f"## `{name}()`", text)
        self.assertIn("| `CUSZI_BAD_BOUND` | `4` | a value exceeds the bound, or a target is not met |", text)
        self.assertIn("| `bound` | `double` | maximum error of a value", text)


if __name__ == "__main__":
    unittest.main()
