"""Arguments of Python as the library's options. Names are those of the tool's options, in the order of
their numbers in cuszi.h."""

from __future__ import annotations

import ctypes
from typing import (TYPE_CHECKING, Any, Iterable, Literal, Mapping, Optional, TypedDict, Union,
                    get_args)

from ._arguments import Real, real, several, value_range, whole
from ._errors import UsageError
from ._library import MAX_FILLS, Options

if TYPE_CHECKING:
    from ._memory import Memory

NETCDF_FILL = 9.969209968386869e36  #: what netCDF writes by default for missing values

Preset = Literal["ratio", "cuszi", "cusz", "fast", "zfp"]
Predictor = Literal["auto", "lorenzo", "interp", "multilevel", "tiles", "zfp"]
Coder = Literal["auto", "huffman", "ans"]
Effort = Literal["normal", "fast", "best"]
Lossless = Literal["none", "bitcomp"]
Axes = Literal["auto", "lattice", "independent", "layered"]
Index = Literal["none", "offset", "length", "hybrid"]
Cubic = Literal["not-a-knot", "natural"]

Fill = Union[Real, Literal["netcdf"], Iterable[Union[Real, Literal["netcdf"]]]]
ValueRange = Optional[Iterable[Real]]


class Method(TypedDict, total=False):
    """What else ``compress`` can be told."""

    predictor: Predictor
    coder: Coder
    effort: Effort
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


def _numbered(names: Any, first: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(get_args(names), first)}


PRESETS = _numbered(Preset, 0)
METHOD = tuple(Method.__annotations__)
MODES = ("rel", "abs", "psnr", "ratio")
_NAMES = {"preset": PRESETS, "predictor": _numbered(Predictor, 1), "coder": _numbered(Coder, 1),
          "effort": _numbered(Effort, 0), "lossless": _numbered(Lossless, 0),
          "axes": _numbered(Axes, 0), "index": _numbered(Index, 1),
          "interp_cubic": _numbered(Cubic, 1)}
_REALS = ("alpha", "beta", "interp_alpha")
_ZFP_MODES = {"accuracy": 0, "precision": 1, "rate": 2, "reversible": 3}


def number_of(option: str, name: Any) -> int:
    """The number of an option's choice."""
    names = _NAMES[option]
    if not isinstance(name, str) or name not in names:
        raise UsageError(f"{option} {name!r} is not one of {', '.join(names)}")
    return names[name]


def _set_device_name(options: Options, name: str) -> None:
    kind, colon, index = name.partition(":")
    is_index = kind == "cuda" and index.isascii() and index.isdigit()
    if kind not in ("auto", "cpu", "cuda") or (colon and not is_index):
        raise UsageError(f"device {name!r} is not auto, cpu, cuda or cuda:N")
    options.device = ("auto", "cpu", "cuda").index(kind)
    options.device_index = int(index or 0)


def set_device(options: Options, device: str, threads: int | None, stream: int | None,
               memories: Iterable[Memory]) -> None:
    if device != "auto":
        _set_device_name(options, str(device))
    if threads is not None:
        options.threads = threads
    if stream is None:
        stream = next((memory.stream for memory in memories if memory.stream), None)
    if stream is not None:
        options.stream = stream


def _set_zfp_mode(options: Options, mode: str) -> None:
    name, colon, amount = str(mode).partition(":")
    takes_amount = name in ("precision", "rate")
    try:
        options.zfp_mode = _ZFP_MODES[name]
        options.zfp_amount = float(amount) if takes_amount else 0
    except (KeyError, ValueError):
        name = ""
    if not name or bool(colon) != takes_amount:
        raise UsageError(f"zfp_mode {mode!r} is not accuracy, precision:PLANES, rate:BITS or "
                         "reversible")


def _set_interp_tile(options: Options, tile: Any) -> None:
    extents = [whole("interp_tile", extent, 1, 2**64 - 1) for extent in several(tile)]
    if not 1 <= len(extents) <= 3:
        raise UsageError(f"interp_tile {tile!r} has not 1 to 3 extents, slowest first")
    options.interp_tile = tuple([1] * (3 - len(extents)) + extents)


def _set_interp_order(options: Options, order: Any) -> None:
    if not isinstance(order, str) or sorted(order) != ["x", "y", "z"]:
        raise UsageError(f"interp_order {order!r} is not the letters z, y and x in some order")
    options.interp_order = order.encode()


def set_method(options: Options, method: Mapping[str, Any]) -> None:
    for option, value in method.items():
        if option in _NAMES:
            setattr(options, option, number_of(option, value))
        elif option in _REALS:
            setattr(options, option, real(option, value))
        elif option == "zfp_mode":
            _set_zfp_mode(options, value)
        elif option == "interp_tile":
            _set_interp_tile(options, value)
        elif option == "interp_order":
            _set_interp_order(options, value)
        else:
            setattr(options, option, value)


def fill_values(fill: Any) -> tuple[float, ...]:
    """Numbers that mean "missing". NaN does anyway."""
    values = []
    for value in several(fill):
        if isinstance(value, str) and value != "netcdf":
            raise UsageError(f'fill {value!r} is not a number or "netcdf"')
        values.append(NETCDF_FILL if isinstance(value, str) else real("fill", value))
    return tuple(dict.fromkeys(value for value in values if value == value))


def set_fills(options: Options, fills: tuple[float, ...]) -> None:
    if not fills:
        return
    if len(fills) > MAX_FILLS:
        raise UsageError(f"at most {MAX_FILLS} fill values, not {len(fills)}")
    options.fill_count = len(fills)
    options.fills = (ctypes.c_double * len(fills))(*fills)


def set_quality(options: Options, asked: Mapping[str, Any], values: Any) -> None:
    """Bound or target, and the range that a relative bound refers to."""
    given = {mode: value for mode, value in asked.items() if value is not None}
    if not given and options.zfp_mode:
        given = {"abs": 0}  # none is needed
    if len(given) != 1:
        raise UsageError("give one of rel=, abs=, psnr= and ratio=, like rel=1e-3")
    (mode, value), = given.items()
    options.bound = real(mode, value)
    options.mode = MODES.index(mode)
    if values is None:
        return
    if mode != "rel":
        raise UsageError(f"value_range= goes with rel=, not with {mode}=")
    options.range_min, options.range_max = value_range(values)
    options.has_range = 1

