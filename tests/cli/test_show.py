"""cuszi show: pictures, looked at by their numbers."""

import array
import math
import os
import pty
import subprocess
import unittest

import pictures
from cli_test import ARCHIVE, BOUND, CUSZI, INPUT, OUTPUT, USAGE, CliTest, also_sanitized

VALUE_STEP = 1 / 125  # of the colours of values, in shares of the range
ERROR_STEP = 2 / 124  # of those of errors, in bounds


class ShowTest(CliTest):
    def floats(self, name, values, code="f"):
        self.path(name).write_bytes(array.array(code, values).tobytes())

    def ramp(self, name="r_4x6x8.f32", points=4 * 6 * 8):
        """A field whose values are the numbers of its points."""
        self.floats(name, range(points))

    def show(self, *arguments, code=0):
        """The report and the pixels of a picture."""
        report, = self.report("show", *arguments, "-o", "p.png", "--force", code=code)
        rows = pictures.png(self.path("p.png").read_bytes())
        self.assertEqual((report["width"], report["height"]), (len(rows[0]), len(rows)))
        return report, rows

    def points(self, panel, rows):
        """The colours of a panel's points; each is a block of one colour."""
        down, right = panel["points"]
        self.assertEqual(panel["width"] % right, 0)
        zoom = panel["width"] // right
        tall = panel["height"] // down
        found = []
        for r in range(down):
            for c in range(right):
                x, y = panel["x"] + c * zoom, panel["y"] + r * tall
                colours = {rows[y + j][x + i] for j in (0, tall - 1) for i in (0, zoom - 1)}
                self.assertEqual(len(colours), 1)
                found.append(colours.pop())
        return found

    def assert_shares(self, colours, values, low, high):
        """The colours are those of these values; None is missing."""
        self.assertEqual(len(colours), len(values))
        for colour, value in zip(colours, values):
            if value is None:
                self.assertEqual(colour, pictures.MISSING)
            else:
                self.assertAlmostEqual(pictures.share(colour), (value - low) / (high - low),
                                       delta=VALUE_STEP)


class Slices(ShowTest):
    @also_sanitized
    def test_middle_slices(self):
        self.ramp()
        report, rows = self.show("r_4x6x8.f32")
        self.assertEqual([panel["slice"] for panel in report["panels"]], ["z = 2", "y = 3", "x = 4"])
        self.assertEqual([panel["points"] for panel in report["panels"]], [[6, 8], [4, 8], [4, 6]])
        self.assertEqual((report["dims"], report["steps"], report["dtype"]), ([4, 6, 8], [1, 1, 1], "f32"))
        expected = [[2 * 48 + 8 * y + x for y in range(6) for x in range(8)],
                    [48 * z + 8 * 3 + x for z in range(4) for x in range(8)],
                    [48 * z + 8 * y + 4 for z in range(4) for y in range(6)]]
        self.assertEqual((report["shown_min"], report["shown_max"]), (4, 3 * 48 + 47 - 3))
        for panel, values in zip(report["panels"], expected):
            self.assert_shares(self.points(panel, rows), values, 4, 188)

    def test_slices_that_are_named(self):
        self.ramp()
        report, rows = self.show("r_4x6x8.f32", "--slice", "y=5", "--slice", "z=0")
        self.assertEqual([panel["slice"] for panel in report["panels"]], ["y = 5", "z = 0"])
        first, second = report["panels"]
        self.assert_shares(self.points(first, rows),
                           [48 * z + 40 + x for z in range(4) for x in range(8)], 0, 191)
        self.assert_shares(self.points(second, rows), range(48), 0, 191)

    def test_fields_of_one_to_four_dims(self):
        self.ramp("a_12.f32", 12)
        report, rows = self.show("a_12.f32")
        self.assert_shares(self.points(report["panels"][0], rows), range(12), 0, 11)
        self.ramp("b_3x5.f32", 15)
        report, rows = self.show("b_3x5.f32")
        self.assertEqual(report["panels"][0]["points"], [3, 5])
        self.assert_shares(self.points(report["panels"][0], rows), range(15), 0, 14)
        report, rows = self.show("b_3x5.f32", "--slice", "y=2")
        self.assertEqual(report["panels"][0]["points"], [1, 5])
        self.assert_shares(self.points(report["panels"][0], rows), range(10, 15), 10, 14)
        self.ramp("c_3x2x4x5.f32", 120)
        report, rows = self.show("c_3x2x4x5.f32", "--slice", "w=2", "--slice", "z=1")
        self.assertEqual([panel["slice"] for panel in report["panels"]], ["z = 1"])
        self.assert_shares(self.points(report["panels"][0], rows), range(100, 120), 100, 119)
        report, rows = self.show("c_3x2x4x5.f32")
        self.assertEqual([panel["points"] for panel in report["panels"]], [[4, 5], [2, 5], [2, 4]])
        self.assert_shares(self.points(report["panels"][0], rows), range(60, 80), 42, 79)
        self.ramp("d_1x3x1x5.f32", 15)
        report, rows = self.show("d_1x3x1x5.f32")
        self.assertEqual(report["panels"][0]["points"], [3, 5])
        self.ramp("e_1x1.f32", 1)
        report, rows = self.show("e_1x1.f32")
        self.assertEqual(report["panels"][0]["points"], [1, 1])

    def test_what_cannot_be_cut(self):
        self.ramp()
        self.ramp("a_12.f32", 12)
        self.ramp("c_3x2x4x5.f32", 120)
        for field, slices, said in [
                ("r_4x6x8.f32", ["w=1"], "no axis w; it has zyx"),
                ("r_4x6x8.f32", ["z=4"], "axis z of 4x6x8 has the indices 0 to 3"),
                ("a_12.f32", ["x=3"], "leaves one point"),
                ("c_3x2x4x5.f32", ["w=1", "w=2"], "given twice"),
                ("r_4x6x8.f32", ["q=1"], "not an axis and an index"),
                ("r_4x6x8.f32", ["z"], "not an axis and an index"),
                ("r_4x6x8.f32", ["z=-1"], "not an axis and an index")]:
            with self.subTest(slices=slices):
                options = [word for each in slices for word in ("--slice", each)]
                result = self.cuszi("show", field, *options, "-o", "p.png", code=USAGE)
                self.assertIn(said, result.stderr.decode())
                self.assertFalse(self.path("p.png").exists())


