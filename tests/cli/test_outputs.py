"""Tests of what the cuszi executable leaves behind: outputs whole or not at all, nobody else's files
touched, the right permissions, and an exit code where an output could not be written.

CUSZI and MAKE_FIELD in the environment say where the executables are, NO_TMPFILE where a library is
that, preloaded, takes unnamed files away.
"""

import array
import os
import resource
import signal
import stat
import subprocess
import threading
import time
import unittest
from pathlib import Path

from cli_test import ARCHIVE, CUSZI, INPUT, OK, OUTPUT, USAGE, CliTest, also_sanitized, quick

NO_TMPFILE = os.environ.get("NO_TMPFILE")
OPTIONS = ["-d", "20x30x40", "-t", "f32", "-e", "1e-3"]


class OutputTest(CliTest):
    def setUp(self):
        super().setUp()
        self.original = self.field("u_20x30x40.f32")

    def compress(self, *more, **options):
        return self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", *more, **options)

    def archive(self, name="a.cuszi"):
        """Makes an archive; returns its bytes."""
        self.compress("-o", name)
        return self.path(name).read_bytes()

    def shell(self, command, code=OK, **options):
        """Runs a line of bash, in which $CUSZI is the executable."""
        result = subprocess.run(["bash", "-c", command], cwd=self.folder, capture_output=True,
                                env={**os.environ, "CUSZI": CUSZI}, timeout=120, **options)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return result


