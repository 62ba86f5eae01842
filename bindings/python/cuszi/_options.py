"""Keywords of Python as the library's options. Which there are, and what they take, says the library's
table."""

from __future__ import annotations

import math
from typing import (TYPE_CHECKING, Any, Iterable, Iterator, Literal, Mapping, Optional, Tuple, TypedDict, get_args,
                    Union)

import numpy as np

from . import _library
from ._arguments import Real, real, several, value_range, whole
from ._errors import UsageError
from ._library import Options

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._memory import Memory

NETCDF_FILL = 9.969209968386869e36  #: netCDF's default fill value

# For type checkers; a test compares them with the table.
Preset = Literal["ratio", "cuszi", "cusz", "fast", "zfp", "balanced"]
Predictor = Literal["auto", "lorenzo", "interp", "multilevel", "tiles", "zfp", "cells"]
Coder = Literal["auto", "huffman", "ans"]
Effort = Literal["normal", "fast"]
Lossless = Literal["none", "bitcomp"]
Axes = Literal["auto", "lattice", "independent", "layered"]
Index = Literal["none", "offset", "length", "hybrid"]
Cubic = Literal["not-a-knot", "natural"]

Fill = Union[Real, Literal["netcdf"], Iterable[Union[Real, Literal["netcdf"]]]]
ValueRange = Optional[Iterable[Real]]
Region = Union[str, int, slice, Tuple[Union[int, slice], ...]]


class Method(TypedDict, total=False):
    """Further options of ``compress``."""

    predictor: Predictor
    coder: Coder
    effort: Effort
    isovalues: Union[Real, Iterable[Real]]
    keep_sign: bool
    regions: Iterable[tuple[Region, Real]]
    bound_field: npt.ArrayLike
    bound_blocks: Iterable[int]
    pw: Real
    padding: Real
    axes: Axes
    axis: int
    reach: int
    alpha: Real
    beta: Real
    radius: int
    index: Index
    chunk: int
    partition: int
    huffman_width: int
    lossless: Lossless
    frame_bytes: int
    interp_tile: Iterable[int]
    interp_anchor: int
    interp_alpha: Real
    interp_cubic: Cubic
    interp_order: str
    zfp_mode: str
    zfp_chunk: int


_LOSSY_ZFP_MODES = (1, 2)  #: precision and rate need no bound

METHOD = tuple(Method.__annotations__)


def _text(name: str, value: Any) -> str:
    """What the library reads as this value of an option; raises TypeError for one of another type."""
    kind = _library.OPTIONS[name].kind
    if kind in (_library.WHOLE, _library.POWER_OF_TWO):
        return str(whole(name, value))
    if kind == _library.SIZE:
        return str(min(whole(name, value, 0, 2**64 - 1), 2**50))  # exceeds any memory
    if kind == _library.NUMBER:
        return repr(real(name, value))
    if kind == _library.FLAG:
        return "yes" if value else "no"
    if name in ("interp_tile", "bound_blocks"):
        return "x".join(str(whole(name, extent)) for extent in several(value))
    return str(value)


def set_option(options: Options, name: str, value: Any) -> None:
    """0 is the default of numbers, and of words that are numbered."""
    text = _text(name, value)
    is_text = isinstance(value, str) or _library.OPTIONS[name].kind == _library.TEXT
    if is_text or text not in ("0", "0.0"):
        _library.set_option(options, name, text)


def set_method(options: Options, method: Mapping[str, Any]) -> None:
    given = dict(method)
    axis = whole("axis", given.pop("axis", 0))
    if given.get("axes") in ("independent", "layered"):
        given["axes"] = f"{given['axes']}:{axis}"
    for isovalue in several(given.pop("isovalues", ())):
        _library.set_option(options, "isovalues", repr(real("isovalues", isovalue)))
    for region, bound in _pairs(given.pop("regions", ())):
        text = f"{_region_text(region)}={real('regions', bound)!r}"
        _library.set_option(options, "regions", text)
    padding = given.pop("padding", None)
    if padding is not None:
        _library.set_option(options, "padding", repr(real("padding", padding)))
    set_bound_field(options, given.pop("bound_field", None), "bound_blocks" in given)
    for name, value in given.items():
        set_option(options, name, value)


def _pairs(regions: Any) -> Iterator[tuple[Any, Any]]:
    for pair in several(regions):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise UsageError(f"regions has {pair!r}; accepted are pairs of an index and a bound, like "
                             '[("0:8,100:200", 1e-4)]')
        yield pair[0], pair[1]


