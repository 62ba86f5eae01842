"""Tests of inputs that say themselves what they hold: files of NumPy, and names of containers.

CUSZI and MAKE_FIELD in the environment say where the executables are. Containers themselves are
tested by tests/python/test_files.py.
"""

import array
import ast
import itertools
import math
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


def array_in(data):
    """What NumPy would find in a file: the type, the shape and the bytes of the values."""
    size, = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10:10 + size].decode("ascii"))
    assert data[:8] == b"\x93NUMPY\1\0" and not header["fortran_order"]
    assert (10 + size) % 64 == 0 and data[9 + size:10 + size] == b"\n"
    values = data[10 + size:]
    assert len(values) == math.prod(header["shape"]) * int(header["descr"][2:])
    return header["descr"], header["shape"], values


def transposed(values, shape, width=4):
    """The bytes of an array in Fortran order, of those in C order."""
    def place(index):
        at = 0
        for extent, i in zip(shape, index):
            at = at * extent + i
        return at * width

    places = (place(index[::-1]) for index in
              itertools.product(*(range(extent) for extent in reversed(shape))))
    return b"".join(values[at:at + width] for at in places)


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
                     npy(self.values, shape="(4L, 30L, 40L)"),
                     npy(transposed(self.values, (4, 30, 40)), fortran=True),
                     npy(transposed(swapped.tobytes(), (4, 30, 40)), ">f4", fortran=True)]:
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
            self.assertIn(b"--skip-bytes to read it as raw", error)

    @also_sanitized
    def test_what_is_refused(self):
        for data, reason in [
                (self.values, b"is not a .npy file"), (b"", b"is not a .npy file"),
                (npy(self.values)[:40], b"ends inside its header"),
                (npy(self.values)[:-1], b"is too short for its 4x30x40 values"),
                (npy(self.values, descr="<c8"), b"contains '<c8'"),
                (npy(self.values, descr="|O"), b"contains '|O'"),
                (npy(self.values, shape="(0, 5)"), b"0x5"),
                (npy(self.values, shape="(2, 2, 0, 4, 5)"), b"2x2x0x4x5"),
                (npy(self.values, shape="(8589934592, 2147483649, 2, 2, 2)"), b"8589934592x"),
                (npy(self.values, shape="(4294967296, 4294967296, 1, 1, 4800)"), b"4294967296x"),
                (npy(self.values, shape="(99999999999999999999,)"), b"too large"),
                (npy(self.values, version=9), b"version 9"),
                (npy(self.values).replace(b"shape", b"shame"), b"no shape")]:
            self.path("u.npy").write_bytes(data)
            with self.subTest(reason=reason):
                self.assertIn(reason, self.cuszi("compress", "u.npy", *BOUND,
                                                 code=INPUT).stderr)

    @also_sanitized
    def test_axes_beyond_four_are_merged(self):
        for shape, dims in [((2, 2, 1, 30, 40), [2, 2, 30, 40]), ((2, 2, 2, 15, 40), [4, 2, 15, 40]),
                            ((1, 4, 1, 30, 1, 40), [4, 30, 40]),
                            ((2, 2, 2, 3, 5, 40), [8, 3, 5, 40])]:
            for fortran in [False, True]:
                values = transposed(self.values, shape) if fortran else self.values
                self.path("u.npy").write_bytes(npy(values, shape=str(shape), fortran=fortran))
                report, = self.report("compress", "u.npy", "-e", "0", "-f", "-o", "u.cuszi")
                self.assertEqual(report["dims"], dims)
                self.cuszi("decompress", "u.cuszi", "-f", "-o", "u.f32")
                self.assertEqual(self.path("u.f32").read_bytes(), self.values)

    @also_sanitized
    def test_fortran_order_of_any_shape(self):
        for shape, dtype, width in [((30, 160), "f32", 4), ((40, 3, 40), "f32", 4),
                                    ((2, 3, 4, 100), "f64", 8), ((1, 2400, 1), "f64", 8),
                                    ((5, 33, 7), "f64", 8), ((2400,), "f64", 8)]:
            count = math.prod(shape)
            name = f"v_{count}.{dtype}"
            values = self.field(name, dims=str(count), dtype=dtype)
            data = transposed(values, shape, width)
            self.path("v.npy").write_bytes(npy(data, f"<f{width}", str(shape), fortran=True))
            self.cuszi("compress", "v.npy", "-e", "0", "-f", "--verify")
            self.cuszi("decompress", "v.npy.cuszi", "-f", "--compare", "v.npy")
            self.assertEqual(array_in(self.path("v.restored.npy").read_bytes()),
                             (f"<f{width}", shape, values))
            self.cuszi("compare", "v.npy", "v.restored.npy", "-e", "0")

    def test_a_fortran_field_of_several_frames(self):
        values = self.field("w_64x40x50.f32", dims="64x40x50")
        self.path("w.npy").write_bytes(npy(transposed(values, (64, 40, 50)), shape="(64, 40, 50)",
                                           fortran=True))
        for name in ["w.npy", "w_64x40x50.f32"]:
            self.cuszi("compress", name, *BOUND, "--frame-size", "64K", "-o", f"{name}.c")
        self.assertEqual(self.path("w.npy.c").read_bytes(),
                         self.path("w_64x40x50.f32.c").read_bytes())

    def test_a_second_array_is_told(self):
        self.path("u.npy").write_bytes(npy(self.values) + b"another array")
        self.assertIn(b"13 bytes", self.cuszi("compress", "u.npy", *BOUND).stderr)
        self.path("u.npy").write_bytes(npy(self.values))
        self.assertEqual(self.cuszi("compress", "u.npy", *BOUND, "-f").stderr, b"")

    @also_sanitized
    def test_other_dims_are_not_compared(self):
        self.path("u.npy").write_bytes(npy(self.values))
        self.path("v.npy").write_bytes(npy(self.values, shape="(4800,)"))
        error = self.cuszi("compare", "u.npy", "v.npy", code=INPUT).stderr
        self.assertIn(b"cannot be compared", error)


