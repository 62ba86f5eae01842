"""Raw fields in a folder tree: their names, dims and types."""

import fnmatch
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

SUFFIX_TYPES = {".f32": "f32", ".f64": "f64", ".d64": "f64", ".dat": None, ".bin": None,
                ".raw": None}
TYPE_BYTES = {"f32": 4, "f64": 8}


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


def dims_from_name(name, size, dtype):
    """The dims in a file's name, or None. The size decides where _1_1800_3600 can be read in two ways."""
    stem = name
    while Path(stem).suffix.lower() in SUFFIX_TYPES:
        stem = Path(stem).stem
    for text in reversed(re.findall(r"\d+(?:x\d+)+", stem)):
        if parse_dims(text):
            return parse_dims(text)
    numbers = re.search(r"((?:_\d+)*)$", stem).group(1).split("_")[1:]
    sizes = [TYPE_BYTES[dtype]] if dtype else TYPE_BYTES.values()
    for count in range(min(len(numbers), 4), 0, -1):
        dims = parse_dims("x".join(numbers[-count:]))
        if dims and any(math.prod(dims) * b == size for b in sizes):
            return dims
    # One number may be anything; more are dims of a file that is truncated, which is to be told.
    return parse_dims("x".join(numbers[-4:])) if len(numbers) > 1 else None


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


def find_fields(folder, rules, report):
    """The fields below the folder, and the names of those whose dims nothing tells."""
    fields, unknown = [], []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders
                            if not f.startswith(".") and (Path(parent) / f).resolve() != report)
        for file_name in sorted(names):
            path = Path(parent) / file_name
            if path.suffix.lower() not in SUFFIX_TYPES or ".restored." in file_name:
                continue
            name = path.relative_to(folder).as_posix()
            status = path.stat()
            dims, dtype = None, SUFFIX_TYPES[path.suffix.lower()]
            for glob, rule_dims, rule_type in rules:
                if fnmatch.fnmatchcase(name, glob) or fnmatch.fnmatchcase(file_name, glob):
                    dims, dtype = rule_dims, rule_type or dtype
                    break
            dims = dims or dims_from_name(file_name, status.st_size, dtype)
            if dims is None:
                unknown.append(name)
                continue
            if dtype is None:
                dtype = "f64" if math.prod(dims) * TYPE_BYTES["f64"] == status.st_size else "f32"
            fields.append(Field(path, name, dims, dtype, status.st_size, status.st_mtime_ns))
    return fields, unknown