class StandardStreams(OutputTest):
    def test_closed_streams_are_nobody_elses(self):
        expected = self.archive()
        for closed in ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"]:
            with self.subTest(closed=closed):
                self.shell(f"$CUSZI compress u_20x30x40.f32 -e 1e-3 -o b.cuszi --force {closed}")
                self.assertEqual(self.path("b.cuszi").read_bytes(), expected)
                self.shell(f"$CUSZI decompress b.cuszi -o b.out --force --compare u_20x30x40.f32 "
                           f"{closed}")
                self.assertEqual(self.path("b.out").stat().st_size, len(self.original))
        self.shell("$CUSZI decompress a.cuszi -o - >&-", code=OUTPUT)
        self.shell("$CUSZI compress - -d 10 -t f32 -e 0 -o c.cuszi <&-", code=2)
        self.assertNotIn("c.cuszi", self.files())

    def test_reports_that_cannot_be_written(self):
        self.archive()
        for command in ["compress u_20x30x40.f32 -e 1e-3 -o b.cuszi --force",
                        "compress u_20x30x40.f32 -e 1e-3 -o b.cuszi --force --json",
                        "compress u_20x30x40.f32 -e 1e-3 -o -",
                        "decompress a.cuszi --force", "decompress a.cuszi -o -",
                        "compare u_20x30x40.f32 u_20x30x40.f32",
                        "inspect a.cuszi", "inspect a.cuszi --json",
                        "inspect --field-name u_2x2.f32",
                        "bench u_20x30x40.f32 -e 1e-3 --iterations 1 --preset cusz",
                        "--help", "compress --help", "--version"]:
            with self.subTest(command=command):
                result = self.shell(f"$CUSZI {command} > /dev/full", code=OUTPUT)
                self.assertIn(b"standard output: cannot be written: No space left", result.stderr)

    def test_errors_that_cannot_be_told(self):
        self.shell("$CUSZI compress missing_2x2.f32 -e 1e-3 2> /dev/full", code=2)
        self.shell("$CUSZI frobnicate 2> /dev/full", code=USAGE)

    def test_pipes_that_do_not_block(self):
        restored = self.cuszi("decompress", "-", stdin=self.archive()).stdout
        self.assertGreater(len(restored), 65536)
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = subprocess.Popen([CUSZI, "decompress", "a.cuszi", "-o", "-"], cwd=self.folder,
                                   stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        time.sleep(0.5)  # the pipe is full
        with open(reader, "rb") as pipe:
            self.assertEqual(pipe.read(), restored)
        self.assertEqual(process.wait(), OK, process.stderr.read())
        process.stderr.close()

    @also_sanitized
    def test_an_input_pipe_that_does_not_block(self):
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        process = subprocess.Popen([CUSZI, *quick(["compress", "-", *OPTIONS, "-o", "b.cuszi"])],
                                   cwd=self.folder, stdin=reader, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        os.close(reader)
        time.sleep(0.3)  # the pipe is empty
        with open(writer, "wb") as pipe:
            pipe.write(self.original)
        self.assertEqual(process.wait(), OK, process.stderr.read())
        process.stderr.close()
        self.assertEqual(self.path("b.cuszi").read_bytes(), self.archive())


class SameFiles(OutputTest):
    """No output is an input, an original or an archive of the run, by whatever name."""

    def setUp(self):
        super().setUp()
        self.archive()
        self.path("soft").symlink_to("u_20x30x40.f32")
        os.link(self.path("u_20x30x40.f32"), self.path("hard"))
        self.path("soft.cuszi").symlink_to("a.cuszi")

    def unchanged(self, *arguments):
        archive = self.path("a.cuszi").read_bytes()
        result = self.cuszi(*arguments, code=USAGE)
        self.assertEqual(result.stdout, b"")
        self.assertEqual(self.path("u_20x30x40.f32").read_bytes(), self.original)
        self.assertEqual(self.path("hard").read_bytes(), self.original)
        self.assertEqual(self.path("a.cuszi").read_bytes(), archive)

    def test_the_original(self):
        for original in ["u_20x30x40.f32", "soft", "hard"]:
            for output in ["u_20x30x40.f32", "soft", "hard", "./u_20x30x40.f32"]:
                with self.subTest(original=original, output=output):
                    self.unchanged("decompress", "a.cuszi", "--compare", original, "-o", output,
                                   "--force")

    def test_the_archive(self):
        for archive in ["a.cuszi", "soft.cuszi"]:
            for output in ["a.cuszi", "soft.cuszi"]:
                with self.subTest(archive=archive, output=output):
                    self.unchanged("decompress", archive, "-o", output, "--force")

    def test_the_input(self):
        for output in ["u_20x30x40.f32", "soft", "hard"]:
            with self.subTest(output=output):
                self.unchanged("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", output, "--force")

    def test_any_of_several(self):
        self.field("v_20x30x40.f32", seed=2)
        self.path("u_20x30x40.f32.cuszi").symlink_to("v_20x30x40.f32")
        for names in [["u_20x30x40.f32", "v_20x30x40.f32"], ["v_20x30x40.f32", "u_20x30x40.f32"]]:
            self.unchanged("compress", *names, "-e", "1e-3", "--force")
        self.assertNotIn("v_20x30x40.f32.cuszi", self.files())  # nothing was begun

    def test_files_that_say_more(self):
        self.path("bounds.f32").write_bytes(array.array("f", [1e-4] * 24000).tobytes())
        self.path("list").write_text("u_20x30x40.f32")
        self.path("archives").write_text("a.cuszi")
        names = ["bounds.f32", "list", "archives"]
        kept = {name: self.path(name).read_bytes() for name in names}
        compress = ["compress", "-e", "1e-1"]
        for name in names:
            self.path(f"to_{name}").symlink_to(name)
        for arguments in [[*compress, "u_20x30x40.f32", "--bound-field", "bounds.f32", "-o", "bounds.f32"],
                          [*compress, "u_20x30x40.f32", "--bound-field", "to_bounds.f32", "-o", "bounds.f32"],
                          [*compress, "u_20x30x40.f32", "--bound-field", "bounds.f32", "-o", "to_bounds.f32"],
                          [*compress, "--filelist", "list", "-o", "list"],
                          [*compress, "--filelist", "list", "-o", "to_list"],
                          ["decompress", "--filelist", "archives", "-o", "archives"]]:
            with self.subTest(arguments=arguments):
                self.unchanged(*arguments, "--force")
                self.assertEqual({name: self.path(name).read_bytes() for name in names}, kept)
        for command in ["compress u_20x30x40.f32 -e 1e-1 --bound-field bounds.f32 -o - >> bounds.f32",
                        "bench u_20x30x40.f32 -e 1e-1 --bound-field bounds.f32 >> bounds.f32",
                        "compress --filelist list -e 1e-1 -o b.cuszi >> list",
                        "test --filelist archives >> archives", "list --filelist archives >> archives"]:
            with self.subTest(command=command):
                self.shell(f"$CUSZI {command}", code=USAGE)
                self.assertEqual({name: self.path(name).read_bytes() for name in names}, kept)

    def test_names_given_by_default(self):
        self.path("a.restored.f32").symlink_to("u_20x30x40.f32")
        self.unchanged("decompress", "a.cuszi", "--compare", "u_20x30x40.f32", "--force")

    def test_two_outputs_in_one_place(self):
        self.path("one").mkdir()
        self.path("two").mkdir()
        for folder in ["one", "two"]:
            self.field(f"{folder}/v_20x30x40.f32")
        self.cuszi("compress", "one/v_20x30x40.f32", "two/v_20x30x40.f32", "-e", "1e-3", "-o",
                   "out", code=USAGE)
        self.path("one/v_20x30x40.f32.cuszi").symlink_to("../shared")
        self.path("two/v_20x30x40.f32.cuszi").symlink_to("../shared")
        self.cuszi("compress", "one/v_20x30x40.f32", "two/v_20x30x40.f32", "-e", "1e-3",
                   code=USAGE)
        self.assertFalse(self.path("shared").exists())

    def test_standard_streams(self):
        archive = self.path("a.cuszi").read_bytes()
        for command in ["decompress a.cuszi -o - >> a.cuszi", "decompress - < a.cuszi >> a.cuszi",
                        "decompress - --force -o a.cuszi < a.cuszi", "inspect a.cuszi >> a.cuszi",
                        "compress u_20x30x40.f32 -e 1e-3 -o - >> u_20x30x40.f32",
                        "compare u_20x30x40.f32 hard >> hard",
                        "bench u_20x30x40.f32 -e 1e-3 >> soft",
                        f"compress - {' '.join(OPTIONS)} --force -o soft < hard"]:
            with self.subTest(command=command):
                self.shell(f"$CUSZI {command}", code=USAGE)
                self.assertEqual(self.path("a.cuszi").read_bytes(), archive)
                self.assertEqual(self.path("hard").read_bytes(), self.original)


class Folders(OutputTest):
    """Where the results of several inputs go."""

    def setUp(self):
        super().setUp()
        self.field("v_20x30x40.f32", seed=2)
        self.names = ["u_20x30x40.f32", "v_20x30x40.f32"]

    def entries(self):
        return sorted(path.name for path in self.folder.iterdir())

    @also_sanitized
    def test_a_name_of_a_file_is_no_folder(self):
        self.compress("-o", "a.cuszi")
        self.compress("-o", "b.cuszi")
        before = self.entries()
        for output in ["restored.f32", "all.cuszi", "./x.npy", "deep/x.dat", "run.1"]:
            with self.subTest(output=output):
                for command in [["decompress", "a.cuszi", "b.cuszi"],
                                ["compress", *self.names, "-e", "1e-3"],
                                ["decompress", "-r", "."]]:
                    error = self.cuszi(*command, "-o", output, code=USAGE).stderr.decode()
                    self.assertIn(f"{output}/", error)
        self.assertEqual(self.entries(), before)

    @also_sanitized
    def test_a_slash_makes_a_folder(self):
        self.cuszi("compress", *self.names, "-e", "1e-3", "-o", "run.1/")
        self.cuszi("compress", *self.names, "-e", "1e-3", "-o", "run.1", "--force")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "one.d/")
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "one.d", "--force")
        self.cuszi("compress", *self.names, "-e", "1e-3", "-o", "deep/plain")
        self.assertEqual(self.files(), ["deep/plain/u_20x30x40.f32.cuszi",
                                        "deep/plain/v_20x30x40.f32.cuszi",
                                        "one.d/u_20x30x40.f32.cuszi",
                                        "run.1/u_20x30x40.f32.cuszi",
                                        "run.1/v_20x30x40.f32.cuszi", *self.names])

    def test_no_folder_is_left_where_all_fail(self):
        before = self.entries()
        self.cuszi("compress", "no_2x2.f32", "none_2x2.f32", "-e", "1e-3", "-o", "out", code=INPUT)
        self.cuszi("decompress", *self.names, "-o", "out", code=ARCHIVE)
        self.assertEqual(self.entries(), before)

    def test_a_file_in_place_of_the_folder(self):
        self.path("plain").write_bytes(b"precious")
        self.cuszi("compress", *self.names, "-e", "1e-3", "-o", "plain", "--force", code=OUTPUT)
        self.cuszi("compress", *self.names, "-e", "1e-3", "-o", "plain/", "--force", code=OUTPUT)
        self.cuszi("compress", "u_20x30x40.f32", "-e", "1e-3", "-o", "plain/", "-f", code=OUTPUT)
        self.assertEqual(self.path("plain").read_bytes(), b"precious")