class Restored(CliTest):
    """Fields restored to files that say what they hold."""

    def setUp(self):
        super().setUp()
        self.values = self.field("u_4x30x40.f32", dims="4x30x40")
        self.cuszi("compress", "u_4x30x40.f32", "-e", "0", "--frame-size", "64K", "-o", "u.cuszi")

    def restored(self, *options, archive="u.cuszi"):
        self.cuszi("decompress", archive, "-f", "-o", "y.npy", *options)
        return array_in(self.path("y.npy").read_bytes())

    def part(self, z, y, x):
        values = array.array("f", self.values)
        return array.array("f", [values[(i * 30 + j) * 40 + k] for i in z for j in y
                                 for k in x]).tobytes()

    @also_sanitized
    def test_whole_fields(self):
        self.assertEqual(self.restored(), ("<f4", (4, 30, 40), self.values))
        swapped = array.array("f", self.values)
        swapped.byteswap()
        self.assertEqual(self.restored("--byte-order", "big"),
                         (">f4", (4, 30, 40), swapped.tobytes()))
        for dims, dtype, shape in [("4800", "f64", (4800,)), ("3x4x5x6", "f32", (3, 4, 5, 6))]:
            values = self.field(f"v_{dims}.{dtype}", dims=dims, dtype=dtype)
            self.cuszi("compress", f"v_{dims}.{dtype}", "-e", "0", "-f", "-o", "v.cuszi")
            descr = {"f32": "<f4", "f64": "<f8"}[dtype]
            self.assertEqual(self.restored(archive="v.cuszi"), (descr, shape, values))

    @also_sanitized
    def test_parts(self):
        ys, xs = range(30), range(40)
        for options, shape, part in [
                (["--box", "1:3,5:9,:"], (2, 4, 40), (range(1, 3), range(5, 9), xs)),
                (["--box", "2,7"], (1, 1, 40), ([2], [7], xs)),
                (["--stride", "2"], (2, 15, 20), (range(0, 4, 2), ys[::2], xs[::2])),
                (["--stride", "4", "--box", ":,3:20,1:9"], (1, 4, 2), ([0], ys[4:20:4], xs[4:9:4]))]:
            self.cuszi("compress", "u_4x30x40.f32", "-e", "0", "-f", "--preset", "fast", "-o",
                       "f.cuszi")
            with self.subTest(options=options):
                self.assertEqual(self.restored(*options, archive="f.cuszi"),
                                 ("<f4", shape, self.part(*part)))

    def test_frames(self):
        values = self.field("w_64x40x50.f32", dims="64x40x50")
        self.cuszi("compress", "w_64x40x50.f32", "-e", "0", "--frame-size", "64K", "-o", "w.cuszi")
        self.assertEqual(self.restored(archive="w.cuszi"), ("<f4", (64, 40, 50), values))
        _, shape, first = self.restored("--frame", "1", archive="w.cuszi")
        self.assertLess(shape[0], 64)
        self.assertEqual(first, values[len(first):2 * len(first)])
        streamed = self.cuszi("decompress", "w.cuszi", "-c").stdout
        self.assertEqual(streamed, values)

    @also_sanitized
    def test_default_names_keep_the_dims(self):
        self.path("n.npy").write_bytes(npy(self.values))
        self.cuszi("compress", "n.npy", "-e", "0")
        self.cuszi("decompress", "n.npy.cuszi")
        self.cuszi("decompress", "n.npy.cuszi", "--box", "0:2", "--stride", "2")
        self.assertEqual(array_in(self.path("n.restored.npy").read_bytes()),
                         ("<f4", (4, 30, 40), self.values))
        self.assertIn("n.box.stride2.restored.npy", self.files())
        self.path("in").mkdir()
        self.path("n.npy").rename(self.path("in/n.npy"))
        self.path("n.restored.npy").rename(self.path("in/n.restored.npy"))
        reports = self.report("compress", "-r", "in", "-e", "0")
        self.assertEqual([report["input"] for report in reports], ["in/n.npy"])

    @also_sanitized
    def test_names_that_values_alone_cannot_fill(self):
        for name in ["y.nc", "y.nc4", "y.cdf", "y.h5", "y.hdf5", "y.he5", "y.zarr", "y.npz"]:
            with self.subTest(name=name):
                error = self.cuszi("decompress", "u.cuszi", "-o", name, code=USAGE).stderr
                self.assertIn(b".npy", error)
        for name in ["y.npy", "y.npz", "y.zarr"]:
            error = self.cuszi("compress", "u_4x30x40.f32", "-e", "0", "-o", name, code=USAGE).stderr
            self.assertIn(b"not a NumPy, NetCDF, HDF5 or Zarr file", error)
        self.cuszi("compress", "u_4x30x40.f32", "--preset", "zfp", "-e", "1e-3", "-o", "z.cuszi")
        for name in ["y.npy", "y.nc"]:
            self.cuszi("zfp-export", "z.cuszi", "-o", name, code=USAGE)
        self.cuszi("zfp-export", "z.cuszi", "-o", "z.zfp")
        for name in ["y.npy", "y.h5"]:
            self.cuszi("zfp-import", "z.zfp", "-o", name, code=USAGE)
        self.assertEqual(self.files(), ["u.cuszi", "u_4x30x40.f32", "z.cuszi", "z.zfp"])
        self.path("folder.nc").mkdir()
        self.cuszi("decompress", "u.cuszi", "-o", "folder.nc")
        self.assertIn("folder.nc/u.restored.f32", self.files())


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
