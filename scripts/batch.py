#!/usr/bin/env python3
"""Compresses every field of a folder tree under several error bounds and reports how it went.

Writes into the report folder: results.csv (one row per field and setting), report.md (tables and
pictures), plots/ (rate-distortion, one per field) and pictures/ (original, restored, error of
the slice with the most variance, under every bound; the histogram of errors and power spectra;
with --isovalue the contours of a value, with and without --keep-isovalue).
A run that was stopped goes on where it was when it is started again: what is in results.csv for
the same file (size and time of change) and the same setting is not measured again.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
import threading
from array import array
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import environment
from fields import Field
from measurements import (Failure, add_common_arguments, check, find_inputs, geomean, number,
                          open_results, parse_report, rate_distortion_plot, run_jobs, run_tool,
                          shown, table, tell_outcome, tool_version)

EXAMPLES = """examples:
  scripts/batch.py SDRBENCH-Hurricane --out report
  scripts/batch.py fields --error-bounds 1e-2,1e-4 --presets ratio,cusz --out report
  scripts/batch.py ocean --fill-value 1e20 --fill-value netcdf --out report
  scripts/batch.py NYX --dims-file nyx.dims --jobs 4 --out report
  scripts/batch.py TEMPERATURE --isovalue 273.15 --out report
  scripts/batch.py /shared/NYX --scheduler tcp://head:8786 --out /shared/report

dims, slowest first, come from names such as U_100x500x500_t48.f32, CLDHGH_1_1800_3600.f32 or
SDRBENCH-Hurricane-100x500x500/Uf48.bin.f32, as cuszi reads them (cuszi inspect --field-name), or
from a dims file, whose lines 'GLOB DIMS [TYPE]' are tried first, in order:
  *.f32             512x512x512
  particles/x*.dat  1048576      f64
