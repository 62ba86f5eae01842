#!/usr/bin/env python3
"""Compresses every field of a folder tree under several error bounds and reports how it went.

Writes into the report folder: results.csv (one row per field and setting), report.md (tables and
pictures), plots/ (rate-distortion, one per field) and pictures/ (original, restored, error).
A run that was stopped goes on where it was when it is started again: what is in results.csv for
the same file (size and time of change) and the same setting is not measured again.
"""

import argparse
import csv
import fnmatch
import json
import math
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from array import array
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pictures

EXAMPLES = """examples:
  scripts/batch.py SDRBENCH-Hurricane --out report
  scripts/batch.py fields --error-bounds 1e-2,1e-4 --presets ratio,cusz --out report
  scripts/batch.py ocean --fill-value 1e20 --fill-value netcdf --out report
  scripts/batch.py NYX --dims-file nyx.dims --jobs 4 --out report

dims, slowest first, come from names such as U_100x500x500.f32 or CLDHGH_1_1800_3600.f32, or from
a dims file, whose lines 'GLOB DIMS [TYPE]' are tried first, in order:
  *.f32             512x512x512
  particles/x*.dat  1048576      f64
"""

SUFFIX_TYPES = {".f32": "f32", ".f64": "f64", ".d64": "f64", ".dat": None, ".bin": None,
                ".raw": None}
TYPE_BYTES = {"f32": 4, "f64": 8}
TYPE_CODES = {"f32": "f", "f64": "d"}
PICTURE_SIDE = 512

KEY = ["file", "input_bytes", "mtime_ns", "dims", "dtype", "mode", "error_bound", "preset",
       "options"]
METRICS = ["archive_bytes", "ratio", "bit_rate", "error_bound_abs", "psnr_db", "nrmse",
           "max_abs_error", "max_error_over_bound", "within_bound", "value_min", "value_max",
           "masked", "outliers", "patches", "predictor", "coder", "lossless", "device",
           "compress_seconds", "compress_gb_per_s", "decompress_seconds", "decompress_gb_per_s"]
COLUMNS = KEY + METRICS + ["failure"]


# ---- which fields there are ------------------------------------------------------------------

@dataclass(frozen=True)
class Field:
    path: Path
    name: str  # relative to the folder
    dims: tuple
    dtype: str
    size: int
    mtime_ns: int

    @property
    def dims_text(self):
        return "x".join(map(str, self.dims))


def parse_dims(text):
    """(100, 500, 500) for "100x500x500"; None if that is not what it says."""
    if not re.fullmatch(r"\d+(x\d+){0,3}", text):
        return None
    dims = tuple(map(int, text.split("x")))
    return dims if min(dims) > 0 else None


def dims_from_name(name, size, dtype):
    """The dims in a file's name, or None. The size decides where _1_1800_3600 can be read in two ways."""
    stem = name
    while Path(stem).suffix.lower() in SUFFIX_TYPES:
        stem = Path(stem).stem
    for text in reversed(re.findall(r"\d+(?:x\d+)+", stem)):
        if parse_dims(text):
            return parse_dims(text)
    numbers = re.search(r"((?:_\d+)*)$", stem).group(1).split("_")[1:]
    sizes = [TYPE_BYTES[dtype]] if dtype else TYPE_BYTES.values()
    for count in range(min(len(numbers), 4), 0, -1):
        dims = parse_dims("x".join(numbers[-count:]))
        if dims and any(math.prod(dims) * b == size for b in sizes):
            return dims
    # One number may be anything; more are dims of a file that is truncated, which is to be told.
    return parse_dims("x".join(numbers[-4:])) if len(numbers) > 1 else None


def read_dims_file(path):
    """The rules of a dims file, [(glob, dims, type or None)]."""
    rules = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        dims = parse_dims(words[1]) if len(words) in (2, 3) else None
        if dims is None or words[2:] not in ([], ["f32"], ["f64"]):
            raise ValueError(f"{path}:{number}: '{line.strip()}' is not 'GLOB DIMS [f32|f64]'")
        rules.append((words[0], dims, words[2] if words[2:] else None))
    return rules


