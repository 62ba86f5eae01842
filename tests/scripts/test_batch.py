"""Tests of scripts/batch.py with a stand-in for cuszi."""

import contextlib
import csv
import io
import json
import math
import os
import sys
import tempfile
import unittest
from array import array
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import batch  # noqa: E402
from fields import Field  # noqa: E402

if batch.analysis:
    import pictures
    import slices

# Copies its input, claims a ratio that follows from the bound, and notes what it was asked to do.
FAKE_CUSZI = """#!{python}
import json, os, shutil, sys
if sys.argv[1] == "inspect":
    sys.path.insert(0, {tests!r})
    import stand_in
    stand_in.tell_names(sys.argv)
    sys.exit()
with open({log!r}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
if sys.argv[1] == "--version":
    print("cuszi 1.2.3\\nSIMD none")
    sys.exit()
source, out = sys.argv[2], sys.argv[sys.argv.index("-o") + 1]
name = os.path.basename(source)  # the folder's name is random
if "bogus" in sys.argv:
    print("cuszi: --preset 'bogus' is not one of ratio, cusz", file=sys.stderr)
    sys.exit(1)
if "bad" in name:
    print("some progress", file=sys.stderr)
    sys.exit("cuszi: the size of bad is not what its dims say | give -d")
shutil.copy(source, out)
if sys.argv[1] == "compress":
    bound = float(sys.argv[sys.argv.index("-e") + 1])
    size = os.path.getsize(source)
    ratio = 1 / bound ** 0.5
    print(json.dumps(dict(
        input=source, archive=out, dtype="f32", dims=[1], input_bytes=size,
        archive_bytes=int(size / ratio), ratio=ratio, bit_rate=32 / ratio, error_bound_abs=bound,
        psnr_db=None if "constant" in name else 60.5, nrmse=1e-4, max_abs_error=bound,
        max_error_over_bound=1.0, within_bound="violated" not in name, value_min=0,
        value_max=1, masked=0, outliers=0, patches=0, predictor="interp", coder="huffman",
        lossless="none", device="cpu", compress_seconds=0.1, compress_gb_per_s=0.12,
        decompress_seconds=0.1, decompress_gb_per_s=0.24)))
"""


