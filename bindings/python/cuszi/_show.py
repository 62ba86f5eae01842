"""Slices of archives and fields in files: which points they have, and what they look like beside an original's."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional, Sequence

import numpy as np

from . import _codec, _masks, _series
from ._drawing import MOST_VALUE, Panel, figure_of, limits, masked
from ._errors import DeviceError, InputError, UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    Masked = np.ma.MaskedArray[Any, Any]

AXES = "wzyx"  # what users call axes; fields of fewer have the last of them
MOST_POINTS = 512  # along an axis of a slice, unless a stride is asked for
MOST_OF_ALL = 2**24  # points of a figure
TYPES: dict[str, np.dtype[Any]] = {f"{kind}{8 * size}": np.dtype(f"{kind}{size}")
                                   for kind in "fiu" for size in (1, 2, 4, 8) if (kind, size) != ("f", 1)}
_MAGIC = b"\x89CUSZI\r\n"


@dataclass(frozen=True)
class RawLayout:
    """What is known of a raw file; None is read from its name."""

    dims: Optional[tuple[int, ...]] = None  #: slowest first
    dtype: Optional[np.dtype[Any]] = None
    skip_bytes: int = 0
    byte_order: str = "little"


@dataclass(frozen=True)
class Field:
    """A field in a file, of which no more is read than is asked for."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fills: tuple[float, ...]
    bound: Optional[float]  #: None where it has none
    is_space: Sequence[bool]  #: the axes that a stride thins
    #: (index, steps) to the values at an index of some axes, at every step of the others, whose index is None
    read: Callable[[Sequence[Optional[int]], Sequence[int]], Any]
    is_raw: bool = False


@dataclass
class Slice:
    """A plane of a field, or a strip where it has one axis."""

    axis: Optional[int]  #: that it cuts; None where it shows all axes of more than one index
    at: list[int]  #: an index along each axis
    named: list[bool]  #: whether that index was asked for
    shown: list[int]  #: the axes that it shows, one or two


