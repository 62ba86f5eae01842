"""--target instead of a bound."""

import array
import json
import math
import os
import subprocess
import unittest

from cli_test import BOUND, CUSZI, CliTest, OK, USAGE, also_sanitized


class Targets(CliTest):
    """--target instead of a bound."""

    def setUp(self):
        super().setUp()
        self.original = self.field("u_20x30x40.f32", "rough")

    def reached(self, *options, code=OK):
        report, = self.report("compress", "u_20x30x40.f32", *options, "-o", "u.cuszi", "--force",
                              code=code)
        self.cuszi("decompress", "u.cuszi", "-o", "u.out", "--force")
        self.assert_close(self.original, self.path("u.out").read_bytes(),
                          report["error_bound_abs"])
        return report

    def seconds(self, *options):
        """Of processors, the least of three times: others may be at work."""
        times = []
        for _ in range(3):
            command = [CUSZI, "compress", *options, "-o", "t.cuszi", "-f", "-q", "--threads", "1"]
            process = subprocess.Popen(command, cwd=self.folder)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, OK)
            times.append(used.ru_utime)
        return min(times)

    def test_a_psnr_takes_few_trials(self):
        self.field("u_96x96x85.f32", dims="96x96x85")
        self.field("s_40x25x25.f32", dims="40x25x25")
        for field, options, most in [("u_96x96x85.f32", [], 12),
                                     ("s_40x25x25.f32", ["--frame-size", "64K"], 40)]:
            with self.subTest(field=field):
                bound = self.seconds(field, "-e", "1e-4", *options)
                target = self.seconds(field, "--target", "psnr:80", *options)
                self.assertLess(target, most * max(bound, 0.01))

    def test_psnr(self):
        for options in [[], ["--effort", "fast"], ["--alpha", "1.5", "--beta", "2"],
                        ["--preset", "cuszi"], ["--preset", "cusz"], ["--frame-size", "40K"]]:
            with self.subTest(options=options):
                report = self.reached("--target", "psnr:60", *options)
                self.assertEqual((report["target"], report["target_met"]), ("psnr:60", True))
                self.assertGreaterEqual(report["psnr_db"], 60)
                self.assertLess(report["psnr_db"], 60.5)
                self.assertEqual(report["error_mode"], "abs")
                measured, = self.report("compare", "u_20x30x40.f32", "u.out")
                self.assertAlmostEqual(measured["psnr_db"], report["psnr_db"], places=6)

    def test_ratio(self):
        for ratio in [5, 12]:
            report = self.reached("--target", f"ratio:{ratio}")
            self.assertTrue(report["target_met"])
            self.assertGreaterEqual(report["ratio"], ratio)
            self.assertLess(report["ratio"], 1.04 * ratio)
            self.assertIsNone(report["psnr_db"])

    def test_a_psnr_takes_fewer_bits_than_a_bound_of_that_psnr(self):
        self.field("v_40x50x60.f32", dims="40x50x60")
        compress = ["compress", "v_40x50x60.f32", "--force"]
        at_bound, = self.report(*compress, "-e", "1e-2", "--verify")
        at_target, = self.report(*compress, "--target", f"psnr:{at_bound['psnr_db']}")
        self.assertGreaterEqual(at_target["psnr_db"], at_bound["psnr_db"])
        self.assertLess(at_target["archive_bytes"], at_bound["archive_bytes"])

    def test_a_psnr_takes_no_more_bits_than_multilevel_does(self):
        # At the bound that the search begins with Lorenzo takes less.
        self.field("s_100x120.f32", "steps", dims="100x120", seed=2)
        compress = ["compress", "s_100x120.f32", "--target", "psnr:60", "--force"]
        tuned, = self.report(*compress, "--predictor", "multilevel")
        chosen, = self.report(*compress)
        self.assertTrue(tuned["target_met"] and chosen["target_met"])
        self.assertLessEqual(chosen["archive_bytes"], tuned["archive_bytes"])

    def test_what_cannot_be_reached(self):
        self.path("u.cuszi").write_bytes(b"precious")
        compress = ["compress", "u_20x30x40.f32", "--target", "ratio:100000", "--force", "-o"]
        self.assertIn(b"not met", self.cuszi(*compress, "u.cuszi", code=BOUND).stderr)
        self.assertEqual(self.cuszi(*compress, "-", "-q", code=BOUND).stdout, b"")
        self.assertEqual(self.path("u.cuszi").read_bytes(), b"precious")
        report, = self.report(*compress, "u.cuszi", code=BOUND)
        self.assertEqual((report["target_met"], report["exit_code"]), (False, BOUND))
        self.assertIn("not met", report["error"])
        self.assertTrue(self.reached("--target", "psnr:390")["target_met"])

    @also_sanitized
    def test_what_may_be_missed(self):
        report = self.reached("--target", "ratio:100000", "--target-miss", "ok")
        self.assertFalse(report["target_met"])
        result = self.cuszi("compress", "u_20x30x40.f32", "--target", "ratio:100000", "--force",
                            "--target-miss", "ok", "-q")
        self.assertIn(b"not met", result.stderr)

    def test_one_of_several_that_cannot_be_reached(self):
        self.field("c_50x60x70.f32", "constant", dims="50x60x70")
        reports = self.report("compress", "u_20x30x40.f32", "c_50x60x70.f32", "--target",
                              "ratio:1000", code=BOUND)
        self.assertEqual([report["target_met"] for report in reports], [False, True])
        self.assertEqual(self.files(), ["c_50x60x70.f32", "c_50x60x70.f32.cuszi",
                                        "u_20x30x40.f32"])

    @also_sanitized
    def test_a_constant_field_is_lossless(self):
        self.field("c_20x30x40.f32", "constant")
        report, = self.report("compress", "c_20x30x40.f32", "--target", "psnr:60")
        self.assertEqual((report["target_met"], report["error_bound_abs"]), (True, 0))

    @also_sanitized
    def test_a_range_near_overflow(self):
        values = array.array("d", (8.9e307 * math.sin(0.0015 * i) for i in range(4000)))
        self.path("h_40x100.f64").write_bytes(values.tobytes())
        for target in ["psnr:60", "psnr:30", "ratio:10"]:
            with self.subTest(target=target):
                report, = self.report("compress", "h_40x100.f64", "--target", target, "--force")
                self.assertTrue(report["target_met"])
                self.assertGreater(report["error_bound_abs"], 0)
                self.assertGreater(report["ratio"], 4)
                self.cuszi("decompress", "h_40x100.f64.cuszi", "-o", "h.out", "--force")
                restored = array.array("d", self.path("h.out").read_bytes())
                error = max(abs(x - y) for x, y in zip(values, restored))
                self.assertLessEqual(error, report["error_bound_abs"])

    def test_a_pipe(self):
        piped = self.cuszi("compress", "-", "-d", "20x30x40", "-t", "f32", "--target", "psnr:60",
                           "--frame-size", "40K", "--json", stdin=self.original)
        self.assertTrue(json.loads(piped.stderr)["target_met"])
        self.cuszi("decompress", "-", stdin=piped.stdout)

    def test_usage(self):
        for options in [["-e", "1e-3", "--target", "psnr:60"], ["--target", "psnr"],
                        ["--target", "psnr:-3"], ["--target", "ratio:0.5"], ["--target", "bits:3"],
                        ["--target", "psnr:60", "-m", "abs"],
                        ["--target", "psnr:60", "--target-miss", "maybe"],
                        ["-e", "1e-3", "--target-miss", "ok"],
                        ["--target", "psnr:60", "--value-range", "0,1"]]:
            with self.subTest(options=options):
                self.cuszi("compress", "u_20x30x40.f32", *options, code=USAGE)


if __name__ == "__main__":
    unittest.main()
