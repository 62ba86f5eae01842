"""cuszi.h5: chunks of HDF5 datasets in batches, the same as those of the filter."""

import os
import tempfile
import time
import unittest
from pathlib import Path

import cuszi
import h5py
import numpy as np
from support import waves

import cuszi.h5


class Batches(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = h5py.File(Path(folder.name) / "a.h5", "w", libver="latest")
        self.addCleanup(self.file.close)

    def pair(self, shape, chunks, dtype="f4", filter=None, **options):
        """Two empty datasets alike."""
        filter = filter or cuszi.H5(abs=1e-3)
        return [self.file.create_dataset(None, shape, dtype, chunks=chunks, compression=filter, **options)
                for _ in range(2)]

    def assert_same_chunks(self, one, other):
        self.file.flush()
        for i in range(other.id.get_num_chunks()):
            origin = other.id.get_chunk_info(i).chunk_offset
            self.assertEqual(one.id.read_direct_chunk(origin), other.id.read_direct_chunk(origin))

    def test_chunks_are_those_of_the_filter(self):
        for shape, chunks, dtype, options in [
                ((20, 30, 40), (10, 30, 40), "f4", {}), ((21, 33, 47), (8, 16, 16), "f4", {}),
                ((21, 33), (8, 16), ">f8", {}), ((7, 2, 3, 9, 10), (2, 2, 2, 5, 5), "f4", {}),
                ((50,), (16,), "f8", {"fillvalue": 1e20}),
                ((20, 30), (8, 8), "f4", {"filter": cuszi.H5(abs_or_pw_rel=1e-3, pw=1e-2, preset="fast")}),
                ((20, 30), (8, 8), "f4", {"filter": cuszi.H5(pw_rel=1e-2, fill=-5.0, strict=True)})]:
            with self.subTest(shape=shape, chunks=chunks, dtype=dtype):
                a = waves(shape, dtype)
                batched, filtered = self.pair(shape, chunks, dtype, **options)
                cuszi.h5.write(batched, a)
                filtered[...] = a
                self.assert_same_chunks(batched, filtered)
                b = filtered[...]
                np.testing.assert_array_equal(cuszi.h5.read(batched), b)
                out = np.empty(shape, b.dtype.newbyteorder("="))
                self.assertIs(cuszi.h5.read(filtered, out=out), out)
                np.testing.assert_array_equal(out, b)
                box = (slice(3, 6),) + (slice(1, None),) * (len(shape) - 1)
                np.testing.assert_array_equal(cuszi.h5.read(batched, box), b[box])
                np.testing.assert_array_equal(cuszi.h5.read(batched, np.s_[-1]), b[-1])

    def test_masked_and_missing_chunks(self):
        batched, filtered = self.pair((20, 30), (8, 8), fillvalue=1e20)
        a = np.ma.masked_less(waves((20, 30)), 0)
        cuszi.h5.write(batched, a)
        filtered[...] = a.filled(np.float32(1e20))
        self.assert_same_chunks(batched, filtered)
        empty, partial = self.pair((20, 30), (8, 8), fillvalue=5)
        np.testing.assert_array_equal(cuszi.h5.read(empty), np.full((20, 30), 5, "f4"))
        partial[8:12, 8:] = 1
        partial.id.write_direct_chunk((0, 0), np.full((8, 8), 2, "f4").tobytes(), 1)  # unfiltered
        np.testing.assert_array_equal(cuszi.h5.read(partial), partial[...])

    def test_what_is_not_possible_is_refused(self):
        a = waves((20, 30))
        with self.assertRaisesRegex(cuszi.UsageError, "cuszi is not its only filter"):
            cuszi.h5.write(self.file.create_dataset("x", (20, 30), "f4", chunks=(8, 8), compression="gzip"), a)
        dataset, _ = self.pair((20, 30), (8, 8))
        with self.assertRaisesRegex(cuszi.UsageError, "an array of the shape"):
            cuszi.h5.write(dataset, a[:-1])
        with self.assertRaisesRegex(cuszi.UsageError, "out has the shape"):
            cuszi.h5.read(dataset, out=np.empty((20, 31), "f4"))
        dataset.id.write_direct_chunk((0, 0), cuszi.compress(waves((8, 9)), abs=1e-3))
        with self.assertRaisesRegex(cuszi.ArchiveError, "is stored as"):
            cuszi.h5.read(dataset)
        dataset.id.write_direct_chunk((0, 0), b"no archive")
        with self.assertRaises(cuszi.ArchiveError):
            cuszi.h5.read(dataset)

    @unittest.skipUnless(os.environ.get("CUSZI_MEASURE"), "a measurement")
    def test_speed(self):
        a = np.tile(waves((64, 128, 128)), (4, 2, 2))
        for dataset, name in zip(self.pair(a.shape, (64, 128, 128), filter=cuszi.H5(abs=1e-3, preset="fast")), "bf"):
            start = time.perf_counter()
            cuszi.h5.write(dataset, a) if name == "b" else dataset.__setitem__(..., a)
            self.file.flush()
            written = time.perf_counter()
            cuszi.h5.read(dataset) if name == "b" else dataset[...]
            print(name, a.nbytes / 1e6, "MB", written - start, time.perf_counter() - written)


if __name__ == "__main__":
    unittest.main()
