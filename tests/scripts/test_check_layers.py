"""The order of rooms and folders is checked from includes."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import check_layers  # noqa: E402


def faults(files):
    """What is printed of a tree of these files, by path."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            check_layers.check(Path(folder))
        return out.getvalue().splitlines()


class Order(unittest.TestCase):
    def test_lower_rooms_and_folders_may_be_included(self):
        self.assertEqual(faults({
            "core/lorenzo/lorenzo.cpp": '#include "core/base/dims.hpp"\n#include "core/lorenzo/lorenzo.hpp"\n',
            "codec/frames/backend_choice.cpp": '#include "cpu_ref/session/cpu_backend.hpp"\n'
                                               '#include "cuszi/gpu.hpp"\n',
            "gpu/runtime/many.cuh": '#include "cpu_ref/base/thread_count.hpp"\n',
            "app/main.cpp": '#include "app/commands/run.hpp"\n'}), [])

    def test_a_folder_above_is_named(self):
        self.assertEqual(faults({"core/base/dims.cpp": '#include "core/pipeline/pipeline.hpp"\n'}),
                         ["core/base/dims.cpp includes core/pipeline, which is above core/base"])

    def test_a_room_above_is_named(self):
        self.assertEqual(faults({"core/base/dims.cpp": '#include "codec/io/buffer.hpp"\n',
                                 "cpu_ref/field/scan.cpp": '#include "gpu/field/scan.cuh"\n',
                                 "gpu/field/hash.cu": '#include "cpu_ref/field/scan.hpp"\n'}),
                         ["core/base/dims.cpp includes codec, which core is not to know",
                          "cpu_ref/field/scan.cpp includes gpu, which cpu_ref is not to know",
                          "gpu/field/hash.cu includes cpu_ref, which gpu is not to know"])

    def test_files_beside_the_folders_are_named(self):
        self.assertEqual(faults({"core/odd.hpp": ""}), ["core/odd.hpp lies in no folder of core"])

    def test_the_project_keeps_its_order(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            count = check_layers.check(ROOT)
        self.assertEqual(count, 0, out.getvalue())


if __name__ == "__main__":
    unittest.main()
