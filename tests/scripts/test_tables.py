"""Tests of bench/tables.py with what programs have printed."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import report  # noqa: E402
import tables  # noqa: E402

PRINTED = """velocity_x_512x512x512.f32   f32 multilevel 1e-03 ratio   68.43  compress    50.0 GB/s (10.737 ms)  \
decompress   103.2 GB/s (5.202 ms)  arena 2.57 x
    compress: scan 0.150 choose 4.842 predict 2.103 contexts 0.512 encode 3.121 ms
    decompress: decode 2.100 ms
"""


class Tables(unittest.TestCase):

    def place(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        out = Path(folder.name)
        (out / "results").mkdir()
        return tables.Place(out, out, None, None, out)

    def test_figures_of_gpu_bench(self):
        said = tables.gpu_bench_figures(PRINTED)
        self.assertEqual([said[key] for key in ("ratio", "compress", "decompress", "arena", "choose", "encode")],
                         ["68.43", "50.0", "103.2", "2.57", "4.8", "3.1"])
        with self.assertRaises(tables.Missing):
            tables.gpu_bench_figures("no device\n")

    def test_a_table_keeps_its_form(self):
        place = self.place()
        for name, (_, _, head) in tables.TABLES.items():
            with self.subTest(table=name):
                columns = tables.like(name).columns
                path = place.out / "results" / f"{name}.tsv"
                path.write_text(tables.table_text(name, [["1"] * len(columns)], "a device", head), encoding="utf-8")
                again = report.read_table(path)
                self.assertEqual((again.one("device"), again.columns), ("a device", columns))
        report.pages({**report.read_tables(), **report.read_tables(place.out / "results")})

    def test_rows_have_the_columns_of_their_table(self):
        place = self.place()
        said = {"ratio": "1", "compress": "2", "decompress": "3", "arena": "4"}
        with mock.patch.object(tables, "on_gpu", lambda *_: said):
            for name in ("ratio_h200", "fast_h200", "cusz_cuszi_h200", "cusz_cuszi_ratio", "zfp_h200"):
                shipped = tables.like(name)
                rows = list(tables.TABLES[name][0](place))
                with self.subTest(table=name):
                    self.assertEqual({len(row) for row in rows}, {len(shipped.columns)})
                    rows = [dict(zip(shipped.columns, row)) for row in rows]
                    keys = [column for column in ("preset", "field", "bound") if column in shipped.columns]
                    self.assertEqual([[row[key] for key in keys] for row in rows],
                                     [[row[key] for key in keys] for row in shipped.rows])

    def test_rows_of_coder_bench_make_tables(self):
        place = self.place()
        encode = [{"symbols": symbols, "unit": unit, "r": str(r), "bits per symbol": "1.2",
                   "GB/s": "-" if unit == "32" and symbols == "1024" else "900"}
                  for symbols in ("256", "1024", "4096", "16384", "65536") for unit in ("32", "64") for r in range(5)]
        index = [{"index": kind, "C": "1024", "P": partition, "f": "0.1", "R / (1 + f)": "20", "CPU GB/s": "7",
                  "device GB/s": "900"} for kind, partition in (("none", "-"), ("hybrid", "8"), ("hybrid", "32"))]
        with mock.patch.object(tables, "coder_on_gpu", lambda *said: {"encode": encode, "index": index}[said[-1]]):
            rows = {name: list(tables.TABLES[name][0](place)) for name in tables.TABLES if "huffman" in name or
                    name == "zfp_index_h200"}
        self.assertEqual(len(rows), 5)
        for name, found in rows.items():
            with self.subTest(table=name):
                self.assertEqual({len(row) for row in found}, {len(tables.like(name).columns)})
        self.assertEqual([row[2] for row in rows["huffman_merge_h100"]], ["64"] * 3)
        self.assertEqual([row[0] for row in rows["huffman_symbols_h100"]], ["32", "64"])

    def test_what_is_missing_leaves_a_table_as_it_is(self):
        place = self.place()
        self.assertIn("left as it is", tables.measure("peers_sdrbench", place))
        self.assertIn("left as it is", tables.measure("fast_h200", place))
        self.assertEqual(list((place.out / "results").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
