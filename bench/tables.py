#!/usr/bin/env python3
"""Measure tables of bench/results again, on fields of bench/fields.py or others, and write them into a folder.

A table keeps its title, its form and its commands; rows, device and date are new. Fields are raw files of float32 whose
names end in their dims. What a table needs and is not here (a GPU, a folder, a program of the build) leaves it out.
"""

import argparse
import csv
import datetime
import io
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import presets
import report

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))  # for its fields.py

import compare_peers  # noqa: E402

BOUNDS = ["1e-2", "1e-3", "1e-4"]
ON_GPU = ["cosmology-velocity_x", "cosmology-baryon_density", "combustion-temperature", "turbulence-velocity_x"]


class Missing(Exception):
    """What a table needs is not here."""


@dataclass(frozen=True)
class Place:
    """What tables are measured with, and on."""

    build: Path
    fields: Path  # of bench/fields.py
    real: Path  # fields of bench/results/fields_real.tsv, or None
    sdrbench: Path  # or None
    out: Path

    def program(self, name):
        found = next(self.build.rglob(name), None)
        if found is None:
            raise Missing(f"{name} is not built in {self.build}")
        return found

    @property
    def cuszi(self):
        return self.program("app/cuszi")

    def generated(self, name):
        found = sorted(self.fields.glob(f"{name}_*.f32"))
        if not found:
            raise Missing(f"{self.fields} has no {name}")
        return found[0]


def output(*command):
    return subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE, text=True).stdout


# ---- on a CPU --------------------------------------------------------------------------------

