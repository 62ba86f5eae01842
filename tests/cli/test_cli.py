"""Tests of the cuszi executable as a user meets it: files, pipes, exit codes and reports.

CUSZI and MAKE_FIELD in the environment say where the executables are.
"""

import array
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

CUSZI = os.environ["CUSZI"]
MAKE_FIELD = os.environ["MAKE_FIELD"]

# Made on a GPU of BITCOMP_FIELD with BITCOMP_OPTIONS --lossless bitcomp.
BITCOMP_ARCHIVE = (Path(__file__).resolve().parents[2] / "test_data" / "bitcomp" /
                   "interp_bitcomp.cuszi")
BITCOMP_FIELD = {"kind": "smooth", "dims": "64x64x64", "dtype": "f32", "seed": 31}
BITCOMP_OPTIONS = ["-e", "1e-1", "--preset", "cuszi"]

# The sanitizers make these take minutes, and other tests go the same ways.
long_when_sanitized = unittest.skipIf(os.environ.get("SANITIZED") == "ON",
                                      "takes minutes under sanitizers")

OK, USAGE, INPUT, ARCHIVE, BOUND, DEVICE, OUTPUT = range(7)

REPORT_KEYS = {
    "input", "archive", "dtype", "dims", "input_bytes", "archive_bytes", "ratio", "bit_rate",
    "error_bound_abs", "psnr_db", "nrmse", "max_abs_error", "max_error_over_bound", "within_bound",
    "value_min", "value_max", "masked", "outliers", "patches", "predictor", "coder", "lossless",
    "device", "compress_seconds", "compress_gb_per_s", "decompress_seconds",
    "decompress_gb_per_s"}
QUALITY_KEYS = {"psnr_db", "nrmse", "max_abs_error", "max_error_over_bound", "within_bound"}


