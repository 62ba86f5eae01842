"""Help, man page and completions."""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import completions
from cli_test import CUSZI, SANITIZED, CliTest, also_sanitized

ROOT = Path(__file__).resolve().parents[2]
MAN = ROOT / "docs/man/cuszi.1"
MACROS = "TH|SH|SS|TP|PP|RS|RE|EX|EE|br|B|I|BR|RB|BI|IB|RI|IR"
COMMANDS = ["compress", "decompress", "compare", "inspect", "test", "list", "bench", "zfp-import", "zfp-export"]


GROUPS = ["Main options", "Predictor", "Coder", "Device", "Files and formats", "Safety", "Report"]
# What groups of the help of compress have, each with some that have to be there.
EXPECTED = {"Main options": {"error-bound", "mode", "target", "preset", "effort", "output"},
            "Predictor": {"predictor", "axes", "reach", "alpha", "beta", "interp", "radius", "zfp-mode"},
            "Coder": {"coder", "index", "chunk", "lossless", "frame-size"},
            "Device": {"device", "threads"},
            "Files and formats": {"dims", "type", "byte-order", "fill-value", "recursive", "bound"},
            "Safety": {"verify", "strict", "force", "keep", "rm"},
            "Report": {"help", "json", "quiet"}}


def options_in(text):
    """The options of a help text or a part of one: by their names, what they take and what they do."""
    found = {}
    for match in re.finditer(r"(?m)^  (?:-\w,)?--([a-z-]+)(?: (\S+)(?: \.\.\.)?)?(.*\n(?: {34}.*\n)*)", text):
        found[match[1]] = (match[2] or "", " ".join(match[3].split()))
    return found


def words_in(values):
    """Words that "psnr:DB|N|auto|cuda[:N]" offers: psnr:, auto, cuda."""
    plain = re.sub(r"\[.*\]", "", values)
    return {word for word in (re.sub("[A-Z].*", "", part) for part in plain.split("|")) if word}


