"""What stand-ins for cuszi share: enough of cuszi inspect --field-name for the names in tests."""

import json
import math
import os
import re

BYTES = {"f32": 4, "f64": 8, "d64": 8}


def read_name(path, dtype):
    words = re.search(r"[.](f32|f64|d64|dat)$", path)
    size = os.path.getsize(path)
    width = BYTES.get(words[1]) if words else None
    dtype = dtype or ({4: "f32", 8: "f64"}[width] if width else None)
    dims = re.search(r"_(\d+(?:x\d+)*)[.]", path)
    dims = list(map(int, dims[1].split("x"))) if dims and dtype else None
    return {"field_name": path, "is_field": bool(words) and ".restored." not in path,
            "dtype": dtype, "dims": dims, "file_bytes": size,
            "fits": dims and math.prod(dims) * BYTES[dtype] == size,
            "failure": None if dims else f"{path}: no dims in the file name"}


def tell_names(arguments):
    """Does what `cuszi inspect --json [--type TYPE] --field-name NAME...` does."""
    dtype = arguments[arguments.index("--type") + 1] if "--type" in arguments else None
    for path in arguments[arguments.index("--field-name") + 1:]:
        print(json.dumps(read_name(path, dtype)))
