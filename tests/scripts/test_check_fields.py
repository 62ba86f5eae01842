"""Tests of scripts/check_fields.py with a stand-in for cuszi."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/check_fields.py"

# Its ratio is 10 over the digits of the bound's exponent; names say what goes wrong with a field.
FAKE_CUSZI = """#!{python}
import json, os, sys
field = os.path.basename(sys.argv[2])  # the folder's name is random
if "bad" in field:
    sys.exit("cuszi: that field is bad")
report = dict(max_abs_error=1, nrmse=1, psnr_db=60.0, within_bound="violated" not in field,
              input_bytes=4000, archive_bytes=9999 if "large" in field else 400)
if sys.argv[1] == "compress":
    report["ratio"] = 10 / float(sys.argv[sys.argv.index("-e") + 1][3:])
elif "odd" in os.path.basename(sys.argv[sys.argv.index("--compare") + 1]):
    report["nrmse"] = 2
print(json.dumps(report))
"""


class CheckFields(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.cuszi = self.folder / "cuszi"
        self.cuszi.write_text(FAKE_CUSZI.format(python=sys.executable))
        self.cuszi.chmod(0o755)

    def run_on(self, names, *options):
        for name in names:
            (self.folder / name).write_bytes(bytes(4000))
        return subprocess.run([sys.executable, SCRIPT, self.folder, "--cuszi", self.cuszi,
                               "--error-bounds", "1e-2,1e-5", *options],
                              capture_output=True, text=True, check=False)

    def test_tables(self):
        done = self.run_on(["a_10x100.f32", "b_500.f64"], "--ablation")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "| field | bound | cusz | cuszi | ratio |")
        self.assertIn("| a_10x100 | 1e-2 | 5.00 @ 60.00 | 5.00 @ 60.00 | 5.00 @ 60.00 |", lines)
        self.assertIn("| *geomean of ratios* | 1e-5 | 2.00 | 2.00 | 2.00 |", lines)
        self.assertIn("| interp at 1e-3 | bound | none | level-wise bounds | axis order | full |",
                      lines)

    def test_what_is_at_fault(self):
        for name, said in [("bad", "that field is bad"), ("violated", "over the bound"),
                           ("large", "larger than the input"),
                           ("odd", "two processes restore different values")]:
            with self.subTest(name=name):
                field = f"{name}_1000.f32"
                done = self.run_on([field, "good_1000.f32"])
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{field} 1e-2 cusz: ", done.stderr)
                self.assertIn(said, done.stderr)
                self.assertNotIn("good", done.stderr)
                self.assertIn("FAILED", done.stdout)
                (self.folder / field).unlink()

    def test_usage_errors(self):
        self.assertEqual(self.run_on([]).returncode, 2)
        self.assertIn("cannot run", self.run_on(["a_1000.f32"], "--cuszi", "no/cuszi").stderr)


if __name__ == "__main__":
    unittest.main()
