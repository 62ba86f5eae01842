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
                ([*zfp, "--zfp-mode", "rate:8", "-m", "abs"], "needs --error-bound"),
                ([*zfp, "--zfp-mode", "rate:8", "--target", "psnr:60"], "--zfp-mode accuracy"),
                ([*zfp, "-e", "1", "-m", "abs", "--zfp-chunk", "0"], "'0' is not"),
                ([*compress, "-e", "1e-3", "--zfp-mode", "rate:8"], "needs --preset zfp"),
                ([*compress, "-e", "1e-3", "--zfp-chunk", "8"], "needs --preset zfp")]:
            with self.subTest(options=options):
                error = self.cuszi(*options, code=USAGE).stderr.decode()
                self.assertIn(told, error)
        self.assertNotIn("x.cuszi", self.files())


def dims_of(dims):
    """DIMS as the zfp program wants them, the fastest first."""
    extents = dims.split("x")
    return [f"-{len(extents)}", *reversed(extents)]


def in_words(stream):
    """A stream that ends with a whole word of 64 bits, as the library's do by default; Debian's end
    with a byte."""
    return stream + bytes(-len(stream) % 8)


@unittest.skipUnless(ZFP, "the program zfp is not here")
class Doors(CliTest):
    """zfp-import and zfp-export, against the library's own program."""

    def zfp(self, *arguments):
        subprocess.run([ZFP, "-q", *map(str, arguments)], cwd=self.folder, check=True,
                       capture_output=True, timeout=120)

    def imported(self, *options, code=0):
        report, = self.report("zfp-import", "u.zfp", *options, "-o", "u.cuszi", "-f", code=code)
        self.cuszi("test", "u.cuszi")
        self.cuszi("decompress", "u.cuszi", "-o", "u.out", "-f")
        return report, self.path("u.out").read_bytes()

    def test_streams_come_in_and_go_out_as_they_are(self):
        for dims, dtype in [("1000", "f32"), ("37x41", "f64"), ("20x30x41", "f32"),
                            ("5x6x7x9", "f64")]:
            name = f"u_{dims}.{dtype}"
            self.field(name, "rough", dims=dims, dtype=dtype)
            for mode, options in [*MODES.items(), ("expert", ["-c", "64", "4096", "20", "-8"])]:
                with self.subTest(dims=dims, mode=mode):
                    self.zfp("-i", name, "-z", "u.zfp", "-h", "-t", dtype, *dims_of(dims), *options)
                    self.zfp("-h", "-z", "u.zfp", "-o", "zfp.out")
                    report, restored = self.imported()
                    self.assertEqual(restored, self.path("zfp.out").read_bytes())
                    self.assertEqual(report["dims"], [int(extent) for extent in dims.split("x")])
                    self.cuszi("zfp-export", "u.cuszi", "-o", "back.zfp", "-f")
                    self.assertEqual(self.path("back.zfp").read_bytes(),
                                     in_words(self.path("u.zfp").read_bytes()))

    @also_sanitized
    def test_archives_become_streams_that_zfp_reads(self):
        self.field("u_20x30x41.f32", "sparse", dims="20x30x41")
        for mode in MODES:
            bound = ["-e", "0.01", "-m", "abs"] if mode == "accuracy" else []
            self.cuszi("compress", "u_20x30x41.f32", "--preset", "zfp", "--zfp-mode", mode, *bound,
                       "-o", "u.cuszi", "-f")
            self.cuszi("zfp-export", "u.cuszi", "-f")
            self.zfp("-h", "-z", "u.zfp", "-o", "zfp.out")
            self.zfp("-i", "u_20x30x41.f32", "-z", "own.zfp", "-h", "-f", *dims_of("20x30x41"),
                     *MODES[mode])
            self.assertEqual(self.path("u.zfp").read_bytes(),
                             in_words(self.path("own.zfp").read_bytes()))
            self.cuszi("decompress", "u.cuszi", "-o", "u.out", "-f")
            self.assertEqual(len(self.path("zfp.out").read_bytes()), 4 * 20 * 30 * 41)

    def test_frames_are_joined_and_cut(self):
        dims = "200x30x40"
        self.field("u_200x30x40.f32", "sparse", dims=dims)
        for mode, options in MODES.items():
            with self.subTest(mode=mode):
                bound = ["-e", "0.01", "-m", "abs"] if mode == "accuracy" else []
                self.cuszi("compress", "u_200x30x40.f32", "--preset", "zfp", "--zfp-mode", mode,
                           *bound, "--frame-size", "300K", "-o", "u.cuszi", "-f")
                self.cuszi("zfp-export", "u.cuszi", "-f")
                self.zfp("-i", "u_200x30x40.f32", "-z", "own.zfp", "-h", "-f", *dims_of(dims),
                         *options)
                stream = in_words(self.path("own.zfp").read_bytes())
                self.assertEqual(self.path("u.zfp").read_bytes(), stream)
                self.zfp("-h", "-z", "own.zfp", "-o", "zfp.out")
                report, restored = self.imported("--frame-size", "300K")
                self.assertGreater(report["frames"], 1)
                self.assertEqual(restored, self.path("zfp.out").read_bytes())
                self.cuszi("zfp-export", "u.cuszi", "-f")
                self.assertEqual(self.path("u.zfp").read_bytes(), stream)

    def test_streams_without_header(self):
        self.field("u_20x30x41.f64", dims="20x30x41", dtype="f64")
        told = {"accuracy": ["-e", "0.01"], "precision:20": ["--zfp-mode", "precision:20"],
                "rate:8": ["--zfp-mode", "rate:8"], "reversible": ["--zfp-mode", "reversible"]}
        for mode, options in MODES.items():
            self.zfp("-i", "u_20x30x41.f64", "-z", "u.zfp", "-d", *dims_of("20x30x41"), *options)
            self.zfp("-d", *dims_of("20x30x41"), *options, "-z", "u.zfp", "-o", "zfp.out")
            _, restored = self.imported("-d", "20x30x41", "-t", "f64", *told[mode],
                                        "--zfp-chunk", "5", "--index", "length")
            self.assertEqual(restored, self.path("zfp.out").read_bytes())

    def test_what_an_import_says(self):
        self.field("u_20x30x41.f32", dims="20x30x41")
        self.zfp("-i", "u_20x30x41.f32", "-z", "u.zfp", "-h", "-f", *dims_of("20x30x41"), "-R")
        report, _ = self.imported()
        self.assertEqual((report["error_bound_abs"], report["predictor"]), (0, "zfp"))
        self.zfp("-i", "u_20x30x41.f32", "-z", "u.zfp", "-h", "-f", *dims_of("20x30x41"), "-a", 1)
        report, _ = self.imported()
        self.assertIsNone(report["error_bound_abs"])
        self.cuszi("zfp-import", "u.zfp")
        self.assertIn("u.zfp.cuszi", self.files())
        stream = self.path("u.zfp").read_bytes()
        archive = self.cuszi("zfp-import", "-", "-c", stdin=stream).stdout
        self.assertEqual(archive, self.path("u.zfp.cuszi").read_bytes())
        self.assertEqual(self.cuszi("zfp-export", "-", "-c", stdin=archive).stdout,
                         in_words(stream))

    @also_sanitized
    def test_damaged_streams(self):
        self.field("u_20x30x41.f32", dims="20x30x41")
        self.zfp("-i", "u_20x30x41.f32", "-z", "whole.zfp", "-h", "-f", *dims_of("20x30x41"), "-a",
                 "0.001")
        whole = self.path("whole.zfp").read_bytes()
        for name, stream in [("empty", b""), ("other", b"ZIP" + whole[3:]),
                             ("version", whole[:3] + b"\x04" + whole[4:]),
                             ("short", whole[:len(whole) // 2]), ("head", whole[:9]),
                             ("dims", whole[:4] + b"\xff" * 6 + whole[10:])]:
            with self.subTest(name=name):
                self.path("u.zfp").write_bytes(stream)
                self.cuszi("zfp-import", "u.zfp", "-o", "x.cuszi", code=ARCHIVE)
        self.assertNotIn("x.cuszi", self.files())

    def test_cut_streams(self):
        """What a stream lacks is not made up from the zeros that fill up its last word."""
        self.field("u_20x30x41.f32", dims="20x30x41")
        for mode, options in MODES.items():
            self.zfp("-i", "u_20x30x41.f32", "-z", "whole.zfp", "-h", "-f", *dims_of("20x30x41"),
                     *options)
            whole = self.path("whole.zfp").read_bytes()
            for cut in [*range(1, 20), len(whole) - 9, len(whole) - 12]:
                with self.subTest(mode=mode, cut=cut, of=len(whole)):
                    self.path("u.zfp").write_bytes(whole[:-cut])
                    self.cuszi("zfp-import", "u.zfp", "-o", "x.cuszi", "-f", code=ARCHIVE)

    def test_what_cannot_come_in(self):
        self.path("i_20x30.i32").write_bytes(array.array("i", range(600)).tobytes())
        self.zfp("-i", "i_20x30.i32", "-z", "u.zfp", "-h", "-t", "i32", *dims_of("20x30"), "-R")
        error = self.cuszi("zfp-import", "u.zfp", code=INPUT).stderr.decode()
        self.assertIn("i32", error)
        self.field("u_20x30.f32", dims="20x30")
        self.zfp("-i", "u_20x30.f32", "-z", "u.zfp", "-h", "-f", *dims_of("20x1x30"), "-R")
        self.assertIn("20x1x30", self.cuszi("zfp-import", "u.zfp", code=INPUT).stderr.decode())
        for options in [["-d", "20x30"], ["-t", "f32"], ["-e", "1"], ["--zfp-mode", "rate:8"],
                        ["-d", "20x30", "-t", "f32"],
                        ["-d", "20x30", "-t", "f32", "-e", "1", "--zfp-mode", "rate:8"]]:
            with self.subTest(options=options):
                self.cuszi("zfp-import", "u.zfp", *options, code=USAGE)

    def test_what_cannot_go_out(self):
        self.field("u_20x30x41.f32", "missing", dims="20x30x41")
        export = ["zfp-export", "u.cuszi", "-o", "x.zfp"]
        for options, told in [(["--preset", "zfp", "-e", "1e-3"], "missing"),
                              (["--preset", "cusz", "-e", "1e-3"], "lorenzo"),
                              (["--preset", "zfp", "-e", "0"], "predicted")]:
            self.cuszi("compress", "u_20x30x41.f32", *options, "-o", "u.cuszi", "-f")
            self.assertIn(told, self.cuszi(*export, code=USAGE).stderr.decode())
        self.field("u_20x30x41.f32", dims="20x30x41")
        self.cuszi("compress", "u_20x30x41.f32", "--preset", "zfp", "--zfp-mode", "precision:11",
                   "-e", "1e-2", "-o", "u.cuszi", "-f")
        self.assertIn(b"that the archive stores exactly", self.cuszi(*export).stderr)
        archive = bytearray(self.path("u.cuszi").read_bytes())
        archive[len(archive) // 2] ^= 1
        self.path("u.cuszi").write_bytes(archive)
        self.cuszi(*export, "-f", code=ARCHIVE)


if __name__ == "__main__":
    unittest.main()
