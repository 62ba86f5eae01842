"""What users of zstd and its like type: other commands, short options, many inputs."""

import os
import pty
import subprocess
import threading
import time
import unittest

from cli_test import ARCHIVE, BOUND, CUSZI, INPUT, OUTPUT, USAGE, CODING, CliTest, also_sanitized


class Commands(CliTest):
    def setUp(self):
        super().setUp()
        self.original = self.field("u_20x30x40.f32")

    def compress(self, *more):
        return self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", *more)

    @also_sanitized
    def test_test(self):
        self.compress("-o", "a.cuszi")
        self.compress("-o", "b.cuszi", "--frame-size", "64K")
        before = self.files()
        text = self.cuszi("test", "a.cuszi", "b.cuszi").stdout.decode().splitlines()
        self.assertRegex(text[0], r"^a.cuszi: good, format 1, 20x30x40 f32, 96.00 kB, ratio [\d.]+, ")
        self.assertRegex(text[2], r"^total: 2 files, .*, 0 failed$")
        self.assertEqual(self.cuszi("test", "-q", "a.cuszi").stdout, b"")
        report = self.report("test", "a.cuszi")[0]
        self.assertEqual((report["dims"], report["format_version"]), ([20, 30, 40], 1))
        good = self.path("b.cuszi").read_bytes()
        for at in range(0, len(good), 997):
            self.path("b.cuszi").write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:])
            self.cuszi("test", "a.cuszi", "b.cuszi", code=ARCHIVE)
        self.cuszi("test", "-", stdin=good)
        self.cuszi("test", "-", stdin=good[:-1], code=ARCHIVE)
        self.assertEqual(self.files(), before)

    @also_sanitized
    def test_list(self):
        self.compress("-o", "a.cuszi")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "0", "-o", "b.cuszi")
        lines = self.cuszi("list", "a.cuszi", "b.cuszi").stdout.decode().splitlines()
        self.assertEqual(len(lines), 4)
        for words, line in [(["field", "archive", "ratio", "dims"], lines[0]),
                            (["20x30x40", "rel 0.001", CODING, "a.cuszi"], lines[1]),
                            (["20x30x40", "rel 0", "b.cuszi"], lines[2]),
                            (["total: 2 files", "ratio"], lines[3])]:
            for word in words:
                self.assertIn(word, line)
        listed, = self.report("list", "a.cuszi")
        inspected, = self.report("inspect", "a.cuszi")
        for key in ["dims", "archive_bytes", "ratio", "error_bound_abs", "value_max", "predictor"]:
            self.assertEqual(listed[key], inspected[key])
        self.assertIsNone(listed["patches"])
        self.cuszi("list", "u_20x30x40.f32", "a.cuszi", code=ARCHIVE)

    def test_help_of_a_command(self):
        for command in ["compress", "decompress", "test", "list"]:
            self.assertEqual(self.cuszi("help", command).stdout,
                             self.cuszi(command, "--help").stdout)
        self.assertEqual(self.cuszi("help").stdout, self.cuszi("--help").stdout)
        self.cuszi("help", "frobnicate", code=USAGE)
        self.assertEqual(self.cuszi("-V").stdout, self.cuszi("--version").stdout)

    def test_commands_that_are_not_first(self):
        for arguments, meant in [
                (["-e", "1e-3", "compress", "u_20x30x40.f32"],
                 "cuszi compress -e 1e-3 u_20x30x40.f32"),
                (["--json", "inspect", "u.cuszi"], "cuszi inspect --json u.cuszi"),
                (["u_20x30x40.f32", "-e", "1e-3"], "cuszi compress u_20x30x40.f32 -e 1e-3")]:
            said = self.cuszi(*arguments, code=USAGE).stderr.decode()
            self.assertTrue(said.endswith(f": {meant}\n"), said)
        self.cuszi("-e", "1e-3", code=USAGE)
        self.assertEqual(self.files(), ["u_20x30x40.f32"])

    def test_short_options(self):
        self.compress("-f", "-q", "-k")
        self.compress("-f", "-q", "-k")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", code=OUTPUT)
        archive = self.path("u_20x30x40.f32.cuszi").read_bytes()
        self.assertEqual(self.compress("-c").stdout, archive)
        restored = self.cuszi("decompress", "-c", "u_20x30x40.f32.cuszi").stdout
        self.assertEqual(len(restored), len(self.original))
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-c", "-o", "x", code=USAGE)

    def test_remove_what_is_verified(self):
        for more in [["--rm"], ["--rm", "--verify", "-k"], ["--rm", "--verify", "-c"]]:
            self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", *more, code=USAGE)
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "--rm", "--verify", "-o",
                   "no/folder/u.cuszi", code=OUTPUT)
        self.cuszi("compress", "u_20x30x40.f32", "--target", "ratio:100000", "--rm", "--verify",
                   "--effort", "fast", code=BOUND)
        self.assertEqual(self.path("u_20x30x40.f32").read_bytes(), self.original)
        self.compress("--rm", "--verify", "-f")
        self.assertEqual(self.files(), ["u_20x30x40.f32.cuszi"])

    def test_lossless_is_said(self):
        self.assertIn(b"rel 0: lossless", self.cuszi("compress", "u_20x30x40.f32", "-e", "0").stdout)

    def test_slow_speeds_are_in_megabytes(self):
        self.assertRegex(self.compress().stdout.decode(), r"compress +[\d.]+ MB/s")


