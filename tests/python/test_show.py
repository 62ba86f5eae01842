"""Tests of python -m cuszi show: which points it shows, what it says, and the files that it writes."""

import contextlib
import io
import os
import pty
import subprocess
import sys
import unittest
import warnings
from pathlib import Path
from unittest import mock

import h5py
import numpy as np
from archive_folder import ArchiveFolder
from matplotlib.colors import to_rgba
from matplotlib.image import imread

import cuszi
from cuszi import _show
from cuszi.__main__ import show
from support import waves

USAGE, INPUT, ARCHIVE, BOUND, DEVICE, OUTPUT = range(1, 7)
GREY, MAGENTA = to_rgba("grey"), to_rgba("magenta")


def ramp(shape, dtype="f4"):
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


class ShowTest(ArchiveFolder):

    def open(self, name, layout=_show.RawLayout(), fills=()):
        return _show.open_field(name, layout, fills, {})

    def look(self, name, *asked, original=None, stride=None, **options):
        return _show.look_at(self.open(name, **options), name, original and self.open(original), asked, stride)

    def show(self, *arguments, code=0):
        """What the command writes on both streams."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(show(list(map(str, arguments))), code, err.getvalue())
        self.assertEqual(err.getvalue().count("\n"), 1 if code else 0)
        return out.getvalue(), err.getvalue()


class Slices(ShowTest):

    def test_middle_slices(self):
        a = ramp((4, 6, 8))
        np.save("a.npy", a)
        sight = self.look("a.npy")
        for values, expected in zip(sight.restored, (a[2], a[:, 3], a[:, :, 4]), strict=True):
            np.testing.assert_array_equal(values, expected)
        self.assertEqual([sight.name_of(each) for each in sight.slices], ["z = 2", "y = 3", "x = 4"])
        self.assertEqual((sight.range, sight.steps), ((4, 188), [1, 1, 1]))

    def test_slices_that_are_named(self):
        a = ramp((4, 6, 8))
        np.save("a.npy", a)
        for values, expected in zip(self.look("a.npy", ("y", 5), ("z", 0)).restored, (a[:, 5], a[0]), strict=True):
            np.testing.assert_array_equal(values, expected)

    def test_fields_of_one_to_four_axes(self):
        for shape, asked, index in [((12,), [], np.s_[:]), ((3, 5), [], np.s_[:]), ((3, 5), [("y", 2)], 2),
                                    ((3, 2, 4, 5), [("w", 2), ("z", 1)], (2, 1)), ((1, 3, 1, 5), [], np.s_[0, :, 0]),
                                    ((1, 1), [], np.s_[0])]:
            with self.subTest(shape=shape, asked=asked):
                np.save("a.npy", ramp(shape))
                values, = self.look("a.npy", *asked).restored
                np.testing.assert_array_equal(values, ramp(shape)[index])
                self.look("a.npy", *asked).figure()
        a = ramp((3, 2, 4, 5))
        np.save("a.npy", a)
        for values, expected in zip(self.look("a.npy").restored, (a[1, 1], a[1, :, 2], a[1, :, :, 2]), strict=True):
            np.testing.assert_array_equal(values, expected)

    def test_what_cannot_be_cut(self):
        for shape, slices, said in [((4, 6, 8), ["w=1"], "no axis w; it has zyx"),
                                    ((4, 6, 8), ["z=4"], "axis z of 4x6x8 has the indices 0 to 3"),
                                    ((12,), ["x=3"], "leaves one point"),
                                    ((3, 2, 4, 5), ["w=1", "w=2"], "given twice"),
                                    ((4, 6, 8), ["q=1"], "not an axis and an index"),
                                    ((4, 6, 8), ["z"], "not an axis and an index"),
                                    ((4, 6, 8), ["z=-1"], "not an axis and an index")]:
            with self.subTest(slices=slices):
                np.save("a.npy", ramp(shape))
                options = [f"--slice={each}" for each in slices]
                self.assertIn(said, self.show("a.npy", *options, "-o", "p.png", code=USAGE)[1])
                self.assertFalse(Path("p.png").exists())

    def test_a_large_field_is_thinned_until_it_fits(self):
        a = ramp((2, 4000))
        np.save("a.npy", a)
        sight = self.look("a.npy")
        self.assertEqual(sight.steps, [8, 8])
        np.testing.assert_array_equal(sight.restored[0], a[::8, ::8])
        self.assertEqual(self.look("a.npy", stride=1).restored[0].shape, (2, 4000))

    def test_figures_beyond_measure_are_refused(self):
        with open("h_9000x9000.f32", "wb") as hole:
            hole.truncate(9000 * 9000 * 4)
        said = self.show("h_9000x9000.f32", "--stride", 1, "-o", "p.png", code=USAGE)[1]
        self.assertIn("81000000 points", said)
        self.look("h_9000x9000.f32")


class Fields(ShowTest):

    def test_raw_files(self):
        a = ramp((3, 5))
        for name in ("a_3x5.f32", "T_3_5_t48.bin.f32"):
            a.tofile(name)
            np.testing.assert_array_equal(self.look(name).restored[0], a)
        Path("x.dat").write_bytes(b"head" + a.astype(">f4").tobytes())
        layout = _show.RawLayout((3, 5), np.dtype("f4"), 4, "big")
        np.testing.assert_array_equal(self.look("x.dat", layout=layout).restored[0], a)
        self.show("x.dat", "-d", "3x5", "-t", "f32", "--skip-bytes", 4, "--byte-order", "big", "-o", "p.png")
        self.assertIn("give -t", self.show("x.dat", "-d", "3x5", "-o", "q.png", code=USAGE)[1])
        for options in ([], ["-d", "3x6"], ["-d", "3x5", "--skip-bytes", "4"]):
            self.assertIn("give dims", self.show("T_3_5_t48.bin.f32" if options else "x.dat", "-t", "f32", *options, "-o",
                                                 "q.png", code=INPUT)[1])

    def test_datasets_of_hdf5(self):
        a = ramp((3, 5))
        a[1, 2] = 1e20
        with h5py.File("f.h5", "w") as file:
            file["g/T"] = a
            file["g/T"].attrs["_FillValue"] = np.float32(1e20)
        values, = self.look("f.h5:g/T").restored
        self.assertEqual(values.mask.sum(), 1)
        for name in ("f.h5:g", "f.h5:U", "none.h5:T"):
            self.show(name, "-o", "q.png", code=INPUT)

    def test_missing_points_are_grey(self):
        a = ramp((3, 5))
        a.flat[[2, 7, 9, 14]] = np.nan, np.inf, -np.inf, 1e20
        np.save("a.npy", a)
        self.archive("a.cuszi", a, rel=None, abs=0, fill=1e20)
        for name, fills in (("a.npy", (1e20,)), ("a.cuszi", ())):
            sight = self.look(name, fills=fills)
            self.assertEqual(np.flatnonzero(sight.restored[0].mask).tolist(), [2, 7, 9, 14])
            self.assertEqual(sight.range, (0, 13))
            image = sight.figure().axes[0].images[0]
            self.assertEqual(tuple(image.to_rgba(image.get_array())[0, 2]), GREY)
        self.assertIn("4 missing", self.show("a.cuszi", "-o", "p.png")[0])

    def test_values_that_are_all_the_same_or_missing_or_far_apart(self):
        for values, expected in [([7] * 4, (7, 7)), ([np.nan] * 4, (0, 0)), ([-1.7e308, 1.7e308, 0, 1], (-1.7e308, 1.7e308))]:
            np.save("a.npy", np.reshape(np.array(values, "f8"), (2, 2)))
            self.assertEqual(self.look("a.npy").range, expected)
            self.show("a.npy", "-o", "p.png", "-f")
            self.show("a.npy", "--compare", "a.npy", "-o", "p.png", "-f")


class Archives(ShowTest):

    def compress(self, **options):
        self.a = waves((32, 40, 48))
        self.a.tofile("u_32x40x48.f32")
        self.b = self.archive("u.cuszi", self.a, **{"rel": 1e-2, **options})

    def test_a_stride_and_an_index_beside_it(self):
        for options, steps in [({"axes": "lattice"}, (4, 4, 4)), ({"axes": "layered", "axis": 0}, (1, 4, 4)),
                               ({"preset": "cusz"}, (4, 4, 4)), ({"preset": "balanced"}, (4, 4, 4)),
                               ({"axes": "lattice", "frame_bytes": 65536}, (4, 4, 4))]:
            self.compress(**options)
            for axis, letter, at in [(0, "z", 13), (1, "y", 21), (2, "x", 3)]:
                with self.subTest(options=options, axis=letter):
                    sight = self.look("u.cuszi", (letter, at), stride=4)
                    self.assertEqual(sight.steps, list(steps))
                    index = [slice(None, None, step) for step in steps]
                    index[axis] = at
                    np.testing.assert_array_equal(sight.restored[0], self.b[tuple(index)])

    def test_middles_move_to_points_of_the_preview(self):
        self.compress()
        sight = self.look("u.cuszi", stride=16)
        self.assertEqual([sight.name_of(each) for each in sight.slices], ["z = 16", "y = 16", "x = 16"])
        np.testing.assert_array_equal(sight.restored[0], self.b[16, ::16, ::16])

    def test_no_more_is_restored_than_is_shown(self):
        self.compress(axes="lattice")
        archive = bytearray(Path("u.cuszi").read_bytes())
        archive[-1000] ^= 1  # in the finest level
        Path("bad.cuszi").write_bytes(archive)
        self.show("bad.cuszi", "-o", "p.png", code=ARCHIVE)
        self.assertFalse(Path("p.png").exists())
        np.testing.assert_array_equal(self.look("bad.cuszi", stride=8).restored[0], self.b[16, ::8, ::8])
        self.compress(frame_bytes=65536)
        self.assertGreater(cuszi.info(Path("u.cuszi").read_bytes()).frames, 1)
        asked = []
        with mock.patch.object(_show._codec, "decompress", lambda archive, **options: asked.append(options) or self.b[9]):
            self.look("u.cuszi", ("z", 9))
        self.assertEqual([each["box"] for each in asked], [(9, slice(None), slice(None))])

    def test_errors_in_units_of_the_bound(self):
        self.compress()
        sight = self.look("u.cuszi", ("z", 16), original="u_32x40x48.f32")
        bound = sight.field.bound
        self.assertLessEqual(sight.largest_error, bound)
        self.assertEqual(sight.wrong_points, 0)
        panels = [axes.images[0] for axes in sight.figure().axes[:3]]
        self.assertEqual([panel.get_clim() for panel in panels], [sight.range, sight.range, (-1, 1)])
        np.testing.assert_array_equal(panels[0].get_array(), self.a[16])
        np.testing.assert_array_equal(panels[1].get_array(), self.b[16])
        np.testing.assert_allclose(panels[2].get_array(), (self.b[16].astype("f8") - self.a[16]) / bound)
        self.assertIn("error   at most", self.show("u.cuszi", "--compare", "u_32x40x48.f32", "-o", "p.png")[0])

    def test_another_original_is_wrong(self):
        self.compress()
        self.a[16, 2, 5] += 1000
        self.a[16, 3, 6] = np.nan
        np.save("other.npy", self.a)
        sight = self.look("u.cuszi", ("z", 16), original="other.npy")
        image = sight.figure().axes[2].images[0]
        colours = image.to_rgba(image.get_array())
        self.assertEqual(np.argwhere((colours == MAGENTA).all(axis=-1)).tolist(), [[2, 5], [3, 6]])
        options = ["u.cuszi", "--slice", "z=16", "--compare", "other.npy", "-o", "p.png"]
        self.assertRegex(self.show(*options, code=BOUND)[1], r": 2 points .* over the bound")
        pixels = imread("p.png")[..., :3]
        self.assertTrue((pixels == MAGENTA[:3]).all(axis=-1).any())
        np.save("less.npy", self.a[1:])
        self.show("u.cuszi", "--compare", "less.npy", "-o", "q.png", code=INPUT)

    def test_fields_without_a_bound_and_lossless_archives(self):
        self.compress()
        np.save("b.npy", self.b)
        sight = self.look("b.npy", ("y", 7), original="u_32x40x48.f32")
        largest = float(np.abs(self.b[:, 7].astype("f8") - self.a[:, 7]).max())
        self.assertEqual((sight.field.bound, sight.largest_error), (None, largest))
        self.assertEqual(sight.figure().axes[2].images[0].get_clim(), (-largest, largest))
        self.compress(rel=0)
        sight = self.look("u.cuszi", ("z", 3), original="u_32x40x48.f32")
        self.assertEqual((sight.field.bound, sight.largest_error, sight.wrong_points), (0, 0, 0))
        sight.figure()

    def test_an_archive_says_itself_what_it_holds(self):
        self.compress()
        for options in [["-d", "32x40x48"], ["-t", "f32"], ["--skip-bytes", 4], ["--fill-value", 1]]:
            self.show("u.cuszi", *options, "-o", "p.png", code=USAGE)
        os.rename("u.cuszi", "named_otherwise")
        self.show("named_otherwise", "-o", "p.png")
        Path("not.cuszi").write_bytes(b"something else")
        self.show("not.cuszi", "-o", "q.png", code=ARCHIVE)
        self.show("named_otherwise", "--memory-limit", 1000, "-o", "q.png", code=ARCHIVE)


class Outputs(ShowTest):

    def setUp(self):
        super().setUp()
        ramp((4, 6, 8)).tofile("r_4x6x8.f32")

    def test_files_are_of_the_kind_of_their_name(self):
        for name, begins in [("p.png", b"\x89PNG"), ("p.pdf", b"%PDF"), ("p.SVG", b"<?xml")]:
            self.assertRegex(self.show("r_4x6x8.f32", "-o", name)[0], f"^r_4x6x8.f32 -> {name}\n(  .*\n)+$")
            self.assertTrue(Path(name).read_bytes().startswith(begins))
        self.assertEqual(self.show("r_4x6x8.f32", "-q", "-o", "q.png")[0], "")
        for name in ("p.nc", "p"):
            self.assertIn(".png", self.show("r_4x6x8.f32", "-o", name, code=USAGE)[1])
        self.assertIn("-o FILE or --terminal", self.show("r_4x6x8.f32", code=USAGE)[1])

    def test_existing_files_are_kept(self):
        Path("p.png").write_bytes(b"mine")
        self.show("r_4x6x8.f32", "-o", "p.png", code=OUTPUT)
        self.assertEqual(Path("p.png").read_bytes(), b"mine")
        self.show("r_4x6x8.f32", "-o", "p.png", "--force")
        self.assertTrue(Path("p.png").read_bytes().startswith(b"\x89PNG"))
        os.link("r_4x6x8.f32", "r.png")
        self.show("r_4x6x8.f32", "-o", "r.png", "--force", code=USAGE)
        self.show("p.npy", "--compare", "r_4x6x8.f32", "-o", "r.png", "-f", code=USAGE)

    def test_failures_leave_nothing(self):
        Path("bad.npy").write_bytes(b"something else")
        for options, code in [(["none.f32"], INPUT), (["bad.npy"], INPUT), (["r_4x6x8.f32", "-d", "4x6x9"], INPUT), (["."], INPUT),
                              (["r_4x6x8.f32", "--compare", "none.f32"], INPUT), (["r_4x6x8.f32", "--stride", 3], USAGE),
                              (["r_4x6x8.f32", "--fill-value", "x"], USAGE),
                              (["r_4x6x8.f32", "--skip-bytes", "-4"], USAGE), (["r_4x6x8.f32", "--bogus"], USAGE)]:
            with self.subTest(options=options):
                self.show(*options, "-o", "p.png", code=code)
        self.show("r_4x6x8.f32", "-o", "no/p.png", code=OUTPUT)
        self.assertEqual(sorted(os.listdir()), ["bad.npy", "r_4x6x8.f32"])

    def test_missing_packages_are_named_with_their_extra(self):
        for module, options, said in [("matplotlib", ["-o", "p.png"], r"pip install 'cuszi\[show\]'"),
                                      ("kitcat", ["--terminal"], r"pip install 'cuszi\[terminal\]'")]:
            code = f"import sys; sys.modules[{module!r}] = None; from cuszi.__main__ import show; sys.exit(show(sys.argv[1:]))"
            ended = subprocess.run([sys.executable, "-c", code, "r_4x6x8.f32", *options], capture_output=True, text=True)
            self.assertEqual((ended.returncode, ended.stderr.count("\n")), (DEVICE, 1), ended.stderr)
            self.assertRegex(ended.stderr, said)

    def test_the_package_does_not_load_matplotlib(self):
        code = "import sys, cuszi.__main__; sys.exit('matplotlib' in sys.modules or 'kitcat' in sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_the_module_and_its_script(self):
        module = [sys.executable, "-m", "cuszi"]
        script = Path(sys.executable).with_name("cuszi-show")
        for command in ([*module, "show"], [script]):
            said = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
            self.assertIn("usage: cuszi-show", said)
        ended = subprocess.run([*module, "compress"], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stderr.count("\n")), (USAGE, 1))

    def in_terminal(self, *arguments, **variables):
        """What a terminal of 100 columns gets."""
        ours, theirs = pty.openpty()
        subprocess.run(["stty", "columns", "100", "rows", "40", "-onlcr"], stdin=theirs, check=True)
        environment = {name: value for name, value in os.environ.items() if name != "TMUX"}
        process = subprocess.Popen([sys.executable, "-m", "cuszi", "show", *arguments], stdin=subprocess.DEVNULL,
                                   stdout=theirs, env={**environment, **variables}, start_new_session=True)
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):  # how the end of a terminal reads
            while part := os.read(ours, 65536):
                text += part
        os.close(ours)
        self.assertEqual(process.wait(), 0)
        return text

    def test_terminals(self):
        self.assertIn("not a terminal", self.show("r_4x6x8.f32", "--terminal", code=OUTPUT)[1])
        for program, begins in [("WezTerm", b"\x1b_G"), ("iTerm.app", b"\x1b]1337;File=")]:
            self.assertIn(begins, self.in_terminal("r_4x6x8.f32", "--terminal", TERM_PROGRAM=program)[:40])


if __name__ == "__main__":
    unittest.main()
