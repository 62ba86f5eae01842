#!/usr/bin/env python3
"""Check every field of a folder and write the tables of docs/results.md.

Each field (dims in its name, as in U_100x500x500.f32) is compressed under each preset and bound with
--verify, and restored by a second process. A line of the table is good if no value is over the
bound, the archive is no larger than the input plus 1 KB, and both processes restore the same errors.

examples:
  scripts/check_fields.py FOLDER
  scripts/check_fields.py FOLDER --fill tos=1e20 --ablation --markdown tables.md
  scripts/check_fields.py FOLDER --peers real_fields.tsv    # adds what cuSZ-i reached there
"""
import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRESETS = ["cusz", "cuszi", "ratio"]
ABLATION = {
    "none": ["--interp", "alpha=1,order=zyx"],
    "level-wise bounds": ["--interp", "order=zyx"],
    "axis order": ["--interp", "alpha=1"],
    "full": [],
}


def run(cuszi, *arguments):
    """One cuszi process: its JSON report, or None and the message it failed with."""
    done = subprocess.run([cuszi, *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    return json.loads(done.stdout), ""


def check(cuszi, field, bound, options, folder):
    """Compress, verify, restore in another process. Returns the report with a `fault`, "" if good."""
    archive, restored = folder / "field.cuszi", folder / "field.restored"
    report, fault = run(cuszi, "compress", field, "-e", bound, "--verify", "--force", "-o", archive,
                        *options)
    if report is None:
        return {"fault": fault}
    again, fault = run(cuszi, "decompress", archive, "-o", restored, "--force", "--compare", field)
    if again is None:
        return {"fault": fault}
    if not report["within_bound"]:
        fault = "over the bound"
    elif report["archive_bytes"] > report["input_bytes"] + 1024:
        fault = "larger than the input"
    elif any(again[key] != report[key] for key in ("max_abs_error", "nrmse", "psnr_db")):
        fault = "two processes restore different values"
    return {**report, "fault": fault}


def cell(report):
    if report["fault"]:
        return "FAILED"
    psnr = "exact" if report["psnr_db"] is None else f"{report['psnr_db']:.2f}"
    return f"{report['ratio']:.2f} @ {psnr}"


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def read_peers(path):
    """{(field, bound): "ratio @ PSNR"} of cuSZ-i, from a table with a column cusz-i(gpu)."""
    if path is None:
        return {}
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    column = rows[0].index("cusz-i(gpu)")
    return {(row[0], row[1]): row[column].replace("@", " @ ") for row in rows[1:]
            if "@" in row[column]}


def fills_of(field, fills):
    return [part for name, value in fills if name in field.name for part in ("--fill-value", value)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cuszi", default=ROOT / "build/default/app/cuszi")
    parser.add_argument("--error-bounds", default="1e-2,1e-3,1e-4,1e-6")
    parser.add_argument("--fill", action="append", default=[], metavar="NAME=VALUE",
                        help="a fill value for the fields whose name contains NAME")
    parser.add_argument("--ablation", action="store_true", help="also cuSZ-i's ablation at 1e-3")
    parser.add_argument("--peers", type=Path, help="a table with a column cusz-i(gpu), to compare")
    parser.add_argument("--markdown", type=Path, help="write the tables here instead of stdout")
    options = parser.parse_args()
    fills = [tuple(fill.split("=", 1)) for fill in options.fill]
    bounds = options.error_bounds.split(",")
    fields = sorted(options.folder.glob("*.f32")) + sorted(options.folder.glob("*.f64"))
    if not fields:
        sys.exit(f"check_fields.py: no .f32 or .f64 in {options.folder}")

    faults, lines = [], []

    def table(title, columns, arguments, bound_list, peers):
        heads = columns + (["cuSZ-i"] if peers else [])
        lines.extend([f"| {title} | bound | " + " | ".join(heads) + " |",
                      "| --- " * (len(heads) + 2) + "|"])
        ratios = {(bound, column): [] for bound in bound_list for column in columns}
        for field in fields:
            for bound in bound_list:
                cells = []
                for column in columns:
                    extra = arguments(column) + fills_of(field, fills)
                    report = check(options.cuszi, field, bound, extra, Path(folder))
                    cells.append(cell(report))
                    if report["fault"]:
                        faults.append(f"{field.name} {bound} {column}: {report['fault']}")
                    else:
                        ratios[bound, column].append(report["ratio"])
                if peers:
                    cells.append(peers.get((field.stem.rsplit("_", 1)[0], bound), ""))
                lines.append(f"| {field.stem} | {bound} | " + " | ".join(cells) + " |")
                if sys.stderr.isatty():
                    print(lines[-1], file=sys.stderr)
        for bound in bound_list:
            means = [f"{geomean(ratios[bound, column]):.2f}" for column in columns]
            lines.append(f"| *geomean of ratios* | {bound} | " + " | ".join(means) + " |")
        lines.append("")

    with tempfile.TemporaryDirectory() as folder:
        table("field", PRESETS, lambda preset: ["--preset", preset], bounds,
              read_peers(options.peers))
        if options.ablation:
            table("interp at 1e-3", list(ABLATION),
                  lambda variant: ["--preset", "cuszi", *ABLATION[variant]], ["1e-3"], {})
    text = "\n".join(lines)
    if options.markdown:
        options.markdown.write_text(text + "\n")
    else:
        print(text)
    for fault in faults:
        print(f"check_fields.py: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
