#!/usr/bin/env python3
"""Compares cuszi with SZ3, SPERR and ZFP on every field of a folder tree.

Each compresses the same fields under the same error bounds, shares of the value range, and until
the same PSNR is reached. Writes into the report folder: results.csv (one row per field, compressor
and bound or PSNR), report.md (tables) and plots/ (rate-distortion, one per field). The peers, and
matplotlib for the plots, come from PyPI, into virtual environments that are made on the first run.
A run that was stopped goes on where it was when it is started again: what the same files and
programs gave is not measured again.
"""

import argparse
import datetime
import hashlib
import json
import math
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import environment
import measurements
from fields import Field
from measurements import (Failure, add_common_arguments, find_inputs, geomean, number,
                          open_results, rate_distortion_plot, run_jobs, run_tool, shown, table,
                          tell_outcome, tool_version)

EXAMPLES = """examples:
  scripts/compare_peers.py --setup
  scripts/compare_peers.py SDRBENCH-Hurricane --out report
  scripts/compare_peers.py ocean --fill-value 1e20 --equal-psnr 60,80 --out report
  scripts/compare_peers.py fields --cuszi-options "--predictor lorenzo" --out report
"""

ROOT = Path(__file__).resolve().parent.parent
WORKER = ROOT / "scripts/peers.py"
REQUIREMENTS = Path(__file__).resolve().parent / "requirements/peers.txt"

PEERS = ["sz3", "sz3-hdf5", "sperr", "zfp"]
COMPRESSORS = ["cuszi", *PEERS]
FEWEST_DIMS = {"sperr": 2}
PEER_SLACK = 1.01  # peers may exceed the bound by this factor; cuszi may not
SEARCH_STEPS = 10
CLOSE_ENOUGH = 0.02  # dB

KEY = ["file", "input_bytes", "mtime_ns", "dims", "dtype", "compressor", "version", "options",
       "goal", "value"]
METRICS = ["archive_bytes", "ratio", "bit_rate", "error_bound_abs", "psnr_db",
           "max_error_over_bound", "over_bound", "missing_lost", "compress_seconds",
           "decompress_seconds", "note"]
COLUMNS = KEY + METRICS + ["failure"]


# ---- the programs ----------------------------------------------------------------------------

def peers_version(python):
    """What this Python has of the peers, "" if it cannot run them."""
    done = run_tool([python, WORKER, "--version"]) if shutil.which(python) else None
    return done.stdout.strip() if done and done.returncode == 0 else ""


def set_up(folder):
    """The Python of the virtual environment in the folder, made if it cannot run the peers."""
    python = folder / "bin/python"
    if not peers_version(python):
        print(f"installing what {REQUIREMENTS} lists into {folder}", file=sys.stderr)
        for command in ([sys.executable, "-m", "venv", "--clear", folder],
                        [python, "-m", "pip", "install", "--quiet", "--require-hashes",
                         "--only-binary=:all:", "-r", REQUIREMENTS]):
            if subprocess.run(command, stdout=sys.stderr, check=False).returncode != 0:
                sys.exit(f"compare_peers.py: failed: {' '.join(map(str, command))}")
        if not peers_version(python):
            sys.exit(f"compare_peers.py: {python} cannot run {WORKER}")
    return python


@dataclass(frozen=True)
class Programs:
    python: Path
    peers: str  # their version
    cuszi: Path
    options: tuple
    fill_values: tuple
    time_limit: int

    def version(self, compressor):
        if compressor != "cuszi":
            return self.peers
        return f"{tool_version(self.cuszi)} {hashlib.sha256(self.cuszi.read_bytes()).hexdigest()[:12]}"

    def options_text(self, compressor):
        fills = [f"--fill-value={value}" for value in self.fill_values]
        return " ".join([*fills, *(self.options if compressor == "cuszi" else ())])

    def has_target(self):
        """Whether cuszi searches the bound of a PSNR itself."""
        return "--target" in run_tool([self.cuszi, "compress", "--help"]).stdout


