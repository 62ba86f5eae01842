"""Tests of the codec of Zarr on arrays of a GPU, and on arrays that only pretend to be there.

The package may be installed, or lie in PYTHONPATH with CUSZI_LIBRARY naming the library.
"""

import contextlib
import re
import unittest
from pathlib import Path

import numpy as np
import zarr
from zarr.core.buffer import Buffer, NDBuffer
from zarr.registry import register_buffer, register_ndbuffer

import cuszi
from support import waves

PAGE = Path(__file__).resolve().parents[2] / "docs/guide/zarr-dask.md"
VALUES_ON_HOST = []  # shapes of what was copied to the host


class Distant:
    """Memory of the host that looks like a GPU's to Python: nothing converts it to NumPy unasked."""

    def __init__(self, here):
        self.here = here
        self.dtype, self.shape, self.ndim, self.size = here.dtype, here.shape, here.ndim, here.size

    @property
    def __cuda_array_interface__(self):
        strides = None if self.here.flags.c_contiguous else self.here.strides
        return {"shape": self.shape, "typestr": self.dtype.str, "strides": strides, "version": 3,
                "data": (self.here.ctypes.data, False)}

    def __array__(self, *_, **__):
        raise TypeError("no conversion unasked")

    def __len__(self):
        return len(self.here)

    def __getitem__(self, key):
        return Distant(self.here[key])

    def __setitem__(self, key, value):
        self.here[key] = getattr(value, "here", value)

    def __getattr__(self, name):
        if name not in ("astype", "copy", "fill", "reshape"):
            raise AttributeError(name)
        function = getattr(self.here, name)
        return lambda *positional, **named: Distant(function(*positional, **named))


class DistantBuffer(Buffer):

    @classmethod
    def create_zero_length(cls):
        return cls(Distant(np.empty(0, "u1")))

    @classmethod
    def from_buffer(cls, buffer):
        return buffer if isinstance(buffer, cls) else cls.from_bytes(buffer.to_bytes())

    @classmethod
    def from_bytes(cls, data):
        return cls(Distant(np.frombuffer(data, "u1")))

    def as_numpy_array(self):
        return self._data.here

    def combine(self, others):
        raise NotImplementedError


class DistantNDBuffer(NDBuffer):

    @classmethod
    def create(cls, *, shape, dtype, order="C", fill_value=None):
        here = np.empty(shape, dtype, order)
        if fill_value is not None:
            here.fill(fill_value)
        return cls(Distant(here))

    @classmethod
    def from_numpy_array(cls, array):
        return cls(Distant(np.asarray(array)))

    def as_numpy_array(self):
        if self.dtype.kind == "f":
            VALUES_ON_HOST.append(self.shape)
        return self._data.here

    def __getitem__(self, key):
        return DistantNDBuffer(self._data[key])

    def __setitem__(self, key, value):
        self._data[key] = value.as_ndarray_like() if isinstance(value, NDBuffer) else value


register_buffer(DistantBuffer, qualname="tests.DistantBuffer")
register_ndbuffer(DistantNDBuffer, qualname="tests.DistantNDBuffer")


class Pretended:
    buffer, nd_buffer, array = "tests.DistantBuffer", "tests.DistantNDBuffer", Distant

    @staticmethod
    def put(a):
        return Distant(np.ascontiguousarray(a))

    @staticmethod
    def get(a):
        return a.here


class CuPy:
    buffer, nd_buffer = "zarr.buffer.gpu.Buffer", "zarr.buffer.gpu.NDBuffer"

    def __init__(self):
        import cupy
        self.put, self.get, self.array = cupy.asarray, cupy.asnumpy, cupy.ndarray
        cupy.zeros(1)


try:
    DEVICE = CuPy()
except Exception as reason:  # no CuPy, no GPU, no driver
    print(f"no CuPy: {reason}")
    DEVICE = None


