"""Raw fields in a folder tree: their dims and types, as cuszi reads them from names."""

import fnmatch
import json
import math
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

TYPE_BYTES = {"f32": 4, "f64": 8}
NAMES_AT_ONCE = 500


@dataclass(frozen=True)
class Field:
    path: Path
    name: str  # relative to the folder
    dims: tuple
    dtype: str
    size: int
    mtime_ns: int

    @property
    def dims_text(self):
        return "x".join(map(str, self.dims))


def parse_dims(text):
    """(100, 500, 500) for "100x500x500"; None if that is not what it says."""
    if not re.fullmatch(r"\d+(x\d+){0,3}", text):
        return None
    dims = tuple(map(int, text.split("x")))
    return dims if min(dims) > 0 else None


def read_dims_file(path):
    """The rules of a dims file, [(glob, dims, type or None)]."""
    rules = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        dims = parse_dims(words[1]) if len(words) in (2, 3) else None
        if dims is None or words[2:] not in ([], ["f32"], ["f64"]):
            raise ValueError(f"{path}:{number}: '{line.strip()}' is not 'GLOB DIMS [f32|f64]'")
        rules.append((words[0], dims, words[2] if words[2:] else None))
    return rules


def files_below(folder, report):
    """All files of the tree but hidden ones and those of the report."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders
                            if not f.startswith(".") and (Path(parent) / f).resolve() != report)
        yield from (Path(parent) / name for name in sorted(names) if not name.startswith("."))


def read_names(cuszi, paths, dtype=None):
    """What cuszi says of each path as the name of a field, see cuszi inspect --field-name."""
    said = []
    for first in range(0, len(paths), NAMES_AT_ONCE):
        part = [path.absolute() for path in paths[first:first + NAMES_AT_ONCE]]
        done = subprocess.run([cuszi, "inspect", "--json", *(["--type", dtype] if dtype else []),
                               "--field-name", *part], capture_output=True, check=True)
        said += map(json.loads, done.stdout.splitlines())
    return said


def rule_for(rules, name):
    """(dims, type) of the first rule that the name or its last part matches."""
    for glob, dims, dtype in rules:
        if any(fnmatch.fnmatchcase(part, glob) for part in (name, name.rsplit("/", 1)[-1])):
            return dims, dtype
    return None, None


def find_fields(folder, rules, report, cuszi, dtype=None):
    """The fields below the folder, and why others are none, by name.

    `rules` go before names; `dtype` is the type of fields whose name does not say it.
    """
    paths = list(files_below(folder, report))
    names = [path.relative_to(folder).as_posix() for path in paths]
    said = read_names(cuszi, paths)
    if dtype:
        mute = [i for i, s in enumerate(said) if s["is_field"] and not s["dtype"]]
        for i, again in zip(mute, read_names(cuszi, [paths[i] for i in mute], dtype)):
            said[i] = again
    fields, unknown = [], {}
    for path, name, reading in zip(paths, names, said):
        if not reading["is_field"]:
            continue
        status = path.stat()
        dims, rule_type = rule_for(rules, name)
        kind = rule_type or reading["dtype"]
        if dims and not kind:
            is_f64 = math.prod(dims) * TYPE_BYTES["f64"] == status.st_size
            kind = "f64" if is_f64 else "f32"
        dims = dims or reading["dims"]
        if dims:
            fields.append(Field(path, name, tuple(dims), kind, status.st_size, status.st_mtime_ns))
        else:
            unknown[name] = reading["failure"].removeprefix(f"{path.absolute()}: ")
    return fields, unknown