"""

try:
    import numpy

    import analysis
    import contours
    import pictures
    from slices import most_varied, planes_in, thinned
except ImportError:  # without numpy and matplotlib
    analysis = None

PICTURE_SIDE = 512

KEY = ["file", "input_bytes", "mtime_ns", "dims", "dtype", "mode", "error_bound", "preset",
       "options", "isovalue"]
METRICS = ["archive_bytes", "ratio", "bit_rate", "error_bound_abs", "psnr_db", "nrmse",
           "max_abs_error", "max_error_over_bound", "within_bound", "mean_error_over_bound",
           "zeros", "zeros_kept", "missing_kept", "false_negatives", "value_min", "value_max",
           "masked", "outliers", "patches", "predictor", "coder", "lossless", "device",
           "compress_seconds", "compress_gb_per_s", "decompress_seconds", "decompress_gb_per_s"]
# Neighbours across the isovalue in the field, restored, and with --keep-isovalue; points that
# changed sides, and the ratio with that option.
CONTOURS = ["crossings", "crossings_restored", "crossings_kept", "points_across", "points_across_kept", "ratio_kept"]
SPEEDS = ["compress_gb_per_s", "decompress_gb_per_s"]
COLUMNS = KEY + METRICS + CONTOURS + ["failure"]


# ---- one measurement -------------------------------------------------------------------------

@dataclass(frozen=True)
class Setting:
    mode: str
    bound: str
    preset: str
    fill_values: tuple = ()
    device: str = ""
    isovalue: float = None  # whose contours are drawn

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
            setting.mode, setting.bound, setting.preset, " ".join(setting.options),
            "" if setting.isovalue is None else repr(setting.isovalue))


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
        self.archive.parent.mkdir(parents=True, exist_ok=True)
        try:
            done = self.compress(cuszi, run_tool, self.archive)
            report = parse_report(done.stdout)
            row.update({name: report.get(name) for name in METRICS})
            check(done)
            if report.get("within_bound") is not True:
                raise Failure("cuszi does not say that the bound is kept")
            if self.picture:
                self.draw(cuszi, run_tool, row)
        except (Failure, OSError) as failure:
            row["failure"] = " ".join(str(failure).split())
        return row

    def compress(self, cuszi, run_tool, archive, *options):
        setting = self.setting
        return run_tool([cuszi, "compress", self.field.path, "-d", self.field.dims_text,
                         "-t", self.field.dtype, "-m", setting.mode, "-e", setting.bound,
                         "--preset", setting.preset, *setting.options, *options,
                         "--verify", "--json", "--force", "-o", archive])

    def values(self, path):
        return analysis.read_field(path, self.field.dims, self.field.dtype)

    def draw_analysis(self, title, restored, bound):
        with drawing:
            analysis.draw(analysis_of(self.picture), title, self.values(self.field.path),
                          self.values(restored), self.setting.fill_values, bound)

    def draw_contours(self, cuszi, run_tool, title, restored, row):
        """Compresses once more, with --keep-isovalue, and tells the row and a picture of both."""
        isovalue = self.setting.isovalue
        archive = self.archive.with_name(self.archive.name + ".kept")
        kept = archive.with_name(archive.name + ".restored")
        try:
            done = self.compress(cuszi, run_tool, archive, f"--keep-isovalue={isovalue!r}")
            check(done)
            check(run_tool([cuszi, "decompress", archive, "--force", "-o", kept]))
            original, *others = map(self.values, (self.field.path, restored, kept))
            known = analysis.known_points(original, self.setting.fill_values)
            (count, _), (count_restored, across), (count_kept, across_kept) = contours.compare(
                original, others, known, isovalue)
            row.update(zip(CONTOURS, (count, count_restored, count_kept, across, across_kept,
                                      parse_report(done.stdout).get("ratio"))))
            if count and has_planes(self.field):
                fields = dict(zip((f"original: {count} crossings", f"restored: {count_restored}",
                                   f"restored with --keep-isovalue: {count_kept}"), (original, *others)))
                with drawing:
                    contours.draw(contours_of(self.picture, isovalue), title, fields, known, isovalue)
        finally:
            archive.unlink(missing_ok=True)
            kept.unlink(missing_ok=True)

    def draw(self, cuszi, run_tool, row):
        restored = self.archive.with_name(self.archive.name + ".restored")
        try:
            check(run_tool([cuszi, "decompress", self.archive, "--force", "-o", restored]))
            title = f"{self.field.name}\n{caption(self.setting, row)}"
            draw_slice(self.picture, title, self.field, self.setting.fill_values, restored)
            self.draw_analysis(title, restored, row["error_bound_abs"])
            if self.setting.isovalue is not None:
                self.draw_contours(cuszi, run_tool, title, restored, row)
        finally:
            restored.unlink(missing_ok=True)


def has_planes(field):
    return sum(extent > 1 for extent in field.dims) > 1


def analysis_of(picture):
    """The picture of errors and spectra beside one of slices."""
    return picture.with_name(picture.stem + ".analysis.png")


def contours_of(picture, isovalue):
    """The picture of contours beside it."""
    return picture.with_name(f"{picture.stem}.contours_{isovalue:.15g}.png")


# ---- pictures --------------------------------------------------------------------------------

drawing = threading.Lock()  # matplotlib is not thread-safe


def draw_slice(path, title, field, fill_values, restored_path):
    """Draws the field's most varied slice, restored, and the error."""
    plane = most_varied(field, fill_values)
    original, restored = (thinned(planes_in(of, field.dims, field.dtype)[plane.index], PICTURE_SIDE)
                          for of in (field.path, restored_path))
    unknown = ~analysis.known_points(original, fill_values)
    original, restored = (numpy.ma.masked_array(values.astype("f8"), unknown) for values in (original, restored))
    error = restored - original
    values, largest = pictures.limits(original), max(map(abs, pictures.limits(error)))
    with drawing:
        pictures.slice_picture(path, f"{title}, {plane.name}", [
            pictures.Panel("original", original, *values), pictures.Panel("restored", restored, *values),
            pictures.Panel(f"error, at most {largest:.3g}", error, -largest, largest, True)])


def caption(setting, row):
    """What a picture's numbers are to be held against: the bound and the range of all values."""
    bound, low, high = (number(row, name) for name in ("error_bound_abs", "value_min", "value_max"))
    text = f"{setting.preset}, {setting.mode} {setting.bound}"
    if bound is not None and setting.mode == "rel":
        text += f" = {bound:.4g} absolute"
    if low is not None and high is not None:
        text += f", values {low:.6g} to {high:.6g}, range {high - low:.4g}"
    return text


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

    return [shown(row, "mean_error_over_bound"), share("zeros_kept", "zeros"),
            share("missing_kept", "masked"), row["false_negatives"] or "-"]


def speed_unit(rows):
    """(name, its number in a GB/s): the unit in which most speeds of a table are numbers for people."""
    speeds = [s for row in rows for name in SPEEDS if (s := number(row, name))]
    return ("GB/s", 1) if speeds and statistics.median(speeds) >= 1 else ("MB/s", 1000)


