"""What the scripts that measure many fields share: arguments, jobs, results.csv, tables, plots."""

import csv
import json
import math
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from fields import find_fields, read_dims_file

try:
    import pictures
except ImportError:  # without matplotlib
    pictures = None


# ---- arguments ------------------------------------------------------------------------------

def find_cuszi():
    built = Path(__file__).resolve().parent.parent / "build/default/app/cuszi"
    return str(built) if built.exists() else shutil.which("cuszi")


def bounds(text):
    values = [float(word) for word in text.split(",")]
    if not all(math.isfinite(v) and v >= 0 for v in values):
        raise ValueError
    return list(dict.fromkeys(f"{v:.15g}" for v in values))


def fill_value(text):
    if text != "netcdf":
        float(text)
    return text


def add_common_arguments(parser):
    """What every script that measures a folder of fields understands."""
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="REPORT", help="report folder")
    parser.add_argument("--error-bounds", type=bounds, default="1e-2,1e-3,1e-4", metavar="LIST",
                        help="separated by commas (default %(default)s)")
    parser.add_argument("--fill-value", type=fill_value, action="append", default=[], metavar="V",
                        help="value that means missing, or 'netcdf'; repeatable")
    parser.add_argument("--dims-file", type=Path, metavar="FILE", help="dims of fields, see below")
    parser.add_argument("--type", choices=["f32", "f64"],
                        help="of fields whose name does not say it (.dat, .bin, .raw)")
    parser.add_argument("--cuszi", default=find_cuszi(), metavar="PATH",
                        help="the tool (default: the one built here, else from PATH)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N",
                        help="fields at a time (default 1; more disturb the measured speeds)")
    parser.add_argument("--fresh", action="store_true", help="measure everything again")


def find_inputs(parser, parsed):
    """The fields, and which are left out and why; a usage error where that is impossible."""
    if not parsed.folder.is_dir():
        parser.error(f"{parsed.folder} is no folder")
    if not parsed.cuszi or not shutil.which(parsed.cuszi):
        parser.error(f"cannot run {parsed.cuszi or 'cuszi'}; build it or give --cuszi PATH")
    try:
        rules = read_dims_file(parsed.dims_file) if parsed.dims_file else []
    except (OSError, ValueError) as error:
        parser.error(str(error))
    try:
        fields, unknown = find_fields(parsed.folder, rules, parsed.out.resolve(), parsed.cuszi,
                                      parsed.type)
    except subprocess.CalledProcessError as error:
        parser.error(f"{parsed.cuszi} cannot read names: {error.stderr.decode().strip()}")
    unknown = [f"{name}: {why}" for name, why in unknown.items()]
    for line in unknown:
        print(f"left out: {line}", file=sys.stderr)
    if not fields:
        parser.error(f"{parsed.folder} holds no field with known dims; see --dims-file")
    return fields, unknown


def open_results(report, fresh, fields, key, columns):
    """The results in the report folder, which is made."""
    report.mkdir(parents=True, exist_ok=True)
    if fresh:
        (report / "results.csv").unlink(missing_ok=True)
    return Results(report / "results.csv", fields, key, columns)


# ---- running -----------------------------------------------------------------------------------

class Failure(Exception):
    pass


def run_tool(command):
    return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", check=False)


def tool_version(cuszi):
    """The first line of what it says: its version, and the commit it was built from."""
    return run_tool([cuszi, "--version"]).stdout.partition("\n")[0] or "cuszi"


def check(done):
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise Failure(f"{said[-1] if said else 'cuszi said nothing'} (exit {done.returncode})")


def parse_report(text):
    try:
        report = json.loads(text)
    except ValueError:
        report = None
    return report if isinstance(report, dict) else {}


