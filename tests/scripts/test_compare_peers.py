"""Tests of scripts/compare_peers.py with stand-ins for the peers and cuszi."""

import contextlib
import csv
import importlib.util
import io
import json
import math
import sys
import tempfile
import unittest
from array import array
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import compare_peers  # noqa: E402

# Answers as peers.py does: a known PSNR and size for each tolerance, one compressor better than the
# next. What the name of the field says goes wrong, and each request is noted.
FAKE_PYTHON = """#!{python}
import json, math, os, sys
if sys.argv[2] == "--version":
    print("fakeplugin 1.0")
    sys.exit()
job = json.loads(sys.argv[2])
name = job["compressor"]
for line in sys.stdin:
    request = json.loads(line)
    with open({log!r}, "a") as log:
        log.write(json.dumps([name, job, request]) + "\\n")
    (kind, value), = request.items()
    if "crash" in job["path"] and name == "sz3":
        print("out of luck", file=sys.stderr, flush=True)
        os.abort()
    if "refused" in job["path"] and name == "cuszi":
        print(json.dumps(dict(failure="it | does not want")), flush=True)
        continue
    psnr = value if kind == "psnr" else 5 - 20 * math.log10(value)
    values = os.path.getsize(job["path"]) // 4
    bits = psnr / 20 * {{"cuszi": 1, "sz3": 2, "sz3-hdf5": 2.5, "sperr": 1.5, "zfp": 3}}[name]
    bad = name == "sperr" and "fill" in job["path"]
    slight = name == "sperr" and "slight" in job["path"]
    print(json.dumps(dict(
        archive_bytes=bits * values / 8, psnr_db=psnr, error_bound_abs=value,
        max_error_over_bound=3.0 if bad else 1.0001, over_bound=int(bad or slight),
        missing_lost=7 * bad,
        compress_seconds=0.1, decompress_seconds=0.2)), flush=True)
"""

FAKE_CUSZI = """#!{python}
import sys
if sys.argv[1] == "inspect":
    sys.path.insert(0, {tests!r})
    import stand_in
    stand_in.tell_names(sys.argv)
    sys.exit()
print("cuszi 1.2.3" if sys.argv[1] == "--version" else {help!r})
"""


def write_script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write_field(self, name, values):
        path = self.root / "fields" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(array("f", values).tobytes())
        return path


