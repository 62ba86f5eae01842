#!/usr/bin/env python3
"""Compresses every field of a folder tree under several error bounds and reports how it went.

Writes into the report folder: results.csv (one row per field and setting), report.md (tables and
pictures), plots/ (rate-distortion, one per field) and pictures/ (original, restored, error; the
histogram of errors and power spectra).
A run that was stopped goes on where it was when it is started again: what is in results.csv for
the same file (size and time of change) and the same setting is not measured again.
"""

import argparse
import json
import math
import os
import shutil
import sys
import threading
from array import array
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import environment
import pictures
from fields import Field
from measurements import (Failure, add_common_arguments, check, find_inputs, geomean, number,
                          open_results, parse_report, rate_distortion_plot, run_jobs, run_tool,
                          shown, table, tell_outcome, tool_version)

EXAMPLES = """examples:
  scripts/batch.py SDRBENCH-Hurricane --out report
  scripts/batch.py fields --error-bounds 1e-2,1e-4 --presets ratio,cusz --out report
  scripts/batch.py ocean --fill-value 1e20 --fill-value netcdf --out report
  scripts/batch.py NYX --dims-file nyx.dims --jobs 4 --out report
  scripts/batch.py /shared/NYX --scheduler tcp://head:8786 --out /shared/report

dims, slowest first, come from names such as U_100x500x500_t48.f32, CLDHGH_1_1800_3600.f32 or
SDRBENCH-Hurricane-100x500x500/Uf48.bin.f32, as cuszi reads them (cuszi inspect --field-name), or
from a dims file, whose lines 'GLOB DIMS [TYPE]' are tried first, in order:
  *.f32             512x512x512
  particles/x*.dat  1048576      f64
"""

try:
    import analysis
except ImportError:  # without numpy and matplotlib
    analysis = None

PACKAGES = ["numpy", "matplotlib"]
REQUIREMENTS = Path(__file__).resolve().parent / "requirements/plots.txt"
TYPE_CODES = {"f32": "f", "f64": "d"}
PICTURE_SIDE = 512

KEY = ["file", "input_bytes", "mtime_ns", "dims", "dtype", "mode", "error_bound", "preset",
       "options"]
METRICS = ["archive_bytes", "ratio", "bit_rate", "error_bound_abs", "psnr_db", "nrmse",
           "max_abs_error", "max_error_over_bound", "within_bound", "mean_error_over_bound",
           "error_autocorrelation", "ssim", "zeros", "zeros_kept", "missing_kept",
           "false_negatives", "value_min", "value_max",
           "masked", "outliers", "patches", "predictor", "coder", "lossless", "device",
           "compress_seconds", "compress_gb_per_s", "decompress_seconds", "decompress_gb_per_s"]
COLUMNS = KEY + METRICS + ["failure"]


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

    @property
    def label(self):
        return f"{self.setting.preset}, {self.setting.bound}"

    def run(self, cuszi, run_tool):
        """A row of results.csv. `run_tool` is that of measurements, or a cluster's."""
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
                self.draw(cuszi, run_tool, report.get("error_bound_abs"))
        except (Failure, OSError) as failure:
            row["failure"] = " ".join(str(failure).split())
        return row

    def draw_analysis(self, restored, bound):
        field = self.field
        with drawing:
            analysis.draw(analysis_of(self.picture), f"{field.name}, {self.label}",
                          analysis.read_field(field.path, field.dims, field.dtype),
                          analysis.read_field(restored, field.dims, field.dtype),
                          self.setting.fill_values, bound)

    def draw(self, cuszi, run_tool, bound):
        restored = self.archive.with_name(self.archive.name + ".restored")
        try:
            check(run_tool([cuszi, "decompress", self.archive, "--force", "-o", restored]))
            draw_slice(self.picture, self.field, self.setting, restored)
            if analysis:
                self.draw_analysis(restored, bound)
        finally:
            restored.unlink(missing_ok=True)


def analysis_of(picture):
    """The picture of errors and spectra beside one of slices."""
    return picture.with_name(picture.stem + ".analysis.png")


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


# ---- report.md -------------------------------------------------------------------------------

def geomean_table(rows, fields, settings):
    """Geometric means of the ratios, over the fields that every preset has managed at a bound."""
    presets = list(dict.fromkeys(s.preset for s in settings))
    lines = []
    for bound in dict.fromkeys(s.bound for s in settings):
        at_bound = {s.preset: s for s in settings if s.bound == bound}
        ratios = [[number(rows.get(key_of(f, at_bound[p]), {"ratio": None}), "ratio")
                   for p in presets] for f in fields]
        ratios = [r for r in ratios if all(r)]
        means = [f"{geomean(column):.4g}" for column in zip(*ratios)] or ["-"] * len(presets)
        lines.append([bound, len(ratios), *means])
    return table(["error bound", "fields", *presets], lines)