class ManyInputs(CliTest):
    def setUp(self):
        super().setUp()
        for i, name in enumerate(["a/u_9x10x11.f32", "a/b/v_9x10x11.f32", "w_9x10x11.f32",
                                  "a/.hidden/x_9x10x11.f32"]):
            self.path(f"tree/{name}").parent.mkdir(parents=True, exist_ok=True)
            self.field(f"tree/{name}", dims="9x10x11", seed=i)
        self.path("tree/readme.txt").write_text("no field")
        self.names = ["tree/a/b/v_9x10x11.f32", "tree/a/u_9x10x11.f32", "tree/w_9x10x11.f32"]

    @also_sanitized
    def test_folders(self):
        result = self.cuszi("compress", "-r", "tree", "-e", "1e-3")
        self.assertRegex(result.stdout.decode().splitlines()[-1],
                         r"^total: 3 files, fields 11.88 kB, archives .* 0 failed$")
        archives = [f"{name}.cuszi" for name in self.names]
        self.assertEqual([name for name in self.files() if name.endswith(".cuszi")], archives)
        self.assertEqual([r["archive"] for r in self.report("test", "-r", "tree")], archives)
        self.assertEqual([r["archive"] for r in self.report("list", "--recursive", "tree")],
                         archives)
        self.cuszi("decompress", "-r", "tree", "-o", "restored")
        restored = [f"restored/{name[5:-4]}.restored.f32" for name in self.names]
        self.assertEqual([n for n in self.files() if n.startswith("restored/")], restored)
        # What has been restored is no input of the next run.
        self.cuszi("decompress", "-r", "tree")
        self.assertEqual(len(self.report("compress", "-r", "tree", "-e", "1e-3", "-f")), 3)
        self.cuszi("compress", "tree", "-e", "1e-3", code=INPUT)
        self.path("empty").mkdir()
        self.cuszi("compress", "-r", "empty", "-e", "1e-3", code=INPUT)

    def test_an_output_folder_gets_the_same_folders(self):
        self.path("tree/b").mkdir()
        self.field("tree/b/v_9x10x11.f32", dims="9x10x11")
        for i, tree in enumerate(["tree", "tree/", "./tree", self.path("tree")]):
            self.cuszi("compress", "-r", tree, "-e", "1e-3", "-o", f"out{i}")
            made = [n for n in self.files() if n.startswith(f"out{i}/")]
            self.assertEqual(made, [f"out{i}/{name}.cuszi" for name in
                                    ["a/b/v_9x10x11.f32", "a/u_9x10x11.f32", "b/v_9x10x11.f32",
                                     "w_9x10x11.f32"]])
        self.cuszi("compress", "-r", "tree/a/b", "-e", "1e-3", "-o", "one")
        self.assertIn("one/v_9x10x11.f32.cuszi", self.files())

    def test_lists(self):
        self.path("list").write_text("\n".join(self.names[:2]) + "\r\n\n")
        made = self.report("compress", self.names[2], "--filelist", "list", "-e", "1e-3")
        self.assertEqual([report["input"] for report in made], [self.names[2], *self.names[:2]])
        for end in ("\n", "\r\n"):
            self.path("marked").write_bytes(("\ufeff" + end.join(self.names[:2])).encode())
            made = self.report("compress", "--filelist", "marked", "-e", "1e-3", "-f")
            self.assertEqual([report["input"] for report in made], self.names[:2])
        self.path("marked").write_text(self.names[0], encoding="utf-16")
        run = self.cuszi("compress", "--filelist", "marked", "-e", "1e-3", "-f", code=INPUT)
        self.assertIn(b"marked: is UTF-16", run.stderr)
        names = "".join(f"{name}.cuszi\n" for name in self.names)
        listed = self.cuszi("list", "--json", "--filelist", "-", stdin=names.encode())
        self.assertEqual(len(listed.stdout.splitlines()), 3)
        self.cuszi("compress", "--filelist", "nowhere", "-e", "1e-3", code=INPUT)
        self.cuszi("compress", self.names[0], "--filelist", "/proc/self/mem", "-e", "1e-3", "-f",
                   code=INPUT)
        self.path("list").write_text("")
        self.cuszi("compress", "--filelist", "list", "-e", "1e-3", code=USAGE)

    def test_the_total_counts_failures(self):
        self.path("bad_9x10x12.f32").write_bytes(b"too short")
        result = self.cuszi("compress", *self.names, "bad_9x10x12.f32", "-e", "1e-3", code=INPUT)
        self.assertRegex(result.stdout.decode().splitlines()[-1],
                         r"^total: 3 files, .* ratio [\d.]+, [\d.]+ [MG]B/s .*, 1 failed$")