class Permissions(OutputTest):
    def mode(self, name):
        return stat.S_IMODE(self.path(name).stat().st_mode)

    def test_outputs_have_those_of_their_input(self):
        for mode in [0o600, 0o640, 0o644, 0o664, 0o400]:
            with self.subTest(mode=oct(mode)):
                self.path("u_20x30x40.f32").chmod(mode)
                self.compress("--force", "--verify")
                self.assertEqual(self.mode("u_20x30x40.f32.cuszi"), mode)
                self.cuszi("decompress", "u_20x30x40.f32.cuszi", "--force")
                self.assertEqual(self.mode("u_20x30x40.restored.f32"), mode)

    def test_an_overwritten_output_has_them_too(self):
        self.path("u_20x30x40.f32").chmod(0o600)
        self.path("a.cuszi").write_bytes(b"")
        self.path("a.cuszi").chmod(0o666)
        self.compress("-o", "a.cuszi", "--force")
        self.assertEqual(self.mode("a.cuszi"), 0o600)

    def test_pipes_leave_it_to_the_umask(self):
        self.shell(f"umask 027; cat u_20x30x40.f32 | $CUSZI compress - {' '.join(OPTIONS)} "
                   "-o a.cuszi")
        self.assertEqual(self.mode("a.cuszi"), 0o640)
        self.path("u_20x30x40.f32").chmod(0o600)
        self.shell(f"$CUSZI compress - {' '.join(OPTIONS)} -o b.cuszi < u_20x30x40.f32")
        self.assertEqual(self.mode("b.cuszi"), 0o600)

    @unittest.skipIf(not NO_TMPFILE, "there is no library to preload")
    def test_unfinished_files_have_them(self):
        self.field("v_100x200x200.f32", dims="100x200x200")
        self.path("v_100x200x200.f32").chmod(0o600)
        process = subprocess.Popen([CUSZI, "compress", "v_100x200x200.f32", "-e", "1e-3"],
                                   cwd=self.folder, env={**os.environ, "LD_PRELOAD": NO_TMPFILE})
        name = self.wait_for_new_file({"u_20x30x40.f32", "v_100x200x200.f32"})
        mode = self.mode(name)
        process.terminate()
        process.wait()
        self.assertRegex(name, r"cuszi\.\w+\.tmp")
        self.assertEqual(mode, 0o600)

    def wait_for_new_file(self, known):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for name in set(self.files()) - known:
                return name
            time.sleep(0.01)
        self.fail("no unfinished file was seen")
        return None


