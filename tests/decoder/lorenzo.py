"""Lorenzo (4.1)."""

from types import SimpleNamespace

import numpy as np

from .numbers import unzigzag
from .parts import patched, sparse_list


def read(table, frame):
    chunk = [table.varint() for _ in range(3)]
    return SimpleNamespace(level_of_pass=[0], points_of_pass=[frame.points], chunk=chunk, radius=table.varint(),
                           half_step=table.f64())


def restored(frame):
    params, sections = frame.predictor, frame.passes[0]
    outliers = sparse_list(sections.get("outliers"), frame.points)
    codes = frame.coder.decoded(frame, 0, frame.points)
    deltas = [unzigzag(outliers[i]) if code == 0 else code - params.radius for i, code in enumerate(codes)]
    sums = np.array(deltas, "i8").reshape(frame.extents)
    for axis in (2, 1, 0):
        for first in range(0, frame.extents[axis], params.chunk[axis]):
            chunk = [slice(None)] * 3
            chunk[axis] = slice(first, first + params.chunk[axis])
            sums[tuple(chunk)] = np.cumsum(sums[tuple(chunk)], axis=axis, dtype="i8")
    with np.errstate(over="ignore"):
        values = (sums.astype("f8") * (2 * params.half_step)).astype(frame.dtype).ravel()
    return patched(np.clip(values, frame.least, frame.most), sections.get("patches"))
