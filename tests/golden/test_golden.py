"""Golden archives decode to what they did when they were made, and are made again.

CUSZI, MAKE_FIELD and SLOW_DECODER in the environment say where the executables are.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test_data"))
import golden  # noqa: E402

CUSZI = os.environ["CUSZI"]
MAKE_FIELD = os.environ["MAKE_FIELD"]


class Golden(unittest.TestCase):
    def test_archives_restore_to_what_they_did(self):
        for case in golden.read_manifest():
            with self.subTest(name=case["name"]):
                values = golden.restore(CUSZI, golden.archive_of(case))
                self.assertEqual(len(values), int(case["restored_bytes"]))
                self.assertEqual(golden.sha256(values), case["restored_sha256"])

    @unittest.skipUnless("SLOW_DECODER" in os.environ, "runs in the default build")
    def test_the_slow_decoder_restores_the_same(self):
        for case in golden.read_manifest():
            with self.subTest(name=case["name"]):
                values = subprocess.run([os.environ["SLOW_DECODER"], golden.archive_of(case)],
                                        check=True, stdout=subprocess.PIPE).stdout
                self.assertEqual(golden.sha256(values), case["restored_sha256"])

    @unittest.skipIf(os.environ.get("SANITIZED") == "ON" and "CUSZI_ALL_CASES" not in os.environ,
                     "property watches the encoders")
    def test_archives_are_made_again(self):
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder) / "again.cuszi"
            for case in golden.read_manifest():
                with self.subTest(name=case["name"]):
                    golden.compress(CUSZI, MAKE_FIELD, case, archive)
                    self.assertEqual(golden.sha256(golden.restore(CUSZI, archive)),
                                     case["restored_sha256"])
                    if case["same_bytes"] == "yes":
                        self.assertEqual(archive.read_bytes(),
                                         golden.archive_of(case).read_bytes())

    @unittest.skipUnless("CUSZI_SIMD" in os.environ, "is for narrower vectors than the processor's")
    def test_vectors_are_as_narrow_as_asked_for(self):
        said = subprocess.run([CUSZI, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertRegex(said, {"portable": r"\nSIMD portable\n", "avx2": r"\nSIMD (portable|AVX2)\n"}[os.environ["CUSZI_SIMD"]])

    def test_the_manifest_and_the_folder_agree(self):
        named = {golden.archive_of(case) for case in golden.read_manifest()}
        self.assertGreater(len(named), 10)
        self.assertEqual(named, set(golden.FOLDER.glob("*.cuszi")))


if __name__ == "__main__":
    unittest.main()
