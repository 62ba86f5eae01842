"""What the tests of the cuszi executable share.

CUSZI and MAKE_FIELD in the environment say where the executables are.
"""

import array
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

CUSZI = os.environ["CUSZI"]
MAKE_FIELD = os.environ["MAKE_FIELD"]

# Made on a GPU of BITCOMP_FIELD with BITCOMP_OPTIONS --lossless bitcomp.
BITCOMP_ARCHIVE = (Path(__file__).resolve().parents[2] / "test_data" / "bitcomp" /
                   "interp_bitcomp.cuszi")
BITCOMP_FIELD = {"kind": "smooth", "dims": "64x64x64", "dtype": "f32", "seed": 31}
BITCOMP_OPTIONS = ["-e", "1e-1", "--preset", "cuszi"]

SANITIZED = os.environ.get("SANITIZED") == "ON"


def also_sanitized(test):
    """Marks what runs in the sanitizers' build, too: every command, and every way through memory,
    once. A start alone takes so long there that all would take minutes."""
    test.also_sanitized = True
    return test


# What fields are compressed by where no test says. The default takes 20 times as long in the sanitizers' build, and is
# watched there by golden and by tests of the library.
PRESET, CODING = ("cuszi", "interp + huffman") if SANITIZED else ("ratio", "multilevel + ans")


def quick(arguments):
    """The arguments of cuszi, with PRESET if it is not the default and they name nothing else."""
    is_chosen = {"--preset", "--predictor", "--axes"} & set(arguments)
    if PRESET == "ratio" or is_chosen or not {"compress", "bench"} & set(arguments[:1]):
        return arguments
    return (*arguments, "--preset", PRESET)


OK, USAGE, INPUT, ARCHIVE, BOUND, DEVICE, OUTPUT = range(7)

REPORT_KEYS = {
    "input", "archive", "dtype", "dims", "input_bytes", "archive_bytes", "ratio", "bit_rate",
    "error_bound_abs", "psnr_db", "nrmse", "max_abs_error", "max_pointwise_error",
    "max_error_over_bound", "within_bound",
    "value_min", "value_max", "masked", "outliers", "patches", "predictor", "coder", "lossless",
    "device", "compress_seconds", "compress_gb_per_s", "decompress_seconds",
    "decompress_gb_per_s"}
QUALITY_KEYS = {"psnr_db", "nrmse", "max_abs_error", "max_pointwise_error",
    "max_error_over_bound", "within_bound"}


class CliTest(unittest.TestCase):
    """Runs the executable in a folder of its own."""

    def setUp(self):
        test = getattr(self, self._testMethodName)
        if SANITIZED and not hasattr(test, "also_sanitized"):
            self.skipTest("runs in the default build")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def path(self, name):
        return self.folder / name

    def field(self, name, kind="smooth", dims="20x30x40", dtype="f32", seed=1):
        """Makes a field; returns its bytes."""
        subprocess.run([MAKE_FIELD, kind, dims, dtype, str(seed), self.path(name)], check=True)
        return self.path(name).read_bytes()

    def cuszi(self, *arguments, code=OK, stdin=b"", lines=r"^(cuszi: .*\n)+$"):
        """Runs cuszi; requires the exit code, and of a failure that stderr has these lines."""
        result = subprocess.run([CUSZI, *map(str, quick(arguments))], cwd=self.folder, input=stdin,
                                capture_output=True, timeout=120)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        if code != OK:
            self.assertRegex(result.stderr.decode(), lines)
        return result

    def report(self, *arguments, code=OK):
        """The objects that cuszi reports in JSON, one a line."""
        lines = self.cuszi(*arguments, "--json", code=code).stdout.decode().splitlines()
        return [json.loads(line) for line in lines]

    def paused(self, *command, once):
        """A process of cuszi, stopped by SIGSTOP while once(names of its open files) holds. One that ended before it
        was seen is started again, without its output `out`."""
        for _ in range(20):
            process = subprocess.Popen([CUSZI, *command, "--quiet"], cwd=self.folder, stderr=subprocess.PIPE)
            self.addCleanup(process.stderr.close)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            while process.poll() is None:
                if once(self.open_files(process.pid)):
                    process.send_signal(signal.SIGSTOP)
                    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                    if once(self.open_files(process.pid)):
                        return process
                    process.send_signal(signal.SIGCONT)
                time.sleep(0.001)
            self.path("out").unlink(missing_ok=True)
        return self.fail(f"{command} ended before its files were seen open")

    @staticmethod
    def resumed(process):
        """The exit code of a paused process."""
        process.send_signal(signal.SIGCONT)
        return process.wait()

    @staticmethod
    def open_files(pid):
        names = []
        try:
            for entry in os.listdir(f"/proc/{pid}/fd"):
                names.append(os.readlink(f"/proc/{pid}/fd/{entry}"))
        except FileNotFoundError:  # closed meanwhile
            pass
        return names

    def files(self):
        return sorted(str(path.relative_to(self.folder))
                      for path in self.folder.rglob("*") if path.is_file())

    def assert_close(self, original, restored, bound, type_code="f"):
        a, b = array.array(type_code, original), array.array(type_code, restored)
        self.assertEqual(len(a), len(b))
        self.assertTrue(all(abs(x - y) <= bound for x, y in zip(a, b)))


def has_device():
    """Whether this cuszi finds a GPU."""
    with tempfile.TemporaryDirectory() as folder:
        field = Path(folder) / "zero_4x4.f32"
        field.write_bytes(bytes(64))
        result = subprocess.run([CUSZI, "compress", field, "-e", "0", "--preset", "cusz",
                                 "--device", "cuda"], capture_output=True, timeout=120)
    return result.returncode == OK