def speed_cell(row, name, per_gb):
    speed = number(row, name)
    if speed is None:
        return "-"
    return f"{speed * per_gb:.0f}" if speed * per_gb >= 100 else f"{speed * per_gb:.3g}"


def pictures_of(folder, field, setting, row, picture):
    """The lines of the report that show a field under one setting."""
    lines = []
    if picture.exists():
        plane = most_varied(field, setting.fill_values)
        lines += [f"{caption(setting, row)}, {plane.name}: original, restored, error.", "",
                  f"![slice]({quote(picture.relative_to(folder).as_posix())})", ""]
    if analysis_of(picture).exists():
        relative = analysis_of(picture).relative_to(folder).as_posix()
        lines += ["Histogram of its errors, and power spectra of original, restored and "
                  f"error.\n\n![errors and spectra]({quote(relative)})", ""]
    if setting.isovalue is not None and contours_of(picture, setting.isovalue).exists():
        relative = contours_of(picture, setting.isovalue).relative_to(folder).as_posix()
        lines += [f"Contour of {setting.isovalue:.15g} where the field has most of it: original, restored, and "
                  f"restored with `--keep-isovalue`; blue is the original's.\n\n![contours]({quote(relative)})", ""]
    return lines


def contour_table(good, fields, settings):
    """What became of the contours of the first preset's fields."""
    isovalue = settings[0].isovalue
    if isovalue is None:
        return []
    rows = [(f, s, good[key_of(f, s)]) for f in fields for s in settings
            if s.preset == settings[0].preset and key_of(f, s) in good]
    return [f"## Contours of {isovalue:.15g}", "",
            "A crossing is a pair of neighbours along an axis of which one is below, at or above the value and the other "
            "is not: there contours and isosurfaces cut the grid. Across are the points that changed sides.", "",
            *table(["field", "error bound", "crossings", "restored", "kept", "across", "across, kept", "ratio",
                    "ratio, kept"],
                   [[f.name, s.bound, *(row[name] for name in CONTOURS[:5]), shown(row, "ratio"),
                     shown(row, "ratio_kept")] for f, s, row in rows])]


def write_report(folder, source, results, fields, settings, picture_of, failures, unknown, version):
    good = {key: row for key, row in results.rows.items() if not row["failure"]}
    options = " ".join(settings[0].options)
    lines = [f"# {source.resolve().name}", "",
             f"{len(fields)} fields, {settings[0].mode} error bounds"
             + (f", `{options}`" if options else "") + f", by {version}. "
             "All numbers are in results.csv.", "",
             "## Compression ratio, geometric mean", "",
             *geomean_table(good, fields, settings), "## Fields", ""]
    unit, per_gb = speed_unit(good.values())
    lines += table(["field", "dims", "type", "preset", "error bound", "ratio", "bits/value",
                    "PSNR dB", "max error / bound", f"compress {unit}", f"decompress {unit}"],
                   [[f.name, f.dims_text, f.dtype, s.preset, s.bound,
                     *(shown(good[key_of(f, s)], name) for name in (
                         "ratio", "bit_rate", "psnr_db", "max_error_over_bound")),
                     *(speed_cell(good[key_of(f, s)], name, per_gb) for name in SPEEDS)]
                    for f in fields for s in settings if key_of(f, s) in good])
    lines += ["## Fidelity", "",
              "Mean error (bias) over the bound; exact zeros and missing values that came back; "
              "values below zero where the field has none.", ""]
    lines += table(["field", "preset", "error bound", "mean error / bound", "zeros kept",
                    "missing kept", "false negatives"],
                   [[f.name, s.preset, s.bound, *fidelity_cells(good[key_of(f, s)])]
                    for f in fields for s in settings if key_of(f, s) in good])
    lines += contour_table(good, fields, settings)
    for heading, items in (("Failed", failures), ("Left out", unknown)):
        if items:
            lines += [f"## {heading}", "", *(f"- {item}" for item in items), ""]
    lines += ["## Pictures", "",
              f"Under {settings[0].preset}: original, restored and error (blue to red over its range; "
              "grey: missing) of the slice whose values vary most, by a sample of them.", ""]
    for field in fields:
        rows = [good[key_of(field, s)] for s in settings if key_of(field, s) in good]
        plot = rate_distortion_plot(folder, field, rows, "preset")
        shown_lines = []
        if plot:
            shown_lines += [f"![rate and distortion]({quote(plot.relative_to(folder).as_posix())})", ""]
        for setting in settings:
            picture, row = picture_of(field, setting), good.get(key_of(field, setting))
            if picture and row:
                shown_lines += pictures_of(folder, field, setting, row, picture)
        if shown_lines:
            lines += [f"### {field.name}", "", *shown_lines]
    (folder / "report.md").write_text("\n".join(lines), encoding="utf-8")


