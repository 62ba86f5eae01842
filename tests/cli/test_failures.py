"""What the tool refuses, with which exit code, and what it leaves behind."""

import signal
import subprocess
import time
import unittest
from pathlib import Path

from cli_test import (ARCHIVE, BITCOMP_ARCHIVE, BOUND, CUSZI, CliTest, DEVICE, INPUT, OUTPUT,
                      USAGE, also_sanitized, has_device)


class ExitCodes(CliTest):
    def test_usage(self):
        self.field("u_20x30x40.f32")
        self.field("nameless.f32")
        for arguments in [
                [], ["frobnicate"], ["compress"], ["compress", "u_20x30x40.f32"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--frobnicate"],
                ["compress", "u_20x30x40.f32", "-e", "many"],
                ["compress", "u_20x30x40.f32", "-e", "-1"],
                ["compress", "u_20x30x40.f32", "-e", "nan"],
                ["compress", "u_20x30x40.f32", "-e", "inf", "-m", "abs"],
                ["compress", "u_20x30x40.f32", "-e", "2"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "-d", "20x0"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "-m", "percent"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "-t", "f8"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--predictor", "magic"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--preset", "magic"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--chunk", "1000"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--radius", "0"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--frame-size", "0"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--preset", "cuszi", "--interp",
                 "tile=7x7x7"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--reach", "4"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--axes", "layered:3"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--axes", "layered:0",
                 "-d", "1x600x40"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--axes", "diagonal"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--alpha", "0.5"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--threads", "-1"],
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--value-range", "3,1"],
                ["compress", "nameless.f32", "-e", "1e-3"],
                ["compress", "-", "-e", "1e-3"],
                ["decompress"], ["inspect"], ["bench", "u_20x30x40.f32"]]:
            with self.subTest(arguments=arguments):
                self.cuszi(*arguments, code=USAGE)
        self.assertEqual(self.files(), ["nameless.f32", "u_20x30x40.f32"])

    def test_usage_errors_name_what_is_wrong_and_what_is_accepted(self):
        self.field("u_20x30x40.f32")
        compress = ["compress", "u_20x30x40.f32", "-e", "1e-3"]
        for arguments, said in [
                (["frobnicate"], ["'frobnicate'", "cuszi --help"]),
                ([*compress, "--chunk", "1000"], ["--chunk '1000'", "power of two"]),
                ([*compress, "--fill-value", "x"], ["--fill-value 'x'", "netcdf"]),
                ([*compress, "--axes", "layered:3"], ["axis 3", "20x30x40", "0 to 2"]),
                ([*compress, "--axes", "layered:0", "-d", "1x600x40"],
                 ["axis 0 of 1x600x40", "auto"]),
                ([*compress, "--preset", "cuszi", "--interp", "tile="],
                 ["--interp tile= ''", "8x8x32"]),
                ([*compress, "--preset", "cuszi", "--interp", "tile=7x7x7"], ["7x7x7"]),
                ([*compress, "--target", "psnr:60"], ["--target", "--error-bound", "one of"]),
                (["compare", "u_20x30x40.f32", "u_20x30x40.f32", "-m", "abs"],
                 ["--mode", "--error-bound"])]:
            with self.subTest(arguments=arguments):
                error = self.cuszi(*arguments, code=USAGE).stderr.decode()
                for words in said:
                    self.assertIn(words, error)

    @also_sanitized
    def test_bounds_as_others_take_them(self):
        self.field("u_20x30x40.f32")
        relative, absolute = "--mode rel --error-bound 1e-3", "--mode abs --error-bound 0.1"
        either = "--mode MODE --error-bound BOUND"
        for words, meant in [
                ("-rel 1e-3", relative), ("--rel 1e-3", relative), ("-REL=1e-3", relative),
                ("--rel=1e-3", relative), ("-r2r 1e-3", relative), ("-M REL 1e-3", either),
                ("-M REL -R 1e-3", either), ("-R 1e-3", relative), ("-abs 0.1", absolute),
                ("--abs=0.1", absolute), ("-A 0.1", absolute), ("-M ABS -A 0.1", either),
                ("-eb 1e-3", "--error-bound 1e-3"), ("-psnr 60", "--target psnr:60")]:
            for command in ["compress", "bench"]:
                with self.subTest(command=command, words=words):
                    error = self.cuszi(command, "u_20x30x40.f32", *words.split(), "-q",
                                       code=USAGE).stderr.decode()
                    self.assertTrue(error.endswith(f"; use {meant}\n"), error)

    def test_bounds_that_are_none(self):
        self.field("u_20x30x40.f32")
        for words, said, unsaid in [
                ("-e -1", "from 0 (lossless) to below 1", "--mode abs"),
                ("-e 2", "--mode abs takes any number of at least 0", "lossless"),
                ("-e -1 -m abs", "finite number of at least 0", "fraction"),
                ("-e inf -m abs", "finite number of at least 0", "fraction"),
                ("-e rel:1e-3", "'rel:1e-3' is not a number like 1e-3, a fraction of the value range with --mode rel", "below"),
                ("-e 0.1%", "'0.1%' is not a number like 1e-3", "below")]:
            for command in [["compress"], ["bench"], ["compare", "u_20x30x40.f32"]]:
                with self.subTest(command=command, words=words):
                    error = self.cuszi(*command, "u_20x30x40.f32", *words.split(),
                                       code=USAGE).stderr.decode()
                    self.assertIn(said, error)
                    self.assertNotIn(unsaid, error)

    def test_options_without_effect(self):
        self.field("u_20x30x40.f32")
        for options, remedy in [
                (["--interp", "anchor=16"], "--predictor interp"),
                (["--preset", "cusz", "--interp", "anchor=16"], "--predictor interp"),
                (["--preset", "cusz", "--axes", "lattice"], "--predictor multilevel"),
                (["--preset", "cuszi", "--reach", "5"], "--predictor multilevel"),
                (["--predictor", "lorenzo", "--alpha", "1.5"], "--predictor multilevel"),
                (["--predictor", "interp", "--beta", "auto"], "--predictor multilevel"),
                (["--predictor", "lorenzo", "--effort", "fast"], "--predictor multilevel"),
                (["--coder", "ans", "--huffman-width", "32"], "--coder huffman"),
                (["--preset", "cusz", "--coder", "ans", "--chunk", "256"], "--coder huffman"),
                (["--index", "offset", "--partition", "4"], "--index hybrid"),
                (["--preset", "fast", "--radius", "5"], "tiles, zfp and cells"),
                (["--preset", "zfp", "--radius", "5"], "tiles, zfp and cells"),
                (["--preset", "fast", "--coder", "ans"], "tiles, zfp and cells"),
                (["--preset", "zfp", "--coder", "huffman"], "tiles, zfp and cells"),
                (["--preset", "fast", "--index", "offset"], "need no index"),
                (["--preset", "fast", "--partition", "8"], "need no index"),
                (["-m", "abs", "--value-range", "0,1"], "--mode rel")]:
            for command in ["compress", "bench"]:
                with self.subTest(command=command, options=options):
                    result = self.cuszi(command, "u_20x30x40.f32", "-e", "1e-3", *options,
                                        code=USAGE)
                    self.assertIn(remedy, result.stderr.decode())
        for option in ["--frames", "--schedule"]:
            self.cuszi("inspect", "--field-name", "u_20x30x40.f32", option, code=USAGE)
        self.assertEqual(self.files(), ["u_20x30x40.f32"])
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "--value-range", "-2,2")

    @also_sanitized
    def test_input(self):
        self.field("u_20x30x41.f32")  # made as 20x30x40
        self.path("folder_2x2.f32").mkdir()
        for name in ["missing_2x2.f32", "u_20x30x41.f32", "folder_2x2.f32"]:
            with self.subTest(name=name):
                self.cuszi("compress", name, "-e", "1e-3", code=INPUT)
        self.cuszi("decompress", "missing.cuszi", code=INPUT)
        self.cuszi("compress", "-", "-d", "10", "-t", "f32", "-e", "1e-3", "-o", "out",
                   stdin=bytes(39), code=INPUT)
        self.cuszi("compress", "-", "-d", "10", "-t", "f32", "-e", "1e-3", "-o", "out",
                   stdin=bytes(41), code=INPUT)
        self.assertEqual(self.files(), ["u_20x30x41.f32"])

    @also_sanitized
    def test_archive(self):
        original = self.field("u_20x30x40.f32")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "good.cuszi")
        good = self.path("good.cuszi").read_bytes()
        damaged = {"flipped": good[:700] + bytes([good[700] ^ 1]) + good[701:],
                   "truncated": good[:-1], "longer": good + b"\0", "field": original,
                   "empty": b"", "headless": good[1:]}
        for name, content in damaged.items():
            with self.subTest(name=name):
                self.path("bad.cuszi").write_bytes(content)
                self.cuszi("decompress", "bad.cuszi", "-o", "out.f32", code=ARCHIVE)
                self.cuszi("inspect", "bad.cuszi", code=ARCHIVE)
                self.cuszi("decompress", "-", "-o", "out.f32", stdin=content, code=ARCHIVE)
                self.assertFalse(self.path("out.f32").exists())

    def test_bound(self):
        self.field("u_20x30x40.f32", seed=1)
        self.field("v_20x30x40.f32", seed=2)
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "u.cuszi")
        result = self.cuszi("decompress", "u.cuszi", "--compare", "v_20x30x40.f32", code=BOUND)
        self.assertRegex(result.stderr.decode(), r"value at \[\d+, \d+, \d+\] \(index \d+\)")
        self.cuszi("decompress", "u.cuszi", "--compare", "u_20x30x40.f32", "--force")
        compare = ["compare", "u_20x30x40.f32", "u.restored.f32"]
        self.cuszi(*compare, "-e", "1e-3")
        self.cuszi(*compare, "-e", "1e-6", code=BOUND)
        self.cuszi(*compare)

    def test_device(self):
        self.field("u_20x30x40.f32")
        for command in [["compress"], ["compress", "-o", "u.cuszi"], ["bench"]]:
            self.cuszi(*command, "u_20x30x40.f32", "-e", "1e-3", "--preset", "cusz", "--device",
                       "cuda:99", code=DEVICE)
            self.cuszi(*command, "u_20x30x40.f32", "-e", "1e-3", "--preset", "cusz", "--device",
                       "cuda:0,63", code=DEVICE)
        self.assertEqual(self.files(), ["u_20x30x40.f32"])

    def test_bitcomp_without_a_gpu(self):
        self.field("u_20x30x40.f32")
        for command in ["compress", "bench"]:
            result = self.cuszi(command, "u_20x30x40.f32", "-e", "1e-3", "--preset", "cuszi",
                                "--lossless", "bitcomp", "--device", "cpu", code=DEVICE)
            self.assertRegex(result.stderr.decode(), r"^cuszi: .*GPU.*nvCOMP.*\n$")
        self.assertEqual(self.files(), ["u_20x30x40.f32"])
        result = self.cuszi("decompress", BITCOMP_ARCHIVE, "-o", "u.out", "--device", "cpu",
                            code=DEVICE)
        self.assertRegex(result.stderr.decode(), r"^cuszi: .*GPU.*nvCOMP.*\n$")
        self.assertEqual(self.files(), ["u_20x30x40.f32"])

    @unittest.skipIf(has_device(), "a GPU is here")
    def test_no_device(self):
        self.field("u_20x30x40.f32")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "--preset", "cusz", "--device",
                   "cuda", code=DEVICE)
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "u.cuszi")
        self.cuszi("decompress", "u.cuszi", "--device", "cuda", code=DEVICE)
        self.assertEqual(self.files(), ["u.cuszi", "u_20x30x40.f32"])

    @also_sanitized
    def test_output(self):
        self.field("u_20x30x40.f32")
        self.path("u_20x30x40.f32.cuszi").write_bytes(b"precious")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", code=OUTPUT)
        self.assertEqual(self.path("u_20x30x40.f32.cuszi").read_bytes(), b"precious")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "no/such/folder/u.cuszi",
                   code=OUTPUT)
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "--force")
        self.cuszi("decompress", "u_20x30x40.f32.cuszi")
        self.cuszi("decompress", "u_20x30x40.f32.cuszi", code=OUTPUT)
        self.cuszi("decompress", "u_20x30x40.f32.cuszi", "--force")
        self.assertEqual(self.files(), ["u_20x30x40.f32", "u_20x30x40.f32.cuszi",
                                        "u_20x30x40.restored.f32"])

    def test_an_input_is_never_overwritten(self):
        original = self.field("u_20x30x40.f32")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "--force", "-o", "u_20x30x40.f32",
                   code=USAGE)
        self.assertEqual(self.path("u_20x30x40.f32").read_bytes(), original)

    @unittest.skipIf(not Path("/dev/full").exists(), "there is no /dev/full")
    def test_a_full_device(self):
        self.field("u_20x30x40.f32")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "/dev/full", code=OUTPUT)


class Interruption(CliTest):
    @also_sanitized
    def test_no_partial_output_is_left(self):
        process = subprocess.Popen(
            [CUSZI, "compress", "-", "-d", "1000000", "-t", "f32", "-e", "1e-3", "-m", "abs",
             "--frame-size", "64K", "-o", "u.cuszi"], cwd=self.folder, stdin=subprocess.PIPE)
        process.stdin.write(bytes(1 << 20))
        process.stdin.flush()
        time.sleep(0.3)
        self.assertNotIn("u.cuszi", self.files())
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
