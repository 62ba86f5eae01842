"""What --rm removes: inputs of which an archive holds all, in a file on disk, and nothing else.

CUSZI and MAKE_FIELD in the environment say where the executables are, NO_TMPFILE where a library is
that, preloaded, can take the forcing of folders to disk away.
"""

import array
import math
import os
import threading
import time
import unittest

from cli_test import INPUT, OUTPUT, USAGE, CliTest, also_sanitized
from test_files import npy

NO_TMPFILE = os.environ.get("NO_TMPFILE")
NAME = "u_20x30x40.f32"
REMOVE = ["-e", "1e-3", "--preset", "fast", "--verify", "--rm"]


class Removal(CliTest):
    def setUp(self):
        super().setUp()
        self.original = self.field(NAME)

    def refused(self, *arguments, **options):
        """Requires a usage error before anything is read or written; returns what it says."""
        before = {name: self.path(name).read_bytes() for name in self.files()}
        error = self.cuszi("compress", *arguments, code=USAGE, **options).stderr.decode()
        self.assertEqual({name: self.path(name).read_bytes() for name in self.files()}, before)
        return error

    @also_sanitized
    def test_what_the_archive_holds_is_removed(self):
        self.field("v_20x30x40.f32", seed=2)
        self.path("n.npy").write_bytes(npy(self.original, shape="(20, 30, 40)"))
        self.cuszi("compress", NAME, "v_20x30x40.f32", "n.npy", *REMOVE)
        self.assertEqual(self.files(), ["n.npy.cuszi", f"{NAME}.cuszi", "v_20x30x40.f32.cuszi"])
        self.cuszi("decompress", f"{NAME}.cuszi", "-o", "u.f32")
        self.assert_close(self.original, self.path("u.f32").read_bytes(), 1e-2)

    def test_in_folders(self):
        for name in ["tree/u_20x30x40.f32", "tree/deep/v_20x30x40.f32"]:
            self.path(name).parent.mkdir(parents=True, exist_ok=True)
            self.field(name)
        self.cuszi("compress", "-r", "tree", *REMOVE, "-o", "archives")
        self.assertEqual(self.files(), ["archives/deep/v_20x30x40.f32.cuszi",
                                        "archives/u_20x30x40.f32.cuszi", NAME])

    @also_sanitized
    def test_skipped_bytes_are_in_no_archive(self):
        self.path("with_header.f32").write_bytes(b"head" + self.original + b"tail")
        for skipped in [4, 0]:
            self.path("skipped").write_bytes(b"head"[:skipped] + self.original)
            for name in ["with_header.f32", "skipped"]:
                error = self.refused(name, "--skip-bytes", skipped, "-d", "20x30x40", "-t", "f32",
                                     *REMOVE)
                self.assertIn("--skip-bytes", error)

    def test_a_second_array_is_in_no_archive(self):
        array_file = npy(self.original, shape="(20, 30, 40)")
        self.path("two.npy").write_bytes(array_file + array_file)
        self.assertIn("two.npy", self.refused("two.npy", *REMOVE))
        self.assertIn("two.npy", self.refused(NAME, "two.npy", *REMOVE))

    def test_dims_beyond_four_are_in_no_archive(self):
        self.path("five.npy").write_bytes(npy(self.original, shape="(4, 5, 3, 10, 40)"))
        self.assertIn("five.npy", self.refused("five.npy", *REMOVE))

    def test_outputs_that_keep_nothing(self):
        os.mkfifo(self.path("fifo"))
        self.path("nowhere").symlink_to("/dev/null")
        for output in ["/dev/null", "nowhere", "fifo", "-"]:
            with self.subTest(output=output):
                reader = threading.Thread(target=self.drain, args=("fifo",), daemon=True)
                if output == "fifo":
                    reader.start()
                error = self.cuszi("compress", NAME, *REMOVE, "-o", output, code=USAGE).stderr
                self.assertIn(b"--rm", error)
                self.assertEqual(self.path(NAME).read_bytes(), self.original)

    def drain(self, name):
        fifo = os.open(self.path(name), os.O_RDONLY | os.O_NONBLOCK)
        time.sleep(2)
        os.close(fifo)

    def test_standard_input_is_no_file_to_remove(self):
        self.path("-").write_bytes(b"precious")
        self.assertIn("standard input", self.refused("-", "-d", "20x30x40", "-t", "f32", *REMOVE,
                                                     "-o", "out.cuszi", stdin=self.original))
        self.assertEqual(self.path("-").read_bytes(), b"precious")

    def test_names_that_are_not_all_of_a_file(self):
        self.path("soft_20x30x40.f32").symlink_to(NAME)
        os.link(self.path(NAME), self.path("hard_20x30x40.f32"))
        os.mkfifo(self.path("pipe_20x30x40.f32"))
        for name in ["soft_20x30x40.f32", "hard_20x30x40.f32", "/dev/stdin"]:
            with self.subTest(name=name):
                error = self.refused(name, "-d", "20x30x40", "-t", "f32", *REMOVE, "-o",
                                     "out.cuszi", stdin=self.original)
                self.assertIn(name, error)
                self.assertTrue(self.path("soft_20x30x40.f32").is_symlink())
        self.path("soft_20x30x40.f32").unlink()
        self.path("hard_20x30x40.f32").unlink()
        error = self.cuszi("compress", "pipe_20x30x40.f32", *REMOVE, code=USAGE).stderr
        self.assertIn(b"pipe_20x30x40.f32", error)

    def test_variables_of_files(self):
        for name in ["a.nc", "a.h5"]:
            self.path(name).write_bytes(b"")
            self.assertIn("may contain more", self.refused(f"{name}:T", *REMOVE))
            self.assertIn("may contain more", self.refused(NAME, f"{name}:T", *REMOVE))

    def test_outputs_that_are_inputs(self):
        self.field("v_20x30x40.f32", seed=2)
        for output in [NAME, "./" + NAME]:
            self.refused(NAME, *REMOVE, "--force", "-o", output)
        self.path(f"{NAME}.cuszi").symlink_to("v_20x30x40.f32")
        self.refused(NAME, "v_20x30x40.f32", *REMOVE, "--force")
        self.refused(NAME, "./" + NAME, *REMOVE, "--force")

    def test_replaced_archives(self):
        self.path(f"{NAME}.cuszi").write_bytes(b"old")
        self.cuszi("compress", NAME, *REMOVE, code=OUTPUT)
        self.assertEqual(self.path(NAME).read_bytes(), self.original)
        self.cuszi("compress", NAME, *REMOVE, "--force")
        self.assertEqual(self.files(), [f"{NAME}.cuszi"])
        self.cuszi("test", f"{NAME}.cuszi")

    def test_a_copy_of_a_file_removes_nothing(self):
        self.path("a.nc").write_bytes(b"")
        self.refused("a.nc", *REMOVE, "-o", "b.nc")

    def test_an_archive_without_a_bound_is_not_enough(self):
        for mode in ["rate:4", "precision:8"]:
            error = self.refused(NAME, "--preset", "zfp", "--zfp-mode", mode, "--verify", "--rm")
            self.assertIn("bound", error)
        self.cuszi("compress", NAME, "--preset", "zfp", "--zfp-mode", "rate:4", "-e", "1e-3",
                   "--verify", "--rm")
        self.assertEqual(self.files(), [f"{NAME}.cuszi"])

    def test_a_target_that_may_be_missed_is_not_enough(self):
        error = self.refused(NAME, "--target", "ratio:100000", "--target-miss", "ok", "--verify",
                             "--rm")
        self.assertIn("--target-miss", error)

    def test_a_suspicious_range_is_not_enough(self):
        values = [1e20 if i % 7 == 3 else math.sin(i / 99) for i in range(5000)]
        self.path("f_5000.f32").write_bytes(array.array("f", values).tobytes())
        error = self.cuszi("compress", "f_5000.f32", *REMOVE, code=USAGE).stderr
        self.assertIn(b"f_5000.f32: not removed", error)
        self.assertIn("f_5000.f32", self.files())
        self.cuszi("compress", "f_5000.f32", "--target", "psnr:60", "--verify", "--rm", "-f",
                   code=USAGE)
        self.assertIn("f_5000.f32", self.files())
        for options in [["--fill-value", "1e20"], ["-m", "abs"], ["-e", "0"]]:
            self.path("f_5000.f32").write_bytes(array.array("f", values).tobytes())
            bound = [] if options[0] == "-e" else ["-e", "1e-3"]
            self.cuszi("compress", "f_5000.f32", *bound, *options, "--verify", "--rm", "--force")
            self.assertNotIn("f_5000.f32", self.files())

    def test_a_suspicious_byte_order_is_not_enough(self):
        values = array.array("f", self.field("b_20x30x40.f32"))
        values.byteswap()
        for options in [["-e", "1e-3"], ["-e", "1e-3", "-m", "abs"], ["--target", "psnr:60"]]:
            self.path("b_20x30x40.f32").write_bytes(values.tobytes())
            error = self.cuszi("compress", "b_20x30x40.f32", *options, "--verify", "--rm", "-f",
                               code=USAGE).stderr
            self.assertIn(b"b_20x30x40.f32: not removed", error)
        self.assertEqual(self.path("b_20x30x40.f32").read_bytes(), values.tobytes())
        self.cuszi("compress", "b_20x30x40.f32", "-e", "1e-3", "--byte-order", "big", "--verify",
                   "--rm", "-f")
        self.assertNotIn("b_20x30x40.f32", self.files())

    @unittest.skipIf(not NO_TMPFILE, "there is no library to preload")
    def test_a_folder_that_cannot_be_forced_to_disk(self):
        os.environ.update({"LD_PRELOAD": NO_TMPFILE, "FOLDERS_CANNOT_SYNC": "1"})
        self.addCleanup(os.environ.pop, "LD_PRELOAD")
        self.addCleanup(os.environ.pop, "FOLDERS_CANNOT_SYNC")
        error = self.cuszi("compress", NAME, *REMOVE, code=OUTPUT).stderr
        self.assertIn(b"cannot be synced to disk", error)
        self.assertEqual(self.path(NAME).read_bytes(), self.original)
        self.assertIn(f"{NAME}.cuszi", self.files())
        self.cuszi("compress", NAME, "-e", "1e-3", "--force")  # which is enough without --rm

    def test_a_folder_that_lets_nothing_go(self):
        if os.geteuid() == 0:
            self.skipTest("root may remove anything")
        self.path("closed").mkdir()
        self.field("closed/u_20x30x40.f32")
        self.path("closed").chmod(0o500)
        self.addCleanup(self.path("closed").chmod, 0o700)
        self.cuszi("compress", "closed/u_20x30x40.f32", *REMOVE, "-o", "u.cuszi", code=OUTPUT)
        self.assertIn("closed/u_20x30x40.f32", self.files())

    def test_other_commands_remove_nothing(self):
        self.cuszi("compress", NAME, "-e", "1e-3", "-o", "a.cuszi")
        for command in [["decompress", "a.cuszi"], ["decompress", "a.cuszi", "--box", "0:2"],
                        ["decompress", "a.cuszi", "--stride", "2"], ["test", "a.cuszi"],
                        ["zfp-export", "a.cuszi"]]:
            self.cuszi(*command, "--rm", code=USAGE)
        self.assertEqual(self.files(), ["a.cuszi", NAME])