def _region_text(region: Any) -> str:
    """"0:8,100:200,:" of an index as of an array: slices and whole numbers, or such a text."""
    if isinstance(region, str):
        return region
    texts = []
    for part in region if isinstance(region, tuple) else (region,):
        if not isinstance(part, slice):
            texts.append(str(whole("regions", part)))
        elif part.step in (None, 1):
            texts.append(":".join("" if end is None else str(whole("regions", end))
                                  for end in (part.start, part.stop)))
        else:
            raise UsageError(f"regions has the step {part.step}; regions take all points")
    return ",".join(texts)


def _floats_below(bounds: Any) -> np.ndarray[Any, Any]:
    """The largest float32 that are not above these bounds."""
    array = np.asarray(bounds)
    if array.dtype == np.float32:
        return np.ascontiguousarray(array)
    exact = np.asarray(array, np.longdouble)
    with np.errstate(over="ignore"):
        floats = np.ascontiguousarray(exact, np.float32)
    above = (floats > exact) & np.isfinite(exact)
    floats[above] = np.nextafter(floats[above], np.float32(-np.inf))
    return floats


def set_bound_field(options: Options, bounds: Any, in_blocks: bool) -> None:
    """The options keep the array that they point to."""
    if bounds is None:
        if in_blocks:
            raise UsageError("bound_blocks= needs bound_field=")
        return
    if np.size(bounds) == 0 or np.asarray(bounds).dtype.kind not in "iuf":
        raise UsageError(f"bound_field of the shape {np.shape(bounds)} and the type {np.asarray(bounds).dtype}; "
                         "accepted are real numbers, one for each point or block")
    array = _floats_below(bounds)
    options.bound_field = array.ctypes.data
    options.bound_count = array.size
    options.kept_bounds = array


def preset_number(preset: Preset) -> int:
    """The number of a preset in cuszi.h."""
    options = Options()
    set_option(options, "preset", preset)
    return int(options.preset)


def preset_name(number: int) -> str:
    return next(name for name in get_args(Preset) if preset_number(name) == number)


def set_device(options: Options, device: str, threads: int | None, stream: int | None,
               memories: Iterable[Memory], memory_limit: int | None = None) -> None:
    set_option(options, "device", device)
    if threads is not None:
        set_option(options, "threads", threads)
    if memory_limit is not None:
        options.memory_limit = whole("memory_limit", memory_limit, 1, 2**64 - 1)
    if stream is None:
        stream = next((memory.stream for memory in memories if memory.stream), None)
    if stream is not None:
        options.stream = stream


def fill_values(fill: Any) -> tuple[float, ...]:
    """Numbers that mean "missing". NaN does anyway."""
    values = []
    for value in several(fill):
        if isinstance(value, str) and value != "netcdf":
            raise UsageError(f'fill {value!r} is not a number or "netcdf"')
        values.append(NETCDF_FILL if isinstance(value, str) else real("fill", value))
    return tuple(dict.fromkeys(value for value in values if value == value))


def fills_of_chunks(fill: Any) -> tuple[float, ...]:
    """Those that a codec of chunks stores as JSON, which has no infinities: they come back anyway."""
    return tuple(value for value in fill_values(fill) if math.isfinite(value))


def set_fills(options: Options, fills: tuple[float, ...]) -> None:
    for fill in fills:
        _library.set_option(options, "fill-value", repr(fill))


def set_quality(options: Options, asked: Mapping[str, Any], values: Any) -> None:
    """Bound or target, and the range that a relative bound refers to."""
    given = {mode: value for mode, value in asked.items() if value is not None}
    if not given and options.zfp_mode:
        given = {"abs": 0}  # none is needed
    if len(given) != 1:
        raise UsageError("give one of rel=, abs=, pw_rel=, abs_or_pw_rel=, abs_and_pw_rel=, psnr= "
                         "and ratio=, like rel=1e-3")
    (mode, value), = given.items()
    number = repr(real(mode, value))
    if asked.get(mode) is not None and value == 0 and options.zfp_mode in _LOSSY_ZFP_MODES:
        raise UsageError(f"{mode}=0 has no effect with this zfp_mode; leave it out, or use "
                         'zfp_mode="reversible", which is lossless')
    if mode in ("rel", "abs", "pw_rel", "abs_or_pw_rel", "abs_and_pw_rel"):
        _library.set_option(options, "mode", mode)
        _library.set_option(options, "error-bound", number)
    else:
        _library.set_option(options, "target", f"{mode}:{number}")
    if values is None:
        return
    if mode != "rel":
        raise UsageError(f"value_range= needs rel=, not {mode}=")
    least, most = value_range(values)
    _library.set_option(options, "value-range", f"{least!r},{most!r}")
