"""The tool on a GPU."""

import array
import unittest

from cli_test import CliTest, DEVICE, INPUT, has_device


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
        for preset in ["cusz", "cuszi", "fast", "balanced", "zfp"]:
            index = [] if preset in ("fast", "balanced") else [["--index", "none"]]
            for more in [[], ["-m", "abs"], ["--frame-size", "40K"], *index,
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

    def test_bench(self):
        self.field("u_20x30x40.f32")
        for preset in ["cusz", "cuszi", "fast", "balanced", "zfp"]:
            options = ["u_20x30x40.f32", "--preset", preset, "--iterations", "2", *self.options]
            report, = self.report("bench", *options)
            for key in ["compress_gb_per_s", "decompress_gb_per_s", "copy_gb_per_s",
                        "file_compress_gb_per_s", "file_decompress_gb_per_s", "psnr_db"]:
                self.assertGreater(report[key], 0)
            self.assertIn("encode", report["compress_steps"])


if __name__ == "__main__":
    unittest.main()
