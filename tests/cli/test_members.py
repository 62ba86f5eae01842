"""Archives of several members: appending, and files that cat has joined."""

import fcntl
import subprocess
import unittest

from cli_test import ARCHIVE, CUSZI, CliTest, USAGE, also_sanitized


class Members(CliTest):
    def setUp(self):
        super().setUp()
        self.parts = [self.field(f"u{i}_{n}x30x40.f32", dims=f"{n}x30x40", seed=i + 1)
                      for i, n in enumerate((5, 1, 7))]
        self.names = ["u0_5x30x40.f32", "u1_1x30x40.f32", "u2_7x30x40.f32"]

    def append(self, name, *options, **expected):
        return self.cuszi("compress", name, "--append", "run.cuszi", *options, **expected)

    def restored(self, *options):
        self.cuszi("decompress", "run.cuszi", "-o", "run.f32", "--force", *options)
        return self.path("run.f32").read_bytes()

    @also_sanitized
    def test_appended_fields_are_one(self):
        self.append(self.names[0], "-e", "1e-2", "-m", "abs")
        for name in self.names[1:]:
            self.append(name)
        self.assert_close(b"".join(self.parts), self.restored(), 1e-2)
        whole = self.path("run.f32").read_bytes()
        told, = self.report("inspect", "run.cuszi")
        self.assertEqual((told["dims"], told["members"], told["frames"]), ([13, 30, 40], 3, 3))
        self.assertEqual(told["error_bound_abs"], 1e-2)
        self.assertEqual(sum(told["sections"].values()), told["archive_bytes"])
        self.assertEqual(told["archive_bytes"], self.path("run.cuszi").stat().st_size)
        listed, = self.report("list", "run.cuszi")
        self.assertEqual(listed["dims"], [13, 30, 40])
        self.cuszi("test", "run.cuszi")
        slice_bytes = 30 * 40 * 4
        self.assertEqual(self.restored("--box", "4:8,:,:"), whole[4 * slice_bytes:8 * slice_bytes])
        self.assertEqual(self.restored("--frame", "2"), whole[6 * slice_bytes:])
        preview, = self.report("decompress", "run.cuszi", "--stride", "2", "-o", "thin.f32")
        self.assertEqual(preview["dims"][1:], [15, 20])
        self.path("all_13x30x40.f32").write_bytes(b"".join(self.parts))
        compared, = self.report("decompress", "run.cuszi", "--compare", "all_13x30x40.f32", "-o", "c.f32")
        self.assertTrue(compared["within_bound"])

    def test_cat_appends(self):
        for name in self.names:
            self.cuszi("compress", name, "-e", "1e-3", "-o", name + ".cuszi")
        self.path("run.cuszi").write_bytes(
            b"".join(self.path(name + ".cuszi").read_bytes() for name in self.names))
        self.assertEqual(len(self.restored()), sum(map(len, self.parts)))
        piped = self.cuszi("decompress", "-", "-o", "piped.f32", code=ARCHIVE,
                           stdin=self.path("run.cuszi").read_bytes())
        self.assertIn(b"another member follows", piped.stderr)

    def test_an_unfinished_member_is_passed_over_and_replaced(self):
        self.append(self.names[0], "-e", "1e-2", "-m", "abs")
        before = self.restored()
        first = self.path("run.cuszi").read_bytes()
        self.append(self.names[1])
        both = self.path("run.cuszi").read_bytes()
        self.path("run.cuszi").write_bytes(both[:-9])
        for command in (["list"], ["inspect"], ["test"]):
            told = self.cuszi(*command, "run.cuszi")
            self.assertIn(b"unfinished member", told.stderr)
        self.assertEqual(self.restored(), before)
        self.append(self.names[1])
        self.assertEqual(self.path("run.cuszi").read_bytes(), both)
        self.assertTrue(both.startswith(first))

    def test_what_does_not_fit_is_refused(self):
        self.append(self.names[0], code=USAGE)
        self.append(self.names[0], "-e", "1e-2", "-m", "abs")
        before = self.path("run.cuszi").read_bytes()
        self.field("other_5x30x41.f32", dims="5x30x41")
        self.field("other_5x30x40.f64", dims="5x30x40", dtype="f64")
        for name in ("other_5x30x41.f32", "other_5x30x40.f64"):
            self.append(name, code=ARCHIVE)
        self.append(self.names[1], "-o", "x.cuszi", code=USAGE)
        self.path("run.cuszi").write_bytes(before[:-1])
        self.append(self.names[1], code=ARCHIVE)
        self.path("run.cuszi").write_bytes(b"no archive")
        self.append(self.names[1], code=ARCHIVE)
        self.assertEqual(self.path("run.cuszi").read_bytes(), b"no archive")

    def test_writers_exclude_each_other(self):
        self.append(self.names[0], "-e", "1e-2", "-m", "abs")
        before = self.path("run.cuszi").stat().st_size
        with open(self.path("run.cuszi"), "rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            waiting = [subprocess.Popen([CUSZI, "compress", name, "--append", "run.cuszi", "-q"],
                                        cwd=self.folder) for name in self.names[1:]]
            with self.assertRaises(subprocess.TimeoutExpired):
                waiting[0].wait(2)
            self.assertEqual(self.path("run.cuszi").stat().st_size, before)
        for process in waiting:
            self.assertEqual(process.wait(60), 0)
        self.assertEqual(self.report("list", "run.cuszi")[0]["dims"], [13, 30, 40])


if __name__ == "__main__":
    unittest.main()
