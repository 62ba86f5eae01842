"""Panels of values as figures of matplotlib. Imports nothing of the package, so that scripts draw with it, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

if TYPE_CHECKING:
    import numpy.typing as npt

MOST_VALUE = float(np.finfo("f8").max / 8)  #: beyond it values are drawn as it is: matplotlib subtracts them
_SIDE = 4.0  # inches of a panel
_MOST_DOTS = 2**15  # along a side of a figure


@dataclass(frozen=True)
class Panel:
    """An image of values between ``low`` and ``high``. Masked values are grey."""

    title: str
    values: np.ma.MaskedArray[Any, Any]  #: of two axes
    low: float
    high: float
    diverging: bool = False  #: from blue to red; values beyond the range are magenta


def masked(values: npt.NDArray[Any], fills: Sequence[float] = ()) -> np.ma.MaskedArray[Any, Any]:
    """Masked where values are NaN, infinite or one of ``fills`` in their type."""
    with np.errstate(over="ignore"):
        typed = np.asarray(fills, "f8").astype(values.dtype)
    return np.ma.MaskedArray(values, ~np.isfinite(values) | np.isin(values, typed))


def limits(*arrays: np.ma.MaskedArray[Any, Any]) -> tuple[float, float]:
    """The least and the greatest value; 0 and 0 if all are masked."""
    known = [array.compressed() for array in arrays if array.count()]
    if not known:
        return 0.0, 0.0
    return float(min(values.min() for values in known)), float(max(values.max() for values in known))


def figure_of(title: str, rows: Sequence[Sequence[Panel]]) -> Figure:
    """Rows of equally many panels, each with its colour bar. No value is less than a dot."""
    panels = [panel for row in rows for panel in row]
    height = max(min(len(panel.values) / panel.values.shape[1], 2) for panel in panels) * _SIDE
    figure = Figure(figsize=((_SIDE + 1) * len(rows[0]), 1.2 + (max(height, 1) + 0.4) * len(rows)), layout="constrained")
    longest = max(max(panel.values.shape) for panel in panels)
    figure.set_dpi(min(max(120, 1.5 * longest / _SIDE), _MOST_DOTS / max(figure.get_size_inches())))
    figure.suptitle(_printable(title), parse_math=False)
    for axes, panel in zip(figure.subplots(len(rows), len(rows[0]), squeeze=False).flat, panels):
        beyond = {"under": "magenta", "over": "magenta"} if panel.diverging else {}
        colours = colormaps["RdBu_r" if panel.diverging else "viridis"].with_extremes(bad="grey", **beyond)
        is_long = not 0.5 <= len(panel.values) / panel.values.shape[1] <= 2
        known = np.clip(panel.values.filled(0).astype("f8"), -MOST_VALUE, MOST_VALUE)
        values = np.ma.MaskedArray(known, panel.values.mask)
        image = axes.imshow(values, colours, vmin=max(panel.low, -MOST_VALUE), vmax=min(panel.high, MOST_VALUE),
                            interpolation="nearest", aspect="auto" if is_long else "equal")
        figure.colorbar(image, ax=axes, shrink=0.8)
        axes.set_title(_printable(panel.title), parse_math=False)
        axes.set(xticks=[], yticks=[])
    return figure


def _printable(text: str) -> str:
    """Without what fonts do not have."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
