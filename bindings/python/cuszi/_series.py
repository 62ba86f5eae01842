"""Archives in files as fields of three axes over time, as programs that draw them ask for them."""

from __future__ import annotations

import glob
import mmap
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _codec, _memory
from ._errors import Error, InputError, UsageError

AUTOMATIC = 0  # the smallest stride that gives at most most_points
most_points = 256**3
most_looked_into = 8  # archives inspected for the axes of space


class Series:
    """The fields that archives of one shape hold, one a step.

    Of archives of four axes each index of the slowest is a step. An axis is space, which a stride thins, unless an
    archive was coded with it as another kind of axis: the first archive, and some of the others, tell. Archives that
    tell nothing of their axes, like those of a constant, take part as any.

    Parameters
    ----------
    names : paths of archives, or patterns like ``run/T_*.cuszi``
        The files of a pattern are taken in the order of the numbers in their names.
    stride : a power of two, or AUTOMATIC
        Of the points along axes that are space; a preview has no others.

    Attributes
    ----------
    shape : the points along z, y and x
    factors : how many indices of the field each is apart from the next, along z, y and x
    dtype : that of the values: floats that hold those of the archives
    steps : how many there are

    Raises
    ------
    Error, OSError
    """

    def __init__(self, names: Sequence[str], stride: int = AUTOMATIC) -> None:
        self.paths = [path for name in names for path in _files_of(name)]
        if not self.paths:
            raise UsageError("no archive given")
        archive = _mapped(self.paths[0])
        with _naming(self.paths[0]):
            found = _codec.info(archive)
            is_space = _space_axes(archive, found.shape)
        self._stored = found.dtype
        self.dtype = _codec.work_dtype(found.dtype)
        self._whole = found.shape
        if stride != 1:
            is_space = self._agreed(is_space)
        self.stride = stride or _stride_for(found.shape, is_space)
        self._factors = tuple(self.stride if space else 1 for space in is_space)
        preview = _thinned(found.shape, self._factors)
        self._over_time = list(range(0, found.shape[0], self._factors[0])) if len(found.shape) == 4 else [None]
        ahead = 3 - len(found.shape)
        self.shape = (1,) * ahead + preview[-3:]
        self.factors = (1,) * ahead + self._factors[-3:]

    def _agreed(self, is_space: list[bool]) -> list[bool]:
        """The axes that are space in the other archives that are looked into, too."""
        every = -(-len(self.paths) // most_looked_into)
        for path in [*self.paths[every::every], self.paths[-1]]:
            try:
                archive = _mapped(path)
                if _codec.info(archive).shape == self._whole:
                    is_space = [both and space for both, space in zip(is_space, _space_axes(archive, self._whole))]
            except (Error, OSError):
                continue  # reported when it is read
        return is_space

    @property
    def steps(self) -> int:
        return len(self.paths) * len(self._over_time)

    def read(self, step: int, box: Sequence[tuple[int, int]] | None = None) -> npt.NDArray[Any]:
        """The values of a step, or of the points from the first and before the end of each pair of
        ``box``, along z, y and x. What is missing is NaN. Reads what that takes, and no more."""
        path = self.paths[step // len(self._over_time)]
        index = self._over_time[step % len(self._over_time)]
        box = [(0, extent) for extent in self.shape] if box is None else box
        wanted = tuple(end - first for first, end in box)
        slices = [slice(first * factor, (end - 1) * factor + 1)
                  for (first, end), factor in zip(box, self.factors)]
        archive = _mapped(path)
        with _naming(path):
            found = _codec.info(archive)
            if found.shape != self._whole or found.dtype != self._stored:
                raise InputError(f"is {found.shape} of {found.dtype}, not {self._whole} of "
                                 f"{self._stored} as {self.paths[0]}")
            part = ((index,) if index is not None else ()) + tuple(slices[-len(found.shape):])
            stride, factors = self._read_with(_space_axes(archive, found.shape))
            values = _codec.decompress(archive, box=part, stride=stride)
            thinner = tuple(slice(None, None, wanted // own) for wanted, own in zip(self._factors, factors))
            values = values[thinner[-values.ndim:]].astype(self.dtype, copy=False)
        for fill in found.fill:
            values[values == self.dtype.type(fill)] = np.nan
        return values.reshape(wanted)


    def _read_with(self, is_space: list[bool]) -> tuple[int, tuple[int, ...]]:
        """The stride with which an archive has all points that are wanted, and what it thins its axes by: 1 if it
        thins axes that are whole here."""
        own = tuple(self.stride if space else 1 for space in is_space)
        if any(factor > wanted for factor, wanted in zip(own, self._factors)):
            return 1, (1,) * len(own)
        return self.stride, own


class _naming:
    """Puts the name of a file in front of what is told of it."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, Error):
            raise type(error)(f"{self._path}: {error}") from error


def _files_of(name: str) -> list[str]:
    if os.path.exists(name) or not glob.has_magic(name):
        return [name]
    found = glob.glob(name)
    if not found:
        raise InputError(f"{name}: no such file")
    return sorted(found, key=lambda path: [(int(part) if part.isdigit() else 0, part)
                                           for part in re.split(r"(\d+)", path)])


def _mapped(path: str) -> Any:
    """The bytes of a file; those that nobody looks at are not read. It is closed when nobody has them."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:  # cannot be mapped
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _space_axes(archive: Any, shape: tuple[int, ...]) -> list[bool]:
    """Which axes a preview of an archive has fewer points along."""
    memory = _memory.of_bytes(archive)
    whole = _codec._library.read_info(memory.address, memory.nbytes).field
    preview = _codec._part_of(memory, whole, None, None, 2)[0].shape
    return [some != all_ for some, all_ in zip(preview, shape)]


def _thinned(shape: tuple[int, ...], factors: Sequence[int]) -> tuple[int, ...]:
    return tuple(-(-extent // factor) for extent, factor in zip(shape, factors))


def _stride_for(shape: tuple[int, ...], is_space: list[bool]) -> int:
    stride = 1
    while stride < 1024:
        preview = _thinned(shape, [stride if space else 1 for space in is_space])
        if np.prod(preview[-3:], dtype=float) <= most_points:
            break
        stride *= 2
    return stride
