"""Tests of the Python package on arrays of a GPU: of CuPy, PyTorch and JAX, where those are installed.

The package may be installed, or lie in PYTHONPATH with CUSZI_LIBRARY naming the library.
"""

import re
import unittest
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import cuszi
import support

PAGE = Path(__file__).resolve().parents[2] / "docs/guide/python.md"


def waves(shape=(40, 100, 101), dtype="f4", seed=1):
    return support.waves(shape, dtype, seed)


class CuPy:
    """What the tests need of a library: to put an array on the device, to get one, to make one."""

    def __init__(self):
        import cupy
        self.cupy = cupy
        self.put, self.get, self.empty = cupy.asarray, cupy.asnumpy, cupy.empty
        cupy.zeros(1)

    def on_a_stream(self, make):
        """What ``make`` gives, late, on a stream that nobody else waits for."""
        with self.cupy.cuda.Stream(non_blocking=True):
            return make(self.put, self.slow())

    def slow(self):
        """An array of finite values that takes a while."""
        big = self.cupy.ones((4096, 4096), "f4")
        for _ in range(300):
            big = big * 0.999
        return big


class PyTorch:
    def __init__(self):
        import torch
        self.torch = torch
        torch.zeros(1, device="cuda")

    def put(self, a):
        return self.torch.from_numpy(np.ascontiguousarray(a)).to("cuda")

    def get(self, a):
        return a.cpu().numpy()

    def empty(self, shape, dtype):
        types = {"f4": self.torch.float32, "f8": self.torch.float64, "u1": self.torch.uint8}
        return self.torch.empty(shape, dtype=types[np.dtype(dtype).str[1:]], device="cuda")

    def on_a_stream(self, make):
        torch = self.torch
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            big = torch.ones((4096, 4096), device="cuda")
            for _ in range(20):
                big = big @ big * 1e-9
            return make(self.put, big)


class Jax:
    """Its arrays cannot be written: results go to memory of CuPy or PyTorch."""

    def __init__(self):
        import jax
        if jax.default_backend() != "gpu":
            raise ImportError("JAX has no GPU")
        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.put, self.get = jax.numpy.asarray, np.asarray
        self.empty = None

    def on_a_stream(self, make):
        """JAX gives work to streams of its own and returns at once."""
        big = self.jax.numpy.ones((4096, 4096), "f4")
        for _ in range(20):
            big = big @ big * 1e-9
        return make(self.put, big)


def available(*kinds):
    for kind in kinds:
        try:
            yield kind()
        except Exception as reason:  # each library has its own way to say that it has no GPU
            print(f"no {kind.__name__}: {reason}")


LIBRARIES = list(available(CuPy, PyTorch, Jax))
WRITABLE = [library for library in LIBRARIES if library.empty]


def each(libraries):
    """Runs a test for each library."""
    def decorate(test):
        def run(self):
            for library in libraries:
                with self.subTest(library=type(library).__name__):
                    test(self, library)
        return run
    return decorate


