"""What restoring takes: archives that are much smaller than their values, limits, and their ends."""

import array
import math
import os
import re
import resource
import struct
import subprocess
import unittest

from cli_test import ARCHIVE, CUSZI, CliTest, DEVICE, OK

NAME = "u_64x256x256.f32"
BYTES = 4 * 64 * 256 * 256
START = 12 << 20  # more than the program takes by itself, and less than the values
OWN = 3 << 19  # what it takes beside frames

WAYS = {"ratio": [], "lorenzo": ["--predictor", "lorenzo"], "interp": ["--preset", "cuszi"],
        "multilevel": ["--predictor", "multilevel"], "huffman": ["--preset", "cusz"],
        "fast": ["--preset", "fast"], "balanced": ["--preset", "balanced"], "zfp": ["--preset", "zfp"],
        "reversible": ["--preset", "zfp", "--zfp-mode", "reversible"]}


class Memory(CliTest):

    def within(self, most, *arguments, code=OK):
        """What the program says that gets so many bytes of memory to write to."""
        def limit():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))

        result = subprocess.run([CUSZI, *map(str, arguments)], cwd=self.folder, capture_output=True,
                                preexec_fn=limit, env={**os.environ, "OMP_NUM_THREADS": "1"},
                                timeout=300)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stderr.decode()

    def archive(self, values, *options):
        """Of `values` in front of zeros."""
        with open(self.path(NAME), "wb") as file:
            file.write(values)
            file.truncate(BYTES)
        bound = [] if "reversible" in options or "-e" in options else ["-e", "1e-3"]
        self.cuszi("compress", NAME, *bound, *options, "-o", "u.cuszi", "-f")
        return self.path("u.cuszi").stat().st_size

    def need(self, *options):
        """What a refusal says that it would take."""
        said = self.within(START, "test", "u.cuszi", "--memory-limit", "1", code=ARCHIVE)
        return int(re.search(r"needs about (\d+) bytes to restore", said)[1])

    def test_no_more_is_taken_than_is_told(self):
        cases = {f"{kind} {way}": (values, *options) for way, options in WAYS.items()
                 for kind, values in {"calm": b"\0\0\x80\x3f", "noise": os.urandom(BYTES // 2)}.items()}
        cases["lossless"] = (b"\0\0\x80\x3f", "-e", "0")
        cases["stored"] = (os.urandom(BYTES), "-e", "0")
        for case, (values, *options) in cases.items():
            with self.subTest(case=case):
                size = self.archive(values, *options)
                need = self.need()
                self.assertGreater(need, BYTES)
                self.within(need + OWN, "test", "u.cuszi", "--memory-limit", need)
                self.assertLessEqual(need, 3 * BYTES + 16 * size)
                self.within(START, "test", "u.cuszi", "--memory-limit", need - 1, code=ARCHIVE)
                self.within(START, "decompress", "u.cuszi", "-o", "u.out", "-f", "--memory-limit",
                            need - 1, code=ARCHIVE)
                self.assertNotIn("u.out", self.files())

    def test_what_goes_with_points_is_counted(self):
        """Masks, bounds by place and signs, in multiples of the values as SECURITY.md has them."""
        values = array.array("f", self.field(NAME, "rough", "64x256x256"))
        nan = struct.unpack("f", b"\1\2\xc0\x7f")[0]
        missing = values[:]
        missing[::2] = array.array("f", [math.nan]) * (len(values) // 2)
        several = missing[:]
        several[::4] = array.array("f", [nan]) * (len(values) // 4)
        bounds = array.array("f", (10 ** (-1 - i % 97 / 97) for i in range(8 * 32 * 32)))
        self.path("bounds.f32").write_bytes(bounds)
        by_place = ["--bound-field", "bounds.f32", "--bound-blocks", "8x8x8"]
        for case, field, most, options in [
                ("no more", values, 2.4, ["-m", "abs"]), ("signs", values, 2.5, ["-m", "pwrel"]),
                ("one missing value", missing, 3.1, ["-m", "abs"]),
                ("two missing values", several, 3.8, ["-m", "abs"]),
                ("bounds", values, 2.6, ["-m", "abs", *by_place]),
                ("missing values and bounds", missing, 3.4, ["-m", "abs", *by_place])]:
            with self.subTest(case=case):
                size = self.archive(field.tobytes(), "-e", "0.1", *options)
                need = self.need()
                self.within(need + OWN, "test", "u.cuszi", "--memory-limit", need)
                self.assertLessEqual(need, most * BYTES + 2 * size)

    def test_a_part_takes_what_it_shows(self):
        cases = [("constant", b"", ["--box", "0:1,0:1,0:1"]), ("constant", b"", ["--stride", "64"]),
                 ("multilevel", b"\0\0\x80\x3f", ["--stride", "64"])]
        for kind, values, part in cases:
            with self.subTest(kind=kind, part=part):
                self.archive(values, "--predictor", "multilevel")
                self.within(START, "decompress", "u.cuszi", "-o", "u.out", "-f", *part,
                            "--memory-limit", "1M")

    def test_memory_that_is_not_there_is_told(self):
        self.archive(b"\0\0\x80\x3f", "--predictor", "multilevel")
        need = self.need()
        for command in (["test", "u.cuszi"], ["decompress", "u.cuszi", "-o", "u.out", "-f"]):
            with self.subTest(command=command):
                said = self.within(START, *command, code=DEVICE)
                self.assertIn(f"64x256x256 of f32) needs about {need} bytes", said)
        said = self.within(START, "compress", NAME, "-e", "1e-3", "-o", "x.cuszi", code=DEVICE)
        self.assertIn(f"{BYTES} bytes", said)
        self.assertNotIn("u.out", self.files())

    def test_how_small_an_archive_can_be(self):
        """As SECURITY.md has it."""
        self.archive(b"")
        report, = self.report("inspect", "u.cuszi", "--frames")
        small = self.path("u.cuszi").stat().st_size
        self.assertLessEqual(BYTES, 65536 * small + (4 << 20) * report["frames"])


if __name__ == "__main__":
    unittest.main()
