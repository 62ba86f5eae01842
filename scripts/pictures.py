"""Line plots and pictures of slices for reports, by matplotlib."""

import itertools
import sys
from pathlib import Path

from matplotlib.figure import Figure

sys.path.append(str(Path(__file__).resolve().parents[1] / "bindings/python/cuszi"))
from _drawing import Panel, figure_of, limits  # noqa: E402, F401  (of the package, but without its library)

LINE_COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b"]


def line_plot(path, title, x_label, y_label, series):
    """Draws series, {name: [(x, y), ...]}, into a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    for (name, points), colour in zip(series.items(), itertools.cycle(LINE_COLOURS)):
        axes.plot(*zip(*points), marker="o", color=colour, label=name)
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)


def slice_picture(path, title, panels):
    """Draws panels side by side, with their colour bars, into a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure_of(title, [panels]).savefig(path)
