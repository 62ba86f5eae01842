#!/usr/bin/env python3
"""Write docs/benchmarks and the tables of README.md from the measurements in bench/results.

A table is one file of tab-separated values. Lines that begin with "# key: value" stand in front:

    title    the heading of the table
    page     the page of docs/benchmarks that shows it
    device   what ran, with its driver and versions
    date     when
    command  how to measure it again (repeatable)
    about    what the page says of the table: a sentence or two
    note     what a reader of the file must know besides (repeatable)
    hide     a column that the page leaves out (repeatable)
    only     the rows that the page shows: "bound 1e-3"; "means" for those alone
    across   a column whose values become columns of the table; the table's cells follow `cell`
    cell     a format of the other columns, like "{compress GB/s} / {decompress GB/s}"
    mean     the key of a last row of geometric means over all rows, shown or not, or over rows of one key each,
             followed by the format of a figure: "preset {:.0f}"
    mean of  a column that has a mean, if not all of the cell do (repeatable)
"""

import argparse
import re
import string
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean

import picture

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench/results"
BENCHMARKS = ROOT / "docs/benchmarks"
BOUND = "1e-3"  # of summary and picture
OPTIONAL = {"peers_sdrbench"}  # fields may be missing

# Pages of docs/benchmarks: title, introduction, tables.
PAGES = {
    "ratio": ("Ratio and quality", "Ratio is the bytes of the field over the bytes of the archive, with everything "
              "counted. Bounds are relative to the value range. PSNR is in dB on the value range.",
              ["peers_real", "peers_real_psnr", "peers_simulated_small", "peers_simulated_large",
               "peers_sdrbench", "simulated_h200", "climate_cpu", "pointwise_cpu", "lossless_cpu", "presets_real", "interp_parts", "fields_real"]),
    "gpu": ("Speed on a GPU", "A whole call is everything between a field in device memory and an archive in device "
            "memory, or back: kernels, work of the host, copies and waits. GB/s are of the field.",
            ["ratio_h200", "ratio_h200_forms", "balanced_h200", "balanced_h200_forms", "balanced_h200_steps", "fast_h200", "types_h200", "lossless_h200", "cusz_cuszi_h200", "cusz_cuszi_ratio",
             "zfp_h200", "peers_h200", "frames_h200", "verify_h200", "bitcomp_h100"]),
    "cpu": ("Speed and memory on a CPU", "GB/s and MB/s are of the field.",
            ["presets_efforts_cpu", "sz3_cpu", "presets_cpu", "ratio_cpu_small", "zfp_cpu_libzfp"]),
    "studies": ("Studies of the coder and its index", "C is the number of symbols or blocks in a chunk, P the chunks in a partition, f the size of the index over the rest of the archive, "
                "R the ratio without it.",
                ["huffman_merge_h100", "huffman_symbols_h100", "huffman_index_h100", "huffman_index_default_h100",
                 "zfp_index_h200"]),
    "library": ("Library, filter, Python and files", "Overhead of the bindings, and speed between files.",
                ["python_h200", "library_h200", "library_cpu", "chunks_cpu", "hdf5_chunks_h200", "files_h100"]),
}


@dataclass
class Table:
    """One file of bench/results."""

    name: str
    keys: dict = field(default_factory=dict)  # key -> list of values
    columns: list = field(default_factory=list)
    rows: list = field(default_factory=list)  # dicts by column

    def one(self, key, default=None):
        return self.keys.get(key, [default])[0]


class FormatError(Exception):
    """A file of bench/results that is not as this script expects it."""


def read_table(path):
    table = Table(path.stem)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("# "):
            key, colon, value = line[2:].partition(": ")
            if not colon:
                raise FormatError(f"{path.name}:{number}: {line!r} is not '# key: value'")
            table.keys.setdefault(key, []).append(value)
        elif not table.columns:
            table.columns = line.split("\t")
        else:
            cells = line.split("\t")
            if len(cells) != len(table.columns):
                raise FormatError(f"{path.name}:{number}: {len(cells)} cells, not {len(table.columns)}")
            table.rows.append(dict(zip(table.columns, cells)))
    for key in ("title", "device", "date", "command", "about"):
        if key not in table.keys:
            raise FormatError(f"{path.name}: no '# {key}:'")
    if not table.rows:
        raise FormatError(f"{path.name}: no rows")
    return table


