#!/usr/bin/env python3
"""Check every field of a folder and write tables of all presets, like those of docs/benchmarks/ratio.md.

Each field (dims in its name, as in U_100x500x500.f32) is compressed under each preset and bound
with --verify, and restored by a second process. A cell of the table is good if no value is over the
bound, the archive is no larger than the input plus 1 KB, and both processes restore the same errors.

examples:
  scripts/check_fields.py FOLDER
  scripts/check_fields.py FOLDER --fill tos=1e20 --ablation --markdown tables.md
  scripts/check_fields.py FOLDER --peers real_fields.tsv    # adds what cuSZ-i reached there
"""
import argparse
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measurements import find_cuszi, geomean, table

PRESETS = {preset: ["--preset", preset] for preset in ("cusz", "cuszi", "ratio")}
ABLATION = {
    "none": ["--preset", "cuszi", "--interp", "alpha=1,order=zyx"],
    "level-wise bounds": ["--preset", "cuszi", "--interp", "order=zyx"],
    "axis order": ["--preset", "cuszi", "--interp", "alpha=1"],
    "full": ["--preset", "cuszi"],
}


def run(cuszi, *arguments):
    """One cuszi process: its JSON report, or None and the message it failed with."""
    done = subprocess.run([cuszi, *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    return json.loads(done.stdout), ""


def check(cuszi, field, bound, options, folder):
    """Compress, verify, restore in another process: the report with a `fault`, "" if good."""
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


def good_ratios(reports):
    return [report["ratio"] for report in reports if not report["fault"]]


def check_table(options, title, variants, bounds, peers):
    """The lines of a table with a column for each variant, {name: options}, and what is at fault."""
    lines, faults, columns = [], [], {}
    with tempfile.TemporaryDirectory() as folder:
        for field, bound in itertools.product(options.fields, bounds):
            fills = fills_of(field, options.fills)
            reports = [check(options.cuszi, field, bound, extra + fills, Path(folder))
                       for extra in variants.values()]
            columns.setdefault(bound, []).append(reports)
            faults += [f"{field.name} {bound} {name}: {report['fault']}"
                       for name, report in zip(variants, reports) if report["fault"]]
            cells = [cell(report) for report in reports]
            if peers:
                cells.append(peers.get((field.stem.rsplit("_", 1)[0], bound), ""))
            lines.append([field.stem, bound, *cells])
            if sys.stderr.isatty():
                print(*lines[-1], file=sys.stderr)
    for bound, rows in columns.items():
        means = [f"{geomean(good_ratios(column)):.2f}" for column in zip(*rows)]
        lines.append(["*geomean of ratios*", bound, *means, *([""] if peers else [])])
    return table([title, "bound", *variants, *(["cuSZ-i"] if peers else [])], lines), faults


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cuszi", default=find_cuszi(), metavar="PATH",
                        help="the tool (default: the one built here, else from PATH)")
    parser.add_argument("--error-bounds", default="1e-2,1e-3,1e-4,1e-6", metavar="LIST",
                        help="relative, separated by commas (default %(default)s)")
    parser.add_argument("--fill", action="append", default=[], metavar="NAME=VALUE",
                        help="a fill value for the fields whose name contains NAME")
    parser.add_argument("--ablation", action="store_true", help="also cuSZ-i's ablation at 1e-3")
    parser.add_argument("--peers", type=Path, help="a table with a column cusz-i(gpu), to compare")
    parser.add_argument("--markdown", type=Path, help="write the tables here instead of stdout")
    options = parser.parse_args()
    options.fills = [tuple(fill.split("=", 1)) for fill in options.fill]
    options.fields = sorted(options.folder.glob("*.f32")) + sorted(options.folder.glob("*.f64"))
    if not options.fields:
        parser.error(f"no .f32 or .f64 in {options.folder}")
    if not options.cuszi or not shutil.which(options.cuszi):
        parser.error(f"cannot run {options.cuszi or 'cuszi'}; build it or give --cuszi PATH")
    return options


def main():
    options = parse_arguments()
    lines, faults = check_table(options, "field", PRESETS, options.error_bounds.split(","),
                                read_peers(options.peers))
    if options.ablation:
        more, more_faults = check_table(options, "interp at 1e-3", ABLATION, ["1e-3"], {})
        lines, faults = lines + more, faults + more_faults
    text = "\n".join(lines)
    if options.markdown:
        options.markdown.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    for fault in faults:
        print(f"check_fields.py: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
