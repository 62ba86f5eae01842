"""Dims and types from the names of files and folders, for the tool and the scripts alike."""

import csv
import subprocess
import sys
import unittest
from pathlib import Path

from cli_test import CUSZI, CliTest, INPUT, USAGE, also_sanitized

BATCH = Path(__file__).resolve().parents[2] / "scripts/batch.py"

# As SDRBench and others have them on disk, smaller: file, dims, type.
TREE = [
    ("SDRBENCH-Hurricane-10x20x20/Uf48.bin.f32", "10x20x20", "f32"),
    ("SDRBENCH-Hurricane-10x20x20/QCLOUDf48.log10.bin.f32", "10x20x20", "f32"),
    ("SDRBENCH-EXASKY-NYX-16x16x16/temperature.f32", "16x16x16", "f32"),
    ("SDRBENCH-CESM-ATM-6x18x36/T_1_6_18_36.f32", "1x6x18x36", "f32"),
    ("SDRBENCH-CESM-ATM-6x18x36/CLDHGH_1_18_36.dat", "1x18x36", "f32"),
    ("SDRBENCH-CESM-ATM-6x18x36/OMEGA.F32", "6x18x36", "f32"),
    ("SDRBENCH-Miranda-12x16x16/density.d64", "12x16x16", "f64"),
    ("SDRBENCH-QMCPack/einspline_6_5_12_12.pre.f32", "6x5x12x12", "f32"),
    ("SDRBENCH-EXAALT/dataset1-54x31.x.f32.dat", "54x31", "f32"),
    ("HACC/xx_4000.f32", "4000", "f32"),
    ("U_10x20x20.bin.f32", "10x20x20", "f32"),
    ("QC-10x20x20.log10.f32", "10x20x20", "f32"),
    ("U_10x20x20_t48.f32", "10x20x20", "f32"),
    ("slices of a run/U 10x20x20.f32", "10x20x20", "f32"),
    ("rho_10x20x20.raw", "10x20x20", "f32"),
]


class Names(CliTest):
    def make_tree(self):
        for name, dims, dtype in TREE:
            self.path(f"tree/{name}").parent.mkdir(parents=True, exist_ok=True)
            self.field(f"tree/{name}", dims=dims, dtype=dtype)

    def batch(self, *options):
        return subprocess.run(
            [sys.executable, BATCH, "tree", "--plain", "--out", "report", "--cuszi", CUSZI,
             "--error-bounds", "1e-2", "--presets", "cusz", *options],
            cwd=self.folder, capture_output=True, text=True, timeout=300)

    def test_the_tool_reads_every_name(self):
        self.make_tree()
        names = [f"tree/{name}" for name, _, _ in TREE]
        for name, dims, dtype in TREE:
            given = ["-t", dtype] if name.endswith((".raw", "6.dat")) else []
            said, = self.report("inspect", *given, "--field-name", f"tree/{name}")
            self.assertEqual(("x".join(map(str, said["dims"])), said["dtype"], said["fits"]),
                             (dims, dtype, True), name)
            made, = self.report("compress", f"tree/{name}", *given, "-e", "1e-2", "--preset", "cusz")
            self.assertEqual((made["dims"], made["dtype"]), (said["dims"], said["dtype"]))
        self.assertEqual(len(self.report("inspect", "--field-name", *names)), len(names))

    def test_a_batch_runs_what_the_tool_reads(self):
        self.make_tree()
        done = self.batch("--type", "f32")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.path("report/results.csv"), newline="", encoding="utf-8") as file:
            rows = {row["file"]: (row["dims"], row["dtype"]) for row in csv.DictReader(file)}
        self.assertEqual(rows, {name: (dims, dtype) for name, dims, dtype in TREE})

    def test_a_batch_says_what_it_leaves_out(self):
        self.make_tree()
        self.field("tree/SDRBENCH-Hurricane-10x20x20/odd.f32", dims="7x11")
        done = self.batch()
        self.assertEqual(done.returncode, 1)
        for words in ["SDRBENCH-Hurricane-10x20x20/odd.f32: no dims in the file name "
                      "(the file has 77 values; 10x20x20 in a folder's name gives 4000)",
                      "rho_10x20x20.raw: no type in the file name", "--dims-file"]:
            self.assertIn(words, done.stderr)
        self.path("dims").write_text("*odd.f32 7x11\n*.raw 10x20x20 f32\nCLD* 1x18x36 f32\n")
        self.assertEqual(self.batch("--dims-file", "dims").returncode, 0)

    def test_folders_count_where_the_tool_is_called_in_them(self):
        self.path("NYX-16x16x16").mkdir()
        self.field("NYX-16x16x16/temperature.f32", dims="16x16x16")
        done = subprocess.run([CUSZI, "compress", "temperature.f32", "-e", "1e-2"],
                              cwd=self.path("NYX-16x16x16"), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("16x16x16", done.stdout)

    @also_sanitized
    def test_names_that_say_nothing(self):
        self.field("odd.f32", dims="7x11")
        said, = self.report("inspect", "--field-name", "odd.f32")
        self.assertEqual((said["dims"], said["fits"]), (None, None))
        self.assertIn("77 values", said["failure"])
        self.field("U_7x12.f32", dims="7x11")
        said, = self.report("inspect", "--field-name", "U_7x12.f32")
        self.assertEqual((said["dims"], said["fits"]), ([7, 12], False))
        self.cuszi("compress", "U_7x12.f32", "-e", "1e-2", code=INPUT)
        said, = self.report("inspect", "--field-name", "archive.cuszi")
        self.assertFalse(said["is_field"])
        self.assertIn(b"7x12 f32", self.cuszi("inspect", "--field-name", "U_7x12.f32").stdout)
        for arguments in [[], ["U.cuszi", "-t", "f32"], ["U.cuszi", "--field-name", "U.f32"]]:
            self.cuszi("inspect", *arguments, code=USAGE)


if __name__ == "__main__":
    unittest.main()
