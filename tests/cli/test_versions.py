"""Archives of released versions and of later ones, as the tool meets them."""

import csv
import unittest
from pathlib import Path

from cli_test import CliTest

CORPUS = Path(__file__).resolve().parents[2] / "test_data" / "compat" / "v1.0"


class Versions(CliTest):
    def archives(self, feature):
        """Writes the archives of the corpus that have this feature: the lines of its manifest."""
        archives = (CORPUS / "archives.bin").read_bytes()
        with open(CORPUS / "manifest.tsv", newline="", encoding="utf-8") as file:
            lines = [line for line in csv.DictReader(file, delimiter="\t")
                     if feature in line["features"].split()]
        for line in lines:
            first = int(line["offset"])
            self.path("a.cuszi").write_bytes(archives[first:first + int(line["size"])])
            yield line

    def test_optional_sections(self):
        found = 0
        for line in self.archives("section:optional"):
            with self.subTest(name=line["name"]):
                found += 1
                dims = [int(extent) for extent in line["dims"].split("x")]
                self.assertEqual(self.report("test", "a.cuszi")[0]["dims"], dims)
                self.assertEqual(self.report("list", "a.cuszi")[0]["dims"], dims)
                report = self.report("inspect", "a.cuszi")[0]
                self.assertEqual(report["format_version"], 1)
                self.assertGreater(report["sections"]["optional"], 200)
                self.assertEqual(sum(report["sections"].values()), int(line["size"]))
                whole = self.cuszi("decompress", "a.cuszi", "-o", "-").stdout
                size = 4 if line["dtype"] == "f32" else 8
                last = whole[-size * dims[-1]:]  # row
                box = ",".join([f"{extent - 1}:{extent}" for extent in dims[:-1]] + [":"])
                self.assertEqual(self.cuszi("decompress", "a.cuszi", "--box", box, "-o", "-").stdout,
                                 last)
                thin = self.cuszi("decompress", "a.cuszi", "--stride", "2", "-o", "-").stdout
                self.assertLess(len(thin), len(whole))
                self.assertEqual(thin[:size], whole[:size])
        self.assertGreater(found, 2)


if __name__ == "__main__":
    unittest.main()
