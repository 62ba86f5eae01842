"""Tests of the Python package, as it is installed. CUSZI in the environment names the tool."""

import importlib.metadata
import inspect
import os
import re
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np

import cuszi
import support
from cuszi import _library


def waves(shape=(12, 30, 40), dtype="f4", seed=1):
    return support.waves(shape, dtype, seed)


class Host:
    """Says of memory of the host what an array on a GPU says of its own."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3}


class Capsule:
    """Offers an array by DLPack alone, as if it were on a GPU."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **_):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return (2, 0)


class RoundTrips(unittest.TestCase):

    def test_bounds_hold(self):
        for dtype in ("f4", "f8"):
            for shape in [(500,), (30, 40), (12, 30, 40), (3, 4, 30, 40), ()]:
                a = waves(shape, dtype)
                with self.subTest(dtype=dtype, shape=shape):
                    b = cuszi.decompress(cuszi.compress(a, abs=1e-2))
                    self.assertEqual((b.dtype, b.shape), (a.dtype, a.shape or (1,)))
                    self.assertLessEqual(np.abs(b - a).max(), 1e-2)
        a = waves()
        archive = cuszi.compress(a, rel=1e-3)
        info = cuszi.info(archive)
        self.assertAlmostEqual(info.bound, 1e-3 * float(a.max() - a.min()), places=8)
        self.assertLessEqual(np.abs(cuszi.decompress(archive) - a).max(), info.bound)
        self.assertEqual(cuszi.info(cuszi.compress(a, rel=1e-3, value_range=(0, 7))).bound, 7e-3)

    def test_numbers_and_arrays_without_axes(self):
        for a in (3.5, np.float32(3.5), np.array(3.5), np.array(3.5, ">f4"), Host(np.array(3.5, "f4")),
                  Capsule(np.array(3.5))):
            archive = cuszi.compress(a, abs=0)
            self.assertEqual(cuszi.decompress(archive), np.array([3.5]))
            self.assertEqual((cuszi.info(archive).shape, cuszi.decompress(archive).shape), ((1,), (1,)))
            self.assertEqual(cuszi.decompress(archive, box=0).shape, ())
            self.assertEqual(cuszi.decompress_batch(cuszi.compress_batch([a], abs=0)), [np.array([3.5])])
            self.assertGreaterEqual(cuszi.room(a), len(archive))
        for a in (np.ma.masked, np.ma.masked_array(3.5, True)):
            b = cuszi.decompress(cuszi.compress(a, abs=0), masked=True)
            self.assertEqual((b.shape, b.mask.tolist()), ((1,), [True]))

    def test_arrays_without_values(self):
        for shape in ((0,), (3, 0, 2), (0, 0)):
            empty = np.zeros(shape, "f4")
            for a in (empty, empty.tolist(), np.ma.masked_array(empty), Host(empty)):
                for call in (cuszi.compress, lambda a, abs: cuszi.room(a),
                             lambda a, abs: cuszi.compress_batch([waves(), a], abs=abs)):
                    with self.assertRaisesRegex(cuszi.UsageError, "at least 1"):
                        call(a, abs=1)
        self.assertEqual(cuszi.compress_batch([], abs=1), [])
        self.assertEqual(cuszi.decompress_batch([]), [])
        for nothing in (b"", bytearray(), np.zeros(0, "u1")):
            for call in (cuszi.decompress, cuszi.info):
                with self.assertRaises(cuszi.ArchiveError):
                    call(nothing)

    def test_the_version_is_the_library_s(self):
        self.assertEqual(importlib.metadata.version("cuszi"), cuszi.__version__)

    def test_libraries_come_from_the_package_or_the_system(self):
        libraries = list(Path(cuszi.__file__).parent.rglob("*.so*"))
        self.assertGreater(len(libraries), 0)
        for library in libraries:
            dynamic = subprocess.run(["readelf", "--dynamic", "--wide", library], capture_output=True,
                                     text=True, check=True).stdout
            for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
                for entry in path.split(":"):
                    self.assertRegex(entry, r"^\$ORIGIN(/|$)", library)

    def test_a_limit_of_memory(self):
        a = waves()
        archive = cuszi.compress(a, abs=1e-2)
        with self.assertRaisesRegex(cuszi.ArchiveError, r"needs about \d+ bytes"):
            cuszi.decompress(archive, memory_limit=a.nbytes // 2)
        b = cuszi.decompress(archive, memory_limit=16 * a.nbytes)
        self.assertLessEqual(np.abs(b - a).max(), 1e-2)
        for limit in (0, -1, 2**64):
            with self.assertRaisesRegex(cuszi.UsageError, "memory_limit"):
                cuszi.decompress(archive, memory_limit=limit)

    def test_info(self):
        a = np.concatenate([waves()] * 4)
        info = cuszi.info(cuszi.compress(a, abs=0.5, fill=[1e20, "netcdf", np.nan],
                                         frame_bytes=16 * 4800))
        self.assertEqual((info.shape, info.dtype, info.mode), ((48, 30, 40), np.dtype("f4"), "abs"))
        self.assertEqual((info.bound, info.bound_asked), (0.5, 0.5))
        self.assertEqual(info.fill, (1e20, 9.969209968386869e36))
        self.assertEqual((info.frames, info.frame_axis, info.frame_height), (3, 0, 16))

    def test_missing_values(self):
        a = waves()
        a[0, 0, :5] = np.nan
        a[1] = 1e20
        b = cuszi.decompress(cuszi.compress(a, rel=1e-3, fill=1e20))
        np.testing.assert_array_equal(b[1], a[1])
        np.testing.assert_array_equal(np.isnan(b), np.isnan(a))
        self.assertLess(np.nanmax(np.abs((b - a)[[0, *range(2, 12)]])), 0.01)

    def test_archives_are_those_of_the_tool(self):
        a = waves()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a_12x30x40.f32"
            a.tofile(path)
            for options, keywords in [
                    ([], {}), (["--preset", "cuszi"], {"preset": "cuszi"}),
                    (["--axes", "layered:0", "--effort", "fast"],
                     {"axes": "layered", "axis": 0, "effort": "fast"}),
                    (["--reach", "3", "--alpha", "1.5", "--beta", "2", "--radius", "512"],
                     {"reach": 3, "alpha": 1.5, "beta": 2, "radius": 512}),
                    (["--preset", "cusz", "--chunk", "256", "--index", "length", "--radius", "512"],
                     {"preset": "cusz", "chunk": 256, "index": "length", "radius": 512}),
                    (["--coder", "huffman", "--huffman-width", "64", "--partition", "8"],
                     {"coder": "huffman", "huffman_width": 64, "partition": 8}),
                    (["--preset", "zfp", "--zfp-mode", "rate:8", "--zfp-chunk", "4"],
                     {"preset": "zfp", "zfp_mode": "rate:8", "zfp_chunk": 4}),
                    (["--fill-value", "1e20", "--fill-value", "netcdf", "--lossless", "none"],
                     {"fill": [1e20, "netcdf"], "lossless": "none"}),
                    (["--value-range", "-2,3", "--frame-size", "64K", "--threads", "1"],
                     {"value_range": (-2, 3), "frame_bytes": 65536, "threads": 1}),
                    (["--predictor", "interp", "--interp",
                      "tile=4x4x4,anchor=4,alpha=2,cubic=natural,order=xyz"],
                     {"predictor": "interp", "interp_tile": (4, 4, 4), "interp_anchor": 4,
                      "interp_alpha": 2, "interp_cubic": "natural", "interp_order": "xyz"})]:
                with self.subTest(options=options):
                    subprocess.run([os.environ["CUSZI"], "compress", path, "-e", "1e-3", "--force",
                                    "--quiet", *options], check=True)
                    archive = Path(f"{path}.cuszi").read_bytes()
                    self.assertEqual(cuszi.compress(a, rel=1e-3, **keywords), archive)
                    self.assertEqual(self.archive_by_names(a, options), archive)

    def archive_by_names(self, a, options):
        """By cuszi_set_option() alone, with the names and texts of the tool."""
        asked = _library.Options()
        for name, text in [("--error-bound", "1e-3"), *zip(options[::2], options[1::2])]:
            _library.set_option(asked, name.removeprefix("--"), text)
        field = _library.Field(_library.F32, a.ndim, a.shape)
        archive = np.empty(_library.bound(field, asked), "u1")
        size = _library.compress(asked, field, a.ctypes.data, archive.ctypes.data, archive.nbytes)
        return archive[:size].tobytes()

    def test_targets_are_those_of_the_tool(self):
        a = waves()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a_12x30x40.f32"
            a.tofile(path)
            for target, value in [("psnr", 60), ("ratio", 12)]:
                with self.subTest(target=target):
                    subprocess.run([os.environ["CUSZI"], "compress", path, "--target",
                                    f"{target}:{value}", "--preset", "cuszi", "--force",
                                    "--quiet"], check=True)
                    archive = cuszi.compress(a, preset="cuszi", **{target: value})
                    self.assertEqual(archive, Path(f"{path}.cuszi").read_bytes())
                    self.assertEqual(cuszi.info(archive).mode, "abs")
        self.assertGreaterEqual(a.nbytes / len(archive), 12)
        with self.assertWarns(cuszi.TargetWarning):
            cuszi.compress(a, ratio=1e6, preset="cuszi")

    def test_every_option_of_the_tool_is_there(self):
        named = {"-e": "rel", "--target": "psnr", "--fill-value": "fill",
                 "--keep-isovalue": "isovalues", "--region": "regions",
                 "--frame-size": "frame_bytes", "--interp": "interp_tile"}
        of_files = {"--recursive", "--filelist", "--dims", "--dims-xyz", "--type", "--skip-bytes",
                    "--byte-order", "--output", "--stdout", "--force", "--keep", "--rm", "--json",
                    "--quiet", "--verbose", "--help", "--mode", "--error-bound", "--compare",
                    "--bound", "--target-miss", "--append", "--no-history"}
        for command, function in [("compress", cuszi.compress), ("decompress", cuszi.decompress)]:
            text = subprocess.run([os.environ["CUSZI"], command, "--help"], check=True,
                                  capture_output=True, text=True).stdout
            options = set(re.findall(r"(?m)^ +(?:-\w,)? *(--[\w-]+)", text)) - of_files
            self.assertGreater(len(options), 4, text)
            for option in options:
                name = named.get(option, option[2:].replace("-", "_"))
                with self.subTest(command=command, option=option):
                    self.assertRegex(inspect.signature(function).__str__() + function.__doc__,
                                     rf"\b{name}\b")

    def test_verified(self):
        a = waves()
        self.assertEqual(cuszi.compress(a, rel=1e-3, verify=True), cuszi.compress(a, rel=1e-3))

    def test_modes_of_zfp(self):
        a = waves()
        exact = cuszi.compress(a, preset="zfp", zfp_mode="reversible")
        np.testing.assert_array_equal(cuszi.decompress(exact), a)
        self.assertEqual(cuszi.info(exact).bound, 0)
        coarse = cuszi.compress(a, preset="zfp", zfp_mode="precision:12", zfp_chunk=3)
        self.assertEqual(cuszi.info(coarse).bound, np.inf)
        self.assertLess(len(coarse), len(exact))
        strict = cuszi.compress(a, abs=1e-3, preset="zfp", zfp_mode="rate:4", verify=True)
        self.assertEqual(cuszi.info(strict).bound, 1e-3)
        for wrong in ({"zfp_mode": "rate"}, {"zfp_mode": "rate:x"}, {"zfp_mode": "rate:65"},
                      {"zfp_mode": "reversible", "abs": 1}, {"zfp_mode": "accuracy"},
                      {"zfp_mode": "rate:8", "psnr": 60}):
            with self.subTest(**wrong), self.assertRaises(cuszi.UsageError):
                cuszi.compress(a, preset="zfp", **wrong)
        with self.assertRaises(cuszi.UsageError):
            cuszi.compress(a, preset="fast", zfp_mode="rate:8")

    def test_any_layout(self):
        a = waves()
        expected = cuszi.compress(a, abs=1e-2)
        for name, same in [("fortran", np.asfortranarray(a)), ("big", a.astype(">f4")),
                           ("list of arrays", list(a)), ("strided", np.repeat(a, 2, 2)[..., ::2])]:
            with self.subTest(layout=name):
                self.assertEqual(cuszi.compress(same, abs=1e-2), expected)
        for archive in (bytearray(expected), memoryview(expected), np.frombuffer(expected, "u1")):
            np.testing.assert_array_equal(cuszi.decompress(archive), cuszi.decompress(expected))

    def test_memory_of_the_callers(self):
        a = waves()
        expected = cuszi.compress(a, abs=1e-2)
        out = np.empty(a.nbytes, "u1")
        size = cuszi.compress(a, abs=1e-2, out=out)
        self.assertEqual(out[:size].tobytes(), expected)
        b = np.empty_like(a)
        self.assertIs(cuszi.decompress(out[:size], out=b), b)
        np.testing.assert_array_equal(b, cuszi.decompress(expected))
        noise = np.random.default_rng(2).integers(0, 2**64, 300_000, "u8").view("f8")
        for options in ({}, {"frame_bytes": 65536, "fill": [1e20, 7]}):
            out = np.empty(cuszi.room(noise, **options), "u1")
            for bounds in ({"abs": 0}, {"abs_or_pw_rel": 5e-324, "pw": 1e-15}):
                self.assertLess(noise.nbytes, cuszi.compress(noise, **bounds, out=out, **options))
        with self.assertRaises(cuszi.RoomError):
            cuszi.compress(a, abs=1e-2, out=np.empty(100, "u1"))

    def test_arrays_that_tell_their_address(self):
        a = waves()
        expected = cuszi.compress(a, abs=1e-2)
        for kind in (Host, Capsule):
            with self.subTest(kind=kind.__name__):
                self.assertEqual(cuszi.compress(kind(a), abs=1e-2), expected)
                b = np.empty_like(a)
                cuszi.decompress(kind(np.frombuffer(bytearray(expected), "u1")), out=kind(b))
                np.testing.assert_array_equal(b, cuszi.decompress(expected))
                with self.assertRaisesRegex(cuszi.UsageError, "contiguous"):
                    cuszi.compress(kind(a[:, ::2]), abs=1e-2)



class Batches(unittest.TestCase):

    def setUp(self):
        masked = np.ma.masked_greater(waves((30, 40)), 0.5)
        self.fields = [waves(), waves((500,), "f8"), masked, waves((3, 4, 30, 40), seed=3)]

    def test_they_make_what_single_calls_make(self):
        for keywords in ({"rel": 1e-3}, {"abs": 1e-2, "preset": "fast"}):
            alone = [cuszi.compress(a, **keywords) for a in self.fields]
            self.assertEqual(cuszi.compress_batch(iter(self.fields), **keywords), alone)
            out = bytearray(sum(cuszi.room(a) for a in self.fields) + 5)
            views = cuszi.compress_batch(self.fields, out=np.frombuffer(out, "u1"), **keywords)
            self.assertEqual([bytes(view) for view in views], alone)
            restored = cuszi.decompress_batch(views)
            for one, archive in zip(restored, alone):
                np.testing.assert_array_equal(one, cuszi.decompress(archive))
            into = [np.empty_like(one) for one in restored]
            self.assertIs(cuszi.decompress_batch(alone, out=into)[0], into[0])
            np.testing.assert_array_equal(into[3], restored[3])
        self.assertEqual(cuszi.compress_batch([], rel=1e-3), [])
        self.assertEqual(cuszi.decompress_batch([]), [])

    def test_failures_tell_their_member(self):
        with self.assertRaisesRegex(cuszi.RoomError, "member 1: .*too small"):
            cuszi.compress_batch(self.fields, abs=1e-2, out=bytearray(cuszi.room(self.fields[0]) + 9))
        archives = cuszi.compress_batch(self.fields, abs=1e-2)
        damaged = bytearray(archives[2])
        damaged[len(damaged) // 2] ^= 1
        with self.assertRaisesRegex(cuszi.ArchiveError, "member 2: "):
            cuszi.decompress_batch([*archives[:2], damaged])
        with self.assertRaisesRegex(cuszi.UsageError, "1 arrays for 4 archives"):
            cuszi.decompress_batch(archives, out=[np.empty(3)])
        with self.assertRaises(cuszi.UsageError):
            cuszi.compress_batch([np.arange(5) > 2], abs=1)


class Parts(unittest.TestCase):

    def test_boxes_are_as_numpy_indexes(self):
        archive = cuszi.compress(waves(), abs=1e-2, frame_bytes=4800 * 4)
        whole = cuszi.decompress(archive)
        for box in [np.s_[2:7], np.s_[2:7, :, 5:9], np.s_[..., 3], np.s_[4, ..., -3:], np.s_[-1],
                    np.s_[3, 4, 5], np.s_[1:, ..., :-1], ...]:
            with self.subTest(box=box):
                np.testing.assert_array_equal(cuszi.decompress(archive, box=box), whole[box])

    def test_strides(self):
        archive = cuszi.compress(waves(), abs=1e-2, axes="lattice")
        whole = cuszi.decompress(archive)
        np.testing.assert_array_equal(cuszi.decompress(archive, stride=4), whole[::4, ::4, ::4])
        np.testing.assert_array_equal(cuszi.decompress(archive, box=np.s_[2:9, 1:], stride=2),
                                      whole[2:9:2, 2::2, ::2])

    def test_frames(self):
        archive = cuszi.compress(waves((40, 30, 40)), abs=1e-2, frame_bytes=65536)
        frames = [cuszi.decompress(archive, frame=i) for i in range(cuszi.info(archive).frames)]
        self.assertGreater(len(frames), 1)
        np.testing.assert_array_equal(np.concatenate(frames), cuszi.decompress(archive))
        for arguments in [{"frame": len(frames)}, {"frame": -1}, {"frame": 0, "box": np.s_[:2]}]:
            with self.subTest(arguments=arguments), self.assertRaises(cuszi.UsageError):
                cuszi.decompress(archive, **arguments)

    def test_boxes_that_cannot_be(self):
        archive = cuszi.compress(waves(), abs=1e-2)
        for box in [np.s_[5:5], np.s_[12:], np.s_[12], np.s_[-13], np.s_[::2], np.s_[::-1],
                    np.s_[:, :, :, :], np.s_[..., ...]]:
            with self.subTest(box=box), self.assertRaises(cuszi.UsageError):
                cuszi.decompress(archive, box=box)


class Failures(unittest.TestCase):

    def test_usage(self):
        a = waves()
        for arguments in [{}, {"rel": 1e-3, "abs": 1}, {"psnr": 60, "ratio": 9}, {"psnr": 0},
                          {"psnr": 401}, {"ratio": 0.5}, {"abs": 1, "value_range": (0, 1)},
                          {"rel": 1.5}, {"abs": -1},
                          {"rel": 0.1, "preset": "best"}, {"rel": 0.1, "effort": "best"},
                          {"rel": 0.1, "device": "gpu"}, {"rel": 0.1, "device": "cpu:1"},
                          {"rel": 0.1, "chunk": 100}, {"rel": 0.1, "fill": range(17)}]:
            with self.subTest(arguments=arguments), self.assertRaises(cuszi.UsageError) as caught:
                cuszi.compress(a, **arguments)
            self.assertIsInstance(caught.exception, ValueError)
        for bad in [a.astype("c8"), a.astype("?"), np.empty((2, 2, 2, 2, 2), "f4"),
                    np.empty(0, "f4")]:
            with self.subTest(dtype=bad.dtype, shape=bad.shape), self.assertRaises(cuszi.UsageError):
                cuszi.compress(bad, rel=0.1)
        with self.assertRaises(TypeError):
            cuszi.compress(a, rel=0.1, colour="red")

    def test_damage(self):
        archive = bytearray(cuszi.compress(waves(), abs=1e-2))
        archive[len(archive) // 2] ^= 1
        with self.assertRaises(cuszi.ArchiveError) as caught:
            cuszi.decompress(archive)
        self.assertEqual(caught.exception.status, 3)
        for wrong in (b"", b"no archive", archive[:100]):
            with self.assertRaises(cuszi.ArchiveError):
                cuszi.decompress(wrong)

    def test_a_device_that_is_not_there(self):
        with self.assertRaises(cuszi.DeviceError):
            cuszi.compress(waves(), rel=1e-3, preset="cuszi", device="cuda:99")


class Threads(unittest.TestCase):

    def test_threads_share_nothing(self):
        fields = [waves(seed=i) for i in range(8)]
        expected = [cuszi.compress(a, rel=1e-3) for a in fields]
        found = [None] * len(fields)

        def work(i):
            for _ in range(3):
                found[i] = cuszi.compress(fields[i], rel=1e-3, threads=1)

        support.run_in_threads(len(fields), work)
        self.assertEqual(found, expected)

    def test_others_run_meanwhile(self):
        a = waves((64, 100, 100))
        running = threading.Thread(target=cuszi.compress, args=(a,), kwargs={"rel": 1e-4})
        turns = 0
        running.start()
        while running.is_alive():
            turns += 1
        self.assertGreater(turns, 1000)


if __name__ == "__main__":
    unittest.main()
