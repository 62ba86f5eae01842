"""Archives of several members: append, and what all decoders make of them.

CUSZI_SOURCE is the project's folder.
"""

import os
import sys
import tempfile
import unittest
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from support import run_in_threads, waves

import cuszi


class Members(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "run.cuszi"

    def append(self, count=3, **options):
        for i in range(count):
            cuszi.append(self.path, waves((20, 30), seed=i)[None], **(options if i == 0 else {}))
        return np.stack([waves((20, 30), seed=i) for i in range(count)])

    def test_steps_are_one_field(self):
        a = self.append(abs=1e-2)
        archive = self.path.read_bytes()
        known = cuszi.info(archive)
        self.assertEqual((known.shape, known.frames, known.bound), ((3, 20, 30), 3, 1e-2))
        b = cuszi.decompress(archive)
        self.assertLessEqual(np.abs(b - a).max(), 1e-2)
        np.testing.assert_array_equal(cuszi.decompress(archive, box=np.s_[1:, 3:9]), b[1:, 3:9])
        np.testing.assert_array_equal(cuszi.decompress(archive, frame=2), b[2:])
        np.testing.assert_array_equal(cuszi.decompress_batch([archive, archive])[1], b)

    def test_a_step_may_lack_the_slowest_axis(self):
        self.append(1, abs=1e-2)
        cuszi.append(str(self.path), waves((20, 30)))
        self.assertEqual(cuszi.info(self.path.read_bytes()).shape, (2, 20, 30))

    def test_bounds_and_fills_are_the_archive_s(self):
        for quality in ({"pw_rel": 1e-2}, {"abs_or_pw_rel": 1e-3, "pw": 1e-2}, {"abs_and_pw_rel": 1e-3, "pw": 1e-2}):
            self.path.unlink(missing_ok=True)
            self.append(2, fill=1e20, **quality)
            known = cuszi.info(self.path.read_bytes())
            mode, number = next(iter(quality.items()))
            self.assertEqual((known.mode, known.bound_asked, known.fill), (mode, number, (1e20,)))
        self.path.unlink()
        self.append(1, rel=1e-2)
        first = cuszi.info(self.path.read_bytes())
        cuszi.append(self.path, waves((1, 20, 30)))
        whole = cuszi.info(self.path.read_bytes())
        self.assertEqual((first.mode, whole.mode, whole.bound), ("rel", "abs", first.bound))
        self.path.unlink()
        cuszi.append(self.path, waves(), zfp_mode="rate:8", preset="zfp")
        with self.assertRaisesRegex(cuszi.UsageError, "no bound to continue with"):
            cuszi.append(self.path, waves())

    def test_what_does_not_fit_is_refused(self):
        with self.assertRaises(cuszi.UsageError):
            cuszi.append(self.path, waves())
        self.append(2, abs=1e-2)
        before = self.path.read_bytes()
        for other in (waves((1, 20, 31)), waves((1, 20, 30), "f8"), waves((20,))):
            with self.assertRaisesRegex(cuszi.ArchiveError, "equal extents behind the slowest axis"):
                cuszi.append(self.path, other)
        with self.assertRaises(IsADirectoryError):
            cuszi.append(self.path.parent, waves(), abs=1e-2)
        self.assertEqual(self.path.read_bytes(), before)

    def test_an_unfinished_member_is_passed_over(self):
        self.append(2, abs=1e-2)
        whole = self.path.read_bytes()
        cut = whole + whole[:100]
        with self.assertWarnsRegex(cuszi.Warning, "the last 100 bytes are an unfinished member"):
            b = cuszi.decompress(cut)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(b, cuszi.decompress(whole))

    def test_threads_append_one_after_the_other(self):
        self.append(1, abs=1e-2)
        run_in_threads(4, lambda i: [cuszi.append(self.path, waves((20, 30), seed=i)) for _ in range(5)])
        self.assertEqual(cuszi.decompress(self.path.read_bytes()).shape, (21, 20, 30))

    @unittest.skipUnless(find_spec("numcodecs"), "no numcodecs")
    def test_the_decoder_of_the_format_reads_them(self):
        sys.path.insert(0, str(Path(os.environ["CUSZI_SOURCE"]) / "tests"))
        import decoder
        self.append(3, abs=1e-2, preset="fast")
        archive = self.path.read_bytes()
        np.testing.assert_array_equal(decoder.decode(archive), cuszi.decompress(archive))


if __name__ == "__main__":
    unittest.main()