class Fields(ShowTest):
    def test_missing_points_are_grey(self):
        values = [float(i) for i in range(15)]
        values[2], values[7], values[9], values[14] = math.nan, math.inf, -math.inf, 1e20
        self.floats("m_3x5.f32", values)
        report, rows = self.show("m_3x5.f32", "--fill-value", "1e20")
        self.assertEqual((report["shown_missing"], report["shown_points"]), (4, 15))
        self.assertEqual((report["shown_min"], report["shown_max"]), (0, 13))
        wanted = [None if i in (2, 7, 9, 14) else i for i in range(15)]
        self.assert_shares(self.points(report["panels"][0], rows), wanted, 0, 13)
        self.cuszi("compress", "m_3x5.f32", "-e", "0", "--fill-value", "1e20", "-o", "m.cuszi")
        report, rows = self.show("m.cuszi")
        self.assert_shares(self.points(report["panels"][0], rows), wanted, 0, 13)

    def test_values_that_are_all_the_same_or_missing_or_far_apart(self):
        self.floats("c_2x2.f32", [7] * 4)
        report, rows = self.show("c_2x2.f32")
        self.assertEqual((report["shown_min"], report["shown_max"]), (7, 7))
        for colour in self.points(report["panels"][0], rows):
            self.assertAlmostEqual(pictures.share(colour), 0.5, delta=VALUE_STEP)
        self.floats("n_2x2.f32", [math.nan] * 4)
        report, rows = self.show("n_2x2.f32")
        self.assertIsNone(report["shown_min"])
        self.assertEqual(set(self.points(report["panels"][0], rows)), {pictures.MISSING})
        self.floats("d_2x2.f64", [-1.7e308, 1.7e308, 0, 1.7e308], "d")
        report, rows = self.show("d_2x2.f64")
        self.assert_shares(self.points(report["panels"][0], rows), [0, 1, 0.5, 1], 0, 1)

    def test_raw_layouts(self):
        swapped = array.array("f", range(15))
        swapped.byteswap()
        self.path("x.dat").write_bytes(b"head" + swapped.tobytes())
        report, rows = self.show("x.dat", "-d", "3x5", "-t", "f32", "--byte-order", "big",
                                 "--skip-bytes", 4)
        self.assert_shares(self.points(report["panels"][0], rows), range(15), 0, 14)

    def test_a_file_of_numpy(self):
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }".ljust(117) + "\n"
        self.path("x.npy").write_bytes(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little")
                                       + header.encode() + array.array("f", range(15)).tobytes())
        report, rows = self.show("x.npy")
        self.assertEqual(report["dims"], [3, 5])
        self.assert_shares(self.points(report["panels"][0], rows), range(15), 0, 14)

    def test_a_large_field_is_thinned_until_it_fits(self):
        self.floats("w_2x4000.f32", range(8000))
        report, rows = self.show("w_2x4000.f32")
        self.assertEqual((report["steps"], report["panels"][0]["points"]), ([4, 4], [1, 1000]))
        self.assert_shares(self.points(report["panels"][0], rows), range(0, 4000, 4), 0, 3996)
        report, rows = self.show("w_2x4000.f32", "--stride", 1)
        self.assertEqual((report["steps"], report["panels"][0]["points"]), ([1, 1], [2, 4000]))

    def test_a_field_in_frames(self):
        self.field("u_20x50x60.f32", dims="20x50x60")
        values = array.array("f", self.path("u_20x50x60.f32").read_bytes())
        self.cuszi("compress", "u_20x50x60.f32", "-e", "0", "-o", "u.cuszi", "--frame-size", "64K")
        for name in ["u_20x50x60.f32", "u.cuszi"]:
            report, rows = self.show(name, "--slice", "x=7")
            wanted = [values[(z * 50 + y) * 60 + 7] for z in range(20) for y in range(50)]
            self.assert_shares(self.points(report["panels"][0], rows), wanted, min(wanted), max(wanted))