class Help(CliTest):
    def test_help(self):
        text = self.cuszi("--help").stdout.decode()
        self.assertIn("slowest first", "\n".join(text.splitlines()[:3]))
        for command in COMMANDS:
            self.assertIn(command, text)
            help_text = self.cuszi(command, "--help").stdout.decode()
            self.assertIn("slowest first", "\n".join(help_text.splitlines()[:4]))
            self.assertIn(f"  cuszi {command} ", help_text)

    @also_sanitized
    def test_every_option_is_in_the_man_page_and_no_other(self):
        told = set(re.findall(r"(?<![\w-])--([a-z-]+[a-z])", MAN.read_text().replace("\\-", "-")))
        every = {"version"}
        for command in COMMANDS:
            options = set(options_in(self.cuszi(command, "--help").stdout.decode()))
            self.assertLessEqual({"help", "json"}, options)
            self.assertLessEqual(options, told, command)
            every |= options
        self.assertEqual(told, every)

    def test_help_is_at_most_100_columns_wide(self):
        for command in [[], *([command] for command in COMMANDS)]:
            for line in self.cuszi(*command, "--help").stdout.decode().splitlines():
                with self.subTest(command=command, line=line):
                    self.assertLessEqual(len(line), 100)

    def test_options_stand_in_groups(self):
        for command in COMMANDS:
            text = self.cuszi(command, "--help").stdout.decode()
            titles = re.findall(r"(?m)^(\w[\w ]{3,20}):$", text)
            with self.subTest(command=command):
                self.assertEqual(titles, [title for title in ["Positionals", *GROUPS] if title in titles])
        parts = re.split(r"(?m)^(\w[\w ]{3,20}):$", self.cuszi("compress", "--help").stdout.decode())
        found = {title: set(options_in(part)) for title, part in zip(parts[1::2], parts[2::2])}
        self.assertEqual(list(found), ["Positionals", *GROUPS])
        for title, expected in EXPECTED.items():
            self.assertLessEqual(expected, found[title])

    def test_every_option_has_a_help_text(self):
        count = 0
        for command in COMMANDS:
            for name, (_, does) in options_in(self.cuszi(command, "--help").stdout.decode()).items():
                count += 1
                with self.subTest(command=command, option=name):
                    self.assertGreater(len(does), 12)
        self.assertGreater(count, 120)

    def test_the_man_page_and_its_web_page_list_every_option_with_its_words(self):
        sys.path.insert(0, str(ROOT / "scripts/site"))
        import man_page
        man = re.sub(r"\\f.", "", MAN.read_text().replace("\\-", "-"))
        page = man_page.to_markdown(MAN.read_text())
        for name, (values, _) in options_in(self.cuszi("compress", "--help").stdout.decode()).items():
            with self.subTest(option=name):
                self.assertRegex(page, rf"--{name}(?![a-z-])")
                if values.islower() and "|" in values and name != "device":
                    told = re.search(rf"(?m)^\.TP\n.*--{name} \" ([^\"\n]*)", man)[1]
                    self.assertEqual(set(told.split("|")), set(values.split("|")))

    @also_sanitized
    def test_bash_completes_options_and_words(self):
        for command in COMMANDS:
            options = options_in(self.cuszi(command, "--help").stdout.decode())
            with self.subTest(command=command):
                self.assertEqual(set(completions.bash(f"cuszi {command} --", self.folder)),
                                 {f"--{name}" for name in options})
        self.field("u_20x30x40.f32")
        for name, (values, _) in options_in(self.cuszi("compress", "--help").stdout.decode()).items():
            with self.subTest(option=name):
                offered = completions.bash(f"cuszi compress --{name} ", self.folder)
                expected = words_in(values) if values else {"u_20x30x40.f32"}
                files = {"u_20x30x40.f32"} if values in ("FILE", "OUT") else set()
                self.assertEqual(set(offered), expected | files)
        self.assertEqual(completions.bash("cuszi compress -m r", self.folder), ["rel"])

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_completes_options_and_words(self):
        for line, expected in [("cuszi compress --eff", "--effort "), ("cuszi compress --effort f", "fast "),
                               ("cuszi test --mem", "--memory-limit "),
                               ("cuszi compress --target ps", "psnr:"), ("cuszi list -", "--json")]:
            with self.subTest(line=line):
                self.assertIn(expected, completions.zsh(line, self.folder, re.escape(expected)))

    def test_every_short_option_is_in_the_man_page(self):
        man = MAN.read_text().replace("\\-", "-")
        told = set(re.findall(r"(?<![\w-])-\w\b", man))
        every = {"-V"}
        for command in COMMANDS:
            text = self.cuszi(command, "--help").stdout.decode()
            every |= set(re.findall(r"(?m)^  (-\w),", text))
        self.assertLessEqual(every, told)
        self.assertEqual(told - every - {"-3", "-l"}, set())  # those of SZ and cuSZ

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_every_word_of_the_man_page_is_rendered(self):
        result = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=2000n",
                                 "-rHY=0", MAN], capture_output=True, check=True)
        self.assertEqual(result.stderr.decode(), "")
        rendered = result.stdout.decode().translate({0x2010: "-", 0x2212: "-", 0x2019: "'"})
        for number, line in enumerate(MAN.read_text().splitlines(), 1):
            words = re.sub(rf"^\.({MACROS})\b", "", line) if line.startswith(".") else line
            words = re.sub(r"\\f.|\\c|\\\(..", " ", words).replace("\\-", "-")
            for word in re.findall(r"[\w./:=-]{2,}", words):
                self.assertIn(word, rendered, f"line {number}")

    def test_bash_completes_commands(self):
        self.field("u_20x30x40.f32")
        self.assertEqual(set(completions.bash("cuszi help ", self.folder)), set(COMMANDS) | {"help"})
        self.assertEqual(completions.bash("cuszi help deco", self.folder), ["decompress"])
        self.assertEqual(completions.bash("cuszi help compress ", self.folder), [])
        self.assertEqual(completions.bash("cuszi compress u", self.folder), ["u_20x30x40.f32"])
        self.assertEqual(set(completions.bash("cuszi ", self.folder)),
                         set(COMMANDS) | {"help", "--help", "--version"})

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_completes_commands(self):
        for line in ["cuszi ", "cuszi help "]:
            said = completions.zsh(line, self.folder, "zfp-import")
            for command in COMMANDS:
                self.assertIn(command, said)
        self.assertIn("help decompress ", completions.zsh("cuszi help deco", self.folder, "decompress "))
        self.assertNotIn("zfp-import",
                         completions.zsh("cuszi help compress ", self.folder, "\\x07"))

    def is_checkout(self, folder):
        """Whether git, if it is there, works in this folder as the top of a checkout."""
        if not shutil.which("git"):
            return False
        done = subprocess.run(["git", "-C", folder, "rev-parse", "--show-toplevel"],
                              capture_output=True, text=True)
        return done.stdout.strip() == str(folder)

    def test_version(self):
        version = re.search(r"cuszi VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
        first, *lines = self.cuszi("--version").stdout.decode().splitlines()
        self.assertRegex(first, rf"^cuszi {version}(, commit [0-9a-f]{{12}}(-dirty)?)?$")
        self.assertEqual("commit" in first, self.is_checkout(ROOT))
        self.assertRegex(lines[0], r"^archive format \d+$")
        processor = set(re.findall(r"\S+", Path("/proc/cpuinfo").read_text()))
        if SANITIZED or "avx2" not in processor:
            self.assertEqual(lines[1], "SIMD portable")
        elif "avx512f" not in processor:
            self.assertEqual(lines[1], "SIMD AVX2")
        else:
            self.assertIn(lines[1], ["SIMD AVX-512", "SIMD AVX2"])
        self.assertRegex(lines[2], r"^(CUDA \d+\.\d+|without CUDA)$")
        libraries = [line.split()[0] for line in lines[3:]]
        self.assertTrue(all(re.match(r"\w+ \d+\.\d+\.\d+", line) for line in lines[3:]), lines)
        folder = Path(CUSZI).resolve().parents[1]
        for name, module in [("HDF5", "libcuszi_hdf5.so"), ("NetCDF", "libcuszi_netcdf.so")]:
            there = any(folder.glob(f"lib*/**/cuszi/{module}"))
            self.assertEqual(name in libraries, there, name)


if __name__ == "__main__":
    unittest.main()
