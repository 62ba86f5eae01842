"""Streams of zfp: its modes, and the way to its world and back."""

import array
import shutil
import subprocess
import unittest

from cli_test import ARCHIVE, CliTest, INPUT, USAGE, also_sanitized

ZFP = shutil.which("zfp")

MODES = {"accuracy": ["-a", "0.01"], "precision:20": ["-p", "20"], "rate:8": ["-r", "8"],
         "reversible": ["-R"]}


class Modes(CliTest):
    """--zfp-mode."""

    def made(self, *options, name="u_20x30x40.f32"):
        report, = self.report("compress", name, "--preset", "zfp", *options, "-o", "u.cuszi", "-f",
                              "--verify")
        self.cuszi("decompress", "u.cuszi", "-o", "u.out", "-f")
        return report, self.path("u.out").read_bytes()

    def parameters(self):
        inspected, = self.report("inspect", "u.cuszi")
        return inspected["frame_list"][0]["predictor"]

    @also_sanitized
    def test_reversible(self):
        for dtype in ["f32", "f64"]:
            original = self.field(f"u_20x30x40.{dtype}", "missing", dtype=dtype)
            report, restored = self.made("--zfp-mode", "reversible", name=f"u_20x30x40.{dtype}")
            self.assertEqual(restored, original)
            self.assertEqual(report["error_bound_abs"], 0)

    def test_precision(self):
        original = self.field("u_20x30x40.f32")
        errors = []
        for planes in [8, 16, 24]:
            report, restored = self.made("--zfp-mode", f"precision:{planes}")
            self.assertIsNone(report["error_bound_abs"])
            self.assertIsNone(report["within_bound"])
            self.assertEqual(self.parameters()["max_precision"], planes)
            errors.append(report["max_abs_error"])
        self.assertEqual(errors, sorted(errors, reverse=True))
        text = self.cuszi("inspect", "u.cuszi").stdout.decode()
        self.assertIn("bound       none", text)
        self.assertIn(" none ", self.cuszi("list", "u.cuszi").stdout.decode())

    def test_rate(self):
        self.field("u_20x32x40.f32", dims="20x32x40")
        for rate in [4, 8.5]:
            report, _ = self.made("--zfp-mode", f"rate:{rate}", name="u_20x32x40.f32")
            inspected, = self.report("inspect", "u.cuszi")
            self.assertEqual(inspected["sections"]["codes"] * 8, 20 * 32 * 40 * rate)
            self.assertNotIn("index", inspected["sections"])
            self.assertNotIn("patches", inspected["sections"])

    def test_a_bound_is_kept_in_any_mode(self):
        self.field("u_20x30x40.f32")
        for mode, bound in [("precision:11", "1e-2"), ("rate:6", "1e-3")]:
            report, _ = self.made("--zfp-mode", mode, "-e", bound)
            self.assertTrue(report["within_bound"])
            self.assertGreater(report["patches"], 0)

    def test_chunks(self):
        self.field("u_20x30x40.f32")
        restored = set()
        for options in [[], ["--zfp-chunk", "1"], ["--zfp-chunk", "65536"], ["--index", "none"],
                        ["--index", "offset", "--zfp-chunk", "3"], ["--partition", "2"]]:
            _, values = self.made("-e", "1e-3", *options)
            restored.add(values)
        self.assertEqual(len(restored), 1)
        self.made("-e", "1e-3", "--index", "length", "--zfp-chunk", "7")
        self.assertEqual((self.parameters()["index"], self.parameters()["chunk"]), ("length", 7))

    def test_several_frames(self):
        original = self.field("u_200x30x40.f32", "missing", dims="200x30x40")
        self.cuszi("compress", "u_200x30x40.f32", "--preset", "zfp", "--zfp-mode", "reversible",
                   "--frame-size", "300K", "-o", "u.cuszi")
        self.cuszi("decompress", "u.cuszi", "-o", "u.out")
        self.assertEqual(self.path("u.out").read_bytes(), original)

    def test_what_cannot_be(self):
        self.field("u_20x30x40.f32")
        compress = ["compress", "u_20x30x40.f32", "-o", "x.cuszi"]
        zfp = [*compress, "--preset", "zfp"]
        for options, told in [
                ([*zfp], "--error-bound or --target is required"),
                ([*zfp, "--zfp-mode", "rate:0"], "'rate:0' is not"),
                ([*zfp, "--zfp-mode", "rate"], "'rate' is not"),
                ([*zfp, "--zfp-mode", "precision:2.5"], "'precision:2.5' is not"),
                ([*zfp, "--zfp-mode", "precision:65"], "precision:PLANES"),
                ([*zfp, "--zfp-mode", "reversible", "-e", "1"], "has no effect"),
                ([*zfp, "--zfp-mode", "rate:8", "-m", "abs"], "goes with --error-bound"),
                ([*zfp, "--zfp-mode", "rate:8", "--target", "psnr:60"], "--zfp-mode accuracy"),
                ([*zfp, "-e", "1", "-m", "abs", "--zfp-chunk", "0"], "'0' is not"),
                ([*compress, "-e", "1e-3", "--zfp-mode", "rate:8"], "needs --preset zfp"),
                ([*compress, "-e", "1e-3", "--zfp-chunk", "8"], "needs --preset zfp")]:
            with self.subTest(options=options):
                error = self.cuszi(*options, code=USAGE).stderr.decode()
                self.assertIn(told, error)
        self.assertNotIn("x.cuszi", self.files())


if __name__ == "__main__":
    unittest.main()