class Archives(ShowTest):
    DIMS = (32, 40, 48)

    def setUp(self):
        super().setUp()
        original = self.field("u_32x40x48.f32", dims="32x40x48")
        self.original = array.array("f", original)
        self.compress("--axes", "lattice")

    def compress(self, *options, bound="1e-2"):
        self.cuszi("compress", "u_32x40x48.f32", "-e", bound, "-o", "u.cuszi", "--force", *options)
        self.cuszi("decompress", "u.cuszi", "-o", "u.f32", "--force")
        self.restored = array.array("f", self.path("u.f32").read_bytes())

    def plane(self, values, at, steps=(1, 1, 1)):
        """The points of a slice: `at` has one index and None for the axes that it shows."""
        ranges = [range(0, extent, step) if index is None else [index]
                  for extent, step, index in zip(self.DIMS, steps, at)]
        return [values[(z * 40 + y) * 48 + x] for z in ranges[0] for y in ranges[1] for x in ranges[2]]

    @also_sanitized
    def test_the_restored_field_is_shown(self):
        report, rows = self.show("u.cuszi")
        wanted = [self.plane(self.restored, at)
                  for at in [(16, None, None), (None, 20, None), (None, None, 24)]]
        low, high = min(map(min, wanted)), max(map(max, wanted))
        self.assertEqual((report["shown_min"], report["shown_max"]), (low, high))
        for panel, values in zip(report["panels"], wanted):
            self.assert_shares(self.points(panel, rows), values, low, high)

    def test_a_stride_and_an_index_beside_it(self):
        for options, steps in [(["--axes", "lattice"], (4, 4, 4)), (["--axes", "layered:0"], (1, 4, 4)),
                               (["--preset", "cusz"], (4, 4, 4))]:
            self.compress(*options)
            for at in [(13, None, None), (None, 21, None), (None, None, 3)]:
                with self.subTest(options=options, at=at):
                    axis, index = next((a, i) for a, i in zip("zyx", at) if i is not None)
                    report, rows = self.show("u.cuszi", "--stride", 4, "--slice", f"{axis}={index}")
                    self.assertEqual(report["steps"], list(steps))
                    values = self.plane(self.restored, at, steps)
                    self.assert_shares(self.points(report["panels"][0], rows), values, min(values),
                                       max(values))

    def test_middles_move_to_points_of_the_preview(self):
        report, rows = self.show("u.cuszi", "--stride", 16)
        self.assertEqual([panel["slice"] for panel in report["panels"]], ["z = 16", "y = 16", "x = 16"])
        values = self.plane(self.restored, (16, None, None), (16, 16, 16))
        self.assert_shares(self.points(report["panels"][0], rows), values, report["shown_min"],
                           report["shown_max"])

    def test_no_more_is_read_than_is_shown(self):
        whole, _ = self.show("u.cuszi")
        part, before = self.show("u.cuszi", "--stride", 8)
        self.assertLess(part["read_bytes"], whole["read_bytes"])
        self.assertEqual(part["archive_bytes"], self.path("u.cuszi").stat().st_size)
        archive = bytearray(self.path("u.cuszi").read_bytes())
        archive[part["read_bytes"] + 20] ^= 1  # in the finest level
        self.path("bad.cuszi").write_bytes(archive)
        self.cuszi("show", "bad.cuszi", "-o", "q.png", code=ARCHIVE)
        self.assertFalse(self.path("q.png").exists())
        part, after = self.show("bad.cuszi", "--stride", 8)
        panel = part["panels"][0]
        self.assertEqual(self.points(panel, before), self.points(panel, after))
        self.compress("--frame-size", "64K")
        inspected, = self.report("inspect", "u.cuszi")
        self.assertEqual(len(inspected["frame_list"]), 2)
        part, _ = self.show("u.cuszi", "--slice", "z=9")
        self.assertLess(part["read_bytes"], 0.7 * part["archive_bytes"])

    @also_sanitized
    def test_errors_in_units_of_the_bound(self):
        report, rows = self.show("u.cuszi", "--compare", "u_32x40x48.f32")
        bound = report["error_bound_abs"]
        self.assertEqual([panel["kind"] for panel in report["panels"]], ["original", "restored", "error"] * 3)
        at = (16, None, None)
        before, after = self.plane(self.original, at), self.plane(self.restored, at)
        original, restored, errors = (self.points(panel, rows) for panel in report["panels"][:3])
        self.assert_shares(original, before, report["shown_min"], report["shown_max"])
        self.assert_shares(restored, after, report["shown_min"], report["shown_max"])
        for colour, a, b in zip(errors, before, after):
            self.assertAlmostEqual(pictures.error(colour), (b - a) / bound, delta=ERROR_STEP)
        self.assertLessEqual(report["max_abs_error"], bound)
        self.assertEqual(report["wrong_points"], 0)
        strided, _ = self.show("u.cuszi", "--compare", "u_32x40x48.f32", "--stride", 4)
        self.assertLess(0, strided["max_abs_error"])

    def test_another_original_is_wrong(self):
        other = array.array("f", self.original)
        other[(16 * 40 + 2) * 48 + 5] += 1000
        other[(16 * 40 + 3) * 48 + 6] = math.nan
        self.path("other.f32").write_bytes(other.tobytes())
        report, rows = self.show("u.cuszi", "--slice", "z=16", "--compare", "other.f32", code=BOUND)
        self.assertEqual((report["wrong_points"], report["exit_code"]), (2, BOUND))
        self.assertRegex(report["error"], r"2 of the points .* over the bound")
        errors = self.points(report["panels"][2], rows)
        self.assertEqual([i for i, colour in enumerate(errors) if colour == pictures.WRONG],
                         [2 * 48 + 5, 3 * 48 + 6])
        self.assertEqual(self.points(report["panels"][0], rows)[3 * 48 + 6], pictures.MISSING)

    def test_two_raw_fields(self):
        report, rows = self.show("u.f32", "-d", "32x40x48", "--compare", "u_32x40x48.f32", "--slice", "y=7")
        self.assertIsNone(report["error_bound_abs"])
        at = (None, 7, None)
        before, after = self.plane(self.original, at), self.plane(self.restored, at)
        largest = max(abs(b - a) for a, b in zip(before, after))
        self.assertAlmostEqual(report["max_abs_error"], largest)
        for colour, a, b in zip(self.points(report["panels"][2], rows), before, after):
            self.assertAlmostEqual(pictures.error(colour), (b - a) / largest, delta=ERROR_STEP)

    def test_lossless_archives(self):
        self.compress(bound="0")
        report, rows = self.show("u.cuszi", "--compare", "u_32x40x48.f32", "--slice", "z=3")
        self.assertEqual((report["error_bound_abs"], report["max_abs_error"]), (0, 0))
        for colour in self.points(report["panels"][2], rows):
            self.assertAlmostEqual(pictures.error(colour), 0, delta=ERROR_STEP)

    def test_an_archive_says_itself_what_it_holds(self):
        for options in [["-d", "32x40x48"], ["-t", "f32"], ["--skip-bytes", 4], ["--fill-value", 1]]:
            self.cuszi("show", "u.cuszi", *options, "-o", "p.png", code=USAGE)
        self.path("u.cuszi").rename(self.path("named_otherwise"))
        self.show("named_otherwise")
        self.path("not.cuszi").write_bytes(b"something else")
        self.cuszi("show", "not.cuszi", "-o", "q.png", code=ARCHIVE)
        self.cuszi("show", "named_otherwise", "--memory-limit", "1K", "-o", "q.png", code=ARCHIVE)