def over_peers(place, folder, *arguments):
    """cuszi over the best of SZ3, SPERR and ZFP."""
    if folder is None:
        raise Missing("no folder of these fields was given")
    where = place.out / f"peers-{folder.resolve().name}"
    subprocess.run([sys.executable, ROOT / "scripts/compare_peers.py", folder, "--out", where, "--equal-psnr", "",
                    "--cuszi", place.cuszi, *arguments], check=True, stdout=subprocess.DEVNULL)
    contests = {}
    with (where / "results.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if not row["failure"]:
                contests.setdefault((row["file"], float(row["value"])), {})[row["compressor"]] = row
    for (name, bound), rows in sorted(contests.items(), key=lambda item: (item[0][0], -item[0][1])):
        contest = compare_peers.Contest(name, rows)
        if contest.advantage():
            short = re.sub(r"\.\w+$", "", Path(name).name)
            yield [short, f"{bound:.0e}".replace("e-0", "e-"), f"{contest.ratio('cuszi'):.2f}", f"{contest.advantage():.2f}x"]


def simulated_over_peers(place):
    return over_peers(place, place.fields, "--fill-value", "1e20")


def sdrbench_over_peers(place):
    return over_peers(place, place.sdrbench, "--dims-file", str(ROOT / "bench/sdrbench.dims"))


def presets_and_efforts(place):
    folder = place.real or place.fields
    large = place.out / "rough_192x192x192.f32"
    output(place.program("make_field"), "rough", "192x192x192", "f32", "1", large)
    return list(presets.measure(place.cuszi, sorted(folder.glob("*.f32")), large, place.out))


def bench(place, field, bound, *options):
    """What the tool's command bench says of a field, on a CPU."""
    return json.loads(output(place.cuszi, "bench", field, "-e", bound, "--device", "cpu", "--json", *options))


def ratio_speed(place):
    folder = place.real or place.fields
    for field in sorted(folder.glob("*.f32"), key=lambda path: -path.stat().st_size):
        name, _, dims = field.stem.rpartition("_")
        for bound in BOUNDS:
            speed = 1e3 * bench(place, field, bound, "--threads", "1", *presets.fills_of(field))["compress_gb_per_s"]
            yield [f"{name}, {dims}", f"{field.stat().st_size / 1e6:.1f}", bound, f"{speed:.1f}"]


# ---- on a GPU --------------------------------------------------------------------------------

def gpu_bench_figures(text):
    """What a run of gpu_bench printed: ratio, speeds in GB/s, arena, and ms by the name of a step."""
    found = re.search(r"ratio +([\d.]+) +compress +([\d.]+) GB/s .*decompress +([\d.]+) GB/s .*arena ([\d.]+) x", text)
    steps = re.search(r"^ +compress:(.*) ms$", text, re.MULTILINE)
    if not found or not steps:
        raise Missing(f"gpu_bench said {text.strip()!r}")
    words = steps[1].split()
    return {"ratio": found[1], "compress": found[2], "decompress": found[3], "arena": found[4],
            **{name: f"{float(ms):.1f}" for name, ms in zip(words[::2], words[1::2])}}


def need_gpu():
    if not Path("/dev/nvidiactl").exists():
        raise Missing("no GPU")


def on_gpu(place, name, predictor, bound, *extra):
    need_gpu()
    field = place.generated(name)
    dims = field.stem.rpartition("_")[2]
    return gpu_bench_figures(output(place.program("gpu_bench"), field, dims, "f32", predictor, bound, *extra))


def ratio_on_gpu(place):
    for name in ON_GPU:
        for bound in BOUNDS:
            said = on_gpu(place, name, "auto", bound)
            steps = [said.get(step, "") for step in ("choose", "predict", "contexts", "encode")]
            yield [name, bound, said["ratio"], said["compress"], said["decompress"], *steps, said["arena"]]


def balanced_on_gpu(place):
    for name in ON_GPU:
        for bound in BOUNDS:
            said = on_gpu(place, name, "cells", bound)
            yield [name, bound, said["ratio"], said["compress"], said["decompress"]]


def fast_on_gpu(place):
    for name in ON_GPU:
        for bound in BOUNDS:
            known, relative = on_gpu(place, name, "tiles", bound, "abs"), on_gpu(place, name, "tiles", bound)
            yield [name, bound, known["ratio"], known["compress"], relative["compress"], known["decompress"]]


def classic_on_gpu(place):
    for preset, predictor in (("cusz", "lorenzo"), ("cuszi", "interp")):
        for name in ON_GPU:
            for bound in BOUNDS:
                said = on_gpu(place, name, predictor, bound)
                yield [preset, name, bound, said["compress"], said["decompress"]]


def classic_ratios(place):
    for name in ON_GPU:
        for preset, predictor in (("cusz", "lorenzo"), ("cuszi", "interp")):
            yield [name, preset, on_gpu(place, name, predictor, "1e-3")["ratio"]]


def zfp_on_gpu(place):
    for name in ON_GPU:
        for bound in BOUNDS:
            said = on_gpu(place, name, "zfp", bound)
            yield [name, bound, said["compress"], said["decompress"], said["ratio"]]
        said = on_gpu(place, name, "zfp", "1e-3", "rate:8")
        yield [name, "8 bits per value", said["compress"], said["decompress"], said["ratio"]]


def coder_on_gpu(place, name, preset, what):
    """The rows of a run of coder_bench, by column."""
    need_gpu()
    text = output(place.program("coder_bench"), place.generated(name), "1e-3", preset, what, 5)
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


def huffman_merge(place):
    for name in ON_GPU[:3]:
        by_unit = {}
        for row in coder_on_gpu(place, name, "cuszi", "encode"):
            if row["symbols"] == "1024" and row["GB/s"] != "-":
                by_unit.setdefault(row["unit"], []).append(row)
        for unit, rows in by_unit.items():
            yield [name, rows[0]["bits per symbol"], unit, *(row["GB/s"] for row in rows)]


def huffman_symbols(place):
    by_unit = {}
    for row in coder_on_gpu(place, "cosmology-baryon_density", "cuszi", "encode"):
        if row["r"] == "3":
            by_unit.setdefault(row["unit"], []).append(row["GB/s"])
    for unit, speeds in by_unit.items():
        yield [unit, *speeds]


def index_on_gpu(place, preset):
    for row in coder_on_gpu(place, "cosmology-velocity_x", preset, "index"):
        yield list(row.values())


def huffman_index(place):
    return index_on_gpu(place, "cuszi")


def huffman_index_default(place):
    for name in ON_GPU[1:3]:
        none, *others = coder_on_gpu(place, name, "cuszi", "index")
        default = next(row for row in others if (row["index"], row["C"], row["P"]) == ("hybrid", "1024", "32"))
        yield [name, none["R / (1 + f)"], *(default[key] for key in ("f", "R / (1 + f)", "CPU GB/s", "device GB/s"))]


def zfp_index(place):
    return index_on_gpu(place, "zfp")


# ---- files -----------------------------------------------------------------------------------

ON_CPU, ON_DEVICE = "CPU; archives do not depend on the device", "gpu"
GENERATED = {"note": "Fields of `bench/fields.py`."}
OVER = "Ratio, in brackets over the best of SZ3, SPERR and ZFP"
SIMULATED = {"title": "Preset `ratio` over the best CPU peer, fields of `bench/fields.py`",
             "command": "bench/run_all.sh --only peers_simulated_small",
             "about": f"{OVER}; few of them know missing values (`climate-SST_fill1e20`)."}
SDRBENCH = {"title": "Preset `ratio` over the best CPU peer, fields of SDRBench",
            "command": "bench/run_all.sh --only peers_sdrbench --sdrbench FOLDER",
            "about": f"{OVER}, on files by the names that `bench/sdrbench.dims` lists."}

# By name: measuring function, device ("cpu", "gpu": this machine's), and header lines that differ
# from those of bench/results.
TABLES = {
    "peers_simulated_small": (simulated_over_peers, ON_CPU, SIMULATED),
    "peers_sdrbench": (sdrbench_over_peers, ON_CPU, SDRBENCH),
    "presets_efforts_cpu": (presets_and_efforts, "cpu", {}),
    "ratio_cpu_small": (ratio_speed, "cpu", {}),
    "ratio_h200": (ratio_on_gpu, ON_DEVICE, GENERATED),
    "balanced_h200": (balanced_on_gpu, ON_DEVICE, GENERATED),
    "fast_h200": (fast_on_gpu, ON_DEVICE, GENERATED),
    "cusz_cuszi_h200": (classic_on_gpu, ON_DEVICE, GENERATED),
    "cusz_cuszi_ratio": (classic_ratios, ON_DEVICE, GENERATED),
    "zfp_h200": (zfp_on_gpu, ON_DEVICE, GENERATED),
    "huffman_merge_h100": (huffman_merge, ON_DEVICE, GENERATED),
    "huffman_symbols_h100": (huffman_symbols, ON_DEVICE, GENERATED),
    "huffman_index_h100": (huffman_index, ON_DEVICE,
                           {"title": "The index of Huffman streams, cosmology-velocity_x at 1e-3"}),
    "huffman_index_default_h100": (huffman_index_default, ON_DEVICE, GENERATED),
    "zfp_index_h200": (zfp_index, ON_DEVICE, {"title": "The index of zfp streams, cosmology-velocity_x at 1e-3"}),
}


def device_of(kind):
    if kind == "cpu":
        return presets.processor()
    if kind == ON_DEVICE:
        return output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").split("\n")[0]
    return kind


def like(name):
    """The table of bench/results whose form this one has."""
    return report.read_table(report.RESULTS / f"{'peers_simulated_small' if name == 'peers_sdrbench' else name}.tsv")


def table_text(name, rows, device, head):
    """A table of bench/results with other rows, and what stands in its head instead."""
    shipped = like(name)
    keys = {**shipped.keys, **{key: [value] for key, value in head.items()},
            "device": [device], "date": [str(datetime.date.today())]}
    lines = [f"# {key}: {value}" for key, values in keys.items() for value in values]
    return "\n".join([*lines, *map("\t".join, [shipped.columns, *rows])]) + "\n"


def measure(name, place):
    """Writes a table into the folder of results; a sentence about what became of it."""
    rows_of, device, head = TABLES[name]
    try:
        rows = list(rows_of(place))
        device = device_of(device)
    except (Missing, OSError, subprocess.CalledProcessError) as error:
        return f"left as it is: {error}"
    if not rows:
        return "left as it is: no field"
    if not head and place.real is None:
        head = {"about": f"{GENERATED['note']} {like(name).one('about').replace('the 19 real fields', 'these')}"}
    (place.out / "results" / f"{name}.tsv").write_text(table_text(name, rows, device, head), encoding="utf-8")
    return f"{len(rows)} rows"


def main():
    def names(text):
        unknown = set(text.split(",")) - set(TABLES)
        if unknown:
            raise argparse.ArgumentTypeError(f"no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fields", type=Path, help="a folder that bench/fields.py has written")
    parser.add_argument("--real", type=Path, metavar="FOLDER", help="of the fields of bench/results/fields_real.tsv")
    parser.add_argument("--sdrbench", type=Path, metavar="FOLDER", help="of files of SDRBench under their own names")
    parser.add_argument("--build", type=Path, default=ROOT / "build/default")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="tables go to FOLDER/results")
    parser.add_argument("--only", type=names, default=list(TABLES), metavar="TABLES", help="separated by commas")
    parsed = parser.parse_args()
    place = Place(parsed.build, parsed.fields, parsed.real, parsed.sdrbench, parsed.out)
    (place.out / "results").mkdir(parents=True, exist_ok=True)
    for name in parsed.only:
        print(f"{name}: {measure(name, place)}", flush=True)


if __name__ == "__main__":
    main()
