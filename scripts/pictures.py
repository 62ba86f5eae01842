"""Line plots and pictures of slices for reports.

They are drawn with matplotlib where it is installed; else line plots are written as plain SVG and
slices as plain PNG, with the standard library alone.
"""

import math
import struct
import zlib
from dataclasses import dataclass
from html import escape

try:
    from matplotlib.figure import Figure
except ImportError:
    Figure = None

VIRIDIS = [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)]
BLUE_RED = [(33, 102, 172), (247, 247, 247), (178, 24, 43)]
LINE_COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b"]
MISSING = (128, 128, 128)


@dataclass
class Panel:
    """An image: rows of numbers (None where missing), coloured between low and high."""

    title: str
    rows: list
    low: float
    high: float
    diverging: bool = False


def line_plot(stem, title, x_label, y_label, series):
    """Draws series, {name: [(x, y), ...]}, into the file stem.png or stem.svg, whose path it returns."""
    path = stem.with_name(stem.name + (".png" if Figure else ".svg"))
    path.parent.mkdir(parents=True, exist_ok=True)
    if Figure:
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.subplots()
        for (name, points), colour in zip(series.items(), _colours()):
            axes.plot(*zip(*points), marker="o", color=colour, label=name)
        axes.set(title=title, xlabel=x_label, ylabel=y_label)
        axes.grid(alpha=0.3)
        axes.legend()
        figure.savefig(path, dpi=120)
    else:
        path.write_text(_svg_plot(title, x_label, y_label, series), encoding="utf-8")
    return path


def slice_picture(path, title, panels):
    """Draws the panels side by side into a PNG file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if Figure:
        figure = Figure(figsize=(4.2 * len(panels), 4), layout="constrained")
        figure.suptitle(title)
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels):
            rows = [[math.nan if v is None else v for v in row] for row in panel.rows]
            image = axes.imshow(rows, vmin=panel.low, vmax=panel.high,
                                cmap="RdBu_r" if panel.diverging else "viridis")
            figure.colorbar(image, ax=axes, shrink=0.8)
            axes.set(title=panel.title, xticks=[], yticks=[], facecolor="grey")
        figure.savefig(path, dpi=110)
    else:
        gap = b"\xff\xff\xff" * 8
        pixels = [_pixel_rows(panel) for panel in panels]
        path.write_bytes(_png([gap.join(parts) for parts in zip(*pixels)]))


def _colours():
    while True:
        yield from LINE_COLOURS


def _png(rows):
    """The bytes of a PNG file with these rows, each three bytes a pixel."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(
            ">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels)
            + chunk(b"IEND", b""))


def _pixel_rows(panel):
    anchors = BLUE_RED if panel.diverging else VIRIDIS
    table = []
    for i in range(256):
        at = i / 255 * (len(anchors) - 1)
        left = min(int(at), len(anchors) - 2)
        table.append(bytes(round(a + (b - a) * (at - left))
                           for a, b in zip(anchors[left], anchors[left + 1])))
    missing = bytes(MISSING)
    # Halves, so that the range of the largest doubles is finite.
    span = panel.high / 2 - panel.low / 2

    def pixel(value):
        if value is None:
            return missing
        share = (value / 2 - panel.low / 2) / span if span > 0 else 0.5
        return table[round(255 * min(max(share, 0.0), 1.0))]

    return [b"".join(map(pixel, row)) for row in panel.rows]


def _ticks(low, high):
    """About five round numbers from low to high."""
    step = 10.0 ** math.floor(math.log10((high - low) / 5))
    step *= next((m for m in (1, 2, 5) if (high - low) / (m * step) <= 6), 10)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _padded_range(values):
    low, high = min(values), max(values)
    pad = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return low - pad, high + pad


def _svg_plot(title, x_label, y_label, series):
    width, height, left, right, top, bottom = 640, 420, 70, 20, 40, 55
    x_low, x_high = _padded_range([x for points in series.values() for x, _ in points])
    y_low, y_high = _padded_range([y for points in series.values() for _, y in points])

    def x_at(x):
        return left + (x - x_low) / (x_high - x_low) * (width - left - right)

    def y_at(y):
        return height - bottom - (y - y_low) / (y_high - y_low) * (height - top - bottom)

    def text(x, y, words, anchor="middle", extra=""):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(words)}</text>'

    def line(x1, y1, x2, y2):
        return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                'stroke="#ddd"/>')

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        text(width / 2, 22, title, extra=' font-size="15"'),
        text((left + width - right) / 2, height - 12, x_label),
        text(18, (top + height - bottom) / 2, y_label,
             extra=f' transform="rotate(-90 18 {(top + height - bottom) / 2:.1f})"'),
    ]
    for x in _ticks(x_low, x_high):
        parts += [line(x_at(x), top, x_at(x), height - bottom),
                  text(x_at(x), height - bottom + 18, f"{x:.6g}")]
    for y in _ticks(y_low, y_high):
        parts += [line(left, y_at(y), width - right, y_at(y)),
                  text(left - 6, y_at(y) + 4, f"{y:.6g}", "end")]
    parts.append(f'<path d="M{left} {top}V{height - bottom}H{width - right}" fill="none" '
                 'stroke="black"/>')
    for i, ((name, points), colour) in enumerate(zip(series.items(), _colours())):
        places = [(x_at(x), y_at(y)) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'
                  for x, y in places]
        parts.append(text(left + 12, top + 18 + 16 * i, name, "start", f' fill="{colour}"'))
    return "\n".join(parts + ["</svg>", ""])