class Texts(ShowTest):
    """What is written in a picture, read by the glyphs of a name that has all of them."""

    CELL = (12, 20)
    WORDS = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789.,-+=(){}_"

    def glyph(self, rows, x, y):
        return tuple(rows[y + j][x + i] == pictures.INK for j in range(0, 16, 2) for i in range(0, 10, 2))

    def line(self, rows, x, y, glyphs):
        text = ""
        while x + self.CELL[0] <= len(rows[0]):
            text += glyphs.get(self.glyph(rows, x, y), "~")
            x += self.CELL[0]
        return text.rstrip()

    def test_range_and_dims_can_be_read(self):
        glyphs = {}
        for start in range(0, len(self.WORDS), 30):
            name = self.WORDS[start:start + 30].strip()
            self.floats(name, range(6))
            _, rows = self.show(f"./{name}", "-d", "2x3", "-t", "f32")
            for i, character in enumerate(name):
                shape = self.glyph(rows, 12 + self.CELL[0] * i, 12)
                self.assertEqual(glyphs.setdefault(shape, character), character)
        self.assertEqual(set(glyphs.values()), set(self.WORDS))
        self.floats("r_4x6x8.f32", [0.25 * i - 3 for i in range(192)])
        report, rows = self.show("r_4x6x8.f32", "--slice", "z=1", "--stride", 2)
        self.assertEqual(self.line(rows, 12, 12, glyphs), "r_4x6x8.f32")
        self.assertEqual(self.line(rows, 12, 32, glyphs), "4x6x8 f32, every 2x2x2")
        panel, = report["panels"]
        self.assertEqual(self.line(rows, 12, panel["y"] + panel["height"] + 2, glyphs), "z = 1")
        low = self.line(rows, 12, len(rows) - 12 - 20, glyphs)
        self.assertRegex(low, "^9 +[0-9.~]+$")
        high = self.line(rows, len(rows[0]) - 12 - 12 * len("18.5"), len(rows) - 12 - 20, glyphs)
        self.assertEqual(high, "18.5")

    def test_the_scale_is_even_in_lightness(self):
        self.ramp()
        _, rows = self.show("r_4x6x8.f32")
        bar = rows[len(rows) - 12 - 20 - 10]
        for i in range(0, len(bar) - 24, 7):
            self.assertAlmostEqual(pictures.share(bar[12 + i]), i / (len(bar) - 24), delta=0.01)


