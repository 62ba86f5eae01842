"""Dims in the wrong order and fields of the other byte order: what is refused, what is warned of."""

import array
import os
import subprocess
import unittest
from pathlib import Path

from cli_test import CliTest, INPUT, USAGE, also_sanitized

SHARED = Path(os.environ.get("CUSZI_SHARED", Path(__file__).resolve().parents[3] / "shared"))


class Layouts(CliTest):
    def warnings(self, name, *options):
        result = self.cuszi("compress", name, "-e", "1e-2", "--preset", "cusz", "-o", "out.cuszi",
                            "--force", *options)
        return result.stderr.decode()

    def test_dims_as_other_compressors_take_them(self):
        self.field("u_20x30x40.f32")
        for arguments, meant in [(["-3", "40", "30", "20", "-e", "1e-3"], "40x30x20"),
                                 (["-e", "1e-3", "-2", "40", "600"], "40x600"),
                                 (["-l", "40x30x20", "-e", "1e-3"], "40x30x20"),
                                 (["-l", "40,30,20", "-e", "1e-3"], "40x30x20")]:
            with self.subTest(arguments=arguments):
                error = self.cuszi("compress", "u.f32", *arguments, code=USAGE).stderr.decode()
                self.assertTrue(error.endswith(f"; use --dims-xyz {meant}, fastest first\n"), error)
        self.assertEqual(self.files(), ["u_20x30x40.f32"])
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "--fill-value", "-3")

    def test_dims_fastest_first(self):
        self.field("u.f32")
        report, = self.report("compress", "u.f32", "-e", "1e-3", "--dims-xyz", "40x30x20")
        self.assertEqual(report["dims"], [20, 30, 40])
        self.cuszi("compress", "u.f32", "-e", "1e-3", "--dims-xyz", "40x30x20", "-d", "20x30x40",
                   code=USAGE)

    def test_dims_in_the_wrong_order_are_warned_of(self):
        self.field("u_20x40x60.f32", dims="20x40x60")
        self.assertEqual(self.warnings("u_20x40x60.f32"), "")
        for order in ["60x40x20", "20x60x40", "40x20x60"]:
            said = self.warnings("u_20x40x60.f32", "-d", order)
            self.assertRegex(said, r"^cuszi: warning: .* times smoother than with " + order +
                             r".*--dims 20x40x60\n$")
        piped = self.cuszi("compress", "-", "-d", "60x40x20", "-t", "f32", "-e", "1e-2",
                           stdin=self.path("u_20x40x60.f32").read_bytes())
        self.assertIn(b"--dims 20x40x60", piped.stderr)
        self.assertEqual(self.warnings("u_20x40x60.f32", "-d", "60x40x20", "--quiet"), "")
        self.cuszi("compress", "u_20x40x60.f32", "-e", "1e-3", "-d", "60x40x20", "--strict", "-f",
                   code=INPUT)

    @also_sanitized
    def test_the_other_byte_order_is_warned_of(self):
        for dtype, code in [("f32", "f"), ("f64", "d")]:
            values = array.array(code, self.field(f"u_20x30x40.{dtype}", dtype=dtype))
            whole = array.array(code, [round(100 * value) for value in values])
            for kind, field in [("smooth", values), ("whole", whole)]:
                name = f"{kind}_20x30x40.{dtype}"
                self.path(name).write_bytes(field.tobytes())
                self.assertEqual(self.warnings(name), "")
                field.byteswap()
                self.path(name).write_bytes(field.tobytes())
                self.assertRegex(self.warnings(name), r"other byte order.*--byte-order big\n$")
                self.assertEqual(self.warnings(name, "--byte-order", "big"), "")

    @unittest.skipUnless(list((SHARED / "data").glob("*.xz")), "no real fields are here")
    def test_real_fields_are_not_warned_of(self):
        for packed in sorted((SHARED / "data").glob("*.xz")):
            with open(self.path(packed.stem), "wb") as field:
                subprocess.run(["xz", "-dc", packed], stdout=field, check=True)
            fills = ["--fill-value", "1e20"] if "tos_ipsl" in packed.stem else []
            self.assertEqual(self.warnings(packed.stem, *fills), "", packed.stem)
        for name, dims in [("cesm_camfv_T_month0_30x192x288.f32", "30x192x288"),
                           ("isabel_velmag_t30_25x125x125.f32", "25x125x125"),
                           ("mitgcm_deepconv_U_50x100x100.f32", "50x100x100"),
                           ("heatedcyl_temp_sim10_10x256x128.f32", "10x256x128")]:
            swapped = "x".join(reversed(dims.split("x")))
            self.assertIn(f"--dims {dims}\n", self.warnings(name, "-d", swapped))


class Options(CliTest):
    def test_bytes_after_a_field_that_is_cut_out(self):
        original = self.field("u_20x30x40.f32")
        self.path("all.h5").write_bytes(b"h" * 2048 + original + b"rest")
        cut = ["-d", "20x30x40", "-t", "f32", "--skip-bytes", "2048"]
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "u.cuszi")
        self.cuszi("compress", "all.h5", *cut, "-e", "1e-3", "-o", "cut.cuszi", "--verify")
        self.assertEqual(self.path("cut.cuszi").read_bytes(), self.path("u.cuszi").read_bytes())
        piped = self.cuszi("compress", "-", *cut, "-e", "1e-3",
                           stdin=self.path("all.h5").read_bytes())
        self.assertEqual(piped.stdout, self.path("u.cuszi").read_bytes())
        self.cuszi("decompress", "u.cuszi", "-o", "u.out")
        self.cuszi("compare", "all.h5", "u.out", *cut, "-e", "1e-3")
        self.path("first_20x30x40.f32").write_bytes(original + b"rest")
        self.cuszi("compress", "first_20x30x40.f32", "-e", "1e-3", code=INPUT)
        self.cuszi("compress", "first_20x30x40.f32", "-d", "20x30x40", "-e", "1e-3", code=INPUT)
        self.cuszi("compress", "first_20x30x40.f32", "-d", "20x30x40", "--skip-bytes", "0", "-e",
                   "1e-3")
        self.cuszi("compress", "all.h5", "-d", "21x30x40", *cut[2:], "-e", "1e-3", code=INPUT)

    def test_modes_as_others_call_them(self):
        self.field("u_20x30x40.f32")
        for mode, meant in [("r2r", "rel"), ("REL", "rel"), ("vr_rel", "rel"), ("ABS", "abs")]:
            report, = self.report("compress", "u_20x30x40.f32", "-m", mode, "-e", "1e-2", "-o",
                                  "u.cuszi", "--force")
            self.assertEqual(report["error_mode"], meant)

    def test_nan_is_missing_anyway(self):
        self.field("u_20x30x40.f32", "missing")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "--fill-value", "nan")
        report, = self.report("inspect", "u_20x30x40.f32.cuszi")
        self.assertEqual(report["fill_values"], [])


if __name__ == "__main__":
    unittest.main()
