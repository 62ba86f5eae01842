"""Tests of files of NetCDF and HDF5 as ncgen makes them; tests/python/test_files.py has those that
take other libraries.

CUSZI and MAKE_FIELD in the environment say where the executables are.
"""

import array
import re
import shutil
import subprocess
import unittest

from cli_test import INPUT, PRESET, SANITIZED, USAGE, CliTest, also_sanitized

BOUND = ["-e", "1e-3", "--preset", "fast"]
SHAPE = (6, 8, 10)
CLASSIC, HDF5 = 3, 4  # kinds of files, as ncgen counts


@unittest.skipUnless(shutil.which("ncgen"), "ncgen is missing")
class Containers(CliTest):

    def setUp(self):
        super().setUp()
        self.values = array.array("f", self.field("raw_6x8x10.f32", dims="6x8x10"))
        self.values[80:160] = array.array("f", [-999] * 80)
        self.path("raw_6x8x10.f32").write_bytes(self.values.tobytes())

    def make(self, name, kind):
        listed = ", ".join(f"{value:.9g}" for value in self.values)
        times = ", ".join(map(str, range(SHAPE[0])))
        self.path("t.cdl").write_text(f"""netcdf t {{
            dimensions: time = UNLIMITED; y = 8; x = 10;
            variables: double time(time); float T(time, y, x); T:_FillValue = -999.f;
                       T:units = "K"; double U(y, x); short packed(x); packed:scale_factor = 0.5f;
            :title = "a file"; :history = "made";
            data: time = {times}; T = {listed}; U = {", ".join(map(str, range(80)))}; }}""")
        subprocess.run(["ncgen", f"-{kind}", "-o", self.path(name), self.path("t.cdl")], check=True)

    def dump(self, *options):
        return subprocess.run(["ncdump", "-n", "t", *options], cwd=self.folder, check=True,
                              capture_output=True, text=True).stdout

    def h5dump(self, *options):
        return subprocess.run(["h5dump", *options], cwd=self.folder, check=True, capture_output=True,
                              text=True).stdout

    def archive(self, name, *options):
        self.cuszi("compress", name, *BOUND, *options, "-q", "-f", "-o", "out.cuszi")
        return self.path("out.cuszi").read_bytes()

    @also_sanitized
    def test_fields_are_read(self):
        expected = self.archive("raw_6x8x10.f32", "--fill-value", "-999")
        for name, kind in [("t.nc", CLASSIC), ("t4.nc", HDF5), ("t.h5", HDF5)]:
            with self.subTest(name=name):
                self.make(name, kind)
                self.assertEqual(self.archive(f"{name}:T"), expected)
                self.cuszi("compress", f"{name}:/U", "-e", "0", "--verify", "-f")
        self.assertIn(b"packed with", self.cuszi("compress", "t.nc:packed", *BOUND, code=INPUT).stderr)
        self.assertIn(b"T, U", self.cuszi("compress", "t.nc", *BOUND, code=USAGE).stderr)
        self.path("cut.h5").write_bytes(self.path("t.h5").read_bytes()[:2000])
        self.cuszi("compress", "cut.h5:T", *BOUND, code=INPUT)

    @also_sanitized
    def test_copies(self):
        for name, kind in [("t.nc", CLASSIC), ("t4.nc", HDF5)]:
            with self.subTest(name=name):
                self.make(name, kind)
                self.cuszi("compress", name, "-e", "1e-3", "--bound", "U=abs:0", "--verify", "-f",
                           "--no-history", "-o", "copy.nc")
                self.assertEqual(self.dump("-h", "copy.nc"), self.dump("-h", name))
                self.assertEqual(self.dump("-v", "time,packed", "copy.nc"),
                                 self.dump("-v", "time,packed", name))
                self.cuszi("compare", f"{name}:U", "copy.nc:U", "-e", "0")
                self.cuszi("compare", "raw_6x8x10.f32", "copy.nc:T", "--fill-value", "-999",
                           "-e", "1e-3")

    def notes(self, name):
        """Attributes of variables that describe their compression, and lines of history, newest first."""
        header = self.dump("-h", name)
        found = re.findall(r"(\w+):lossy_compression_(\w+) = (.*) ;", header)
        self.assertEqual(len(found), len({pair[:2] for pair in found}))
        notes = {}
        for variable, key, value in found:
            is_text = value.startswith('"')
            notes.setdefault(variable, {})[key] = value.strip('"') if is_text else [*map(float, value.split(", "))]
        history = re.search(r':history = "((?:.|\n)*?)" ;', header)[1]
        return notes, re.sub(r'",\n\s*"', "", history).split("\\n")

    def copy(self, name, copy, *options):
        """Returns its line of history."""
        command = ["compress", name, *options, "-f", "-o", copy]
        self.cuszi(*command)
        return "cuszi " + " ".join(command)

    @also_sanitized
    def test_copies_describe_their_compression(self):
        version = self.cuszi("--version").stdout.decode().split(",")[0].split("\n")[0]
        chosen = ["--preset", PRESET] if SANITIZED else []
        for name, kind in [("t.nc", CLASSIC), ("t4.nc", HDF5)]:
            with self.subTest(name=name):
                self.make(name, kind)
                first = self.copy(name, "copy.nc", "-e", "1e-3", "--bound", "U=abs:0", "--verify", *chosen)
                notes, lines = self.notes("copy.nc")
                self.assertEqual(list(notes), ["T"])  # U is lossless
                error, = notes["T"].pop("maximum_absolute_error")
                bound, = notes["T"].pop("bound")
                self.assertTrue(0 < error <= bound < 1)
                self.assertEqual(notes["T"], {"algorithm": "cuszi", "mode": "abs",
                                              "implementation": f"{version}, preset {PRESET}"})
                self.assertEqual([line.partition(": ")[2] for line in lines], [first, ""])
                self.assertRegex(lines[0], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: ")
                self.assertEqual(lines[1], "made")

                second = self.copy("copy.nc", "again.nc", "--bound", "T=abs-or-pwrel:0.25,1e-2", "--preset", "fast",
                                   "--verify")
                notes, lines = self.notes("again.nc")
                self.assertLessEqual(notes["T"].pop("maximum_absolute_error")[0], 10)
                self.assertGreater(notes["T"].pop("maximum_relative_error")[0], 0)
                self.assertEqual(notes["T"], {"algorithm": "cuszi", "mode": "abs-or-pwrel", "bound": [0.25, 0.01],
                                              "implementation": version + ", preset fast"})
                self.assertEqual([line.partition(": ")[2] for line in lines], [second, first, ""])

    def test_notes_of_a_copied_copy(self):
        self.make("t.nc", HDF5)
        self.copy("t.nc", "copy.nc", "-e", "1e-3", "--verify")
        before, lines = self.notes("copy.nc")
        self.assertEqual(set(before), {"T", "U"})
        self.copy("copy.nc", "again.nc", "--bound", "U=abs:0.5")  # T is copied unchanged
        notes, _ = self.notes("again.nc")
        self.assertEqual(notes["T"], before["T"])
        self.assertEqual((notes["U"]["bound"], "maximum_absolute_error" in notes["U"]), ([0.5], False))
        self.copy("copy.nc", "again.nc", "--bound", "T=abs:0")  # stays what it was
        self.assertEqual(self.notes("again.nc")[0], before)
        self.copy("copy.nc", "again.nc", "--bound", "T=abs:0.5", "--no-history")  # its notes would be false
        notes, after = self.notes("again.nc")
        self.assertEqual((list(notes), after), (["U"], lines))

    def test_a_variable_with_the_name_of_a_dimension(self):
        listed = ", ".join(f"{value:.9g}" for value in self.values)
        for kind in (CLASSIC, HDF5):
            with self.subTest(kind=kind):
                self.path("t.cdl").write_text(f"""netcdf t {{ dimensions: x = 48; y = 10;
                    variables: float x(y, x); x:_FillValue = -999.f; data: x = {listed}; }}""")
                subprocess.run(["ncgen", f"-{kind}", "-o", self.path("t.nc"), self.path("t.cdl")], check=True)
                self.cuszi("compress", "t.nc:x", "-e", "0", "-f")
                self.copy("t.nc", "copy.nc", "-e", "1e-3", "--verify")
                self.assertIn("maximum_absolute_error", self.notes("copy.nc")[0]["x"])
                self.cuszi("compare", "t.nc:x", "copy.nc:x", "-e", "1e-3")

    def test_notes_in_hdf5(self):
        self.make("t.h5", HDF5)
        self.path("a b\n'c.h5").write_bytes(self.path("t.h5").read_bytes())
        self.copy("a b\n'c.h5", "copy.h5", "--bound", "U=pwrel:1e-3", "--verify")
        text = self.h5dump("-A", "copy.h5")
        self.assertEqual(text.count("lossy_compression_"), 6)
        self.assertRegex(text, r'mode" \{\s*DATATYPE  H5T_STRING \{\s*STRSIZE 5;[^}]*\}\s*'
                               r'DATASPACE  SCALAR\s*DATA \{\s*\(0\): "pwrel"')
        self.assertRegex(text, r'bound" \{\s*DATATYPE  H5T_IEEE_F64LE\s*DATASPACE  SCALAR\s*DATA \{\s*\(0\): 0.001\s')
        self.assertRegex(text, r"Z: cuszi compress 'a b\?'\\''c.h5' --bound U=pwrel:1e-3 --verify -f -o copy.h5")

    def test_history_that_is_no_text_stays(self):
        for kind, written in (("int", "7"), ("string", '"one", "two"')):
            with self.subTest(kind=kind):
                self.path("t.cdl").write_text(f"""netcdf t {{ dimensions: x = 4; variables: float T(x);
                    {kind} :history = {written}; data: T = 1, 2, 4, 8; }}""")
                subprocess.run(["ncgen", "-4", "-o", self.path("t.nc"), self.path("t.cdl")], check=True)
                self.copy("t.nc", "copy.nc", "-e", "0.1")
                self.assertIn(f":history = {written} ;", self.dump("-h", "copy.nc"))

    def test_history_needs_a_copy(self):
        self.make("t.nc", CLASSIC)
        self.assertIn(b"--no-history has no effect here; it needs a copy",
                      self.cuszi("compress", "t.nc:T", *BOUND, "--no-history", code=USAGE).stderr)

    NAMES = ("wrfout_d01_2005-08-28_00:00:00", "x.NC", "x.H5", "x.hdf", "x.nxs", "x.mat", "x.f32",
             "run.0001")

    @also_sanitized
    def test_files_are_known_by_their_first_bytes(self):
        expected = self.archive("raw_6x8x10.f32", "--fill-value", "-999")
        for kind in (CLASSIC, HDF5):
            for name in self.NAMES:
                with self.subTest(name=name, kind=kind):
                    self.make(name, kind)
                    size = self.path(name).stat().st_size
                    self.path(name).write_bytes(self.path(name).read_bytes() + bytes(-size % 4))
                    raw = ["--type", "f32", "--dims", (size + 3) // 4]
                    self.assertEqual(self.archive(f"{name}:T"), expected)
                    self.assertIn(f"time, T, U; name one, like {name}:T".encode(),
                                  self.cuszi("compress", name, *BOUND, code=USAGE).stderr)
                    self.cuszi("compress", name, *BOUND, *raw, code=USAGE)
                    self.cuszi("compress", name, *BOUND, *raw, "--strict", "--verify", "--rm", code=USAGE)
                    self.cuszi("compress", name, *BOUND, "-f", "-o", "copy.nc")
                    self.cuszi("compare", f"{name}:T", "copy.nc:T", "-e", "1", "-m", "abs")

    def test_hdf5_behind_other_bytes(self):
        self.make("t.h5", HDF5)
        for bytes_before in (512, 1024, 4096):
            with self.subTest(bytes_before=bytes_before):
                self.path("x.mat").write_bytes(bytes(bytes_before) + self.path("t.h5").read_bytes())
                self.path("x.dat").write_bytes(self.path("x.mat").read_bytes())
                for name in ("x.mat", "x.dat"):
                    self.assertEqual(self.archive(f"{name}:T"), self.archive("t.h5:T"))

    def test_no_pipe_of_a_container_is_raw(self):
        for kind in (CLASSIC, HDF5):
            self.make("t.nc", kind)
            data = self.path("t.nc").read_bytes()
            data += bytes(-len(data) % 4)
            raw = ["--type", "f32", "--dims", len(data) // 4, "-o", "out.cuszi", "-f"]
            self.assertIn(b"standard input: is a NumPy, NetCDF or HDF5 file",
                          self.cuszi("compress", "-", *BOUND, *raw, stdin=data, code=USAGE).stderr)
            self.assertNotIn("out.cuszi", self.files())
            self.cuszi("compress", "-", *BOUND, *raw, "--skip-bytes", "0", stdin=data)
            self.path("out.cuszi").unlink()

    def test_archives_of_names_with_dots(self):
        for name in ("run.0001", "run.0002", "run.h5"):
            self.make(name, HDF5)
        self.cuszi("compress", "run.0001:T", "run.0002:T", "run.h5:T", *BOUND)
        self.assertEqual([name for name in self.files() if name.endswith(".cuszi")],
                         ["run.0001.T.cuszi", "run.0002.T.cuszi", "run.T.cuszi"])

    def test_folders(self):
        self.path("in/deep").mkdir(parents=True)
        self.make("in/deep/t.nc", CLASSIC)
        self.make("in/s.h5", HDF5)
        self.make("in/wrfout_00:00:00", HDF5)
        self.path("in/text.h5").write_text("no container")
        shutil.copy(self.path("raw_6x8x10.f32"), self.path("in"))
        self.assertIn(b"text.h5: is not an HDF5 file",
                      self.cuszi("compress", "-r", "in", *BOUND, "-o", "out", code=INPUT).stderr)
        archives = ["deep/t.T", "deep/t.U", "raw_6x8x10.f32", "s.T", "s.U", "wrfout_00:00:00.T",
                    "wrfout_00:00:00.U"]
        self.assertEqual([name for name in self.files() if name.startswith("out/")],
                         [f"out/{name}.cuszi" for name in archives])
        self.cuszi("compress", "-r", "in", *BOUND, "--verify", "--rm", code=USAGE)

    def test_bench(self):
        self.make("t.nc", CLASSIC)
        report, = self.report("bench", "t.nc:T", *BOUND, "--iterations", "1")
        self.assertEqual((report["input"], report["masked"]), ("t.nc:T", 80))


if __name__ == "__main__":
    unittest.main()
