"""Fields to archives and back, by files and pipes."""

import array
import json
import math
import subprocess
import unittest
from fractions import Fraction
from random import Random

from cli_test import (ARCHIVE, BITCOMP_ARCHIVE, BITCOMP_FIELD, BITCOMP_OPTIONS, BOUND, CUSZI, CliTest,
                      DEVICE, INPUT, OUTPUT, USAGE, also_sanitized)


class RoundTrips(CliTest):
    def test_defaults(self):
        original = self.field("u_20x30x40.f32")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-2", "-m", "abs")
        self.cuszi("decompress", "u_20x30x40.f32.cuszi")
        restored = self.path("u_20x30x40.restored.f32").read_bytes()
        self.assertNotEqual(restored, original)
        self.assert_close(original, restored, 1e-2)
        self.assertEqual(self.path("u_20x30x40.f32").read_bytes(), original)

    def test_every_method(self):
        original = self.field("u_9x10x11x12.f64", dims="9x10x11x12", dtype="f64")
        for options in [["--preset", "ratio"], ["--preset", "cuszi"], ["--preset", "cusz"],
                        ["--preset", "fast"], ["--preset", "balanced"], ["--preset", "zfp"],
                        ["--predictor", "lorenzo", "--coder", "huffman"],
                        ["--predictor", "lorenzo", "--coder", "ans"],
                        ["--predictor", "multilevel", "--coder", "huffman"],
                        ["--predictor", "auto"], ["--predictor", "auto", "--coder", "auto"],
                        ["--axes", "layered:1", "--reach", "7"],
                        ["--axes", "independent:0", "--alpha", "1.5", "--beta", "2.5"],
                        ["--axes", "lattice", "--effort", "fast"], ["--effort", "normal"],
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

    @also_sanitized
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

    def test_share_of_each_value(self):
        random = Random(3)
        values = array.array("d")
        for i in range(20 * 30 * 40):
            value = math.exp(20 * math.sin(i / 4000)) * (1 + random.random() / 50)
            values.append(random.choice((0.0, -0.0, 5e-324, -1e-310, 1e300, -1e-300))
                          if i % 97 == 0 else value if i // 900 % 2 else -value)
        self.path("wide_20x30x40.f64").write_bytes(values.tobytes())
        share = Fraction(1e-3)
        for preset in ("ratio", "balanced", "fast", "cusz", "cuszi"):
            with self.subTest(preset=preset):
                run = self.cuszi("compress", "wide_20x30x40.f64", "-m", "pwrel", "-e", "1e-3",
                                 "--preset", preset, "--verify", "--json", "-o", "w.cuszi", "--force")
                report = json.loads(run.stdout)
                self.assertEqual((report["error_mode"], report["error_bound"]), ("pwrel", 1e-3))
                self.assertTrue(report["within_bound"])
                self.assertLessEqual(report["max_pointwise_error"], 1e-3)
                self.assertGreater(report["ratio"], 2)
                self.cuszi("decompress", "w.cuszi", "-o", "w.out", "--force")
                restored = array.array("d", self.path("w.out").read_bytes())
                for was, now in zip(values, restored):
                    self.assertEqual(math.copysign(1, was), math.copysign(1, now))
                    self.assertLessEqual(abs(Fraction(was) - Fraction(now)),
                                         share * abs(Fraction(was)))
        run = self.cuszi("compress", "wide_20x30x40.f64", "-m", "pwrel", "-e", "1e-3",
                         "--preset", "zfp", code=USAGE)
        self.assertIn(b"zfp supports no bound relative to each value", run.stderr)

    def test_two_bounds(self):
        random = Random(4)
        values = array.array("d")
        for i in range(20 * 30 * 40):
            value = math.sinh(8 * math.sin(i / 4000)) * (1 + random.random() / 50)
            values.append(random.choice((0.0, -0.0, 5e-324, -1e-310, 1e300, -1e-300, math.inf, math.nan))
                          if i % 97 == 0 else value)
        self.path("wide_20x30x40.f64").write_bytes(values.tobytes())
        absolute, share = Fraction(1e-2), Fraction(1e-3)
        two = ["-e", "1e-2", "--pw", "1e-3"]
        for mode, either in (("abs-or-pwrel", max), ("ABS_AND_PW_REL", min)):
            for preset in ("ratio", "balanced", "fast", "cusz", "cuszi"):
                with self.subTest(mode=mode, preset=preset):
                    run = self.cuszi("compress", "wide_20x30x40.f64", "-m", mode, *two,
                                     "--preset", preset, "--verify", "--json", "-o", "w.cuszi", "--force")
                    report = json.loads(run.stdout)
                    self.assertEqual(report["error_mode"].replace("-", "_").lower().replace("pwrel", "pw_rel"),
                                     mode.replace("-", "_").lower().replace("pwrel", "pw_rel"))
                    self.assertEqual((report["error_bound"], report["error_bound_pw"]), (1e-2, 1e-3))
                    self.assertTrue(report["within_bound"])
                    self.assertLessEqual(report["max_error_over_bound"], 1)
                    # An anchor of `cells` that is far from its neighbours spoils its tile.
                    self.assertGreater(report["ratio"], 1 if preset == "balanced" else 2)
                    self.cuszi("decompress", "w.cuszi", "-o", "w.f64", "--force")
                    restored = array.array("d", self.path("w.f64").read_bytes())
                    for was, now in zip(values, restored):
                        if not math.isfinite(was):
                            self.assertEqual(repr(was), repr(now))
                            continue
                        self.assertLessEqual(abs(Fraction(was) - Fraction(now)),
                                             either(absolute, share * abs(Fraction(was))))
                    self.cuszi("compare", "wide_20x30x40.f64", "w.f64", "-d", "20x30x40", "-m", mode, *two)
        run = self.cuszi("compare", "wide_20x30x40.f64", "w.f64", "-d", "20x30x40", "-m", "abs-and-pwrel",
                         "-e", "1e-2", "--pw", "1e-5", code=BOUND)
        self.assertIn(b"the smaller of 0.01 and 1e-05 of its value", run.stderr)
        self.assertIn("abs-and-pwrel 0.01, 0.001", self.cuszi("list", "w.cuszi").stdout.decode())
        self.assertIn("log-linear", self.cuszi("inspect", "--frames", "w.cuszi").stdout.decode())

    def test_two_bounds_that_are_refused(self):
        self.field("u_20x30x40.f32")
        for options, said in [
                (["-m", "abs-or-pwrel", "-e", "0.1"], "--pw '0' is not a fraction of each value"),
                (["-m", "abs-or-pwrel", "-e", "0", "--pw", "0.1"], "--error-bound '0' is not a finite number above 0"),
                (["-m", "abs-and-pwrel", "-e", "inf", "--pw", "0.1"], "inf"),
                (["-m", "abs-and-pwrel", "-e", "0.1", "--pw", "1"], "--pw '1' is not a fraction of each value"),
                (["-m", "abs-and-pwrel", "-e", "0.1", "--pw", "-1"], "--pw '-1' is not a number from 0 to 1"),
                (["-e", "0.1", "--pw", "0.1"], "--pw 0.1 has no effect here"),
                (["-m", "pwrel", "-e", "0.1", "--pw", "0.1"], "--pw 0.1 has no effect here"),
                (["--target", "psnr:80", "--pw", "0.1"], "--pw 0.1 has no effect here"),
                (["-m", "abs-or-pwrel", "-e", "0.1", "--pw", "0.1", "--region", "0:8=1e-4"], "--mode rel or abs"),
                (["-m", "abs-or-pwrel", "-e", "0.1", "--pw", "0.1", "--preset", "zfp"],
                 "zfp supports no bound relative to each value (--mode abs-or-pwrel)")]:
            with self.subTest(options=options):
                run = self.cuszi("compress", "u_20x30x40.f32", *options, code=USAGE)
                self.assertIn(said, run.stderr.decode())
                self.assertEqual(run.stderr.count(b"\n"), 1)

    def assert_kept(self, original, bound_of):
        """Every value of a field of 20x30x40 is within bound_of(z, y, x) of its original."""
        restored = array.array("f", self.path("u.out").read_bytes())
        for i, (was, now) in enumerate(zip(original, restored)):
            bound = bound_of(i // 1200, i // 40 % 30, i % 40)
            self.assertLessEqual(abs(Fraction(was) - Fraction(now)), Fraction(bound), i)

    def test_regions(self):
        original = array.array("f", self.field("u_20x30x40.f32"))

        def bound_of(z, y, x):
            if z == 3 and y < 2:
                return 0
            return 1e-4 if z < 8 and 10 <= y < 20 else 0.05

        for preset in ("ratio", "balanced"):
            with self.subTest(preset=preset):
                report, = self.report("compress", "u_20x30x40.f32", "-m", "abs", "-e", "0.05", "--region",
                                     "0:8,10:20,:=1e-4", "--region", "3,:2=0", "--preset", preset, "--verify",
                                     "-o", "u.cuszi", "--force")
                self.assertEqual((report["least_bound_abs"], report["lossless_points"]), (1e-4, 80))
                self.assertLessEqual(report["max_error_over_bound"], 1)
                self.assertGreater(report["max_error_over_bound"], 0.5)
                self.assertTrue(report["within_bound"])
                self.cuszi("decompress", "u.cuszi", "-o", "u.out", "--force")
                self.assert_kept(original, bound_of)
                part, = self.report("decompress", "u.cuszi", "--box", "2:12,5:25,3:9", "--compare",
                                   "u_20x30x40.f32", "-o", "u.box", "--force")
                self.assertTrue(part["within_bound"])
                inspected, = self.report("inspect", "u.cuszi")
                frame, = inspected["frame_list"]
                self.assertEqual(frame["bounds"], {"largest": 0.05, "least": 1e-4, "kept": 80})

    def test_a_field_of_bounds(self):
        original = array.array("f", self.field("u_20x30x40.f32"))
        random = Random(1)
        for blocks in (None, (8, 16, 40)):
            counts = [math.ceil(n / b) for n, b in zip((20, 30, 40), blocks or (1, 1, 1))]
            bounds = array.array("f", [10 ** random.uniform(-4, -1) for _ in range(math.prod(counts))])
            self.path("bounds.f32").write_bytes(bounds.tobytes())
            options = ["--bound-blocks", "x".join(map(str, blocks))] if blocks else []
            with self.subTest(blocks=blocks):
                self.cuszi("compress", "u_20x30x40.f32", "-m", "abs", "-e", "0.05", "--force",
                           "--bound-field", "bounds.f32", *options, "--verify", "-o", "u.cuszi")
                self.cuszi("decompress", "u.cuszi", "-o", "u.out", "--force")

                def bound_of(*at):
                    z, y, x = (i // b for i, b in zip(at, blocks or (1, 1, 1)))
                    return min(0.05, bounds[(z * counts[1] + y) * counts[2] + x])
                self.assert_kept(original, bound_of)

    def test_a_field_of_bounds_in_f64(self):
        original = array.array("f", self.field("u_20x30x40.f32"))
        random = Random(2)
        bounds = array.array("d", [random.choice((0.1, 0.0123, 1 / 3, 7e-3)) for _ in original])
        self.path("bounds.f64").write_bytes(bounds.tobytes())
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (20, 30, 40), }".ljust(117) + b"\n"
        self.path("bounds.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + head + bounds.tobytes())
        for name in ("bounds.f64", "bounds.npy"):
            with self.subTest(name=name):
                self.cuszi("compress", "u_20x30x40.f32", "-m", "abs", "-e", "1", "--force",
                           "--bound-field", name, "--verify", "-o", f"{name}.cuszi")
                self.cuszi("decompress", f"{name}.cuszi", "-o", "u.out", "--force")
                self.assert_kept(original, lambda z, y, x: bounds[(z * 30 + y) * 40 + x])
        self.assertEqual(self.path("bounds.f64.cuszi").read_bytes(), self.path("bounds.npy.cuszi").read_bytes())

    def test_regions_that_are_refused(self):
        self.field("u_20x30x40.f32")
        self.path("bounds.f32").write_bytes(bytes(400))
        for options, said in [
                (["--region", "0:8"], "--region '0:8' is not RANGES=BOUND"),
                (["--region", "0:8=-1"], "--region '0:8=-1' is not RANGES=BOUND"),
                (["--region", "0:21=0.1"], "the box's indices 0:21 of axis 0 are outside the field"),
                (["--region", "0:8=1e-4", "--preset", "fast"], "--preset ratio or balanced"),
                (["--region", "0:8=1e-4", "-m", "pwrel"], "--mode rel or abs"),
                (["--bound-blocks", "8x8x8"], "--bound-blocks needs --bound-field"),
                (["--bound-field", "bounds.f32"], "has 100 values; a field of 20x30x40 needs 24000")]:
            with self.subTest(options=options):
                run = self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-2", *options, code=USAGE)
                self.assertIn(said, run.stderr.decode())

    def test_isovalues(self):
        original = array.array("f", self.field("u_20x30x40.f32"))
        isovalues = (0, 0.1, sorted(original)[len(original) // 3])  # the last one is in the field

        def sides(values):
            return [[(x > c) - (x < c) for c in isovalues] for x in values]

        kept = [f"--keep-isovalue={c!r}" for c in isovalues[1:]] + ["--keep-sign"]
        for options in (["--preset", "ratio"], ["--preset", "cuszi"], ["--preset", "cusz"],
                        ["--preset", "fast"], ["--preset", "balanced"], ["--preset", "zfp"], ["--effort", "fast"]):
            with self.subTest(options=options):
                def restored(*more):
                    self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-2", "-o", "u.cuszi", "--force",
                               "--verify", *options, *more)
                    self.cuszi("decompress", "u.cuszi", "-o", "u.out", "--force")
                    return array.array("f", self.path("u.out").read_bytes())

                changed = sides(restored())
                crossings = sum(now != was for now, was in zip(changed, sides(original)))
                self.assertGreater(crossings, 0)
                text = f"{crossings} points cross an isovalue"
                arguments = ["compare", "u_20x30x40.f32", "u.out", "-d", "20x30x40", "-t", "f32", *kept]
                self.assertIn(text, self.cuszi(*arguments, code=BOUND).stderr.decode())
                report, = self.report(*arguments, code=BOUND)
                self.assertEqual(report["isovalue_crossings"], crossings)
                self.assertEqual(sides(restored(*kept)), sides(original))
                report, = self.report(*arguments)
                self.assertEqual(report["isovalue_crossings"], 0)

    def test_isovalues_that_are_refused(self):
        self.field("u_20x30x40.f32")
        for value in ("nan", "inf", "high"):
            self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-2", "--keep-isovalue", value, code=USAGE,
                       lines=f"^cuszi: --keep-isovalue '{value}' is not a finite number\n$")
        sixteen = [f"--keep-isovalue={i}" for i in range(16)]
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-2", *sixteen, code=USAGE)

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

    @also_sanitized
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

    def test_threads_do_not_show(self):
        self.field("u_60x70x80.f32", dims="60x70x80")
        for predictor in ["lorenzo", "interp", "multilevel", "tiles", "zfp", "cells"]:
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

    @also_sanitized
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
    @also_sanitized
    def test_a_failure_does_not_stop_the_others(self):
        self.field("a_20x30x40.f32", seed=1)
        self.field("b_20x30x41.f32", seed=2)  # made as 20x30x40
        self.field("c_20x30x40.f32", seed=3)
        names = ["a_20x30x40.f32", "b_20x30x41.f32", "missing_2x2.f32", "c_20x30x40.f32"]
        result = self.cuszi("compress", *names, "-e", "1e-3", "-o", "out", "--json", code=INPUT)
        told = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([each["input"] for each in told], names)
        self.assertEqual([each.get("exit_code") for each in told], [None, INPUT, INPUT, None])
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


if __name__ == "__main__":
    unittest.main()