class Runs(FolderTest):
    def setUp(self):
        super().setUp()
        self.report, self.log = self.root / "report", self.root / "requests.log"
        write_script(self.root / "venv/bin/python",
                     FAKE_PYTHON.format(python=sys.executable, log=str(self.log)))
        self.write_cuszi("--error-bound")

    def write_cuszi(self, help_text):
        self.cuszi = write_script(self.root / "cuszi",
                                  FAKE_CUSZI.format(
                                      python=sys.executable, help=help_text,
                                      tests=str(Path(__file__).parent)))

    def run_script(self, *options):
        """(exit code, stdout, stderr); the requests are in self.requests."""
        self.log.unlink(missing_ok=True)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = compare_peers.main([
                    str(self.root / "fields"), "--out", str(self.report), "--cuszi",
                    str(self.cuszi), "--venv", str(self.root / "venv"), *options])
            except SystemExit as stop:
                code = stop.code
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.requests = [json.loads(line) for line in lines]
        return code, out.getvalue(), err.getvalue()

    def rows(self):
        with open(self.report / "results.csv", newline="", encoding="utf-8") as file:
            return {(r["file"], r["compressor"], r["goal"], r["value"]): r
                    for r in csv.DictReader(file)}

    def text(self):
        return (self.report / "report.md").read_text(encoding="utf-8")

    def test_measures_and_reports(self):
        self.write_field("U_6x10x20.f32", range(1200))
        self.write_field("line_1200.f32", range(1200))
        code, out, err = self.run_script("--error-bounds", "1e-2", "--equal-psnr", "60",
                                         "--cuszi-options", "--preset x", "--fill-value", "-9",
                                         "--jobs", "2")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("2 fields, 18 measurements made, 0 failed", out)  # no SPERR of lines
        job = next(job for name, job, _ in self.requests if name == "cuszi")
        self.assertEqual((job["cuszi"], job["fill_values"]),
                         ([str(self.cuszi), "--preset", "x"], ["-9"]))
        row = self.rows()["U_6x10x20.f32", "sz3", "bound", "0.01"]
        self.assertAlmostEqual(float(row["ratio"]), 32 / 4.5)
        self.assertEqual((row["version"], row["options"]), ("fakeplugin 1.0", "--fill-value=-9"))
        row = self.rows()["U_6x10x20.f32", "sz3", "psnr", "60"]
        self.assertAlmostEqual(float(row["bit_rate"]), 6.0, places=2)
        text = self.text()
        self.assertIn("| U_6x10x20.f32 | 0.01 | 14.22 @ 45.0 | 7.11 @ 45.0 | 5.69 @ 45.0 | "
                      "9.48 @ 45.0 | 4.74 @ 45.0 | sperr | 1.500 |", text)
        self.assertIn("| line_1200.f32 | 60 | 3 | 6 | 7.5 | - | 9 | sz3 | 2.000 |", text)
        self.assertIn("| 60 | 1 | 10.67 | 5.333 | 4.267 | 7.111 | 3.556 | 2 | 1.732 | "
                      "1.5, U_6x10x20.f32 |", text)
        best = "| 0.01 | 2 | 1.73 | 1.50, U_6x10x20.f32 |"
        self.assertIn(best, text)
        self.assertIn(best, out)
        self.assertRegex(text, r"fakeplugin 1.0.*, on \d{4}-\d\d-\d\d\.")
        self.assertEqual(text.count("!["), 2 if compare_peers.measurements.pictures else 0)
        for line in text.splitlines():
            if line.startswith("!["):
                self.assertTrue((self.report / line.split("(")[1][:-1]).exists(), line)

    def test_goes_on_where_it_stopped(self):
        self.write_field("U_10x20.f32", range(200))
        options = ["--error-bounds", "1e-2,1e-3", "--equal-psnr", ""]
        for count in (10, 0):
            self.assertEqual(self.run_script(*options)[0], 0)
            self.assertEqual(len(self.requests), count)
        self.run_script(*options, "--cuszi-options", "--preset y")
        self.assertEqual({name for name, _, _ in self.requests}, {"cuszi"})
        self.write_cuszi("another program")
        self.run_script(*options)
        self.assertEqual([name for name, _, _ in self.requests], ["cuszi"] * 2)

    def test_target_of_cuszi(self):
        self.write_field("U_10x20.f32", range(200))
        self.write_cuszi("--target KIND:VALUE")
        self.run_script("--error-bounds", "1e-2", "--equal-psnr", "80")
        kinds = {(name, *request) for name, _, request in self.requests}
        self.assertIn(("cuszi", "psnr"), kinds)
        self.assertNotIn(("cuszi", "tolerance"), kinds)
        self.assertIn(("zfp", "tolerance"), kinds)

    def test_crashes_and_failures_end_nothing_else(self):
        for name in ("crash_10x20.f32", "good_10x20.f32", "refused_10x20.f32"):
            self.write_field(name, range(200))
        for count in (15, 2):
            code, out, err = self.run_script("--error-bounds", "1e-2", "--equal-psnr", "")
            self.assertEqual((code, len(self.requests)), (1, count))
            self.assertIn("failed: crash_10x20.f32, sz3, bound 0.01: crashed (signal 6): out of "
                          "luck", err)
            self.assertIn("- refused_10x20.f32, cuszi, bound 0.01: it | does not want", self.text())
        self.assertIn("| crash_10x20.f32 | 0.01 | 14.22 @ 45.0 | - |", self.text())
        self.assertIn("| 0.01 | 1 |", self.text())

    def test_what_breaks_the_bound_does_not_count(self):
        self.write_field("fill_10x20.f32", range(200))
        self.run_script("--error-bounds", "1e-2", "--equal-psnr", "60")
        self.assertIn("| 9.48 @ 45.0 (7 missing lost) | 4.74 @ 45.0 | sz3 | 2.000 |", self.text())
        self.assertIn("| 3 | 6 | 7.5 | 7 missing lost | 9 | sz3 | 2.000 |", self.text())

    def test_a_peer_slightly_over_the_bound_counts(self):
        self.write_field("slight_10x20.f32", range(200))
        self.run_script("--error-bounds", "1e-2", "--equal-psnr", "")
        self.assertIn("| 9.48 @ 45.0 (1 over) | 4.74 @ 45.0 | sperr | 1.500 |", self.text())

    def test_usage_errors(self):
        self.write_field("U_10x20.f32", range(200))
        for options in (["--error-bounds", "0"], ["--equal-psnr", "x"], ["--equal-psnr", "-3"],
                        ["--cuszi", "/no/such/cuszi"]):
            code, _, err = self.run_script(*options)
            self.assertEqual(code, 2, options)
            self.assertIn("error:", err)


