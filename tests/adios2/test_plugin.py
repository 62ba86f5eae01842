"""Writes and reads files of ADIOS2 through the operator plugin, by Python and, where it is, bpls.

CUSZI in the environment is the tool, installed with the library. The package adios2 of PyPI has the headers that the
plugin is built with.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(os.environ["CUSZI"]).parents[1]
PLUGIN = {"PluginName": "cuszi", "PluginLibrary": "cuszi_adios2"}


def run(*command, folder=None, **environment):
    ended = subprocess.run(list(map(str, command)), text=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           env={**os.environ, **environment}, timeout=300)
    return ended.returncode, ended.stdout


def build(folder):
    """The folder of the plugin, built and installed there."""
    for command in (["-S", ROOT / "bindings/adios2", "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={PREFIX}",
                     f"-DPYTHON3={sys.executable}", f"-DCMAKE_INSTALL_PREFIX={PREFIX}",
                     "-DCMAKE_CXX_FLAGS=-Werror"],
                    ["--build", folder / "build"], ["--install", folder / "build"]):
        code, said = run("cmake", *command)
        if code:
            raise AssertionError(said)
    plugin, = PREFIX.rglob("libcuszi_adios2.so")
    return plugin.parent


FOLDER = tempfile.TemporaryDirectory()
PATH = build(Path(FOLDER.name))
os.environ["ADIOS2_PLUGIN_PATH"] = str(PATH)
import adios2  # noqa: E402  (which is to find the plugin)


def field():
    z, y, x = np.mgrid[0:64, 0:48, 0:32].astype("f4")
    return np.sin(z / 9) * np.cos(y / 11) + x / 32


class FileTest(unittest.TestCase):
    """Tests with a file each."""

    def setUp(self):
        self.begin()

    def begin(self):
        """A new file, and an ADIOS without operators."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = str(Path(folder.name) / "t.bp")
        self.adios = adios2.Adios()

    def operator(self, **parameters):
        return self.adios.define_operator("packer", "plugin", {**PLUGIN, **parameters})

    def write(self, a, blocks=1, steps=1, engine=None, **parameters):
        """Writes steps a, a + 1, ..., each in blocks along the slowest axis."""
        operator = self.operator(**parameters)
        io = self.adios.declare_io("writer")
        if engine:
            io.set_engine(engine)
        variable = io.define_variable("T", a, list(a.shape), [0] * a.ndim, list(a.shape))
        variable.add_operation(operator)
        height = a.shape[0] // blocks
        with adios2.Stream(io, self.file, "w") as stream:
            for step in stream.steps(steps):
                for block in range(blocks):
                    start = [block * height] + [0] * (a.ndim - 1)
                    variable.set_selection([start, [height, *a.shape[1:]]])
                    stream.write(variable, a[start[0]:start[0] + height] + a.dtype.type(step.current_step()))

    def read(self, **selection):
        with adios2.FileReader(self.file) as reader:
            return reader.read("T", **selection)

    def stored(self):
        return sum(path.stat().st_size for path in Path(self.file).glob("data.*"))

    def check(self, a, bound):
        b = self.read().reshape(a.shape)
        self.assertEqual(b.dtype, a.dtype)
        self.assertLessEqual(np.abs(b.astype("f8") - a).max(), bound)


