"""Tests of every type of values at every door, as it is installed, and of docs/reference/types.md, which they write:

    test_values.py --write

CUSZI names the tool, CUSZI_SOURCE the project's folder.
"""

import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from fractions import Fraction
from pathlib import Path

import h5py
import numpy as np
import zarr

import cuszi

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

PRESETS = ("ratio", "balanced", "fast", "cuszi", "cusz", "zfp")
TYPES = ("f32", "f64", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
INTEGERS = TYPES[4:]
PAGE = Path(os.environ["CUSZI_SOURCE"]) / "docs/reference/types.md"


def dtype_of(name):
    return np.dtype(ml_dtypes.bfloat16) if name == "bf16" else np.dtype(f"{name[0]}{int(name[1:]) // 8}")


def present_types():
    return [name for name in TYPES if name != "bf16" or ml_dtypes]


def field(name, shape=(12, 30), seed=1):
    """Waves over a good part of the type's range, with noise and, of integers, the ends of the range."""
    dtype = dtype_of(name)
    random = np.random.default_rng(seed)
    values = np.sin(np.arange(np.prod(shape)) / 17).reshape(shape) + random.normal(0, 0.01, shape)
    if name not in INTEGERS:
        return (100 * values).astype(dtype)
    limits = np.iinfo(dtype)
    if dtype.itemsize == 8:
        a = (values * 2.0**60).astype("i8").astype(dtype)
    else:
        middle = (float(limits.max) + limits.min) / 2
        a = np.clip(middle + values * limits.max / 3, limits.min, limits.max).astype(dtype)
    a.flat[5], a.flat[6] = limits.min, limits.max
    return a


def bound_for(name):
    """Absolute, and a whole number for integers, whose fraction is cut off."""
    if name not in INTEGERS:
        return 0.5
    return float(np.iinfo(dtype_of(name)).max // 50 + 1) + (0 if name.endswith("64") else 0.5)


def exact(value):
    return Fraction(int(value)) if isinstance(value, np.integer) else Fraction(float(value))


class Broken(Exception):
    """A door gives back other values than it should."""


def check(a, b, bound):
    if b.dtype != a.dtype or b.shape != a.shape:
        raise Broken(f"{b.shape} of {b.dtype}")
    for one, other in zip(a.flat, b.flat):
        if abs(exact(one) - exact(other)) > bound:
            raise Broken(f"{one} became {other}")


# Doors: each gives back what became of an array under an absolute bound and a preset.


def by_call(a, bound, preset, folder):
    return cuszi.decompress(cuszi.compress(a, abs=bound, preset=preset))


def by_open(a, bound, preset, folder):
    path = folder / "a.cuszi"
    path.write_bytes(cuszi.compress(a, abs=bound, preset=preset))
    with cuszi.open(path) as archive:
        return archive[...]


def run(folder, *command):
    result = subprocess.run([os.environ["CUSZI"], *map(str, command), "-q"], cwd=folder, capture_output=True, text=True,
                            timeout=120)
    if result.returncode != 0:
        raise cuszi.UsageError(result.stderr.strip().removeprefix("cuszi: ").split("\n")[0])


def by_tool(a, bound, preset, folder):
    name = "bf16" if a.dtype.name == "bfloat16" else f"{a.dtype.kind}{8 * a.dtype.itemsize}"
    raw = f"a_12x30.{name}"
    a.tofile(folder / raw)
    run(folder, "compress", raw, "-m", "abs", "-e", repr(bound), "--preset", preset, "-f", "--verify")
    run(folder, "decompress", f"{raw}.cuszi", "-o", f"b.{name}", "-f", "--compare", raw)
    return np.fromfile(folder / f"b.{name}", a.dtype).reshape(a.shape)


def by_npy(a, bound, preset, folder):
    np.save(folder / "a.npy", a)
    run(folder, "compress", "a.npy", "-m", "abs", "-e", repr(bound), "--preset", preset, "-f", "-o", "a.cuszi")
    run(folder, "decompress", "a.cuszi", "-o", "b.npy", "-f")
    run(folder, "compare", "a.npy", "b.npy", "-m", "abs", "-e", repr(bound))
    return np.load(folder / "b.npy").view(a.dtype)


def by_numcodecs(a, bound, preset, folder):
    codec = cuszi.Numcodec(abs=bound, preset=preset)
    return codec.decode(codec.encode(a))


def by_zarr(a, bound, preset, folder):
    zarr.create_array(folder / "a.zarr", data=a, chunks=(8, 30), compressors=None, overwrite=True,
                      serializer=cuszi.Zarr(abs=bound, preset=preset))
    return zarr.open_array(folder / "a.zarr", mode="r")[...]


def by_hdf5(a, bound, preset, folder):
    with h5py.File(folder / "a.h5", "w", rdcc_nbytes=0) as file:
        file.create_dataset("T", data=a, chunks=(8, 30), **cuszi.H5(abs=bound, preset=preset))
    with h5py.File(folder / "a.h5") as file:
        return file["T"][...]


def by_copy(a, bound, preset, folder):
    with h5py.File(folder / "a.h5", "w") as file:
        file["T"] = a
    run(folder, "compress", "a.h5", "-o", "b.h5", "-m", "abs", "--bound", f"T={bound!r}", "--preset", preset, "-f",
        "--verify")
    with h5py.File(folder / "b.h5") as file:
        return file["T"][...]


def by_parts(a, bound, preset, folder):
    """A part of the chunk is written, then the rest, which leaves the part as it is."""
    codec = cuszi.Numcodec(abs=bound, preset=preset)
    chunk = np.zeros_like(a)
    for part in (np.s_[:5], np.s_[5:]):
        before = chunk
        chunk = np.array(before)
        chunk[part] = a[part]
        chunk = codec.decode(codec.encode(chunk))
    if chunk[:5].tobytes() != before[:5].tobytes():
        raise Broken("the part changed")
    return chunk


DOORS = {"C, C++, Python": by_call, "`cuszi.open`": by_open, "tool, raw files": by_tool, "tool, .npy": by_npy,
         "numcodecs": by_numcodecs, "Zarr 3": by_zarr, "HDF5 filter": by_hdf5, "chunks written in parts": by_parts,
         "copies of HDF5 and NetCDF": by_copy}

#: Doors whose own tests show what they take: the types, and why not the others.
OTHER_DOORS = {"Fortran": ("f32 f64 i8 i16 i32 i64", "Fortran has no such type; possible by address"),
               "ADIOS2, libpressio": (f"f32 f64 {' '.join(INTEGERS)}", "they have no such type"),
               "zfp streams": ("f32 f64", "types other than f32 and f64 have none")}


def outcome(door, name, preset, folder):
    """"yes", or the text that refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            a, bound = field(name), bound_for(name)
            check(a, DOORS[door](a, bound, preset, folder), int(bound) if name in INTEGERS else bound)
    except Broken as broken:
        raise AssertionError(f"{door}, {name}, {preset}: {broken}") from None
    except (cuszi.Error, TypeError, ValueError, OSError, KeyError) as error:
        return str(error).split("\n")[0]
    return "yes"


def page(folder):
    notes = []
    rows = []
    for door in DOORS:
        cells = []
        for name in TYPES:
            found = {outcome(door, name, preset, folder) for preset in PRESETS}
            refusals = sorted(found - {"yes"})
            if refusals and name in ("f32", "f64"):
                raise AssertionError(f"{door}, {name}: {refusals}")
            for text in refusals:
                if text not in notes:
                    notes.append(text)
            cells.append(" ".join(["yes"] * ("yes" in found) + [f"({notes.index(text) + 1})" for text in refusals]))
        rows.append(f"| {door} | {' | '.join(cells)} |")
    for door, (taken, text) in OTHER_DOORS.items():
        notes.append(text)
        cells = ["yes" if name in taken.split() else f"({len(notes)})" for name in TYPES]
        rows.append(f"| {door} | {' | '.join(cells)} |")
    lines = ["# Types of values", "",
             "Made by `tests/python/test_values.py --write`, whose test fails if it is out of date. *yes*: round trips "
             "under every preset keep an absolute bound, checked in exact numbers; a number: refused, see below.", "",
             f"| door | {' | '.join(TYPES)} |", "| --- |" + " --- |" * len(TYPES), *rows, "",
             *(f"{i + 1}. {text}" for i, text in enumerate(notes)), "",
             "- A bound holds in the stored type. Of integers, an absolute bound is rounded down; below 1 it is lossless.",
             "- i64 and u64 take absolute bounds and 0 alone, and neither local bounds nor isovalues.",
             "- VTK and ParaView get floats that hold the values: f64 for integers of 32 bits and more, of which those of 64 bits are "
             "rounded to 53 bits.",
             "- On a GPU, the host rounds i64 and u64; the device converts the others.", ""]
    return "\n".join(lines)


class Values(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    @unittest.skipUnless(ml_dtypes, "needs ml_dtypes")
    def test_the_page(self):
        self.assertEqual(PAGE.read_text(), page(self.folder), "run tests/python/test_values.py --write")

    def test_without_loss(self):
        for name in present_types():
            a = field(name)
            for preset in PRESETS:
                for bound in (0, 0.75) if name in INTEGERS else (0,):
                    with self.subTest(name=name, preset=preset, bound=bound):
                        b = cuszi.decompress(cuszi.compress(a, abs=bound, preset=preset))
                        self.assertEqual(a.tobytes(), b.tobytes())

    def test_every_bit_pattern_of_halves(self):
        for name in ("f16", "bf16"):
            if name not in present_types():
                continue
            a = np.arange(2**16, dtype="u2").view(dtype_of(name)).reshape(256, 256)
            finite = np.isfinite(a.astype("f4"))
            for preset in PRESETS:
                for asked in ({"abs": 100}, {"pw_rel": 0.01}, {"abs_or_pw_rel": 1, "pw": 0.01}):
                    if preset == "zfp" and "abs" not in asked:
                        continue
                    with self.subTest(name=name, preset=preset, asked=asked):
                        b = cuszi.decompress(cuszi.compress(a, preset=preset, **asked))
                        np.testing.assert_array_equal(a.view("u2")[~finite], b.view("u2")[~finite])
                        was, now = a[finite].astype("f8"), b[finite].astype("f8")
                        share = np.abs(was) * asked.get("pw", asked.get("pw_rel", 0))
                        bound = np.maximum(share, asked.get("abs", asked.get("abs_or_pw_rel", 0)))
                        self.assertTrue(np.all(np.abs(was - now) <= bound))

    def test_modes_of_integers(self):
        for name in INTEGERS[:6]:
            a = field(name, (40, 50))
            width = int(a.max()) - int(a.min())
            for preset in PRESETS:
                with self.subTest(name=name, preset=preset):
                    b = cuszi.decompress(cuszi.compress(a, rel=0.01, preset=preset)).astype("i8")
                    errors = np.abs(b - a.astype("i8"))
                    self.assertLessEqual(Fraction(int(errors.max())), Fraction(0.01) * width)
                    if preset == "zfp":
                        continue
                    b = cuszi.decompress(cuszi.compress(a, pw_rel=0.05, preset=preset)).astype("i8")
                    for one, other in zip(a.flat, b.flat):
                        self.assertLessEqual(abs(int(one) - int(other)), Fraction(0.05) * abs(int(one)))

    def test_fill_values_are_missing(self):
        for name in INTEGERS:
            a = field(name)
            fill = 77 if name == "u64" else np.iinfo(dtype_of(name)).min
            a[3, 4:9] = fill
            bound = bound_for(name)
            b = cuszi.decompress(cuszi.compress(a, abs=bound, fill=float(fill)))
            np.testing.assert_array_equal(a == fill, b == fill)
            check(a, b, int(bound))

    def test_masked_integers(self):
        a = np.ma.masked_greater(field("i16"), 20000)
        b = cuszi.decompress(cuszi.compress(a, abs=3), masked=True)
        np.testing.assert_array_equal(np.ma.getmaskarray(a), np.ma.getmaskarray(b))
        self.assertLessEqual(np.abs(a.astype("i4") - b.astype("i4")).max(), 3)

    def test_what_is_refused(self):
        a = field("i64")
        for asked, text in [({"rel": 0.01}, "absolute bound, or a bound of 0"), ({"pw_rel": 0.01}, "absolute bound"),
                            ({"abs": 1, "fill": 0.5}, "fill value 0.5 is not a value of i64")]:
            with self.assertRaisesRegex(cuszi.UsageError, text):
                cuszi.compress(a, **asked)
        for dtype in ("c8", "?", "f16"):
            with self.assertRaisesRegex(cuszi.UsageError, "lossless codec"):
                cuszi.compress(np.zeros(10, dtype), abs=1)


class Packed(unittest.TestCase):
    """Variables with scale_factor and add_offset."""

    def test_bounds_in_unpacked_units(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            a = field("i16", (40, 50))
            with h5py.File(folder / "a.nc", "w") as file:
                file["T"] = a
                file["T"].attrs["scale_factor"], file["T"].attrs["add_offset"] = 0.004, 273.15
            run(folder, "compress", "a.nc", "-o", "b.nc", "-m", "abs", "--bound", "T=0.01", "--verify")
            with h5py.File(folder / "b.nc") as file:
                errors = np.abs(file["T"][...].astype("i4") - a)
            self.assertEqual(errors.max(), 2)
            with self.assertRaisesRegex(cuszi.UsageError, "a packed variable takes an absolute bound"):
                run(folder, "compress", "a.nc", "-o", "c.nc", "-m", "pwrel", "--bound", "T=0.01")
            with self.assertRaisesRegex(cuszi.UsageError, "packed with scale_factor or add_offset; copy the file"):
                run(folder, "compress", "a.nc:T", "-e", "0.01")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        with tempfile.TemporaryDirectory() as scratch:
            PAGE.write_text(page(Path(scratch)))
    else:
        unittest.main()