class Formats(ShowTest):
    def setUp(self):
        super().setUp()
        self.field("u_20x30x40.f32")

    @also_sanitized
    def test_graphics_are_the_pixels_of_the_png(self):
        _, rows = self.show("u_20x30x40.f32")
        kitty = self.cuszi("show", "u_20x30x40.f32", "--format", "kitty", "-q").stdout
        self.assertEqual(pictures.kitty(kitty), rows)
        sixel = pictures.sixel(self.cuszi("show", "u_20x30x40.f32", "--format", "sixel", "-q").stdout)
        self.assertEqual((len(sixel), len(sixel[0])), (len(rows), len(rows[0])))
        for ours, theirs in zip(sixel, rows):
            for a, b in zip(ours, theirs):
                self.assertTrue(all(abs(x - y) <= 2 for x, y in zip(a, b)), (a, b))

    def test_blocks_are_two_points_a_cell(self):
        self.floats("r_3x5.f32", range(15))
        out = self.cuszi("show", "r_3x5.f32", "--format", "blocks", "-q").stdout
        lines, tiles = pictures.blocks(out)
        self.assertEqual(lines[:2], ["r_3x5.f32", "3x5 f32"])
        *tile, scale = tiles
        zoom = len(tile[0][0]) // 5
        self.assertEqual(len(tile), (3 * zoom + 1) // 2)
        dots = []
        for (cells,) in tile:
            dots += [[upper for upper, _ in cells], [lower for _, lower in cells]]
        for r in range(3):
            for c in range(5):
                for i in range(zoom):
                    self.assertAlmostEqual(pictures.share(dots[r * zoom + i][c * zoom + i]),
                                           (5 * r + c) / 14, delta=VALUE_STEP)
        self.assertEqual(set(dots[-1]), {None} if 3 * zoom % 2 else set(dots[-1]) - {None})
        self.assertAlmostEqual(pictures.share(scale[0][0][0]), 0, delta=VALUE_STEP)
        self.assertTrue(out.decode().splitlines()[-1].startswith("0 "))
        self.assertTrue(out.decode().splitlines()[-1].endswith(" 14"))

    def test_blocks_fit_the_columns(self):
        for columns, across in [("200", 3), ("100", 2), ("60", 1)]:
            out = subprocess.run([CUSZI, "show", "u_20x30x40.f32", "--format", "blocks", "-q"],
                                 cwd=self.folder, env={**os.environ, "COLUMNS": columns},
                                 capture_output=True, check=True).stdout
            tiles = pictures.blocks(out)[1]
            self.assertEqual(max(map(len, tiles)), across)
            for line in tiles:
                self.assertLessEqual(sum(map(len, line)) + 2 * across, int(columns))

    def test_names_cannot_command_a_terminal(self):
        self.path("u_20x30x40.f32").rename(self.path("\x1b[2J_20x30x40.f32"))
        out = self.cuszi("show", "\x1b[2J_20x30x40.f32", "--format", "blocks", "-q").stdout
        self.assertEqual(out.decode().splitlines()[0], "?[2J_20x30x40.f32")


class Terminals(ShowTest):
    def in_terminal(self, *arguments, code=0, **variables):
        """What a terminal of 100 columns gets, and what stderr does."""
        ours, theirs = pty.openpty()
        os.set_blocking(ours, False)
        subprocess.run(["stty", "columns", "100", "rows", "40", "-onlcr"], stdin=theirs, check=True)
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("TERM", "TERM_PROGRAM", "KITTY_WINDOW_ID", "TMUX", "STY", "COLUMNS")}
        process = subprocess.Popen([CUSZI, *arguments], cwd=self.folder, env={**environment, **variables},
                                   stdout=theirs, stderr=subprocess.PIPE)
        os.close(theirs)
        os.set_blocking(ours, True)
        text = b""
        try:
            while part := os.read(ours, 65536):
                text += part
        except OSError:  # how the end of a terminal reads
            pass
        os.close(ours)
        said = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual(process.wait(), code, said)
        return text, said

    def test_the_environment_decides(self):
        self.field("u_20x30x40.f32")
        for variables, starts in [({"TERM": "xterm-kitty"}, b"\x1b_G"),
                                  ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, b"\x1b_G"),
                                  ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, b"\x1b_G"),
                                  ({"TERM": "foot"}, b"\x1bP"),
                                  ({"TERM": "mlterm"}, b"\x1bP"),
                                  ({"TERM": "xterm-kitty", "TMUX": "/tmp/t,1,0"}, b"u_20x30x40.f32"),
                                  ({"TERM": "xterm-256color"}, b"u_20x30x40.f32"),
                                  ({}, b"u_20x30x40.f32")]:
            with self.subTest(variables=variables):
                text, said = self.in_terminal("show", "u_20x30x40.f32", **variables)
                self.assertTrue(text.startswith(starts), text[:20])
                self.assertEqual(said, "")
        text, _ = self.in_terminal("show", "u_20x30x40.f32", "--format", "sixel", TERM="dumb")
        self.assertLessEqual(len(pictures.sixel(text)[0]), 800)
        text, _ = self.in_terminal("show", "u_20x30x40.f32")
        self.assertEqual(max(map(len, pictures.blocks(text)[1])), 2)
        _, said = self.in_terminal("show", "u_20x30x40.f32", "--format", "png", code=OUTPUT)
        self.assertIn("is a terminal", said)


