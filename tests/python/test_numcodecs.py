"""Tests of the codec of numcodecs, as it is installed."""

import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import numcodecs
import numcodecs.tests.common as checks
import numpy as np
import zarr
from numcodecs.compat import ensure_ndarray

import cuszi
from support import waves

FOUR_AXES = [(), (1,), (500,), (30, 40), (30, 1), (1, 30, 40), (12, 1, 40), (12, 30, 40), (3, 4, 5, 60)]
MORE_AXES = [(1, 1, 2, 30, 40), (2, 3, 4, 5, 60), (2, 1, 2, 1, 2, 30)]


def fields(shapes=(*FOUR_AXES, *MORE_AXES)):
    """Of every type, byte order, shape and order of memory."""
    for dtype in ("<f4", "<f8", ">f4", ">f8"):
        for shape in shapes:
            a = np.asarray(waves(shape, dtype))
            yield a
            if len(shape) > 1:
                yield np.asfortranarray(a)


class OfBytes(cuszi.Numcodec):
    """Takes buffers of bytes, as the checks of numcodecs give them, for values of a type."""

    dtype = np.dtype("f4")

    def encode(self, buf):
        array = ensure_ndarray(buf)
        return super().encode(array if array.dtype.kind == "f" else array.view(self.dtype))


def in_memory(array):
    return np.asarray(array).tobytes(order="A")


