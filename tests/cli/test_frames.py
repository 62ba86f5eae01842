"""Large fields: frames and previews."""

import array
import unittest

from cli_test import ARCHIVE, CliTest, USAGE, also_sanitized


class Frames(CliTest):
    def setUp(self):
        super().setUp()
        self.original = self.field("u_20x50x60.f32", dims="20x50x60")
        self.slice_bytes = 50 * 60 * 4
        self.cuszi("compress", "u_20x50x60.f32", "-e", "1e-3", "-o", "u.cuszi",
                   "--frame-size", 8 * self.slice_bytes)

    def test_a_field_in_frames_is_restored(self):
        report, = self.report("decompress", "u.cuszi", "--compare", "u_20x50x60.f32")
        self.assertEqual(report["frames"], 3)
        self.assertTrue(report["within_bound"])
        self.cuszi("compress", "u_20x50x60.f32", "-e", "1e-3", "-o", "one.cuszi")
        one, = self.report("decompress", "one.cuszi")
        self.assertEqual(one["frames"], 1)
        self.assertEqual(one["error_bound_abs"], report["error_bound_abs"])

    def test_a_forced_axis_is_the_field_s_in_every_frame(self):
        self.field("v_17x50x60.f32", dims="17x50x60")
        for axes, roles in [("layered:0", ["layered", "lattice", "lattice"]),
                            ("layered:1", ["lattice", "layered", "lattice"]),
                            ("independent:2", ["lattice", "lattice", "independent"])]:
            with self.subTest(axes=axes):
                made, = self.report("compress", "v_17x50x60.f32", "-e", "1e-3", "--verify",
                                    "--predictor", "multilevel", "--axes", axes, "--frame-size",
                                    8 * self.slice_bytes, "-o", "v.cuszi", "--force")
                self.assertTrue(made["within_bound"])
                frames = self.report("inspect", "v.cuszi")[0]["frame_list"]
                self.assertEqual([frame["dims"][0] for frame in frames], [8, 8, 1])
                self.assertEqual([frame["predictor"]["axes"][1:] for frame in frames],
                                 [roles, roles, ["lattice", *roles[1:]]])

    @also_sanitized
    def test_a_frame_alone(self):
        self.cuszi("decompress", "u.cuszi", "-o", "whole.f32")
        whole = self.path("whole.f32").read_bytes()
        for i, (first, end) in enumerate([(0, 8), (8, 16), (16, 20)]):
            part = whole[first * self.slice_bytes:end * self.slice_bytes]
            report, = self.report("decompress", "u.cuszi", "--frame", i)
            self.assertEqual(report["dims"], [end - first, 50, 60])
            self.assertEqual(self.path(f"u.frame{i}.restored.f32").read_bytes(), part)
            piped = self.cuszi("decompress", "-", "--frame", i,
                               stdin=self.path("u.cuszi").read_bytes())
            self.assertEqual(piped.stdout, part)
        self.cuszi("decompress", "u.cuszi", "--frame", 3, code=USAGE)

    def test_frames_of_one_value(self):
        slice_bytes = 120 * 160 * 4  # a frame is not smaller than 64 KiB
        ones = array.array("f", [1.0] * (120 * 160))
        slices = [ones.tobytes(), self.original[:slice_bytes], bytes(slice_bytes)]
        ones[5] = float("nan")
        slices.append(ones.tobytes())
        self.path("c_4x120x160.f32").write_bytes(b"".join(slices))
        self.cuszi("compress", "c_4x120x160.f32", "-e", "1e-3", "-o", "c.cuszi",
                   "--frame-size", slice_bytes, "--verify")
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
        self.assertEqual(preview["dims"], [1, 15, 20])
        self.assertEqual(self.path("p.f32").read_bytes(), bytes(15 * 20 * 4))

    @also_sanitized
    def test_a_damaged_frame_leaves_the_others(self):
        archive = bytearray(self.path("u.cuszi").read_bytes())
        archive[len(archive) // 2] ^= 1
        self.path("bad.cuszi").write_bytes(archive)
        self.cuszi("decompress", "bad.cuszi", code=ARCHIVE)
        self.cuszi("decompress", "bad.cuszi", "--frame", 0)
        self.cuszi("decompress", "bad.cuszi", "--frame", 1, code=ARCHIVE)
        self.cuszi("decompress", "bad.cuszi", "--frame", 2)


class Previews(CliTest):
    """--stride against the same points of the whole field."""

    def every(self, values, dims, steps, size=4):
        (depth, height, width), (a, b, c) = dims, steps
        return b"".join(values[i * size:(i + 1) * size]
                        for z in range(0, depth, a) for y in range(0, height, b)
                        for i in range((z * height + y) * width, (z * height + y + 1) * width, c))

    def setUp(self):
        super().setUp()
        self.field("u_20x50x60.f32", dims="20x50x60")

    def compress(self, *options):
        self.cuszi("compress", "u_20x50x60.f32", "-e", "1e-3", "-o", "u.cuszi", "--force", *options)
        self.cuszi("decompress", "u.cuszi", "-o", "whole.f32", "--force")
        return self.path("whole.f32").read_bytes()

    def test_values_and_dims(self):
        for options, steps in [(["--axes", "lattice"], (4, 4, 4)),
                               (["--axes", "layered:0"], (1, 4, 4)),
                               (["--predictor", "multilevel", "--axes", "independent:2"],
                                (4, 4, 1)),
                               (["--preset", "cusz"], (4, 4, 4)),
                               (["--axes", "lattice", "--frame-size", "64K"], (4, 4, 4))]:
            with self.subTest(options=options):
                whole = self.compress(*options)
                report, = self.report("decompress", "u.cuszi", "--stride", 4, "--force",
                                      "--compare", "u_20x50x60.f32")
                dims = [-(-extent // step) for extent, step in zip((20, 50, 60), steps)]
                self.assertEqual((report["dims"], report["stride"]), (dims, 4))
                self.assertTrue(report["within_bound"])
                shown = self.every(whole, (20, 50, 60), steps)
                self.assertEqual(self.path("u.stride4.restored.f32").read_bytes(), shown)
                piped = self.cuszi("decompress", "-", "--stride", 4,
                                   stdin=self.path("u.cuszi").read_bytes())
                self.assertEqual(piped.stdout, shown)

    def test_a_frame_is_a_field_of_its_own(self):
        self.field("v_9x100x180.f32", dims="9x100x180")
        self.cuszi("compress", "v_9x100x180.f32", "-e", "1e-3", "--axes", "lattice",
                   "--frame-size", "220K", "-o", "v.cuszi")  # 3 slices
        self.cuszi("decompress", "v.cuszi", "-o", "whole.f32")
        whole = self.path("whole.f32").read_bytes()
        preview, = self.report("decompress", "v.cuszi", "--stride", 4, "-o", "p.f32")
        self.assertEqual(preview["dims"], [3, 25, 45])
        self.assertEqual(self.path("p.f32").read_bytes(),
                         self.every(whole, (9, 100, 180), (4, 4, 4)))
        report, = self.report("decompress", "v.cuszi", "--frame", 1, "--stride", 2, "-o", "f.f32")
        self.assertEqual((report["dims"], report["frame"]), ([2, 50, 90], 1))
        frame = whole[3 * 72000:6 * 72000]
        self.assertEqual(self.path("f.f32").read_bytes(),
                         self.every(frame, (3, 100, 180), (2, 2, 2)))

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

    def test_boxes(self):
        whole = self.compress("--axes", "lattice", "--frame-size", "64K")  # 6 slices
        rows = [whole[i * 240:(i + 1) * 240] for i in range(20 * 50)]
        for text, (z, y, x) in [("3:9,:7,10:", (range(3, 9), range(7), range(10, 60))),
                                ("19", (range(19, 20), range(50), range(60))),
                                (":,5,0:40", (range(20), range(5, 6), range(40)))]:
            with self.subTest(box=text):
                shown = b"".join(rows[i * 50 + j][4 * x[0]:4 * x[-1] + 4] for i in z for j in y)
                report, = self.report("decompress", "u.cuszi", "--box", text, "--force",
                                      "--compare", "u_20x50x60.f32")
                self.assertEqual(report["dims"], [len(z), len(y), len(x)])
                self.assertTrue(report["within_bound"])
                self.assertIsNone(report["ratio"])
                self.assertEqual(self.path("u.box.restored.f32").read_bytes(), shown)
                piped = self.cuszi("decompress", "-", "--box", text,
                                   stdin=self.path("u.cuszi").read_bytes())
                self.assertEqual(piped.stdout, shown)

    @also_sanitized
    def test_only_frames_that_meet_a_box_are_read(self):
        self.compress("--frame-size", "64K")
        archive = bytearray(self.path("u.cuszi").read_bytes())
        report, = self.report("decompress", "u.cuszi", "--box", "8:12", "-o", "box.f32")
        self.assertLess(report["read_bytes"], len(archive) / 2)  # the second of four frames
        self.assertEqual(report["archive_bytes"], len(archive))
        archive[len(archive) // 10] ^= 1
        self.path("bad.cuszi").write_bytes(archive)
        self.cuszi("decompress", "bad.cuszi", "--box", "8:12", "-o", "same.f32")
        self.assertEqual(self.path("same.f32").read_bytes(), self.path("box.f32").read_bytes())
        self.cuszi("decompress", "bad.cuszi", "--box", "0:1", "-o", "bad.f32", code=ARCHIVE)

    @also_sanitized
    def test_a_box_of_a_preview(self):
        whole = self.compress("--axes", "lattice", "--frame-size", "64K")
        self.cuszi("decompress", "u.cuszi", "--box", "3:9,1:,2:", "--stride", 4, "-o", "b.f32")
        shown = b"".join(whole[i * 4:i * 4 + 4] for z in (4, 8) for y in range(4, 50, 4)
                         for i in range((z * 50 + y) * 60 + 4, (z * 50 + y + 1) * 60, 4))
        self.assertEqual(self.path("b.f32").read_bytes(), shown)

    def test_boxes_that_cannot_be(self):
        self.compress("--axes", "lattice")
        for box in ["", "a", "5:5", "6:5", "0:21", "20", "-1:", ":,:,:,0:2", "1:2:3", ":,:,:,:,:"]:
            self.cuszi("decompress", "u.cuszi", f"--box={box}", code=USAGE)
        self.cuszi("decompress", "u.cuszi", "--box", "0:1", "--frame", 0, code=USAGE)
        self.cuszi("decompress", "u.cuszi", "--box", "1:3", "--stride", 4, "-o", "b.f32",
                   code=USAGE)

    def test_strides_are_powers_of_two(self):
        self.compress()
        for stride in [0, 3, -2, "many"]:
            self.cuszi("decompress", "u.cuszi", "--stride", stride, code=USAGE)


if __name__ == "__main__":
    unittest.main()