class PluginTest(FileTest):

    def test_blocks_and_steps(self):
        a = field()
        self.write(a, blocks=4, steps=3, abs="0.01")
        b = self.read(step_selection=[0, 3]).reshape(3, *a.shape)
        for step in range(3):
            self.assertLessEqual(np.abs(b[step].astype("f8") - (a + np.float32(step))).max(), 0.01)
        self.assertLess(self.stored() * 10, 3 * a.nbytes)
        part = self.read(start=[10, 5, 0], count=[30, 7, 32])
        np.testing.assert_array_equal(part, b[0][10:40, 5:12])

    def test_a_relative_bound_is_of_each_block(self):
        a = field()
        a[32:] *= 1000
        self.write(a, blocks=2, rel="1e-3")
        b = self.read()
        for block in (np.s_[:32], np.s_[32:]):
            errors = np.abs(b[block].astype("f8") - a[block])
            self.assertLessEqual(errors.max(), 1e-3 * np.ptp(a[block].astype("f8")))
            self.assertGreater(errors.max(), 1e-4 * np.ptp(a[block]))
        self.begin()
        self.write(a, blocks=2, rel="1e-3", value_range="-1000,2000")
        self.check(a, 3)
        self.assertGreater(np.abs(self.read()[:32] - a[:32]).max(), 0.1)  # its own range is 2.9

    def test_types_and_shapes(self):
        random = np.random.default_rng(1)
        for shape in [(1,), (7,), (1, 1), (30, 40), (2, 3, 4, 5, 6, 7), (9, 1, 8)]:
            for dtype in ("f4", "f8"):
                with self.subTest(shape=shape, dtype=dtype):
                    self.begin()
                    a = random.random(shape).astype(dtype)
                    self.write(a, abs="0.01")
                    self.check(a, 0.01)

    def test_integers(self):
        for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
            limits = np.iinfo(dtype)
            a = (limits.max // 4 * (1 + field() / 8)).astype(dtype)
            a.flat[3], a.flat[4] = limits.min, limits.max
            for parameters, bound in [({"abs": f"{limits.max // 100}.5"}, limits.max // 100), ({"abs": "0.5"}, 0),
                                      ({"rel": "0.01", "preset": "balanced"}, int(0.01 * (limits.max - limits.min)))]:
                if "rel" in parameters and a.itemsize == 8:
                    continue
                with self.subTest(dtype=dtype, **parameters):
                    self.begin()
                    self.write(a, engine="BP4" if a.itemsize == 1 else "BP5", **parameters)
                    b = self.read()
                    self.assertEqual(b.dtype, a.dtype)
                    self.assertLessEqual((np.maximum(a, b) - np.minimum(a, b)).max(), bound)
                    self.assertEqual(bool(np.any(a != b)), bound > 0)
                    self.assertLess(self.stored(), a.nbytes)

    def test_what_does_not_suit_is_not_compressed(self):
        for a, parameters in [(field().astype("i8"), {"rel": "0.01"}), (field().astype("u1"), {"abs": "1", "fill": "-9"}),
                              (field().astype("i2"), {"abs": "1", "fill": "0.5"})]:
            with self.subTest(dtype=a.dtype):
                self.begin()
                self.write(a, **parameters)
                np.testing.assert_array_equal(self.read(), a)
                self.assertGreaterEqual(self.stored(), a.nbytes)

    def test_a_target_that_one_value_misses(self):
        a = field()
        self.write(a, ratio="20", strict="yes")
        self.assertLess(self.stored(), a.nbytes / 10)

    def test_processes_without_values(self):
        a = np.random.default_rng(1).random((20, 30)).astype("f4")
        for engine in ("BP5", "BP4"):
            for rows in ([0, 10, 0, 10], [10, 0, 0, 10, 0]):
                with self.subTest(engine=engine, rows=rows):
                    self.begin()
                    self.write_blocks(a, rows, engine)
                    self.check(a, 0.01)
                    self.assertTrue(np.any(self.read() != a))

    def write_blocks(self, a, rows, engine):
        io = self.adios.declare_io("writer")
        io.set_engine(engine)
        variable = io.define_variable("T", a, list(a.shape), [0, 0], list(a.shape))
        variable.add_operation(self.operator(abs="0.01"))
        with adios2.Stream(io, self.file, "w") as stream:
            for _ in stream.steps(2):
                first = 0
                for count in rows:
                    variable.set_selection([[first, 0], [count, a.shape[1]]])
                    stream.engine.put(variable, np.ascontiguousarray(a[first:first + count]), adios2.bindings.Mode.Sync)
                    first += count

    def test_options(self):
        a = field()
        sizes = {}
        for name, parameters in {"abs": {"abs": "0.01"}, "fast": {"abs": "0.01", "preset": "fast"},
                                 "effort": {"abs": "0.01", "effort": "fast", "threads": "1", "device": "cpu"},
                                 "lossless": {"abs": "0"}, "psnr": {"psnr": "50"},
                                 "verified": {"abs": "0.01", "verify": "yes", "strict": "yes"}}.items():
            with self.subTest(name=name):
                self.begin()
                self.write(a, **parameters)
                self.check(a, 0 if name == "lossless" else 0.1 if name == "psnr" else 0.01)
                sizes[name] = self.stored()
        self.assertEqual(sizes["abs"], sizes["verified"])
        self.assertGreater(sizes["fast"], sizes["abs"])
        self.assertGreater(sizes["lossless"], 5 * sizes["abs"])

    def test_column_major_blocks(self):
        a = field()
        self.write(a, abs="0.01", preset="cusz")
        right = self.stored()
        turned = np.ascontiguousarray(a).reshape(a.shape[::-1])  # as a writer in Fortran names its extents
        self.begin()
        self.write(turned, abs="0.01", preset="cusz", order="column")
        self.check(turned, 0.01)
        self.assertEqual(self.stored(), right)

    def test_missing_values(self):
        a = field()
        a[:, 5] = 1e20
        a[3, 4, 5] = np.nan
        self.write(a, abs="0.01", fill="1e20,-999")
        b = self.read()
        self.assertTrue((b[:, 5] == np.float32(1e20)).all() and np.isnan(b[3, 4, 5]))
        known = np.isfinite(a) & (a < 1e19)
        self.assertLessEqual(np.abs(b - a)[known].max(), 0.01)

    def test_another_engine(self):
        a = field()
        self.write(a, blocks=2, engine="BP4", abs="0.01")
        self.check(a, 0.01)

    def test_an_engine_without_room(self):
        """BP4 gives a block the room of its values, and does not ask how large its archive can be."""
        program = f"""
import adios2, numpy as np, sys
a = np.frombuffer(np.random.default_rng(1).bytes(160), "f8").copy()
adios = adios2.Adios()
io = adios.declare_io("writer")
io.set_engine(sys.argv[1])
T = io.define_variable("T", a, [20], [0], [20])
T.add_operation(adios.define_operator("packer", "plugin", {{**{PLUGIN}, "abs": "0"}}))
with adios2.Stream(io, {self.file!r}, "w") as stream:
    stream.begin_step()
    stream.write(T, a)
    stream.end_step()
"""
        code, said = run(sys.executable, "-c", program, "BP5")
        self.assertEqual(code, 0, said)
        code, said = run(sys.executable, "-c", program, "BP4")
        self.assertNotEqual(code, 0)
        self.assertRegex(said, r"cuszi: the buffer of 160 bytes is too small; \d+ bytes are always enough")

    def test_parameters_that_cannot_be(self):
        for parameters, text in [
                ({}, "cuszi: give one of abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, psnr and ratio, like abs: 0.01"),
                ({"abs": "1", "rel": "2"}, "cuszi: more than one bound; give one of abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, psnr and ratio"),
                ({"abs_or_pw_rel": "1"}, "cuszi: pw 0 is not a fraction of each value, above 0 and below 1, as mode abs-or-pwrel needs"),
                ({"abs": "1mm"}, "cuszi: abs '1mm' is not a number"),
                ({"abs": "-1"}, "cuszi: bound -1 is not a finite number of at least 0"),
                ({"abs": "1", "threads": "1.5"}, "cuszi: threads '1.5' is not a whole number"),
                ({"abs": "1", "fill": "1,x"}, "cuszi: fill '1,x' is not numbers separated by commas"),
                ({"rel": "1", "value_range": "1"}, "cuszi: value_range '1' is not two numbers, like 0,100"),
                ({"abs": "1", "preset": "best"}, "cuszi: preset 'best' is not one of ratio, cuszi, cusz, fast, zfp, balanced"),
                ({"accuracy": "1"}, "cuszi: unknown parameter accuracy; parameters are abs, rel, pw_rel, abs_or_pw_rel, "
                 "abs_and_pw_rel, pw, psnr, ratio, value_range, fill, preset, effort, device, threads, verify, strict, order")]:
            with self.subTest(parameters=parameters):
                self.begin()
                with self.assertRaises((ValueError, RuntimeError)) as caught:
                    self.operator(**parameters)
                self.assertEqual(str(caught.exception), text)

    def test_damage(self):
        a = field()
        self.write(a, abs="0.01")
        data = Path(self.file) / "data.0"
        damaged = bytearray(data.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        data.write_bytes(damaged)
        with self.assertRaisesRegex(RuntimeError, "^cuszi: "):
            self.read()

    def test_a_lost_plugin(self):
        self.write(field(), abs="0.01")
        program = f"import adios2\nwith adios2.FileReader({self.file!r}) as reader:\n  reader.read('T')"
        code, said = run(sys.executable, "-c", program, ADIOS2_PLUGIN_PATH="/nowhere")
        self.assertEqual(code, 1)
        self.assertIn("The plugin cuszi_adios2 could not be loaded", said)
        self.assertIn("RuntimeError", said)

    def test_a_configuration_file(self):
        a = field()
        settings = Path(self.file).with_name("adios2.xml")
        settings.write_text("""<?xml version="1.0"?>
<adios-config>
  <io name="writer">
    <variable name="T">
      <operation type="plugin">
        <parameter key="PluginName" value="cuszi"/>
        <parameter key="PluginLibrary" value="cuszi_adios2"/>
        <parameter key="abs" value="0.01"/>
      </operation>
    </variable>
  </io>
</adios-config>
""")
        io = adios2.Adios(str(settings)).declare_io("writer")
        with adios2.Stream(io, self.file, "w") as stream:
            stream.write("T", a, list(a.shape), [0, 0, 0], list(a.shape))
        self.check(a, 0.01)
        self.assertLess(self.stored() * 10, a.nbytes)

    @unittest.skipUnless(shutil.which("bpls"), "no bpls (the package of PyPI has none)")
    def test_bpls(self):
        a = field()
        self.write(a, blocks=2, abs="0.01")
        code, said = run("bpls", "-d", self.file, "T", "-s", "40,0,0", "-c", "1,1,32", "-n", "32", "-f", "%g ")
        self.assertEqual(code, 0, said)
        shown = np.array(re.search(r"\(40,0, 0\) +(.*)", said)[1].split(), float)
        self.assertLessEqual(np.abs(shown - a[40, 0]).max(), 0.0101)
        code, said = run("bpls", "-d", self.file, "T", ADIOS2_PLUGIN_PATH="/nowhere")
        self.assertEqual(code, 1)
        self.assertIn("The plugin cuszi_adios2 could not be loaded", said)


if __name__ == "__main__":
    unittest.main()