class Races(CliTest):
    """Others work in the same folder meanwhile."""

    def setUp(self):
        super().setUp()
        self.name = "v_60x100x200.f32"
        self.original = self.field(self.name, "rough", dims="60x100x200")

    def start(self):
        """A stopped process that has the input open, and its output, which it begins after that."""
        def is_begun(names):
            return any(name.startswith(str(self.folder)) and not name.endswith(self.name) for name in names)
        return self.paused("compress", self.name, "-e", "1e-4", "--verify", "--rm", once=is_begun)

    def test_a_file_renamed_onto_the_input_stays(self):
        self.path("next").write_bytes(b"the next time step")
        process = self.start()
        os.rename(self.path("next"), self.path(self.name))
        self.assertEqual(self.resumed(process), INPUT)
        self.assertIn(b"was replaced", process.stderr.read())
        self.assertEqual(self.path(self.name).read_bytes(), b"the next time step")
        self.cuszi("decompress", f"{self.name}.cuszi", "-o", "old.f32")  # it holds what was read
        self.assertEqual(self.path("old.f32").stat().st_size, len(self.original))

    def test_a_link_in_place_of_the_input_stays(self):
        process = self.start()
        os.rename(self.path(self.name), self.path("moved"))
        self.path(self.name).symlink_to("moved")
        self.assertEqual(self.resumed(process), INPUT)
        self.assertTrue(self.path(self.name).is_symlink())
        self.assertEqual(self.path("moved").read_bytes(), self.original)

    def test_a_folder_in_place_of_the_inputs_stays(self):
        for folder, seed in [("now", 1), ("later", 2)]:
            self.path(folder).mkdir()
            self.field(f"{folder}/{self.name}", "rough", dims="60x100x200", seed=seed)
        later = self.path(f"later/{self.name}").read_bytes()
        self.name = f"now/{self.name}"
        process = self.start()
        os.rename(self.path("now"), self.path("before"))
        os.rename(self.path("later"), self.path("now"))
        self.resumed(process)
        self.assertEqual(self.path(self.name).read_bytes(), later)


if __name__ == "__main__":
    unittest.main()
