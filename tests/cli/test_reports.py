"""What the tool tells of its work."""

import array
import json
import os
import re
import struct
import unittest
from fractions import Fraction

from cli_test import (ARCHIVE, BITCOMP_ARCHIVE, BOUND, CliTest, INPUT, QUALITY_KEYS, REPORT_KEYS,
                      USAGE, also_sanitized, has_device)


class Reports(CliTest):
    def test_compress(self):
        original = self.field("u_20x30x40.f32")
        report, = self.report("compress", "u_20x30x40.f32", "-e", "1e-3")
        self.assertLessEqual(REPORT_KEYS, set(report))
        self.assertTrue(all(report[key] is None for key in QUALITY_KEYS))
        self.assertEqual(report["input"], "u_20x30x40.f32")
        self.assertEqual(report["archive"], "u_20x30x40.f32.cuszi")
        self.assertEqual(report["input_bytes"], len(original))
        archive_bytes = self.path("u_20x30x40.f32.cuszi").stat().st_size
        self.assertEqual(report["archive_bytes"], archive_bytes)
        self.assertAlmostEqual(report["ratio"], len(original) / archive_bytes)
        self.assertAlmostEqual(report["bit_rate"], 32 / report["ratio"])
        values = array.array("f", original)
        self.assertEqual((report["value_min"], report["value_max"]), (min(values), max(values)))
        exact = Fraction(1e-3) * (Fraction(max(values)) - Fraction(min(values)))
        self.assertLessEqual(report["error_bound_abs"], exact)
        self.assertAlmostEqual(report["error_bound_abs"], float(exact), places=15)
        self.assertEqual((report["predictor"], report["coder"]), ("multilevel", "ans"))
        self.assertEqual((report["lossless"], report["device"], report["masked"]),
                         ("none", "cpu", 0))

    def test_verify(self):
        self.field("u_20x30x40.f32")
        report, = self.report("compress", "u_20x30x40.f32", "-e", "1e-3", "--verify")
        self.assertTrue(report["within_bound"])
        self.assertGreater(report["psnr_db"], 60)
        self.assertGreater(report["nrmse"], 0)
        self.assertLessEqual(report["max_error_over_bound"], 1)
        self.assertAlmostEqual(report["max_abs_error"] / report["error_bound_abs"],
                               report["max_error_over_bound"])
        self.assertGreater(report["decompress_seconds"], 0)
        self.assertEqual(len(self.files()), 2)

    def test_no_error_has_no_psnr(self):
        self.field("u_20x30x40.f32")
        report, = self.report("compress", "u_20x30x40.f32", "-e", "0", "--verify")
        self.assertIsNone(report["psnr_db"])
        self.assertEqual((report["nrmse"], report["max_abs_error"]), (0, 0))
        self.assertTrue(report["within_bound"])

    def test_quiet(self):
        self.field("u_20x30x40.f32")
        result = self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "--verify", "--quiet")
        self.assertEqual((result.stdout, result.stderr), (b"", b""))

    def test_verbose(self):
        self.field("u_20x30x40.f32")
        why = (r"[\d.]+ kB: about 0\.00 s, a GPU about 0\.30 s" if has_device() else "no GPU")
        for command in [["compress", "u_20x30x40.f32", "-e", "1e-3", "--verify"],
                        ["decompress", "u_20x30x40.f32.cuszi"], ["test", "u_20x30x40.f32.cuszi"]]:
            for more, reason in [([], why), (["--device", "cpu"], "as asked")]:
                with self.subTest(command=command, more=more):
                    result = self.cuszi(*command, *more, *["-f"] * (command[0] != "test"), "-v")
                    self.assertRegex(result.stderr.decode(),
                                     rf"^cuszi: device: cpu \({reason}\)\n$")
        self.assertEqual(self.report("test", "u_20x30x40.f32.cuszi", "-v")[0]["device"], "cpu")
        self.cuszi("test", "u_20x30x40.f32.cuszi", "-v", "-q", code=USAGE)

    def test_text(self):
        self.field("u_20x30x40.f32")
        text = self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "--verify").stdout.decode()
        for word in ["20x30x40", "ratio", "PSNR", "within the bound", "MB/s"]:
            self.assertIn(word, text)

    def test_decompress_with_its_original(self):
        self.field("u_20x30x40.f32")
        compressed, = self.report("compress", "u_20x30x40.f32", "-e", "1e-3", "--verify")
        report, = self.report("decompress", "u_20x30x40.f32.cuszi", "--compare", "u_20x30x40.f32")
        self.assertLessEqual(REPORT_KEYS, set(report))
        for key in QUALITY_KEYS:
            self.assertEqual(report[key], compressed[key])

    def test_compare(self):
        self.path("a.dat").write_bytes(array.array("f", [0, 1, 2, 4]).tobytes())
        self.path("b.dat").write_bytes(array.array("f", [0, 1.5, 2, 3]).tobytes())
        report, = self.report("compare", "a.dat", "b.dat", "-d", "4", "-t", "f32")
        self.assertEqual(report["max_abs_error"], 1)
        self.assertAlmostEqual(report["nrmse"], (1.25 / 4) ** 0.5 / 4)
        self.assertAlmostEqual(report["psnr_db"], 17.0927, places=3)
        self.assertIsNone(report["within_bound"])

    @also_sanitized
    def test_fidelity(self):
        self.field("u_20x30x40.f32")
        made, = self.report("compress", "u_20x30x40.f32", "-e", "1e-3", "--verify")
        self.assertLess(abs(made["mean_error_over_bound"]), 0.5)
        self.assertIsNone(made["error_autocorrelation"])
        self.assertIsNone(made["ssim"])
        again, = self.report("decompress", "u_20x30x40.f32.cuszi", "--compare", "u_20x30x40.f32")
        compared, = self.report("compare", "u_20x30x40.f32", "u_20x30x40.restored.f32")
        for key in ["mean_error", "zeros", "false_negatives"]:
            self.assertEqual((again[key], compared[key]), (made[key], made[key]), key)
        self.assertEqual(len(again["error_autocorrelation"]), 3)
        self.assertTrue(all(abs(r) < 1 for r in again["error_autocorrelation"]))
        self.assertGreater(again["ssim"], 0.9)
        for key in ["error_autocorrelation", "ssim"]:
            self.assertEqual(again[key], compared[key], key)
        text = self.cuszi("compare", "u_20x30x40.f32", "u_20x30x40.restored.f32").stdout.decode()
        self.assertRegex(text, r"fidelity +mean error \S+, error autocorrelation .*, SSIM 0\.9")
        self.path("a.dat").write_bytes(array.array("f", [0, 0, 1, 2]).tobytes())
        self.path("b.dat").write_bytes(array.array("f", [0, -1, 1, 3]).tobytes())
        report, = self.report("compare", "a.dat", "b.dat", "-d", "4", "-t", "f32")
        self.assertEqual((report["mean_error"], report["zeros"], report["zeros_kept"],
                          report["false_negatives"], report["ssim"]), (0, 2, 1, 1, None))
        self.assertIn(b"1 of 2 zeros kept, 1 BELOW ZERO where the original has none",
                      self.cuszi("compare", "a.dat", "b.dat", "-d", "4", "-t", "f32").stdout)

    @also_sanitized
    def test_inspect(self):
        self.field("m_20x30x40.f32", "missing")
        self.cuszi("compress", "m_20x30x40.f32", "-e", "1e-2", "-m", "abs", "--fill-value", "7",
                   "--frame-size", "40K", "--predictor", "multilevel", "-o", "m.cuszi")
        report, = self.report("inspect", "m.cuszi")
        self.assertLessEqual(REPORT_KEYS, set(report))
        self.assertEqual(report["dims"], [20, 30, 40])
        self.assertEqual(report["error_bound_abs"], 1e-2)
        self.assertEqual(report["fill_values"], [7])
        self.assertGreater(report["masked"], 0)
        self.assertEqual(len(report["frame_list"]), report["frames"])
        self.assertEqual(sum(report["sections"].values()), self.path("m.cuszi").stat().st_size)
        self.assertIn("mask-bits", report["sections"])
        text = self.cuszi("inspect", "m.cuszi", "--frames").stdout.decode()
        self.assertIn("multilevel", text)
        self.assertIn("frame 1", text)
        text = self.cuszi("inspect", "m.cuszi", "--schedule").stdout.decode()
        self.assertIn("bits/pt", text)

    def test_inspect_chains_of_cells(self):
        self.field("u_64x64x64.f32", dims="64x64x64")
        self.cuszi("compress", "u_64x64x64.f32", "-e", "1e-3", "--preset", "balanced", "-o", "u.cuszi")
        passes = self.report("inspect", "u.cuszi")[0]["frame_list"][0]["schedule"]
        # 64 tiles: a lane has the classes of 1, 7 or 56 blocks of all, of 32, or of 4.
        classes = [64, 64 + 7 * 32, 64 + 7 * 32 + 56 * 4]
        codes = {p["steps"] - steps for p, steps in zip(passes, classes)}
        self.assertEqual(len(codes), 1)
        self.assertIn(codes.pop(), [64 * blocks for blocks in (8, 16, 32)])
        self.assertEqual([p["slots"] for p in passes], [64 * 64 * blocks for blocks in (1, 7, 56)])
        self.assertEqual([p["lanes"] % 32 for p in passes], [0, 0, 0])
        self.assertGreater(passes[2]["lanes"], passes[0]["lanes"])
        text = self.cuszi("inspect", "u.cuszi", "--schedule").stdout.decode()
        self.assertIn(f"dependent steps of the frame: {passes[2]['steps']}\n", text)

    def test_inspect_what_is_packed(self):
        report, = self.report("inspect", BITCOMP_ARCHIVE)
        self.assertEqual((report["lossless"], report["coder"]), ("bitcomp", "huffman"))
        frame, = report["frame_list"]
        self.assertLess(frame["sections"]["codes"], frame["unpacked"]["codes"])
        self.assertEqual(sum(report["sections"].values()), BITCOMP_ARCHIVE.stat().st_size)
        text = self.cuszi("inspect", BITCOMP_ARCHIVE).stdout.decode()
        self.assertIn("interp + huffman + bitcomp", text)
        self.assertRegex(text, r"unpacked .*codes \d+")

    @also_sanitized
    def test_bench(self):
        self.field("u_20x30x40.f32")
        report, = self.report("bench", "u_20x30x40.f32", "-e", "1e-3", "--iterations", "2")
        self.assertLessEqual(REPORT_KEYS, set(report))
        for key in ["compress_gb_per_s", "decompress_gb_per_s", "copy_gb_per_s",
                    "file_compress_gb_per_s", "file_decompress_gb_per_s", "psnr_db"]:
            self.assertGreater(report[key], 0)
        self.assertIn("predict", report["compress_steps"])
        self.assertIn("decode", report["decompress_steps"])
        self.assertIn("MB/s", self.cuszi("bench", "u_20x30x40.f32", "-e", "1e-3").stdout.decode())
        self.assertEqual(self.files(), ["u_20x30x40.f32"])

    def test_bench_under_bounds_by_place(self):
        self.field("u_40x50x60.f32", dims="40x50x60")
        self.path("bounds.f32").write_bytes(array.array("f", [1e-3, 5e-2, 1e-2, 2e-4]).tobytes())
        for places in (["--region", "0:8,10:20,:=1e-4", "--region", "30,:2=0"],
                       ["--bound-field", "bounds.f32", "--bound-blocks", "20x50x30"]):
            for mode in ("abs", "rel"):
                for size in ("1GiB", "256KiB"):
                    options = ["-m", mode, "-e", "0.05", "--frame-size", size, *places]
                    with self.subTest(options=options):
                        made, = self.report("compress", "u_40x50x60.f32", *options, "--verify", "--force")
                        measured, = self.report("bench", "u_40x50x60.f32", *options, "--iterations", "1")
                        for key in ("archive_bytes", "frames", "least_bound_abs", "lossless_points",
                                    "max_abs_error", "max_error_over_bound", "within_bound"):
                            self.assertEqual(measured[key], made[key], key)
                        self.assertTrue(measured["within_bound"])
                        self.assertGreater(measured["max_error_over_bound"], 0.5)

    def test_bench_says_no_speed_that_cannot_be(self):
        self.field("u_40x50x60.f32", dims="40x50x60")
        options = ["bench", "u_40x50x60.f32", "-e", "1e-3", "--preset", "cusz"]
        text = self.cuszi(*options).stdout.decode()
        units = {"MB/s": 1e-3, "GB/s": 1}
        rows = re.findall(r"(?m)^    ( *[a-z ]+?) +(-|[\d.]+ .B/s) +[\d.]+ s$", text)
        speed = {name.strip(): rate if rate == "-" else float(rate.split()[0]) * units[rate.split()[1]]
                 for name, rate in rows}
        self.assertLessEqual({"plain copy", "predict", "decode", "place"}, set(speed))
        fastest = 5 * os.cpu_count() * speed["plain copy"]
        for name, rate in speed.items():
            if rate != "-":
                self.assertLess(rate, fastest, name)
        self.assertEqual(speed["place"], "-")  # what decoding has done already
        self.assertNotEqual(speed["decode"], "-")

    def test_bench_of_one_value(self):
        self.path("one_1.f32").write_bytes(struct.pack("<f", 1))
        text = self.cuszi("bench", "one_1.f32", "-m", "abs", "-e", "1e-3").stdout.decode()
        self.assertRegex(text, r"(?m)^ +unpack +(?:-|[\d.]+ .B/s) +0\.\d{6} s$")

    def test_totals_say_what_was_done(self):
        for name in ["u", "v"]:
            self.field(f"{name}_20x30x40.f32")
            self.cuszi("compress", f"{name}_20x30x40.f32", "-e", "1e-3", "-o", f"{name}.cuszi")
        self.path("w.cuszi").write_bytes(b"no archive")
        listed = self.cuszi("list", "u.cuszi", "w.cuszi", "v.cuszi", code=ARCHIVE).stdout.decode()
        self.assertRegex(listed, r"total: 2 files, fields .*, ratio [\d.]+, 1 failed\n")
        self.assertNotIn("B/s", listed)  # nothing was decoded
        thinned = self.cuszi("decompress", "u.cuszi", "v.cuszi", "--stride", "2").stdout.decode()
        self.assertRegex(thinned, r"total: 2 files, fields 48.00 kB, [\d.]+ .B/s")
        tested = self.cuszi("test", "u.cuszi", "w.cuszi", "v.cuszi", code=ARCHIVE).stdout.decode()
        self.assertRegex(tested, r"total: 2 files, .*, [\d.]+ .B/s \([\d.e-]+ s\), 1 failed\n")

    @also_sanitized
    def test_failed_inputs_are_in_json_too(self):
        self.field("u_20x30x40.f32")
        self.field("v_20x30x40.f32", seed=2)
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "u.cuszi")
        fields = ["no_2x2.f32", "u_20x30x40.f32", "u_20x30x41.f32"]
        archives = ["no.cuszi", "u.cuszi", "v_20x30x40.f32"]
        for command, kind, names, codes in [
                (["compress", "-e", "1e-3"], "input", fields, [INPUT, None, INPUT]),
                (["bench", "-e", "1e-3", "--iterations", "1"], "input", fields, [INPUT, None, INPUT]),
                (["decompress"], "archive", archives, [INPUT, None, ARCHIVE]),
                (["inspect"], "archive", archives, [INPUT, None, ARCHIVE]),
                (["test"], "archive", archives, [INPUT, None, ARCHIVE]),
                (["list"], "archive", archives, [INPUT, None, ARCHIVE])]:
            with self.subTest(command=command):
                reports = self.report(*command, *names, code=INPUT)
                self.assertEqual([report[kind] for report in reports], names)
                self.assertEqual([report.get("exit_code") for report in reports], codes)
                self.assertEqual(["error" in report for report in reports], [True, False, True])
                self.assertIn(names[0], reports[0]["error"])

    def test_what_fails_after_a_report_is_one_object(self):
        self.field("u_20x30x40.f32")
        self.field("v_20x30x40.f32", seed=2)
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "u.cuszi")
        for command in [["decompress", "u.cuszi", "--compare", "v_20x30x40.f32"],
                        ["compare", "u_20x30x40.f32", "v_20x30x40.f32", "-e", "1e-3"]]:
            report, = self.report(*command, code=BOUND)
            self.assertLessEqual(REPORT_KEYS, set(report))
            self.assertEqual((report["within_bound"], report["exit_code"]), (False, BOUND))
        self.assertIn("by more than the bound", report["error"])
        self.assertIn("OVER THE BOUND", self.cuszi(*command, code=BOUND).stdout.decode())

    def test_failures_beside_data_are_told_beside_them(self):
        self.path("bad").write_bytes(b"no archive")
        for command in [["decompress", "bad", "-c"], ["decompress", "-"]]:
            result = self.cuszi(*command, "-q", "--json", code=ARCHIVE, stdin=b"no archive",
                                lines=r"^cuszi: .*\n\{.*\}\n$")
            self.assertEqual(result.stdout, b"")
            self.assertEqual(json.loads(result.stderr.splitlines()[1])["exit_code"], ARCHIVE)

    def test_single_files_that_fail_are_in_json_too(self):
        self.field("u_20x30x40.f32")
        self.path("bad").write_bytes(b"bad")
        for command, kind in [(["compare", "no_2x2.f32", "u_20x30x40.f32"], "input"),
                              (["zfp-import", "bad"], "input"), (["zfp-export", "bad"], "archive")]:
            report, = self.report(*command, code=INPUT if kind == "input" and command[0] == "compare"
                                  else ARCHIVE)
            self.assertEqual(report[kind], command[1])
            self.assertIn("error", report)

    def test_the_whole_path_is_timed(self):
        self.field("u_20x30x40.f32")
        made, = self.report("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "u.cuszi")
        self.assertGreaterEqual(made["total_seconds"], made["compress_seconds"])
        restored, = self.report("decompress", "u.cuszi")
        self.assertGreaterEqual(restored["total_seconds"], restored["decompress_seconds"])


if __name__ == "__main__":
    unittest.main()
