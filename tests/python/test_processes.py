"""Tests of the Python package in forked children, in threads that end, and in programs that end."""

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from pathlib import Path

import numpy as np
import zarr

import cuszi
import support

LIMIT = 60  # seconds, after which what hangs is ended
KEYWORDS = {"rel": 1e-3, "threads": 4}


def waves():
    return support.waves((64, 100, 100))


def round_trip(a):
    archive = cuszi.compress(a, **KEYWORDS)
    return archive, cuszi.decompress(archive, threads=4)


def run(program, *arguments):
    """What a program of Python prints; fails if it fails."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
                          check=True, capture_output=True, text=True, timeout=LIMIT)


class Forks(unittest.TestCase):

    def setUp(self):
        self.a = waves()
        self.archive, self.b = round_trip(self.a)

    def fork_and_check(self):
        """Whether a forked child does what this process does."""
        child = os.fork()
        if child == 0:
            signal.alarm(LIMIT)
            archive, b = round_trip(self.a)
            os._exit(0 if archive == self.archive and np.array_equal(b, self.b) else 1)
        return os.waitpid(child, 0)[1] == 0

    def test_children_work_on(self):
        for _ in range(3):
            self.assertTrue(self.fork_and_check())
            self.assertEqual(round_trip(self.a)[0], self.archive)

    def test_children_of_threads_work_on(self):
        done = []

        def work(_):
            round_trip(self.a)
            done.append(self.fork_and_check())
            done.append(round_trip(self.a)[0] == self.archive)

        support.run_in_threads(2, work)
        self.assertEqual(done, [True] * 4)

    def test_children_of_children_work_on(self):
        child = os.fork()
        if child == 0:
            round_trip(self.a)
            os._exit(0 if self.fork_and_check() else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_children_leave_other_threads_contexts_alone(self):
        ready, done = threading.Event(), threading.Event()

        def work():
            round_trip(self.a)
            ready.set()
            done.wait()

        other = threading.Thread(target=work)
        other.start()
        ready.wait()
        self.assertTrue(self.fork_and_check())
        done.set()
        other.join()

    def test_pools(self):
        with multiprocessing.get_context("fork").Pool(3) as pool:
            found = pool.map_async(round_trip, [self.a] * 6).get(timeout=LIMIT)
        for archive, b in found:
            self.assertEqual(archive, self.archive)
            np.testing.assert_array_equal(b, self.b)


class Threads(unittest.TestCase):

    def test_contexts_go_with_their_threads(self):
        grown = run("""
            import threading, numpy as np, cuszi
            from pathlib import Path
            a = np.sin(np.arange(500000, dtype="f4")).reshape(50, 100, 100)

            def resident():  # KiB
                status = Path("/proc/self/status").read_text()
                return int(status.split("VmRSS:")[1].split()[0])

            def use(count):
                for _ in range(count):
                    thread = threading.Thread(target=cuszi.compress, args=(a,),
                                              kwargs={"abs": 1e-3, "preset": "cusz", "threads": 1})
                    thread.start()
                    thread.join()

            use(20)
            before = resident()
            use(120)
            print(resident() - before)
            """).stdout
        self.assertLess(int(grown), 8 << 10)

    def test_programs_end_quietly(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.zarr"
            zarr.create_array(path, data=waves(), chunks=(32, 100, 100), compressors=None,
                              serializer=cuszi.Zarr(abs=1e-2))
            ended = run("import sys, zarr; print(zarr.open_array(sys.argv[1])[...].shape)", path)
        self.assertEqual((ended.stdout, ended.stderr), ("(64, 100, 100)\n", ""))
        ended = run("""
            import threading, numpy as np, cuszi
            work = lambda: cuszi.compress(np.zeros((9, 9), "f4"), abs=1)
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads: thread.start()
            work()
            """)
        self.assertEqual((ended.stdout, ended.stderr), ("", ""))


if __name__ == "__main__":
    unittest.main()
