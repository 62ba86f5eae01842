#!/usr/bin/env python3
"""Compares --mode pwrel with bit rounding, and with SZ3, SPERR, ZFP and EBCC on logarithms, as their users bound an error by
a share of each value.

Fields are raw files of float32 with their dims in their names, slowest first. Bit rounding, followed by zstd, has such bounds;
the others get log2 |x| under the absolute bound log2(1 + share), with the least logarithm in place of zeros; what they would
need besides, signs and zeros as bits packed by zstd, is added to their size. Prints a table for bench/results.

scripts/python_env.sh scripts/requirements/climate.txt build/climate-env prints a Python that has all but the tool.
"""

import argparse
import datetime
import json
import math
import platform
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numcodecs
import numpy as np
from numcodecs_combinators.stack import CodecStack
from numcodecs_wasm_bit_round import BitRound
from numcodecs_wasm_ebcc import Ebcc
from numcodecs_wasm_sperr import Sperr
from numcodecs_wasm_sz3 import Sz3
from numcodecs_wasm_zfp import Zfp
from numcodecs_wasm_zstd import Zstd

SHARES = (1e-2, 1e-3, 1e-4)
# Makers of codecs for an absolute bound.
PEERS = {"sz3": lambda bound: Sz3(eb_mode="abs", eb_abs=bound),
         "sperr": lambda bound: Sperr(mode="pwe", pwe=bound),
         "zfp": lambda bound: Zfp(mode="fixed-accuracy", tolerance=bound, non_finite="allow-unsafe"),
         "ebcc": lambda bound: Ebcc(base_cr=100, residual="absolute", error=bound, chunk_shape="auto")}


def dims_of(path):
    return tuple(map(int, re.search(r"_(\d+(?:x\d+)*)\.f32$", path.name)[1].split("x")))


def measure_cuszi(cuszi, path, share):
    """Ratio, and how many times the share the largest error is."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([cuszi, "compress", path, "-m", "pwrel", "-e", repr(share), "--verify", "--json", "-o",
                              Path(folder) / "archive.cuszi"], check=True, stdout=subprocess.PIPE)
    report = json.loads(run.stdout)
    return report["ratio"], report["max_pointwise_error"] / share


def packed_bits(bits):
    """Bytes of a bit for each value; none where all are alike."""
    return 0 if bits.all() or not bits.any() else len(numcodecs.Zstd(19).encode(np.packbits(bits)))


def measure_peer(make, values, share):
    """The same of a peer on logarithms."""
    exact = values.astype("f8")
    zero = exact == 0
    logs = np.log2(np.abs(exact), where=~zero, out=np.full(exact.shape, np.inf))
    logs = np.where(zero, logs.min(), logs).astype("f4")
    codec = make(math.log2(1 + share))
    encoded = codec.encode(logs)
    restored = np.exp2(np.asarray(codec.decode(encoded)).reshape(values.shape).astype("f8"))
    restored = np.where(zero, 0, np.copysign(restored.astype("f4"), values))
    size = memoryview(encoded).nbytes + packed_bits(np.signbit(values)) + packed_bits(zero)
    return values.nbytes / size, largest_share(exact, restored) / share


def measure_bit_round(values, share):
    """The same of bit rounding."""
    codec = CodecStack(BitRound(mode="rel", eb_rel=share), Zstd(level=3))
    encoded = codec.encode(values)
    restored = np.asarray(codec.decode(encoded)).reshape(values.shape)
    return values.nbytes / memoryview(encoded).nbytes, largest_share(values.astype("f8"), restored) / share


def largest_share(exact, restored):
    """The largest error as a share of its value; infinite where a zero does not come back."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.abs(restored.astype("f8") - exact) / np.abs(exact), nan=0, posinf=np.inf).max(initial=0)


def cells(measure):
    """The ratio, and a mark where the bound is broken; nothing where the peer refuses the field."""
    try:
        ratio, over = measure()
    except Exception as failure:  # whatever a codec raises
        print(f"  failed: {str(failure).splitlines()[0][:200]}", file=sys.stderr)
        return "", ""
    return f"{ratio:.2f}", f" ({over:.2g}x)" if over > 1 else ""


def print_head(tool):
    processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    packages = ", ".join(f"{name} {version('numcodecs-wasm-' + name)}" for name in [*PEERS, "bit-round"])
    print(f"""# title: Bounds that are a share of each value, beside other compressors on logarithms and bit rounding
# device: CPU ({processor[1] if processor else platform.machine()}); {tool}; numcodecs-wasm: {packages}
# date: {datetime.date.today()}
# command: scripts/python_env.sh scripts/requirements/climate.txt build/climate-env
# command: build/climate-env/bin/python bench/pointwise.py build/default/app/cuszi FOLDER > bench/results/pointwise_cpu.tsv
# note: Peers other than bit-round, which zstd follows, code log2 of the magnitudes in float32 under log2(1 + share); signs and zeros, which they would need too, are counted as bits packed by zstd. In brackets, how many times the share the largest error is. Empty where a codec refuses the field; TTHRESH has no bound for each value. Fields with missing or fill values are left out.
# across: codec
# cell: {{ratio}}{{wrong}}
# mean: share {{:.2f}}
# mean of: ratio
field\tdims\tshare\tcodec\tratio\twrong""")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cuszi", metavar="CUSZI", type=Path)
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    options = parser.parse_args()
    tool = options.cuszi.resolve()
    print_head(subprocess.run([tool, "--version"], check=True, capture_output=True, text=True).stdout.split(",")[0].strip())
    for path in sorted(options.folder.glob("*.f32")):
        values = np.fromfile(path, "f4").reshape(dims_of(path))
        if not np.isfinite(values).all() or np.abs(values).max() > 1e19:
            continue
        for share in SHARES:
            print(path.name, share, file=sys.stderr)
            measures = {"cuszi": lambda: measure_cuszi(tool, path.resolve(), share)}
            for name, make in PEERS.items():
                measures[name] = lambda make=make: measure_peer(make, values, share)
            measures["bit-round"] = lambda: measure_bit_round(values, share)
            for codec, measure in measures.items():
                print(path.name.rpartition("_")[0], "x".join(map(str, values.shape)), f"{share:.0e}".replace("e-0", "e-"),
                      codec, *cells(measure), sep="\t", flush=True)


if __name__ == "__main__":
    main()
