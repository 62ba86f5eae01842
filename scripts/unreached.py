#!/usr/bin/env python3
"""Names the functions of the archive reader that a coverage export says were never reached.

Reads what `llvm-cov export` prints from stdin. A function that several instantiations make counts
as reached where one of them was.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

# Words in names of functions that read archives.
READER = re.compile(
    r"(^|_)(read|decode|decoded|decoder|restore|restored|reconstruct|unpack|get|take|refill|refilled|"
    r"undo|inverse|spread|place|parse|check|expect|require|remaining|varint)(_|$)")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--excuses", type=Path, required=True,
                        help="lines 'FILE FUNCTION: why no archive reaches it'")
    parser.add_argument("--demangle", default="c++filt", help="program that demangles names")
    return parser.parse_args()


def demangled(names, program):
    lines = subprocess.run([program], input="\n".join(names), text=True, check=True,
                           capture_output=True).stdout.splitlines()
    return dict(zip(names, lines))


def base_name(signature):
    """`cuszi::ByteReader::take(unsigned long)` is ByteReader::take; a lambda is its function's."""
    signature = re.sub(r"\(anonymous namespace\)::", "", signature)
    signature = re.sub(r"::('lambda|\$_|\{lambda).*", "", signature)
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)", "", signature)) != signature:
        signature = shorter
    name = re.sub(r"\bconst\b|&+$", "", signature).split()[-1]
    return "::".join(part for part in name.split("::") if part not in ("cuszi", "cpu"))


def functions(export, program, root):
    """{(file, function): (line, calls)} of the sources under the project's root."""
    entries = export["data"][0]["functions"]
    names = demangled([e["name"].split(":")[-1] for e in entries], program)
    found = {}
    for entry in entries:
        file = Path(entry["filenames"][0]).resolve()
        if not file.is_relative_to(root) or file.is_relative_to(root / "tests"):
            continue
        key = str(file.relative_to(root)), base_name(names[entry["name"].split(":")[-1]])
        line, calls = found.get(key, (entry["regions"][0][0], 0))
        found[key] = min(line, entry["regions"][0][0]), calls + entry["count"]
    return found


def excuses(path):
    result = set()
    for text in path.read_text().splitlines():
        if text and not text.startswith("#"):
            file, function = text.split(":  ")[0].split(" ", maxsplit=1)
            result.add((file, function))
    return result


def main():
    options = arguments()
    found = functions(json.load(sys.stdin), options.demangle, Path.cwd())
    readers = {key: value for key, value in found.items()
               if READER.search(key[1].split("::")[-1]) or "Reader::" in key[1]
               or "Decoder::" in key[1]}
    unreached = {key: line for key, (line, calls) in readers.items() if calls == 0}
    excused = excuses(options.excuses)
    for (file, function), line in sorted(unreached.items()):
        if (file, function) not in excused:
            print(f"never reached: {file}:{line} {function}")
    for file, function in sorted(excused - unreached.keys()):
        print(f"no excuse needed: {file} {function}")
    missed = unreached.keys() ^ excused
    print(f"{len(readers) - len(unreached)} of {len(readers)} reader functions reached, "
          f"{len(unreached.keys() & excused)} excused")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
