"""Types of values other than f32 and f64."""

import array
import unittest

from cli_test import CliTest, USAGE, also_sanitized

CODES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}


class Types(CliTest):

    @also_sanitized
    def test_integers_keep_whole_bounds(self):
        for dtype, code in CODES.items():
            with self.subTest(dtype=dtype):
                name = f"a_20x30x40.{dtype}"
                original = array.array(code, self.field(name, dtype=dtype))
                bound = {"8": 2, "16": 30, "32": 10**5, "64": 10**12}[dtype[1:]]
                asked = bound + (0.9 if bound < 10**6 else 0)
                report, = self.report("compress", name, "-m", "abs", "-e", asked, "--verify")
                self.assertEqual((report["dtype"], report["error_bound_abs"]), (dtype, bound))
                self.assertLess(report["archive_bytes"], report["input_bytes"])
                self.cuszi("decompress", f"{name}.cuszi", "-o", "b", "--compare", name, "--force")
                restored = array.array(code, self.path("b").read_bytes())
                self.assertLessEqual(max(abs(a - b) for a, b in zip(original, restored)), bound)

    def test_a_bound_below_1_of_integers_is_lossless(self):
        for dtype in CODES:
            with self.subTest(dtype=dtype):
                name = f"a_20x30x40.{dtype}"
                original = self.field(name, kind="rough", dtype=dtype)
                self.cuszi("compress", name, "-m", "abs", "-e", 0.9)
                self.cuszi("decompress", f"{name}.cuszi", "-o", "b", "--force")
                self.assertEqual(self.path("b").read_bytes(), original)

    def test_halves_are_compared_as_stored(self):
        for dtype in ("f16", "bf16"):
            with self.subTest(dtype=dtype):
                name = f"a_20x30x40.{dtype}"
                self.field(name, kind="missing", dtype=dtype)
                report, = self.report("compress", name, "-e", 0.01, "--verify")
                self.assertTrue(report["within_bound"])
                found, = self.report("inspect", f"{name}.cuszi")
                self.assertEqual(found["dtype"], dtype)
                self.cuszi("decompress", f"{name}.cuszi", "-o", "b")
                self.cuszi("compare", name, "b", "-d", "20x30x40", "-t", dtype, "-e", 0.01)
                self.path("b").unlink()

    def test_what_integers_of_64_bits_refuse(self):
        self.field("a_20x30x40.i64", dtype="i64")
        for options, text in [(["-e", 0.01], "take an absolute bound, or a bound of 0"),
                              (["-m", "abs", "-e", 9, "--keep-sign"], "neither local bounds nor isovalues"),
                              (["-m", "abs", "-e", 9, "--fill-value", 0.5], "0.5 is not a value of i64")]:
            result = self.cuszi("compress", "a_20x30x40.i64", *options, code=USAGE)
            self.assertIn(text, result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