def _open_archive(path: str, restoring: Mapping[str, Any]) -> Field:
    archive = _series._mapped(path)
    found = _codec.info(archive)
    is_space = _series._space_axes(archive, found.shape)

    def read(index: Sequence[Optional[int]], steps: Sequence[int]) -> Any:
        """Restores the coarsest preview that has the points."""
        stride = max([step for at, step, space in zip(index, steps, is_space) if at is None and space], default=1)
        while any(at is not None and space and at % stride for at, space in zip(index, is_space)):
            stride //= 2
        box = tuple(slice(None) if at is None else at for at in index)
        values = _codec.decompress(archive, box=box, stride=stride, **restoring)
        thinner = tuple(slice(None, None, step // (stride if space else 1))
                        for at, step, space in zip(index, steps, is_space) if at is None)
        return values[thinner]

    bound = found.bound if math.isfinite(found.bound) else None
    return Field(found.shape, found.dtype, found.fill, bound, is_space, read)


def _open_array(array: Any, fills: tuple[float, ...], is_raw: bool = False) -> Field:
    """An array of NumPy or a dataset of h5py, which reads what it is indexed by."""
    if array.dtype.kind not in "iuf" or not 1 <= len(array.shape) <= len(AXES) or 0 in array.shape:
        raise InputError(f"is {array.shape} of {array.dtype}; accepted are numbers of 1 to {len(AXES)} axes")

    def read(index: Sequence[Optional[int]], steps: Sequence[int]) -> Any:
        return np.asarray(array[tuple(slice(None, None, step) if at is None else at for at, step in zip(index, steps))])

    return Field(array.shape, array.dtype, fills, None, [True] * len(array.shape), read, is_raw)


def dims_text(shape: Iterable[int]) -> str:
    return "x".join(map(str, shape))


def _raw(path: str, layout: RawLayout) -> np.ndarray[Any, Any]:
    """A raw file; what its layout leaves out is in its name, as in U_64x96x128.f32."""
    name, size = os.path.basename(path), os.path.getsize(path) - layout.skip_bytes
    in_name = re.findall(rf"\.({'|'.join(TYPES)})(?![^.])", name)
    dtype = layout.dtype or (TYPES[in_name[-1]] if in_name else None)
    if dtype is None:
        raise UsageError("no type in the file name; give -t, like -t f32")
    dims_in_name = [tuple(map(int, re.split("[x_]", text)))
                    for text in re.findall(r"(?<![\dx])\d+(?:[x_]\d+){0,3}(?![\dx])", name)]
    fitting = [dims for dims in ([layout.dims] if layout.dims else dims_in_name)
               if 0 < math.prod(dims) * dtype.itemsize == size]
    if not fitting:
        source = dims_text(layout.dims) if layout.dims else "its name"
        raise InputError(f"has {size} bytes, which does not match {source}; give dims like -d 64x96x128")
    stored = dtype.newbyteorder(">") if layout.byte_order == "big" else dtype.newbyteorder("<")
    return np.memmap(path, stored, "r", layout.skip_bytes, fitting[-1])


def _dataset(path: str, name: str) -> Any:
    try:
        import h5py
    except ImportError:
        raise DeviceError("needs h5py: pip install 'cuszi[hdf5]'") from None
    file = h5py.File(path) if h5py.is_hdf5(path) else {}
    if not isinstance(file.get(name), h5py.Dataset):
        raise InputError("no such file, and no such dataset of an HDF5 or NetCDF-4 file")
    return file[name]


def open_field(name: str, layout: RawLayout, fills: tuple[float, ...], restoring: Mapping[str, Any]) -> Field:
    """An archive, a file of NumPy, FILE:DATASET of HDF5 or NetCDF-4, or a raw file, of which ``layout`` is. ``restoring``
    has keywords of ``decompress``."""
    with _series._naming(name):
        if not os.path.exists(name) and ":" in name:
            array = _dataset(*name.rsplit(":", 1))
            return _open_array(array, fills + _masks._of_attributes(array))
        with open(name, "rb") as file:
            is_archive = file.read(len(_MAGIC)) == _MAGIC or name.endswith(".cuszi")
        if name.endswith(".npy"):
            try:
                return _open_array(np.load(name, mmap_mode="r"), fills)
            except ValueError as error:
                raise InputError(f"is not an array of numbers in a NumPy file: {error}") from error
        if not is_archive:
            return _open_array(_raw(name, layout), fills, is_raw=True)
        if fills:
            raise UsageError("is an archive, which contains its fill values; leave out --fill-value")
        return _open_archive(name, restoring)


def _letter(shape: tuple[int, ...], axis: int) -> str:
    return AXES[len(AXES) - len(shape) + axis]


def _cut(shape: tuple[int, ...], letter: str, index: int) -> int:
    """The axis of a letter that has this index."""
    names, dims = AXES[len(AXES) - len(shape):], dims_text(shape)
    if letter not in names:
        raise UsageError(f"--slice {letter}={index}: a field of {dims} has no axis {letter}; it has {names}, x the fastest")
    axis = names.index(letter)
    if index >= shape[axis]:
        raise UsageError(f"--slice {letter}={index}: axis {letter} of {dims} has the indices 0 to {shape[axis] - 1}")
    return axis


def choose_slices(shape: tuple[int, ...], asked: Iterable[tuple[str, int]]) -> list[Slice]:
    """The slices that are asked for, else the middle ones along each axis. Axes of extent 1 do not count; the slowest of
    four others is cut at one index, its middle unless that is asked for."""
    axes = [axis for axis, extent in enumerate(shape) if extent > 1] or [len(shape) - 1]
    base = Slice(None, [extent // 2 for extent in shape], [False] * len(shape), [])
    has_outer = len(axes) == len(AXES)
    axes = axes[1:] if has_outer else axes
    cuts: list[tuple[int, int]] = []
    for letter, index in asked:
        axis = _cut(shape, letter, index)
        if not has_outer or axis != 0:
            cuts.append((axis, index))
        elif base.named[0]:
            raise UsageError(f"--slice {letter}={index}: w is given twice; of four axes it has one index")
        else:
            base.at[0], base.named[0] = index, True
    middles = [(axis, base.at[axis]) for axis in axes] if not cuts and len(axes) > 2 else []
    slices = []
    for axis, index in cuts or middles:
        chosen = Slice(axis, list(base.at), list(base.named), [other for other in axes if other != axis][-2:])
        chosen.at[axis], chosen.named[axis] = index, bool(cuts)
        if not chosen.shown:
            raise UsageError(f"--slice {_letter(shape, axis)}={index}: leaves one point; leave it out")
        slices.append(chosen)
    return slices or [Slice(None, base.at, base.named, axes[-2:])]


def choose_steps(field: Field, slices: Sequence[Slice], stride: Optional[int]) -> list[int]:
    """From one point that is shown to the next, along each axis. Indices of slices that nobody has named move down to
    points that a preview has.

    Without a stride they are the smallest powers of two with which no slice has more than MOST_POINTS along an axis.
    """
    shown = {axis for each in slices for axis in each.shown}
    own = [1 if stride or axis not in shown else 1 << max((extent - 1) // MOST_POINTS, 0).bit_length()
           for axis, extent in enumerate(field.shape)]
    common = stride or max([step for step, space in zip(own, field.is_space) if space], default=1)
    steps = [common if space else step for step, space in zip(own, field.is_space)]
    for each in slices:
        each.at = [at if named or not space else at - at % common
                   for at, named, space in zip(each.at, each.named, field.is_space)]
    points = sum(math.prod(-(-field.shape[axis] // steps[axis]) for axis in each.shown) for each in slices)
    if points > MOST_OF_ALL:
        raise UsageError(f"the picture would have {points} points, more than {MOST_OF_ALL}; give a larger --stride, or none")
    return steps


@dataclass
class Sight:
    """Slices of a field, beside those of an original if there is one."""

    name: str
    field: Field
    slices: list[Slice]
    steps: list[int]
    restored: list[Masked]
    originals: list[Masked]

    def __post_init__(self) -> None:
        self.wrong = [self._wrong(*pair) for pair in zip(self.originals, self.restored)]
        self.wrong_points = sum(int(wrong.sum()) for wrong in self.wrong)
        self.errors = [_difference(*pair) for pair in zip(self.originals, self.restored)]
        self.largest_error = max(map(abs, limits(*self.errors)))
        self.range = limits(*self.restored, *self.originals)

    def _wrong(self, original: Masked, restored: Masked) -> Any:
        """Where a restored point is over the bound, or missing on one side alone."""
        wrong = np.ma.getmaskarray(original) != np.ma.getmaskarray(restored)
        if self.field.bound is None:
            return wrong
        exact = abs(restored.astype(np.longdouble) - original)
        return wrong | np.ma.filled(exact > self.field.bound, False)

    def name_of(self, chosen: Slice) -> str:
        if chosen.axis is None:
            return ""
        return f"{_letter(self.field.shape, chosen.axis)} = {chosen.at[chosen.axis]}"

    def lines(self) -> list[tuple[str, str]]:
        """What is shown, as (subject, text)."""
        least, most = self.range
        missing = sum(int(np.ma.getmaskarray(values).sum()) for values in self.restored)
        shown = [", ".join(filter(None, map(self.name_of, self.slices))) or "all"]
        if max(self.steps) > 1:
            shown.append(f"every {dims_text(self.steps)}")
        shown.append(f"values {least:.6g} to {most:.6g}")
        if missing:
            shown.append(f"{missing} missing")
        kind = f"{self.field.dtype.kind}{8 * self.field.dtype.itemsize}"
        lines = [("field", f"{dims_text(self.field.shape)} {kind}"), ("shown", ", ".join(shown))]
        if self.field.bound is not None:
            lines.append(("bound", f"{self.field.bound:.6g}" if self.field.bound else "lossless"))
        if self.originals:
            lines.append(("error", f"at most {self.largest_error:.6g} there"))
        if self.wrong_points:
            lines.append(("wrong", f"{self.wrong_points} points (magenta)"))
        return lines

    def figure(self) -> Figure:
        facts = [text if subject == "field" else f"{subject} {text}" for subject, text in self.lines() if subject != "shown"]
        title = "\n".join([os.path.basename(self.name), ", ".join(facts)])
        rows = []
        for i, chosen in enumerate(self.slices):
            titles = [f"{kind}, {self.name_of(chosen)}".strip(", ") for kind in ("original", "restored", "error")]
            if self.originals:
                rows.append([Panel(titles[0], _plane(self.originals[i]), *self.range),
                             Panel(titles[1], _plane(self.restored[i]), *self.range), self._error_panel(i, titles[2])])
            else:
                rows.append([Panel(self.name_of(chosen), _plane(self.restored[i]), *self.range)])
        return figure_of(title, rows if self.originals else [[row[0] for row in rows]])

    def _error_panel(self, i: int, title: str) -> Panel:
        """In units of the bound, if there is one; wrong points lie beyond the range."""
        unit = self.field.bound or 1.0
        most = 1.0 if self.field.bound else min(self.largest_error or 1.0, MOST_VALUE / 2)
        error = np.ma.clip(self.errors[i] / unit, -2 * most, 2 * most)
        error[self.wrong[i]] = 2 * most
        return Panel(title.replace("error", "error / bound") if self.field.bound else title, _plane(error), -most, most, True)


def _difference(original: Masked, restored: Masked) -> Masked:
    with np.errstate(over="ignore"):
        return np.ma.asarray(restored.astype("f8") - original.astype("f8"))


def _plane(values: Masked) -> Masked:
    return values if values.ndim == 2 else values[np.newaxis]


def look_at(field: Field, name: str, original: Optional[Field], asked: Iterable[tuple[str, int]],
            stride: Optional[int]) -> Sight:
    """Reads the slices that are asked for of a field, and those of an original."""
    if original is not None and original.shape != field.shape:
        raise InputError(f"the original has the dims {dims_text(original.shape)}, {name} {dims_text(field.shape)}")
    slices = choose_slices(field.shape, asked)
    steps = choose_steps(field, slices, stride)

    def read(of: Field) -> list[Masked]:
        indices = [[None if axis in each.shown else at for axis, at in enumerate(each.at)] for each in slices]
        return [masked(of.read(index, steps), field.fills + of.fills) for index in indices]

    return Sight(name, field, slices, steps, read(field), [] if original is None else read(original))