class Searches(unittest.TestCase):
    @staticmethod
    def found(psnr, size, lost=0):
        return {"psnr_db": psnr, "archive_bytes": size, "missing_lost": lost}

    def test_interpolates_over_a_jump(self):
        def stairs(share):
            return self.found(70, 200) if share < 5e-3 else self.found(50, 100)

        found = compare_peers.search(stairs, 60, 100)
        self.assertEqual((found["psnr_db"], found["bit_rate"]), (60, 12))

    def test_what_cannot_be_bracketed(self):
        exact = compare_peers.search(lambda share: self.found(math.inf, 5), 60, 100)
        self.assertEqual((exact["psnr_db"], "bit_rate" in exact), (math.inf, False))
        short = compare_peers.search(lambda share: self.found(50, 5), 60, 100)
        self.assertEqual(short["note"], "reaches only 50.00 dB")
        calls = []
        lost = compare_peers.search(
            lambda share: calls.append(share) or self.found(90, 5, 3), 60, 100)
        self.assertEqual((lost["note"], len(calls)), ("3 missing values lost", 1))


def installed(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


@unittest.skipUnless(installed("numpy", "h5py", "hdf5plugin", "pysz"), "no peers installed")
class Peers(FolderTest):
    # Adds half the bound to each value, but not to the fill value 1e20.
    CUSZI = """#!{python}
import json, sys
from array import array
options = sys.argv
out = options[options.index("-o") + 1]
if options[1] == "compress":
    values = array("f", open(options[2], "rb").read())
    bound = float(options[options.index("-e") + 1])
    values = array("f", [v if v > 1e19 else v + bound / 2 for v in values])
    open(out, "wb").write(values.tobytes())
    print(json.dumps(dict(compress_seconds=1.5)))
else:
    open(out, "wb").write(open(options[2], "rb").read())
    print(json.dumps(dict(decompress_seconds=2.5)))
"""

    def measure(self, compressor, path, dims, request, **more):
        import peers
        job = {"compressor": compressor, "path": str(path), "dims": dims, "dtype": "f32",
               "fill_values": [], "time_limit": 60, "folder": str(self.root), **more}
        return peers.answer(peers.COMPRESSORS[compressor](peers.Field(job), job), request)

    def waves(self, *dims):
        return self.write_field("waves.f32", [math.sin(i / 40) for i in range(math.prod(dims))])

    def test_peers_keep_the_bound(self):
        for dims in ((20, 30, 40), (1, 60, 80), (3, 4, 20, 30)):
            path = self.waves(*dims)
            for name in ("sz3", "sz3-hdf5", "sperr", "zfp"):
                found = self.measure(name, path, dims, {"bound": 1e-3})
                self.assertEqual((found["over_bound"], found["missing_lost"]), (0, 0), name)
                self.assertLess(found["archive_bytes"], path.stat().st_size / 2, name)
                self.assertGreater(found["psnr_db"], 60, name)
        self.assertGreater(found["max_error_over_bound"], 0.2)  # ZFP's tolerance is widened

    def test_missing_values_of_sperr(self):
        for missing in (1e20, math.nan):
            values = [missing if i % 50 < 9 else math.sin(i / 40) for i in range(4000)]
            path = self.write_field("filled.f32", values)
            found = self.measure("sperr", path, (50, 80), {"bound": 1e-3}, fill_values=["1e20"])
            self.assertEqual((found["over_bound"], found["missing_lost"]), (0, 0))

    def test_cuszi_and_missing_values(self):
        script = write_script(self.root / "cuszi", self.CUSZI.format(python=sys.executable))
        path = self.write_field("filled.f32", [0.0, 2.0, 1e20, 1.0])
        more = {"cuszi": [str(script)], "fill_values": ["1e20"]}
        found = self.measure("cuszi", path, (4,), {"bound": 0.5}, **more)
        self.assertEqual((found["archive_bytes"], found["compress_seconds"],
                          found["decompress_seconds"]), (16, 1.5, 2.5))
        self.assertEqual((found["error_bound_abs"], found["max_error_over_bound"]), (1.0, 0.5))
        self.assertAlmostEqual(found["psnr_db"], 20 * math.log10(2 / 0.5))

    def test_comparison_counts_every_value(self):
        import numpy
        import peers
        path = self.write_field("field.f32", [0, 1, 2, 3, math.nan, math.nan, math.inf, 1e20])
        field = peers.Field({"path": path, "dims": [8], "dtype": "f32", "fill_values": ["1e20"]})
        restored = numpy.array([0, 1.5, math.nan, 3, math.nan, 0, -math.inf, 1.1e20], "f4")
        with mock.patch.object(peers, "BLOCK", 3):
            found = field.compare(restored, 0.25)
        self.assertEqual((field.range, found["over_bound"], found["missing_lost"]), (3, 2, 3))
        self.assertEqual(found["psnr_db"], -math.inf)
        with self.assertRaises(peers.Failure):
            peers.Field({"path": path, "dims": [9], "dtype": "f32", "fill_values": []})


if __name__ == "__main__":
    unittest.main()
