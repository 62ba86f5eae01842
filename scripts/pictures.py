"""Line plots and pictures of slices for reports.

They are drawn with matplotlib, as PNG, where it is installed; else as SVG with the standard library
alone.
"""

import base64
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
    path = stem.with_name(stem.name + suffix())
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


def suffix():
    """How the names of pictures end."""
    return ".png" if Figure else ".svg"


def slice_picture(path, title, panels):
    """Draws the panels side by side, with their colour bars, into a file named with suffix()."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if Figure:
        figure = Figure(figsize=(5 * len(panels), 1.2 + 3.6 * _height_over_width(panels)),
                        layout="constrained")
        figure.suptitle(title)
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels):
            rows = [[math.nan if v is None else v for v in row] for row in panel.rows]
            image = axes.imshow(rows, vmin=panel.low, vmax=panel.high,
                                cmap="RdBu_r" if panel.diverging else "viridis")
            figure.colorbar(image, ax=axes, shrink=0.8)
            axes.set(title=panel.title, xticks=[], yticks=[], facecolor="grey")
        figure.savefig(path, dpi=110)
    else:
        path.write_text(_svg_panels(title, panels), encoding="utf-8")


def _height_over_width(panels):
    return min(len(panels[0].rows) / len(panels[0].rows[0]), 3)


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


def _colour_table(diverging):
    """256 colours, from the lowest value's to the highest's."""
    anchors = BLUE_RED if diverging else VIRIDIS
    table = []
    for i in range(256):
        at = i / 255 * (len(anchors) - 1)
        left = min(int(at), len(anchors) - 2)
        table.append(bytes(round(a + (b - a) * (at - left))
                           for a, b in zip(anchors[left], anchors[left + 1])))
    return table


def _pixel_rows(panel):
    table, missing = _colour_table(panel.diverging), bytes(MISSING)
    # Halves, so that the range of the largest doubles is finite.
    span = panel.high / 2 - panel.low / 2

    def pixel(value):
        if value is None:
            return missing
        share = (value / 2 - panel.low / 2) / span if span > 0 else 0.5
        return table[round(255 * min(max(share, 0.0), 1.0))]

    return [b"".join(map(pixel, row)) for row in panel.rows]


def _svg_text(x, y, words, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(words)}</text>'


def _svg_image(x, y, width, height, rows):
    """An image whose pixels are shown as they are, stretched."""
    data = base64.b64encode(_png(rows)).decode()
    return (f'<image x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            'preserveAspectRatio="none" style="image-rendering:pixelated" '
            f'href="data:image/png;base64,{data}"/>')


def _svg_document(width, height, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>', *parts, "</svg>", ""])


def _colour_bar(x, y, height, panel):
    """The colours from high to low, with the numbers of both and of the middle."""
    bar = list(reversed(_colour_table(panel.diverging)))
    parts = [_svg_image(x, y, 14, height, bar),
             f'<rect x="{x:.1f}" y="{y:.1f}" width="14" height="{height:.1f}" fill="none" '
             'stroke="black"/>']
    middle = panel.low / 2 + panel.high / 2
    for value, share in ((panel.high, 0), (middle, 0.5), (panel.low, 1)):
        parts.append(_svg_text(x + 19, y + share * height + 4, f"{value:.4g}", "start"))
    return parts


def _svg_panels(title, panels):
    side, gap, bar_room = 300, 15, 95
    height = side * _height_over_width(panels)
    lines = title.splitlines()
    top = 30 + 18 * len(lines)
    width = max(gap + len(panels) * (side + bar_room), 7 * max(map(len, lines)))
    parts = [_svg_text(width / 2, 22 + 18 * i, line, extra=' font-size="14"')
             for i, line in enumerate(lines)]
    for i, panel in enumerate(panels):
        x = gap + i * (side + bar_room)
        parts += [_svg_text(x + side / 2, top, panel.title),
                  _svg_image(x, top + 8, side, height, _pixel_rows(panel)),
                  *_colour_bar(x + side + 6, top + 8, height, panel)]
    return _svg_document(width, top + height + 25, parts)


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

    def line(x1, y1, x2, y2):
        return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                'stroke="#ddd"/>')

    parts = [
        _svg_text(width / 2, 22, title, extra=' font-size="15"'),
        _svg_text((left + width - right) / 2, height - 12, x_label),
        _svg_text(18, (top + height - bottom) / 2, y_label,
             extra=f' transform="rotate(-90 18 {(top + height - bottom) / 2:.1f})"'),
    ]
    for x in _ticks(x_low, x_high):
        parts += [line(x_at(x), top, x_at(x), height - bottom),
                  _svg_text(x_at(x), height - bottom + 18, f"{x:.6g}")]
    for y in _ticks(y_low, y_high):
        parts += [line(left, y_at(y), width - right, y_at(y)),
                  _svg_text(left - 6, y_at(y) + 4, f"{y:.6g}", "end")]
    parts.append(f'<path d="M{left} {top}V{height - bottom}H{width - right}" fill="none" '
                 'stroke="black"/>')
    for i, ((name, points), colour) in enumerate(zip(series.items(), _colours())):
        places = [(x_at(x), y_at(y)) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'
                  for x, y in places]
        parts.append(_svg_text(left + 12, top + 18 + 16 * i, name, "start", f' fill="{colour}"'))
    return _svg_document(width, height, parts)