def fidelity_cells(row):
    def share(kept, of):
        return f"{row[kept]} of {row[of]}" if row[kept] and row[of] not in ("", "0") else "-"

    correlations = [shown({"r": r}, "r") for r in json.loads(row["error_autocorrelation"] or "[]")]
    return [shown(row, "mean_error_over_bound"), " ".join(correlations) or "-", shown(row, "ssim"),
            share("zeros_kept", "zeros"), share("missing_kept", "masked"),
            row["false_negatives"] or "-"]


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
    lines += ["## Fidelity", "",
              "Mean error (bias) over the bound; correlation of the errors of neighbours along each "
              "axis, slowest first; SSIM, the mean structural similarity of 2-D slices; exact zeros "
              "and missing values that came back; values below zero where the field has none.", ""]
    lines += table(["field", "preset", "error bound", "mean error / bound", "correlation", "SSIM",
                    "zeros kept", "missing kept", "false negatives"],
                   [[f.name, s.preset, s.bound, *fidelity_cells(good[key_of(f, s)])]
                    for f in fields for s in settings if key_of(f, s) in good])
    for heading, items in (("Failed", failures), ("Left out", unknown)):
        if items:
            lines += [f"## {heading}", "", *(f"- {item}" for item in items), ""]
    lines += ["## Pictures", ""]
    for field in fields:
        rows = [good[key_of(field, s)] for s in settings if key_of(field, s) in good]
        plot = rate_distortion_plot(folder, field, rows, "preset")
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
            if analysis_of(image).exists():
                relative = analysis_of(image).relative_to(folder).as_posix()
                lines += ["Histogram of its errors, and power spectra of original, restored and "
                          f"error.\n\n![errors and spectra]({quote(relative)})", ""]
    (folder / "report.md").write_text("\n".join(lines), encoding="utf-8")


def worst(settings):
    """The setting of the pictures: the first preset under the loosest bound."""
    return max((s for s in settings if s.preset == settings[0].preset),
               key=lambda s: float(s.bound))


# ---- the run ---------------------------------------------------------------------------------

def parse_arguments(arguments):
    def names(text):
        return list(dict.fromkeys(text.split(",")))

    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common_arguments(parser)
    parser.add_argument("--presets", type=names, default="ratio", metavar="LIST",
                        help="of cuszi: ratio, cuszi, cusz (default %(default)s)")
    parser.add_argument("--mode", choices=["rel", "abs"], default="rel",
                        help="bounds relative to the value range, or absolute (default rel)")
    parser.add_argument("--device", default="", help="where cuszi computes: auto, cpu or cuda")
    parser.add_argument("--scheduler", metavar="ADDRESS",
                        help="of a Dask cluster, like tcp://host:8786, on whose workers the tool "
                        "runs, one field on each of their threads; they have to reach the tool, the "
                        "fields and REPORT by the same paths. Needs distributed in this Python")
    parser.add_argument("--plain", action="store_true",
                        help="draw without matplotlib, which is otherwise installed from PyPI into "
                        "build/plots-venv: no histograms of errors, no power spectra")
    parser.add_argument("--keep-archives", action="store_true", help="keep them in REPORT/archives")
    return parser, parser.parse_args(arguments)


def open_cluster(parser, address):
    try:
        from cluster import Cluster
    except ImportError:
        parser.error("--scheduler needs the Python package distributed, of the cluster's version")
    try:
        return Cluster(address)
    except (OSError, ValueError) as error:
        parser.error(f"--scheduler {address}: {error}")


def main(arguments=None):
    parser, options = parse_arguments(arguments)
    report = options.out
    fields, unknown = find_inputs(parser, options)
    cluster = open_cluster(parser, options.scheduler) if options.scheduler else None
    settings = [Setting(options.mode, bound, preset, tuple(options.fill_value), options.device)
                for preset in options.presets for bound in options.error_bounds]

    results = open_results(report, options.fresh, fields, KEY, COLUMNS)
    work = report / "work"
    shutil.rmtree(work, ignore_errors=True)

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
        row = job.run(options.cuszi, cluster.run if cluster else run_tool)
        if not options.keep_archives:
            job.archive.unlink(missing_ok=True)
        return row

    failures = run_jobs(jobs, run, results, cluster.slots() if cluster else options.jobs)
    shutil.rmtree(work, ignore_errors=True)
    if failures is None:
        return 130

    version = tool_version(options.cuszi)
    write_report(report, options.folder, results, fields, settings, picture_of, failures, unknown,
                 version)
    return tell_outcome(fields, jobs, failures, unknown, report)


def start_in_environment(arguments):
    """Goes on in a Python that has what analysis.py needs; without one, in this."""
    stay = {"--plain", "-h", "--help", "--scheduler"}  # distributed is in this one
    if analysis or stay & {argument.partition("=")[0] for argument in arguments}:
        return
    python = environment.python_with("plots-venv", PACKAGES, REQUIREMENTS)
    if python:
        os.execv(python, [python, __file__, *arguments])
    print("batch.py: no histograms of errors and no power spectra; --plain does not try to install "
          "what they need", file=sys.stderr)


if __name__ == "__main__":
    start_in_environment(sys.argv[1:])
    sys.exit(main())