class ProgressLine(CliTest):
    def told(self, *arguments, write=None):
        """What cuszi tells a terminal on its stderr; `write(stdin, process)` gives it its input."""
        master, slave = pty.openpty()
        told = []

        def listen():
            try:
                while part := os.read(master, 4096):
                    told.append(part)
            except OSError:
                pass

        with subprocess.Popen([CUSZI, *arguments], cwd=self.folder, stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=slave) as process:
            os.close(slave)
            listener = threading.Thread(target=listen)
            listener.start()
            if write:
                write(process)
            process.stdin.close()
            self.assertEqual(process.wait(timeout=60), 0)
        listener.join()
        os.close(master)
        return b"".join(told).decode()

    @also_sanitized
    def test_bytes_and_time_left(self):
        def write(process):
            process.stdin.write(bytes(9 << 20))
            process.stdin.flush()
            time.sleep(3)
            process.stdin.write(bytes(7 << 20))

        told = self.told("compress", "-", "-d", "64x1024x64", "-t", "f32", "-m", "abs", "-e", "1e-3",
                         "--frame-size", "1M", "-o", "u.cuszi", write=write)
        self.assertRegex(told, r"\[=+ *\] \d+ % of 16.78 MB, \d+ s, about \d+ s left")

    def test_it_moves_within_a_frame(self):
        self.field("u_320x320x320.f32", "rough", dims="320x320x320")
        told = self.told("compress", "u_320x320x320.f32", "-e", "1e-4", "--threads", "1",
                         "--device", "cpu")
        self.assertRegex(told, r"\[=+ +\] [1-9]\d % of 131.07 MB, \d+ s, about \d+ s left")


if __name__ == "__main__":
    unittest.main()