class Links(OutputTest):
    @also_sanitized
    def test_a_link_is_followed(self):
        self.path("folder").mkdir()
        self.path("link.cuszi").symlink_to("folder/far.cuszi")
        self.compress("-o", "link.cuszi")  # to nowhere yet
        self.assertTrue(self.path("link.cuszi").is_symlink())
        expected = self.path("folder/far.cuszi").read_bytes()
        self.compress("-o", "link.cuszi", code=OUTPUT)
        self.path("folder/far.cuszi").write_bytes(b"old")
        self.compress("-o", "link.cuszi", "--force")
        self.assertTrue(self.path("link.cuszi").is_symlink())
        self.assertEqual(self.path("folder/far.cuszi").read_bytes(), expected)

    def test_a_link_to_itself(self):
        self.path("loop").symlink_to("loop")
        self.compress("-o", "loop", code=OUTPUT)
        self.compress("-o", "loop", "--force", code=OUTPUT)

    def test_links_to_devices_write_through(self):
        self.path("nowhere").symlink_to("/dev/null")
        self.compress("-o", "nowhere")
        self.compress("-o", "nowhere", "--force")
        self.assertTrue(self.path("nowhere").is_symlink())
        self.path("full").symlink_to("/dev/full")
        self.compress("-o", "full", code=OUTPUT)
        os.mkfifo(self.path("fifo"))
        self.path("pipe").symlink_to("fifo")
        read = []
        reader = threading.Thread(target=lambda: read.append(self.path("fifo").read_bytes()))
        reader.start()
        self.compress("-o", "pipe")
        reader.join()
        self.assertEqual(read, [self.archive("b.cuszi")])


