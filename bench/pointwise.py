#!/usr/bin/env python3
"""Compares --mode pwrel with SZ3, SPERR, ZFP and EBCC on logarithms, with LC and with bit rounding, as their users bound an
error by a share of each value.

Fields are raw files of float32 with their dims in their names, slowest first. numcodecs-pw-ratio gives the first four
logarithms, with zeros below all others, and packs signs by zstd. LC and bit rounding, followed by zstd, have such bounds; of
LC the best of several chains of components counts, PFPL's among them. Prints a table for bench/results.

scripts/python_env.sh scripts/requirements/climate.txt build/climate-env prints a Python that has all but the tool.
"""

import datetime
import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numcodecs_combinators.stack import CodecStack
from numcodecs_pw_ratio import PointwiseRatioErrorBoundedCodec
from numcodecs_wasm_bit_round import BitRound
from numcodecs_wasm_ebcc import Ebcc  # noqa: F401, registers it, like the next ones
from numcodecs_wasm_lc import Lc
from numcodecs_wasm_sperr import Sperr  # noqa: F401
from numcodecs_wasm_sz3 import Sz3  # noqa: F401
from numcodecs_wasm_zfp import Zfp  # noqa: F401
from numcodecs_wasm_zstd import Zstd

from common import finite_fields, processor, take_over_output, tool_and_folder, version_of

SHARES = (1e-2, 1e-3, 1e-4)
BOUND = "BOUND"
# Codecs of logarithms with an absolute bound.
ON_LOGS = {"sz3": {"id": "sz3.rs", "eb_mode": "abs", "eb_abs": BOUND},
           "sperr": {"id": "sperr.rs", "mode": "pwe", "pwe": BOUND},
           "zfp": {"id": "zfp.rs", "mode": "fixed-accuracy", "tolerance": BOUND, "non_finite": "allow-unsafe"},
           "ebcc": {"id": "ebcc.rs", "base_cr": 100, "residual": "absolute", "error": BOUND, "chunk_shape": "auto"}}
# LC component chains after its quantiser: PFPL's, and the best of 540 on five fields at 1e-3.
CHAINS = ("DIFFNB_4 BIT_4 RZE_1", "DIFFNB_4 BIT_4 RZE_4 RZE_1", "DIFFNB_4 BIT_4 RRE_4 RZE_1", "DIFFMS_4 RZE_4 RZE_1",
          "DIFFMS_4 BIT_4 RZE_4 RZE_1", "DIFF_4 BIT_4 RZE_4 RZE_1")


def measure_cuszi(cuszi, path, share):
    """Ratio, and how many times the share the largest error is."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([cuszi, "compress", path, "-m", "pwrel", "-e", repr(share), "--verify", "--json", "-o",
                              Path(folder) / "archive.cuszi"], check=True, stdout=subprocess.PIPE)
    report = json.loads(run.stdout)
    return report["ratio"], report["max_pointwise_error"] / share


def measure_codec(codec, values, share):
    """The same of a codec."""
    encoded = codec.encode(values)
    restored = np.asarray(codec.decode(encoded)).view("f4").reshape(values.shape)
    return values.nbytes / memoryview(encoded).nbytes, largest_share(values.astype("f8"), restored) / share


def measure_on_logs(config, values, share):
    """The same of a codec on logarithms; its configuration has BOUND for the bound."""
    codec = PointwiseRatioErrorBoundedCodec(eb_ratio=1 + share, eb_abs_marker=BOUND, log_codec=config,
                                            sign_codec={"id": "zstd.rs", "level": 19})
    return measure_codec(codec, values, share)


def lc(chain, share):
    components = [{"id": name, "size": int(size)} for name, size in (each.split("_") for each in chain.split())]
    return Lc(preprocessors=[{"id": "QUANT", "dtype": "f32", "kind": "REL", "error_bound": share, "decorrelation": "0"}],
              components=components)


def measure_lc(values, share):
    """The same of LC's best chain."""
    return max(measure_codec(lc(chain, share), values, share) for chain in CHAINS)


def measure_bit_round(values, share):
    """The same of bit rounding."""
    return measure_codec(CodecStack(BitRound(mode="rel", eb_rel=share), Zstd(level=3)), values, share)


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


def print_head(tool, table):
    packages = ", ".join(f"{name} {version('numcodecs-wasm-' + name)}" for name in [*ON_LOGS, "lc", "bit-round"])
    print(f"""# title: Bounds that are a share of each value, beside other compressors on logarithms, LC and bit rounding
# device: CPU ({processor()}); {tool}; numcodecs-wasm: {packages}; numcodecs-pw-ratio {version("numcodecs-pw-ratio")}
# date: {datetime.date.today()}
# command: scripts/python_env.sh scripts/requirements/climate.txt build/climate-env
# command: build/climate-env/bin/python bench/pointwise.py build/default/app/cuszi FOLDER > bench/results/pointwise_cpu.tsv
# about: Ratio at a share of 1e-3 of each value; in brackets the largest error in shares, where it exceeds the share.
# note: SZ3, SPERR, ZFP and EBCC code logarithms in float32 that numcodecs-pw-ratio makes, which packs signs by zstd. Of LC the best of {len(CHAINS)} chains of components counts, PFPL's among them; bit-round is followed by zstd. inf: a zero does not come back. Empty where a codec refuses the field; TTHRESH has no bound for each value. Fields with missing or fill values are left out.
# hide: dims
# hide: share
# only: share 1e-3
# across: codec
# cell: {{ratio}}{{wrong}}
# mean: share {{:.2f}}
# mean of: ratio
field\tdims\tshare\tcodec\tratio\twrong""", file=table)


def main():
    tool, folder = tool_and_folder(__doc__)
    table = take_over_output()  # LC prints
    print_head(version_of(tool), table)
    for path, field, values in finite_fields(folder):
        for share in SHARES:
            print(path.name, share, file=sys.stderr)
            measures = {"cuszi": lambda: measure_cuszi(tool, path, share)}
            for name, config in ON_LOGS.items():
                measures[name] = lambda config=config: measure_on_logs(config, values, share)
            measures["lc"] = lambda: measure_lc(values, share)
            measures["bit-round"] = lambda: measure_bit_round(values, share)
            for codec, measure in measures.items():
                print(field, "x".join(map(str, values.shape)), f"{share:.0e}".replace("e-0", "e-"),
                      codec, *cells(measure), sep="\t", file=table, flush=True)


if __name__ == "__main__":
    main()