def write_field(path, count, code="f"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(array(code, [i % 17 for i in range(count)]).tobytes())
    return path


class BatchTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.fields = self.root / "fields"
        self.report = self.root / "report"
        self.log = self.root / "calls.log"
        self.cuszi = self.root / "cuszi"
        self.cuszi.write_text(FAKE_CUSZI.format(
            python=sys.executable, tests=str(Path(__file__).parent), log=str(self.log)))
        self.cuszi.chmod(0o755)

    def without_drawing(self):
        """Makes pictures empty files, which takes no time."""
        def touch(path, *_):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

        for name, stand_in in (("draw_slice", touch), ("rate_distortion_plot", lambda *_: None)):
            self.enterContext(mock.patch.object(batch, name, stand_in))
        self.enterContext(mock.patch.object(batch.Job, "draw_analysis"))

    # Python 3.10 has no enterContext.
    def enterContext(self, manager):
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def run_batch(self, *options):
        """(exit code, stdout, stderr); the calls of cuszi are in self.calls."""
        self.log.unlink(missing_ok=True)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = batch.main([str(self.fields), "--out", str(self.report),
                                   "--cuszi", str(self.cuszi), *options])
            except SystemExit as stop:
                code = stop.code
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.calls = [json.loads(line) for line in lines]
        return code, out.getvalue(), err.getvalue()

    def compressions(self):
        """Those of fields; each preset is tried on one value first."""
        return [call for call in self.calls
                if call[0] == "compress" and not call[1].endswith("value.f32")]

    def rows(self):
        with open(self.report / "results.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def text(self):
        return (self.report / "report.md").read_text(encoding="utf-8")


class Runs(BatchTest):
    def test_walks_measures_and_reports(self):
        write_field(self.fields / "a" / "smooth_6x20x10.f32", 1200)
        write_field(self.fields / "b" / "constant_30x40.d64", 1200, "d")
        write_field(self.fields / "U_6x20x10.restored.f32", 1200)
        write_field(self.fields / ".hidden" / "U_6x20x10.f32", 1200)
        (self.fields / "readme_6x20x10.txt").write_text("no field")
        code, out, err = self.run_batch("--error-bounds", "1e-2,1e-4", "--presets", "ratio,cusz",
                                        "--fill-value", "-999", "--fill-value", "netcdf")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("2 fields, 8 measurements made, 0 failed", out)
        call = next(c for c in self.compressions() if "smooth" in c[1])
        for option in (["-d", "6x20x10"], ["-t", "f32"], ["-m", "rel"], ["--preset", "ratio"],
                       ["--fill-value=-999"], ["--fill-value=netcdf"], ["--verify"], ["--json"]):
            self.assertEqual(call[call.index(option[0]):][:len(option)], option)
        self.assertEqual([row["dtype"] for row in self.rows()], ["f32"] * 4 + ["f64"] * 4)
        self.assertEqual({row["psnr_db"] for row in self.rows()}, {"60.5", ""})
        self.assertEqual({row["within_bound"] for row in self.rows()}, {"true"})
        text = self.text()
        self.assertIn("2 fields, rel error bounds, `--fill-value=-999 --fill-value=netcdf`, by "
                      "cuszi 1.2.3.", text)
        self.assertIn("| 0.01 | 2 | 10 | 10 |", text)
        self.assertIn("| 0.0001 | 2 | 100 | 100 |", text)
        self.assertIn(
            "| a/smooth_6x20x10.f32 | 6x20x10 | f32 | cusz | 0.01 | 10 | 3.2 | 60.5 | 1 | 120 | "
            "240 |", text)
        self.assertIn("| compress MB/s | decompress MB/s |", text)
        self.assertNotIn("Failed", text)
        for line in text.splitlines():
            if line.startswith("!["):
                self.assertTrue((self.report / line.split("(")[1][:-1]).exists(), line)
        self.assertEqual(text.count("![slice]"), 4 if batch.analysis else 0)  # of the first preset under every bound
        for bound in ("0.01", "0.0001") if batch.analysis else ():
            self.assertIn(f"ratio, rel {bound} = {bound} absolute, values 0 to 1, range 1, slice [",
                          text)
        self.assertEqual(text.count("![rate and distortion]"), 1 if batch.analysis else 0)  # the constant has no PSNR
        self.assertFalse(list(self.report.rglob("*.cuszi")))
        self.assertFalse((self.report / "work").exists())

    def test_a_scheduler_needs_distributed(self):
        write_field(self.fields / "u_4x5.f32", 20)
        with mock.patch.dict(sys.modules, {"dask.distributed": None}):
            code, _, error = self.run_batch("--scheduler", "tcp://nowhere:1")
        self.assertEqual(code, 2)
        self.assertIn("--scheduler needs the Python package distributed", error)

    def test_dims_file_comes_first_and_unknown_dims_are_told(self):
        write_field(self.fields / "x" / "pressure.dat", 600, "d")
        write_field(self.fields / "U_10x20.f32", 600)
        write_field(self.fields / "mystery.f32", 600)
        dims = self.root / "dims.txt"
        dims.write_text("# ours\nx/*.dat  3x200  # inner\nU_* 600 f32\n")
        code, _, err = self.run_batch("--dims-file", str(dims), "--error-bounds", "1e-3")
        self.assertEqual(code, 1)
        self.assertIn("left out: mystery.f32: no dims in the file name\n", err)
        self.assertIn("left out: 1, as told above; give their dims in a --dims-file\n", err)
        self.assertEqual([(r["file"], r["dims"], r["dtype"]) for r in self.rows()],
                         [("U_10x20.f32", "600", "f32"), ("x/pressure.dat", "3x200", "f64")])
        self.assertIn("- mystery.f32: no dims in the file name\n", self.text())

    def test_the_type_of_fields_whose_name_does_not_say_it(self):
        write_field(self.fields / "U_10x20.dat", 200, "d")
        write_field(self.fields / "V_10x20.f32", 200)
        code, _, err = self.run_batch("--error-bounds", "1e-3")
        self.assertEqual(code, 1)
        self.assertIn("left out: U_10x20.dat", err)
        self.assertEqual(self.run_batch("--error-bounds", "1e-3", "--type", "f64")[0], 0)
        self.assertEqual([(row["file"], row["dtype"]) for row in self.rows()],
                         [("V_10x20.f32", "f32"), ("U_10x20.dat", "f64")])

    def test_usage_errors(self):
        self.fields.mkdir()
        self.assertEqual(self.run_batch()[0], 2)  # nothing there
        write_field(self.fields / "U_10x20.f32", 200)
        dims = self.root / "dims.txt"
        dims.write_text("*.f32 10by20\n")
        for options in (["--error-bounds", "1e-3,x"], ["--error-bounds", "-1"],
                        ["--fill-value", "none"], ["--cuszi", "/no/such/cuszi"],
                        ["--dims-file", str(dims)], ["--dims-file", "/no/such/file"]):
            code, _, err = self.run_batch(*options)
            self.assertEqual(code, 2, options)
            self.assertIn("error:", err)

    def test_unknown_presets_are_refused_before_the_first_field(self):
        write_field(self.fields / "U_10x20.f32", 200)
        code, _, err = self.run_batch("--presets", "ratio,bogus")
        self.assertEqual((code, self.compressions()), (2, []))
        self.assertIn("error: cuszi: --preset 'bogus' is not one of ratio, cusz", err)
        self.assertFalse(self.report.exists())

    def test_a_table_has_one_unit_of_speed(self):
        rows = [{"compress_gb_per_s": "0.12", "decompress_gb_per_s": "12.5"},
                {"compress_gb_per_s": "", "decompress_gb_per_s": "2"}]
        self.assertEqual(batch.speed_unit(rows), ("GB/s", 1))
        self.assertEqual(batch.speed_unit(rows[:1] + [{"compress_gb_per_s": "0.5",
                                                       "decompress_gb_per_s": "0.6"}]), ("MB/s", 1000))
        self.assertEqual(batch.speed_unit([]), ("MB/s", 1000))
        cells = [batch.speed_cell(row, "compress_gb_per_s", 1000) for row in rows]
        self.assertEqual(cells + [batch.speed_cell(rows[0], "decompress_gb_per_s", 1000)],
                         ["120", "-", "12500"])

    def test_goes_on_after_failures_and_tries_them_again(self):
        for name in ("bad_10x20.f32", "good_10x20.f32", "violated_10x20.f32"):
            write_field(self.fields / name, 200)
        for _ in range(2):
            code, out, err = self.run_batch("--error-bounds", "1e-3")
            self.assertEqual(code, 1)
            self.assertIn("2 failed", out)
            self.assertIn("failed: bad_10x20.f32, ratio, 0.001: cuszi: the size of bad is not what "
                          "its dims say | give -d (exit 1)", err)
            self.assertIn("violated_10x20.f32", err)
            self.assertIn("## Failed", self.text())
            self.assertIn("| 0.001 | 1 | 31.62 |", self.text())
            self.assertEqual({r["file"]: bool(r["failure"]) for r in self.rows()},
                             {"bad_10x20.f32": True, "good_10x20.f32": False,
                              "violated_10x20.f32": True})
        self.assertEqual(len(self.compressions()), 2)

    def test_goes_on_where_it_stopped(self):
        self.without_drawing()
        first = write_field(self.fields / "a_10x20.f32", 200)
        write_field(self.fields / "b_10x20.f32", 200)
        self.run_batch("--error-bounds", "1e-2,1e-3")
        self.assertEqual(len(self.compressions()), 4)
        report = self.text()
        self.run_batch("--error-bounds", "1e-2,1e-3")
        self.assertEqual(self.compressions(), [])
        self.assertEqual(self.text(), report)

        # Stopped in the middle of the last row, with rubbish behind it.
        path = self.report / "results.csv"
        path.write_bytes(path.read_bytes()[:-30] + b"\0\xff\"")
        self.run_batch("--error-bounds", "1e-2,1e-3")
        self.assertEqual(len(self.compressions()), 1)
        self.assertEqual(self.text(), report)

        # A new bound, a changed file, a lost picture, another mode, a table that is not ours.
        self.run_batch("--error-bounds", "1e-2,1e-3,1e-5")
        self.assertEqual(len(self.compressions()), 2)
        os.utime(first, ns=(1, 1))
        self.run_batch("--error-bounds", "1e-2,1e-3")
        self.assertEqual([c[1] for c in self.compressions()], [str(first)] * 2)
        self.assertEqual(len(self.rows()), 5)
        if batch.analysis:
            (self.report / "pictures" / "b_10x20.f32.ratio_0.01.png").unlink()
            self.run_batch("--error-bounds", "1e-2,1e-3")
            self.assertEqual(len(self.compressions()), 1)
        self.run_batch("--error-bounds", "1e-2", "--mode", "abs")
        self.assertEqual(len(self.compressions()), 2)
        path.write_text("a,b\n1,2\n")
        self.run_batch("--error-bounds", "1e-2")
        self.assertEqual(len(self.compressions()), 2)
        self.run_batch("--error-bounds", "1e-2", "--fresh")
        self.assertEqual(len(self.compressions()), 2)

    def test_jobs_archives_and_report_inside_the_folder(self):
        self.without_drawing()
        for i in range(5):
            write_field(self.fields / f"f{i}_10x20.f32", 200)
        self.report = self.fields / "report"
        for compressions in (10, 0):
            code, _, _ = self.run_batch("--error-bounds", "1e-2,1e-3", "--jobs", "3",
                                        "--keep-archives")
            self.assertEqual((code, len(self.compressions())), (0, compressions))
        archive = self.report / "archives" / "f3_10x20.f32.ratio_0.001.cuszi"
        self.assertEqual(archive.stat().st_size, 800)
        self.assertFalse(list(self.report.rglob("*.restored")))


@unittest.skipUnless(batch.analysis, "numpy and matplotlib are not installed")
class Pictures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def field(self, values, dims, dtype="f64"):
        path = self.folder / f"field{len(list(self.folder.iterdir()))}"
        path.write_bytes(array({"f32": "f", "f64": "d"}[dtype], values).tobytes())
        return Field(path, path.name, dims, dtype, path.stat().st_size, path.stat().st_mtime_ns)

    def plane(self, values, dims, fills=(), dtype="f64"):
        """The most varied one: its name and its values, thinned to 512."""
        field = self.field(values, dims, dtype)
        plane = slices.most_varied(field, fills)
        return plane.name, slices.thinned(slices.planes_in(field.path, dims, dtype)[plane.index], 512).tolist()

    def test_slices_are_the_most_varied_plane(self):
        values = [float(i % 3) for i in range(4 * 3 * 2 * 5)]
        values[70] = 50.0  # of plane 7
        values[31] = 1e20  # missing, of plane 3
        values[52] = float("nan")
        expected = "slice [2, 1, 0, :, :]", [values[70:75], values[75:80]]
        dims = (4, 3, 1, 2, 5)
        self.assertEqual(self.plane(values, dims, ("1e20",)), expected)
        self.assertEqual(self.plane(values, dims, ("1e20",), "f32"), expected)  # as f32 has it
        self.assertEqual(self.plane(values, dims)[0], "slice [1, 0, 0, :, :]")
        self.assertEqual(self.plane(range(8), (2, 1, 4)), ("the whole field", [[0, 1, 2, 3], [4, 5, 6, 7]]))

    def test_slices_of_fields_without_planes(self):
        name, line = self.plane(range(120), (120,))
        self.assertEqual((name, len(line), line[1][0]), ("the first 100 values in rows of 10", 10, 10))
        self.assertEqual(self.plane([3], (1, 1))[1], [[3]])
        self.assertEqual(self.plane([math.nan] * 40, (2, 4, 5))[0], "slice [0, :, :]")
        self.assertEqual([len(row) for row in self.plane([0.0] * 6000, (3, 2000))[1]], [500] * 3)
        many = self.plane([0.0] * 4 * 600 + [0.0, 1e308, 0.0, -1e308], (601, 2, 2))
        self.assertEqual(many[0], "slice [600, :, :]")

    def test_pictures_show_the_errors(self):
        values = [0.0] * 6 + [0.0, 8.0, 4.0, 2.0, 1e20, 0.0]
        field = self.field(values, (2, 2, 3))
        restored = self.field([v + e for v, e in zip(values, [9] * 6 + [0, 0.5, -0.5, 0, 0, 0])], (2, 2, 3))
        with mock.patch.object(pictures, "slice_picture") as drawn:
            batch.draw_slice(None, "t", field, ("1e20",), restored.path)
        (_, title, (original, after, error)), _ = drawn.call_args
        self.assertEqual((title, error.title), ("t, slice [1, :, :]", "error, at most 0.5"))
        self.assertEqual([(panel.low, panel.high) for panel in (original, after, error)], [(0, 8), (0, 8), (-0.5, 0.5)])
        self.assertEqual(original.values.tolist(), [[0, 8, 4], [2, None, 0]])
        self.assertEqual(after.values.tolist(), [[0, 8.5, 3.5], [2, None, 0]])
        self.assertEqual(error.values.tolist(), [[0, 0.5, -0.5], [0, None, 0]])

    def test_files(self):
        pictures.line_plot(self.folder / "sub/plot.png", "t", "x", "y", {"a": [(1, 2), (3, 4)]})
        batch.draw_slice(self.folder / "sub/slice.png", "t$", field := self.field(range(12), (2, 2, 3)), (), field.path)
        for path in (self.folder / "sub").iterdir():
            self.assertEqual(path.read_bytes()[:4], b"\x89PNG")


if __name__ == "__main__":
    unittest.main()
