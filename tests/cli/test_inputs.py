"""Tests of what the cuszi executable makes of its inputs: files that change while they are read,
values that are missing, and what is measured.

CUSZI and MAKE_FIELD in the environment say where the executables are.
"""

import array
import math
import mmap
import os
import random
import struct
import subprocess
import threading
import time
import unittest
from fractions import Fraction

from cli_test import BOUND, CUSZI, INPUT, OK, SANITIZED, CliTest, also_sanitized

NAN = float("nan")

# Large enough to be changed while it is read, in a few frames.
WATCHED_DIMS, WATCHED_FRAME = "60x150x300", "1M"
WATCHED = f"v_{WATCHED_DIMS}.f32"


class Changes(CliTest):
    """A neighbour writes to the input meanwhile."""

    def test_a_changed_input_gives_no_output(self):
        original = self.field(WATCHED, dims=WATCHED_DIMS)
        path = self.path(WATCHED)
        self.cuszi("compress", path.name, "-e", "1e-2", "-m", "abs", "-o", "v.cuszi")
        compress = ["compress", path.name, "-m", "abs", "-e", "1e-2", "-o", "out"]

        def rewrite():
            with open(path, "r+b") as file:
                file.write(original)

        def grow():
            with open(path, "ab") as file:
                file.write(b"more")

        def shrink():
            os.truncate(path, len(original) // 2)

        for command in [compress, [*compress, "--verify"],
                        ["compress", path.name, "-e", "1e-3", "-o", "out", "--frame-size", WATCHED_FRAME],
                        ["decompress", "v.cuszi", "--compare", path.name, "-o", "out"]]:
            for change in [rewrite, grow, shrink]:
                with self.subTest(command=command, change=change.__name__):
                    path.write_bytes(original)
                    time.sleep(0.03)  # past the resolution of file times
                    process = self.paused(*command, once=self.reading())
                    change()
                    self.assertEqual(self.resumed(process), INPUT, process.stderr.read())
                    self.assertNotIn("out", self.files())

    def reading(self):
        """Tells whether the input is being read: it was open at the last look, too, which it is not while its first
        bytes are looked at; the output is open, and has no name yet."""
        was_open = False

        def holds(names):
            nonlocal was_open
            is_open = any(name.endswith(WATCHED) for name in names)
            is_begun = any(name.startswith(str(self.folder)) and not name.endswith((WATCHED, "v.cuszi"))
                           for name in names)
            before, was_open = was_open, is_open
            return before and is_open and is_begun and not self.path("out").exists()

        return holds

    @also_sanitized
    def test_a_restless_input_never_breaks_anything(self):
        size = 40 * 50 * 60 * 4
        path = self.path("r_40x50x60.f32")
        path.write_bytes(bytes(size))
        stop = threading.Event()

        def flicker():
            rng = random.Random(1)
            with open(path, "r+b") as file, mmap.mmap(file.fileno(), size) as view:
                while not stop.is_set():
                    value = rng.choice([NAN, 1e20, 3.5, 0.0])
                    start = rng.randrange(0, size - 40000, 4)
                    view[start:start + 40000] = struct.pack("<f", value) * 10000

        writer = threading.Thread(target=flicker)
        writer.start()
        try:
            for turn in range(12):
                preset = ["ratio", "cuszi", "cusz"][turn % 3]
                if SANITIZED and preset == "ratio":
                    continue
                more = [["--verify"], ["--frame-size", "64K"], []][turn // 3 % 3]
                result = subprocess.run(
                    [CUSZI, "compress", path.name, "-e", "1e-3", "--preset", preset,
                     "--fill-value", "1e20", "--force", "-o", "r.cuszi", "--quiet", *more],
                    cwd=self.folder, capture_output=True, timeout=120)
                self.assertIn(result.returncode, [OK, INPUT], result.stderr.decode())
                if result.returncode == OK:
                    self.cuszi("decompress", "r.cuszi", "-o", "r.out", "--force")
        finally:
            stop.set()
            writer.join()


class Bounds(CliTest):
    def test_a_relative_bound_never_exceeds_the_exact_product(self):
        rng = random.Random(7)
        for turn in range(40):
            scale = 2.0 ** rng.randrange(-60, 60)
            values = [rng.uniform(-1, 1) * scale * rng.choice([1, 1e-9]) for _ in range(64)]
            bound = rng.choice([1e-1, 1e-2, 1e-3, 1e-4, rng.random()])
            self.path("r_64.f64").write_bytes(array.array("d", values).tobytes())
            report, = self.report("compress", "r_64.f64", "-e", repr(bound), "-o", "r.cuszi",
                                  "--force")
            exact = Fraction(bound) * (Fraction(max(values)) - Fraction(min(values)))
            self.assertLessEqual(Fraction(report["error_bound_abs"]), exact, f"turn {turn}")
            self.assertGreater(Fraction(report["error_bound_abs"]) * (1 + Fraction(1, 1 << 50)),
                               exact)


class Qualities(CliTest):
    def scaled_field(self, scale):
        values = [scale * (math.sin(i / 50) + math.cos(i / 31)) for i in range(20000)]
        self.path("s_20000.f64").write_bytes(array.array("d", values).tobytes())
        return values

    def test_a_psnr_at_any_scale(self):
        for exponent in [-1000, -560, 0, 520, 1000]:
            with self.subTest(exponent=exponent):
                values = self.scaled_field(2.0 ** exponent)
                report, = self.report("compress", "s_20000.f64", "--target", "psnr:80", "--force",
                                      "-o", "s.cuszi")
                self.assertTrue(report["target_met"])
                self.cuszi("decompress", "s.cuszi", "-o", "s.out", "--force")
                restored = array.array("d", self.path("s.out").read_bytes())
                down = 2.0 ** -exponent if exponent != -1000 else 2.0 ** 1000
                mean = math.fsum(((a - b) * down) ** 2 for a, b in zip(values, restored)) / 20000
                width = (max(values) - min(values)) * down
                psnr = 20 * math.log10(width / math.sqrt(mean))
                self.assertAlmostEqual(report["psnr_db"], psnr, places=6)
                self.assertGreaterEqual(psnr, 80)
                self.assertLess(psnr, 81)
                compared, = self.report("compare", "s_20000.f64", "s.out")
                self.assertAlmostEqual(compared["psnr_db"], psnr, places=6)
                self.assertAlmostEqual(compared["nrmse"] / 10 ** (-psnr / 20), 1, places=6)

    def test_an_unmet_target_is_never_silent(self):
        self.field("u_20x30x40.f32")
        compress = ["compress", "u_20x30x40.f32", "--target", "ratio:100000", "--quiet"]
        self.assertIn(b"not met", self.cuszi(*compress, code=BOUND).stderr)
        result = self.cuszi(*compress, "--target-miss", "ok")
        self.assertEqual(result.stdout, b"")
        self.assertRegex(result.stderr.decode(), r"^cuszi: warning: .*ratio:100000 not met.*\n$")

    def compare(self, original, restored, *more, code):
        for name, values in [("a.dat", original), ("b.dat", restored)]:
            self.path(name).write_bytes(array.array("f", values).tobytes())
        options = ["compare", "a.dat", "b.dat", "-d", str(len(original)), "-t", "f32", *more]
        report, = self.report(*options, code=code)
        return report, self.cuszi(*options, code=code)

    @also_sanitized
    def test_what_is_missing_in_one_field_alone(self):
        fill = ["--fill-value", "7"]
        for original, restored, more in [
                ([0, NAN, 2, 3], [0, 1, 2, 3], []), ([0, 1, 2, 3], [0, NAN, 2, 3], []),
                ([0, 1, 2, 3], [0, math.inf, 2, 3], []), ([0, math.inf, 2], [0, -math.inf, 2], []),
                ([0, NAN, 2], [0, math.inf, 2], []), ([0, 7, 2], [0, 1, 2], fill),
                ([0, 1, 2], [0, 7, 2], fill), ([0, NAN, 2], [0, 7, 2], fill)]:
            for bound in [[], ["-e", "0.5"], ["-m", "abs", "-e", "100"]]:
                with self.subTest(original=original, restored=restored, bound=bound):
                    report, result = self.compare(original, restored, *more, *bound, code=BOUND)
                    self.assertEqual(report["missing_differ"], 1)
                    self.assertIn(b"index 1", result.stderr)
                    self.assertIn(b"missing in only one field", result.stdout)
                    self.assertNotIn(b"within the bound", result.stdout)
        report, _ = self.compare([0, NAN, 7, math.inf], [0, NAN, 7, math.inf], *fill, code=OK)
        self.assertEqual((report["missing_differ"], report["max_abs_error"]), (0, 0))


class FillValues(CliTest):
    def warned(self, values, *fills, type_code="d", name="f_5000.f64"):
        self.path(name).write_bytes(array.array(type_code, values).tobytes())
        options = [option for fill in fills for option in ["--fill-value", fill]]
        return self.cuszi("compress", name, "-e", "1e-3", "-o", "f.cuszi", "--force",
                          *options).stderr.decode()

    def test_a_fill_value_that_is_nowhere(self):
        values = [math.sin(i / 99) for i in range(5000)]
        self.assertEqual(self.warned(values), "")
        error = self.warned(values, "1e20")
        self.assertRegex(error, r"--fill-value 1e\+20 .*no point")
        filled = [1e20 if i % 7 == 3 else v for i, v in enumerate(values)]
        self.assertEqual(self.warned(filled, "1e20"), "")
        error = self.warned(filled, "1e20", "netcdf")
        self.assertIn("9.96", error)
        self.assertNotIn("1e+20", error)

    def test_a_fill_value_of_the_other_precision(self):
        single = struct.unpack("<f", struct.pack("<f", 1e20))[0]
        values = [single if i % 7 == 3 else math.sin(i / 99) for i in range(5000)]
        error = self.warned(values, "1e20")
        self.assertIn("--fill-value 1.0000000200408773e+20", error)
        self.assertEqual(self.warned(values, "1.0000000200408773e+20"), "")
        self.assertEqual(self.warned(values, "1e20", type_code="f", name="f_5000.f32"), "")

    def test_another_fill_value_is_still_suspected(self):
        values = [1e20 if i % 7 == 3 else -999.0 if i % 11 == 5 else math.sin(i / 99)
                  for i in range(5000)]
        self.assertIn("--fill-value 1e+20", self.warned(values, "-999"))
        self.assertEqual(self.warned(values, "-999", "1e20"), "")

    def test_where_no_frame_has_both(self):
        half = [1e20] * 20000 + [math.sin(i / 99) for i in range(20000)]
        self.path("h_4x10000.f64").write_bytes(array.array("d", half).tobytes())
        result = self.cuszi("compress", "h_4x10000.f64", "-e", "1e-3", "--frame-size", "80000")
        self.assertIn("--fill-value 1e+20", result.stderr.decode())

    def test_compare_tells_of_a_spoiled_range(self):
        values = [1e20 if i % 7 == 3 else math.sin(i / 99) for i in range(5000)]
        for name, error in [("a_5000.f64", 0), ("b_5000.f64", 1e9)]:
            self.path(name).write_bytes(array.array("d", [v + error for v in values]).tobytes())
        compare = ["compare", "a_5000.f64", "b_5000.f64", "-e", "1e-3"]
        error = self.cuszi(*compare).stderr.decode()
        self.assertRegex(error, r"^cuszi: warning: a_5000.f64: 1e\+20 lies .*--fill-value 1e\+20\n$")
        self.cuszi(*compare, "--strict", code=INPUT)
        self.cuszi("compare", "a_5000.f64", "a_5000.f64", "--fill-value", "1e20", "--strict")

    def test_strict(self):
        values = [1e20 if i % 7 == 3 else math.sin(i / 99) for i in range(5000)]
        self.path("f_5000.f64").write_bytes(array.array("d", values).tobytes())
        compress = ["compress", "f_5000.f64", "-e", "1e-3", "--strict"]
        result = self.cuszi(*compress, "--quiet", code=INPUT)
        self.assertRegex(result.stderr.decode(), r"^cuszi: f_5000\.f64: 1e\+20 lies far outside")
        self.cuszi(*compress, "--fill-value", "1.0000000200408773e20", code=INPUT)
        self.assertEqual(self.files(), ["f_5000.f64"])
        result = self.cuszi(*compress, "--fill-value", "1e20", "--fill-value", "-999")
        self.assertIn("-999 matches no point", result.stderr.decode())

    def test_strict_writes_nothing_to_a_pipe(self):
        values = array.array("f", self.field("u_20x30x40.f32"))
        values[5] = 1e20
        self.path("u_20x30x40.f32").write_bytes(values.tobytes())
        for options in (["-e", "1e-3"], ["-e", "1e-3", "--verify"], ["--target", "psnr:60"], ["--target", "ratio:10"]):
            with self.subTest(options=options):
                run = self.cuszi("compress", "u_20x30x40.f32", *options, "--strict", "-q", "-o", "-", code=INPUT)
                self.assertEqual(run.stdout, b"")
                run = self.cuszi("compress", "u_20x30x40.f32", *options, "--strict", "--fill-value", "1e20", "-o", "-")
                self.cuszi("test", "-", stdin=run.stdout)

    def test_what_strict_refuses_is_told_once(self):
        values = [1e20 if i % 7 == 3 else math.sin(i / 99) for i in range(5000)]
        self.path("f_50x100.f64").write_bytes(array.array("d", values).tobytes())
        compress = ["compress", "f_50x100.f64", "--strict"]
        for command in [[*compress, "-e", "1e-3"], [*compress, "-e", "1e-3", "--verify"],
                        [*compress, "-e", "1e-3", "--json"], [*compress, "--target", "psnr:60"],
                        ["compare", "f_50x100.f64", "f_50x100.f64", "--strict"]]:
            with self.subTest(command=command):
                error = self.cuszi(*command, code=INPUT).stderr.decode()
                self.assertRegex(error, r"^cuszi: f_50x100\.f64: 1e\+20 lies .*\n$")
        error = self.cuszi(*compress, "-e", "1e-3", "--fill-value", "-999", code=INPUT).stderr.decode()
        self.assertRegex(error, r"^cuszi: warning: .*-999 matches no point\ncuszi: f_50x100\.f64: 1e\+20 .*\n$")

    def test_no_value_becomes_missing(self):
        rng = random.Random(3)
        cases = [(0.5, 1.0), (0.0, 1.0), (-0.25, 1.0), (3.0, 10.0)]
        for fill, scale in cases:
            values = [fill if rng.random() < 0.05 else
                      fill + rng.choice([1e-6, -1e-6, 1e-4]) * scale if rng.random() < 0.5 else
                      scale * math.sin(i / 40) for i in range(24000)]
            for type_code, dtype in [("f", "f32"), ("d", "f64")]:
                self.path("n.dat").write_bytes(array.array(type_code, values).tobytes())
                original = array.array(type_code, self.path("n.dat").read_bytes())
                for method in [["--preset", "cusz"], ["--preset", "cuszi"],
                               ["--predictor", "multilevel"],
                               ["--predictor", "lorenzo", "--coder", "ans"],
                               ["--target", "psnr:50"]]:
                    bound = [] if "--target" in method else ["-e", "1e-2"]
                    with self.subTest(fill=fill, dtype=dtype, method=method):
                        self.cuszi("compress", "n.dat", "-d", "20x30x40", "-t", dtype, *bound,
                                   "--fill-value", repr(fill), *method, "-o", "n.cuszi", "--force")
                        self.cuszi("decompress", "n.cuszi", "-o", "n.out", "--force")
                        restored = array.array(type_code, self.path("n.out").read_bytes())
                        self.assertEqual([x == fill for x in restored],
                                         [x == fill for x in original])


if __name__ == "__main__":
    unittest.main()