class Outputs(ShowTest):
    def setUp(self):
        super().setUp()
        self.ramp()

    def test_what_is_told(self):
        result = self.cuszi("show", "r_4x6x8.f32", "-o", "p.png")
        self.assertRegex(result.stdout.decode(), r"^r_4x6x8.f32 -> p.png\n(  .*\n)+$")
        self.assertIn("z = 2, y = 3, x = 4, values 4 to 188", result.stdout.decode())
        self.assertEqual(self.cuszi("show", "r_4x6x8.f32", "-o", "q.png", "-q").stdout, b"")

    def test_a_pipe_gets_a_png(self):
        self.cuszi("show", "r_4x6x8.f32", "-o", "p.png")
        piped = self.cuszi("show", "r_4x6x8.f32")
        self.assertEqual(piped.stdout, self.path("p.png").read_bytes())
        self.assertIn(b"r_4x6x8.f32 -> standard output", piped.stderr)
        self.assertEqual(self.cuszi("show", "r_4x6x8.f32", "-c").stdout, piped.stdout)
        self.cuszi("show", "r_4x6x8.f32", "-o", "p.txt", "--format", "blocks")
        self.assertEqual(self.path("p.txt").read_bytes(),
                         self.cuszi("show", "r_4x6x8.f32", "--format", "blocks").stdout)

    def test_existing_files_are_kept(self):
        self.path("p.png").write_bytes(b"mine")
        self.cuszi("show", "r_4x6x8.f32", "-o", "p.png", code=OUTPUT)
        self.assertEqual(self.path("p.png").read_bytes(), b"mine")
        self.cuszi("show", "r_4x6x8.f32", "-o", "p.png", "--force")
        self.assertTrue(self.path("p.png").read_bytes().startswith(b"\x89PNG"))
        self.cuszi("show", "r_4x6x8.f32", "-o", "r_4x6x8.f32", "--force", code=USAGE)
        self.cuszi("compress", "r_4x6x8.f32", "-e", "0", "-o", "r.cuszi")
        self.cuszi("show", "r.cuszi", "--compare", "r_4x6x8.f32", "-o", "r_4x6x8.f32", "-f", code=USAGE)
        self.cuszi("show", "r_4x6x8.f32", "-o", "p.nc", code=USAGE)
        self.path("folder").mkdir()
        self.cuszi("show", "r_4x6x8.f32", "-o", "folder")
        self.assertEqual(self.files(), ["folder/r_4x6x8.f32.png", "p.png", "r.cuszi", "r_4x6x8.f32"])

    def test_failures_leave_nothing(self):
        self.cuszi("show", "none.f32", "-o", "p.png", code=INPUT)
        self.cuszi("show", "r_4x6x8.f32", "-d", "4x6x9", "-o", "p.png", code=INPUT)
        self.cuszi("show", "r_4x6x8.f32", "--compare", "none.f32", "-o", "p.png", code=INPUT)
        self.cuszi("show", "-", "-d", "4x6x8", "-t", "f32", "-o", "p.png",
                   stdin=self.path("r_4x6x8.f32").read_bytes(), code=INPUT)
        self.cuszi("show", "r_4x6x8.f32", "-o", "no/p.png", code=OUTPUT)
        self.cuszi("show", "r_4x6x8.f32", "--format", "gif", code=USAGE)
        self.cuszi("show", "r_4x6x8.f32", "--stride", 3, code=USAGE)
        self.assertEqual(self.files(), ["r_4x6x8.f32"])

    def test_pictures_beyond_measure_are_refused(self):
        with self.path("h_9000x9000.f32").open("wb") as hole:
            hole.truncate(9000 * 9000 * 4)
        result = self.cuszi("show", "h_9000x9000.f32", "--stride", 1, "-o", "p.png", code=USAGE)
        self.assertIn("81000000 points", result.stderr.decode())
        self.show("h_9000x9000.f32")


if __name__ == "__main__":
    unittest.main()
