"""Tests of inputs that say themselves what they hold: files of NumPy, and names of containers.

CUSZI and MAKE_FIELD in the environment say where the executables are. Containers themselves are
tested by tests/python/test_files.py.
"""

import array
import struct
import unittest

from cli_test import INPUT, USAGE, CliTest, also_sanitized

BOUND = ["-e", "1e-3", "--preset", "fast"]


def npy(values, descr="<f4", shape="(4, 30, 40)", fortran=False, version=1):
    """A file of NumPy as bytes."""
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 13) % 64) + "\n"
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + size + text.encode() + values


class Npy(CliTest):

    def setUp(self):
        super().setUp()
        self.values = self.field("u_4x30x40.f32", dims="4x30x40")
        self.expected = self.archive("u_4x30x40.f32")

    def archive(self, name):
        self.cuszi("compress", name, *BOUND, "-q", "-f", "-o", "out.cuszi")
        return self.path("out.cuszi").read_bytes()

    @also_sanitized
    def test_archives_are_those_of_the_values(self):
        swapped = array.array("f", self.values)
        swapped.byteswap()
        for data in [npy(self.values), npy(self.values, version=2), npy(self.values, version=3),
                     npy(swapped.tobytes(), descr=">f4"), npy(self.values) + b"another array",
                     npy(self.values, shape="(40L, 30L, 4L)", fortran=True)]:
            self.path("u.npy").write_bytes(data)
            self.assertEqual(self.archive("u.npy"), self.expected)

    @also_sanitized
    def test_f64_and_other_shapes(self):
        values = self.field("d_4800.f64", dims="4800", dtype="f64")
        self.path("d.npy").write_bytes(npy(values, "<f8", "(4800,)"))
        self.assertEqual(self.archive("d.npy"), self.archive("d_4800.f64"))
        self.path("s.npy").write_bytes(npy(values[:8], "<f8", "()"))
        self.assertEqual(self.report("compress", "s.npy", *BOUND)[0]["dims"], [1])

    @also_sanitized
    def test_whole_path(self):
        self.path("in").mkdir()
        self.path("in/u.npy").write_bytes(npy(self.values))
        self.cuszi("compress", "-r", "in", *BOUND, "--verify")
        self.assertEqual(self.path("in/u.npy.cuszi").read_bytes(), self.expected)
        self.cuszi("decompress", "in/u.npy.cuszi", "--compare", "in/u.npy", "-o", "v.f32")
        self.cuszi("compare", "in/u.npy", "v.f32", "-e", "1e-3")
        self.cuszi("compare", "u_4x30x40.f32", "in/u.npy", "-e", "0")
        self.cuszi("compress", "in/u.npy", *BOUND, "--verify", "--rm", "-f")
        self.assertFalse(self.path("in/u.npy").exists())

    @also_sanitized
    def test_read_as_raw(self):
        header = len(npy(b""))
        self.path("u.npy").write_bytes(npy(self.values))
        self.cuszi("compress", "u.npy", "--skip-bytes", header, "-d", "4x30x40", "-t", "f32",
                   *BOUND, "-o", "raw.cuszi")
        self.assertEqual(self.path("raw.cuszi").read_bytes(), self.expected)
        for option in (["-d", "4x30x40"], ["-t", "f32"], ["--byte-order", "big"]):
            error = self.cuszi("compress", "u.npy", *BOUND, *option, code=USAGE).stderr
            self.assertIn(b"says itself", error)

    @also_sanitized
    def test_what_is_refused(self):
        for data, reason in [
                (self.values, b"is no .npy file"), (b"", b"is no .npy file"),
                (npy(self.values)[:40], b"ends in its header"),
                (npy(self.values)[:-1], b"ends before its 4x30x40 values"),
                (npy(self.values, descr="<i4"), b"holds '<i4'"),
                (npy(self.values, descr="|O"), b"holds '|O'"),
                (npy(self.values, shape="(0, 5)"), b"0x5"),
                (npy(self.values, shape="(1, 2, 3, 4, 5)"), b"1x2x3x4x5"),
                (npy(self.values, shape="(99999999999999999999,)"), b"too large"),
                (npy(self.values, version=9), b"version 9"),
                (npy(self.values).replace(b"shape", b"shame"), b"no shape")]:
            self.path("u.npy").write_bytes(data)
            with self.subTest(reason=reason):
                self.assertIn(reason, self.cuszi("compress", "u.npy", *BOUND,
                                                 code=INPUT).stderr)

    @also_sanitized
    def test_other_dims_are_not_compared(self):
        self.path("u.npy").write_bytes(npy(self.values))
        self.path("v.npy").write_bytes(npy(self.values, shape="(4800,)"))
        error = self.cuszi("compare", "u.npy", "v.npy", code=INPUT).stderr
        self.assertIn(b"cannot be compared", error)


class Names(CliTest):

    def test_zarr_is_for_python(self):
        self.path("s.zarr").mkdir()
        for name in ("s.zarr", "s.zarr/T", "s.zarr:T", "no.zarr"):
            error = self.cuszi("compress", name, *BOUND, code=USAGE).stderr
            self.assertIn(b"python3 -c", error)

    def test_files_come_before_variables(self):
        self.field("a.nc:5x6x7.f32", dims="5x6x7")
        self.cuszi("compress", "a.nc:5x6x7.f32", *BOUND)
        self.assertIn("a.nc:5x6x7.f32.cuszi", self.files())

    def test_missing_containers(self):
        for name in ("no.nc", "no.nc:T", "no.h5:/g/T", "no.npy"):
            self.assertIn(b"cannot be opened",
                          self.cuszi("compress", name, *BOUND, code=INPUT).stderr)

    def test_containers_are_not_removed(self):
        self.path("a.nc").write_bytes(b"")
        self.cuszi("compress", "a.nc:T", *BOUND, "--verify", "--rm", code=USAGE)
        self.assertIn("a.nc", self.files())


if __name__ == "__main__":
    unittest.main()