def find_fields(folder, rules, report):
    """The fields below the folder, and the names of those whose dims nothing tells."""
    fields, unknown = [], []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders
                            if not f.startswith(".") and (Path(parent) / f).resolve() != report)
        for file_name in sorted(names):
            path = Path(parent) / file_name
            if path.suffix.lower() not in SUFFIX_TYPES or ".restored." in file_name:
                continue
            name = path.relative_to(folder).as_posix()
            status = path.stat()
            dims, dtype = None, SUFFIX_TYPES[path.suffix.lower()]
            for glob, rule_dims, rule_type in rules:
                if fnmatch.fnmatchcase(name, glob) or fnmatch.fnmatchcase(file_name, glob):
                    dims, dtype = rule_dims, rule_type or dtype
                    break
            dims = dims or dims_from_name(file_name, status.st_size, dtype)
            if dims is None:
                unknown.append(name)
                continue
            if dtype is None:
                dtype = "f64" if math.prod(dims) * TYPE_BYTES["f64"] == status.st_size else "f32"
            fields.append(Field(path, name, dims, dtype, status.st_size, status.st_mtime_ns))
    return fields, unknown


# ---- one measurement -------------------------------------------------------------------------

@dataclass(frozen=True)
class Setting:
    mode: str
    bound: str
    preset: str
    fill_values: tuple = ()
    device: str = ""

    @property
    def options(self):
        """What goes to cuszi beside mode, bound and preset."""
        fills = [f"--fill-value={value}" for value in self.fill_values]
        return fills + ([f"--device={self.device}"] if self.device else [])

    @property
    def label(self):
        return f"{self.preset}_{self.bound}"


def key_of(field, setting):
    """What a measurement is known by: the values of the columns of KEY."""
    return (field.name, str(field.size), str(field.mtime_ns), field.dims_text, field.dtype,
            setting.mode, setting.bound, setting.preset, " ".join(setting.options))


@dataclass(frozen=True)
class Job:
    """One field under one setting. The archive and, if asked for, the picture are left behind."""

    field: Field
    setting: Setting
    archive: Path
    picture: Path = None

    def run(self, cuszi):
        """A row of results.csv."""
        row = dict(zip(KEY, key_of(self.field, self.setting)), failure="")
        setting = self.setting
        self.archive.parent.mkdir(parents=True, exist_ok=True)
        try:
            done = run_tool([cuszi, "compress", self.field.path, "-d", self.field.dims_text,
                             "-t", self.field.dtype, "-m", setting.mode, "-e", setting.bound,
                             "--preset", setting.preset, *setting.options,
                             "--verify", "--json", "--force", "-o", self.archive])
            report = parse_report(done.stdout)
            row.update({name: report.get(name) for name in METRICS})
            check(done)
            if report.get("within_bound") is not True:
                raise Failure("cuszi does not say that the bound is kept")
            if self.picture:
                self.draw(cuszi)
        except (Failure, OSError) as failure:
            row["failure"] = " ".join(str(failure).split())
        return row

    def draw(self, cuszi):
        restored = self.archive.with_name(self.archive.name + ".restored")
        try:
            check(run_tool([cuszi, "decompress", self.archive, "--force", "-o", restored]))
            draw_slice(self.picture, self.field, self.setting, restored)
        finally:
            restored.unlink(missing_ok=True)


class Failure(Exception):
    pass


def run_tool(command):
    return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", check=False)


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


# ---- slices ----------------------------------------------------------------------------------

def read_slice(path, dims, dtype):
    """The middle plane across the slowest dimensions, thinned to PICTURE_SIDE, as rows of floats."""
    dims = [d for d in dims if d > 1] or [1]
    if len(dims) == 1:  # fold a line into a square
        width = math.isqrt(dims[0])
        height, first = width, 0
    else:
        height, width = dims[-2:]
        plane = 0
        for extent in dims[:-2]:
            plane = plane * extent + extent // 2
        first = plane * height * width
    row_step, column_step = (math.ceil(extent / PICTURE_SIDE) for extent in (height, width))
    rows = []
    with open(path, "rb") as file:
        for y in range(0, height, row_step):
            row = array(TYPE_CODES[dtype])
            file.seek((first + y * width) * row.itemsize)
            row.frombytes(file.read(width * row.itemsize))
            if sys.byteorder == "big":
                row.byteswap()
            rows.append(row[::column_step])
    return rows