class CliTest(unittest.TestCase):
    """Runs the executable in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def path(self, name):
        return self.folder / name

    def field(self, name, kind="smooth", dims="20x30x40", dtype="f32", seed=1):
        """Makes a field; returns its bytes."""
        subprocess.run([MAKE_FIELD, kind, dims, dtype, str(seed), self.path(name)], check=True)
        return self.path(name).read_bytes()

    def cuszi(self, *arguments, code=OK, stdin=b""):
        """Runs cuszi; requires the exit code, and one line on stderr for a failure."""
        result = subprocess.run([CUSZI, *map(str, arguments)], cwd=self.folder, input=stdin,
                                capture_output=True, timeout=120)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        if code != OK:
            self.assertRegex(result.stderr.decode(), r"^(cuszi: .*\n)+$")
        return result

    def report(self, *arguments, code=OK):
        """The objects that cuszi reports in JSON, one a line."""
        lines = self.cuszi(*arguments, "--json", code=code).stdout.decode().splitlines()
        return [json.loads(line) for line in lines]

    def files(self):
        return sorted(str(path.relative_to(self.folder))
                      for path in self.folder.rglob("*") if path.is_file())

    def assert_close(self, original, restored, bound, type_code="f"):
        a, b = array.array(type_code, original), array.array(type_code, restored)
        self.assertEqual(len(a), len(b))
        self.assertTrue(all(abs(x - y) <= bound for x, y in zip(a, b)))


def has_device():
    """Whether this cuszi finds a GPU."""
    with tempfile.TemporaryDirectory() as folder:
        field = Path(folder) / "zero_4x4.f32"
        field.write_bytes(bytes(64))
        result = subprocess.run([CUSZI, "compress", field, "-e", "0", "--preset", "cusz",
                                 "--device", "cuda"], capture_output=True, timeout=120)
    return result.returncode == OK


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
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "-t", "f16"],
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
                ["compress", "u_20x30x40.f32", "-e", "1e-3", "--threads", "0"],
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
                ([*compress, "--target", "psnr:60"], ["--target", "--error-bound", "one of"])]:
            with self.subTest(arguments=arguments):
                error = self.cuszi(*arguments, code=USAGE).stderr.decode()
                for words in said:
                    self.assertIn(words, error)

    def test_options_without_effect(self):
        self.field("u_20x30x40.f32")
        for options, remedy in [
                (["--interp", "anchor=16"], "--predictor interp"),
                (["--preset", "cusz", "--interp", "anchor=16"], "--predictor interp"),
                (["--preset", "cusz", "--axes", "lattice"], "--predictor multilevel"),
                (["--preset", "cuszi", "--reach", "5"], "--predictor multilevel"),
                (["--predictor", "lorenzo", "--alpha", "1.5"], "--predictor multilevel"),
                (["--predictor", "interp", "--beta", "auto"], "--predictor multilevel"),
                (["--predictor", "lorenzo", "--effort", "best"], "--predictor multilevel"),
                (["--coder", "ans", "--huffman-width", "32"], "--coder huffman"),
                (["--preset", "cusz", "--coder", "ans", "--chunk", "256"], "--coder huffman"),
                (["--index", "offset", "--partition", "4"], "--index hybrid"),
                (["-m", "abs", "--value-range", "0,1"], "--mode abs")]:
            for command in ["compress", "bench"]:
                with self.subTest(command=command, options=options):
                    result = self.cuszi(command, "u_20x30x40.f32", "-e", "1e-3", *options,
                                        code=USAGE)
                    self.assertIn(remedy, result.stderr.decode())
        self.assertEqual(self.files(), ["u_20x30x40.f32"])
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "--value-range", "-2,2")

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


class RoundTrips(CliTest):
    def test_defaults(self):
        original = self.field("u_20x30x40.f32")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-2", "-m", "abs")
        self.cuszi("decompress", "u_20x30x40.f32.cuszi")
        restored = self.path("u_20x30x40.restored.f32").read_bytes()
        self.assertNotEqual(restored, original)
        self.assert_close(original, restored, 1e-2)
        self.assertEqual(self.path("u_20x30x40.f32").read_bytes(), original)

    @long_when_sanitized
    def test_every_method(self):
        original = self.field("u_9x10x11x12.f64", dims="9x10x11x12", dtype="f64")
        for options in [["--preset", "ratio"], ["--preset", "cuszi"], ["--preset", "cusz"],
                        ["--predictor", "lorenzo", "--coder", "huffman"],
                        ["--predictor", "lorenzo", "--coder", "ans"],
                        ["--predictor", "multilevel", "--coder", "huffman"],
                        ["--predictor", "auto"], ["--predictor", "auto", "--coder", "auto"],
                        ["--axes", "layered:1", "--reach", "7"],
                        ["--axes", "independent:0", "--alpha", "1.5", "--beta", "2.5"],
                        ["--axes", "lattice", "--effort", "best"], ["--effort", "fast"],
                        ["--preset", "cusz", "--huffman-width", "32"],
                        ["--coder", "huffman", "--huffman-width", "64"],
                        ["--index", "none"], ["--index", "offset"], ["--index", "length"],
                        ["--preset", "cuszi", "--index", "hybrid", "--chunk", "256",
                         "--partition", "4"],
                        ["--radius", "16"], ["--radius", "auto"], ["--lossless", "none"],
                        ["--preset", "cuszi", "--interp",
                         "tile=16x16x16,anchor=16,alpha=1.5,cubic=natural,order=xyz"],
                        ["--device", "cpu"]]:
            with self.subTest(options=options):
                self.cuszi("compress", "u_9x10x11x12.f64", "-e", "1e-2", "-m", "abs", *options,
                           "-o", "u.cuszi", "--force", "--verify")
                self.cuszi("decompress", "u.cuszi", "-o", "u.out", "--force")
                self.assert_close(original, self.path("u.out").read_bytes(), 1e-2, "d")

    def test_lossless(self):
        original = self.field("w_100x90.f64", "wide", "100x90", "f64")
        self.cuszi("compress", "w_100x90.f64", "-e", "0", "-o", "w.cuszi")
        self.cuszi("decompress", "w.cuszi", "-o", "w.out")
        self.assertEqual(self.path("w.out").read_bytes(), original)

    def test_fill_values(self):
        original = self.field("f_30x40x50.f32", "filled", "30x40x50")
        report, = self.report("compress", "f_30x40x50.f32", "-e", "1e-3", "--fill-value", "1e20",
                              "--fill-value", "netcdf", "--verify")
        a = array.array("f", original)
        filled = [x > 1e19 for x in a]
        self.assertEqual(report["masked"], sum(filled))
        self.assertLess(report["value_max"], 10)
        self.cuszi("decompress", "f_30x40x50.f32.cuszi")
        b = array.array("f", self.path("f_30x40x50.restored.f32").read_bytes())
        self.assertTrue(all(x == y if fill else abs(x - y) <= report["error_bound_abs"]
                            for x, y, fill in zip(a, b, filled)))

    def test_missing_fill_value_is_suspected(self):
        self.field("f_30x40x50.f32", "filled", "30x40x50")
        result = self.cuszi("compress", "f_30x40x50.f32", "-e", "1e-3")
        self.assertIn("--fill-value 1e+20", result.stderr.decode())

    def test_dims_from_names(self):
        for name, dims in [("U_20x30x40.f32", [20, 30, 40]), ("CLDHGH_1_600_40.f32", [1, 600, 40]),
                           ("p_24000.f32", [24000])]:
            with self.subTest(name=name):
                self.field(name)
                report, = self.report("compress", name, "-e", "1e-3")
                self.assertEqual(report["dims"], dims)
        self.field("d_6x7.d64", dims="6x7", dtype="f64")
        self.assertEqual(self.report("compress", "d_6x7.d64", "-e", "0")[0]["dtype"], "f64")
        self.field("b_6x7.dat", dims="6x7", dtype="f64")
        self.cuszi("compress", "b_6x7.dat", "-e", "0", code=USAGE)
        self.cuszi("compress", "b_6x7.dat", "-e", "0", "-t", "f64")
        self.field("x_20x30x40.f32", dims="20x30x40")
        report, = self.report("compress", "x_20x30x40.f32", "-e", "1e-3", "-d", "600x40")
        self.assertEqual(report["dims"], [600, 40])

    def test_byte_order_and_header(self):
        original = self.field("u_20x30x40.f32")
        swapped = array.array("f", original)
        swapped.byteswap()
        self.path("big.dat").write_bytes(b"seven b" + swapped.tobytes())
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "little.cuszi")
        self.cuszi("compress", "big.dat", "-d", "20x30x40", "-t", "f32", "-e", "1e-3",
                   "--skip-bytes", "7", "--byte-order", "big", "-o", "big.cuszi")
        little = self.path("little.cuszi").read_bytes()
        self.assertEqual(self.path("big.cuszi").read_bytes(), little)
        self.cuszi("decompress", "big.cuszi", "-o", "little.out")
        self.cuszi("decompress", "big.cuszi", "-o", "big.out", "--byte-order", "big")
        restored = array.array("f", self.path("big.out").read_bytes())
        restored.byteswap()
        self.assertEqual(restored.tobytes(), self.path("little.out").read_bytes())

    @long_when_sanitized
    def test_threads_do_not_show(self):
        self.field("u_60x70x80.f32", dims="60x70x80")
        for predictor in ["lorenzo", "interp", "multilevel"]:
            archives = set()
            for threads in [1, 2, 3]:
                self.cuszi("compress", "u_60x70x80.f32", "-e", "1e-3", "--predictor", predictor,
                           "--threads", threads, "-o", "u.cuszi", "--force")
                archives.add(self.path("u.cuszi").read_bytes())
            self.assertEqual(len(archives), 1)

    def test_a_packed_archive_tells_what_an_unpacked_one_does(self):
        self.field("s_64x64x64.f32", **BITCOMP_FIELD)
        self.cuszi("compress", "s_64x64x64.f32", *BITCOMP_OPTIONS, "-o", "s.cuszi")
        plain, = self.report("inspect", "s.cuszi")
        packed, = self.report("inspect", BITCOMP_ARCHIVE)
        for key in ["dims", "error_bound_abs", "value_min", "value_max", "predictor", "outliers"]:
            self.assertEqual(plain[key], packed[key])
        plain, packed = plain["frame_list"][0], packed["frame_list"][0]
        self.assertEqual({**packed["sections"], **packed["unpacked"]}, plain["sections"])
        self.assertLess(packed["sections"]["codes"], plain["sections"]["codes"] / 5)

    def test_a_packed_archive_restores_to_what_an_unpacked_one_does(self):
        packed = subprocess.run([CUSZI, "decompress", BITCOMP_ARCHIVE, "-o", "-"],
                                cwd=self.folder, capture_output=True, timeout=120)
        if packed.returncode == DEVICE:
            self.skipTest(packed.stderr.decode())
        self.field("s_64x64x64.f32", **BITCOMP_FIELD)
        self.cuszi("compress", "s_64x64x64.f32", *BITCOMP_OPTIONS, "-o", "s.cuszi")
        plain = self.cuszi("decompress", "s.cuszi", "-o", "-")
        self.assertEqual(packed.stdout, plain.stdout)


class Frames(CliTest):
    def setUp(self):
        super().setUp()
        self.original = self.field("u_20x30x40.f32")
        self.slice_bytes = 30 * 40 * 4
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "u.cuszi",
                   "--frame-size", 8 * self.slice_bytes)

    def test_a_field_in_frames_is_restored(self):
        report, = self.report("decompress", "u.cuszi", "--compare", "u_20x30x40.f32")
        self.assertEqual(report["frames"], 3)
        self.assertTrue(report["within_bound"])
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "one.cuszi")
        one, = self.report("decompress", "one.cuszi")
        self.assertEqual(one["frames"], 1)
        self.assertEqual(one["error_bound_abs"], report["error_bound_abs"])

    def test_a_forced_axis_is_the_field_s_in_every_frame(self):
        self.field("v_17x30x40.f32", dims="17x30x40")
        for axes, roles in [("layered:0", ["layered", "lattice", "lattice"]),
                            ("layered:1", ["lattice", "layered", "lattice"]),
                            ("independent:2", ["lattice", "lattice", "independent"])]:
            with self.subTest(axes=axes):
                made, = self.report("compress", "v_17x30x40.f32", "-e", "1e-3", "--verify",
                                    "--predictor", "multilevel", "--axes", axes, "--frame-size",
                                    8 * self.slice_bytes, "-o", "v.cuszi", "--force")
                self.assertTrue(made["within_bound"])
                frames = self.report("inspect", "v.cuszi")[0]["frame_list"]
                self.assertEqual([frame["dims"][0] for frame in frames], [8, 8, 1])
                self.assertEqual([frame["predictor"]["axes"][1:] for frame in frames],
                                 [roles, roles, ["lattice", *roles[1:]]])

    def test_a_frame_alone(self):
        self.cuszi("decompress", "u.cuszi", "-o", "whole.f32")
        whole = self.path("whole.f32").read_bytes()
        for i, (first, end) in enumerate([(0, 8), (8, 16), (16, 20)]):
            part = whole[first * self.slice_bytes:end * self.slice_bytes]
            report, = self.report("decompress", "u.cuszi", "--frame", i)
            self.assertEqual(report["dims"], [end - first, 30, 40])
            self.assertEqual(self.path(f"u.frame{i}.restored.f32").read_bytes(), part)
            piped = self.cuszi("decompress", "-", "--frame", i,
                               stdin=self.path("u.cuszi").read_bytes())
            self.assertEqual(piped.stdout, part)
        self.cuszi("decompress", "u.cuszi", "--frame", 3, code=USAGE)

    def test_frames_of_one_value(self):
        ones = array.array("f", [1.0] * 1200)
        slices = [ones.tobytes(), self.original[:self.slice_bytes], bytes(self.slice_bytes)]
        ones[5] = float("nan")
        slices.append(ones.tobytes())
        self.path("c_4x30x40.f32").write_bytes(b"".join(slices))
        self.cuszi("compress", "c_4x30x40.f32", "-e", "1e-3", "-o", "c.cuszi",
                   "--frame-size", self.slice_bytes, "--verify")
        report, = self.report("inspect", "c.cuszi")
        frames = report["frame_list"]
        self.assertEqual([frame["kind"] for frame in frames],
                         ["constant", "coded", "constant", "constant"])
        self.assertEqual([frame["value_max"] for frame in frames if frame["kind"] == "constant"],
                         [1, 0, 1])
        self.assertEqual(frames[0]["sections"], {"raw": 4})
        self.assertEqual((report["masked"], report["predictor"]), (1, "multilevel"))
        self.assertEqual(sum(report["sections"].values()), self.path("c.cuszi").stat().st_size)
        for i in [0, 2, 3]:
            self.cuszi("decompress", "c.cuszi", "--frame", i, "-o", f"{i}.f32")
            self.assertEqual(self.path(f"{i}.f32").read_bytes(), slices[i])
        preview, = self.report("decompress", "c.cuszi", "--frame", 2, "--stride", 8, "-o", "p.f32")
        self.assertEqual(preview["dims"], [1, 4, 5])
        self.assertEqual(self.path("p.f32").read_bytes(), bytes(4 * 5 * 4))

    def test_a_damaged_frame_leaves_the_others(self):
        archive = bytearray(self.path("u.cuszi").read_bytes())
        archive[len(archive) // 2] ^= 1
        self.path("bad.cuszi").write_bytes(archive)
        self.cuszi("decompress", "bad.cuszi", code=ARCHIVE)
        self.cuszi("decompress", "bad.cuszi", "--frame", 0)
        self.cuszi("decompress", "bad.cuszi", "--frame", 1, code=ARCHIVE)
        self.cuszi("decompress", "bad.cuszi", "--frame", 2)


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

    @long_when_sanitized
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

    @long_when_sanitized
    def test_ratio(self):
        for ratio in [5, 12]:
            report = self.reached("--target", f"ratio:{ratio}")
            self.assertTrue(report["target_met"])
            self.assertGreaterEqual(report["ratio"], ratio)
            self.assertLess(report["ratio"], 1.04 * ratio)
            self.assertIsNone(report["psnr_db"])

    @long_when_sanitized
    def test_a_psnr_takes_fewer_bits_than_a_bound_of_that_psnr(self):
        self.field("v_40x50x60.f32", dims="40x50x60")
        compress = ["compress", "v_40x50x60.f32", "--force"]
        at_bound, = self.report(*compress, "-e", "1e-2", "--verify")
        at_target, = self.report(*compress, "--target", f"psnr:{at_bound['psnr_db']}")
        self.assertGreaterEqual(at_target["psnr_db"], at_bound["psnr_db"])
        self.assertLess(at_target["archive_bytes"], at_bound["archive_bytes"])

    @long_when_sanitized
    def test_what_cannot_be_reached(self):
        report = self.reached("--target", "ratio:100000")
        self.assertFalse(report["target_met"])
        result = self.cuszi("compress", "u_20x30x40.f32", "--target", "ratio:100000", "--force")
        self.assertIn(b"not met", result.stderr)
        self.assertTrue(self.reached("--target", "psnr:390")["target_met"])

    def test_a_constant_field_is_lossless(self):
        self.field("c_20x30x40.f32", "constant")
        report, = self.report("compress", "c_20x30x40.f32", "--target", "psnr:60")
        self.assertEqual((report["target_met"], report["error_bound_abs"]), (True, 0))

    @long_when_sanitized
    def test_a_pipe(self):
        piped = self.cuszi("compress", "-", "-d", "20x30x40", "-t", "f32", "--target", "psnr:60",
                           "--frame-size", "40K", "--json", stdin=self.original)
        self.assertTrue(json.loads(piped.stderr)["target_met"])
        self.cuszi("decompress", "-", stdin=piped.stdout)

    def test_usage(self):
        for options in [["-e", "1e-3", "--target", "psnr:60"], ["--target", "psnr"],
                        ["--target", "psnr:-3"], ["--target", "ratio:0.5"], ["--target", "bits:3"],
                        ["--target", "psnr:60", "-m", "abs"],
                        ["--target", "psnr:60", "--value-range", "0,1"]]:
            with self.subTest(options=options):
                self.cuszi("compress", "u_20x30x40.f32", *options, code=USAGE)


class Previews(CliTest):
    """--stride against the same points of the whole field."""

    def every(self, values, dims, steps, size=4):
        (depth, height, width), (a, b, c) = dims, steps
        return b"".join(values[i * size:(i + 1) * size]
                        for z in range(0, depth, a) for y in range(0, height, b)
                        for i in range((z * height + y) * width, (z * height + y + 1) * width, c))

    def setUp(self):
        super().setUp()
        self.field("u_20x30x40.f32")

    def compress(self, *options):
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "u.cuszi", "--force", *options)
        self.cuszi("decompress", "u.cuszi", "-o", "whole.f32", "--force")
        return self.path("whole.f32").read_bytes()

    def test_values_and_dims(self):
        for options, steps in [(["--axes", "lattice"], (4, 4, 4)),
                               (["--axes", "layered:0"], (1, 4, 4)),
                               (["--predictor", "multilevel", "--axes", "independent:2"],
                                (4, 4, 1)),
                               (["--preset", "cusz"], (4, 4, 4)),
                               (["--axes", "lattice", "--frame-size", "40K"], (4, 4, 4)),
                               (["--axes", "lattice", "--frame-size", "15K"], (4, 4, 4))]:
            with self.subTest(options=options):
                whole = self.compress(*options)
                report, = self.report("decompress", "u.cuszi", "--stride", 4, "--force",
                                      "--compare", "u_20x30x40.f32")
                dims = [-(-extent // step) for extent, step in zip((20, 30, 40), steps)]
                self.assertEqual((report["dims"], report["stride"]), (dims, 4))
                self.assertTrue(report["within_bound"])
                shown = self.every(whole, (20, 30, 40), steps)
                self.assertEqual(self.path("u.stride4.restored.f32").read_bytes(), shown)
                piped = self.cuszi("decompress", "-", "--stride", 4,
                                   stdin=self.path("u.cuszi").read_bytes())
                self.assertEqual(piped.stdout, shown)

    def test_a_frame_is_a_field_of_its_own(self):
        whole = self.compress("--axes", "lattice", "--frame-size", "15K")  # 3 slices
        report, = self.report("decompress", "u.cuszi", "--frame", 1, "--stride", 2, "-o", "f.f32")
        self.assertEqual((report["dims"], report["frame"]), ([2, 15, 20], 1))
        frame = whole[3 * 4800:6 * 4800]
        self.assertEqual(self.path("f.f32").read_bytes(), self.every(frame, (3, 30, 40), (2, 2, 2)))

    def test_only_a_prefix_is_read(self):
        self.field("v_64x64x64.f32", dims="64x64x64")
        self.cuszi("compress", "v_64x64x64.f32", "-e", "1e-4", "--axes", "lattice", "-o", "v.cuszi")
        archive = bytearray(self.path("v.cuszi").read_bytes())
        sound, = self.report("decompress", "v.cuszi", "--stride", 8, "-o", "sound.f32")
        self.assertEqual(sound["archive_bytes"], len(archive))
        self.assertLess(sound["read_bytes"], len(archive) / 3)
        archive[len(archive) // 2] ^= 1
        self.path("bad.cuszi").write_bytes(archive)
        self.cuszi("decompress", "bad.cuszi", "-o", "bad.f32", code=ARCHIVE)
        self.cuszi("decompress", "bad.cuszi", "-o", "bad.f32", "--stride", 8)
        self.assertEqual(self.path("bad.f32").read_bytes(), self.path("sound.f32").read_bytes())

    def test_strides_are_powers_of_two(self):
        self.compress()
        for stride in [0, 3, -2, "many"]:
            self.cuszi("decompress", "u.cuszi", "--stride", stride, code=USAGE)


class Streams(CliTest):
    def test_pipes_give_the_bytes_of_files(self):
        original = self.field("u_20x30x40.f32")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "u.cuszi")
        archive = self.path("u.cuszi").read_bytes()
        piped = self.cuszi("compress", "-", "-d", "20x30x40", "-t", "f32", "-e", "1e-3",
                           stdin=original)
        self.assertEqual(piped.stdout, archive)
        self.assertIn(b"ratio", piped.stderr)
        self.cuszi("decompress", "u.cuszi", "-o", "u.out")
        restored = self.cuszi("decompress", "-", stdin=archive)
        self.assertEqual(restored.stdout, self.path("u.out").read_bytes())
        to_stdout = self.cuszi("decompress", "u.cuszi", "-o", "-")
        self.assertEqual(to_stdout.stdout, restored.stdout)

    def test_frames_through_pipes(self):
        original = self.field("u_20x30x40.f32")
        options = ["-d", "20x30x40", "-t", "f32", "-e", "1e-3", "--frame-size", "40K"]
        self.cuszi("compress", "u_20x30x40.f32", *options, "-o", "u.cuszi")
        piped = self.cuszi("compress", "-", *options, "--verify", stdin=original)
        self.assertEqual(piped.stdout, self.path("u.cuszi").read_bytes())

    def test_reports_go_to_stderr_beside_data(self):
        original = self.field("u_20x30x40.f32")
        piped = self.cuszi("compress", "-", "-d", "20x30x40", "-t", "f32", "-e", "1e-3", "--json",
                           stdin=original)
        self.assertEqual(json.loads(piped.stderr)["archive_bytes"], len(piped.stdout))

    def test_nothing_is_written_for_a_bad_stream(self):
        piped = self.cuszi("decompress", "-", stdin=b"no archive at all", code=ARCHIVE)
        self.assertEqual(piped.stdout, b"")


class SeveralInputs(CliTest):
    def test_a_failure_does_not_stop_the_others(self):
        self.field("a_20x30x40.f32", seed=1)
        self.field("b_20x30x41.f32", seed=2)  # made as 20x30x40
        self.field("c_20x30x40.f32", seed=3)
        names = ["a_20x30x40.f32", "b_20x30x41.f32", "missing_2x2.f32", "c_20x30x40.f32"]
        result = self.cuszi("compress", *names, "-e", "1e-3", "-o", "out", "--json", code=INPUT)
        self.assertEqual(len(result.stdout.splitlines()), 2)
        self.assertEqual(len(result.stderr.splitlines()), 2)
        self.assertIn(b"b_20x30x41.f32", result.stderr)
        self.assertIn(b"missing_2x2.f32", result.stderr)
        archives = ["out/a_20x30x40.f32.cuszi", "out/c_20x30x40.f32.cuszi"]
        self.assertEqual([name for name in self.files() if name.endswith(".cuszi")], archives)
        self.cuszi("decompress", *archives, "-o", "restored")
        self.assertIn("restored/a_20x30x40.restored.f32", self.files())

    def test_the_first_failure_decides(self):
        self.field("a_20x30x40.f32")
        self.path("a_20x30x40.f32.cuszi").write_bytes(b"")
        names = ["a_20x30x40.f32", "missing_2x2.f32"]
        self.cuszi("compress", *names, "-e", "1e-3", code=OUTPUT)
        self.cuszi("compress", *reversed(names), "-e", "1e-3", code=INPUT)


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
        self.assertEqual(report["error_bound_abs"], 1e-3 * (max(values) - min(values)))
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

    def test_text(self):
        self.field("u_20x30x40.f32")
        text = self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "--verify").stdout.decode()
        for word in ["20x30x40", "ratio", "PSNR", "within the bound", "GB/s"]:
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

    def test_inspect(self):
        self.field("m_20x30x40.f32", "missing")
        self.cuszi("compress", "m_20x30x40.f32", "-e", "1e-2", "-m", "abs", "--fill-value", "7",
                   "--frame-size", "40K", "-o", "m.cuszi")
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
        self.assertIn("frame 2", text)
        text = self.cuszi("inspect", "m.cuszi", "--schedule").stdout.decode()
        self.assertIn("bits/pt", text)

    def test_inspect_what_is_packed(self):
        report, = self.report("inspect", BITCOMP_ARCHIVE)
        self.assertEqual((report["lossless"], report["coder"]), ("bitcomp", "huffman"))
        frame, = report["frame_list"]
        self.assertLess(frame["sections"]["codes"], frame["unpacked"]["codes"])
        self.assertEqual(sum(report["sections"].values()), BITCOMP_ARCHIVE.stat().st_size)
        text = self.cuszi("inspect", BITCOMP_ARCHIVE).stdout.decode()
        self.assertIn("interp + huffman + bitcomp", text)
        self.assertRegex(text, r"unpacked .*codes \d+")

    @long_when_sanitized
    def test_bench(self):
        self.field("u_20x30x40.f32")
        report, = self.report("bench", "u_20x30x40.f32", "-e", "1e-3", "--iterations", "2")
        self.assertLessEqual(REPORT_KEYS, set(report))
        for key in ["compress_gb_per_s", "decompress_gb_per_s", "copy_gb_per_s",
                    "file_compress_gb_per_s", "file_decompress_gb_per_s", "psnr_db"]:
            self.assertGreater(report[key], 0)
        self.assertIn("predict", report["compress_steps"])
        self.assertIn("decode", report["decompress_steps"])
        self.assertIn("GB/s", self.cuszi("bench", "u_20x30x40.f32", "-e", "1e-3").stdout.decode())
        self.assertEqual(self.files(), ["u_20x30x40.f32"])

    def test_the_whole_path_is_timed(self):
        self.field("u_20x30x40.f32")
        made, = self.report("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "u.cuszi")
        self.assertGreaterEqual(made["total_seconds"], made["compress_seconds"])
        restored, = self.report("decompress", "u.cuszi")
        self.assertGreaterEqual(restored["total_seconds"], restored["decompress_seconds"])

    @long_when_sanitized
    def test_study_of_huffman(self):
        self.field("u_20x30x40.f32")
        options = ["u_20x30x40.f32", "-e", "1e-3", "--preset", "cuszi", "--iterations", "1"]
        for study in [["--study"], ["--study", "huffman"]]:
            report, = self.report("bench", *options, *study)
            rows = report["rows"]
            self.assertEqual({row["symbols"] for row in rows}, {256, 1024, 4096, 16384, 65536})
            self.assertEqual({row["unit_bits"] for row in rows}, {32, 64})
            self.assertTrue(all(row["encode_gb_per_s"] > 0 for row in rows))
        text = self.cuszi("bench", *options, "--study").stdout.decode()
        self.assertIn("unit_bits", text)
        self.assertEqual(self.files(), ["u_20x30x40.f32"])

    @long_when_sanitized
    def test_study_of_the_index(self):
        self.field("u_20x30x40.f32")
        report, = self.report("bench", "u_20x30x40.f32", "-e", "1e-3", "--preset", "cuszi",
                              "--iterations", "1", "--study", "index")
        rows = report["rows"]
        self.assertEqual({row["index"] for row in rows}, {"none", "offset", "length", "hybrid"})
        for row in rows:
            self.assertAlmostEqual(row["effective_ratio"], row["ratio"] / (1 + row["overhead"]))
            self.assertGreater(row["cpu_decode_gb_per_s"], 0)
        overhead = {(row["index"], row["chunk"], row["partition"]): row["overhead"]
                    for row in rows}
        self.assertEqual(overhead["none", None, None], 0)
        self.assertLess(overhead["length", 256, None], overhead["hybrid", 256, 32])
        self.assertLess(overhead["hybrid", 256, 32], overhead["offset", 256, None])

    def test_studies_are_of_huffman(self):
        self.field("u_20x30x40.f32")
        self.cuszi("bench", "u_20x30x40.f32", "-e", "1e-3", "--study", code=USAGE)
        self.cuszi("bench", "u_20x30x40.f32", "-e", "1e-3", "--study", "magic", code=USAGE)


@unittest.skipUnless(has_device(), "no GPU is here")
class OnADevice(CliTest):
    options = ["-e", "1e-3", "--device", "cuda:0"]

    def assert_as_on_the_cpu(self, *arguments, name="u_20x30x40.f32"):
        """The same archive and the same restored field; returns the device's report."""
        report, = self.report("compress", name, *arguments, "--device", "cuda:0", "-o", "gpu.cuszi",
                              "--force")
        self.cuszi("compress", name, *arguments, "--device", "cpu", "-o", "cpu.cuszi", "--force")
        archive = self.path("gpu.cuszi").read_bytes()
        self.assertEqual(archive, self.path("cpu.cuszi").read_bytes())
        self.cuszi("decompress", "gpu.cuszi", "--device", "cuda:0", "-o", "gpu.out", "--force")
        self.cuszi("decompress", "gpu.cuszi", "--device", "cpu", "-o", "cpu.out", "--force")
        restored = self.path("gpu.out").read_bytes()
        self.assertEqual(restored, self.path("cpu.out").read_bytes())
        piped = self.cuszi("decompress", "-", "--device", "cuda:0", stdin=archive)
        self.assertEqual(piped.stdout, restored)
        return report

    def test_files_are_those_of_the_cpu(self):
        self.field("u_20x30x40.f32")
        for preset in ["cusz", "cuszi"]:
            for more in [[], ["-m", "abs"], ["--frame-size", "40K"], ["--index", "none"],
                         ["--frame-size", "40K", "-m", "abs"], ["--value-range", "-3,3"]]:
                with self.subTest(preset=preset, more=more):
                    report = self.assert_as_on_the_cpu("-e", "1e-3", "--preset", preset, *more)
                    self.assertNotEqual(report["device"], "cpu")
        self.assert_as_on_the_cpu("-e", "0", "--preset", "cusz")

    def test_other_fields(self):
        self.field("big_20x30x40.f32", "wide")
        self.field("filled_20x30x40.f32", "filled")
        self.field("double_20x30x40.f64", "missing", dtype="f64")
        for name in ["big_20x30x40.f32", "filled_20x30x40.f32", "double_20x30x40.f64"]:
            self.assert_as_on_the_cpu("-e", "1e-2", "--preset", "cuszi", "--fill-value", "1e20",
                                      "--byte-order", "little", name=name)

    def test_byte_order_and_header(self):
        original = self.field("u_20x30x40.f32")
        swapped = array.array("f", original)
        swapped.byteswap()
        self.path("big.dat").write_bytes(b"seven b" + swapped.tobytes())
        self.cuszi("compress", "big.dat", "-d", "20x30x40", "-t", "f32", "--skip-bytes", "7",
                   "--byte-order", "big", "--preset", "cusz", "-o", "big.cuszi", *self.options)
        self.cuszi("decompress", "big.cuszi", "--byte-order", "big", "-o", "big.out", "--device",
                   "cuda")
        self.cuszi("decompress", "big.cuszi", "-o", "little.out", "--device", "cuda")
        big = array.array("f", self.path("big.out").read_bytes())
        big.byteswap()
        self.assertEqual(big.tobytes(), self.path("little.out").read_bytes())
        bound = 1e-3 * (max(array.array("f", original)) - min(array.array("f", original)))
        self.assert_close(original, big.tobytes(), bound)

    def test_several_inputs(self):
        names = [f"f{seed}_20x30x40.f32" for seed in range(4)]
        for seed, name in enumerate(names):
            self.field(name, seed=seed)
        self.field("odd_20x30x41.f32")  # made as 20x30x40
        self.cuszi("compress", *names, "odd_20x30x41.f32", "-o", "all", "--preset", "cuszi",
                   *self.options, code=INPUT)
        for name in names:
            self.cuszi("compress", name, "-o", "one.cuszi", "--force", "--preset", "cuszi",
                       *self.options)
            self.assertEqual(self.path("one.cuszi").read_bytes(),
                             self.path(f"all/{name}.cuszi").read_bytes())
        self.cuszi("decompress", *[f"all/{name}.cuszi" for name in names], "-o", "restored",
                   "--device", "cuda")
        self.assertEqual(len([name for name in self.files() if name.startswith("restored")]), 4)

    def test_streams_verify_and_compare(self):
        original = self.field("u_20x30x40.f32")
        for more in [[], ["--frame-size", "40K"]]:
            report, = self.report("compress", "u_20x30x40.f32", "--verify", "--preset", "cuszi",
                                  "-o", "u.cuszi", "--force", *more, *self.options)
            self.assertTrue(report["within_bound"])
            piped = self.cuszi("compress", "-", "-d", "20x30x40", "-t", "f32", "--preset", "cuszi",
                               *more, *self.options, stdin=original)
            self.assertEqual(piped.stdout, self.path("u.cuszi").read_bytes())
            self.cuszi("decompress", "u.cuszi", "--compare", "u_20x30x40.f32", "--device", "cuda",
                       "--force")

    def test_fill_value_is_suspected(self):
        self.field("f_30x40x50.f32", "filled", "30x40x50")
        result = self.cuszi("compress", "f_30x40x50.f32", "--preset", "cuszi", *self.options)
        self.assertIn("--fill-value 1e+20", result.stderr.decode())

    def test_a_frame_that_does_not_fit_leaves_nothing(self):
        with open(self.path("hole.f32"), "wb") as file:
            file.truncate(1 << 42)
        result = self.cuszi("compress", "hole.f32", "-d", 1 << 40, "-t", "f32", "--preset", "cusz",
                            "-m", "abs", "--frame-size", 1 << 42, "-o", "hole.cuszi",
                            *self.options, code=DEVICE)
        self.assertIn(b"memory", result.stderr)
        self.assertEqual(self.files(), ["hole.f32"])

    def test_bench_and_studies(self):
        self.field("u_20x30x40.f32")
        for preset in ["cusz", "cuszi"]:
            options = ["u_20x30x40.f32", "--preset", preset, "--iterations", "2", *self.options]
            report, = self.report("bench", *options)
            for key in ["compress_gb_per_s", "decompress_gb_per_s", "copy_gb_per_s",
                        "file_compress_gb_per_s", "file_decompress_gb_per_s", "psnr_db"]:
                self.assertGreater(report[key], 0)
            self.assertIn("encode", report["compress_steps"])
            self.assertGreater(report["file_compress_share"], 0)
            self.assertGreater(report["parts_alone"]["write_field_seconds"], 0)
            rows = self.report("bench", *options, "--study")[0]["rows"]
            self.assertEqual({row["merge"] for row in rows}, {0, 1, 2, 3, 4})
            rows = self.report("bench", *options, "--study", "index")[0]["rows"]
            self.assertTrue(all(row["device_decode_gb_per_s"] > 0 for row in rows))