def factor(text):
    """The number in a cell, of which units and signs of multiples are left out."""
    return float(re.sub(r"[^0-9.e+-]", "", text))


def shown_rows(table):
    """The rows that a page shows."""
    column, _, value = table.one("only", "").rpartition(" ")
    return [row for row in table.rows if not value or column and row[column] == value]


def shown_columns(table):
    """The heads of the table as it is shown, and its rows as lists of cells."""
    across = table.one("across")
    visible = [column for column in table.columns if column not in table.keys.get("hide", [])]
    if across is None:
        return visible, [[row[column] for column in visible] for row in shown_rows(table)]
    cell = table.one("cell")
    in_cell = [name for _, name, _, _ in string.Formatter().parse(cell) if name]
    heads = [column for column in visible if column != across and column not in in_cell]
    places = list(dict.fromkeys(row[across] for row in table.rows))
    lines = {}
    for row in shown_rows(table):
        shown = "" if not any(row[name] for name in in_cell) else cell.format(**row)
        lines.setdefault(tuple(row[head] for head in heads), {})[row[across]] = shown
    return heads + places, [list(key) + [line.get(place, "") for place in places] for key, line in lines.items()]


def mean_rows(table, heads):
    """A row of geometric means for each value of the key that the table names."""
    if "mean" not in table.keys:
        return []
    key, form = table.one("mean").rsplit(" ", 1)
    across, cell = table.one("across"), table.one("cell")
    groups = {}
    for row in table.rows:
        groups.setdefault(row.get(key, ""), []).append(row)
    means = []
    for name, rows in groups.items():
        shown = {heads[0]: f"geometric mean, {name}" if name else "geometric mean"}
        if across is None:
            for head in heads[1:]:
                if all(re.fullmatch(r"[0-9.e+]+", row[head]) for row in rows) and head not in ("bound",):
                    shown[head] = form.format(geometric_mean([float(row[head]) for row in rows]))
        for place in dict.fromkeys(row[across] for row in rows) if across else ():
            here = [row for row in rows if row[across] == place]
            names = [part for _, part, _, _ in string.Formatter().parse(cell) if part]
            figures = {part: [row[part] for row in here if row[part]] for part in names}
            of = {part: form.format(geometric_mean([factor(value) for value in values])) for part, values in figures.items()
                  if part in (table.keys.get("mean of") or names)
                  and len(values) == len(here) and all(re.fullmatch(r"[0-9.e+]+x?", value) for value in values)}
            shown[place] = cell.format(**of) if len(of) == len(names) else " / ".join(of.values())
        means.append([shown.get(head, "") for head in heads])
    return means


def markdown_table(heads, rows):
    def line(cells):
        return "| " + " | ".join(cells) + " |"
    return "\n".join([line(heads), line(["---"] * len(heads)), *map(line, rows)])


def section(table):
    heads, rows = shown_columns(table)
    device = re.split("[,;]", table.one("device"))[0]
    return "\n".join([f"## {table.one('title')}", "", table.one("about"), "",
                      markdown_table(heads, rows + mean_rows(table, heads)), "",
                      f"{device}, {table.one('date')}: `bench/results/{table.name}.tsv`", ""])


def pages(tables):
    """The text of each page of docs/benchmarks by its name."""
    listed = [name for _, _, names in PAGES.values() for name in names]
    for name in tables.keys() - set(listed):
        raise FormatError(f"{name}.tsv is on no page")
    texts = {}
    for page, (title, about, names) in PAGES.items():
        texts[page] = "\n".join([f"# {title}", "", "<!-- Written by bench/report.py from bench/results: do not edit. -->",
                                 "", about, "", "Each file named has all rows and commands.", "",
                                 *[section(tables[name]) for name in names if name not in OPTIONAL - tables.keys()]])
    return texts


# ---- tables within other pages ----------------------------------------------------------------

def over_peers(tables):
    """What the preset ratio reaches over the best peer on real fields, as a sentence."""
    bounds = {}
    for row in tables["peers_real"].rows:
        bounds.setdefault(row["bound"], []).append(factor(row["over"]))
    fields = len(next(iter(bounds.values())))
    everywhere = "every one" if min(map(min, bounds.values())) > 1 else "most"
    means = ", ".join(f"{geometric_mean(values):.2f} at {bound}" for bound, values in bounds.items())
    return (f"On {fields} real fields the archives of `ratio` are smaller than those of the best of SZ3, SPERR and ZFP on "
            f"{everywhere},\nby a factor of {means} in the geometric mean.")