drawing = threading.Lock()  # matplotlib is not made for threads


def draw_slice(path, field, setting, restored_path):
    fills = {float(array(TYPE_CODES[field.dtype], [float(f)])[0])
             for text in setting.fill_values
             for f in (["9.969209968386869e36"] if text == "netcdf" else [text])}

    def known(value):
        return math.isfinite(value) and value not in fills

    original = [[v if known(v) else None for v in row]
                for row in read_slice(field.path, field.dims, field.dtype)]
    restored = read_slice(restored_path, field.dims, field.dtype)
    restored = [[v if o is not None else None for v, o in zip(r, s)]
                for r, s in zip(restored, original)]
    error = [[None if o is None else v - o for v, o in zip(r, s)]
             for r, s in zip(restored, original)]
    values = [v for row in original for v in row if v is not None] or [0.0]
    largest = max((abs(v) for row in error for v in row if v is not None), default=0.0)
    with drawing:
        pictures.slice_picture(path, f"{field.name}, {setting.mode} {setting.bound}", [
            pictures.Panel("original", original, min(values), max(values)),
            pictures.Panel("restored", restored, min(values), max(values)),
            pictures.Panel(f"error, at most {largest:.3g}", error, -largest, largest, True)])


# ---- results.csv -----------------------------------------------------------------------------

