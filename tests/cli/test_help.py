"""Help, man page and completions."""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

import completions
from cli_test import CUSZI, SANITIZED, CliTest, also_sanitized

MAN = Path(__file__).resolve().parents[2] / "docs/man/cuszi.1"
MACROS = "TH|SH|SS|TP|PP|RS|RE|EX|EE|br|B|I|BR|RB|BI|IB|RI|IR"
COMMANDS = ["compress", "decompress", "compare", "inspect", "test", "list", "show", "bench", "zfp-import",
            "zfp-export"]


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
    def test_every_option_is_in_the_man_page_and_the_completions(self):
        root = Path(__file__).resolve().parents[2]
        man = (root / "docs/man/cuszi.1").read_text().replace("\\-", "-")
        files = {"man page": man,
                 "bash": (root / "scripts/completion/cuszi.bash").read_text(),
                 "zsh": (root / "scripts/completion/_cuszi").read_text()}
        every = {"--version"}
        for command in COMMANDS:
            text = self.cuszi(command, "--help").stdout.decode()
            options = set(re.findall(r"^  (?:-\w, ?)?\s*(--[a-z-]+)", text, re.MULTILINE))
            self.assertIn("--help", options)
            self.assertIn("--json", options)
            for name, content in files.items():
                told = set(re.findall(r"(?<![\w-])--[a-z-]+", content))
                self.assertLessEqual(options, told, f"{command}: not in the {name}")
            every |= options
        for name, content in files.items():
            told = set(re.findall(r"(?<![\w-])--[a-z-]+[a-z]", content))
            self.assertLessEqual(told, every, f"in the {name} alone")

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
        root = Path(__file__).resolve().parents[2]
        version = re.search(r"cuszi VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text())[1]
        first, *lines = self.cuszi("--version").stdout.decode().splitlines()
        self.assertRegex(first, rf"^cuszi {version}(, commit [0-9a-f]{{12}}(-dirty)?)?$")
        self.assertEqual("commit" in first, self.is_checkout(root))
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