class Codec(unittest.TestCase):

    def test_the_checks_of_numcodecs(self):
        for a in fields():
            with self.subTest(dtype=a.dtype, shape=a.shape, strides=a.strides):
                OfBytes.dtype = a.dtype
                checks.check_encode_decode(a, OfBytes(abs=0))
                checks.check_encode_decode(a, OfBytes(abs=1e-4), precision=3)
                checks.check_encode_decode_array(a, cuszi.Numcodec(abs=0))
        for codec in (cuszi.Numcodec(abs=1e-2), cuszi.Numcodec(pw_rel=1e-2, preset="fast", strict=True),
                      cuszi.Numcodec(abs_or_pw_rel=1, pw=0.1, fill=["netcdf", 1e20, -np.inf, np.nan])):
            checks.check_config(codec)
            self.assertEqual(eval(repr(codec), {"Numcodec": cuszi.Numcodec}), codec)
        checks.check_err_encode_object_buffer(cuszi.Numcodec(abs=1))
        with self.assertRaises(TypeError):
            codec = cuszi.Numcodec(abs=1)
            codec.decode(codec.encode(waves((10,))), out=np.empty(10, object))

    def test_archives_of_before_are_read(self):
        """check_backwards_compatibility of numcodecs, which writes what is not there yet."""
        arrays = list(fields([(12, 30), (2, 3, 4, 5, 6)]))
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            self.addCleanup(os.chdir, before)
            os.chdir(folder)
            for _ in range(2):
                checks.check_backwards_compatibility(
                    "cuszi", arrays, [cuszi.Numcodec(abs=1e-4), cuszi.Numcodec(abs=0)], [3, None])
            os.chdir(before)

    def test_the_same_array_comes_back(self):
        for a in fields():
            with self.subTest(dtype=a.dtype, shape=a.shape, strides=a.strides):
                codec = cuszi.Numcodec(abs=1e-3)
                encoded = codec.encode(a)
                b = codec.decode(encoded)
                self.assertEqual((b.shape, b.dtype, b.flags.f_contiguous, b.flags.c_contiguous),
                                 (a.shape, a.dtype, a.flags.f_contiguous, a.flags.c_contiguous))
                self.assertLessEqual(np.abs(b - a).max(), 1e-3)
                for order in "CF":
                    out = np.empty(a.shape, a.dtype.newbyteorder(), order)
                    self.assertIs(codec.decode(encoded, out=out), out)
                    np.testing.assert_array_equal(out, b)
                out = bytearray(a.nbytes)
                codec.decode(encoded, out=out)
                self.assertEqual(out, in_memory(b))

    def test_an_archive_alone_where_it_says_all(self):
        codec = cuszi.Numcodec(abs=1e-2)
        for shape in FOUR_AXES[1:]:
            a = waves(shape)
            self.assertEqual(codec.encode(a), cuszi.compress(a, abs=1e-2))
        for a in (waves((30, 40), ">f4"), np.asfortranarray(waves((30, 40))), waves(()), waves((2, 2, 2, 2, 30))):
            encoded = codec.encode(a)
            archive = encoded[encoded.index(b"\x89CUSZI"):]
            self.assertTrue(encoded.startswith(b"\x93NUMPY") and len(encoded) - len(archive) == 128)
            self.assertEqual(cuszi.decompress(archive).size, a.size)

    def test_arrays_with_gaps(self):
        a = waves((40, 60, 20))
        codec = cuszi.Numcodec(abs=1e-3)
        for part in (a[::2, 5:50, ::-1], a.transpose(1, 0, 2), np.broadcast_to(a[0], (3, 60, 20))):
            b = codec.decode(codec.encode(part))
            self.assertEqual(b.shape, part.shape)
            self.assertLessEqual(np.abs(b - part).max(), 1e-3)

    def test_masked_points(self):
        a = np.ma.masked_greater(waves((20, 30)), 0.9)
        codec = cuszi.Numcodec(abs=1e-3)
        for given in (a, a.T, a.reshape(1, 2, 10, 1, 30)):
            b = codec.decode(codec.encode(given))
            self.assertLessEqual(np.abs(b - given).max(), 1e-3)
            self.assertEqual(np.unique(b[given.mask]).size, 1)

    def test_what_cannot_be(self):
        codec = cuszi.Numcodec(abs=1e-3)
        for wrong in (np.arange(10) > 2, b"bytes", np.zeros(0, "f4"), np.zeros((3, 0), "f4"), np.zeros(4, "c8")):
            with self.assertRaises(cuszi.UsageError):
                codec.encode(wrong)
        encoded = codec.encode(waves((20, 30)))
        for out in (np.empty(1, "f4"), np.empty((20, 31), "f4"), bytearray(7), np.empty((20, 30), "f8")):
            with self.assertRaisesRegex(cuszi.UsageError, "out has .* bytes; the array has 2400"):
                codec.decode(encoded, out=out)

    def test_damaged_heads(self):
        codec = cuszi.Numcodec(abs=1e-3)
        encoded = codec.encode(waves((2, 3, 4, 5, 6)))
        archive = encoded[128:]
        for text in (b"(2, 3, 4, 5, 7)", b"(3, 2, 4, 5, 7)", b"(-2,-3,4,5, 6)", b"(0, 3, 4, 5, 6)", b"(2, 3, 4, 30 )",
                     b"(((((((((((((((", b"[2, 3, 4, 5, 6]", b"(720,         )", b"('2', 3, 4,5,6)"):
            with self.subTest(text=text), self.assertRaises(cuszi.ArchiveError):
                codec.decode(encoded.replace(b"(2, 3, 4, 5, 6)", text))
        for old, new in ((b"<f4", b">f8"), (b"<f4", b"|O8"), (b"False", b"True "), (b"NUMPY\x01", b"NUMPY\x07")):
            with self.subTest(new=new), self.assertRaises(cuszi.ArchiveError):
                codec.decode(encoded.replace(old, new))
        warnings.simplefilter("ignore")  # of Python's own parser
        random = np.random.default_rng(1)
        for _ in range(300):
            damaged = bytearray(encoded[:128])
            for at in random.integers(0, 128, 3):
                damaged[at] = random.integers(0, 256)
            try:
                b = codec.decode(bytes(damaged) + archive)
                self.assertEqual(b.size, 720)
            except cuszi.ArchiveError:
                pass
        for size in (0, 1, 6, 8, 10, 100, 127, 128, 140):
            with self.assertRaises(cuszi.ArchiveError):
                codec.decode(encoded[:size])

    def test_version_2_of_zarr(self):
        for dtype in ("<f4", ">f4", "<f8", ">f8"):
            for shape, chunks in [((20, 30, 40), (8, 16, 40)), ((500,), (100,)), ((4, 3, 4, 5, 60), (2, 3, 4, 5, 60)),
                                  ((3, 1, 40), (1, 1, 40)), ((), ())]:
                for order in "CF":
                    for filters in (None, [numcodecs.Delta(dtype=dtype)]):
                        with self.subTest(dtype=dtype, shape=shape, order=order, filters=filters):
                            a = waves(shape, dtype)
                            how = {"chunks": chunks, "zarr_format": 2, "order": order, "filters": filters}
                            z = zarr.create_array({}, data=a, compressors=cuszi.Numcodec(abs=0), **how)
                            np.testing.assert_array_equal(z[...], zarr.create_array({}, data=a, **how)[...])
                            z = zarr.create_array({}, data=a, compressors=cuszi.Numcodec(abs=1e-2), **how)
                            if filters is None:
                                self.assertLessEqual(np.abs(z[...] - a).max(), 1e-2)
                                z[...] = z[...][::-1] if shape else 1
                                self.assertLessEqual(np.abs(z[...] - (a[::-1] if shape else 1)).max(), 2e-2)


class WithoutZarr(unittest.TestCase):

    def test_numcodecs_alone(self):
        """As where Python is too old for version 3 of Zarr."""
        program = ("import sys; sys.modules['zarr'] = None; import numcodecs; codec = numcodecs.get_codec("
                   "{'id': 'cuszi', 'abs': 0.1}); import cuszi; assert type(codec) is cuszi.Numcodec; import numpy; "
                   "print(codec.decode(codec.encode(numpy.ones((3, 4), 'f4'))).shape)")
        folder = Path(cuszi.__file__).parents[1]
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder)
        self.assertEqual((result.stdout, result.stderr), ("(3, 4)\n", ""))


if __name__ == "__main__":
    unittest.main()