class Chunks:
    """Values on a device; archives there or on the host."""

    @contextlib.contextmanager
    def configured(self, archives_too, batch_size):
        changed = {"ndbuffer": self.device.nd_buffer, "codec_pipeline.batch_size": batch_size,
                   "array.write_empty_chunks": True}  # else Zarr looks at the values
        if archives_too:
            changed["buffer"] = self.device.buffer
        with self.subTest(archives_too=archives_too, batch_size=batch_size), zarr.config.set(changed):
            yield

    def configurations(self):
        return [self.configured(archives_too, batch_size) for archives_too in (False, True) for batch_size in (1, 3, 100)]

    @staticmethod
    def create(a, chunks, codec, **more):
        store = zarr.storage.MemoryStore()
        zarr.create_array(store, shape=a.shape, dtype=a.dtype, chunks=chunks, compressors=None, serializer=codec,
                          **more)
        return store

    def written(self, a, *more, **named):
        """A store that the host has written."""
        store = self.create(a, *more, **named)
        zarr.open_array(store)[...] = a
        return store

    def test_values_are_those_of_the_host(self):
        for dtype in ("f4", "f8"):
            for preset in ("fast", "cusz"):
                for shape, chunks in [((40, 30, 40), (8, 16, 40)), ((50000,), (7000,)),
                                      ((2, 3, 4, 5, 60), (1, 3, 4, 5, 60))]:
                    store = self.written(waves(shape, dtype), chunks, cuszi.Zarr(abs=1e-2, preset=preset))
                    expected = zarr.open_array(store)[...]
                    for configuration in self.configurations():
                        with configuration:
                            VALUES_ON_HOST.clear()
                            b = zarr.open_array(store)[...]
                            self.assertIsInstance(b, self.device.array)
                            self.assertEqual(VALUES_ON_HOST, [])
                            np.testing.assert_array_equal(self.device.get(b), expected)

    def test_parts(self):
        store = self.written(waves((40, 30, 40)), (8, 16, 40), cuszi.Zarr(abs=1e-2, preset="fast"))
        expected = zarr.open_array(store)[3:21, 5:29, 7]
        for configuration in self.configurations():
            with configuration:
                np.testing.assert_array_equal(self.device.get(zarr.open_array(store)[3:21, 5:29, 7]), expected)

    def test_chunks_that_are_missing(self):
        a = waves((40, 30, 40))
        store = self.create(a, (8, 16, 40), cuszi.Zarr(abs=1e-2, preset="fast"), fill_value=7)
        zarr.open_array(store)[:8] = a[:8]
        expected = zarr.open_array(store)[...]
        self.assertEqual(expected[9, 9, 9], 7)
        for configuration in self.configurations():
            with configuration:
                np.testing.assert_array_equal(self.device.get(zarr.open_array(store)[...]), expected)

    def test_archives_are_those_of_the_host(self):
        for dtype in ("f4", "f8"):
            a = waves((40, 30, 40), dtype)
            a[5, :3], a[7] = np.nan, 1e20
            for options in ({"abs": 1e-2, "preset": "fast"}, {"pw_rel": 1e-2}):
                with self.subTest(dtype=dtype, **options):
                    codec = cuszi.Zarr(fill=1e20, **options)
                    host = self.written(a, (8, 16, 40), codec)
                    for configuration in self.configurations():
                        with configuration:
                            VALUES_ON_HOST.clear()
                            store = self.create(a, (8, 16, 40), codec)
                            zarr.open_array(store)[...] = self.device.put(a)
                            self.assertEqual(VALUES_ON_HOST, [])
                            self.assertEqual(self.content(store), self.content(host))

    @staticmethod
    def content(store):
        return {key: buffer.to_bytes() for key, buffer in store._store_dict.items() if key.startswith("c/")}

    def test_parts_of_chunks_are_written(self):
        a = waves((40, 30, 40))
        for configuration in self.configurations():
            with configuration:
                store = self.written(a, (8, 16, 40), cuszi.Zarr(abs=1e-2, preset="fast"))
                stored = zarr.open_array(store)
                stored[3:5, 2:20] = self.device.put(np.full((2, 18, 40), 5, "f4"))
                b = self.device.get(stored[...])
                expected = a.copy()
                expected[3:5, 2:20] = 5
                self.assertLessEqual(np.abs(b - expected).max(), 2.1e-2)

    def test_damage_and_archives_of_other_fields(self):
        a = waves((40, 30, 40))
        store = self.written(a, (8, 16, 40), cuszi.Zarr(abs=1e-2, preset="fast"))
        whole = store._store_dict["c/2/1/0"].to_bytes()
        damaged = bytearray(whole)
        damaged[len(whole) // 2] ^= 1
        others = [cuszi.compress(waves(shape, dtype), abs=1e-2, preset="fast") for shape, dtype in
                  [((16, 8, 40), "f4"), ((8, 16, 40), "f8"), ((5120,), "f4")]]
        for data, text in [(damaged, ""), (whole[:-1], ""), (b"", ""), *((other, "is stored as") for other in others)]:
            store._store_dict["c/2/1/0"] = zarr.core.buffer.cpu.Buffer.from_bytes(bytes(data))
            for configuration in self.configurations():
                with configuration:
                    with self.assertRaisesRegex(cuszi.ArchiveError, text):
                        zarr.open_array(store)[...]


class OfPretendedArrays(Chunks, unittest.TestCase):
    device = Pretended


@unittest.skipUnless(DEVICE, "no GPU with CuPy")
class OfCuPy(Chunks, unittest.TestCase):
    device = DEVICE

    def test_enabled_gpu(self):
        a = waves((40, 30, 40))
        with zarr.config.enable_gpu():
            store = self.create(a, (8, 16, 40), cuszi.Zarr(abs=1e-2))
            zarr.open_array(store)[...] = self.device.put(a)
            b = zarr.open_array(store)[...]
        self.assertIsInstance(b, self.device.array)
        self.assertLessEqual(np.abs(self.device.get(b) - a).max(), 1e-2)

    def test_example(self):
        example = re.search(r"(?ms)^```python\n(import cupy.*?)^```$", PAGE.read_text())
        names = {}
        with self.configured(True, 1):  # as it was before, at the end
            exec(example.group(1), names)
        self.assertIsInstance(names["b"], self.device.array)


if __name__ == "__main__":
    unittest.main()
