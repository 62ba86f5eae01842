"""Checks of arguments: numbers of any library, keywords by name."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from typing import TYPE_CHECKING, Any, Callable, Iterable, SupportsFloat, SupportsIndex, TypeVar, Union

import numpy as np

from ._errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")

R = TypeVar("R")

#: A Python number, NumPy scalar or array without axes.
Real = Union[SupportsFloat, SupportsIndex]


def real(name: str, value: Any) -> float:
    """Raises TypeError for what is not one real number, UsageError beyond the range of a double."""
    if type(value) is float:
        return value
    is_number = not (isinstance(value, (str, bytes, bytearray)) or value is np.ma.masked
                     or getattr(value, "ndim", 0) != 0 or np.iscomplexobj(value))
    try:
        if is_number:
            return float(value)
    except (TypeError, ValueError):
        pass
    except OverflowError:
        raise UsageError(f"{name} is beyond the range of a double, about 1.8e308") from None
    raise TypeError(f"{name} {value!r} is not a number")


def whole(name: str, value: Any, least: float = -math.inf, most: float = math.inf) -> int:
    """Raises TypeError for what is not a whole number, UsageError for one that is out of range."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} {value!r} is not a whole number") from None
    if not least <= number <= most:
        raise UsageError(f"{name} {number} is not from {least} to {most}")
    return number


def several(value: Any) -> list[Any]:
    """A sequence's items; what is not one, or a text, as the only item."""
    if isinstance(value, (str, bytes)):
        return [value]
    try:
        return list(value)
    except TypeError:
        return [value]


def bound(name: str, value: Any) -> float:
    """An absolute bound."""
    number = real(name, value)
    if not 0 <= number < float("inf"):
        raise UsageError(f"the bound {name} {number} is not a finite number of at least 0")
    return number


def share(name: str, value: Any) -> float:
    """A bound as a share of each value."""
    number = real(name, value)
    if not 0 <= number < 1:
        raise UsageError(f"the bound {name} {number} is not from 0 to below 1")
    return number


def quality(abs: Any, pw_rel: Any, abs_or_pw_rel: Any, abs_and_pw_rel: Any, pw: Any) -> dict[str, float]:
    """A bound that needs no value range, by the keywords of ``compress``."""
    asked = {"abs": abs, "pw_rel": pw_rel, "abs_or_pw_rel": abs_or_pw_rel,
             "abs_and_pw_rel": abs_and_pw_rel}
    given = [(mode, number) for mode, number in asked.items() if number is not None]
    if len(given) != 1:
        raise UsageError("give one of abs=, pw_rel=, abs_or_pw_rel= and abs_and_pw_rel=, like abs=0.01")
    (mode, number), = given
    has_two = mode.endswith("_pw_rel")
    if (pw is not None) != has_two:
        raise UsageError("abs_or_pw_rel= and abs_and_pw_rel= need pw=, and pw= needs one of them")
    if not has_two:
        return {mode: bound(mode, number) if mode == "abs" else share(mode, number)}
    two = {mode: bound(mode, number), "pw": share("pw", pw)}
    for name, value in two.items():
        if value == 0:
            raise UsageError(f"the bound {name} 0 is not above 0")
    return two


#: Keywords of ``quality``.
QUALITY = ("abs", "pw_rel", "abs_or_pw_rel", "abs_and_pw_rel", "pw")


def quality_of(codec: Any) -> dict[str, float]:
    """The bound of an object that has these keywords as attributes."""
    return quality(**{name: getattr(codec, name) for name in QUALITY})


def value_range(value: Any) -> tuple[float, float]:
    pair = several(value)
    if len(pair) != 2:
        raise UsageError(f"value_range {value!r} is not a pair (min, max)")
    least, most = (real("value_range", end) for end in pair)
    return least, most


def names_keywords(more: Iterable[str] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Makes a function's TypeError for an unknown keyword name those that it accepts: its own, and
    ``more`` that its ``**`` takes."""
    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        own = [name for name, parameter in inspect.signature(function).parameters.items()
               if parameter.kind in kinds and name != "self"]
        accepted = dict.fromkeys((*own, *more))

        @functools.wraps(function)
        def call(*positional: P.args, **named: P.kwargs) -> R:
            if not named.keys() <= accepted.keys():
                unknown = next(name for name in named if name not in accepted)
                called = function.__qualname__.replace(".__init__", "")
                raise TypeError(f"{called}() got an unexpected keyword argument {unknown!r}; "
                                f"accepted are {', '.join(accepted)}")
            return function(*positional, **named)
        return call
    return decorate