@unittest.skipUnless(LIBRARIES, "no library with arrays on a GPU")
class OnDevice(unittest.TestCase):

    @each(LIBRARIES)
    def test_archives_are_those_of_the_values(self, library):
        for dtype in ("f4", "f8"):
            a = waves(dtype=dtype)
            there = library.put(a)
            for options in ({"rel": 1e-3}, {"abs": 1e-3, "preset": "fast"},
                            {"rel": 1e-4, "preset": "fast"}, {"abs": 1e-3, "preset": "cusz"},
                            {"rel": 1e-3, "preset": "cuszi", "frame_bytes": 65536},
                            {"rel": 1e-3, "preset": "zfp"}, {"abs": 0, "preset": "fast"},
                            {"psnr": 60, "preset": "cuszi", "verify": True}):
                with self.subTest(dtype=dtype, **options):
                    self.assertEqual(cuszi.compress(there, **options),
                                     cuszi.compress(a, device="cpu", **options))

    @each(LIBRARIES)
    def test_missing_values(self, library):
        a = waves()
        a[0, :3], a[1] = np.nan, 1e20
        for preset in ("ratio", "fast"):
            archive = cuszi.compress(library.put(a), rel=1e-3, fill=1e20, preset=preset)
            self.assertEqual(archive, cuszi.compress(a, rel=1e-3, fill=1e20, preset=preset,
                                                     device="cpu"))

    @each(WRITABLE)
    def test_results_stay_there(self, library):
        for preset in ("ratio", "cuszi", "cusz", "fast"):
            for dtype in ("f4", "f8"):
                a = waves(dtype=dtype)
                with self.subTest(preset=preset, dtype=dtype):
                    there = library.put(a)
                    out = library.empty(cuszi.room(there), "u1")
                    size = cuszi.compress(there, abs=1e-3, preset=preset, out=out)
                    archive = library.get(out[:size])
                    self.assertEqual(archive.tobytes(),
                                     cuszi.compress(a, abs=1e-3, preset=preset, device="cpu"))
                    b = library.empty(a.shape, dtype)
                    self.assertIs(cuszi.decompress(out[:size], out=b), b)
                    restored = library.get(b)
                    self.assertLessEqual(np.abs(restored.astype("f8") - a).max(), 1e-3)
                    np.testing.assert_array_equal(restored, cuszi.decompress(archive, device="cpu"))
                    np.testing.assert_array_equal(restored, cuszi.decompress(out[:size]))

    @each(WRITABLE)
    def test_parts(self, library):
        a = waves()
        archive = cuszi.compress(a, abs=1e-3, frame_bytes=65536, axes="lattice")
        there = library.put(np.frombuffer(archive, "u1").copy())
        for part in ({"box": np.s_[3:9, 10:20]}, {"box": np.s_[:, 5:, :7]}, {"stride": 4},
                     {"box": np.s_[2:30], "stride": 2}, {"frame": 1}):
            with self.subTest(**part):
                expected = cuszi.decompress(archive, device="cpu", **part)
                b = library.empty(expected.shape, "f4")
                cuszi.decompress(there, out=b, **part)
                np.testing.assert_array_equal(library.get(b), expected)
        self.assertEqual(cuszi.info(there), cuszi.info(archive))

    @each(LIBRARIES)
    def test_waits_for_the_stream_that_makes_the_values(self, library):
        a = waves((64, 128, 128))
        expected = cuszi.compress(a, abs=1e-3, preset="fast")
        for _ in range(5):
            def make(put, late):
                return cuszi.compress(put(a) + late[0, 0] * 0, abs=1e-3, preset="fast")
            self.assertEqual(library.on_a_stream(make), expected)

    def test_a_stream_by_its_address(self):
        library = next((library for library in LIBRARIES if isinstance(library, CuPy)), None)
        if library is None:
            self.skipTest("no CuPy")
        cupy, a = library.cupy, waves((64, 128, 128))
        expected = cuszi.compress(a, abs=1e-3, preset="fast")
        source, stream = cupy.asarray(a), cupy.cuda.Stream(non_blocking=True)
        there = cupy.empty_like(source)
        for _ in range(5):
            there[...] = 0
            cupy.cuda.Device().synchronize()
            with stream:
                there[...] = source + library.slow()[0, 0] * 0
            self.assertEqual(cuszi.compress(there, abs=1e-3, preset="fast", stream=stream.ptr),
                             expected)

    @each(WRITABLE)
    def test_what_is_refused(self, library):
        a = library.put(waves())
        archive = library.put(np.frombuffer(cuszi.compress(a, abs=1e-3), "u1").copy())
        with self.assertRaisesRegex(cuszi.UsageError, "contiguous"):
            cuszi.compress(a[:, ::2], abs=1e-3)
        with self.assertRaises(cuszi.RoomError):
            cuszi.compress(a, abs=1e-3, out=library.empty(100, "u1"))
        for shape, dtype in [((39, 100, 101), "f4"), ((100, 40, 101), "f4"), ((40, 100, 101), "f8")]:
            with self.assertRaisesRegex(cuszi.UsageError, r"accepted is the shape \(40, 100, 101\)"):
                cuszi.decompress(archive, out=library.empty(shape, dtype))
        with self.assertRaisesRegex(cuszi.UsageError, "one axis of uint8"):
            cuszi.compress(a, abs=1e-3, out=library.empty((40, 100, 101), "f4"))
        with self.assertRaisesRegex(cuszi.UsageError, "masked="):
            cuszi.decompress(archive, masked=True, out=library.empty((40, 100, 101), "f4"))
        for at in (3, 40, len(archive) // 2, len(archive) - 1):
            damaged = library.get(archive).copy()
            damaged[at] ^= 1
            with self.subTest(at=at), self.assertRaises(cuszi.ArchiveError):
                cuszi.decompress(library.put(damaged), out=library.empty((40, 100, 101), "f4"))

    def test_arrays_of_jax_take_over_results(self):
        found = {type(library): library for library in LIBRARIES}
        if Jax not in found or CuPy not in found:
            self.skipTest("no JAX or no CuPy")
        jax, cupy = found[Jax].jax, found[CuPy].cupy
        a = waves()
        archive = cuszi.compress(jax.numpy.asarray(a), abs=1e-3)
        b = jax.numpy.from_dlpack(cuszi.decompress(archive, out=cupy.empty(a.shape, "f4")))
        np.testing.assert_array_equal(np.asarray(b), cuszi.decompress(archive, device="cpu"))
        with self.assertRaisesRegex(cuszi.UsageError, "read-only"):
            cuszi.decompress(archive, out=b)

    @each(WRITABLE)
    def test_threads(self, library):
        fields = [waves(seed=i) for i in range(4)]
        expected = [cuszi.compress(a, rel=1e-3, preset="cuszi", device="cpu") for a in fields]
        there = [library.put(a) for a in fields]
        found = [None] * len(fields)

        def work(i):
            for _ in range(3):
                found[i] = cuszi.compress(there[i], rel=1e-3, preset="cuszi")

        support.run_in_threads(len(fields), work)
        self.assertEqual(found, expected)

    def test_chunks_of_hdf5(self):
        library = next((library for library in LIBRARIES if isinstance(library, CuPy)), None)
        if library is None or not find_spec("h5py"):
            self.skipTest("no CuPy or no h5py")
        import cuszi.h5
        import h5py
        with h5py.File("chunks", "w", driver="core", backing_store=False, libver="latest") as file:
            for preset in ("ratio", "balanced", "fast"):
                for dtype in ("f4", "f8", "i2"):
                    with self.subTest(preset=preset, dtype=dtype):
                        a = (1000 * waves()).astype(dtype)
                        one, other = (file.create_dataset(None, a.shape, dtype, chunks=(16, 100, 32), fillvalue=7,
                                                          compression=cuszi.H5(abs=2, preset=preset)) for _ in "ab")
                        cuszi.h5.write(one, library.put(a))
                        cuszi.h5.write(other, a, device="cpu")
                        for i in range(other.id.get_num_chunks()):
                            origin = other.id.get_chunk_info(i).chunk_offset
                            self.assertEqual(one.id.read_direct_chunk(origin), other.id.read_direct_chunk(origin))
                        b = cuszi.h5.read(one, device="cpu")
                        out = library.empty(a.shape, dtype)
                        self.assertIs(cuszi.h5.read(one, out=out), out)
                        np.testing.assert_array_equal(library.get(out), b)
                        box = np.s_[5:23, 3, 20:70]
                        out = library.empty(b[box].shape, dtype)
                        np.testing.assert_array_equal(library.get(cuszi.h5.read(one, box, out=out)), b[box])

    def test_example(self):
        if not any(isinstance(library, CuPy) for library in LIBRARIES):
            self.skipTest("no CuPy")
        example = re.search(r"(?ms)^```python\n(import cupy.*?)^```$", PAGE.read_text())
        names = {}
        exec(example.group(1), names)
        a, b = names["a"].get(), names["b"].get()
        self.assertLessEqual(np.abs(a - b).max(), cuszi.info(names["archive"]).bound)


if __name__ == "__main__":
    unittest.main()