def as_text(value):
    """What JSON has, as it stands in the table: nothing for null."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


class Results:
    """The rows of results.csv by key. The file always holds whole rows, so that a run can go on."""

    def __init__(self, path, fields):
        self.rows = {}
        stamps = {f.name: (str(f.size), str(f.mtime_ns)) for f in fields}
        for row in self._read(path):
            stamp = (row["input_bytes"], row["mtime_ns"])
            if not row["failure"] and stamps.get(row["file"], stamp) == stamp:
                self.rows[tuple(row[name] for name in KEY)] = row
        beside = path.with_suffix(".new")
        with open(beside, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows.values())
        beside.replace(path)
        self._file = open(path, "a", newline="", encoding="utf-8")

    @staticmethod
    def _read(path):
        """The whole rows of a file that may end in the middle of one."""
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return
        lines = csv.reader(text.replace("\0", "").split("\n")[:-1])
        if next(lines, None) != COLUMNS:
            return
        for values in lines:
            if len(values) == len(COLUMNS):
                yield dict(zip(COLUMNS, values))

    def add(self, row):
        row = {name: as_text(row.get(name)) for name in COLUMNS}
        self.rows[tuple(row[name] for name in KEY)] = row
        csv.DictWriter(self._file, COLUMNS, lineterminator="\n").writerow(row)
        self._file.flush()

    def close(self):
        self._file.close()


# ---- report.md -------------------------------------------------------------------------------

def number(row, name):
    """A metric as a float, or None where there is none."""
    try:
        value = float(row[name])
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def shown(row, name):
    value = number(row, name)
    return "-" if value is None else f"{value:.4g}"


def cell(text):
    return str(text).replace("|", "\\|")


def table(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(map(cell, line)) + " |" for line in lines] + [""]


def geomean_table(rows, fields, settings):
    """Geometric means of the ratios, over the fields that every preset has managed at a bound."""
    presets = list(dict.fromkeys(s.preset for s in settings))
    lines = []
    for bound in dict.fromkeys(s.bound for s in settings):
        at_bound = {s.preset: s for s in settings if s.bound == bound}
        ratios = [[number(rows.get(key_of(f, at_bound[p]), {"ratio": None}), "ratio")
                   for p in presets] for f in fields]
        ratios = [r for r in ratios if all(r)]
        means = [f"{math.exp(math.fsum(map(math.log, column)) / len(column)):.4g}"
                 for column in zip(*ratios)] or ["-"] * len(presets)
        lines.append([bound, len(ratios), *means])
    return table(["error bound", "fields", *presets], lines)


def rate_distortion_plot(folder, field, rows):
    """The path of the plot, or None if there is nothing to plot."""
    series = {}
    for row in rows:
        point = number(row, "bit_rate"), number(row, "psnr_db")
        if None not in point:
            series.setdefault(row["preset"], []).append(point)
    if not series:
        return None
    return pictures.line_plot(folder / "plots" / field.name, field.name, "bits per value",
                              "PSNR, dB", {name: sorted(p) for name, p in series.items()})


def write_report(folder, source, results, fields, settings, picture_of, failures, unknown, version):
    good = {key: row for key, row in results.rows.items() if not row["failure"]}
    options = " ".join(settings[0].options)
    lines = [f"# {source.resolve().name}", "",
             f"{len(fields)} fields, {settings[0].mode} error bounds"
             + (f", `{options}`" if options else "") + f", by {version}. "
             "All numbers are in results.csv.", "",
             "## Compression ratio, geometric mean", "",
             *geomean_table(good, fields, settings), "## Fields", ""]
    lines += table(["field", "dims", "type", "preset", "error bound", "ratio", "bits/value",
                    "PSNR dB", "max error / bound", "compress GB/s", "decompress GB/s"],
                   [[f.name, f.dims_text, f.dtype, s.preset, s.bound,
                     *(shown(good[key_of(f, s)], name) for name in (
                         "ratio", "bit_rate", "psnr_db", "max_error_over_bound",
                         "compress_gb_per_s", "decompress_gb_per_s"))]
                    for f in fields for s in settings if key_of(f, s) in good])
    for heading, items in (("Failed", failures), ("Left out: dims unknown", unknown)):
        if items:
            lines += [f"## {heading}", "", *(f"- {item}" for item in items), ""]
    lines += ["## Pictures", ""]
    for field in fields:
        rows = [good[key_of(field, s)] for s in settings if key_of(field, s) in good]
        plot = rate_distortion_plot(folder, field, rows)
        image = picture_of(field)
        has_image = key_of(field, worst(settings)) in good and image.exists()
        if plot or has_image:
            lines += [f"### {field.name}", ""]
        if plot:
            lines += [f"![rate and distortion]({quote(plot.relative_to(folder).as_posix())})", ""]
        if has_image:
            lines += [f"Middle slice at {settings[0].mode} {worst(settings).bound}, "
                      f"{worst(settings).preset}: original, restored, error (blue to red over its "
                      "range; grey: missing).", "",
                      f"![slice]({quote(image.relative_to(folder).as_posix())})", ""]
    (folder / "report.md").write_text("\n".join(lines), encoding="utf-8")


def worst(settings):
    """The setting of the pictures: the first preset under the loosest bound."""
    return max((s for s in settings if s.preset == settings[0].preset),
               key=lambda s: float(s.bound))


# ---- the run ---------------------------------------------------------------------------------

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
        line = (f"[{self.done}/{self.count}] {job.field.name} {job.setting.label}, "
                f"{round(left) // 60}:{round(left) % 60:02} left")
        self._write(line[:shutil.get_terminal_size().columns - 1])

    def clear(self):
        self._write("")

    def _write(self, line):
        if self.live:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def find_cuszi():
    built = Path(__file__).resolve().parent.parent / "build/default/app/cuszi"
    return str(built) if built.exists() else shutil.which("cuszi")


def parse_arguments(arguments):
    def bounds(text):
        values = [float(word) for word in text.split(",")]
        if not all(math.isfinite(v) and v >= 0 for v in values):
            raise ValueError
        return list(dict.fromkeys(f"{v:.15g}" for v in values))

    def fill_value(text):
        if text != "netcdf":
            float(text)
        return text

    def names(text):
        return list(dict.fromkeys(text.split(",")))

    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="REPORT", help="report folder")
    parser.add_argument("--error-bounds", type=bounds, default="1e-2,1e-3,1e-4", metavar="LIST",
                        help="separated by commas (default %(default)s)")
    parser.add_argument("--presets", type=names, default="ratio", metavar="LIST",
                        help="of cuszi: ratio, cuszi, cusz (default %(default)s)")
    parser.add_argument("--mode", choices=["rel", "abs"], default="rel",
                        help="bounds relative to the value range, or absolute (default rel)")
    parser.add_argument("--fill-value", type=fill_value, action="append", default=[], metavar="V",
                        help="value that means missing, or 'netcdf'; repeatable")
    parser.add_argument("--dims-file", type=Path, metavar="FILE", help="dims of fields, see below")
    parser.add_argument("--device", default="", help="where cuszi computes: auto, cpu or cuda")
    parser.add_argument("--cuszi", default=find_cuszi(), metavar="PATH",
                        help="the tool (default: the one built here, else from PATH)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N",
                        help="fields at a time (default 1; more disturb the measured speeds)")
    parser.add_argument("--keep-archives", action="store_true", help="keep them in REPORT/archives")
    parser.add_argument("--fresh", action="store_true", help="measure everything again")
    parsed = parser.parse_args(arguments)
    if not parsed.folder.is_dir():
        parser.error(f"{parsed.folder} is no folder")
    if not parsed.cuszi or not shutil.which(parsed.cuszi):
        parser.error(f"cannot run {parsed.cuszi or 'cuszi'}; build it or give --cuszi PATH")
    try:
        parsed.rules = read_dims_file(parsed.dims_file) if parsed.dims_file else []
    except (OSError, ValueError) as error:
        parser.error(str(error))
    return parser, parsed


def main(arguments=None):
    parser, options = parse_arguments(arguments)
    report = options.out
    fields, unknown = find_fields(options.folder, options.rules, report.resolve())
    for name in unknown:
        print(f"left out, dims unknown: {name}", file=sys.stderr)
    if not fields:
        parser.error(f"{options.folder} holds no field with known dims; see --dims-file")
    settings = [Setting(options.mode, bound, preset, tuple(options.fill_value), options.device)
                for preset in options.presets for bound in options.error_bounds]

    report.mkdir(parents=True, exist_ok=True)
    work = report / "work"
    shutil.rmtree(work, ignore_errors=True)
    if options.fresh:
        (report / "results.csv").unlink(missing_ok=True)
    results = Results(report / "results.csv", fields)

    def picture_of(field):
        return report / "pictures" / f"{field.name}.{worst(settings).label}.png"

    jobs = []
    for field in fields:
        for setting in settings:
            kept = report / "archives" / f"{field.name}.{setting.label}.cuszi"
            job = Job(field, setting, kept if options.keep_archives else work / f"{len(jobs)}.cuszi",
                      picture_of(field) if setting == worst(settings) else None)
            if not (key_of(field, setting) in results.rows
                    and (job.picture is None or job.picture.exists())
                    and (not options.keep_archives or kept.exists())):
                jobs.append(job)

    def run(job):
        row = job.run(options.cuszi)
        if not options.keep_archives:
            job.archive.unlink(missing_ok=True)
        return row

    failures = []
    progress = Progress(jobs)
    with ThreadPoolExecutor(max(options.jobs, 1)) as pool:
        running = {pool.submit(run, job): job for job in jobs}
        try:
            for done in as_completed(running):
                job, row = running[done], done.result()
                results.add(row)
                if row["failure"]:
                    failures.append(f"{job.field.name}, {job.setting.preset}, "
                                    f"{job.setting.bound}: {row['failure']}")
                progress.step(job)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            print("\nstopped; the same command goes on from here", file=sys.stderr)
            return 130
        finally:
            results.close()
            shutil.rmtree(work, ignore_errors=True)
    progress.clear()

    version = run_tool([options.cuszi, "--version"]).stdout.strip() or "cuszi"
    write_report(report, options.folder, results, fields, settings, picture_of, failures, unknown,
                 version)
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    print(f"{len(fields)} fields, {len(jobs)} measurements made, {len(failures)} failed: "
          f"{report / 'report.md'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