class Worker:
    """A process that compresses one field with one compressor; a crash or hang ends it alone."""

    def __init__(self, programs, field, compressor):
        self._folder = tempfile.TemporaryDirectory(prefix="cuszi-peers-")
        self._errors = tempfile.TemporaryFile("w+", errors="replace")
        self._limit = programs.time_limit
        job = {"compressor": compressor, "path": str(field.path), "dims": field.dims,
               "dtype": field.dtype, "fill_values": programs.fill_values,
               "cuszi": [str(programs.cuszi), *programs.options], "folder": self._folder.name,
               "time_limit": self._limit}
        self._process = subprocess.Popen(
            [programs.python, WORKER, json.dumps(job)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate()
        self._errors.close()
        self._folder.cleanup()

    def measure(self, kind, value):
        """What the worker answers to a request, see peers.py."""
        try:
            self._process.stdin.write(json.dumps({kind: value}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        answer = json.loads(line) if line.endswith("\n") else {"failure": self._death()}
        if "failure" in answer:
            raise Failure(answer["failure"])
        return answer

    def _death(self):
        code = self._process.wait()
        if code == -14:  # SIGALRM
            return f"not done in {self._limit} s"
        self._errors.seek(0)
        said = (self._errors.read().strip().splitlines() or ["said nothing"])[-1]
        return f"crashed ({'signal' if code < 0 else 'exit'} {abs(code)}): {said}"


# ---- one measurement -------------------------------------------------------------------------

@dataclass(frozen=True)
class Job:
    """One field, one compressor, one goal: a "bound" (a share of the value range) or a "psnr"."""

    field: Field
    compressor: str
    version: str
    options: str
    goal: str
    value: str
    has_target: bool = False

    @property
    def key(self):
        f = self.field
        return (f.name, str(f.size), str(f.mtime_ns), f.dims_text, f.dtype, self.compressor,
                self.version, self.options, self.goal, self.value)

    @property
    def label(self):
        return f"{self.compressor}, {self.goal} {self.value}"

    def run(self, programs):
        """A row of results.csv."""
        row = dict(zip(KEY, self.key), note="", failure="")
        try:
            with Worker(programs, self.field, self.compressor) as worker:
                found = self.reach(worker.measure)
            values = math.prod(self.field.dims)
            found["bit_rate"] = found.get("bit_rate", bits_per_value(found, values))
            row.update(found, ratio=8 * self.field.size / values / found["bit_rate"])
        except (Failure, OSError, ValueError) as failure:
            row["failure"] = " ".join(str(failure).split())
        return row

    def reach(self, measure):
        value = float(self.value)
        if self.goal == "bound":
            return measure("bound", value)
        if self.has_target:
            return noted(measure("psnr", value), value)
        return search(lambda share: measure("tolerance", share), value, math.prod(self.field.dims))


def bits_per_value(found, values):
    return 8 * found["archive_bytes"] / values


def noted(found, psnr):
    """The measurement, with a note where it is none of this PSNR."""
    if found["missing_lost"]:
        return {**found, "note": f"{found['missing_lost']} missing values lost"}
    if found["psnr_db"] < psnr - CLOSE_ENOUGH:
        return {**found, "note": f"reaches only {found['psnr_db']:.2f} dB"}
    return found


def search(measure, psnr, values):
    """The measurement, by tolerance, that just reaches the PSNR, its rate interpolated at the PSNR.

    A tolerance of 10^(-psnr/20) of the range is enough if it is kept, one of the range is too much:
    bisection between them on a logarithmic scale.
    """
    low, high = 10 ** (-psnr / 20), 1.0
    above = below = None
    for _ in range(SEARCH_STEPS):
        middle = math.sqrt(low * high)
        found = measure(middle)
        if found["missing_lost"]:
            return noted(found, psnr)
        if found["psnr_db"] >= psnr:
            low, above = middle, found
            if found["psnr_db"] < psnr + CLOSE_ENOUGH:
                break
        else:
            high, below = middle, found
    if above is None:
        return noted(measure(low), psnr)
    if below is None or not all(math.isfinite(p["psnr_db"]) for p in (below, above)):
        return above
    share = (psnr - below["psnr_db"]) / (above["psnr_db"] - below["psnr_db"])
    rates = bits_per_value(below, values), bits_per_value(above, values)
    return {**above, "psnr_db": psnr, "bit_rate": rates[0] + share * (rates[1] - rates[0])}


def make_jobs(fields, programs, goals):
    """All measurements, those that a compressor can do at all."""
    versions = {name: programs.version(name) for name in COMPRESSORS}
    has_target = programs.has_target()
    return [Job(field, name, versions[name], programs.options_text(name), goal, value,
                has_target and name == "cuszi")
            for field in fields for goal, value in goals for name in COMPRESSORS
            if sum(extent > 1 for extent in field.dims) >= FEWEST_DIMS.get(name, 0)]


# ---- report.md -------------------------------------------------------------------------------

@dataclass
class Contest:
    """What each compressor made of one field and goal: rows by name, of those that did."""

    field: Field
    rows: dict

    def fault(self, name):
        """What is wrong with a row, "" if nothing."""
        row = self.rows[name]
        lost, over = int(row["missing_lost"]), int(row["over_bound"])
        if lost:
            return f"{lost} missing lost"
        return f"{over} over" if over and row["goal"] == "bound" else row["note"]

    def counts(self, name):
        """Whether the row of this name may win."""
        if name not in self.rows:
            return False
        row = self.rows[name]
        slight = (name in PEERS and row["goal"] == "bound" and row["missing_lost"] == "0"
                  and float(row["max_error_over_bound"]) <= PEER_SLACK)
        return slight or not self.fault(name)

    def ratio(self, name):
        """The ratio, None if there is none that counts."""
        return number(self.rows[name], "ratio") if self.counts(name) else None

    def best_peer(self):
        """The name of the peer with the highest ratio that counts, or None."""
        return max(filter(self.ratio, PEERS), key=self.ratio, default=None)

    def advantage(self):
        """The ratio of cuszi over that of the best peer, or None."""
        own, best = self.ratio("cuszi"), self.best_peer()
        return own / self.ratio(best) if own and best else None

    def cell(self, name):
        if name not in self.rows:
            return "-"
        row = self.rows[name]
        if row["goal"] == "psnr":
            return self.fault(name) or shown(row, "bit_rate")
        psnr = "exact" if float(row["psnr_db"]) == math.inf else f"{float(row['psnr_db']):.1f}"
        fault = f" ({self.fault(name)})" if self.fault(name) else ""
        return f"{float(row['ratio']):.2f} @ {psnr}{fault}"


def contests_of(jobs, rows):
    """{(goal, value): [Contest]} in the order of the jobs."""
    found = {}
    for job in jobs:
        by_field = found.setdefault((job.goal, job.value), {})
        contest = by_field.setdefault(job.field.name, Contest(job.field, {}))
        if job.key in rows:
            contest.rows[job.compressor] = rows[job.key]
    return {goal: list(by_field.values()) for goal, by_field in found.items()}


def summary_table(contests, goal):
    """Means over the fields that every compressor has managed, and cuszi against the best peer."""
    def mean(ratios):
        return f"{geomean(ratios):.4g}" if ratios else "-"

    lines = []
    for (kind, value), group in contests.items():
        if kind != goal:
            continue
        ratios = [[c.ratio(name) for name in COMPRESSORS] for c in group]
        ratios = [line for line in ratios if all(line)]
        advantages = {c.field.name: c.advantage() for c in group if c.advantage()}
        worst = min(advantages, key=advantages.get, default=None)
        lines.append([value, len(ratios), *(mean([line[i] for line in ratios])
                                            for i in range(len(COMPRESSORS))),
                      len(advantages), mean(advantages.values()),
                      f"{advantages[worst]:.4g}, {worst}" if worst else "-"])
    return table([goal, "fields of all", *COMPRESSORS, "fields of cuszi and a peer",
                  "cuszi / best peer", "worst field"], lines)


def contest_table(contests):
    """What cuszi makes over the best peer, chosen per field and bound: what the docs quote."""
    lines = []
    for (goal, value), group in contests.items():
        advantages = {c.field.name: c.advantage() for c in group if c.advantage()}
        if goal == "bound" and advantages:
            worst = min(advantages, key=advantages.get)
            lines.append([value, len(advantages), f"{geomean(advantages.values()):.2f}",
                          f"{advantages[worst]:.2f}, {worst}"])
    return table(["bound", "fields", "cuszi / best peer, geometric mean", "worst field"], lines)


def fields_table(contests, goal):
    lines = []
    for (kind, value), group in contests.items():
        lines += [[c.field.name, value, *map(c.cell, COMPRESSORS), c.best_peer() or "-",
                   f"{c.advantage():.3f}" if c.advantage() else "-"]
                  for c in group if kind == goal]
    return table(["field", goal, *COMPRESSORS, "best peer", "cuszi / best"],
                 sorted(lines, key=lambda line: line[0]))


def bounds_table(contests):
    """All that was measured under the bounds."""
    names = ["ratio", "psnr_db", "max_error_over_bound", "over_bound", "missing_lost",
             "compress_seconds", "decompress_seconds"]
    return table(["field", "bound", "compressor", "ratio", "PSNR dB", "max error / bound",
                  "values over", "missing lost", "compress s", "decompress s"],
                 [[c.field.name, value, name, *(shown(row, metric) for metric in names)]
                  for (goal, value), group in contests.items() if goal == "bound"
                  for c in group for name, row in c.rows.items()])


def plots(folder, jobs, rows):
    lines = []
    for field in dict.fromkeys(job.field for job in jobs):
        good = [rows[job.key] for job in jobs if job.field == field and job.key in rows]
        plot = rate_distortion_plot(folder, field, [row for row in good if not row["note"]],
                                    "compressor")
        if plot:
            lines += [f"![{field.name}]({quote(plot.relative_to(folder).as_posix())})", ""]
    return lines


def write_report(folder, source, jobs, rows, failures, unknown):
    contests = contests_of(jobs, rows)
    fields = {job.field for job in jobs}
    versions = dict.fromkeys(f"{job.version} {job.options}".strip() for job in jobs)
    lines = [f"# {source.resolve().name}", "",
             f"{len(fields)} fields, by {'; '.join(versions)}, on {datetime.date.today()}. "
             "All numbers are in results.csv.", "",
             "## Against the best peer of each field", "", *contest_table(contests)]
    headings = {"bound": "Compression ratio at equal error bounds",
                "psnr": "At equal PSNR"}
    remarks = {"bound": "Cells are `ratio @ PSNR`. What is over the bound (a peer: by over 1 %) or "
                        "loses missing values does not count.",
               "psnr": "Cells are bits per value at this PSNR in dB."}
    for goal in dict.fromkeys(goal for goal, _ in contests):
        lines += [f"## {headings[goal]}", "", "Geometric means of the ratios:", "",
                  *summary_table(contests, goal), remarks[goal], "", *fields_table(contests, goal)]
    for heading, items in (("Failed", failures), ("Left out", unknown)):
        if items:
            lines += [f"## {heading}", "", *(f"- {item}" for item in items), ""]
    lines += ["## All measurements at equal error bounds", "", *bounds_table(contests),
              "## Rate and distortion", "", *plots(folder, jobs, rows)]
    (folder / "report.md").write_text("\n".join(lines), encoding="utf-8")


# ---- the run ---------------------------------------------------------------------------------

def parse_arguments(arguments):
    def decibels(text):
        values = [float(word) for word in text.split(",") if word]
        if not all(0 < v < 400 for v in values):
            raise ValueError
        return list(dict.fromkeys(f"{v:.15g}" for v in values))

    class SetUp(argparse.Action):
        def __call__(self, parser, namespace, values, option_string=None):
            print(peers_version(set_up(namespace.venv)))
            parser.exit()

    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common_arguments(parser)
    parser.add_argument("--equal-psnr", type=decibels, default="60,80,100", metavar="LIST",
                        help="in dB, separated by commas; '' for none (default %(default)s)")
    parser.add_argument("--cuszi-options", type=str.split, default=[], metavar="OPTIONS",
                        help="more options of cuszi compress, in one word")
    parser.add_argument("--time-limit", type=int, default=600, metavar="S",
                        help="for one compression and decompression (default %(default)s)")
    parser.add_argument("--venv", type=Path, default=ROOT / "build/peers-venv", metavar="FOLDER",
                        help="virtual environment of the peers (default build/peers-venv)")
    parser.add_argument("--setup", action=SetUp, nargs=0, help="only make the environment")
    return parser, parser.parse_args(arguments)


def main(arguments=None):
    parser, options = parse_arguments(arguments)
    if "0" in options.error_bounds:
        parser.error("the peers have no error bound of 0")
    fields, unknown = find_inputs(parser, options)
    python = set_up(options.venv)
    programs = Programs(python, peers_version(python), Path(shutil.which(options.cuszi)),
                        tuple(options.cuszi_options), tuple(options.fill_value), options.time_limit)
    goals = ([("bound", value) for value in options.error_bounds]
             + [("psnr", value) for value in options.equal_psnr])
    jobs = make_jobs(fields, programs, goals)

    results = open_results(options.out, options.fresh, fields, KEY, COLUMNS)
    missing = [job for job in jobs if job.key not in results.rows]
    failures = run_jobs(missing, lambda job: job.run(programs), results, options.jobs)
    if failures is None:
        return 130
    good = {key: row for key, row in results.rows.items() if not row["failure"]}
    write_report(options.out, options.folder, jobs, good, failures, unknown)
    print(*contest_table(contests_of(jobs, good)), sep="\n")
    return tell_outcome(fields, missing, failures, unknown, options.out)


if __name__ == "__main__":
    if measurements.pictures is None and not {"-h", "--help", "--setup"} & set(sys.argv[1:]):
        environment.go_on_drawing(__file__, sys.argv[1:])
    sys.exit(main())