# ---- the run ---------------------------------------------------------------------------------

def parse_arguments(arguments):
    def names(text):
        return list(dict.fromkeys(text.split(",")))

    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common_arguments(parser)
    parser.add_argument("--presets", type=names, default="ratio", metavar="LIST",
                        help="of cuszi: ratio, fast, cuszi, cusz, zfp (default %(default)s); pictures "
                        "are of the first one")
    parser.add_argument("--mode", choices=["rel", "abs"], default="rel",
                        help="bounds relative to the value range, or absolute (default rel)")
    parser.add_argument("--device", default="", help="where cuszi computes: auto, cpu or cuda")
    parser.add_argument("--isovalue", type=finite, metavar="C",
                        help="draw the contours of this value in the fields, restored with and without "
                        "--keep-isovalue, and count what has changed; for the first preset")
    parser.add_argument("--scheduler", metavar="ADDRESS",
                        help="of a Dask cluster, like tcp://host:8786, on whose workers the tool "
                        "runs, one field on each of their threads; they have to reach the tool, the "
                        "fields and REPORT by the same paths. Needs distributed in this Python")
    parser.add_argument("--plain", action="store_true",
                        help="do not install numpy and matplotlib from PyPI into build/plots-venv: where this "
                        "Python has them not, nothing is drawn")
    parser.add_argument("--keep-archives", action="store_true", help="keep them in REPORT/archives")
    options = parser.parse_args(arguments)
    if options.isovalue is not None and not analysis:
        parser.error("--isovalue needs numpy and matplotlib, which are not in this Python")
    return parser, options


def finite(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def refuse_unusable(parser, cuszi, settings, device):
    """A usage error where the tool refuses a preset or the device: one value is compressed first."""
    with tempfile.TemporaryDirectory() as folder:
        value = Path(folder) / "value.f32"
        value.write_bytes(array("f", [1]).tobytes())
        for setting in {setting.preset: setting for setting in settings}.values():
            kept = [] if setting.isovalue is None else [f"--keep-isovalue={setting.isovalue!r}"]
            done = run_tool([cuszi, "compress", value, "-d", "1", "-t", "f32", "-m", setting.mode, "-e",
                             setting.bound, "--preset", setting.preset, *kept, "--device",
                             device or "cpu", "--force", "-o", Path(folder) / "archive"])
            if done.returncode != 0:
                parser.error(done.stderr.strip())


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
    settings = [Setting(options.mode, bound, preset, tuple(options.fill_value), options.device, options.isovalue)
                for preset in options.presets for bound in options.error_bounds]
    refuse_unusable(parser, options.cuszi, settings, "cpu" if options.scheduler else options.device)
    cluster = open_cluster(parser, options.scheduler) if options.scheduler else None

    results = open_results(report, options.fresh, fields, KEY, COLUMNS)
    work = report / "work"
    shutil.rmtree(work, ignore_errors=True)

    def picture_of(field, setting):
        """Path of a picture of the first preset, for every bound."""
        if not analysis or setting.preset != settings[0].preset:
            return None
        return report / "pictures" / f"{field.name}.{setting.label}.png"

    jobs = []
    for field in fields:
        for setting in settings:
            kept = report / "archives" / f"{field.name}.{setting.label}.cuszi"
            job = Job(field, setting, kept if options.keep_archives else work / f"{len(jobs)}.cuszi",
                      picture_of(field, setting))
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
    """Goes on in a Python that has what drawing needs; without one, in this."""
    stay = {"--plain", "-h", "--help", "--scheduler"}  # distributed is installed in this one
    if analysis or stay & {argument.partition("=")[0] for argument in arguments}:
        return
    environment.go_on_drawing(__file__, arguments)
    print("batch.py: nothing is drawn; --plain does not try to install what that needs", file=sys.stderr)


if __name__ == "__main__":
    start_in_environment(sys.argv[1:])
    sys.exit(main())