class Progress:
    """A line on a terminal, nothing elsewhere."""

    def __init__(self, jobs):
        self.live = sys.stderr.isatty()
        self.count, self.done = len(jobs), 0
        self.bytes, self.bytes_done = sum(j.field.size for j in jobs), 0
        self.start = time.monotonic()

    def step(self, job):
        self.done += 1
        self.bytes_done += job.field.size
        spent = time.monotonic() - self.start
        left = spent * (self.bytes - self.bytes_done) / max(self.bytes_done, 1)
        line = (f"[{self.done}/{self.count}] {job.field.name} {job.label}, "
                f"{round(left) // 60}:{round(left) % 60:02} left")
        self._write(line[:shutil.get_terminal_size().columns - 1])

    def clear(self):
        self._write("")

    def _write(self, line):
        if self.live:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def run_jobs(jobs, run, results, workers):
    """Adds the rows that run(job) makes to the results. Returns what failed, None if stopped."""
    failures, progress = [], Progress(jobs)
    with ThreadPoolExecutor(max(workers, 1)) as pool:
        running = {pool.submit(run, job): job for job in jobs}
        try:
            for done in as_completed(running):
                job, row = running[done], done.result()
                results.add(row)
                if row["failure"]:
                    failures.append(f"{job.field.name}, {job.label}: {row['failure']}")
                progress.step(job)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            print("\nstopped; the same command goes on from here", file=sys.stderr)
            return None
        finally:
            results.close()
    progress.clear()
    return failures


def tell_outcome(fields, jobs, failures, unknown, report):
    """What a run has come to, on the terminal; returns the exit code."""
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    if unknown:
        print(f"left out: {len(unknown)}, as told above; give their dims in a --dims-file",
              file=sys.stderr)
    print(f"{len(fields)} fields, {len(jobs)} measurements made, {len(failures)} failed: "
          f"{report / 'report.md'}")
    return 1 if failures or unknown else 0


# ---- results.csv -----------------------------------------------------------------------------

def as_text(value):
    """What JSON has, as it stands in the table: nothing for null."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


class Results:
    """The rows of results.csv by key, the values of the key columns.

    The file always holds whole rows, so that a run can go on.
    """

    def __init__(self, path, fields, key, columns):
        self.rows, self._key, self._columns = {}, key, columns
        stamps = {f.name: (str(f.size), str(f.mtime_ns)) for f in fields}
        for row in self._read(path):
            stamp = (row["input_bytes"], row["mtime_ns"])
            if not row["failure"] and stamps.get(row["file"], stamp) == stamp:
                self.rows[tuple(row[name] for name in self._key)] = row
        beside = path.with_suffix(".new")
        with open(beside, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self._columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows.values())
        beside.replace(path)
        self._file = open(path, "a", newline="", encoding="utf-8")

    def _read(self, path):
        """The whole rows of a file that may end in the middle of one."""
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return
        lines = csv.reader(text.replace("\0", "").split("\n")[:-1])
        if next(lines, None) != self._columns:
            return
        for values in lines:
            if len(values) == len(self._columns):
                yield dict(zip(self._columns, values))

    def add(self, row):
        row = {name: as_text(row.get(name)) for name in self._columns}
        self.rows[tuple(row[name] for name in self._key)] = row
        csv.DictWriter(self._file, self._columns, lineterminator="\n").writerow(row)
        self._file.flush()

    def close(self):
        self._file.close()


# ---- reports -----------------------------------------------------------------------------------

def number(row, name):
    """A metric as a float, or None where there is none."""
    try:
        value = float(row[name])
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def geomean(values):
    """The geometric mean of positive numbers, NaN of none."""
    values = list(values)
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else math.nan


def shown(row, name):
    value = number(row, name)
    return "-" if value is None else f"{value:.4g}"


def cell(text):
    return str(text).replace("|", "\\|")


def table(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(map(cell, line)) + " |" for line in lines] + [""]


def rate_distortion_plot(folder, field, rows, column):
    """The path of the plot, a line for each value of the column; None if there is no point or no matplotlib."""
    series = {}
    for row in rows:
        point = number(row, "bit_rate"), number(row, "psnr_db")
        if None not in point:
            series.setdefault(row[column], []).append(point)
    if not series or pictures is None:
        return None
    path = folder / "plots" / f"{field.name}.png"
    pictures.line_plot(path, field.name, "bits per value", "PSNR, dB", {name: sorted(p) for name, p in series.items()})
    return path