def summary(tables):
    """For each compressor on a GPU: means of ratio and speeds over four fields, and whether the bound was kept."""
    rows = []
    for name, points in compressors(tables, BOUND).items():
        ratio, compress, decompress = (geometric_mean([point[i] for point in points]) for i in range(3))
        broken = [point[3] for point in points]
        kept = "kept" if not any(broken) else f"exceeded in {sum(map(bool, broken))} of {len(broken)}"
        rows.append([name, f"{ratio:.3g}", f"{compress:.0f}", f"{decompress:.0f}", kept])
    return markdown_table(["compressor", "ratio", "compress GB/s", "decompress GB/s", "bound"], rows)


def compressors(tables, bound):
    """{name: [(ratio, compress GB/s, decompress GB/s, values over the bound)]} on four fields, on an H200."""
    ours = {"ratio": "ratio_h200", "balanced": "balanced_h200", "fast": "fast_h200", "zfp": "zfp_h200",
            "cusz": "cusz_cuszi_h200", "cuszi": "cusz_cuszi_h200"}
    found = {}
    ratios = {(row["preset"], row["field"]): row["ratio"] for row in tables["cusz_cuszi_ratio"].rows}
    for preset, name in ours.items():
        for row in tables[name].rows:
            if row["bound"] == bound and row.get("preset", preset) == preset:
                ratio = row.get("ratio") or ratios[preset, row["field"]]
                found.setdefault(f"**cuszi** `{preset}`", []).append(
                    (float(ratio), float(row["compress GB/s"]), float(row["decompress GB/s"]), 0))
    for row in tables["peers_h200"].rows:
        if row["bound"] == bound:
            found.setdefault(row["compressor"], []).append(
                (float(row["ratio"]), float(row["compress GB/s"]), float(row["decompress GB/s"]),
                 int(row["values over the bound"])))
    return found


def presets(tables):
    """The rows of summary() that are presets of this project."""
    return "\n".join(line for line in summary(tables).splitlines() if not re.match(r"\| [\w]", line)
                     or line.startswith("| compressor"))


def efforts(tables):
    table = tables["presets_efforts_cpu"]
    return markdown_table(*shown_columns(table))


def chunks(tables):
    return markdown_table(*shown_columns(tables["chunks_cpu"]))


TABLES = {"chunks": chunks, "over-peers": over_peers, "summary": summary, "presets": presets, "efforts": efforts}


def with_tables(text, tables):
    """A page with what stands between "<!-- table NAME -->" and "<!-- end -->" written anew."""
    def written(match):
        return f"<!-- table {match[1]} -->\n{TABLES[match[1]](tables)}\n<!-- end -->"
    return re.sub(r"<!-- table ([\w-]+) -->\n.*?<!-- end -->", written, text, flags=re.DOTALL)


def read_tables(folder=RESULTS):
    return {path.stem: read_table(path) for path in sorted(folder.glob("*.tsv"))}


def benchmarks(tables, folder=BENCHMARKS):
    """The text of every page and picture of a folder like docs/benchmarks."""
    texts = {folder / f"{page}.md": text for page, text in pages(tables).items()}
    return {**texts, folder / "rate-speed.svg": picture.rate_speed(compressors(tables, BOUND), BOUND)}


def outputs(tables):
    """The text of every file of the project that this script writes."""
    texts = benchmarks(tables)
    for path in (ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))):
        if "<!-- table " in path.read_text(encoding="utf-8"):
            texts[path] = with_tables(path.read_text(encoding="utf-8"), tables)
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page differs from its tables")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help="of the tables (bench/results)")
    parser.add_argument("--into", type=Path, metavar="FOLDER",
                        help="write the pages of docs/benchmarks there, and nothing else")
    parsed = parser.parse_args()
    try:
        tables = read_tables(parsed.results)
        texts = benchmarks(tables, parsed.into.resolve()) if parsed.into else outputs(tables)
    except (FormatError, KeyError) as error:
        sys.exit(f"report.py: {error}")
    stale = [path for path, text in texts.items()
             if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if not parsed.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path], encoding="utf-8")
        print(f"{'differs' if parsed.check else 'written'}: {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}")
    return 1 if parsed.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
