"""What docs/reference/format.md says is enough to read archives by: tests/decoder follows it alone.

CUSZI_SOURCE is the project's folder.
"""

import csv
import math
import os
import re
import sys
import unittest
from importlib.util import find_spec
from pathlib import Path

SOURCE = Path(os.environ["CUSZI_SOURCE"])
CORPUS = SOURCE / "test_data/compat/v1.0"
MOST_VALUES = 1000  # of a field: larger ones take minutes, and have nothing that smaller ones lack


def archives():
    """Lines of the corpus' manifest, and their archives."""
    data = (CORPUS / "archives.bin").read_bytes()
    with open(CORPUS / "manifest.tsv", newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file, delimiter="\t"):
            first = int(line["offset"])
            yield line, data[first:first + int(line["size"])]


@unittest.skipUnless(find_spec("numcodecs"), "no numcodecs")
class Decoder(unittest.TestCase):

    def test_archives_of_the_corpus(self):
        sys.path.insert(0, str(SOURCE / "tests"))
        import decoder
        restored = set()
        for line, archive in archives():
            features = line["features"].split()
            dims = [int(extent) for extent in line["dims"].split("x")]
            if math.prod(dims) > MOST_VALUES or "lossless:bitcomp" in features:
                continue
            with self.subTest(name=line["name"], options=line["options"]):
                values = decoder.decode(archive)
                found = f"{values.dtype.kind}{8 * values.dtype.itemsize}"  # bf16 as its bits
                self.assertEqual((list(values.shape), found), (dims, line["dtype"].replace("bf16", "u16")))
                self.assertEqual(decoder.hash_of(values.tobytes()), int(line["values_hash"], 16))
            restored.update(features)
        for line, _ in archives():
            self.assertLessEqual(set(line["features"].split()) - restored, {"lossless:bitcomp"})

    def test_it_takes_nothing_of_the_project(self):
        taken = set()
        for path in (SOURCE / "tests/decoder").glob("*.py"):
            taken.update(re.findall(r"(?m)^(?:from|import) (\w+)", path.read_text(encoding="utf-8")))
        self.assertEqual(taken, {"decimal", "functools", "itertools", "math", "numcodecs", "numpy", "struct", "types"})


if __name__ == "__main__":
    unittest.main()
