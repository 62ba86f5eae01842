"""cuszi.open: archives read by ranges, through files, fsspec, HTTP, Dask and xarray."""

import functools
import http.server
import io
import pickle
import tempfile
import threading
import unittest
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from support import run_in_threads, waves

import cuszi


class Remote(io.RawIOBase):
    """A file of an HTTP server that answers ranges, as fsspec's."""

    def __init__(self, url):
        self._url, self._at = url, 0
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD")) as answer:
            self._size = int(answer.headers["Content-Length"])

    def seek(self, offset, whence=0):
        self._at = offset + (self._size if whence == 2 else 0)
        return self._at

    def read(self, count=-1):
        request = urllib.request.Request(self._url, headers={"Range": f"bytes={self._at}-{self._at + count - 1}"})
        with urllib.request.urlopen(request) as answer:
            data = answer.read()
        self._at += len(data)
        return data


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Counts what it sends."""

    sent = 0

    def do_GET(self):
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        data = Path(self.translate_path(self.path)).read_bytes()[first:last + 1]
        Ranges.sent += len(data)
        self.send_response(206)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Open(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.a = waves((100, 128, 128), noise=0.1)
        for preset in ("ratio", "balanced"):
            archive = cuszi.compress(cls.a, abs=1e-3, preset=preset, frame_bytes=1 << 16)
            (cls.folder / f"{preset}.cuszi").write_bytes(archive)
        cls.b = cuszi.decompress((cls.folder / "ratio.cuszi").read_bytes())
        cls.small = cuszi.decompress(cuszi.compress(waves(), abs=1e-3))
        (cls.folder / "small.cuszi").write_bytes(cuszi.compress(waves(), abs=1e-3))

    def open(self, name="small.cuszi", **options):
        archive = cuszi.open(self.folder / name, **options)
        self.addCleanup(archive.close)
        return archive

    def test_it_is_an_array(self):
        a = self.open()
        self.assertEqual((a.shape, a.dtype, a.ndim, a.size, a.nbytes, len(a)),
                         ((20, 30, 40), np.dtype("f4"), 3, 24000, 96000, 20))
        np.testing.assert_array_equal(np.asarray(a), self.small)
        np.testing.assert_array_equal(next(iter(a)), self.small[0])
        for index in np.s_[:], np.s_[3], np.s_[-1, 2:5], np.s_[..., 7], np.s_[4, 5, 6], np.s_[::4, ::4, ::4], \
                np.s_[8:16:4, ::4, 4::8], np.s_[1::4, ::4, ::4], np.s_[3, ::4, ::4], np.s_[::-1, 5:2:-1], \
                np.s_[::3, ::6], np.s_[5:5], np.s_[19:2:-5, :, ::-2], np.s_[0, ..., ::8]:
            with self.subTest(index=index):
                np.testing.assert_array_equal(a[index], self.small[index])
        for wrong in (20, np.s_[0, 0, 0, 0], "x", 1.5):
            with self.assertRaises((cuszi.UsageError, TypeError)):
                a[wrong]

    def test_bytes_read(self):
        for preset, share in (("ratio", 0.03), ("balanced", 0.02)):
            with self.subTest(preset=preset):
                size = (self.folder / f"{preset}.cuszi").stat().st_size
                a = self.open(f"{preset}.cuszi")
                part = a[50:51, :128, :128]
                self.assertLessEqual(np.abs(part - self.a[50:51]).max(), 1e-3)
                self.assertLess(a.bytes_read, share * size)
                a = self.open(f"{preset}.cuszi")
                a[:, ::4, ::4]
                self.assertLess(a.bytes_read, 0.6 * size)

    def test_file_objects_and_fsspec(self):
        import fsspec
        archive = (self.folder / "small.cuszi").read_bytes()
        np.testing.assert_array_equal(cuszi.open(io.BytesIO(archive))[3:5], self.small[3:5])
        fsspec.filesystem("memory").pipe("/a.cuszi", archive)
        np.testing.assert_array_equal(cuszi.open("memory://a.cuszi")[3:5], self.small[3:5])
        import zipfile
        with zipfile.ZipFile(self.folder / "a.zip", "w") as file:
            file.write(self.folder / "small.cuszi", "a.cuszi")
        np.testing.assert_array_equal(cuszi.open(f"zip://a.cuszi::{self.folder}/a.zip")[3:5], self.small[3:5])

    def serve(self):
        """The folder on this machine's loopback; its URL."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Ranges, directory=self.folder))
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        Ranges.sent = 0
        return f"http://127.0.0.1:{server.server_port}"

    def test_http(self):
        a = cuszi.open(Remote(f"{self.serve()}/ratio.cuszi"))
        np.testing.assert_array_equal(a[50], self.b[50])
        self.assertEqual(Ranges.sent, a.bytes_read)
        self.assertLess(Ranges.sent, 0.03 * (self.folder / "ratio.cuszi").stat().st_size)

    @unittest.skipUnless(find_spec("aiohttp"), "no aiohttp")
    def test_http_by_fsspec(self):
        """Without fsspec's cache, which would read ahead by megabytes."""
        url = self.serve()
        for preset, share in (("ratio", 0.03), ("balanced", 0.02)):
            Ranges.sent = 0
            with cuszi.open(f"{url}/{preset}.cuszi") as a:
                part = a[50:51, :128, :128]
                self.assertEqual(Ranges.sent, a.bytes_read)
            self.assertLessEqual(np.abs(part - self.a[50:51]).max(), 1e-3)
            self.assertLess(Ranges.sent, share * (self.folder / f"{preset}.cuszi").stat().st_size)

    def test_failures(self):
        class Broken(io.BytesIO):
            def read(self, *_):
                raise OSError("the network is down")
        with self.assertRaises(cuszi.InputError) as caught:
            cuszi.open(Broken(bytes(1000)))
        self.assertIsInstance(caught.exception.__cause__, OSError)
        with self.assertRaises(FileNotFoundError):
            cuszi.open(self.folder / "none.cuszi")
        with self.assertRaises(cuszi.ArchiveError):
            cuszi.open(io.BytesIO(b"no archive"))
        archive = (self.folder / "small.cuszi").read_bytes()
        with self.assertRaises(cuszi.ArchiveError):
            cuszi.open(io.BytesIO(archive[:-100]))[:]

    def test_members(self):
        path = self.folder / "steps.cuszi"
        for i in range(3):
            cuszi.append(path, waves((1, 30, 40), seed=i), abs=1e-3)
        a = self.open("steps.cuszi")
        np.testing.assert_array_equal(a[1:, 4], cuszi.decompress(path.read_bytes())[1:, 4])
        self.assertEqual(a.chunks, (1, 30, 40))

    def test_threads_and_processes(self):
        a = self.open("ratio.cuszi")
        run_in_threads(4, lambda i: np.testing.assert_array_equal(a[20 * i], self.b[20 * i]))
        with pickle.loads(pickle.dumps(a)) as again:
            np.testing.assert_array_equal(again[7], self.b[7])
        with self.assertRaises(TypeError):
            pickle.dumps(cuszi.open(io.BytesIO((self.folder / "small.cuszi").read_bytes())))

    @unittest.skipUnless(find_spec("dask"), "no dask")
    def test_dask(self):
        import dask.array
        a = self.open("ratio.cuszi")
        lazy = dask.array.from_array(a, chunks=a.chunks)
        self.assertEqual(lazy.chunks[0], (1,) * 100)
        self.assertEqual(float(lazy[10:20].max().compute()), float(self.b[10:20].max()))
        self.assertLess(a.bytes_read, 0.2 * (self.folder / "ratio.cuszi").stat().st_size)

    @unittest.skipUnless(find_spec("xarray"), "no xarray")
    def test_xarray(self):
        import xarray
        path = self.folder / "ratio.cuszi"
        with xarray.open_dataset(path, engine="cuszi", dims=("t", "y", "x"), chunks={}) as data:
            self.assertEqual(data["ratio"].sizes, {"t": 100, "y": 128, "x": 128})
            self.assertEqual(data["ratio"].chunksizes["t"], (1,) * 100)
            self.assertEqual(data["ratio"].attrs["error_bound"], 1e-3)
            np.testing.assert_array_equal(data["ratio"].isel(t=5, y=slice(3, 9)), self.b[5, 3:9])
        with xarray.open_dataset(path) as data:
            self.assertEqual(data["ratio"].dims, ("dim_0", "dim_1", "dim_2"))


if __name__ == "__main__":
    unittest.main()