class Endings(OutputTest):
    """Whatever ends the process, nothing unfinished is left."""

    def start(self, **environment):
        """A process that has begun its output and waits for its input; the pipe to that."""
        os.mkfifo(self.path("slow"))
        process = subprocess.Popen([CUSZI, "compress", "slow", *OPTIONS, "-m", "abs", "--force",
                                    "-o", "out.cuszi"], cwd=self.folder, stderr=subprocess.PIPE,
                                   env={**os.environ, **environment})
        pipe = open(self.path("slow"), "wb")
        self.addCleanup(pipe.close)
        self.addCleanup(process.stderr.close)
        deadline = time.monotonic() + 60
        while not self.has_output(process.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertTrue(self.has_output(process.pid))
        return process, pipe

    def has_output(self, pid):
        """Whether the process has a file open for writing in the folder, with a name or without."""
        for entry in os.scandir(f"/proc/{pid}/fd"):
            target = os.readlink(entry.path)
            info = Path(f"/proc/{pid}/fdinfo/{entry.name}").read_text()
            flags = int(info.split("flags:")[1].split()[0], 8)
            if target.startswith(str(self.folder.resolve())) and flags & os.O_ACCMODE:
                return True
        return False

    def end(self, signal_number, **environment):
        process, _ = self.start(**environment)
        before = set(self.files())
        process.send_signal(signal_number)
        self.assertEqual(process.wait(), -signal_number)
        self.path("slow").unlink()
        return before

    def test_signals(self):
        for number in [signal.SIGKILL, signal.SIGQUIT, signal.SIGXCPU, signal.SIGPIPE,
                       signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGABRT]:
            with self.subTest(signal=number):
                self.end(number)
                self.assertEqual(self.files(), ["u_20x30x40.f32"])

    @unittest.skipIf(not NO_TMPFILE, "there is no library to preload")
    def test_signals_where_files_need_names(self):
        for number in [signal.SIGQUIT, signal.SIGXCPU, signal.SIGPIPE, signal.SIGTERM,
                       signal.SIGINT, signal.SIGHUP, signal.SIGABRT]:
            with self.subTest(signal=number):
                before = self.end(number, LD_PRELOAD=NO_TMPFILE)
                self.assertEqual(len(before), 2)
                self.assertEqual(self.files(), ["u_20x30x40.f32"])

    @unittest.skipIf(not NO_TMPFILE, "there is no library to preload")
    def test_a_signal_as_soon_as_there_is_a_file(self):
        for number in [signal.SIGQUIT, signal.SIGTERM, signal.SIGINT]:
            with self.subTest(signal=number):
                done = subprocess.run(
                    [CUSZI, "compress", "u_20x30x40.f32", *OPTIONS, "-o", "out.cuszi"],
                    cwd=self.folder, stderr=subprocess.DEVNULL, check=False,
                    env={**os.environ, "LD_PRELOAD": NO_TMPFILE,
                         "SIGNAL_AT_CREATION": str(int(number))})
                self.assertEqual(done.returncode, -number)
                self.assertEqual(self.files(), ["u_20x30x40.f32"])

    @unittest.skipIf(not NO_TMPFILE, "there is no library to preload")
    def test_where_files_need_names(self):
        expected = self.archive()
        os.environ["LD_PRELOAD"] = NO_TMPFILE
        self.addCleanup(os.environ.pop, "LD_PRELOAD")
        self.compress("-o", "b.cuszi", "--verify")
        self.assertEqual(self.path("b.cuszi").read_bytes(), expected)
        self.compress("-o", "b.cuszi", code=OUTPUT)
        self.compress("-o", "b.cuszi", "--force")
        self.cuszi("decompress", "b.cuszi", "--frame", "7", code=USAGE)
        self.assertEqual(self.files(), ["a.cuszi", "b.cuszi", "u_20x30x40.f32"])

    def test_a_stale_file_blocks_nobody(self):
        process, pipe = self.start()
        for pid in [process.pid, process.pid + 1]:
            self.path(f"out.cuszi.{pid}.tmp").write_bytes(b"stale")
        pipe.write(self.original)
        pipe.close()
        self.assertEqual(process.wait(), OK)

    @also_sanitized
    def test_a_file_size_limit(self):
        self.archive("whole.cuszi")
        limit = self.path("whole.cuszi").stat().st_size // 2

        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        result = subprocess.run([CUSZI, "compress", "u_20x30x40.f32", "-e", "1e-3", "-o",
                                 "b.cuszi"], cwd=self.folder, capture_output=True,
                                preexec_fn=limited)
        self.assertEqual(result.returncode, OUTPUT)
        self.assertIn(b"b.cuszi: cannot be written: File too large", result.stderr)
        self.assertEqual(self.files(), ["u_20x30x40.f32", "whole.cuszi"])

    def test_the_folder_is_forced_to_disk_too(self):
        if subprocess.run(["which", "strace"], capture_output=True).returncode != 0:
            self.skipTest("there is no strace")
        self.shell("strace -f -e trace=openat,fsync,linkat,rename,renameat2 -o trace $CUSZI "
                   "compress u_20x30x40.f32 -e 1e-3 -o b.cuszi")
        calls = [line.split(None, 1)[1] for line in self.path("trace").read_text().splitlines()]
        names = [call.split("(")[0] for call in calls]
        placed = names.index("linkat")
        self.assertIn("fsync", names[:placed])
        self.assertIn("fsync", names[placed:])


class Limits(OutputTest):
    """More is asked for than the system has."""

    def run_limited(self, limits, *arguments, **environment):
        def limit():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for kind, most in limits.items():
                resource.setrlimit(kind, (most, most))

        return subprocess.run([CUSZI, *arguments], cwd=self.folder, capture_output=True,
                              preexec_fn=limit, env={**os.environ, **environment}, timeout=120)

    def limited(self, limits, *arguments, **environment):
        result = self.run_limited(limits, *arguments, **environment)
        self.assertGreaterEqual(result.returncode, 0, result.stderr)
        return result

    def least_memory(self):
        """Megabytes in which the program starts. In less the system, the dynamic linker or CUDA's
        runtime end it, in ways of their own, before main()."""
        for most in range(8, 500):
            if self.run_limited({resource.RLIMIT_AS: most << 20}, "--version").returncode == OK:
                return most
        self.fail("the program does not start in 500 MB")

    def test_threads(self):
        expected = self.archive()
        for more, environment in [([], {"OMP_NUM_THREADS": "1000000"}),
                                  (["--threads", "4096"], {}), (["--threads", "0"], {})]:
            with self.subTest(more=more, environment=environment):
                result = self.limited({}, "compress", "u_20x30x40.f32", "-e", "1e-3", "--force",
                                      "-o", "b.cuszi", *more, **environment)
                self.assertEqual(result.returncode, OK, result.stderr)
                self.assertEqual(self.path("b.cuszi").read_bytes(), expected)

    def test_memory(self):
        expected = self.archive()
        codes = set()
        least = self.least_memory()
        for more in [0, 1, 2, 4, 8, 16, 32, 64, 1000]:
            with self.subTest(least=least, more=more):
                result = self.limited({resource.RLIMIT_AS: (least + more) << 20}, "compress",
                                      "u_20x30x40.f32", "-e", "1e-3", "--force", "-o", "b.cuszi",
                                      "--threads", "64")
                self.assertIn(result.returncode, [OK, 5], result.stderr)
                if result.returncode == OK:
                    self.assertEqual(self.path("b.cuszi").read_bytes(), expected)
                codes.add(result.returncode)
        self.assertIn(OK, codes)


class SmallFrames(OutputTest):
    def test_an_archive_is_not_larger_than_its_input_by_much(self):
        values = os.urandom(80000)
        self.path("r.dat").write_bytes(values)
        for size in ["1", "4", "100", "64K"]:
            for bound in ["0", "1e-3"]:
                with self.subTest(size=size, bound=bound):
                    self.cuszi("compress", "r.dat", "-d", "20000", "-t", "f32", "-e", bound,
                               "--frame-size", size, "--force", "-o", "r.cuszi")
                    self.assertLess(self.path("r.cuszi").stat().st_size, len(values) + 512)

    def test_a_preview_of_one_value_takes_no_more_memory_than_it_has(self):
        with open(self.path("c_1000x1000x300.f32"), "wb") as file:
            file.truncate(1_200_000_000)
        self.cuszi("compress", "c_1000x1000x300.f32", "-e", "1e-3", "-o", "c.cuszi")
        self.cuszi("decompress", "c.cuszi", "--stride", "64", "-o", "c.out")
        self.assertEqual(self.path("c.out").stat().st_size, 16 * 16 * 5 * 4)

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))

        subprocess.run([CUSZI, "decompress", "c.cuszi", "--stride", "64", "-o", "d.out"],
                       cwd=self.folder, check=True, preexec_fn=limit, capture_output=True)


class Hardening(CliTest):
    def test_the_executable_is_hardened(self):
        header = subprocess.run(["readelf", "-hldW", CUSZI], capture_output=True, text=True,
                                check=True).stdout
        self.assertIn("DYN (Position-Independent Executable", header)
        self.assertIn("GNU_RELRO", header)
        self.assertIn("BIND_NOW", header)
        symbols = subprocess.run(["readelf", "-sW", CUSZI], capture_output=True, text=True,
                                 check=True).stdout
        self.assertIn("__stack_chk_fail", symbols)


if __name__ == "__main__":
    unittest.main()
