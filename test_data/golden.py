#!/usr/bin/env python3
"""Golden archives: what this version of the format is, in a few small files.

golden/manifest.tsv says how each is made and what it restores to. Where `same_bytes` is no, zstd
has made a part of the archive; another version of zstd may make other bytes of the same meaning.

Usage: golden.py CUSZI MAKE_FIELD

makes all archives again, and the manifest's last two columns, after a change of the format.
"""

import csv
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "golden"
MANIFEST = FOLDER / "manifest.tsv"
COLUMNS = ["name", "kind", "dims", "dtype", "seed", "options", "same_bytes", "restored_bytes",
           "restored_sha256"]


def read_manifest():
    with open(MANIFEST, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def archive_of(case):
    return FOLDER / (case["name"] + ".cuszi")


def compress(cuszi, make_field, case, archive):
    """Makes the archive of a case."""
    with tempfile.TemporaryDirectory() as folder:
        field = Path(folder) / f"field.{case['dtype']}"
        subprocess.run([make_field, case["kind"], case["dims"], case["dtype"], case["seed"], field],
                       check=True)
        subprocess.run([cuszi, "compress", field, "-d", case["dims"], "-o", archive, "--force",
                        "--quiet", "--verify", *case["options"].split()], check=True)


def restore(cuszi, archive):
    """The values of an archive."""
    return subprocess.run([cuszi, "decompress", archive, "-o", "-", "--quiet"], check=True,
                          stdout=subprocess.PIPE).stdout


def sha256(values):
    return hashlib.sha256(values).hexdigest()


def main(cuszi, make_field):
    cases = read_manifest()
    for case in cases:
        compress(cuszi, make_field, case, archive_of(case))
        values = restore(cuszi, archive_of(case))
        case["restored_bytes"] = len(values)
        case["restored_sha256"] = sha256(values)
    with open(MANIFEST, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(cases)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