class Help(CliTest):
    def test_help(self):
        text = self.cuszi("--help").stdout.decode()
        self.assertIn("slowest first", "\n".join(text.splitlines()[:3]))
        for command in ["compress", "decompress", "compare", "inspect", "bench"]:
            self.assertIn(command, text)
            help_text = self.cuszi(command, "--help").stdout.decode()
            self.assertIn("slowest first", "\n".join(help_text.splitlines()[:4]))
            self.assertIn(f"  cuszi {command} ", help_text)

    def test_every_option_is_in_the_man_page_and_the_completions(self):
        root = Path(__file__).resolve().parents[2]
        man = (root / "docs/man/cuszi.1").read_text().replace("\\-", "-")
        files = {"man page": man,
                 "bash": (root / "scripts/completion/cuszi.bash").read_text(),
                 "zsh": (root / "scripts/completion/_cuszi").read_text()}
        every = {"--version"}
        for command in ["compress", "decompress", "compare", "inspect", "bench"]:
            text = self.cuszi(command, "--help").stdout.decode()
            options = set(re.findall(r"^  (?:-\w, ?)?\s*(--[a-z-]+)", text, re.MULTILINE))
            self.assertIn("--help", options)
            self.assertIn("--json", options)
            for name, content in files.items():
                told = set(re.findall(r"(?<![\w-])--[a-z-]+", content))
                self.assertLessEqual(options, told, f"{command}: not in the {name}")
            every |= options
        for name, content in files.items():
            told = set(re.findall(r"(?<![\w-])--[a-z-]+[a-z]", content))
            self.assertLessEqual(told, every, f"in the {name} alone")

    def test_version(self):
        self.assertRegex(self.cuszi("--version").stdout.decode(), r"^cuszi \d+\.\d+\.\d+")


class Interruption(CliTest):
    def test_no_partial_output_is_left(self):
        process = subprocess.Popen(
            [CUSZI, "compress", "-", "-d", "1000000", "-t", "f32", "-e", "1e-3", "-m", "abs",
             "--frame-size", "64K", "-o", "u.cuszi"], cwd=self.folder, stdin=subprocess.PIPE)
        process.stdin.write(bytes(1 << 20))
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while not self.files() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(len(self.files()), 1)
        self.assertNotIn("u.cuszi", self.files())
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
